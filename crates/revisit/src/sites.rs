//! What is known of a site's pages together: how often they change, and how far what is said of them can be believed.
//!
//! A page's first belief is its site's [`Prior`], learnt online from the pages that were revisited and drawn towards that
//! of all sites while little is known. The table is bounded: a site that finds it full takes the place of one that was
//! not met for long.
//!
//! # Notation
//! The prior Gamma(*a*₀, *b*₀) is the empirical-Bayes one, by online expectation maximisation: of each revisited page the
//! expectations E *λ* = *a*/*b* and E ln *λ* = *ψ*(*a*) − ln *b* are averaged, each page weighted by the time that the
//! visit covers, so that all pages count alike however often they are visited. Then *b*₀ = *a*₀ / mean, and *a*₀ solves
//! ln *a*₀ − *ψ*(*a*₀) = ln(mean E *λ*) − mean E ln *λ*, by the approximation of Minka, "Estimating a Gamma
//! distribution", 2002.

use std::time::Duration;

use hashbrown::HashMap;
use junkai_weburl::{Fingerprint, PageUrl};

use crate::belief::Belief;
use crate::estimator::Prior;

/// Before anything is known, a page changes every 60 days on average.
const RATE_AT_FIRST: f64 = 1.0 / (60.0 * DAY_SECONDS);
/// And some pages change far more often than most.
const SHAPE_AT_FIRST: f64 = 0.5;
const DAY_SECONDS: f64 = 86_400.0;

/// What is taken for known of all sites before anything is, in page-days.
const WEIGHT_AT_FIRST: f64 = 100.0;
/// What all sites together count beside one of them, in page-days.
const WEIGHT_OF_ALL: f64 = 200.0;
/// What was seen counts no more than this, in page-days, so that the new keeps its say.
const WEIGHT_MAX: f64 = 10_000.0;

/// Entries that are asked whether they were met lately, before one is given up at any rate.
const SWEEP_MAX: usize = 64;

/// What is known of sites.
#[derive(Clone, Debug)]
pub(crate) struct Sites {
    table: Vec<Site>,
    places: HashMap<u64, usize>,
    bound: usize,
    hand: usize,
    all: Rates,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Site {
    key: SiteKey,
    rates: Rates,
    is_met: bool,
}

/// A site, in sixty-four bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SiteKey(u64);

impl SiteKey {
    pub(crate) fn of(page: &PageUrl) -> SiteKey {
        SiteKey(Fingerprint::of(page.site()).0)
    }
}

/// Averages over pages.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rates {
    /// In page-days.
    weight: f64,
    /// Mean of E *λ*, in changes per second.
    mean: f64,
    /// Mean of E ln *λ*.
    mean_ln: f64,
}

impl Sites {
    pub(crate) fn new(sites_max: usize) -> Sites {
        Sites {
            table: Vec::new(),
            places: HashMap::new(),
            bound: sites_max.max(1),
            hand: 0,
            all: Rates::of(RATE_AT_FIRST, SHAPE_AT_FIRST, WEIGHT_AT_FIRST),
        }
    }

    /// What is believed of a page of the site before its first revisit.
    pub(crate) fn prior(&self, key: SiteKey) -> Prior {
        match self.places.get(&key.0) {
            Some(place) => self.table[*place].rates.drawn_to(&self.all).prior(),
            None => self.all.prior(),
        }
    }

    /// A page of the site was revisited after `gap`, and is now believed to change so often.
    pub(crate) fn revisited(&mut self, key: SiteKey, gap: Duration, belief: &Belief) {
        let weight = gap.as_secs_f64() / DAY_SECONDS;
        self.all.take_in(belief, weight);
        let site = self.site(key);
        site.is_met = true;
        site.rates.take_in(belief, weight);
    }

    /// The site's entry; if there is none, that of a site which was not met for long becomes it.
    fn site(&mut self, key: SiteKey) -> &mut Site {
        let place = match self.places.get(&key.0) {
            Some(place) => *place,
            None => self.make_room(key),
        };
        &mut self.table[place]
    }

    fn make_room(&mut self, key: SiteKey) -> usize {
        let site = Site {
            key,
            rates: Rates::of(RATE_AT_FIRST, SHAPE_AT_FIRST, 0.0),
            is_met: false,
        };
        let place = if self.table.len() < self.bound {
            self.table.push(site);
            self.table.len() - 1
        } else {
            let place = self.longest_unmet();
            self.places.remove(&self.table[place].key.0);
            self.table[place] = site;
            place
        };
        self.places.insert(key.0, place);
        place
    }

    /// The hand of a clock goes round; who was met since it last came by has another round.
    fn longest_unmet(&mut self) -> usize {
        for _ in 0..SWEEP_MAX {
            let place = self.hand;
            self.hand = (self.hand + 1) % self.table.len();
            let site = &mut self.table[place];
            if !site.is_met {
                return place;
            }
            site.is_met = false;
        }
        self.hand
    }
}

impl Rates {
    fn of(rate: f64, shape: f64, weight: f64) -> Rates {
        Rates {
            weight,
            mean: rate,
            mean_ln: expected_ln(rate, shape),
        }
    }

    fn take_in(&mut self, belief: &Belief, weight: f64) {
        let all = self.weight + weight;
        if all <= 0.0 {
            return;
        }
        let part = weight / all;
        self.mean += part * (belief.rate - self.mean);
        self.mean_ln += part * (expected_ln(belief.rate, belief.shape) - self.mean_ln);
        self.weight = all.min(WEIGHT_MAX);
    }

    fn drawn_to(&self, all: &Rates) -> Rates {
        let part = WEIGHT_OF_ALL / (self.weight + WEIGHT_OF_ALL);
        Rates {
            weight: self.weight,
            mean: self.mean + part * (all.mean - self.mean),
            mean_ln: self.mean_ln + part * (all.mean_ln - self.mean_ln),
        }
    }

    fn prior(&self) -> Prior {
        let spread = (self.mean.ln() - self.mean_ln).max(1e-6);
        let root = ((spread - 3.0).powi(2) + 24.0 * spread).sqrt();
        Prior::new(self.mean, (3.0 - spread + root) / (12.0 * spread))
    }
}

/// E ln *λ* of a Gamma distribution with this mean and shape.
fn expected_ln(rate: f64, shape: f64) -> f64 {
    if shape.is_finite() {
        digamma(shape) - (shape / rate).ln()
    } else {
        rate.ln()
    }
}

/// *ψ*, the derivative of ln Γ, for arguments above zero; Abramowitz and Stegun, 6.3.5 and 6.3.18.
fn digamma(mut argument: f64) -> f64 {
    let mut shift = 0.0;
    while argument < 6.0 {
        shift -= 1.0 / argument;
        argument += 1.0;
    }
    let square = 1.0 / (argument * argument);
    let series = square * (1.0 / 12.0 - square * (1.0 / 120.0 - square / 252.0));
    shift + argument.ln() - 0.5 / argument - series
}
