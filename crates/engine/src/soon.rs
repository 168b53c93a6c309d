//! Known pages that found no room in the ring, and whose turn is too near for the time queue to tell apart.
//!
//! The queue hands pages out to the minute (`time_queue.resolution`); the scheduler promises turns to the microsecond. A page whose turn comes within
//! `SOON` waits here, in memory; its state stays out of the queue as if it were in the ring, so a kill costs nothing.
//! [`KnownPages`](crate::known::KnownPages) fills and empties it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use junkai_frontier::Time;

use crate::visit::Visit;

/// How near a turn is that is not left to the time queue: its usual resolution.
const SOON: Duration = Duration::from_mins(1);
/// Pages that wait here, at most; each takes what a visit in the ring takes.
const WAITING_MAX: usize = 4096;

/// Visits that wait for a moment.
#[derive(Default)]
pub struct SoonDue {
    visits: BinaryHeap<Reverse<Waiting>>,
    /// Visits that came in so far.
    count: u64,
}

struct Waiting {
    due: Time,
    /// Ties are broken by who came first.
    number: u64,
    visit: Visit,
}

impl SoonDue {
    /// Takes a visit in; it comes back if its turn is not soon, or there is no room.
    pub fn put(&mut self, visit: Visit, due: Time, now: Time) -> Option<Visit> {
        let is_soon = now < due && due < now + SOON;
        if !is_soon || WAITING_MAX <= self.visits.len() {
            return Some(visit);
        }
        self.count += 1;
        self.visits.push(Reverse(Waiting {
            due,
            number: self.count,
            visit,
        }));
        None
    }

    /// The next visit whose turn has come.
    pub fn next(&mut self, now: Time) -> Option<Visit> {
        if now < self.next_due()? {
            return None;
        }
        self.visits.pop().map(|Reverse(waiting)| waiting.visit)
    }

    /// When the next turn comes.
    #[must_use]
    pub fn next_due(&self) -> Option<Time> {
        self.visits.peek().map(|Reverse(waiting)| waiting.due)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        (self.due, self.number) == (other.due, other.number)
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> std::cmp::Ordering {
        (self.due, self.number).cmp(&(other.due, other.number))
    }
}
