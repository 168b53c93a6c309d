//! Writing down: what a round learned goes to the operating system, checkpoints make it durable, and the counters show it.

use std::sync::Arc;

use junkai_frontier::Time;

use super::Engine;
use crate::CrawlError;
use crate::checkpoint::{Books, Checkpoints};
use crate::outcomes::Outcomes;

/// Log lines and acknowledgements that wait in memory, in bytes: with more of them a round writes down before its end. What one report adds to them comes on top.
const UNWRITTEN_BYTES_MAX: usize = 1 << 20;

/// What an engine last showed of itself in the counters, which sum up all partitions.
#[derive(Debug, Default)]
pub(super) struct Shown {
    known: u64,
    waiting: u64,
    waiting_bytes: u64,
    in_flight: u64,
    hosts: u64,
    pages_known: u64,
    deferred: u64,
    discarded: u64,
    put_off: u64,
}

impl Engine {
    /// Hands what the round learned to the operating system, in the order that loses nothing.
    pub fn write_down(&mut self) -> Result<(), CrawlError> {
        while let Err(error) = self.write_in_order() {
            self.shared.wait_for_room(error)?;
        }
        self.show_progress();
        Ok(())
    }

    fn write_in_order(&mut self) -> Result<(), CrawlError> {
        let (_, mut books) = self.books();
        books.backlog.flush(&mut books.outcomes)
    }

    /// Writes down in the middle of a round when much waits for that: a round may come to very many ends, as where robots.txt keeps a whole host out.
    pub(super) fn write_down_when_much(&mut self) -> Result<(), CrawlError> {
        let unwritten =
            self.settling.logs.unwritten_bytes() + self.room.backlog().unwritten_ack_bytes();
        if UNWRITTEN_BYTES_MAX <= unwritten || self.known.is_full() {
            self.write_down()?;
        }
        Ok(())
    }

    /// The checkpoints, and all that they make durable.
    pub(super) fn books(&mut self) -> (&mut Checkpoints, Books<'_>) {
        let books = Books {
            seen: &mut self.discovery.seen,
            backlog: self.room.backlog(),
            outcomes: Outcomes {
                outbox: self.other_partitions.outbox.as_mut(),
                servers: &mut self.servers,
                logs: &mut self.settling.logs,
                focus: self.focus_books.as_mut(),
                known: &mut self.known,
            },
        };
        (&mut self.checkpoints, books)
    }

    /// Makes durable what was written, when that is due.
    pub fn checkpoint(&mut self, now: Time) -> Result<(), CrawlError> {
        self.shared.now = now;
        self.dispatch.shorten_when_long(&mut self.servers)?;
        self.known.drop_old_notes(self.shared.now);
        let progress = Arc::clone(&self.shared.progress);
        loop {
            let (checkpoints, mut books) = self.books();
            match checkpoints.when_due(&mut books, &progress) {
                Ok(()) => return Ok(()),
                Err(error) => self.shared.wait_for_room(error)?,
            }
        }
    }

    /// Sees to it that this many keys fit into the table of the seen set; a flush needs a checkpoint first.
    pub(super) fn make_room_in_seen(&mut self, keys: usize) -> Result<(), CrawlError> {
        if self.discovery.is_full_for(keys) {
            self.checkpoint_at_once()?;
        }
        Ok(())
    }

    /// Writes everything down, and makes it durable before anything else happens.
    pub(super) fn checkpoint_at_once(&mut self) -> Result<(), CrawlError> {
        loop {
            let (checkpoints, mut books) = self.books();
            match checkpoints.at_once(&mut books) {
                Ok(()) => return Ok(()),
                Err(error) => self.shared.wait_for_room(error)?,
            }
        }
    }

    /// Where overflow is discarded: what still waits for a place is known to the next run, which cannot discard it.
    pub(super) fn know_what_waits(&mut self) -> Result<(), CrawlError> {
        for fingerprint in self.discovery.take_all_unplaced() {
            self.make_known(fingerprint)?;
        }
        Ok(())
    }

    /// Shows this engine's part of what all partitions come to.
    fn show_progress(&mut self) {
        let counters = self.dispatch.scheduler().counters();
        let progress = &self.shared.progress;
        let shown = &mut self.shown;
        let backlog = self.room.stats();
        for (counter, shown, value) in [
            (&progress.known, &mut shown.known, self.discovery.seen.len()),
            (
                &progress.waiting,
                &mut shown.waiting,
                backlog.waiting + backlog.in_hand,
            ),
            (
                &progress.waiting_bytes,
                &mut shown.waiting_bytes,
                backlog.waiting_bytes,
            ),
            (
                &progress.in_flight,
                &mut shown.in_flight,
                self.dispatch.scheduler().in_flight() as u64,
            ),
            (
                &progress.hosts,
                &mut shown.hosts,
                self.dispatch.hosts().len() as u64,
            ),
            (
                &progress.pages_known,
                &mut shown.pages_known,
                self.known.len(),
            ),
            (&progress.deferred, &mut shown.deferred, counters.deferred),
            (
                &progress.discarded,
                &mut shown.discarded,
                counters.discarded + self.discovery.without_room(),
            ),
            (&progress.put_off, &mut shown.put_off, counters.put_off),
        ] {
            counter.change(shown, value);
        }
        progress.now.set(self.shared.now.as_micros());
        let next_due = self.known.next_due().map_or(0, Time::as_micros);
        progress.set_next_due(self.other_partitions.partition, next_due);
    }
}
