//! The explorer: which site is asked next, and what each site is taken for.

use serde::{Deserialize, Serialize};

use super::policy::{Population, Rule, Sites};
use super::tournament::Tournament;
use super::{Chance, Evidence, Policy};

/// A site, numbered from 0 in the order of [`Explorer::add_site`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SiteNumber(pub u32);

/// What holds for every policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// A site is taken to hold what is wanted from this probability on. Default ½: both mistakes cost the same. If to miss a site costs
    /// *c* times as much as to take one in vain, 1/(1 + *c*).
    pub threshold: f64,
    /// Nothing more can be learned when no fetch is worth more than this. Default 10⁻¹⁵, at which the arithmetic ends.
    pub worth_min: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            threshold: 0.5,
            worth_min: 1e-15,
        }
    }
}

/// What a site is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Whether it is taken to hold what is wanted.
    pub holds: bool,
    /// The estimated probability that it does.
    pub mean: f64,
    /// The probability that this verdict is wrong.
    pub error_probability: f64,
    /// The fetches that it rests on.
    pub fetches: u32,
}

/// Chooses sites and judges them. See the module.
#[derive(Debug)]
pub struct Explorer {
    rule: Box<dyn Rule>,
    settings: Settings,
    evidence: Vec<Evidence>,
    fetches: u64,
    turns: Vec<Turn>,
    tournament: Tournament,
    ready: Ready,
}

/// Where a site stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    standing: Standing,
    /// Fetches that failed since the last that did not.
    failures: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Ready,
    Asked,
    /// No page is left for now.
    Exhausted,
}

impl Explorer {
    /// An explorer without sites.
    #[must_use]
    pub fn new(policy: Policy, settings: Settings) -> Explorer {
        Explorer {
            rule: policy.rule(settings),
            settings,
            evidence: Vec::new(),
            fetches: 0,
            turns: Vec::new(),
            tournament: Tournament::default(),
            ready: Ready::default(),
        }
    }

    /// A site more, of which nothing is known: its first page comes before second ones.
    ///
    /// # Panics
    /// If there are 2³² sites.
    pub fn add_site(&mut self) -> SiteNumber {
        assert!(self.evidence.len() < u32::MAX as usize, "too many sites");
        #[expect(clippy::cast_possible_truncation, reason = "asserted above")]
        let number = self.evidence.len() as u32;
        self.evidence.push(Evidence::default());
        self.turns.push(Turn {
            standing: Standing::Ready,
            failures: 0,
        });
        self.tournament.enter();
        self.ready.enter();
        self.admit(number);
        SiteNumber(number)
    }

    /// How many sites there are.
    #[must_use]
    pub fn sites(&self) -> usize {
        self.evidence.len()
    }

    /// The site of which to fetch a page now; none if none has a page left, or all are asked. It is *asked* from now on, until
    /// [`observe`](Self::observe), [`failed`](Self::failed) or [`exhausted`](Self::exhausted).
    pub fn next(&mut self, chance: Chance<'_>) -> Option<SiteNumber> {
        let site = self.choose(chance)?;
        self.turns[site as usize].standing = Standing::Asked;
        self.dismiss(site);
        Some(SiteNumber(site))
    }

    /// A page of the site was fetched and given this probability. What is no number counts as [`failed`](Self::failed).
    ///
    /// Also to be used without asking, to take in what is known from before.
    pub fn observe(&mut self, site: SiteNumber, probability: f64) {
        if probability.is_nan() {
            return self.failed(site);
        }
        self.evidence[site.0 as usize].add(probability);
        self.fetches += 1;
        self.turns[site.0 as usize].failures = 0;
        self.answered(site);
        let population = Population {
            sites: &self.evidence,
            fetches: self.fetches,
        };
        if self.rule.learn(&population) {
            self.value_all();
        }
    }

    /// A page of the site was asked for in vain; it may be asked again, but less readily.
    pub fn failed(&mut self, site: SiteNumber) {
        let turn = &mut self.turns[site.0 as usize];
        turn.failures = turn.failures.saturating_add(1);
        self.answered(site);
    }

    /// The site has no page left for now.
    pub fn exhausted(&mut self, site: SiteNumber) {
        self.turns[site.0 as usize].standing = Standing::Exhausted;
        self.dismiss(site.0);
    }

    /// The site has pages again, after it was exhausted.
    pub fn replenished(&mut self, site: SiteNumber) {
        if self.turns[site.0 as usize].standing == Standing::Exhausted {
            self.admit(site.0);
        }
    }

    /// What the site is taken for by now.
    #[must_use]
    pub fn verdict(&self, site: SiteNumber) -> Verdict {
        self.rule
            .verdict(&self.evidence[site.0 as usize], self.settings.threshold)
    }

    /// What one more fetch of the site is worth to the policy; infinite before the first.
    #[must_use]
    pub fn gain(&self, site: SiteNumber) -> f64 {
        let evidence = &self.evidence[site.0 as usize];
        let worth = if evidence.fetches() == 0 {
            f64::INFINITY
        } else {
            self.rule.worth(evidence)
        };
        // A site that fails again and again comes last among the unseen, and half as readily each time among the others.
        match self.turns[site.0 as usize].failures {
            0 => worth,
            failures if worth == f64::INFINITY => f64::MAX / f64::from(failures),
            failures => worth * 0.5_f64.powi(failures.into()),
        }
    }

    /// What was seen of the site.
    #[must_use]
    pub fn evidence(&self, site: SiteNumber) -> &Evidence {
        &self.evidence[site.0 as usize]
    }

    /// Whether nothing more can be learned: no site can be asked, or no fetch is worth anything to a policy that knows. What is asked for
    /// may still change that.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let best = self
            .tournament
            .best()
            .and_then(|site| self.tournament.worth(site));
        best.is_none_or(|worth| self.rule.is_gain() && worth <= self.settings.worth_min)
    }

    fn choose(&self, chance: Chance<'_>) -> Option<u32> {
        let best = self.tournament.best()?;
        let is_first = self.evidence[best as usize].fetches() == 0;
        if is_first {
            Some(best)
        } else {
            self.rule.choose(self, chance)
        }
    }

    fn answered(&mut self, site: SiteNumber) {
        if self.turns[site.0 as usize].standing != Standing::Exhausted {
            self.admit(site.0);
        }
    }

    fn admit(&mut self, site: u32) {
        self.turns[site as usize].standing = Standing::Ready;
        self.ready.insert(site);
        self.tournament.set(site, self.gain(SiteNumber(site)));
    }

    /// Values every site anew.
    fn value_all(&mut self) {
        let mut tournament = std::mem::take(&mut self.tournament);
        tournament.reset(|site| self.gain(SiteNumber(site)));
        self.tournament = tournament;
    }

    fn dismiss(&mut self, site: u32) {
        self.ready.remove(site);
        self.tournament.leave(site);
    }
}

impl Sites for Explorer {
    fn best(&self) -> Option<u32> {
        self.tournament.best()
    }

    fn count(&self) -> usize {
        self.ready.members.len()
    }

    fn at(&self, place: usize) -> Option<u32> {
        self.ready.members.get(place).copied()
    }

    fn evidence(&self, site: u32) -> &Evidence {
        &self.evidence[site as usize]
    }
}

/// The sites that can be asked, in an order without meaning, so that one is drawn in O(1).
#[derive(Clone, Debug, Default)]
struct Ready {
    members: Vec<u32>,
    /// Where each site stands among the members.
    places: Vec<Option<std::num::NonZeroU32>>,
}

impl Ready {
    fn enter(&mut self) {
        self.places.push(None);
    }

    fn insert(&mut self, site: u32) {
        if self.places[site as usize].is_none() {
            self.members.push(site);
            self.places[site as usize] = place_after(self.members.len() - 1);
        }
    }

    fn remove(&mut self, site: u32) {
        if let Some(place) = self.places[site as usize].take() {
            let place = place.get() as usize - 1;
            self.members.swap_remove(place);
            if let Some(moved) = self.members.get(place) {
                self.places[*moved as usize] = place_after(place);
            }
        }
    }
}

/// A place, counted from 1.
fn place_after(place: usize) -> Option<std::num::NonZeroU32> {
    u32::try_from(place + 1)
        .ok()
        .and_then(std::num::NonZeroU32::new)
}
