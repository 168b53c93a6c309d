//! Numbers beside links, which often say how much is behind them: `Age | 48 | 107`, `Population (12 tables)`.
//!
//! Which of the numbers, and whether it says anything at all, is learned for each arm: the one whose logarithm goes best with what the
//! pages brought. While none does, the links of an arm are followed in the order in which they were found.

use std::collections::VecDeque;

/// Pages before anything is made of the numbers.
const PAGES_MIN: f64 = 4.0;
/// The correlation from which on a number counts.
const CORRELATION_MIN: f64 = 0.5;
/// Links that are compared: the first ones that wait.
const COMPARED_MAX: usize = 1024;

/// The first, the last and the greatest number beside a link, as ln(1 + number); 0 where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Numbers([f32; 3]);

/// How numbers went with what pages brought.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Relation {
    pages: f64,
    files: f64,
    files_squared: f64,
    numbers: [f64; 3],
    squared: [f64; 3],
    product: [f64; 3],
}

impl Numbers {
    /// Those in a text; its parts that are not digits alone, such as dates and sizes, are no numbers.
    pub(super) fn of(beside: &str) -> Self {
        let mut found = [0.0_f32; 3];
        let mut is_first = true;
        for word in beside.split_whitespace() {
            let word = word.trim_matches(['(', ')', '[', ']', ',', '.', ':', ';']);
            let Ok(number) = word.replace(',', "").parse::<u32>() else {
                continue;
            };
            #[expect(clippy::cast_precision_loss, reason = "a logarithm is taken")]
            let number = (number as f32).ln_1p();
            if is_first {
                found[0] = number;
                is_first = false;
            }
            found[1] = number;
            found[2] = found[2].max(number);
        }
        Self(found)
    }
}

impl Relation {
    /// Takes in a page with these numbers beside its link, and how many new data files it brought.
    pub(super) fn learn(&mut self, numbers: Numbers, files: f64) {
        let files = files.ln_1p();
        self.pages += 1.0;
        self.files += files;
        self.files_squared += files * files;
        for (place, number) in numbers.0.into_iter().map(f64::from).enumerate() {
            self.numbers[place] += number;
            self.squared[place] += number * number;
            self.product[place] += number * files;
        }
    }

    /// The place of the next link: that with the greatest number, if numbers mean anything here, else the first.
    pub(super) fn choose(
        &self,
        waiting: &VecDeque<u32>,
        numbers: impl Fn(u32) -> Numbers,
    ) -> usize {
        let Some(which) = self.telling() else {
            return 0;
        };
        let links = waiting.iter().take(COMPARED_MAX).enumerate();
        let numbers = links.map(|(place, link)| (place, numbers(*link).0[which]));
        let greatest = numbers.max_by(|one, two| one.1.total_cmp(&two.1).then(two.0.cmp(&one.0)));
        greatest.map_or(0, |(place, _)| place)
    }

    /// The number that goes best with what pages brought.
    fn telling(&self) -> Option<usize> {
        let correlations = (0..3).map(|which| (which, self.correlation(which)));
        let best = correlations.max_by(|one, two| one.1.total_cmp(&two.1))?;
        (PAGES_MIN <= self.pages && CORRELATION_MIN <= best.1).then_some(best.0)
    }

    fn correlation(&self, which: usize) -> f64 {
        let spread = |sum: f64, squared: f64| (squared - sum * sum / self.pages).max(0.0);
        let common = self.product[which] - self.numbers[which] * self.files / self.pages;
        let spreads = spread(self.numbers[which], self.squared[which])
            * spread(self.files, self.files_squared);
        if spreads <= f64::EPSILON {
            0.0
        } else {
            common / spreads.sqrt()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_words_of_digits() {
        for (beside, expected) in [
            ("Age 48 107", [48, 107, 107]),
            ("Population (1,200 tables), 3", [1200, 3, 1200]),
            ("2024-01-02 4.7 kB", [0; 3]),
            ("", [0; 3]),
            ("99999999999999999999", [0; 3]),
        ] {
            for (found, expected) in Numbers::of(beside).0.into_iter().zip(expected) {
                let number = f64::from(found).exp_m1();
                assert!(
                    (number - f64::from(expected)).abs() < 0.01,
                    "{beside}: {number}"
                );
            }
        }
    }

    #[test]
    fn the_number_that_tells_is_found_and_the_greatest_comes_first() {
        let mut relation = Relation::default();
        let waiting: VecDeque<u32> = (0..50).collect();
        let numbers = |link: u32| Numbers::of(&format!("{} {}", 90 - link, (link * 7) % 50));
        assert_eq!(relation.choose(&waiting, numbers), 0);
        for link in 0..10 {
            relation.learn(numbers(link), f64::from((link * 7) % 50));
        }
        let place = relation.choose(&waiting, numbers);
        assert_eq!((place * 7) % 50, 49);
    }

    #[test]
    fn numbers_that_tell_nothing_change_nothing() {
        let mut relation = Relation::default();
        let waiting: VecDeque<u32> = (0..50).collect();
        for number in 0..100_u32 {
            let numbers = Numbers::of(&format!("{}", number % 10));
            relation.learn(numbers, f64::from(number / 10 % 2));
        }
        assert_eq!(
            relation.choose(&waiting, |link| Numbers::of(&link.to_string())),
            0
        );
    }
}
