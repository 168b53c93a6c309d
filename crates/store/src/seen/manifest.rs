//! The file `RUNS`: which runs count. Replaced as a whole, so that a crash leaves the old set or the new one.
//!
//! Text, for the operator's eyes:
//! ```text
//! junkai seen 1
//! next 8
//! mark 52000
//! run 3
//! run 7
//! checksum 1c291ca3
//! ```

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{Mark, SeenError};
use junkai_files::disk::Disk;

const HEADER: &str = "junkai seen 1";

/// What `RUNS` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The number of the next run.
    pub(super) next: u64,
    /// What the caller left with the last flush.
    pub(super) mark: Mark,
    /// The runs that count.
    pub(super) runs: Vec<u64>,
}

pub(super) fn path(dir: &Path) -> PathBuf {
    dir.join("RUNS")
}

impl Manifest {
    /// Reads the manifest of a directory; nothing if there is none.
    pub(super) fn read(disk: &Disk, dir: &Path) -> Result<Option<Manifest>, SeenError> {
        let path = path(dir);
        let Some(bytes) = disk.read(&path)? else {
            return Ok(None);
        };
        let manifest = std::str::from_utf8(&bytes).ok().and_then(parse);
        manifest.map(Some).ok_or(SeenError::Damaged {
            path,
            offset: 0,
            what: "the manifest's checksum is wrong",
        })
    }

    pub(super) fn write(&self, disk: &Disk, dir: &Path) -> Result<(), SeenError> {
        Ok(disk.replace(&path(dir), self.text().as_bytes())?)
    }

    fn text(&self) -> String {
        let mut text = format!("{HEADER}\nnext {}\nmark {}\n", self.next, self.mark.0);
        for run in &self.runs {
            // Writing to a string cannot fail.
            let _always_ok = writeln!(text, "run {run}");
        }
        let checksum = crc32fast::hash(text.as_bytes());
        let _always_ok = writeln!(text, "checksum {checksum:08x}");
        text
    }
}

fn parse(text: &str) -> Option<Manifest> {
    let (body, checksum) = text.split_at_checked(text.rfind("checksum ")?)?;
    let checksum = checksum.strip_prefix("checksum ")?.strip_suffix('\n')?;
    if u32::from_str_radix(checksum, 16).ok()? != crc32fast::hash(body.as_bytes()) {
        return None;
    }
    let mut lines = body.lines();
    if lines.next()? != HEADER {
        return None;
    }
    let next = lines.next()?.strip_prefix("next ")?.parse().ok()?;
    let mark = lines.next()?.strip_prefix("mark ")?.parse().ok()?;
    let runs = lines.map(|line| line.strip_prefix("run ")?.parse().ok());
    Some(Manifest {
        next,
        mark: Mark(mark),
        runs: runs.collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_back_what_it_wrote_and_nothing_else() {
        let manifest = Manifest {
            next: 8,
            mark: Mark(52_000),
            runs: vec![3, 7],
        };
        let text = manifest.text();
        assert_eq!(parse(&text), Some(manifest));
        for at in 0..text.len() {
            assert_eq!(parse(&text[..at]), None, "cut at {at}");
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let flipped = std::str::from_utf8(&bytes).ok().and_then(parse);
            assert_eq!(flipped, None, "flipped at {at}");
        }
    }
}
