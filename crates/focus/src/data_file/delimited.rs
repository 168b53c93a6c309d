//! Reads CSV and TSV: guesses encoding and delimiter, reads the beginning, counts the rest.
//!
//! RFC 4180, as loosely as the web keeps it: rows of any width, any of four delimiters, quotes that never close. Of a long file the
//! first [`Bounds::text_bytes`] are read; the rows behind are lines that are counted.

use encoding_rs::{UTF_16BE, UTF_16LE};
use junkai_page::charset;

use super::cell::Cell;
use super::table::Sheets;
use super::{Bounds, Format, Input};

/// Lines that a delimiter is guessed from.
const GUESS_LINES: usize = 60;
/// A quoted value of more lines was never meant to be one.
const QUOTED_LINES_MAX: usize = 200;

/// Reads a file into one table; whether to its end.
pub(super) fn read(input: &Input<'_>, bounds: &Bounds, sheets: &mut Sheets) -> bool {
    let Input {
        bytes,
        hints,
        format,
    } = *input;
    let (start, rest) = split(bytes, bounds.text_bytes);
    let charset = charset::detect(start, hints.content_type, hints.top_level_domain());
    let text = charset::decode(start, charset);
    let text = text.trim_start_matches('\u{FEFF}');
    let delimiter = delimiter_of(text, format);
    sheets.begin(None);
    let quoting = !has_runaway_quote(text, delimiter);
    let is_whole = read_rows(text, delimiter, quoting, sheets) && rest.is_empty();
    if !is_whole {
        let wide = charset.encoding == UTF_16LE || charset.encoding == UTF_16BE;
        let unread = estimate(sheets.row_count(), start, bytes.len(), wide);
        sheets.count_rows(unread.max(if wide { 0 } else { lines_in(rest) }));
    }
    is_whole
}

/// Cuts after the last whole line of the first bytes.
fn split(bytes: &[u8], length: usize) -> (&[u8], &[u8]) {
    if bytes.len() <= length {
        return (bytes, &[]);
    }
    let end = memchr::memrchr(b'\n', &bytes[..length]).map_or(length, |at| at + 1);
    // The line break of UTF-16 has a second byte.
    bytes.split_at(end + usize::from(end % 2 == 1 && bytes.get(end) == Some(&0)))
}

/// Rows that are not read, where the cells ran out before the text did; none where the lines can be counted.
fn estimate(rows: u64, start: &[u8], length: usize, wide: bool) -> u64 {
    let counted = lines_in(start);
    if wide {
        let read = start.len().max(1) as u64;
        return rows.saturating_mul((length as u64).saturating_sub(read)) / read;
    }
    counted.saturating_sub(rows)
}

fn lines_in(bytes: &[u8]) -> u64 {
    let ends = memchr::memchr_iter(b'\n', bytes).count() as u64;
    let has_open_line = bytes.last().is_some_and(|last| *last != b'\n');
    ends + u64::from(has_open_line)
}

/// Reads rows until the text or the cells are used up; whether it was the text.
fn read_rows(text: &str, delimiter: u8, quoting: bool, sheets: &mut Sheets) -> bool {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .quoting(quoting)
        .from_reader(text.as_bytes());
    let mut record = csv::StringRecord::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            // The text is UTF-8 and rows may have any width, so there is nothing to go wrong; and if it does, this is the end.
            Ok(false) | Err(_) => return true,
        }
        for (column, value) in record.iter().enumerate() {
            sheets.put(column, || Cell::of_text(value));
        }
        sheets.end_row(1);
        if sheets.is_full() {
            return reader.is_done();
        }
    }
}

/// The delimiter that cuts most lines into the same number of values.
fn delimiter_of(text: &str, format: Format) -> u8 {
    let candidates: [u8; 4] = match format {
        Format::Tsv => *b"\t,;|",
        _ => *b",\t;|",
    };
    let score = |delimiter: u8| {
        let mut counts: Vec<usize> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .take(GUESS_LINES)
            .map(|line| delimiters_in(line, delimiter))
            .filter(|count| 0 < *count)
            .collect();
        counts.sort_unstable();
        counts
            .chunk_by(|left, right| left == right)
            .map(|same| same.len() * 16 + same[0].min(15))
            .max()
            .unwrap_or_default()
    };
    let mut best = candidates[0];
    for delimiter in candidates {
        if score(best) < score(delimiter) {
            best = delimiter;
        }
    }
    best
}

fn delimiters_in(line: &str, delimiter: u8) -> usize {
    let mut is_quoted = false;
    line.bytes()
        .filter(|byte| {
            is_quoted ^= *byte == b'"';
            !is_quoted && *byte == delimiter
        })
        .count()
}

/// Whether a quote opens a value that goes on for far too long.
fn has_runaway_quote(text: &str, delimiter: u8) -> bool {
    let mut is_quoted = false;
    let mut is_start = true;
    let mut lines = 0;
    for byte in text.bytes() {
        match byte {
            b'"' if is_quoted => is_quoted = false,
            // A quote inside a bare value is a character like any other.
            b'"' if is_start => (is_quoted, lines) = (true, 0),
            b'\n' if is_quoted => {
                lines += 1;
                if QUOTED_LINES_MAX < lines {
                    return true;
                }
            }
            _ => {}
        }
        // After a closing quote another may follow: an escaped one.
        is_start = byte == delimiter || byte == b'\n' || (byte == b'"' && !is_quoted);
    }
    false
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::data_file::Hints;
    use crate::data_file::table::Table;
    use proptest::prelude::*;

    fn tables(bytes: &[u8], bounds: &Bounds) -> (bool, Table) {
        let mut sheets = Sheets::new(bounds);
        let hints = Hints {
            url: "https://a.example.jp/a.csv",
            ..Hints::default()
        };
        let input = Input {
            bytes,
            hints: &hints,
            format: Format::Csv,
        };
        let is_whole = read(&input, bounds, &mut sheets);
        (is_whole, sheets.finish().pop().unwrap_or_default())
    }

    fn texts(table: &Table) -> Vec<Vec<&str>> {
        table
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| &*cell.text).collect())
            .collect()
    }

    #[test]
    fn encodings_and_delimiters_are_guessed() {
        let japanese = "都道府県,人口\n北海道,5224614\n東京都,14047594\n";
        let encoded =
            |encoding: &'static encoding_rs::Encoding| encoding.encode(japanese).0.into_owned();
        let mut utf_16 = b"\xFF\xFE".to_vec();
        utf_16.extend(japanese.encode_utf16().flat_map(u16::to_le_bytes));
        for bytes in [
            japanese.as_bytes().to_vec(),
            [b"\xEF\xBB\xBF", japanese.as_bytes()].concat(),
            encoded(encoding_rs::SHIFT_JIS),
            encoded(encoding_rs::EUC_JP),
            utf_16,
            japanese.replace(',', "\t").into_bytes(),
            japanese.replace(',', ";").into_bytes(),
            japanese.replace('\n', "\r\n").into_bytes(),
        ] {
            let (is_whole, table) = tables(&bytes, &Bounds::default());
            assert!(is_whole);
            assert_eq!(
                texts(&table),
                [
                    ["都道府県", "人口"],
                    ["北海道", "5224614"],
                    ["東京都", "14047594"]
                ]
            );
        }
    }

    #[test]
    fn a_long_file_is_read_in_part_and_counted() {
        let mut text = String::from("year,value\n");
        for row in 0..100_000 {
            writeln!(text, "{},{row}", 1900 + row % 120).unwrap();
        }
        let bounds = Bounds {
            text_bytes: 10_000,
            ..Bounds::default()
        };
        let (is_whole, table) = tables(text.as_bytes(), &bounds);
        assert!(!is_whole);
        assert_eq!(table.row_count, 100_001);
        let few_cells = Bounds {
            cells: 1000,
            ..Bounds::default()
        };
        let (is_whole, table) = tables(text.as_bytes(), &few_cells);
        assert_eq!((is_whole, table.row_count), (false, 100_001));
    }

    #[test]
    fn a_quote_that_never_closes_does_not_swallow_the_file() {
        let mut text = String::from("name,\"value\n");
        for row in 0..1000 {
            writeln!(text, "place {row},{row}").unwrap();
        }
        let (_, table) = tables(text.as_bytes(), &Bounds::default());
        assert_eq!(table.row_count, 1001);
        let (_, quoted) = tables(b"a,b\n\"x\ny\",2\n", &Bounds::default());
        assert_eq!(quoted.row_count, 2);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>, text_bytes in 1_usize..100, cells in 1_u64..50) {
            let bounds = Bounds { text_bytes, cells, ..Bounds::default() };
            let (_, table) = tables(&bytes, &bounds);
            prop_assert!(table.row_count <= bytes.len() as u64 + 1);
        }

        #[test]
        fn what_is_written_is_read(rows in prop::collection::vec(prop::collection::vec("[a-z,\"\n]{1,8}[a-z]", 2..4), 1..9)) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            let width = rows[0].len();
            for row in &rows {
                let row: Vec<&str> = row.iter().map(|it| it.trim()).chain(["x"; 4]).take(width).collect();
                writer.write_record(&row).unwrap();
            }
            let bytes = writer.into_inner().unwrap();
            let mut sheets = Sheets::new(&Bounds::default());
            sheets.begin(None);
            prop_assert!(read_rows(std::str::from_utf8(&bytes).unwrap(), b',', true, &mut sheets));
            prop_assert_eq!(sheets.row_count(), rows.len() as u64);
        }
    }
}
