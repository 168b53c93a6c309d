//! Reads and writes a setting that is a number of bytes; for `#[serde(with = "junkai_size::bytes")]`.

use std::fmt;
use std::marker::PhantomData;

use bytesize::ByteSize;
use serde::de::{self, Visitor};
use serde::{Deserializer, Serializer};

/// A type that holds a number of bytes.
pub trait Bytes: Copy {
    /// As a number.
    fn number(self) -> u64;
    /// From a number; none if it is too large.
    fn of(number: u64) -> Option<Self>;
}

impl Bytes for ByteSize {
    fn number(self) -> u64 {
        self.as_u64()
    }

    fn of(number: u64) -> Option<ByteSize> {
        Some(ByteSize(number))
    }
}

impl Bytes for u64 {
    fn number(self) -> u64 {
        self
    }

    fn of(number: u64) -> Option<u64> {
        Some(number)
    }
}

impl Bytes for u32 {
    fn number(self) -> u64 {
        self.into()
    }

    fn of(number: u64) -> Option<u32> {
        u32::try_from(number).ok()
    }
}

impl Bytes for usize {
    fn number(self) -> u64 {
        self as u64
    }

    fn of(number: u64) -> Option<usize> {
        usize::try_from(number).ok()
    }
}

/// Writes a size so that people read it, and [`deserialize`] reads the same number.
///
/// # Errors
/// As the serializer has it.
pub fn serialize<T: Bytes, S: Serializer>(size: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&crate::spell(size.number()))
}

/// Reads a size: a number of bytes, or a text as [`parse`](crate::parse) takes it.
///
/// # Errors
/// If it is neither, or too large for its type.
pub fn deserialize<'de, T: Bytes, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(SizeVisitor(PhantomData))
}

/// The same for a setting that may be left out; for `#[serde(with = "junkai_size::bytes::optional")]`.
pub mod optional {
    use serde::{Deserializer, Serializer};

    use super::Bytes;

    /// Writes a size as [`serialize`](super::serialize) does.
    ///
    /// # Errors
    /// As the serializer has it.
    pub fn serialize<T: Bytes, S: Serializer>(
        size: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match size {
            Some(size) => super::serialize(size, serializer),
            None => serializer.serialize_none(),
        }
    }

    /// Reads a size as [`deserialize`](super::deserialize) does.
    ///
    /// # Errors
    /// If it is none.
    pub fn deserialize<'de, T: Bytes, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        super::deserialize(deserializer).map(Some)
    }
}

struct SizeVisitor<T>(PhantomData<T>);

impl<T: Bytes> Visitor<'_> for SizeVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number of bytes such as 1000000, \"64MiB\" or \"1GB\"")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        T::of(number).ok_or_else(|| E::custom(format!("{number} bytes are too many")))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        let negative = |_| E::invalid_value(de::Unexpected::Signed(number), &self);
        let number = u64::try_from(number).map_err(negative)?;
        self.visit_u64(number)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        let number = crate::parse(text).map_err(E::custom)?;
        self.visit_u64(number)
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Debug, PartialEq, Deserialize, Serialize)]
    struct Sizes {
        #[serde(with = "super")]
        long: u64,
        #[serde(with = "super")]
        short: u32,
        #[serde(with = "super")]
        size: ByteSize,
        #[serde(with = "super::optional", default)]
        limit: Option<u64>,
    }

    #[test]
    fn numbers_and_texts_are_one_setting() {
        let expected = Sizes {
            long: 1_000_000_000,
            short: 4096,
            size: ByteSize(33_000_001),
            limit: Some(1_234_567),
        };
        for text in [
            "long = 1000000000\nshort = 4096\nsize = 33000001\nlimit = 1234567",
            "long = \"1GB\"\nshort = \"4 KiB\"\nsize = \"33000001\"\nlimit = \"1234567B\"",
        ] {
            assert_eq!(toml::from_str::<Sizes>(text).unwrap(), expected);
        }
        let without = Sizes {
            limit: None,
            ..expected
        };
        for sizes in [expected, without] {
            let written = toml::to_string(&sizes).unwrap();
            assert_eq!(toml::from_str::<Sizes>(&written).unwrap(), sizes);
        }
    }

    #[test]
    fn a_mistake_says_what_is_right() {
        for (value, word) in [
            ("\"much\"", "64MiB"),
            ("-1", "64MiB"),
            ("true", "64MiB"),
            ("\"5GB\"", "too many"),
        ] {
            let text = format!("long = 1\nshort = {value}\nsize = 1");
            let error = toml::from_str::<Sizes>(&text).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
