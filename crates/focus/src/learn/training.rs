//! Trains a model of pages, and says how good it is on sites that it has not seen.
//!
//! The label is the site's, so sites are what is dealt into folds: no page of a site that a model is asked about has been seen in its
//! training, neither for weights nor for the choice of features. Each fold's pages get their scores from the other folds. The
//! calibration of the model is fitted on those scores; the figures of the [`Validation`] come from calibrations that leave out the
//! fold they are asked about, too. Last, the classifier is trained on everything. (What an error costs is the one thing that is chosen by
//! the same scores; the figures owe that choice among three at most a little.)
//!
//! A site counts as one, however many pages it has: a page weighs 1 / (pages of its site). In training both classes weigh the same
//! (the rare one costs more); the calibration then has the shares as they are, or as [`TrainSettings::share`] says they will be.

use thiserror::Error;

use super::calibration::{Calibration, Method, Scored, Sites};
use super::corpus::{Corpus, Page};
use super::folds::{Folds, group_sizes, scarcest};
use super::lesson::Lesson;
use super::page_model::{PageModel, PageModelParts};
use super::validation::{Judged, Validation};
use crate::words::Words;

/// How to train.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainSettings {
    /// Into how many parts the sites are dealt; each is asked about once. Default 5.
    pub folds: usize,
    /// What an error costs, against large weights: of several, the one with the least log loss on held-out sites is taken.
    /// Default 0.003, 0.03 and 0.3.
    pub costs: Vec<f64>,
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
            costs: vec![0.003, 0.03, 0.3],
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
    /// The cost that was taken.
    pub cost: f64,
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
    let steps = settings.costs.len();
    let total = folds.count * steps + 1;
    let mut done = 0;
    let mut step = || {
        progress(TrainProgress { done, total });
        done += 1;
    };
    let mut scored: Vec<Vec<HeldOut<'_>>> = vec![Vec::new(); steps];
    for fold in 0..folds.count {
        let lesson = Lesson::new(corpus, settings, |page| folds.of(page) != fold)?;
        for (cost, scored) in settings.costs.iter().zip(&mut scored) {
            step();
            let linear = lesson.learn(*cost, settings.seed);
            for page in corpus.pages.iter().filter(|page| folds.of(page) == fold) {
                let score = linear.score(&lesson.values(page));
                scored.push(HeldOut { page, fold, score });
            }
        }
    }
    step();
    let weigher = Weigher::new(corpus, settings);
    let tried = settings
        .costs
        .iter()
        .zip(&scored)
        .map(|(cost, scored)| Tried {
            cost: *cost,
            scored,
            validation: validate(corpus, scored, &weigher, settings),
        });
    let best = tried.min_by(|a, b| a.validation.log_loss.total_cmp(&b.validation.log_loss));
    let best = best.ok_or(TrainError::Settings("at least one cost is needed"))?;
    let lesson = Lesson::new(corpus, settings, |_| true)?;
    let linear = lesson.learn(best.cost, settings.seed);
    step();
    let parts = PageModelParts {
        look: corpus.look().clone(),
        features: lesson.features(corpus, &linear),
        bias: linear.bias,
        calibration: weigher.calibrate(best.scored.iter(), settings.calibration),
    };
    Ok(Trained {
        model: PageModel::new(parts, words),
        validation: best.validation,
        cost: best.cost,
    })
}

/// What came of a cost.
struct Tried<'a> {
    cost: f64,
    scored: &'a [HeldOut<'a>],
    validation: Validation,
}

fn check(corpus: &Corpus, settings: &TrainSettings) -> Result<(), TrainError> {
    let (wanted, other) = (corpus.site_count(true), corpus.site_count(false));
    if scarcest(&group_sizes(corpus)) < 2 {
        return Err(TrainError::TooFewSites { wanted, other });
    }
    if settings.folds < 2 {
        return Err(TrainError::Settings("at least two folds are needed"));
    }
    let is_cost = |cost: &f64| 0.0 < *cost && cost.is_finite();
    if settings.costs.is_empty() || !settings.costs.iter().all(is_cost) {
        return Err(TrainError::Settings("costs must be positive"));
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
#[derive(Clone, Copy)]
struct HeldOut<'a> {
    page: &'a Page,
    fold: usize,
    score: f64,
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

#[cfg(test)]
mod tests;
