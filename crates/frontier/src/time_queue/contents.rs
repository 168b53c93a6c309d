//! What a time queue holds, as its journal tells it: the buckets, what waits in memory for them, and the notes.
//!
//! The live queue changes it while it writes the journal; recovery and whoever looks on rebuild it from there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::buffers::Buffers;
use super::entry::{Entry, FileSize, Range};
use super::layout::Bucket;
use super::ticket::BucketNumber;
use crate::bitmap::Bitmap;
use crate::time::Time;

const SUFFIX: &str = ".bucket";

/// The name of a bucket's file in its directory.
pub(super) fn path(dir: &Path, number: BucketNumber) -> PathBuf {
    dir.join(format!("{:010}{SUFFIX}", number.0))
}

/// The number in the name of a bucket's file.
pub(super) fn number_of(name: &str) -> Option<BucketNumber> {
    name.strip_suffix(SUFFIX)?.parse().ok().map(BucketNumber)
}

/// One bucket: what is in its file, and which records of that are done with.
#[derive(Debug)]
pub(super) struct BucketFile {
    pub(super) bucket: Bucket,
    pub(super) size: FileSize,
    done: Bitmap,
}

impl BucketFile {
    pub(super) fn new(bucket: Bucket) -> BucketFile {
        BucketFile {
            bucket,
            size: FileSize::default(),
            done: Bitmap::default(),
        }
    }

    /// Marks a record as done with; true if it was not before. One that does not exist is not.
    pub(super) fn finish(&mut self, index: u32) -> bool {
        index < self.size.records && self.done.set(index)
    }

    pub(super) fn is_done(&self, index: u32) -> bool {
        self.done.contains(index)
    }

    /// Records in the file that are not done with.
    pub(super) fn left(&self) -> u32 {
        self.size.records - self.done.count()
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<BucketFile>() + self.done.memory_bytes()
    }
}

#[derive(Debug)]
pub(super) struct Contents {
    pub(super) buckets: BTreeMap<BucketNumber, BucketFile>,
    pub(super) buffers: Buffers,
    pub(super) early: BTreeMap<u64, Box<[u8]>>,
    pub(super) next_bucket: BucketNumber,
}

impl Contents {
    pub(super) fn new(page_bytes: u32) -> Contents {
        Contents {
            buckets: BTreeMap::new(),
            buffers: Buffers::new(page_bytes),
            early: BTreeMap::new(),
            next_bucket: BucketNumber(0),
        }
    }

    /// Takes in what the journal says; false if it makes no sense.
    pub(super) fn apply(&mut self, entry: &Entry) -> bool {
        match *entry {
            Entry::Bucket { number, bucket } => {
                self.next_bucket.0 = self.next_bucket.0.max(number.0.saturating_add(1));
                self.buckets
                    .insert(number, BucketFile::new(bucket))
                    .is_none()
            }
            Entry::Put {
                bucket,
                replaces,
                record,
            } => {
                let is_known = self.buckets.contains_key(&bucket);
                if is_known {
                    self.buffers.push(bucket, record);
                }
                is_known && replaces.is_none_or(|place| self.finish(place.bucket, place.index))
            }
            Entry::Run { bucket, size } => {
                self.buffers.clear(bucket);
                let file = self.buckets.get_mut(&bucket);
                file.is_some_and(|file| {
                    let has_grown = file.size.records < size.records;
                    file.size = size;
                    has_grown
                })
            }
            Entry::Done { range } => self.finish_range(range),
            Entry::Note { fingerprint, note } => {
                self.early.insert(fingerprint, note.into());
                true
            }
            Entry::Joined { fingerprint } => self.early.remove(&fingerprint).is_some(),
            Entry::Whole { next_bucket } => {
                self.next_bucket = self.next_bucket.max(next_bucket);
                true
            }
        }
    }

    fn finish(&mut self, bucket: BucketNumber, index: u32) -> bool {
        let file = self.buckets.get_mut(&bucket);
        file.is_some_and(|file| file.finish(index))
    }

    fn finish_range(&mut self, range: Range) -> bool {
        let Some(file) = self.buckets.get_mut(&range.bucket) else {
            return false;
        };
        let end = range.first.saturating_add(range.count);
        end <= file.size.records && (range.first..end).all(|index| file.finish(index))
    }

    /// Entries that say all of it but what is in the buffers.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let buckets = self.buckets.iter().flat_map(|(number, file)| {
            let (number, bucket, size) = (*number, file.bucket, file.size);
            let run = (0 < size.records).then_some(Entry::Run {
                bucket: number,
                size,
            });
            let done = file.done.ranges(size.records);
            let done = done.map(move |(first, count)| Entry::Done {
                range: Range {
                    bucket: number,
                    first,
                    count,
                },
            });
            let bucket = Entry::Bucket { number, bucket };
            std::iter::once(bucket).chain(run).chain(done)
        });
        let notes = self.early.iter().map(|(fingerprint, note)| Entry::Note {
            fingerprint: *fingerprint,
            note,
        });
        let whole = Entry::Whole {
            next_bucket: self.next_bucket,
        };
        buckets.chain(notes).chain(std::iter::once(whole))
    }

    /// Records, wherever they are.
    pub(super) fn records(&self) -> u64 {
        let left = self.buckets.values().map(|file| u64::from(file.left()));
        left.sum::<u64>() + self.buffers.records()
    }
}

const MAGIC: [u8; 8] = *b"jktime01";
/// Bytes before the first run.
pub(super) const FILE_HEADER_BYTES: usize = 36;

/// The beginning of a bucket's file: which bucket it is, for whoever has only the file.
pub(super) fn encode_header(number: BucketNumber, bucket: Bucket) -> [u8; FILE_HEADER_BYTES] {
    let mut bytes = [0; FILE_HEADER_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    let numbers = [number.0, bucket.opens.as_micros(), bucket.span];
    for (at, number) in numbers.iter().enumerate() {
        bytes[8 + 8 * at..16 + 8 * at].copy_from_slice(&number.to_le_bytes());
    }
    let sum = crc32fast::hash(&bytes[..32]);
    bytes[32..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// The bucket of a file that begins with `bytes`; nothing if they are not a whole and right header.
pub(super) fn decode_header(number: BucketNumber, bytes: &[u8]) -> Option<Bucket> {
    let header = bytes.get(..FILE_HEADER_BYTES)?;
    let word = |at: usize| {
        let word = header[8 * at..8 * at + 8].try_into();
        word.map_or(0, u64::from_le_bytes)
    };
    let bucket = Bucket {
        opens: Time::from_micros(word(2)),
        span: word(3),
    };
    (encode_header(number, bucket) == header).then_some(bucket)
}
