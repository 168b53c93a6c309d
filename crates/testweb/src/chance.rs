//! Seeded chance: the same seed and the same question always give the same answer.
//!
//! Everything that the web shows is drawn here, from a hash of what is asked about, so nothing has to be stored.

pub(crate) use junkai_chance::Chance;

/// What pages, links and failures are drawn from.
pub(crate) trait Distributions {
    /// True in `percent` of 100 cases.
    fn percent(&mut self, percent: u8) -> bool;
    /// An index below `len` that favours small ones: P(r) falls as r^(-2/3).
    ///
    /// When links choose their targets so, in-degrees follow a power law with exponent 1 + 3/2 = 2.5.
    fn popular(&mut self, len: u64) -> u64;
    /// A draw from the standard normal distribution (Box and Muller, 1958).
    fn normal(&mut self) -> f64;
    /// A draw from the Poisson distribution with mean 1 (Knuth, TAOCP vol. 2, section 3.4.1).
    fn poisson_one(&mut self) -> u32;
}

impl Distributions for Chance {
    fn percent(&mut self, percent: u8) -> bool {
        self.below_large(100) < u64::from(percent)
    }

    fn popular(&mut self, len: u64) -> u64 {
        let unit = self.unit();
        below_cast(unit * unit * unit * len as f64, len)
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    fn poisson_one(&mut self) -> u32 {
        let limit = (-1.0_f64).exp();
        let mut product = self.unit();
        let mut count = 0;
        while product > limit && count < POISSON_MAX {
            product *= self.unit();
            count += 1;
        }
        count
    }
}

/// More than this many events in one mean gap have a probability below 10^-80.
const POISSON_MAX: u32 = 64;

/// Mixes two numbers into one that looks unrelated to both.
pub(crate) fn mix(left: u64, right: u64) -> u64 {
    junkai_chance::mix(left ^ junkai_chance::drawn(right))
}

/// The integer part of a number that is known to lie in [0, `len`).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is not negative, and the minimum keeps it below the length"
)]
fn below_cast(value: f64, len: u64) -> u64 {
    (value as u64).min(len.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poisson_has_mean_and_variance_one() {
        let mut chance = Chance::about(7, 7);
        let draws: Vec<f64> = (0..100_000).map(|_| chance.poisson_one().into()).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        assert!((mean - 1.0).abs() < 0.02, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.03, "variance {variance}");
    }

    #[test]
    fn popular_indices_stay_below_the_length_and_favour_the_small() {
        let mut chance = Chance::about(1, 2);
        let draws: Vec<u64> = (0..10_000).map(|_| chance.popular(1000)).collect();
        assert!(draws.iter().all(|&index| index < 1000));
        // P(r < 1) = (1/1000)^(1/3) = 0.1.
        let first = draws.iter().filter(|&&index| index == 0).count();
        assert!((900..1100).contains(&first), "{first}");
        assert_eq!(chance.popular(1), 0);
    }
}
