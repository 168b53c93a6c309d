//! Names for things in the time queue: files of buckets, and records that were handed out.

/// The number of a bucket's file. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct BucketNumber(pub(super) u64);

/// Where a record is: the file, and the how-many-eth record of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) bucket: BucketNumber,
    pub(super) index: u32,
}

/// Stands for one record that was handed out, until another takes its place or it is given up: the receipt that its holder owes.
///
/// It cannot be copied, so a record is replaced once. If it is dropped, the record is handed out again after the next start.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
#[must_use = "a record that is not put back is handed out again after the next start"]
pub struct Ticket(pub(super) Place);
