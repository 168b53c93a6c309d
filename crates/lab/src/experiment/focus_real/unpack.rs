//! Reads archives of files: tar, packed with zstd or gzip. Nothing is written to disk.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// Most bytes that are unpacked.
const BYTES_MAX: u64 = 1 << 30;
const BLOCK: usize = 512;

/// An archive cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {path}")]
pub struct UnpackError {
    /// The archive.
    pub path: PathBuf,
    /// What is wrong with it.
    pub source: io::Error,
}

/// The files of an archive by their names.
pub(super) fn unpack(path: &Path) -> Result<BTreeMap<String, Vec<u8>>, UnpackError> {
    let read = || -> io::Result<BTreeMap<String, Vec<u8>>> {
        let file = BufReader::new(File::open(path)?);
        let is_zstd = path.extension().is_some_and(|ending| ending == "zst");
        if is_zstd {
            files(zstd::Decoder::new(file)?.take(BYTES_MAX))
        } else {
            files(flate2::read::MultiGzDecoder::new(file).take(BYTES_MAX))
        }
    };
    read().map_err(|source| UnpackError {
        path: path.to_owned(),
        source,
    })
}

/// The archive can be read, but is not of a site.
pub(super) fn without_site(path: &Path) -> UnpackError {
    UnpackError {
        path: path.to_owned(),
        source: invalid("no manifest.tsv that names an index.html"),
    }
}

/// POSIX.1-1988, "ustar Interchange Format", and GNU's long names.
fn files(mut tar: impl Read) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut long_name: Option<String> = None;
    let mut head = [0; BLOCK];
    loop {
        match tar.read_exact(&mut head) {
            Ok(()) if head.iter().any(|byte| *byte != 0) => {}
            // The end is marked by empty blocks, which some writers leave out.
            Ok(()) => return Ok(files),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(files),
            Err(error) => return Err(error),
        }
        let size = octal(&head[124..136]).ok_or_else(|| invalid("a size that is no number"))?;
        let mut body = Vec::new();
        tar.by_ref().take(size).read_to_end(&mut body)?;
        if (body.len() as u64) < size {
            return Err(invalid("a file that is cut off"));
        }
        io::copy(
            &mut tar
                .by_ref()
                .take(size.next_multiple_of(BLOCK as u64) - size),
            &mut io::sink(),
        )?;
        match head[156] {
            b'0' | 0 => {
                let name = long_name.take().unwrap_or_else(|| name_of(&head));
                files.insert(name, body);
            }
            b'L' => long_name = Some(text(&body)),
            _ => {}
        }
    }
}

fn name_of(head: &[u8; BLOCK]) -> String {
    let (name, prefix) = (text(&head[..100]), text(&head[345..500]));
    let is_ustar = &head[257..262] == b"ustar";
    if prefix.is_empty() || !is_ustar {
        name
    } else {
        format!("{prefix}/{name}")
    }
}

fn text(field: &[u8]) -> String {
    let end = field
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(field.len());
    let text = String::from_utf8_lossy(&field[..end]);
    text.trim_start_matches("./").to_owned()
}

fn octal(field: &[u8]) -> Option<u64> {
    u64::from_str_radix(text(field).trim(), 8).ok()
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, kind: u8, body: &[u8]) -> Vec<u8> {
        let mut head = [0; BLOCK];
        head[..name.len()].copy_from_slice(name.as_bytes());
        let size = format!("{:011o}", body.len());
        head[124..135].copy_from_slice(size.as_bytes());
        head[156] = kind;
        head[257..262].copy_from_slice(b"ustar");
        let mut entry = head.to_vec();
        entry.extend(body);
        entry.resize(entry.len().next_multiple_of(BLOCK), 0);
        entry
    }

    #[test]
    fn files_are_found_by_name_and_what_is_cut_is_told() {
        let long = "d/".repeat(80) + "c";
        let tar = [
            entry("a/", b'5', b""),
            entry("./a/b.html", b'0', b"<p>"),
            entry("@", b'L', format!("{long}\0").as_bytes()),
            entry("short", b'0', b"x"),
            vec![0; 2 * BLOCK],
        ];
        let tar = tar.concat();
        let found = files(&tar[..]).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(
            (&found["a/b.html"][..], &found[&long][..]),
            (&b"<p>"[..], &b"x"[..])
        );
        assert!(files(&tar[..BLOCK * 2 - 510]).unwrap().is_empty());
        assert!(files(&tar[..=BLOCK * 2]).is_err());
    }
}
