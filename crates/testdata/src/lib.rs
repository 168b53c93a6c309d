//! Where the tests find real data: crawled graphs, histories of changes, archives that other programs wrote. It is too large to stand beside the code.
//!
//! Tests call [`find`], and fail where the data is absent: a test that passes because it had nothing to judge proves nothing. Who has no data says so with
//! [`WITHOUT`] (`cargo xtask test --without-data`), and then each test that goes without is told of on standard error.
//!
//! Not here: what the data holds, and how it is read.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The environment variable that names the folder of the data, if that is not `shared/data` beside the workspace.
pub const FOLDER: &str = "JUNKAI_SHARED_DATA";
/// The environment variable that lets tests go without data that is absent.
pub const WITHOUT: &str = "JUNKAI_WITHOUT_DATA";

/// The folder of the data, which may be absent.
#[must_use]
pub fn folder() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    env::var_os(FOLDER).map_or_else(beside, PathBuf::from)
}

/// The file or folder of this name in the data; none if it is absent and the tests are to go without.
///
/// # Panics
/// If it is absent, and nobody said that the tests are to go without.
#[must_use]
pub fn find(name: &str) -> Option<PathBuf> {
    let path = folder().join(name);
    match look(&path, env::var_os(WITHOUT).as_deref()) {
        Look::Found => Some(path),
        Look::Without(told) => {
            // Past the test's captured output, so that it is read. Whoever closed standard error does not want to know.
            drop(writeln!(io::stderr(), "{told}"));
            None
        }
        Look::Missing(told) => panic!("{told}"),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Look {
    Found,
    Without(String),
    Missing(String),
}

fn look(path: &Path, without: Option<&OsStr>) -> Look {
    let shown = path.display();
    if path.exists() {
        Look::Found
    } else if without.is_some_and(|value| !value.is_empty()) {
        Look::Without(format!(
            "GOES WITHOUT DATA: {shown} is absent, and {WITHOUT} is set"
        ))
    } else {
        Look::Missing(format!(
            "{shown} is absent: name the folder of the real data with {FOLDER}, or set {WITHOUT}=1 to go without"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_data_is_missed_unless_the_tests_are_to_go_without() {
        let folder = tempfile::tempdir().unwrap();
        let absent = folder.path().join("absent");
        assert_eq!(look(folder.path(), None), Look::Found);
        assert_eq!(look(folder.path(), Some(OsStr::new("1"))), Look::Found);
        for without in [None, Some(OsStr::new(""))] {
            let Look::Missing(told) = look(&absent, without) else {
                panic!("{without:?}");
            };
            assert!(told.contains(FOLDER) && told.contains(WITHOUT), "{told}");
        }
        let Look::Without(told) = look(&absent, Some(OsStr::new("1"))) else {
            panic!("it is to go without");
        };
        assert!(told.contains("absent"), "{told}");
    }
}
