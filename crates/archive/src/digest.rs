//! Digests as WARC files write them: an algorithm, a colon and the value.

use data_encoding::{
    BASE32, BASE32_NOPAD, BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER, HEXLOWER_PERMISSIVE,
};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

use crate::config::DigestAlgorithm;

const SHA1_BYTES: usize = 20;
const SHA256_BYTES: usize = 32;

/// An algorithm that we compute: more than those that we write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Algorithm {
    /// The algorithm of a digest in any spelling (`sha1:`, `SHA-1:`, `sha-256:`), if it is one that we compute.
    pub(crate) fn of(text: &str) -> Option<Algorithm> {
        let (name, _) = text.split_once(':')?;
        let name = name.trim().to_ascii_lowercase();
        match name.as_str() {
            "md5" => Some(Algorithm::Md5),
            "sha1" | "sha-1" => Some(Algorithm::Sha1),
            "sha256" | "sha-256" => Some(Algorithm::Sha256),
            "sha384" | "sha-384" => Some(Algorithm::Sha384),
            "sha512" | "sha-512" => Some(Algorithm::Sha512),
            _ => None,
        }
    }

    fn bytes(self) -> usize {
        match self {
            Algorithm::Md5 => 16,
            Algorithm::Sha1 => SHA1_BYTES,
            Algorithm::Sha256 => SHA256_BYTES,
            Algorithm::Sha384 => 48,
            Algorithm::Sha512 => 64,
        }
    }
}

impl From<DigestAlgorithm> for Algorithm {
    fn from(algorithm: DigestAlgorithm) -> Algorithm {
        match algorithm {
            DigestAlgorithm::Sha1 => Algorithm::Sha1,
            DigestAlgorithm::Sha256 => Algorithm::Sha256,
        }
    }
}

/// Computes the digest of bytes that come in pieces.
#[derive(Clone)]
pub(crate) enum Digester {
    Md5(Md5),
    Sha1(Sha1),
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
}

impl Digester {
    pub(crate) fn new(algorithm: impl Into<Algorithm>) -> Self {
        match algorithm.into() {
            Algorithm::Md5 => Self::Md5(Md5::new()),
            Algorithm::Sha1 => Self::Sha1(Sha1::new()),
            Algorithm::Sha256 => Self::Sha256(Sha256::new()),
            Algorithm::Sha384 => Self::Sha384(Sha384::new()),
            Algorithm::Sha512 => Self::Sha512(Sha512::new()),
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Md5(state) => state.update(bytes),
            Self::Sha1(state) => state.update(bytes),
            Self::Sha256(state) => state.update(bytes),
            Self::Sha384(state) => state.update(bytes),
            Self::Sha512(state) => state.update(bytes),
        }
    }

    /// The digest in our spelling: SHA-1 in base 32, all others in lower-case hexadecimal.
    pub(crate) fn finish(self) -> String {
        match self {
            Self::Md5(state) => hexadecimal("md5:", &state.finalize()),
            Self::Sha1(state) => sha1_text(&state.finalize()),
            Self::Sha256(state) => sha256_text(&state.finalize()),
            Self::Sha384(state) => hexadecimal("sha384:", &state.finalize()),
            Self::Sha512(state) => hexadecimal("sha512:", &state.finalize()),
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
    value_of(text).filter(|bytes| digest_of_bytes(bytes).is_some())
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
    hexadecimal("sha256:", bytes)
}

fn hexadecimal(label: &str, bytes: &[u8]) -> String {
    let mut text = String::with_capacity(label.len() + HEXLOWER.encode_len(bytes.len()));
    text.push_str(label);
    HEXLOWER.encode_append(bytes, &mut text);
    text
}

/// Whether two digests are the same, whatever their spelling (base 32, base 64 or hexadecimal).
pub(crate) fn is_same(left: &str, right: &str) -> bool {
    Algorithm::of(left) == Algorithm::of(right)
        && value_of(left).is_some_and(|value| Some(value) == value_of(right))
}

/// The bytes of a digest; its length tells the encoding.
pub(crate) fn value_of(text: &str) -> Option<Vec<u8>> {
    let size = Algorithm::of(text)?.bytes();
    let (_, value) = text.split_once(':')?;
    let value = value.trim().trim_end_matches('=').as_bytes();
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

    // Python: hashlib.new(name, b"abc").hexdigest()
    #[test]
    fn every_algorithm_computes_what_others_compute() {
        for expected in [
            "md5:900150983cd24fb0d6963f7d28e17f72",
            "md5:SAAVBGB42JH3BVUWH56SRYL7OI======",
            "sha1:a9993e364706816aba3e25717850c26c9cd0d89d",
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "sha-384:cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
            "sha512:ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ] {
            let mut digester = Digester::new(Algorithm::of(expected).unwrap());
            digester.update(b"a");
            digester.update(b"bc");
            let found = digester.finish();
            assert!(is_same(expected, &found), "{expected} is not {found}");
        }
        assert_eq!(Algorithm::of("xxh3:00"), None);
    }
}
