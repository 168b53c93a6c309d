//! Turns text into the canonical URL of a page, or says why it names none.
//!
//! Everything that comes from the outside passes here once: seeds, links, redirects, sitemaps, `<base href>`. Read
//! [`Canonicalizer`]; the rules are these, in this order.
//!
//! # The canonical form
//! 1. The text is parsed, and resolved against its base, by the WHATWG URL standard: white space around it and tabs and line
//!    ends in it go, `\` is `/`, dot segments are resolved (also `%2e`), scheme and host are in lower case, an
//!    internationalised host is in punycode, an IPv4 address in any notation is four decimal numbers, an IPv6 address is in its
//!    shortest form, a default port is left out, an empty path is `/`, and what may not stand in a URL is percent-encoded.
//! 2. The scheme is http or https. Credentials and fragment are dropped.
//! 3. A final dot of the host is dropped. The host is an address, or a name that DNS can hold: labels of 1 to 63 of the
//!    characters `a-z 0-9 - _`, together at most 253. `www` stays: it may be another site.
//! 4. In path and query, escapes of unreserved characters (letters, digits, `- . _ ~`) are decoded, and those that remain are
//!    in upper case (RFC 3986, section 6.2.2). Nothing else is decoded or encoded; a stray `%` stays.
//! 5. If so configured, query parameters are sorted by name, and tracking parameters left out.
//! 6. An empty query (`?`) is dropped.
//! 7. The result is at most `max_length` bytes long.
//!
//! Kept, because servers may tell them apart: the case of path and query, a slash at the end, doubled slashes, `index.html`,
//! empty parameters.
//!
//! Invariants: canonical text comes out as it went in; the two ways to get there, the [`shortcut`] and the full parser, agree.

mod shortcut;

use std::borrow::Cow;
use std::fmt::Write as _;

use url::{EncodingOverride, Host, ParseError, Url};

use crate::config::CanonicalConfig;
use crate::page_url::{Layout, PageUrl};
use crate::percent::push_normalised;
use crate::query::QueryRules;
use crate::scan;
use crate::seed;
use crate::slashes::without_extra_slashes;

use shortcut::{Found, Scan, scan_absolute, scan_relative};

/// How much longer than the longest canonical URL a text may be before it is refused unparsed: escapes shrink to a third,
/// dot segments vanish.
const INPUT_LENGTH_FACTOR: usize = 4;
/// How much of an offending scheme or host an error repeats, in bytes.
const QUOTED_LENGTH_MAX: usize = 64;

/// Why a text is not the URL of a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// The scheme is another than http and https.
    #[error("scheme {0:?} is neither http nor https")]
    Scheme(String),
    /// The text has no scheme, and there is no base to resolve it against.
    #[error("neither a URL nor the name of a host")]
    Relative,
    /// A start URL has a user name or a password before its host.
    #[error(
        "a user name or password in a URL would stand in logs and in the archive; leave it out, and say --login HOST=FILE, with `user:password` in the file"
    )]
    Login,
    /// The host is neither an address nor a name that DNS can hold.
    #[error("host {0:?} is neither a name nor an address")]
    Host(String),
    /// The URL is longer than the settings allow.
    #[error("{length} bytes long, {limit} are allowed")]
    TooLong {
        /// Length in bytes.
        length: usize,
        /// The most that is allowed.
        limit: usize,
    },
    /// The text is no URL by the WHATWG standard.
    #[error("not a URL")]
    Syntax(#[source] ParseError),
}

/// Turns text into [`PageUrl`]s by fixed settings. Cheap to share, never changes.
#[derive(Clone, Debug)]
pub struct Canonicalizer {
    query_rules: QueryRules,
    length_max: usize,
}

impl Canonicalizer {
    /// Makes the rules of `config` ready for use.
    #[must_use]
    pub fn new(config: &CanonicalConfig) -> Self {
        Self {
            query_rules: QueryRules::new(config),
            length_max: config.max_length,
        }
    }

    /// The page that an absolute URL names.
    pub fn parse(&self, text: &str) -> Result<PageUrl, UrlError> {
        let text = trim(text);
        match scan_absolute(text)? {
            Scan::Found(found) => self.assemble(found),
            Scan::Unsure | Scan::Relative => self.parse_fully(Url::options(), text),
        }
    }

    /// The page that a user means by a text that may lack its scheme (`example.org/x`, `localhost:8000`).
    ///
    /// Without a scheme it is https; http for addresses, for names without a dot and for port 80, which seldom have a
    /// certificate.
    pub fn parse_seed(&self, text: &str) -> Result<PageUrl, UrlError> {
        self.parse(&seed::with_scheme(trim(text))?)
    }

    /// The page that a reference found in the page `base` names.
    pub fn join(&self, base: &PageUrl, reference: &str) -> Result<PageUrl, UrlError> {
        let reference = trim(reference);
        if reference.is_empty() || reference.starts_with('#') {
            return Ok(base.clone());
        }
        let found = match scan_absolute(reference)? {
            Scan::Found(found) => Some(found),
            Scan::Unsure => None,
            Scan::Relative => scan_relative(base, reference),
        };
        match found {
            Some(found) => self.assemble(found),
            None => self.parse_fully(Url::options().base_url(Some(base.as_url())), reference),
        }
    }

    /// The page that a reference names whose base is not itself the URL of a page, such as a `<base href>`.
    ///
    /// Slower than [`join`](Self::join) for relative references.
    pub fn join_url(&self, base: &Url, reference: &str) -> Result<PageUrl, UrlError> {
        self.join_encoded(base, reference, None)
    }

    /// The same for a page in a legacy charset: `encode_query` turns what the query has beyond ASCII into the page's bytes,
    /// as browsers do and the sites of such pages expect (WHATWG URL, "encoding override").
    pub fn join_encoded(
        &self,
        base: &Url,
        reference: &str,
        encode_query: EncodingOverride<'_>,
    ) -> Result<PageUrl, UrlError> {
        let reference = trim(reference);
        let options = Url::options()
            .base_url(Some(base))
            .encoding_override(encode_query);
        match scan_absolute(reference)? {
            Scan::Found(found) => self.assemble(found),
            Scan::Unsure | Scan::Relative => self.parse_fully(options, reference),
        }
    }

    /// Puts together what the scan found; the settings for the query are all that may change it.
    fn assemble(&self, found: Found<'_>) -> Result<PageUrl, UrlError> {
        let Found {
            base,
            text,
            needs_slash,
            layout,
        } = found;
        let length = base.len() + text.len() + usize::from(needs_slash);
        if self.input_length_max() < length {
            return Err(self.too_long(length));
        }
        let mut out = String::with_capacity(length);
        out.push_str(base);
        out.push_str(text);
        if needs_slash {
            out.push('/');
        }
        self.finish(out, layout)
    }

    /// Parses by the standard, then applies the rules beyond it.
    fn parse_fully(&self, options: url::ParseOptions<'_>, text: &str) -> Result<PageUrl, UrlError> {
        let text = without_extra_slashes(without_fragment(text));
        if self.input_length_max() < text.len() {
            return Err(self.too_long(text.len()));
        }
        let url = options.parse(text).map_err(|error| match error {
            ParseError::RelativeUrlWithoutBase | ParseError::RelativeUrlWithCannotBeABaseBase => {
                UrlError::Relative
            }
            error => UrlError::Syntax(error),
        })?;
        if !is_web_scheme(url.scheme()) {
            return Err(UrlError::Scheme(quoted(url.scheme())));
        }
        let mut out = String::with_capacity(url.as_str().len());
        out.push_str(url.scheme());
        out.push_str("://");
        push_host(&mut out, &url)?;
        let host_end = out.len();
        if let Some(port) = url.port() {
            write_infallibly(&mut out, format_args!(":{port}"));
        }
        let path_start = out.len();
        push_normalised(&mut out, url.path());
        let path_end = out.len();
        if let Some(query) = url.query() {
            out.push('?');
            push_normalised(&mut out, query);
        }
        let layout = Layout {
            host_end,
            path_start,
            path_end,
        };
        self.finish(out, layout)
    }

    /// Applies rules 5 to 7 to a text to which the others were applied.
    fn finish(&self, mut text: String, layout: Layout) -> Result<PageUrl, UrlError> {
        let query_start = layout.path_end + 1;
        if let Some(query) = text.get(query_start..) {
            match self.query_rules.apply(query) {
                Cow::Borrowed("") => text.truncate(layout.path_end),
                Cow::Borrowed(_) => {}
                Cow::Owned(query) => {
                    let keep = if query.is_empty() {
                        layout.path_end
                    } else {
                        query_start
                    };
                    text.truncate(keep);
                    text.push_str(&query);
                }
            }
        }
        if self.length_max < text.len() {
            return Err(self.too_long(text.len()));
        }
        Ok(PageUrl::from_canonical(text, layout))
    }

    fn input_length_max(&self) -> usize {
        self.length_max.saturating_mul(INPUT_LENGTH_FACTOR)
    }

    fn too_long(&self, length: usize) -> UrlError {
        UrlError::TooLong {
            length,
            limit: self.length_max,
        }
    }
}

impl Default for Canonicalizer {
    fn default() -> Self {
        Self::new(&CanonicalConfig::default())
    }
}

/// Appends the host by rule 3.
fn push_host(out: &mut String, url: &Url) -> Result<(), UrlError> {
    match url.host() {
        Some(Host::Ipv4(address)) => write_infallibly(out, format_args!("{address}")),
        Some(Host::Ipv6(_)) => out.push_str(url.host_str().unwrap_or_default()),
        Some(Host::Domain(domain)) => {
            let name = domain.strip_suffix('.').unwrap_or(domain);
            let is_valid =
                name.bytes().all(scan::is_host_byte) && scan::has_valid_labels(name.as_bytes());
            if !is_valid {
                return Err(UrlError::Host(quoted(name)));
            }
            out.push_str(name);
        }
        None => return Err(UrlError::Host(String::new())),
    }
    Ok(())
}

fn is_web_scheme(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// Without the C0 controls and spaces around it, which the standard ignores.
fn trim(text: &str) -> &str {
    text.trim_matches(|character| character <= ' ')
}

/// Without the fragment, but with its `#`: white space before it is not at the end of the text, and counts.
fn without_fragment(text: &str) -> &str {
    text.find('#').map_or(text, |hash| &text[..=hash])
}

/// The beginning of an offending part, for an error message.
fn quoted(text: &str) -> String {
    text[..text.floor_char_boundary(QUOTED_LENGTH_MAX)].to_owned()
}

/// Writing to a `String` cannot fail.
fn write_infallibly(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    let written = out.write_fmt(arguments);
    debug_assert!(written.is_ok(), "writing to a string");
}

#[cfg(test)]
mod tests;
