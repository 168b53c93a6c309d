//! Keeps the sealed files of the index few: files of like size become one.
//!
//! Tiers are a factor of [`FAN_IN`] apart, and as many files of one tier become one of the next. So a line is written again once
//! per tier, and a look-up bisects fewer than [`FAN_IN`] files per tier.
//!
//! The merged file gets its name when it is whole and durable; only then are its sources removed. A crash before that
//! leaves an unfinished file, which [`crate::recover()`] removes; a crash after it leaves lines twice, which readers
//! take as one, and which the next merge makes one.

use std::fs;
use std::path::Path;

use uuid::Uuid;

use crate::index::{IndexError, Matches};
use crate::layout::{INDEX_SUFFIX, Layout, names};
use crate::segment::{Segment, SegmentWriter};

/// As many files become one.
const FAN_IN: usize = 8;
/// Files up to this size are of the lowest tier.
const LOWEST_TIER_BYTES: u64 = 8 << 20;

/// Merges what there is to merge in the index of the archive at `root`, and returns how many files were merged away.
///
/// Look-ups and writers may go on meanwhile.
pub fn merge(root: &Path) -> Result<usize, IndexError> {
    let directory = Layout::new(root).indexes();
    let failed = |source| IndexError::Io {
        path: directory.clone(),
        source,
    };
    let mut merged = 0;
    while let Some(segments) = ripe_tier(&directory).map_err(failed)? {
        let path = directory.join(format!("merged-{}{INDEX_SUFFIX}", Uuid::new_v4().simple()));
        let mut writer = SegmentWriter::create(&path).map_err(failed)?;
        let mut lines = Matches::over(&segments)?;
        while let Some(line) = lines.next_line()? {
            writer.push(&line).map_err(failed)?;
        }
        writer.finish().map_err(failed)?;
        for segment in &segments {
            fs::remove_file(&segment.path).map_err(failed)?;
        }
        merged += segments.len();
    }
    Ok(merged)
}

/// The files of the lowest tier that has enough of them.
fn ripe_tier(directory: &Path) -> std::io::Result<Option<Vec<Segment>>> {
    let mut tiers: Vec<Vec<Segment>> = Vec::new();
    for name in names(directory)? {
        if name.ends_with(INDEX_SUFFIX) {
            let segment = Segment::open(directory.join(name))?;
            let tier = tier_of(segment.length);
            if tiers.len() <= tier {
                tiers.resize_with(tier + 1, Vec::new);
            }
            tiers[tier].push(segment);
        }
    }
    Ok(tiers.into_iter().find(|tier| FAN_IN <= tier.len()))
}

fn tier_of(length: u64) -> usize {
    let mut bound = LOWEST_TIER_BYTES;
    let mut tier = 0;
    while bound < length {
        bound = bound.saturating_mul(FAN_IN as u64);
        tier += 1;
    }
    tier
}
