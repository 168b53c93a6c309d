//! Lists the data files that were found, and finds them again.
//!
//! A catalogue is a folder: `catalogue.jsonl` holds an [`Entry`] per line, sorted by URL, and is what counts; `catalogue.parquet` and
//! `catalogue.jsonld` (DCAT) say the same to other programs; `index/` is for searching, and can be made anew from the lines at any time.
//! [`write()`] takes in what was found since; [`Index::search`] finds. What is known of a file is put together from what links to it
//! ([`PageFacts`]) and what is in it ([`Inspection`](crate::data_file::Inspection)) by [`Finding::entry`].
//!
//! New entries are merged into the old lines as they stream by, so memory depends on what is new, not on what is known.
//! Not here: fetching, archives, and when to write.

mod columns;
mod dcat;
mod entry;
mod finding;
mod index;
mod lines;
mod page_facts;
mod terms;

use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use junkai_files::Replacement;
use thiserror::Error;

pub use entry::{Entry, Version};
pub use finding::Finding;
pub use index::{Hit, Index};
pub use lines::Lines;
pub use page_facts::{LinkFacts, PageFacts};

/// The entries, a line each.
pub const LINES_FILE: &str = "catalogue.jsonl";
/// The same in columns.
pub const COLUMNS_FILE: &str = "catalogue.parquet";
/// The same as DCAT.
pub const DCAT_FILE: &str = "catalogue.jsonld";
/// The folder of the index.
pub const INDEX_FOLDER: &str = "index";

/// Why a catalogue cannot be read, written or searched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// A file cannot be read or written.
    #[error("cannot {what} {path}")]
    File {
        /// What was tried.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// An entry cannot be written down.
    #[error("cannot write an entry of the catalogue")]
    Entry(#[from] serde_json::Error),
    /// The columns cannot be written.
    #[error("cannot write the catalogue in columns")]
    Columns(#[from] parquet::errors::ParquetError),
    /// The index cannot be read or written.
    #[error("cannot use the index of the catalogue")]
    Index(#[from] tantivy::TantivyError),
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Entries of the catalogue.
    pub entries: u64,
    /// Entries that are new.
    pub added: u64,
    /// Entries that were known.
    pub updated: u64,
    /// Lines of the old catalogue that could not be read, and are gone.
    pub damaged: u64,
}

/// Takes entries into the catalogue in `folder`: an entry of a known URL is a later capture of it ([`Entry::update`]).
///
/// Each file is replaced whole or not at all, the lines last, so that what counts is never ahead of what is made from it.
///
/// # Errors
/// If a file cannot be read or written. The catalogue is then as it was, or parts of it are as they will be next time.
pub fn write(folder: &Path, entries: &[Entry]) -> Result<Written, CatalogueError> {
    fs::create_dir_all(folder).map_err(|source| failed("make", folder, source))?;
    let mut new: Vec<&Entry> = entries.iter().collect();
    // Stable: later captures of one URL stay behind earlier ones.
    new.sort_by(|left, right| left.url.cmp(&right.url));
    let mut output = Output::create(folder)?;
    let mut written = Written::default();
    let mut index = Index::open_or_make(folder)?;
    let mut known = Lines::open(folder)?;
    let mut old = known.next_entry()?;
    let mut groups = new.chunk_by(|left, right| left.url == right.url).peekable();
    while let Some(url) = first_url(old.as_ref(), groups.peek()) {
        let is_known = old.as_ref().is_some_and(|old| old.url == url);
        let mut entry = if is_known {
            std::mem::replace(&mut old, known.next_entry()?).unwrap_or_default()
        } else {
            Entry::default()
        };
        if let Some(group) = groups.next_if(|group| group[0].url == url) {
            written.updated += u64::from(is_known);
            written.added += u64::from(!is_known);
            for newer in group {
                entry.update((*newer).clone());
            }
            index.put(&entry)?;
        }
        written.entries += 1;
        output.put(entry)?;
    }
    written.damaged = known.damaged();
    index.commit()?;
    output.finish()?;
    Ok(written)
}

/// The URL that comes next: of the old entries or of the new ones.
fn first_url(old: Option<&Entry>, group: Option<&&[&Entry]>) -> Option<String> {
    let old = old.map(|entry| &entry.url);
    let new = group
        .and_then(|group| group.first())
        .map(|entry| &entry.url);
    old.into_iter().chain(new).min().cloned()
}

/// The three files of a catalogue while they are written.
struct Output {
    lines: BufWriter<Replacement>,
    columns: columns::Writer,
    columns_file: Replacement,
    dcat: dcat::Writer,
    dcat_file: Replacement,
}

impl Output {
    fn create(folder: &Path) -> Result<Self, CatalogueError> {
        let create = |name: &str| {
            let path = folder.join(name);
            Replacement::begin(&path).map_err(|source| failed("write", &path, source))
        };
        let handle =
            |file: &Replacement| file.handle().map_err(|source| write_failed(file, source));
        let (columns_file, dcat_file) = (create(COLUMNS_FILE)?, create(DCAT_FILE)?);
        Ok(Self {
            lines: BufWriter::new(create(LINES_FILE)?),
            columns: columns::Writer::new(handle(&columns_file)?)?,
            columns_file,
            dcat: dcat::Writer::new(BufWriter::new(handle(&dcat_file)?))
                .map_err(|source| write_failed(&dcat_file, source))?,
            dcat_file,
        })
    }

    fn put(&mut self, entry: Entry) -> Result<(), CatalogueError> {
        let line = serde_json::to_string(&entry)?;
        writeln!(self.lines, "{line}")
            .map_err(|source| write_failed(self.lines.get_ref(), source))?;
        self.dcat
            .put(&entry)
            .map_err(|source| write_failed(&self.dcat_file, source))?;
        self.columns.put(entry, line.len())
    }

    fn finish(mut self) -> Result<(), CatalogueError> {
        self.columns.finish()?;
        self.dcat
            .finish()
            .map_err(|source| write_failed(&self.dcat_file, source))?;
        self.lines
            .flush()
            .map_err(|source| write_failed(self.lines.get_ref(), source))?;
        let (lines, _) = self.lines.into_parts();
        for file in [self.columns_file, self.dcat_file, lines] {
            let path = file.beside().to_owned();
            file.finish()
                .map_err(|source| failed("replace", &path, source))?;
        }
        Ok(())
    }
}

fn write_failed(file: &Replacement, source: io::Error) -> CatalogueError {
    failed("write", file.beside(), source)
}

fn failed(what: &'static str, path: &Path, source: io::Error) -> CatalogueError {
    CatalogueError::File {
        what,
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests;
