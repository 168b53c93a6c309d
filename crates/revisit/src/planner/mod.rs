//! The front door: takes in what a visit found, and says when to come back.
//!
//! The crawler and the lab alike tell the [`Planner`] every visit as a [`Sighting`]. It compares what was found with what is
//! known (`change`), teaches the estimator and the site, counts the page for its server, and answers with the next visit.
//! The page's own state goes to and fro with the time queue; the planner holds only what is about sites and servers.
//!
//! Invariants: a page that is known is counted once for its server, at the interval of its state; what is given up is not
//! counted. Not here: where states are stored, and what is done about a visit that is due.

mod hearing;
mod learning;
mod saving;
#[cfg(test)]
mod tests;

use std::time::Duration;

use junkai_frontier::Time;
use junkai_weburl::PageUrl;

pub use self::saving::RestoreError;

use self::hearing::{hear, heard};
use self::learning::{Lesson, first_memory};
use crate::agenda::{Agenda, Asking};
use crate::belief::Belief;
use crate::change::{Change, Counts, Sameness, compare, counts_for};
use crate::config::RevisitConfig;
use crate::draw::Draw;
use crate::estimator::{Chosen, Estimator, Evidence, Prior};
use crate::explanation::{Explanation, Reason};
use crate::policy::{Outlook, Signals};
use crate::servers::{ServerReport, Servers};
use crate::sighting::{Found, Hints, Sighting};
use crate::sites::{SiteKey, Sites};
use crate::state::PageState;
use crate::trust::{Source, Trust};
use crate::version::Version;

/// Plans the visits to known pages.
#[derive(Clone, Debug)]
pub struct Planner {
    config: RevisitConfig,
    estimator: Chosen,
    sites: Sites,
    agenda: Agenda,
}

/// When the page is visited next, if it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At this time.
    At(Time),
    /// Never: the page is given up, and its state can be dropped.
    GiveUp(GiveUp),
}

/// Why a page is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GiveUp {
    /// It is gone.
    Gone,
    /// It has moved for good.
    Moved,
    /// It could not be reached for long.
    Failed,
}

/// A look at a page that waits for its visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Looking<'a> {
    /// The page.
    pub page: &'a PageUrl,
    /// When.
    pub at: Time,
    /// What lists have said of the page since its last visit.
    pub hints: Hints,
}

/// What is to be done about a page that was looked at while it waits for its visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// It is visited now.
    Visit,
    /// It is looked at again at this time.
    Again(Time),
}

/// What is to be done about a signal that a page has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// A visit out of turn is worth it.
    VisitNow,
    /// The page's own turn is soon enough, for all that the signal is worth.
    LeaveIt,
}

/// One signal in so many is followed whatever its source is worth, so that a source which has got better is found out.
const TRIAL_SHARE: f64 = 1.0 / 20.0;

/// A page that is due so soon is visited when it is looked at.
const LOOK_SLACK: Duration = Duration::from_secs(1);

/// What the planner makes of a revisit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// What changed.
    pub change: Change,
    /// When the page is visited next.
    pub next: Next,
}

impl Planner {
    /// A planner that knows nothing yet, for servers with keys below `keys`.
    #[must_use]
    pub fn new(config: &RevisitConfig, keys: u32) -> Planner {
        let config = config.resolved();
        Planner {
            estimator: Chosen::new(config.estimator, Some(config.forgetting)),
            sites: Sites::new(config.sites_max),
            agenda: Agenda::new(&config, keys),
            config,
        }
    }

    /// Servers whose pace does not allow all of their pages to be visited as often as `at_least` says.
    #[must_use]
    pub fn servers_behind(&self) -> u64 {
        if self.config.at_least.is_none() {
            return 0;
        }
        let behind = self.servers().reports();
        behind.filter_map(|report| self.behind(&report)).count() as u64
    }

    /// How often the pages of a server can be visited at its pace, each once: where that is longer than `at_least` says.
    #[must_use]
    pub fn behind(&self, report: &ServerReport) -> Option<Duration> {
        let at_least = self.config.at_least?;
        let once_each = report.pages as f64 / report.capacity;
        let once_each = Duration::try_from_secs_f64(once_each).unwrap_or(Duration::MAX);
        (at_least < once_each).then_some(once_each)
    }

    /// What servers are asked for, and can bear.
    #[must_use]
    pub fn servers(&self) -> &Servers {
        self.agenda.servers()
    }

    /// Sets another budget of visits a day, or none: the price moves there from where it is.
    pub fn set_visits_a_day(&mut self, visits_a_day: Option<f64>) {
        self.config.visits_a_day = visits_a_day;
        self.agenda.set_budget(&self.config);
    }

    /// What the policy knows of a page.
    #[must_use]
    pub fn outlook(&self, state: &PageState, page: &PageUrl) -> Outlook {
        let signals = heard(state, &self.sites, SiteKey::of(page));
        outlook(state, self.belief(state, page), signals)
    }

    /// What plans the visits: the price of one, and what the servers can bear.
    #[must_use]
    pub fn agenda(&self) -> &Agenda {
        &self.agenda
    }

    /// A page was visited for the first time: makes its state.
    ///
    /// A page that was gone or had moved is given up at once; the state is of no use then.
    pub fn first_visit(&mut self, sighting: &Sighting<'_>, draw: Draw) -> (PageState, Next) {
        self.agenda.visited(sighting.server, sighting.took);
        let prior = self.sites.prior(SiteKey::of(sighting.page));
        let mut state = PageState {
            last_visit: sighting.at,
            seen: sighting.at,
            changed: None,
            interval: Duration::ZERO,
            visits: 1,
            changes: 0,
            misses: 0,
            signals: 0,
            memory: first_memory(&self.estimator, &prior, &self.sites, sighting),
            version: None,
            server: sighting.server,
            worth: 1.0,
            depth: 0,
            kind: 0,
        };
        match &sighting.found {
            Found::Page(version) => state.version = Some(version.clone()),
            Found::Failed | Found::NotModified => state.misses = 1,
            Found::Gone => return (state, Next::GiveUp(GiveUp::Gone)),
            Found::Moved => return (state, Next::GiveUp(GiveUp::Moved)),
        }
        state.interval = self.planned(&state, sighting, &prior, draw);
        self.agenda.add_first(state.server, state.interval);
        let due = state.due();
        (state, Next::At(due))
    }

    /// A known page was visited: brings its state up to date.
    pub fn revisited(
        &mut self,
        state: &mut PageState,
        sighting: &Sighting<'_>,
        draw: Draw,
    ) -> Judgement {
        self.agenda.spend(sighting.at);
        self.agenda.remove(state.server, state.interval);
        self.agenda.visited(sighting.server, sighting.took);
        state.server = sighting.server;
        state.visits = state.visits.saturating_add(1);
        state.signals = 0;
        let change = self.change(state, sighting);
        let next = match change {
            Change::First | Change::Same(_) | Change::ALittle { .. } | Change::Changed { .. } => {
                self.was_seen(state, sighting, change, draw)
            }
            Change::Gone => self.was_missed(state, sighting.at, GiveUp::Gone),
            Change::Moved => self.was_missed(state, sighting.at, GiveUp::Moved),
            Change::Failed => self.was_missed(state, sighting.at, GiveUp::Failed),
        };
        if let Next::At(_) = next {
            self.agenda.add(state.server, state.interval);
        }
        Judgement { change, next }
    }

    /// A visit was made that will not be reported by [`revisited`](Self::revisited), because another one was made out of turn before the page's own.
    pub fn spend(&mut self, at: Time) {
        self.agenda.spend(at);
    }

    /// What changed since a version that is known beside the page's state: nothing is learned from it.
    #[must_use]
    pub fn compared(&self, known: &Version, sighting: &Sighting<'_>) -> Change {
        match &sighting.found {
            Found::Page(found) => compare(known, found, self.counts(sighting)),
            Found::NotModified => Change::Same(Sameness::NotModified),
            Found::Failed => Change::Failed,
            Found::Gone => Change::Gone,
            Found::Moved => Change::Moved,
        }
    }

    /// The longest time for which a page is left alone.
    #[must_use]
    pub fn longest_interval(&self) -> Duration {
        self.config.interval_max
    }

    /// A page that waits for its visit is looked at: whether a visit is worth its price by now.
    ///
    /// With a budget the price moves while pages wait, and lists tell of changes; the driver looks at each page when
    /// [`Planner::next_look`] says so. `draw` is that of the page's last visit.
    pub fn look(&mut self, state: &mut PageState, looking: &Looking<'_>, draw: Draw) -> Look {
        let now = looking.at;
        hear(state, &looking.hints);
        if self.waits_too_long(state) {
            let interval = self.agenda.bounded(state.interval, draw);
            self.replan(state, interval);
        }
        if state.misses == 0 {
            let asking = Asking {
                page: looking.page,
                server: state.server,
                now,
                outlook: self.outlook(state, looking.page),
            };
            if let Some(interval) = self.agenda.interval_now(&asking, draw) {
                self.replan(state, interval);
            }
        }
        if state.due() <= now + LOOK_SLACK {
            Look::Visit
        } else {
            Look::Again(self.next_look(state, now))
        }
    }

    /// Whether a page waits longer than `at_least` says: by settings of an earlier run, or because its server could not bear more.
    #[must_use]
    pub fn waits_too_long(&self, state: &PageState) -> bool {
        let at_least = self.config.at_least;
        at_least.is_some_and(|at_least| whole_seconds(at_least) < state.interval)
    }

    fn replan(&mut self, state: &mut PageState, interval: Duration) {
        let interval = whole_seconds(interval);
        self.agenda.replan(state.server, state.interval, interval);
        state.interval = interval;
    }

    /// When a page that waits is to be looked at: in time to be found when the price has fallen, and when the visit is due.
    #[must_use]
    pub fn next_look(&self, state: &PageState, now: Time) -> Time {
        let due = state.due();
        match self.agenda.time_between_looks() {
            Some(step) if now + step + step / 2 < due => now + step,
            Some(_) | None => due,
        }
    }

    /// The page is not visited any more, whatever the reason: it leaves its server's load.
    pub fn forget(&mut self, state: &PageState) {
        self.agenda.remove(state.server, state.interval);
    }

    /// Forgets what known pages ask of their servers, in order to count all of them anew by [`remember`](Planner::remember): a kill leaves states
    /// that are newer than what was saved here.
    pub fn uncount(&mut self) {
        self.agenda.servers_mut().uncount();
    }

    /// Counts a state that was read back after a start for its server.
    pub fn remember(&mut self, state: &PageState) {
        self.agenda.servers_mut().add(state.server, state.interval);
    }

    /// Somebody says that a page has changed: whether a visit out of turn is worth it.
    ///
    /// It is, if the source has been right about the site's pages so often that the chance of a change is what the price of a
    /// visit asks for. A source without a record is tried.
    #[must_use]
    pub fn signal(&self, page: &PageUrl, source: Source, draw: Draw) -> Advice {
        let trust = self.trust(page, source);
        let chance_asked = self.agenda.chance_asked();
        if chance_asked <= trust.precision || draw.uniform() < TRIAL_SHARE {
            Advice::VisitNow
        } else {
            Advice::LeaveIt
        }
    }

    /// How far a source of the page's site is believed.
    #[must_use]
    pub fn trust(&self, page: &PageUrl, source: Source) -> Trust {
        self.sites.trust(SiteKey::of(page), source)
    }

    /// What is believed of a page.
    #[must_use]
    pub fn belief(&self, state: &PageState, page: &PageUrl) -> Belief {
        let prior = self.sites.prior(SiteKey::of(page));
        self.estimator.belief(&state.memory, &prior)
    }

    /// Why a page is visited when it is; `now` is for the chance that it has changed.
    #[must_use]
    pub fn explain(&self, state: &PageState, page: &PageUrl, now: Time) -> Explanation {
        let belief = self.belief(state, page);
        let asked = self.agenda.asked(&self.outlook(state, page));
        let reason = if 0 < state.misses {
            Reason::Missing {
                misses: state.misses,
            }
        } else if state.visits < 2 {
            Reason::FirstRevisit
        } else if self.servers().pressure(state.server).is_some() {
            Reason::ServerLoad
        } else if asked < self.config.interval_min {
            Reason::ShortestInterval
        } else if self.config.interval_max < asked && self.config.at_least.is_some() {
            Reason::AtLeast
        } else if self.config.interval_max < asked {
            Reason::LongestInterval
        } else {
            Reason::Policy
        };
        Explanation {
            belief,
            chance: belief.chance(now.saturating_duration_since(state.seen)),
            interval: state.interval,
            due: state.due(),
            visits: state.visits,
            changes: state.changes,
            reason,
        }
    }

    /// What changed; the state's version becomes what was found.
    fn change(&self, state: &mut PageState, sighting: &Sighting<'_>) -> Change {
        let found = match &sighting.found {
            Found::Page(found) => found,
            Found::NotModified if state.version.is_some() => {
                return Change::Same(Sameness::NotModified);
            }
            Found::NotModified | Found::Failed => return Change::Failed,
            Found::Gone => return Change::Gone,
            Found::Moved => return Change::Moved,
        };
        let Some(known) = &mut state.version else {
            state.version = Some(found.clone());
            return Change::First;
        };
        let change = compare(known, found, self.counts(sighting));
        take_over(known, found, change);
        change
    }

    /// What counts as a change of the page.
    fn counts(&self, sighting: &Sighting<'_>) -> Counts {
        match counts_for(sighting.page, &self.config.change, self.config.counts) {
            _ if sighting.hints.leads_to_new => Counts::Payload,
            Counts::Payload if self.agenda.counts_content_only(sighting.server) => Counts::Content,
            counts => counts,
        }
    }

    /// The page was there: the estimator and the site learn, and the policy plans.
    fn was_seen(
        &mut self,
        state: &mut PageState,
        sighting: &Sighting<'_>,
        change: Change,
        draw: Draw,
    ) -> Next {
        let prior = self.sites.prior(SiteKey::of(sighting.page));
        if change != Change::First {
            self.learn(state, sighting, change, &prior);
        }
        state.misses = 0;
        state.last_visit = sighting.at;
        state.seen = sighting.at;
        state.interval = self.planned(state, sighting, &prior, draw);
        Next::At(state.due())
    }

    /// The page was seen before: what the visit tells goes to its estimator, its site and the site's sources.
    fn learn(
        &mut self,
        state: &mut PageState,
        sighting: &Sighting<'_>,
        change: Change,
        prior: &Prior,
    ) {
        let lesson = Lesson {
            sighting,
            site: SiteKey::of(sighting.page),
            seen: state.seen,
            has_changed: change.counts(),
        };
        let evidence = lesson.evidence(&self.sites);
        if lesson.has_changed {
            state.changes = state.changes.saturating_add(1);
            state.changed = Some(changed_at(sighting.at, &evidence));
        }
        let before = self.estimator.belief(&state.memory, prior);
        lesson.judge_sources(&mut self.sites, &before);
        self.estimator.learn(&mut state.memory, &evidence, prior);
        let belief = self.estimator.belief(&state.memory, prior);
        let gap = sighting.at.saturating_duration_since(state.seen);
        self.sites.revisited(lesson.site, gap, &belief);
    }

    fn planned(
        &mut self,
        state: &PageState,
        sighting: &Sighting<'_>,
        prior: &Prior,
        draw: Draw,
    ) -> Duration {
        let belief = self.estimator.belief(&state.memory, prior);
        let asking = Asking {
            page: sighting.page,
            server: state.server,
            now: sighting.at,
            // Whatever was signalled is answered by the visit.
            outlook: outlook(state, belief, Signals::NONE),
        };
        whole_seconds(self.agenda.interval(&asking, draw))
    }

    /// The page was not there: the interval doubles, until the page is given up.
    fn was_missed(&self, state: &mut PageState, at: Time, why: GiveUp) -> Next {
        state.misses = state.misses.saturating_add(1);
        state.last_visit = at;
        let missing = at.saturating_duration_since(state.seen);
        let missing_min = match why {
            GiveUp::Gone | GiveUp::Moved => self.config.gone_time_min,
            GiveUp::Failed => self.config.failed_time_min,
        };
        if self.config.gone_visits_max <= state.misses && missing_min <= missing {
            return Next::GiveUp(why);
        }
        let doubled = (2 * state.interval).min(self.config.interval_max);
        state.interval = whole_seconds(doubled);
        Next::At(state.due())
    }
}

/// Makes the known version what was found, but the content that changes are counted from stays until one counts.
fn take_over(known: &mut Version, found: &Version, change: Change) {
    let (captured, indexed) = if change.is_new_payload() {
        (found.captured, found.indexed)
    } else {
        (known.captured, known.indexed)
    };
    let content = if change.counts() || known.content.is_none() {
        found.content
    } else {
        known.content
    };
    let unread = if change.is_new_payload() {
        found.unread
    } else {
        known.unread
    };
    *known = Version {
        indexed,
        content,
        unread: unread.filter(|_| content.is_none()),
        captured,
        ..found.clone()
    };
}

/// When a page changed that was found changed: the visit's time, or the one that was told by who is rather believed.
fn changed_at(visit: Time, evidence: &Evidence) -> Time {
    match *evidence {
        Evidence::ChangedAt { age, trust, .. } if 0.5 < trust => {
            let age = u64::try_from(age.as_micros()).unwrap_or(u64::MAX);
            Time::from_micros(visit.as_micros().saturating_sub(age))
        }
        Evidence::ChangedAt { .. }
        | Evidence::Changed { .. }
        | Evidence::Same { .. }
        | Evidence::Aged { .. }
        | Evidence::Told { .. } => visit,
    }
}

/// What the policy is told of a page.
fn outlook(state: &PageState, belief: Belief, signals: Signals) -> Outlook {
    Outlook {
        worth: state.worth.into(),
        signals,
        is_new: state.visits < 2,
        ..Outlook::new(belief)
    }
}

/// Rounded up to a second: what a state keeps.
fn whole_seconds(interval: Duration) -> Duration {
    Duration::from_secs(interval.as_secs() + u64::from(0 < interval.subsec_nanos()))
}
