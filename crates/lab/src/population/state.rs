//! What a store keeps of a page, and how one visit changes it.
//!
//! The body has what the state of a known page has, field by field: a version byte, the last visit, the interval, counts of visits and changes, two
//! numbers of an estimator, and digests of the payload and of the content. Digests are drawn anew for each version of a page, from its URL and the number of
//! the version, so no compression makes them smaller, and whoever reads a body back can tell whether it is the right one.

use std::time::Duration;

use junkai_frontier::Time;
use xxhash_rust::xxh3::xxh3_64;

use super::mixed;

const VERSION: u8 = 1;
/// Bytes of the digest of the payload (SHA-1) and of the fingerprint of the content.
const DIGESTS_BYTES: usize = 28;
/// Of so many visits one finds a new version.
const VISITS_PER_CHANGE: u32 = 3;

/// Where the fields of a body begin. All have a fixed place, so that a change costs the driver next to nothing.
const LAST_VISIT: usize = 1;
const INTERVAL: usize = LAST_VISIT + 8;
const VISITS: usize = INTERVAL + 4;
const CHANGES: usize = VISITS + 2;
const ESTIMATE: usize = CHANGES + 2;
const DIGESTS: usize = ESTIMATE + 8;
const BODY_BYTES: usize = DIGESTS + DIGESTS_BYTES;

/// What a store keeps of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageRecord {
    /// When the page is to be visited.
    pub due: Time,
    /// Its URL.
    pub url: String,
    /// Its state, which means nothing to a store.
    pub body: Vec<u8>,
}

/// A store gave back something else than it was given.
#[derive(Debug, thiserror::Error)]
#[error("the state of {url} is not the one that was stored")]
pub struct Damaged {
    /// The page.
    pub url: String,
}

impl PageRecord {
    /// Bytes that a store must keep, however it keeps them: URL, state, and a time.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.url.len() + self.body.len() + size_of::<Time>()) as u64
    }

    /// Writes the state of a page that was visited once, over the one that is there.
    pub(super) fn write_first(&mut self, interval: Duration, now: Time) {
        self.body.clear();
        self.body.resize(BODY_BYTES, 0);
        self.body[0] = VERSION;
        let seconds = u32::try_from(interval.as_secs()).unwrap_or(u32::MAX);
        self.set(INTERVAL, seconds.to_le_bytes());
        self.write_visit(1, now);
    }

    /// Changes the state as a visit at `now` does, and sets when the page is due next.
    ///
    /// # Errors
    /// If this is not the state that the page was given before.
    pub fn visit(&mut self, now: Time) -> Result<(), Damaged> {
        let visits = self.visits().ok_or_else(|| self.damaged())?;
        let mut expected = [0; DIGESTS_BYTES];
        self.write_digests(visits, &mut expected);
        if self.body[DIGESTS..] != expected {
            return Err(self.damaged());
        }
        // After the largest number the count begins again; no run is that long.
        self.write_visit(visits.wrapping_add(1), now);
        self.due = now + self.interval();
        Ok(())
    }

    /// From one visit to the next.
    #[must_use]
    pub fn interval(&self) -> Duration {
        Duration::from_secs(u32::from_le_bytes(self.field(INTERVAL)).into())
    }

    fn visits(&self) -> Option<u16> {
        let is_whole = self.body.len() == BODY_BYTES && self.body[0] == VERSION;
        is_whole.then(|| u16::from_le_bytes(self.field(VISITS)))
    }

    fn write_visit(&mut self, visits: u16, now: Time) {
        let changes = u32::from(visits) / VISITS_PER_CHANGE;
        self.set(LAST_VISIT, now.as_micros().to_le_bytes());
        self.set(VISITS, visits.to_le_bytes());
        self.set(CHANGES, (changes as u16).to_le_bytes());
        let interval = self.interval().as_secs_f32();
        self.set(ESTIMATE, (f32::from(visits) * 0.9).to_le_bytes());
        self.set(ESTIMATE + 4, (f32::from(visits) * interval).to_le_bytes());
        let mut digests = [0; DIGESTS_BYTES];
        self.write_digests(visits, &mut digests);
        self.set(DIGESTS, digests);
    }

    /// The digests of the version that was found by visit number `visits`.
    fn write_digests(&self, visits: u16, digests: &mut [u8; DIGESTS_BYTES]) {
        let version = u32::from(visits) / VISITS_PER_CHANGE;
        let mut bits = xxh3_64(self.url.as_bytes()) ^ mixed(version.into());
        for part in digests.chunks_mut(size_of::<u64>()) {
            bits = mixed(bits);
            part.copy_from_slice(&bits.to_le_bytes()[..part.len()]);
        }
    }

    fn set<const BYTES: usize>(&mut self, place: usize, bytes: [u8; BYTES]) {
        self.body[place..place + BYTES].copy_from_slice(&bytes);
    }

    fn field<const BYTES: usize>(&self, place: usize) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes.copy_from_slice(&self.body[place..place + BYTES]);
        bytes
    }

    fn damaged(&self) -> Damaged {
        Damaged {
            url: self.url.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Population;
    use super::*;

    fn record() -> PageRecord {
        let mut record = PageRecord::default();
        Population::new(100, 1).write(7, Time::EPOCH, &mut record);
        record
    }

    #[test]
    fn a_visit_sets_the_next_one_an_interval_later() {
        let mut record = record();
        let now = record.due;
        let interval = record.interval();
        record.visit(now).unwrap();
        assert_eq!(record.due, now + interval);
        assert_eq!(record.interval(), interval);
    }

    #[test]
    fn digests_change_with_the_version_and_not_without() {
        let mut record = record();
        let mut versions = Vec::new();
        for _ in 0..9 {
            versions.push(record.body[DIGESTS..].to_vec());
            record.visit(record.due).unwrap();
        }
        versions.dedup();
        assert_eq!(versions.len(), 1 + 9 / VISITS_PER_CHANGE as usize);
    }

    #[test]
    fn a_state_of_another_page_or_version_is_noticed() {
        let now = Time::EPOCH;
        for place in [0, VISITS + 1, DIGESTS, BODY_BYTES - 1] {
            let mut record = record();
            record.body[place] ^= 1;
            assert!(record.visit(now).is_err(), "{place}");
        }
        let mut cut = record();
        cut.body.pop();
        assert!(cut.visit(now).is_err());
        let mut other = record();
        other.url.push('x');
        assert!(other.visit(now).is_err());
    }
}
