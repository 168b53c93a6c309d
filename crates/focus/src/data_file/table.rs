//! Tables as the readers hand them over: a bounded sample of the first rows, and a count of all of them.
//!
//! Each reader fills a [`Sheets`]; it says when it has had enough. A cell far off to the right or a row far down costs no more than
//! any other, so a file cannot ask for memory by naming a place.

use super::Bounds;
use super::cell::Cell;

/// Rows of a table that are looked at.
pub(crate) const SAMPLE_ROWS: usize = 400;
/// Columns of a table that are looked at.
pub(crate) const SAMPLE_COLUMNS: usize = 120;

/// One table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    /// The name of its sheet, or its caption.
    pub(crate) name: Option<String>,
    /// The first rows that are not empty, without empty cells at their ends.
    pub(crate) rows: Vec<Vec<Cell>>,
    /// Rows that are not empty.
    pub(crate) row_count: u64,
    /// The widest row.
    pub(crate) width: usize,
}

/// The tables of a file so far.
pub(crate) struct Sheets {
    tables: Vec<Table>,
    tables_max: usize,
    cells_left: u64,
    row: Vec<Cell>,
    /// A cell of a row beyond the sample was put.
    is_row_counted: bool,
}

impl Sheets {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        Self {
            tables: Vec::new(),
            tables_max: bounds.tables,
            cells_left: bounds.cells,
            row: Vec::new(),
            is_row_counted: false,
        }
    }

    /// Begins a table; false if there may be no more of them.
    pub(crate) fn begin(&mut self, name: Option<&str>) -> bool {
        self.end_row(1);
        if self.tables.len() == self.tables_max {
            return false;
        }
        let name = name.map(|it| super::cell::cut(it.trim(), 200).to_owned());
        self.tables.push(Table {
            name: name.filter(|it| !it.is_empty()),
            ..Table::default()
        });
        true
    }

    /// Puts a cell into the row, at the column or behind the last; beyond the sampled rows nothing is made of it.
    pub(crate) fn put(&mut self, column: usize, cell: impl FnOnce() -> Cell) {
        self.cells_left = self.cells_left.saturating_sub(1);
        let is_sampled = |table: &Table| table.rows.len() < SAMPLE_ROWS;
        if !self.tables.last().is_some_and(is_sampled) {
            self.is_row_counted = true;
            return;
        }
        if SAMPLE_COLUMNS <= column {
            if let Some(table) = self.tables.last_mut() {
                table.width = table.width.max(column.saturating_add(1));
            }
            return;
        }
        // Out of order only in damaged files.
        let index = column.max(self.row.len());
        if index < SAMPLE_COLUMNS {
            self.row.resize(index, Cell::EMPTY);
            self.row.push(cell());
        }
    }

    /// The column behind the last that was put.
    pub(crate) fn next_column(&self) -> usize {
        self.row.len()
    }

    /// Ends a row that stands for `repeats` of its kind.
    pub(crate) fn end_row(&mut self, repeats: u64) {
        while self.row.last().is_some_and(Cell::is_empty) {
            self.row.pop();
        }
        let row = std::mem::take(&mut self.row);
        let is_empty = row.is_empty() && !std::mem::take(&mut self.is_row_counted);
        let (Some(table), false) = (self.tables.last_mut(), is_empty) else {
            return;
        };
        table.width = table.width.max(row.len());
        table.row_count = table.row_count.saturating_add(repeats);
        if table.rows.len() < SAMPLE_ROWS {
            table.rows.push(row);
        }
    }

    /// Adds rows that were counted without being read.
    pub(crate) fn count_rows(&mut self, rows: u64) {
        if let Some(table) = self.tables.last_mut() {
            table.row_count = table.row_count.saturating_add(rows);
        }
    }

    /// Whether no more cells are taken.
    pub(crate) fn is_full(&self) -> bool {
        self.cells_left == 0
    }

    /// The rows of the table so far that are not empty.
    pub(crate) fn row_count(&self) -> u64 {
        self.tables.last().map_or(0, |table| table.row_count)
    }

    /// The tables that hold anything.
    pub(crate) fn finish(mut self) -> Vec<Table> {
        self.end_row(1);
        self.tables.retain(|table| 0 < table.row_count);
        self.tables
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A table of these rows.
    pub(crate) fn table(rows: &[&[&str]]) -> Table {
        let mut sheets = Sheets::new(&Bounds::default());
        sheets.begin(None);
        for row in rows {
            for (column, text) in row.iter().enumerate() {
                sheets.put(column, || Cell::of_text(text));
            }
            sheets.end_row(1);
        }
        sheets.finish().remove(0)
    }

    #[test]
    fn places_cost_no_memory() {
        let mut sheets = Sheets::new(&Bounds::default());
        assert!(sheets.begin(Some("far")));
        sheets.put(usize::MAX, || Cell::of_text("x1"));
        sheets.put(3, || Cell::of_text("three"));
        sheets.end_row(1_000_000_000_000);
        let tables = sheets.finish();
        assert_eq!(tables[0].rows.len(), 1);
        assert_eq!(tables[0].rows[0].len(), 4);
        assert_eq!(tables[0].row_count, 1_000_000_000_000);
    }

    #[test]
    fn cells_and_tables_are_bounded() {
        let bounds = Bounds {
            cells: 2,
            tables: 1,
            ..Bounds::default()
        };
        let mut sheets = Sheets::new(&bounds);
        assert!(sheets.begin(None));
        sheets.put(0, || Cell::of_text("a"));
        assert!(!sheets.is_full());
        sheets.put(1, || Cell::of_text("b"));
        assert!(sheets.is_full());
        assert!(!sheets.begin(None));
    }

    #[test]
    fn empty_rows_and_tables_do_not_count() {
        let mut sheets = Sheets::new(&Bounds::default());
        sheets.begin(Some("empty"));
        sheets.put(0, || Cell::EMPTY);
        sheets.end_row(1);
        sheets.begin(Some("one"));
        sheets.put(2, || Cell::of_text("x1"));
        let tables = sheets.finish();
        assert_eq!(tables.len(), 1);
        assert_eq!(tables[0].name.as_deref(), Some("one"));
        assert_eq!(tables[0].width, 3);
    }
}
