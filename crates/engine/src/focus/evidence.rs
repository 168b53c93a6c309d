//! What pages said of their sites: one line for each page that was fetched while exploring, never changed afterwards.
//!
//! A line is written before the visit that it is of is acknowledged. A kill in between repeats that visit; the page's first line counts, so nothing
//! is lost and nothing counts twice.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use hashbrown::HashSet;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::FOLDER;
use crate::CrawlError;
use crate::error::AtPath as _;

/// The name of the file.
const NAME: &str = "evidence.jsonl";

/// What one page said of its site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The page.
    pub url: String,
    /// Its site.
    pub site: String,
    /// When it was fetched.
    pub at: Timestamp,
    /// The HTTP status.
    pub status: i32,
    /// Links from the site's first page.
    pub depth: u16,
    /// How probable it makes it that the site holds what is wanted; none if there was nothing to judge by.
    pub probability: Option<f64>,
    /// What spoke most, for or against.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clues: Vec<Clue>,
}

/// A feature of a page, and how much it spoke for (or against, below zero) what is wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clue {
    /// A word, or another feature by its name.
    pub feature: String,
    /// Its weight in the sum.
    pub weight: f64,
}

/// Reads the evidence of an archive in the order in which it came in, each page once. There is none in an archive that was not explored.
///
/// # Errors
/// If the file cannot be read. A line that is torn or damaged is passed over.
pub fn evidence(archive: &Path, mut each: impl FnMut(Evidence)) -> Result<(), CrawlError> {
    let path = path(archive);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).at(&path),
    };
    let mut known = HashSet::new();
    for line in BufReader::new(file).split(b'\n') {
        match serde_json::from_slice::<Evidence>(&line.at(&path)?) {
            Ok(evidence) => {
                if known.insert(junkai_weburl::Fingerprint::of(&evidence.url)) {
                    each(evidence);
                }
            }
            Err(error) => tracing::warn!(%error, "a line of focus/{NAME} cannot be read"),
        }
    }
    Ok(())
}

/// Where the evidence of an archive is.
pub(super) fn path(archive: &Path) -> PathBuf {
    archive.join(FOLDER).join(NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(url: &str, probability: f64) -> String {
        let evidence = Evidence {
            url: url.to_owned(),
            site: "a.example".to_owned(),
            at: Timestamp::UNIX_EPOCH,
            status: 200,
            depth: 1,
            probability: Some(probability),
            clues: Vec::new(),
        };
        serde_json::to_string(&evidence).unwrap()
    }

    #[test]
    fn a_page_counts_once_and_a_torn_line_not_at_all() {
        let archive = tempfile::tempdir().unwrap();
        std::fs::create_dir(archive.path().join(FOLDER)).unwrap();
        let first = line("http://a.example/", 0.25);
        let text = format!(
            "{first}\n{}\n\0\0\0\n{}\n{}",
            line("http://a.example/", 0.75),
            line("http://a.example/b", 0.5),
            &first[..first.len() / 2]
        );
        std::fs::write(path(archive.path()), text).unwrap();
        let mut read = Vec::new();
        evidence(archive.path(), |evidence| read.push(evidence.probability)).unwrap();
        assert_eq!(read, [Some(0.25), Some(0.5)]);
    }

    #[test]
    fn an_archive_that_was_not_explored_has_none() {
        let archive = tempfile::tempdir().unwrap();
        evidence(archive.path(), |_| panic!("there is none")).unwrap();
    }
}
