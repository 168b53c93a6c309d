//! Some neighbouring entries of a segment, packed together: what a file is written and read by, and the most that a flipped bit costs.
//!
//! Header (44 bytes): marker (4), checksum of the rest of the header (4), index of the first entry (4), number of entries (4), bytes of the payload as it
//! is stored and unpacked (4 each), checksum of the stored payload (4), and what the entries' numbers are relative to: sequence and due time of the first
//! (8 each). Then the payload: entries, each behind its length (2 bytes), packed if that makes them fewer bytes.
//!
//! A block stands for itself. Behind a damaged one the next is found by its marker and checksum, and says by itself which entries it has; so the numbers by
//! which entries are acknowledged stay right, and nothing but the damaged block is lost. The checksum covers the file's number: bytes of another file are
//! never taken for a block of this one.

use super::BacklogError;
use super::entry::{self, Base, Entry};
use super::ticket::{SegmentId, Ticket};
use crate::packing::{Packer, Unpacker};
use junkai_frontier::Time;

/// Begins with a byte that no URL has.
const MARKER: [u8; 4] = [0xf1, b'j', b'k', b'b'];
pub(super) const HEADER_BYTES: usize = 44;
const LENGTH_BYTES: usize = 2;
/// The longest entry.
const ENTRY_BYTES_MAX: usize = u16::MAX as usize;
/// A block is closed when its entries are as long as this: large enough that alike URLs are found alike, small enough that damage costs little.
const FULL_BYTES: usize = 16 << 10;
/// Memory that a block begins with, so that it need not grow with each of its first entries.
const FIRST_BYTES: usize = 4 << 10;
/// The longest payload: one entry more than that.
const PAYLOAD_BYTES_MAX: usize = FULL_BYTES + LENGTH_BYTES + ENTRY_BYTES_MAX;
/// The longest block.
pub(super) const BYTES_MAX: usize = HEADER_BYTES + PAYLOAD_BYTES_MAX;
/// Fewer bytes than this are stored as they are: to pack them costs more than it gains.
const PACKED_FROM_BYTES: usize = 1 << 10;

/// What the header of a block says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockHeader {
    /// The index of its first entry in the segment.
    pub(super) first: u32,
    pub(super) entries: u32,
    stored_bytes: u32,
    unpacked_bytes: u32,
    payload_checksum: u32,
    pub(super) base: Base,
}

impl BlockHeader {
    fn encode(&self, segment: SegmentId) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&MARKER);
        let words = [
            self.first,
            self.entries,
            self.stored_bytes,
            self.unpacked_bytes,
            self.payload_checksum,
        ];
        for (at, word) in words.iter().enumerate() {
            bytes[8 + 4 * at..12 + 4 * at].copy_from_slice(&word.to_le_bytes());
        }
        bytes[28..36].copy_from_slice(&self.base.sequence.to_le_bytes());
        bytes[36..44].copy_from_slice(&self.base.due.as_micros().to_le_bytes());
        let sum = checksum(segment, &bytes[8..]);
        bytes[4..8].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The header that `bytes` begin with; nothing if they do not begin with a right one of this segment.
    pub(super) fn decode(segment: SegmentId, bytes: &[u8]) -> Option<BlockHeader> {
        let bytes = bytes.get(..HEADER_BYTES)?;
        if bytes[..4] != MARKER {
            return None;
        }
        let word = |at: usize| {
            let word = bytes[at..at + 4].try_into();
            word.map_or(0, u32::from_le_bytes)
        };
        let number = |at: usize| {
            let number = bytes[at..at + 8].try_into();
            number.map_or(0, u64::from_le_bytes)
        };
        let header = BlockHeader {
            first: word(8),
            entries: word(12),
            stored_bytes: word(16),
            unpacked_bytes: word(20),
            payload_checksum: word(24),
            base: Base {
                sequence: number(28),
                due: Time::from_micros(number(36)),
            },
        };
        let is_right = word(4) == checksum(segment, &bytes[8..]);
        let is_sound = 0 < header.entries
            && header.first.checked_add(header.entries).is_some()
            && header.stored_bytes <= header.unpacked_bytes
            && header.unpacked_bytes as usize <= PAYLOAD_BYTES_MAX;
        (is_right && is_sound).then_some(header)
    }

    /// The entry behind its last.
    pub(super) fn end(&self) -> u32 {
        self.first + self.entries
    }

    /// Bytes of the block.
    pub(super) fn bytes(&self) -> usize {
        HEADER_BYTES + self.stored_bytes as usize
    }

    /// Replaces `out` by the entries of the block that `bytes` begin with; nothing if they are not what was written.
    pub(super) fn unpack(
        &self,
        bytes: &[u8],
        unpacker: &mut Unpacker,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let stored = bytes.get(HEADER_BYTES..self.bytes())?;
        if crc32fast::hash(stored) != self.payload_checksum {
            return None;
        }
        unpacker.unpack(stored, self.unpacked_bytes as usize, out)
    }
}

/// A block that is appended to, in memory.
#[derive(Debug, Default)]
pub(super) struct OpenBlock {
    entries: u32,
    base: Base,
    payload: Vec<u8>,
}

impl OpenBlock {
    /// Appends an entry; tells by how many bytes that grew. One that is too long leaves it as it was.
    pub(super) fn push<T: AsRef<str>>(
        &mut self,
        entry: &Entry<T>,
        sequence: u64,
        replaces: Option<&Ticket>,
    ) -> Result<usize, BacklogError> {
        if self.entries == 0 {
            let due = entry.due;
            self.base = Base { sequence, due };
            self.payload.reserve(FIRST_BYTES);
        }
        let start = self.payload.len();
        self.payload.extend_from_slice(&[0; LENGTH_BYTES]);
        entry::encode(entry, sequence, replaces, self.base, &mut self.payload);
        let bytes = self.payload.len() - start - LENGTH_BYTES;
        let Ok(length) = u16::try_from(bytes) else {
            self.payload.truncate(start);
            return Err(BacklogError::EntryTooLong { bytes });
        };
        self.payload[start..start + LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
        self.entries += 1;
        Ok(self.payload.len() - start)
    }

    /// Whether it should be closed before more is appended.
    pub(super) fn is_full(&self) -> bool {
        FULL_BYTES <= self.payload.len()
    }

    /// Its entries as they are read, and what their numbers are relative to.
    pub(super) fn payload(&self) -> (&[u8], Base) {
        (&self.payload, self.base)
    }

    /// How many it has.
    pub(super) fn entries(&self) -> u32 {
        self.entries
    }

    /// Bytes of its entries.
    pub(super) fn bytes(&self) -> usize {
        self.payload.len()
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.payload.capacity()
    }

    /// Appends it to `out` as the block of a segment whose first entry is `first`; it is empty then.
    pub(super) fn close(
        &mut self,
        segment: SegmentId,
        first: u32,
        packer: &mut Packer,
        out: &mut Vec<u8>,
    ) {
        if self.entries == 0 {
            return;
        }
        let start = out.len();
        out.extend_from_slice(&[0; HEADER_BYTES]);
        if self.payload.len() < PACKED_FROM_BYTES {
            out.extend_from_slice(&self.payload);
        } else {
            packer.pack(&self.payload, out);
        }
        let stored = &out[start + HEADER_BYTES..];
        // A payload is bounded by `PAYLOAD_BYTES_MAX`.
        let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let header = BlockHeader {
            first,
            entries: self.entries,
            stored_bytes: length(stored.len()),
            unpacked_bytes: length(self.payload.len()),
            payload_checksum: crc32fast::hash(stored),
            base: self.base,
        };
        out[start..start + HEADER_BYTES].copy_from_slice(&header.encode(segment));
        *self = OpenBlock::default();
    }
}

/// The bytes of the entry that `payload` begins with, and their length with that of the length; nothing if there is no whole one.
pub(super) fn first_entry(payload: &[u8]) -> Option<(&[u8], usize)> {
    let (length, rest) = payload.split_first_chunk::<LENGTH_BYTES>()?;
    let bytes = rest.get(..usize::from(u16::from_le_bytes(*length)))?;
    Some((bytes, LENGTH_BYTES + bytes.len()))
}

/// Replaces `out` by what the payload of a block with one entry would be.
pub(super) fn payload_of_one(entry: &[u8], out: &mut Vec<u8>) {
    let length = u16::try_from(entry.len()).unwrap_or(u16::MAX);
    out.clear();
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(entry);
}

fn checksum(segment: SegmentId, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&segment.0.to_le_bytes());
    hasher.update(bytes);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: SegmentId = SegmentId(5);

    fn entry(number: u64) -> Entry {
        Entry {
            url: format!("https://www.example.org/articles/{number}"),
            hops: "LL".to_owned(),
            due: Time::from_micros(77 + number),
            ..Entry::default()
        }
    }

    /// A closed block of so many entries, the first of which has index 7 and sequence 100.
    fn block(entries: u64) -> Vec<u8> {
        let mut open = OpenBlock::default();
        for number in 0..entries {
            open.push(&entry(number), 100 + number, None).unwrap();
        }
        let mut out = Vec::new();
        open.close(ID, 7, &mut Packer::new().unwrap(), &mut out);
        assert_eq!(open.bytes(), 0);
        out
    }

    fn unpack(bytes: &[u8]) -> Option<Vec<Entry>> {
        let header = BlockHeader::decode(ID, bytes)?;
        let mut payload = Vec::new();
        header.unpack(bytes, &mut Unpacker::new().unwrap(), &mut payload)?;
        let mut rest = &payload[..];
        let mut entries = Vec::new();
        while let Some((bytes, length)) = first_entry(rest) {
            entries.push(entry::decode(bytes, header.base)?.entry);
            rest = &rest[length..];
        }
        assert!(rest.is_empty());
        Some(entries)
    }

    #[test]
    fn a_block_reads_back_and_a_damaged_one_does_not() {
        // The smaller one is stored as it is.
        for count in [3_u32, 100] {
            let block = block(count.into());
            let header = BlockHeader::decode(ID, &block).unwrap();
            assert_eq!((header.first, header.end()), (7, 7 + count));
            assert_eq!(header.bytes(), block.len());
            assert_eq!(header.base.sequence, 100);
            let entries: Vec<Entry> = (0..count.into()).map(entry).collect();
            assert_eq!(unpack(&block), Some(entries));
            assert_eq!(BlockHeader::decode(SegmentId(6), &block), None);
            for at in 0..block.len() {
                assert_eq!(unpack(&block[..at]), None, "cut at {at}");
                for bit in 0..8 {
                    let mut flipped = block.clone();
                    flipped[at] ^= 1 << bit;
                    assert_eq!(unpack(&flipped), None, "bit {bit} of byte {at}");
                }
            }
        }
    }

    #[test]
    fn alike_urls_take_little_room() {
        let count = 400;
        let raw: usize = (0..count).map(|number| entry(number).url.len()).sum();
        assert!(
            block(count).len() < raw / 4,
            "{} of {raw}",
            block(count).len()
        );
    }

    #[test]
    fn an_entry_that_is_too_long_leaves_no_trace() {
        let mut open = OpenBlock::default();
        open.push(&entry(0), 100, None).unwrap();
        let bytes = open.bytes();
        let long = Entry {
            url: "a".repeat(70_000),
            ..Entry::default()
        };
        let refused = open.push(&long, 101, None);
        assert!(matches!(refused, Err(BacklogError::EntryTooLong { .. })));
        assert_eq!((open.bytes(), open.entries), (bytes, 1));
    }
}
