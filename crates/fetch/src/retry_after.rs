//! `Retry-After`, in both of its forms (RFC 9110, section 10.2.3).

use std::time::{Duration, SystemTime};

/// The longest wait that is told: ten years, which is as good as never. How much of it is obeyed is a setting of whoever asks.
pub const RETRY_AFTER_MAX: Duration = Duration::from_hours(10 * 365 * 24);

/// Reads a `Retry-After` value: how long to wait from `now` on.
///
/// A date that has passed means no wait; an absurd wait is cut to [`RETRY_AFTER_MAX`].
pub(crate) fn parse(value: &[u8], now: SystemTime) -> Option<Duration> {
    let text = str::from_utf8(value).ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let seconds = text
            .parse::<u64>()
            .map_or(RETRY_AFTER_MAX, Duration::from_secs);
        return Some(seconds.min(RETRY_AFTER_MAX));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    let wait = date.duration_since(now).unwrap_or(Duration::ZERO);
    Some(wait.min(RETRY_AFTER_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read_and_bounded() {
        // Sun, 06 Nov 1994 08:49:37 GMT
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let seconds = Duration::from_secs;
        for (value, wait) in [
            ("3600", Some(seconds(3600))),
            (" 0 ", Some(Duration::ZERO)),
            ("99999999", Some(seconds(99_999_999))),
            ("999999999", Some(RETRY_AFTER_MAX)),
            ("99999999999999999999999999", Some(RETRY_AFTER_MAX)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(seconds(60))),
            ("Sunday, 06-Nov-94 08:50:37 GMT", Some(seconds(60))),
            ("Sun Nov  6 08:50:37 1994", Some(seconds(60))),
            ("Sun, 06 Nov 1994 08:48:37 GMT", Some(Duration::ZERO)),
            ("Tue, 31 Dec 2199 23:59:59 GMT", Some(RETRY_AFTER_MAX)),
            ("-5", None),
            ("1.5", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(parse(value.as_bytes(), now), wait, "{value:?}");
        }
        assert_eq!(parse(b"\xff", now), None);
    }
}
