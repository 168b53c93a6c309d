//! What a visit must be worth to be made: the price that keeps all visits within their budget.
//!
//! With a budget of visits a day, the price is the one at which the known pages together ask for as many. Without one it is fixed, so
//! that a page is visited once per change that is expected of it: Tamura and Kitsuregawa's (2007) interval.
//!
//! The price is moved through the exposure that it stands for, the *depth*: intervals are proportional to it when visits are for versions,
//! so a price that is twice as deep halves the visits wherever it stands. What pages ask for at a depth of one, their tempo, is
//! learnt from the intervals as they are planned, whatever the depth was then; pages times tempo by budget is the depth. So it follows
//! at once when pages are found or the budget is set anew, and otherwise settles, without swinging, in about one round over all pages,
//! whatever their number and whatever visits are for. Visits that were not made in time are made up for. What the price is when a visit is
//! planned is not what it is when it comes to be made: so pages are looked at again in between (`planner`).
//!
//! An overloaded server has a *pressure* of its own ([`Pressure`]), which deepens the price for its pages alone; it moves by small steps.
//!
//! Kolobov, Lubetzky, Peres and Horvitz, "Optimal Freshness Crawl Under Politeness Constraints", SIGIR 2019: at the optimum all
//! pages of one server have one price, that of the others or a higher one.
//!
//! # Notation
//! *ℓ*: [`Price::level`]; *x*: depth; *ℓ* = *v*(*x*)·(*η* + (1 − *η*)·`DEPTH_DAYS`), *v* as in `policy::value`. *T*: an interval that was planned at
//! depth *x*; tempo = Σ*x*/Σ*T* over about one round of plans: a page is planned once in *T*, so this is the mean of *x*/*T* over pages.
//!
//! Departures: the paper solves for all prices at once and again every few days; ours move with every visit, so the pages
//! need not be listed.

use std::time::Duration;

use junkai_frontier::Time;

use crate::policy::{EXPOSURE_MAX, Objective, exposure_worth, visit_value};
use crate::servers::LoadIndex;

const DAY_SECONDS: f64 = 86_400.0;

/// The page whose exposure is the depth changes once in so many days; where freshness counts, pages that change less often still
/// have a price.
const DEPTH_DAYS: f64 = 400.0;

/// Without a budget, a page that changes once in so many days is visited as often, whatever visits are for.
const UNBUDGETED_DAYS: f64 = 30.0;

/// The depth up to which the value of a visit tells depths apart: beyond about 38 it rounds to its limit.
const DEPTH_PRICED: f64 = 24.0;
/// Below, a budget is not used up: so soon, one visit in a hundred would find a change.
const DEPTHS: (f64, f64) = (0.01, EXPOSURE_MAX);

/// Of fewer pages than this a visit is no smaller share: the price of a small crawl does not leap.
const PAGES_MIN: f64 = 64.0;

/// The price of a visit.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    objective: Objective,
    visits_per_second: Option<f64>,
    depth: f64,
    tempo: Tempo,
    account: Account,
}

/// How often pages ask to be visited at a depth of one, over the last plans: about as many as there are pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Tempo {
    depths: f64,
    seconds: f64,
}

impl Tempo {
    /// That of pages which meet a budget at this depth.
    fn of_budget(depth: f64, pages: f64, visits_per_second: f64) -> Tempo {
        Tempo {
            depths: pages * depth,
            seconds: pages * pages / visits_per_second,
        }
    }

    fn note(&mut self, depth: f64, interval: Duration, pages: f64) {
        let kept = 1.0 - 1.0 / pages;
        self.depths = kept * self.depths + depth;
        self.seconds = kept * self.seconds + interval.as_secs_f64().max(1e-3);
    }

    /// Visits per second and page.
    fn per_second(&self) -> f64 {
        self.depths / self.seconds
    }
}

/// Visits that the budget allowed and that were not made: what is planned now is visited later, so a web that grows would fall behind its
/// budget for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Account {
    settled: Option<Time>,
    unspent: f64,
}

impl Account {
    /// What is left over or overdrawn counts for no more than this share of the pages: a long pause is not made up for.
    const SHARE_MAX: f64 = 0.25;

    /// What is left over is spent, and what is overdrawn saved, within this share of a round over all pages.
    const ROUND_SHARE: f64 = 0.125;

    /// The budget grows with time.
    fn accrue(&mut self, now: Time, visits_per_second: f64, pages: f64) {
        let since = self.settled.replace(now);
        let elapsed = since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        let most = Account::SHARE_MAX * pages;
        self.unspent += visits_per_second * elapsed.as_secs_f64();
        self.unspent = self.unspent.clamp(-most, most);
    }

    /// How many times the budget may be spent now.
    fn made_up(&self, pages: f64) -> f64 {
        (self.unspent / (Account::ROUND_SHARE * pages)).exp()
    }
}

impl Price {
    /// The price of visits for this objective, within a budget of visits a day if there is one.
    #[must_use]
    pub fn new(objective: Objective, visits_a_day: Option<f64>) -> Price {
        let mut price = Price {
            objective,
            visits_per_second: None,
            depth: unbudgeted_depth(objective),
            tempo: Tempo::default(),
            account: Account::default(),
        };
        price.set_visits_a_day(visits_a_day);
        price
    }

    /// Sets another budget of visits a day, or none; a budget that is not above zero is none.
    pub fn set_visits_a_day(&mut self, visits_a_day: Option<f64>) {
        let budget = visits_a_day.filter(|visits| visits.is_finite() && 0.0 < *visits);
        self.visits_per_second = budget.map(|visits| visits / DAY_SECONDS);
        if budget.is_none() {
            self.depth = unbudgeted_depth(self.objective);
        }
    }

    /// The budget, if there is one.
    #[must_use]
    pub fn visits_per_second(&self) -> Option<f64> {
        self.visits_per_second
    }

    /// *ℓ*, for pages of a server under this pressure.
    #[must_use]
    pub fn level(&self, pressure: Pressure) -> f64 {
        let scale = self.objective.stake(1.0 / (DEPTH_DAYS * DAY_SECONDS));
        let depth = (self.depth * pressure.factor()).min(DEPTH_PRICED);
        scale * visit_value(depth)
    }

    /// How much longer than the price says intervals are, where it is so high that no value tells two depths apart.
    #[must_use]
    pub fn stretch(&self, pressure: Pressure) -> f64 {
        (self.depth * pressure.factor() / DEPTH_PRICED).max(1.0)
    }

    /// Whether more was spent than the budget allowed so far.
    pub(crate) fn is_overdrawn(&self) -> bool {
        self.visits_per_second.is_some() && self.account.unspent < 0.0
    }

    /// The exposure that the price stands for.
    #[must_use]
    pub fn depth(&self) -> f64 {
        self.depth
    }

    /// Takes up the depth of an earlier run, which had planned so many visits; what is no depth is left aside.
    pub(crate) fn restore(&mut self, depth: f64, planned: &LoadIndex) {
        if let Some(budget) = self.visits_per_second
            && DEPTHS.0 <= depth
            && depth <= DEPTHS.1
        {
            self.depth = depth;
            self.tempo = Tempo::of_budget(depth, (planned.pages() as f64).max(1.0), budget);
        }
    }

    /// Time has passed: the price follows what is left of the budget.
    pub(crate) fn pass(&mut self, now: Time, planned: &LoadIndex) {
        if let Some(budget) = self.visits_per_second {
            let pages = (planned.pages() as f64).max(PAGES_MIN);
            self.account.accrue(now, budget, pages);
            self.follow(budget, planned);
        }
    }

    /// A visit of the budget was made.
    pub(crate) fn spend(&mut self, now: Time, planned: &LoadIndex) {
        self.account.unspent -= 1.0;
        self.pass(now, planned);
    }

    /// One more visit was planned, `interval` ahead: the price follows what pages ask for.
    pub(crate) fn settle(&mut self, interval: Duration, planned: &LoadIndex) {
        if let Some(budget) = self.visits_per_second {
            let pages = (planned.pages() as f64).max(PAGES_MIN);
            self.tempo.note(self.depth, interval, pages);
            self.follow(budget, planned);
        }
    }

    fn follow(&mut self, budget: f64, planned: &LoadIndex) {
        let pages = planned.pages() as f64;
        let allowed = budget * self.account.made_up(pages.max(PAGES_MIN));
        let depth = pages * self.tempo.per_second() / allowed;
        if depth.is_finite() {
            self.depth = depth.clamp(DEPTHS.0, DEPTHS.1);
        }
    }
}

fn unbudgeted_depth(objective: Objective) -> f64 {
    let scale = objective.stake(1.0 / (DEPTH_DAYS * DAY_SECONDS));
    let level = visit_value(1.0) * objective.stake(1.0 / (UNBUDGETED_DAYS * DAY_SECONDS));
    exposure_worth(level / scale).unwrap_or(DEPTHS.1)
}

/// How far the price of an overloaded server's pages is beyond that of the others: ln of the factor on the depth. Zero for all
/// others.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Pressure(f32);

impl Pressure {
    /// That of a server that can bear its load.
    pub const NONE: Pressure = Pressure(0.0);

    /// Intervals a thousand million times as long: no server needs as much.
    const MAX: f32 = 20.0;
    const PAGES_MIN: f64 = 8.0;

    /// By how much the depth is multiplied: 1 or more.
    #[must_use]
    pub fn factor(self) -> f64 {
        f64::from(self.0).exp()
    }

    /// Whether the server is relieved at all.
    #[must_use]
    pub fn is_some(self) -> bool {
        0.0 < self.0
    }

    /// What is left of it beyond another one.
    pub(crate) fn beyond(self, other: Pressure) -> Pressure {
        Pressure((self.0 - other.0).max(0.0))
    }

    /// The pressure that multiplies the depth by so much.
    pub(crate) fn of_factor(factor: f64) -> Pressure {
        #[expect(clippy::cast_possible_truncation, reason = "within bounds below")]
        let logarithm = factor.ln() as f32;
        if logarithm.is_nan() {
            Pressure::NONE
        } else {
            Pressure(logarithm.clamp(0.0, Pressure::MAX))
        }
    }

    /// Moves towards the capacity of the server, after one of its visits was planned.
    pub(crate) fn settle(&mut self, planned: &LoadIndex, capacity: f64) {
        let step = step(planned, capacity);
        #[expect(clippy::cast_possible_truncation, reason = "a step is below one")]
        let pressure = self.0 + step as f32;
        self.0 = pressure.clamp(0.0, Pressure::MAX);
    }
}

/// One visit's share of the way from what is planned to what is allowed, as a logarithm.
fn step(planned: &LoadIndex, allowed: f64) -> f64 {
    let planned_rate = planned.per_second();
    if planned_rate <= 0.0 || allowed <= 0.0 {
        return 0.0;
    }
    let pages = (planned.pages() as f64).max(Pressure::PAGES_MIN);
    (planned_rate / allowed).ln().clamp(-1.0, 1.0) / pages
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    /// Plans a visit to each of so many pages, which change at rates of a day to a hundred days.
    fn plan_all(price: &mut Price, load: &mut LoadIndex, pages: u32) {
        for page in 0..pages {
            let days = 100.0_f64.powf(f64::from(page % 10) / 9.0);
            let interval = DAY.mul_f64(price.depth() * days);
            load.add(interval);
            price.settle(interval, load);
        }
    }

    #[test]
    fn the_price_follows_when_pages_are_found_and_budgets_are_set() {
        let mut price = Price::new(Objective::CAPTURE, Some(10.0));
        let mut load = LoadIndex::default();
        plan_all(&mut price, &mut load, 1000);
        let depth = price.depth();
        // Twice as many pages, or half of the budget: twice as deep, with no visit made in between.
        plan_all(&mut price, &mut load, 1000);
        assert!((price.depth() / depth - 2.0).abs() < 0.05, "{price:?}");
        price.set_visits_a_day(Some(5.0));
        price.pass(Time::EPOCH, &load);
        assert!((price.depth() / depth - 4.0).abs() < 0.1, "{price:?}");
    }

    #[test]
    fn what_is_unspent_makes_visits_cheaper_and_what_is_overdrawn_dearer() {
        let mut price = Price::new(Objective::CAPTURE, Some(10.0));
        let mut load = LoadIndex::default();
        plan_all(&mut price, &mut load, 1000);
        price.pass(Time::EPOCH, &load);
        let depth = price.depth();
        price.pass(Time::EPOCH + 5 * DAY, &load);
        assert!(price.depth() < 0.8 * depth);
        for _ in 0..100 {
            price.spend(Time::EPOCH + 5 * DAY, &load);
        }
        assert!(1.4 * depth < price.depth());
        // However long the pause, no more than a quarter of the pages is made up for.
        price.pass(Time::EPOCH + 5000 * DAY, &load);
        assert!(depth * (-2.01_f64).exp() < price.depth());
    }

    #[test]
    fn a_price_that_was_saved_is_taken_up() {
        let mut price = Price::new(Objective::CAPTURE, Some(10.0));
        let mut load = LoadIndex::default();
        plan_all(&mut price, &mut load, 1000);
        let mut restored = Price::new(Objective::CAPTURE, Some(10.0));
        restored.restore(price.depth(), &load);
        restored.settle(DAY.mul_f64(price.depth() * 30.0), &load);
        assert!((restored.depth() / price.depth() - 1.0).abs() < 0.05);
        restored.restore(f64::NAN, &load);
        assert!(restored.depth().is_finite());
    }
}
