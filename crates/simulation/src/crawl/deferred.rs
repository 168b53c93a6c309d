//! Visits that were deferred: on disk in the crawler, in queues here, by the same spans of time.
//!
//! As in `store::backlog`: a visit is read when the span in which it is due is over, at a resolution that is coarser with distance, and of one span first in, first out.

use std::collections::{BTreeMap, VecDeque};

use junkai_frontier::Time;
use junkai_store::backlog::BacklogConfig;

use super::discovery::HandedOut;

/// A visit's span is at most this part of the time until it is due.
const DISTANCE_PER_SPAN: u64 = 8;
/// Visits that one call moves to a finer span.
const MOVES_MAX: usize = 1024;

/// Visits that wait until the ring covers their turn.
#[derive(Debug)]
pub(super) struct Deferred {
    /// The shortest span, in microseconds.
    resolution: u64,
    /// By the moment when they are read, and the length of the span.
    closed: BTreeMap<(u64, u64), VecDeque<Waiting>>,
    /// The span that is being read.
    open: VecDeque<Waiting>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    due: Time,
    visit: HandedOut,
}

impl Deferred {
    pub(super) fn new() -> Deferred {
        let resolution = BacklogConfig::default().resolution.as_micros();
        Deferred {
            resolution: u64::try_from(resolution).unwrap_or(u64::MAX),
            closed: BTreeMap::new(),
            open: VecDeque::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.closed.is_empty()
    }

    pub(super) fn put(&mut self, visit: HandedOut, due: Time, now: Time) {
        let waiting = Waiting { due, visit };
        if due <= now {
            self.open.push_back(waiting);
            return;
        }
        let (due, now) = (due.as_micros(), now.as_micros());
        let spans = (due - now) / DISTANCE_PER_SPAN / self.resolution;
        let level = spans.max(1).ilog2();
        let span = self.resolution << level;
        let start = due - due % span;
        let opens = if level == 0 { start + span } else { start };
        self.closed
            .entry((opens, span))
            .or_default()
            .push_back(waiting);
    }

    /// The next visit that is due; none if none is, or if a long span has to be read further.
    pub(super) fn next(&mut self, now: Time) -> Option<HandedOut> {
        let mut moves = 0;
        while moves < MOVES_MAX {
            if let Some(waiting) = self.open.pop_front() {
                if waiting.due <= now {
                    return Some(waiting.visit);
                }
                self.put(waiting.visit, waiting.due, now);
                moves += 1;
                continue;
            }
            let first = self.closed.first_entry()?;
            if now.as_micros() < first.key().0 {
                return None;
            }
            self.open = first.remove();
        }
        None
    }
}
