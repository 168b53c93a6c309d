//! Keeps bytes: writes captures to WARC files, indexes them, reads them back and checks them.
//!
//! A crawler thread owns one [`Writer`] and gives it one [`Capture`] for each exchange; what it gets back, [`Stored`], is
//! on disk and in the index. [`recover()`] runs once at start, before any writer, and repairs what a crash left. [`Index`]
//! answers which captures of a URL exist, while the crawl goes on, and [`Captures`] gives out their bytes; [`Reader`] reads the records of any
//! WARC or ARC file, [`walk()`] goes on after damage, [`check()`] judges one, and [`index_file`] lists one as `cdxj-indexer` does. `junkai_http` takes a stored HTTP message apart.
//!
//! # An archive on disk
//! `archive/*.warc.gz` are the captures and `indexes/*.cdxj` the index, laid out as in a WACZ; the suffix `.open` marks a
//! file that is still being written. Every WARC file starts with a `warcinfo` record. A capture is a group of records,
//! written by one call: `response` (or `revisit`), `request`, `metadata`; the last two name the first in
//! `WARC-Concurrent-To`. The response comes first so that a file cut after any whole record still makes sense.
//!
//! # Invariants
//! - A capture is reported after its records and its index line are written; a failed write is cut back, so that an open
//!   file always ends with a whole group, unless the process dies inside the write. Then [`recover()`] cuts it.
//! - A line of the index names one record of one file. So equal lines are one line, whichever files hold them: sealing
//!   and merging need no manifest, and a crash in the middle of either loses and doubles nothing.
//! - A file without `.open` is never changed again.
//!
//! # Payload digests
//! WARC 1.1 defines the payload as the entity body, so `WARC-Payload-Digest` covers a chunked body *after* decoding
//! (iipc/warc-specifications#22). `warcio check` and `FastWARC` compute it over the chunks as sent, and call the right digest a
//! failure; tools that follow the standard call the other one a failure. A response whose body on the wire is not its
//! payload therefore has no `WARC-Payload-Digest`, so that no reader finds a value that it contradicts. Its block digest
//! guards every byte, its `metadata` record tells the digest of the decoded payload (`payloadDigest`), and the index has
//! the digest that `cdxj-indexer` computes for it. A later `revisit` record names the digest by which the index knows the
//! original ([`Stored::indexed_digest`]): that is how pywb finds it.
//!
//!
//! Not here: what to fetch, what the bytes mean, and any network.

mod append_file;
mod arc;
mod capture;
mod captures;
mod cdxj;
mod check;
mod compress;
mod config;
mod digest;
mod group;
mod index;
mod indexer;
pub mod layout;
pub mod logs;
mod member;
mod merge;
mod open_warc;
mod read_error;
mod reader;
mod record;
mod record_head;
mod recover;
mod recovery;
mod segment;
mod short_gzip;
mod walk;
mod writer;

pub use capture::{Capture, Resource, RevisitOf, RevisitProfile, Stored, Truncated};
pub use captures::{BodyForm, CaptureError, Captures};
pub use cdxj::{Entry, EntryError};
pub use check::{Problem, Report, Severity, check};
pub use config::{ArchiveConfig, Compression, DigestAlgorithm, Provenance};
pub use digest::{digest, digest_bytes, digest_of_bytes};
pub use index::{Index, IndexError, Matches};
pub use indexer::{IndexFileError, index_file};
pub use layout::Layout;
pub use merge::merge;
pub use read_error::ReadError;
pub use reader::{Reader, Record};
pub use record_head::{RecordHead, Span};
pub use recover::{recover, recover_after_power_loss};
pub use recovery::{ClosedFile, RecoverError, Recovery};
pub use walk::{Walker, walk};
pub use writer::{Position, WriteError, Writer};
