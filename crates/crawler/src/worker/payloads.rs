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

/// The quick hash of a payload, which is worth its time only once.
#[derive(Clone, Copy, Debug)]
pub(super) struct PayloadKey(u64);

impl PayloadKey {
    /// None for a payload that is too short.
    pub(super) fn of(payload: &[u8]) -> Option<PayloadKey> {
        (PAYLOAD_BYTES_MIN <= payload.len()).then(|| PayloadKey(xxh3_64(payload)))
    }
}

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
    pub(super) fn twin(
        &self,
        file: Option<&str>,
        key: PayloadKey,
        payload: &[u8],
    ) -> Option<RevisitOf<'_>> {
        if file != Some(&*self.file) {
            return None;
        }
        let known = self.known.get(&key.0)?;
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
    pub(super) fn remember(
        &mut self,
        url: &str,
        date: Timestamp,
        key: PayloadKey,
        stored: &Stored,
    ) {
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
        self.known.insert(key.0, known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(file: &str, payload: &[u8]) -> Stored {
        Stored {
            file: file.into(),
            offset: 0,
            length: 1,
            record_id: "<urn:uuid:1>".to_owned(),
            payload_digest: digest(DigestAlgorithm::Sha1, payload),
            indexed_digest: None,
            cdxj: String::new(),
        }
    }

    fn remember(payloads: &mut Payloads, file: &str, payload: &[u8]) {
        if let Some(key) = PayloadKey::of(payload) {
            payloads.remember(
                "http://a.example/",
                Timestamp::UNIX_EPOCH,
                key,
                &stored(file, payload),
            );
        }
    }

    fn twin<'a>(payloads: &'a Payloads, file: &str, payload: &[u8]) -> Option<RevisitOf<'a>> {
        payloads.twin(Some(file), PayloadKey::of(payload)?, payload)
    }

    #[test]
    fn a_payload_is_known_within_its_own_file() {
        let (long, short) = ([7; PAYLOAD_BYTES_MIN], [7; PAYLOAD_BYTES_MIN - 1]);
        let mut payloads = Payloads::new(DigestAlgorithm::Sha1);
        for payload in [&long[..], &short] {
            remember(&mut payloads, "a.warc.gz", payload);
        }
        let known = twin(&payloads, "a.warc.gz", &long);
        assert_eq!(known.unwrap().target_uri, "http://a.example/");
        assert!(twin(&payloads, "b.warc.gz", &long).is_none());
        assert!(twin(&payloads, "a.warc.gz", &short).is_none());
        assert!(twin(&payloads, "a.warc.gz", &[8; PAYLOAD_BYTES_MIN]).is_none());
    }

    #[test]
    fn memory_is_bounded() {
        let mut payloads = Payloads::new(DigestAlgorithm::Sha1);
        let mut payload = [0; PAYLOAD_BYTES_MIN];
        for number in 0..=PAYLOADS_MAX {
            payload[..8].copy_from_slice(&number.to_le_bytes());
            remember(&mut payloads, "a", &payload);
        }
        assert!(payloads.known.len() <= PAYLOADS_MAX);
        assert!(twin(&payloads, "a", &payload).is_some());
    }
}
