//! Makes the set of known URLs anew when it is not there: from what was visited, captured and put down to be visited again.
//!
//! For an operator whose `state/seen` was damaged and moved aside. What waits is not asked: opening takes that in anyway. A waiting visit that was lost is then
//! not known any more, and is found again with the next link to it.
//!
//! It is made beside its place and moved there when it is whole, so that a kill leaves all of it or nothing.

use std::fs::{self, File};
use std::io::BufRead as _;
use std::path::Path;

use junkai_archive::{Index, logs};
use junkai_engine::partition::Partition;
use junkai_store::seen::{Mark, Seen};
use junkai_store::time_queue::TimeQueue;
use junkai_weburl::{Canonicalizer, Fingerprint};
use serde::Deserialize;

use crate::CrawlError;
use crate::captured::page_of;
use crate::error::AtPath as _;
use crate::log::EVENTS;
use crate::settings::Settings;

/// As much of an event as is needed.
#[derive(Deserialize)]
struct Visited {
    url: String,
    hops: String,
}

/// Makes the set of a partition, whose state is in `state`, and says so in a sentence.
pub(crate) fn make(
    folder: &Path,
    state: &Path,
    partition: Partition,
    settings: &Settings,
    queue: &TimeQueue,
) -> Result<String, CrawlError> {
    let aside = state.join("seen.new");
    if aside.exists() {
        fs::remove_dir_all(&aside).at(&aside)?;
    }
    let mut seen = Seen::open(&aside, &settings.seen)?;
    let canonical = Canonicalizer::new(&settings.canonical);
    let is_ours = |url: &str| {
        let page = canonical.parse(url);
        partition.is_whole() || page.is_ok_and(|page| partition.has(&page))
    };
    visited(folder, is_ours, &mut seen)?;
    for entry in Index::open(folder)?.iter()? {
        if let Some(page) = page_of(&entry?, &canonical)
            && partition.has(&page)
        {
            insert(page.fingerprint(), &mut seen)?;
        }
    }
    let mut inserted = Ok(());
    queue.scan(|record| {
        if inserted.is_ok() {
            inserted = insert(Fingerprint::of(record.url), &mut seen);
        }
    })?;
    inserted?;
    seen.flush(Mark::default())?;
    let known = seen.len();
    drop(seen);
    fs::rename(&aside, state.join("seen")).at(&aside)?;
    let synced = File::open(state).and_then(|folder| folder.sync_all());
    synced.at(state)?;
    Ok(format!(
        "known URLs: state/seen was missing, and was made anew with the {known} URLs that were visited"
    ))
}

/// Takes in every page that a visit was made to, or given up.
fn visited(
    folder: &Path,
    is_ours: impl Fn(&str) -> bool,
    seen: &mut Seen,
) -> Result<(), CrawlError> {
    let path = folder.join(EVENTS);
    for line in logs::read_log(folder, "events.jsonl").at(&path)?.lines() {
        let Ok(event) = serde_json::from_str::<Visited>(&line.at(&path)?) else {
            continue;
        };
        let is_robots_txt = event.hops.ends_with('P');
        if !is_robots_txt && is_ours(&event.url) {
            insert(Fingerprint::of(&event.url), seen)?;
        }
    }
    Ok(())
}

fn insert(fingerprint: Fingerprint, seen: &mut Seen) -> Result<(), CrawlError> {
    if seen.room() == 0 {
        seen.flush(Mark::default())?;
    }
    seen.insert(fingerprint.0)?;
    Ok(())
}
