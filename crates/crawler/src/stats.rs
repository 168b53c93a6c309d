//! What an archive holds, counted from its index and its last checkpoint. Reads only: a crawl may be running.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hashbrown::HashSet;
use junkai_archive::Index;
use junkai_files::Folder;
use junkai_frontier::admission::Order;
use serde::Serialize;

use crate::ArchiveFolder;
use crate::error::AtPath as _;
use crate::hook::HookReport;
use crate::losses::Losses;
use crate::manifest::Manifest;
use crate::opening::last_settings;
use crate::paused::Paused;
use crate::{CrawlError, command_box, hook};

/// What an archive holds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    /// Captures in the index; the answers of name servers do not count.
    pub captures: u64,
    /// Of these, revisit records: the payload was known.
    pub revisits: u64,
    /// Hosts with a capture.
    pub hosts: u64,
    /// Captures by HTTP status.
    pub by_status: BTreeMap<String, u64>,
    /// Captures by media type.
    pub by_mime: BTreeMap<String, u64>,
    /// Time of the first capture, `YYYYMMDDhhmmss`.
    pub first: Option<String>,
    /// Time of the last capture.
    pub last: Option<String>,
    /// WARC files, open ones included.
    pub warc_files: u64,
    /// Their bytes.
    pub warc_bytes: u64,
    /// Bytes of the index.
    pub index_bytes: u64,
    /// Bytes of the crawl's state.
    pub state_bytes: u64,
    /// URLs known at the last checkpoint.
    pub known: u64,
    /// Visits waiting at the last checkpoint.
    pub waiting: u64,
    /// What was left out and lost until then.
    pub losses: Losses,
    /// What is paused by command.
    pub paused: Paused,
    /// Commands that wait for the next start.
    #[serde(rename = "wishes")]
    pub commands: u64,
    /// What was told to hooks, and what waits for them.
    pub hooks: Vec<HookReport>,
    /// The order of the last run; none if its settings cannot be read.
    pub order: Option<Order>,
}

/// Counts what the archive in `folder` holds.
///
/// # Errors
/// If it is no archive, or cannot be read.
pub fn stats(folder: &Path) -> Result<Stats, CrawlError> {
    let archive = ArchiveFolder::existing(folder)?;
    let state = archive.state();
    let mut counts = Stats::default();
    (counts.warc_files, counts.warc_bytes) = size_of_files(archive.warcs().path())?;
    (_, counts.index_bytes) = size_of_files(archive.indexes().path())?;
    (_, counts.state_bytes) = size_of_files(state.path())?;
    for (number, partition) in archive.states()?.iter().enumerate() {
        if let Some(manifest) = Manifest::load(partition)? {
            counts.known += manifest.known;
            counts.waiting += manifest.waiting;
            if number == 0 {
                counts.losses = manifest.losses;
            }
        }
    }
    counts.paused = Paused::load(&state)?;
    counts.commands = command_box::look(&state)?.len() as u64;
    counts.hooks = hook::reports(folder)?;
    counts.order = last_order(&state);
    count_captures(&Index::open(folder)?, &mut counts)?;
    Ok(counts)
}

fn last_order(state: &Folder) -> Option<Order> {
    last_settings(state).map(|settings| settings.crawl.order)
}

fn count_captures(index: &Index, stats: &mut Stats) -> Result<(), CrawlError> {
    let mut hosts = HashSet::new();
    for entry in index.iter()? {
        let entry = entry?;
        // A name server's answer is kept beside the captures, and is none.
        if entry.mime.as_deref() == Some("text/dns") {
            continue;
        }
        stats.captures += 1;
        stats.revisits += u64::from(entry.mime.as_deref() == Some("warc/revisit"));
        *stats
            .by_status
            .entry(entry.status.unwrap_or_default())
            .or_default() += 1;
        *stats
            .by_mime
            .entry(entry.mime.unwrap_or_default())
            .or_default() += 1;
        let host = entry.surt.split(')').next().unwrap_or_default();
        if !hosts.contains(host) {
            hosts.insert(host.to_owned());
        }
        let time = Some(entry.timestamp);
        if stats.first.is_none() || time < stats.first {
            stats.first.clone_from(&time);
        }
        stats.last = time.max(stats.last.take());
    }
    stats.hosts = hosts.len() as u64;
    Ok(())
}

/// Number and bytes of the files below a folder.
pub(crate) fn size_of_files(folder: &Path) -> Result<(u64, u64), CrawlError> {
    let (mut files, mut bytes) = (0, 0);
    for entry in fs::read_dir(folder).at(folder)? {
        let entry = entry.at(folder)?;
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => {
                let (more, bytes_more) = size_of_files(&entry.path())?;
                files += more;
                bytes += bytes_more;
            }
            Ok(metadata) => {
                files += 1;
                bytes += metadata.len();
            }
            // A running crawl renames and removes files.
            Err(_) => {}
        }
    }
    Ok((files, bytes))
}
