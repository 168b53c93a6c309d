//! The memory for states that are not yet in their bucket's file: pages of a fixed size, a chain of them for each bucket.
//!
//! Filled by every record that is put, emptied by writing a bucket's run. Seed 003's write buffers: memory is bounded by the number of pages,
//! whichever buckets they go to.

use std::collections::BTreeMap;

use super::record::RecordRef;
use super::ticket::BucketNumber;
use crate::time::Time;

/// Due time (8 bytes), lengths of URL and body (2 each).
const HEAD_BYTES: usize = 12;

#[derive(Debug)]
pub(super) struct Buffers {
    page_bytes: usize,
    pages: Vec<Box<[u8]>>,
    free: Vec<u32>,
    chains: BTreeMap<BucketNumber, Chain>,
}

/// The records of one bucket, one after another over page borders.
#[derive(Debug, Default)]
struct Chain {
    pages: Vec<u32>,
    /// Bytes in all pages.
    bytes: usize,
    records: u32,
}

/// The buffered records of one bucket in one piece.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    bytes: Vec<u8>,
}

impl Buffers {
    pub(super) fn new(page_bytes: u32) -> Buffers {
        Buffers {
            page_bytes: page_bytes.clamp(256, 1 << 20) as usize,
            pages: Vec::new(),
            free: Vec::new(),
            chains: BTreeMap::new(),
        }
    }

    /// Appends a record, whose URL and body are within their bounds.
    pub(super) fn push(&mut self, bucket: BucketNumber, record: RecordRef) {
        let mut head = [0; HEAD_BYTES];
        head[..8].copy_from_slice(&record.due.as_micros().to_le_bytes());
        head[8..10].copy_from_slice(&length(record.url.as_bytes()));
        head[10..].copy_from_slice(&length(record.body));
        let chain = self.chains.entry(bucket).or_default();
        chain.records += 1;
        for mut bytes in [&head, record.url.as_bytes(), record.body] {
            while !bytes.is_empty() {
                let used = chain.bytes % self.page_bytes;
                if used == 0 {
                    chain.pages.push(self.free.pop().unwrap_or_else(|| {
                        self.pages.push(vec![0; self.page_bytes].into());
                        u32::try_from(self.pages.len() - 1).unwrap_or(u32::MAX)
                    }));
                }
                let page = chain.pages[chain.pages.len() - 1];
                let room = bytes.len().min(self.page_bytes - used);
                self.pages[page as usize][used..used + room].copy_from_slice(&bytes[..room]);
                bytes = &bytes[room..];
                chain.bytes += room;
            }
        }
    }

    pub(super) fn page_bytes(&self) -> u32 {
        u32::try_from(self.page_bytes).unwrap_or(u32::MAX)
    }

    /// Bytes of one bucket's records.
    pub(super) fn bytes_of(&self, bucket: BucketNumber) -> usize {
        self.chains.get(&bucket).map_or(0, |chain| chain.bytes)
    }

    /// Bytes of pages that are in use.
    pub(super) fn used_bytes(&self) -> u64 {
        ((self.pages.len() - self.free.len()) * self.page_bytes) as u64
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        let chained = self.pages.len() * (size_of::<u32>() + size_of::<Box<[u8]>>());
        self.pages.len() * self.page_bytes + chained + self.chains.len() * size_of::<Chain>()
    }

    /// Records in all chains.
    pub(super) fn records(&self) -> u64 {
        self.chains
            .values()
            .map(|chain| u64::from(chain.records))
            .sum()
    }

    /// Records of one bucket.
    pub(super) fn records_of(&self, bucket: BucketNumber) -> u32 {
        self.chains.get(&bucket).map_or(0, |chain| chain.records)
    }

    /// The buckets that have records here, those with most pages first; the first in time before others as large.
    pub(super) fn largest_first(&self) -> Vec<BucketNumber> {
        let mut buckets: Vec<_> = self
            .chains
            .iter()
            .map(|(bucket, chain)| (std::cmp::Reverse(chain.pages.len()), *bucket))
            .collect();
        buckets.sort_unstable();
        buckets.into_iter().map(|(_, bucket)| bucket).collect()
    }

    /// Copies a bucket's records into one piece; they stay here too.
    pub(super) fn gather(&self, bucket: BucketNumber, gathered: &mut Gathered) {
        gathered.bytes.clear();
        let Some(chain) = self.chains.get(&bucket) else {
            return;
        };
        let mut left = chain.bytes;
        for page in &chain.pages {
            let length = left.min(self.page_bytes);
            let page = &self.pages[*page as usize][..length];
            gathered.bytes.extend_from_slice(page);
            left -= length;
        }
    }

    /// Gives the pages of a bucket back.
    pub(super) fn clear(&mut self, bucket: BucketNumber) {
        if let Some(chain) = self.chains.remove(&bucket) {
            self.free.extend(chain.pages);
        }
    }
}

impl Gathered {
    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// Where each record begins, in the order in which they were put.
    pub(super) fn offsets(&self) -> impl Iterator<Item = u32> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let offset = at;
            let (url, body) = self.lengths(offset)?;
            at += HEAD_BYTES + url + body;
            u32::try_from(offset).ok()
        })
    }

    /// The record that begins at `offset`, its URL as bytes.
    pub(super) fn record(&self, offset: u32) -> (Time, &[u8], &[u8]) {
        let offset = offset as usize;
        let (url, body) = self.lengths(offset).unwrap_or_default();
        let due = self.bytes[offset..offset + 8].try_into();
        let due = Time::from_micros(due.map_or(0, u64::from_le_bytes));
        let texts = &self.bytes[offset + HEAD_BYTES..offset + HEAD_BYTES + url + body];
        let (url, body) = texts.split_at(url);
        (due, url, body)
    }

    fn lengths(&self, offset: usize) -> Option<(usize, usize)> {
        let lengths = self.bytes.get(offset + 8..offset + HEAD_BYTES)?;
        let number = |at: usize| usize::from(u16::from_le_bytes([lengths[at], lengths[at + 1]]));
        Some((number(0), number(2)))
    }
}

fn length(bytes: &[u8]) -> [u8; 2] {
    u16::try_from(bytes.len()).unwrap_or(u16::MAX).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(url: &str, length: usize) -> (String, Vec<u8>) {
        (url.to_owned(), vec![7; length])
    }

    #[test]
    fn records_come_back_in_order_and_pages_are_used_again() {
        let mut buffers = Buffers::new(256);
        let records = [
            record("a", 0),
            record("", 300),
            record("bé", 243),
            record("c", 65_535),
        ];
        let (one, two) = (BucketNumber(1), BucketNumber(2));
        for round in 0..3 {
            for (url, body) in &records {
                let due = Time::from_micros(round);
                buffers.push(one, RecordRef { url, due, body });
                buffers.push(
                    two,
                    RecordRef {
                        url: "x",
                        due,
                        body: b"y",
                    },
                );
            }
            assert_eq!(buffers.largest_first(), [one, two]);
            assert_eq!(buffers.records(), 8);
            let mut gathered = Gathered::default();
            buffers.gather(one, &mut gathered);
            let found: Vec<_> = gathered
                .offsets()
                .map(|offset| gathered.record(offset))
                .collect();
            let expected = records
                .iter()
                .map(|(url, body)| (Time::from_micros(round), url.as_bytes(), body.as_slice()));
            assert_eq!(found, expected.collect::<Vec<_>>());
            let held = buffers.memory_bytes();
            buffers.clear(one);
            buffers.clear(two);
            assert_eq!(buffers.used_bytes(), 0);
            assert!(buffers.memory_bytes() <= held, "round {round}");
        }
        assert!(
            buffers.pages.len() <= 2 + 66_131 / 256,
            "{}",
            buffers.pages.len()
        );
    }
}
