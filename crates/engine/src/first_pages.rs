//! Whether a new crawl gets anywhere: what became of its seeds.
//!
//! A crawl that never had a page, and whose every seed has failed, has nothing to hope for but another try of the same: it ends, and says why. From the first
//! page on nobody asks any more.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _};
use std::path::Path;

use hashbrown::HashSet;
use junkai_archive::logs;
use junkai_weburl::{Fingerprint, PageUrl};
use serde::Serialize;

use crate::log::Event;
use crate::opening::Opening;

/// Failed seeds that are told of.
const TOLD_MAX: usize = 5;
/// Failed visits that are remembered while the log is read.
const FAILURES_MAX: usize = 1000;

/// A seed that failed, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedSeed {
    /// The seed, or what it redirects to.
    pub url: String,
    /// As the log has it: what the server answered, or a negative number; zero if it was not visited, because its server asks for rest.
    pub status: i32,
    /// In words.
    pub reason: String,
}

/// What a partition of a new crawl can hope for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// A page has come, or may come.
    Hope,
    /// It has no seed, and nothing waits.
    Nothing,
    /// Every seed has failed.
    OutOfReach,
}

/// The seeds of an archive without a page.
#[derive(Debug, Default)]
pub struct FirstPages {
    /// Whether a page has come, in this run or before it.
    has_come: bool,
    /// The seeds of this run; where a seed leads is a seed.
    seeds: HashSet<Fingerprint>,
    /// Those of which nothing is known yet.
    open: HashSet<Fingerprint>,
    /// Those that lead to another one.
    leading: HashSet<Fingerprint>,
    /// Of those that failed, the ones that are tried again.
    again: HashSet<Fingerprint>,
    failed: Vec<FailedSeed>,
    /// Those that are waited for because their server asks for rest.
    resting: Vec<FailedSeed>,
}

impl FirstPages {
    /// Of an archive that was opened.
    #[must_use]
    pub fn of(opening: &Opening) -> FirstPages {
        FirstPages::new(&opening.seeds, opening.has_pages)
    }

    /// Of an archive that has pages, or not yet.
    pub fn new(seeds: &[PageUrl], has_pages: bool) -> FirstPages {
        let mut pages = FirstPages {
            has_come: has_pages,
            ..FirstPages::default()
        };
        for seed in seeds {
            pages.begin_with(seed);
        }
        pages
    }

    /// Whether the archive has a page.
    #[must_use]
    pub fn have_come(&self) -> bool {
        self.has_come
    }

    /// The crawl begins here, too. Answers whether that is news in this run, and no page has come.
    pub fn begin_with(&mut self, seed: &PageUrl) -> bool {
        let is_news = !self.has_come && self.seeds.insert(seed.fingerprint());
        if is_news {
            self.open.insert(seed.fingerprint());
        }
        is_news
    }

    /// A seed leads from one URL to another. Answers whether that is to be tried: no page has come, and it was not tried in this run.
    pub fn expect(&mut self, from: &str, to: &PageUrl) -> bool {
        let is_news = self.begin_with(to);
        let from = Fingerprint::of(from);
        if from != to.fingerprint() && self.open.contains(&to.fingerprint()) {
            self.leading.insert(from);
        }
        is_news
    }

    /// A seed leads to a page of another partition, which tells what becomes of it.
    pub fn lead_away(&mut self, from: &str) {
        if !self.has_come {
            self.leading.insert(Fingerprint::of(from));
        }
    }

    /// The server of a seed asks for rest; it is waited for.
    pub fn rests(&mut self, url: &str, status: i32, reason: &str) {
        if !self.open.contains(&Fingerprint::of(url)) {
            return;
        }
        self.resting.retain(|seed| seed.url != url);
        put(&mut self.resting, url, status, reason.to_owned());
    }

    /// Learns what became of a visit; `is_tried_again` by itself.
    pub fn tell(&mut self, url: &str, status: i32, reason: &str, is_tried_again: bool) {
        if self.has_come {
            return;
        }
        let seed = Fingerprint::of(url);
        match status {
            200..300 => *self = FirstPages::new(&[], true),
            // A server that asks for rest will be back.
            429 | 503 if is_tried_again => {}
            300..400 if self.leading.contains(&seed) => {
                self.open.remove(&seed);
            }
            _ => {
                if !self.open.remove(&seed) {
                    return;
                }
                if is_tried_again {
                    self.again.insert(seed);
                }
                self.resting.retain(|resting| resting.url != url);
                let reason = match status {
                    300..400 => format!("{reason}: it leads to nothing that was not tried"),
                    _ => reason.to_owned(),
                };
                put(&mut self.failed, url, status, reason);
            }
        }
    }

    /// Whether there is no hope, with so many visits that wait.
    #[must_use]
    pub fn are_out_of_reach(&self, waiting: u64) -> bool {
        !self.has_come
            && self.open.is_empty()
            && !self.failed.is_empty()
            && waiting <= self.again.len() as u64
    }

    /// What can be hoped for, with so many visits that wait.
    #[must_use]
    pub fn outlook(&self, waiting: u64) -> Outlook {
        if self.are_out_of_reach(waiting) {
            Outlook::OutOfReach
        } else if !self.has_come && self.open.is_empty() && waiting == 0 {
            Outlook::Nothing
        } else {
            Outlook::Hope
        }
    }

    /// If no page has come: the first seeds that failed, and those whose servers ask for rest.
    #[must_use]
    pub fn failed(&self) -> Vec<FailedSeed> {
        let told = self.failed.iter().chain(&self.resting);
        told.take(TOLD_MAX).cloned().collect()
    }

    /// The same, with the visits that came to nothing by the archive's log, of this run and of earlier ones: of seeds that have not had their turn since, and of the robots.txt
    /// files that they wait for.
    pub fn failed_by_log(&self, archive: &Path) -> Vec<FailedSeed> {
        let mut told = self.failed();
        if self.has_come || self.open.is_empty() {
            return told;
        }
        match self.failures_of_open(archive) {
            Ok(failures) => told.extend(failures),
            Err(error) => {
                tracing::warn!(%error, "the log cannot be read; why seeds failed in earlier runs is not told");
            }
        }
        told.truncate(TOLD_MAX);
        told
    }

    /// What the log says last of open seeds, and of robots.txt files: where that is a failure. Without a page, all robots.txt files are those of seeds.
    fn failures_of_open(&self, archive: &Path) -> io::Result<impl Iterator<Item = FailedSeed>> {
        let mut failures = BTreeMap::new();
        for line in logs::read_log(archive, "events.jsonl")?.split(b'\n') {
            let Ok(event) = serde_json::from_slice::<Event<'_>>(&line?) else {
                continue;
            };
            let is_of_robots = event.url.ends_with("/robots.txt");
            let has_failed = match event.status {
                // A robots.txt that is not there allows everything.
                400..500 => !is_of_robots,
                status => !(200..400).contains(&status),
            };
            if !has_failed {
                failures.remove(&*event.url);
            } else if (is_of_robots || self.open.contains(&Fingerprint::of(&event.url)))
                && failures.len() < FAILURES_MAX
            {
                let reason = (event.status, event.result.into_owned());
                failures.insert(event.url.into_owned(), reason);
            }
        }
        let is_told = |url: &String| self.resting.iter().any(|seed| seed.url == *url);
        failures.retain(|url, _| !is_told(url));
        let told = failures.into_iter();
        Ok(told.map(|(url, (status, reason))| FailedSeed {
            url,
            status,
            reason,
        }))
    }

    /// Seeds that failed and are tried again.
    #[must_use]
    pub fn tried_again(&self) -> u64 {
        self.again.len() as u64
    }
}

fn put(seeds: &mut Vec<FailedSeed>, url: &str, status: i32, reason: String) {
    if seeds.len() < TOLD_MAX {
        seeds.push(FailedSeed {
            url: url.to_owned(),
            status,
            reason,
        });
    }
}

#[cfg(test)]
mod tests {
    use junkai_weburl::{CanonicalConfig, Canonicalizer};

    use super::*;

    fn page(url: &str) -> PageUrl {
        let canonical = Canonicalizer::new(&CanonicalConfig::default());
        canonical.parse(url).unwrap()
    }

    fn reasons(pages: &FirstPages) -> Vec<String> {
        let failed = pages.failed().into_iter();
        failed.map(|seed| seed.reason).collect()
    }

    #[test]
    fn there_is_no_hope_when_every_seed_has_failed_and_nothing_else_waits() {
        let mut pages = FirstPages::new(
            &[page("http://a.example/"), page("http://b.example/")],
            false,
        );
        pages.tell("http://a.example/", -2, "refused", true);
        assert!(!pages.are_out_of_reach(1), "one is left");
        pages.tell("http://b.example/", 404, "404", false);
        assert!(!pages.are_out_of_reach(2), "something else waits");
        assert!(pages.are_out_of_reach(1));
        assert_eq!(reasons(&pages), ["refused", "404"]);
        assert_eq!(pages.tried_again(), 1);
    }

    #[test]
    fn a_page_that_comes_is_hope_for_good() {
        let mut pages = FirstPages::new(&[page("http://a.example/")], false);
        pages.tell("http://a.example/sitemap.xml", 200, "200", false);
        pages.tell("http://a.example/", 404, "404", false);
        assert!(!pages.are_out_of_reach(0));
        assert!(pages.failed().is_empty());
    }

    #[test]
    fn a_redirect_is_followed_and_a_server_that_asks_for_rest_waited_for() {
        let mut pages = FirstPages::new(&[page("http://a.example/")], false);
        pages.tell("http://a.example/", 503, "503", true);
        pages.rests("http://a.example/", 503, "asks for rest");
        pages.rests("http://a.example/", 503, "asks for more rest");
        assert!(!pages.are_out_of_reach(1));
        assert_eq!(reasons(&pages), ["asks for more rest"]);
        assert!(pages.expect("http://a.example/", &page("https://a.example/")));
        pages.tell("http://a.example/", 301, "301", false);
        assert!(!pages.are_out_of_reach(0));
        pages.tell(
            "https://a.example/",
            -2,
            "the certificate has expired",
            true,
        );
        assert!(pages.are_out_of_reach(1));
    }

    #[test]
    fn a_server_that_asks_for_rest_too_often_has_failed() {
        let mut pages = FirstPages::new(&[page("http://a.example/")], false);
        pages.rests("http://a.example/", 429, "asks for rest");
        pages.tell("http://a.example/", 429, "given up", false);
        assert!(pages.are_out_of_reach(0));
        assert_eq!(reasons(&pages), ["given up"]);
    }

    #[test]
    fn a_seed_without_a_turn_has_failed_if_the_log_says_so() {
        let archive = tempfile::tempdir().unwrap();
        let pages = FirstPages::new(&[page("http://a.example/")], false);
        assert!(pages.failed_by_log(archive.path()).is_empty(), "no log");
        let logs = crate::platform::ArchiveFolder::real(archive.path()).logs();
        let log = logs.file("events.jsonl");
        std::fs::create_dir(logs.path()).unwrap();
        let line = |url: &str, status: i32, result: &str| {
            let time = "2026-01-01T00:00:00Z".parse().unwrap();
            let event = Event {
                time,
                started: time,
                status,
                url: url.into(),
                result: result.into(),
                ..Event::default()
            };
            serde_json::to_string(&event).unwrap() + "\n"
        };
        let refused = line("http://a.example/robots.txt", -2, "refused");
        let failed = line("http://a.example/", 500, "broken");
        let elsewhere = line("http://b.example/", -2, "no seed");
        std::fs::write(&log, format!("no line\n{refused}{failed}{elsewhere}")).unwrap();
        let reasons_of = |pages: &FirstPages| {
            let failed = pages.failed_by_log(archive.path()).into_iter();
            failed.map(|seed| seed.reason).collect::<Vec<_>>()
        };
        assert_eq!(reasons_of(&pages), ["broken", "refused"]);
        // What came of it later is what counts.
        let now = line("http://a.example/robots.txt", 404, "404");
        std::fs::write(&log, format!("{refused}{now}")).unwrap();
        assert_eq!(reasons_of(&pages), [""; 0]);
        let has_pages = FirstPages::new(&[page("http://a.example/")], true);
        std::fs::write(&log, refused).unwrap();
        assert_eq!(reasons_of(&has_pages), [""; 0]);
    }

    #[test]
    fn redirects_that_go_round_have_failed() {
        for round in [
            &["http://a.example/", "http://a.example/1"][..],
            &["http://a.example/"],
        ] {
            let mut pages = FirstPages::new(&[page(round[0])], false);
            let next = round.iter().cycle().skip(1);
            for (from, to) in round.iter().zip(next) {
                pages.expect(from, &page(to));
                pages.tell(from, 302, "302", false);
            }
            assert!(pages.are_out_of_reach(0), "{round:?}");
            assert_eq!(pages.failed().len(), 1);
        }
    }
}
