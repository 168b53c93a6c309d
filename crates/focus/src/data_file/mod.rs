//! Looks into data files: what format, which tables, of what time, in which units, and how they look to a model.
//!
//! [`looks_like_data`] judges a link by its name. [`inspect`] reads what was fetched and never fails: a file that cannot be read, or
//! must not be, is [`Reading::Refused`] with a reason, and is judged by what leads to it. Read [`Inspection`] first.
//!
//! Files are hostile until read. Every reader stops at the [`Bounds`]: bytes unpacked, cells taken, tables begun. Nothing of a file is
//! executed: formulas are text, macros are noted and left alone, links are not followed. Work is counted, not timed, so the same
//! bytes always give the same answer.
//!
//! Not here: turning PDF into text, which takes a program of its own; the caller may bring one ([`Hints::pdf_text`]).

mod cell;
mod compound;
mod date;
mod delimited;
mod features;
mod format;
mod html;
mod ods;
mod package;
mod pdf;
mod period;
mod shape;
mod table;
#[cfg(test)]
mod tests;
mod unit;
mod words;
mod xls;
mod xlsx;

use serde::{Deserialize, Serialize};

pub use features::Features;
pub use format::{Format, looks_like_data};
pub use period::Period;

use shape::Shape;
use table::{Sheets, Table};
use unit::Units;

/// Texts of the tables from which their language is told.
const LANGUAGE_BYTES: usize = 4096;
/// Column names kept of one file.
const COLUMNS_MAX: usize = 400;

/// How much of a file is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of text that are decoded and read. Default 4 MiB.
    pub text_bytes: usize,
    /// Bytes that a package may unpack to, all its parts together. Default 256 MiB.
    pub unpacked_bytes: u64,
    /// Cells that are read. Default 1,000,000.
    pub cells: u64,
    /// Tables that are read. Default 16.
    pub tables: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            text_bytes: 4 << 20,
            unpacked_bytes: 256 << 20,
            cells: 1_000_000,
            tables: 16,
        }
    }
}

/// Turns the bytes of a PDF into text, as `pdftotext -layout` does: columns kept apart by two spaces at least.
pub type PdfText<'a> = dyn Fn(&[u8]) -> Option<String> + 'a;

/// What is known of a file besides its bytes.
#[derive(Clone, Copy, Default)]
pub struct Hints<'a> {
    /// Where it came from.
    pub url: &'a str,
    /// The Content-Type header.
    pub content_type: Option<&'a str>,
    /// The text of a link to it.
    pub link_text: Option<&'a str>,
    /// The length of the whole file, where `bytes` are only its beginning.
    pub whole_bytes: Option<u64>,
    /// What reads PDF; without it, PDF is refused.
    pub pdf_text: Option<&'a PdfText<'a>>,
}

impl Hints<'_> {
    /// The last label of the host, a hint for undeclared encodings.
    fn top_level_domain(&self) -> Option<&str> {
        let host = self
            .url
            .split("://")
            .nth(1)?
            .split(['/', ':', '?'])
            .next()?;
        host.rsplit('.').next().filter(|label| !label.is_empty())
    }

    /// The words that lead to the file: the text of the link and the name of the file.
    fn words(&self) -> String {
        let link_text = self.link_text.unwrap_or_default();
        format!("{link_text} {}", words_of_address(self.url))
    }
}

/// The words of a URL's host, folders and file.
pub(crate) fn words_of_address(url: &str) -> String {
    let address = url.split("://").nth(1).unwrap_or(url);
    address.replace(['-', '_', '.', '/', '?', '&', '=', '+'], " ")
}

/// How far a file was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// To its end.
    Whole,
    /// Its beginning; counts of rows are estimates.
    Prefix,
    /// Not at all.
    Refused(Refusal),
}

/// Why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Refusal {
    /// It is in none of the formats.
    #[error("no data file")]
    NoDataFile,
    /// It is empty.
    #[error("empty")]
    Empty,
    /// It holds no table.
    #[error("no table in it")]
    NoTable,
    /// It cannot be read without a password.
    #[error("protected by a password")]
    PasswordProtected,
    /// It would unpack to more than is allowed.
    #[error("unpacks to more than {limit} bytes")]
    UnpacksTooLarge {
        /// What is allowed.
        limit: u64,
    },
    /// It has more parts than is allowed.
    #[error("{parts} parts")]
    TooManyParts {
        /// How many it has.
        parts: u64,
    },
    /// It is damaged, or not what it claims to be.
    #[error("damaged: {what}")]
    Damaged {
        /// What was wrong first.
        what: String,
    },
    /// Nothing that reads PDF was given, or it could not read this one.
    #[error("no text could be had from the PDF")]
    PdfUnread,
}

/// One table of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableShape {
    /// The name of its sheet, or its caption.
    pub name: Option<String>,
    /// Names of its columns; empty without a header.
    pub columns: Vec<String>,
    /// Its rows without title and header.
    pub rows: u64,
}

/// What a file turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspection {
    /// Its format, by its bytes; none if it is no data file.
    pub format: Option<Format>,
    /// How far it was read.
    pub reading: Reading,
    /// Its tables.
    pub tables: Vec<TableShape>,
    /// What a model sees of it.
    pub features: Features,
    /// What its first lines call it.
    pub title: Option<String>,
    /// The time that its values are of.
    pub time_range: Option<Period>,
    /// Units of its values.
    pub units: Vec<String>,
    /// The language of its words, as a primary subtag.
    pub language: Option<String>,
    /// It carries macros. They are never run.
    pub has_macros: bool,
}

impl Inspection {
    /// Names of the columns of all tables, each once.
    #[must_use]
    pub fn columns(&self) -> Vec<String> {
        let mut columns: Vec<String> = Vec::new();
        for name in self.tables.iter().flat_map(|table| &table.columns) {
            if columns.len() < COLUMNS_MAX && !name.is_empty() && !columns.contains(name) {
                columns.push(name.clone());
            }
        }
        columns
    }

    /// Rows of all tables; none if nothing was read.
    #[must_use]
    pub fn rows(&self) -> Option<u64> {
        let rows = self.tables.iter().map(|table| table.rows);
        (!self.tables.is_empty()).then(|| rows.fold(0, u64::saturating_add))
    }

    fn refused(format: Option<Format>, refusal: Refusal, hints: &Hints<'_>) -> Self {
        Self {
            format,
            reading: Reading::Refused(refusal),
            tables: Vec::new(),
            features: Features::unread(&hints.words()),
            title: None,
            time_range: None,
            units: Vec::new(),
            language: None,
            has_macros: false,
        }
    }
}

/// Looks into a file, within `bounds`.
#[must_use]
pub fn inspect(bytes: &[u8], hints: &Hints<'_>, bounds: &Bounds) -> Inspection {
    if bytes.is_empty() {
        return Inspection::refused(None, Refusal::Empty, hints);
    }
    let by_name = looks_like_data(hints.url, hints.content_type);
    let Some(format) = format::of_bytes(bytes, by_name) else {
        return Inspection::refused(None, Refusal::NoDataFile, hints);
    };
    let mut sheets = Sheets::new(bounds);
    let workbook = match read(bytes, hints, format, bounds, &mut sheets) {
        Ok(workbook) => workbook,
        Err(refusal) => return Inspection::refused(Some(format), refusal, hints),
    };
    let tables = sheets.finish();
    if tables.is_empty() {
        return Inspection {
            has_macros: workbook.has_macros,
            ..Inspection::refused(Some(format), Refusal::NoTable, hints)
        };
    }
    Inspection {
        has_macros: workbook.has_macros,
        ..describe(format, workbook.is_whole, &tables, hints, bytes.len())
    }
}

/// What a reader has to say besides the tables.
struct Workbook {
    /// It was read to its end.
    is_whole: bool,
    has_macros: bool,
}

fn read(
    bytes: &[u8],
    hints: &Hints<'_>,
    format: Format,
    bounds: &Bounds,
    sheets: &mut Sheets,
) -> Result<Workbook, Refusal> {
    let plain = |is_whole: bool| Workbook {
        is_whole,
        has_macros: false,
    };
    match format {
        Format::Csv | Format::Tsv => {
            let input = delimited::Input {
                bytes,
                hints,
                format,
            };
            Ok(plain(delimited::read(&input, bounds, sheets)))
        }
        Format::HtmlTable => Ok(plain(html::read(bytes, hints, bounds, sheets))),
        Format::Pdf => pdf::read(bytes, hints, bounds, sheets).map(plain),
        Format::Xls => xls::read(bytes, bounds, sheets),
        Format::Xlsx => xlsx::read(bytes, bounds, sheets),
        Format::Ods => ods::read(bytes, bounds, sheets),
    }
}

/// Says what the tables of a file are.
fn describe(
    format: Format,
    is_whole: bool,
    tables: &[Table],
    hints: &Hints<'_>,
    length: usize,
) -> Inspection {
    let mut units = Units::default();
    let mut words = String::new();
    let mut title = None;
    let mut time_range: Option<Period> = None;
    let mut described = Vec::new();
    for table in tables {
        let shape = Shape::of(table);
        for text in shape.words() {
            units.look(text);
            if words.len() < LANGUAGE_BYTES {
                words.push_str(text);
                words.push('\n');
            }
        }
        look_for_unit_columns(&shape, &mut units);
        title = title.or_else(|| title_of(&shape));
        let period = period_of(&shape);
        time_range = match (time_range, period) {
            (Some(known), Some(period)) => Some(known.union(period)),
            (known, period) => known.or(period),
        };
        described.push(TableShape {
            name: table.name.clone(),
            rows: rows_of(table, &shape, hints, length),
            columns: shape.columns,
        });
    }
    Inspection {
        format: Some(format),
        reading: if is_whole && !hints.is_cut(length) {
            Reading::Whole
        } else {
            Reading::Prefix
        },
        features: Features::of(format, tables, &units),
        tables: described,
        title,
        time_range,
        units: units.into_vec(),
        language: language_of(&words, hints),
        has_macros: false,
    }
}

impl Hints<'_> {
    /// Whether there is more of the file than its bytes.
    fn is_cut(&self, length: usize) -> bool {
        self.whole_bytes
            .is_some_and(|whole| (length as u64) < whole)
    }
}

/// The language of the words. Headers are short and of nouns, so Japanese ones without a kana look Chinese.
fn language_of(words: &str, hints: &Hints<'_>) -> Option<String> {
    let language = junkai_page::language::of(words)?.code;
    let is_kana = |it: char| matches!(it, '\u{3041}'..='\u{30FF}');
    let is_japanese = words.contains(is_kana) || hints.top_level_domain() == Some("jp");
    if language == "zh" && is_japanese {
        Some("ja".to_owned())
    } else {
        Some(language)
    }
}

/// Rows of a table without title and header, in proportion where only the beginning of a file is at hand.
fn rows_of(table: &Table, shape: &Shape<'_>, hints: &Hints<'_>, length: usize) -> u64 {
    let beside = table.rows.len().saturating_sub(shape.body.len()) as u64;
    let rows = table.row_count.saturating_sub(beside);
    match hints.whole_bytes.filter(|_| hints.is_cut(length)) {
        Some(whole) => {
            let scaled = u128::from(rows) * u128::from(whole) / length.max(1) as u128;
            u64::try_from(scaled).unwrap_or(u64::MAX)
        }
        None => rows,
    }
}

/// The first text above the table that is more than a unit or a mark.
fn title_of(shape: &Shape<'_>) -> Option<String> {
    const CHARACTERS_MIN: usize = 4;
    let is_title = |text: &&&str| {
        let inner = text.trim_start_matches(['(', '（', '[', '【']);
        CHARACTERS_MIN <= text.chars().count()
            && !inner.starts_with("単位")
            && !unit::is_known(text)
    };
    shape
        .above
        .iter()
        .find(is_title)
        .map(|text| (*text).to_owned())
}

/// The values of a column of units.
fn look_for_unit_columns(shape: &Shape<'_>, units: &mut Units) {
    for (index, name) in shape.columns.iter().enumerate() {
        if unit::is_unit_header(name) {
            for cell in shape
                .column(index)
                .filter(|cell| cell.is_text() || unit::is_known(&cell.text))
            {
                units.add(&cell.text);
            }
        }
    }
}

/// The time that a table is of: what its header and its columns of time say, else what its words say.
fn period_of(shape: &Shape<'_>) -> Option<Period> {
    let mut found: Option<Period> = None;
    let mut add = |period: Period| found = Some(found.map_or(period, |known| known.union(period)));
    for cell in &shape.header {
        if let Some(period) = cell.period() {
            add(period);
        }
    }
    for index in 0..shape.width() {
        let filled = || shape.column(index).filter(|cell| !cell.is_empty());
        let times: Vec<Period> = filled().filter_map(cell::Cell::period).collect();
        // A column of quantities has a few that could be years.
        if filled().count() <= times.len() * 5 / 4 {
            times.into_iter().for_each(&mut add);
        }
    }
    if found.is_none() {
        let mut add =
            |period: Period| found = Some(found.map_or(period, |known| known.union(period)));
        shape
            .words()
            .for_each(|text| Period::each_in(text, &mut add));
    }
    found
}
