//! What a store keeps of a page, and how one visit changes it.
//!
//! The body has what the state of a known page has, field by field: a version byte, the last visit, the interval, counts of visits and changes, two
//! numbers of an estimator, and digests of the payload and of the content. Digests are drawn anew for each version of a page, from its URL and the number of
//! the version, so no compression makes them smaller, and whoever reads a body back can tell whether it is the right one.

use std::time::Duration;

use junkai_frontier::Time;
use junkai_store::time_queue::Record;
use xxhash_rust::xxh3::xxh3_64;

use junkai_chance::drawn;

const VERSION: u8 = 1;
/// Bytes of the digest of the payload (SHA-1) and of the fingerprint of the content.
const DIGESTS_BYTES: usize = 28;
/// Of so many visits one finds a new version.
const VISITS_PER_CHANGE: u16 = 3;

/// Where the fields of a body begin. All have a fixed place, so that a change costs the driver next to nothing.
const LAST_VISIT: usize = 1;
const INTERVAL: usize = LAST_VISIT + 8;
const VISITS: usize = INTERVAL + 4;
const CHANGES: usize = VISITS + 2;
const ESTIMATE: usize = CHANGES + 2;
const DIGESTS: usize = ESTIMATE + 8;
const BODY_BYTES: usize = DIGESTS + DIGESTS_BYTES;

/// A store gave back something else than it was given.
#[derive(Debug, thiserror::Error)]
#[error("the state of {url} is not the one that was stored")]
pub struct Damaged {
    /// The page.
    pub url: String,
}

/// Bytes that a store must keep, however it keeps them: URL, state, and a time.
#[must_use]
pub fn bytes(record: &Record) -> u64 {
    (record.url.len() + record.body.len() + size_of::<Time>()) as u64
}

/// From one visit of the page to the next.
#[must_use]
pub fn interval(record: &Record) -> Duration {
    Duration::from_secs(u32::from_le_bytes(field(&record.body, INTERVAL)).into())
}

/// Changes the state as a visit at `now` does, and sets when the page is due next.
///
/// # Errors
/// If this is not the state that the page was given before.
pub fn visit(record: &mut Record, now: Time) -> Result<(), Damaged> {
    let is_whole = record.body.len() == BODY_BYTES && record.body[0] == VERSION;
    if !is_whole {
        return Err(damaged(record));
    }
    let visits = u16::from_le_bytes(field(&record.body, VISITS));
    if record.body[DIGESTS..] != digests(&record.url, visits) {
        return Err(damaged(record));
    }
    // After the largest number the count begins again; no run is that long.
    let visits = visits.wrapping_add(1);
    write_visit(record, visits, now);
    if visits.is_multiple_of(VISITS_PER_CHANGE) {
        set(&mut record.body, DIGESTS, digests(&record.url, visits));
    }
    record.due = now + interval(record);
    Ok(())
}

/// Writes the state of a page that was visited once, over the one that is there.
pub(super) fn write_first(record: &mut Record, interval: Duration, now: Time) {
    let seconds = u32::try_from(interval.as_secs()).unwrap_or(u32::MAX);
    record.body.clear();
    record.body.resize(BODY_BYTES, 0);
    record.body[0] = VERSION;
    set(&mut record.body, INTERVAL, seconds.to_le_bytes());
    write_visit(record, 1, now);
    set(&mut record.body, DIGESTS, digests(&record.url, 1));
}

/// Writes what every visit changes.
fn write_visit(record: &mut Record, visits: u16, now: Time) {
    let changes = visits / VISITS_PER_CHANGE;
    let seconds = interval(record).as_secs_f32();
    let body = &mut record.body;
    set(body, LAST_VISIT, now.as_micros().to_le_bytes());
    set(body, VISITS, visits.to_le_bytes());
    set(body, CHANGES, changes.to_le_bytes());
    set(body, ESTIMATE, (f32::from(changes) + 0.5).to_le_bytes());
    set(
        body,
        ESTIMATE + 4,
        (f32::from(visits) * seconds).to_le_bytes(),
    );
}

/// The digests of the version that visit number `visits` found.
fn digests(url: &str, visits: u16) -> [u8; DIGESTS_BYTES] {
    let mut digests = [0; DIGESTS_BYTES];
    let version = visits / VISITS_PER_CHANGE;
    let mut bits = xxh3_64(url.as_bytes()) ^ drawn(version.into());
    for part in digests.chunks_mut(size_of::<u64>()) {
        bits = drawn(bits);
        part.copy_from_slice(&bits.to_le_bytes()[..part.len()]);
    }
    digests
}

fn set<const BYTES: usize>(body: &mut [u8], place: usize, bytes: [u8; BYTES]) {
    body[place..place + BYTES].copy_from_slice(&bytes);
}

fn field<const BYTES: usize>(body: &[u8], place: usize) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes.copy_from_slice(&body[place..place + BYTES]);
    bytes
}

fn damaged(record: &Record) -> Damaged {
    Damaged {
        url: record.url.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Population;
    use super::*;

    fn record() -> Record {
        let mut record = Record::default();
        Population::new(100, 1).write(7, Time::EPOCH, &mut record);
        record
    }

    #[test]
    fn a_visit_sets_the_next_one_an_interval_later() {
        let mut record = record();
        let now = record.due;
        let every = interval(&record);
        visit(&mut record, now).unwrap();
        assert_eq!(record.due, now + every);
        assert_eq!(interval(&record), every);
    }

    #[test]
    fn digests_change_with_the_version_and_not_without() {
        let mut record = record();
        let mut versions = Vec::new();
        for _ in 0..9 {
            versions.push(record.body[DIGESTS..].to_vec());
            let now = record.due;
            visit(&mut record, now).unwrap();
        }
        versions.dedup();
        assert_eq!(versions.len(), 1 + usize::from(9 / VISITS_PER_CHANGE));
    }

    #[test]
    fn a_state_of_another_page_or_version_is_noticed() {
        let now = Time::EPOCH;
        for place in [0, VISITS + 1, DIGESTS, BODY_BYTES - 1] {
            let mut record = record();
            record.body[place] ^= 1;
            assert!(visit(&mut record, now).is_err(), "{place}");
        }
        let mut cut = record();
        cut.body.pop();
        assert!(visit(&mut cut, now).is_err());
        let mut other = record();
        other.url.push('x');
        assert!(visit(&mut other, now).is_err());
    }
}
