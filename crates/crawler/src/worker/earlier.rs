//! The last capture of a known page: what a visit that finds nothing new refers to.

use jiff::Timestamp;
use junkai_archive::{RevisitOf, RevisitProfile, digest_of_bytes};
use junkai_fetch::Exchange;
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
                indexed_digest: digest_of_bytes(indexed.as_bytes())?,
            })
        });
        Earlier { url, capture }
    }

    /// What a revisit record refers to, if this exchange brought nothing new: the server says so, or `has_known_payload`.
    pub(super) fn repeated_by(
        &self,
        exchange: &Exchange,
        has_known_payload: bool,
    ) -> Option<RevisitOf<'_>> {
        let capture = self.capture.as_ref()?;
        let profile = match exchange.status()? {
            304 => RevisitProfile::ServerNotModified,
            200 if has_known_payload && exchange.truncated.is_none() => {
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
