//! Which WARC files an archive has.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use junkai_archive::Layout;

use super::ArchiveGraphError;

/// What the name of a WARC file ends with while a crawl writes it.
const OPEN_SUFFIX: &str = ".open";
/// Folders below folders that are looked into.
const DEPTH_MAX: usize = 16;

/// The WARC files of an archive, by name.
#[derive(Debug)]
pub(super) struct Files {
    root: PathBuf,
    list: Vec<WarcFile>,
}

/// A WARC file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WarcFile {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
}

impl Files {
    pub(super) fn find(root: &Path) -> Result<Self, ArchiveGraphError> {
        let none = || ArchiveGraphError::NoArchive {
            path: root.to_owned(),
        };
        let mut list = Vec::new();
        let of_crawl = Layout::new(root).archive();
        if of_crawl.is_dir() {
            gather(&of_crawl, 0, &mut list)?;
        } else if root.is_dir() {
            gather(root, DEPTH_MAX, &mut list)?;
            if list.is_empty() {
                return Err(none());
            }
        } else if let Ok(about) = fs::metadata(root)
            && about.is_file()
            && is_warc(root)
        {
            list.push(WarcFile {
                path: root.to_owned(),
                bytes: about.len(),
            });
        } else {
            return Err(none());
        }
        list.sort_unstable();
        Ok(Self {
            root: root.to_owned(),
            list,
        })
    }

    pub(super) fn list(&self) -> &[WarcFile] {
        &self.list
    }

    /// Bytes of all files together.
    pub(super) fn bytes(&self) -> u64 {
        self.list.iter().map(|file| file.bytes).sum()
    }

    /// What the archive is called: the last part of its path.
    pub(super) fn name(&self) -> String {
        let full = fs::canonicalize(&self.root).unwrap_or_else(|_| self.root.clone());
        let name = full.file_name().unwrap_or(full.as_os_str());
        name.to_string_lossy().into_owned()
    }
}

impl WarcFile {
    /// Whether a crawl was writing it when it was found: its end may be torn.
    pub(super) fn is_open(&self) -> bool {
        self.name().ends_with(OPEN_SUFFIX)
    }

    /// Its name.
    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Where it is now: a crawl takes the `.open` from its name when it is full.
    pub(super) fn current_path(&self) -> PathBuf {
        match self
            .path
            .to_str()
            .and_then(|path| path.strip_suffix(OPEN_SUFFIX))
        {
            Some(closed) if !self.path.exists() => PathBuf::from(closed),
            _ => self.path.clone(),
        }
    }
}

/// Adds the WARC files in a folder, and in the folders below it. Links to folders are not followed: they may lead round.
fn gather(folder: &Path, depth: usize, list: &mut Vec<WarcFile>) -> Result<(), ArchiveGraphError> {
    let failed = |source: io::Error| ArchiveGraphError::List {
        path: folder.to_owned(),
        source,
    };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        if entry.file_type().map_err(failed)?.is_dir() {
            if 0 < depth {
                gather(&path, depth - 1, list)?;
            }
        } else if is_warc(&path)
            && let Ok(about) = fs::metadata(&path)
            && about.is_file()
        {
            list.push(WarcFile {
                path,
                bytes: about.len(),
            });
        }
    }
    Ok(())
}

fn is_warc(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(OPEN_SUFFIX).unwrap_or(&name);
    [".warc", ".warc.gz", ".warc.zst"]
        .iter()
        .any(|suffix| name.ends_with(suffix))
}
