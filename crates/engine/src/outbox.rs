//! The outbox: links that lead to other partitions, on disk until those have them.
//!
//! It is a backlog of its own. A link is written before the log line and the state of the page that it was found on (`outcomes`), goes to its partition in a
//! batch, and is acknowledged when a checkpoint of the receiver holds it ([`Outbox::confirmed`]). Whatever ends before that, the batch is sent again by the next run; the receiver
//! knows its URLs by then, and nothing happens twice.
//!
//! Invariants: a link that was [posted](Outbox::post) is on disk here, or in a checkpoint of its partition; no more than `IN_HAND_MAX` of them, and a batch beyond `IN_HAND_BYTES_MAX`, are in memory.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use junkai_files::Disk;
use junkai_frontier::Time;
use junkai_store::backlog::{
    Backlog, BacklogConfig, BacklogError, Bound, EntriesWritten, Entry, Lengths, Outcomes,
    Recovery, Tails, Ticket,
};
use junkai_weburl::{Canonicalizer, Fingerprint};

use crate::CrawlError;
use crate::partition::Partition;

/// Links that are sent and not confirmed yet, at most. What comes on top waits on disk.
const IN_HAND_MAX: usize = 1 << 16;
/// And their bytes, for all partitions of a crawl together.
const IN_HAND_BYTES_MAX: usize = 64 << 20;
/// Links of a batch at most.
const BATCH_MAX: usize = 512;
/// Links that are remembered as posted, so that a link which stands on every page of a site goes out once.
const RECENT: usize = 1 << 14;

/// Links on their way to one partition.
#[derive(Clone, Debug)]
pub struct Links {
    /// The partition that sends them.
    pub from: u16,
    /// The partition that they belong to.
    pub to: u16,
    /// What the sender knows the batch by.
    pub batch: u64,
    /// The links.
    pub entries: Vec<Entry>,
}

/// A batch that was sent.
#[derive(Debug)]
struct Sent {
    tickets: Vec<Ticket>,
    bytes: usize,
}

/// Links to other partitions.
#[derive(Debug)]
pub struct Outbox {
    partition: Partition,
    backlog: Backlog,
    canonical: Canonicalizer,
    /// Fingerprints of links that were posted lately.
    recent: Box<[u64]>,
    /// Batches that were sent and not confirmed.
    sent: BTreeMap<u64, Sent>,
    in_hand: usize,
    /// Bytes of the URLs that are in hand.
    in_hand_bytes: usize,
    /// How many URLs had been refused anywhere when this was last looked at.
    refused: u64,
    next_batch: u64,
    /// Batches that are ready to be sent.
    ready: VecDeque<Links>,
    lost: u64,
}

impl Outbox {
    /// Opens the outbox in a folder, or makes an empty one.
    ///
    /// # Errors
    /// If a file cannot be read or mended.
    pub fn open_on(
        disk: Disk,
        folder: &Path,
        config: &BacklogConfig,
        tails: Tails<'_>,
        partition: Partition,
        canonical: Canonicalizer,
    ) -> Result<(Outbox, Recovery), CrawlError> {
        let (backlog, recovery) = Backlog::open_on(disk, folder, config, tails)?;
        let outbox = Outbox {
            partition,
            backlog,
            canonical,
            recent: vec![0; RECENT].into(),
            sent: BTreeMap::new(),
            in_hand: 0,
            in_hand_bytes: 0,
            refused: 0,
            next_batch: 0,
            ready: VecDeque::new(),
            lost: 0,
        };
        Ok((outbox, recovery))
    }

    /// Whether a link was posted a moment ago.
    #[must_use]
    pub fn was_posted(&self, fingerprint: Fingerprint) -> bool {
        self.recent[place_of(fingerprint)] == fingerprint.0
    }

    /// Forgets which links were posted, if URLs were refused somewhere since: those are welcome again.
    pub fn forget_posted_after(&mut self, refused: u64) {
        if self.refused != refused {
            self.refused = refused;
            self.recent.fill(0);
        }
    }

    /// Why one more link cannot be taken in, if too many wait.
    #[must_use]
    pub fn refuses<T: AsRef<str>>(&self, entry: &Entry<T>) -> Option<Bound> {
        self.backlog.refuses(entry)
    }

    /// Takes in a link to another partition.
    ///
    /// # Errors
    /// It was not taken in; the call may be repeated.
    pub fn post<T: AsRef<str>>(&mut self, entry: &Entry<T>, now: Time) -> Result<(), BacklogError> {
        self.backlog.append(entry, now)
    }

    /// Remembers that a link to a page was posted.
    pub fn note_posted(&mut self, fingerprint: Fingerprint) {
        self.recent[place_of(fingerprint)] = fingerprint.0;
    }

    /// The next batch to be sent, if there is one, and not too much is on its way already. What cannot be read any more is counted.
    ///
    /// # Errors
    /// If the disk cannot be read.
    pub fn next(&mut self, now: Time) -> Result<Option<Links>, CrawlError> {
        if self.ready.is_empty() {
            self.gather(now)?;
        }
        Ok(self.ready.pop_front())
    }

    /// Makes batches of the links that come next.
    fn gather(&mut self, now: Time) -> Result<(), CrawlError> {
        let bytes_max = IN_HAND_BYTES_MAX / usize::from(self.partition.count().get());
        if bytes_max <= self.in_hand_bytes {
            return Ok(());
        }
        let room = IN_HAND_MAX.saturating_sub(self.in_hand).min(BATCH_MAX);
        let mut gathered: BTreeMap<u16, (Vec<Ticket>, Vec<Entry>)> = BTreeMap::new();
        let mut failure = None;
        for _ in 0..room {
            let (ticket, entry) = match self.backlog.next(now) {
                Ok(Some(next)) => next,
                Ok(None) => break,
                Err(BacklogError::Damaged { entries, .. }) => {
                    self.lost += u64::from(entries);
                    continue;
                }
                Err(error) => {
                    // What was taken out before it is sent all the same.
                    failure = Some(error);
                    break;
                }
            };
            let Ok(url) = self.canonical.parse(&entry.url) else {
                self.lost += 1;
                self.backlog.ack(ticket);
                continue;
            };
            let to = Partition::owner(self.partition.count(), &url);
            let (tickets, entries) = gathered.entry(to).or_default();
            tickets.push(ticket);
            entries.push(entry);
        }
        for (to, (tickets, entries)) in gathered {
            self.in_hand += tickets.len();
            let bytes = entries.iter().map(Entry::bytes).sum();
            self.in_hand_bytes += bytes;
            self.sent.insert(self.next_batch, Sent { tickets, bytes });
            self.ready.push_back(Links {
                from: self.partition.number(),
                to,
                batch: self.next_batch,
                entries,
            });
            self.next_batch += 1;
        }
        match failure {
            Some(error) if self.ready.is_empty() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// A checkpoint of the receiver holds this batch.
    pub fn confirmed(&mut self, batch: u64) {
        let Some(Sent { tickets, bytes }) = self.sent.remove(&batch) else {
            return;
        };
        self.in_hand -= tickets.len();
        self.in_hand_bytes -= bytes;
        for ticket in tickets {
            self.backlog.ack(ticket);
        }
    }

    /// Whether every link has been sent.
    #[must_use]
    pub fn is_sent(&self) -> bool {
        self.backlog.waiting() == 0 && self.ready.is_empty()
    }

    /// Links that could not be read since the last call.
    pub fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    /// Gives everything to the system.
    ///
    /// # Errors
    /// What was not written stays in memory; the call may be repeated.
    pub fn flush(&mut self) -> Result<(), CrawlError> {
        Ok(self.backlog.flush(&mut NothingElse)?)
    }

    /// Gives everything to the system, and says what a manifest must name.
    ///
    /// # Errors
    /// What was not written stays in memory; the call may be repeated.
    pub fn written(&mut self) -> Result<Lengths, CrawlError> {
        Ok(self.backlog.written(&mut NothingElse)?)
    }

    /// A manifest with what was last [written](Outbox::written) is durable.
    ///
    /// # Errors
    /// If files that nobody needs any more cannot be removed.
    pub fn checkpointed(&mut self) -> Result<(), CrawlError> {
        // No set of known URLs is made from it.
        let position = self.backlog.position();
        Ok(self.backlog.checkpointed(position)?)
    }

    /// Shows all links that wait here.
    ///
    /// # Errors
    /// If the files cannot be read.
    pub fn scan(&self, show: impl FnMut(&Entry)) -> Result<(), CrawlError> {
        Ok(self.backlog.scan(show)?)
    }
}

fn place_of(fingerprint: Fingerprint) -> usize {
    usize::try_from(fingerprint.0 % RECENT as u64).unwrap_or_default()
}

/// What a confirmed link stands for is on the receiver's disk already.
struct NothingElse;

impl Outcomes for NothingElse {
    type Error = BacklogError;

    fn write(&mut self, _entries: EntriesWritten) -> Result<(), BacklogError> {
        Ok(())
    }
}
