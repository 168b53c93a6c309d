//! Sixty-four bits that stand for a URL wherever the text would be too long.
//!
//! The seen set, the logs and the cluster's partitions all use it. It is XXH3 (64 bit, seed 0) of the canonical text, so it
//! is the same on every machine and in every release; archives depend on that.
//!
//! Among 10⁹ pages the chance that any two share a fingerprint is about 2.7 %, that a given new page is mistaken for a
//! known one 5 · 10⁻¹¹.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xxhash_rust::xxh3::xxh3_64;

/// The 64-bit hash of a canonical URL; written as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// Hashes a text that is canonical already.
    #[must_use]
    pub fn of(canonical: &str) -> Self {
        Self(xxh3_64(canonical.as_bytes()))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = ParseIntError;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        u64::from_str_radix(text, 16).map(Self)
    }
}

/// Sixteen hexadecimal digits in formats that people read (JSON numbers end at 2⁵³), the number itself in the others.
impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_u64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            String::deserialize(deserializer)?
                .parse()
                .map_err(D::Error::custom)
        } else {
            u64::deserialize(deserializer).map(Self)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_is_xxh3_and_stays_so() {
        // `printf https://example.org/ | xxhsum -H3`
        let fingerprint = Fingerprint::of("https://example.org/");
        assert_eq!(fingerprint.to_string(), "8e2c3c2914c7cb49");
    }

    #[test]
    fn short_numbers_are_padded_to_sixteen_digits() {
        assert_eq!(Fingerprint(0xab).to_string(), "00000000000000ab");
    }

    proptest! {
        #[test]
        fn text_and_json_read_back(number: u64) {
            let fingerprint = Fingerprint(number);
            prop_assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
            let json = serde_json::to_string(&fingerprint).unwrap();
            prop_assert_eq!(serde_json::from_str::<Fingerprint>(&json).unwrap(), fingerprint);
        }
    }
}
