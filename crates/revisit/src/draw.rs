//! Chance, as an argument.
//!
//! The planner owns no generator: whoever calls it brings a [`Draw`], so a run repeats when its draws do. The crawler
//! derives them from a page's fingerprint and the count of its visits, the lab from its seed.

use std::time::Duration;

use junkai_weburl::Fingerprint;

/// Sixty-four random bits, good for one decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw(u64);

impl Draw {
    /// Takes bits that are random already.
    #[must_use]
    pub const fn new(bits: u64) -> Draw {
        Draw(bits)
    }

    /// The draw of a page's visit: the same for the same page and count, and as good as independent otherwise.
    #[must_use]
    pub const fn of_visit(page: Fingerprint, visits: u32) -> Draw {
        Draw(mixed(page.0 ^ mixed(visits as u64)))
    }

    /// A draw that is independent of this one and of those with another number.
    #[must_use]
    pub const fn another(self, number: u64) -> Draw {
        Draw(mixed(self.0 ^ mixed(!number)))
    }

    /// A number in `0..1`, all equally likely.
    #[must_use]
    pub fn uniform(self) -> f64 {
        const STEPS: f64 = (1_u64 << 53) as f64;
        (self.0 >> 11) as f64 / STEPS
    }

    /// A duration between two, all equally likely; the shorter one if they are given the wrong way round.
    #[must_use]
    pub fn between(self, shortest: Duration, longest: Duration) -> Duration {
        shortest + longest.saturating_sub(shortest).mul_f64(self.uniform())
    }
}

/// The finisher of Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014 (`SplitMix64`).
const fn mixed(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_of_the_published_generator_comes_out() {
        // SplitMix64 with seed 0 gives 0xe220a8397b1dcdaf first.
        assert_eq!(mixed(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn draws_of_visits_fill_their_range_evenly() {
        let mut counts = [0_u32; 16];
        for page in 0..64 {
            for visits in 0..64 {
                let at = Draw::of_visit(Fingerprint(page), visits).uniform();
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "below 16, and not negative"
                )]
                let bin = (at * 16.0) as usize;
                counts[bin] += 1;
            }
        }
        // 4096 draws over 16 bins: 256 each, give or take five standard deviations.
        assert!(
            counts.iter().all(|count| (178..=334).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn a_span_holds_what_is_drawn_from_it() {
        let (day, week) = (Duration::from_hours(24), Duration::from_hours(168));
        for bits in [0, 1, u64::MAX / 3, u64::MAX] {
            let drawn = Draw::new(bits).between(day, week);
            assert!((day..=week).contains(&drawn), "{drawn:?}");
        }
        assert_eq!(Draw::new(u64::MAX).between(week, day), week);
    }
}
