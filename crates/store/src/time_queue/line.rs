//! What is being read of open buckets, in the line of their next records.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::cursor::Cursor;
use super::sealed::MemoryCursor;
use super::ticket::Place;
use junkai_frontier::Time;

/// A part of an open bucket that is handed out front to back.
#[derive(Debug)]
pub(super) enum Open {
    /// A run of its file, or all of it.
    OnDisk(Box<Cursor>),
    /// What it had in memory.
    InMemory(MemoryCursor),
}

impl Open {
    /// When its next record may be handed out, at the earliest.
    pub(super) fn key(&self) -> Time {
        match self {
            Open::OnDisk(cursor) => cursor.key,
            Open::InMemory(cursor) => cursor.key,
        }
    }

    /// Memory for what was read of a bucket as a whole.
    pub(super) fn loaded_bytes(&self) -> u64 {
        match self {
            Open::OnDisk(_) => 0,
            Open::InMemory(cursor) => cursor.loaded_bytes() as u64,
        }
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Open::OnDisk(cursor) => cursor.memory_bytes(),
            Open::InMemory(cursor) => cursor.loaded_bytes(),
        }
    }
}

/// What came of looking at a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It is due, and handed out; where it is.
    Due(Place),
    /// It is due at another time than the one before.
    Later,
    /// It was not due, and waits in a finer bucket now.
    Moved,
    /// There was none.
    End,
}

/// All that is being read: the one whose record is due first comes first, of several the one that has waited longest.
#[derive(Debug, Default)]
pub(super) struct Line {
    waiting: BinaryHeap<Waiting>,
    joined: u64,
}

#[derive(Debug)]
struct Waiting {
    key: Time,
    joined: u64,
    open: Open,
}

impl Line {
    pub(super) fn join(&mut self, open: Open) {
        self.waiting.push(Waiting {
            key: open.key(),
            joined: self.joined,
            open,
        });
        self.joined += 1;
    }

    /// When the first one's turn comes.
    #[inline]
    pub(super) fn first_key(&self) -> Option<Time> {
        self.waiting.peek().map(|first| first.key)
    }

    /// Takes the first one out if its turn has come.
    #[inline]
    pub(super) fn take(&mut self, now: Time) -> Option<Open> {
        let is_due = self.first_key().is_some_and(|key| key <= now);
        let first = if is_due { self.waiting.pop() } else { None };
        first.map(|first| first.open)
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Open> {
        self.waiting.iter().map(|waiting| &waiting.open)
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        // A heap has its greatest first.
        (other.key, other.joined).cmp(&(self.key, self.joined))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}
