//! What the journal says: every change of the time queue, in the order in which they happened.

use super::layout::Bucket;
use super::record::{RecordRef, TEXT_BYTES_MAX};
use super::ticket::{BucketNumber, Place};
use crate::coding::{Input, put_bytes, put_number, unzigzag, zigzag};
use junkai_frontier::Time;

/// One change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry<'a> {
    /// There is a bucket of this number.
    Bucket {
        number: BucketNumber,
        bucket: Bucket,
    },
    /// A record waits in a bucket, in memory; in the place of another, if that is named.
    Put {
        bucket: BucketNumber,
        replaces: Option<Place>,
        record: RecordRef<'a>,
    },
    /// A record waited in a bucket, in memory, when this file was begun.
    Held {
        bucket: BucketNumber,
        record: RecordRef<'a>,
    },
    /// In the place of one that did, and is done with.
    Gap { bucket: BucketNumber },
    /// What a bucket had in memory and was not done with is in its file, which has grown to this.
    Run {
        bucket: BucketNumber,
        size: FileSize,
    },
    /// Some neighbouring records of a bucket are done with.
    Done { range: Range },
    /// A visit out of turn left a note.
    Note { fingerprint: u64, note: &'a [u8] },
    /// The note was joined with the page's state.
    Joined { fingerprint: u64 },
    /// The file says everything up to here by itself; so files before it are not needed.
    Whole { next_bucket: BucketNumber },
}

/// How much is in a bucket's file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FileSize {
    pub(super) bytes: u64,
    pub(super) records: u32,
    pub(super) runs: u32,
}

/// Some neighbouring records of one bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) bucket: BucketNumber,
    pub(super) first: u32,
    pub(super) count: u32,
}

const BUCKET: u8 = 1;
const PUT: u8 = 2;
const PUT_BACK: u8 = 3;
const RUN: u8 = 4;
const DONE: u8 = 5;
const NOTE: u8 = 6;
const JOINED: u8 = 7;
const WHOLE: u8 = 8;
const HELD: u8 = 9;
const GAP: u8 = 10;

impl<'a> Entry<'a> {
    /// Appends the bytes of an entry.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Entry::Bucket { number, bucket } => {
                put_numbers(
                    BUCKET,
                    &[number.0, bucket.opens.as_micros(), bucket.span],
                    out,
                );
            }
            Entry::Put {
                bucket,
                replaces,
                record,
            } => encode_put(*bucket, *replaces, *record, out),
            Entry::Held { bucket, record } => {
                put_numbers(HELD, &[bucket.0], out);
                encode_record(*record, out);
            }
            Entry::Gap { bucket } => put_numbers(GAP, &[bucket.0], out),
            Entry::Run { bucket, size } => {
                let counts = [u64::from(size.records), u64::from(size.runs)];
                put_numbers(RUN, &[bucket.0, size.bytes, counts[0], counts[1]], out);
            }
            Entry::Done { range } => {
                let counts = [u64::from(range.first), u64::from(range.count)];
                put_numbers(DONE, &[range.bucket.0, counts[0], counts[1]], out);
            }
            Entry::Note { fingerprint, note } => {
                put_numbers(NOTE, &[*fingerprint], out);
                put_bytes(note, out);
            }
            Entry::Joined { fingerprint } => put_numbers(JOINED, &[*fingerprint], out),
            Entry::Whole { next_bucket } => put_numbers(WHOLE, &[next_bucket.0], out),
        }
    }

    /// Reads the next entry; nothing if it is not right.
    pub(super) fn decode(input: &mut Input<'a>) -> Option<Entry<'a>> {
        let kind = input.byte()?;
        Some(match kind {
            BUCKET => Entry::Bucket {
                number: BucketNumber(input.number()?),
                bucket: Bucket {
                    opens: Time::from_micros(input.number()?),
                    span: input.number()?,
                },
            },
            PUT | PUT_BACK => decode_put(kind, input)?,
            HELD => Entry::Held {
                bucket: BucketNumber(input.number()?),
                record: decode_record(input)?,
            },
            GAP => Entry::Gap {
                bucket: BucketNumber(input.number()?),
            },
            RUN => Entry::Run {
                bucket: BucketNumber(input.number()?),
                size: FileSize {
                    bytes: input.number()?,
                    records: count(input)?,
                    runs: count(input)?,
                },
            },
            DONE => Entry::Done {
                range: Range {
                    bucket: BucketNumber(input.number()?),
                    first: count(input)?,
                    count: count(input)?,
                },
            },
            NOTE => Entry::Note {
                fingerprint: input.number()?,
                note: input.bytes()?,
            },
            JOINED => Entry::Joined {
                fingerprint: input.number()?,
            },
            WHOLE => Entry::Whole {
                next_bucket: BucketNumber(input.number()?),
            },
            _ => return None,
        })
    }
}

#[inline]
fn encode_put(bucket: BucketNumber, replaces: Option<Place>, record: RecordRef, out: &mut Vec<u8>) {
    match replaces {
        None => put_numbers(PUT, &[bucket.0], out),
        Some(place) => {
            // Buckets in use have numbers that are near each other.
            let before = zigzag(bucket.0.wrapping_sub(place.bucket.0).cast_signed());
            put_numbers(PUT_BACK, &[bucket.0, before, u64::from(place.index)], out);
        }
    }
    encode_record(record, out);
}

#[inline]
fn encode_record(record: RecordRef, out: &mut Vec<u8>) {
    /// More than a time and two lengths take.
    const NUMBERS_BYTES: usize = 16;
    out.reserve(NUMBERS_BYTES + record.url.len() + record.body.len());
    out.extend_from_slice(&record.due.as_micros().to_le_bytes());
    put_bytes(record.url.as_bytes(), out);
    put_bytes(record.body, out);
}

fn decode_put<'a>(kind: u8, input: &mut Input<'a>) -> Option<Entry<'a>> {
    let bucket = BucketNumber(input.number()?);
    let mut replaces = None;
    if kind == PUT_BACK {
        let before = unzigzag(input.number()?).cast_unsigned();
        replaces = Some(Place {
            bucket: BucketNumber(bucket.0.wrapping_sub(before)),
            index: count(input)?,
        });
    }
    Some(Entry::Put {
        bucket,
        replaces,
        record: decode_record(input)?,
    })
}

fn decode_record<'a>(input: &mut Input<'a>) -> Option<RecordRef<'a>> {
    let (due, rest) = input.0.split_at_checked(8)?;
    input.0 = rest;
    let record = RecordRef {
        due: Time::from_micros(due.try_into().map_or(0, u64::from_le_bytes)),
        url: input.text()?,
        body: input.bytes()?,
    };
    (record.longest() <= TEXT_BYTES_MAX).then_some(record)
}

#[inline]
fn put_numbers(kind: u8, numbers: &[u64], out: &mut Vec<u8>) {
    out.push(kind);
    for number in numbers {
        put_number(*number, out);
    }
}

fn count(input: &mut Input) -> Option<u32> {
    u32::try_from(input.number()?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(entry: Entry) {
        let mut bytes = Vec::new();
        entry.encode(&mut bytes);
        let mut input = Input(&bytes);
        assert_eq!(Entry::decode(&mut input), Some(entry));
        assert!(input.0.is_empty());
        for length in 0..bytes.len() {
            assert_eq!(Entry::decode(&mut Input(&bytes[..length])), None);
        }
    }

    proptest! {
        #[test]
        fn entries_read_back(numbers: (u64, u64, u64), counts: (u32, u32), url in "[aé]{0,9}", body in prop::collection::vec(any::<u8>(), 0..9)) {
            let number = BucketNumber(numbers.0);
            let place = Place { bucket: BucketNumber(numbers.1), index: counts.0 };
            let record = RecordRef { url: &url, due: Time::from_micros(numbers.2), body: &body };
            check(Entry::Bucket { number, bucket: Bucket { opens: record.due, span: numbers.1 } });
            check(Entry::Put { bucket: number, replaces: None, record });
            check(Entry::Put { bucket: number, replaces: Some(place), record });
            check(Entry::Held { bucket: number, record });
            check(Entry::Gap { bucket: number });
            check(Entry::Run { bucket: number, size: FileSize { bytes: numbers.1, records: counts.0, runs: counts.1 } });
            check(Entry::Done { range: Range { bucket: number, first: counts.0, count: counts.1 } });
            check(Entry::Note { fingerprint: numbers.0, note: &body });
            check(Entry::Joined { fingerprint: numbers.0 });
            check(Entry::Whole { next_bucket: number });
        }

        #[test]
        fn garbage_is_refused_or_read_but_never_fatal(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let mut input = Input(&bytes);
            while Entry::decode(&mut input).is_some() && !input.0.is_empty() {}
        }
    }
}
