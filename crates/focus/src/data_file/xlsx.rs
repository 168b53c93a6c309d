//! Reads XLSX: Office Open XML (ECMA-376, part 1, section 18), one cell after the other.
//!
//! Values are those that were computed last; a formula without one is kept as text. Departure: sheets are found by the relations of the
//! workbook alone, whatever the types of their parts are said to be.

use std::ops::ControlFlow;

use hashbrown::HashMap;

use super::cell::{Cell, cut};
use super::date::{self, Epoch};
use super::package::{Package, Piece, attribute};
use super::table::Sheets;
use super::{Bounds, Refusal, Workbook};

/// Shared texts that are kept; cells that name further ones are empty.
const STRINGS_MAX: usize = 1_000_000;
/// Bytes of shared texts that are kept.
const STRING_BYTES_MAX: usize = 64 << 20;
/// A shared text is cut like every cell.
const STRING_BYTES: usize = 400;
/// Styles and relations that are kept.
const ITEMS_MAX: usize = 100_000;

/// Reads every sheet into a table.
pub(super) fn read(
    bytes: &[u8],
    bounds: &Bounds,
    sheets: &mut Sheets,
) -> Result<Workbook, Refusal> {
    let mut package = Package::open(bytes, bounds)?;
    let Some(workbook) = package.find(|name| name.ends_with("workbook.xml")) else {
        return Err(Refusal::NoDataFile);
    };
    let has_macros = package.find(|name| name.ends_with("vbaProject.bin"));
    let folder = workbook.strip_suffix("workbook.xml").unwrap_or_default();
    let targets = read_relations(&mut package, folder)?;
    let (list, epoch) = read_workbook(&mut package, &workbook, bounds.tables)?;
    let context = Context {
        strings: read_strings(&mut package, &format!("{folder}sharedStrings.xml"))?,
        is_day: read_styles(&mut package, &format!("{folder}styles.xml"))?,
        epoch,
    };
    let mut is_whole = true;
    for sheet in list {
        let Some(target) = targets.get(&sheet.relation) else {
            continue;
        };
        let part = match target.strip_prefix('/') {
            Some(absolute) => absolute.to_owned(),
            None => format!("{folder}{target}"),
        };
        if !sheets.begin(Some(&sheet.name)) || sheets.is_full() {
            is_whole = false;
            break;
        }
        let mut reader = SheetReader::new(&context, sheets);
        package.walk(&part, &mut |piece| reader.take(&piece))?;
        if sheets.is_full() {
            is_whole = false;
        }
    }
    Ok(Workbook {
        is_whole,
        has_macros: has_macros.is_some(),
    })
}

/// A sheet as the workbook lists it.
struct Listed {
    name: String,
    relation: String,
}

/// What cells refer to.
struct Context {
    strings: Vec<String>,
    /// For each style, whether a number in it is a day.
    is_day: Vec<bool>,
    epoch: Epoch,
}

fn read_relations(
    package: &mut Package<'_>,
    folder: &str,
) -> Result<HashMap<String, String>, Refusal> {
    let mut targets = HashMap::new();
    package.walk(&format!("{folder}_rels/workbook.xml.rels"), &mut |piece| {
        if let Piece::Start(start) = piece
            && let (Some(id), Some(target)) = (attribute(start, "Id"), attribute(start, "Target"))
            && targets.len() < ITEMS_MAX
        {
            targets.insert(id, target);
        }
        ControlFlow::Continue(())
    })?;
    Ok(targets)
}

fn read_workbook(
    package: &mut Package<'_>,
    part: &str,
    sheets_max: usize,
) -> Result<(Vec<Listed>, Epoch), Refusal> {
    let mut list = Vec::new();
    let mut epoch = Epoch::Year1900;
    package.walk(part, &mut |piece| {
        if let Piece::Start(start) = piece {
            match start.local_name().as_ref() {
                "workbookPr" => {
                    let is_1904 = attribute(start, "date1904");
                    if is_1904.is_some_and(|it| matches!(&*it, "1" | "true")) {
                        epoch = Epoch::Year1904;
                    }
                }
                "sheet" if list.len() <= sheets_max => list.push(Listed {
                    name: attribute(start, "name").unwrap_or_default(),
                    relation: attribute(start, "id").unwrap_or_default(),
                }),
                _ => {}
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok((list, epoch))
}

/// The texts that cells share, without the readings that Japanese ones carry.
fn read_strings(package: &mut Package<'_>, part: &str) -> Result<Vec<String>, Refusal> {
    let mut strings = Vec::new();
    let mut bytes = 0;
    let mut text = String::new();
    let mut is_text = false;
    let mut is_reading = false;
    package.walk(part, &mut |piece| {
        match piece {
            Piece::Start(start) => match start.local_name().as_ref() {
                "si" => text.clear(),
                "t" => is_text = !is_reading,
                "rPh" => is_reading = true,
                _ => {}
            },
            Piece::Text(more) if is_text && text.len() < STRING_BYTES => text.push_str(more),
            Piece::End("t") => is_text = false,
            Piece::End("rPh") => is_reading = false,
            Piece::End("si") => {
                bytes += text.len();
                if STRINGS_MAX <= strings.len() || STRING_BYTES_MAX < bytes {
                    return ControlFlow::Break(());
                }
                strings.push(cut(&text, STRING_BYTES).to_owned());
            }
            Piece::Text(_) | Piece::End(_) => {}
        }
        ControlFlow::Continue(())
    })?;
    Ok(strings)
}

fn read_styles(package: &mut Package<'_>, part: &str) -> Result<Vec<bool>, Refusal> {
    let mut formats: HashMap<String, bool> = HashMap::new();
    let mut is_day = Vec::new();
    let mut is_inside = false;
    package.walk(part, &mut |piece| {
        match piece {
            Piece::Start(start) => match start.local_name().as_ref() {
                "numFmt" if formats.len() < ITEMS_MAX => {
                    let code = attribute(start, "formatCode").unwrap_or_default();
                    let id = attribute(start, "numFmtId").unwrap_or_default();
                    formats.insert(id, date::is_day_format(&code));
                }
                "cellXfs" => is_inside = true,
                "xf" if is_inside && is_day.len() < ITEMS_MAX => {
                    let id = attribute(start, "numFmtId").unwrap_or_default();
                    let built_in = || id.parse().is_ok_and(date::is_built_in_day_format);
                    is_day.push(formats.get(&id).copied().unwrap_or_else(built_in));
                }
                _ => {}
            },
            Piece::End("cellXfs") => return ControlFlow::Break(()),
            Piece::End(_) | Piece::Text(_) => {}
        }
        ControlFlow::Continue(())
    })?;
    Ok(is_day)
}

/// Takes the pieces of one sheet.
struct SheetReader<'a> {
    context: &'a Context,
    sheets: &'a mut Sheets,
    /// Where the cell is.
    column: usize,
    kind: String,
    is_day: bool,
    value: String,
    formula: String,
    place: Place,
}

/// What text belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Elsewhere,
    Value,
    Formula,
}

impl<'a> SheetReader<'a> {
    fn new(context: &'a Context, sheets: &'a mut Sheets) -> Self {
        Self {
            context,
            sheets,
            column: 0,
            kind: String::new(),
            is_day: false,
            value: String::new(),
            formula: String::new(),
            place: Place::Elsewhere,
        }
    }

    fn take(&mut self, piece: &Piece<'_>) -> ControlFlow<()> {
        match *piece {
            Piece::Start(start) => match start.local_name().as_ref() {
                "c" => {
                    let place = attribute(start, "r");
                    self.column = place
                        .and_then(|it| column_of(&it))
                        .unwrap_or_else(|| self.sheets.next_column());
                    self.kind = attribute(start, "t").unwrap_or_default();
                    let style = attribute(start, "s").and_then(|it| it.parse::<usize>().ok());
                    self.is_day = style
                        .and_then(|style| self.context.is_day.get(style).copied())
                        .unwrap_or_default();
                    self.value.clear();
                    self.formula.clear();
                }
                "v" | "t" => self.place = Place::Value,
                "f" => self.place = Place::Formula,
                _ => {}
            },
            Piece::Text(text) => match self.place {
                Place::Value if self.value.len() < STRING_BYTES => self.value.push_str(text),
                Place::Formula if self.formula.len() < STRING_BYTES => self.formula.push_str(text),
                Place::Elsewhere | Place::Value | Place::Formula => {}
            },
            Piece::End("v" | "t" | "f") => self.place = Place::Elsewhere,
            Piece::End("c") => {
                let cell = self.cell();
                self.sheets.put(self.column, || cell);
                if self.sheets.is_full() {
                    return ControlFlow::Break(());
                }
            }
            Piece::End("row") => self.sheets.end_row(1),
            Piece::End("sheetData") => return ControlFlow::Break(()),
            Piece::End(_) => {}
        }
        ControlFlow::Continue(())
    }

    fn cell(&self) -> Cell {
        if self.value.is_empty() && !self.formula.is_empty() {
            return Cell::of_text(&format!("={}", self.formula));
        }
        match &*self.kind {
            "s" => {
                let index = self.value.trim().parse::<usize>().ok();
                let text = index.and_then(|index| self.context.strings.get(index));
                text.map_or(Cell::EMPTY, |text| Cell::of_text(text))
            }
            "" | "n" => match self.value.trim().parse::<f64>() {
                Ok(number) if self.is_day => date::cell_of(number, self.context.epoch),
                Ok(number) => Cell::of_number(number),
                Err(_) => Cell::of_text(&self.value),
            },
            // A day and a time in ISO 8601; the day is enough.
            "d" => Cell::of_text(cut(&self.value, 10)),
            _ => Cell::of_text(&self.value),
        }
    }
}

/// The column of a reference such as `AB12`, from zero.
fn column_of(reference: &str) -> Option<usize> {
    let letters = reference
        .bytes()
        .take(3)
        .take_while(u8::is_ascii_alphabetic);
    let number = letters.fold(0, |number, letter| {
        number * 26 + usize::from(letter.to_ascii_uppercase() - b'A') + 1
    });
    number.checked_sub(1)
}
