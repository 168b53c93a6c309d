//! Files of cookies in the format of Netscape: as curl, wget and browsers write them.
//!
//! A line has seven fields with tabs between them: domain, whether it is for the hosts below it, path, whether it needs https, when it ends in
//! seconds (0: with the browser), name, value. `#` begins a comment, `#HttpOnly_` does not.

use std::cell::Cell;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::super::hosts::canonical_host;
use super::super::secret::Secret;
use super::{Cookie, is_address, is_public_suffix};

/// The largest file that is read: a browser has a few thousand cookies, of 4 KiB at most.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// A cookie of a file, and its domain.
#[derive(Debug)]
pub(super) struct CookieLine {
    pub(super) domain: String,
    pub(super) cookie: Cookie,
}

/// Reads all cookies of a file.
///
/// # Errors
/// In words that name the line and nothing of what is in it.
pub(super) fn read(path: &Path) -> Result<Vec<CookieLine>, String> {
    let file = path.display();
    let unreadable = |error: std::io::Error| format!("cannot read cookies from {file}: {error}");
    let mut bytes = Vec::new();
    let opened = File::open(path).map_err(unreadable)?;
    opened
        .take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if FILE_BYTES_MAX < bytes.len() as u64 {
        return Err(format!(
            "{file} has more than {FILE_BYTES_MAX} bytes: no file of cookies"
        ));
    }
    let text = str::from_utf8(&bytes).map_err(|_| format!("{file} is no text"))?;
    let text = text.trim_start_matches('\u{feff}');
    let mut cookies = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = match line.strip_prefix("#HttpOnly_") {
            Some(line) => line,
            None if line.starts_with('#') || line.trim().is_empty() => continue,
            None => line,
        };
        let cookie = parse(line).map_err(|mistake| format!("{file} line {number}: {mistake}"))?;
        cookies.push(cookie);
    }
    if cookies.is_empty() {
        return Err(format!(
            "{file} has no cookie; it must be in Netscape's format, as curl, wget and browsers export it"
        ));
    }
    Ok(cookies)
}

fn parse(line: &str) -> Result<CookieLine, String> {
    let fields: Vec<&str> = line.split('\t').collect();
    // Some tools leave the tab before an empty value out.
    let (domain, with_hosts, path, secure, expires, name, value) = match fields[..] {
        [domain, hosts, path, secure, expires, name] => {
            (domain, hosts, path, secure, expires, name, "")
        }
        [domain, hosts, path, secure, expires, name, value] => {
            (domain, hosts, path, secure, expires, name, value)
        }
        _ => {
            let count = fields.len();
            return Err(format!(
                "{count} fields instead of 7 with tabs between them; it must be in Netscape's format, as curl, wget and browsers export it"
            ));
        }
    };
    let yes = |text: &str, field: &str| match text.to_ascii_uppercase().as_str() {
        "TRUE" => Ok(true),
        "FALSE" => Ok(false),
        _ => Err(format!("{field} must be TRUE or FALSE")),
    };
    let whole = expires.split('.').next().unwrap_or_default().trim();
    let expires: i64 = whole
        .parse()
        .map_err(|_| "when it ends must be a number".to_owned())?;
    let is_printable = |text: &str| !text.chars().any(char::is_control);
    if !is_printable(name)
        || !is_printable(value)
        || name.contains(['=', ';'])
        || value.contains(';')
    {
        return Err("name or value has characters that cannot be sent".to_owned());
    }
    let domain = canonical_host(domain.trim_start_matches('.'))
        .map_err(|_| "the first field must be a host or domain".to_owned())?;
    let is_alone = is_address(&domain) || is_public_suffix(&domain);
    Ok(CookieLine {
        cookie: Cookie {
            name: name.to_owned(),
            value: Secret::new(value),
            path: if path.starts_with('/') {
                path.to_owned()
            } else {
                "/".to_owned()
            },
            is_for_domain: yes(with_hosts, "the second field")? && !is_alone,
            is_secure: yes(secure, "the fourth field")?,
            expires: match u64::try_from(expires) {
                Ok(0) => None,
                Ok(seconds) => SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)),
                Err(_) => Some(SystemTime::UNIX_EPOCH),
            },
            is_from_file: true,
            created: 0,
            used: Cell::new(0),
        },
        domain,
    })
}
