//! The host of a SURT key: found in the authority, decoded, and brought to one spelling.

use std::net::Ipv4Addr;

use idna::{AsciiDenyList, domain_to_ascii_cow};

use crate::percent::{decode_fully, encode_for_surt};
use crate::scan::LABEL_LENGTH_MAX;

/// Host and port of an authority; `None` if what stands in place of the port is none.
pub(super) fn split_authority(authority: &str) -> Option<(&str, Option<u16>)> {
    let authority = authority.trim_end_matches(':');
    let host_and_port = authority
        .rsplit_once('@')
        .map_or(authority, |(_, after)| after);
    let (host, port) = match host_and_port.split_once('[') {
        Some((_, bracketed)) => {
            let (host, after) = bracketed.split_once(']').unwrap_or((bracketed, ""));
            (host, after.split_once(':').map_or("", |(_, port)| port))
        }
        None => host_and_port.split_once(':').unwrap_or((host_and_port, "")),
    };
    if port.is_empty() {
        return Some((host, None));
    }
    let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
    let significant = port.trim_start_matches('0');
    match significant {
        "" if is_number => Some((host, Some(0))),
        digits if is_number => Some((host, Some(digits.parse().ok()?))),
        _ => None,
    }
}

/// The host decoded, in lower case and punycode, an IPv4 address in any notation as four numbers, the rest encoded again.
pub(super) fn canonical(host: &[u8]) -> String {
    let mut host = decode_fully(host);
    if !host.is_ascii()
        && let Some(ascii) = to_punycode(&host)
    {
        host = ascii.into_bytes();
    }
    let host = trim_dots(&without_doubled_dots(&host)).to_vec();
    match address(&host) {
        Some(address) => address.to_string(),
        None => encode_for_surt(&host.to_ascii_lowercase()).to_ascii_lowercase(),
    }
}

/// Without `www.`, `www2.` and the like before a name.
pub(super) fn without_www(host: &str) -> &str {
    host.strip_prefix("www")
        .map(|rest| rest.trim_start_matches(|character: char| character.is_ascii_digit()))
        .and_then(|rest| rest.strip_prefix('.'))
        .unwrap_or(host)
}

/// A name beyond ASCII in punycode; `None` if it has a label that DNS cannot hold. Bytes that are not UTF-8 are left out.
fn to_punycode(host: &[u8]) -> Option<String> {
    let text: String = host.utf8_chunks().map(|chunk| chunk.valid()).collect();
    if text.is_empty() {
        return Some(text);
    }
    let labels: Vec<&str> = text.split(['.', '。', '．', '｡']).collect();
    let is_final_dot = |index: usize| 0 < index && index + 1 == labels.len();
    let mut ascii = Vec::with_capacity(labels.len());
    for (index, label) in labels.iter().enumerate() {
        let label = label_to_punycode(label)?;
        let has_valid_length = (1..=LABEL_LENGTH_MAX).contains(&label.len());
        let is_end = label.is_empty() && is_final_dot(index);
        if !has_valid_length && !is_end {
            return None;
        }
        ascii.push(label);
    }
    Some(ascii.join("."))
}

/// IDNA 2003, unlike its successors, maps `ß` and `ς`, drops the joiners, and leaves a label alone that is then in ASCII.
fn label_to_punycode(label: &str) -> Option<String> {
    let mut mapped = String::with_capacity(label.len());
    for character in label.chars() {
        match character {
            'ß' | 'ẞ' => mapped.push_str("ss"),
            'ς' => mapped.push('σ'),
            '\u{200c}' | '\u{200d}' => {}
            other => mapped.push(other),
        }
    }
    if mapped.is_ascii() {
        return Some(mapped);
    }
    let ascii = domain_to_ascii_cow(mapped.as_bytes(), AsciiDenyList::EMPTY).ok()?;
    Some(ascii.into_owned())
}

/// One of two dots, once: three dots become two.
fn without_doubled_dots(host: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(host.len());
    let mut rest = host;
    while let [first, after @ ..] = rest {
        out.push(*first);
        rest = match rest {
            [b'.', b'.', after @ ..] => after,
            _ => after,
        };
    }
    out
}

fn trim_dots(mut host: &[u8]) -> &[u8] {
    while let Some(rest) = host.strip_prefix(b".") {
        host = rest;
    }
    while let Some(rest) = host.strip_suffix(b".") {
        host = rest;
    }
    host
}

/// An IPv4 address as one number, taken modulo 2³², or as up to four numbers in the notation of `inet_aton`.
fn address(host: &[u8]) -> Option<Ipv4Addr> {
    let is_candidate = !host.is_empty()
        && host
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'.');
    if !is_candidate {
        return None;
    }
    if !host.contains(&b'.') {
        let append = |number: u32, digit: &u8| {
            number
                .wrapping_mul(10)
                .wrapping_add(u32::from(digit - b'0'))
        };
        return Some(Ipv4Addr::from_bits(host.iter().fold(0, append)));
    }
    let text = std::str::from_utf8(host).ok()?;
    let parts: Vec<&str> = text.split('.').collect();
    let is_octal = text.starts_with('0');
    let has_octal_digits_only = !text.contains(['8', '9']);
    if 4 < parts.len() || (is_octal && !has_octal_digits_only) {
        return None;
    }
    let (last, octets) = parts.split_last()?;
    let mut bits = 0;
    for octet in octets {
        bits = bits << 8 | u32::from(u8::try_from(number(octet)?).ok()?);
    }
    let last_bits = 32 - 8 * u32::try_from(octets.len()).ok()?;
    let last = number(last)?;
    (u64::from(last) < 1 << last_bits).then(|| {
        let high = u32::try_from(u64::from(bits) << last_bits).unwrap_or_default();
        Ipv4Addr::from_bits(high | last)
    })
}

/// A number as C writes it: octal behind a zero.
fn number(digits: &str) -> Option<u32> {
    let radix = if digits.starts_with('0') { 8 } else { 10 };
    u32::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_numbers_or_nothing() {
        for (authority, expected) in [
            ("a", Some(("a", None))),
            ("a:", Some(("a", None))),
            ("a:::", Some(("a", None))),
            ("a:080", Some(("a", Some(80)))),
            ("a:0", Some(("a", Some(0)))),
            ("u:p@a:1", Some(("a", Some(1)))),
            ("[::1]:8", Some(("::1", Some(8)))),
            ("[::1", Some(("::1", None))),
            ("a:x", None),
            ("a:65536", None),
            ("a:1:2", None),
        ] {
            assert_eq!(split_authority(authority), expected, "{authority}");
        }
    }

    #[test]
    fn addresses_are_read_as_c_reads_them() {
        for (host, expected) in [
            ("3279880203", Some("195.127.0.11")),
            ("4294967296", Some("0.0.0.0")),
            ("10.1", Some("10.0.0.1")),
            ("1.2.772", Some("1.2.3.4")),
            ("0177.0.0.01", Some("127.0.0.1")),
            ("10.010.1.1", Some("10.8.1.1")),
            ("10.08.1.1", None),
            ("08.1.1.1", None),
            ("256.1.1.1", None),
            ("1.2.3.4.5", None),
            ("1.2.65536", None),
        ] {
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(address(host.as_bytes()), expected, "{host}");
        }
    }
}
