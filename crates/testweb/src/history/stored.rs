//! The bytes of every version of a site, in a folder.
//!
//! `manifest.tsv` has a heading and then a line for each event: `ts`, `op`, `path`, `blob`, `bytes`, with tabs between. `op` is that
//! of a history, or `B` for a page that was there before the first event; `blob` names the version's bytes, 40 hexadecimal digits of
//! which the first two are a folder of `objects/`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use junkai_graph::GraphError;
use junkai_graph::history::{
    BAD_LINES_LISTED_MAX, BadLine, Edition, Event, EventKind, History, HistoryError, UnixSeconds,
};

use super::Page;

/// Where the bytes of versions are.
#[derive(Debug)]
pub(super) struct Stored {
    objects: PathBuf,
    /// The blobs of each page, in the order of its versions.
    blobs: Vec<Vec<Blob>>,
}

/// A history with the bytes of its versions.
pub(super) struct Replay {
    pub(super) history: History,
    pub(super) stored: Stored,
    /// The first event after those that tell what was there before.
    pub(super) begin: Option<UnixSeconds>,
}

/// The name of a version's bytes: hexadecimal digits, so that it names a file below `objects/` and none elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Blob(Box<str>);

const BLOB_DIGITS: usize = 40;

/// Larger versions are not served: answers are made in memory.
const VERSION_BYTES_MAX: u64 = 256 << 20;

/// A manifest of a large site has some million lines of a hundred bytes.
const MANIFEST_BYTES_MAX: u64 = 1 << 30;

struct Row {
    path: String,
    event: Event,
    is_before: bool,
    blob: Option<Blob>,
}

/// Reads a folder's manifest; bytes are read when they are asked for.
pub(super) fn load(folder: &Path) -> Result<Replay, HistoryError> {
    let path = folder.join("manifest.tsv");
    let rows = read_rows(&path)?;
    let begin = rows.iter().filter(|row| !row.is_before);
    let begin = begin.map(|row| row.event.at).min();
    let name = folder.file_name().unwrap_or(folder.as_os_str());
    let told = rows.iter().map(|row| (row.path.as_str(), row.event));
    let history = History::from_events(name.to_string_lossy().into_owned(), told)?;
    let mut blobs: HashMap<&str, Vec<(UnixSeconds, Blob)>> = HashMap::new();
    for row in &rows {
        if let Some(blob) = &row.blob {
            let versions = blobs.entry(&row.path).or_default();
            versions.push((row.event.at, blob.clone()));
        }
    }
    let of_page = |page: Page| {
        let mut versions = blobs.remove(history.path(page)).unwrap_or_default();
        // As the events of the history: by time, and in one second as they were told.
        versions.sort_by_key(|&(at, _)| at);
        versions.into_iter().map(|(_, blob)| blob).collect()
    };
    let blobs = history.pages().map(of_page).collect();
    Ok(Replay {
        stored: Stored {
            objects: folder.join("objects"),
            blobs,
        },
        history,
        begin,
    })
}

impl Stored {
    /// The bytes of a version.
    pub(super) fn bytes(&self, page: Page, edition: Edition) -> io::Result<Vec<u8>> {
        let blobs = self.blobs.get(page as usize);
        let blob = blobs.and_then(|blobs| blobs.get(edition.version as usize));
        let Blob(name) = blob.ok_or(io::ErrorKind::NotFound)?;
        let (folder, file) = name.split_at(2);
        let file = File::open(self.objects.join(folder).join(file))?;
        let mut bytes = Vec::new();
        file.take(VERSION_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

fn read_rows(path: &Path) -> Result<Vec<Row>, HistoryError> {
    let failed = |source| GraphError::Read {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(failed)?;
    let lines = BufReader::new(file.take(MANIFEST_BYTES_MAX)).lines();
    let mut rows = Vec::new();
    let mut bad = Vec::new();
    let mut bad_count = 0;
    for (number, line) in (1..).zip(lines) {
        let line = line.map_err(failed)?;
        if line.is_empty() || (number == 1 && line.starts_with("ts\t")) {
            continue;
        }
        match parse(&line) {
            Ok(row) => rows.push(row),
            Err(reason) => {
                bad_count += 1;
                if bad.len() < BAD_LINES_LISTED_MAX {
                    bad.push(BadLine {
                        line: number,
                        reason,
                        text: line.chars().take(60).collect(),
                    });
                }
            }
        }
    }
    if bad_count != 0 {
        return Err(HistoryError::BadLines {
            path: path.to_owned(),
            count: bad_count,
            first: bad,
        });
    }
    Ok(rows)
}

fn parse(line: &str) -> Result<Row, &'static str> {
    let mut parts = line.split('\t');
    let mut part = || parts.next().ok_or("fewer than four parts");
    let (time, op, path, blob) = (part()?, part()?, part()?, part()?);
    let at = time.parse().ok().map(UnixSeconds);
    let at = at.filter(|&at| at <= UnixSeconds::MAX);
    let at = at.ok_or("no time in seconds")?;
    let kind = match op {
        "B" | "A" => EventKind::Added,
        "M" => EventKind::Modified,
        "D" => EventKind::Deleted,
        _ => return Err("neither B, A, M nor D"),
    };
    if path.is_empty() || path.contains(char::is_control) {
        return Err("no path");
    }
    let is_name = blob.len() == BLOB_DIGITS && blob.bytes().all(|byte| byte.is_ascii_hexdigit());
    let blob = match kind {
        EventKind::Deleted => None,
        EventKind::Added | EventKind::Modified if is_name => Some(Blob(blob.into())),
        EventKind::Added | EventKind::Modified => return Err("no name of a version's bytes"),
    };
    Ok(Row {
        path: path.trim_start_matches('/').to_owned(),
        event: Event { at, kind },
        is_before: op == "B",
        blob,
    })
}
