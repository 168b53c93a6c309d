//! The `Set-Cookie` field of an answer: RFC 6265, section 5.2.

use std::time::{Duration, SystemTime};

use super::date;

/// The longest that a cookie lasts, as browsers have it.
const LIFE_MAX: Duration = Duration::from_hours(400 * 24);

/// What one field says.
#[derive(Debug)]
pub(super) struct SetCookie<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a str,
    /// In lower case, without the dot that it may begin with.
    pub(super) domain: Option<String>,
    pub(super) path: Option<&'a str>,
    pub(super) is_secure: bool,
    pub(super) expires: Option<SystemTime>,
}

impl<'a> SetCookie<'a> {
    /// Reads a field; none if it is no cookie, or one that could not be sent back.
    pub(super) fn parse(field: &'a [u8], now: SystemTime) -> Option<Self> {
        // What is sent back stands in a header field, and in the archive: text without control characters.
        let text = str::from_utf8(field).ok()?;
        if text
            .chars()
            .any(|character| character.is_control() && character != '\t')
        {
            return None;
        }
        let mut parts = text.split(';');
        let pair = parts.next()?;
        let (name, value) = pair.split_once('=').unwrap_or(("", pair));
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() && value.is_empty() {
            return None;
        }
        let mut set = Self {
            name,
            value,
            domain: None,
            path: None,
            is_secure: false,
            expires: None,
        };
        let mut age = None;
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            // Of several, the last one counts.
            match key.as_str() {
                "domain" => {
                    let domain = value.strip_prefix('.').unwrap_or(value);
                    set.domain = (!domain.is_empty()).then(|| domain.to_ascii_lowercase());
                }
                "path" => set.path = value.starts_with('/').then_some(value),
                "secure" => set.is_secure = true,
                "expires" => set.expires = date::parse(value.as_bytes()).or(set.expires),
                "max-age" => age = seconds(value).or(age),
                _ => {}
            }
        }
        let latest = now + LIFE_MAX;
        set.expires = match age {
            Some(age) => Some(now + age.min(LIFE_MAX)),
            None => set.expires.map(|end| end.min(latest)),
        };
        Some(set)
    }
}

/// A time from now on; none if it is no number. What is not positive is over.
fn seconds(text: &str) -> Option<Duration> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if text.starts_with('-') {
        return Some(Duration::ZERO);
    }
    // Numbers that are too large for ours mean: as long as possible.
    Some(Duration::from_secs(digits.parse().unwrap_or(u64::MAX)))
}
