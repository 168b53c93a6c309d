//! What an archive is explored for: the model, the threshold and the proof of its last exploring, kept with the evidence so that every later command judges alike.
//!
//! The model is copied, whole, by the first run that explores: it may be moved or made anew elsewhere, and the one that comes with junkai may change with a release.
//! What pages said is said by that model; another's answers are not mixed in.

use std::fs;
use std::path::{Path, PathBuf};

use junkai_focus::explore;
use junkai_focus::learn::Model;
use serde::{Deserialize, Serialize};

use super::{FOLDER, FocusConfig};
use crate::CrawlError;
use crate::error::AtPath as _;
use crate::small_file;
use junkai_files::Disk;

const MODEL_NAME: &str = "wanted.model";
const NAME: &str = "explored.json";

/// How the last run that explored was told to judge.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Explored {
    /// None in an archive that was not explored.
    threshold: Option<f64>,
    #[serde(default)]
    proof: Option<f64>,
}

/// How sites of the archive are judged: as the last run that explored was told, or else as the settings say.
pub(super) fn judging(
    archive: &Path,
    config: &FocusConfig,
) -> Result<explore::Settings, CrawlError> {
    let explored: Explored = small_file::load(&Disk::default(), &archive.join(FOLDER).join(NAME))?;
    Ok(explore::Settings {
        threshold: explored.threshold.unwrap_or(config.threshold),
        proof: explored.proof.unwrap_or(config.proof),
        worth_min: config.worth_min,
    })
}

/// Keeps by what is judged from now on.
///
/// # Errors
/// As [`load`].
pub(super) fn keep(archive: &Path, config: &FocusConfig) -> Result<(), CrawlError> {
    load(archive, config)?;
    let folder = archive.join(FOLDER);
    fs::create_dir_all(&folder).at(&folder)?;
    let explored = Explored {
        threshold: Some(config.threshold),
        proof: Some(config.proof),
    };
    small_file::store(&Disk::default(), &folder.join(NAME), &explored)?;
    let kept = kept_path(archive);
    if kept.exists() {
        return Ok(());
    }
    match &config.model {
        Some(path) => {
            junkai_files::replace(&kept, &fs::read(path).at(path)?).at(&kept)?;
        }
        None => Model::statistical_data().save(&kept)?,
    }
    Ok(())
}

/// The model that judges in the archive: its own, once it was explored; before, the one that the settings name, or the one that comes with junkai.
///
/// # Errors
/// If the settings name a model that is another than the archive's own, or that cannot be read.
pub(super) fn load(archive: &Path, config: &FocusConfig) -> Result<Model, CrawlError> {
    let kept = kept_path(archive);
    match (&config.model, kept.exists()) {
        (Some(named), true) => {
            match fs::read(named) {
                Ok(named_bytes) if named_bytes != fs::read(&kept).at(&kept)? => {
                    return Err(CrawlError::OtherModel {
                        named: named.clone(),
                        kept: kept.clone(),
                        name: Model::load(&kept)?.name().to_owned(),
                    });
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, model = %named.display(), "the model cannot be read; the archive's own is used");
                }
            }
            Ok(Model::load(&kept)?)
        }
        (Some(named), false) => Ok(Model::load(named)?),
        (None, true) => Ok(Model::load(&kept)?),
        (None, false) => Ok(Model::statistical_data()),
    }
}

fn kept_path(archive: &Path) -> PathBuf {
    archive.join(FOLDER).join(MODEL_NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_keeps_its_model_and_takes_no_other() {
        let archive = tempfile::tempdir().unwrap();
        let named = archive.path().join("mine.model");
        Model::statistical_data().save(&named).unwrap();
        let config = FocusConfig {
            model: Some(named.clone()),
            ..FocusConfig::default()
        };
        keep(archive.path(), &config).unwrap();
        assert!(kept_path(archive.path()).exists());
        load(archive.path(), &config).unwrap();
        fs::write(&named, "another").unwrap();
        for refused in [
            keep(archive.path(), &config).unwrap_err(),
            load(archive.path(), &config).unwrap_err(),
        ] {
            assert!(
                matches!(refused, CrawlError::OtherModel { .. }),
                "{refused}"
            );
        }
        fs::remove_file(&named).unwrap();
        load(archive.path(), &config).unwrap();
        load(archive.path(), &FocusConfig::default()).unwrap();
    }

    #[test]
    fn the_threshold_of_the_last_exploring_holds() {
        let archive = tempfile::tempdir().unwrap();
        let of = |threshold| FocusConfig {
            threshold,
            ..FocusConfig::default()
        };
        let now = || judging(archive.path(), &of(0.5)).unwrap().threshold;
        assert!((now() - 0.5).abs() < 1e-12);
        keep(archive.path(), &of(0.25)).unwrap();
        assert!((now() - 0.25).abs() < 1e-12);
    }
}
