//! Reads XLS: BIFF8, and BIFF5 of Excel 95, record by record.
//!
//! Microsoft, "Excel Binary File Format" (MS-XLS). Only records of values are looked at; formulas are left alone but for the value that
//! they had last. Every string and cell takes bytes of the file, so nothing can ask for more memory than a few times its size.
//! The libraries at hand allocate what a file says of its dimensions, and follow chains of sectors in circles.

mod strings;

use encoding_rs::{Encoding, UTF_16LE, WINDOWS_1252};
use hashbrown::HashMap;

use super::cell::{Cell, cut};
use super::compound::{Compound, u16_at, u32_at};
use super::date::{self, Epoch};
use super::table::Sheets;
use super::{Bounds, Refusal, Workbook};

/// Texts are cut like every cell.
const TEXT_BYTES: usize = 400;

/// Types of records, by their names in the specification.
mod record {
    pub(super) const FORMULA: u16 = 0x0006;
    pub(super) const EOF: u16 = 0x000A;
    pub(super) const DATE_MODE: u16 = 0x0022;
    pub(super) const FILE_PASS: u16 = 0x002F;
    pub(super) const CONTINUE: u16 = 0x003C;
    pub(super) const CODE_PAGE: u16 = 0x0042;
    pub(super) const BOUND_SHEET: u16 = 0x0085;
    pub(super) const MUL_RK: u16 = 0x00BD;
    pub(super) const R_STRING: u16 = 0x00D6;
    pub(super) const XF: u16 = 0x00E0;
    pub(super) const SST: u16 = 0x00FC;
    pub(super) const LABEL_SST: u16 = 0x00FD;
    pub(super) const NUMBER: u16 = 0x0203;
    pub(super) const LABEL: u16 = 0x0204;
    pub(super) const STRING: u16 = 0x0207;
    pub(super) const RK: u16 = 0x027E;
    pub(super) const FORMAT: u16 = 0x041E;
    pub(super) const BOF: u16 = 0x0809;
}

/// Reads every sheet into a table.
pub(super) fn read(
    bytes: &[u8],
    bounds: &Bounds,
    sheets: &mut Sheets,
) -> Result<Workbook, Refusal> {
    let file = Compound::open(bytes)?;
    if file.has("EncryptedPackage") || file.has("EncryptionInfo") {
        return Err(Refusal::PasswordProtected);
    }
    let Some(stream) = file.stream("Workbook").or_else(|| file.stream("Book")) else {
        return Err(Refusal::NoDataFile);
    };
    let globals = Globals::read(&stream, bounds)?;
    let mut is_whole = true;
    for sheet in &globals.sheets {
        if !sheets.begin(Some(&sheet.name)) || sheets.is_full() {
            is_whole = false;
            break;
        }
        let start = stream.get(sheet.start..).unwrap_or_default();
        read_sheet(start, &globals, sheets);
    }
    if sheets.is_full() {
        is_whole = false;
    }
    Ok(Workbook {
        is_whole,
        has_macros: file.has("_VBA_PROJECT_CUR") || file.has("_VBA_PROJECT"),
    })
}

/// A record: its type and its data.
#[derive(Clone, Copy)]
struct Record<'a> {
    kind: u16,
    data: &'a [u8],
}

/// The records of a stream; a cut one ends it.
fn records(stream: &[u8]) -> impl Iterator<Item = Record<'_>> {
    let mut rest = stream;
    std::iter::from_fn(move || {
        let kind = u16_at(rest, 0)?;
        let length = usize::from(u16_at(rest, 2)?);
        let data = rest.get(4..4 + length)?;
        rest = &rest[4 + length..];
        Some(Record { kind, data })
    })
}

/// What the workbook says for all its sheets.
struct Globals {
    sheets: Vec<Listed>,
    strings: Vec<String>,
    is_day: Vec<bool>,
    epoch: Epoch,
    text: TextForm,
}

struct Listed {
    name: String,
    start: usize,
}

/// How texts are written.
#[derive(Clone, Copy)]
enum TextForm {
    /// BIFF8: UTF-16, its upper bytes left out where they are all zero.
    Wide,
    /// BIFF5: in a code page.
    Narrow(&'static Encoding),
}

impl Globals {
    fn read(stream: &[u8], bounds: &Bounds) -> Result<Self, Refusal> {
        let mut globals = Self {
            sheets: Vec::new(),
            strings: Vec::new(),
            is_day: Vec::new(),
            epoch: Epoch::Year1900,
            text: TextForm::Wide,
        };
        let mut formats: HashMap<u16, bool> = HashMap::new();
        let mut code_page = WINDOWS_1252;
        let mut shared: Vec<&[u8]> = Vec::new();
        let mut last = record::BOF;
        for Record { kind, data } in records(stream) {
            match kind {
                record::BOF if last == record::BOF && u16_at(data, 0) != Some(0x0600) => {
                    globals.text = TextForm::Narrow(code_page);
                }
                record::FILE_PASS => return Err(Refusal::PasswordProtected),
                record::DATE_MODE if u16_at(data, 0) == Some(1) => {
                    globals.epoch = Epoch::Year1904;
                }
                record::CODE_PAGE => {
                    code_page = encoding_of(u16_at(data, 0).unwrap_or_default());
                    if let TextForm::Narrow(encoding) = &mut globals.text {
                        *encoding = code_page;
                    }
                }
                record::BOUND_SHEET if globals.sheets.len() <= bounds.tables => {
                    globals.sheets.extend(globals.listed(data));
                }
                record::FORMAT => {
                    let code = globals.text_of(data.get(2..).unwrap_or_default(), 2);
                    let number = u16_at(data, 0).unwrap_or_default();
                    formats.insert(number, date::is_day_format(&code));
                }
                record::XF => {
                    let number = u16_at(data, 2).unwrap_or_default();
                    let built_in = || date::is_built_in_day_format(number);
                    globals
                        .is_day
                        .push(formats.get(&number).copied().unwrap_or_else(built_in));
                }
                record::SST => shared = vec![data],
                record::CONTINUE if last == record::SST => shared.push(data),
                record::EOF => break,
                _ => {}
            }
            if kind != record::CONTINUE {
                last = kind;
            }
        }
        globals.strings = strings::read(&shared);
        Ok(globals)
    }

    /// A sheet of cells as it is listed; charts and macros are left out.
    fn listed(&self, data: &[u8]) -> Option<Listed> {
        let start = usize::try_from(u32_at(data, 0)?).ok()?;
        let is_sheet = *data.get(5)? == 0;
        is_sheet.then(|| Listed {
            name: self.text_of(data.get(6..).unwrap_or_default(), 1),
            start,
        })
    }

    /// A text that begins with its length, of one or two bytes.
    fn text_of(&self, data: &[u8], length_bytes: usize) -> String {
        let count = match length_bytes {
            1 => data.first().copied().map_or(0, usize::from),
            _ => u16_at(data, 0).map_or(0, usize::from),
        };
        let rest = data.get(length_bytes..).unwrap_or_default();
        let text = match self.text {
            TextForm::Narrow(encoding) => {
                let bytes = &rest[..rest.len().min(count)];
                encoding.decode_without_bom_handling(bytes).0.into_owned()
            }
            TextForm::Wide => {
                let is_wide = rest.first().is_some_and(|flags| flags & 1 == 1);
                wide_text(rest.get(1..).unwrap_or_default(), count, is_wide)
            }
        };
        cut(&text, TEXT_BYTES).to_owned()
    }
}

/// Characters of UTF-16, or of its lower bytes.
fn wide_text(bytes: &[u8], count: usize, is_wide: bool) -> String {
    if is_wide {
        let bytes = &bytes[..bytes.len().min(count * 2)];
        UTF_16LE.decode_without_bom_handling(bytes).0.into_owned()
    } else {
        bytes
            .iter()
            .take(count)
            .map(|byte| char::from(*byte))
            .collect()
    }
}

fn encoding_of(code_page: u16) -> &'static Encoding {
    let label: &[u8] = match code_page {
        874 => b"windows-874",
        932 => b"shift_jis",
        936 => b"gbk",
        949 => b"euc-kr",
        950 => b"big5",
        1250 => b"windows-1250",
        1251 => b"windows-1251",
        1253 => b"windows-1253",
        1254 => b"windows-1254",
        1255 => b"windows-1255",
        1256 => b"windows-1256",
        1257 => b"windows-1257",
        1258 => b"windows-1258",
        10000 => b"macintosh",
        _ => b"windows-1252",
    };
    Encoding::for_label(label).unwrap_or(WINDOWS_1252)
}

/// Reads the cells of one sheet.
fn read_sheet(stream: &[u8], globals: &Globals, sheets: &mut Sheets) {
    let mut reader = SheetReader {
        globals,
        sheets,
        row: None,
        formula_column: 0,
    };
    // Charts inside the sheet have cells of their own.
    let mut depth = 0_u32;
    for record in records(stream) {
        match record.kind {
            record::BOF => depth += 1,
            record::EOF if depth <= 1 => break,
            record::EOF => depth -= 1,
            _ if depth == 1 => reader.take(record),
            _ => {}
        }
        if reader.sheets.is_full() {
            break;
        }
    }
    reader.sheets.end_row(1);
}

struct SheetReader<'a> {
    globals: &'a Globals,
    sheets: &'a mut Sheets,
    row: Option<u16>,
    /// Where the text of the last formula goes.
    formula_column: u16,
}

impl SheetReader<'_> {
    fn take(&mut self, Record { kind, data }: Record<'_>) {
        let (Some(row), Some(column)) = (u16_at(data, 0), u16_at(data, 2)) else {
            return;
        };
        let style = u16_at(data, 4).unwrap_or_default();
        match kind {
            record::NUMBER => {
                if let Some(number) = f64_at(data, 6) {
                    self.put(row, column, self.number(number, style));
                }
            }
            record::RK => {
                if let Some(number) = u32_at(data, 6) {
                    self.put(row, column, self.number(rk(number), style));
                }
            }
            record::MUL_RK => self.take_many(row, column, data),
            record::LABEL_SST => {
                let index = u32_at(data, 6).and_then(|it| usize::try_from(it).ok());
                let text = index.and_then(|index| self.globals.strings.get(index));
                let cell = text.map_or(Cell::EMPTY, |text| Cell::of_text(text));
                self.put(row, column, cell);
            }
            record::LABEL | record::R_STRING => {
                let text = self.globals.text_of(data.get(6..).unwrap_or_default(), 2);
                self.put(row, column, Cell::of_text(&text));
            }
            record::FORMULA => self.take_formula(row, column, data),
            record::STRING => {
                let text = self.globals.text_of(data, 2);
                let row = self.row.unwrap_or_default();
                self.put(row, self.formula_column, Cell::of_text(&text));
            }
            _ => {}
        }
    }

    fn take_many(&mut self, row: u16, first: u16, data: &[u8]) {
        const PAIR_BYTES: usize = 6;
        let pairs = data.get(4..).unwrap_or_default().chunks_exact(PAIR_BYTES);
        for (column, pair) in (first..=u16::MAX).zip(pairs) {
            let style = u16_at(pair, 0).unwrap_or_default();
            let number = rk(u32_at(pair, 2).unwrap_or_default());
            self.put(row, column, self.number(number, style));
        }
    }

    /// The value that a formula had last: a number here, or a text in the record behind.
    fn take_formula(&mut self, row: u16, column: u16, data: &[u8]) {
        let is_number = u16_at(data, 12) != Some(0xFFFF);
        self.formula_column = column;
        self.move_to(row);
        if let Some(number) = f64_at(data, 6).filter(|_| is_number) {
            let style = u16_at(data, 4).unwrap_or_default();
            self.put(row, column, self.number(number, style));
        }
    }

    fn number(&self, number: f64, style: u16) -> Cell {
        let is_day = self.globals.is_day.get(usize::from(style)).copied();
        if is_day.unwrap_or_default() {
            date::cell_of(number, self.globals.epoch)
        } else {
            Cell::of_number(number)
        }
    }

    fn put(&mut self, row: u16, column: u16, cell: Cell) {
        self.move_to(row);
        self.sheets.put(usize::from(column), || cell);
    }

    fn move_to(&mut self, row: u16) {
        if self.row != Some(row) {
            self.sheets.end_row(1);
            self.row = Some(row);
        }
    }
}

/// A number in four bytes: MS-XLS, section 2.5.217.
fn rk(number: u32) -> f64 {
    const IS_INTEGER: u32 = 2;
    const IS_HUNDREDFOLD: u32 = 1;
    let value = if number & IS_INTEGER == 0 {
        f64::from_bits(u64::from(number & !3) << 32)
    } else {
        f64::from(number.cast_signed() >> 2)
    };
    if number & IS_HUNDREDFOLD == 0 {
        value
    } else {
        value / 100.0
    }
}

fn f64_at(bytes: &[u8], at: usize) -> Option<f64> {
    let number = bytes.get(at..)?.first_chunk()?;
    Some(f64::from_le_bytes(*number))
}
