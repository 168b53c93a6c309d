//! Files that are written beside the one whose place they take.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Where the successor of a file is written.
pub(crate) fn of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    PathBuf::from(name)
}

/// Makes that file. Whatever had its name goes first, so that nothing is written where a symbolic link leads.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let beside = of(path);
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    File::create_new(&beside)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_is_written_where_a_link_leads() {
        let folder = tempfile::tempdir().unwrap();
        let (precious, path) = (folder.path().join("precious"), folder.path().join("model"));
        fs::write(&precious, "precious").unwrap();
        symlink(&precious, of(&path)).unwrap();
        create(&path).unwrap().write_all(b"ours").unwrap();
        assert_eq!(fs::read(of(&path)).unwrap(), b"ours");
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
    }
}
