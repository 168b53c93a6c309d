//! What data files hold: tables by region and year, as CSV or as a spreadsheet.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::FocusSite;
use super::place::Format;
use crate::chance::{Chance, mix};
use crate::change::Version;

/// A table with its heading.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) title: String,
    /// What the numbers are, for the page of the data set.
    pub(super) measure: &'static str,
    pub(super) unit: &'static str,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl FocusSite {
    /// The table of a data set, as it is in this version: a revision changes the last column.
    pub(super) fn table(&self, item: u64, version: Version) -> Table {
        let mut chance = Chance::about(self.key, mix(item, 11));
        let tongue = self.tongue;
        let topic = chance.pick(tongue.topics);
        let measure = *chance.pick(topic.measures);
        let breakdown = chance.pick(tongue.breakdowns);
        let first_year = 2005 + chance.below_large(10);
        let years = 5 + chance.below_large(8);
        let mut header = vec![breakdown.name.to_owned()];
        header.extend((0..years).map(|year| tongue.year(first_year + year)));
        let mut revised = Chance::about(version.tag(), item);
        let rows = breakdown.values.iter().map(|value| {
            let mut level = 50.0 + chance.unit() * 90_000.0;
            let mut row = vec![(*value).to_owned()];
            for year in 0..years {
                level *= 0.96 + 0.1 * chance.unit();
                if year + 1 == years {
                    level *= 0.99 + 0.02 * revised.unit();
                }
                row.push(format!("{level:.0}"));
            }
            row
        });
        let rows: Vec<Vec<String>> = rows.collect();
        Table {
            title: tongue.table_title(
                measure,
                breakdown.name,
                [first_year, first_year + years - 1],
            ),
            measure,
            unit: topic.unit,
            header,
            rows,
        }
    }

    pub(super) fn file(
        &self,
        item: u64,
        format: Format,
        version: Version,
    ) -> (&'static str, Vec<u8>) {
        let table = self.table(item, version);
        let above = [
            table.title.clone(),
            format!("{}: {}", self.tongue.unit_word, table.unit),
        ];
        self.write(&above, &table.header, &table.rows, format)
    }

    /// What a firm asks for its goods.
    pub(super) fn price_list(&self, format: Format) -> (&'static str, Vec<u8>) {
        let mut chance = Chance::about(self.key, 13);
        let tongue = self.tongue;
        let header: Vec<String> = tongue
            .price_header
            .iter()
            .map(|&name| name.to_owned())
            .collect();
        let rows = (0..30).map(|row| {
            vec![
                format!("{}-{}", chance.pick(&["AX", "BR", "KT", "M"]), 100 + row),
                chance.pick(tongue.goods).to_string(),
                chance.pick(tongue.colours).to_string(),
                format!("{}", 100 * (3 + chance.below_large(400))),
                chance.pick(tongue.stock).to_string(),
            ]
        });
        let rows: Vec<Vec<String>> = rows.collect();
        self.write(&[], &header, &rows, format)
    }

    fn write(
        &self,
        above: &[String],
        header: &[String],
        rows: &[Vec<String>],
        format: Format,
    ) -> (&'static str, Vec<u8>) {
        let above: Vec<Vec<String>> = above.iter().map(|line| vec![line.clone()]).collect();
        let lines = above.iter().map(Vec::as_slice);
        let lines = lines.chain([header]).chain(rows.iter().map(Vec::as_slice));
        match format {
            Format::Csv => {
                let mut text = String::new();
                for line in lines {
                    text.push_str(&line.join(","));
                    text.push_str("\r\n");
                }
                // As offices do: what a spreadsheet program of the country writes by itself.
                let bytes = match self.tongue.tag {
                    "ja" if self.skin != 2 => encoding_rs::SHIFT_JIS.encode(&text).0.into_owned(),
                    _ => text.into_bytes(),
                };
                ("text/csv", bytes)
            }
            Format::Xlsx => (
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                workbook(lines).unwrap_or_default(),
            ),
        }
    }
}

/// The smallest workbook that spreadsheet programs open (ECMA-376, part 1): one sheet, texts in the cells themselves.
fn workbook<'a>(lines: impl Iterator<Item = &'a [String]>) -> zip::result::ZipResult<Vec<u8>> {
    let mut sheet = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData>",
    );
    for (row, line) in (1..).zip(lines) {
        sheet.push_str("<row>");
        for (column, cell) in ('A'..='Z').zip(line) {
            let written = match cell.parse::<f64>() {
                Ok(number) => write!(sheet, "<c r=\"{column}{row}\"><v>{number}</v></c>"),
                Err(_) => write!(
                    sheet,
                    "<c r=\"{column}{row}\" t=\"inlineStr\"><is><t>{cell}</t></is></c>"
                ),
            };
            debug_assert!(written.is_ok(), "a string takes all that is written to it");
        }
        sheet.push_str("</row>");
    }
    sheet.push_str("</sheetData></worksheet>");
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let parts = PARTS.iter().map(|(name, text)| (*name, *text));
    for (name, text) in parts.chain([("xl/worksheets/sheet1.xml", sheet.as_str())]) {
        zip.start_file(name, SimpleFileOptions::default())?;
        zip.write_all(text.as_bytes())?;
    }
    Ok(zip.finish()?.into_inner())
}

static PARTS: [(&str, &str); 4] = [
    (
        "[Content_Types].xml",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"xml\" ContentType=\"application/xml\"/><Override PartName=\"/xl/workbook.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml\"/><Override PartName=\"/xl/worksheets/sheet1.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml\"/></Types>",
    ),
    (
        "_rels/.rels",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"rId1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>",
    ),
    (
        "xl/workbook.xml",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets><sheet name=\"Sheet1\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>",
    ),
    (
        "xl/_rels/workbook.xml.rels",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"rId1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>",
    ),
];
