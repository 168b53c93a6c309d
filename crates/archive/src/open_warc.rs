//! A WARC file that is being written, with the index file beside it.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::append_file::AppendFile;
use crate::layout::{Layout, OPEN_SUFFIX, index_name, stem};
use crate::segment::{Segment, write_sorted};
use crate::writer::WriteError;

/// An open index file is sealed at this size, and the next one begun: it is read through at each look-up, and sorted
/// in memory when it is sealed.
pub(crate) const INDEX_PART_BYTES: u64 = 4 << 20;

/// A WARC file that is being written.
pub(crate) struct OpenWarc {
    pub(crate) name: Arc<str>,
    pub(crate) warcinfo_id: Arc<str>,
    pub(crate) file: AppendFile,
    /// The open index file; `None` after it was sealed.
    pub(crate) index: Option<AppendFile>,
    /// Number of the next index file.
    pub(crate) next_part: u32,
}

impl OpenWarc {
    /// Has an index file open that takes another line.
    pub(crate) fn prepare_index(
        &mut self,
        layout: &Layout,
        part_bytes: u64,
    ) -> Result<(), WriteError> {
        if self
            .index
            .as_ref()
            .is_some_and(|index| part_bytes <= index.length())
        {
            self.seal_index(layout)?;
        }
        if self.index.is_none() {
            let name = index_name(stem(&self.name), self.next_part);
            let path = layout.indexes().join(format!("{name}{OPEN_SUFFIX}"));
            let index = AppendFile::create(path.clone())
                .map_err(|source| WriteError::new(&path, source))?;
            self.index = Some(index);
            self.next_part += 1;
        }
        Ok(())
    }

    /// Turns the open index file, if there is one, into a sorted one.
    pub(crate) fn seal_index(&mut self, layout: &Layout) -> Result<(), WriteError> {
        let Some(index) = &self.index else {
            return Ok(());
        };
        let failed = |source| WriteError::new(&layout.indexes(), source);
        // A sealed line must not outlive its record.
        self.file.sync().map_err(failed)?;
        seal(index.path()).map_err(failed)?;
        self.index = None;
        Ok(())
    }
}

/// Turns an open index file into a sorted one.
pub(crate) fn seal(open: &Path) -> io::Result<()> {
    let lines = Segment::open(open.to_owned())?.all_lines()?;
    if !lines.is_empty() {
        write_sorted(&open.with_extension(""), lines)?;
    }
    fs::remove_file(open)
}
