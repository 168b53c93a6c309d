//! What a page said when it was captured, for pages of which nobody has read that yet.
//!
//! What a page says costs as much to read as to compress it, and is wanted only when other bytes are found at its URL: many pages are never visited again, and most
//! of those that are have not changed. So at a first visit, the page's state keeps where the archive has it ([`place_of`]). When other bytes come, the
//! earlier ones are read from there ([`Unread::page`]), and both are compared as if both had been read when they came.
//!
//! The record has to be the one that is meant, by its URL and its digest. Where it is not, or its file has been moved away, the other bytes count as a change.

use std::io::Read as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use junkai_archive::{DigestAlgorithm, Layout, Reader, digest, digest_bytes};
use junkai_engine::platform::EarlierPage;
use junkai_revisit::{Digest, Place, Version};
use junkai_weburl::PageUrl;
use tokio::sync::{Semaphore, SemaphorePermit};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a digest by SHA-256; of the two algorithms, the other has fewer.
const SHA256_BYTES: usize = 32;

/// The folder is not listed more often, however many files are missing in it.
const LIST_EVERY: Duration = Duration::from_secs(10);

/// Captures that workers read at a time: each takes memory.
const READ_AT_A_TIME_MAX: usize = 2;

/// Reads captures of pages whose content has not been read.
#[derive(Debug)]
pub(crate) struct Unread {
    layout: Layout,
    turns: Semaphore,
    names: Mutex<Names>,
}

/// The WARC files of the archive, by what stands for their names.
#[derive(Debug, Default)]
struct Names {
    known: HashMap<u32, Box<str>>,
    listed: Option<Instant>,
}

/// Where a capture is, as a page's state keeps it.
pub(crate) fn place_of(file: &str, offset: u64) -> Place {
    Place {
        file: number_of(file),
        offset,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a part of the hash is enough: the record tells whether it is the right one"
)]
fn number_of(file: &str) -> u32 {
    xxh3_64(file.as_bytes()) as u32
}

impl Unread {
    pub(crate) fn new(archive: &Path) -> Unread {
        Unread {
            layout: Layout::new(archive),
            turns: Semaphore::new(READ_AT_A_TIME_MAX),
            names: Mutex::default(),
        }
    }

    /// Waits until few others read.
    pub(crate) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.turns.acquire().await.ok()
    }

    /// The page as the archive has it, if nobody has read what it said; none if it has so many bytes or more.
    pub(crate) fn page(
        &self,
        url: &PageUrl,
        version: &Version,
        bytes_max: usize,
    ) -> Option<EarlierPage> {
        let place = version.unread?;
        let path = self.layout.warc(&self.name(place.file)?)?;
        let mut reader = Reader::open_at(&path, place.offset).ok()?;
        let mut record = reader.next_record().ok()??;
        if record.head().field("WARC-Target-URI") != Some(url.as_str()) {
            return None;
        }
        let mut bytes = Vec::new();
        let limit = bytes_max as u64 + 1;
        record.by_ref().take(limit).read_to_end(&mut bytes).ok()?;
        if bytes_max < bytes.len() {
            return None;
        }
        let message = junkai_http::message(&bytes);
        if !has_payload(version, &message.payload()) {
            return None;
        }
        let body = message.content(bytes_max).bytes.into_owned();
        // There may be more, and then it is not the whole page.
        (body.len() < bytes_max).then_some(EarlierPage {
            body,
            content_type: message.field("content-type").map(str::to_owned),
        })
    }

    /// The name of a WARC file.
    fn name(&self, number: u32) -> Option<Box<str>> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = names
            .listed
            .is_none_or(|listed| LIST_EVERY <= listed.elapsed());
        if !names.known.contains_key(&number) && is_due {
            names.known = self.list();
            names.listed = Some(Instant::now());
        }
        names.known.get(&number).cloned()
    }

    fn list(&self) -> HashMap<u32, Box<str>> {
        let names = self.layout.warc_names().unwrap_or_default();
        names
            .into_iter()
            .map(|name| (number_of(&name), name.into()))
            .collect()
    }
}

/// Whether a payload is that of a version. Its digest is worked out: records of chunked bodies do not name it.
fn has_payload(version: &Version, payload: &[u8]) -> bool {
    let whole = version.indexed.as_ref().unwrap_or(&version.digest);
    let algorithm = match whole.as_bytes().len() {
        SHA256_BYTES => DigestAlgorithm::Sha256,
        _ => DigestAlgorithm::Sha1,
    };
    let digest = digest_bytes(&digest(algorithm, payload)).and_then(|bytes| Digest::new(&bytes));
    digest.is_some_and(|digest| digest.is_same(&version.digest))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::atomic::{AtomicU32, Ordering};

    use jiff::Timestamp;
    use junkai_archive::{ArchiveConfig, Capture, Provenance, Writer};
    use junkai_frontier::Time;
    use junkai_page::content::BoilerplateBounds;
    use junkai_revisit::DIGEST_BYTES_MIN;
    use junkai_weburl::{CanonicalConfig, Canonicalizer};

    use junkai_page::content::{self, Boilerplate, Content};

    use super::*;

    const PAGE: &str =
        "<html><title>A page</title><p>What it says is read when other bytes are found.</p></html>";

    pub(crate) fn url(text: &str) -> PageUrl {
        Canonicalizer::new(&CanonicalConfig::default())
            .parse(text)
            .unwrap()
    }

    /// Writers that store pages have a number each: their files are named by it.
    static WRITERS: AtomicU32 = AtomicU32::new(0);

    /// Stores a page in an archive, and says what a page's state would keep of it.
    pub(crate) fn store(archive: &Path, url: &str, body: &str) -> Version {
        store_sent(archive, url, "", body, body)
    }

    /// The same of a body that was sent in another form than its payload, with a field that says so.
    fn store_sent(archive: &Path, url: &str, field: &str, sent: &str, payload: &str) -> Version {
        let config = ArchiveConfig::default();
        let provenance = Provenance {
            software: "junkai".to_owned(),
            worker: WRITERS.fetch_add(1, Ordering::Relaxed),
            address: None,
            robots: "obey".to_owned(),
            user_agent: "junkai".to_owned(),
            from: String::new(),
        };
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n{field}\r\n");
        let response = format!("{head}{sent}");
        let mut writer = Writer::open(archive, &config, provenance).unwrap();
        let stored = writer
            .store(&Capture {
                target_uri: url,
                date: Timestamp::UNIX_EPOCH,
                address: IpAddr::V4(Ipv4Addr::LOCALHOST),
                protocol: &["http/1.1"],
                cipher: None,
                request: b"GET / HTTP/1.1\r\n\r\n",
                response: response.as_bytes(),
                head_length: head.len(),
                payload: payload.as_bytes(),
                payload_digest: None,
                truncated: None,
                identified_payload_type: None,
                metadata: &[],
                revisit: None,
            })
            .unwrap();
        let digest = digest_bytes(&digest(config.digest, payload.as_bytes())).unwrap();
        Version {
            digest: Digest::new(&digest).unwrap(),
            indexed: stored
                .indexed_digest
                .as_deref()
                .and_then(digest_bytes)
                .filter(|indexed| *indexed != digest)
                .and_then(|indexed| Digest::new(&indexed)),
            content: None,
            unread: Some(place_of(&stored.file, stored.offset)),
            captured: Time::EPOCH,
            etag: None,
            last_modified: None,
        }
    }

    pub(crate) fn content_of(body: &str, url: &PageUrl) -> Option<Content> {
        let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
        let content_type = Some("text/html; charset=utf-8");
        content::of(
            &mut boilerplate,
            body.as_bytes(),
            content_type,
            url.as_url(),
        )
    }

    #[test]
    fn a_page_is_read_from_the_archive_as_it_was_captured() {
        let archive = tempfile::tempdir().unwrap();
        let page = url("http://a.example/");
        store(archive.path(), "http://b.example/", "<p>Another one</p>");
        let version = store(archive.path(), page.as_str(), PAGE);
        let unread = Unread::new(archive.path());
        let read = unread.page(&page, &version, 1000).unwrap();
        let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
        let content = read.content(&mut boilerplate, &page);
        assert!(content.is_some());
        assert_eq!(content, content_of(PAGE, &page));
    }

    #[test]
    fn a_page_that_came_in_chunks_is_read_too() {
        let archive = tempfile::tempdir().unwrap();
        let page = url("http://a.example/");
        let chunked = format!("{:x}\r\n{PAGE}\r\n0\r\n\r\n", PAGE.len());
        let field = "Transfer-Encoding: chunked\r\n";
        let version = store_sent(archive.path(), page.as_str(), field, &chunked, PAGE);
        // As a page's state keeps it.
        let digest = Digest::new(&version.digest.as_bytes()[..DIGEST_BYTES_MIN]).unwrap();
        assert!(version.indexed.is_some(), "{version:?}");
        let version = Version { digest, ..version };
        let unread = Unread::new(archive.path());
        let read = unread.page(&page, &version, 1000).unwrap();
        assert_eq!(read.body, PAGE.as_bytes());
    }

    #[test]
    fn nothing_but_the_capture_that_is_meant_is_read() {
        let archive = tempfile::tempdir().unwrap();
        let page = url("http://a.example/");
        let version = store(archive.path(), page.as_str(), PAGE);
        let unread = Unread::new(archive.path());
        let other = url("http://b.example/");
        assert!(unread.page(&other, &version, 1000).is_none());
        let place = version.unread.unwrap();
        let other_digest = Digest::new(&[7; 20]).unwrap();
        let changed = |change: fn(&mut Version, Place, Digest)| {
            let mut changed = version.clone();
            change(&mut changed, place, other_digest);
            changed
        };
        for wrong in [
            changed(|version, _, digest| version.digest = digest),
            changed(|version, _, _| version.unread = None),
            changed(|version, Place { file, offset }, _| {
                version.unread = Some(Place {
                    file,
                    offset: offset + 1,
                });
            }),
            changed(|version, Place { file, offset }, _| {
                version.unread = Some(Place {
                    file: file ^ 1,
                    offset,
                });
            }),
        ] {
            assert!(unread.page(&page, &wrong, 1000).is_none(), "{wrong:?}");
        }
        // As much as is read at most may not be all of it.
        assert!(unread.page(&page, &version, PAGE.len()).is_none());
    }

    #[test]
    fn a_file_that_was_moved_away_is_no_error() {
        let archive = tempfile::tempdir().unwrap();
        let page = url("http://a.example/");
        let version = store(archive.path(), page.as_str(), PAGE);
        let warcs = crate::ArchiveFolder::real(archive.path()).warcs();
        std::fs::remove_dir_all(warcs.path()).unwrap();
        let unread = Unread::new(archive.path());
        assert!(unread.page(&page, &version, 1000).is_none());
    }
}
