//! Some records of one bucket as they were written at one time: a header, then blocks.
//!
//! Records of a run are sorted by the unit of time in which they are due, then by host and path. So a bucket that covers a day is worked off minute by
//! minute where it is: each of its runs is read once, front to back, as far as the present unit, and nothing is written again. This is what joins the two
//! graded wheels of the literature: the hierarchical one keeps the finest resolution and writes each record once a level; the geometric one writes
//! once and gives up the resolution.

use super::block::{BlockWriter, Units};
use super::buffers::Gathered;
use super::packing::Packer;
use super::ticket::{BucketNumber, Place};
use crate::time::Time;

const VERSION: u32 = 1;
pub(super) const HEADER_BYTES: usize = 48;
/// A span is divided into at most as many units, so that sorting keys are short.
const UNITS_PER_SPAN_LOG2: u32 = 24;
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
    /// The bucket's span.
    pub(super) span: u64,
    /// The index of its first record.
    pub(super) first: u32,
    /// The finest span of time, and that to which due times are kept.
    pub(super) unit: u64,
    pub(super) tick: u64,
    /// Whether it stays on disk for long enough that making it small pays.
    pub(super) is_packed: bool,
}

/// Writes runs; kept for its working memory.
#[derive(Debug, Default)]
pub(super) struct RunWriter {
    keys: Vec<(u128, u32)>,
    block: BlockWriter,
}

impl RunWriter {
    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.keys.capacity() * size_of::<(u128, u32)>()
    }

    /// Appends a run of all gathered records to `out`, and tells their number.
    pub(super) fn write(
        &mut self,
        plan: RunPlan,
        gathered: &Gathered,
        packer: &mut Packer,
        out: &mut Vec<u8>,
    ) -> u32 {
        let unit = plan
            .unit
            .max((plan.span >> UNITS_PER_SPAN_LOG2) / plan.tick * plan.tick);
        let first = self.sort(gathered, unit);
        let units = Units {
            unit,
            tick: plan.tick,
            first,
        };
        let mut packer = plan.is_packed.then_some(packer);
        let start = out.len();
        out.extend_from_slice(&[0; HEADER_BYTES]);
        let mut place = Place {
            bucket: plan.bucket,
            index: plan.first,
        };
        for (_, offset) in &self.keys {
            let (due, url, body) = gathered.record(*offset);
            self.block.push(due, url, body, units);
            if self.block.is_full() {
                place.index += self.block.finish(place, packer.as_deref_mut(), out);
            }
        }
        if !self.block.is_empty() {
            place.index += self.block.finish(place, packer, out);
        }
        let header = RunHeader {
            bytes: (out.len() - start) as u64,
            records: place.index - plan.first,
            units,
        };
        let place = Place {
            bucket: plan.bucket,
            index: plan.first,
        };
        out[start..start + HEADER_BYTES].copy_from_slice(&header.encode(place));
        header.records
    }

    /// Sorts the records by unit and URL, and tells the first unit.
    fn sort(&mut self, gathered: &Gathered, unit: u64) -> u64 {
        let units = gathered
            .offsets()
            .map(|offset| gathered.record(offset).0.as_micros() / unit);
        let first = units.min().unwrap_or(0);
        self.keys.clear();
        self.keys.extend(gathered.offsets().map(|offset| {
            let (due, url, _) = gathered.record(offset);
            let unit = due.as_micros() / unit - first;
            (u128::from(unit) << (8 * PREFIX_BYTES) | prefix(url), offset)
        }));
        self.keys.sort_unstable_by(|left, right| {
            let urls = || gathered.record(left.1).1.cmp(gathered.record(right.1).1);
            left.0.cmp(&right.0).then_with(urls)
        });
        first
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
