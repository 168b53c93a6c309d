//! A web that changes by a history, and a crawl of it by the same clock, sped up: months in a minute.
//!
//! What was visited is taken from the web's own log, and what a visit found from the history: neither asks the crawl.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use junkai_simulation::graph::Page;
use junkai_simulation::graph::history::{Edition, History, Presence, UnixSeconds, write};
use junkai_testweb::{
    HistoryConfig, SitemapHabit, Standard, TestWebConfig, UnixNanos, Validators, Verdict,
};
use tempfile::TempDir;

use crate::support::{Running, Stage, wait_until};

pub(crate) const HOUR: Duration = Duration::from_hours(1);
pub(crate) const DAY: Duration = Duration::from_hours(24);

/// Least time between two visits to a server, by the crawl's clock.
pub(crate) const INTERVAL: Duration = Duration::from_secs(5);

/// What a crawl that was stopped by Ctrl-C answers.
pub(crate) const STOPPED: i32 = 11;

/// Speeds of the clock that are tried, each half of the one before.
const SPEEDS: u32 = 2;

/// The web, the crawl's archive, and what they have in common.
pub(crate) struct Changing {
    pub(crate) stage: Stage,
    pub(crate) history: History,
    /// The crawl's configuration.
    pub(crate) config: String,
    speed: f64,
    origin: f64,
    begin: UnixSeconds,
}

/// How the web changes, and how fast time runs.
#[derive(Clone)]
pub(crate) struct Scene<'a> {
    pub(crate) history: History,
    pub(crate) speed: f64,
    /// Hosts, each on an address of its own.
    pub(crate) hosts: u32,
    /// What the crawl's configuration says beside the clock.
    pub(crate) config: &'a str,
    /// What the web tells of its pages.
    pub(crate) habits: Habits,
}

/// What a web tells of its pages. By default as the lab assumes: a version is told from another, and when it was made is not.
#[derive(Clone, Copy)]
pub(crate) struct Habits {
    pub(crate) validators: Validators,
    pub(crate) sitemap: SitemapHabit,
    pub(crate) has_feed: bool,
    pub(crate) has_noise: bool,
}

impl Default for Habits {
    fn default() -> Habits {
        Habits {
            validators: Validators::Weak,
            sitemap: SitemapHabit::Absent,
            has_feed: false,
            has_noise: false,
        }
    }
}

/// One visit to a page of the history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visited {
    /// When, by the history.
    pub(crate) at: UnixSeconds,
    pub(crate) status: u16,
    /// The version that was there; none if the page was not.
    pub(crate) version: Option<u32>,
}

/// What came of the visits to known pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) captured: u64,
    pub(crate) wasted: u64,
}

impl Changing {
    pub(crate) fn new(scene: Scene<'_>) -> Changing {
        let folder = folder_in_memory();
        let path = folder.path().join("history.tsv");
        write(&scene.history, &path).unwrap();
        // Whole seconds, so that the number is the same wherever it is written.
        let origin = real_seconds().floor();
        let web = TestWebConfig {
            hosts: 0,
            addresses: scene.hosts,
            page_bytes: 2000,
            clock_speed: scene.speed,
            clock_origin: Some(origin),
            history: Some(HistoryConfig {
                hosts: NonZeroU32::new(scene.hosts).unwrap(),
                validators: scene.habits.validators,
                sitemap: scene.habits.sitemap,
                has_feed: scene.habits.has_feed,
                has_noise: scene.habits.has_noise,
                ..HistoryConfig::new(path)
            }),
            ..TestWebConfig::default()
        };
        let config = format!(
            "{}\n[clock]\nspeed = {:?}\norigin = {origin:?}\n",
            scene.config, scene.speed
        );
        let (begin, _) = scene.history.span().unwrap();
        Changing {
            stage: Stage::in_folder(folder, web, &config),
            history: scene.history,
            config,
            speed: scene.speed,
            origin,
            begin,
        }
    }

    /// A crawl from the beginning of the history for so long. If the machine is too busy for such a fast clock, so that visits are later than
    /// `lateness_max` on average, it is tried again with slower ones.
    pub(crate) fn crawled(scene: &Scene<'_>, span: Duration, lateness_max: Duration) -> Changing {
        let mut scene = scene.clone();
        let mut tries_left = SPEEDS;
        loop {
            let changing = Changing::new(scene.clone());
            let mut crawl = changing.start();
            changing.wait_for(changing.begin.after(span), &mut crawl);
            crawl.interrupt();
            crawl.wait().expect(STOPPED);
            let lateness = changing.lateness();
            println!("speed {}: visits were late by {lateness:?}", scene.speed);
            tries_left -= 1;
            if lateness <= lateness_max || tries_left == 0 {
                return changing;
            }
            scene.speed /= 2.0;
        }
    }

    /// Starts the crawl.
    pub(crate) fn start(&self) -> Running {
        self.start_with_interval(INTERVAL)
    }

    /// Starts the crawl with another time between two visits to a server.
    pub(crate) fn start_with_interval(&self, interval: Duration) -> Running {
        let mut crawl = self.stage.crawl_on();
        crawl.args(self.stage.web.seeds());
        crawl.args(["--scope", "any", "--quiet"]);
        crawl.args(["--interval", &format!("{}ms", interval.as_millis())]);
        Running::start(crawl)
    }

    /// The moment of the history that the web shows now.
    pub(crate) fn now(&self) -> UnixSeconds {
        self.moment(real_seconds())
    }

    /// Lets the web's clock go on to a moment of the history.
    pub(crate) fn wait_for(&self, moment: UnixSeconds, crawl: &mut Running) {
        wait_until("the clock has gone on", || {
            assert!(
                crawl.is_running(),
                "the crawl has ended: {}",
                crawl.printed()
            );
            moment <= self.now()
        });
    }

    /// The visits to each page so far, in the order of time.
    pub(crate) fn visits(&self) -> BTreeMap<Page, Vec<Visited>> {
        let pages: BTreeMap<&str, Page> = self
            .history
            .pages()
            .map(|page| (self.history.path(page), page))
            .collect();
        let mut visits: BTreeMap<Page, Vec<Visited>> = BTreeMap::new();
        for exchange in self.stage.exchanges() {
            let path = exchange.url.splitn(4, '/').nth(3).unwrap();
            let Some(&page) = pages.get(path) else {
                continue;
            };
            let seconds = |at: UnixNanos| at.seconds_since(UnixNanos(0));
            let at = self.moment(seconds(exchange.start));
            let version = match self.history.presence(page, at) {
                Presence::Here(Edition { version, .. }) => Some(version),
                Presence::NotYet | Presence::Gone { .. } => None,
            };
            visits.entry(page).or_default().push(Visited {
                at,
                status: exchange.status,
                version,
            });
        }
        visits
    }

    /// When each page that is beside those of the history was first visited, by its address: homes and lists of pages, which hardly change.
    pub(crate) fn beside(&self) -> BTreeMap<String, UnixSeconds> {
        let mut first = BTreeMap::new();
        for exchange in self.stage.exchanges() {
            let path = exchange.url.splitn(4, '/').nth(3).unwrap();
            if path.is_empty() || path.starts_with("-/") {
                let at = self.moment(exchange.start.seconds_since(UnixNanos(0)));
                first.entry(exchange.url).or_insert(at);
            }
        }
        first
    }

    /// How long after they were due known pages were visited, on average, by the crawl's own log.
    pub(crate) fn lateness(&self) -> Duration {
        let mut due = BTreeMap::new();
        let mut late = Vec::new();
        for event in self.stage.events() {
            if let Some(due) = due.remove(&event.url) {
                let seconds = event.started.duration_since(due).as_secs_f64();
                late.push(seconds.max(0.0));
            }
            if let Some(next) = event.next_visit {
                due.insert(event.url, next);
            }
        }
        Duration::from_secs_f64(late.iter().sum::<f64>() / late.len() as f64)
    }

    /// The judge's verdict, by the crawl's clock.
    pub(crate) fn verdict(&self) -> Verdict {
        self.stage.web.flush_log();
        let standard = Standard {
            interval: INTERVAL,
            clock_speed: self.speed,
        };
        junkai_testweb::judge(self.stage.web.log_path().unwrap(), standard).unwrap()
    }

    fn moment(&self, real_seconds: f64) -> UnixSeconds {
        let passed = (real_seconds - self.origin).max(0.0) * self.speed;
        self.begin.after(Duration::from_secs_f64(passed))
    }

    /// The configuration of a crawl whose clock is set forward by so much, or back if it is negative.
    pub(crate) fn config_with_clock_set(&self, seconds: f64) -> String {
        // Virtual time is origin + (real − origin) × speed: an earlier origin is a later time.
        let origin = self.origin - seconds / (self.speed - 1.0);
        let line = format!("origin = {:?}", self.origin);
        assert!(self.config.contains(&line));
        self.config.replace(&line, &format!("origin = {origin:?}"))
    }
}

impl Tally {
    /// Counts the visits after the first of each page.
    pub(crate) fn of(visits: &BTreeMap<Page, Vec<Visited>>) -> Tally {
        let mut tally = Tally::default();
        for visits in visits.values() {
            for pair in visits.windows(2) {
                if pair[0].version == pair[1].version {
                    tally.wasted += 1;
                } else {
                    tally.captured += 1;
                }
            }
        }
        tally
    }
}

/// A folder in memory, where there is such a file system: a busy disk would count as days by a fast clock.
fn folder_in_memory() -> TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap()
}

fn real_seconds() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap().as_secs_f64()
}
