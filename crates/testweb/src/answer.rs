//! Requests and answers, free of any version of HTTP.
//!
//! [`crate::http1`] and [`crate::http2`] make a [`Request`] from what they read and send the [`Answer`]; sites only see
//! these two.

use std::io::Write;
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;

/// What a client asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The host name in lower case, without a port.
    pub(crate) host: String,
    /// Path and query.
    pub(crate) target: String,
    pub(crate) accepts_gzip: bool,
    pub(crate) if_none_match: Option<String>,
    pub(crate) if_modified_since: Option<String>,
}

impl Request {
    /// Takes in one header line.
    pub(crate) fn header(&mut self, name: &str, value: &[u8]) {
        let text = || String::from_utf8_lossy(value).trim().to_owned();
        if name.eq_ignore_ascii_case("host") {
            self.host = host_name(&text());
        } else if name.eq_ignore_ascii_case("accept-encoding") {
            self.accepts_gzip = text().to_ascii_lowercase().contains("gzip");
        } else if name.eq_ignore_ascii_case("if-none-match") {
            self.if_none_match = Some(text());
        } else if name.eq_ignore_ascii_case("if-modified-since") {
            self.if_modified_since = Some(text());
        }
    }

    pub(crate) fn path(&self) -> &str {
        self.target
            .split_once('?')
            .map_or(self.target.as_str(), |(path, _)| path)
    }

    pub(crate) fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    /// The headers that tell the version of what is sent or, when the client has that version, the answer that says so.
    pub(crate) fn validate(&self, etag: String, modified: SystemTime) -> Result<Headers, Answer> {
        let is_current = match self.has_tag(&etag) {
            Some(has_tag) => has_tag,
            None => self.has_date(modified),
        };
        let headers = vec![
            ("etag", etag),
            ("last-modified", httpdate::fmt_http_date(modified)),
        ];
        told(headers, is_current)
    }

    /// The same where there is only a tag, which may be a weak one.
    pub(crate) fn validate_by_tag(&self, etag: String) -> Result<Headers, Answer> {
        let is_current = self.has_tag(&etag).unwrap_or(false);
        told(vec![("etag", etag)], is_current)
    }

    /// The same where there is only a date.
    pub(crate) fn validate_by_date(&self, modified: SystemTime) -> Result<Headers, Answer> {
        let headers = vec![("last-modified", httpdate::fmt_http_date(modified))];
        told(headers, self.has_date(modified))
    }

    /// Whether the client has the version with this tag (RFC 9110, section 13.1.2); none if it names no tags.
    fn has_tag(&self, etag: &str) -> Option<bool> {
        let tags = self.if_none_match.as_deref()?;
        let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        let etag = opaque(etag);
        Some(tags.trim() == "*" || tags.split(',').any(|tag| opaque(tag) == etag))
    }

    /// Whether the client has a version of this date (RFC 9110, section 13.1.3).
    fn has_date(&self, last_modified: SystemTime) -> bool {
        let since = self.if_modified_since.as_deref();
        since
            .and_then(|date| httpdate::parse_http_date(date).ok())
            // HTTP dates have whole seconds: a change within the second of the date has been seen.
            .is_some_and(|since| last_modified < since + Duration::from_secs(1))
    }
}

/// Names and values of an answer's headers.
pub(crate) type Headers = Vec<(&'static str, String)>;

fn told(headers: Headers, is_current: bool) -> Result<Headers, Answer> {
    if is_current {
        return Err(Answer::not_modified(headers));
    }
    Ok(headers)
}

/// The name part of a `Host` header or authority.
pub(crate) fn host_name(authority: &str) -> String {
    let name = match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => authority,
    };
    name.trim_end_matches('.').to_ascii_lowercase()
}

/// What a site answers. `Content-Length` or its like is added when it is sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Headers,
    pub(crate) body: Vec<u8>,
    /// Sent in chunks where the protocol has them.
    pub(crate) is_chunked: bool,
}

impl Answer {
    pub(crate) fn ok(content_type: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self::with_status(200, content_type, body)
    }

    pub(crate) fn with_status(
        status: u16,
        content_type: impl Into<String>,
        body: impl Into<Vec<u8>>,
    ) -> Self {
        Self {
            status,
            headers: vec![("content-type", content_type.into())],
            body: body.into(),
            is_chunked: false,
        }
    }

    /// A short page that says what the status means.
    pub(crate) fn plain(status: u16) -> Self {
        let reason = reason(status);
        let body =
            format!("<!DOCTYPE html><title>{status} {reason}</title><h1>{status} {reason}</h1>\n");
        Self::with_status(status, "text/html; charset=utf-8", body)
    }

    pub(crate) fn redirect(status: u16, location: String) -> Self {
        Self::plain(status).header("location", location)
    }

    /// The answer to a client that has the current version. `headers` are those that a 200 would have carried.
    fn not_modified(headers: Headers) -> Self {
        Self {
            status: 304,
            headers,
            ..Self::default()
        }
    }

    #[must_use]
    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Compresses the body.
    #[must_use]
    pub(crate) fn gzipped(mut self) -> Self {
        self.body = gzip(&self.body);
        self.header("content-encoding", "gzip")
            .header("vary", "Accept-Encoding")
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    // Writing to memory cannot fail; were it to, the client would get a broken stream and say so.
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}

/// The usual reason phrase.
pub(crate) fn reason(status: u16) -> &'static str {
    http::StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason())
        .unwrap_or("Unknown")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    #[test]
    fn host_names_lose_port_dot_and_capitals() {
        for (authority, name) in [
            ("Host1.test:8080", "host1.test"),
            ("host1.test.", "host1.test"),
            ("[::1]:80", "[::1]"),
            ("[::1]", "[::1]"),
            ("", ""),
        ] {
            assert_eq!(host_name(authority), name);
        }
    }

    #[test]
    fn an_entity_tag_goes_before_a_date() {
        let made = UNIX_EPOCH + Duration::from_millis(784_111_777_500);
        let check = |tag: Option<&str>, date: Option<&str>, expected| {
            let request = Request {
                if_none_match: tag.map(Into::into),
                if_modified_since: date.map(Into::into),
                ..Request::default()
            };
            let is_current = request.validate("\"a\"".into(), made).is_err();
            assert_eq!(is_current, expected, "{tag:?} {date:?}");
        };
        let same_second = "Sun, 06 Nov 1994 08:49:37 GMT";
        let second_before = "Sun, 06 Nov 1994 08:49:36 GMT";
        check(None, None, false);
        check(Some("\"a\""), None, true);
        check(Some("W/\"a\""), None, true);
        check(Some("\"b\", \"a\""), None, true);
        check(Some("*"), None, true);
        check(Some("\"b\""), Some(same_second), false);
        check(None, Some(same_second), true);
        check(None, Some(second_before), false);
        check(None, Some("yesterday"), false);
    }
}
