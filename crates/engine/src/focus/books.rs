//! What focus writes down while a crawl goes on, in the archive's folder `focus`.

use std::fs;
use std::path::Path;

use junkai_files::Disk;

use super::{Evidence, FOLDER, FoundFile, evidence, files};
use crate::CrawlError;
use crate::error::AtPath as _;
use crate::line_file::LineFile;

/// The files of focus that grow while a crawl goes on.
#[derive(Debug)]
pub struct FocusBooks {
    evidence: LineFile,
    files: LineFile,
}

impl FocusBooks {
    /// Opens or makes the files of an archive.
    pub fn open(archive: &Path) -> Result<FocusBooks, CrawlError> {
        let folder = archive.join(FOLDER);
        fs::create_dir_all(&folder).at(&folder)?;
        Ok(FocusBooks {
            evidence: LineFile::open(&Disk::default(), &evidence::path(archive))?,
            files: LineFile::open(&Disk::default(), &files::path(archive))?,
        })
    }

    /// Notes what a page said.
    pub fn note_evidence(&mut self, evidence: &Evidence) -> Result<(), CrawlError> {
        append(&mut self.evidence, evidence)
    }

    /// Notes a data file.
    pub fn note_file(&mut self, file: &FoundFile) -> Result<(), CrawlError> {
        append(&mut self.files, file)
    }

    /// Hands what was noted to the operating system.
    pub fn flush(&mut self) -> Result<(), CrawlError> {
        self.evidence.flush()?;
        self.files.flush()?;
        Ok(())
    }
}

fn append(file: &mut LineFile, value: &impl serde::Serialize) -> Result<(), CrawlError> {
    let mut line = serde_json::to_vec(value)
        .map_err(std::io::Error::from)
        .at(file.path())?;
    line.push(b'\n');
    file.buffer().append(&mut line);
    Ok(())
}
