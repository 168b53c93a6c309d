//! Chance, for all that is generated.

/// Numbers that look drawn by lot (`SplitMix64`).
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of a list; nothing of an empty one.
    pub(super) fn pick<T: Copy + Default>(&mut self, list: &[T]) -> T {
        if list.is_empty() {
            return T::default();
        }
        let place = usize::try_from(self.below(list.len() as u64)).unwrap_or_default();
        list[place]
    }

    /// About `percent` of a list, at least one.
    pub(super) fn some<T: Copy + Default>(&mut self, list: &[T], percent: u64) -> Vec<T> {
        let mut some: Vec<T> = list
            .iter()
            .copied()
            .filter(|_| self.percent(percent))
            .collect();
        if some.is_empty() && !list.is_empty() {
            some.push(self.pick(list));
        }
        some
    }
}

/// A number with its digits in groups of three.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if 0 < place && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
