//! Why a WARC or ARC file cannot be read on.

use std::io;

use thiserror::Error;

/// Longest head of a record.
pub(crate) const HEAD_BYTES_MAX: usize = 64 << 10;

/// Why a WARC file cannot be read on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system says no.
    #[error("cannot read")]
    Io(#[source] io::Error),
    /// The file ends inside a record.
    #[error("the record at offset {offset} is torn: the file ends inside it")]
    Torn {
        /// Where the record starts.
        offset: u64,
    },
    /// The compressed data are damaged.
    #[error("the record at offset {offset} is damaged")]
    Damaged {
        /// Where the record starts.
        offset: u64,
        /// What the decompressor says.
        source: io::Error,
    },
    /// There is something that is not a record.
    #[error("no WARC record at offset {offset}, but `{found}`")]
    NotARecord {
        /// Where a record should start.
        offset: u64,
        /// The beginning of what is there.
        found: String,
    },
    /// The head is too long.
    #[error("the record at offset {offset} has a head of more than {HEAD_BYTES_MAX} bytes")]
    HeadTooLong {
        /// Where the record starts.
        offset: u64,
    },
    /// The record does not say how long it is.
    #[error("the record at offset {offset} has no valid length")]
    Length {
        /// Where the record starts.
        offset: u64,
    },
    /// A compressed member holds more than one record, so that they cannot be found by offset.
    #[error(
        "the member at offset {offset} holds more than one record (`warcio recompress` repairs that)"
    )]
    NotPerRecord {
        /// Where the member starts.
        offset: u64,
    },
    /// So much is damaged that records are no longer looked for.
    #[error("too much is damaged: what follows offset {offset} was not read")]
    GivenUp {
        /// Where the search ended.
        offset: u64,
    },
}

impl ReadError {
    /// Where the record starts that cannot be read.
    #[must_use]
    pub fn offset(&self) -> u64 {
        match self {
            Self::Io(_) => 0,
            Self::Torn { offset }
            | Self::Damaged { offset, .. }
            | Self::NotARecord { offset, .. }
            | Self::HeadTooLong { offset }
            | Self::Length { offset }
            | Self::NotPerRecord { offset }
            | Self::GivenUp { offset } => *offset,
        }
    }

    /// The message with its cause.
    pub(crate) fn with_cause(&self) -> String {
        match self {
            Self::Damaged { source, .. } => format!("{self}: {source}"),
            _ => self.to_string(),
        }
    }
}

/// What an error of the stream means for the record at `offset`.
pub(crate) fn read_error(error: io::Error, offset: u64) -> ReadError {
    if error.raw_os_error().is_some() {
        ReadError::Io(error)
    } else if error.kind() == io::ErrorKind::UnexpectedEof {
        ReadError::Torn { offset }
    } else {
        ReadError::Damaged {
            offset,
            source: error,
        }
    }
}
