//! Where the files of an archive are, and what their names say.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What the name of a file ends with while it is written.
pub(crate) const OPEN_SUFFIX: &str = ".open";
/// What the name of an index file ends with before it is whole; a crash may leave one, and it means nothing.
pub(crate) const UNFINISHED_SUFFIX: &str = ".tmp";
/// What the name of a sorted index file ends with.
pub(crate) const INDEX_SUFFIX: &str = ".cdxj";

/// The folder of WARC files in an archive.
pub const WARCS: &str = "archive";
/// The folder of index files.
pub const INDEXES: &str = "indexes";
/// The folder of logs.
pub const LOGS: &str = "logs";

/// The directories of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    root: PathBuf,
}

impl Layout {
    /// The layout of the archive at `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The directory of WARC files.
    #[must_use]
    pub fn archive(&self) -> PathBuf {
        self.root.join(WARCS)
    }

    /// The directory of index files.
    #[must_use]
    pub fn indexes(&self) -> PathBuf {
        self.root.join(INDEXES)
    }

    /// The directory of logs.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.root.join(LOGS)
    }

    /// The WARC file that an index line names, open or closed; `None` if there is none, or if the name is not one.
    #[must_use]
    pub fn warc(&self, file_name: &str) -> Option<PathBuf> {
        let is_plain =
            !file_name.is_empty() && !file_name.contains(['/', '\\', '\0']) && file_name != "..";
        if !is_plain {
            return None;
        }
        // Open first: a file that is closed between the two looks is found by the second.
        [format!("{file_name}{OPEN_SUFFIX}"), file_name.to_owned()]
            .into_iter()
            .map(|name| self.archive().join(name))
            .find(|path| path.exists())
    }

    /// The names of all WARC files, as index lines have them; open ones are among them.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn warc_names(&self) -> io::Result<Vec<String>> {
        let mut found = names(&self.archive())?;
        for name in &mut found {
            let length = name.strip_suffix(OPEN_SUFFIX).map_or(name.len(), str::len);
            name.truncate(length);
        }
        found.retain(|name| is_warc(name));
        Ok(found)
    }

    /// Makes the directories.
    pub(crate) fn create(&self) -> io::Result<()> {
        fs::create_dir_all(self.archive())?;
        fs::create_dir_all(self.indexes())
    }
}

/// Whether a name is that of a WARC file, without `.open`.
pub(crate) fn is_warc(name: &str) -> bool {
    [".warc", ".warc.gz", ".warc.zst"]
        .iter()
        .any(|suffix| name.ends_with(suffix))
}

/// The name of a WARC file up to `.warc`.
pub(crate) fn stem(warc_name: &str) -> &str {
    warc_name
        .rfind(".warc")
        .map_or(warc_name, |at| &warc_name[..at])
}

/// Name of an index file: the part `part` of the index of the WARC file `stem`.
pub(crate) fn index_name(stem: &str, part: u32) -> String {
    format!("{stem}-{part:04}{INDEX_SUFFIX}")
}

/// Takes the name of an index file apart into the stem of its WARC file and its part.
pub(crate) fn parse_index_name(name: &str) -> Option<(&str, u32)> {
    let (stem, part) = name.strip_suffix(INDEX_SUFFIX)?.rsplit_once('-')?;
    Some((stem, part.parse().ok()?))
}

/// The names in a directory, sorted; none if it does not exist.
pub(crate) fn names(directory: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        if let Ok(name) = entry?.file_name().into_string() {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Keeps of a name what is safe in a file name everywhere.
pub(crate) fn safe_name(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') {
                c
            } else {
                '_'
            }
        })
        .take(64)
        .collect()
}
