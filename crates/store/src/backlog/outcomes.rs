//! What an acknowledgement stands for: what the visit came to, which must be on disk before the acknowledgement is.
//!
//! An acknowledged visit is never made again. If its acknowledgement reached the disk before its log line and its page's state, a kill in between would lose
//! both for ever. So [`Backlog::flush`](super::Backlog::flush) and the calls that contain it take the driver's [`Outcomes`] and write them first: there is no
//! call that writes acknowledgements alone.

/// What visits came to, as the driver keeps it: log lines, states of pages.
pub trait Outcomes {
    /// What can go wrong, here and in the backlog.
    type Error: From<super::BacklogError>;

    /// Gives everything that is known of visits that ended to the system. The backlog calls this after it has written its entries, and writes
    /// acknowledgements only after it has succeeded.
    ///
    /// # Errors
    /// No acknowledgement is written; the call may be repeated.
    fn write(&mut self, entries: EntriesWritten) -> Result<(), Self::Error>;
}

/// Proof that every entry is written which was appended so far: what may be believed only together with new entries, such as the state of the page that led to
/// them, may be written now.
#[derive(Debug)]
pub struct EntriesWritten(());

impl EntriesWritten {
    pub(super) fn new() -> EntriesWritten {
        EntriesWritten(())
    }
}
