//! Reads the text of a PDF as tables: a line is a row, two spaces or more set its cells apart, a page is a table.
//!
//! The text comes from outside; PDF itself is not read here.

use super::cell::{Cell, cut};
use super::table::Sheets;
use super::{Bounds, Input, Refusal};

/// Pages that are looked at.
const PAGES_MAX: usize = 200;

/// Reads every page that has a table into one; whether to the end.
pub(super) fn read(
    input: &Input<'_>,
    bounds: &Bounds,
    sheets: &mut Sheets,
) -> Result<bool, Refusal> {
    let Input { bytes, hints, .. } = *input;
    let text = hints.pdf_text.and_then(|read| read(bytes));
    let text = text.ok_or(Refusal::PdfUnread)?;
    let is_whole = text.len() <= bounds.text_bytes;
    for page in cut(&text, bounds.text_bytes).split('\u{C}').take(PAGES_MAX) {
        if !has_table(page) {
            continue;
        }
        if !sheets.begin(None) || sheets.is_full() {
            return Ok(false);
        }
        for line in page.lines() {
            for (column, text) in cells(line).enumerate() {
                sheets.put(column, || Cell::of_text(text));
            }
            sheets.end_row(1);
        }
    }
    Ok(is_whole)
}

/// Whether several lines have several cells, of which one is a number.
fn has_table(page: &str) -> bool {
    const ROWS_MIN: usize = 3;
    let is_row = |line: &&str| {
        let mut has_digit = false;
        let count = cells(line)
            .inspect(|cell| has_digit |= cell.contains(|it: char| it.is_numeric()))
            .count();
        1 < count && has_digit
    };
    page.lines().filter(is_row).take(ROWS_MIN).count() == ROWS_MIN
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
}
