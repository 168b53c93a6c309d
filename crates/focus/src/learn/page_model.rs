//! From a page to the probability that its site holds what is wanted.
//!
//! Each feature that the model knows weighs `tf × idf`, where `tf` is 1 + ln(count); the features of a group are scaled to unit
//! length, so a long text does not drown a short title. The score is their product with the learned weights, and the calibration
//! says what probability stands behind it.

use hashbrown::HashTable;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::calibration::Calibration;
use super::features::{Look, Looker};
use super::group::Group;
use super::view::PageView;
use crate::words::Words;

/// Judges pages. The same page always gets the same probability.
#[derive(Debug)]
pub struct PageModel {
    looker: Looker,
    features: Vec<Feature>,
    /// Positions in `features`, by the key of each.
    table: HashTable<(u64, u32)>,
    bias: f64,
    calibration: Calibration,
}

/// Something that a page may have, and what it says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Feature {
    pub(super) group: Group,
    pub(super) name: Box<str>,
    /// How rare it is.
    pub(super) idf: f32,
    /// How much it speaks for the site, or against it.
    pub(super) weight: f32,
}

/// What a model is, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PageModelParts {
    pub(super) look: Look,
    pub(super) features: Vec<Feature>,
    pub(super) bias: f64,
    pub(super) calibration: Calibration,
}

/// The name of a feature as a number. Two features of a vocabulary share one once in 10¹⁰ vocabularies.
pub(super) fn key(group: Group, name: &str) -> u64 {
    xxh3_64_with_seed(name.as_bytes(), group.index() as u64)
}

impl PageModel {
    /// `words` must split as the parts say.
    pub(super) fn new(parts: PageModelParts, words: Words) -> Self {
        let mut table = HashTable::with_capacity(parts.features.len());
        for (position, feature) in (0_u32..).zip(&parts.features) {
            let key = key(feature.group, &feature.name);
            table.insert_unique(key, (key, position), |entry| entry.0);
        }
        Self {
            looker: Looker::new(parts.look, words),
            features: parts.features,
            table,
            bias: parts.bias,
            calibration: parts.calibration,
        }
    }

    pub(super) fn parts(&self) -> PageModelParts {
        PageModelParts {
            look: self.looker.look().clone(),
            features: self.features.clone(),
            bias: self.bias,
            calibration: self.calibration.clone(),
        }
    }

    /// What of a page it looks at.
    #[must_use]
    pub fn look(&self) -> &Look {
        self.looker.look()
    }

    /// How many features it knows.
    #[must_use]
    pub fn feature_count(&self) -> usize {
        self.features.len()
    }

    /// The probability that the page's site holds what is wanted.
    #[must_use]
    pub fn probability(&self, page: &PageView<'_>) -> f64 {
        self.calibration.probability(self.score(page))
    }

    /// What the page's features come to, before it is made a probability.
    #[must_use]
    pub fn score(&self, page: &PageView<'_>) -> f64 {
        let found = self.find(page);
        self.bias + found.parts().map(|(_, part)| part).sum::<f64>()
    }

    /// The features that spoke most, with what each added to the score; those that spoke loudest first.
    #[must_use]
    pub fn explain(&self, page: &PageView<'_>) -> Vec<(String, f64)> {
        /// More is not read by anybody.
        const SPEAKERS_MAX: usize = 20;
        let found = self.find(page);
        let mut parts: Vec<(&Feature, f64)> = found.parts().collect();
        parts.sort_by(|a, b| {
            b.1.abs()
                .total_cmp(&a.1.abs())
                .then_with(|| a.0.name.cmp(&b.0.name))
        });
        parts.truncate(SPEAKERS_MAX);
        let named = |(feature, part): (&Feature, f64)| {
            (format!("{} {}", feature.group.name(), feature.name), part)
        };
        parts.into_iter().map(named).collect()
    }

    fn find(&self, page: &PageView<'_>) -> Found<'_> {
        let mut positions: Vec<u32> = Vec::with_capacity(1024);
        self.looker.each(page, |group, name| {
            let key = key(group, name);
            if let Some((_, position)) = self.table.find(key, |entry| entry.0 == key) {
                positions.push(*position);
            }
        });
        positions.sort_unstable();
        let mut found = Found {
            values: Vec::new(),
            lengths: [0.0; Group::COUNT],
        };
        for same in positions.chunk_by(|a, b| a == b) {
            let feature = &self.features[same[0] as usize];
            let value = value(same.len(), feature.idf);
            found.lengths[feature.group.index()] += value * value;
            found.values.push((feature, value));
        }
        for length in &mut found.lengths {
            *length = length.sqrt();
        }
        found
    }
}

/// What a feature that occurs so often weighs, before its group is scaled.
pub(super) fn value(count: usize, idf: f32) -> f64 {
    (1.0 + (count as f64).ln()) * f64::from(idf)
}

/// The features of a page that a model knows.
struct Found<'a> {
    values: Vec<(&'a Feature, f64)>,
    /// The length of each group's values as a vector.
    lengths: [f64; Group::COUNT],
}

impl<'a> Found<'a> {
    /// What each feature adds to the score.
    fn parts(&self) -> impl Iterator<Item = (&'a Feature, f64)> {
        self.values.iter().map(|(feature, value)| {
            let length = self.lengths[feature.group.index()];
            (*feature, value / length * f64::from(feature.weight))
        })
    }
}
