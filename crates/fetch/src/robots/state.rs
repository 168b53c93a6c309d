//! What is known of an origin's robots.txt over time (RFC 9309, sections 2.3 and 2.4).
//!
//! ```text
//! fetch ──► RobotsAnswer ──► RobotsState::note ──► RobotsState::decide (about each page)
//! ```
//!
//! Invariant: without a readable answer no page is allowed, until [`UNREACHABLE_MAX`] has passed;
//! rules once read stay in force while newer ones cannot be had.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use junkai_http::{DecodeProblem, list_items};
use serde::{Deserialize, Serialize};
use url::Url;

use super::{Decision, ROBOTS_LENGTH_MAX, Robots};
use crate::exchange::Exchange;
use crate::failure::Truncation;

/// Longest time for which an answer is good (section 2.4).
pub(super) const LIFE_MAX: Duration = Duration::from_hours(24);
/// Shortest time for which an answer is good, whatever `Cache-Control` says.
pub(super) const LIFE_MIN: Duration = Duration::from_hours(1);
/// How long a file may be unreachable until it counts as absent (section 2.3.1.4).
pub(super) const UNREACHABLE_MAX: Duration = Duration::from_hours(30 * 24);
/// Pause before the second attempt to reach a file; it doubles from then on.
const RETRY_MIN: Duration = Duration::from_mins(1);
/// Longest pause between two attempts.
const RETRY_MAX: Duration = Duration::from_hours(12);
/// Consecutive redirects that are followed (section 2.3.1.2).
pub(super) const REDIRECTS_MAX: u32 = 5;

/// What an exchange about `/robots.txt` means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RobotsAnswer {
    /// The file, and how long it is good for.
    Rules {
        /// What it says.
        rules: Robots,
        /// How long that holds.
        life: Duration,
    },
    /// There is no such file, so everything is allowed (4xx).
    Absent,
    /// The file is elsewhere: another visit, whose answer holds for this origin.
    Redirect(Url),
    /// The server wants to be asked later (429), or cannot be asked now (5xx, network).
    Unreachable {
        /// When the server said that it may be asked again.
        retry_after: Option<Duration>,
    },
}

impl RobotsAnswer {
    /// Reads the outcome of a visit to `url`, for the crawler whose product token is `token`.
    #[must_use]
    pub fn of(url: &Url, exchange: &Exchange, token: &str, now: SystemTime) -> Self {
        let unreachable = Self::Unreachable {
            retry_after: exchange.retry_after(now),
        };
        // A head alone does not do: half a file may lack the half that forbids.
        let is_readable = match exchange.failure() {
            None => true,
            Some(failure) => failure.truncation() == Truncation::Length,
        };
        match exchange.status() {
            Some(200..=299) if is_readable => read_rules(exchange, token).unwrap_or(unreachable),
            Some(429) => unreachable,
            Some(400..=499) => Self::Absent,
            Some(300..=399) => match redirect_target(url, exchange) {
                Some(target) => Self::Redirect(target),
                None => Self::Absent,
            },
            Some(_) | None => unreachable,
        }
    }

    /// Takes out the sitemaps that the file names, for all crawlers; they are needed once.
    #[must_use]
    pub fn take_sitemaps(&mut self) -> Vec<String> {
        match self {
            Self::Rules { rules, .. } => rules.take_sitemaps(),
            Self::Absent | Self::Redirect(_) | Self::Unreachable { .. } => Vec::new(),
        }
    }

    /// What it means that the host has no address, or that no connection came about.
    #[must_use]
    pub fn unreachable() -> Self {
        Self::Unreachable { retry_after: None }
    }
}

/// The rules in a successful response; none if it cannot be decoded.
fn read_rules(exchange: &Exchange, token: &str) -> Option<RobotsAnswer> {
    let decoded = exchange.decoded(ROBOTS_LENGTH_MAX + 1);
    let is_sound = match &decoded.problem {
        None | Some(DecodeProblem::Bomb { .. }) => true,
        // A plain file that is called compressed comes out as it is.
        Some(DecodeProblem::Corrupt { .. }) => matches!(decoded.bytes, Cow::Borrowed(_)),
        Some(_) => false,
    };
    is_sound.then(|| {
        let rules = Robots::parse(&decoded.bytes, token);
        // A host that asks for long pauses is to be visited in between, not only asked for its rules.
        let visits_at_least = rules.crawl_delay().unwrap_or_default().saturating_mul(2);
        let life = life_of(exchange).max(visits_at_least).min(LIFE_MAX);
        RobotsAnswer::Rules { rules, life }
    })
}

/// How long a file is good for: what `Cache-Control` says, within bounds.
fn life_of(exchange: &Exchange) -> Duration {
    let head = exchange.head.iter();
    let directives = head
        .flat_map(|head| head.values("cache-control"))
        .flat_map(list_items);
    let max_age = directives.filter_map(|directive| {
        let (name, value) = str::from_utf8(directive).ok()?.split_once('=')?;
        let is_max_age = name.trim().eq_ignore_ascii_case("max-age");
        let seconds = value.trim().trim_matches('"').parse().ok()?;
        is_max_age.then_some(Duration::from_secs(seconds))
    });
    max_age.min().unwrap_or(LIFE_MAX).clamp(LIFE_MIN, LIFE_MAX)
}

fn redirect_target(url: &Url, exchange: &Exchange) -> Option<Url> {
    let location = str::from_utf8(exchange.location()?).ok()?;
    let target = url.join(location).ok()?;
    matches!(target.scheme(), "http" | "https").then_some(target)
}

/// What is known of an origin's robots.txt, and when to ask again. A copy shares the rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsState {
    /// The last file that could be read; an absent one has no rules.
    #[serde(with = "super::stored::shared")]
    rules: Option<Arc<Robots>>,
    /// When to ask (again); none: at once.
    ask_at: Option<SystemTime>,
    /// Since when every attempt has failed.
    unreachable_since: Option<SystemTime>,
    /// Attempts that failed in a row.
    failures: u32,
    /// Redirects followed in a row.
    redirects: u32,
}

/// What may be done about a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// The rules decide.
    Decided(Decision<'a>),
    /// robots.txt must be fetched first.
    AskFirst,
    /// Nothing of the origin may be visited until then; then robots.txt is to be asked for again.
    Wait {
        /// When.
        until: SystemTime,
    },
}

impl RobotsState {
    /// Decides about a page of the origin by its path and query.
    #[must_use]
    pub fn decide(&self, path_and_query: &str, now: SystemTime) -> Verdict<'_> {
        if self.is_due(now) {
            return Verdict::AskFirst;
        }
        match (&self.rules, self.ask_at) {
            (Some(rules), _) => Verdict::Decided(rules.decide(path_and_query)),
            (None, Some(until)) => Verdict::Wait { until },
            (None, None) => Verdict::AskFirst,
        }
    }

    /// Whether robots.txt is to be fetched now.
    #[must_use]
    pub fn is_due(&self, now: SystemTime) -> bool {
        self.ask_at.is_none_or(|ask_at| ask_at <= now)
    }

    /// A fetch of the origin's own file begins: redirects are counted anew.
    pub fn begin(&mut self) {
        self.redirects = 0;
    }

    /// Notes what a fetch of robots.txt brought; a redirect to follow comes back.
    ///
    /// Following it is another visit; its answer is noted here too.
    pub fn note(&mut self, answer: RobotsAnswer, now: SystemTime) -> Option<Url> {
        match answer {
            RobotsAnswer::Rules { rules, life } => self.settle(rules, life, now),
            RobotsAnswer::Redirect(target) if self.redirects < REDIRECTS_MAX => {
                self.redirects += 1;
                return Some(target);
            }
            // After more redirects than need be followed the file may be taken for absent.
            RobotsAnswer::Absent | RobotsAnswer::Redirect(_) => {
                self.settle(Robots::default(), LIFE_MAX, now);
            }
            RobotsAnswer::Unreachable { retry_after } => self.defer(retry_after, now),
        }
        None
    }

    /// The rules in force, if any were ever read.
    #[must_use]
    pub fn rules(&self) -> Option<&Robots> {
        self.rules.as_deref()
    }

    /// Bytes of memory that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.rules.as_ref().map_or(0, |rules| rules.bytes())
    }

    /// The pause that the rules in force ask for.
    #[must_use]
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.rules.as_ref()?.crawl_delay()
    }

    fn settle(&mut self, mut rules: Robots, life: Duration, now: SystemTime) {
        drop(rules.take_sitemaps());
        *self = Self {
            rules: Some(Arc::new(rules)),
            ask_at: Some(now + life),
            ..Self::default()
        };
    }

    fn defer(&mut self, retry_after: Option<Duration>, now: SystemTime) {
        let since = *self.unreachable_since.get_or_insert(now);
        let unreachable_for = now.duration_since(since).unwrap_or_default();
        if self.rules.is_none() && UNREACHABLE_MAX <= unreachable_for {
            // Out of reach for so long, the file counts as absent; it is asked for again in a day.
            self.settle(Robots::default(), LIFE_MAX, now);
            return;
        }
        let doubled = RETRY_MIN.saturating_mul(1 << self.failures.min(16));
        let pause = doubled.min(RETRY_MAX).max(retry_after.unwrap_or_default());
        self.failures = self.failures.saturating_add(1);
        self.redirects = 0;
        self.ask_at = Some(now + pause);
    }
}
