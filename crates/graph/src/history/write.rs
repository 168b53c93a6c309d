//! Writes a history to a file, in the form that [`super::load()`] reads.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{History, HistoryError};
use crate::GraphError;

/// Writes a history, in the order of time; compressed if the file's name ends with `.gz` or `.zst`.
pub fn write(history: &History, path: &Path) -> Result<(), HistoryError> {
    const ZSTD_LEVEL: i32 = 9;
    let create = || -> io::Result<()> {
        let file = BufWriter::new(File::create(path)?);
        let ending = path.extension().and_then(|ending| ending.to_str());
        match ending {
            Some("gz") => {
                let mut file = GzEncoder::new(file, Compression::default());
                write_events(history, &mut file)?;
                file.finish()?.flush()
            }
            Some("zst") => {
                let mut file = zstd::Encoder::new(file, ZSTD_LEVEL)?;
                write_events(history, &mut file)?;
                file.finish()?.flush()
            }
            _ => {
                let mut file = file;
                write_events(history, &mut file)?;
                file.flush()
            }
        }
    };
    create().map_err(|source| {
        let path = path.to_owned();
        GraphError::Write { path, source }.into()
    })
}

fn write_events(history: &History, file: &mut impl Write) -> io::Result<()> {
    for told in history.in_order() {
        let (event, path) = (told.event, history.path(told.page));
        writeln!(file, "{}\t{}\t{path}", event.at.0, event.kind.letter())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::load;
    use crate::history::tests::history;

    #[test]
    fn what_was_written_is_read_again_in_every_form() {
        let folder = tempfile::tempdir().unwrap();
        let events = [
            (1, "A", "ü/x.html"),
            (5, "M", "b"),
            (5, "D", "ü/x.html"),
            (9, "A", "ü/x.html"),
        ];
        let written = history(&events);
        for name in ["test", "test.tsv", "test.tsv.gz", "test.tsv.zst"] {
            let path = folder.path().join(name);
            write(&written, &path).unwrap();
            assert_eq!(load(&path).unwrap(), written, "{name}");
        }
        assert!(write(&written, folder.path()).is_err());
    }
}
