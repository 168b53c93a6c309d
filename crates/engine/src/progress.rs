//! What a running crawl tells its watchers: counters that the stages raise and the screen reads.
//!
//! Any thread may raise a counter, and any may read it; a reader may see counters of slightly different moments, which is fine for a screen. The crawl itself
//! decides by three of them: `pages`, which the frontier's threads alone count (how many visits may start), whether the disk is full (no visit starts), and
//! `urls_refused` (workers report links again that they had reported). It also obeys `Progress::stop`, and writes down what was lost in its manifest.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use crate::partition::Partition;

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident),+ $(,)?) => {
        /// The live counters of a crawl.
        #[derive(Debug, Default)]
        pub struct Progress {
            $($(#[doc = $doc])+ pub $name: Counter,)+
            stop: AtomicU8,
            trouble: Mutex<Option<String>>,
            disk_low: AtomicBool,
            all_paused: AtomicBool,
            waiting_for_room: AtomicU64,
            next_dues: Mutex<BTreeMap<u16, u64>>,
        }

        /// The counters at one moment.
        #[derive(Clone, Debug, Default, Serialize, PartialEq, Eq)]
        pub struct Snapshot {
            $($(#[doc = $doc])+ pub $name: u64,)+
            /// The last visit that failed, and why.
            pub trouble: Option<String>,
            /// The crawl waits for room on the disk.
            pub disk_full: bool,
            /// The whole crawl is paused by command.
            pub all_paused: bool,
        }

        impl Progress {
            /// Reads all counters.
            #[must_use]
            pub fn snapshot(&self) -> Snapshot {
                Snapshot { $($name: self.$name.read(),)+ trouble: self.trouble(), disk_full: self.is_disk_full(), all_paused: self.is_all_paused() }
            }
        }
    };
}

counters! {
    /// Pages visited with an answer in this run.
    pages,
    /// Of these, visits to pages that were known.
    revisits,
    /// Of these, the ones that found a change that counts.
    changed,
    /// Known pages that are not visited any more, because they are gone for good.
    given_up,
    /// Pages that are known and will be visited again.
    pages_known,
    /// Servers whose pace does not allow visits as often as `revisit.at_least` says, at the last checkpoint.
    servers_behind,
    /// When the next of them is due, in microseconds since the Unix epoch; zero if there is none.
    next_due,
    /// What the crawl's clock shows, in microseconds since the Unix epoch.
    now,
    /// Bytes received in this run.
    bytes_received,
    /// Bytes added to WARC files in this run.
    bytes_stored,
    /// Visits that failed for good in this run.
    errors,
    /// Visits to be tried again after a failure that may pass.
    retried,
    /// Visits that were held, and not charged to their pages, because our own network was down or our machine short of something.
    held,
    /// URLs that robots.txt keeps out.
    robots_denied,
    /// robots.txt files fetched.
    robots_fetched,
    /// Answers 429 and 503: servers that asked for rest.
    overloaded,
    /// Captures that repeated a known payload and became revisit records.
    duplicates,
    /// Known URLs, over all runs.
    known,
    /// Visits waiting, in the ring and on disk.
    waiting,
    /// Visits in flight.
    in_flight,
    /// Hosts with a known address.
    hosts,
    /// Servers visited in this run.
    servers,
    /// New URLs for which the ring had no room, put where their time is.
    deferred,
    /// New URLs for which the ring had no room, forgotten.
    discarded,
    /// Answers that were not kept to their end, because they were too long, took too long or broke off.
    bodies_cut,
    /// Links that were left out because their page has too many, or they are too long, each or together.
    links_left_out,
    /// New URLs that were refused because those that wait, of their host or in all, take as many bytes as they may.
    urls_refused,
    /// Bytes of the visits that wait, before they are packed.
    waiting_bytes,
    /// Waiting visits that were lost because their files are damaged, or because their URL cannot be read.
    visits_lost,
    /// States of known pages that were lost because their files are damaged.
    states_lost,
    /// Starts that a lease refused and moved to a later slot.
    put_off,
    /// Servers that are waited for, because another crawl of this machine visits them.
    servers_waited_for,
    /// Visits of this run that waited for another crawl of this machine, which visited the same server.
    waited_for_others,
    /// How long these waited, all together, in milliseconds; visits to different servers may have waited at once.
    waited_for_others_ms,
    /// Links found that are out of scope.
    out_of_scope,
    /// Hosts and servers that are paused by command.
    paused,
    /// Pages that exploring has fetched, in all runs.
    focus_fetches,
    /// Sites that exploring knows.
    focus_sites,
    /// Data files of the wanted kind that collecting has found in this run.
    focus_files,
    /// Bytes free on the archive's disk.
    disk_free,
}

/// One number that goes up, or is set.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds.
    pub fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    /// Sets.
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Changes one engine's part of a sum, which was `shown`, to `value`.
    pub fn change(&self, shown: &mut u64, value: u64) {
        if *shown != value {
            self.0
                .fetch_add(value.wrapping_sub(*shown), Ordering::Relaxed);
            *shown = value;
        }
    }

    /// Reads.
    #[must_use]
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How urgently the user wants the crawl to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Not at all.
    Never,
    /// Once what is in flight has ended, within a few seconds.
    Gracefully,
    /// At once; what is in flight will be visited again.
    Now,
}

impl Progress {
    /// Tells of a visit that failed.
    pub fn tell_of(&self, url: &str, reason: &str) {
        let text = format!("{url}: {reason}").replace(char::is_control, "\u{fffd}");
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }

    fn trouble(&self) -> Option<String> {
        self.trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Asks the crawl to end; a second time, to end at once.
    pub fn ask_to_stop(&self) -> Stop {
        match self.stop.fetch_add(1, Ordering::Relaxed) {
            0 => Stop::Gracefully,
            _ => Stop::Now,
        }
    }

    /// What the user has asked for.
    #[must_use]
    pub fn stop(&self) -> Stop {
        match self.stop.load(Ordering::Relaxed) {
            0 => Stop::Never,
            1 => Stop::Gracefully,
            _ => Stop::Now,
        }
    }

    /// Says when the next known page of a partition is due, in microseconds since the Unix epoch; zero if there is none.
    pub fn set_next_due(&self, partition: Partition, due: u64) {
        if partition.is_whole() {
            return self.next_due.set(due);
        }
        let mut dues = self
            .next_dues
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        dues.insert(partition.number(), due);
        let next = dues.values().filter(|due| 0 < **due).min();
        self.next_due.set(next.copied().unwrap_or_default());
    }

    /// Says whether the disk has too little room to go on. Answers whether that is news.
    pub fn set_disk_low(&self, low: bool) -> bool {
        self.disk_low.swap(low, Ordering::Relaxed) != low
    }

    /// Says whether the whole crawl is paused.
    pub fn set_all_paused(&self, paused: bool) {
        self.all_paused.store(paused, Ordering::Relaxed);
    }

    /// Whether the whole crawl is paused.
    #[must_use]
    pub fn is_all_paused(&self) -> bool {
        self.all_paused.load(Ordering::Relaxed)
    }

    /// A thread begins to wait for room on the disk, or has found it.
    pub fn wait_for_room(&self, waits: bool) {
        if waits {
            self.waiting_for_room.fetch_add(1, Ordering::Relaxed);
        } else {
            self.waiting_for_room.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Whether the crawl waits for room on the disk.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        self.disk_low.load(Ordering::Relaxed) || self.waiting_for_room.load(Ordering::Relaxed) != 0
    }
}
