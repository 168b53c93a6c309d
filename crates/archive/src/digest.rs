//! Digests as WARC files write them: an algorithm, a colon and the value.

use data_encoding::{
    BASE32, BASE32_NOPAD, BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER, HEXLOWER_PERMISSIVE,
};
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use crate::config::DigestAlgorithm;

const SHA1_BYTES: usize = 20;
const SHA256_BYTES: usize = 32;

/// Computes the digest of bytes that come in pieces.
pub(crate) enum Digester {
    Sha1(Sha1),
    Sha256(Sha256),
}

impl Digester {
    pub(crate) fn new(algorithm: DigestAlgorithm) -> Self {
        match algorithm {
            DigestAlgorithm::Sha1 => Self::Sha1(Sha1::new()),
            DigestAlgorithm::Sha256 => Self::Sha256(Sha256::new()),
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(state) => state.update(bytes),
            Self::Sha256(state) => state.update(bytes),
        }
    }

    /// The digest in our spelling: SHA-1 in base 32, SHA-256 in lower-case hexadecimal.
    pub(crate) fn finish(self) -> String {
        match self {
            Self::Sha1(state) => sha1_text(&state.finalize()),
            Self::Sha256(state) => sha256_text(&state.finalize()),
        }
    }
}

/// The digest of `bytes`, as [`Stored::payload_digest`](crate::Stored::payload_digest) has it.
#[must_use]
pub fn digest(algorithm: DigestAlgorithm, bytes: &[u8]) -> String {
    let mut digester = Digester::new(algorithm);
    digester.update(bytes);
    digester.finish()
}

/// The bytes of a digest in any spelling, for those who keep many of them; [`digest_of_bytes`] is the way back.
#[must_use]
pub fn digest_bytes(text: &str) -> Option<Vec<u8>> {
    value_of(text)
}

/// The digest with these bytes, in our spelling; nothing if no algorithm of ours makes so many of them.
#[must_use]
pub fn digest_of_bytes(bytes: &[u8]) -> Option<String> {
    match bytes.len() {
        SHA1_BYTES => Some(sha1_text(bytes)),
        SHA256_BYTES => Some(sha256_text(bytes)),
        _ => None,
    }
}

fn sha1_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity("sha1:".len() + BASE32.encode_len(bytes.len()));
    text.push_str("sha1:");
    BASE32.encode_append(bytes, &mut text);
    text
}

fn sha256_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity("sha256:".len() + HEXLOWER.encode_len(bytes.len()));
    text.push_str("sha256:");
    HEXLOWER.encode_append(bytes, &mut text);
    text
}

/// The algorithm of a digest in any spelling (`sha1:`, `SHA-1:`, `sha-256:`), if it is one that we compute.
pub(crate) fn algorithm_of(text: &str) -> Option<DigestAlgorithm> {
    let (name, _) = text.split_once(':')?;
    let name = name.trim().to_ascii_lowercase();
    match name.as_str() {
        "sha1" | "sha-1" => Some(DigestAlgorithm::Sha1),
        "sha256" | "sha-256" => Some(DigestAlgorithm::Sha256),
        _ => None,
    }
}

/// Whether two digests are the same, whatever their spelling (base 32, base 64 or hexadecimal).
pub(crate) fn is_same(left: &str, right: &str) -> bool {
    algorithm_of(left) == algorithm_of(right)
        && value_of(left).is_some_and(|value| Some(value) == value_of(right))
}

/// The bytes of a digest; its length tells the encoding.
fn value_of(text: &str) -> Option<Vec<u8>> {
    let algorithm = algorithm_of(text)?;
    let (_, value) = text.split_once(':')?;
    let value = value.trim().trim_end_matches('=').as_bytes();
    let size = match algorithm {
        DigestAlgorithm::Sha1 => SHA1_BYTES,
        DigestAlgorithm::Sha256 => SHA256_BYTES,
    };
    let length = value.len();
    let bytes = if length == size * 2 {
        HEXLOWER_PERMISSIVE.decode(value).ok()?
    } else if length == (size * 8).div_ceil(5) {
        BASE32_NOPAD.decode(&value.to_ascii_uppercase()).ok()?
    } else if length == (size * 8).div_ceil(6) {
        BASE64_NOPAD
            .decode(value)
            .or_else(|_| BASE64URL_NOPAD.decode(value))
            .ok()?
    } else {
        return None;
    };
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_spelt_as_other_tools_spell_them() {
        assert_eq!(
            digest(DigestAlgorithm::Sha1, b""),
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
        );
        assert_eq!(
            digest(DigestAlgorithm::Sha256, b""),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn the_bytes_of_a_digest_are_the_digest() {
        for algorithm in [DigestAlgorithm::Sha1, DigestAlgorithm::Sha256] {
            let text = digest(algorithm, b"a page");
            let bytes = digest_bytes(&text).unwrap();
            assert_eq!(digest_of_bytes(&bytes), Some(text));
        }
        assert_eq!(digest_of_bytes(b"short"), None);
    }

    #[test]
    fn any_spelling_of_a_digest_is_the_same_digest() {
        let ours = digest(DigestAlgorithm::Sha1, b"");
        for theirs in [
            "sha1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj",
            "SHA-1:da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "sha1:2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
            "sha1:2jmj7l5rSw0yVb_vlWAYkK_YBwk",
        ] {
            assert!(is_same(theirs, &ours), "{theirs}");
        }
        let sha256 = digest(DigestAlgorithm::Sha256, b"");
        assert!(is_same(
            "sha256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ====",
            &sha256
        ));
        for different in [
            "sha1:",
            "sha1:AAAA",
            "md5:d41d8cd98f00b204e9800998ecf8427e",
            "",
            &sha256,
        ] {
            assert!(!is_same(different, &ours), "{different}");
        }
    }
}
