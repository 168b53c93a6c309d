//! How many bytes an answer may have.

use bytesize::ByteSize;

use crate::config::FetchConfig;

/// The least bound on a head that hyper accepts.
const HEAD_MIN: usize = 8192;

/// The bounds on a response, in bytes of this machine's memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) head: usize,
    pub(crate) body: usize,
}

impl Bounds {
    pub(crate) fn new(config: &FetchConfig) -> Self {
        Self {
            head: bytes(config.max_header_bytes).max(HEAD_MIN),
            body: bytes(config.max_body_bytes),
        }
    }
}

/// A size in bytes of this machine's memory.
pub(crate) fn bytes(size: ByteSize) -> usize {
    usize::try_from(size.as_u64()).unwrap_or(usize::MAX / 4)
}
