//! Chance from a seed: the same seed gives the same numbers.
//!
//! `SplitMix64` (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014). Departures: none.

/// A stream of numbers that look random.
#[derive(Clone, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    /// A number in [0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_within_bounds_and_repeat_with_their_seed() {
        let draw = |seed| {
            let mut chance = Chance::new(seed);
            (0..1000).map(|_| chance.unit()).collect::<Vec<f64>>()
        };
        assert!(draw(1).iter().all(|number| (0.0..1.0).contains(number)));
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
