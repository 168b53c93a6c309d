//! Files in the archive's folder, opened for writing so that a symbolic link under their name is not followed.
//!
//! Whoever can write in the folder of an archive could leave a link under a name that is about to be written, and have a crawl that another user runs
//! overwrite a file elsewhere. So every file of an archive that is written is opened here. The folders themselves may be links:
//! operators put captures on another disk.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Makes a file anew: whatever had its name, a link or what a crash left, goes first.
///
/// # Errors
/// If that is a folder, or the file cannot be made.
pub fn create(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)
}

/// Opens a file to read it and to write at its end, made if it is not there.
///
/// # Errors
/// If it is a symbolic link, or cannot be opened.
pub fn append(path: &Path) -> io::Result<File> {
    not_through_a_link(
        path,
        OpenOptions::new().read(true).append(true).create(true),
    )
}

/// Opens a file to read and change it, made if it is not there.
///
/// # Errors
/// If it is a symbolic link, or cannot be opened.
pub fn change(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    not_through_a_link(path, &mut options)
}

fn not_through_a_link(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    options
        .custom_flags(flags)
        .open(path)
        .map_err(|error| match error.raw_os_error() {
            Some(number) if number == rustix::io::Errno::LOOP.raw_os_error() => {
                let path = path.display();
                let reason =
                    format!("{path} is a symbolic link, and nothing is written through one");
                io::Error::new(error.kind(), reason)
            }
            _ => error,
        })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder with a file that nobody may write, and a link to it under the name that is written.
    fn trap() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("precious"), "precious").unwrap();
        let link = folder.path().join("link");
        symlink(folder.path().join("precious"), &link).unwrap();
        (folder, link)
    }

    fn is_untouched(folder: &tempfile::TempDir) -> bool {
        fs::read(folder.path().join("precious")).unwrap() == b"precious"
    }

    #[test]
    fn a_file_is_made_in_the_place_of_a_link_and_not_where_that_leads() {
        let (folder, link) = trap();
        create(&link).unwrap().write_all(b"ours").unwrap();
        assert!(is_untouched(&folder));
        assert_eq!(fs::read(&link).unwrap(), b"ours");
        assert!(!fs::symlink_metadata(&link).unwrap().is_symlink());
        create(&link).unwrap();
        assert_eq!(fs::read(&link).unwrap(), b"", "it is made anew");
        // A second name for the file of somebody else is not written through either.
        fs::remove_file(&link).unwrap();
        fs::hard_link(folder.path().join("precious"), &link).unwrap();
        create(&link).unwrap().write_all(b"ours").unwrap();
        assert!(is_untouched(&folder));
    }

    #[test]
    fn a_link_is_refused_where_a_file_is_to_go_on() {
        let (folder, link) = trap();
        for refused in [append(&link), change(&link)] {
            let error = refused.unwrap_err();
            assert!(error.to_string().contains("symbolic link"), "{error}");
        }
        assert!(is_untouched(&folder));
        // A link that leads nowhere makes no file there.
        let nowhere = folder.path().join("nowhere");
        symlink(folder.path().join("elsewhere"), &nowhere).unwrap();
        assert!(append(&nowhere).is_err() && change(&nowhere).is_err());
        assert!(!folder.path().join("elsewhere").exists());
    }

    #[test]
    fn a_plain_file_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        append(&path).unwrap().write_all(b"one").unwrap();
        append(&path).unwrap().write_all(b" two").unwrap();
        change(&path).unwrap().write_all(b"ONE").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"ONE two");
    }
}
