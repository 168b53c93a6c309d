//! Reads the tables of an HTML page.
//!
//! Of tables in tables each is read by itself: the outer ones are mostly layout, and have too few rows or columns to count. A cell that
//! spans columns leaves the ones behind it empty, as in spreadsheets; one that spans rows moves the cells below to the right.

use junkai_page::charset;
use junkai_page::markup::{self, Token};

use super::cell::{Cell, cut};
use super::table::{SAMPLE_COLUMNS, SAMPLE_ROWS, Sheets};
use super::{Bounds, Input};

/// Tables that are open at the same time; deeper ones are text.
const DEPTH_MAX: usize = 12;
/// Texts are cut like every cell.
const TEXT_BYTES: usize = 400;
/// Rows that a cell may span.
const SPAN_MAX: usize = 1000;

/// Reads every table of some size; whether the page was read to its end.
pub(super) fn read(input: &Input<'_>, bounds: &Bounds, sheets: &mut Sheets) -> bool {
    let Input { bytes, hints, .. } = *input;
    let start = &bytes[..bytes.len().min(bounds.text_bytes)];
    let charset = charset::detect(start, hints.content_type, hints.top_level_domain());
    let text = charset::decode(start, charset);
    let mut reader = Reader {
        open: Vec::new(),
        sheets,
        is_cut: start.len() < bytes.len(),
    };
    markup::each(&text, |token| reader.take(&token));
    while let Some(table) = reader.open.pop() {
        reader.hand_over(table);
    }
    !reader.is_cut
}

struct Reader<'a> {
    open: Vec<Open>,
    sheets: &'a mut Sheets,
    is_cut: bool,
}

/// A table that has not ended.
#[derive(Default)]
struct Open {
    caption: String,
    rows: Vec<Vec<String>>,
    row_count: u64,
    /// For each column, how many rows below are taken by cells above.
    taken: Vec<usize>,
    row: Vec<String>,
    /// The text of the cell that has not ended, and where it goes.
    cell: Option<String>,
    cell_at: usize,
    place: Place,
}

/// What text belongs to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Elsewhere,
    Caption,
    Cell,
}

impl Reader<'_> {
    fn take(&mut self, token: &Token<'_>) {
        match token {
            Token::Start { name, attributes } => self.start(name, attributes),
            Token::End { name } => self.end(name),
            Token::Text(text) => {
                if let Some(table) = self.open.last_mut() {
                    table.text(text);
                }
            }
        }
    }

    fn start(&mut self, name: &str, attributes: &markup::Attributes<'_>) {
        if name.eq_ignore_ascii_case("table") {
            if self.open.len() < DEPTH_MAX {
                self.open.push(Open::default());
            }
            return;
        }
        let Some(table) = self.open.last_mut() else {
            return;
        };
        match &*name.to_ascii_lowercase() {
            "caption" => table.place = Place::Caption,
            "tr" => table.begin_row(),
            "td" | "th" => {
                let span = |name: &str| {
                    let value = attributes.value(name)?;
                    value.trim().parse::<usize>().ok()
                };
                table.begin_cell(
                    span("colspan").unwrap_or(1).clamp(1, SAMPLE_COLUMNS),
                    span("rowspan").unwrap_or(1).clamp(1, SPAN_MAX),
                );
            }
            "br" | "p" | "div" | "li" => table.text(" "),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        let Some(table) = self.open.last_mut() else {
            return;
        };
        match &*name.to_ascii_lowercase() {
            "caption" => table.place = Place::Elsewhere,
            "td" | "th" => table.end_cell(),
            "tr" => table.end_row(),
            "table" => {
                if let Some(table) = self.open.pop() {
                    self.hand_over(table);
                }
            }
            _ => {}
        }
    }

    /// Takes in a table, if it has rows and columns.
    fn hand_over(&mut self, mut table: Open) {
        table.end_row();
        let width = table.rows.iter().map(Vec::len).max().unwrap_or(0);
        if width < 2 || table.rows.len() < 2 {
            return;
        }
        if self.sheets.is_full() || !self.sheets.begin(Some(&table.caption)) {
            self.is_cut = true;
            return;
        }
        let unread = table.row_count.saturating_sub(table.rows.len() as u64);
        for row in table.rows {
            for (column, text) in row.iter().enumerate() {
                self.sheets.put(column, || Cell::of_text(text));
            }
            self.sheets.end_row(1);
        }
        self.sheets.count_rows(unread);
    }
}

impl Open {
    fn text(&mut self, text: &str) {
        let target = match self.place {
            Place::Elsewhere => return,
            Place::Caption => &mut self.caption,
            Place::Cell => match &mut self.cell {
                Some(cell) => cell,
                None => return,
            },
        };
        for word in text.split_inclusive(char::is_whitespace) {
            if TEXT_BYTES < target.len() {
                return;
            }
            let is_after_space = target.ends_with(' ') || target.is_empty();
            let word = cut(word, TEXT_BYTES);
            target.push_str(word.trim());
            if word.ends_with(char::is_whitespace) && !(is_after_space && word.trim().is_empty()) {
                target.push(' ');
            }
        }
    }

    /// Ends what was not ended: rows and cells need no end tags.
    fn begin_row(&mut self) {
        self.end_row();
        for rows in &mut self.taken {
            *rows = rows.saturating_sub(1);
        }
    }

    fn begin_cell(&mut self, columns: usize, rows: usize) {
        self.end_cell();
        while self.taken.get(self.row.len()).is_some_and(|rows| 0 < *rows) {
            self.row.push(String::new());
        }
        let first = self.row.len();
        if SAMPLE_COLUMNS <= first {
            return;
        }
        if 1 < rows {
            let end = first + columns;
            self.taken.resize(self.taken.len().max(end), 0);
            self.taken[first..end].fill(rows);
        }
        self.cell = Some(String::new());
        self.place = Place::Cell;
        self.cell_at = first;
        self.row.extend(std::iter::repeat_n(String::new(), columns));
        self.row.truncate(SAMPLE_COLUMNS);
    }

    fn end_cell(&mut self) {
        self.place = Place::Elsewhere;
        if let Some(text) = self.cell.take()
            && let Some(cell) = self.row.get_mut(self.cell_at)
        {
            text.trim_end().clone_into(cell);
        }
    }

    fn end_row(&mut self) {
        self.end_cell();
        let row = std::mem::take(&mut self.row);
        if row.iter().any(|cell| !cell.is_empty()) {
            self.row_count += 1;
            if self.rows.len() < SAMPLE_ROWS {
                self.rows.push(row);
            }
        }
    }
}
