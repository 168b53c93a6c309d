//! The records of one capture, compressed and ready to be written together.

use std::io;

use crate::capture::{Capture, Resource, RevisitProfile, Truncated};
use crate::compress::{Compressor, release};
use crate::config::{ArchiveConfig, Compression, DigestAlgorithm, Provenance};
use crate::digest::digest;
use crate::record::{RecordBuilder, TERMINATOR, new_record_id, push_field, warc_date};

/// Room for the fields of a `metadata` record, unless the URL that led to it is long.
const METADATA_BYTES_USUAL: usize = 512;

/// Puts records together and compresses them, each for itself, in buffers that outlive it.
pub(crate) struct GroupBuilder<'a> {
    pub(crate) config: &'a ArchiveConfig,
    pub(crate) compressor: &'a mut Compressor,
    /// The record that is being put together.
    pub(crate) record: &'a mut Vec<u8>,
    /// The compressed records.
    pub(crate) group: &'a mut Vec<u8>,
    /// The `warcinfo` record of the file.
    pub(crate) warcinfo_id: &'a str,
}

/// The digests of a capture; the crate documentation, "Payload digests", says why they differ.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Digests {
    /// Of the payload.
    pub(crate) payload: String,
    /// As the record names it.
    pub(crate) named: Option<String>,
    /// As the index has it.
    pub(crate) indexed: Option<String>,
}

impl Digests {
    /// `payload_offset` is where readers take the payload in the response to begin.
    pub(crate) fn of(
        capture: &Capture<'_>,
        payload_offset: usize,
        algorithm: DigestAlgorithm,
    ) -> Self {
        let payload = capture
            .payload_digest
            .map_or_else(|| digest(algorithm, capture.payload), str::to_owned);
        if let Some(revisit) = &capture.revisit {
            let named = revisit.digest.map(str::to_owned);
            return Self {
                payload,
                indexed: named.clone(),
                named,
            };
        }
        let body = &capture.response[capture.head_length..];
        // A body without chunks is its own payload, and need not be compared.
        let is_as_sent = payload_offset == capture.head_length
            && (std::ptr::eq(body, capture.payload) || body == capture.payload);
        let named = is_as_sent.then(|| payload.clone());
        let indexed = named
            .clone()
            .unwrap_or_else(|| digest(DigestAlgorithm::Sha1, &capture.response[payload_offset..]));
        Self {
            payload,
            named,
            indexed: Some(indexed),
        }
    }
}

/// What the records of a capture share.
#[derive(Clone, Copy)]
struct Shared<'a> {
    /// Of the first of them.
    id: &'a str,
    date: &'a str,
    address: &'a str,
}

impl GroupBuilder<'_> {
    /// The records of a capture; returns the length of the first one.
    pub(crate) fn capture(
        &mut self,
        capture: &Capture<'_>,
        id: &str,
        digests: &Digests,
    ) -> io::Result<u64> {
        let date = warc_date(capture.date);
        let address = capture.address.to_string();
        let shared = Shared {
            id,
            date: &date,
            address: &address,
        };
        self.group.clear();
        self.response(capture, digests, shared)?;
        let length = self.last_length(0);
        if !capture.request.is_empty() {
            let mut record = RecordBuilder::new(self.record, "request");
            record.field("WARC-Record-ID", &new_record_id());
            record.field("WARC-Date", &date);
            record.field("WARC-Target-URI", capture.target_uri);
            record.field("WARC-Concurrent-To", id);
            record.field("WARC-Warcinfo-ID", self.warcinfo_id);
            record.field("WARC-IP-Address", &address);
            record.field(
                "WARC-Block-Digest",
                &digest(self.config.digest, capture.request),
            );
            record.field("Content-Type", "application/http; msgtype=request");
            record.block(capture.request);
            self.end_record()?;
        }
        let mut block = Vec::with_capacity(METADATA_BYTES_USUAL);
        for (name, value) in capture.metadata {
            push_field(&mut block, name, value);
        }
        if capture.revisit.is_none() && digests.named.is_none() {
            push_field(&mut block, "payloadDigest", &digests.payload);
        }
        let mut record = RecordBuilder::new(self.record, "metadata");
        record.field("WARC-Record-ID", &new_record_id());
        record.field("WARC-Date", &date);
        record.field("WARC-Target-URI", capture.target_uri);
        record.field("WARC-Concurrent-To", id);
        record.field("WARC-Warcinfo-ID", self.warcinfo_id);
        record.field("WARC-Block-Digest", &digest(self.config.digest, &block));
        record.field("Content-Type", "application/warc-fields");
        record.block(&block);
        self.end_record()?;
        Ok(length)
    }

    fn response(
        &mut self,
        capture: &Capture<'_>,
        digests: &Digests,
        shared: Shared<'_>,
    ) -> io::Result<()> {
        let record_type = if capture.revisit.is_some() {
            "revisit"
        } else {
            "response"
        };
        let block = block_of(capture);
        let mut record = RecordBuilder::new(self.record, record_type);
        record.field("WARC-Record-ID", shared.id);
        record.field("WARC-Date", shared.date);
        record.field("WARC-Target-URI", capture.target_uri);
        record.field("WARC-Warcinfo-ID", self.warcinfo_id);
        record.field("WARC-IP-Address", shared.address);
        for protocol in capture.protocol {
            record.field("WARC-Protocol", protocol);
        }
        record.optional("WARC-Cipher-Suite", capture.cipher);
        if let Some(revisit) = &capture.revisit {
            record.field("WARC-Profile", revisit.profile.uri());
            record.optional("WARC-Refers-To", revisit.record_id);
            record.field("WARC-Refers-To-Target-URI", revisit.target_uri);
            record.field("WARC-Refers-To-Date", &warc_date(revisit.date));
        }
        record.optional("WARC-Truncated", truncation(capture).map(Truncated::as_str));
        record.optional(
            "WARC-Identified-Payload-Type",
            capture.identified_payload_type,
        );
        record.optional("WARC-Payload-Digest", digests.named.as_deref());
        record.field("WARC-Block-Digest", &digest(self.config.digest, block));
        record.field("Content-Type", "application/http; msgtype=response");
        record.block(block);
        self.end_record()
    }

    /// The record of a resource; returns its length.
    pub(crate) fn resource(
        &mut self,
        resource: &Resource<'_>,
        id: &str,
        block_digest: &str,
    ) -> io::Result<u64> {
        self.group.clear();
        let mut record = RecordBuilder::new(self.record, "resource");
        record.field("WARC-Record-ID", id);
        record.field("WARC-Date", &warc_date(resource.date));
        record.field("WARC-Target-URI", resource.target_uri);
        record.field("WARC-Warcinfo-ID", self.warcinfo_id);
        record.optional(
            "WARC-IP-Address",
            resource
                .address
                .map(|address| address.to_string())
                .as_deref(),
        );
        record.field("WARC-Payload-Digest", block_digest);
        record.field("WARC-Block-Digest", block_digest);
        record.field("Content-Type", resource.content_type);
        record.block(resource.block);
        self.end_record()?;
        Ok(self.last_length(0))
    }

    /// The first record of a file.
    pub(crate) fn warcinfo(
        &mut self,
        file_name: &str,
        hostname: &str,
        provenance: &Provenance,
    ) -> io::Result<()> {
        self.group.clear();
        let address = provenance
            .address
            .map(|address| address.to_string())
            .unwrap_or_default();
        let mut block = Vec::new();
        for (name, value) in [
            ("software", &*provenance.software),
            ("format", "WARC File Format 1.1"),
            (
                "conformsTo",
                "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            ),
            ("hostname", hostname),
            ("ip", &address),
            ("operator", &self.config.operator),
            ("publisher", &self.config.publisher),
            ("isPartOf", &self.config.is_part_of),
            ("description", &self.config.description),
            ("robots", &provenance.robots),
            ("http-header-user-agent", &provenance.user_agent),
            ("http-header-from", &provenance.from),
        ] {
            if !value.is_empty() {
                push_field(&mut block, name, value);
            }
        }
        let mut record = RecordBuilder::new(self.record, "warcinfo");
        record.field("WARC-Record-ID", self.warcinfo_id);
        record.field("WARC-Date", &warc_date(jiff::Timestamp::now()));
        record.field("WARC-Filename", file_name);
        record.field("WARC-Block-Digest", &digest(self.config.digest, &block));
        record.field("Content-Type", "application/warc-fields");
        record.block(&block);
        self.end_record()
    }

    fn end_record(&mut self) -> io::Result<()> {
        self.compressor.append(self.record, self.group)?;
        release(self.record);
        Ok(())
    }

    /// Length of the record that starts at `start` of the group and ends it. The empty lines after a record that is not
    /// compressed do not count.
    fn last_length(&self, start: usize) -> u64 {
        let length = self.group.len() - start;
        match self.config.compression {
            Compression::Gzip | Compression::Zstd => length as u64,
            Compression::None => (length - TERMINATOR.len()) as u64,
        }
    }
}

/// What was left off: of a body that an earlier capture has, all of it (WARC 1.1, clause 6.7.2).
fn truncation(capture: &Capture<'_>) -> Option<Truncated> {
    let repeats = capture
        .revisit
        .as_ref()
        .is_some_and(|revisit| revisit.profile == RevisitProfile::IdenticalPayloadDigest);
    let is_left_off = repeats && capture.head_length < capture.response.len();
    if is_left_off {
        Some(Truncated::Length)
    } else {
        capture.truncated
    }
}

/// What is kept of a response: all of it, or the head where an earlier capture has the body.
pub(crate) fn block_of<'a>(capture: &Capture<'a>) -> &'a [u8] {
    match capture.revisit {
        Some(_) => &capture.response[..capture.head_length],
        None => capture.response,
    }
}
