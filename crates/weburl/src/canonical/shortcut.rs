//! The short way to a canonical URL: most links need only be put behind a part of their base.
//!
//! [`Canonicalizer`](super::Canonicalizer) asks here first, and goes the long way, through the full parser, only where the
//! answer is not sure. Nothing is allocated here: a URL is found as two pieces of text.

use crate::page_url::{Layout, PageUrl};
use crate::scan;

use super::{UrlError, is_web_scheme, quoted};

/// What the scan found: a canonical URL in two pieces: the part of the base, and the part of the text.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) base: &'a str,
    pub(super) text: &'a str,
    /// The path is empty and becomes `/`.
    pub(super) needs_slash: bool,
    pub(super) layout: Layout,
}

/// What the scan says of a text.
pub(super) enum Scan<'a> {
    /// It is canonical.
    Found(Found<'a>),
    /// It has a scheme; the rest is for the full parser.
    Unsure,
    /// It has no scheme.
    Relative,
}

/// Looks for an absolute URL that is canonical as it stands.
pub(super) fn scan_absolute(text: &str) -> Result<Scan<'_>, UrlError> {
    let Some(scheme) = scan::scheme(text) else {
        return Ok(Scan::Relative);
    };
    let default_port = match scheme {
        "http" => 80,
        "https" => 443,
        _ if is_web_scheme(scheme) => return Ok(Scan::Unsure),
        _ => return Err(UrlError::Scheme(quoted(scheme))),
    };
    if !text[scheme.len()..].starts_with("://") {
        return Ok(Scan::Unsure);
    }
    let start = scheme.len() + "://".len();
    Ok(scan_authority(text, start, default_port, "").map_or(Scan::Unsure, Scan::Found))
}

/// Looks for a reference that is canonical once it stands behind a part of its base.
pub(super) fn scan_relative<'a>(base: &'a PageUrl, reference: &'a str) -> Option<Found<'a>> {
    let layout = base.layout();
    let (base_end, text) = match reference.as_bytes() {
        [b'/', b'/', ..] => {
            let scheme_end = base.scheme().len() + ":".len();
            let default_port = if base.is_https() { 443 } else { 80 };
            return scan_authority(
                reference,
                "//".len(),
                default_port,
                &base.as_str()[..scheme_end],
            );
        }
        [b'/', ..] => (layout.path_start, reference),
        [b'?', ..] => (layout.path_end, reference),
        _ => climb(base, reference)?,
    };
    let tail = match text.as_bytes() {
        query @ [b'?', ..] => scan::query(query, 0)?,
        path => scan::tail(path, 0)?,
    };
    Some(Found {
        base: &base.as_str()[..base_end],
        text: &text[..tail.end],
        needs_slash: false,
        layout: Layout {
            path_end: base_end + tail.path_end,
            ..layout
        },
    })
}

/// The end of the base's directory that the reference starts from, and what is left of it behind leading `./` and `../`.
fn climb<'a>(base: &PageUrl, reference: &'a str) -> Option<(usize, &'a str)> {
    let mut directory = &base.path()[..=base.path().rfind('/')?];
    let mut rest = reference;
    loop {
        if let Some(after) = rest.strip_prefix("./") {
            rest = after;
        } else if let Some(after) = rest.strip_prefix("../") {
            rest = after;
            let above = &directory[..directory.len() - 1];
            // At the root there is nothing to climb to.
            directory = match above.rfind('/') {
                None => "/",
                Some(slash) if is_drive_letter(&above[slash + 1..]) => return None,
                Some(slash) => &directory[..=slash],
            };
        } else {
            return Some((base.layout().path_start + directory.len(), rest));
        }
    }
}

/// Whether a segment looks like a drive of Windows (`c:`), from which the full parser does not climb, whatever the scheme.
fn is_drive_letter(segment: &str) -> bool {
    matches!(segment.as_bytes(), [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}

/// Looks for a canonical host, port, path and query from `start` on, behind `base`.
fn scan_authority<'a>(
    text: &'a str,
    start: usize,
    default_port: u16,
    base: &'a str,
) -> Option<Found<'a>> {
    let bytes = text.as_bytes();
    let authority = scan::authority(bytes, start, default_port)?;
    let tail = scan::tail(bytes, authority.end)?;
    let needs_slash = tail.path_end == authority.end;
    Some(Found {
        base,
        text: &text[..tail.end],
        needs_slash,
        layout: Layout {
            host_end: base.len() + authority.host_end,
            path_start: base.len() + authority.end,
            path_end: base.len() + tail.path_end + usize::from(needs_slash),
        },
    })
}
