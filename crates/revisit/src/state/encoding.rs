//! A page state as bytes: about ninety, most of them the digest and what the page says.
//!
//! ```text
//! format (1 byte) · parts (varint of flags) · last visit (µs) · interval (ms) · visits · changes · server · memory
//! then, each if its flag is set:
//!   misses, seen · changed · signals · worth · depth · kind · version
//! ```
//!
//! Numbers are varints; times beside the last visit are differences to it, in microseconds; `Last-Modified` has whole
//! seconds, as HTTP does. A state has one form only, so bytes that were damaged rarely decode; those that do
//! are a valid state. Who stores the bytes checks them by a checksum.

use std::time::Duration;

use junkai_frontier::{ServerKey, Time};
use junkai_page::content::{Content, Sketch};

use super::PageState;
use crate::codec::{Reader, put_bytes, put_float, put_signed, put_varint};
use crate::estimator::{GammaMemory, LogNormalMemory, Memory, NaiveMemory, SeedMemory};
use crate::version::{DIGEST_BYTES_MAX, Digest, ETAG_BYTES_MAX, Version};

/// The first byte of every state.
const FORMAT: u8 = 1;

/// The parts that a state may have.
mod part {
    pub(super) const MISSES: u64 = 1;
    pub(super) const CHANGED: u64 = 1 << 1;
    pub(super) const SIGNALS: u64 = 1 << 2;
    pub(super) const WORTH: u64 = 1 << 3;
    pub(super) const DEPTH: u64 = 1 << 4;
    pub(super) const KIND: u64 = 1 << 5;
    pub(super) const VERSION: u64 = 1 << 6;
    pub(super) const CONTENT: u64 = 1 << 7;
    pub(super) const ETAG: u64 = 1 << 8;
    pub(super) const LAST_MODIFIED: u64 = 1 << 9;
    /// The version has a digest of its own in the index.
    pub(super) const INDEXED: u64 = 1 << 10;
    pub(super) const ALL: u64 = (1 << 11) - 1;
}

/// Tags of the estimators' memories.
const GAMMA: u8 = 0;
const SEED: u8 = 1;
const NAIVE: u8 = 2;
const LOG_NORMAL: u8 = 3;

/// An interval is at most a hundred years.
const INTERVAL_MILLIS_MAX: u64 = 100 * 366 * 24 * 3600 * 1000;

const MICROS_PER_SECOND: u64 = 1_000_000;

impl PageState {
    /// The state as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(96);
        self.encode_into(&mut out);
        out
    }

    /// Appends the state as bytes.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        let parts = self.parts();
        out.push(FORMAT);
        put_varint(out, parts);
        put_varint(out, self.last_visit.as_micros());
        put_varint(out, millis(self.interval));
        put_varint(out, self.visits.into());
        put_varint(out, self.changes.into());
        put_varint(out, self.server.number().into());
        put_memory(out, &self.memory);
        if parts & part::MISSES != 0 {
            put_varint(out, self.misses.into());
            put_signed(out, before(self.last_visit, self.seen));
        }
        if let Some(changed) = self.changed {
            put_signed(out, before(self.last_visit, changed));
        }
        if parts & part::SIGNALS != 0 {
            out.push(self.signals);
        }
        if parts & part::WORTH != 0 {
            put_float(out, self.worth);
        }
        if parts & part::DEPTH != 0 {
            put_varint(out, self.depth.into());
        }
        if parts & part::KIND != 0 {
            out.push(self.kind);
        }
        if let Some(version) = &self.version {
            put_version(out, version, self.last_visit);
        }
    }

    /// The state that bytes hold; none if they are not a state.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<PageState> {
        let mut reader = Reader::new(bytes);
        let state = read_state(&mut reader)?;
        reader.is_at_end().then_some(state)
    }

    fn parts(&self) -> u64 {
        let flag = |is_there: bool, part: u64| if is_there { part } else { 0 };
        let version = self.version.as_ref();
        flag(
            0 < self.misses || self.seen != self.last_visit,
            part::MISSES,
        ) | flag(self.changed.is_some(), part::CHANGED)
            | flag(self.signals != 0, part::SIGNALS)
            | flag(self.worth.to_bits() != 1.0_f32.to_bits(), part::WORTH)
            | flag(self.depth != 0, part::DEPTH)
            | flag(self.kind != 0, part::KIND)
            | flag(version.is_some(), part::VERSION)
            | version.map_or(0, |version| {
                flag(version.indexed.is_some(), part::INDEXED)
                    | flag(version.content.is_some(), part::CONTENT)
                    | flag(kept_etag(version).is_some(), part::ETAG)
                    | flag(version.last_modified.is_some(), part::LAST_MODIFIED)
            })
    }
}

fn put_memory(out: &mut Vec<u8>, memory: &Memory) {
    match memory {
        Memory::LogNormal(own) => {
            out.push(LOG_NORMAL);
            put_float(out, own.pull);
            put_float(out, own.hold);
            put_float(out, own.quiet_days);
        }
        Memory::Gamma(GammaMemory { shape, seconds }) => {
            out.push(GAMMA);
            put_float(out, *shape);
            put_float(out, *seconds);
        }
        Memory::Seed(seed) => {
            out.push(SEED);
            for number in [
                seed.changed_time,
                seed.stable_time,
                seed.changed_gaps,
                seed.shortest,
                seed.last,
            ] {
                put_float(out, number);
            }
        }
        Memory::Naive(NaiveMemory { changes, time }) => {
            out.push(NAIVE);
            put_float(out, *changes);
            put_float(out, *time);
        }
    }
}

fn put_version(out: &mut Vec<u8>, version: &Version, last_visit: Time) {
    put_bytes(out, version.digest.as_bytes());
    put_signed(out, before(last_visit, version.captured));
    if let Some(indexed) = &version.indexed {
        put_bytes(out, indexed.as_bytes());
    }
    if let Some(content) = version.content {
        out.extend_from_slice(&content.fingerprint.to_le_bytes());
        out.extend_from_slice(&content.own.to_le_bytes());
        out.extend_from_slice(&content.sketch.to_bits().to_le_bytes());
        put_varint(out, content.words.into());
    }
    if let Some(etag) = kept_etag(version) {
        put_bytes(out, etag.as_bytes());
    }
    if let Some(modified) = version.last_modified {
        put_varint(out, modified.as_micros() / MICROS_PER_SECOND);
    }
}

fn read_state(reader: &mut Reader<'_>) -> Option<PageState> {
    if reader.byte()? != FORMAT {
        return None;
    }
    let parts = reader.varint()?;
    let within_version = part::CONTENT | part::ETAG | part::LAST_MODIFIED | part::INDEXED;
    let has_stray_part = parts & part::VERSION == 0 && parts & within_version != 0;
    if parts & !part::ALL != 0 || has_stray_part {
        return None;
    }
    let has = |part: u64| parts & part != 0;
    let last_visit = Time::from_micros(reader.varint()?);
    let interval = reader.varint().filter(|it| *it <= INTERVAL_MILLIS_MAX)?;
    let mut state = PageState {
        last_visit,
        seen: last_visit,
        changed: None,
        interval: Duration::from_millis(interval),
        visits: reader.number()?,
        changes: reader.number()?,
        misses: 0,
        signals: 0,
        server: ServerKey::new(reader.number()?),
        memory: read_memory(reader)?,
        version: None,
        worth: 1.0,
        depth: 0,
        kind: 0,
    };
    if has(part::MISSES) {
        state.misses = reader.number()?;
        state.seen = read_before(reader, last_visit)?;
    }
    if has(part::CHANGED) {
        state.changed = Some(read_before(reader, last_visit)?);
    }
    if has(part::SIGNALS) {
        state.signals = reader.byte()?;
    }
    if has(part::WORTH) {
        state.worth = reader.float().filter(|worth| 0.0 <= *worth)?;
    }
    if has(part::DEPTH) {
        state.depth = reader.number()?;
    }
    if has(part::KIND) {
        state.kind = reader.byte()?;
    }
    if has(part::VERSION) {
        state.version = Some(read_version(reader, parts, last_visit)?);
    }
    let is_whole = state.parts() == parts && state.changes <= state.visits;
    is_whole.then_some(state)
}

fn read_memory(reader: &mut Reader<'_>) -> Option<Memory> {
    let tag = reader.byte()?;
    if tag == LOG_NORMAL {
        return Some(Memory::LogNormal(LogNormalMemory {
            pull: reader.float()?,
            hold: reader.float().filter(|hold| 0.0 <= *hold)?,
            quiet_days: reader.float().filter(|days| 0.0 <= *days)?,
        }));
    }
    let mut number = || reader.float().filter(|number| 0.0 <= *number);
    match tag {
        GAMMA => Some(Memory::Gamma(GammaMemory {
            shape: number()?,
            seconds: number()?,
        })),
        SEED => Some(Memory::Seed(SeedMemory {
            changed_time: number()?,
            stable_time: number()?,
            changed_gaps: number()?,
            shortest: number()?,
            last: number()?,
        })),
        NAIVE => Some(Memory::Naive(NaiveMemory {
            changes: number()?,
            time: number()?,
        })),
        _ => None,
    }
}

fn read_version(reader: &mut Reader<'_>, parts: u64, last_visit: Time) -> Option<Version> {
    let digest = Digest::new(reader.bytes(DIGEST_BYTES_MAX)?)?;
    let captured = read_before(reader, last_visit)?;
    let mut version = Version {
        digest,
        indexed: None,
        content: None,
        captured,
        etag: None,
        last_modified: None,
    };
    if parts & part::INDEXED != 0 {
        version.indexed = Some(Digest::new(reader.bytes(DIGEST_BYTES_MAX)?)?);
    }
    if parts & part::CONTENT != 0 {
        version.content = Some(Content {
            fingerprint: u64::from_le_bytes(reader.array()?),
            own: u32::from_le_bytes(reader.array()?),
            sketch: Sketch::from_bits(u128::from_le_bytes(reader.array()?)),
            words: reader.number()?,
        });
    }
    if parts & part::ETAG != 0 {
        let etag = str::from_utf8(reader.bytes(ETAG_BYTES_MAX)?).ok()?;
        version.etag = Some(etag.into());
    }
    if parts & part::LAST_MODIFIED != 0 {
        let micros = reader.varint()?.checked_mul(MICROS_PER_SECOND)?;
        version.last_modified = Some(Time::from_micros(micros));
    }
    Some(version)
}

/// The entity tag, unless it is longer than what is kept.
fn kept_etag(version: &Version) -> Option<&str> {
    version
        .etag
        .as_deref()
        .filter(|etag| etag.len() <= ETAG_BYTES_MAX)
}

/// By how much `time` comes before `last_visit`, in microseconds; negative if it comes after.
fn before(last_visit: Time, time: Time) -> i64 {
    last_visit
        .as_micros()
        .wrapping_sub(time.as_micros())
        .cast_signed()
}

fn read_before(reader: &mut Reader<'_>, last_visit: Time) -> Option<Time> {
    let before = reader.signed()?.cast_unsigned();
    Some(Time::from_micros(
        last_visit.as_micros().wrapping_sub(before),
    ))
}

fn millis(interval: Duration) -> u64 {
    u64::try_from(interval.as_millis()).map_or(INTERVAL_MILLIS_MAX, |millis| {
        millis.min(INTERVAL_MILLIS_MAX)
    })
}
