//! The one generator of pseudo-random numbers: the same seed gives the same numbers on every machine and in every version.
//!
//! `SplitMix64` (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014). Departures: none. A library's generator may
//! change with its version; experiments, generated webs and tests must repeat for ever.
//!
//! ```
//! use junkai_chance::Chance;
//! let mut chance = Chance::about(7, 42);
//! assert!(chance.unit() < 1.0);
//! assert!(chance.below(6) < 6);
//! ```
//!
//! Not here: distributions that only one room draws from, and secrets, for which this is no generator.

/// What the state grows by at each draw: the fraction of the golden ratio.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads the bits of a number over all 64, one to one: the finisher of `SplitMix64`.
#[inline]
#[must_use]
pub const fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The first draw of a stream with this state: a number that looks drawn, and is always the same for the same `number`.
#[inline]
#[must_use]
pub const fn drawn(number: u64) -> u64 {
    mix(number.wrapping_add(STEP))
}

/// At least 0 and below 1, from the upper bits of a draw.
#[inline]
#[must_use]
pub fn unit_of(bits: u64) -> f64 {
    const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
    (bits >> 11) as f64 * UNIT
}

/// A stream of draws.
#[derive(Clone, Debug)]
pub struct Chance {
    state: u64,
}

impl Chance {
    /// The stream of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The stream that belongs to one thing of a seed, such as a page of a generated web.
    #[must_use]
    pub const fn about(seed: u64, subject: u64) -> Self {
        Self::new(mix(seed ^ drawn(subject)))
    }

    /// Any number, each as probable.
    #[inline]
    pub const fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// At least 0 and below 1.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        unit_of(self.number())
    }

    /// True with this probability.
    #[inline]
    pub fn is(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A number below the bound, each as probable (but for 2⁻³²); 0 if there is none.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        let product = u64::from(bound) * (self.number() >> 32);
        u32::try_from(product >> 32).unwrap_or(0)
    }

    /// A number below a bound of any size, each as probable (but for 2⁻⁶⁴); 0 if there is none.
    #[inline]
    pub fn below_large(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.number()) * u128::from(bound);
        u64::try_from(product >> 64).unwrap_or(0)
    }

    /// From the first to the second, both included.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// An index into something of this length.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below_large(length as u64)).unwrap_or(0)
    }

    /// One of the items.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.index(items.len())]
    }

    /// Puts a list into any order, each as probable (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            let other = self.index(place + 1);
            items.swap(place, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        // The first outputs of the reference implementation for seed 1234567.
        let mut chance = Chance::new(1_234_567);
        let draws = [chance.number(), chance.number(), chance.number()];
        assert_eq!(
            draws,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
        assert_eq!(drawn(1_234_567), draws[0]);
    }

    #[test]
    fn draws_are_within_bounds_and_repeat_with_their_seed() {
        let draw = |seed| {
            let mut chance = Chance::new(seed);
            (0..1000).map(|_| chance.unit()).collect::<Vec<f64>>()
        };
        assert!(draw(1).iter().all(|number| (0.0..1.0).contains(number)));
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        let mut chance = Chance::about(1, 2);
        for bound in [1, 2, 3, 1000, u32::MAX] {
            assert!(chance.below(bound) < bound);
            assert!(chance.below_large(bound.into()) < bound.into());
            assert!((5..=7).contains(&chance.between(5, 7)));
        }
        assert_eq!(
            (chance.below(0), chance.below_large(0), chance.index(0)),
            (0, 0, 0)
        );
    }

    #[test]
    fn a_shuffled_list_has_the_same_items_and_any_of_them_first() {
        let mut firsts = [0; 4];
        for seed in 0..4000 {
            let mut items = [0, 1, 2, 3];
            Chance::new(seed).shuffle(&mut items);
            firsts[items[0]] += 1;
            items.sort_unstable();
            assert_eq!(items, [0, 1, 2, 3]);
        }
        assert!(
            firsts.iter().all(|count| (850..1150).contains(count)),
            "{firsts:?}"
        );
    }
}
