//! The names in a data file's first column, of which [`Collector::list`](super::Collector::list) finds out whether they name pages.
//!
//! Read here and not by the readers of `data_file`, because a list is wanted to its end and of its cells nothing but the text. What is no
//! text of comma-separated or tab-separated values has no names.

/// Entries of a file that are read.
const ENTRIES_MAX: usize = 2000;
/// Bytes of a file that are looked at: entries are short, and a row of a million cells is no list's.
const BYTES_MAX: usize = 4 << 20;
/// Bytes that show whether it is text.
const TEXT_SHOWS_WITHIN: usize = 512;

/// The entries of the first column without its head, each once (RFC 4180, without line breaks in quotes).
#[must_use]
pub fn names_in(file: &[u8]) -> Vec<String> {
    let file = &file[..file.len().min(BYTES_MAX)];
    if file.iter().take(TEXT_SHOWS_WITHIN).any(|byte| *byte == 0) {
        return Vec::new();
    }
    let lines = file.split(|byte| *byte == b'\n').skip(1);
    let mut names: Vec<String> = lines.take(ENTRIES_MAX).map(entry).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| !name.is_empty());
    names
}

fn entry(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let is_end = |byte: &u8| matches!(byte, b',' | b'\t');
    let Some(quoted) = line.strip_prefix(b"\"") else {
        let end = line.iter().position(is_end).unwrap_or(line.len());
        return text(&line[..end]);
    };
    let closes = |bytes: &[u8]| bytes[0] == b'"' && is_end(&bytes[1]);
    let name = match quoted.windows(2).position(closes) {
        Some(end) => &quoted[..end],
        // The only cell of its row.
        None => quoted.strip_suffix(b"\"").unwrap_or(quoted),
    };
    text(name).replace("\"\"", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_column_is_read_without_its_head() {
        for (file, names) in [
            (
                "Area,Value\nAmber Valley,1\nAdur,2\nAdur,3\n",
                &["Adur", "Amber Valley"][..],
            ),
            (
                "Area\r\n\"Bristol, City of\",1\r\n\"The \"\"Moor\"\"\",2\r\n",
                &["Bristol, City of", "The \"Moor\""],
            ),
            ("Area\tValue\nAdur\t1", &["Adur"]),
            ("Area,Value\n,1\n", &[]),
            ("Area,Value", &[]),
            ("", &[]),
        ] {
            assert_eq!(names_in(file.as_bytes()), names, "{file:?}");
        }
    }

    #[test]
    fn what_is_no_text_has_no_names_and_a_list_without_end_has_few() {
        assert!(names_in(b"PK\x03\x04\0\0\na\nb\n").is_empty());
        let rows: Vec<String> = (0..10_000).map(|row| format!("name{row}")).collect();
        assert_eq!(names_in(rows.join("\n").as_bytes()).len(), ENTRIES_MAX);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            prop_assert!(names_in(&bytes).len() <= ENTRIES_MAX);
        }

        #[test]
        fn any_quotes_are_survived(text in "[\",\n\r\ta]{0,40}") {
            prop_assert!(names_in(text.as_bytes()).len() <= text.len());
        }
    }
}
