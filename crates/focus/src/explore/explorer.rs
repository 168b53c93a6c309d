//! The explorer: which site is asked next, and what each site is taken for.

use serde::{Deserialize, Serialize};

use super::foresight::Foresight;
use super::policy::{Population, Rule, Sites};
use super::tournament::Tournament;
use super::{Chance, Evidence, Policy};

/// Sites that are valued anew with each answer after the policy has learned, one after the other.
const REVALUED_IN_TURN: usize = 4;
/// Sites that are valued anew with each choice because they seem to be worth most, but by what the policy knew before.
const REVALUED_AT_THE_TOP: usize = 8;

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
    /// No site is asked when no fetch is worth more than this, to policies that know what one is worth: by how much it is expected to bring the
    /// verdicts nearer to the truth, where a mistake costs the distance of the site's mean from the threshold. Default 0.0001: 5,000 fetches are
    /// well spent if they set one verdict right that is as wrong as can be.
    pub worth_min: f64,
    /// Two pages that are this sure, and no less than the threshold, are proof: their site is taken to hold what is wanted whatever its other pages say, and is asked no
    /// more. A site that holds something is seldom about nothing else, and by the mean over its pages it would be lost. Default 0.8; with 1 nothing is proof.
    pub proof: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            threshold: 0.5,
            worth_min: 1e-4,
            proof: 0.8,
        }
    }
}

impl Settings {
    /// As policies are published: goes on as long as there are pages, whatever a fetch is worth, and judges by all of them.
    #[must_use]
    pub fn as_published() -> Settings {
        Settings {
            worth_min: f64::NEG_INFINITY,
            proof: 1.0,
            ..Settings::default()
        }
    }
}

/// What a site is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Whether it is taken to hold what is wanted.
    pub holds: bool,
    /// Whether that is because two of its pages are proof.
    pub is_proven: bool,
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
    /// Sites that were fetched from at least once.
    seen: u64,
    fetches: u64,
    turns: Vec<Turn>,
    tournament: Tournament,
    ready: Ready,
    /// How often the policy has learned, modulo 2¹⁶.
    lesson: u16,
    /// The next site that is valued anew in turn; none if no worth is of before the last lesson.
    stale: Option<u32>,
}

/// Where a site stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    standing: Standing,
    /// Fetches that failed since the last that did not.
    failures: u8,
    /// The lesson after which it was valued.
    lesson: u16,
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
        Explorer::by(policy.rule(settings), settings)
    }

    /// An explorer without sites, by our policy, which is told what sites there are instead of learning it: `density` says how many have
    /// about this mean and this concentration (*α* + *β*), up to a factor. So the lab tells what there is to be learned.
    #[must_use]
    pub fn informed(density: &dyn Fn(f64, f64) -> f64, settings: Settings) -> Explorer {
        let rule = Foresight::informed(settings.threshold, density);
        Explorer::by(Box::new(rule), settings)
    }

    fn by(rule: Box<dyn Rule>, settings: Settings) -> Explorer {
        Explorer {
            rule,
            settings,
            evidence: Vec::new(),
            seen: 0,
            fetches: 0,
            turns: Vec::new(),
            tournament: Tournament::default(),
            ready: Ready::default(),
            lesson: 0,
            stale: None,
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
            lesson: self.lesson,
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

    /// The site of which to fetch a page now; none if none has a page left, all are asked, or no fetch is worth it. It is *asked* from now on, until
    /// [`observe`](Self::observe), [`failed`](Self::failed) or [`exhausted`](Self::exhausted).
    pub fn next(&mut self, chance: Chance<'_>) -> Option<SiteNumber> {
        self.revalue_the_top();
        if self.is_worthless() {
            self.revalue_all();
        }
        if self.is_settled() {
            return None;
        }
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
        let evidence = &mut self.evidence[site.0 as usize];
        self.seen += u64::from(evidence.fetches() == 0);
        evidence.add(probability);
        self.fetches += 1;
        self.turns[site.0 as usize].failures = 0;
        self.answered(site);
        let population = Population {
            sites: &self.evidence,
            seen: self.seen,
            fetches: self.fetches,
        };
        if self.rule.learn(&population) {
            self.lesson = self.lesson.wrapping_add(1);
            self.stale = Some(0);
        }
        self.revalue_in_turn();
        self.revalue_the_top();
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

    /// What the site is taken for by now. A site that was not seen holds nothing that is known.
    #[must_use]
    pub fn verdict(&self, site: SiteNumber) -> Verdict {
        let evidence = &self.evidence[site.0 as usize];
        let verdict = self.rule.verdict(evidence, self.settings.threshold);
        if self.is_proven(evidence) {
            let mean = evidence.second_best().max(verdict.mean);
            Verdict {
                holds: true,
                is_proven: true,
                mean,
                error_probability: 1.0 - mean,
                ..verdict
            }
        } else if evidence.fetches() == 0 {
            Verdict {
                holds: false,
                error_probability: verdict.mean,
                ..verdict
            }
        } else {
            verdict
        }
    }

    fn is_proven(&self, evidence: &Evidence) -> bool {
        let proof = self.settings.proof.max(self.settings.threshold);
        proof < 1.0 && proof <= evidence.second_best()
    }

    /// What one more fetch of the site is worth to the policy; infinite before the first.
    #[must_use]
    pub fn gain(&self, site: SiteNumber) -> f64 {
        let evidence = &self.evidence[site.0 as usize];
        let worth = if evidence.fetches() == 0 {
            f64::INFINITY
        } else if self.is_proven(evidence) {
            0.0
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

    /// Whether nothing more can be learned: no site can be asked, or no fetch is worth it. What is asked for may still change that.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.tournament.best().is_none() || (self.stale.is_none() && self.is_worthless())
    }

    /// Whether no site seems to be worth a fetch, by what the policy knew when it was valued.
    fn is_worthless(&self) -> bool {
        let best = self.tournament.best();
        let worth = best.and_then(|site| self.tournament.worth(site));
        self.rule.is_gain() && worth.is_some_and(|worth| worth <= self.settings.worth_min)
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
        self.value(site);
    }

    fn value(&mut self, site: u32) {
        self.turns[site as usize].lesson = self.lesson;
        self.tournament.set(site, self.gain(SiteNumber(site)));
    }

    /// After the policy has learned, the site on top may not belong there.
    fn revalue_the_top(&mut self) {
        for _ in 0..REVALUED_AT_THE_TOP {
            let stale = |site: &u32| self.turns[*site as usize].lesson != self.lesson;
            let Some(site) = self.tournament.best().filter(stale) else {
                return;
            };
            self.value(site);
        }
    }

    /// After the policy has learned, a site below may belong on top. Few at a time are valued anew, so that no answer takes long however
    /// many sites there are.
    fn revalue_in_turn(&mut self) {
        for _ in 0..REVALUED_IN_TURN {
            self.revalue_next();
        }
    }

    /// Before all is given up, every site gets its say: once after each lesson.
    fn revalue_all(&mut self) {
        while self.stale.is_some() {
            self.revalue_next();
        }
    }

    fn revalue_next(&mut self) {
        let Some(site) = self.stale else { return };
        let Some(turn) = self.turns.get(site as usize) else {
            self.stale = None;
            return;
        };
        if turn.standing == Standing::Ready && turn.lesson != self.lesson {
            self.value(site);
        }
        self.stale = Some(site + 1);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Chance that repeats.
    fn chance(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    /// The probability of a site's page: a site above 7 in 10 tends to hold.
    fn page(site: SiteNumber, fetch: u32) -> f64 {
        let noise = f64::from((site.0 * 7919 + fetch * 104_729) % 100) / 100.0;
        if site.0 % 10 < 7 {
            0.6 * noise
        } else {
            0.4 + 0.6 * noise
        }
    }

    fn explorer(policy: Policy, sites: u32) -> Explorer {
        let mut explorer = Explorer::new(policy, Settings::as_published());
        for site in 0..sites {
            assert_eq!(explorer.add_site(), SiteNumber(site));
        }
        explorer
    }

    #[test]
    fn every_site_comes_once_before_any_comes_twice() {
        for policy in Policy::ALL {
            let mut explorer = explorer(policy, 50);
            let mut chance = chance(1);
            for expected in 0..50 {
                let site = explorer.next(&mut chance).unwrap();
                assert_eq!(site, SiteNumber(expected), "{policy}");
                assert!(explorer.gain(site).is_infinite());
                explorer.observe(site, page(site, 0));
            }
            assert!(explorer.next(&mut chance).is_some(), "{policy}");
        }
    }

    #[test]
    fn sites_in_hand_are_not_handed_out_again() {
        for policy in Policy::ALL {
            let mut explorer = explorer(policy, 20);
            let mut chance = chance(2);
            for round in 0..5 {
                let mut asked = Vec::new();
                while let Some(site) = explorer.next(&mut chance) {
                    assert!(!asked.contains(&site), "{policy}");
                    asked.push(site);
                }
                assert_eq!(asked.len(), 20, "{policy}");
                assert!(explorer.is_settled());
                for site in asked {
                    explorer.observe(site, page(site, round));
                }
            }
        }
    }

    #[test]
    fn verdicts_are_right_when_pages_are_clear() {
        for policy in Policy::ALL {
            let mut explorer = explorer(policy, 40);
            let mut chance = chance(3);
            for round in 0..800 {
                let Some(site) = explorer.next(&mut chance) else {
                    break;
                };
                explorer.observe(site, page(site, round));
            }
            let right = (0..40).filter(|site| {
                let verdict = explorer.verdict(SiteNumber(*site));
                assert!((0.0..=1.0).contains(&verdict.mean));
                assert!((0.0..=1.0).contains(&verdict.error_probability));
                verdict.holds == (7 <= site % 10)
            });
            let right = right.count();
            assert!(35 <= right, "{policy}: {right}");
        }
    }

    #[test]
    fn exploring_ends_when_no_fetch_is_worth_it_and_goes_on_when_one_is() {
        for policy in [Policy::Foresight, Policy::Delta, Policy::KnowledgeGradient] {
            let mut explorer = Explorer::new(policy, Settings::default());
            for _ in 0..100 {
                explorer.add_site();
            }
            let mut chance = chance(8);
            let mut fetches = 0;
            while let Some(site) = explorer.next(&mut chance) {
                let noise = f64::from(fetches % 10) / 100.0;
                explorer.observe(site, if site.0 < 10 { 0.9 + noise } else { noise });
                fetches += 1;
                assert!(fetches < 1000, "{policy} does not end");
            }
            assert!(explorer.is_settled(), "{policy}");
            for site in (0..100).map(SiteNumber) {
                assert_eq!(explorer.verdict(site).holds, site.0 < 10, "{policy}");
                assert!(explorer.gain(site) <= explorer.settings.worth_min);
            }
            let doubtful = explorer.add_site();
            assert!(!explorer.is_settled(), "{policy}");
            assert_eq!(explorer.next(&mut chance), Some(doubtful), "{policy}");
        }
    }

    #[test]
    fn two_sure_pages_are_proof_whatever_the_others_say() {
        for policy in Policy::ALL {
            let mut explorer = Explorer::new(policy, Settings::default());
            let [town, shop] = [explorer.add_site(), explorer.add_site()];
            for _ in 0..20 {
                explorer.observe(town, 0.02);
                explorer.observe(shop, 0.02);
            }
            explorer.observe(town, 0.9);
            explorer.observe(shop, 0.95);
            assert!(!explorer.verdict(town).holds, "{policy}: one page is none");
            explorer.observe(town, 0.85);
            explorer.observe(shop, 0.7);
            let verdict = explorer.verdict(town);
            assert!(verdict.holds && verdict.is_proven, "{policy}: {verdict:?}");
            assert!(
                (verdict.error_probability - 0.15).abs() < 1e-4,
                "{verdict:?}"
            );
            assert!(
                explorer.gain(town).abs() < 1e-300,
                "nothing is left to learn"
            );
            let verdict = explorer.verdict(shop);
            assert!(!verdict.holds && !verdict.is_proven, "{policy}");
            assert!(!published(policy, 0.9).holds, "{policy}");
        }
    }

    /// What a site is taken for, as published, two of whose pages are this sure and all others are not.
    fn published(policy: Policy, sure: f64) -> Verdict {
        let mut explorer = explorer(policy, 1);
        for page in 0..20 {
            explorer.observe(SiteNumber(0), if page < 2 { sure } else { 0.02 });
        }
        explorer.verdict(SiteNumber(0))
    }

    #[test]
    fn an_exhausted_site_waits_until_it_is_replenished() {
        let mut explorer = explorer(Policy::Delta, 2);
        let mut chance = chance(4);
        let first = explorer.next(&mut chance).unwrap();
        explorer.exhausted(first);
        let second = explorer.next(&mut chance).unwrap();
        explorer.observe(second, 0.4);
        explorer.exhausted(second);
        assert_eq!(explorer.next(&mut chance), None);
        assert!(explorer.is_settled());
        // An answer that comes late does not bring it back.
        explorer.observe(second, 0.5);
        assert_eq!(explorer.next(&mut chance), None);
        explorer.replenished(second);
        assert_eq!(explorer.next(&mut chance), Some(second));
        assert_eq!(explorer.verdict(second).fetches, 2);
    }

    #[test]
    fn a_site_that_fails_comes_after_those_that_were_not_tried() {
        let mut explorer = explorer(Policy::Foresight, 3);
        let mut chance = chance(5);
        let first = explorer.next(&mut chance).unwrap();
        explorer.failed(first);
        assert_eq!(explorer.next(&mut chance), Some(SiteNumber(1)));
        explorer.observe(SiteNumber(1), f64::NAN);
        assert_eq!(explorer.next(&mut chance), Some(SiteNumber(2)));
        explorer.observe(SiteNumber(2), 0.5);
        assert_eq!(explorer.next(&mut chance), Some(first));
        let unseen = explorer.verdict(SiteNumber(1));
        assert_eq!((unseen.fetches, unseen.holds), (0, false));
    }

    #[test]
    fn an_explorer_that_observes_again_what_was_observed_chooses_alike() {
        for policy in [
            Policy::Foresight,
            Policy::Delta,
            Policy::OptimisticGradient,
            Policy::UcbError,
        ] {
            let mut one = explorer(policy, 30);
            let mut chance = chance(6);
            let mut seen = Vec::new();
            for round in 0..300 {
                let site = one.next(&mut chance).unwrap();
                let probability = page(site, round);
                one.observe(site, probability);
                seen.push((site, probability));
            }
            let mut other = explorer(policy, 30);
            for (site, probability) in seen {
                other.observe(site, probability);
            }
            for _ in 0..10 {
                assert_eq!(one.next(&mut || 0.5), other.next(&mut || 0.5), "{policy}");
            }
            for site in (0..30).map(SiteNumber) {
                assert_eq!(one.verdict(site), other.verdict(site), "{policy}");
            }
        }
    }

    #[test]
    fn a_site_takes_at_most_64_bytes() {
        let of_site = size_of::<Evidence>() + size_of::<Turn>() + 2 * size_of::<u32>();
        // The tournament takes 10 bytes, and lists have room for twice as many sites.
        let bytes = of_site + 10;
        assert!(bytes <= 64, "{bytes}");
    }

    proptest! {
        #[test]
        fn nothing_that_pages_say_upsets_a_policy(
            policy in 0..Policy::ALL.len(),
            probabilities in proptest::collection::vec(
                prop_oneof![Just(0.0), Just(1.0), Just(0.5), Just(f64::NAN), Just(-3.0), Just(f64::INFINITY), 0.0..1.0_f64], 1..120),
        ) {
            let mut explorer = explorer(Policy::ALL[policy], 4);
            let mut chance = chance(7);
            for probability in probabilities {
                let site = explorer.next(&mut chance).unwrap();
                explorer.observe(site, probability);
                let verdict = explorer.verdict(site);
                prop_assert!((0.0..=1.0).contains(&verdict.mean), "{verdict:?}");
                prop_assert!((0.0..=1.0).contains(&verdict.error_probability));
                prop_assert!(!explorer.gain(site).is_nan());
            }
        }
    }
}
