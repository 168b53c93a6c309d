//! Small files of the state, in JSON that people can read, which are replaced whole.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use junkai_files::replace;
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
