//! The pages to learn from: out of the WARC files of an archive, or out of a folder of files.
//!
//! In a folder, a label names a folder (a site with all pages in it) or a file (a page that stands for a site). Pages are files that
//! are HTML; HTTP headers on top of them are told and taken off. In an archive, a label names a host or a site.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use junkai_archive::{Layout, Reader};
use junkai_focus::learn::{PageView, Seen};
use junkai_page::{ContentKind, kind_of};
use junkai_weburl::site_of;
use url::Url;

use super::labels::{Label, Labels};
use crate::bar::Bar;
use crate::print::{shown, tell};

/// More of a page is not read.
const PAGE_BYTES_MAX: u64 = 8 << 20;
/// Most files that are looked for in a folder.
const FILES_MAX: usize = 2_000_000;
/// HTTP headers on top of a file end within this.
const HEADERS_BYTES_MAX: usize = 16 << 10;

/// Where pages come from.
pub(super) enum Source {
    /// WARC files.
    Archive(Vec<PathBuf>),
    /// A folder of pages.
    Folder(PathBuf),
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// Pages of each labelled site or file.
    pages: BTreeMap<String, usize>,
    /// Files of WARC that could not be read to their end.
    damaged: Vec<String>,
}

impl Source {
    /// Tells an archive from a folder of pages.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let name = path.to_string_lossy();
        if path.is_file() && is_warc(&name) {
            return Ok(Self::Archive(vec![path.to_owned()]));
        }
        if !path.is_dir() {
            bail!("there is no folder or archive {}", path.display());
        }
        let in_archive = Layout::new(path).archive();
        let folder = if in_archive.is_dir() {
            &in_archive
        } else {
            path
        };
        let mut warcs = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let file = entry?.path();
            if is_warc(&file.to_string_lossy()) {
                warcs.push(file);
            }
        }
        warcs.sort();
        Ok(if warcs.is_empty() {
            Self::Folder(path.to_owned())
        } else {
            Self::Archive(warcs)
        })
    }
}

/// Takes in a page of a labelled site or file.
pub(super) trait Taker {
    fn take(&mut self, name: &str, label: &Label, page: &PageView<'_>) -> Result<()>;
}

/// Hands the pages of labelled sites to `taker`, at most `pages_max` of each.
pub(super) fn gather(
    source: &Source,
    labels: &Labels,
    pages_max: usize,
    taker: &mut dyn Taker,
    bar: &mut Bar,
) -> Result<Gathered> {
    let mut gatherer = Gatherer {
        labels,
        pages_max,
        taker,
        gathered: Gathered::default(),
    };
    match source {
        Source::Archive(files) => gatherer.archive(files, bar)?,
        Source::Folder(folder) => gatherer.folder(folder, bar)?,
    }
    if gatherer.gathered.pages.is_empty() {
        match source {
            Source::Archive(_) => bail!(
                "no captured page is of a labelled site: labels name sites or hosts, such as example.org"
            ),
            Source::Folder(folder) => bail!(
                "no labelled folder or file with HTML is in {}: labels name folders or files in it",
                folder.display()
            ),
        }
    }
    Ok(gatherer.gathered)
}

impl Gathered {
    /// Says what of the labels was of no use, and what could not be read.
    pub(super) fn warn(&self, labels: &Labels) {
        const NAMES_MAX: usize = 3;
        for file in &self.damaged {
            let file = shown(file);
            tell!(
                "junkai: {file}; what stands before that was used (`junkai warc check` says more)"
            );
        }
        let unused = labels
            .iter()
            .filter(|(name, _)| !self.pages.contains_key(*name));
        let unused: Vec<&str> = unused.map(|(name, _)| name).collect();
        if !unused.is_empty() {
            let names = shown(&unused[..unused.len().min(NAMES_MAX)].join(", "));
            let more = if NAMES_MAX < unused.len() {
                ", …"
            } else {
                ""
            };
            tell!(
                "junkai: {} of {} labels name nothing that has a page: {names}{more}",
                unused.len(),
                labels.len()
            );
        }
    }
}

struct Gatherer<'a> {
    labels: &'a Labels,
    pages_max: usize,
    taker: &'a mut dyn Taker,
    gathered: Gathered,
}

impl Gatherer<'_> {
    fn add(&mut self, name: &str, label: &Label, seen: &Seen) -> Result<()> {
        *self.gathered.pages.entry(name.to_owned()).or_default() += 1;
        self.taker.take(name, label, &seen.view())
    }

    fn archive(&mut self, files: &[PathBuf], bar: &mut Bar) -> Result<()> {
        for (done, file) in files.iter().enumerate() {
            bar.at("reading pages", done as u64, files.len() as u64);
            let mut reader = match Reader::open(file) {
                Ok(reader) => reader,
                Err(error) => {
                    self.damaged(file, &error);
                    continue;
                }
            };
            loop {
                let mut record = match reader.next_record() {
                    Ok(Some(record)) => record,
                    Ok(None) => break,
                    Err(error) => {
                        self.damaged(file, &error);
                        break;
                    }
                };
                let url = record.head().target_uri();
                let is_response = record.head().record_type() == "response";
                let Some((url, name)) = url
                    .filter(|_| is_response)
                    .and_then(|url| self.labelled(&url).map(|name| (url, name)))
                else {
                    continue;
                };
                let mut bytes = Vec::new();
                if let Err(error) = record.by_ref().take(PAGE_BYTES_MAX).read_to_end(&mut bytes) {
                    self.damaged(file, &error);
                    break;
                }
                self.response(&url, &name, &bytes)?;
            }
        }
        Ok(())
    }

    fn damaged(&mut self, file: &Path, error: &dyn std::fmt::Display) {
        let damaged = format!("cannot read {} to its end: {error}", file.display());
        self.gathered.damaged.push(damaged);
    }

    /// The label that a URL falls under, if its site has room for more.
    fn labelled(&self, url: &str) -> Option<String> {
        let url = Url::parse(url).ok()?;
        let host = url.host_str()?;
        let names = [
            host,
            host.strip_prefix("www.").unwrap_or(host),
            site_of(host),
        ];
        let name = names
            .into_iter()
            .find(|name| self.labels.of(name).is_some())?;
        let count = self.gathered.pages.get(name).copied().unwrap_or_default();
        (count < self.pages_max).then(|| name.to_owned())
    }

    fn response(&mut self, url: &str, name: &str, bytes: &[u8]) -> Result<()> {
        let message = junkai_http::message(bytes);
        let content_type = message.field("content-type");
        let content = message.content(usize::try_from(PAGE_BYTES_MAX).unwrap_or(usize::MAX));
        let is_page = message.status() == Some(200)
            && kind_of(&content.bytes, content_type) == ContentKind::Html;
        let Some(label) = self.labels.of(name).filter(|_| is_page) else {
            return Ok(());
        };
        let seen = Seen::read(&content.bytes, content_type, url);
        self.add(name, &label.clone(), &seen)
    }

    fn folder(&mut self, folder: &Path, bar: &mut Bar) -> Result<()> {
        let labels = self.labels;
        for (done, (name, label)) in labels.iter().enumerate() {
            bar.at("reading pages", done as u64, labels.len() as u64);
            let place = folder.join(name);
            let is_inside = Path::new(name)
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(_)));
            if !is_inside || !place.exists() {
                continue;
            }
            let mut files = Vec::new();
            files_in(&place, &mut files)?;
            for file in spread(&files, self.pages_max) {
                if let Some(seen) = page_in(&place, name, file)? {
                    self.add(name, label, &seen)?;
                }
            }
        }
        Ok(())
    }
}

/// At most `most` of a list, from all over it.
fn spread<T>(list: &[T], most: usize) -> impl Iterator<Item = &T> {
    let count = list.len().min(most);
    (0..count).map(move |place| &list[place * list.len() / count])
}

/// All files in a folder and below, in the order of their names; or the file itself.
pub(super) fn files_in(place: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let mut waiting = vec![place.to_owned()];
    while let Some(place) = waiting.pop() {
        let kind = std::fs::symlink_metadata(&place)
            .with_context(|| format!("cannot read {}", place.display()))?;
        if kind.is_dir() {
            for entry in std::fs::read_dir(&place)? {
                waiting.push(entry?.path());
            }
        } else if kind.is_file() {
            files.push(place);
        }
        if FILES_MAX < files.len() + waiting.len() {
            bail!("more than {FILES_MAX} files are too many to learn from");
        }
    }
    files.sort();
    Ok(())
}

/// Reads a file if it is a page. Its URL is what its name or its place says.
fn page_in(site: &Path, name: &str, file: &Path) -> Result<Option<Seen>> {
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|file| file.take(PAGE_BYTES_MAX).read_to_end(&mut bytes))
        .with_context(|| format!("cannot read {}", file.display()))?;
    let (content_type, body) = without_headers(&bytes);
    if kind_of(body, content_type.as_deref()) != ContentKind::Html {
        return Ok(None);
    }
    let file_name = file.file_name().unwrap_or_default().to_string_lossy();
    let url = url_of_name(&file_name).unwrap_or_else(|| {
        // Folders above the site's own are how somebody sorted it, often by the very label.
        let name = name.rsplit('/').next().unwrap_or(name);
        let path = file.strip_prefix(site).unwrap_or(file);
        format!("http://{name}/{}", path.to_string_lossy())
    });
    Ok(Some(Seen::read(body, content_type.as_deref(), &url)))
}

/// The URL that a file is named by, with `^` for `/`, as in `WebKB`: `http:^^www.example.edu^index.html`. Some copies of it have lost the
/// colon to a file system that does not allow it.
fn url_of_name(file_name: &str) -> Option<String> {
    let (scheme, rest) = file_name.split_once("^^")?;
    let is_scheme = scheme.starts_with("http") && scheme.chars().count() <= "https:".len();
    is_scheme.then(|| format!("http://{}", rest.replace('^', "/")))
}

/// Takes HTTP headers off the top of a file, if there are any.
fn without_headers(bytes: &[u8]) -> (Option<String>, &[u8]) {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(HEADERS_BYTES_MAX)]);
    let first = start.lines().next().unwrap_or_default();
    let is_field = |line: &str| {
        line.split_once(':').is_some_and(|(name, _)| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
    };
    if !first.starts_with("HTTP/") && !is_field(first) {
        return (None, bytes);
    }
    let message = junkai_http::message(bytes);
    let has_end = message.head_length() < bytes.len().min(HEADERS_BYTES_MAX);
    let has_type = message.field("content-type").is_some();
    if has_end && has_type {
        (
            message.field("content-type").map(str::to_owned),
            message.body(),
        )
    } else {
        (None, bytes)
    }
}

fn is_warc(name: &str) -> bool {
    [
        ".warc",
        ".warc.gz",
        ".warc.zst",
        ".warc.open",
        ".warc.gz.open",
    ]
    .iter()
    .any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_on_top_are_taken_off() {
        let with = b"Date: Tue, 14 Jan 1997\nContent-type: text/html\n\n<html>x";
        let (content_type, body) = without_headers(with);
        assert_eq!(content_type.as_deref(), Some("text/html"));
        assert_eq!(body, b"<html>x");
        for without in [
            &b"<html>a: b\n\n"[..],
            b"Note: a text\n\nmore",
            b"",
            b"\0\0",
        ] {
            assert_eq!(without_headers(without), (None, without));
        }
    }

    #[test]
    fn a_name_can_be_a_url() {
        let url = Some("http://www.example.edu/~a/".to_owned());
        for name in [
            "http:^^www.example.edu^~a^",
            "http\u{F03A}^^www.example.edu^~a^",
        ] {
            assert_eq!(url_of_name(name), url);
        }
        for name in ["index.html", "a^^b", ""] {
            assert_eq!(url_of_name(name), None);
        }
    }

    #[test]
    fn a_few_are_taken_from_all_over() {
        let list: Vec<u32> = (0..10).collect();
        assert!(spread(&list, 3).eq(&[0, 3, 6]));
        assert!(spread(&list, 99).eq(&list));
        assert_eq!(spread(&list[..0], 3).count(), 0);
    }
}
