//! The catalogue of an archive: made from the data files that were found and from their captures, whenever it is asked for.
//!
//! What a file holds is read from its captures, and its versions are those that the index knows. So a continuous crawl needs to know nothing of the
//! catalogue: what it captured is in the next one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;
use junkai_archive::Entry as Line;
use junkai_focus::catalogue::{self, Entry, Finding, Lines, PageFacts};
use junkai_focus::data_file::{self, Bounds, Hints};
use junkai_page::Answer;
use junkai_weburl::Canonicalizer;
use serde::Serialize;

use super::files::found_files;
use super::kept::{Kept, KeptPage};
use super::{FOLDER, FoundFile, Judge};
use crate::CrawlError;
use crate::settings::Settings;

/// Pages whose facts are kept at hand, for the next file that they link to.
const PAGES_MAX: usize = 1000;
/// Entries that are taken into the catalogue together.
const ENTRIES_AT_A_TIME: usize = 10_000;

/// What a catalogue came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Files that are listed.
    pub files: u64,
    /// Sites of which files were listed now.
    pub sites: u64,
    /// Files that were not listed before.
    pub added: u64,
    /// Files that were, and have another version.
    pub updated: u64,
}

/// Brings the catalogue of an archive, `focus/catalogue.*`, and the index that searches it up to date.
///
/// # Errors
/// If the archive cannot be read, or the catalogue not written.
pub fn write_catalogue(archive: &Path, settings: &Settings) -> Result<Listed, CrawlError> {
    let folder = archive.join(FOLDER);
    let known = known_versions(&folder)?;
    let mut reader = Reader {
        kept: Kept::open(archive)?,
        judge: Judge::new(archive, &settings.focus)?,
        canonical: Canonicalizer::new(&settings.canonical),
        probability_min: settings.focus.file_probability_min,
        pages: BTreeMap::new(),
    };
    let mut listed = Listed::default();
    let mut sites = BTreeSet::new();
    let mut entries = Vec::new();
    for (url, found) in found_files(archive)? {
        entries.extend(reader.entries(&found, known.get(&url))?);
        sites.insert(found.site);
        if ENTRIES_AT_A_TIME <= entries.len() {
            listed.take_in(catalogue::write(&folder, &entries)?);
            entries.clear();
        }
    }
    listed.take_in(catalogue::write(&folder, &entries)?);
    listed.sites = sites.len() as u64;
    Ok(listed)
}

impl Listed {
    fn take_in(&mut self, written: catalogue::Written) {
        self.files = written.entries;
        self.added += written.added;
        self.updated += written.updated;
    }
}

/// The version of each file that the catalogue knows last.
fn known_versions(folder: &Path) -> Result<BTreeMap<String, Version>, CrawlError> {
    let mut known = BTreeMap::new();
    let mut lines = Lines::open(folder)?;
    while let Some(entry) = lines.next_entry()? {
        let Entry {
            url,
            captured,
            digest,
            ..
        } = entry;
        known.insert(url, Version { captured, digest });
    }
    Ok(known)
}

/// A version of a file that is in the catalogue.
struct Version {
    captured: Timestamp,
    digest: String,
}

impl Version {
    /// How many of these versions, the oldest first, came no later than this one. Content may come back, so its digest is not enough.
    fn passed(&self, versions: &[Line]) -> usize {
        let is_passed = |line: &Line| {
            let captured = moment(&line.timestamp);
            captured.is_none_or(|captured| captured < self.captured)
                || captured == Some(self.captured) && line.digest.as_ref() == Some(&self.digest)
        };
        versions
            .iter()
            .rposition(is_passed)
            .map_or(0, |last| last + 1)
    }
}

struct Reader {
    kept: Kept,
    judge: Judge,
    canonical: Canonicalizer,
    probability_min: f64,
    /// What pages say that link to files, by URL; none of a page that cannot be read.
    pages: BTreeMap<String, Option<PageFacts>>,
}

impl Reader {
    /// What the catalogue has to learn of a file: an entry for each version after the one that it knows, the oldest first.
    fn entries(
        &mut self,
        found: &FoundFile,
        known: Option<&Version>,
    ) -> Result<Vec<Entry>, CrawlError> {
        let versions = versions(self.kept.captures(&found.url)?);
        let news = known.map_or(0, |known| known.passed(&versions));
        let mut entries = Vec::new();
        for line in versions.into_iter().skip(news) {
            let file = self.kept.read(line);
            if let Some(file) = file.filter(|file| Answer::of(file.status, None) == Answer::Content)
            {
                entries.extend(self.entry(found, &file));
            }
        }
        Ok(entries)
    }

    /// What the catalogue says of a version of a file; none if it is not of the wanted kind.
    fn entry(&mut self, found: &FoundFile, file: &KeptPage) -> Option<Entry> {
        let pdf_text = |bytes: &[u8]| self.judge.pdf_text(bytes);
        let hints = Hints {
            url: &found.url,
            content_type: file.declared_type.as_deref(),
            link_text: Some(&found.link_text),
            whole_bytes: file.whole_bytes,
            pdf_text: Some(&pdf_text),
        };
        let inspection = data_file::inspect(&file.content, &hints, &Bounds::default());
        let probability = self.judge.file_probability(&inspection);
        if probability < self.probability_min {
            return None;
        }
        let captured = moment(&file.entry.timestamp)?;
        let finding = Finding {
            url: &found.url,
            site: &found.site,
            inspection: &inspection,
            page: self.facts(&found.page),
            bytes: file.content.len() as u64,
            captured,
            digest: file.entry.digest.as_deref().unwrap_or_default(),
            probability,
        };
        finding.entry()
    }

    /// What a page says of the files that it links to.
    fn facts(&mut self, url: &str) -> Option<&PageFacts> {
        if !self.pages.contains_key(url) {
            if PAGES_MAX <= self.pages.len() {
                self.pages.clear();
            }
            let facts = self.read_facts(url);
            self.pages.insert(url.to_owned(), facts);
        }
        self.pages.get(url)?.as_ref()
    }

    fn read_facts(&self, url: &str) -> Option<PageFacts> {
        let page = self.canonical.parse(url).ok()?;
        let kept = self.kept.page(&page).ok()??;
        let content_type = kept.content_type.as_deref();
        Some(PageFacts::read(&kept.content, content_type, page.as_url()))
    }
}

/// The captures of a page that differ from the one before, the oldest first.
fn versions(captures: Vec<Line>) -> Vec<Line> {
    let mut versions: Vec<Line> = Vec::new();
    for line in captures {
        if versions
            .last()
            .is_none_or(|last| last.digest != line.digest)
        {
            versions.push(line);
        }
    }
    versions
}

/// A time of the index, as in `20260131120000`.
pub(super) fn moment(digits: &str) -> Option<Timestamp> {
    let part = |range: std::ops::Range<usize>| digits.get(range);
    let text = format!(
        "{}-{}-{}T{}:{}:{}Z",
        part(0..4)?,
        part(4..6)?,
        part(6..8)?,
        part(8..10)?,
        part(10..12)?,
        part(12..14)?
    );
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_index_are_read() {
        let time = moment("20260131120305").unwrap();
        assert_eq!(time.to_string(), "2026-01-31T12:03:05Z");
        assert_eq!(moment("2026"), None);
    }

    #[test]
    fn a_version_that_comes_back_is_another_version() {
        let line = |digest: &str, timestamp: &str| Line {
            surt: String::new(),
            timestamp: timestamp.to_owned(),
            url: "http://a.example/1.csv".to_owned(),
            mime: None,
            status: Some("200".to_owned()),
            digest: Some(digest.to_owned()),
            length: 1,
            offset: 0,
            filename: "1.warc.gz".to_owned(),
        };
        let captures = vec![
            line("a", "20260101000001"),
            line("a", "20260101000002"),
            line("b", "20260101000003"),
            line("a", "20260101000004"),
        ];
        let versions = versions(captures);
        let times: Vec<&str> = versions.iter().map(|line| &*line.timestamp).collect();
        assert_eq!(
            times,
            ["20260101000001", "20260101000003", "20260101000004"]
        );
        for (second, digest, passed) in [(1, "a", 1), (3, "b", 2), (3, "c", 1), (4, "a", 3)] {
            let known = Version {
                captured: moment(&format!("2026010100000{second}")).unwrap(),
                digest: digest.to_owned(),
            };
            assert_eq!(known.passed(&versions), passed, "{second} {digest}");
        }
    }
}
