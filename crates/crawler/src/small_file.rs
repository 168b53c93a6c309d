//! Files of the state that are replaced whole; small ones are JSON that people can read.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use junkai_archive::own_file;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::CrawlError;
use crate::error::AtPath as _;

/// Reads a value; the default one, if there is no file.
pub(crate) fn load<T: DeserializeOwned + Default>(path: &Path) -> Result<T, CrawlError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(T::default()),
        Err(error) => return Err(error).at(path),
    };
    serde_json::from_slice(&bytes).map_err(|error| CrawlError::Damaged {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

/// Puts a value in the place of the one before; the file is whole at every moment, and durable when this returns.
pub(crate) fn store<T: Serialize>(path: &Path, value: &T) -> Result<(), CrawlError> {
    let mut text = serde_json::to_vec_pretty(value)
        .map_err(io::Error::from)
        .at(path)?;
    text.push(b'\n');
    replace(path, &text).at(path)
}

/// Puts bytes in the place of a file: it is whole at every moment, and durable when this returns.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(bytes))
}

/// The same, with what `write` writes.
pub(crate) fn replace_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".new");
    let aside = Path::new(&aside);
    let mut file = own_file::create(aside)?;
    write(&mut file)?;
    file.sync_all()?;
    fs::rename(aside, path)?;
    path.parent()
        .map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}
