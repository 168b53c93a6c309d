//! Small files of the state, in JSON that people can read, which are replaced whole.

use std::io;
use std::path::Path;

use junkai_files::Disk;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::CrawlError;
use crate::error::AtPath as _;

/// Reads a value; the default one, if there is no file.
pub fn load<T: DeserializeOwned + Default>(disk: &Disk, path: &Path) -> Result<T, CrawlError> {
    let Some(bytes) = disk.read(path)? else {
        return Ok(T::default());
    };
    serde_json::from_slice(&bytes).map_err(|error| CrawlError::Damaged {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

/// Puts a value in the place of the one before; the file is whole at every moment, and durable when this returns.
pub fn store<T: Serialize>(disk: &Disk, path: &Path, value: &T) -> Result<(), CrawlError> {
    let mut text = serde_json::to_vec_pretty(value)
        .map_err(io::Error::from)
        .at(path)?;
    text.push(b'\n');
    Ok(disk.replace(path, &text)?)
}
