//! What collecting from one site taught for the next, in the file `focus/experience.json`.
//!
//! A kill loses what was not saved; the next run reads these sites from the archive again, and learns it again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use junkai_focus::collect::{Collector, Experience};
use serde::{Deserialize, Serialize};

use super::FOLDER;
use junkai_files::Disk;

use crate::{CrawlError, small_file};

/// What was learned, and from which sites.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Learned {
    experience: Experience,
    /// Sites that taught what they could.
    sites: BTreeSet<String>,
    /// Those of them that were collected to the last page and the last guess.
    #[serde(default)]
    whole: BTreeSet<String>,
}

impl Learned {
    /// What was learned before; nothing, if that is damaged.
    pub fn load(archive: &Path) -> Result<Learned, CrawlError> {
        match small_file::load::<Learned>(&Disk::default(), &path(archive)) {
            Ok(learned) if learned.experience.is_sound() => Ok(learned),
            Ok(_) | Err(CrawlError::Damaged { .. }) => {
                tracing::warn!("what was learned of collecting cannot be read; it is learned anew");
                Ok(Learned::default())
            }
            Err(error) => Err(error),
        }
    }

    pub fn save(&self, archive: &Path) -> Result<(), CrawlError> {
        small_file::store(&Disk::default(), &path(archive), self)
    }

    pub(super) fn experience(&self) -> &Experience {
        &self.experience
    }

    /// Learns from a site that was collected; each teaches once.
    pub(super) fn learn(&mut self, site: &str, collector: &Collector) {
        if self.sites.insert(site.to_owned()) {
            self.experience.learn(collector);
        }
    }

    /// Notes that nothing of a site is left to fetch or to guess.
    pub(super) fn note_whole(&mut self, site: &str) {
        self.whole.insert(site.to_owned());
    }

    /// Whether nothing of a site was left, in this run or one before.
    pub(super) fn is_whole(&self, site: &str) -> bool {
        self.whole.contains(site)
    }
}

fn path(archive: &Path) -> PathBuf {
    archive.join(FOLDER).join("experience.json")
}
