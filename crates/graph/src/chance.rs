//! Distributions that are the same on every machine: whole numbers bent with the four
//! operations and the square root alone, which are exact by the floating-point standard (the system's logarithm is not).

use std::f64::consts::{LN_2, SQRT_2};

pub(crate) use junkai_chance::Chance;
use junkai_chance::{STEP, drawn, mix};

/// Draws that belong to these three numbers.
pub(crate) fn about(seed: u64, subject: u64, purpose: u64) -> Chance {
    Chance::new(mix(seed ^ mix(subject.wrapping_add(STEP) ^ drawn(purpose))))
}

/// Distributions that webs and histories are drawn from.
pub(crate) trait Distributions {
    /// A rank below the bound; rank *r* with a probability of about 1 / (*r* + 1), exactly ln((*r* + 2) / (*r* + 1)) / ln(*bound* + 1).
    fn zipf(&mut self, bound: u32) -> u32;
    /// From the normal distribution, by Marsaglia's polar method.
    fn normal(&mut self) -> f64;
    /// A number from 1 to `most`, with a probability in proportion to its `-exponent`th power.
    ///
    /// Devroye, "Non-Uniform Random Variate Generation", 1986, section X.6.1; what is above `most` is drawn again.
    fn power_law(&mut self, exponent: f64, most: u32) -> u32;
    /// A whole number with this mean: one of its two neighbours.
    fn rounded(&mut self, mean: f64) -> u32;
}

impl Distributions for Chance {
    #[inline]
    fn zipf(&mut self, bound: u32) -> u32 {
        let place = exp(self.unit() * ln(f64::from(bound) + 1.0));
        whole(place).saturating_sub(1).min(bound.saturating_sub(1))
    }

    fn normal(&mut self) -> f64 {
        loop {
            let (one, other) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = one * one + other * other;
            if 0.0 < square && square < 1.0 {
                return one * (-2.0 * ln(square) / square).sqrt();
            }
        }
    }

    fn power_law(&mut self, exponent: f64, most: u32) -> u32 {
        let bend = exponent - 1.0;
        let two = exp(bend * LN_2);
        loop {
            let (one, other) = (1.0 - self.unit(), self.unit());
            let number = exp(-ln(one) / bend).floor();
            let ratio = exp(bend * ln(1.0 + 1.0 / number));
            let is_taken = other * number * (ratio - 1.0) / (two - 1.0) <= ratio / two;
            if is_taken && number <= f64::from(most) {
                return whole(number);
            }
        }
    }

    fn rounded(&mut self, mean: f64) -> u32 {
        whole(mean + self.unit())
    }
}

/// The cube root, rounded up.
pub(crate) fn cube_root(number: u32) -> u32 {
    let is_reached = |root: u64| u64::from(number) <= root * root * root;
    let mut root = whole(exp(ln(f64::from(number.max(1))) / 3.0));
    while !is_reached(root.into()) {
        root += 1;
    }
    root.max(1)
}

/// The whole part of a number; 0 below 0, the greatest possible above that.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion cuts the fraction off, and saturates"
)]
#[inline]
pub(crate) fn whole(number: f64) -> u32 {
    number as u32
}

/// 1, 1 / (1 + `step`), 1 / (1 + 2 `step`), and so on.
const fn inverses<const COUNT: usize>(step: u32) -> [f64; COUNT] {
    let mut inverses = [0.0; COUNT];
    let (mut place, mut number) = (0, 1);
    while place < COUNT {
        inverses[place] = 1.0 / number as f64;
        place += 1;
        number += step;
    }
    inverses
}

/// The exponential function, to about 15 digits, for −700 < x < 700.
#[inline]
pub(crate) fn exp(x: f64) -> f64 {
    const INVERSES: [f64; 13] = inverses(1);
    let doublings = (x / LN_2).round();
    // The logarithm of 2 in two parts, of which the first times a small whole number is exact.
    let rest = x - doublings * 0.693_147_180_369_123_8 - doublings * 1.908_214_929_270_587_7e-10;
    let mut sum = 1.0;
    for inverse in INVERSES.iter().rev() {
        sum = 1.0 + sum * rest * inverse;
    }
    #[expect(clippy::cast_possible_truncation, reason = "between −1010 and 1010")]
    let exponent = doublings.clamp(-1010.0, 1010.0) as i64;
    sum * f64::from_bits((1023 + exponent).cast_unsigned() << 52)
}

/// The natural logarithm, to about 15 digits, for normal positive numbers.
#[inline]
pub(crate) fn ln(x: f64) -> f64 {
    const ODD_INVERSES: [f64; 11] = inverses(2);
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as f64 - 1023.0;
    let mut mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    if SQRT_2 < mantissa {
        mantissa *= 0.5;
        exponent += 1.0;
    }
    // ln m = 2 artanh((m − 1) / (m + 1)).
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let mut sum = 0.0;
    for inverse in ODD_INVERSES.iter().rev() {
        sum = sum * square + inverse;
    }
    exponent * LN_2 + 2.0 * ratio * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_agree_with_the_systems() {
        for step in 1..20_000 {
            let x = f64::from(step) * 0.037 - 350.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-14, "exp {x}");
            let x = f64::from(step) * f64::from(step) * 1e-4;
            assert!(
                (ln(x) - x.ln()).abs() < 1e-14 * x.ln().abs().max(1.0),
                "ln {x}"
            );
        }
        assert!((exp(0.0) - 1.0).abs() < 1e-300);
        assert!(ln(1.0).abs() < 1e-300);
    }

    #[test]
    fn cube_roots_are_rounded_up() {
        for (number, root) in [
            (0, 1),
            (1, 1),
            (2, 2),
            (8, 2),
            (9, 3),
            (27, 3),
            (28, 4),
            (u32::MAX, 1626),
        ] {
            assert_eq!(cube_root(number), root, "{number}");
        }
    }

    #[test]
    fn the_same_numbers_are_drawn_everywhere() {
        let mut chance = about(1, 2, 3);
        let draws = [
            chance.number(),
            chance.below(1000).into(),
            chance.zipf(1000).into(),
            chance.power_law(1.6, 100_000).into(),
            chance.normal().to_bits(),
            exp(1.5).to_bits(),
            ln(1.5).to_bits(),
        ];
        assert_eq!(
            draws,
            [
                6_741_315_015_181_349_349,
                156,
                83,
                8,
                13_827_398_858_844_032_797,
                4_616_731_951_734_179_137,
                4_600_975_829_957_056_588,
            ]
        );
    }

    #[test]
    fn ranks_fall_as_one_over_rank() {
        let mut counts = [0_u32; 50];
        let mut chance = about(7, 0, 0);
        for _ in 0..200_000 {
            counts[chance.zipf(50) as usize] += 1;
        }
        for (rank, count) in (0_u32..).zip(counts) {
            let expected =
                200_000.0 * (f64::from(rank + 2) / f64::from(rank + 1)).ln() / 51_f64.ln();
            let spread = 5.0 * expected.sqrt();
            assert!(
                (f64::from(count) - expected).abs() < spread,
                "rank {rank}: {count}"
            );
        }
        assert_eq!((chance.zipf(1), chance.zipf(0)), (0, 0));
    }

    #[test]
    fn sizes_follow_the_power_law() {
        let mut chance = about(8, 0, 0);
        let mut counts = [0_u32; 6];
        for _ in 0..100_000 {
            let number = chance.power_law(1.9, 5);
            counts[number as usize] += 1;
        }
        let power = |number: u32| f64::from(number).powf(-1.9);
        let sum: f64 = (1..=5).map(power).sum();
        for number in 1..=5 {
            let expected = 100_000.0 * power(number) / sum;
            let count = f64::from(counts[number as usize]);
            assert!(
                (count - expected).abs() < 5.0 * expected.sqrt(),
                "{number}: {count}"
            );
        }
    }

    #[test]
    fn normal_draws_have_mean_0_and_variance_1() {
        let mut chance = about(9, 0, 0);
        let draws: Vec<f64> = (0..100_000).map(|_| chance.normal()).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let variance = draws.iter().map(|draw| draw * draw).sum::<f64>() / 1e5;
        assert!(
            mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03,
            "{mean} {variance}"
        );
    }
}
