//! All that can happen to the scheduler, and all that it can ask for.
//!
//! The driver tells [`Event`]s to `Scheduler::step` and carries out the [`Command`]s that come back.

use std::time::Duration;

use crate::server::ServerKey;
use crate::time::Time;

/// Something that the driver tells the scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<V> {
    /// A visit asks for a turn for the first time. If the ring has none, the [`Overflow`] setting decides.
    Offer {
        /// What to visit; the scheduler never looks inside.
        visit: V,
        /// The server that it would visit.
        key: ServerKey,
        /// Whether its page was visited before.
        kind: VisitKind,
    },
    /// A visit comes back at the time that [`Command::Defer`] named, or is to be tried again: it already has a turn to
    /// come, so it goes ahead of new visits and is never discarded.
    ///
    /// Give visits back only while there is [`room`](super::Scheduler::room); without room they are deferred once more.
    /// A deferred visit that comes back as an `Offer` would go to the end of the line again, and again.
    Return {
        /// What to visit.
        visit: V,
        /// The server that it would visit.
        key: ServerKey,
        /// Whether its page was visited before.
        kind: VisitKind,
    },
    /// A visit that was started gives its turn to another fetch from the same server (its robots.txt, say) and is now the
    /// first in line for that server.
    Again {
        /// What to visit.
        visit: V,
        /// The server that it would visit.
        key: ServerKey,
        /// Whether its page was visited before.
        kind: VisitKind,
    },
    /// A visit whose turn came at another server is for this one: its host has moved here, and its lease there went back as
    /// [unvisited](EndReport::Unvisited). It stands in line behind the visits whose turn has come, and ahead of those whose turn is to come.
    ///
    /// As a `Return` it would wait for as long again; a host that moves more often than that would never be visited.
    Moved {
        /// What to visit.
        visit: V,
        /// The server that it would visit.
        key: ServerKey,
        /// Whether its page was visited before.
        kind: VisitKind,
    },
    /// The visit in flight to this server has ended.
    ///
    /// An end that was never started still counts: somebody visited the server, so the interval begins anew.
    Ended {
        /// The server that was visited.
        key: ServerKey,
        /// When the last byte was read or the connection was closed, whichever is later.
        at: Time,
        /// How it went.
        report: EndReport,
    },
    /// Known pages of this server are visited no closer to each other than this, however fast it may be visited (Tamura and Kitsuregawa, 2007, section 4).
    SetRevisitInterval {
        /// The server.
        key: ServerKey,
        /// The least time from the turn of one known page to that of the next.
        interval: Duration,
    },
    /// The server must not be visited before this moment. Holds never shorten each other.
    Hold {
        /// The server.
        key: ServerKey,
        /// The first moment when it may be visited.
        until: Time,
    },
    /// Time has passed. Due at [`next_wake`](super::Scheduler::next_wake); late is safe, and costs no more.
    Tick,
}

/// Which half of a server's turns a visit takes.
///
/// When both wait, each has every other turn; turns that one leaves unused are lent to the other (Tamura and Kitsuregawa, 2007, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitKind {
    /// The page is new.
    First,
    /// The page is known.
    Revisit,
}

/// How a visit ended, as far as the server's pace is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReport {
    /// The server answered, whatever it said.
    Answered {
        /// From the request to the last byte of the answer.
        duration: Duration,
    },
    /// Nothing was sent to the server, not even a connection attempt: its lease goes back untouched.
    Unvisited,
    /// We cut the exchange short. The server may notice later than we do, so the pause begins `abort_slack` later.
    Aborted,
    /// The server asked for relief (429 or 503).
    Overloaded {
        /// How long it asked us to stay away, if it said so.
        retry_after: Option<Duration>,
    },
    /// No answer: connection refused, reset or timed out.
    Failed,
}

/// Something that the driver must do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command<V> {
    /// Make this visit, not before `at`, and report its end by [`Event::Ended`], exactly once.
    Start {
        /// What to visit.
        visit: V,
        /// The server to visit.
        key: ServerKey,
        /// The first moment when the server may see it; less than one step ahead of now.
        at: Time,
    },
    /// Keep this visit, and give it back by [`Event::Return`] at `due`.
    Defer {
        /// What to visit later.
        visit: V,
        /// The server that it was for.
        key: ServerKey,
        /// When the ring will have a turn for it.
        due: Time,
    },
    /// Forget this visit; its page is not known, so that it may be found again.
    Discard {
        /// What will not be visited.
        visit: V,
    },
}

/// What happens to a new visit that the ring has no turn for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overflow {
    /// It is given back with the time when there will be a turn: nothing is lost, and the driver needs room on disk.
    #[default]
    Defer,
    /// It is dropped, as in Morimoto et al. (2011): an important page will be found again. A visit that once had a turn is still deferred.
    Discard,
}
