//! Makes bytes fewer, and back: the one module that knows the compression library.

use std::fmt;
use std::io;

use zstd::bulk::{Compressor, Decompressor};

/// The fastest level that still gives frequent letters short codes: what URLs gain most from.
const LEVEL: i32 = 1;

/// Packs; kept for its working memory.
pub(crate) struct Packer {
    compressor: Compressor<'static>,
    packed: Vec<u8>,
}

impl Packer {
    pub(crate) fn new() -> io::Result<Packer> {
        Ok(Packer {
            compressor: Compressor::new(LEVEL)?,
            packed: Vec::new(),
        })
    }

    /// Appends `bytes` packed, or as they are if that is not shorter; tells how many were appended.
    pub(crate) fn pack(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        self.packed.clear();
        self.packed.reserve(bytes.len());
        let packed = self.compressor.compress_to_buffer(bytes, &mut self.packed);
        let shortest = match packed {
            Ok(length) if length < bytes.len() => &self.packed[..length],
            // It does not fit into as many bytes as there were.
            Ok(_) | Err(_) => bytes,
        };
        out.extend_from_slice(shortest);
        shortest.len()
    }
}

/// Unpacks; kept for its working memory.
pub(crate) struct Unpacker {
    decompressor: Decompressor<'static>,
}

impl Unpacker {
    pub(crate) fn new() -> io::Result<Unpacker> {
        Ok(Unpacker {
            decompressor: Decompressor::new()?,
        })
    }

    /// Replaces `out` by what was packed; nothing if `packed` does not hold exactly `length` bytes.
    pub(crate) fn unpack(&mut self, packed: &[u8], length: usize, out: &mut Vec<u8>) -> Option<()> {
        out.clear();
        if packed.len() == length {
            out.extend_from_slice(packed);
            return Some(());
        }
        out.reserve(length);
        let unpacked = self.decompressor.decompress_to_buffer(packed, out).ok()?;
        (unpacked == length).then_some(())
    }
}

impl fmt::Debug for Packer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Packer").finish_non_exhaustive()
    }
}

impl fmt::Debug for Unpacker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Unpacker").finish_non_exhaustive()
    }
}
