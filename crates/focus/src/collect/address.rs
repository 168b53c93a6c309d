//! Whether a link leads to a data file, told by its URL alone.
//!
//! As in SB-CLASSIFIER (see the module above): logistic regression on the pairs of neighbouring bytes of the URL, learned while collecting.
//! Departures: labels come from what was fetched anyway, and from names that leave no doubt, instead of from HEAD requests, so that no
//! request is made to learn; each URL is learned from as it comes, and not in batches of ten.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

const DIMENSIONS: usize = 1 << 12;
/// Bytes of a URL that are looked at: its end, which tells most.
const URL_BYTES_MAX: usize = 256;
const LEARNING_RATE: f32 = 0.5;
/// Examples of either kind that must have been seen before anything is told.
const EXAMPLES_MIN: u32 = 10;
/// What is more probable than this is taken for a data file.
const CERTAIN: f32 = 0.9;

/// Tells data files from pages by their URLs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AddressModel {
    weights: Vec<f32>,
    files: u32,
    pages: u32,
}

impl Default for AddressModel {
    fn default() -> Self {
        Self {
            weights: vec![0.0; DIMENSIONS],
            files: 0,
            pages: 0,
        }
    }
}

impl AddressModel {
    /// Whether it is a data file, as good as certainly.
    pub(super) fn is_file(&self, url: &str) -> bool {
        let has_learned = EXAMPLES_MIN <= self.files.min(self.pages);
        has_learned && CERTAIN < self.probability(&dimensions(url))
    }

    /// Learns from one URL.
    pub(super) fn learn(&mut self, url: &str, is_file: bool) {
        let count = if is_file {
            &mut self.files
        } else {
            &mut self.pages
        };
        *count = count.saturating_add(1);
        let dimensions = dimensions(url);
        let error = f32::from(u8::from(is_file)) - self.probability(&dimensions);
        let step = LEARNING_RATE * error / length(&dimensions);
        for dimension in dimensions {
            self.weights[dimension] += step;
        }
    }

    fn probability(&self, dimensions: &[usize]) -> f32 {
        let sum: f32 = dimensions
            .iter()
            .map(|dimension| self.weights[*dimension])
            .sum();
        1.0 / (1.0 + (-sum / length(dimensions)).exp())
    }

    /// Whether what was read back can be used.
    pub(super) fn is_sound(&self) -> bool {
        self.weights.len() == DIMENSIONS && self.weights.iter().all(|weight| weight.is_finite())
    }
}

/// The vector is scaled to length 1, so that long URLs do not speak louder.
fn length(dimensions: &[usize]) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
    let count = dimensions.len().max(1) as f32;
    count.sqrt()
}

/// The pairs of bytes of a URL, each once. Digits are alike.
fn dimensions(url: &str) -> Vec<usize> {
    let bytes = &url.as_bytes()[url.len().saturating_sub(URL_BYTES_MAX)..];
    let plain = |byte: u8| {
        if byte.is_ascii_digit() {
            b'0'
        } else {
            byte.to_ascii_lowercase()
        }
    };
    let pair = |pair: &[u8]| {
        let hash = xxh3_64(&[plain(pair[0]), plain(pair[1])]);
        usize::try_from(hash % DIMENSIONS as u64).unwrap_or(0)
    };
    let mut dimensions: Vec<usize> = bytes.windows(2).map(pair).collect();
    dimensions.sort_unstable();
    dimensions.dedup();
    dimensions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_from_pages_after_some_of_each() {
        let mut model = AddressModel::default();
        let file = |number: u32| format!("https://a.example/download/{number}?format=xlsx");
        let page = |number: u32| format!("https://a.example/topics/{number}/overview");
        for number in 0..EXAMPLES_MIN - 1 {
            model.learn(&file(number), true);
            model.learn(&page(number), false);
        }
        assert!(!model.is_file(&file(99)), "too early to tell");
        for number in 0..40 {
            model.learn(&file(number), true);
            model.learn(&page(number), false);
        }
        assert!(model.is_file(&file(1234)));
        assert!(!model.is_file(&page(1234)));
        assert!(model.is_sound());
    }

    #[test]
    fn any_url_is_survived() {
        let mut model = AddressModel::default();
        for url in ["", "x", "日本", &"é".repeat(10_000)] {
            model.learn(url, true);
            assert!(!model.is_file(url));
        }
    }
}
