//! Some records of one bucket as they were written at one time: a header, then blocks.
//!
//! Records of a run are sorted by the unit of time in which they are due, then by host and path. So a bucket that covers a day is worked off minute by
//! minute where it is: each of its runs is read once, front to back, as far as the present unit, and nothing is written again. This is what joins the two
//! graded wheels of the literature: the hierarchical one keeps the finest resolution and writes each record once a level; the geometric one writes
//! once and gives up the resolution.

use std::io;

use super::block::{BlockWriter, Units};
use super::buffers::Gathered;
use super::ticket::{BucketNumber, Place};
use crate::packing::Packer;
use junkai_frontier::Time;

const VERSION: u32 = 1;
pub(super) const HEADER_BYTES: usize = 48;
const PREFIX_BYTES: usize = 12;

/// What the header of a run says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunHeader {
    /// Bytes of the run, with this header.
    pub(super) bytes: u64,
    pub(super) records: u32,
    pub(super) units: Units,
}

impl RunHeader {
    fn encode(&self, place: Place) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[4..8].copy_from_slice(&VERSION.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.records.to_le_bytes());
        // Four bytes are left for later.
        let numbers = [
            self.bytes,
            self.units.unit,
            self.units.tick,
            self.units.first,
        ];
        for (at, number) in numbers.iter().enumerate() {
            bytes[16 + 8 * at..24 + 8 * at].copy_from_slice(&number.to_le_bytes());
        }
        let sum = checksum(place, &bytes[4..]);
        bytes[..4].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The header that `bytes` begin with; nothing if it is not right, or not of the run whose first record is at `place`.
    pub(super) fn decode(place: Place, bytes: &[u8]) -> Option<RunHeader> {
        let bytes = bytes.get(..HEADER_BYTES)?;
        let word = |at: usize| {
            let word = bytes[at..at + 4].try_into();
            word.map_or(0, u32::from_le_bytes)
        };
        let number = |at: usize| {
            let number = bytes[16 + 8 * at..24 + 8 * at].try_into();
            number.map_or(0, u64::from_le_bytes)
        };
        let header = RunHeader {
            bytes: number(0),
            records: word(8),
            units: Units {
                unit: number(1),
                tick: number(2),
                first: number(3),
            },
        };
        let is_right = word(0) == checksum(place, &bytes[4..]) && word(4) == VERSION;
        let is_sound = 0 < header.units.unit
            && 0 < header.units.tick
            && 0 < header.records
            && HEADER_BYTES as u64 <= header.bytes;
        (is_right && is_sound).then_some(header)
    }
}

impl Units {
    /// When a unit has passed.
    pub(super) fn end_of(&self, unit: u64) -> Time {
        Time::from_micros(unit.saturating_add(1).saturating_mul(self.unit))
    }
}

/// Where a run goes, and how its records are sorted.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunPlan {
    pub(super) bucket: BucketNumber,
    /// The index of its first record.
    pub(super) first: u32,
    /// The span of time by which records are sorted, and that to which due times are kept.
    pub(super) unit: u64,
    pub(super) tick: u64,
    /// Whether it stays on disk for long enough that making it small pays.
    pub(super) is_packed: bool,
}

/// Records that are to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen<'a> {
    pub(super) gathered: &'a Gathered,
    /// Where each of them begins there.
    pub(super) offsets: &'a [u32],
}

/// Writes runs; kept for its working memory.
#[derive(Debug)]
pub(super) struct RunWriter {
    packer: Packer,
    by_unit: Vec<u64>,
    by_url: Vec<(u128, u32)>,
    block: BlockWriter,
}

impl RunWriter {
    pub(super) fn new() -> io::Result<RunWriter> {
        Ok(RunWriter {
            packer: Packer::new()?,
            by_unit: Vec::new(),
            by_url: Vec::new(),
            block: BlockWriter::default(),
        })
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.by_unit.capacity() * size_of::<u64>()
            + self.by_url.capacity() * size_of::<(u128, u32)>()
    }

    /// Appends a run to `out`, and tells the number of its records.
    pub(super) fn write(&mut self, plan: RunPlan, chosen: Chosen, out: &mut Vec<u8>) -> u32 {
        let unit_of = |offset: &u32| chosen.gathered.record(*offset).0.as_micros() / plan.unit;
        let units = Units {
            unit: plan.unit,
            tick: plan.tick,
            first: chosen.offsets.iter().map(unit_of).min().unwrap_or(0),
        };
        let start = out.len();
        out.extend_from_slice(&[0; HEADER_BYTES]);
        let place = Place {
            bucket: plan.bucket,
            index: plan.first,
        };
        let records = if plan.is_packed {
            self.write_packed(place, units, chosen, out)
        } else {
            self.write_plain(place, units, chosen, out)
        };
        let header = RunHeader {
            bytes: (out.len() - start) as u64,
            records,
            units,
        };
        out[start..start + HEADER_BYTES].copy_from_slice(&header.encode(place));
        records
    }

    /// Records sorted by unit and URL, so that neighbours are alike, and packed.
    fn write_packed(
        &mut self,
        first: Place,
        units: Units,
        chosen: Chosen,
        out: &mut Vec<u8>,
    ) -> u32 {
        let gathered = chosen.gathered;
        self.by_url.clear();
        self.by_url.extend(chosen.offsets.iter().map(|offset| {
            let (due, url, _) = gathered.record(*offset);
            let unit = due.as_micros() / units.unit - units.first;
            let key = u128::from(unit) << (8 * PREFIX_BYTES) | prefix(url);
            (key, *offset)
        }));
        self.by_url.sort_unstable_by(|left, right| {
            let urls = || gathered.record(left.1).1.cmp(gathered.record(right.1).1);
            left.0.cmp(&right.0).then_with(urls)
        });
        let mut place = first;
        for (_, offset) in &self.by_url {
            let (due, url, body) = gathered.record(*offset);
            self.block.push(due, url, body, units);
            if self.block.is_full() {
                place.index += self.block.finish(place, Some(&mut self.packer), out);
            }
        }
        if !self.block.is_empty() {
            place.index += self.block.finish(place, Some(&mut self.packer), out);
        }
        place.index - first.index
    }

    /// Records sorted by unit, and as they are.
    fn write_plain(
        &mut self,
        first: Place,
        units: Units,
        chosen: Chosen,
        out: &mut Vec<u8>,
    ) -> u32 {
        let gathered = chosen.gathered;
        self.by_unit.clear();
        self.by_unit.extend(chosen.offsets.iter().map(|offset| {
            let due = gathered.record(*offset).0;
            let unit = due.as_micros() / units.unit - units.first;
            unit << u32::BITS | u64::from(*offset)
        }));
        self.by_unit.sort_unstable();
        let mut place = first;
        for key in &self.by_unit {
            let offset = u32::try_from(key & u64::from(u32::MAX)).unwrap_or(u32::MAX);
            let (due, url, body) = gathered.record(offset);
            self.block.push_plain(due, url, body, units);
            if self.block.is_full() {
                place.index += self.block.finish(place, None, out);
            }
        }
        if !self.block.is_empty() {
            place.index += self.block.finish(place, None, out);
        }
        place.index - first.index
    }
}

/// The first letters of a URL that tell hosts apart, as a number.
fn prefix(url: &[u8]) -> u128 {
    let host = url
        .strip_prefix(b"https://")
        .or_else(|| url.strip_prefix(b"http://"));
    let host = host.unwrap_or(url);
    let host = host.strip_prefix(b"www.").unwrap_or(host);
    let mut letters = [0; 16];
    let length = host.len().min(PREFIX_BYTES);
    letters[16 - PREFIX_BYTES..16 - PREFIX_BYTES + length].copy_from_slice(&host[..length]);
    u128::from_be_bytes(letters)
}

fn checksum(place: Place, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(b"run");
    hasher.update(&place.bucket.0.to_le_bytes());
    hasher.update(&place.index.to_le_bytes());
    hasher.update(bytes);
    hasher.finalize()
}
