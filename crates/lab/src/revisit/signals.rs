//! Pages whose changes are signalled, more or less truly: what it brings to listen.
//!
//! Changes are a Poisson process of known rate for each page. Of some pages a share of the changes (`recall`) is signalled as it happens, and
//! other signals come without a change, so that a share of all signals (`precision`) is true. Visits are made one by one, evenly in
//! time, always to the page that is most urgent. All that differs is how signals are heard.

use std::time::Duration;

use junkai_revisit::policy::{Index, Objective, Outlook, Policy, SignalQuality, Signals};
use junkai_revisit::{Belief, Draw};

/// How signals are heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hearing {
    /// Not at all.
    Deaf,
    /// Every signal is a change for certain, and what is not signalled changes as if nobody signalled anything.
    Naive,
    /// As far as they have proved true.
    Measured,
}

/// A population of pages, and how truly their changes are signalled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signalling {
    /// Pages. Half of them change more often than once in ten days.
    pub pages: usize,
    /// Visits, as a share of all changes.
    pub visits_per_change: f64,
    /// Days that it lasts.
    pub days: f64,
    /// The share of pages that have signals.
    pub signalled: f64,
    /// The share of their changes that are signalled.
    pub recall: f64,
    /// The share of their signals that are true.
    pub precision: f64,
    /// Where chance begins.
    pub seed: u64,
}

const DAY_SECONDS: f64 = 86_400.0;

/// Spread of the logarithm of the rates.
const RATES_SPREAD: f64 = 1.2;
const MEDIAN_GAP_DAYS: f64 = 10.0;

/// The share of time in which copies are current.
#[must_use]
pub fn freshness(signalling: &Signalling, hearing: Hearing) -> f64 {
    let mut chance = Chance::new(signalling.seed);
    let mut pages: Vec<SignalledPage> = (0..signalling.pages)
        .map(|_| SignalledPage::new(signalling, &mut chance))
        .collect();
    let changes_a_day: f64 = pages.iter().map(|page| page.rate).sum();
    let slot = 1.0 / (signalling.visits_per_change * changes_a_day);
    let index = Index {
        objective: Objective::FRESHNESS,
        first: None,
    };
    let mut now = 0.0;
    while now < signalling.days {
        now += slot;
        let mut best = (f64::NEG_INFINITY, 0);
        for (place, page) in pages.iter_mut().enumerate() {
            page.live_until(now, &mut chance);
            let urgency = page.urgency(&index, hearing, now);
            if best.0 < urgency {
                best = (urgency, place);
            }
        }
        pages[best.1].visit(now);
    }
    let current: f64 = pages.iter().map(|page| page.current_until(now)).sum();
    current / (now * signalling.pages as f64)
}

/// A page; times are in days, rates per day.
struct SignalledPage {
    rate: f64,
    recall: f64,
    false_rate: f64,
    next_change: f64,
    next_false: f64,
    visited: f64,
    stale_since: Option<f64>,
    current: f64,
    signals: u32,
}

impl SignalledPage {
    fn new(signalling: &Signalling, chance: &mut Chance) -> SignalledPage {
        let rate = (RATES_SPREAD * chance.normal()).exp() / MEDIAN_GAP_DAYS;
        let has_signals = chance.uniform() < signalling.signalled;
        let recall = if has_signals { signalling.recall } else { 0.0 };
        let false_rate = rate * recall * (1.0 - signalling.precision) / signalling.precision;
        SignalledPage {
            rate,
            recall,
            false_rate,
            next_change: chance.gap(rate),
            next_false: chance.gap(false_rate),
            visited: 0.0,
            stale_since: None,
            current: 0.0,
            signals: 0,
        }
    }

    fn live_until(&mut self, now: f64, chance: &mut Chance) {
        while self.next_change <= now {
            self.stale_since.get_or_insert(self.next_change);
            self.signals += u32::from(chance.uniform() < self.recall);
            self.next_change += chance.gap(self.rate);
        }
        while self.next_false <= now {
            self.signals += 1;
            self.next_false += chance.gap(self.false_rate);
        }
    }

    fn urgency(&self, index: &Index, hearing: Hearing, now: f64) -> f64 {
        let plain = Outlook::new(Belief::point(self.rate / DAY_SECONDS));
        let elapsed = Duration::from_secs_f64((now - self.visited) * DAY_SECONDS);
        match hearing {
            Hearing::Naive if 0 < self.signals => index.urgency(&plain, Duration::MAX),
            Hearing::Measured if 0.0 < self.recall => {
                let quality = SignalQuality::new(self.recall, self.false_rate / DAY_SECONDS);
                let signals = Signals {
                    count: self.signals,
                    quality: Some(quality),
                };
                index.urgency(&Outlook { signals, ..plain }, elapsed)
            }
            Hearing::Deaf | Hearing::Naive | Hearing::Measured => index.urgency(&plain, elapsed),
        }
    }

    fn visit(&mut self, now: f64) {
        self.current = self.current_until(now);
        self.visited = now;
        self.stale_since = None;
        self.signals = 0;
    }

    /// Days in which our copy was current.
    fn current_until(&self, now: f64) -> f64 {
        self.current + self.stale_since.unwrap_or(now) - self.visited
    }
}

/// A stream of draws.
struct Chance {
    draw: Draw,
    count: u64,
}

impl Chance {
    fn new(seed: u64) -> Chance {
        Chance {
            draw: Draw::new(seed),
            count: 0,
        }
    }

    fn uniform(&mut self) -> f64 {
        self.count += 1;
        self.draw.another(self.count).uniform()
    }

    /// Until the next event of a Poisson process.
    fn gap(&mut self, rate: f64) -> f64 {
        if 0.0 < rate {
            -(-self.uniform()).ln_1p() / rate
        } else {
            f64::INFINITY
        }
    }

    /// Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (-self.uniform()).ln_1p()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
