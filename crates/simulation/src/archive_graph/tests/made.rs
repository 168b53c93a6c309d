//! Archives made by hand.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use junkai_graph::unwatched;
use tempfile::TempDir;

use crate::archive_graph::{ArchiveGraph, ArchiveGraphError, Options, read};

/// A record under construction.
#[derive(Clone, Debug)]
pub(super) struct Made {
    fields: Vec<(String, String)>,
    block: Vec<u8>,
}

impl Made {
    pub(super) fn new(record_type: &str, block: &[u8]) -> Self {
        let made = Self {
            fields: Vec::new(),
            block: block.to_vec(),
        };
        made.with("WARC-Type", record_type)
    }

    /// A page in HTML with links to the given references, captured at second `second`.
    pub(super) fn page(url: &str, second: u32, references: &[&str]) -> Self {
        Self::answer(
            url,
            second,
            "200 OK\r\nContent-Type: text/html",
            html(references).as_bytes(),
        )
    }

    /// A response; `head` is its status line without the version, and its fields.
    pub(super) fn answer(url: &str, second: u32, head: &str, body: &[u8]) -> Self {
        let block = [format!("HTTP/1.1 {head}\r\n\r\n").as_bytes(), body].concat();
        Self::new("response", &block).of(url, second)
    }

    /// A revisit record whose own answer has the given head, if any.
    pub(super) fn revisit(url: &str, second: u32, head: Option<&str>) -> Self {
        let block = head.map_or(String::new(), |head| format!("HTTP/1.1 {head}\r\n\r\n"));
        Self::new("revisit", block.as_bytes()).of(url, second)
    }

    pub(super) fn of(self, url: &str, second: u32) -> Self {
        self.with("WARC-Target-URI", url)
            .with("WARC-Date", &date(second))
    }

    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.fields.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn id(self, number: u32) -> Self {
        self.with("WARC-Record-ID", &id(number))
    }

    pub(super) fn at(self, address: &str) -> Self {
        self.with("WARC-IP-Address", address)
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut text = "WARC/1.1\r\n".to_owned();
        for (name, value) in &self.fields {
            write!(text, "{name}: {value}\r\n").unwrap();
        }
        write!(text, "Content-Length: {}\r\n\r\n", self.block.len()).unwrap();
        [text.as_bytes(), &self.block, b"\r\n\r\n"].concat()
    }

    pub(super) fn gzip(&self) -> Vec<u8> {
        gzip(&self.bytes())
    }
}

pub(super) fn html(references: &[&str]) -> String {
    let mut text = "<!DOCTYPE html><title>a page</title>\n".to_owned();
    for reference in references {
        writeln!(text, "<a href=\"{reference}\">a link</a>").unwrap();
    }
    text
}

pub(super) fn id(number: u32) -> String {
    format!("<urn:uuid:00000000-0000-4000-8000-{number:012}>")
}

pub(super) fn date(second: u32) -> String {
    format!("2026-01-15T09:{:02}:{:02}Z", second / 60, second % 60)
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A folder of WARC files.
pub(super) struct Folder(TempDir);

impl Folder {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with one file of these records.
    pub(super) fn of(records: &[Made]) -> Self {
        let folder = Self::new();
        folder.add("0.warc.gz", records);
        folder
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn add(&self, name: &str, records: &[Made]) {
        let record = |made: &Made| {
            if name.contains(".gz") {
                made.gzip()
            } else {
                made.bytes()
            }
        };
        let bytes: Vec<u8> = records.iter().flat_map(record).collect();
        self.write(name, &bytes);
    }

    pub(super) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(super) fn graph(&self) -> ArchiveGraph {
        self.graph_with(&Options::default()).unwrap()
    }

    pub(super) fn graph_with(&self, options: &Options) -> Result<ArchiveGraph, ArchiveGraphError> {
        read(self.path(), options, &mut unwatched)
    }
}

/// The graph as text: a line for each captured page, with its links behind it.
pub(super) fn told(graph: &ArchiveGraph) -> Vec<String> {
    (0..graph.captured)
        .map(|page| {
            let targets = graph.web().links.successors(page).iter();
            let targets: Vec<&str> = targets.map(|&target| graph.url(target)).collect();
            format!("{} -> {}", graph.url(page), targets.join(" "))
                .trim_end()
                .to_owned()
        })
        .collect()
}
