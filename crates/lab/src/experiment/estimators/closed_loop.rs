//! Pages whose next gap is what the estimator says: the paper's crawler in small.
//!
//! The interval is the estimated time between changes, between a day and 400 days; the first is drawn between a day and a
//! week. Every estimator crawls the same pages, whose changes come at the same moments.

use std::time::Duration;

use junkai_revisit::estimator::Evidence;
use junkai_revisit::{Draw, SiteRates};
use rayon::prelude::*;

use super::EstimatorsExperiment;
use super::contestant::Contestant;
use super::open_loop::DAY_SECONDS;

/// In words, for whoever repeats it.
pub(super) const POPULATION: &str = "mean times between changes spread evenly over the powers from half a day to 500 days, for three years";

const DAYS_BETWEEN_CHANGES: (f64, f64) = (0.5, 500.0);
const HORIZON_DAYS: f64 = 3.0 * 365.0;
const INTERVAL_DAYS: (f64, f64) = (1.0, 400.0);
const FIRST_DAYS: (f64, f64) = (1.0, 7.0);

/// Pages whose changes can be followed: their mean time between changes lies within the bounds of intervals.
const FOLLOWED_DAYS: (f64, f64) = (1.0, 400.0);

/// What came of it.
pub(super) struct ClosedLoop {
    pub(super) crawls: Vec<Crawl>,
}

/// What came of it for one estimator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crawl {
    pub(super) contestant: Contestant,
    pub(super) visits: u64,
    /// Visits that found a change.
    pub(super) found: u64,
    /// Changes that there were.
    pub(super) changes: u64,
    /// Mean and root mean square of ln(λ̂/λ) at the end.
    pub(super) bias: f64,
    pub(super) rmse: f64,
}

impl Crawl {
    pub(super) fn yield_share(&self) -> f64 {
        self.found as f64 / self.visits.max(1) as f64
    }

    pub(super) fn captured_share(&self) -> f64 {
        self.found as f64 / self.changes.max(1) as f64
    }
}

/// A page: when it changes, in days, and how often on average.
struct Page {
    changes: Vec<f64>,
    rate: f64,
    chance: Draw,
}

/// How one page went.
struct Course {
    visits: u64,
    found: u64,
    ln_error: f64,
}

impl ClosedLoop {
    pub(super) fn run(experiment: &EstimatorsExperiment) -> ClosedLoop {
        let chance = Draw::new(experiment.seed).another(u64::MAX);
        let pages: Vec<Page> = (0..experiment.pages)
            .map(|page| Page::drawn(chance.another(page.into())))
            .collect();
        let crawls = Contestant::ALL
            .into_par_iter()
            .map(|contestant| crawl(contestant, &pages))
            .collect();
        ClosedLoop { crawls }
    }

    pub(super) fn of(&self, contestant: Contestant) -> &Crawl {
        &self.crawls[contestant.index()]
    }
}

impl Page {
    fn drawn(chance: Draw) -> Page {
        let (low, high) = DAYS_BETWEEN_CHANGES;
        let days = low * (high / low).powf(chance.another(0).uniform());
        let mut changes = Vec::new();
        let mut at = 0.0;
        loop {
            let draw = chance.another(1 + changes.len() as u64);
            at -= days * (1.0 - draw.uniform()).ln();
            if HORIZON_DAYS < at {
                break;
            }
            changes.push(at);
        }
        Page {
            changes,
            rate: 1.0 / days,
            chance: chance.another(u64::MAX),
        }
    }

    fn changes_until(&self, day: f64) -> usize {
        self.changes.partition_point(|change| *change <= day)
    }
}

fn crawl(contestant: Contestant, pages: &[Page]) -> Crawl {
    // The pages are of one site; each teaches those after it.
    let mut site = SiteRates::at_first();
    let mut crawl = Crawl {
        contestant,
        visits: 0,
        found: 0,
        changes: 0,
        bias: 0.0,
        rmse: 0.0,
    };
    let mut followed = 0.0_f64;
    for page in pages {
        let course = visit(contestant, page, &mut site);
        crawl.visits += course.visits;
        crawl.found += course.found;
        crawl.changes += page.changes.len() as u64;
        let (low, high) = FOLLOWED_DAYS;
        if (low..high).contains(&(1.0 / page.rate)) {
            followed += 1.0;
            crawl.bias += course.ln_error;
            crawl.rmse += course.ln_error.powi(2);
        }
    }
    crawl.bias /= followed.max(1.0);
    crawl.rmse = (crawl.rmse / followed.max(1.0)).sqrt();
    crawl
}

fn visit(contestant: Contestant, page: &Page, site: &mut SiteRates) -> Course {
    let prior = site.drawn_to(&SiteRates::at_first()).prior();
    let mut learner = contestant.learner(&prior, None);
    let mut course = Course {
        visits: 0,
        found: 0,
        ln_error: 0.0,
    };
    let (low, high) = FIRST_DAYS;
    let mut interval = low + (high - low) * page.chance.uniform();
    let mut day = 0.0;
    let mut known = 0;
    while day + interval < HORIZON_DAYS {
        day += interval;
        course.visits += 1;
        let gap = Duration::from_secs_f64(interval * DAY_SECONDS);
        let now = page.changes_until(day);
        let evidence = if known < now {
            course.found += 1;
            Evidence::Changed { gap }
        } else {
            Evidence::Same { gap }
        };
        known = now;
        learner.learn(&evidence, &prior);
        let belief = learner.belief(&prior);
        site.take_in(&belief, gap);
        let rate = belief.rate * DAY_SECONDS;
        interval = (1.0 / rate).clamp(INTERVAL_DAYS.0, INTERVAL_DAYS.1);
    }
    let rate = learner.belief(&prior).rate * DAY_SECONDS;
    course.ln_error = (rate / page.rate).ln();
    course
}
