//! A linear support vector machine, trained by coordinate descent in the dual.
//!
//! Hsieh, Chang, Lin, Keerthi and Sundararajan, "A Dual Coordinate Descent Method for Large-scale Linear SVM", ICML 2008, algorithm 1,
//! for the squared hinge loss (L2-SVM), with a cost for each example. Without shrinking: a corpus of pages is through in a second.
//!
//! # Notation
//! *C*ᵢ: `cost` of an example; *y*ᵢ: `sign`; *α*ᵢ: `dual`; *D*ᵢᵢ = 1 / (2*C*ᵢ); *Q̄*ᵢᵢ = |*x*ᵢ|² + *D*ᵢᵢ; *G*: `gradient`; *w*: `weights`.
//!
//! # Departures
//! None. The bias is a feature of value one that every example has.

use junkai_chance::Chance;

/// One example: the values of its features, and what it is.
#[derive(Clone, Debug)]
pub(super) struct Example {
    /// Positions in the vocabulary and values; each position at most once.
    pub(super) values: Vec<(u32, f32)>,
    pub(super) wanted: bool,
    /// What it costs to get it wrong; an example that costs nothing is not there.
    pub(super) cost: f64,
}

/// What was learned: the score of an example is its values times the weights, plus the bias.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Linear {
    pub(super) weights: Vec<f64>,
    pub(super) bias: f64,
}

impl Linear {
    pub(super) fn score(&self, values: &[(u32, f32)]) -> f64 {
        let product = values
            .iter()
            .map(|(feature, value)| self.weights[*feature as usize] * f64::from(*value));
        self.bias + product.sum::<f64>()
    }
}

/// Rounds over all examples at most; a corpus of pages takes some tens.
const ROUNDS_MAX: usize = 1000;
/// How far from the optimum any example may be at the end.
const TOLERANCE: f64 = 1e-3;

/// Trains on `examples` with `feature_count` features. `cost` multiplies the cost of each; the order of each round is drawn from `seed`.
pub(super) fn train(examples: &[Example], feature_count: usize, cost: f64, seed: u64) -> Linear {
    let mut linear = Linear {
        weights: vec![0.0; feature_count],
        bias: 0.0,
    };
    let mut duals = vec![0.0; examples.len()];
    let squares: Vec<f64> = examples
        .iter()
        .map(|example| 1.0 + squared_length(&example.values))
        .collect();
    let mut order: Vec<usize> = (0..examples.len())
        .filter(|index| 0.0 < examples[*index].cost)
        .collect();
    let mut chance = Chance::new(seed);
    for _ in 0..ROUNDS_MAX {
        chance.shuffle(&mut order);
        let mut farthest = 0.0_f64;
        for &index in &order {
            let example = &examples[index];
            let sign = if example.wanted { 1.0 } else { -1.0 };
            let diagonal = 0.5 / (cost * example.cost);
            let dual = duals[index];
            let gradient = sign * linear.score(&example.values) - 1.0 + diagonal * dual;
            let projected = if dual == 0.0 {
                gradient.min(0.0)
            } else {
                gradient
            };
            farthest = farthest.max(projected.abs());
            if projected != 0.0 {
                let next = (dual - gradient / (squares[index] + diagonal)).max(0.0);
                let step = (next - dual) * sign;
                duals[index] = next;
                linear.bias += step;
                for (feature, value) in &example.values {
                    linear.weights[*feature as usize] += step * f64::from(*value);
                }
            }
        }
        if farthest <= TOLERANCE {
            break;
        }
    }
    linear
}

fn squared_length(values: &[(u32, f32)]) -> f64 {
    values
        .iter()
        .map(|(_, value)| f64::from(*value) * f64::from(*value))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn example(values: &[f32], wanted: bool, cost: f64) -> Example {
        let values = (0..).zip(values.iter().copied()).collect();
        Example {
            values,
            wanted,
            cost,
        }
    }

    /// How far the weights are from where the loss is least: its gradient there is zero.
    fn distance_from_optimum(linear: &Linear, examples: &[Example]) -> f64 {
        let mut gradient = linear.weights.clone();
        gradient.push(linear.bias);
        for example in examples {
            let sign = if example.wanted { 1.0 } else { -1.0 };
            let slack = 1.0 - sign * linear.score(&example.values);
            let pull = 2.0 * example.cost * slack.max(0.0) * sign;
            for (feature, value) in &example.values {
                gradient[*feature as usize] -= pull * f64::from(*value);
            }
            *gradient.last_mut().unwrap() -= pull;
        }
        gradient.iter().map(|part| part.abs()).fold(0.0, f64::max)
    }

    #[test]
    fn what_can_be_told_apart_is() {
        let examples = [
            example(&[1.0, 0.0], true, 1.0),
            example(&[0.9, 0.1], true, 1.0),
            example(&[0.0, 1.0], false, 1.0),
            example(&[0.1, 0.8], false, 1.0),
        ];
        let linear = train(&examples, 2, 1.0, 7);
        for example in &examples {
            assert_eq!(0.0 < linear.score(&example.values), example.wanted);
        }
    }

    #[test]
    fn a_costly_example_wins() {
        let torn = |cost| [example(&[1.0], true, cost), example(&[1.0], false, 1.0)];
        assert!(0.0 < train(&torn(5.0), 1, 1.0, 7).score(&[(0, 1.0)]));
        assert!(train(&torn(0.2), 1, 1.0, 7).score(&[(0, 1.0)]) < 0.0);
    }

    #[test]
    fn nothing_is_learned_from_nothing() {
        let linear = train(&[], 2, 1.0, 7);
        assert_eq!(
            linear,
            Linear {
                weights: vec![0.0; 2],
                bias: 0.0
            }
        );
    }

    #[test]
    fn a_shuffle_keeps_everything() {
        let mut list: Vec<u32> = (0..100).collect();
        Chance::new(7).shuffle(&mut list);
        assert!(!list.is_sorted());
        list.sort_unstable();
        assert!(list.into_iter().eq(0..100));
    }

    proptest! {
        #[test]
        fn the_loss_is_least(
            rows in prop::collection::vec((prop::collection::vec(-1.0_f32..1.0, 4), any::<bool>(), 0.05..3.0), 1..30),
            seed: u64,
        ) {
            let examples: Vec<Example> = rows
                .iter()
                .map(|(values, wanted, cost)| example(values, *wanted, *cost))
                .collect();
            let linear = train(&examples, 4, 1.0, seed);
            // Each example may be off by the tolerance, times twice its cost, and by what the examples after it moved in the last round.
            let allowed = 4.0 * 2.0 * 3.0 * TOLERANCE * examples.len() as f64;
            prop_assert!(distance_from_optimum(&linear, &examples) <= allowed);
        }
    }
}
