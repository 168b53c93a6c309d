//! The memory for states that are not yet in their bucket's file: pages of a fixed size, a chain of them for each bucket.
//!
//! Filled by every record that is put, emptied by writing a bucket's run, or by handing out from memory what is due. Tamura and Kitsuregawa's (2010) write buffers: memory is
//! bounded by the number of pages, whichever buckets they go to.

use super::record::RecordRef;
use junkai_frontier::Time;

/// Due time (8 bytes), lengths of URL and body (2 each).
const HEAD_BYTES: usize = 12;

/// The pages.
#[derive(Debug)]
pub(super) struct Buffers {
    page_bytes: usize,
    pages: Vec<Box<[u8]>>,
    free: Vec<u32>,
}

/// The records of one bucket, one after another over page borders. It belongs to the buffers whose pages it names.
#[derive(Debug, Default)]
pub(super) struct Chain {
    pages: Vec<u32>,
    /// Bytes in all pages, and in the last of them.
    pub(super) bytes: usize,
    last_bytes: usize,
    pub(super) records: u32,
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
        }
    }

    /// Appends a record, whose URL and body are within their bounds.
    pub(super) fn push(&mut self, chain: &mut Chain, record: RecordRef) {
        let head = head_of(record);
        chain.records += 1;
        for mut bytes in [&head, record.url.as_bytes(), record.body] {
            chain.bytes += bytes.len();
            while !bytes.is_empty() {
                if chain.pages.is_empty() || chain.last_bytes == self.page_bytes {
                    chain.pages.push(self.free_page());
                    chain.last_bytes = 0;
                }
                let page = chain.pages[chain.pages.len() - 1];
                let room = &mut self.pages[page as usize][chain.last_bytes..];
                let (now, later) = bytes.split_at(bytes.len().min(room.len()));
                room[..now.len()].copy_from_slice(now);
                chain.last_bytes += now.len();
                bytes = later;
            }
        }
    }

    fn free_page(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.pages.push(vec![0; self.page_bytes].into());
            u32::try_from(self.pages.len() - 1).unwrap_or(u32::MAX)
        })
    }

    pub(super) fn page_bytes(&self) -> u32 {
        u32::try_from(self.page_bytes).unwrap_or(u32::MAX)
    }

    /// Bytes of pages that are in use.
    pub(super) fn used_bytes(&self) -> u64 {
        ((self.pages.len() - self.free.len()) * self.page_bytes) as u64
    }

    /// Bytes of the pages that a chain has.
    pub(super) fn used_by(&self, chain: &Chain) -> u64 {
        (chain.pages.len() * self.page_bytes) as u64
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        let chained = self.pages.len() * (size_of::<u32>() + size_of::<Box<[u8]>>());
        self.pages.len() * self.page_bytes + chained
    }

    /// Copies a chain's records into one piece; they stay here too.
    pub(super) fn gather(&self, chain: &Chain, gathered: &mut Gathered) {
        gathered.bytes.clear();
        gathered.bytes.reserve(chain.bytes);
        let mut left = chain.bytes;
        for page in &chain.pages {
            let length = left.min(self.page_bytes);
            let page = &self.pages[*page as usize][..length];
            gathered.bytes.extend_from_slice(page);
            left -= length;
        }
    }

    /// Gives the pages of a chain back.
    pub(super) fn clear(&mut self, chain: &mut Chain) {
        self.free.append(&mut chain.pages);
        *chain = Chain::default();
    }
}

impl Gathered {
    /// Nothing, with room for so many bytes.
    pub(super) fn with_room(bytes: usize) -> Gathered {
        Gathered {
            bytes: Vec::with_capacity(bytes),
        }
    }

    /// Nothing, with room for as much as another holds.
    pub(super) fn with_room_for(other: &Gathered) -> Gathered {
        Gathered::with_room(other.bytes.len())
    }

    /// Bytes that so many records take which have so many bytes in a file, if they are not packed there.
    pub(super) fn bytes_of(file_bytes: u64, records: u32) -> usize {
        let heads = records as usize * HEAD_BYTES;
        usize::try_from(file_bytes).unwrap_or(0) + heads
    }

    /// Appends a record.
    #[inline]
    pub(super) fn append(&mut self, record: RecordRef) {
        self.bytes.extend_from_slice(&head_of(record));
        self.bytes.extend_from_slice(record.url.as_bytes());
        self.bytes.extend_from_slice(record.body);
    }

    /// Appends the record of another that begins at `offset` there; tells where it begins here.
    #[inline]
    pub(super) fn push(&mut self, other: &Gathered, offset: u32) -> u32 {
        let start = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        let offset = offset as usize;
        let (url, body) = other.lengths(offset).unwrap_or_default();
        let record = &other.bytes[offset..offset + HEAD_BYTES + url + body];
        self.bytes.extend_from_slice(record);
        start
    }

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
    #[inline]
    pub(super) fn record(&self, offset: u32) -> (Time, &[u8], &[u8]) {
        let offset = offset as usize;
        let (url, body) = self.lengths(offset).unwrap_or_default();
        let due = self.bytes[offset..offset + 8].try_into();
        let due = Time::from_micros(due.map_or(0, u64::from_le_bytes));
        let texts = &self.bytes[offset + HEAD_BYTES..offset + HEAD_BYTES + url + body];
        let (url, body) = texts.split_at(url);
        (due, url, body)
    }

    /// All records, in the order in which they were put. One whose URL is not a text is left out, which none is.
    pub(super) fn records(&self) -> impl Iterator<Item = RecordRef<'_>> {
        self.offsets().filter_map(|offset| {
            let (due, url, body) = self.record(offset);
            let url = std::str::from_utf8(url).ok()?;
            Some(RecordRef { url, due, body })
        })
    }

    fn lengths(&self, offset: usize) -> Option<(usize, usize)> {
        let lengths = self.bytes.get(offset + 8..offset + HEAD_BYTES)?;
        let number = |at: usize| usize::from(u16::from_le_bytes([lengths[at], lengths[at + 1]]));
        Some((number(0), number(2)))
    }
}

#[inline]
fn head_of(record: RecordRef) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..8].copy_from_slice(&record.due.as_micros().to_le_bytes());
    head[8..10].copy_from_slice(&length(record.url.as_bytes()));
    head[10..].copy_from_slice(&length(record.body));
    head
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
        let (mut one, mut two) = (Chain::default(), Chain::default());
        for round in 0..3 {
            for (url, body) in &records {
                let due = Time::from_micros(round);
                buffers.push(&mut one, RecordRef { url, due, body });
                let other = RecordRef {
                    url: "x",
                    due,
                    body: b"y",
                };
                buffers.push(&mut two, other);
            }
            assert_eq!((one.records, two.records), (4, 4));
            assert_eq!(
                buffers.used_by(&one) + buffers.used_by(&two),
                buffers.used_bytes()
            );
            let mut gathered = Gathered::default();
            buffers.gather(&one, &mut gathered);
            let found: Vec<_> = gathered
                .offsets()
                .map(|offset| gathered.record(offset))
                .collect();
            let expected = records
                .iter()
                .map(|(url, body)| (Time::from_micros(round), url.as_bytes(), body.as_slice()));
            assert_eq!(found, expected.collect::<Vec<_>>());
            let held = buffers.memory_bytes();
            buffers.clear(&mut one);
            buffers.clear(&mut two);
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
