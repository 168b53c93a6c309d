//! The two logs of a crawl: `crawl.log` in Heritrix's fields, and `events.jsonl` with the same facts for programs.
//!
//! The frontier's thread notes a line for every visit that ended or is given up, and none for one that is only deferred. The line of a capture is noted when the
//! capture is in the archive already: what a log reports, the archive holds. Lines are buffered, and written once per round, or when they are many, in the order
//! that `outcomes` keeps: after new URLs, before the states of pages, and before the visits are acknowledged. What is no visit ([`JOINED`](crate::annotation::JOINED)) stands in
//! `events.jsonl` alone. Files that have grown long or old are rotated, as [`junkai_archive::logs`] says.

mod config;

use std::borrow::Cow;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::TimeZone;
use junkai_archive::logs::rotated_name;
use junkai_files::{Disk, Folder};
use serde::{Deserialize, Serialize};

pub use self::config::LogConfig;
use crate::CrawlError;
use crate::line_file::LineFile;

/// Where the log for programs is in an archive.
pub const EVENTS: &str = "logs/events.jsonl";

/// One visit that ended, as both logs tell it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Event<'a> {
    /// When it ended.
    pub time: Timestamp,
    /// HTTP status, or Heritrix's negative code.
    pub status: i32,
    /// Bytes received.
    pub size: u64,
    /// The page.
    pub url: Cow<'a, str>,
    /// How it was reached from a seed, a letter a hop: L link, E embed, R redirect, P prerequisite, M sitemap or feed, A asked for again,
    /// S said to have changed by a sitemap or a feed.
    pub hops: Cow<'a, str>,
    /// The page that led here; empty for seeds.
    pub via: Cow<'a, str>,
    /// Media type as sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime: Option<Cow<'a, str>>,
    /// The worker that made the visit.
    pub worker: usize,
    /// When it began.
    pub started: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// Digest of the payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Cow<'a, str>>,
    /// Heritrix's annotations: `2t` (second try), `lenTrunc`, `timeTrunc`, `duplicate:digest` …
    pub annotations: Vec<Cow<'a, str>>,
    /// Where the capture is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warc: Option<WarcPlace<'a>>,
    /// For a page that was known: what changed: `same`, `same:not-modified`, `little:` or `changed:` with the similarity of the contents, `gone`,
    /// `moved`, `failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Cow<'a, str>>,
    /// When the page is visited next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_visit: Option<Timestamp>,
    /// The server's address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<std::net::IpAddr>,
    /// In plain words, what came of it.
    pub result: Cow<'a, str>,
}

/// Where a capture is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WarcPlace<'a> {
    /// The WARC file, without `.open`.
    pub file: Cow<'a, str>,
    /// Offset of the response record.
    pub offset: u64,
    /// Its length.
    pub length: u64,
}

/// One engine's access to the log files, with the lines that it has not written yet. The files are the node's: all engines of a process write to the same.
#[derive(Debug)]
pub struct Logs {
    files: Arc<Mutex<LogFiles>>,
    crawl: Vec<u8>,
    events: Vec<u8>,
}

/// Both log files, open for appending.
#[derive(Debug)]
struct LogFiles {
    config: LogConfig,
    crawl: LogFile,
    events: LogFile,
    /// How often they were rotated.
    rotations: u64,
}

/// One of them.
#[derive(Debug)]
struct LogFile {
    lines: LineFile,
    /// When it was begun, by the wall clock.
    begun: Duration,
}

impl LogFile {
    fn open(disk: &Disk, path: &Path, now: Duration) -> Result<LogFile, CrawlError> {
        let lines = LineFile::open(disk, path)?;
        let begun = disk.begun(path);
        let begun = begun.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Ok(LogFile {
            lines,
            begun: begun.unwrap_or(now),
        })
    }

    fn rotate(&mut self, now: Duration) -> Result<(), CrawlError> {
        let date = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let date = Timestamp::from_second(date).unwrap_or_default();
        let name = rotated_name(self.lines.path(), date);
        // Within a second of the last time: the next one will do.
        if !self.lines.disk().exists(&name) {
            self.lines.rotate(&name)?;
            self.begun = now;
        }
        Ok(())
    }
}

impl LogFiles {
    /// Hands everything to the operating system, lines of other engines included.
    fn flush(&mut self) -> Result<(), CrawlError> {
        self.crawl.lines.flush()?;
        self.events.lines.flush()
    }

    fn unwritten_bytes(&self) -> usize {
        self.crawl.lines.unwritten_bytes() + self.events.lines.unwritten_bytes()
    }
}

impl Logs {
    /// Opens or creates both files in `folder`, cutting off a torn last line. They have been rotated so often.
    ///
    /// # Errors
    /// If the files cannot be opened.
    pub fn open(
        folder: &Folder,
        config: &LogConfig,
        rotations: u64,
        wall: Duration,
    ) -> Result<Logs, CrawlError> {
        let open = |name| LogFile::open(folder.disk(), &folder.file(name), wall);
        let files = LogFiles {
            config: config.clone(),
            crawl: open("crawl.log")?,
            events: open("events.jsonl")?,
            rotations,
        };
        Ok(Logs {
            files: Arc::new(Mutex::new(files)),
            crawl: Vec::new(),
            events: Vec::new(),
        })
    }

    /// The same files, for another engine of this process.
    #[must_use]
    pub fn of_another_engine(&self) -> Logs {
        Logs {
            files: Arc::clone(&self.files),
            crawl: Vec::new(),
            events: Vec::new(),
        }
    }

    fn files(&self) -> MutexGuard<'_, LogFiles> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a file has grown too long or too old.
    #[must_use]
    pub fn are_over(&self, wall: Duration) -> bool {
        let files = self.files();
        let is_over = |file: &LogFile| {
            let length = file.lines.length();
            files.config.is_over(length, file.begun, wall)
        };
        is_over(&files.crawl) || is_over(&files.events)
    }

    /// Rotates both files, so that they tell of the same time, and begins anew.
    ///
    /// # Errors
    /// If a file cannot be renamed or opened.
    pub fn rotate(&mut self, wall: Duration) -> Result<(), CrawlError> {
        let mut files = self.files();
        files.flush()?;
        files.crawl.rotate(wall)?;
        files.events.rotate(wall)?;
        files.rotations += 1;
        Ok(())
    }

    /// Cuts both files back to the lengths of a checkpoint.
    ///
    /// # Errors
    /// If a file cannot be cut.
    pub fn cut_to(&mut self, lengths: [u64; 2]) -> Result<(), CrawlError> {
        let mut files = self.files();
        files.crawl.lines.cut_to(lengths[0])?;
        files.events.lines.cut_to(lengths[1])
    }

    /// Notes one visit; it reaches the disk with [`Logs::flush`].
    pub fn note(&mut self, event: &Event<'_>) {
        heritrix_line(event, &mut self.crawl);
        self.note_aside(event);
    }

    /// Notes what is no visit, for programs alone.
    pub fn note_aside(&mut self, event: &Event<'_>) {
        // A struct of strings and numbers always serialises.
        if serde_json::to_writer(&mut self.events, event).is_ok() {
            self.events.push(b'\n');
        }
    }

    /// Hands everything noted to the operating system.
    ///
    /// # Errors
    /// If the disk refuses; the lines stay, to be tried again.
    pub fn flush(&mut self) -> Result<(), CrawlError> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.crawl.lines.buffer().append(&mut self.crawl);
        files.events.lines.buffer().append(&mut self.events);
        files.flush()
    }

    /// Bytes of lines that are not flushed yet.
    #[must_use]
    pub fn unwritten_bytes(&self) -> usize {
        self.crawl.len() + self.events.len() + self.files().unwritten_bytes()
    }

    /// Lengths of what was flushed, as a checkpoint names them, and how often the files were rotated before.
    #[must_use]
    pub fn lengths(&self) -> ([u64; 2], u64) {
        let files = self.files();
        let lengths = [files.crawl.lines.length(), files.events.lines.length()];
        (lengths, files.rotations)
    }
}

/// Heritrix 3's line: time, status, size, URI, hops, via, MIME type, thread, start+duration, digest, source tag, annotations, extra.
fn heritrix_line(event: &Event<'_>, out: &mut Vec<u8>) {
    const TO_MILLISECONDS: DateTimePrinter = DateTimePrinter::new().precision(Some(3));
    // Writing to a vector cannot fail, here and below.
    let _cannot_fail = TO_MILLISECONDS.print_timestamp(&event.time, &mut *out);
    let _cannot_fail = write!(out, " {:>5} {:>10} ", event.status, event.size);
    let mime = event.mime.as_deref().unwrap_or_default();
    for field in [&event.url, &event.hops, &event.via, mime] {
        put_field(field, out);
        out.push(b' ');
    }
    let _cannot_fail = write!(out, "#{:03} ", event.worker);
    put_digits_of(event.started, out);
    let _cannot_fail = write!(out, "+{} ", event.duration_ms);
    put_field(event.digest.as_deref().unwrap_or_default(), out);
    out.extend_from_slice(b" - ");
    put_field(&event.annotations.join(","), out);
    out.push(b' ');
    match &event.warc {
        Some(place) => {
            let extra = Extra {
                file: &place.file,
                offset: place.offset,
            };
            // A struct of a string and a number always serialises.
            let _cannot_fail = serde_json::to_writer(&mut *out, &extra);
        }
        None => out.push(b'-'),
    }
    out.push(b'\n');
}

/// The last field: where the capture is, in Heritrix's words.
#[derive(Serialize)]
struct Extra<'a> {
    #[serde(rename = "warcFilename")]
    file: &'a str,
    #[serde(rename = "warcOffset")]
    offset: u64,
}

/// Appends a text as one field: a dash if it is empty, and without what would end the field.
fn put_field(text: &str, out: &mut Vec<u8>) {
    let ends_field = |character: char| character.is_whitespace() || character.is_control();
    if text.is_empty() {
        out.push(b'-');
    } else if text.bytes().all(|byte| byte.is_ascii_graphic()) {
        out.extend_from_slice(text.as_bytes());
    } else {
        out.extend_from_slice(text.replace(ends_field, "%20").as_bytes());
    }
}

/// Appends a moment as Heritrix does, in digits alone, to the millisecond.
fn put_digits_of(time: Timestamp, out: &mut Vec<u8>) {
    let at = TimeZone::UTC.to_datetime(time);
    let _cannot_fail = write!(
        out,
        "{:04}{:02}{:02}{:02}{:02}{:02}{:03}",
        at.year(),
        at.month(),
        at.day(),
        at.hour(),
        at.minute(),
        at.second(),
        at.millisecond(),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event() -> Event<'static> {
        Event {
            time: "2026-01-15T09:30:13.5Z".parse().unwrap(),
            status: 200,
            size: 1234,
            url: "https://example.org/a b".into(),
            hops: "LR".into(),
            via: "https://example.org/".into(),
            mime: Some("text/html".into()),
            worker: 3,
            started: "2026-01-15T09:30:12.345Z".parse().unwrap(),
            duration_ms: 1155,
            digest: Some("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ".into()),
            annotations: vec!["2t".into(), "lenTrunc".into()],
            change: None,
            next_visit: None,
            warc: Some(WarcPlace {
                file: "x.warc.gz".into(),
                offset: 7,
                length: 9,
            }),
            server: None,
            result: "200".into(),
        }
    }

    #[test]
    fn a_line_has_the_thirteen_fields_that_scripts_split_by_space() {
        let mut out = Vec::new();
        heritrix_line(&event(), &mut out);
        let line = String::from_utf8(out).unwrap();
        let fields: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(
            fields,
            [
                "2026-01-15T09:30:13.500Z",
                "200",
                "1234",
                "https://example.org/a%20b",
                "LR",
                "https://example.org/",
                "text/html",
                "#003",
                "20260115093012345+1155",
                "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
                "-",
                "2t,lenTrunc",
                r#"{"warcFilename":"x.warc.gz","warcOffset":7}"#,
            ]
        );
    }

    #[test]
    fn every_field_is_documented() {
        let documented = include_str!("../../../docs/operations.md");
        let event = Event {
            mime: Some("text/html".into()),
            digest: Some("sha1:".into()),
            warc: Some(WarcPlace {
                file: "x".into(),
                offset: 0,
                length: 0,
            }),
            change: Some("same".into()),
            next_visit: Some(Timestamp::UNIX_EPOCH),
            server: Some([127, 0, 0, 1].into()),
            ..Event::default()
        };
        let event = serde_json::to_value(&event).unwrap();
        let mut fields: Vec<&String> = event.as_object().unwrap().keys().collect();
        fields.sort();
        let mut told: Vec<&str> = documented
            .lines()
            .skip_while(|line| !line.starts_with("### A line of `events.jsonl`"))
            .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
            .collect();
        told.sort_unstable();
        assert_eq!(fields, told);
    }

    #[test]
    fn a_long_file_and_an_old_one_are_rotated_and_what_they_say_stays() {
        let archive = tempfile::tempdir().unwrap();
        let folder = archive.path().join("logs");
        std::fs::create_dir(&folder).unwrap();
        let config = LogConfig {
            bytes_max: bytesize::ByteSize(10),
            age_max: None,
        };
        let mut logs = Logs::open(&Folder::real(&folder), &config, 0, Duration::ZERO).unwrap();
        assert!(!logs.are_over(Duration::ZERO), "they are empty");
        let mut wall = Duration::ZERO;
        for url in ["http://a.test/", "http://b.test/"] {
            logs.note(&Event {
                url: url.into(),
                ..Event::default()
            });
            logs.flush().unwrap();
            assert!(logs.are_over(Duration::ZERO));
            logs.rotate(wall).unwrap();
            wall += Duration::from_mins(1);
        }
        for name in ["crawl.log", "events.jsonl"] {
            let mut text = String::new();
            let mut log = junkai_archive::logs::read_log(archive.path(), name).unwrap();
            std::io::Read::read_to_string(&mut log, &mut text).unwrap();
            assert_eq!(text.lines().count(), 2, "{text}");
            assert!(text.find("a.test") < text.find("b.test"), "{text}");
        }

        let day = std::time::Duration::from_hours(24);
        let daily = LogConfig {
            age_max: Some(day),
            ..LogConfig::default()
        };
        let begun = Duration::ZERO;
        assert!(!daily.is_over(1, begun, begun + day));
        assert!(daily.is_over(1, begun, begun + 2 * day));
        assert!(!daily.is_over(0, begun, begun + 2 * day));
        assert!(!LogConfig::default().is_over(1, begun, begun + 2000 * day));
    }

    #[test]
    fn a_torn_last_line_is_cut_off_at_opening() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("crawl.log");
        std::fs::write(&path, [b"whole\n".as_slice(), &[b'x'; 9000]].concat()).unwrap();
        let mut logs = Logs::open(
            &Folder::real(folder.path()),
            &LogConfig::default(),
            0,
            Duration::ZERO,
        )
        .unwrap();
        logs.note(&event());
        logs.flush().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert!(text.starts_with("whole\n2026"));
    }
}
