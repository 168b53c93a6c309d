//! What a worker does with a visit, without sockets: asks robots.txt, meets the server, keeps the capture and says what came of it.

use std::time::{Duration, UNIX_EPOCH};

use junkai_engine::rules::{Rules, SAID_HOLDS, Say};
use junkai_engine::scope::{Found as FoundAs, ScopeRules};
use junkai_engine::turn::{Spend, end_report, fate, retry_after, spend};
use junkai_engine::visit::{
    Discovered, EndedVisit, Fate, HostAsked, Kept, Outcome, Purpose, Start, status,
};
use junkai_fetch::{End, Exchange, Failure};
use junkai_frontier::{EndReport, Time};
use junkai_revisit::{Digest, Found, Version};
use junkai_weburl::{Canonicalizer, Fingerprint, PageUrl};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::web::{How, Web};

/// A visit that was started, and what it asks its server for; nothing if it asks for nothing.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) start: Box<Start>,
    pub(crate) started: Time,
    /// What is asked for.
    pub(crate) asked: PageUrl,
    pub(crate) how: How,
}

/// What a worker shares with the engine.
pub(crate) struct Tools<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) scope: &'a ScopeRules,
    pub(crate) canonical: &'a Canonicalizer,
    pub(crate) web: &'a Web,
}

/// What a visit is to do now.
pub(crate) enum Doing {
    /// Ask a server for this.
    Ask(Box<Start>, PageUrl),
    /// Nothing: it ends at once.
    Nothing(Box<EndedVisit>),
}

impl Tools<'_> {
    /// What the turn of a visit is spent on.
    pub(crate) fn begin(&self, start: Box<Start>, now: Time, ignores_robots: bool) -> Doing {
        if start.visit.purpose.is_robots() || ignores_robots {
            let url = start.visit.url.clone();
            return Doing::Ask(start, url);
        }
        match spend(&start.visit, self.rules, now) {
            Spend::Page => {
                let url = start.visit.url.clone();
                Doing::Ask(start, url)
            }
            Spend::Rules(robots) => match self.canonical.parse(&robots) {
                Ok(robots) => Doing::Ask(start, robots),
                Err(error) => unreachable!("{robots} is a URL: {error}"),
            },
            Spend::Nothing { fate, outcome } => {
                let times = Times {
                    started: now,
                    ended: now,
                };
                Doing::Nothing(Box::new(ended(
                    *start,
                    times,
                    EndReport::Unvisited,
                    fate,
                    *outcome,
                )))
            }
        }
    }

    /// What came of a visit, at a moment of the web's time. The capture that is to be kept first, if there is one, comes with it.
    pub(crate) fn end(
        &self,
        made: Made,
        now: Time,
        wall: Duration,
        at: Duration,
    ) -> (EndedVisit, Option<String>) {
        let mut exchange = exchange(&made.how);
        exchange.started = UNIX_EPOCH + wall;
        let times = Times {
            started: made.started,
            ended: now,
        };
        let is_for_rules =
            made.start.visit.purpose.is_robots() || made.asked != made.start.visit.url;
        let end = end_report(&exchange, times.started, times.ended, UNIX_EPOCH + wall);
        let mut ended = if is_for_rules {
            self.rules_came(made, &exchange, times, end)
        } else {
            self.page_came(made, &exchange, times, end, at)
        };
        ended.retry_after = retry_after(&exchange, end, UNIX_EPOCH + wall);
        let capture = ended.outcome.kept.is_some().then(|| {
            let instead = ended.outcome.instead.as_ref();
            instead.map_or_else(|| ended.visit.url.as_str().to_owned(), Clone::clone)
        });
        (ended, capture)
    }

    fn rules_came(
        &self,
        mut made: Made,
        exchange: &Exchange,
        times: Times,
        end: EndReport,
    ) -> EndedVisit {
        let robots = made.asked.clone();
        self.rules.begin(robots.origin());
        let learned = self
            .rules
            .learn(robots.origin(), robots.as_url(), exchange, times.ended);
        let visit = &mut made.start.visit;
        if self.rules.ask(&visit.url, times.ended) == Say::Allowed {
            visit.allowed_until = Some(times.ended + SAID_HOLDS);
        }
        let mut outcome = outcome(exchange, &robots, times.ended, 0);
        outcome.instead = Some(robots.as_str().to_owned());
        let asked = learned.has_rules.then(|| HostAsked {
            host: robots.host().into(),
            origin: Fingerprint::of(robots.origin()).0,
            delay: learned.crawl_delay,
        });
        EndedVisit {
            asked,
            ..ended(*made.start, times, end, Fate::AnotherTurn, outcome)
        }
    }

    fn page_came(
        &self,
        made: Made,
        exchange: &Exchange,
        times: Times,
        end: EndReport,
        at: Duration,
    ) -> EndedVisit {
        let url = made.asked;
        let fate = fate(exchange, end);
        let version = self.web.version(url.host(), url.path(), at);
        let outcome = outcome(exchange, &url, times.ended, version);
        let known = made.start.visit.known_version().is_some();
        let found = match exchange.status() {
            Some(304) if known => Found::NotModified,
            Some(404 | 410) => Found::Gone,
            Some(301) => Found::Moved,
            Some(200) => Found::Page(Version {
                digest: digest(&url, version),
                indexed: None,
                content: None,
                unread: None,
                captured: times.ended,
                etag: Some(format!("\"{version}\"").into()),
                last_modified: None,
            }),
            _ => Found::Failed,
        };
        let links = if fate == Fate::Done {
            self.links(&made.start, &url, exchange, at)
        } else {
            Vec::new()
        };
        EndedVisit {
            found: Some(found),
            links,
            ..ended(*made.start, times, end, fate, outcome)
        }
    }

    /// The links of a page that belong to the crawl.
    fn links(
        &self,
        start: &Start,
        url: &PageUrl,
        exchange: &Exchange,
        at: Duration,
    ) -> Vec<Discovered> {
        let (texts, hop, depth) = match exchange.status() {
            Some(200) => (
                self.web.links(url.host(), url.path(), at),
                'L',
                start.visit.depth + 1,
            ),
            Some(301) => (vec!["/p0".to_owned()], 'R', start.visit.depth),
            _ => return Vec::new(),
        };
        let found = texts
            .iter()
            .filter_map(|text| self.canonical.join(url, text).ok());
        let in_scope = |link: &PageUrl| {
            let found = if hop == 'R' && start.visit.is_seed() {
                FoundAs::Seed
            } else {
                FoundAs::Link(depth)
            };
            self.scope.decide(link, found).accepts()
        };
        found
            .filter(in_scope)
            .map(|url| Discovered {
                url,
                hop: Some(hop),
                depth,
                purpose: Purpose::Page,
                link_estimate: None,
            })
            .collect()
    }
}

#[derive(Clone, Copy, Debug)]
struct Times {
    started: Time,
    ended: Time,
}

fn ended(start: Start, times: Times, end: EndReport, fate: Fate, outcome: Outcome) -> EndedVisit {
    EndedVisit {
        visit: start.visit,
        key: start.key,
        address: start.address,
        started: times.started,
        ended: times.ended,
        end,
        fate,
        asked: None,
        retry_after: None,
        found: None,
        said: None,
        list: None,
        signals: Vec::new(),
        links: Vec::new(),
        link_room: None,
        leads_to_new: false,
        rules_elsewhere: None,
        outcome,
        worker: 0,
    }
}

fn exchange(how: &How) -> Exchange {
    let failed = |failure| {
        let mut exchange = Exchange::from_response(b"");
        exchange.head = None;
        exchange.end = End::Failed(failure);
        exchange
    };
    match how {
        How::Answers(bytes) => Exchange::from_response(bytes.as_bytes()),
        How::Refuses => failed(Failure::ConnectTimeout),
        How::Hangs => failed(Failure::FirstByteTimeout),
        How::Resets => failed(Failure::Disconnected { received: 0 }),
    }
}

fn outcome(exchange: &Exchange, url: &PageUrl, captured: Time, version: u64) -> Outcome {
    match (exchange.status(), exchange.failure()) {
        (Some(code), None) => Outcome {
            status: i32::from(code),
            size: exchange.response.len() as u64,
            result: code.to_string(),
            kept: (code != 429).then(|| Kept {
                payload_digest: String::new(),
                indexed_digest: None,
                captured,
                place: None,
            }),
            digest: Some(format!("sim:{version}")),
            ..Outcome::default()
        },
        (_, Some(failure)) => Outcome {
            status: match failure {
                Failure::Disconnected { .. } => status::CONNECTION_LOST,
                Failure::FirstByteTimeout => status::TIMED_OUT,
                _ => status::CONNECT_FAILED,
            },
            result: format!("{url}: {failure}"),
            ..Outcome::default()
        },
        (None, None) => Outcome {
            status: status::RUNTIME_ERROR,
            ..Outcome::default()
        },
    }
}

/// The digest of one version of a page.
fn digest(url: &PageUrl, version: u64) -> Digest {
    let mut bytes = [0; 20];
    for (number, part) in bytes.chunks_mut(8).enumerate() {
        let drawn = xxh3_64_with_seed(url.as_str().as_bytes(), version * 3 + number as u64);
        part.copy_from_slice(&drawn.to_le_bytes()[..part.len()]);
    }
    match Digest::new(&bytes) {
        Some(digest) => digest,
        None => unreachable!("20 bytes are a digest"),
    }
}
