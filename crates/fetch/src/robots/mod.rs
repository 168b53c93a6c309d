//! robots.txt: what a site asks crawlers to leave alone, by RFC 9309 to the letter.
//!
//! The crawler fetches `/robots.txt` as a visit of its own, has [`RobotsAnswer::of`] say what the
//! exchange means, and notes that in the [`RobotsState`] of the origin, which is asked about every
//! page. [`Robots`] is the parsed file: read it first. Of a file only the rules for this crawler are kept, in about as many bytes as
//! they have in the file, and a question costs no more than a bound times the length of the path (`table`).
//!
//! The parser is our own. Of the crates that exist, none passes the table of cases that the
//! tests here are made from: the best one misses product tokens with a version, is stopped by a
//! `Crawl-delay` line between two `User-agent` lines and obeys rules that are no paths; another takes seconds for
//! one hostile pattern. Repairing them from outside would mean to parse the file first.
//!
//! # Departures
//! None from the RFC's requirements, except that a page is left alone where more than a few hundred patterns with wildcards would
//! have to be tried to decide about it. Beyond it, and on the side of the site: a pattern may
//! begin with `*`; the misspellings of `Disallow` and `User-agent` that are
//! frequent in the wild count; `Crawl-delay` and `Sitemap` are read.

mod parser;
mod pattern;
mod state;
mod stored;
mod table;

use std::fmt;
use std::time::Duration;

use pattern::Target;
pub use state::{RobotsAnswer, RobotsState, Verdict};
use table::Table;

/// How much of a file is read (RFC 9309, section 2.5: at least 500 KiB).
pub const ROBOTS_LENGTH_MAX: usize = 500 * 1024;
/// The longest `Crawl-delay` that is told: ten years, which is as good as never. How much of it is obeyed is a setting.
pub const CRAWL_DELAY_MAX: Duration = Duration::from_hours(10 * 365 * 24);
/// Octets of a pattern that are shown.
const PATTERN_SHOWN_MAX: usize = 200;

/// The rules of a robots.txt for one crawler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Robots {
    rules: Table,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<String>,
}

/// Whether a page may be visited, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision<'a> {
    /// What decided.
    pub because: Because<'a>,
}

/// What decides about a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because<'a> {
    /// No rule matches, so it may be visited.
    NoRule,
    /// This line.
    Line(DecidingLine<'a>),
    /// Too many patterns with wildcards would have to be tried, so it is left alone.
    TooManyWildcards,
}

/// A line of a robots.txt: a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecidingLine<'a> {
    /// Its number, from 1.
    pub number: u32,
    /// Whether it is an `Allow` line.
    pub allow: bool,
    /// Its pattern, in the form in which it is compared.
    pub pattern: &'a str,
}

impl Decision<'_> {
    /// Whether the page may be visited.
    #[must_use]
    pub fn allow(&self) -> bool {
        match self.because {
            Because::NoRule => true,
            Because::Line(line) => line.allow,
            Because::TooManyWildcards => false,
        }
    }
}

impl fmt::Display for Because<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Because::NoRule => write!(out, "no rule matches"),
            Because::Line(line) => write!(out, "line {}: {line}", line.number),
            Because::TooManyWildcards => write!(
                out,
                "more than {} patterns with wildcards would have to be tried, so it is left alone",
                table::WILDCARDS_TRIED_MAX
            ),
        }
    }
}

impl fmt::Display for DecidingLine<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = if self.allow { "Allow" } else { "Disallow" };
        let shown = self.pattern.get(..PATTERN_SHOWN_MAX);
        write!(out, "{key}: {}", shown.unwrap_or(self.pattern))
    }
}

impl Robots {
    /// Reads a file for the crawler whose product token is `token`.
    ///
    /// Never fails: what is not understood is passed over, and a page of HTML has no rules.
    #[must_use]
    pub fn parse(bytes: &[u8], token: &str) -> Self {
        parser::parse(bytes, token)
    }

    /// Decides about a page of the site by its path and query, such as `/a/b?c=d`.
    #[must_use]
    pub fn decide(&self, path_and_query: &str) -> Decision<'_> {
        let path = path_and_query.split('#').next().unwrap_or("");
        let is_robots_txt = path == "/robots.txt" || path.starts_with("/robots.txt?");
        if self.rule_count() == 0 || is_robots_txt {
            return Decision {
                because: Because::NoRule,
            };
        }
        let target = Target::new(if path.is_empty() { "/" } else { path });
        self.rules.decide(&target)
    }

    /// Whether to decide about this page costs next to nothing: a few microseconds for each kilobyte of its URL.
    #[must_use]
    pub fn is_quick(&self, path_and_query: &str) -> bool {
        self.rules.is_quick(path_and_query.len())
    }

    /// The pause that the file asks for, at most [`CRAWL_DELAY_MAX`].
    #[must_use]
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The sitemaps that the file names, for all crawlers, as written there.
    #[must_use]
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// Takes the sitemaps out: they are needed once.
    pub(crate) fn take_sitemaps(&mut self) -> Vec<String> {
        std::mem::take(&mut self.sitemaps)
    }

    /// Bytes of memory that the rules take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.rules.bytes()
    }

    /// How many rules there are for this crawler.
    #[must_use]
    pub fn rule_count(&self) -> usize {
        self.rules.len()
    }
}

#[cfg(test)]
mod tests;
