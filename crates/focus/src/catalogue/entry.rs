//! What the catalogue says of one data file.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::data_file::{Format, Period};

/// A data file, what is known of it, and its versions over time. Named by its URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Entry {
    /// Where it is.
    pub url: String,
    /// The site that it was found on.
    pub site: String,
    /// Its format.
    pub format: Format,
    /// What it is called: the best of link text, headings, sheet names and file name.
    pub title: String,
    /// The text around the link.
    pub context: String,
    /// The text of the link.
    pub link_text: String,
    /// Who publishes it, as the page says.
    pub publisher: Option<String>,
    /// The page that links to it.
    pub page: Option<String>,
    /// Names of its columns, of all its tables.
    pub columns: Vec<String>,
    /// Rows of all its tables, without headers; exact or estimated.
    pub rows: Option<u64>,
    /// The time that its values are of.
    pub time_range: Option<Period>,
    /// Units of its values.
    pub units: Vec<String>,
    /// The language of its words, as a primary subtag.
    pub language: Option<String>,
    /// A hint at its licence: a URL or a name.
    pub licence: Option<String>,
    /// Its length, as far as it was captured.
    pub bytes: u64,
    /// Whether there is more of it than was captured or read: then its rows are an estimate.
    pub is_cut: bool,
    /// Whether it carries macros. They are never run.
    pub has_macros: bool,
    /// Why it could not be looked into, if so: it is listed by what leads to it.
    pub unread: Option<String>,
    /// When this version was captured.
    pub captured: Timestamp,
    /// The digest of this version, as the archive names it.
    pub digest: String,
    /// Every version that was seen, the oldest first; the last one is this.
    pub versions: Vec<Version>,
    /// The probability that it is what was wanted.
    pub probability: f64,
}

/// One version of a data file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// When it was first captured.
    pub captured: Timestamp,
    /// Its digest.
    pub digest: String,
    /// Its length.
    pub bytes: u64,
}

impl Entry {
    /// More versions of a file are forgotten, the second oldest first: the first one says since when the file is known.
    pub const VERSIONS_MAX: usize = 1000;

    /// Takes in what a later capture of the same URL says; one with the digest of this version adds none.
    pub fn update(&mut self, newer: Self) {
        let mut versions = std::mem::take(&mut self.versions);
        let is_new = versions
            .last()
            .is_none_or(|last| last.digest != newer.digest);
        if is_new {
            versions.push(newer.version());
        }
        if Self::VERSIONS_MAX < versions.len() {
            versions.remove(1);
        }
        *self = Self { versions, ..newer };
    }

    /// The version that was captured last.
    #[must_use]
    pub fn version(&self) -> Version {
        Version {
            captured: self.captured,
            digest: self.digest.clone(),
            bytes: self.bytes,
        }
    }
}

impl Default for Entry {
    fn default() -> Self {
        Self {
            url: String::new(),
            site: String::new(),
            format: Format::Csv,
            title: String::new(),
            context: String::new(),
            link_text: String::new(),
            publisher: None,
            page: None,
            columns: Vec::new(),
            rows: None,
            time_range: None,
            units: Vec::new(),
            language: None,
            licence: None,
            bytes: 0,
            is_cut: false,
            has_macros: false,
            unread: None,
            captured: Timestamp::UNIX_EPOCH,
            digest: String::new(),
            versions: Vec::new(),
            probability: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(second: i64, digest: &str) -> Entry {
        Entry {
            url: "https://a.example/a.csv".into(),
            captured: Timestamp::from_second(second).unwrap(),
            digest: digest.into(),
            bytes: 7,
            ..Entry::default()
        }
    }

    #[test]
    fn a_new_digest_is_a_new_version() {
        let mut entry = Entry::default();
        for (second, digest) in [(1, "a"), (2, "a"), (3, "b"), (4, "a")] {
            entry.update(capture(second, digest));
        }
        let digests: Vec<&str> = entry.versions.iter().map(|it| &*it.digest).collect();
        assert_eq!(digests, ["a", "b", "a"]);
        assert_eq!(entry.captured.as_second(), 4);
        assert_eq!(entry.versions[0].captured.as_second(), 1);
    }

    #[test]
    fn the_list_of_versions_is_bounded_and_keeps_the_first() {
        let mut entry = Entry::default();
        for second in 0..3000 {
            entry.update(capture(second, &second.to_string()));
        }
        assert_eq!(entry.versions.len(), Entry::VERSIONS_MAX);
        assert_eq!(entry.versions[0].digest, "0");
        assert_eq!(entry.versions[Entry::VERSIONS_MAX - 1].digest, "2999");
    }
}
