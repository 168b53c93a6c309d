//! The unit of reading: some hundred records, packed, with a checksum.
//!
//! A block has three columns: numbers, URLs, bodies. URLs are front-coded: of each only what differs from the one before is kept. Numbers and URLs
//! are packed together; bodies are mostly digests, in which nothing is to be gained, and are kept as they are.
//!
//! Layout, little-endian: a header of [`HEADER_BYTES`], then numbers and URLs (packed if shorter), then bodies. For each record the numbers are:
//! units since the record before, ticks since the unit began, length of what its URL shares with the one before, length of the rest, length of the
//! body. The checksums cover the block's place, so that a block from elsewhere is noticed too.

use super::record::{RecordRef, TEXT_BYTES_MAX};
use super::ticket::Place;
use crate::coding::{Input, put_number};
use crate::packing::{Packer, Unpacker};
use junkai_frontier::Time;

/// A block is closed when its columns are as long as this.
pub(super) const BLOCK_BYTES: usize = 32 << 10;
/// No column is longer: a last record of the greatest length still fits.
const COLUMN_BYTES_MAX: usize = BLOCK_BYTES + 2 * TEXT_BYTES_MAX;
pub(super) const HEADER_BYTES: usize = 28;

/// How the due times of a block's records are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Units {
    /// Microseconds in a unit, by which records are sorted, and in a tick, to which due times are kept. A unit has whole ticks.
    pub(super) unit: u64,
    pub(super) tick: u64,
    /// The first unit of the run, counted from the epoch.
    pub(super) first: u64,
}

/// What a block's header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockHeader {
    payload_checksum: u32,
    packed: u32,
    numbers: u32,
    urls: u32,
    bodies: u32,
    pub(super) records: u32,
}

/// A block that is being put together.
#[derive(Debug, Default)]
pub(super) struct BlockWriter {
    numbers: Vec<u8>,
    urls: Vec<u8>,
    bodies: Vec<u8>,
    records: u32,
    last_url: Vec<u8>,
    last_unit: u64,
}

impl BlockWriter {
    /// Adds a record, which is in no earlier unit than the one before; of its URL what differs from the one before.
    pub(super) fn push(&mut self, due: Time, url: &[u8], body: &[u8], units: Units) {
        let shared = if self.records == 0 {
            0
        } else {
            shared_prefix(&self.last_url, url)
        };
        self.last_url.truncate(shared);
        self.last_url.extend_from_slice(&url[shared..]);
        self.append(due, shared, &url[shared..], body, units);
    }

    /// Adds a record, which is in no earlier unit than the one before, with all of its URL.
    pub(super) fn push_plain(&mut self, due: Time, url: &[u8], body: &[u8], units: Units) {
        self.append(due, 0, url, body, units);
    }

    #[inline]
    fn append(&mut self, due: Time, shared: usize, rest: &[u8], body: &[u8], units: Units) {
        if self.records == 0 {
            self.last_unit = units.first;
        }
        let unit = due.as_micros() / units.unit;
        let ticks = due.as_micros() % units.unit / units.tick;
        put_number(unit - self.last_unit, &mut self.numbers);
        put_number(ticks, &mut self.numbers);
        put_number(shared as u64, &mut self.numbers);
        put_number(rest.len() as u64, &mut self.numbers);
        put_number(body.len() as u64, &mut self.numbers);
        self.urls.extend_from_slice(rest);
        self.bodies.extend_from_slice(body);
        self.records += 1;
        self.last_unit = unit;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records == 0
    }

    pub(super) fn is_full(&self) -> bool {
        BLOCK_BYTES <= self.numbers.len() + self.urls.len() + self.bodies.len()
    }

    /// Appends the block, whose first record is at `place`, packed if there is a packer; tells how many records it has.
    pub(super) fn finish(
        &mut self,
        place: Place,
        packer: Option<&mut Packer>,
        out: &mut Vec<u8>,
    ) -> u32 {
        let start = out.len();
        out.extend_from_slice(&[0; HEADER_BYTES]);
        let numbers = self.numbers.len();
        self.numbers.extend_from_slice(&self.urls);
        let texts = if let Some(packer) = packer {
            packer.pack(&self.numbers, out)
        } else {
            out.extend_from_slice(&self.numbers);
            self.numbers.len()
        };
        out.extend_from_slice(&self.bodies);
        let header = BlockHeader {
            payload_checksum: crc32fast::hash(&out[start + HEADER_BYTES..]),
            packed: truncate(texts),
            numbers: truncate(numbers),
            urls: truncate(self.urls.len()),
            bodies: truncate(self.bodies.len()),
            records: self.records,
        };
        out[start..start + HEADER_BYTES].copy_from_slice(&header.encode(place));
        self.numbers.clear();
        self.urls.clear();
        self.bodies.clear();
        std::mem::take(&mut self.records)
    }
}

impl BlockHeader {
    fn encode(&self, place: Place) -> [u8; HEADER_BYTES] {
        let numbers = [
            self.payload_checksum,
            self.packed,
            self.numbers,
            self.urls,
            self.bodies,
            self.records,
        ];
        let mut bytes = [0; HEADER_BYTES];
        for (at, number) in numbers.iter().enumerate() {
            bytes[4 * at + 4..4 * at + 8].copy_from_slice(&number.to_le_bytes());
        }
        let sum = checksum(place, &bytes[4..]);
        bytes[..4].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The header that `bytes` begin with; nothing if it is not right, or not of the block whose first record is at `place`.
    pub(super) fn decode(place: Place, bytes: &[u8]) -> Option<BlockHeader> {
        let bytes = bytes.get(..HEADER_BYTES)?;
        let number = |at: usize| {
            let word = bytes[4 * at..4 * at + 4].try_into();
            word.map_or(0, u32::from_le_bytes)
        };
        let header = BlockHeader {
            payload_checksum: number(1),
            packed: number(2),
            numbers: number(3),
            urls: number(4),
            bodies: number(5),
            records: number(6),
        };
        let columns = [header.packed, header.numbers, header.urls, header.bodies];
        let is_bounded = columns
            .iter()
            .all(|column| *column as usize <= 2 * COLUMN_BYTES_MAX);
        let is_right = number(0) == checksum(place, &bytes[4..]) && 0 < header.records;
        (is_right && is_bounded).then_some(header)
    }

    /// Bytes that follow the header.
    pub(super) fn payload_bytes(&self) -> usize {
        self.packed as usize + self.bodies as usize
    }
}

/// A block in memory, read record by record.
#[derive(Debug, Default)]
pub(super) struct Block {
    numbers: Vec<u8>,
    numbers_at: usize,
    urls: String,
    urls_at: usize,
    bodies: Vec<u8>,
    bodies_at: usize,
    /// Records behind the current one.
    left: u32,
    unit: u64,
    due: Time,
    url: String,
    body_bytes: usize,
}

impl Block {
    /// Takes in a block's payload; nothing if that is not right.
    pub(super) fn load(
        &mut self,
        header: &BlockHeader,
        payload: &[u8],
        unpacker: &mut Unpacker,
        units: Units,
    ) -> Option<()> {
        self.left = 0;
        if crc32fast::hash(payload) != header.payload_checksum {
            return None;
        }
        let (packed, bodies) = payload.split_at_checked(header.packed as usize)?;
        let texts = header.numbers as usize + header.urls as usize;
        unpacker.unpack(packed, texts, &mut self.numbers)?;
        let (_, urls) = self.numbers.split_at_checked(header.numbers as usize)?;
        self.urls.clear();
        self.urls.push_str(std::str::from_utf8(urls).ok()?);
        self.numbers.truncate(header.numbers as usize);
        self.bodies.clear();
        self.bodies.extend_from_slice(bodies);
        self.numbers_at = 0;
        self.urls_at = 0;
        self.bodies_at = 0;
        self.body_bytes = 0;
        self.url.clear();
        self.unit = units.first;
        self.left = header.records;
        Some(())
    }

    /// Records that [`advance`](Block::advance) has not come to.
    pub(super) fn left(&self) -> u32 {
        self.left
    }

    /// Gives the memory back, of a block that is read to its end.
    pub(super) fn release(&mut self) {
        *self = Block::default();
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.numbers.capacity()
            + self.urls.capacity()
            + self.bodies.capacity()
            + self.url.capacity()
    }

    /// Goes to the next record, which there is; nothing if it is not right.
    pub(super) fn advance(&mut self, units: Units) -> Option<()> {
        let mut input = Input(self.numbers.get(self.numbers_at..)?);
        let unit = self.unit.checked_add(input.number()?)?;
        let ticks = input.number()?;
        let shared = usize::try_from(input.number()?).ok()?;
        let rest = usize::try_from(input.number()?).ok()?;
        let body = usize::try_from(input.number()?).ok()?;
        self.numbers_at = self.numbers.len() - input.0.len();
        let rest = self
            .urls
            .get(self.urls_at..self.urls_at.checked_add(rest)?)?;
        if !self.url.is_char_boundary(shared) || TEXT_BYTES_MAX < shared + rest.len() {
            return None;
        }
        self.url.truncate(shared);
        self.url.push_str(rest);
        self.urls_at += rest.len();
        self.bodies_at += self.body_bytes;
        self.body_bytes = body;
        let body_end = self.bodies_at.checked_add(body)?;
        if self.bodies.len() < body_end || TEXT_BYTES_MAX < body {
            return None;
        }
        let due = unit.checked_mul(units.unit)?;
        let due = due.checked_add(ticks.checked_mul(units.tick)?)?;
        self.due = Time::from_micros(due);
        self.unit = unit;
        self.left = self.left.checked_sub(1)?;
        Some(())
    }

    /// The unit of the current record, counted from the epoch.
    pub(super) fn unit(&self) -> u64 {
        self.unit
    }

    /// The current record.
    pub(super) fn record(&self) -> RecordRef<'_> {
        RecordRef {
            url: &self.url,
            due: self.due,
            body: &self.bodies[self.bodies_at..self.bodies_at + self.body_bytes],
        }
    }
}

fn checksum(place: Place, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&place.bucket.0.to_le_bytes());
    hasher.update(&place.index.to_le_bytes());
    hasher.update(bytes);
    hasher.finalize()
}

fn truncate(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Bytes of whole letters with which both begin.
fn shared_prefix(left: &[u8], right: &[u8]) -> usize {
    let mut pairs = left.iter().zip(right);
    let differs = pairs.position(|(left, right)| left != right);
    let mut shared = differs.unwrap_or(left.len().min(right.len()));
    while shared < right.len() && is_inside_a_letter(right[shared]) {
        shared -= 1;
    }
    while shared < left.len() && is_inside_a_letter(left[shared]) {
        shared -= 1;
    }
    shared
}

/// Whether a byte of UTF-8 continues a letter.
fn is_inside_a_letter(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::ticket::BucketNumber;
    use super::*;

    const UNITS: Units = Units {
        unit: 60,
        tick: 5,
        first: 10,
    };
    const PLACE: Place = Place {
        bucket: BucketNumber(4),
        index: 9,
    };

    fn encode(records: &[(u64, String, Vec<u8>)], packer: Option<&mut Packer>) -> Vec<u8> {
        let mut writer = BlockWriter::default();
        for (due, url, body) in records {
            writer.push(Time::from_micros(*due), url.as_bytes(), body, UNITS);
        }
        let mut out = Vec::new();
        let written = writer.finish(PLACE, packer, &mut out);
        assert_eq!(written as usize, records.len());
        assert!(writer.is_empty());
        out
    }

    fn decode(bytes: &[u8]) -> Option<Vec<(u64, String, Vec<u8>)>> {
        let header = BlockHeader::decode(PLACE, bytes)?;
        let payload = bytes.get(HEADER_BYTES..HEADER_BYTES + header.payload_bytes())?;
        let mut block = Block::default();
        block.load(&header, payload, &mut Unpacker::new().unwrap(), UNITS)?;
        let mut records = Vec::new();
        while 0 < block.left() {
            block.advance(UNITS)?;
            let record = block.record();
            let due = record.due.as_micros();
            records.push((due, record.url.to_owned(), record.body.to_vec()));
        }
        Some(records)
    }

    fn records() -> impl Strategy<Value = Vec<(u64, String, Vec<u8>)>> {
        let body = prop::collection::vec(any::<u8>(), 0..80);
        let record = (120_u64..100_000, "(https://)?[ab]{0,9}é?[/a-z]{0,30}", body);
        prop::collection::vec(record, 1..60).prop_map(|mut records| {
            for (due, _, _) in &mut records {
                *due = (*due + 600) / 5 * 5;
            }
            records.sort_by_key(|(due, _, _)| due / 60);
            records
        })
    }

    proptest! {
        #[test]
        fn a_block_reads_back(records in records()) {
            let plain = decode(&encode(&records, None));
            prop_assert_eq!(plain.as_ref(), Some(&records));
            let packed = encode(&records, Some(&mut Packer::new().unwrap()));
            prop_assert_eq!(decode(&packed), Some(records));
        }

        #[test]
        fn a_changed_block_is_noticed(records in records(), at in any::<prop::sample::Index>(), bit in 0..8_u32) {
            let mut bytes = encode(&records, Some(&mut Packer::new().unwrap()));
            let at = at.index(bytes.len());
            bytes[at] ^= 1_u8 << bit;
            prop_assert_eq!(decode(&bytes), None);
            prop_assert_eq!(decode(&bytes[..at]), None);
        }

        #[test]
        fn garbage_with_a_right_checksum_is_never_fatal(texts in prop::collection::vec(any::<u8>(), 0..64), numbers in 0_u32..64, records in 1_u32..9) {
            let texts_length = u32::try_from(texts.len()).unwrap();
            let numbers = numbers.min(texts_length);
            let header = BlockHeader {
                payload_checksum: crc32fast::hash(&texts),
                packed: texts_length,
                numbers,
                urls: texts_length - numbers,
                bodies: 0,
                records,
            };
            let mut bytes = header.encode(PLACE).to_vec();
            bytes.extend_from_slice(&texts);
            decode(&bytes);
        }
    }

    #[test]
    fn a_block_of_another_place_is_not_taken_for_this_one() {
        let bytes = encode(&[(600, "a".to_owned(), Vec::new())], None);
        let other = Place { index: 10, ..PLACE };
        assert!(BlockHeader::decode(PLACE, &bytes).is_some());
        assert!(BlockHeader::decode(other, &bytes).is_none());
    }

    #[test]
    fn the_longest_record_fits() {
        let url = "u".repeat(TEXT_BYTES_MAX);
        let records = [(600, url, vec![1; TEXT_BYTES_MAX])];
        assert_eq!(decode(&encode(&records, None)).unwrap(), records);
    }
}
