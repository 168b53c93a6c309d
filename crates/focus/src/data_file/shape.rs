//! The shape of a table: which rows are its title, its header, its body and its notes.
//!
//! Tables made for people begin with a title and a unit, have headers of several rows, and end in sources and remarks. What counts is
//! how many cells of a row are filled: a title fills one, the body fills as many as most rows do.

use super::cell::{Cell, Kind};
use super::table::Table;

/// A header is looked for in the first rows.
const HEADER_SEARCH_ROWS: usize = 30;
/// Headers of more rows are cut.
const HEADER_ROWS_MAX: usize = 4;
/// Column names kept.
const COLUMNS_MAX: usize = 200;

/// Where the parts of a table are.
#[derive(Debug)]
pub(crate) struct Shape<'a> {
    /// Texts above the header.
    pub(crate) above: Vec<&'a str>,
    /// Names of the columns; empty if the table has no header.
    pub(crate) columns: Vec<String>,
    /// Cells of the header rows.
    pub(crate) header: Vec<&'a Cell>,
    /// Rows with values.
    pub(crate) body: Vec<&'a [Cell]>,
    /// Texts below or between the rows.
    pub(crate) notes: Vec<&'a str>,
    /// The number of filled cells that most rows have.
    pub(crate) usual_width: usize,
}

impl<'a> Shape<'a> {
    pub(crate) fn of(table: &'a Table) -> Self {
        let rows: Vec<&[Cell]> = table.rows.iter().map(Vec::as_slice).collect();
        let usual_width = usual_width(&rows);
        let start = start_of_table(&rows, usual_width);
        let header_rows = header_rows(&rows[start..], usual_width);
        let (header, rest) = rows[start..].split_at(header_rows);
        let mut shape = Self {
            above: Vec::new(),
            columns: names(header),
            header: header.iter().flat_map(|row| row.iter()).collect(),
            body: Vec::new(),
            notes: Vec::new(),
            usual_width,
        };
        for row in &rows[..start] {
            shape.above.extend(filled(row).map(|cell| &*cell.text));
        }
        for row in rest {
            let mut cells = filled(row);
            match (cells.next(), cells.next()) {
                (Some(only), None) if 1 < usual_width && only.is_text() => {
                    shape.notes.push(&only.text);
                }
                _ => shape.body.push(row),
            }
        }
        shape
    }

    /// Every text that is no value: the words of the table.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        let header = self.header.iter().map(|cell| &*cell.text);
        self.above
            .iter()
            .copied()
            .chain(header)
            .chain(self.notes.iter().copied())
    }

    /// The cells of one column of the body.
    pub(crate) fn column(&self, index: usize) -> impl Iterator<Item = &'a Cell> {
        self.body.iter().filter_map(move |row| row.get(index))
    }

    /// The width of the widest row of the body.
    pub(crate) fn width(&self) -> usize {
        self.body.iter().map(|row| row.len()).max().unwrap_or(0)
    }
}

fn filled(row: &[Cell]) -> impl Iterator<Item = &Cell> {
    row.iter().filter(|cell| !cell.is_empty())
}

/// The number of filled cells that most rows have; of two, the larger.
fn usual_width(rows: &[&[Cell]]) -> usize {
    let mut widths: Vec<usize> = rows.iter().map(|row| filled(row).count()).collect();
    widths.sort_unstable();
    widths
        .chunk_by(|left, right| left == right)
        .map(|same| (same.len(), same[0]))
        .max()
        .map_or(0, |(_, width)| width)
}

/// The first row that is filled like most rows, title lines being shorter.
fn start_of_table(rows: &[&[Cell]], usual_width: usize) -> usize {
    let needed = usual_width.div_ceil(2).max(usual_width.min(2));
    rows.iter()
        .take(HEADER_SEARCH_ROWS)
        .position(|row| needed <= filled(row).count())
        .unwrap_or(0)
}

/// How many rows at the start are a header: words, years, and no other number.
fn header_rows(rows: &[&[Cell]], usual_width: usize) -> usize {
    let Some(first) = rows.first().filter(|row| is_header(row)) else {
        return 0;
    };
    // Gaps in the first row are merged cells, under which the header goes on.
    let has_gaps = first.len() < usual_width || first.iter().any(Cell::is_empty);
    if !has_gaps {
        return 1;
    }
    let more = rows[1..]
        .iter()
        .take(HEADER_ROWS_MAX - 1)
        .take_while(|row| is_header(row) || is_years(row))
        .count();
    // A table of words only has no telling where its header ends.
    if 1 + more < rows.len() && more < HEADER_ROWS_MAX - 1 {
        1 + more
    } else {
        1
    }
}

fn is_header(row: &[Cell]) -> bool {
    let mut has_word = false;
    filled(row).all(|cell| match cell.kind {
        Kind::Text => {
            has_word = true;
            true
        }
        Kind::Time(_) | Kind::Mark | Kind::Empty => true,
        // Ages, classes and the like: small whole numbers beside words.
        Kind::Number(number) => number.is_integer && !number.is_grouped && number.value < 200.0,
        Kind::Clock | Kind::Address => false,
    }) && has_word
}

/// Whether a row is years, under a merged cell at its start.
fn is_years(row: &[Cell]) -> bool {
    row.first().is_some_and(Cell::is_empty) && filled(row).all(|cell| cell.period().is_some())
}

/// A name for each column: the words above it, those of merged cells being carried to the right.
fn names(header: &[&[Cell]]) -> Vec<String> {
    let width = header.iter().map(|row| row.len()).max().unwrap_or(0);
    (0..width.min(COLUMNS_MAX))
        .map(|column| {
            let mut name = String::new();
            for (index, row) in header.iter().enumerate() {
                let is_last = index + 1 == header.len();
                let own = row.get(column).filter(|cell| !cell.is_empty());
                let carried = row[..row.len().min(column)]
                    .iter()
                    .rfind(|cell| !cell.is_empty())
                    .filter(|_| !is_last);
                if let Some(cell) = own.or(carried) {
                    name.push_str(if name.is_empty() { "" } else { " / " });
                    name.push_str(&cell.text);
                }
            }
            name
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::table;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_plain_table_has_a_header_and_a_body() {
        let table = table(&[&["prefecture", "2019", "2020"], &["Tokyo", "1", "2"]]);
        let shape = Shape::of(&table);
        assert_eq!(shape.columns, ["prefecture", "2019", "2020"]);
        assert_eq!(shape.body.len(), 1);
        assert!(shape.above.is_empty() && shape.notes.is_empty());
    }

    #[test]
    fn titles_merged_headers_and_notes_are_told_apart() {
        let table = table(&[
            &["第1表 人口と世帯"],
            &["（単位：人）"],
            &["都道府県", "人口", "", "世帯"],
            &["", "男", "女", "総数"],
            &["北海道", "2465088", "2759526", "2476846"],
            &["青森県", "583402", "654582", "511526"],
            &["岩手県", "582952", "627582", "492436"],
            &["資料：総務省"],
        ]);
        let shape = Shape::of(&table);
        assert_eq!(shape.above, ["第1表 人口と世帯", "（単位：人）"]);
        assert_eq!(
            shape.columns,
            ["都道府県", "人口 / 男", "人口 / 女", "世帯 / 総数"]
        );
        assert_eq!(shape.body.len(), 3);
        assert_eq!(shape.notes, ["資料：総務省"]);
    }

    #[test]
    fn numbers_alone_have_no_header() {
        let table = table(&[&["1.5", "2.5"], &["3.5", "4.5"]]);
        let shape = Shape::of(&table);
        assert!(shape.columns.is_empty());
        assert_eq!(shape.body.len(), 2);
    }

    proptest! {
        #[test]
        fn any_table_has_a_shape(rows in prop::collection::vec(prop::collection::vec("[a-z]{0,2}|[0-9]{0,4}|-", 0..6), 0..12)) {
            let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
            let mut rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
            rows.push(&["x1"]);
            let table = table(&rows);
            let shape = Shape::of(&table);
            prop_assert!(shape.body.len() + shape.notes.len() <= table.rows.len());
        }
    }
}
