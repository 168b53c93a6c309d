//! The last capture of a known page: what a visit that finds nothing new refers to.

use jiff::Timestamp;
use junkai_archive::{
    DigestAlgorithm, RevisitOf, RevisitProfile, digest, digest_bytes, digest_of_bytes,
};
use junkai_fetch::Exchange;
use junkai_revisit::Digest;
use junkai_weburl::PageUrl;

use super::Turn;
use crate::clock::timestamp;

/// The capture that holds the payload of the version which is known.
pub(super) struct Earlier<'a> {
    url: &'a PageUrl,
    capture: Option<EarlierCapture>,
}

struct EarlierCapture {
    date: Timestamp,
    payload_digest: Digest,
    indexed_digest: String,
}

impl<'a> Earlier<'a> {
    /// The last capture of `url`, if it is the known page that this turn is for.
    pub(super) fn of(url: &'a PageUrl, turn: &Turn) -> Earlier<'a> {
        let visit = &turn.visit;
        let version = visit.known_version().filter(|_| *url == visit.url);
        let capture = version.and_then(|version| {
            let indexed = version.indexed.as_ref().unwrap_or(&version.digest);
            Some(EarlierCapture {
                date: timestamp(version.captured),
                payload_digest: version.digest,
                indexed_digest: digest_of_bytes(indexed.as_bytes())?,
            })
        });
        Earlier { url, capture }
    }

    /// What a revisit record refers to, if this exchange brought nothing new.
    pub(super) fn repeated_by(
        &self,
        exchange: &Exchange,
        dedupes: bool,
        algorithm: DigestAlgorithm,
    ) -> Option<RevisitOf<'_>> {
        let capture = self.capture.as_ref()?;
        let profile = match exchange.status()? {
            304 => RevisitProfile::ServerNotModified,
            200 if dedupes
                && exchange.truncated.is_none()
                && capture.has_payload(exchange.payload(), algorithm) =>
            {
                RevisitProfile::IdenticalPayloadDigest
            }
            _ => return None,
        };
        Some(RevisitOf {
            profile,
            target_uri: self.url.as_str(),
            date: capture.date,
            record_id: None,
            digest: Some(&capture.indexed_digest),
        })
    }
}

impl EarlierCapture {
    fn has_payload(&self, payload: &[u8], algorithm: DigestAlgorithm) -> bool {
        let digest = digest_bytes(&digest(algorithm, payload));
        let digest = digest.and_then(|bytes| Digest::new(&bytes));
        digest.is_some_and(|digest| digest.is_same(&self.payload_digest))
    }
}
