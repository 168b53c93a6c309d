//! Pages whose rate is known, visited at gaps that nobody chooses.
//!
//! Gaps are *m* e^(*σN*) days, *N* standard normal: regular if *σ* is zero. The pages are of a [`Site`]: they change once a day in the
//! median, some more often and some less, and ours knows how much they differ, as it would from other pages of the site; or
//! every page changes once a day, and ours takes another rate for likely, as in the prototype.

use std::time::Duration;

use junkai_revisit::estimator::{Evidence, Prior};
use junkai_revisit::{Draw, SiteRates};
use rayon::prelude::*;

use super::EstimatorsExperiment;
use super::contestant::Contestant;

pub(super) const DAY_SECONDS: f64 = 86_400.0;

/// One row: how pages are visited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Situation {
    /// The median gap, in days.
    pub(super) median: f64,
    /// *σ*.
    pub(super) sigma: f64,
    pub(super) visits: u32,
}

/// All rows: regular, irregular and very irregular; gaps shorter than, equal to and longer than the time between changes; from
/// few visits to many.
pub(super) const SITUATIONS: [Situation; 36] = situations();

const fn situations() -> [Situation; 36] {
    const SIGMAS: [f64; 3] = [0.0, 0.5, 1.5];
    const MEDIANS: [f64; 3] = [0.25, 1.0, 4.0];
    const VISITS: [u32; 4] = [5, 20, 100, 1000];
    let mut all = [Situation {
        median: 0.0,
        sigma: 0.0,
        visits: 0,
    }; 36];
    let mut place = 0;
    while place < all.len() {
        all[place] = Situation {
            sigma: SIGMAS[place / 12],
            median: MEDIANS[place / 4 % 3],
            visits: VISITS[place % 4],
        };
        place += 1;
    }
    all
}

/// How much the pages of a site differ: the variance of the logarithm of their rates.
const SITE_VARIANCE: f64 = 1.0;

/// The shape of the prototype's prior.
const PROTOTYPE_SHAPE: f64 = 0.5;

/// What the pages are of, and what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Site {
    /// Pages change once a day in the median, two thirds of them within a factor e, and that is known.
    Known,
    /// Every page changes once a day, and the prior is the prototype's: one change per median gap on average, up to four times off.
    Mistaken,
}

/// ln(λ̂/λ) of each run: every contestant's, and ours when nothing is known beforehand.
#[derive(Clone, Debug)]
struct Errors {
    by_contestant: [f64; Contestant::ALL.len()],
    cold: f64,
    /// Nothing or everything changed: equation 4 and the exact solution have no answer.
    is_singular: bool,
}

/// What came of one row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) situation: Situation,
    errors: Vec<Errors>,
}

/// What came of all rows.
pub(super) struct OpenLoop {
    /// On a site that is known.
    pub(super) rows: Vec<Row>,
    /// On one that is taken for another.
    pub(super) mistaken: Vec<Row>,
}

/// Bias and root mean square of ln(λ̂/λ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quality {
    pub(super) bias: f64,
    pub(super) rmse: f64,
}

impl OpenLoop {
    pub(super) fn run(experiment: &EstimatorsExperiment, meter: impl Fn(u64)) -> OpenLoop {
        let mut open = OpenLoop {
            rows: Vec::new(),
            mistaken: Vec::new(),
        };
        for situation in SITUATIONS {
            open.rows.push(Row::run(situation, Site::Known, experiment));
            let mistaken = Row::run(situation, Site::Mistaken, experiment);
            open.mistaken.push(mistaken);
            meter(open.rows.len() as u64);
        }
        open
    }
}

impl Row {
    fn run(situation: Situation, site: Site, experiment: &EstimatorsExperiment) -> Row {
        let chance = Draw::new(experiment.seed)
            .another(situation.median.to_bits())
            .another(situation.sigma.to_bits());
        let errors = (0..experiment.runs)
            .into_par_iter()
            .map(|run| one_page(situation, site, chance.another(run.into())))
            .collect();
        Row { situation, errors }
    }

    /// Of all runs; those without an answer are answered by back-off.
    pub(super) fn quality(&self, contestant: Contestant) -> Quality {
        quality(self.errors.iter().map(|errors| errors.of(contestant)))
    }

    /// Of the runs in which the exact solution exists, as the prototype measured; none if there are fewer than fifty.
    pub(super) fn regular_quality(&self, contestant: Contestant) -> Option<Quality> {
        let regular = || self.errors.iter().filter(|errors| !errors.is_singular);
        (50 <= regular().count()).then(|| quality(regular().map(|errors| errors.of(contestant))))
    }

    /// Ours without a prior of the site.
    pub(super) fn cold_quality(&self) -> Quality {
        quality(self.errors.iter().map(|errors| errors.cold))
    }

    pub(super) fn singular_share(&self) -> f64 {
        let singular = self.errors.iter().filter(|errors| errors.is_singular);
        singular.count() as f64 / self.errors.len().max(1) as f64
    }

    /// Whether ours is no worse than another: squared errors are compared run by run, and level is within two standard errors.
    pub(super) fn is_no_worse_than(&self, other: Contestant) -> bool {
        let differences: Vec<f64> = self
            .errors
            .iter()
            .map(|errors| errors.of(Contestant::OURS).powi(2) - errors.of(other).powi(2))
            .collect();
        let count = differences.len().max(2) as f64;
        let mean = differences.iter().sum::<f64>() / count;
        let squares: f64 = differences.iter().map(|one| (one - mean).powi(2)).sum();
        mean <= 2.0 * (squares / (count * (count - 1.0))).sqrt()
    }
}

impl Errors {
    fn of(&self, contestant: Contestant) -> f64 {
        self.by_contestant[contestant.index()]
    }
}

/// Visits one page, and asks everybody.
fn one_page(situation: Situation, site: Site, chance: Draw) -> Errors {
    let ln_day = DAY_SECONDS.ln();
    let (ln_rate, expected) = match site {
        Site::Known => {
            let spread = SITE_VARIANCE.sqrt() * normal(chance.another(u64::MAX));
            let expected = Prior::of_logarithm(-ln_day, SITE_VARIANCE);
            (spread - ln_day, expected)
        }
        Site::Mistaken => {
            let rate = 1.0 / (situation.median * DAY_SECONDS);
            (-ln_day, Prior::new(rate, PROTOTYPE_SHAPE))
        }
    };
    let lessons: Vec<Evidence> = (0..situation.visits)
        .map(|visit| lesson(situation, ln_rate.exp(), chance.another(visit.into())))
        .collect();
    let changes = lessons
        .iter()
        .filter(|lesson| matches!(lesson, Evidence::Changed { .. }))
        .count();
    let error = |contestant: Contestant, prior: &Prior| {
        let mut learner = contestant.learner(prior, None);
        for lesson in &lessons {
            learner.learn(lesson, prior);
        }
        learner.belief(prior).rate.ln() - ln_rate
    };
    Errors {
        by_contestant: Contestant::ALL.map(|contestant| error(contestant, &expected)),
        cold: error(Contestant::OURS, &SiteRates::at_first().prior()),
        is_singular: changes == 0 || changes == lessons.len(),
    }
}

fn lesson(situation: Situation, rate: f64, chance: Draw) -> Evidence {
    let days = situation.median * (situation.sigma * normal(chance)).exp();
    let gap = Duration::from_secs_f64(days * DAY_SECONDS);
    if chance.another(2).uniform() < -(-rate * days * DAY_SECONDS).exp_m1() {
        Evidence::Changed { gap }
    } else {
        Evidence::Same { gap }
    }
}

/// A standard normal number (Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958).
pub(super) fn normal(chance: Draw) -> f64 {
    let radius = (-2.0 * (1.0 - chance.another(0).uniform()).ln()).sqrt();
    radius * (std::f64::consts::TAU * chance.another(1).uniform()).cos()
}

fn quality(errors: impl Iterator<Item = f64>) -> Quality {
    let (mut count, mut sum, mut squares) = (0.0_f64, 0.0, 0.0);
    for error in errors {
        count += 1.0;
        sum += error;
        squares += error * error;
    }
    let count = count.max(1.0);
    Quality {
        bias: sum / count,
        rmse: (squares / count).sqrt(),
    }
}
