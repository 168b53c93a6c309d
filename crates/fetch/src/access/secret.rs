//! A text that must not be shown: passwords, tokens, cookies.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::Environment;

/// The longest secret that is read from a file: longer ones are a mistake, such as a path to something else.
const SECRET_BYTES_MAX: u64 = 16 * 1024;

/// A text that stands in no log, message or debug output.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The first line of a file, without the blanks around it.
    ///
    /// # Errors
    /// In words that name the file and nothing of what is in it.
    pub(crate) fn from_file(path: &Path) -> Result<Self, String> {
        let unreadable =
            |error: &dyn fmt::Display| format!("cannot read {}: {error}", path.display());
        let file = File::open(path).map_err(|error| unreadable(&error))?;
        let mut text = String::new();
        file.take(SECRET_BYTES_MAX)
            .read_to_string(&mut text)
            .map_err(|error| unreadable(&error))?;
        let line = text.lines().next().unwrap_or_default().trim();
        if line.is_empty() {
            return Err(format!("the first line of {} is empty", path.display()));
        }
        Ok(Self::new(line))
    }

    /// Of a file, or of an environment variable.
    ///
    /// # Errors
    /// As [`from_file`](Self::from_file), or if the variable is not set.
    pub(crate) fn load(
        file: Option<&Path>,
        variable: Option<&str>,
        environment: Environment<'_>,
    ) -> Result<Self, String> {
        match (file, variable) {
            (Some(file), _) => Self::from_file(file),
            (None, Some(name)) => match environment(name) {
                Some(text) if !text.trim().is_empty() => Ok(Self::new(text.trim())),
                Some(_) | None => Err(format!("the environment variable {name} is not set")),
            },
            (None, None) => Err("neither a file nor a variable is named".to_owned()),
        }
    }

    /// The text, for whoever sends it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_a_file_is_taken_and_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        std::fs::write(&path, " sesame \nmore\n").unwrap();
        let secret = Secret::from_file(&path).unwrap();
        assert_eq!(secret.reveal(), "sesame");
        assert_eq!(format!("{secret:?}"), "***");
        std::fs::write(&path, "\nsesame\n").unwrap();
        let empty = Secret::from_file(&path).unwrap_err();
        assert!(
            empty.contains("secret is empty") && !empty.contains("sesame"),
            "{empty}"
        );
        assert!(Secret::from_file(&folder.path().join("none")).is_err());
    }
}
