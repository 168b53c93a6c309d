//! What the frontier's thread does with a URL: is it known, where does it wait, when is its turn.

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use junkai_frontier::{
    Command, EndReport, Event, Overflow, PolitenessConfig, Ring, RingConfig, Scheduler, ServerKey,
    Time, VisitKind, server_key,
};
use junkai_store::backlog::{Backlog, BacklogConfig, Entry, Lengths, Tails};
use junkai_store::seen::{Mark, Seen, SeenConfig};
use tempfile::TempDir;

use crate::count::counted;

/// Visits that go through ring and scheduler; a server has one in sixteen of them.
const VISITS: u32 = 4000;
const SERVERS: u32 = 1000;
const STEP: Duration = Duration::from_millis(100);

/// Fingerprints that are known, most of them on disk.
const KNOWN: u64 = 60_000;
/// As many questions are asked at a time: the links of some tens of pages.
const BATCH: usize = 1000;
const BATCHES: usize = 20;
/// Of this many questions one is for a URL that is new.
const NEW_ONE_IN: u64 = 10;

/// Visits that wait in the backlog.
const WAITING: u32 = 4000;

pub(super) fn ring() -> Result<()> {
    let config = RingConfig::default();
    let mut ring = Ring::new(&config, STEP, Time::EPOCH);
    let mut now = Time::EPOCH;
    let mut taken = 0;
    let mut pass = || {
        for visit in 0..VISITS {
            black_box(ring.place(key_of(visit, config.keys), visit).is_ok());
        }
        while let Some(due) = ring.next_due() {
            now = now.max(due);
            while black_box(ring.take_due(now)).is_some() {
                taken += 1;
            }
        }
    };
    pass();
    counted(VISITS as usize, pass);
    ensure!(taken == 2 * VISITS, "{taken} visits came out of the ring");
    Ok(())
}

pub(super) fn scheduler() -> Result<()> {
    let politeness = PolitenessConfig {
        interval: STEP,
        ..PolitenessConfig::default()
    };
    let config = RingConfig {
        step: Some(STEP),
        ..RingConfig::default()
    };
    let mut scheduler = Scheduler::new(
        &config,
        politeness,
        Overflow::Defer,
        usize::MAX,
        Time::EPOCH,
    );
    let mut now = Time::EPOCH;
    let (mut commands, mut due) = (Vec::new(), Vec::new());
    let mut started = 0;
    let mut pass = || {
        for visit in 0..VISITS {
            let offer = Event::Offer {
                visit,
                key: key_of(visit, config.keys),
                kind: VisitKind::First,
            };
            scheduler.step(now, offer, &mut commands);
        }
        while let Some(wake) = scheduler.next_wake() {
            now = now.max(wake);
            scheduler.step(now, Event::Tick, &mut commands);
            while !commands.is_empty() {
                std::mem::swap(&mut commands, &mut due);
                for command in due.drain(..) {
                    if let Command::Start { key, at, .. } = command {
                        started += 1;
                        let duration = Duration::from_micros(1);
                        let report = EndReport::Answered { duration };
                        now = now.max(at);
                        scheduler.step(now, Event::Ended { key, at, report }, &mut commands);
                    }
                }
            }
        }
    };
    pass();
    counted(VISITS as usize, pass);
    ensure!(started == 2 * VISITS, "{started} visits were started");
    Ok(())
}

/// As the crawler does it: the address, hashed.
fn key_of(visit: u32, keys: u32) -> ServerKey {
    server_key(IpAddr::V4(Ipv4Addr::from(visit % SERVERS)), keys)
}

pub(super) fn seen() -> Result<()> {
    let folder = TempDir::with_prefix("junkai-budgets-")?;
    let config = SeenConfig {
        memory_bytes: 1 << 20,
        ..SeenConfig::default()
    };
    let mut seen = Seen::open(folder.path(), &config)?;
    let mut new = Vec::new();
    let known: Vec<u64> = (0..KNOWN).map(mixed).collect();
    for batch in known.chunks(BATCH) {
        make_room(&mut seen, batch.len())?;
        seen.insert_batch(batch, &mut new)?;
    }
    make_room(&mut seen, usize::MAX)?;
    let questions: Vec<u64> = (0..(BATCH * BATCHES) as u64).map(question).collect();
    let (warm, asked) = questions.split_at(BATCH);
    seen.insert_batch(warm, &mut new)?;
    let mut answered = Ok(());
    let mut found = 0;
    counted(asked.len(), || {
        answered = asked.chunks(BATCH).try_for_each(|batch| {
            seen.insert_batch(batch, &mut new)?;
            found += new.iter().filter(|&&is_new| is_new).count() as u64;
            Ok(())
        });
    });
    let expected = asked.len() as u64 / NEW_ONE_IN;
    ensure!(found == expected, "{found} were new instead of {expected}");
    answered
}

/// Writes what is in memory to disk if there is no room for more.
fn make_room(seen: &mut Seen, wanted: usize) -> Result<()> {
    if seen.room() < wanted {
        seen.flush(Mark(0))?;
        while let Some(job) = seen.next_merge() {
            seen.install(job.run()?)?;
        }
    }
    Ok(())
}

/// The fingerprint that is asked for; one of ten is new.
fn question(number: u64) -> u64 {
    if number.is_multiple_of(NEW_ONE_IN) {
        return mixed(KNOWN + number);
    }
    mixed(mixed(!number) % KNOWN)
}

/// A number that looks drawn by lot (the output function of `SplitMix64`).
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

pub(super) fn backlog() -> Result<()> {
    let folder = TempDir::with_prefix("junkai-budgets-")?;
    let lengths = Lengths::default();
    let (mut backlog, _) = Backlog::open(
        folder.path(),
        &BacklogConfig::default(),
        Tails::Keep(&lengths),
    )?;
    let entries: Vec<Entry> = (0..WAITING).map(entry_number).collect();
    let mut passed = pass(&mut backlog, &entries);
    passed.context("the first pass through the backlog failed")?;
    passed = Ok(());
    counted(entries.len(), || passed = pass(&mut backlog, &entries));
    passed
}

/// Everything is appended, then handed out and acknowledged.
fn pass(backlog: &mut Backlog, entries: &[Entry]) -> Result<()> {
    for entry in entries {
        backlog.append(entry, Time::EPOCH)?;
    }
    let mut handed_out = 0;
    while let Some((ticket, entry)) = backlog.next(Time::EPOCH)? {
        black_box(entry);
        backlog.ack(ticket);
        handed_out += 1;
    }
    ensure!(
        handed_out == entries.len(),
        "{handed_out} visits were handed out"
    );
    Ok(())
}

fn entry_number(number: u32) -> Entry {
    let host = number % 50;
    Entry {
        url: format!(
            "https://www.site{host}.example/articles/2026/{number}/some-title.html?page=2"
        ),
        via: format!("https://www.site{host}.example/articles/2026/"),
        hops: "LLL".to_owned(),
        depth: 3,
        ..Entry::default()
    }
}
