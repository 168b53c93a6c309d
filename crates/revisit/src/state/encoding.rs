//! A page state as bytes: about seventy, most of them the digest and what the page says.
//!
//! ```text
//! format (1 byte) · parts (varint of flags) · last visit (s) · interval (s) · visits · changes · server · depth · memory
//! then, each if its flag is set:
//!   misses, seen · changed · signals · worth · kind
//! and unless the page was never seen:
//!   digest · captured (ms) · indexed · content, or else where it can be read · entity tag · Last-Modified (s)
//! ```
//!
//! Numbers are varints; times beside the last visit are differences to it. A state has one form only, so bytes that were damaged rarely decode; those
//! that do are a valid state. Who stores the bytes checks them by a checksum.
//!
//! What is kept is coarser than what is worked with: times have whole seconds, rounded down; a capture's date has the milliseconds that its
//! WARC record has; the log-normal memory has floats of three bytes, which err by less than one part in 65,000.
//!
//! A digest is whole where later records name it: a record of an unchanged page refers to the capture by the digest in the index, and to look that up
//! would cost a random read for each visit. Where the index knows the capture by another digest, of the payload's own the first [`DIGEST_BYTES_MIN`]
//! bytes are kept.

use std::time::Duration;

use junkai_frontier::{ServerKey, Time};
use junkai_page::content::{Content, Sketch};

use super::PageState;
use crate::codec::{Reader, put_bytes, put_float, put_short_float, put_signed, put_varint};
use crate::estimator::{GammaMemory, GapMemory, LogNormalMemory, Memory, NaiveMemory};
use crate::version::{DIGEST_BYTES_MAX, DIGEST_BYTES_MIN, Digest, ETAG_BYTES_MAX, Place, Version};

/// The first byte of every state.
const FORMAT: u8 = 2;

/// What a state may have, the most frequent first: the flags of most states fit into one byte.
mod part {
    pub(super) const CONTENT: u64 = 1;
    pub(super) const LAST_MODIFIED: u64 = 1 << 1;
    pub(super) const CHANGED: u64 = 1 << 2;
    pub(super) const KIND: u64 = 1 << 3;
    pub(super) const ETAG: u64 = 1 << 4;
    /// The version has a digest of its own in the index.
    pub(super) const INDEXED: u64 = 1 << 5;
    pub(super) const MISSES: u64 = 1 << 6;
    pub(super) const SIGNALS: u64 = 1 << 7;
    pub(super) const WORTH: u64 = 1 << 8;
    /// The page was never seen: there is no version.
    pub(super) const UNSEEN: u64 = 1 << 9;
    /// The memory is not of the usual estimator: its tag comes first.
    pub(super) const OTHER_MEMORY: u64 = 1 << 10;
    /// Digests are not of the usual length: it comes first.
    pub(super) const OTHER_DIGEST: u64 = 1 << 11;
    /// Nobody has read yet what the version says: where it can be read.
    pub(super) const UNREAD: u64 = 1 << 12;
    pub(super) const ALL: u64 = (1 << 13) - 1;
    pub(super) const OF_VERSION: u64 =
        CONTENT | LAST_MODIFIED | ETAG | INDEXED | OTHER_DIGEST | UNREAD;
}

/// Tags of the estimators' memories beside the usual one, which is the log-normal.
const GAMMA: u8 = 0;
const GAP: u8 = 1;
const NAIVE: u8 = 2;

/// Bytes of a digest that is not told how long it is: SHA-1.
const DIGEST_BYTES: usize = 20;

/// An interval is at most a hundred years.
const INTERVAL_SECONDS_MAX: u64 = 100 * 366 * 24 * 3600;

const MICROS_PER_MILLI: u64 = 1000;
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
        let last_visit = seconds(self.last_visit);
        out.push(FORMAT);
        put_varint(out, parts);
        put_varint(out, last_visit);
        put_varint(out, self.interval.as_secs().min(INTERVAL_SECONDS_MAX));
        put_varint(out, self.visits.into());
        put_varint(out, self.changes.into());
        put_varint(out, self.server.number().into());
        put_varint(out, self.depth.into());
        put_memory(out, &self.memory);
        if parts & part::MISSES != 0 {
            put_varint(out, self.misses.into());
            put_before(out, last_visit, seconds(self.seen));
        }
        if let Some(changed) = self.changed {
            put_before(out, last_visit, seconds(changed));
        }
        if parts & part::SIGNALS != 0 {
            out.push(self.signals);
        }
        if parts & part::WORTH != 0 {
            put_float(out, self.worth);
        }
        if parts & part::KIND != 0 {
            out.push(self.kind);
        }
        if let Some(version) = &self.version {
            put_version(out, version, last_visit);
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
        let is_missing = 0 < self.misses || seconds(self.seen) != seconds(self.last_visit);
        let is_usual = matches!(self.memory, Memory::LogNormal(_));
        flag(is_missing, part::MISSES)
            | flag(self.changed.is_some(), part::CHANGED)
            | flag(self.signals != 0, part::SIGNALS)
            | flag(self.worth.to_bits() != 1.0_f32.to_bits(), part::WORTH)
            | flag(self.kind != 0, part::KIND)
            | flag(!is_usual, part::OTHER_MEMORY)
            | self.version.as_ref().map_or(part::UNSEEN, |version| {
                flag(version.indexed.is_some(), part::INDEXED)
                    | flag(
                        named_digest(version).len() != DIGEST_BYTES,
                        part::OTHER_DIGEST,
                    )
                    | flag(version.content.is_some(), part::CONTENT)
                    | flag(place_to_read(version).is_some(), part::UNREAD)
                    | flag(kept_etag(version).is_some(), part::ETAG)
                    | flag(version.last_modified.is_some(), part::LAST_MODIFIED)
            })
    }
}

fn put_memory(out: &mut Vec<u8>, memory: &Memory) {
    match memory {
        Memory::LogNormal(own) => {
            put_short_float(out, own.pull);
            put_short_float(out, own.hold);
            put_short_float(out, own.quiet_days);
        }
        Memory::Gamma(GammaMemory { shape, seconds }) => {
            out.push(GAMMA);
            put_float(out, *shape);
            put_float(out, *seconds);
        }
        Memory::Gap(gap) => {
            out.push(GAP);
            for number in [
                gap.changed_time,
                gap.stable_time,
                gap.changed_gaps,
                gap.shortest,
                gap.last,
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

fn put_version(out: &mut Vec<u8>, version: &Version, last_visit: u64) {
    let named = named_digest(version);
    if named.len() != DIGEST_BYTES {
        put_varint(out, named.len() as u64);
    }
    out.extend_from_slice(named);
    if version.indexed.is_some() {
        put_bytes(out, version.digest.beginning());
    }
    let captured = version.captured.as_micros() / MICROS_PER_MILLI;
    put_before(out, 1000 * last_visit, captured);
    if let Some(content) = version.content {
        put_short(out, content.fingerprint);
        put_short(out, content.own);
        out.extend_from_slice(&content.sketch.to_bits().to_le_bytes());
    }
    if let Some(place) = place_to_read(version) {
        out.extend_from_slice(&place.file.to_le_bytes());
        put_varint(out, place.offset);
    }
    if let Some(etag) = kept_etag(version) {
        put_bytes(out, etag.as_bytes());
    }
    if let Some(modified) = version.last_modified {
        put_before(out, captured / 1000, seconds(modified));
    }
}

fn read_state(reader: &mut Reader<'_>) -> Option<PageState> {
    if reader.byte()? != FORMAT {
        return None;
    }
    let parts = reader.varint()?;
    let has_stray_part = parts & part::UNSEEN != 0 && parts & part::OF_VERSION != 0;
    if parts & !part::ALL != 0 || has_stray_part {
        return None;
    }
    let has = |part: u64| parts & part != 0;
    let last_visit = reader.varint()?;
    let interval = reader.varint().filter(|it| *it <= INTERVAL_SECONDS_MAX)?;
    let mut state = PageState {
        last_visit: at_second(last_visit)?,
        seen: at_second(last_visit)?,
        changed: None,
        interval: Duration::from_secs(interval),
        visits: reader.number()?,
        changes: reader.number()?,
        misses: 0,
        signals: 0,
        server: ServerKey::new(reader.number()?),
        depth: reader.number()?,
        memory: read_memory(reader, parts)?,
        version: None,
        worth: 1.0,
        kind: 0,
    };
    if has(part::MISSES) {
        state.misses = reader.number()?;
        state.seen = at_second(read_before(reader, last_visit)?)?;
    }
    if has(part::CHANGED) {
        state.changed = Some(at_second(read_before(reader, last_visit)?)?);
    }
    if has(part::SIGNALS) {
        state.signals = reader.byte()?;
    }
    if has(part::WORTH) {
        state.worth = reader.float().filter(|worth| 0.0 <= *worth)?;
    }
    if has(part::KIND) {
        state.kind = reader.byte()?;
    }
    if !has(part::UNSEEN) {
        state.version = Some(read_version(reader, parts, last_visit)?);
    }
    let is_whole = state.parts() == parts && state.changes <= state.visits;
    is_whole.then_some(state)
}

fn read_memory(reader: &mut Reader<'_>, parts: u64) -> Option<Memory> {
    if parts & part::OTHER_MEMORY == 0 {
        return Some(Memory::LogNormal(LogNormalMemory {
            pull: reader.short_float()?,
            hold: reader.short_float().filter(|hold| 0.0 <= *hold)?,
            quiet_days: reader.short_float().filter(|days| 0.0 <= *days)?,
        }));
    }
    let tag = reader.byte()?;
    let mut number = || reader.float().filter(|number| 0.0 <= *number);
    match tag {
        GAMMA => Some(Memory::Gamma(GammaMemory {
            shape: number()?,
            seconds: number()?,
        })),
        GAP => Some(Memory::Gap(GapMemory {
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

fn read_version(reader: &mut Reader<'_>, parts: u64, last_visit: u64) -> Option<Version> {
    let has = |part: u64| parts & part != 0;
    let named = if has(part::OTHER_DIGEST) {
        reader.bytes(DIGEST_BYTES_MAX)?
    } else {
        reader.array_ref::<DIGEST_BYTES>()?
    };
    let named = Digest::new(named)?;
    let (mut digest, mut indexed) = (named, None);
    if has(part::INDEXED) {
        digest = Digest::new(reader.bytes(DIGEST_BYTES_MIN)?)?;
        indexed = Some(named);
    }
    let captured = read_before(reader, last_visit.checked_mul(1000)?)?;
    let mut version = Version {
        digest,
        indexed,
        content: None,
        unread: None,
        captured: Time::from_micros(captured.checked_mul(MICROS_PER_MILLI)?),
        etag: None,
        last_modified: None,
    };
    if has(part::CONTENT) {
        version.content = Some(Content {
            fingerprint: read_short(reader)?,
            own: read_short(reader)?,
            sketch: Sketch::from_bits(u128::from_le_bytes(reader.array()?)),
        });
    }
    if has(part::UNREAD) {
        version.unread = Some(Place {
            file: u32::from_le_bytes(reader.array()?),
            offset: reader.varint()?,
        });
    }
    if has(part::ETAG) {
        let etag = str::from_utf8(reader.bytes(ETAG_BYTES_MAX)?).ok()?;
        version.etag = Some(etag.into());
    }
    if has(part::LAST_MODIFIED) {
        version.last_modified = Some(at_second(read_before(reader, captured / 1000)?)?);
    }
    Some(version)
}

/// The digest that later records name: the one by which the index knows the capture.
fn named_digest(version: &Version) -> &[u8] {
    version
        .indexed
        .as_ref()
        .unwrap_or(&version.digest)
        .as_bytes()
}

/// Where it can be read what a version says, if that is not known.
fn place_to_read(version: &Version) -> Option<Place> {
    version.unread.filter(|_| version.content.is_none())
}

/// The entity tag, unless it is longer than what is kept.
fn kept_etag(version: &Version) -> Option<&str> {
    version
        .etag
        .as_deref()
        .filter(|etag| etag.len() <= ETAG_BYTES_MAX)
}

/// Appends the three bytes of a name of a content.
fn put_short(out: &mut Vec<u8>, name: u32) {
    out.extend_from_slice(&name.to_le_bytes()[..3]);
}

fn read_short(reader: &mut Reader<'_>) -> Option<u32> {
    let [low, middle, high] = reader.array()?;
    Some(u32::from_le_bytes([low, middle, high, 0]))
}

/// Appends by how much a time comes before another, in either direction.
fn put_before(out: &mut Vec<u8>, later: u64, earlier: u64) {
    put_signed(out, later.wrapping_sub(earlier).cast_signed());
}

fn read_before(reader: &mut Reader<'_>, later: u64) -> Option<u64> {
    Some(later.wrapping_sub(reader.signed()?.cast_unsigned()))
}

/// The whole second that a time is in.
fn seconds(time: Time) -> u64 {
    time.as_micros() / MICROS_PER_SECOND
}

fn at_second(seconds: u64) -> Option<Time> {
    Some(Time::from_micros(seconds.checked_mul(MICROS_PER_SECOND)?))
}
