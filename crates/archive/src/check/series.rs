//! What records of one file say of each other: ids that are used once, dates of one capture, segments in their order.
//!
//! Bounds: a number of ids and of segmented records; what is beyond is not kept.

use std::collections::HashMap;

use sha1::{Digest as _, Sha1};

use super::Finding;
use super::standard::clipped;
use crate::record_head::RecordHead;

/// Ids that are kept, at some 30 bytes each: more than a file of the recommended size holds.
const IDS_MAX: usize = 1_800_000;
/// Segmented records whose next segment is waited for.
const SEGMENTED_MAX: usize = 10_000;

/// Stands for a text.
type Hash = [u8; 16];

/// The records of a file so far.
#[derive(Default)]
pub(super) struct Series {
    /// The date of each record.
    dates: HashMap<Hash, Hash>,
    segmented: HashMap<Hash, Segments>,
}

/// The segments of a record so far.
struct Segments {
    last: u64,
    /// Of all blocks; none if a segment was in another file.
    bytes: Option<u64>,
    target: Option<Hash>,
}

impl Series {
    /// Takes in the next record; `false` if its id was not kept.
    pub(super) fn add(&mut self, head: &RecordHead, found: &mut Vec<Finding>) -> bool {
        let date = hash(head.field("WARC-Date").unwrap_or_default());
        let concurrent = head
            .fields
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case("WARC-Concurrent-To"));
        for (_, other) in concurrent {
            if self
                .dates
                .get(&hash(other))
                .is_some_and(|of_other| *of_other != date)
            {
                let message = format!(
                    "WARC-Date is not that of {}, of the same capture",
                    clipped(other)
                );
                found.push(Finding::problem("5.4", message));
            }
        }
        self.add_segment(head, found);
        let Some(id) = head.field("WARC-Record-ID") else {
            return true;
        };
        let key = hash(id);
        if self.dates.contains_key(&key) {
            found.push(Finding::problem(
                "5.2",
                format!("the id {} was used before", clipped(id)),
            ));
            return true;
        }
        let has_room = self.dates.len() < IDS_MAX;
        if has_room {
            self.dates.insert(key, date);
        }
        has_room
    }

    fn add_segment(&mut self, head: &RecordHead, found: &mut Vec<Finding>) {
        let number = head.field("WARC-Segment-Number");
        let Some(number) = number.and_then(|text| text.parse::<u64>().ok()) else {
            return;
        };
        let origin = match head.record_type() {
            "continuation" => "WARC-Segment-Origin-ID",
            _ => "WARC-Record-ID",
        };
        let Some(origin) = head.field(origin).map(hash) else {
            return;
        };
        let target = head.target_uri().as_deref().map(hash);
        let length = Some(head.content_length);
        let now = match self.segmented.remove(&origin) {
            Some(before) => {
                if before.target != target {
                    let message = "WARC-Target-URI is not that of the segment before";
                    found.push(Finding::problem("7", message));
                }
                if number.checked_sub(1) != Some(before.last) {
                    let last = before.last;
                    let message = format!("WARC-Segment-Number is {number} after {last}");
                    found.push(Finding::problem("5.20", message));
                }
                Segments {
                    last: number,
                    bytes: before.bytes.zip(length).and_then(|(a, b)| a.checked_add(b)),
                    target,
                }
            }
            None => Segments {
                last: number,
                bytes: length.filter(|_| number == 1),
                target,
            },
        };
        let total = head.field("WARC-Segment-Total-Length");
        match (total.map(str::parse::<u64>), now.bytes) {
            (Some(Ok(total)), Some(bytes)) if total != bytes => {
                let message = format!(
                    "WARC-Segment-Total-Length is {total}, and the segments have {bytes} bytes"
                );
                found.push(Finding::problem("5.22", message));
            }
            (None, _) if self.segmented.len() < SEGMENTED_MAX => {
                self.segmented.insert(origin, now);
            }
            (Some(_) | None, _) => {}
        }
    }
}

fn hash(text: &str) -> Hash {
    let hash = Sha1::digest(text.as_bytes());
    let mut short = [0; 16];
    short.copy_from_slice(&hash[..16]);
    short
}
