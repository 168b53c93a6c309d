//! Finds out what is in a backlog's directory after any kind of end.
//!
//! Loading changes nothing: it says what to repair, and opening does it. An entry that replaces another says so in its own frame; so when
//! a kill fell between writing the entry and writing the acknowledgement, the old one is still known to be done with.
//!
//! A kill or a power loss leaves a torn end, and that is cut. What cannot be read although more follows, or although the manifest names it, was damaged from
//! outside: it is passed over, and what it held is counted as lost.

use std::collections::BTreeMap;
use std::path::Path;

use super::BacklogError;
use super::acks::{self, AckLog, Range};
use super::cursor::{Cursor, Damage, ReadFault, Source};
use super::entry::Base;
use super::lengths::{Lengths, Recovery, SegmentLength, Tails};
use super::scan::unpacker;
use super::segment::{self, Format, HEADER_BYTES_MAX, Segment};
use super::ticket::SegmentId;
use crate::bucketed::Repairs;
use crate::packing::Unpacker;
use junkai_files::disk::{self, Disk};
use junkai_frontier::Time;

/// A directory's content, read but not repaired.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) segments: BTreeMap<SegmentId, Segment>,
    pub(super) acks: AckLog,
    pub(super) next_segment: u64,
    pub(super) position: u64,
    pub(super) report: Recovery,
    pub(super) repairs: Repairs,
}

/// Reads the directory.
pub(super) fn load(disk: &Disk, dir: &Path, tails: Tails) -> Result<Loaded, BacklogError> {
    let lengths = tails.lengths();
    let mut loader = Loader {
        disk,
        dir,
        tails,
        lengths,
        unpacker: unpacker(dir)?,
        segments: BTreeMap::new(),
        replaced: Vec::new(),
        damaged: Vec::new(),
        report: Recovery::default(),
        repairs: Repairs::default(),
    };
    let names = disk.list(dir)?;
    for name in &names {
        if name.ends_with(disk::TEMPORARY_SUFFIX) {
            loader.repairs.remove(dir.join(name));
        } else if let Some(id) = segment::id_of(name) {
            loader.load_segment(id)?;
        }
    }
    for length in &lengths.segments {
        loader.expect(length);
    }
    let acks = loader.load_acks(&names)?;
    Ok(loader.finish(acks))
}

struct Loader<'a> {
    disk: &'a Disk,
    dir: &'a Path,
    tails: Tails<'a>,
    lengths: &'a Lengths,
    unpacker: Unpacker,
    segments: BTreeMap<SegmentId, Segment>,
    /// Entries that others say they replace.
    replaced: Vec<(SegmentId, u32)>,
    /// Entries that cannot be read any more, as far as that is known.
    damaged: Vec<(SegmentId, std::ops::Range<u32>)>,
    report: Recovery,
    repairs: Repairs,
}

impl Loader<'_> {
    fn load_segment(&mut self, id: SegmentId) -> Result<(), BacklogError> {
        let path = segment::path(self.dir, id);
        let known = self.lengths.of(id).copied();
        // A manifest names all segments of its time but those that are out of use.
        let is_retired = id.0 < self.lengths.next_segment;
        if known.is_none() && (is_retired || !self.tails.are_kept()) {
            self.repairs.remove(path);
            return Ok(());
        }
        let Some(file) = self.disk.open_if_there(&path)? else {
            // For one who looks on: a live crawl removed it since it was listed.
            return Ok(());
        };
        let file_bytes = file.length()?;
        let mut header = [0; HEADER_BYTES_MAX];
        let read = file.read_up_to(&mut header, 0)?;
        drop(file);
        let segment = match Segment::from_header(id, &header[..read]) {
            Some(segment) => Some(segment),
            None => self.without_header(id, file_bytes)?,
        };
        let Some(mut segment) = segment else {
            self.repairs.remove(path);
            return Ok(());
        };
        let trusted = known.filter(|known| known.bytes <= file_bytes);
        if let Some(known) = trusted {
            trust(&mut segment, &known);
        }
        let may_follow = trusted.is_none() || self.tails.are_kept();
        if may_follow {
            self.scan_tail(&mut segment, file_bytes)?;
        }
        segment.is_sealed |= segment.written < file_bytes;
        self.repairs.cut(path, segment.written, file_bytes);
        self.segments.insert(id, segment);
        Ok(())
    }

    /// The segment of a file whose header is damaged, if there is anything right in it.
    fn without_header(
        &mut self,
        id: SegmentId,
        file_bytes: u64,
    ) -> Result<Option<Segment>, BacklogError> {
        // What frames are relative to is lost with the header: let them be due, and `seen` take them in again.
        let base = Base {
            sequence: self.lengths.of(id).map_or(0, |known| known.next_sequence),
            due: Time::EPOCH,
        };
        for format in [Format::Blocks, Format::Frames { base }] {
            let mut segment = Segment::without_header(id, format);
            let header_bytes = std::mem::replace(&mut segment.written, file_bytes);
            let mut cursor = Cursor::of_tail(&segment);
            if cursor.finds_any(&segment, &mut self.source())? {
                segment.written = header_bytes;
                return Ok(Some(segment));
            }
        }
        Ok(None)
    }

    fn source(&mut self) -> Source<'_> {
        Source {
            disk: self.disk,
            dir: self.dir,
            unpacker: &mut self.unpacker,
        }
    }

    /// Takes in what follows in the file what is known of the segment.
    fn scan_tail(&mut self, segment: &mut Segment, file_bytes: u64) -> Result<(), BacklogError> {
        let mut cursor = Cursor::of_tail(segment);
        let before = segment.entries;
        segment.written = file_bytes;
        loop {
            match cursor.peek(segment, &mut self.source()) {
                Ok(Some(peeked)) => {
                    cursor.advance(&peeked);
                    segment.next_sequence = peeked.stored.sequence + 1;
                    self.replaced.extend(peeked.stored.replaces);
                }
                Ok(None) => break,
                Err(ReadFault::Damage(Damage { first, end, .. })) => {
                    self.damaged.push((segment.id, first..end));
                    segment.is_sealed = true;
                }
                Err(ReadFault::Disk(error)) => return Err(error.into()),
            }
        }
        segment.entries = cursor.index;
        segment.written = cursor.offset();
        let kept = segment.entries - before;
        segment.is_dirty |= 0 < kept;
        self.report.kept += u64::from(kept);
        Ok(())
    }

    /// Compares what was found of a segment with what the manifest names: what is missing is lost.
    fn expect(&mut self, known: &SegmentLength) {
        let id = known.id;
        let segment = self.segments.entry(id).or_insert_with(|| {
            let mut missing = Segment::without_header(id, Format::Blocks);
            trust(&mut missing, known);
            missing.entries = 0;
            missing
        });
        if segment.entries < known.entries {
            self.damaged.push((id, segment.entries..known.entries));
            segment.entries = known.entries;
            segment.next_sequence = segment.next_sequence.max(known.next_sequence);
            segment.is_sealed = true;
        }
    }

    /// Reads the log of acknowledgements and marks what is done with.
    fn load_acks(&mut self, names: &[String]) -> Result<AckLog, BacklogError> {
        let on_disk = names.iter().filter_map(|name| acks::FILES.number_of(name));
        let generation = match self.tails {
            Tails::Keep(lengths) => on_disk.clone().max().unwrap_or(lengths.acks.generation),
            Tails::Cut(lengths) => lengths.acks.generation,
        };
        for other in on_disk.filter(|other| *other != generation) {
            self.repairs.remove(acks::FILES.path(self.dir, other));
        }
        let path = acks::FILES.path(self.dir, generation);
        let mut bytes = self.disk.read(&path)?.unwrap_or_default();
        let file_bytes = bytes.len() as u64;
        if let Tails::Cut(lengths) = self.tails {
            bytes.truncate(usize::try_from(lengths.acks.bytes).unwrap_or(usize::MAX));
        }
        let decoded = acks::decode(generation, &bytes);
        self.repairs.cut(path, decoded.bytes, file_bytes);
        let promised = &self.lengths.acks;
        let missing = if promised.generation == generation {
            promised.bytes.saturating_sub(decoded.bytes)
        } else {
            0
        };
        self.report.acks_lost_bytes = decoded.damaged_bytes + missing;
        for range in decoded.ranges {
            self.finish_range(range);
        }
        Ok(AckLog::new(generation, decoded.bytes))
    }

    fn finish_range(&mut self, range: Range) {
        if let Some(segment) = self.segments.get_mut(&range.segment) {
            let end = range.first.saturating_add(range.count);
            for index in range.first..end.min(segment.entries) {
                segment.finish(index);
            }
        }
    }

    fn finish(mut self, mut acks: AckLog) -> Loaded {
        for (id, index) in std::mem::take(&mut self.replaced) {
            let segment = self.segments.get_mut(&id);
            if segment.is_some_and(|segment| segment.finish(index)) {
                acks.push(id, index);
            }
        }
        for (id, range) in std::mem::take(&mut self.damaged) {
            let Some(segment) = self.segments.get_mut(&id) else {
                continue;
            };
            for index in range.filter(|index| segment.finish(*index)) {
                acks.push(id, index);
                self.report.lost += 1;
            }
        }
        let last = self.segments.last_key_value();
        let next_segment = last.map_or(0, |(id, _)| id.0 + 1);
        let sequences = self.segments.values().map(|segment| segment.next_sequence);
        let position = sequences.max().unwrap_or(0);
        let left = self.segments.values().map(Segment::left);
        self.report.waiting = left.map(u64::from).sum();
        self.report.cut_bytes = self.repairs.cut_bytes;
        self.report.removed_files = self.repairs.removed_files;
        Loaded {
            acks,
            next_segment: next_segment.max(self.lengths.next_segment),
            position: position.max(self.lengths.position.0),
            segments: self.segments,
            report: self.report,
            repairs: self.repairs,
        }
    }
}

fn trust(segment: &mut Segment, known: &SegmentLength) {
    segment.written = known.bytes;
    segment.entries = known.entries;
    segment.next_sequence = known.next_sequence;
    segment.is_dirty = false;
}
