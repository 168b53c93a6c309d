//! robots.txt: what a site asks crawlers to leave alone, by RFC 9309 to the letter.
//!
//! The crawler fetches `/robots.txt` as a visit of its own, has [`RobotsAnswer::of`] say what the
//! exchange means, and notes that in the [`RobotsState`] of the origin, which is asked about every
//! page. [`Robots`] is the parsed file: read it first.
//!
//! The parser is our own. Of the crates that exist, none passes the table of cases that the
//! tests here are made from: the best one misses product tokens with a version, is stopped by a
//! `Crawl-delay` line between two `User-agent` lines and obeys rules that are no paths; another takes seconds for
//! one hostile pattern. Repairing them from outside would mean to parse the file first.
//!
//! # Departures
//! None from the RFC's requirements. Beyond it, and on the side of the site: a pattern may
//! begin with `*`; the misspellings of `Disallow` and `User-agent` that are
//! frequent in the wild count; `Crawl-delay` and `Sitemap` are read.

mod parser;
mod pattern;
mod state;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use pattern::{Pattern, Target};
pub use state::{RobotsAnswer, RobotsState, Verdict};

/// How much of a file is read (RFC 9309, section 2.5: at least 500 KiB).
pub const ROBOTS_LENGTH_MAX: usize = 500 * 1024;
/// The longest `Crawl-delay` that is kept: ten years, which is as good as never.
pub const CRAWL_DELAY_MAX: Duration = Duration::from_hours(10 * 365 * 24);

/// The rules of a robots.txt for one crawler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Robots {
    /// Longest pattern first, `Allow` first among equals: the first that matches decides.
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Rule {
    pattern: Pattern,
    allow: bool,
    line: DecidingLine,
}

/// Whether a page may be visited, and which line says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision<'a> {
    /// Whether it may.
    pub allow: bool,
    /// The line that decided; none if no rule matches.
    pub line: Option<&'a DecidingLine>,
}

/// A line of a robots.txt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidingLine {
    /// Its number, from 1.
    pub number: u32,
    /// Its text, without comment; a very long one is cut.
    pub text: String,
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
        if self.rules.is_empty() || is_robots_txt {
            return Decision {
                allow: true,
                line: None,
            };
        }
        let target = Target::new(if path.is_empty() { "/" } else { path });
        let rule = self.rules.iter().find(|rule| rule.pattern.matches(&target));
        Decision {
            allow: rule.is_none_or(|rule| rule.allow),
            line: rule.map(|rule| &rule.line),
        }
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

    /// How many rules there are for this crawler.
    #[must_use]
    pub fn rule_count(&self) -> usize {
        self.rules.len()
    }
}

#[cfg(test)]
mod tests;
