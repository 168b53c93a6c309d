//! One worker's open WARC file and its part of the index.
//!
//! Each crawler thread owns a [`Writer`], so that nothing is locked. A capture goes to the WARC file in one write and then
//! to the index in another; if either fails, both files are cut back to what they were, and the same capture can be
//! stored again. A file is closed, and the next one opened, before the first capture that comes after it is full.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use junkai_files::sync_folder;
use junkai_http::{TextHead, without_parameters};
use thiserror::Error;

use crate::append_file::AppendFile;
use crate::capture::{Capture, Resource, Stored};
use crate::cdxj::Line;
use crate::compress::{Compressor, release};
use crate::config::{ArchiveConfig, Provenance};
use crate::digest::digest;
use crate::group::{Digests, GroupBuilder, block_of};
use crate::layout::{Layout, OPEN_SUFFIX, safe_name};
use crate::open_warc::{INDEX_PART_BYTES, OpenWarc};
use crate::record::{index_timestamp, new_record_id};

/// Why a capture was not stored. Nothing of it is in the archive; it can be stored again.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// There is no room for it.
    #[error("the disk is full: {path}")]
    DiskFull {
        /// The file that was to be written.
        path: PathBuf,
    },
    /// Another failure.
    #[error("cannot write {path}")]
    Io {
        /// The file that was to be written.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl WriteError {
    pub(crate) fn new(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::Io { path, source },
        }
    }
}

/// How far a file is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Name of the WARC file, as it will be once closed.
    pub file: Arc<str>,
    /// Its length.
    pub length: u64,
}

/// Writes captures to WARC files of its own, one after the other.
pub struct Writer {
    layout: Layout,
    config: ArchiveConfig,
    provenance: Provenance,
    hostname: String,
    compressor: Compressor,
    /// Number of the next file.
    serial: u32,
    current: Option<OpenWarc>,
    bytes_written: u64,
    /// Size at which an open index file is sealed.
    index_part_bytes: u64,
    /// The record that is being put together.
    record: Vec<u8>,
    /// The compressed records that go to the file together.
    group: Vec<u8>,
}

impl Writer {
    /// Makes a writer for the archive at `root`. Files come into being with the first capture.
    pub fn open(
        root: &Path,
        config: &ArchiveConfig,
        provenance: Provenance,
    ) -> Result<Self, WriteError> {
        let layout = Layout::new(root);
        let failed = |source| WriteError::new(root, source);
        layout.create().map_err(failed)?;
        let hostname = if config.hostname.is_empty() {
            rustix::system::uname()
                .nodename()
                .to_string_lossy()
                .into_owned()
        } else {
            config.hostname.clone()
        };
        Ok(Self {
            layout,
            compressor: Compressor::new(config).map_err(failed)?,
            config: config.clone(),
            provenance,
            hostname,
            serial: 0,
            current: None,
            bytes_written: 0,
            index_part_bytes: INDEX_PART_BYTES,
            record: Vec::new(),
            group: Vec::new(),
        })
    }

    /// Stores a capture: when this returns, it is in the WARC file and in the index.
    ///
    /// # Panics
    /// If the head is longer than the response.
    pub fn store(&mut self, capture: &Capture<'_>) -> Result<Stored, WriteError> {
        assert!(
            capture.head_length <= capture.response.len(),
            "the head is part of the response"
        );
        let block = block_of(capture);
        let http = TextHead::parse(block);
        let digests = Digests::of(capture, http.length, self.config.digest);
        let id = new_record_id();

        let mut ready = self.ready()?;
        let length = ready.build(|builder| builder.capture(capture, &id, &digests))?;
        let placed = ready.commit(Line {
            url: Some(capture.target_uri),
            timestamp: &index_timestamp(capture.date),
            mime: if capture.revisit.is_some() {
                Some("warc/revisit")
            } else {
                http.media_type()
            },
            status: http.status(),
            digest: digests.indexed.as_deref(),
            length,
            offset: ready.warc.file.length(),
            filename: &Arc::clone(&ready.warc.name),
        })?;
        Ok(placed.stored(id, digests))
    }

    /// Stores a resource: when this returns, it is in the WARC file and in the index.
    pub fn store_resource(&mut self, resource: &Resource<'_>) -> Result<Stored, WriteError> {
        let digest = digest(self.config.digest, resource.block);
        let id = new_record_id();
        let mut ready = self.ready()?;
        let length = ready.build(|builder| builder.resource(resource, &id, &digest))?;
        let placed = ready.commit(Line {
            url: Some(resource.target_uri),
            timestamp: &index_timestamp(resource.date),
            mime: Some(without_parameters(resource.content_type)),
            status: None,
            digest: Some(&digest),
            length,
            offset: ready.warc.file.length(),
            filename: &Arc::clone(&ready.warc.name),
        })?;
        let digests = Digests {
            payload: digest.clone(),
            named: None,
            indexed: Some(digest),
        };
        Ok(placed.stored(id, digests))
    }

    /// Bytes that went to WARC files so far.
    #[must_use]
    pub fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    /// How far the open file is written; `None` if no file is open.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        let warc = self.current.as_ref()?;
        Some(Position {
            file: Arc::clone(&warc.name),
            length: warc.file.length(),
        })
    }

    /// Makes what was stored durable: it survives a loss of power.
    pub fn sync(&mut self) -> Result<(), WriteError> {
        let Some(warc) = &mut self.current else {
            return Ok(());
        };
        // The WARC file first: a line of the index must not outlive its record.
        for file in [Some(&mut warc.file), warc.index.as_mut()]
            .into_iter()
            .flatten()
        {
            file.sync()
                .map_err(|source| WriteError::new(file.path(), source))?;
        }
        Ok(())
    }

    /// Closes the open file, if there is one. The writer can be used again: the next capture opens a new file.
    pub fn finish(&mut self) -> Result<(), WriteError> {
        let Some(warc) = &mut self.current else {
            return Ok(());
        };
        warc.seal_index(&self.layout)?;
        let failed = |source| WriteError::new(&self.layout.archive(), source);
        warc.file.sync().map_err(failed)?;
        fs::rename(warc.file.path(), self.layout.archive().join(&*warc.name)).map_err(failed)?;
        self.current = None;
        sync_folder(&self.layout.archive()).map_err(failed)
    }

    /// Has a file open that takes another capture, with an index file beside it.
    fn ready(&mut self) -> Result<Ready<'_>, WriteError> {
        if self
            .current
            .as_ref()
            .is_some_and(|warc| self.config.rollover_bytes <= warc.file.length())
        {
            self.finish()?;
        }
        let warc = match self.current.take() {
            Some(warc) => warc,
            None => self.create()?,
        };
        let warc = self.current.insert(warc);
        warc.prepare_index(&self.layout, self.index_part_bytes)?;
        let warcinfo_id = Arc::clone(&warc.warcinfo_id);
        Ok(Ready {
            warc,
            config: &self.config,
            compressor: &mut self.compressor,
            record: &mut self.record,
            group: &mut self.group,
            bytes_written: &mut self.bytes_written,
            warcinfo_id,
        })
    }

    /// Makes a new file with its first record.
    fn create(&mut self) -> Result<OpenWarc, WriteError> {
        let directory = self.layout.archive();
        let name = self.next_name();
        let path = directory.join(format!("{name}{OPEN_SUFFIX}"));
        let failed = |source| WriteError::new(&path, source);
        let warcinfo_id: Arc<str> = new_record_id().into();
        let mut builder = GroupBuilder {
            config: &self.config,
            compressor: &mut self.compressor,
            record: &mut self.record,
            group: &mut self.group,
            warcinfo_id: &warcinfo_id,
        };
        builder
            .warcinfo(&name, &self.hostname, &self.provenance)
            .map_err(failed)?;
        let mut file = AppendFile::create(path.clone()).map_err(failed)?;
        if let Err(source) = file.append(&self.group) {
            // An empty file means nothing, and recovery would remove it.
            if let Err(error) = fs::remove_file(&path) {
                tracing::warn!(path = %path.display(), %error, "an empty file is left");
            }
            return Err(failed(source));
        }
        self.bytes_written += file.length();
        sync_folder(&directory).map_err(failed)?;
        Ok(OpenWarc {
            name: name.into(),
            warcinfo_id,
            file,
            index: None,
            next_part: 0,
        })
    }

    /// Prefix, time, serial number, worker and host (WARC 1.1, annex C).
    fn next_name(&mut self) -> String {
        let name = format!(
            "{}-{}-{:05}-{}~{}.{}",
            safe_name(&self.config.prefix),
            Timestamp::now().strftime("%Y%m%d%H%M%S%3f"),
            self.serial,
            self.provenance.worker,
            safe_name(&self.hostname),
            self.config.compression.extension(),
        );
        self.serial += 1;
        name
    }
}

/// A writer that has its files open.
struct Ready<'a> {
    warc: &'a mut OpenWarc,
    config: &'a ArchiveConfig,
    compressor: &'a mut Compressor,
    record: &'a mut Vec<u8>,
    group: &'a mut Vec<u8>,
    bytes_written: &'a mut u64,
    warcinfo_id: Arc<str>,
}

impl Ready<'_> {
    fn build(
        &mut self,
        build: impl FnOnce(&mut GroupBuilder<'_>) -> io::Result<u64>,
    ) -> Result<u64, WriteError> {
        let mut builder = GroupBuilder {
            config: self.config,
            compressor: self.compressor,
            record: self.record,
            group: self.group,
            warcinfo_id: &self.warcinfo_id,
        };
        build(&mut builder).map_err(|source| WriteError::new(self.warc.file.path(), source))
    }

    /// Writes the group and its line, or neither.
    fn commit(&mut self, line: Line<'_>) -> Result<Placed, WriteError> {
        let warc = &mut *self.warc;
        let Some(index) = &mut warc.index else {
            unreachable!("an index file is open")
        };
        let mut cdxj = line.text();
        warc.file
            .append(self.group)
            .map_err(|source| WriteError::new(warc.file.path(), source))?;
        cdxj.push('\n');
        if let Err(source) = index.append(cdxj.as_bytes()) {
            warc.file.cut_to(line.offset);
            return Err(WriteError::new(index.path(), source));
        }
        cdxj.pop();
        *self.bytes_written += self.group.len() as u64;
        release(self.group);
        Ok(Placed {
            file: Arc::clone(&warc.name),
            offset: line.offset,
            length: line.length,
            cdxj,
        })
    }
}

/// Where a record was written.
struct Placed {
    file: Arc<str>,
    offset: u64,
    length: u64,
    cdxj: String,
}

impl Placed {
    fn stored(self, record_id: String, digests: Digests) -> Stored {
        Stored {
            file: self.file,
            offset: self.offset,
            length: self.length,
            record_id,
            payload_digest: digests.payload,
            indexed_digest: digests.indexed,
            cdxj: self.cdxj,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::append_file::faults::set_room;
    use crate::{Index, check, recover};
    use std::net::{IpAddr, Ipv4Addr};
    use tempfile::{TempDir, tempdir};

    const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello";

    fn store(writer: &mut Writer, url: &str) -> Result<Stored, WriteError> {
        writer.store(&Capture {
            target_uri: url,
            date: Timestamp::UNIX_EPOCH,
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            protocol: &["http/1.1"],
            cipher: None,
            request: b"GET / HTTP/1.1\r\n\r\n",
            response: RESPONSE,
            head_length: RESPONSE.len() - 5,
            payload: b"hello",
            payload_digest: None,
            truncated: None,
            identified_payload_type: None,
            metadata: &[],
            revisit: None,
        })
    }

    fn open(config: &ArchiveConfig) -> (TempDir, Writer) {
        let root = tempdir().unwrap();
        let writer = Writer::open(root.path(), config, Provenance::default()).unwrap();
        (root, writer)
    }

    fn urls(root: &Path) -> Vec<String> {
        Index::open(root)
            .unwrap()
            .iter()
            .unwrap()
            .map(|entry| entry.unwrap().url)
            .collect()
    }

    fn assert_sound(root: &Path) {
        for entry in fs::read_dir(root.join("archive")).unwrap() {
            let mut problems = Vec::new();
            let path = entry.unwrap().path();
            let report = check(&path, |problem| problems.push(problem.clone())).unwrap();
            assert!(report.is_sound(), "{problems:?}");
        }
    }

    #[test]
    fn wherever_the_disk_gets_full_the_capture_can_be_stored_again() {
        let sizes = {
            let (_root, mut writer) = open(&ArchiveConfig::default());
            store(&mut writer, "http://a.example/").unwrap();
            let first = writer.bytes_written();
            usize::try_from(first).unwrap() + 400
        };
        let mut failures = 0;
        for already in [0, 1] {
            for room in (0..sizes).step_by(23) {
                let (root, mut writer) = open(&ArchiveConfig::default());
                let mut expected = Vec::new();
                for number in 0..already {
                    let url = format!("http://a.example/{number}");
                    store(&mut writer, &url).unwrap();
                    expected.push(url);
                }
                let before = writer.position();
                set_room(Some(room));
                if let Err(error) = store(&mut writer, "http://b.example/") {
                    assert!(matches!(error, WriteError::DiskFull { .. }), "{error}");
                    failures += 1;
                    if let Some(before) = before {
                        assert_eq!(writer.position(), Some(before));
                    }
                    assert_eq!(urls(root.path()), expected);
                    assert_sound(root.path());
                    set_room(None);
                    store(&mut writer, "http://b.example/").unwrap();
                }
                set_room(None);
                expected.push("http://b.example/".to_owned());
                assert_eq!(urls(root.path()), expected);
                writer.finish().unwrap();
                assert_eq!(urls(root.path()), expected);
                assert_sound(root.path());
                assert!(recover(root.path()).unwrap().is_empty());
            }
        }
        assert!(40 < failures, "the disk got full {failures} times");
    }

    #[test]
    fn index_files_are_sealed_in_parts_and_all_are_found() {
        let (root, mut writer) = open(&ArchiveConfig {
            rollover_bytes: 6000,
            ..ArchiveConfig::default()
        });
        writer.index_part_bytes = 500;
        let mut expected: Vec<String> = (10..40)
            .map(|number| format!("http://a.example/{number}"))
            .collect();
        for url in expected.iter().rev() {
            store(&mut writer, url).unwrap();
        }
        assert_eq!(urls(root.path()), expected);
        drop(writer);
        let recovery = recover(root.path()).unwrap();
        assert_eq!(
            (recovery.closed.len(), recovery.closed[0].lines_made),
            (1, 0),
            "{recovery}"
        );
        assert_eq!(urls(root.path()), expected);
        assert!(8 <= crate::merge(root.path()).unwrap());
        assert_eq!(urls(root.path()), expected);

        let mut writer = Writer::open(
            root.path(),
            &ArchiveConfig::default(),
            Provenance::default(),
        )
        .unwrap();
        store(&mut writer, "http://b.example/").unwrap();
        writer.finish().unwrap();
        expected.push("http://b.example/".to_owned());
        assert_eq!(urls(root.path()), expected);
    }

    #[test]
    fn a_file_starts_with_warcinfo_and_says_open_until_it_is_closed() {
        let (root, mut writer) = open(&ArchiveConfig::default());
        assert_eq!(writer.position(), None);
        let stored = store(&mut writer, "http://a.example/").unwrap();
        let layout = Layout::new(root.path());
        let path = layout.warc(&stored.file).unwrap();
        assert!(path.to_string_lossy().ends_with(".warc.gz.open"));
        writer.sync().unwrap();
        writer.finish().unwrap();
        let path = layout.warc(&stored.file).unwrap();
        assert!(path.to_string_lossy().ends_with(".warc.gz"));
        let mut reader = crate::Reader::open(&path).unwrap();
        let mut types = Vec::new();
        while let Some(record) = reader.next_record().unwrap() {
            types.push(record.head().record_type().to_owned());
        }
        assert_eq!(types, ["warcinfo", "response", "request", "metadata"]);
    }
}
