//! Seeded chance: the same seed and the same question always give the same answer.
//!
//! Everything that the web shows is drawn here, from a hash of what is asked about, so nothing has to be stored.
//! The generator is `SplitMix64` (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014):
//! it is fixed for ever, where a library's generator may change with its version, and costs two nanoseconds.

/// A stream of pseudo-random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    state: u64,
}

impl Chance {
    /// The stream that belongs to one thing, such as a page or a paragraph.
    pub(crate) fn about(seed: u64, thing: u64) -> Self {
        Self {
            state: mix(seed, thing),
        }
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN_GAMMA);
        finish(self.state)
    }

    /// A number below `bound`, or 0 when the bound is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.next()) * u128::from(bound);
        u64::try_from(product >> 64).unwrap_or_default()
    }

    /// An index into something of length `len`.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or_default()
    }

    /// One of the items.
    ///
    /// # Panics
    /// If there are none.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.index(items.len())]
    }

    /// A number in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True in `percent` of 100 cases.
    pub(crate) fn percent(&mut self, percent: u8) -> bool {
        self.below(100) < u64::from(percent)
    }

    /// An index below `len` that favours small ones: P(r) falls as r^(-2/3).
    ///
    /// When links choose their targets so, in-degrees follow a power law with exponent 1 + 3/2 = 2.5.
    pub(crate) fn popular(&mut self, len: u64) -> u64 {
        let unit = self.unit();
        below_cast(unit * unit * unit * len as f64, len)
    }

    /// A draw from the standard normal distribution (Box and Muller, 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// A draw from the Poisson distribution with mean 1 (Knuth, TAOCP vol. 2, section 3.4.1).
    pub(crate) fn poisson_one(&mut self) -> u32 {
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

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes two numbers into one that looks unrelated to both.
pub(crate) fn mix(left: u64, right: u64) -> u64 {
    finish(left ^ finish(right.wrapping_add(GOLDEN_GAMMA)))
}

fn finish(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
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
    fn splitmix_gives_the_published_sequence() {
        // The first outputs of the reference implementation for seed 1234567.
        let mut chance = Chance { state: 1_234_567 };
        let drawn: Vec<u64> = (0..3).map(|_| chance.next()).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

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
