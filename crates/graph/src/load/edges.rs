//! Reads an edge list: two page numbers a line, source and target.
//!
//! Further columns, blank lines and lines with `#` or `%` in front are passed over. The order of lines is the order of
//! links within a page; a link that comes again is dropped. Memory while reading: 8 bytes a line, and 4 a link.

use std::path::Path;

use super::LoadOptions;
use super::text::{Lines, shortened};
use crate::progress::{Progress, Reporter, Stage};
use crate::{GraphError, Links, Page};

/// Reads a list. There are `page_count` pages; if it is not known, as many as the list names.
pub(super) fn read(
    path: &Path,
    page_count: Option<u32>,
    options: &LoadOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Links, GraphError> {
    let mut lines = Lines::open(path)?;
    let bound = page_count.unwrap_or(options.pages_max);
    let mut pairs: Vec<(Page, Page)> = Vec::new();
    let mut pages = page_count.unwrap_or(0);
    let mut reporter = Reporter::new(progress, Stage::ReadLinks, lines.size());
    loop {
        reporter.at(lines.consumed());
        let Some((number, line)) = lines.next()? else {
            break;
        };
        let Some(edge) = edge(line, bound) else {
            continue;
        };
        let (source, target) = edge.map_err(|fault| fault.at(number, line, path, bound))?;
        if options.links_max <= pairs.len() as u64 {
            return Err(GraphError::TooManyLinks {
                path: path.to_owned(),
                links_max: options.links_max,
            });
        }
        pages = pages.max(source + 1).max(target + 1);
        pairs.push((source, target));
    }
    reporter.finish();
    let reporter = Reporter::new(progress, Stage::Arrange, pairs.len() as u64);
    let arranged = Links::from_pairs(pages, &pairs);
    reporter.finish();
    Ok(arranged)
}

enum Fault {
    NoEdge,
    OutOfRange(u64),
}

impl Fault {
    fn at(self, number: u64, line: &[u8], path: &Path, bound: u32) -> GraphError {
        let path = path.to_owned();
        match self {
            Self::NoEdge => GraphError::NoEdge {
                path,
                line: number,
                text: shortened(line),
            },
            Self::OutOfRange(page) => GraphError::OutOfRange {
                path,
                line: number,
                page,
                bound: u64::from(bound),
            },
        }
    }
}

/// The edge in a line; none in a line that is blank or a comment.
fn edge(line: &[u8], bound: u32) -> Option<Result<(Page, Page), Fault>> {
    let mut columns = line
        .split(u8::is_ascii_whitespace)
        .filter(|column| !column.is_empty());
    let source = columns.next()?;
    if source.starts_with(b"#") || source.starts_with(b"%") {
        return None;
    }
    let page = |column: &[u8]| match number(column) {
        None => Err(Fault::NoEdge),
        Some(page) => match u32::try_from(page) {
            Ok(page) if page < bound => Ok(page),
            _ => Err(Fault::OutOfRange(page)),
        },
    };
    let target = columns.next().ok_or(Fault::NoEdge);
    Some(page(source).and_then(|source| Ok((source, page(target?)?))))
}

/// A number of decimal digits, the greatest possible if it is greater than that.
fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        Some(number.saturating_mul(10).saturating_add(digit))
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;
    use crate::progress::unwatched;

    fn read_text(text: &[u8], page_count: Option<u32>) -> Result<Links, GraphError> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text).unwrap();
        read(
            file.path(),
            page_count,
            &LoadOptions::default(),
            &mut unwatched,
        )
    }

    #[test]
    fn comments_blanks_ends_and_further_columns_are_passed_over() {
        let text = b"# a comment\r\n% another\r\n3\t1 0.5\r\n\n  0 2\n0 1\n \t\n0 2\n0 0";
        let links = read_text(text, None).unwrap();
        assert_eq!(
            links,
            Links::from_lists(&[vec![2, 1, 0], vec![], vec![], vec![1]])
        );
        assert_eq!(read_text(b"", None).unwrap(), Links::empty());
        assert_eq!(read_text(b"", Some(3)).unwrap().page_count(), 3);
    }

    #[test]
    fn what_is_no_edge_is_refused_with_its_line() {
        for (text, expected) in [
            (
                "0 1\n1 x\n",
                "line 2 of PATH is not two page numbers: \"1 x\"",
            ),
            ("0 1\n1\n", "line 2 of PATH is not two page numbers: \"1\""),
            ("0 -1\n", "line 1 of PATH is not two page numbers: \"0 -1\""),
            (
                "0 1.5\n",
                "line 1 of PATH is not two page numbers: \"0 1.5\"",
            ),
            ("\n0,1\n", "line 2 of PATH is not two page numbers: \"0,1\""),
            (
                "0 7\n",
                "line 1 of PATH names page 7, but the pages end before 7",
            ),
            (
                "0 99999999999999999999999\n",
                "line 1 of PATH names page 18446744073709551615, but the pages end before 7",
            ),
        ] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let error = read(
                file.path(),
                Some(7),
                &LoadOptions::default(),
                &mut unwatched,
            );
            let path = file.path().display().to_string();
            assert_eq!(
                error.unwrap_err().to_string().replace(&path, "PATH"),
                expected
            );
        }
    }

    #[test]
    fn no_more_links_are_read_than_allowed() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"0 1\n1 0\n1 1\n").unwrap();
        let options = LoadOptions {
            links_max: 2,
            ..LoadOptions::default()
        };
        let error = read(file.path(), None, &options, &mut unwatched).unwrap_err();
        assert!(matches!(
            error,
            GraphError::TooManyLinks { links_max: 2, .. }
        ));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_list_or_an_error(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(links) = read_text(&text, Some(100)) {
                prop_assert_eq!(links.page_count(), 100);
            }
        }

        #[test]
        fn any_lines_of_digits_are_a_list_or_an_error(text in "[0-9 #%\r\n\t]{0,60}") {
            let known = read_text(text.as_bytes(), Some(1000));
            let options_bound = matches!(known, Err(GraphError::NoEdge { .. } | GraphError::OutOfRange { .. }));
            prop_assert!(known.is_ok() || options_bound);
        }
    }
}
