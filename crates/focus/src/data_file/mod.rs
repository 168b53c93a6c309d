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
mod describe;
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
pub use format::{Format, declared_type, looks_like_data};
pub use period::Period;

use table::Sheets;

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

    /// Whether there is more of the file than its bytes.
    fn is_cut(&self, length: usize) -> bool {
        self.whole_bytes
            .is_some_and(|whole| (length as u64) < whole)
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

/// The format of what came from `url` with this type; none if its name, its type or its bytes say that it is no data file. What else there is to know of it
/// takes an inspection.
#[must_use]
pub fn format_of(bytes: &[u8], url: &str, content_type: Option<&str>) -> Option<Format> {
    let by_name = looks_like_data(url, content_type)?;
    let bytes = Some(bytes).filter(|bytes| !bytes.is_empty())?;
    format::of_bytes(bytes, Some(by_name))
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
    let input = Input {
        bytes,
        hints,
        format,
    };
    let workbook = match read(&input, bounds, &mut sheets) {
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
        reading: if workbook.is_whole && !hints.is_cut(bytes.len()) {
            Reading::Whole
        } else {
            Reading::Prefix
        },
        has_macros: workbook.has_macros,
        ..describe::describe(&input, &tables)
    }
}

/// What readers read.
#[derive(Clone, Copy)]
struct Input<'a> {
    bytes: &'a [u8],
    hints: &'a Hints<'a>,
    format: Format,
}

/// What a reader has to say besides the tables.
struct Workbook {
    /// It was read to its end.
    is_whole: bool,
    has_macros: bool,
}

fn read(input: &Input<'_>, bounds: &Bounds, sheets: &mut Sheets) -> Result<Workbook, Refusal> {
    let plain = |is_whole: bool| Workbook {
        is_whole,
        has_macros: false,
    };
    match input.format {
        Format::Csv | Format::Tsv => Ok(plain(delimited::read(input, bounds, sheets))),
        Format::HtmlTable => Ok(plain(html::read(input, bounds, sheets))),
        Format::Pdf => pdf::read(input, bounds, sheets).map(plain),
        Format::Xls => xls::read(input.bytes, bounds, sheets),
        Format::Xlsx => xlsx::read(input.bytes, bounds, sheets),
        Format::Ods => ods::read(input.bytes, bounds, sheets),
    }
}
