//! Small files of the state that are read whole and replaced whole, as JSON that people can read.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::CrawlError;

/// Reads a value; the default one, if there is no file.
pub(crate) fn load<T: DeserializeOwned + Default>(path: &Path) -> Result<T, CrawlError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(T::default()),
        Err(error) => return Err(error.into()),
    };
    serde_json::from_slice(&bytes).map_err(|error| CrawlError::Damaged {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

/// Puts a value in the place of the one before; the file is whole at every moment, and durable when this returns.
pub(crate) fn store<T: Serialize>(path: &Path, value: &T) -> Result<(), CrawlError> {
    let aside = path.with_extension("new");
    let mut file = File::create(&aside)?;
    let mut text = serde_json::to_vec_pretty(value).map_err(std::io::Error::from)?;
    text.push(b'\n');
    file.write_all(&text)?;
    file.sync_all()?;
    fs::rename(&aside, path)?;
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
