//! One page's state as the time queue sees it.

use junkai_frontier::Time;

/// The longest URL or body, in bytes: each length takes two bytes.
pub(super) const TEXT_BYTES_MAX: usize = u16::MAX as usize;

/// A known page: its URL, when it is due, and its state, whose meaning is the caller's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The page, in canonical form; at most 65,535 bytes.
    pub url: String,
    /// Not to be handed out before. Kept to the second below it, unless the resolution is finer.
    pub due: Time,
    /// The page's state; at most 65,535 bytes.
    pub body: Vec<u8>,
}

/// A [`Record`] that is borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordRef<'a> {
    /// The page.
    pub url: &'a str,
    /// When it is due.
    pub due: Time,
    /// Its state.
    pub body: &'a [u8],
}

impl<'a> From<&'a Record> for RecordRef<'a> {
    fn from(record: &'a Record) -> RecordRef<'a> {
        RecordRef {
            url: &record.url,
            due: record.due,
            body: &record.body,
        }
    }
}

impl RecordRef<'_> {
    /// A copy that is owned.
    #[must_use]
    pub fn to_record(self) -> Record {
        let mut record = Record::default();
        record.assign(self);
        record
    }

    /// The longer one of its two lengths.
    pub(super) fn longest(&self) -> usize {
        self.url.len().max(self.body.len())
    }
}

impl Record {
    /// Becomes a copy of another, in the memory that it has.
    pub(super) fn assign(&mut self, other: RecordRef) {
        self.url.clear();
        self.url.push_str(other.url);
        self.due = other.due;
        self.body.clear();
        self.body.extend_from_slice(other.body);
    }
}
