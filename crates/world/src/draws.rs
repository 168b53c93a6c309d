//! What a run draws its chances from: a stream for each matter, so that what is switched off leaves the draws of all else as they are.
//!
//! A plan that is simpler by one fault ([`Plan::simpler`](crate::Plan::simpler)) has the others at the same times: so a run that fails can be made shorter step by step.

use junkai_chance::Chance;

/// What is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matter {
    /// Settings, at the start and from process to process.
    Settings,
    /// When and how processes end, and how long nothing runs.
    Ends,
    /// What a power failure leaves of a disk.
    PowerFailures,
    FullDisks,
    /// When clocks are set, and the machine sleeps.
    Clocks,
    Rot,
    /// When our own network is down.
    Outages,
    Commands,
    /// How long name servers take, and what they answer.
    Names,
    /// How long servers take.
    Servers,
    /// What goes wrong with servers.
    Trouble,
    /// When work beside the engine is done, and how long messages between partitions take.
    Machine,
    Bugs,
}

/// The streams of a run.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    streams: [Chance; Matter::Bugs as usize + 1],
}

impl Draws {
    pub(crate) fn new(number: u64) -> Draws {
        Draws {
            streams: std::array::from_fn(|matter| Chance::about(number, matter as u64)),
        }
    }

    pub(crate) fn of(&mut self, matter: Matter) -> &mut Chance {
        &mut self.streams[matter as usize]
    }
}
