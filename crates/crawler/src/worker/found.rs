//! What a visit found, in the terms of [`revisit`](junkai_revisit): and how the next one asks for it conditionally.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use junkai_archive::{DigestAlgorithm, digest, digest_bytes};
use junkai_fetch::{Conditional, Exchange};
use junkai_frontier::Time;
use junkai_page::content::Content;
use junkai_revisit::{Digest, ETAG_BYTES_MAX, Found, PageState, Version};

use crate::visit::Kept;

/// One visit in so many asks without condition: a server that says "not modified" whatever happens is found out.
const UNCONDITIONAL_EVERY: u32 = 16;

/// The validators of a known page, as a request wants them.
#[derive(Debug, Default)]
pub(super) struct Validators {
    etag: Option<Box<str>>,
    last_modified: Option<String>,
}

impl Validators {
    /// Those of the last capture, unless this visit is to find out whether the server tells the truth.
    pub(super) fn of(state: Option<&PageState>) -> Validators {
        let version = state
            .filter(|state| !state.visits.is_multiple_of(UNCONDITIONAL_EVERY))
            .and_then(|state| state.version.as_ref());
        let Some(version) = version else {
            return Validators::default();
        };
        let date = |time: Time| httpdate::fmt_http_date(system_time(time));
        Validators {
            etag: version.etag.clone(),
            last_modified: version.last_modified.map(date),
        }
    }

    pub(super) fn conditional(&self) -> Conditional<'_> {
        Conditional {
            etag: self.etag.as_deref().map(str::as_bytes),
            last_modified: self.last_modified.as_deref().map(str::as_bytes),
        }
    }
}

/// What an exchange that ended says of its page.
pub(super) fn found(
    exchange: &Exchange,
    kept: Option<&Kept>,
    known: Option<&Version>,
    content: Option<Content>,
    algorithm: DigestAlgorithm,
) -> Found {
    match exchange.status() {
        Some(304) if known.is_some() => Found::NotModified,
        Some(404 | 410) => Found::Gone,
        Some(301 | 308) if exchange.location().is_some() => Found::Moved,
        Some(200..=399) => {
            version(exchange, kept, content, algorithm).map_or(Found::Failed, Found::Page)
        }
        _ => Found::Failed,
    }
}

fn version(
    exchange: &Exchange,
    kept: Option<&Kept>,
    content: Option<Content>,
    algorithm: DigestAlgorithm,
) -> Option<Version> {
    let payload_digest = match kept {
        Some(kept) => digest_bytes(&kept.payload_digest)?,
        // The page asked not to be kept; that it changed may be known all the same.
        None => digest_bytes(&digest(algorithm, exchange.payload()))?,
    };
    let text = |name| {
        exchange
            .header(name)
            .and_then(|value| str::from_utf8(value).ok())
    };
    let indexed = kept
        .and_then(|kept| kept.indexed_digest.as_deref())
        .and_then(digest_bytes)
        .filter(|indexed| *indexed != payload_digest);
    Some(Version {
        digest: Digest::new(&payload_digest)?,
        indexed: indexed.as_deref().and_then(Digest::new),
        content,
        captured: kept.map_or(Time::EPOCH, |kept| kept.captured),
        etag: text("etag")
            .map(str::trim)
            .filter(|etag| !etag.is_empty() && etag.len() <= ETAG_BYTES_MAX)
            .map(Into::into),
        last_modified: text("last-modified")
            .and_then(|text| httpdate::parse_http_date(text.trim()).ok())
            .map(time),
    })
}

/// A date that a server wrote.
pub(super) fn time(date: SystemTime) -> Time {
    Time::EPOCH + date.duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A time as headers write it; what lies beyond their calendar is the last moment of it.
fn system_time(time: Time) -> SystemTime {
    const LAST_SECOND: u64 = 253_402_300_799;
    let seconds = time.as_micros() / 1_000_000;
    UNIX_EPOCH + Duration::from_secs(seconds.min(LAST_SECOND))
}
