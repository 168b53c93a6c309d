//! Payloads that this worker stored lately: a page that repeats one is kept as a revisit record, without its body.
//!
//! Soft 404 pages, mirrors and page requisites repeat themselves, mostly soon. The original is always in the same WARC
//! file, so that every file can be replayed by itself. Bounded; what is forgotten is stored again, which is only longer.

use hashbrown::HashMap;
use jiff::Timestamp;
use junkai_archive::{DigestAlgorithm, RevisitOf, RevisitProfile, Stored, digest};
use xxhash_rust::xxh3::xxh3_64;

/// Payloads that are remembered at most.
const PAYLOADS_MAX: usize = 16_384;
/// Shorter payloads take less room than a reference to them.
const PAYLOAD_BYTES_MIN: usize = 1024;

/// The payloads of one WARC file.
#[derive(Debug)]
pub(super) struct Payloads {
    algorithm: DigestAlgorithm,
    file: std::sync::Arc<str>,
    known: HashMap<u64, Known>,
}

#[derive(Debug)]
struct Known {
    payload_digest: String,
    indexed_digest: Option<String>,
    record_id: String,
    target_uri: Box<str>,
    date: Timestamp,
}

impl Payloads {
    pub(super) fn new(algorithm: DigestAlgorithm) -> Payloads {
        Payloads {
            algorithm,
            file: "".into(),
            known: HashMap::new(),
        }
    }

    /// The capture in `file`, the one being written, that has the same payload.
    pub(super) fn twin(&self, file: Option<&str>, payload: &[u8]) -> Option<RevisitOf<'_>> {
        if payload.len() < PAYLOAD_BYTES_MIN || file != Some(&*self.file) {
            return None;
        }
        let known = self.known.get(&xxh3_64(payload))?;
        // The quick hash only proposes; the digest decides.
        let is_same = known.payload_digest == digest(self.algorithm, payload);
        is_same.then_some(RevisitOf {
            profile: RevisitProfile::IdenticalPayloadDigest,
            target_uri: &known.target_uri,
            date: known.date,
            record_id: Some(&known.record_id),
            digest: known.indexed_digest.as_deref(),
        })
    }

    /// Remembers a whole response that was stored.
    pub(super) fn remember(&mut self, url: &str, date: Timestamp, payload: &[u8], stored: &Stored) {
        if payload.len() < PAYLOAD_BYTES_MIN {
            return;
        }
        if self.file != stored.file || PAYLOADS_MAX <= self.known.len() {
            self.file.clone_from(&stored.file);
            self.known.clear();
        }
        let known = Known {
            payload_digest: stored.payload_digest.clone(),
            indexed_digest: stored.indexed_digest.clone(),
            record_id: stored.record_id.clone(),
            target_uri: url.into(),
            date,
        };
        self.known.insert(xxh3_64(payload), known);
    }
}
