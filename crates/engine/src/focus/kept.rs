//! What the archive has of a page, for whoever would fetch it otherwise.

use std::io::Read;
use std::path::{Path, PathBuf};

use junkai_archive::{Entry, Index, Layout, Reader};
use junkai_focus::data_file::declared_type;
use junkai_weburl::PageUrl;

use crate::CrawlError;

/// Bytes of a record that are read at most.
const RECORD_BYTES_MAX: u64 = 64 << 20;
/// What the index calls a capture whose payload is elsewhere.
const REVISIT: &str = "warc/revisit";

/// The captures of an archive, as they were when it was opened.
#[derive(Debug)]
pub struct Kept {
    archive: PathBuf,
    index: Index,
}

/// A page as it was captured.
#[derive(Debug)]
pub struct KeptPage {
    pub status: u16,
    /// As its Content-Type says.
    pub content_type: Option<String>,
    /// As its headers declare it, the name under which it is to be saved among them: what decides of files.
    pub declared_type: Option<String>,
    /// Where it redirects to, as it says.
    pub location: Option<String>,
    /// What its head says to robots, a value each.
    pub robots_tags: Vec<String>,
    /// The values of the Link headers.
    pub links: Vec<String>,
    /// Without transfer and content codings.
    pub content: Vec<u8>,
    /// The length of the whole content, where it came in part.
    pub whole_bytes: Option<u64>,
    /// The line of the index that tells of it.
    pub entry: Entry,
}

impl Kept {
    pub fn open(archive: &Path) -> Result<Kept, CrawlError> {
        Ok(Kept {
            archive: archive.to_owned(),
            index: Index::open(archive)?,
        })
    }

    /// The captures of a page, oldest first.
    pub fn captures(&self, url: &str) -> Result<Vec<Entry>, CrawlError> {
        let mut captures = Vec::new();
        for entry in self.index.lookup(url)? {
            let entry = entry?;
            // The index folds case and more.
            if entry.url == url {
                captures.push(entry);
            }
        }
        Ok(captures)
    }

    /// The newest capture of a page that can be read; none if there is none.
    pub fn page(&self, url: &PageUrl) -> Result<Option<KeptPage>, CrawlError> {
        let captures = self.captures(url.as_str())?;
        Ok(captures
            .into_iter()
            .rev()
            .find_map(|entry| self.read(entry)))
    }

    /// Reads a capture; where it repeats another's payload, that one's.
    pub fn read(&self, entry: Entry) -> Option<KeptPage> {
        let is_revisit = entry.mime.as_deref() == Some(REVISIT);
        let record = if is_revisit {
            self.record(&self.original(&entry)?)?
        } else {
            self.record(&entry)?
        };
        let message = junkai_http::message(&record);
        let content_bytes_max = usize::try_from(RECORD_BYTES_MAX).unwrap_or(usize::MAX);
        let content = message.content(content_bytes_max).bytes.into_owned();
        let content_type = message.field("content-type");
        let declared_type = declared_type(content_type, message.field("content-disposition"));
        let values = |wanted: &str| {
            let fields = message.fields();
            let fields = fields.filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
            fields.map(|(_, value)| value.to_owned()).collect()
        };
        Some(KeptPage {
            robots_tags: values("x-robots-tag"),
            links: values("link"),
            status: message.status()?,
            content_type: content_type.map(str::to_owned),
            declared_type: declared_type.map(str::to_owned),
            location: message.field("location").map(str::to_owned),
            whole_bytes: whole_bytes(|name| message.field(name), content.len()),
            content,
            entry,
        })
    }

    /// The capture that holds the payload which this one repeats.
    fn original(&self, revisit: &Entry) -> Option<Entry> {
        let path = Layout::new(&self.archive).warc(&revisit.filename)?;
        let mut reader = Reader::open_at(&path, revisit.offset).ok()?;
        let record = reader.next_record().ok()??;
        let url = record.head().field("WARC-Refers-To-Target-URI")?.to_owned();
        let captures = self.index.lookup(&url).ok()?.flatten();
        let mut captures = captures.filter(|entry| {
            entry.mime.as_deref() != Some(REVISIT) && entry.digest == revisit.digest
        });
        captures.next()
    }

    fn record(&self, entry: &Entry) -> Option<Vec<u8>> {
        let path = Layout::new(&self.archive).warc(&entry.filename)?;
        let mut reader = Reader::open_at(&path, entry.offset).ok()?;
        let record = reader.next_record().ok()??;
        let mut bytes = Vec::new();
        record.take(RECORD_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }
}

/// The length of a whole body by the fields of its head, if it is more than what came of it. Of an encoded body it is not known.
pub fn whole_bytes<'a>(
    field: impl Fn(&'static str) -> Option<&'a str>,
    length: usize,
) -> Option<u64> {
    if field("content-encoding").is_some() {
        return None;
    }
    let told = field("content-length")?.trim().parse().ok()?;
    ((length as u64) < told).then_some(told)
}
