//! How good a model is on sites that it has not seen.

use std::collections::BTreeMap;

use serde::Serialize;

use super::page_model::PageModel;
use super::view::PageView;

/// A held-out page and what was said of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judged {
    pub(super) site: u32,
    pub(super) wanted: bool,
    pub(super) probability: f64,
    /// How much it counts: pages of a site together count as one site.
    pub(super) weight: f64,
}

/// Asks a model about pages of sites that are known, one by one.
#[derive(Debug)]
pub struct Check<'a> {
    model: &'a PageModel,
    sites: BTreeMap<String, u32>,
    judged: Vec<Judged>,
}

impl<'a> Check<'a> {
    /// Nothing asked yet. The figures mean something if the model has not learned from these sites.
    #[must_use]
    pub fn new(model: &'a PageModel) -> Self {
        Self {
            model,
            sites: BTreeMap::new(),
            judged: Vec::new(),
        }
    }

    /// Asks about a page of a site that holds what is wanted, or does not; returns the answer.
    pub fn add(&mut self, site: &str, wanted: bool, page: &PageView<'_>) -> f64 {
        let next = u32::try_from(self.sites.len()).unwrap_or(u32::MAX);
        let site = *self.sites.entry(site.to_owned()).or_insert(next);
        let probability = self.model.probability(page);
        self.judged.push(Judged {
            site,
            wanted,
            probability,
            weight: 1.0,
        });
        probability
    }

    /// How good the answers were. Sites count the same, and so do all pages of a site.
    #[must_use]
    pub fn finish(mut self) -> Validation {
        let mut pages = vec![0.0; self.sites.len()];
        for one in &self.judged {
            pages[one.site as usize] += 1.0;
        }
        for one in &mut self.judged {
            one.weight = 1.0 / pages[one.site as usize];
        }
        Validation::of(&self.judged, 1)
    }
}

/// Figures on held-out sites.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Validation {
    /// Into how many folds the sites were dealt; one: a model was checked that had learned from others.
    pub folds: usize,
    /// Each page on its own: probability ½ or more says that its site holds what is wanted. Every page counts the same.
    pub pages: Figures,
    /// Each site by the mean over its pages. Every site counts the same.
    pub sites: Figures,
    /// Mean squared error of the probabilities of pages; sites count the same.
    pub brier: f64,
    /// The mean squared error of always saying the share of what is wanted.
    pub brier_of_share: f64,
    /// Mean of −ln of the probability of what was the case; sites count the same.
    pub log_loss: f64,
    /// What was said against what was the case, in tenths.
    pub bins: Vec<Bin>,
}

/// Right and wrong answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// How many were asked about.
    pub count: usize,
    /// How many of them hold what is wanted.
    pub wanted: usize,
    /// The share of right answers.
    pub accuracy: f64,
    /// Of those said to hold it, the share that do; 1 if none was.
    pub precision: f64,
    /// Of those that hold it, the share that were said to.
    pub recall: f64,
}

/// Pages whose probabilities are alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bin {
    /// The lowest probability in it.
    pub from: f64,
    /// How much the pages in it count, in sites.
    pub weight: f64,
    /// What was said of them, on average.
    pub said: f64,
    /// The share that was the case.
    pub was: f64,
}

impl Validation {
    pub(super) fn of(judged: &[Judged], folds: usize) -> Self {
        let total: f64 = judged.iter().map(|one| one.weight).sum();
        let mean = |of: &dyn Fn(&Judged) -> f64| {
            let sum: f64 = judged.iter().map(|one| one.weight * of(one)).sum();
            if 0.0 < total { sum / total } else { 0.0 }
        };
        let truth = |one: &Judged| f64::from(u8::from(one.wanted));
        let share = mean(&truth);
        Self {
            folds,
            pages: figures(
                judged
                    .iter()
                    .map(|one| (one.wanted, 0.5 <= one.probability)),
            ),
            sites: figures(by_site(judged).into_iter()),
            brier: mean(&|one| (one.probability - truth(one)).powi(2)),
            brier_of_share: share * (1.0 - share),
            log_loss: mean(&|one| -likelihood(one).ln()),
            bins: bins(judged),
        }
    }
}

/// The probability that was given to what was the case, kept off zero.
fn likelihood(one: &Judged) -> f64 {
    const LEAST: f64 = 1e-12;
    let probability = if one.wanted {
        one.probability
    } else {
        1.0 - one.probability
    };
    probability.max(LEAST)
}

/// For each site whether it holds what is wanted, and whether it was said to.
fn by_site(judged: &[Judged]) -> Vec<(bool, bool)> {
    let mut sorted: Vec<&Judged> = judged.iter().collect();
    sorted.sort_by_key(|one| one.site);
    sorted
        .chunk_by(|a, b| a.site == b.site)
        .map(|pages| {
            let sum: f64 = pages.iter().map(|one| one.probability).sum();
            (pages[0].wanted, 0.5 <= sum / pages.len() as f64)
        })
        .collect()
}

impl Figures {
    /// Counts answers: whether it was the case, and whether it was said to be.
    pub fn of(answers: impl Iterator<Item = (bool, bool)>) -> Self {
        figures(answers)
    }
}

fn figures(answers: impl Iterator<Item = (bool, bool)>) -> Figures {
    let (mut right, mut said, mut found) = (0_usize, 0_usize, 0_usize);
    let mut figures = Figures::default();
    for (wanted, is_said) in answers {
        figures.count += 1;
        figures.wanted += usize::from(wanted);
        right += usize::from(wanted == is_said);
        said += usize::from(is_said);
        found += usize::from(wanted && is_said);
    }
    let share = |part: usize, whole: usize| {
        if whole == 0 {
            1.0
        } else {
            part as f64 / whole as f64
        }
    };
    figures.accuracy = share(right, figures.count);
    figures.precision = share(found, said);
    figures.recall = share(found, figures.wanted);
    figures
}

fn bins(judged: &[Judged]) -> Vec<Bin> {
    const BINS: u8 = 10;
    let mut bins: Vec<Bin> = (0..BINS)
        .map(|bin| Bin {
            from: f64::from(bin) / f64::from(BINS),
            ..Bin::default()
        })
        .collect();
    for one in judged {
        let place = bins.partition_point(|bin| bin.from <= one.probability);
        let bin = &mut bins[place.saturating_sub(1)];
        bin.weight += one.weight;
        bin.said += one.weight * one.probability;
        bin.was += one.weight * f64::from(u8::from(one.wanted));
    }
    for bin in bins.iter_mut().filter(|bin| 0.0 < bin.weight) {
        bin.said /= bin.weight;
        bin.was /= bin.weight;
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(site: u32, wanted: bool, probability: f64) -> Judged {
        Judged {
            site,
            wanted,
            probability,
            weight: 1.0,
        }
    }

    fn assert_near(found: [f64; 3], expected: [f64; 3]) {
        let is_near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
        assert!(found.iter().zip(&expected).all(is_near), "{found:?}");
    }

    #[test]
    fn figures_are_those_of_a_small_table() {
        let validation = Validation::of(
            &[
                judged(0, true, 0.9),
                judged(0, true, 0.3),
                judged(1, false, 0.6),
                judged(1, false, 0.2),
                judged(2, false, 0.1),
            ],
            2,
        );
        let Figures {
            count,
            wanted,
            accuracy,
            precision,
            recall,
        } = validation.pages;
        assert_eq!((count, wanted), (5, 2));
        assert_near([accuracy, precision, recall], [0.6, 0.5, 0.5]);
        // The means are 0.6, 0.4 and 0.1.
        let sites = validation.sites;
        assert_eq!((sites.count, sites.wanted), (3, 1));
        assert_near([sites.accuracy, sites.precision, sites.recall], [1.0; 3]);
        let brier = (0.01 + 0.49 + 0.36 + 0.04 + 0.01) / 5.0;
        assert!((validation.brier - brier).abs() < 1e-12);
        assert!((validation.brier_of_share - 0.4 * 0.6).abs() < 1e-12);
        assert!((validation.bins[9].said - 0.9).abs() < 1e-12);
        assert_eq!(validation.bins[9].was.to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn certainty_has_a_place_too() {
        let validation = Validation::of(&[judged(0, true, 1.0), judged(1, false, 0.0)], 2);
        assert!(validation.log_loss < 1e-9);
        assert_eq!(validation.bins[9].weight.to_bits(), 1.0_f64.to_bits());
        assert_eq!(validation.bins[0].weight.to_bits(), 1.0_f64.to_bits());
    }
}
