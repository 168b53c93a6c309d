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

/// Whether the set is missing in an archive that has been crawled. To be asked before anything is made below `state`.
pub(crate) fn is_wanted(folder: &Path) -> bool {
    let state = folder.join("state");
    !state.join("seen").exists() && state.join("backlog").exists()
}

/// Makes the set, and says so in a sentence.
pub(crate) fn make(
    folder: &Path,
    settings: &Settings,
    queue: &TimeQueue,
) -> Result<String, CrawlError> {
    let aside = folder.join("state/seen.new");
    if aside.exists() {
        fs::remove_dir_all(&aside).at(&aside)?;
    }
    let mut seen = Seen::open(&aside, &settings.seen)?;
    visited(folder, &mut seen)?;
    let canonical = Canonicalizer::new(&settings.canonical);
    for entry in Index::open(folder)?.iter()? {
        if let Some(page) = page_of(&entry?, &canonical) {
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
    let state = folder.join("state");
    fs::rename(&aside, state.join("seen")).at(&aside)?;
    let synced = File::open(&state).and_then(|folder| folder.sync_all());
    synced.at(&state)?;
    Ok(format!(
        "known URLs: state/seen was missing, and was made anew with the {known} URLs that were visited"
    ))
}

/// Takes in every page that a visit was made to, or given up.
fn visited(folder: &Path, seen: &mut Seen) -> Result<(), CrawlError> {
    let path = folder.join(EVENTS);
    for line in logs::read_log(folder, "events.jsonl").at(&path)?.lines() {
        let Ok(event) = serde_json::from_str::<Visited>(&line.at(&path)?) else {
            continue;
        };
        let is_robots_txt = event.hops.ends_with('P');
        if !is_robots_txt {
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
