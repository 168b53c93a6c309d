//! Turns a record into a member of its own, in a buffer that is used again for the next one.

use std::io;

use libdeflater::{CompressionLvl, Compressor as Deflater};

use crate::config::{ArchiveConfig, Compression};
use crate::short_gzip::ShortGzip;

/// The level of gzip at which speed is all that counts.
const LEVEL_FASTEST: u8 = 1;

/// Compresses records, each for itself.
pub(crate) enum Compressor {
    Gzip {
        /// For short records, at the fastest level.
        short: Option<Box<ShortGzip>>,
        deflater: Deflater,
        buffer: Vec<u8>,
    },
    Zstd {
        compressor: zstd::bulk::Compressor<'static>,
        buffer: Vec<u8>,
    },
    None,
}

impl Compressor {
    pub(crate) fn new(config: &ArchiveConfig) -> io::Result<Self> {
        Ok(match config.compression {
            Compression::Gzip => {
                let level = CompressionLvl::new(i32::from(config.gzip_level)).map_err(|_| {
                    io::Error::new(io::ErrorKind::InvalidInput, "gzip_level must be 1 to 12")
                })?;
                let is_fastest = config.gzip_level == LEVEL_FASTEST;
                Self::Gzip {
                    short: is_fastest.then(|| Box::new(ShortGzip::new())),
                    deflater: Deflater::new(level),
                    buffer: Vec::new(),
                }
            }
            Compression::Zstd => {
                let mut compressor = zstd::bulk::Compressor::new(i32::from(config.zstd_level))?;
                // A frame that ends too early or was changed on disk must not pass as whole.
                compressor.include_checksum(true)?;
                Self::Zstd {
                    compressor,
                    buffer: Vec::new(),
                }
            }
            Compression::None => Self::None,
        })
    }

    /// Appends `record`, compressed, to `out`.
    pub(crate) fn append(&mut self, record: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Gzip {
                short,
                deflater,
                buffer,
            } => {
                if let Some(short) = short
                    && short.append(record, out)
                {
                    return Ok(());
                }
                grow(buffer, deflater.gzip_compress_bound(record.len()));
                let length = deflater
                    .gzip_compress(record, buffer)
                    .map_err(io::Error::other)?;
                out.extend_from_slice(&buffer[..length]);
                release(buffer);
            }
            Self::Zstd { compressor, buffer } => {
                grow(buffer, zstd::zstd_safe::compress_bound(record.len()));
                let length = compressor.compress_to_buffer(record, &mut buffer[..])?;
                out.extend_from_slice(&buffer[..length]);
                release(buffer);
            }
            Self::None => out.extend_from_slice(record),
        }
        Ok(())
    }
}

/// A buffer beyond this is given back after the record that needed it.
const KEPT_BUFFER_BYTES: usize = 4 << 20;

fn grow(buffer: &mut Vec<u8>, length: usize) {
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
}

/// Gives the memory of a buffer back if a rare large record made it grow.
pub(crate) fn release(buffer: &mut Vec<u8>) {
    if KEPT_BUFFER_BYTES < buffer.capacity() {
        *buffer = Vec::new();
    }
}
