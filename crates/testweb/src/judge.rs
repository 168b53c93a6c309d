//! The judge of politeness: says from an access log whether a client kept its interval, and where it did not.
//!
//! For each address the exchanges are put in order of their start. An exchange is a violation when it starts less than
//! the interval after the latest end so far; when it starts before that end, it is an overlap as well. There is no
//! tolerance: the log's times already err to the client's favour (see [`crate::access_log`]).
//!
//! A client of a web whose clock was sped up had that clock too, and is held to its interval by it ([`Standard`]): the log has
//! real times, and a real gap counts as many times as long as the clock was faster.
//!
//! Memory: 24 bytes an exchange; the URLs of violations are read from the file again.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::access_log::Exchange;
use crate::clock::UnixNanos;

/// What a client is held to. An interval alone is one by the real clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standard {
    /// The least time from the end of one exchange to the start of the next at one address, by the web's virtual clock.
    pub interval: Duration,
    /// Virtual seconds per real second; 1 is the real clock.
    pub clock_speed: f64,
}

impl From<Duration> for Standard {
    fn from(interval: Duration) -> Self {
        Self {
            interval,
            clock_speed: 1.0,
        }
    }
}

impl Standard {
    /// The interval in real time.
    fn real_interval(self) -> Duration {
        if is_real(self.clock_speed) {
            return self.interval;
        }
        let seconds = self.interval.as_secs_f64() / self.clock_speed;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

#[expect(clippy::float_cmp, reason = "exactly one is the real clock")]
fn is_real(clock_speed: f64) -> bool {
    clock_speed == 1.0
}

/// What the judge found. Gaps are in seconds of the standard's clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The interval that was asked for, in seconds.
    pub interval_seconds: f64,
    /// By which clock: virtual seconds per real second.
    pub clock_speed: f64,
    /// Exchanges in the log.
    pub exchanges: u64,
    /// Addresses that were asked.
    pub servers: u64,
    /// Exchanges that began too early. [`Self::violations`] lists the first of them.
    pub violation_count: u64,
    /// Violations that began before the previous exchange had ended.
    pub overlaps: u64,
    /// The shortest time from an end to the next start at one address, in seconds; none when no address was asked twice.
    pub shortest_gap_seconds: Option<f64>,
    /// The violations, by address and time, up to [`VIOLATIONS_LISTED_MAX`].
    pub violations: Vec<Violation>,
}

/// An exchange that began too early.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Violation {
    /// The address that was asked too early.
    pub address: IpAddr,
    /// The exchange that ended last before.
    pub previous: Moment,
    /// The exchange that began too early.
    pub next: Moment,
    /// Seconds from the end of the one to the start of the other; negative when they overlap.
    pub gap_seconds: f64,
}

/// One side of a violation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moment {
    /// The end of the previous exchange, or the start of the next.
    pub at: UnixNanos,
    /// What was asked for.
    pub url: String,
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// The log cannot be read.
    #[error("cannot read access log {path}")]
    Read {
        /// The log.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line is not an exchange.
    #[error("line {line} of access log {path} is not an exchange")]
    Line {
        /// The log.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// Violations that a verdict lists; the others are only counted.
pub const VIOLATIONS_LISTED_MAX: usize = 10_000;

/// Longest line that is read; the web writes none nearly so long.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Judges the access log of a web. A last line without an end, as a killed web leaves it, does not count.
pub fn judge(log: &Path, standard: impl Into<Standard>) -> Result<Verdict, JudgeError> {
    let standard = standard.into();
    let real_interval = standard.real_interval();
    let read_error = |source| JudgeError::Read {
        path: log.to_owned(),
        source,
    };
    let mut file = BufReader::new(File::open(log).map_err(read_error)?);
    let mut servers = read_spans(&mut file, log)?;
    let mut verdict = Verdict {
        interval_seconds: standard.interval.as_secs_f64(),
        clock_speed: standard.clock_speed,
        exchanges: servers.values().map(|spans| spans.len() as u64).sum(),
        servers: servers.len() as u64,
        violation_count: 0,
        overlaps: 0,
        shortest_gap_seconds: None,
        violations: Vec::new(),
    };
    for (&address, spans) in &mut servers {
        spans.sort_unstable_by_key(|span| (span.start, span.end));
        for (previous, next) in pairs(spans) {
            let gap_seconds = standard.clock_speed * next.start.seconds_since(previous.end);
            let shortest = verdict.shortest_gap_seconds.get_or_insert(gap_seconds);
            *shortest = shortest.min(gap_seconds);
            if previous.end.after(real_interval) <= next.start {
                continue;
            }
            verdict.violation_count += 1;
            verdict.overlaps += u64::from(next.start < previous.end);
            if verdict.violations.len() < VIOLATIONS_LISTED_MAX {
                verdict.violations.push(Violation {
                    address,
                    previous: Moment {
                        at: previous.end,
                        url: url_at(&mut file, previous).map_err(read_error)?,
                    },
                    next: Moment {
                        at: next.start,
                        url: url_at(&mut file, next).map_err(read_error)?,
                    },
                    gap_seconds,
                });
            }
        }
    }
    Ok(verdict)
}

/// The times of an exchange, and where its line begins.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: UnixNanos,
    end: UnixNanos,
    offset: u64,
}

/// The part of a line that the order of exchanges needs.
#[derive(Deserialize)]
struct Times {
    address: IpAddr,
    start: UnixNanos,
    end: UnixNanos,
}

fn read_spans(
    file: &mut BufReader<File>,
    path: &Path,
) -> Result<BTreeMap<IpAddr, Vec<Span>>, JudgeError> {
    let mut servers = BTreeMap::<IpAddr, Vec<Span>>::new();
    let mut text = Vec::new();
    let mut offset = 0;
    for line in 1_u64.. {
        text.clear();
        let read = file.take(LINE_BYTES_MAX).read_until(b'\n', &mut text);
        let length = read.map_err(|source| JudgeError::Read {
            path: path.to_owned(),
            source,
        })?;
        if length == 0 {
            break;
        }
        let times: Times = match serde_json::from_slice(&text) {
            Ok(times) => times,
            Err(_) if !text.ends_with(b"\n") && (length as u64) < LINE_BYTES_MAX => break,
            Err(source) => {
                return Err(JudgeError::Line {
                    path: path.to_owned(),
                    line,
                    source,
                });
            }
        };
        servers.entry(times.address).or_default().push(Span {
            start: times.start,
            end: times.end,
            offset,
        });
        offset += length as u64;
    }
    Ok(servers)
}

/// Each exchange but the first, with the one before it that ended last.
fn pairs(sorted: &[Span]) -> impl Iterator<Item = (&Span, &Span)> {
    let mut latest: Option<&Span> = None;
    sorted.iter().filter_map(move |next| {
        let previous = latest;
        if latest.is_none_or(|latest| latest.end <= next.end) {
            latest = Some(next);
        }
        previous.map(|previous| (previous, next))
    })
}

fn url_at(file: &mut BufReader<File>, span: &Span) -> io::Result<String> {
    file.seek(SeekFrom::Start(span.offset))?;
    let mut line = Vec::new();
    file.take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
    let exchange: Exchange = serde_json::from_slice(&line)?;
    Ok(exchange.url)
}

impl Verdict {
    /// True when no exchange began too early.
    #[must_use]
    pub fn is_polite(&self) -> bool {
        self.violation_count == 0
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for violation in &self.violations {
            writeln!(out, "{violation}")?;
        }
        let listed = self.violations.len() as u64;
        if listed < self.violation_count {
            writeln!(out, "… and {} more", self.violation_count - listed)?;
        }
        write!(
            out,
            "{} exchanges with {} servers, interval {} s",
            self.exchanges, self.servers, self.interval_seconds
        )?;
        if !is_real(self.clock_speed) {
            write!(
                out,
                " of a clock that is {} times as fast",
                self.clock_speed
            )?;
        }
        write!(out, ": ")?;
        match self.violation_count {
            0 => write!(out, "no violations")?,
            count => write!(
                out,
                "{count} violations, {} of them overlaps",
                self.overlaps
            )?,
        }
        match self.shortest_gap_seconds {
            Some(gap) => write!(out, " (shortest gap {gap:.6} s)"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}: gap {:.6} s: {} ended at {}, {} began at {}",
            self.address,
            self.gap_seconds,
            self.previous.url,
            self.previous.at,
            self.next.url,
            self.next.at
        )
    }
}

impl fmt::Display for UnixNanos {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}.{:06}",
            self.0 / 1_000_000_000,
            self.0 % 1_000_000_000 / 1000
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access_log::Ending;
    use proptest::prelude::*;
    use std::io::Write;

    fn exchange(address: u8, start: u64, end: u64) -> Exchange {
        Exchange {
            address: [127, 0, 0, address].into(),
            host: "a.test".into(),
            method: "GET".into(),
            url: format!("http://a.test/{start}"),
            status: 200,
            bytes: 0,
            start: UnixNanos(start),
            end: UnixNanos(end),
            ending: Ending::Complete,
        }
    }

    fn log_of(exchanges: &[Exchange]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for exchange in exchanges {
            writeln!(file, "{}", serde_json::to_string(exchange).unwrap()).unwrap();
        }
        file
    }

    fn judged(exchanges: &[Exchange], interval_nanos: u64) -> Verdict {
        let log = log_of(exchanges);
        judge(log.path(), Duration::from_nanos(interval_nanos)).unwrap()
    }

    #[test]
    fn a_gap_of_exactly_the_interval_is_polite_and_one_nanosecond_less_is_not() {
        let polite = judged(&[exchange(1, 0, 10), exchange(1, 20, 30)], 10);
        assert!(polite.is_polite());
        assert_eq!(polite.shortest_gap_seconds, Some(1e-8));
        let rude = judged(&[exchange(1, 0, 10), exchange(1, 19, 30)], 10);
        assert_eq!((rude.violation_count, rude.overlaps), (1, 0));
        assert_eq!(rude.violations[0].previous.url, "http://a.test/0");
        assert_eq!(rude.violations[0].next.at, UnixNanos(19));
    }

    #[test]
    fn a_client_with_a_fast_clock_is_held_to_it() {
        let log = log_of(&[exchange(1, 0, 1000), exchange(1, 2000, 3000)]);
        let verdict = |micros| {
            let standard = Standard {
                interval: Duration::from_micros(micros),
                clock_speed: 1000.0,
            };
            judge(log.path(), standard).unwrap()
        };
        assert!(verdict(1000).is_polite());
        assert!(!verdict(1001).is_polite());
        assert!((verdict(1).shortest_gap_seconds.unwrap() - 1e-3).abs() < 1e-12);
        assert!(verdict(1).to_string().contains("1000 times as fast"));
    }

    #[test]
    fn a_long_exchange_counts_against_all_that_begin_inside_it() {
        let verdict = judged(
            &[
                exchange(1, 0, 100),
                exchange(1, 10, 20),
                exchange(1, 50, 60),
            ],
            0,
        );
        assert_eq!((verdict.violation_count, verdict.overlaps), (2, 2));
        assert!(
            verdict
                .violations
                .iter()
                .all(|v| v.previous.url == "http://a.test/0")
        );
    }

    #[test]
    fn addresses_are_judged_apart() {
        assert!(judged(&[exchange(1, 0, 10), exchange(2, 5, 15)], 100).is_polite());
    }

    #[test]
    fn half_a_last_line_is_ignored_and_a_broken_one_before_is_named() {
        let mut log = log_of(&[exchange(1, 0, 10)]);
        write!(log, "{{\"addr").unwrap();
        assert_eq!(judge(log.path(), Duration::ZERO).unwrap().exchanges, 1);
        writeln!(log).unwrap();
        let error = judge(log.path(), Duration::ZERO).unwrap_err();
        assert!(matches!(error, JudgeError::Line { line: 2, .. }), "{error}");
    }

    #[test]
    fn a_verdict_reads_well() {
        let verdict = judged(&[exchange(1, 0, 10), exchange(1, 5, 30)], 0);
        assert_eq!(
            verdict.to_string(),
            "127.0.0.1: gap -0.000000 s: http://a.test/0 ended at 0.000000, http://a.test/5 began at 0.000000\n\
             2 exchanges with 1 servers, interval 0 s: 1 violations, 1 of them overlaps (shortest gap -0.000000 s)"
        );
    }

    /// Counts, by comparing all with all: those that some earlier-starting exchange forbids.
    fn naive_violations(exchanges: &[Exchange], interval: u64) -> u64 {
        let early = |next: &Exchange| {
            exchanges.iter().any(|previous| {
                previous.address == next.address
                    && previous.start < next.start
                    && next.start.0 < previous.end.0 + interval
            })
        };
        exchanges.iter().filter(|next| early(next)).count() as u64
    }

    proptest! {
        #[test]
        fn the_judge_agrees_with_a_comparison_of_all_with_all(
            starts in prop::collection::btree_set(0..2000_u64, 0..60),
            lengths in prop::collection::vec((0..60_u64, 0..3_u8), 60),
            interval in 0..50_u64,
            rotate in 0..60_usize,
        ) {
            let mut exchanges: Vec<_> = starts
                .iter()
                .zip(lengths)
                .map(|(&start, (length, address))| exchange(address, start, start + length))
                .collect();
            let middle = rotate.min(exchanges.len());
            exchanges.rotate_left(middle);
            let verdict = judged(&exchanges, interval);
            prop_assert_eq!(verdict.violation_count, naive_violations(&exchanges, interval));
            prop_assert_eq!(verdict.violations.len() as u64, verdict.violation_count);
        }
    }
}
