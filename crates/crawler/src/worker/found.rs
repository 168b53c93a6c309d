//! What a visit found, in the terms of [`revisit`](junkai_revisit): and how the next one asks for it conditionally.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use junkai_archive::{DigestAlgorithm, digest, digest_bytes};
use junkai_fetch::{Conditional, Exchange};
use junkai_frontier::Time;
use junkai_page::content::Content;
use junkai_revisit::{Digest, ETAG_BYTES_MAX, Found, PageState, Place, Version};

use crate::visit::{Kept, Visit};

/// One visit in so many asks without condition: a server that says "not modified" whatever happens is found out.
const UNCONDITIONAL_EVERY: u32 = 16;

/// A `Last-Modified` so long before the capture stands for the version as an entity tag does: what changed after it has another one (RFC 9110,
/// section 8.8.2.2, with room for clocks that differ).
const MODIFIED_BEFORE_MIN: Duration = Duration::from_mins(1);
/// A tag no longer than this is kept beside such a date: it costs as little.
const SHORT_ETAG_BYTES: usize = 8;

/// The validators of a known page, as a request wants them.
#[derive(Debug, Default)]
pub(super) struct Validators {
    etag: Option<Box<str>>,
    last_modified: Option<String>,
}

impl Validators {
    /// Those of the last capture, unless this visit is to find out whether the server tells the truth.
    pub(super) fn of(visit: &Visit) -> Validators {
        let is_trial = |state: &PageState| state.visits.is_multiple_of(UNCONDITIONAL_EVERY);
        let is_trial = visit.state.as_deref().is_some_and(is_trial);
        let Some(version) = visit.known_version().filter(|_| !is_trial) else {
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

/// What a page says, or where that can be read when it is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading {
    pub(super) content: Option<Content>,
    pub(super) unread: Option<Place>,
}

/// What an exchange that ended says of its page.
pub(super) fn found(
    exchange: &Exchange,
    kept: Option<&Kept>,
    known: Option<&Version>,
    reading: Reading,
    algorithm: DigestAlgorithm,
) -> Found {
    match exchange.status() {
        Some(304) if known.is_some() => Found::NotModified,
        Some(404 | 410) => Found::Gone,
        Some(301 | 308) if exchange.location().is_some() => Found::Moved,
        Some(200..=399) => {
            version(exchange, kept, reading, algorithm).map_or(Found::Failed, Found::Page)
        }
        _ => Found::Failed,
    }
}

fn version(
    exchange: &Exchange,
    kept: Option<&Kept>,
    Reading { content, unread }: Reading,
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
    let last_modified = text("last-modified")
        .and_then(|text| httpdate::parse_http_date(text.trim()).ok())
        .map(time);
    let etag = text("etag").map(str::trim);
    let captured = kept.map_or(Time::EPOCH, |kept| kept.captured);
    Some(Version {
        digest: Digest::new(&payload_digest)?,
        indexed: indexed.as_deref().and_then(Digest::new),
        content,
        unread,
        captured,
        etag: etag
            .filter(|etag| is_tag_needed(etag, last_modified, captured))
            .map(Into::into),
        last_modified,
    })
}

/// Whether a tag is worth its place in a page's state: a date that stands for the version takes less.
fn is_tag_needed(etag: &str, last_modified: Option<Time>, captured: Time) -> bool {
    let has_date = last_modified.is_some_and(|date| date + MODIFIED_BEFORE_MIN <= captured);
    let bytes_max = if has_date {
        SHORT_ETAG_BYTES
    } else {
        ETAG_BYTES_MAX
    };
    (1..=bytes_max).contains(&etag.len())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_that_stands_for_the_version_saves_a_long_tag() {
        const DAY: Duration = Duration::from_hours(24);
        let modified = Time::EPOCH + 1000 * DAY;
        let (long, short) = ("\"5f2b8c3a-1f4\"", "\"a1\"");
        for (etag, last_modified, captured, is_needed) in [
            (long, Some(modified), modified + DAY, false),
            (short, Some(modified), modified + DAY, true),
            // It may have changed twice within the second that the date names.
            (
                long,
                Some(modified),
                modified + Duration::from_secs(1),
                true,
            ),
            (long, None, modified, true),
            ("", None, modified, false),
            (&"x".repeat(ETAG_BYTES_MAX + 1), None, modified, false),
            // A page that is not kept has no capture.
            (long, Some(modified), Time::EPOCH, true),
        ] {
            assert_eq!(
                is_tag_needed(etag, last_modified, captured),
                is_needed,
                "{etag} {last_modified:?} {captured:?}"
            );
        }
    }
}
