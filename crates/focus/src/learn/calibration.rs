//! From a score to a probability: what share of pages with such a score are of sites that hold what is wanted.
//!
//! A classifier that is told to care more for the rare class ranks well and exaggerates: its scores lean to that class. A calibration
//! is fitted on scores of pages that the classifier was not trained on, and says what they are worth.
//!
//! * [`Method::Platt`]: a logistic curve. Platt, "Probabilistic Outputs for Support Vector Machines", 1999, fitted as in Lin, Lin and
//!   Weng, "A Note on Platt's Probabilistic Outputs for Support Vector Machines", Machine Learning 68, 2007, algorithm 1 and appendix.
//! * [`Method::Isotonic`]: the best non-decreasing steps (Zadrozny and Elkan, KDD 2002), by pooling neighbours that are out of order,
//!   joined by straight lines. It needs more sites and fits any shape.
//!
//! # Notation
//! *f*: the score; *A*: minus `slope`, *B*: minus `offset`; *t*₊, *t*₋: the targets, 1 and 0 drawn in by what so few examples can tell.
//!
//! # Departures
//! Examples have weights, which say how much each page counts for its site. *N*₊ and *N*₋ are counts of sites, not of pages, because
//! pages of one site are not independent.

use serde::{Deserialize, Serialize};

/// How a calibration is fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A logistic curve: two numbers, good from a few sites on.
    #[default]
    Platt,
    /// Steps that never fall, joined by lines: any shape, for hundreds of sites.
    Isotonic,
}

/// A score of a page that the classifier has not seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scored {
    pub(super) score: f64,
    pub(super) wanted: bool,
    /// How much it counts.
    pub(super) weight: f64,
}

/// How many independent examples stand behind the scores: those of sites that hold what is wanted, and of others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sites {
    pub(super) wanted: f64,
    pub(super) other: f64,
}

/// Turns scores into probabilities; never falls as the score rises.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Calibration {
    /// A logistic curve.
    Platt {
        /// How fast it rises; not negative.
        slope: f64,
        /// Its log odds at score zero.
        offset: f64,
    },
    /// Points of a rising line, by score.
    Isotonic {
        /// Scores and their probabilities, both rising.
        points: Vec<(f64, f64)>,
    },
}

impl Calibration {
    pub(super) fn fit(method: Method, scored: &[Scored], sites: Sites) -> Self {
        match method {
            Method::Platt => platt(scored, sites),
            Method::Isotonic => isotonic(scored, sites),
        }
    }

    /// The probability that stands behind a score.
    #[must_use]
    pub fn probability(&self, score: f64) -> f64 {
        match self {
            Self::Platt { slope, offset } => logistic(slope * score + offset),
            Self::Isotonic { points } => between(points, score),
        }
    }
}

/// 1 / (1 + e⁻ˣ), without overflow.
fn logistic(log_odds: f64) -> f64 {
    if 0.0 <= log_odds {
        1.0 / (1.0 + (-log_odds).exp())
    } else {
        let odds = log_odds.exp();
        odds / (1.0 + odds)
    }
}

/// What 1 and 0 are drawn in to, so that a few sites never make certainty: *t*₊ and *t*₋.
fn targets(sites: Sites) -> (f64, f64) {
    (
        (sites.wanted + 1.0) / (sites.wanted + 2.0),
        1.0 / (sites.other + 2.0),
    )
}

fn platt(scored: &[Scored], sites: Sites) -> Calibration {
    const ROUNDS_MAX: usize = 100;
    const GRADIENT_ENOUGH: f64 = 1e-9;
    /// Keeps the Hessian invertible.
    const RIDGE: f64 = 1e-12;
    let (high, low) = targets(sites);
    let total: f64 = scored.iter().map(|example| example.weight).sum();
    let loss = |slope: f64, offset: f64| -> f64 {
        let of = |example: &Scored| {
            let target = if example.wanted { high } else { low };
            let log_odds = slope * example.score + offset;
            // -t ln p - (1 - t) ln (1 - p), without overflow.
            let rest = (-log_odds.abs()).exp().ln_1p() + log_odds.max(0.0);
            example.weight * (rest - target * log_odds)
        };
        scored.iter().map(of).sum()
    };
    let (mut slope, mut offset) = (0.0, ((sites.wanted + 1.0) / (sites.other + 1.0)).ln());
    let mut best = loss(slope, offset);
    for _ in 0..ROUNDS_MAX {
        let mut gradient = [0.0; 2];
        let mut hessian = [RIDGE, 0.0, RIDGE];
        for example in scored {
            let target = if example.wanted { high } else { low };
            let probability = logistic(slope * example.score + offset);
            let error = example.weight * (probability - target);
            let curve = example.weight * probability * (1.0 - probability);
            gradient[0] += error * example.score;
            gradient[1] += error;
            hessian[0] += curve * example.score * example.score;
            hessian[1] += curve * example.score;
            hessian[2] += curve;
        }
        if gradient
            .iter()
            .all(|part| part.abs() <= GRADIENT_ENOUGH * total.max(1.0))
        {
            break;
        }
        let determinant = hessian[0] * hessian[2] - hessian[1] * hessian[1];
        let step = [
            -(hessian[2] * gradient[0] - hessian[1] * gradient[1]) / determinant,
            -(hessian[0] * gradient[1] - hessian[1] * gradient[0]) / determinant,
        ];
        // Half the step until it helps.
        let mut size = 1.0;
        let (next, next_loss) = loop {
            let next = (slope + size * step[0], offset + size * step[1]);
            let next_loss = loss(next.0, next.1);
            if next_loss < best || size < 1e-10 {
                break (next, next_loss);
            }
            size /= 2.0;
        };
        if best <= next_loss || next_loss.is_nan() {
            break;
        }
        ((slope, offset), best) = (next, next_loss);
    }
    if slope < 0.0 || !slope.is_finite() || !offset.is_finite() {
        // The scores say nothing, or the opposite: then only the share is known.
        return share_only(scored, (high, low));
    }
    Calibration::Platt { slope, offset }
}

/// A curve that says the same of every score: the share of what is wanted.
fn share_only(scored: &[Scored], (high, low): (f64, f64)) -> Calibration {
    let (mut wanted, mut total) = (0.0, 0.0);
    for example in scored {
        wanted += example.weight * if example.wanted { high } else { low };
        total += example.weight;
    }
    let share = if 0.0 < total { wanted / total } else { 0.5 };
    Calibration::Platt {
        slope: 0.0,
        offset: (share / (1.0 - share)).ln(),
    }
}

/// Neighbouring scores that share one probability.
struct Pool {
    score: f64,
    wanted: f64,
    weight: f64,
}

impl Pool {
    fn probability(&self) -> f64 {
        self.wanted / self.weight
    }
}

fn isotonic(scored: &[Scored], sites: Sites) -> Calibration {
    let (high, low) = targets(sites);
    let mut sorted: Vec<&Scored> = scored.iter().filter(|one| 0.0 < one.weight).collect();
    sorted.sort_by(|a, b| a.score.total_cmp(&b.score));
    let mut pools: Vec<Pool> = Vec::new();
    for example in sorted {
        let mut pool = Pool {
            score: example.score,
            wanted: example.weight * if example.wanted { high } else { low },
            weight: example.weight,
        };
        while let Some(last) = pools.pop_if(|last| pool.probability() <= last.probability()) {
            let weight = last.weight + pool.weight;
            pool = Pool {
                score: (last.score * last.weight + pool.score * pool.weight) / weight,
                wanted: last.wanted + pool.wanted,
                weight,
            };
        }
        pools.push(pool);
    }
    let points = pools.iter().map(|pool| (pool.score, pool.probability()));
    Calibration::Isotonic {
        points: points.collect(),
    }
}

/// The height of the line through `points` at `score`; level beyond its ends.
fn between(points: &[(f64, f64)], score: f64) -> f64 {
    let after = points.partition_point(|point| point.0 <= score);
    match (
        after.checked_sub(1).map(|before| points[before]),
        points.get(after),
    ) {
        (Some(before), Some(after)) => {
            let way = (score - before.0) / (after.0 - before.0);
            before.1 + way * (after.1 - before.1)
        }
        (Some(end), None) => end.1,
        (None, Some(end)) => end.1,
        (None, None) => 0.5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MANY: Sites = Sites {
        wanted: 1e9,
        other: 1e9,
    };

    /// Scores whose true log odds are `slope * score + offset`, each score as two weighted examples.
    fn logistic_scores(slope: f64, offset: f64) -> Vec<Scored> {
        let at = |score: f64| {
            let probability = logistic(slope * score + offset);
            [true, false].map(|wanted| Scored {
                score,
                wanted,
                weight: if wanted {
                    probability
                } else {
                    1.0 - probability
                },
            })
        };
        (-50..=50)
            .flat_map(|step| at(f64::from(step) / 10.0))
            .collect()
    }

    #[test]
    fn a_logistic_curve_is_found_again() {
        for (slope, offset) in [(2.0, -3.0), (0.5, 0.0), (1.0, 4.0)] {
            let Calibration::Platt {
                slope: found_slope,
                offset: found_offset,
            } = platt(&logistic_scores(slope, offset), MANY)
            else {
                panic!("Platt");
            };
            assert!((found_slope - slope).abs() < 1e-4, "{found_slope}");
            assert!((found_offset - offset).abs() < 1e-4, "{found_offset}");
        }
    }

    #[test]
    fn both_methods_follow_the_shares() {
        let scored = logistic_scores(1.5, -2.0);
        for method in [Method::Platt, Method::Isotonic] {
            let calibration = Calibration::fit(method, &scored, MANY);
            for score in [-4.0, -1.0, 0.0, 1.0, 2.5, 4.0] {
                let expected = logistic(1.5 * score - 2.0);
                let found = calibration.probability(score);
                assert!(
                    (found - expected).abs() < 0.02,
                    "{method:?} {score}: {found} {expected}"
                );
            }
        }
    }

    #[test]
    fn few_sites_never_make_certainty() {
        let at = |score, wanted| Scored {
            score,
            wanted,
            weight: 1.0,
        };
        let scored = [at(-5.0, false), at(-4.0, false), at(4.0, true)];
        let sites = Sites {
            wanted: 1.0,
            other: 2.0,
        };
        for method in [Method::Platt, Method::Isotonic] {
            let calibration = Calibration::fit(method, &scored, sites);
            assert!(calibration.probability(4.0) < 0.7, "{method:?}");
            assert!(0.2 < calibration.probability(-5.0), "{method:?}");
        }
    }

    #[test]
    fn scores_that_mislead_leave_the_share() {
        let at = |score, wanted| Scored {
            score,
            wanted,
            weight: 1.0,
        };
        let scored = [
            at(1.0, false),
            at(2.0, false),
            at(-1.0, true),
            at(3.0, false),
        ];
        let calibration = platt(&scored, MANY);
        assert!((calibration.probability(-9.0) - 0.25).abs() < 1e-6);
        assert!((calibration.probability(9.0) - 0.25).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn probabilities_rise_with_the_score(
            examples in prop::collection::vec((-5.0..5.0, any::<bool>(), 0.01..3.0), 0..60),
            low in -10.0..10.0,
            rise in 0.0..5.0,
        ) {
            let scored: Vec<Scored> = examples
                .into_iter()
                .map(|(score, wanted, weight)| Scored { score, wanted, weight })
                .collect();
            let sites = Sites { wanted: 3.0, other: 7.0 };
            for method in [Method::Platt, Method::Isotonic] {
                let calibration = Calibration::fit(method, &scored, sites);
                let (before, after) = (calibration.probability(low), calibration.probability(low + rise));
                prop_assert!((0.0..=1.0).contains(&before), "{before}");
                prop_assert!(before <= after + 1e-12, "{method:?}: {before} {after}");
            }
        }
    }
}
