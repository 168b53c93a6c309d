//! What there is to learn from some pages: which features to look at, how rare each is, and each page as a row of numbers.

use super::corpus::{Corpus, Page};
use super::group::Group;
use super::page_model::{Feature, value};
use super::svm::{self, Example, Linear};
use super::training::{TrainError, TrainSettings};

/// What pages have to teach.
pub(super) struct Lesson {
    /// For each feature of the corpus, its position in the vocabulary.
    positions: Vec<Option<u32>>,
    /// For each feature of the vocabulary, its number in the corpus.
    vocabulary: Vec<u32>,
    idf: Vec<f32>,
    groups: Vec<Group>,
    examples: Vec<Example>,
}

impl Lesson {
    /// Learns from the pages that may be seen.
    pub(super) fn new(
        corpus: &Corpus,
        settings: &TrainSettings,
        is_seen: impl Fn(&Page) -> bool,
    ) -> Result<Self, TrainError> {
        let pages: Vec<&Page> = corpus.pages.iter().filter(|page| is_seen(page)).collect();
        let mut lesson = Self::with_vocabulary(corpus, settings, &pages)?;
        let mut class_weight = [0.0; 2];
        let site_weight = |page: &Page| 1.0 / corpus.sites[page.site as usize].page_count as f64;
        let class_of = |page: &Page| usize::from(corpus.sites[page.site as usize].wanted);
        for page in &pages {
            class_weight[class_of(page)] += site_weight(page);
        }
        let examples = pages.iter().map(|page| {
            let class = class_of(page);
            // On average one, with each class half of it.
            let share = site_weight(page) / class_weight[class] / 2.0;
            Example {
                values: lesson.values(page),
                wanted: class == 1,
                cost: share * pages.len() as f64,
            }
        });
        lesson.examples = examples.collect();
        Ok(lesson)
    }

    /// Trains a classifier; `cost` is what an error costs on average.
    pub(super) fn learn(&self, cost: f64, seed: u64) -> Linear {
        svm::train(&self.examples, self.vocabulary.len(), cost, seed)
    }

    /// Chooses the features: those in the most groups of sites, and how rare each is.
    fn with_vocabulary(
        corpus: &Corpus,
        settings: &TrainSettings,
        pages: &[&Page],
    ) -> Result<Self, TrainError> {
        let mut spread = vec![Spread::default(); corpus.features.len()];
        let mut order: Vec<&&Page> = pages.iter().collect();
        let group_of = |page: &Page| corpus.sites[page.site as usize].group;
        order.sort_by_key(|page| group_of(page));
        for page in order {
            let page_weight = 1.0 / corpus.sites[page.site as usize].page_count as f64;
            for (feature, _) in &page.counts {
                spread[*feature as usize].add(group_of(page), page_weight);
            }
        }
        let mut vocabulary: Vec<u32> = (0_u32..)
            .zip(&spread)
            .filter(|(_, spread)| settings.feature_groups_min <= spread.groups)
            .map(|(feature, _)| feature)
            .collect();
        // Stable: of features that are as widespread, the one seen first is taken.
        vocabulary.sort_by_key(|feature| std::cmp::Reverse(spread[*feature as usize].groups));
        vocabulary.truncate(settings.features_max);
        if vocabulary.is_empty() {
            return Err(TrainError::NothingInCommon(settings.feature_groups_min));
        }
        let mut positions = vec![None; corpus.features.len()];
        for (position, feature) in (0_u32..).zip(&vocabulary) {
            positions[*feature as usize] = Some(position);
        }
        let sites: f64 = pages
            .iter()
            .map(|page| 1.0 / corpus.sites[page.site as usize].page_count as f64)
            .sum();
        let idf = vocabulary.iter().map(|feature| {
            let weight = spread[*feature as usize].weight;
            rounded(((1.0 + sites) / (1.0 + weight)).ln() + 1.0)
        });
        let groups = vocabulary
            .iter()
            .map(|feature| corpus.features[*feature as usize].0);
        Ok(Self {
            idf: idf.collect(),
            groups: groups.collect(),
            positions,
            examples: Vec::new(),
            vocabulary,
        })
    }

    /// The page as the model will see it: see `page_model`.
    pub(super) fn values(&self, page: &Page) -> Vec<(u32, f32)> {
        let mut lengths = [0.0; Group::COUNT];
        let mut values: Vec<(u32, f64)> = Vec::new();
        for (feature, count) in &page.counts {
            if let Some(position) = self.positions[*feature as usize] {
                let value = value(*count as usize, self.idf[position as usize]);
                lengths[self.groups[position as usize].index()] += value * value;
                values.push((position, value));
            }
        }
        let scale = |(position, value): (u32, f64)| {
            let length = lengths[self.groups[position as usize].index()];
            (position, narrowed(value / length.sqrt()))
        };
        values.into_iter().map(scale).collect()
    }

    /// The features with what was learned of them.
    pub(super) fn features(&self, corpus: &Corpus, linear: &Linear) -> Vec<Feature> {
        let features = self.vocabulary.iter().enumerate();
        features
            .map(|(position, feature)| {
                let (group, name) = &corpus.features[*feature as usize];
                Feature {
                    group: *group,
                    name: name.clone(),
                    idf: self.idf[position],
                    weight: rounded(linear.weights[position]),
                }
            })
            .collect()
    }
}

/// In how many groups of sites a feature occurs, and on what part of the sites' pages.
#[derive(Clone, Copy, Default)]
struct Spread {
    groups: usize,
    last_group: Option<u32>,
    /// The share of pages that have it, summed over sites.
    weight: f64,
}

impl Spread {
    /// Takes in a page; pages come group by group.
    fn add(&mut self, group: u32, page_weight: f64) {
        if self.last_group != Some(group) {
            self.last_group = Some(group);
            self.groups += 1;
        }
        self.weight += page_weight;
    }
}

/// Four decimals are enough, and make a small file.
fn rounded(value: f64) -> f32 {
    narrowed((value * 1e4).round() / 1e4)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "weights are of the order of one, and need no more digits"
)]
fn narrowed(value: f64) -> f32 {
    value as f32
}
