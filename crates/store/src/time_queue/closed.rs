//! The buckets that are not open yet: found by their time when a record is put, and taken in the order of their opening.

use std::collections::BTreeSet;

use super::layout::Bucket;
use super::ticket::BucketNumber;
use junkai_frontier::Time;

/// Buckets that are remembered beside the tree: most records go to one of a few dozen.
const LATELY: usize = 256;

/// Buckets that are not open yet.
#[derive(Debug)]
pub(super) struct Closed {
    by_opening: BTreeSet<(Bucket, BucketNumber)>,
    /// Some that were found lately, each in the place that its time gives it.
    lately: Vec<Option<(Bucket, BucketNumber)>>,
}

impl Default for Closed {
    fn default() -> Closed {
        Closed {
            by_opening: BTreeSet::new(),
            lately: vec![None; LATELY],
        }
    }
}

impl Closed {
    /// The number of a bucket.
    #[inline]
    pub(super) fn find(&mut self, bucket: Bucket) -> Option<BucketNumber> {
        let place = place(bucket);
        match self.lately[place] {
            Some((found, number)) if found == bucket => Some(number),
            Some(_) | None => {
                let mut found = self.by_opening.range((bucket, BucketNumber(0))..);
                let found = found.next().copied().filter(|(found, _)| *found == bucket);
                self.lately[place] = found.or(self.lately[place]);
                found.map(|(_, number)| number)
            }
        }
    }

    pub(super) fn insert(&mut self, bucket: Bucket, number: BucketNumber) {
        self.by_opening.insert((bucket, number));
    }

    pub(super) fn remove(&mut self, bucket: Bucket, number: BucketNumber) {
        self.by_opening.remove(&(bucket, number));
        let place = place(bucket);
        if self.lately[place] == Some((bucket, number)) {
            self.lately[place] = None;
        }
    }

    pub(super) fn contains(&self, bucket: Bucket, number: BucketNumber) -> bool {
        self.by_opening.contains(&(bucket, number))
    }

    /// The one that opens first.
    #[inline]
    pub(super) fn first(&self) -> Option<(Bucket, BucketNumber)> {
        self.by_opening.first().copied()
    }

    /// When that opens.
    pub(super) fn first_opening(&self) -> Option<Time> {
        self.by_opening.first().map(|(bucket, _)| bucket.opens)
    }

    /// All, by their opening.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Bucket, BucketNumber)> {
        self.by_opening.iter().copied()
    }
}

/// Spreads the buckets, few as they are, over all places.
#[inline]
fn place(bucket: Bucket) -> usize {
    // The golden ratio as a fraction of 2 to the 64; the highest bits depend on all.
    let mixed = (bucket.opens.as_micros() ^ bucket.span).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from(mixed >> (u64::BITS - LATELY.ilog2())).unwrap_or(0)
}
