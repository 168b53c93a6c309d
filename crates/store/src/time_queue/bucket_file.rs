//! One bucket: what is in its file, what waits in memory behind that, and which records are done with.

use std::path::{Path, PathBuf};

use super::buffers::Chain;
use super::entry::FileSize;
use super::layout::Bucket;
use super::sealed::Sealed;
use super::ticket::BucketNumber;
use crate::bitmap::Bitmap;
use crate::bucketed::{Series, header};
use junkai_frontier::Time;

/// The files of buckets.
pub(super) const FILES: Series = Series {
    prefix: "",
    suffix: ".bucket",
};

/// The name of a bucket's file in its directory.
pub(super) fn path(dir: &Path, number: BucketNumber) -> PathBuf {
    FILES.path(dir, number.0)
}

/// The number in the name of a bucket's file.
pub(super) fn number_of(name: &str) -> Option<BucketNumber> {
    FILES.number_of(name).map(BucketNumber)
}

/// One bucket. Records are counted from the first in the file on; those in memory follow, in the order in which they were put.
#[derive(Debug)]
pub(super) struct BucketFile {
    pub(super) bucket: Bucket,
    pub(super) size: FileSize,
    /// Whether a file of its name may be there.
    pub(super) has_file: bool,
    /// What waits in memory, until it is written, or sealed.
    pub(super) chain: Chain,
    /// What waited in memory when the bucket was opened; then the chain is empty.
    pub(super) sealed: Option<Box<Sealed>>,
    done: Bitmap,
}

impl BucketFile {
    pub(super) fn new(bucket: Bucket) -> BucketFile {
        BucketFile {
            bucket,
            size: FileSize::default(),
            has_file: false,
            chain: Chain::default(),
            sealed: None,
            done: Bitmap::default(),
        }
    }

    /// Marks a record as done with; true if it was not before. One that does not exist is not.
    pub(super) fn finish(&mut self, index: u32) -> bool {
        index < self.records() && self.done.set(index)
    }

    pub(super) fn is_done(&self, index: u32) -> bool {
        self.done.contains(index)
    }

    /// Which records of the file are done with: the first of neighbours, and how many.
    pub(super) fn done_in_file(&self) -> impl Iterator<Item = (u32, u32)> {
        self.done.ranges(self.size.records)
    }

    /// The file has grown to this size, by what was in memory and not done with.
    pub(super) fn grow(&mut self, size: FileSize) {
        self.done.cut(self.size.records);
        self.size = size;
    }

    /// Records in the file and in memory, done with or not.
    fn records(&self) -> u32 {
        self.size.records.saturating_add(self.in_memory())
    }

    /// Records in memory, done with or not.
    fn in_memory(&self) -> u32 {
        let sealed = self.sealed.as_ref().map_or(0, |sealed| sealed.records());
        self.chain.records + sealed
    }

    /// Records that are not done with.
    pub(super) fn left(&self) -> u32 {
        self.records() - self.done.count()
    }

    /// Records in the file that are not done with.
    pub(super) fn left_in_file(&self) -> u32 {
        if self.in_memory() == 0 {
            return self.left();
        }
        let done: u32 = self.done_in_file().map(|(_, count)| count).sum();
        self.size.records - done
    }

    /// Memory that is held, beside pages.
    pub(super) fn memory_bytes(&self) -> usize {
        let sealed = self
            .sealed
            .as_ref()
            .map_or(0, |sealed| sealed.memory_bytes());
        size_of::<BucketFile>() + self.done.memory_bytes() + sealed
    }
}

const MAGIC: [u8; 8] = *b"jktime01";
/// Bytes before the first run.
pub(super) const FILE_HEADER_BYTES: usize = header::bytes(3);

/// The beginning of a bucket's file: which bucket it is, for whoever has only the file.
pub(super) fn encode_header(number: BucketNumber, bucket: Bucket) -> Vec<u8> {
    header::encode(MAGIC, [number.0, bucket.opens.as_micros(), bucket.span])
}

/// The bucket of a file that begins with `bytes`; nothing if they are not a whole and right header.
pub(super) fn decode_header(number: BucketNumber, bytes: &[u8]) -> Option<Bucket> {
    let [told, opens, span] = header::decode(MAGIC, bytes)?;
    let opens = Time::from_micros(opens);
    (told == number.0).then_some(Bucket { opens, span })
}
