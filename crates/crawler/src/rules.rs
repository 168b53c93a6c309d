//! What robots.txt says: the rules of each origin, with their age, shared by all threads.
//!
//! A worker asks before each visit; an origin whose rules are not known, or too old, gets them fetched in that visit's
//! turn ([`Say::Fetch`]). The frontier's thread peeks, to keep visits that are not allowed out of the ring.
//! Bounded: when there are too many origins, those whose rules are due again go first.
//!
//! Not here: what the rules mean (`fetch::robots`), and when they may be fetched (the ring decides, as for any visit).

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hashbrown::HashMap;
use junkai_fetch::Exchange;
use junkai_fetch::robots::{DecidingLine, RobotsAnswer, RobotsState, Verdict};
use junkai_frontier::Time;
use junkai_weburl::PageUrl;
use url::Url;

use crate::small_file;

/// Where rules wait for the next run, below `state/`.
const FILE: &str = "robots.jsonl";
/// Origins whose rules are kept at most.
const ORIGINS_MAX: usize = 50_000;
/// How long a redirected robots.txt may be on its way before it is asked for anew.
const REDIRECT_PATIENCE: Duration = Duration::from_mins(10);
/// How long a visit waits for rules that are on their way from another server.
pub(crate) const RULES_PATIENCE: Duration = Duration::from_secs(5);

/// The rules of all origins.
#[derive(Debug)]
pub(crate) struct Rules {
    agent: String,
    origins: Mutex<HashMap<Box<str>, Origin>>,
}

#[derive(Debug, Default)]
struct Origin {
    state: RobotsState,
    /// Until when a redirected robots.txt may be on its way.
    redirected_until: Option<Time>,
}

/// What robots.txt says to one visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Say {
    /// Go on.
    Allowed,
    /// Leave it, because of this line.
    Denied { line: Option<String> },
    /// Fetch this robots.txt first.
    Fetch(String),
    /// The rules are on their way from where they were redirected to.
    OnTheirWay,
    /// The rules cannot be had, so nothing may be visited for so long.
    Unreachable { wait: Duration },
}

/// What a fetched robots.txt asks of the crawler, besides its rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Learned {
    /// It is elsewhere: a visit of its own.
    pub(crate) redirect: Option<Url>,
    pub(crate) crawl_delay: Option<Duration>,
    pub(crate) sitemaps: Vec<String>,
}

impl Rules {
    pub(crate) fn new(agent: &str) -> Rules {
        Rules {
            agent: agent.to_owned(),
            origins: Mutex::default(),
        }
    }

    /// The rules that an earlier run left; none if it left none that can be read.
    pub(crate) fn load(agent: &str, state: &Path) -> Rules {
        let rules = Rules::new(agent);
        let text = fs::read_to_string(state.join(FILE)).unwrap_or_default();
        for line in text.lines() {
            if let Ok((origin, state)) = serde_json::from_str::<(Box<str>, RobotsState)>(line) {
                let redirected_until = None;
                rules.lock().insert(
                    origin,
                    Origin {
                        state,
                        redirected_until,
                    },
                );
            }
        }
        rules
    }

    /// Leaves the rules to the next run. Without them it would only ask again.
    pub(crate) fn save(&self, state: &Path) -> io::Result<()> {
        let mut text = Vec::new();
        for (origin, known) in &*self.lock() {
            serde_json::to_writer(&mut text, &(origin, &known.state))?;
            text.push(b'\n');
        }
        small_file::replace(&state.join(FILE), &text)
    }

    /// What robots.txt says to a visit now.
    pub(crate) fn ask(&self, url: &PageUrl, now: Time) -> Say {
        let origins = self.lock();
        let Some(origin) = origins.get(url.origin()) else {
            return Say::Fetch(robots_url(url));
        };
        match origin.state.decide(url.path_and_query(), system_time(now)) {
            Verdict::Decided(decision) if decision.allow => Say::Allowed,
            Verdict::Decided(decision) => Say::Denied {
                line: decision.line.map(in_words),
            },
            Verdict::Wait { until } => Say::Unreachable {
                wait: until.duration_since(system_time(now)).unwrap_or_default(),
            },
            Verdict::AskFirst => match origin.redirected_until {
                Some(until) if now < until => Say::OnTheirWay,
                _ => Say::Fetch(robots_url(url)),
            },
        }
    }

    /// The pause that an origin's rules ask for.
    pub(crate) fn crawl_delay(&self, url: &PageUrl) -> Option<Duration> {
        self.lock().get(url.origin())?.state.crawl_delay()
    }

    /// A redirected robots.txt could not be visited at all: its origin's rules are out of reach for now.
    pub(crate) fn give_up(&self, origin: &str, now: Time) {
        if let Some(known) = self.lock().get_mut(origin) {
            known.redirected_until = None;
            known
                .state
                .note(RobotsAnswer::unreachable(), system_time(now));
        }
    }

    /// A fetch of the origin's own robots.txt begins, not of where it redirects to.
    pub(crate) fn begin(&self, origin: &str) {
        if let Some(known) = self.lock().get_mut(origin) {
            known.state.begin();
        }
    }

    /// Takes in what a fetch of an origin's robots.txt, at `url`, brought.
    pub(crate) fn learn(&self, origin: &str, url: &Url, exchange: &Exchange, now: Time) -> Learned {
        let answer = RobotsAnswer::of(url, exchange, &self.agent, system_time(now));
        let mut origins = self.lock();
        if ORIGINS_MAX <= origins.len() {
            make_room(&mut origins, now);
        }
        let known = origins.entry(origin.into()).or_default();
        let redirect = known.state.note(answer, system_time(now));
        known.redirected_until = redirect.as_ref().map(|_| now + REDIRECT_PATIENCE);
        let sitemaps = match (&redirect, known.state.rules()) {
            (None, Some(rules)) => rules.sitemaps().to_vec(),
            _ => Vec::new(),
        };
        Learned {
            redirect,
            crawl_delay: known.state.crawl_delay(),
            sitemaps,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, Origin>> {
        // Nothing in here can be left half done by a panic.
        self.origins.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets what is due to be asked again, and if that is not enough, every second origin.
fn make_room(origins: &mut HashMap<Box<str>, Origin>, now: Time) {
    origins.retain(|_, origin| !origin.state.is_due(system_time(now)));
    if ORIGINS_MAX / 2 < origins.len() {
        let mut keep = false;
        origins.retain(|_, _| {
            keep = !keep;
            keep
        });
    }
}

fn robots_url(url: &PageUrl) -> String {
    format!("{}/robots.txt", url.origin())
}

fn in_words(line: &DecidingLine) -> String {
    format!("line {}: {}", line.number, line.text)
}

fn system_time(time: Time) -> SystemTime {
    UNIX_EPOCH + Duration::from_micros(time.as_micros())
}

#[cfg(test)]
mod tests {
    use junkai_weburl::{CanonicalConfig, Canonicalizer};

    use super::*;

    const NOW: Time = Time::from_micros(1_800_000_000_000_000);

    fn page(text: &str) -> PageUrl {
        Canonicalizer::new(&CanonicalConfig::default())
            .parse(text)
            .unwrap()
    }

    fn learn(rules: &Rules, response: &[u8]) -> Learned {
        let url = Url::parse("https://a.example/robots.txt").unwrap();
        let exchange = Exchange::from_response(response);
        rules.learn("https://a.example", &url, &exchange, NOW)
    }

    #[test]
    fn the_first_visit_of_an_origin_fetches_its_rules() {
        let rules = Rules::new("junkai");
        let robots = "https://a.example/robots.txt".to_owned();
        assert_eq!(
            rules.ask(&page("https://a.example/x"), NOW),
            Say::Fetch(robots)
        );
    }

    #[test]
    fn what_the_file_says_holds_for_its_origin_alone() {
        let rules = Rules::new("junkai");
        let learned = learn(
            &rules,
            b"HTTP/1.1 200 OK\r\nContent-Length: 66\r\n\r\nUser-agent: *\nDisallow: /x\nCrawl-delay: 7\nSitemap: https://a.example/s",
        );
        assert_eq!(learned.crawl_delay, Some(Duration::from_secs(7)));
        let line = Some("line 2: Disallow: /x".to_owned());
        assert_eq!(
            rules.ask(&page("https://a.example/x"), NOW),
            Say::Denied { line }
        );
        assert_eq!(rules.ask(&page("https://a.example/y"), NOW), Say::Allowed);
        assert!(matches!(
            rules.ask(&page("http://a.example/y"), NOW),
            Say::Fetch(_)
        ));
    }

    #[test]
    fn rules_are_asked_for_again_after_a_day() {
        let rules = Rules::new("junkai");
        learn(
            &rules,
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        );
        let visit = page("https://a.example/x");
        assert_eq!(rules.ask(&visit, NOW), Say::Allowed);
        let tomorrow = NOW + Duration::from_hours(25);
        assert!(matches!(rules.ask(&visit, tomorrow), Say::Fetch(_)));
    }

    #[test]
    fn a_server_error_keeps_everything_out_for_a_while() {
        let rules = Rules::new("junkai");
        learn(&rules, b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
        let visit = page("https://a.example/x");
        let Say::Unreachable { wait } = rules.ask(&visit, NOW) else {
            panic!("a page may be visited without rules")
        };
        assert!(matches!(rules.ask(&visit, NOW + wait), Say::Fetch(_)));
    }

    #[test]
    fn the_next_run_knows_the_rules() {
        let state = tempfile::tempdir().unwrap();
        let rules = Rules::new("junkai");
        learn(
            &rules,
            b"HTTP/1.1 200 OK\r\nContent-Length: 27\r\n\r\nUser-agent: *\nDisallow: /x\n",
        );
        rules.save(state.path()).unwrap();
        let rules = Rules::load("junkai", state.path());
        assert!(matches!(
            rules.ask(&page("https://a.example/x"), NOW),
            Say::Denied { .. }
        ));
        assert_eq!(rules.ask(&page("https://a.example/y"), NOW), Say::Allowed);
    }

    #[test]
    fn a_chain_that_was_broken_off_does_not_count_against_the_next() {
        let moved =
            b"HTTP/1.1 301 Moved\r\nLocation: https://b.example/r\r\nContent-Length: 0\r\n\r\n";
        let rules = Rules::new("junkai");
        for _ in 0..20 {
            rules.begin("https://a.example");
            assert!(learn(&rules, moved).redirect.is_some());
        }
        let visit = page("https://a.example/x");
        assert_eq!(rules.ask(&visit, NOW), Say::OnTheirWay);
    }

    #[test]
    fn a_redirected_file_is_waited_for() {
        let rules = Rules::new("junkai");
        let moved =
            b"HTTP/1.1 301 Moved\r\nLocation: https://b.example/r\r\nContent-Length: 0\r\n\r\n";
        let learned = learn(&rules, moved);
        assert_eq!(learned.redirect.unwrap().as_str(), "https://b.example/r");
        let visit = page("https://a.example/x");
        assert_eq!(rules.ask(&visit, NOW), Say::OnTheirWay);
        let much_later = NOW + REDIRECT_PATIENCE;
        assert!(matches!(rules.ask(&visit, much_later), Say::Fetch(_)));
    }
}
