//! The cookies of a crawl: those of a file, and those that servers set where they are to be kept.
//!
//! RFC 6265, with the parts of its revision (draft-ietf-httpbis-rfc6265bis) that browsers follow: name prefixes, and cookies marked `Secure` only
//! from private ways. Every page is visited by itself, so `SameSite` and `HttpOnly` say nothing here. In memory: what servers set is
//! forgotten at the end of a run.
//!
//! Invariants: a cookie goes to the hosts, paths and ways that it is for; servers' cookies are bounded in number and bytes, of a domain and in all.

mod date;
mod netscape;
mod set_cookie;

use std::cell::Cell;
use std::path::Path;
use std::time::SystemTime;

use hashbrown::HashMap;
use url::Url;

use self::set_cookie::SetCookie;
use super::Way;
use super::hosts::is_within;
use super::secret::Secret;

/// Bounds on what servers set: as RFC 6265, section 6.1, asks of a browser at least, and as browsers have them.
const COOKIE_BYTES_MAX: usize = 4096;
const DOMAIN_COOKIES_MAX: usize = 50;
const COOKIES_MAX: usize = 3000;
const BYTES_MAX: usize = 4 << 20;
/// Bytes of a `Cookie` field; few servers take more.
const FIELD_BYTES_MAX: usize = 16 * 1024;

/// One cookie.
#[derive(Clone, Debug)]
struct Cookie {
    name: String,
    value: Secret,
    path: String,
    /// Whether it is for the hosts below its domain, too.
    is_for_domain: bool,
    is_secure: bool,
    /// When it ends; none lasts as long as the run.
    expires: Option<SystemTime>,
    /// Whether it is the operator's own, which nobody else may see.
    is_from_file: bool,
    /// When it was first set, in the order of all.
    created: u64,
    /// When it was last sent or set, in the order of all.
    used: Cell<u64>,
}

/// The value of a `Cookie` field, as it is sent and as it may be shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CookieField {
    pub(crate) sent: Sent,
    /// The same without what is secret, if something is.
    pub(crate) shown: Option<String>,
}

/// A field's text that debug output does not show.
#[derive(PartialEq, Eq)]
pub(crate) struct Sent(pub(crate) String);

impl std::fmt::Debug for Sent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("***")
    }
}

/// All cookies, by their domains.
#[derive(Debug, Default)]
pub(crate) struct CookieJar {
    domains: HashMap<String, Vec<Cookie>>,
    next: u64,
    /// Cookies that servers set, and their bytes.
    count: usize,
    bytes: usize,
}

impl CookieJar {
    /// Reads the cookies of a file in Netscape's format; those that have expired are left out.
    ///
    /// # Errors
    /// In words that name the line and nothing of what is in it.
    pub(crate) fn load(path: &Path, now: SystemTime) -> Result<Self, String> {
        let mut jar = Self::default();
        let mut expired = 0;
        for line in netscape::read(path)? {
            if line.cookie.is_over(now) {
                expired += 1;
                continue;
            }
            let created = jar.tick();
            let cookie = Cookie {
                created,
                ..line.cookie
            };
            let cookies = jar.domains.entry(line.domain).or_default();
            cookies.retain(|other| !other.is_same(&cookie));
            cookies.push(cookie);
        }
        if 0 < expired {
            let left = jar.domains.values().map(Vec::len).sum::<usize>();
            let path = path.display();
            tracing::warn!(
                "{expired} cookies of {path} have expired and are not sent; {left} are left"
            );
        }
        Ok(jar)
    }

    /// The `Cookie` field of a request, if it has one.
    pub(crate) fn field_for(
        &mut self,
        url: &Url,
        way: Way,
        now: SystemTime,
    ) -> Option<CookieField> {
        let host = url.host_str()?;
        let used = self.tick();
        let mut chosen: Vec<&Cookie> = Vec::new();
        for domain in domains_of(host) {
            let cookies = self.domains.get(domain).into_iter().flatten();
            chosen.extend(cookies.filter(|cookie| {
                (cookie.is_for_domain || domain == host)
                    && path_matches(url.path(), &cookie.path)
                    && (!cookie.is_secure || way.is_private)
                    && !cookie.is_over(now)
            }));
        }
        // Longer paths first, then older ones (RFC 6265, section 5.4).
        chosen.sort_by_key(|cookie| (std::cmp::Reverse(cookie.path.len()), cookie.created));
        let (mut sent, mut shown, mut is_secret) = (String::new(), String::new(), false);
        for cookie in chosen {
            let (name, value) = (&cookie.name, cookie.value.reveal());
            if FIELD_BYTES_MAX < sent.len() + name.len() + value.len() {
                break;
            }
            cookie.used.set(used);
            is_secret |= cookie.is_from_file;
            let public = if cookie.is_from_file {
                super::REDACTED
            } else {
                value
            };
            for (text, value) in [(&mut sent, value), (&mut shown, public)] {
                if !text.is_empty() {
                    text.push_str("; ");
                }
                if !name.is_empty() {
                    text.push_str(name);
                    text.push('=');
                }
                text.push_str(value);
            }
        }
        (!sent.is_empty()).then(|| CookieField {
            sent: Sent(sent),
            shown: is_secret.then_some(shown),
        })
    }

    /// Takes in a `Set-Cookie` field of an answer (RFC 6265, section 5.3).
    pub(crate) fn take(&mut self, field: &[u8], url: &Url, way: Way, now: SystemTime) {
        let Some(host) = url.host_str() else { return };
        let Some(set) = SetCookie::parse(field, now) else {
            return;
        };
        if COOKIE_BYTES_MAX < set.name.len() + set.value.len() {
            return;
        }
        let Some((domain, is_for_domain)) = set.domain_at(host) else {
            return;
        };
        let path = match set.path {
            Some(path) if path.len() <= COOKIE_BYTES_MAX => path.to_owned(),
            Some(_) => return,
            None => default_path(url.path()).to_owned(),
        };
        let lower = set.name.to_ascii_lowercase();
        let is_wrong_prefix = (lower.starts_with("__secure-") && !set.is_secure)
            || (lower.starts_with("__host-") && (!set.is_secure || is_for_domain || path != "/"));
        if is_wrong_prefix || (set.is_secure && !way.is_private) {
            return;
        }
        let created = self.tick();
        let cookie = Cookie {
            name: set.name.to_owned(),
            value: Secret::new(set.value),
            path,
            is_for_domain,
            is_secure: set.is_secure,
            expires: set.expires,
            is_from_file: false,
            created,
            used: Cell::new(created),
        };
        self.put(&domain, cookie, now);
    }

    fn put(&mut self, domain: &str, mut cookie: Cookie, now: SystemTime) {
        if let Some(cookies) = self.domains.get_mut(domain)
            && let Some(place) = cookies.iter().position(|other| other.is_same(&cookie))
        {
            let old = cookies.remove(place);
            cookie.created = old.created;
            self.forget(&old);
        }
        if cookie.is_over(now) {
            // A domain without cookies takes no room.
            if self.domains.get(domain).is_some_and(Vec::is_empty) {
                self.domains.remove(domain);
            }
            return;
        }
        self.make_room(domain, &cookie, now);
        self.count += 1;
        self.bytes += cookie.bytes();
        self.domains.entry_ref(domain).or_default().push(cookie);
    }

    /// Drops cookies that servers set, as far as a new one needs it: those that are over, of its domain the least used, then the least used of all.
    fn make_room(&mut self, domain: &str, cookie: &Cookie, now: SystemTime) {
        if let Some(cookies) = self.domains.get_mut(domain) {
            let set = cookies.iter().filter(|other| !other.is_from_file).count();
            if DOMAIN_COOKIES_MAX <= set {
                let gone = remove_least_used(cookies, now);
                for old in &gone {
                    self.forget(old);
                }
            }
        }
        while COOKIES_MAX <= self.count || BYTES_MAX < self.bytes + cookie.bytes() {
            let least = |cookies: &Vec<Cookie>| {
                let set = cookies.iter().filter(|other| !other.is_from_file);
                set.map(|other| other.used.get()).min()
            };
            let domains = self.domains.iter();
            let least = domains.filter_map(|(domain, cookies)| Some((least(cookies)?, domain)));
            let Some(domain) = least.min().map(|(_, domain)| domain.clone()) else {
                break;
            };
            let Some(cookies) = self.domains.get_mut(&domain) else {
                break;
            };
            let gone = remove_least_used(cookies, now);
            if cookies.is_empty() {
                self.domains.remove(&domain);
            }
            if gone.is_empty() {
                break;
            }
            for old in &gone {
                self.forget(old);
            }
        }
    }

    /// A cookie went: it counts no more.
    fn forget(&mut self, cookie: &Cookie) {
        if !cookie.is_from_file {
            self.count -= 1;
            self.bytes -= cookie.bytes();
        }
    }

    fn tick(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

impl Cookie {
    fn is_over(&self, now: SystemTime) -> bool {
        self.expires.is_some_and(|end| end <= now)
    }

    /// Whether one replaces the other, in one domain.
    fn is_same(&self, other: &Cookie) -> bool {
        (&self.name, &self.path, self.is_for_domain)
            == (&other.name, &other.path, other.is_for_domain)
    }

    fn bytes(&self) -> usize {
        size_of::<Cookie>() + self.name.len() + self.value.reveal().len() + self.path.len()
    }
}

/// Takes the cookies out that are over, or else the one that was used least of late. The operator's own stay.
fn remove_least_used(cookies: &mut Vec<Cookie>, now: SystemTime) -> Vec<Cookie> {
    let is_over = |cookie: &mut Cookie| !cookie.is_from_file && cookie.is_over(now);
    let mut gone: Vec<Cookie> = cookies.extract_if(.., is_over).collect();
    if gone.is_empty() {
        let set = cookies
            .iter()
            .enumerate()
            .filter(|(_, cookie)| !cookie.is_from_file);
        let least = set
            .min_by_key(|(_, cookie)| cookie.used.get())
            .map(|(place, _)| place);
        gone.extend(least.map(|place| cookies.remove(place)));
    }
    gone
}

/// A host and the domains above it; an address has none.
fn domains_of(host: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(host);
    let is_address = is_address(host);
    std::iter::from_fn(move || {
        let domain = next?;
        let above = domain.split_once('.').map(|(_, above)| above);
        next = above.filter(|above| !is_address && !above.is_empty());
        Some(domain)
    })
}

fn is_address(host: &str) -> bool {
    host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok()
}

/// Whether a domain is one under which strangers have names, such as `co.uk` or `github.io`.
fn is_public_suffix(domain: &str) -> bool {
    psl::suffix_str(domain).is_some_and(|suffix| suffix == domain)
}

/// RFC 6265, section 5.1.4.
fn path_matches(path: &str, of_cookie: &str) -> bool {
    path.strip_prefix(of_cookie)
        .is_some_and(|rest| rest.is_empty() || of_cookie.ends_with('/') || rest.starts_with('/'))
}

/// The folder of a page (RFC 6265, section 5.1.4).
fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(end) => &path[..end],
    }
}

impl SetCookie<'_> {
    /// The domain for which a host may set the cookie, and whether that has the hosts below it; none if it may not.
    fn domain_at(&self, host: &str) -> Option<(String, bool)> {
        let Some(domain) = &self.domain else {
            return Some((host.to_owned(), false));
        };
        if domain == host {
            let is_for_domain = !is_address(host) && !is_public_suffix(host);
            return Some((host.to_owned(), is_for_domain));
        }
        let may = !is_address(host) && is_within(host, domain) && !is_public_suffix(domain);
        may.then(|| (domain.clone(), true))
    }
}

#[cfg(test)]
mod tests;
