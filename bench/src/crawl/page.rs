//! What cannot be avoided for one page, each part by the best library that there is.
//!
//! Nothing here is shared with the crawler: the floor must not fall when the crawler does worse, nor rise when it does better.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use data_encoding::BASE32;
use hashbrown::HashSet;
use libdeflater::{CompressionLvl, Compressor};
use lol_html::{AsciiCompatibleEncoding, HtmlRewriter, Settings, element};
use sha1::{Digest as _, Sha1};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// A page as it was fetched.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub(super) url: Url,
    pub(super) request: Vec<u8>,
    /// Status line and header.
    pub(super) head: Vec<u8>,
    /// Its `Content-Type`.
    pub(super) content_type: String,
    pub(super) body: Bytes,
}

impl Page {
    fn is_html(&self) -> bool {
        self.content_type.starts_with("text/html")
    }
}

/// Where a page leads, as it says.
#[derive(Clone, Debug, Default)]
pub(super) struct References {
    base: Option<String>,
    targets: Vec<String>,
}

/// Reads an HTML page.
pub(super) fn references(page: &Page) -> References {
    let mut found = References::default();
    if !page.is_html() {
        return found;
    }
    let References { base, targets } = &mut found;
    let label = page.content_type.split("charset=").nth(1);
    let encoding = encoding_rs::Encoding::for_label(label.unwrap_or("utf-8").as_bytes())
        .and_then(AsciiCompatibleEncoding::new)
        .unwrap_or_else(AsciiCompatibleEncoding::utf_8);
    let settings = Settings::new()
        .with_encoding(encoding)
        .with_strict(false)
        .append_element_content_handler(element!(
            "a[href],area[href],frame[src],iframe[src]",
            |element| {
                let target = element.get_attribute("href");
                targets.extend(target.or_else(|| element.get_attribute("src")));
                Ok(())
            }
        ))
        .append_element_content_handler(element!("base[href]", |element| {
            *base = element.get_attribute("href");
            Ok(())
        }));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    // A page that nests too deep ends early.
    let _complete = rewriter.write(&page.body);
    drop(rewriter);
    found
}

/// URLs that are known, in memory.
pub(super) type Known = HashSet<u64>;

/// The URLs that `references` lead to and that were not known.
pub(super) fn new_urls(page: &Page, references: &References, known: &mut Known) -> Vec<Url> {
    let mut new = Vec::new();
    let declared = references
        .base
        .as_deref()
        .and_then(|base| page.url.join(base).ok());
    let base = declared.as_ref().unwrap_or(&page.url);
    for target in &references.targets {
        let Ok(mut url) = base.join(target) else {
            continue;
        };
        url.set_fragment(None);
        if url.scheme() == "http" && known.insert(xxh3_64(url.as_str().as_bytes())) {
            new.push(url);
        }
    }
    new
}

/// The digests that a response record names.
#[derive(Clone, Debug)]
pub(super) struct Digests {
    block: String,
    payload: String,
}

/// Of the response, and of its body.
pub(super) fn digests(page: &Page) -> Digests {
    let mut block = Sha1::new();
    block.update(&page.head);
    block.update(&page.body);
    Digests {
        block: BASE32.encode(&block.finalize()),
        payload: BASE32.encode(&Sha1::digest(&page.body)),
    }
}

/// Makes the compressed records of pages.
pub(super) struct Records {
    compressor: Compressor,
    record: Vec<u8>,
    compressed: Vec<u8>,
    /// The compressed records of the last page.
    pub(super) group: Vec<u8>,
    serial: u64,
}

impl Records {
    /// At the crawler's own level of compression.
    pub(super) fn new() -> Result<Records> {
        let level = junkai_archive::ArchiveConfig::default().gzip_level;
        let level = CompressionLvl::new(i32::from(level))
            .ok()
            .context("no such level")?;
        Ok(Records {
            compressor: Compressor::new(level),
            record: Vec::new(),
            compressed: Vec::new(),
            group: Vec::new(),
            serial: 0,
        })
    }

    /// Makes the response, request and metadata records of a page, each compressed for itself.
    pub(super) fn make(&mut self, page: &Page, digests: &Digests) -> Result<()> {
        self.group.clear();
        self.serial += 1;
        let named = format!(
            "WARC-Block-Digest: sha1:{}\r\nWARC-Payload-Digest: sha1:{}\r\n",
            digests.block, digests.payload
        );
        self.record(page, "response", &named, &[&page.head, &page.body])?;
        self.record(page, "request", "", &[&page.request])?;
        let via = format!("via: {}\r\nhopsFromSeed: L\r\nfetchTimeMs: 1\r\n", page.url);
        self.record(page, "metadata", "", &[via.as_bytes()])
    }

    fn record(&mut self, page: &Page, kind: &str, fields: &str, block: &[&[u8]]) -> Result<()> {
        let length: usize = block.iter().map(|part| part.len()).sum();
        let mut head = String::with_capacity(512);
        write!(
            head,
            "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{:032x}>\r\n\
             WARC-Date: 2026-01-01T00:00:00.000000Z\r\nWARC-Target-URI: {}\r\n{fields}\
             Content-Type: application/http; msgtype={kind}\r\nContent-Length: {length}\r\n\r\n",
            self.serial, page.url,
        )?;
        self.record.clear();
        self.record.extend_from_slice(head.as_bytes());
        for part in block {
            self.record.extend_from_slice(part);
        }
        self.record.extend_from_slice(b"\r\n\r\n");
        let bound = self.compressor.gzip_compress_bound(self.record.len());
        if self.compressed.len() < bound {
            self.compressed.resize(bound, 0);
        }
        let length = self
            .compressor
            .gzip_compress(&self.record, &mut self.compressed)?;
        self.group.extend_from_slice(&self.compressed[..length]);
        Ok(())
    }
}

/// Appends the records of a page to a file.
pub(super) fn write(file: &mut File, group: &[u8]) -> io::Result<()> {
    file.write_all(group)
}
