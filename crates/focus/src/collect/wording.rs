//! Words that links to data have in common, on whatever site: in their texts and in the folders of their addresses.
//!
//! A site of which nothing is known has a menu, and one entry of it may be called *Statistics*. Each arm that was tried leaves the words of
//! its first link and what such a link was worth; on a new site an arm is thought the better of, the better arms with its words did
//! elsewhere, within bounds: words help to begin, what is found decides.
//!
//! Bounds: [`WORDS_MAX`] words, the least met make room; [`WORDS_PER_LINK_MAX`] words of a link.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

const WORDS_MAX: usize = 4096;
const WORDS_PER_LINK_MAX: usize = 12;
/// Arms that the mean of all counts for beside those with a word.
const PRIOR_ARMS: f64 = 1.0;
/// How much better or worse words alone can make an arm.
const FACTOR_MAX: f64 = 4.0;

/// What words were worth.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Wording {
    /// By hash.
    words: Vec<Word>,
    all: Sum,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Word {
    hash: u64,
    sum: Sum,
}

/// What the links of an arm were worth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lesson<'a> {
    /// The words of its first link, by hash.
    pub(super) words: &'a [u64],
    /// How sure it is, from 0 to 1.
    pub(super) known: f64,
    /// Files per fetch, with all that was opened.
    pub(super) outlook: f64,
}

/// Arms, by how well they were known, and what their links were worth.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Sum {
    arms: f64,
    outlook: f64,
}

impl Sum {
    fn add(&mut self, arms: f64, outlook: f64) {
        self.arms += arms;
        self.outlook += arms * outlook;
    }

    fn mean(self) -> f64 {
        self.outlook / self.arms
    }
}

impl Wording {
    /// Learns what a link with some words was worth.
    pub(super) fn learn(&mut self, lesson: Lesson<'_>) {
        let Lesson {
            words,
            known,
            outlook,
        } = lesson;
        self.all.add(known, outlook);
        for hash in words {
            match self.words.binary_search_by_key(hash, |word| word.hash) {
                Ok(place) => self.words[place].sum.add(known, outlook),
                Err(place) => {
                    let mut sum = Sum::default();
                    sum.add(known, outlook);
                    self.words.insert(place, Word { hash: *hash, sum });
                }
            }
        }
    }

    /// Everything counts less by this factor from now on.
    pub(super) fn fade(&mut self, kept: f64) {
        for sum in self
            .words
            .iter_mut()
            .map(|word| &mut word.sum)
            .chain([&mut self.all])
        {
            sum.arms *= kept;
            sum.outlook *= kept;
        }
    }

    /// Forgets what there is no room for.
    pub(super) fn forget(&mut self) {
        if WORDS_MAX < self.words.len() {
            self.words
                .sort_by(|one, two| two.sum.arms.total_cmp(&one.sum.arms));
            self.words.truncate(WORDS_MAX);
            self.words.sort_unstable_by_key(|word| word.hash);
        }
    }

    /// By what factor links with these words are better than others; 1 if nothing is known.
    pub(super) fn factor(&self, words: &[u64]) -> f64 {
        let mean = self.all.mean();
        if !(mean.is_finite() && 0.0 < mean) {
            return 1.0;
        }
        let known = words.iter().filter_map(|hash| {
            let place = self
                .words
                .binary_search_by_key(hash, |word| word.hash)
                .ok()?;
            let sum = self.words[place].sum;
            Some((sum.outlook + PRIOR_ARMS * mean) / (sum.arms + PRIOR_ARMS) / mean)
        });
        // One word that says much is enough.
        let strongest = known.max_by(|one, two| one.ln().abs().total_cmp(&two.ln().abs()));
        strongest.unwrap_or(1.0).clamp(1.0 / FACTOR_MAX, FACTOR_MAX)
    }

    /// Whether what was read back can be used.
    pub(super) fn is_sound(&self) -> bool {
        let is_number = |sum: Sum| {
            [sum.arms, sum.outlook]
                .into_iter()
                .all(|number| number.is_finite() && 0.0 <= number)
        };
        self.words.len() <= WORDS_MAX
            && self.words.is_sorted_by(|one, two| one.hash < two.hash)
            && self.words.iter().all(|word| is_number(word.sum))
            && is_number(self.all)
    }
}

/// The words of a link: of its text, and of the folders of its address. Numbers and single letters are none.
pub(super) fn words(text: &str, url: &str) -> Vec<u64> {
    let path = url
        .split_once("://")
        .and_then(|(_, rest)| rest.split_once('/'))
        .map_or("", |(_, path)| path);
    let folders = path
        .split('?')
        .next()
        .and_then(|path| path.rsplit_once('/'))
        .map_or("", |(folders, _)| folders);
    let is_mark = |character: char| !character.is_alphabetic();
    let mut words: Vec<u64> = text
        .split(is_mark)
        .chain(folders.split(is_mark))
        .filter(|word| 1 < word.chars().count())
        .take(WORDS_PER_LINK_MAX)
        .map(|word| xxh3_64(word.to_lowercase().as_bytes()))
        .collect();
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lesson(words: &[u64], outlook: f64) -> Lesson<'_> {
        Lesson {
            words,
            known: 1.0,
            outlook,
        }
    }

    #[test]
    fn words_are_those_of_text_and_folders() {
        let url = "https://a.example/open-data/2024/x/page-name.html?q=query";
        assert_eq!(
            words("Statistics of 2024", url),
            words("of STATISTICS", "http://b.example/data/open/")
        );
        assert_eq!(words("統計", "https://a.example/").len(), 1);
        assert!(words("", "not a url").is_empty());
    }

    #[test]
    fn a_word_is_as_good_as_what_it_led_to() {
        let mut wording = Wording::default();
        let [data, news, new] = ["data", "news", "unheard"].map(|text| words(text, ""));
        assert!((wording.factor(&data) - 1.0).abs() < 1e-9);
        for _ in 0..8 {
            wording.learn(lesson(&data, 0.9));
            for _ in 0..7 {
                wording.learn(lesson(&news, 0.0));
            }
        }
        assert!(3.0 < wording.factor(&data));
        assert!(wording.factor(&news) < 0.3);
        assert!((wording.factor(&new) - 1.0).abs() < 1e-9);
        assert!(wording.is_sound());
    }

    #[test]
    fn memory_is_bounded() {
        let mut wording = Wording::default();
        for number in 0..3 * WORDS_MAX as u64 {
            wording.learn(lesson(&[number], 0.1));
        }
        assert!(!wording.is_sound());
        wording.forget();
        assert_eq!(wording.words.len(), WORDS_MAX);
        assert!(wording.is_sound());
    }
}
