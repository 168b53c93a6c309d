//! What visits came to, and the order in which it is written: the one place that says so.
//!
//! The backlog calls `Outcomes::write` between its new entries and its acknowledgements, whenever it writes at all. So a kill finds on disk: new URLs, those of other partitions included, before the
//! state of the page that led to them; what servers asked for, log lines and what pages said of their sites before the states of pages; all of it before the
//! acknowledgement. A state that is on disk counts: its visit is not made again. So its log line must be there too.
//!
//! Invariant: states of known pages are written with a [`Told`] in hand, which only this module makes, and acknowledgements only behind
//! `Outcomes`, which only this module implements.

use junkai_store::backlog::{self, EntriesWritten};

use crate::CrawlError;
use crate::focus::FocusBooks;
use crate::known::KnownPages;
use crate::log::Logs;
use crate::outbox::Outbox;
use crate::servers::Servers;

/// Everything that is written of a visit that ended, before it is acknowledged.
pub struct Outcomes<'a> {
    /// Links to other partitions, where there are any.
    pub outbox: Option<&'a mut Outbox>,
    /// What servers asked for.
    pub servers: &'a mut Servers,
    /// A line for each visit.
    pub logs: &'a mut Logs,
    /// What focus writes down, where something is wanted.
    pub focus: Option<&'a mut FocusBooks>,
    /// The states of pages.
    pub known: &'a mut KnownPages,
}

impl Outcomes<'_> {
    /// A manifest with all that was written is durable.
    ///
    /// # Errors
    /// If files that nobody needs any more cannot be removed.
    pub fn checkpointed(&mut self) -> Result<(), CrawlError> {
        if let Some(outbox) = &mut self.outbox {
            outbox.checkpointed()?;
        }
        self.known.checkpointed()
    }
}

/// Proof that new URLs, log lines and all else is written that a state of a known page stands for.
#[derive(Debug)]
pub struct Told(());

impl backlog::Outcomes for Outcomes<'_> {
    type Error = CrawlError;

    fn write(&mut self, _entries: EntriesWritten) -> Result<(), CrawlError> {
        if let Some(outbox) = &mut self.outbox {
            outbox.flush()?;
        }
        self.servers.flush()?;
        self.logs.flush()?;
        if let Some(focus) = &mut self.focus {
            focus.flush()?;
        }
        self.known.flush(Told(()))
    }
}

#[cfg(test)]
impl Told {
    /// For tests that have nothing to tell.
    #[must_use]
    pub fn nothing() -> Told {
        Told(())
    }
}
