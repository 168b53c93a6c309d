//! What became new, changed and went away in a span of time, page by page, as the event log tells it. Reads only: a crawl may be running.
//!
//! The log says of each visit what the planner made of it, so what counts as a change here is what counted for the crawl. A page is told once,
//! with what the span came to: a page that is not there at its end is gone, one that was found in it is new, any other has changed.
//!
//! Bounds: the beginning of the span is found by bisection. Pages are gathered a part at a time, by their fingerprints, so that memory does not
//! grow with the span; the log is then read once for each part.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use junkai_archive::logs::Log;
use junkai_archive::{Entry, Index};
use junkai_frontier::Time;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::ArchiveFolder;
use crate::CrawlError;
use crate::annotation::{BACK, JOINED};
use crate::clock::{Clock, timestamp};
use crate::error::AtPath as _;
use crate::log::{EVENTS, Event};
use crate::platform::machine;
use crate::settings::Settings;

/// Bytes of the log that are gathered at a time: no line is shorter than a quarter of a kilobyte, so this is at most a million pages.
const PART_BYTES: u64 = 256 << 20;
/// The longest line that is read; a URL may have some kilobytes, and what led to it too.
pub(crate) const LINE_BYTES_MAX: u64 = 1 << 20;
/// Lines are in the order in which visits ended, but for those of one round and for clocks that are set: so far before the beginning of a span the
/// search for it stays.
const SLACK: Duration = Duration::from_mins(10);
/// A stretch of the log that is read through instead of halved.
const STRETCH_BYTES: u64 = 1 << 20;
/// Lines between two words on how far it is.
const PROGRESS_LINES: u64 = 10_000;

/// What a span of time meant for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhatChanged {
    /// It was found.
    New,
    /// It was there, and is another.
    Changed,
    /// It was there, and is not (404, 410, or a host that is no more).
    Gone,
}

/// A page that is not as it was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageChange {
    /// What the span meant for it.
    pub what: WhatChanged,
    /// The page.
    pub url: String,
    /// When that was seen; of several changes, the last.
    pub time: Timestamp,
    /// The status of that visit.
    pub status: i32,
    /// How often it changed in the span.
    pub changes: u32,
    /// How similar the last change left its content, from 0 to 1, where that is known.
    pub similarity: Option<f32>,
    /// When it is visited next.
    pub next_visit: Option<Timestamp>,
}

/// The span of time, and the pages, that are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first moment.
    pub since: Timestamp,
    /// The first moment after it.
    pub until: Timestamp,
    /// Only the pages of this host.
    pub host: Option<String>,
}

/// What all pages come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChangeCounts {
    /// Pages that are new.
    pub new: u64,
    /// Pages that changed.
    pub changed: u64,
    /// Pages that are gone.
    pub gone: u64,
    /// Visits in the span, of pages of all kinds.
    pub visits: u64,
}

/// The moment that the clock of a crawl shows.
#[must_use]
pub fn now(settings: &Settings) -> Timestamp {
    timestamp(Clock::start(&machine(), &settings.clock, Time::EPOCH).now())
}

/// Gives every page of `archive` that changed in the span to `take`, in the order of when, part by part of a long log; `progress` hears how many bytes
/// of how many are read.
///
/// # Errors
/// If there is no archive, or its log or index cannot be read.
pub fn changes(
    archive: &Path,
    span: &Span,
    mut take: impl FnMut(PageChange),
    mut progress: impl FnMut(u64, u64),
) -> Result<ChangeCounts, CrawlError> {
    ArchiveFolder::existing(archive)?;
    let mut counts = ChangeCounts::default();
    let path = archive.join(EVENTS);
    let mut log = Log::open(archive, "events.jsonl").at(&path)?;
    let end = log.byte_count();
    let since = span.since.checked_sub(SLACK).unwrap_or(Timestamp::MIN);
    let start = first_line_at(&mut log, end, since).at(&path)?;
    let parts = (end - start) / PART_BYTES + 1;
    let index = Index::open(archive)?;
    for part in 0..parts {
        let mut pages = HashMap::new();
        let of_part = |url: &str| xxh3_64(url.as_bytes()) % parts == part;
        let mut tell = |at: u64| progress(part * (end - start) + at - start, parts * (end - start));
        each_event(&mut log, start..end, &mut tell, |event, at| {
            if span.holds(event) && of_part(&event.url) {
                counts.visits += u64::from(is_visit(event));
                fold(&mut pages, event, at);
            }
        })
        .at(&path)?;
        let mut rows: Vec<Row> = pages.into_values().collect();
        rows.sort_unstable_by_key(|row| row.at);
        for row in rows {
            let line = line_at(&mut log, row.at).at(&path)?;
            if let Some(change) = row.told(&line, &index)? {
                counts.add(change.what);
                take(change);
            }
        }
    }
    Ok(counts)
}

impl Span {
    fn holds(&self, event: &Event<'_>) -> bool {
        let is_within = self.since <= event.time && event.time < self.until;
        let is_of_host = |host: &String| {
            let rest = event.url.split_once("://").map(|(_, rest)| rest);
            let name = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
            let name = name.and_then(|name| name.rsplit('@').next());
            // With its port or without.
            name.is_some_and(|name| {
                name == host
                    || name
                        .strip_prefix(host.as_str())
                        .is_some_and(|port| port.starts_with(':'))
            })
        };
        is_within && self.host.as_ref().is_none_or(is_of_host)
    }
}

impl ChangeCounts {
    fn add(&mut self, what: WhatChanged) {
        match what {
            WhatChanged::New => self.new += 1,
            WhatChanged::Changed => self.changed += 1,
            WhatChanged::Gone => self.gone += 1,
        }
    }
}

/// What one event alone says of its page, if that is news to somebody who heard of all that went before: whoever was told that a page is gone is also told when it is back.
/// `was_there` says whether the page was there before that visit, as [`was_there`] finds out.
pub(crate) fn change_of(
    event: &Event<'_>,
    mut was_there: impl FnMut(&Event<'_>) -> Result<bool, CrawlError>,
) -> Result<Option<PageChange>, CrawlError> {
    let Some(says) = says(event) else {
        return Ok(None);
    };
    let is_back = event.annotations.iter().any(|word| word == BACK);
    let (what, changes) = match says {
        Says::New => (WhatChanged::New, 0),
        Says::Gone if was_there(event)? => (WhatChanged::Gone, 0),
        Says::Changed | Says::There if is_back && !was_there(event)? => (WhatChanged::New, 0),
        Says::Changed => (WhatChanged::Changed, 1),
        Says::Gone | Says::There => return Ok(None),
    };
    Ok(Some(PageChange {
        what,
        url: event.url.clone().into_owned(),
        time: event.time,
        status: event.status,
        changes,
        similarity: similarity(event),
        next_visit: event.next_visit,
    }))
}

/// Whether an event may be a change, as far as it says so itself.
pub(crate) fn may_be_change(event: &Event<'_>) -> bool {
    matches!(says(event), Some(Says::New | Says::Changed | Says::Gone))
}

fn similarity(event: &Event<'_>) -> Option<f32> {
    let (_, similarity) = event.change.as_deref()?.split_once(':')?;
    similarity.parse().ok()
}

/// What the span means for a page so far.
#[derive(Debug)]
struct Row {
    /// Where the log has the event that counts.
    at: u64,
    is_gone: bool,
    is_new: bool,
    changes: u32,
}

/// What one event says of its page.
enum Says {
    New,
    Changed,
    Gone,
    There,
}

/// What an event says; nothing if it says nothing of whether the page is there.
fn says(event: &Event<'_>) -> Option<Says> {
    let is_had = (200..300).contains(&event.status);
    match event.change.as_deref() {
        Some("first") => Some(Says::New),
        Some("gone") => Some(Says::Gone),
        Some(change) if change.starts_with("changed") => Some(Says::Changed),
        Some(change) if change.starts_with("same") || change.starts_with("little") => {
            Some(Says::There)
        }
        Some(_) => None,
        // The first visit of a page has nothing to compare; nor has one out of turn, which is judged later, or one to robots.txt.
        None => {
            let is_page = !matches!(&*event.hops, "A" | "S" | "-") && !event.hops.ends_with('P');
            (is_had && is_page && is_visit(event)).then_some(Says::New)
        }
    }
}

fn is_visit(event: &Event<'_>) -> bool {
    !event.annotations.iter().any(|word| word == JOINED)
}

/// Takes in the event of the line at `at`.
fn fold(pages: &mut HashMap<u64, Row>, event: &Event<'_>, at: u64) {
    let Some(says) = says(event) else { return };
    let key = xxh3_64(event.url.as_bytes());
    // That a page is as it was matters only where it had gone.
    if matches!(says, Says::There) && !pages.contains_key(&key) {
        return;
    }
    let row = pages.entry(key).or_insert(Row {
        at,
        is_gone: false,
        is_new: false,
        changes: 0,
    });
    match says {
        // The first visit that missed it is told.
        Says::Gone if row.is_gone => return,
        Says::There => {
            row.is_gone = false;
            return;
        }
        Says::Gone => {}
        Says::New => row.is_new = true,
        Says::Changed => row.changes += 1,
    }
    row.is_gone = matches!(says, Says::Gone);
    row.at = at;
}

impl Row {
    /// The change as it is told, with what its line says; none if the page is as it was before the span.
    fn told(&self, line: &[u8], index: &Index) -> Result<Option<PageChange>, CrawlError> {
        let Ok(event) = serde_json::from_slice::<Event<'_>>(line) else {
            return Ok(None);
        };
        let was_seen = self.is_new || 0 < self.changes;
        let what = if self.is_gone && (was_seen || was_there(index, &event)?) {
            WhatChanged::Gone
        } else if self.is_gone || !was_seen {
            return Ok(None);
        } else if self.is_new {
            WhatChanged::New
        } else {
            WhatChanged::Changed
        };
        let similarity = similarity(&event);
        Ok(Some(PageChange {
            what,
            url: event.url.into_owned(),
            time: event.time,
            status: event.status,
            changes: self.changes,
            similarity,
            next_visit: event.next_visit,
        }))
    }
}

/// Whether the last capture of a page before the visit that missed it found it.
pub(crate) fn was_there(index: &Index, event: &Event<'_>) -> Result<bool, CrawlError> {
    let until = event.time.strftime("%Y%m%d%H%M%S").to_string();
    let is_own = |entry: &Entry| {
        let place = event.warc.as_ref();
        place.is_some_and(|place| place.file == entry.filename && place.offset == entry.offset)
    };
    let mut is_there = true;
    for entry in index.between(&event.url, "0", &until)? {
        let entry = entry?;
        if entry.url == event.url && !is_own(&entry) {
            is_there = !matches!(entry.status.as_deref(), Some("404" | "410"));
        }
    }
    Ok(is_there)
}

/// The line that begins there.
fn line_at(log: &mut Log, at: u64) -> io::Result<Vec<u8>> {
    log.seek(SeekFrom::Start(at))?;
    let mut line = Vec::new();
    io::Read::take(BufReader::new(log), LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
    Ok(line)
}

/// Gives every event of a stretch of the log with the place of its line. Lines that cannot be read are passed over.
fn each_event(
    log: &mut Log,
    stretch: std::ops::Range<u64>,
    tell: &mut impl FnMut(u64),
    mut take: impl FnMut(&Event<'_>, u64),
) -> io::Result<()> {
    log.seek(SeekFrom::Start(stretch.start))?;
    let mut source = BufReader::with_capacity(1 << 16, log);
    let mut at = stretch.start;
    let mut line = Vec::new();
    let mut lines = 0_u64;
    while at < stretch.end {
        line.clear();
        let count = io::Read::take(&mut source, LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if count == 0 {
            break;
        }
        if let Ok(event) = serde_json::from_slice::<Event<'_>>(&line) {
            take(&event, at);
        }
        at += count as u64;
        lines += 1;
        if lines.is_multiple_of(PROGRESS_LINES) {
            tell(at);
        }
    }
    Ok(())
}

/// A line at or before which no event of `since` or later is: found by halving, as lines are nearly in the order of time.
fn first_line_at(log: &mut Log, end: u64, since: Timestamp) -> io::Result<u64> {
    let (mut low, mut high) = (0, end);
    while STRETCH_BYTES < high - low {
        let middle = u64::midpoint(low, high);
        match next_time(log, middle)? {
            Some((time, line)) if time < since && line < high => low = line,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// The time and place of the first whole line from a place on that is an event.
fn next_time(log: &mut Log, from: u64) -> io::Result<Option<(Timestamp, u64)>> {
    #[derive(serde::Deserialize)]
    struct Dated {
        time: Timestamp,
    }
    log.seek(SeekFrom::Start(from))?;
    let mut source = BufReader::new(log);
    let mut line = Vec::new();
    let mut at = from;
    let mut is_whole = false;
    loop {
        line.clear();
        let count = io::Read::take(&mut source, LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if count == 0 {
            return Ok(None);
        }
        if is_whole && let Ok(dated) = serde_json::from_slice::<Dated>(&line) {
            return Ok(Some((dated.time, at)));
        }
        is_whole = true;
        at += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    /// An event of a page, a second after the other.
    fn line(second: i64, path: &str, status: i32, change: Option<&str>) -> String {
        let event = Event {
            time: Timestamp::from_second(1_768_469_400 + second).unwrap(),
            status,
            url: format!("http://a.example/{path}").into(),
            hops: "L".into(),
            change: change.map(Into::into),
            ..Event::default()
        };
        serde_json::to_string(&event).unwrap() + "\n"
    }

    fn archive(log: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["state", "logs", "indexes", "archive"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("logs/events.jsonl"), log).unwrap();
        folder
    }

    fn told(archive: &Path, from: i64, to: i64) -> (Vec<(WhatChanged, String, u32)>, ChangeCounts) {
        let span = Span {
            since: Timestamp::from_second(1_768_469_400 + from).unwrap(),
            until: Timestamp::from_second(1_768_469_400 + to).unwrap(),
            host: None,
        };
        let mut told = Vec::new();
        let counts = changes(
            archive,
            &span,
            |page| {
                let path = page.url.rsplit('/').next().unwrap().to_owned();
                told.push((page.what, path, page.changes));
            },
            |_, _| {},
        );
        (told, counts.unwrap())
    }

    #[test]
    fn a_page_is_told_once_with_what_the_span_came_to() {
        use WhatChanged::{Changed, Gone, New};
        let log = [
            line(0, "old", 200, None),
            line(1, "often", 200, None),
            line(10, "new", 200, None),
            line(11, "often", 200, Some("changed:0.500")),
            line(12, "never-there", 404, None),
            line(13, "often", 200, Some("changed:0.250")),
            line(14, "old", 200, Some("little:0.990")),
            line(15, "moved", 301, None),
            line(16, "back", 404, Some("gone")),
            line(17, "back", 200, Some("same")),
            line(18, "came-and-went", 200, None),
            line(19, "came-and-went", 410, Some("gone")),
            line(20, "old", 404, Some("gone")),
            line(21, "old", 404, Some("gone")),
            "a line that is torn".to_owned(),
        ];
        let folder = archive(&log.concat());
        let (pages, counts) = told(folder.path(), 10, 30);
        let page = |what, path: &str, changes| (what, path.to_owned(), changes);
        assert_eq!(
            pages,
            [
                page(New, "new", 0),
                page(Changed, "often", 2),
                page(Gone, "came-and-went", 0),
                page(Gone, "old", 0),
            ]
        );
        assert_eq!(
            (counts.new, counts.changed, counts.gone, counts.visits),
            (1, 1, 2, 12)
        );
        assert_eq!(told(folder.path(), 40, 50).0, []);
    }

    #[test]
    fn a_page_that_had_gone_before_is_not_gone_again() {
        let folder = archive(&line(20, "old", 404, Some("gone")));
        let entry = |time: &str, status: &str| {
            format!(
                r#"example,a)/old {time} {{"url": "http://a.example/old", "status": "{status}", "length": "1", "offset": "0", "filename": "f"}}"#
            )
        };
        let write = |lines: [String; 2]| {
            fs::write(
                folder.path().join("indexes/f-0000.cdxj"),
                lines.join("\n") + "\n",
            )
            .unwrap();
        };
        write([
            entry("20260101000000", "200"),
            entry("20260102000000", "404"),
        ]);
        assert_eq!(told(folder.path(), 0, 100).0, []);
        write([
            entry("20260101000000", "404"),
            entry("20260102000000", "200"),
        ]);
        assert_eq!(told(folder.path(), 0, 100).0.len(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        /// Halving finds the beginning of a span in a long log, whatever its lines are.
        #[test]
        fn a_span_of_a_long_log_is_found(steps in prop::collection::vec(0_i64..2000, 3000..6000), from in 0_i64..3_000_000) {
            let mut log = String::new();
            let mut times = Vec::new();
            let mut second = 0;
            for (number, step) in steps.into_iter().enumerate() {
                second += step;
                times.push(second);
                log.push_str(&line(second, &number.to_string(), 200, None));
                if number % 100 == 0 {
                    log.push_str("no event\n");
                }
            }
            let folder = archive(&log);
            let expected = times.iter().filter(|time| from <= **time && **time < from + 50_000).count();
            let (pages, counts) = told(folder.path(), from, from + 50_000);
            prop_assert_eq!(pages.len(), expected);
            prop_assert_eq!(counts.visits, expected as u64);
        }
    }
}
