//! What robots.txt says: the rules of each origin, with their age, shared by all threads.
//!
//! A worker asks before each visit; an origin whose rules are not known, or too old, gets them fetched in that visit's
//! turn ([`Say::Fetch`]). The frontier's thread [peeks](Rules::peek), to keep visits that are not allowed out of the ring: at rules that can be
//! asked quickly alone, so that no file, however it is made, costs that thread more than some ten microseconds a visit.
//! Nobody holds the lock while a question is answered: the rules are shared, and taken out of the table first.
//!
//! Bounded by `crawl.robots_memory`: what has not been asked about for longest goes, and is asked for again. Long rules only make way for each
//! other (see `Shelf`), so hosts with huge files cannot push out those of everybody else.
//!
//! Not here: what the rules mean (`fetch::robots`), and when they may be fetched (the ring decides, as for any visit).

use std::io::{self, BufRead, BufWriter, Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hashbrown::HashMap;
use junkai_fetch::Exchange;
use junkai_fetch::robots::{RobotsAnswer, RobotsState, Verdict};
use junkai_files::Folder;
use junkai_frontier::Time;
use junkai_weburl::PageUrl;
use url::Url;

use crate::CrawlError;
use crate::settings::Settings;

/// Where rules wait for the next run, below `state/`.
const FILE: &str = "robots.jsonl";
/// The longest line that is read back: the rules of one origin. The longest robots.txt that is read gives less.
const LINE_BYTES_MAX: u64 = 8 << 20;
/// Rules beyond this are long.
const LONG_BYTES: usize = 8 << 10;
/// What an origin costs besides its name and its rules.
const ORIGIN_BYTES: usize = 256;
/// How long a redirected robots.txt may be on its way before it is asked for anew.
const REDIRECT_PATIENCE: Duration = Duration::from_mins(10);
/// Characters that are kept of why rules cannot be had.
const WHY_CHARACTERS_MAX: usize = 200;
/// How long a visit waits for rules that are on their way from another server.
pub const RULES_PATIENCE: Duration = Duration::from_secs(5);
/// How long what the rules said to a visit whose turn they took holds, even if they had to make way since.
pub const SAID_HOLDS: Duration = Duration::from_hours(1);

/// The rules of all origins.
#[derive(Debug)]
pub struct Rules {
    agent: String,
    /// The longest wait that a server's `Retry-After` brings about.
    retry_after_max: Duration,
    shelves: Mutex<Shelves>,
}

/// Short rules, and long ones.
#[derive(Debug)]
struct Shelves {
    short: Shelf,
    long: Shelf,
    /// What had to make way, to be dropped when nobody waits for it: it may be a lot.
    gone: Vec<HashMap<Box<str>, Origin>>,
}

/// Rules within a bound: those that were asked about lately, and those of before. When the former fill their half, the latter go.
///
/// That is least recently used, in two steps: what was asked about since the last change stays for certain.
#[derive(Debug)]
struct Shelf {
    lately: HashMap<Box<str>, Origin>,
    before: HashMap<Box<str>, Origin>,
    /// Bytes of `lately`.
    bytes: usize,
    half_bytes_max: usize,
}

#[derive(Clone, Debug, Default)]
struct Origin {
    state: RobotsState,
    /// Until when a redirected robots.txt may be on its way.
    redirected_until: Option<Time>,
    /// Why the last fetch brought no rules; empty if it did, or if that was in another run.
    why_unreachable: Box<str>,
}

/// What robots.txt says to one visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Say {
    /// Go on.
    Allowed,
    /// Leave it, because of this.
    Denied {
        /// The rule.
        why: String,
    },
    /// Fetch this robots.txt first.
    Fetch(String),
    /// The rules are on their way from where they were redirected to.
    OnTheirWay,
    /// The rules cannot be had, so nothing may be visited for so long.
    Unreachable {
        /// For how long.
        wait: Duration,
        /// What the last fetch came to.
        why: String,
    },
}

/// What is known without much ado before a visit is lined up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peek {
    /// Why the page may not be visited, as far as that is known.
    pub denied: Option<String>,
    /// Whether the rules are on their way from where they were redirected to.
    pub is_on_the_way: bool,
    /// The pause that the rules ask for.
    pub crawl_delay: Option<Duration>,
}

/// What a fetched robots.txt asks of the crawler, besides its rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// It is elsewhere: a visit of its own.
    pub redirect: Option<Url>,
    /// Whether there are rules in force, fetched now or before.
    pub has_rules: bool,
    /// The pause that they ask for.
    pub crawl_delay: Option<Duration>,
    /// The sitemaps that it names.
    pub sitemaps: Vec<String>,
}

impl Rules {
    /// No rules, within the bounds of the settings.
    #[must_use]
    pub fn new(settings: &Settings) -> Rules {
        let bytes_max =
            usize::try_from(settings.crawl.robots_memory.as_u64()).unwrap_or(usize::MAX);
        Rules {
            agent: settings.identity.product.clone(),
            retry_after_max: settings.politeness.retry_after_max,
            shelves: Mutex::new(Shelves {
                short: Shelf::new(bytes_max / 2),
                long: Shelf::new(bytes_max / 2),
                gone: Vec::new(),
            }),
        }
    }

    /// The rules that an earlier run left. What cannot be read is told of, and asked for again.
    pub fn load(settings: &Settings, state: &Folder) -> Rules {
        let rules = Rules::new(settings);
        let path = state.file(FILE);
        let unreadable = match state.read(FILE) {
            Ok(Some(bytes)) => rules.take_in(&bytes[..]),
            Ok(None) => return rules,
            Err(error) => Err(error.source),
        };
        match unreadable {
            Ok(0) => {}
            Ok(lines) => tracing::warn!(
                file = %path.display(), lines,
                "some rules of robots.txt files cannot be read; they are asked for again"
            ),
            Err(error) => tracing::warn!(
                file = %path.display(), %error,
                "the rules of robots.txt files cannot be read; they are asked for again"
            ),
        }
        rules
    }

    /// Takes in lines of rules; how many could not be read comes back.
    fn take_in(&self, mut file: impl BufRead) -> io::Result<usize> {
        let (mut unreadable, mut line) = (0, Vec::new());
        loop {
            line.clear();
            let length = file
                .by_ref()
                .take(LINE_BYTES_MAX)
                .read_until(b'\n', &mut line)?;
            if length == 0 {
                return Ok(unreadable);
            }
            if line.last() != Some(&b'\n') && length as u64 == LINE_BYTES_MAX {
                file.skip_until(b'\n')?;
                unreadable += 1;
                continue;
            }
            match serde_json::from_slice::<(Box<str>, RobotsState)>(&line) {
                Ok((name, state)) => {
                    let origin = Origin {
                        state,
                        ..Origin::default()
                    };
                    self.with(|shelves| shelves.put(name, origin));
                }
                Err(_) => unreadable += 1,
            }
        }
    }

    /// Leaves the rules to the next run. Without them it would only ask again.
    pub fn save(&self, state: &Folder) -> Result<(), CrawlError> {
        let saved = state.disk().replace_with(&state.file(FILE), |file| {
            let mut file = BufWriter::new(file);
            for (origin, known) in self.lock().iter() {
                serde_json::to_writer(&mut file, &(origin, &known.state))?;
                file.write_all(b"\n")?;
            }
            file.flush()
        });
        Ok(saved?)
    }

    /// What robots.txt says to a visit now. For workers: a hostile file makes this take milliseconds.
    pub fn ask(&self, url: &PageUrl, now: Time) -> Say {
        let found = self.with(|shelves| shelves.find(url.origin()).cloned());
        let Some(origin) = found else {
            return Say::Fetch(robots_url(url));
        };
        match origin.state.decide(url.path_and_query(), system_time(now)) {
            Verdict::Decided(decision) if decision.allow() => Say::Allowed,
            Verdict::Decided(decision) => Say::Denied {
                why: decision.because.to_string(),
            },
            Verdict::Wait { until } => Say::Unreachable {
                wait: until.duration_since(system_time(now)).unwrap_or_default(),
                why: origin.why_unreachable.into(),
            },
            Verdict::AskFirst if origin.is_on_the_way(now) => Say::OnTheirWay,
            Verdict::AskFirst => Say::Fetch(robots_url(url)),
        }
    }

    /// What is known of a visit without much ado, for the frontier's thread.
    pub fn peek(&self, url: &PageUrl, now: Time) -> Peek {
        let found = self.lock().look(url.origin()).cloned();
        let Some(origin) = found else {
            return Peek::default();
        };
        let path = url.path_and_query();
        let is_due = origin.state.is_due(system_time(now));
        let quick = origin
            .state
            .rules()
            .filter(|rules| !is_due && rules.is_quick(path));
        let decision = quick.map(|rules| rules.decide(path));
        Peek {
            denied: decision
                .filter(|decision| !decision.allow())
                .map(|decision| decision.because.to_string()),
            is_on_the_way: is_due && origin.is_on_the_way(now),
            crawl_delay: origin.state.crawl_delay(),
        }
    }

    /// A redirected robots.txt could not be visited at all: its origin's rules are out of reach for now.
    pub fn give_up(&self, origin: &str, now: Time) {
        self.with(|shelves| {
            if let Some(mut known) = shelves.find(origin).cloned() {
                known.redirected_until = None;
                known
                    .state
                    .note(RobotsAnswer::unreachable(), system_time(now));
                shelves.put(origin.into(), known);
            }
        });
    }

    /// A fetch of the origin's own robots.txt begins, not of where it redirects to.
    pub fn begin(&self, origin: &str) {
        self.with(|shelves| {
            if let Some(known) = shelves.find(origin) {
                known.state.begin();
            }
        });
    }

    /// Takes in what a fetch of an origin's robots.txt, at `url`, brought.
    pub fn learn(&self, origin: &str, url: &Url, exchange: &Exchange, now: Time) -> Learned {
        let mut answer = RobotsAnswer::of(url, exchange, &self.agent, system_time(now));
        if let RobotsAnswer::Unreachable {
            retry_after: Some(wait),
        } = &mut answer
        {
            *wait = self.retry_after_max.min(*wait);
        }
        let sitemaps = answer.take_sitemaps();
        let why_unreachable = match answer {
            RobotsAnswer::Unreachable { .. } => why_unreachable(exchange),
            _ => Box::default(),
        };
        self.with(|shelves| {
            let mut known = shelves.find(origin).cloned().unwrap_or_default();
            known.why_unreachable = why_unreachable;
            let redirect = known.state.note(answer, system_time(now));
            known.redirected_until = redirect.as_ref().map(|_| now + REDIRECT_PATIENCE);
            let learned = Learned {
                redirect,
                has_rules: known.state.rules().is_some(),
                crawl_delay: known.state.crawl_delay(),
                sitemaps,
            };
            shelves.put(origin.into(), known);
            learned
        })
    }

    /// Does something with the table, and drops what had to make way afterwards.
    fn with<T>(&self, act: impl FnOnce(&mut Shelves) -> T) -> T {
        let mut shelves = self.lock();
        let done = act(&mut shelves);
        let gone = std::mem::take(&mut shelves.gone);
        drop(shelves);
        drop(gone);
        done
    }

    fn lock(&self) -> MutexGuard<'_, Shelves> {
        // Nothing in here can be left half done by a panic.
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a fetch of robots.txt brought no rules.
fn why_unreachable(exchange: &Exchange) -> Box<str> {
    let why = match (exchange.failure(), exchange.status()) {
        (Some(failure), _) => failure.to_string(),
        (None, Some(status)) => format!("the server answered {status}"),
        (None, None) => "no answer".to_owned(),
    };
    why.chars()
        .take(WHY_CHARACTERS_MAX)
        .collect::<String>()
        .into()
}

impl Shelves {
    /// An origin, which from now on was asked about lately.
    fn find(&mut self, origin: &str) -> Option<&mut Origin> {
        let part = if self.short.look(origin).is_some() {
            &mut self.short
        } else {
            &mut self.long
        };
        if let Some((name, origin)) = part.before.remove_entry(origin) {
            self.gone.extend(part.put(name, origin));
        }
        part.lately.get_mut(origin)
    }

    fn look(&self, origin: &str) -> Option<&Origin> {
        self.short.look(origin).or_else(|| self.long.look(origin))
    }

    fn put(&mut self, name: Box<str>, origin: Origin) {
        self.short.remove(&name);
        self.long.remove(&name);
        let is_short = origin.state.bytes() <= LONG_BYTES;
        let part = if is_short {
            &mut self.short
        } else {
            &mut self.long
        };
        self.gone.extend(part.put(name, origin));
    }

    fn iter(&self) -> impl Iterator<Item = (&Box<str>, &Origin)> {
        let parts = [&self.short, &self.long].map(|shelf| shelf.before.iter().chain(&shelf.lately));
        parts.into_iter().flatten()
    }
}

impl Shelf {
    fn new(bytes_max: usize) -> Shelf {
        Shelf {
            lately: HashMap::new(),
            before: HashMap::new(),
            bytes: 0,
            half_bytes_max: bytes_max / 2,
        }
    }

    fn look(&self, name: &str) -> Option<&Origin> {
        self.lately.get(name).or_else(|| self.before.get(name))
    }

    /// Takes an origin in; what has to make way for it comes back.
    fn put(&mut self, name: Box<str>, origin: Origin) -> Option<HashMap<Box<str>, Origin>> {
        let bytes = bytes_of(&name, &origin);
        let is_full = self.half_bytes_max < self.bytes + bytes && !self.lately.is_empty();
        let gone = is_full.then(|| {
            self.bytes = 0;
            std::mem::replace(&mut self.before, std::mem::take(&mut self.lately))
        });
        self.bytes += bytes;
        self.lately.insert(name, origin);
        gone
    }

    fn remove(&mut self, name: &str) {
        self.before.remove(name);
        if let Some((name, origin)) = self.lately.remove_entry(name) {
            self.bytes -= bytes_of(&name, &origin);
        }
    }
}

impl Origin {
    fn is_on_the_way(&self, now: Time) -> bool {
        self.redirected_until.is_some_and(|until| now < until)
    }
}

fn bytes_of(name: &str, origin: &Origin) -> usize {
    ORIGIN_BYTES + name.len() + origin.why_unreachable.len() + origin.state.bytes()
}

fn robots_url(url: &PageUrl) -> String {
    format!("{}/robots.txt", url.origin())
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
        let rules = Rules::new(&Settings::default());
        let robots = "https://a.example/robots.txt".to_owned();
        assert_eq!(
            rules.ask(&page("https://a.example/x"), NOW),
            Say::Fetch(robots)
        );
    }

    #[test]
    fn what_the_file_says_holds_for_its_origin_alone() {
        let rules = Rules::new(&Settings::default());
        let learned = learn(
            &rules,
            b"HTTP/1.1 200 OK\r\nContent-Length: 66\r\n\r\nUser-agent: *\nDisallow: /x\nCrawl-delay: 7\nSitemap: https://a.example/s",
        );
        assert_eq!(learned.crawl_delay, Some(Duration::from_secs(7)));
        let why = "line 2: Disallow: /x".to_owned();
        assert_eq!(
            rules.ask(&page("https://a.example/x"), NOW),
            Say::Denied { why: why.clone() }
        );
        let peek = rules.peek(&page("https://a.example/x"), NOW);
        assert_eq!(peek.denied, Some(why));
        assert_eq!(peek.crawl_delay, Some(Duration::from_secs(7)));
        assert_eq!(rules.ask(&page("https://a.example/y"), NOW), Say::Allowed);
        assert!(matches!(
            rules.ask(&page("http://a.example/y"), NOW),
            Say::Fetch(_)
        ));
    }

    /// The rules of this many origins that each send a file of 500 KiB without two equal rules.
    fn learn_huge_files(rules: &Rules, origins: usize) {
        let lines = (0..44_000).map(|number| format!("Allow:/{number:x}\n"));
        let lines: String = lines.collect();
        let file = format!("User-agent: *\n{lines}");
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", file.len());
        let exchange = Exchange::from_response(format!("{head}{file}").as_bytes());
        for number in 0..origins {
            let origin = format!("https://{number}.example");
            let url = Url::parse(&format!("{origin}/robots.txt")).unwrap();
            rules.learn(&origin, &url, &exchange, NOW);
        }
    }

    fn bytes_kept(rules: &Rules) -> usize {
        let shelves = rules.lock();
        shelves
            .iter()
            .map(|(name, origin)| bytes_of(name, origin))
            .sum()
    }

    #[test]
    fn all_rules_together_stay_within_the_memory_that_is_set() {
        let mut settings = Settings::default();
        settings.crawl.robots_memory = bytesize::ByteSize::mib(8);
        let rules = Rules::new(&settings);
        learn(
            &rules,
            b"HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\nUser-agent: *\nDisallow: /x",
        );
        learn_huge_files(&rules, 20);
        let bytes = bytes_kept(&rules);
        assert!(bytes <= 4 << 20, "long rules have half of it: {bytes}");
        let newest = page("https://19.example/");
        assert_eq!(rules.ask(&newest, NOW), Say::Allowed);
        let oldest = page("https://0.example/");
        assert!(matches!(rules.ask(&oldest, NOW), Say::Fetch(_)));
        assert!(
            matches!(
                rules.ask(&page("https://a.example/x"), NOW),
                Say::Denied { .. }
            ),
            "short rules do not make way for long ones"
        );
        let state = tempfile::tempdir().unwrap();
        rules.save(&Folder::real(state.path())).unwrap();
        let saved = std::fs::metadata(state.path().join(FILE)).unwrap().len();
        assert!(saved <= 8 << 20, "{saved}");
    }

    #[test]
    fn what_is_asked_about_stays_and_what_is_not_goes() {
        let mut shelf = Shelf::new(100 * (ORIGIN_BYTES + size_of::<RobotsState>()));
        let mut shelves = Shelves {
            short: Shelf::new(0),
            long: Shelf::new(0),
            gone: Vec::new(),
        };
        std::mem::swap(&mut shelf, &mut shelves.short);
        shelves.put("asked".into(), Origin::default());
        shelves.put("not asked".into(), Origin::default());
        for number in 0..1000 {
            shelves.put(format!("{number}").into(), Origin::default());
            assert!(shelves.find("asked").is_some());
            assert!(shelves.iter().count() <= 100);
        }
        assert!(shelves.find("not asked").is_none());
    }

    #[test]
    fn the_frontiers_thread_leaves_questions_that_are_not_quick_to_the_workers() {
        let lines = (0..20_000).map(|number| format!("Disallow:/*abb{number:x}*ba\n"));
        let lines: String = lines.collect();
        let file = format!("User-agent: *\nDisallow: /*private\n{lines}");
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", file.len());
        let rules = Rules::new(&Settings::default());
        learn(&rules, format!("{head}{file}").as_bytes());
        let url = page(&format!("https://a.example/{}", "ab".repeat(3900)));
        assert_eq!(rules.peek(&url, NOW), Peek::default());
        let Say::Denied { why } = rules.ask(&url, NOW) else {
            panic!("what cannot be decided is left alone")
        };
        assert!(why.contains("patterns with wildcards"), "{why}");
    }

    #[test]
    fn what_cannot_be_read_back_is_counted_and_asked_for_again() {
        let rules = Rules::new(&Settings::default());
        learn(&rules, b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
        let state = tempfile::tempdir().unwrap();
        rules.save(&Folder::real(state.path())).unwrap();
        let mut bytes = std::fs::read(state.path().join(FILE)).unwrap();
        bytes.extend_from_slice(
            b"[\"https://b.example\",{\"rules\"\n\xff\xff\n[\"https://c.example\"",
        );
        let rules = Rules::new(&Settings::default());
        assert_eq!(rules.take_in(&bytes[..]).unwrap(), 3);
        assert_eq!(rules.ask(&page("https://a.example/x"), NOW), Say::Allowed);
        assert!(matches!(
            rules.ask(&page("https://b.example/x"), NOW),
            Say::Fetch(_)
        ));
    }

    #[test]
    fn a_file_that_is_out_of_reach_takes_no_delay_back() {
        let rules = Rules::new(&Settings::default());
        let unreachable = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";
        assert!(!learn(&rules, unreachable).has_rules, "nothing is known");
        let file = b"HTTP/1.1 200 OK\r\nContent-Length: 28\r\n\r\nUser-agent: *\nCrawl-delay: 7";
        let delay = Some(Duration::from_secs(7));
        assert_eq!(learn(&rules, file).crawl_delay, delay);
        let learned = learn(&rules, unreachable);
        assert_eq!((learned.has_rules, learned.crawl_delay), (true, delay));
        let learned = learn(&rules, b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
        assert_eq!((learned.has_rules, learned.crawl_delay), (true, None));
    }

    #[test]
    fn a_server_that_wants_its_file_to_be_asked_for_in_ten_years_is_asked_within_what_is_set() {
        let rules = Rules::new(&Settings::default());
        learn(
            &rules,
            b"HTTP/1.1 503 Busy\r\nRetry-After: 315360000\r\nContent-Length: 0\r\n\r\n",
        );
        let wait = Duration::from_hours(24);
        assert_eq!(
            rules.ask(&page("https://a.example/x"), NOW),
            Say::Unreachable {
                wait,
                why: "the server answered 503".to_owned()
            }
        );
    }

    #[test]
    fn rules_are_asked_for_again_after_a_day() {
        let rules = Rules::new(&Settings::default());
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
        let rules = Rules::new(&Settings::default());
        learn(&rules, b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
        let visit = page("https://a.example/x");
        let Say::Unreachable { wait, .. } = rules.ask(&visit, NOW) else {
            panic!("a page may be visited without rules")
        };
        assert!(matches!(rules.ask(&visit, NOW + wait), Say::Fetch(_)));
    }

    #[test]
    fn the_next_run_knows_the_rules() {
        let state = tempfile::tempdir().unwrap();
        let rules = Rules::new(&Settings::default());
        learn(
            &rules,
            b"HTTP/1.1 200 OK\r\nContent-Length: 27\r\n\r\nUser-agent: *\nDisallow: /x\n",
        );
        rules.save(&Folder::real(state.path())).unwrap();
        let rules = Rules::load(&Settings::default(), &Folder::real(state.path()));
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
        let rules = Rules::new(&Settings::default());
        for _ in 0..20 {
            rules.begin("https://a.example");
            assert!(learn(&rules, moved).redirect.is_some());
        }
        let visit = page("https://a.example/x");
        assert_eq!(rules.ask(&visit, NOW), Say::OnTheirWay);
    }

    #[test]
    fn a_redirected_file_is_waited_for() {
        let rules = Rules::new(&Settings::default());
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
