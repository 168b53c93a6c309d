//! The data files that are known: one line for each that was fetched, written before its visit is acknowledged, and for each that collecting met in the archive,
//! where a crawl without focus had brought it.
//!
//! The catalogue is made from these lines and from the captures. A file that is fetched twice, because of a kill or because it changed, has two lines, and the last counts.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use junkai_focus::data_file::Format;
use serde::{Deserialize, Serialize};

use super::FOLDER;
use crate::CrawlError;
use crate::error::AtPath as _;

const NAME: &str = "files.jsonl";

/// A data file that was fetched, or met in the archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundFile {
    /// Where it is.
    pub url: String,
    /// Its site.
    pub site: String,
    /// The page that links to it; empty if none does.
    pub page: String,
    /// The text of the link.
    pub link_text: String,
    /// The text around the link.
    pub beside: String,
    /// When it was fetched.
    pub at: Timestamp,
    /// What it is written in.
    pub format: Format,
    /// How probable it is that it is of the wanted kind; none of a file that was met in the archive: the catalogue judges it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// Why it could not be read, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Reads the files that were found, by URL; of each the last line.
///
/// # Errors
/// If the file cannot be read. A line that is torn or damaged is passed over.
pub(super) fn found_files(archive: &Path) -> Result<BTreeMap<String, FoundFile>, CrawlError> {
    let mut files = BTreeMap::new();
    let path = path(archive);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(files),
        Err(error) => return Err(error).at(&path),
    };
    for line in BufReader::new(file).split(b'\n') {
        match serde_json::from_slice::<FoundFile>(&line.at(&path)?) {
            Ok(found) => {
                files.insert(found.url.clone(), found);
            }
            Err(error) => tracing::warn!(%error, "a line of focus/{NAME} cannot be read"),
        }
    }
    Ok(files)
}

/// Where they are listed.
pub(super) fn path(archive: &Path) -> PathBuf {
    archive.join(FOLDER).join(NAME)
}
