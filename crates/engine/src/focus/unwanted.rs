//! Sites that were found not to hold what is wanted: a crawl that keeps what is wanted fresh leaves them alone.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::Path;
use std::time::Duration;

use hashbrown::HashSet;
use junkai_weburl::{Fingerprint, PageUrl};

use super::verdicts::{self, SiteVerdict};
use crate::CrawlError;
use crate::error::AtPath as _;
use crate::settings::Settings;

/// The sites that are left alone.
#[derive(Debug, Default)]
pub struct Unwanted {
    /// The fingerprints of their names.
    sites: HashSet<u64>,
}

impl Unwanted {
    /// How long a visit to such a site is deferred. Nothing is forgotten: another verdict brings its pages back.
    pub const DEFERRAL: Duration = Duration::from_hours(30 * 24);

    /// Those of an archive; none in one that was not explored, where all are to be visited, and in a crawl that explores or collects.
    pub fn load(archive: &Path, settings: &Settings) -> Result<Unwanted, CrawlError> {
        let focus = &settings.focus;
        if focus.aim.is_focused() || !focus.keep_to_wanted {
            return Ok(Unwanted::default());
        }
        let path = verdicts::path(archive);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Unwanted::default()),
            Err(error) => return Err(error).at(&path),
        };
        let mut sites = HashSet::new();
        for line in BufReader::new(file).split(b'\n') {
            // What cannot be read is of no site.
            if let Ok(verdict) = serde_json::from_slice::<SiteVerdict>(&line.at(&path)?)
                && !verdict.holds
                && verdict.unknown.is_none()
            {
                sites.insert(Fingerprint::of(&verdict.site).0);
            }
        }
        Ok(Unwanted { sites })
    }

    /// Why a page is left alone, in words; none if it is not.
    pub fn reason(&self, page: &PageUrl) -> Option<String> {
        self.has(page).then(|| {
            format!(
                "{} was found not to hold what is wanted; `junkai focus explain` says why (focus.keep_to_wanted)",
                page.site()
            )
        })
    }

    /// Whether a page is of such a site.
    pub fn has(&self, page: &PageUrl) -> bool {
        !self.sites.is_empty() && self.sites.contains(&Fingerprint::of(page.site()).0)
    }
}
