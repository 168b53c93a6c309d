//! A number of bytes as people write it: `1000000`, `64MiB`, `"1 GB"`.
//!
//! Every setting and flag that is a number of bytes is read by [`parse`], so that all take the same spellings. Settings name [`bytes`] in
//! `#[serde(with = "junkai_size::bytes")]`; what is written by it is read back as the same number, which the one decimal of [`ByteSize`]'s own spelling
//! does not promise.
//!
//! Not here: how large a size may be (each room's settings).

pub mod bytes;

use bytesize::ByteSize;

/// A text that is no number of bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no number of bytes; write 1000000, \"64MiB\" or \"1GB\"")]
pub struct NotASize {
    /// The text.
    pub text: String,
}

/// Reads a number of bytes: digits alone, or a number with a unit (`kB`, `MB`, `GB`, `TB` are powers of 1000; `KiB`, `MiB`, `GiB`, `TiB` of 1024).
///
/// # Errors
/// If it is none.
pub fn parse(text: &str) -> Result<u64, NotASize> {
    let size: Result<ByteSize, _> = text.trim().parse();
    size.map(|size| size.as_u64()).map_err(|_| NotASize {
        text: text.to_owned(),
    })
}

/// Writes a number of bytes exactly, in the unit that leaves the smallest number.
#[must_use]
pub fn spell(bytes: u64) -> String {
    const UNITS: [(u64, &str); 8] = [
        (bytesize::KIB, "KiB"),
        (bytesize::MIB, "MiB"),
        (bytesize::GIB, "GiB"),
        (bytesize::TIB, "TiB"),
        (bytesize::KB, "kB"),
        (bytesize::MB, "MB"),
        (bytesize::GB, "GB"),
        (bytesize::TB, "TB"),
    ];
    let exact = UNITS
        .into_iter()
        .filter(|(unit, _)| unit <= &bytes && bytes.is_multiple_of(*unit));
    match exact.max_by_key(|(unit, _)| *unit) {
        Some((unit, name)) => format!("{}{name}", bytes / unit),
        None => format!("{bytes}B"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_and_units_are_read() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("1GB", 1_000_000_000),
            ("1 GB", 1_000_000_000),
            ("64MiB", 64 << 20),
            ("64.0 MiB", 64 << 20),
            ("1.5kB", 1500),
            ("1 KiB", 1024),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in ["", "GB", "-1", "many", "1 XB", "1e9", "1 GB/s"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_written_as_people_would() {
        for (bytes, text) in [
            (0, "0B"),
            (1000, "1kB"),
            (1024, "1KiB"),
            (8192, "8KiB"),
            (1_000_000_000, "1GB"),
            (256 << 20, "256MiB"),
            (33_000_001, "33000001B"),
        ] {
            assert_eq!(spell(bytes), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(bytes in any::<u64>(), places in 0_u32..40) {
            for bytes in [bytes, bytes >> places, (bytes >> 40) << places.min(20), (bytes >> 40) * 1000] {
                prop_assert_eq!(parse(&spell(bytes)), Ok(bytes));
            }
        }
    }
}
