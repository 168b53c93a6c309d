//! Chance from a seed, the same on every machine.

/// A stream of draws.
#[derive(Clone, Debug)]
pub(super) struct Chance {
    state: u64,
}

impl Chance {
    /// Draws that belong to these numbers.
    pub(super) fn about(seed: u64, subject: u64) -> Chance {
        let state = mix(seed ^ mix(subject.wrapping_add(STEP)));
        Chance { state }
    }

    fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// At least 0 and below 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Below the bound, each as probable; 0 if there is none.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        let product = u64::from(bound) * (self.number() >> 32);
        u32::try_from(product >> 32).unwrap_or(0)
    }

    /// From the first to the second, both included.
    pub(super) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// Any order, each as probable (Fisher and Yates).
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            let other = self.below(u32::try_from(place + 1).unwrap_or(u32::MAX));
            items.swap(place, other as usize);
        }
    }

    pub(super) fn is(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finisher of `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014).
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}
