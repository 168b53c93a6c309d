//! Pages of a real site, visited at gaps that nobody chooses: who foretells best what a visit finds?
//!
//! Before each visit every estimator says the chance that the page has changed since the last; the visit shows whether it has.
//! The visits of all pages are made in the order of time, and each estimator's prior of the site is learnt from those
//! before, as in a crawl. Publications that touch hundreds of pages at once are left out: they are rebuilds.

use std::time::Duration;

use junkai_graph::history::{BULK_PAGES_MAX, Event, EventKind, History, UnixSeconds};
use junkai_revisit::estimator::Evidence;
use junkai_revisit::{Draw, SiteRates};
use rayon::prelude::*;

use super::EstimatorsExperiment;
use super::contestant::{Contestant, Learner};
use super::open_loop::{DAY_SECONDS, normal};

/// In words, for whoever repeats it.
pub(super) const VISITS: &str = "every page from its first day on, at gaps of a day to 200 days that are log-normal with a median of 14 days and a standard \
     deviation of 1 of the logarithm, while it exists";

const GAP_MEDIAN_DAYS: f64 = 14.0;
const GAP_SIGMA: f64 = 1.0;
const GAP_DAYS: (f64, f64) = (1.0, 200.0);

/// No chance is taken for smaller than this, nor for so near to one: nobody's loss is infinite.
const CHANCE_MIN: f64 = 1e-4;

/// Classes of foretold chances, of equal width.
pub(super) const BINS: usize = 10;

/// What came of one history.
pub(super) struct Replay {
    pub(super) name: String,
    pub(super) pages: u32,
    /// Visits that were foretold.
    pub(super) visits: u64,
    /// The share of them that found a change.
    pub(super) changed_share: f64,
    scores: Vec<Score>,
}

/// How well one estimator foretold.
#[derive(Clone, Debug, Default)]
pub(super) struct Score {
    loss: f64,
    visits: f64,
    pub(super) bins: [Bin; BINS],
}

/// Visits for which about the same chance was foretold.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bin {
    pub(super) visits: f64,
    /// Sum of the chances.
    chances: f64,
    changed: f64,
}

impl Bin {
    /// The mean chance that was foretold, and the share that changed; none if there were too few visits to tell.
    pub(super) fn point(&self) -> Option<(f64, f64)> {
        (100.0 <= self.visits).then(|| (self.chances / self.visits, self.changed / self.visits))
    }
}

impl Score {
    /// Mean log-loss, in nats per visit.
    pub(super) fn log_loss(&self) -> f64 {
        self.loss / self.visits.max(1.0)
    }

    fn note(&mut self, chance: f64, has_changed: bool) {
        let chance = chance.clamp(CHANCE_MIN, 1.0 - CHANCE_MIN);
        let right = if has_changed { chance } else { 1.0 - chance };
        self.loss -= right.ln();
        self.visits += 1.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the number of bins"
        )]
        let bin = &mut self.bins[((chance * BINS as f64) as usize).min(BINS - 1)];
        bin.visits += 1.0;
        bin.chances += chance;
        bin.changed += f64::from(u8::from(has_changed));
    }
}

/// One visit to a page that was there.
#[derive(Clone, Copy)]
struct Visit {
    at: u64,
    page: u32,
    gap: Duration,
    has_changed: bool,
}

impl Replay {
    pub(super) fn run(history: &History, experiment: &EstimatorsExperiment) -> Replay {
        let history = history.without_bulk(BULK_PAGES_MAX);
        let end = history.span().map_or(UnixSeconds(0), |(_, end)| end);
        let chance = Draw::new(experiment.seed).another(history.event_count() as u64);
        let chosen = chosen_pages(&history, chance, experiment.replayed_max);
        let mut visits: Vec<Visit> = Vec::new();
        for (place, page) in (0..).zip(&chosen) {
            let chance = chance.another(u64::from(*page) + 1);
            visits.extend(visits_of(history.events(*page), place, end, chance));
        }
        visits.sort_by_key(|visit| (visit.at, visit.page));
        let scores = Contestant::ALL
            .into_par_iter()
            .map(|contestant| {
                Learners::new(contestant, chosen.len(), experiment.forgetting).foretell(&visits)
            })
            .collect();
        let changed = visits.iter().filter(|visit| visit.has_changed).count();
        Replay {
            name: history.name().to_owned(),
            pages: u32::try_from(chosen.len()).unwrap_or(u32::MAX),
            visits: visits.len() as u64,
            changed_share: changed as f64 / visits.len().max(1) as f64,
            scores,
        }
    }

    pub(super) fn score(&self, contestant: Contestant) -> &Score {
        &self.scores[contestant.index()]
    }
}

/// So many pages, drawn at random.
fn chosen_pages(history: &History, chance: Draw, pages_max: u32) -> Vec<u32> {
    let mut pages: Vec<u32> = history.pages().collect();
    pages.sort_by(|one, other| {
        let rank = |page: &u32| chance.another((*page).into()).uniform();
        rank(one).total_cmp(&rank(other))
    });
    pages.truncate(pages_max as usize);
    pages.sort_unstable();
    pages
}

/// All visits to a page but the first, while it is there.
fn visits_of(events: &[Event], page: u32, end: UnixSeconds, chance: Draw) -> Vec<Visit> {
    let mut visits = Vec::new();
    let Some(first) = events.first() else {
        return visits;
    };
    let mut past = 0;
    let mut last: Option<(u64, usize)> = None;
    let mut at = first.at.0;
    for number in 0.. {
        while past < events.len() && events[past].at.0 <= at {
            past += 1;
        }
        let is_here = events[..past]
            .last()
            .is_some_and(|event| event.kind != EventKind::Deleted);
        if is_here {
            if let Some((seen, known)) = last {
                visits.push(Visit {
                    at,
                    page,
                    gap: Duration::from_secs(at - seen),
                    has_changed: known < past,
                });
            }
            last = Some((at, past));
        }
        let gap_days = GAP_MEDIAN_DAYS * (GAP_SIGMA * normal(chance.another(number))).exp();
        let gap_days = gap_days.clamp(GAP_DAYS.0, GAP_DAYS.1);
        at += Duration::from_secs_f64(gap_days * DAY_SECONDS).as_secs();
        if end.0 < at {
            break;
        }
    }
    visits
}

/// One estimator at work on all pages of a site.
struct Learners {
    contestant: Contestant,
    forgetting: Duration,
    of_pages: Vec<Option<Box<dyn Learner>>>,
    site: SiteRates,
}

impl Learners {
    fn new(contestant: Contestant, pages: usize, forgetting: Duration) -> Learners {
        Learners {
            contestant,
            forgetting,
            of_pages: std::iter::repeat_with(|| None).take(pages).collect(),
            site: SiteRates::at_first(),
        }
    }

    /// Goes through all visits in the order of time.
    fn foretell(mut self, visits: &[Visit]) -> Score {
        let all = SiteRates::at_first();
        let mut score = Score::default();
        for visit in visits {
            let prior = self.site.drawn_to(&all).prior();
            let learner = self.of_pages[visit.page as usize]
                .get_or_insert_with(|| self.contestant.learner(&prior, Some(self.forgetting)));
            let gap = visit.gap;
            let chance = learner.belief(&prior).chance(gap);
            score.note(chance, visit.has_changed);
            let evidence = if visit.has_changed {
                Evidence::Changed { gap }
            } else {
                Evidence::Same { gap }
            };
            learner.learn(&evidence, &prior);
            self.site.take_in(&learner.belief(&prior), gap);
        }
        score
    }
}
