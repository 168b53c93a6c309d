//! What a page was when it was last seen: enough to ask for it conditionally, and to tell whether it is another.

use junkai_frontier::Time;
use junkai_page::content::Content;

/// Bytes of a digest, at most: SHA-256 has them all.
pub const DIGEST_BYTES_MAX: usize = 32;

/// Bytes of a digest by which a payload is told from another, at least.
///
/// Two different payloads have the same beginning with a chance of one in 2⁶⁴: of 10⁹ pages visited a hundred times each, none is taken for
/// another in 10⁸ such crawls.
pub const DIGEST_BYTES_MIN: usize = 8;

/// Bytes of an entity tag that is kept, at most. Longer ones are left out: `Last-Modified` and the digest remain.
pub const ETAG_BYTES_MAX: usize = 128;

/// One version of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    /// The payload's digest, or its beginning: [`DIGEST_BYTES_MIN`] bytes, where `indexed` is the one that is named.
    pub digest: Digest,
    /// The digest by which the archive's index knows the payload, where that is another: of a body that came in chunks.
    pub indexed: Option<Digest>,
    /// What the page says, whatever surrounds it; none for what has no text, and while nobody has read it.
    pub content: Option<Content>,
    /// Where the archive has this version, if nobody has read yet what it says: that is wanted when another one is found, and not before.
    pub unread: Option<Place>,
    /// When this payload was last stored in full: `WARC-Refers-To-Date` of the records that point to it.
    pub captured: Time,
    /// The server's own name for the version, for `If-None-Match`; at most [`ETAG_BYTES_MAX`] bytes.
    pub etag: Option<Box<str>>,
    /// When the server says that it came to be, for `If-Modified-Since`.
    pub last_modified: Option<Time>,
}

/// Where a capture is in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Stands for the name of its WARC file.
    pub file: u32,
    /// Where its record begins in that file.
    pub offset: u64,
}

/// A digest of at most [`DIGEST_BYTES_MAX`] bytes, or its beginning.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest {
    bytes: [u8; DIGEST_BYTES_MAX],
    length: u8,
}

impl Digest {
    /// Takes a digest's bytes; none if there are too many.
    #[must_use]
    pub fn new(digest: &[u8]) -> Option<Digest> {
        let mut bytes = [0; DIGEST_BYTES_MAX];
        bytes.get_mut(..digest.len())?.copy_from_slice(digest);
        let length = u8::try_from(digest.len()).ok()?;
        Some(Digest { bytes, length })
    }

    /// Whether both are of the same payload: one is the other, or its beginning.
    #[must_use]
    pub fn is_same(&self, other: &Digest) -> bool {
        self == other || {
            let is_cut = |digest: &Digest| usize::from(digest.length) == DIGEST_BYTES_MIN;
            (is_cut(self) || is_cut(other)) && self.beginning() == other.beginning()
        }
    }

    /// The first [`DIGEST_BYTES_MIN`] bytes.
    pub(crate) fn beginning(&self) -> &[u8] {
        let bytes = self.as_bytes();
        &bytes[..bytes.len().min(DIGEST_BYTES_MIN)]
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Digest(")?;
        for byte in self.as_bytes() {
            write!(formatter, "{byte:02x}")?;
        }
        formatter.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_as_long_as_it_was() {
        for length in 0..=DIGEST_BYTES_MAX {
            let bytes: Vec<u8> = (1..=32).take(length).collect();
            assert_eq!(Digest::new(&bytes).unwrap().as_bytes(), bytes);
        }
        assert_eq!(Digest::new(&[7; DIGEST_BYTES_MAX + 1]), None);
    }

    #[test]
    fn a_digest_is_the_same_as_its_beginning_and_as_no_other() {
        let whole: Vec<u8> = (1..=20).collect();
        let whole = Digest::new(&whole).unwrap();
        let cut = Digest::new(whole.beginning()).unwrap();
        let other = Digest::new(&[9; DIGEST_BYTES_MIN]).unwrap();
        assert!(whole.is_same(&cut) && cut.is_same(&whole) && cut.is_same(&cut));
        assert!(!whole.is_same(&other) && !other.is_same(&cut));
        // Digests of two algorithms are whole, both of them.
        let zeros = |length: usize| Digest::new(&[0; 32][..length]).unwrap();
        assert!(!zeros(20).is_same(&zeros(32)));
    }
}
