//! Reads ODS: `OpenDocument` 1.3, part 3, section 9, one cell after the other.
//!
//! Rows and columns may be said to repeat a million times, and often are, to fill a sheet with nothing. A repeated row is one row with a
//! count, a repeated cell fills no more columns than are looked at.

use std::ops::ControlFlow;

use quick_xml::events::BytesStart;

use super::cell::{Cell, cut};
use super::package::{Package, Piece, attribute};
use super::table::{SAMPLE_COLUMNS, Sheets};
use super::{Bounds, Refusal, Workbook};

/// Texts are cut like every cell.
const TEXT_BYTES: usize = 400;
/// Rows of a sheet; what repeats more often fills it up.
const ROWS_MAX: u64 = 1 << 20;

/// Reads every sheet into a table.
pub(super) fn read(
    bytes: &[u8],
    bounds: &Bounds,
    sheets: &mut Sheets,
) -> Result<Workbook, Refusal> {
    let mut package = Package::open(bytes, bounds)?;
    if is_encrypted(&mut package)? {
        return Err(Refusal::PasswordProtected);
    }
    let has_macros =
        package.find(|name| name.starts_with("Basic/") || name.starts_with("Scripts/"));
    let mut reader = Reader {
        sheets,
        column: 0,
        row_repeats: 1,
        cell_repeats: 1,
        kept: None,
        text: String::new(),
        is_text: false,
        is_cut: false,
    };
    if !package.walk("content.xml", &mut |piece| reader.take(&piece))? {
        return Err(Refusal::NoDataFile);
    }
    let is_cut = reader.is_cut || sheets.is_full();
    Ok(Workbook {
        is_whole: !is_cut,
        has_macros: has_macros.is_some(),
    })
}

/// Whether the list of parts says how they are encrypted.
fn is_encrypted(package: &mut Package<'_>) -> Result<bool, Refusal> {
    let mut is_encrypted = false;
    package.walk("META-INF/manifest.xml", &mut |piece| {
        if let Piece::Start(start) = piece {
            is_encrypted |= start.local_name().as_ref() == "encryption-data";
        }
        if is_encrypted {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(is_encrypted)
}

struct Reader<'a> {
    sheets: &'a mut Sheets,
    column: usize,
    row_repeats: u64,
    cell_repeats: usize,
    /// The value that the cell keeps besides its text.
    kept: Option<Cell>,
    text: String,
    is_text: bool,
    /// There were more tables than may be read.
    is_cut: bool,
}

impl Reader<'_> {
    fn take(&mut self, piece: &Piece<'_>) -> ControlFlow<()> {
        match *piece {
            Piece::Start(start) => self.start(start)?,
            Piece::Text(text) if self.is_text && self.text.len() < TEXT_BYTES => {
                self.text.push_str(text);
            }
            Piece::End("p") => self.is_text = false,
            Piece::End("table-cell" | "covered-table-cell") => {
                self.end_cell();
                if self.sheets.is_full() {
                    return ControlFlow::Break(());
                }
            }
            Piece::End("table-row") => {
                self.sheets.end_row(self.row_repeats.clamp(1, ROWS_MAX));
                self.column = 0;
            }
            Piece::End("spreadsheet") => return ControlFlow::Break(()),
            Piece::Text(_) | Piece::End(_) => {}
        }
        ControlFlow::Continue(())
    }

    fn start(&mut self, start: &BytesStart<'_>) -> ControlFlow<()> {
        let number = |name: &str| attribute(start, name).and_then(|it| it.parse::<u64>().ok());
        match start.local_name().as_ref() {
            "table" => {
                let name = attribute(start, "name");
                if !self.sheets.begin(name.as_deref()) {
                    self.is_cut = true;
                    return ControlFlow::Break(());
                }
                self.column = 0;
            }
            "table-row" => self.row_repeats = number("number-rows-repeated").unwrap_or(1),
            "table-cell" | "covered-table-cell" => {
                let repeats = number("number-columns-repeated").unwrap_or(1);
                self.cell_repeats = usize::try_from(repeats).unwrap_or(usize::MAX).max(1);
                self.kept = kept_value(start);
                self.text.clear();
            }
            // Paragraphs of one cell are lines of its text.
            "p" => {
                self.is_text = true;
                if !self.text.is_empty() {
                    self.text.push(' ');
                }
            }
            // A remark on a cell is no value of it.
            "annotation" => self.is_text = false,
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn end_cell(&mut self) {
        let cell = match self.kept.take() {
            Some(cell) => cell,
            None => Cell::of_text(&self.text),
        };
        let end = self.column.saturating_add(self.cell_repeats);
        if !cell.is_empty() {
            let shown = SAMPLE_COLUMNS.max(self.column.saturating_add(1));
            for column in self.column..end.min(shown) {
                self.sheets.put(column, || cell.clone());
            }
        }
        self.column = end;
        self.text.clear();
    }
}

/// The value of a number or a day, which its text shows rounded or in words.
fn kept_value(start: &BytesStart<'_>) -> Option<Cell> {
    match &*attribute(start, "value-type")? {
        "float" | "currency" => {
            let value = attribute(start, "value")?.parse::<f64>().ok()?;
            Some(Cell::of_number(value))
        }
        "date" => Some(Cell::of_text(cut(&attribute(start, "date-value")?, 10))),
        _ => None,
    }
}
