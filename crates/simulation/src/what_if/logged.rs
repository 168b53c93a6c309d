//! What an archive's own log says of its visits: how long each server took, and when each page was there.
//!
//! A visit takes as long as the log says, from its start to its end; and the crawler itself takes a moment between the end of a visit, the interval
//! aside, and the start of the next one to the same server. Both are measured, so that the crawl's own order is predicted as it went. Times without any visit, as between two
//! runs, are left out.

use std::io::{self, BufRead as _, Read as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hashbrown::HashMap;
use jiff::Timestamp;
use junkai_archive::logs;
use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_128;

/// Bytes of a line that are read; what is longer is no visit.
const LINE_BYTES_MAX: usize = 1 << 20;
/// Of all gaps between two visits to a server, this part is as short: there the next visit was waiting, and only the crawler was slow.
const SHORT_GAPS: usize = 4;
/// A crawler that needs longer between two visits than this had nothing to visit.
const TURNAROUND_MAX: Duration = Duration::from_millis(50);

/// Where no server was visited for so many times as long as one usually rests, nobody crawled: it is the time between two runs, or nothing was due.
const IDLE_RESTS: u32 = 10;
/// And at least for so long.
const IDLE_MIN: Duration = Duration::from_mins(1);

/// The log of an archive cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {path}")]
pub struct LogError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// What a log says of the visits that were answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logged {
    /// Visits, those to robots.txt included.
    pub visits: u64,
    /// How long one took on average.
    pub mean: Duration,
    /// What the crawler took beside the interval, from the end of a visit to the start of the next to the same server.
    pub turnaround: Duration,
    /// How long a visit to each server took on average.
    servers: HashMap<IpAddr, Duration>,
    /// When each page was there for the first time, by the hash of its URL, counted from the start of the first visit without idle times.
    first_ended: HashMap<u128, Duration>,
}

#[derive(Deserialize)]
struct Line {
    status: i32,
    url: String,
    started: Timestamp,
    time: Timestamp,
    server: Option<IpAddr>,
}

impl Logged {
    /// Reads the log of an archive that was crawled at this interval; none if it has no visits, as an archive of other people's.
    ///
    /// # Errors
    /// If there is a log that cannot be read.
    pub fn read(archive: &Path, interval: Duration) -> Result<Option<Logged>, LogError> {
        let failed = |source| LogError {
            path: archive.join("logs").join("events.jsonl"),
            source,
        };
        if !archive.join("logs").is_dir() {
            return Ok(None);
        }
        let mut lines = logs::read_log(archive, "events.jsonl").map_err(failed)?;
        let mut reading = Reading::default();
        let mut line = Vec::new();
        // The rest of a line that is too long is no line of the log either.
        while 0 < lines
            .by_ref()
            .take(LINE_BYTES_MAX as u64)
            .read_until(b'\n', &mut line)
            .map_err(failed)?
        {
            if let Ok(visit) = serde_json::from_slice::<Line>(&line) {
                reading.take_in(&visit);
            }
            line.clear();
        }
        Ok(reading.ended(interval))
    }

    /// How long a visit to a server takes, the crawler's own moment included.
    #[must_use]
    pub fn latency_of(&self, server: &str) -> Duration {
        let address = server.parse::<IpAddr>().ok();
        let took = address.and_then(|address| self.servers.get(&address));
        *took.unwrap_or(&self.mean) + self.turnaround
    }

    /// How long a visit takes on average, the crawler's own moment included.
    #[must_use]
    pub fn latency(&self) -> Duration {
        self.mean + self.turnaround
    }

    /// When a page was there for the first time, counted from the start of the first visit without idle times.
    pub(super) fn first_ended(&self, url: &str) -> Option<Duration> {
        self.first_ended.get(&xxh3_128(url.as_bytes())).copied()
    }
}

#[derive(Default)]
struct Reading {
    visits: u64,
    micros: u64,
    servers: HashMap<IpAddr, OfServer>,
    began: Option<Timestamp>,
    first_ended: HashMap<u128, Timestamp>,
    /// From when to when each visit was under way, answered or not.
    visiting: Vec<(Timestamp, Timestamp)>,
}

#[derive(Default)]
struct OfServer {
    visits: u64,
    micros: u64,
    last_ended: Option<Timestamp>,
    gaps_micros: Vec<u64>,
}

impl Reading {
    fn take_in(&mut self, line: &Line) {
        self.visiting.push((line.started, line.time));
        // What was not answered was not captured, and is no visit here.
        let (1.., Some(address)) = (line.status, line.server) else {
            return;
        };
        let micros = micros_between(line.started, line.time);
        self.visits += 1;
        self.micros += micros;
        self.began = Some(
            self.began
                .map_or(line.started, |began| began.min(line.started)),
        );
        let server = self.servers.entry(address).or_default();
        server.visits += 1;
        server.micros += micros;
        if let Some(last) = server.last_ended.filter(|last| *last <= line.started) {
            server.gaps_micros.push(micros_between(last, line.started));
        }
        server.last_ended = server.last_ended.max(Some(line.time));
        let ended = self
            .first_ended
            .entry(xxh3_128(line.url.as_bytes()))
            .or_insert(line.time);
        *ended = line.time.min(*ended);
    }

    fn ended(mut self, interval: Duration) -> Option<Logged> {
        let began = self.began?;
        let mut gaps: Vec<u64> = self
            .servers
            .values()
            .flat_map(|server| server.gaps_micros.iter().copied())
            .collect();
        gaps.sort_unstable();
        let short = gaps.get(gaps.len() / SHORT_GAPS).copied();
        let turnaround = Duration::from_micros(short.unwrap_or(0)).saturating_sub(interval);
        let usual = gaps.get(gaps.len() / 2).copied().unwrap_or(0);
        let rest = Duration::from_micros(usual).max(interval);
        let idle = idle_times(&mut self.visiting, IDLE_MIN.max(IDLE_RESTS * rest));
        let since_began = |at: Timestamp| {
            let before = idle.partition_point(|idle| idle.until <= at);
            let idle = before.checked_sub(1).map_or(0, |last| idle[last].micros);
            Duration::from_micros(micros_between(began, at).saturating_sub(idle))
        };
        let mean = |micros: u64, visits: u64| Duration::from_micros(micros / visits.max(1));
        Some(Logged {
            visits: self.visits,
            mean: mean(self.micros, self.visits),
            turnaround: if TURNAROUND_MAX < turnaround {
                Duration::ZERO
            } else {
                turnaround
            },
            servers: self
                .servers
                .into_iter()
                .map(|(address, server)| (address, mean(server.micros, server.visits)))
                .collect(),
            first_ended: self
                .first_ended
                .into_iter()
                .map(|(url, at)| (url, since_began(at)))
                .collect(),
        })
    }
}

/// A time in which no visit was under way.
struct Idle {
    until: Timestamp,
    /// How long it was, together with all before it.
    micros: u64,
}

/// The idle times of more than `least`, in their order.
fn idle_times(visiting: &mut [(Timestamp, Timestamp)], least: Duration) -> Vec<Idle> {
    visiting.sort_unstable();
    let (mut idle, mut micros) = (Vec::new(), 0);
    let mut busy_until = visiting.first().map(|(started, _)| *started);
    for &(started, ended) in visiting.iter() {
        let gap = busy_until.map_or(0, |until| micros_between(until, started));
        if least < Duration::from_micros(gap) {
            micros += gap;
            let until = started;
            idle.push(Idle { until, micros });
        }
        busy_until = busy_until.max(Some(ended));
    }
    idle
}

/// From one moment to a later one; nothing, if a clock was set back.
fn micros_between(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_microsecond() - from.as_microsecond()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"
{"time":"2026-01-01T00:00:00.020Z","status":200,"url":"http://a.test/robots.txt","started":"2026-01-01T00:00:00Z","server":"127.0.0.1"}
{"time":"2026-01-01T00:00:01.042Z","status":200,"url":"http://a.test/","started":"2026-01-01T00:00:01.022Z","server":"127.0.0.1"}
{"time":"2026-01-01T00:00:01.900Z","status":404,"url":"http://b.test/","started":"2026-01-01T00:00:01.700Z","server":"127.0.0.2"}
{"time":"2026-01-01T00:00:31Z","status":-2,"url":"http://c.test/","started":"2026-01-01T00:00:01Z","server":"127.0.0.3"}
not a line
{"time":"2026-01-01T00:00:02.064Z","status":200,"url":"http://a.test/","started":"2026-01-01T00:00:02.044Z","server":"127.0.0.1"}
"#;

    #[test]
    fn visits_take_as_long_as_the_log_says() {
        let archive = tempfile::tempdir().unwrap();
        let second = Duration::from_secs(1);
        assert_eq!(Logged::read(archive.path(), second).unwrap(), None);
        let logs = archive.path().join("logs");
        std::fs::create_dir(&logs).unwrap();
        assert_eq!(Logged::read(archive.path(), second).unwrap(), None);
        std::fs::write(logs.join("events.jsonl"), LOG).unwrap();
        let logged = Logged::read(archive.path(), second).unwrap().unwrap();
        let ms = Duration::from_millis;
        assert_eq!((logged.visits, logged.mean), (4, ms(65)));
        assert_eq!(logged.turnaround, ms(2), "beside the interval");
        assert_eq!(logged.latency_of("127.0.0.1"), ms(22));
        assert_eq!(logged.latency_of("127.0.0.2"), ms(202));
        assert_eq!(logged.latency_of("elsewhere"), ms(67));
        assert_eq!(logged.first_ended("http://a.test/"), Some(ms(1042)));
        assert_eq!(logged.first_ended("http://c.test/"), None);
        // A second run, a day later: what lies between is no crawling.
        let second_run = LOG
            .replace("2026-01-01", "2026-01-02")
            .replace("a.test/\"", "a.test/2\"");
        std::fs::write(logs.join("events.jsonl"), format!("{LOG}{second_run}")).unwrap();
        let both = Logged::read(archive.path(), second).unwrap().unwrap();
        assert_eq!(both.first_ended("http://a.test/"), Some(ms(1042)));
        // The first run was done after 31 s, with a visit that failed.
        assert_eq!(both.first_ended("http://a.test/2"), Some(ms(32_042)));
        std::fs::write(logs.join("events.jsonl"), LOG).unwrap();
        // Long gaps are servers that had nothing to do.
        let idle = Logged::read(archive.path(), ms(1)).unwrap().unwrap();
        assert_eq!(idle.turnaround, Duration::ZERO);
    }
}
