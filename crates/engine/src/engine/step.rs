//! What a stage wants done next: the effects that [`Engine`](super::Engine) carries out.

use std::net::IpAddr;

use junkai_fetch::DnsFailure;
use junkai_frontier::{ServerKey, Time};
use junkai_revisit::Found;

use crate::CrawlError;
use crate::visit::{Outcome, Start, Visit};

/// One effect. A stage decides and returns it, and `Engine::carry_out` is the one place where it is carried out, at once: no step is kept, and so none is boxed.
#[derive(Debug)]
pub(super) enum Step {
    /// A visit may stand in the line of its server.
    Place { visit: Visit, key: ServerKey },
    /// A visit takes the next turn of its server, because its own went to robots.txt.
    Again { visit: Visit, key: ServerKey },
    /// A visit is to be made now.
    Visit(Box<Start>),
    /// An address is wanted for a host.
    Resolve(Box<str>),
    /// A visit is to be made later.
    Defer { visit: Visit, due: Time },
    /// The same for a visit that found no room in the ring.
    DeferForRoom { visit: Visit, due: Time },
    /// A visit found no room in the ring, where overflow is discarded: its page stays unknown.
    Discard(Visit),
    /// The host of a visit has no address.
    WithoutAddress { visit: Visit, failure: DnsFailure },
    /// A visit came to nothing, or will not be made. A known page is tried again at a later time: what keeps it out may pass.
    GiveUp { ending: Ending, found: Found },
    /// The scope no longer takes the page of a visit: it is not to be visited any more.
    Forget(Ending),
    /// A visit is over; the pace of known pages changes with it, if it was made to one at this server.
    Done {
        visit: Visit,
        server: Option<ServerKey>,
    },
    /// The distance of a server's known pages is to be fitted to what it can bear.
    KeepPace(ServerKey),
    /// The crawl cannot go on.
    Fail(CrawlError),
}

/// A visit that is over, and what it came to.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) visit: Visit,
    pub(super) outcome: Outcome,
    pub(super) made: Made,
}

/// When, where and by whom a visit was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub(super) started: Time,
    pub(super) ended: Time,
    pub(super) worker: usize,
    pub(super) address: Option<IpAddr>,
    /// Whether it led to pages that were not known.
    pub(super) leads_to_new: bool,
}

impl Made {
    /// A visit that was not made, as of `now`.
    pub(super) fn never(now: Time) -> Made {
        Made {
            started: now,
            ended: now,
            worker: 0,
            address: None,
            leads_to_new: false,
        }
    }
}

impl Step {
    /// A visit will not be made, and this is why.
    pub(super) fn dismiss(visit: Visit, outcome: Outcome, now: Time) -> Step {
        let made = Made::never(now);
        Step::GiveUp {
            ending: Ending {
                visit,
                outcome,
                made,
            },
            found: Found::Failed,
        }
    }
}
