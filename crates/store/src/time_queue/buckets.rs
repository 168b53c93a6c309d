//! All buckets, by number: looked up several times for each record.

use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashMap;

use super::bucket_file::BucketFile;
use super::ticket::BucketNumber;

/// Buckets by number. Whoever goes over all of them gets them in the same order on every machine.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    by_number: HashMap<BucketNumber, BucketFile, BuildHasherDefault<NumberHasher>>,
}

impl Buckets {
    #[inline]
    pub(super) fn get(&self, number: BucketNumber) -> Option<&BucketFile> {
        self.by_number.get(&number)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: BucketNumber) -> Option<&mut BucketFile> {
        self.by_number.get_mut(&number)
    }

    /// Adds a bucket; false if there is one of this number, whose place it takes.
    pub(super) fn insert(&mut self, number: BucketNumber, file: BucketFile) -> bool {
        self.by_number.insert(number, file).is_none()
    }

    pub(super) fn remove(&mut self, number: BucketNumber) -> Option<BucketFile> {
        self.by_number.remove(&number)
    }

    pub(super) fn len(&self) -> usize {
        self.by_number.len()
    }

    /// All buckets by their numbers.
    pub(super) fn in_order(&self) -> Vec<(BucketNumber, &BucketFile)> {
        let files = self.by_number.iter();
        let mut files: Vec<_> = files.map(|(number, file)| (*number, file)).collect();
        files.sort_unstable_by_key(|(number, _)| *number);
        files
    }

    /// All buckets, for sums.
    pub(super) fn values(&self) -> impl Iterator<Item = &BucketFile> {
        self.by_number.values()
    }
}

/// Spreads numbers that follow one another. They come from here, not from outside, so nobody can choose them to collide.
#[derive(Debug, Default)]
pub(super) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The golden ratio as a fraction of 2 to the 64.
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}
