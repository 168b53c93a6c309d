//! Trains a model of pages, and says how good it is on sites that it has not seen.
//!
//! The label is the site's, so sites are what is dealt into folds: no page of a site that a model is asked about has been seen in its
//! training, neither for weights nor for the choice of features. Each fold's pages get their scores from the other folds. The
//! calibration of the model is fitted on those scores; the figures of the [`Validation`] come from calibrations that leave out the
//! fold they are asked about, too. Last, the classifier is trained on everything.
//!
//! A site counts as one, however many pages it has: a page weighs 1 / (pages of its site). In training both classes weigh the same
//! (the rare one costs more); the calibration then has the shares as they are, or as [`TrainSettings::share`] says they will be.

use thiserror::Error;

use super::calibration::{Calibration, Method, Scored, Sites};
use super::corpus::{Corpus, Page};
use super::group::Group;
use super::page_model::{Feature, PageModel, PageModelParts, value};
use super::svm::{self, Example, Linear, Shuffler};
use super::validation::{Judged, Validation};
use crate::words::Words;

/// How to train.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainSettings {
    /// Into how many parts the sites are dealt; each is asked about once. Default 5.
    pub folds: usize,
    /// What an error costs, against large weights. Default 1.
    pub cost: f64,
    /// Most features that the model knows. Default 30,000.
    pub features_max: usize,
    /// A feature must occur in so many groups of sites: what only one has says nothing of others. Default 2.
    pub feature_groups_min: usize,
    /// How scores become probabilities.
    pub calibration: Method,
    /// The share of sites that hold what is wanted where the model will be used; `None`: as among the examples.
    pub share: Option<f64>,
    /// From what the order of examples and the folds are drawn.
    pub seed: u64,
}

impl Default for TrainSettings {
    fn default() -> Self {
        Self {
            folds: 5,
            cost: 1.0,
            features_max: 30_000,
            feature_groups_min: 2,
            calibration: Method::default(),
            share: None,
            seed: 1,
        }
    }
}

/// Why nothing can be learned.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// There is nothing to tell apart, or nothing to check it on.
    #[error(
        "{wanted} sites hold what is wanted and {other} do not: at least two of each, in groups of their own, are needed: one to learn from and one to check on"
    )]
    TooFewSites {
        /// Sites that hold what is wanted.
        wanted: usize,
        /// Sites that do not.
        other: usize,
    },
    /// The pages have nothing in common.
    #[error(
        "no feature occurs on {0} sites (or groups of them) or more: there is nothing that could be learned of one and used on another"
    )]
    NothingInCommon(usize),
    /// A setting makes no sense.
    #[error("{0}")]
    Settings(&'static str),
}

/// How far a training is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainProgress {
    /// Classifiers that are trained.
    pub done: usize,
    /// Classifiers to train: one for each fold, and the last.
    pub total: usize,
}

/// What a training makes.
#[derive(Debug)]
pub struct Trained {
    /// The model.
    pub model: PageModel,
    /// How good such models are on sites that they have not seen.
    pub validation: Validation,
}

/// Trains on a corpus; `words` goes into the model and must split as the corpus was.
///
/// # Errors
/// If the examples do not allow it, or the settings make no sense.
pub fn train(
    corpus: &Corpus,
    words: Words,
    settings: &TrainSettings,
    mut progress: impl FnMut(TrainProgress),
) -> Result<Trained, TrainError> {
    check(corpus, settings)?;
    let folds = Folds::deal(corpus, settings);
    let total = folds.count + 1;
    let mut scored = Vec::new();
    for fold in 0..folds.count {
        progress(TrainProgress { done: fold, total });
        let classifier = Classifier::train(corpus, settings, |page| folds.of(page) != fold)?;
        for page in corpus.pages.iter().filter(|page| folds.of(page) == fold) {
            let score = classifier.score(page);
            scored.push(HeldOut { page, fold, score });
        }
    }
    progress(TrainProgress {
        done: folds.count,
        total,
    });
    let weigher = Weigher::new(corpus, settings);
    let validation = validate(corpus, &scored, &weigher, settings);
    let calibration = weigher.calibrate(scored.iter(), settings.calibration);
    let classifier = Classifier::train(corpus, settings, |_| true)?;
    progress(TrainProgress { done: total, total });
    let parts = PageModelParts {
        look: corpus.look().clone(),
        features: classifier.features(corpus),
        bias: classifier.linear.bias,
        calibration,
    };
    Ok(Trained {
        model: PageModel::new(parts, words),
        validation,
    })
}

fn check(corpus: &Corpus, settings: &TrainSettings) -> Result<(), TrainError> {
    let (wanted, other) = (corpus.site_count(true), corpus.site_count(false));
    if scarcest(&group_sizes(corpus)) < 2 {
        return Err(TrainError::TooFewSites { wanted, other });
    }
    if settings.folds < 2 {
        return Err(TrainError::Settings("at least two folds are needed"));
    }
    if !(0.0 < settings.cost && settings.cost.is_finite()) {
        return Err(TrainError::Settings("the cost must be positive"));
    }
    if settings
        .share
        .is_some_and(|share| !(0.0 < share && share < 1.0))
    {
        return Err(TrainError::Settings("the share must lie between 0 and 1"));
    }
    Ok(())
}

/// A page with the score of a classifier that has not seen its site.
struct HeldOut<'a> {
    page: &'a Page,
    fold: usize,
    score: f64,
}

/// Which fold each group of sites is in: both classes are dealt out evenly.
struct Folds {
    count: usize,
    of_site: Vec<usize>,
}

impl Folds {
    fn deal(corpus: &Corpus, settings: &TrainSettings) -> Self {
        let sizes = group_sizes(corpus);
        let count = settings.folds.min(scarcest(&sizes));
        let mut groups: Vec<usize> = (0..sizes.len()).collect();
        Shuffler(settings.seed).shuffle(&mut groups);
        // The largest first: they fit nowhere later.
        groups.sort_by_key(|group| std::cmp::Reverse(sizes[*group]));
        let mut filled = vec![[0; 2]; count];
        let mut of_group = vec![0; sizes.len()];
        for group in groups {
            let [wanted, other] = sizes[group];
            // Of two that are as full, the first.
            let emptiest = (0..count).min_by_key(|fold| match wanted {
                0 => (filled[*fold][1], filled[*fold][0]),
                _ => (filled[*fold][0], filled[*fold][1]),
            });
            let fold = emptiest.unwrap_or_default();
            filled[fold][0] += wanted;
            filled[fold][1] += other;
            of_group[group] = fold;
        }
        let of_site = corpus
            .sites
            .iter()
            .map(|site| of_group[site.group as usize]);
        Self {
            count,
            of_site: of_site.collect(),
        }
    }

    fn of(&self, page: &Page) -> usize {
        self.of_site[page.site as usize]
    }
}

/// How many sites of each group hold what is wanted, and how many do not.
fn group_sizes(corpus: &Corpus) -> Vec<[usize; 2]> {
    let mut sizes = vec![[0; 2]; corpus.group_count()];
    for site in &corpus.sites {
        sizes[site.group as usize][usize::from(!site.wanted)] += 1;
    }
    sizes
}

/// How many groups have sites of the class that fewest have.
fn scarcest(sizes: &[[usize; 2]]) -> usize {
    let with = |class: usize| sizes.iter().filter(|size| 0 < size[class]).count();
    with(0).min(with(1))
}

/// How much each page counts for what the scores are worth.
struct Weigher<'a> {
    corpus: &'a Corpus,
    /// What a site of each class weighs: wanted, other.
    class: [f64; 2],
    sites: Sites,
}

impl<'a> Weigher<'a> {
    fn new(corpus: &'a Corpus, settings: &TrainSettings) -> Self {
        let (wanted, other) = (
            corpus.site_count(true) as f64,
            corpus.site_count(false) as f64,
        );
        let total = wanted + other;
        let class = match settings.share {
            Some(share) => [share * total / wanted, (1.0 - share) * total / other],
            None => [1.0, 1.0],
        };
        Self {
            corpus,
            class,
            sites: Sites { wanted, other },
        }
    }

    fn weight(&self, page: &Page) -> f64 {
        let site = &self.corpus.sites[page.site as usize];
        let class = self.class[usize::from(!site.wanted)];
        class / site.page_count as f64
    }

    fn calibrate<'b>(
        &self,
        held_out: impl Iterator<Item = &'b HeldOut<'b>>,
        method: Method,
    ) -> Calibration {
        let scored: Vec<Scored> = held_out
            .map(|one| Scored {
                score: one.score,
                wanted: self.corpus.sites[one.page.site as usize].wanted,
                weight: self.weight(one.page),
            })
            .collect();
        Calibration::fit(method, &scored, self.sites)
    }
}

/// Judges every held-out page by a calibration that has not seen its fold.
fn validate(
    corpus: &Corpus,
    scored: &[HeldOut<'_>],
    weigher: &Weigher<'_>,
    settings: &TrainSettings,
) -> Validation {
    let folds = scored.iter().map(|one| one.fold + 1).max().unwrap_or(0);
    let mut judged = Vec::with_capacity(scored.len());
    for fold in 0..folds {
        let others = scored.iter().filter(|one| one.fold != fold);
        let calibration = weigher.calibrate(others, settings.calibration);
        for one in scored.iter().filter(|one| one.fold == fold) {
            judged.push(Judged {
                site: one.page.site,
                wanted: corpus.sites[one.page.site as usize].wanted,
                probability: calibration.probability(one.score),
                weight: weigher.weight(one.page),
            });
        }
    }
    Validation::of(&judged, folds)
}

/// A classifier with the features that it knows.
struct Classifier {
    /// For each feature of the corpus, its position in the vocabulary.
    positions: Vec<Option<u32>>,
    /// For each feature of the vocabulary, its number in the corpus.
    vocabulary: Vec<u32>,
    idf: Vec<f32>,
    groups: Vec<Group>,
    linear: Linear,
}

impl Classifier {
    fn train(
        corpus: &Corpus,
        settings: &TrainSettings,
        is_seen: impl Fn(&Page) -> bool,
    ) -> Result<Self, TrainError> {
        let pages: Vec<&Page> = corpus.pages.iter().filter(|page| is_seen(page)).collect();
        let mut classifier = Self::with_vocabulary(corpus, settings, &pages)?;
        let mut class_weight = [0.0; 2];
        let site_weight = |page: &Page| 1.0 / corpus.sites[page.site as usize].page_count as f64;
        let class_of = |page: &Page| usize::from(corpus.sites[page.site as usize].wanted);
        for page in &pages {
            class_weight[class_of(page)] += site_weight(page);
        }
        let examples: Vec<Example> = pages
            .iter()
            .map(|page| {
                let class = class_of(page);
                // On average one, with each class half of it.
                let share = site_weight(page) / class_weight[class] / 2.0;
                Example {
                    values: classifier.values(page),
                    wanted: class == 1,
                    cost: settings.cost * share * pages.len() as f64,
                }
            })
            .collect();
        classifier.linear = svm::train(&examples, classifier.vocabulary.len(), settings.seed);
        Ok(classifier)
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
            linear: Linear {
                weights: Vec::new(),
                bias: 0.0,
            },
            vocabulary,
        })
    }

    /// The page as the model will see it: see `page_model`.
    fn values(&self, page: &Page) -> Vec<(u32, f32)> {
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

    fn score(&self, page: &Page) -> f64 {
        self.linear.score(&self.values(page))
    }

    fn features(&self, corpus: &Corpus) -> Vec<Feature> {
        let features = self.vocabulary.iter().enumerate();
        features
            .map(|(position, feature)| {
                let (group, name) = &corpus.features[*feature as usize];
                Feature {
                    group: *group,
                    name: name.clone(),
                    idf: self.idf[position],
                    weight: rounded(self.linear.weights[position]),
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

#[cfg(test)]
mod tests;
