//! Reads a history from a file: a line for each event, `unix_time<TAB>A|M|D<TAB>path`.
//!
//! The file may be compressed with gzip or zstd, which its first bytes tell. Lines may be in any order; empty ones, and those
//! that begin with `#`, are passed over. A path is what a URL has after the root of its site: UTF-8, neither empty nor with
//! control characters; slashes before it do not count.
//!
//! Everything wrong is told at once, each line with its number.

use std::path::Path;

use super::error::{BAD_LINES_LISTED_MAX, BadLine};
use super::{Builder, Event, EventKind, History, HistoryError, UnixSeconds};
use crate::load::text::{Lines, shortened};

/// Reads a history: see the [module](super) for the form.
pub fn load(path: &Path) -> Result<History, HistoryError> {
    let mut lines = Lines::open(path)?;
    let mut builder = Builder::new(name_of(path));
    let mut bad = Vec::new();
    let mut bad_count = 0;
    while let Some((number, line)) = lines.next()? {
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let told = match parse(line) {
            Ok(told) => told,
            Err(reason) => {
                bad_count += 1;
                if bad.len() < BAD_LINES_LISTED_MAX {
                    let text = shortened(line);
                    let line = number;
                    bad.push(BadLine { line, reason, text });
                }
                continue;
            }
        };
        builder.tell(told.path, told.event)?;
    }
    if bad_count != 0 {
        return Err(HistoryError::BadLines {
            path: path.to_owned(),
            count: bad_count,
            first: bad,
        });
    }
    Ok(builder.finish())
}

struct Told<'a> {
    event: Event,
    path: &'a str,
}

fn parse(line: &[u8]) -> Result<Told<'_>, &'static str> {
    let text = std::str::from_utf8(line).map_err(|_| "not UTF-8")?;
    let mut parts = text.splitn(3, '\t');
    let mut part = || parts.next().ok_or("fewer than three parts");
    let (time, letter, path) = (part()?, part()?, part()?);
    let is_number = !time.is_empty() && time.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = if is_number { time.parse().ok() } else { None };
    let at = seconds
        .map(UnixSeconds)
        .filter(|&at| at <= UnixSeconds::MAX)
        .ok_or("no time in seconds")?;
    let kind = EventKind::from_letter(letter).ok_or("neither A, M nor D")?;
    let path = path.trim_start_matches('/');
    if path.is_empty() {
        return Err("no path");
    }
    if path.contains(char::is_control) {
        return Err("a path with control characters");
    }
    Ok(Told {
        event: Event { at, kind },
        path,
    })
}

/// The file's name without what tells its form.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy();
    let mut name = name.as_ref();
    for ending in [".zst", ".gz", ".tsv"] {
        name = name.strip_suffix(ending).unwrap_or(name);
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::history::tests::history;

    fn loaded(bytes: &[u8]) -> Result<History, HistoryError> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        load(file.path())
    }

    #[test]
    fn a_file_is_read_in_any_order() {
        let read = loaded(b"# made by hand\n9\tM\t/b/x y.html\r\n\n3\tA\tb/x y.html\n").unwrap();
        let expected = history(&[(9, "M", "b/x y.html"), (3, "A", "b/x y.html")]);
        assert_eq!(read.page_count(), 1);
        assert_eq!(read.path(0), "b/x y.html");
        assert_eq!(read.events(0), expected.events(0));
    }

    #[test]
    fn every_bad_line_is_told_with_its_number() {
        let text = b"1\tA\ta\nx\tA\tb\n\n-1\tA\tb\n1\tB\tb\n1\tA\t/\n1\tA\ta\tb\n1\n\xff\t\t\n253402300800\tA\tb\n";
        let HistoryError::BadLines { count, first, .. } = loaded(text).unwrap_err() else {
            panic!("the lines are bad");
        };
        let told: Vec<_> = first.iter().map(|bad| (bad.line, bad.reason)).collect();
        let expected = [
            (2, "no time in seconds"),
            (4, "no time in seconds"),
            (5, "neither A, M nor D"),
            (6, "no path"),
            (7, "a path with control characters"),
            (8, "fewer than three parts"),
            (9, "not UTF-8"),
            (10, "no time in seconds"),
        ];
        assert_eq!(told, expected);
        assert_eq!(count, 8);
    }

    #[test]
    fn of_very_many_bad_lines_some_are_listed() {
        let error = loaded("bad\n".repeat(1000).as_bytes()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("1000 lines"), "{text}");
        assert_eq!(text.lines().count(), 1 + BAD_LINES_LISTED_MAX + 1);
    }

    #[test]
    fn cut_zstd_is_an_error_with_its_place() {
        let whole = zstd::encode_all("1\tA\ta\n".repeat(10_000).as_bytes(), 1).unwrap();
        assert_eq!(loaded(&whole).unwrap().event_count(), 10_000);
        assert!(matches!(
            loaded(&whole[..whole.len() - 2]),
            Err(HistoryError::File(_))
        ));
    }

    #[test]
    fn a_history_is_called_after_its_file() {
        for (path, name) in [
            ("x/curl-www.tsv.zst", "curl-www"),
            ("a.tsv.gz", "a"),
            ("a.b", "a.b"),
        ] {
            assert_eq!(name_of(Path::new(path)), name);
        }
    }
}
