//! Files of one kind in a folder, told apart by numbers that are never used twice.

use std::path::{Path, PathBuf};

/// How the files of a kind are named: ten digits or more between two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Series {
    pub(crate) prefix: &'static str,
    pub(crate) suffix: &'static str,
}

impl Series {
    /// Where a file is.
    pub(crate) fn path(self, dir: &Path, number: u64) -> PathBuf {
        let Series { prefix, suffix } = self;
        dir.join(format!("{prefix}{number:010}{suffix}"))
    }

    /// The number in the name of a file; nothing if it is not of this series.
    pub(crate) fn number_of(self, name: &str) -> Option<u64> {
        let name = name.strip_prefix(self.prefix)?;
        name.strip_suffix(self.suffix)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_its_number_and_sorts_by_it() {
        let segments = Series {
            prefix: "",
            suffix: ".segment",
        };
        let path = segments.path(Path::new("dir"), 7);
        assert_eq!(path, Path::new("dir/0000000007.segment"));
        for (name, number) in [
            ("0000000007.segment", Some(7)),
            ("12345678901.segment", Some(12_345_678_901)),
            ("0000000007.bucket", None),
            ("0000000007.segment.tmp", None),
            ("x.segment", None),
        ] {
            assert_eq!(segments.number_of(name), number, "{name}");
        }
    }
}
