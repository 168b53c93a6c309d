//! Makes spreadsheets, and whatever pretends to be one.

use std::io::{Cursor, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A package of these parts.
pub(super) fn package<'a>(parts: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        let method = if name == "mimetype" {
            CompressionMethod::Stored
        } else {
            CompressionMethod::Deflated
        };
        let options = SimpleFileOptions::default().compression_method(method);
        writer.start_file(name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

pub(super) const WORKBOOK: &str = r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"
  xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">
  <workbookPr/><sheets><sheet name="人口 &amp; 世帯" sheetId="1" r:id="rId1"/></sheets></workbook>"#;
pub(super) const RELATIONS: &str = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
  <Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>
  <Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/>
  <Relationship Id="rId3" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>
</Relationships>"#;
const ROOT_RELATIONS: &str = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
  <Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/>
</Relationships>"#;
const TYPES: &str =
    r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>"#;
const STRINGS: &str = r#"<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
  <si><t>都道府県</t><rPh sb="0" eb="4"><t>トドウフケン</t></rPh></si><si><r><t>総</t></r><r><t>数</t></r></si><si><t>北海道</t></si></sst>"#;
const STYLES: &str = r#"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
  <numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy&quot;年&quot;"/></numFmts>
  <cellStyleXfs count="1"><xf numFmtId="14"/></cellStyleXfs>
  <cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs></styleSheet>"#;
/// Rows of a small table, every kind of cell in them.
pub(super) const SHEET: &str = r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
  <row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>調査日</t></is></c></row>
  <row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2"><v>5224614</v></c><c r="C2" s="1"><v>44105</v></c></row>
  <row r="3"><c r="A3" t="str"><f>"青森"&amp;"県"</f><v>青森県</v></c><c r="B3"><f>SUM(B1:B2)</f><v>1237984.5</v></c><c r="C3" s="2"><v>44105</v></c></row>
</sheetData></worksheet>"#;

/// A workbook with this sheet, and more parts.
pub(super) fn xlsx(sheet: &str, more: &[(&str, &[u8])]) -> Vec<u8> {
    let parts: [(&str, &[u8]); 7] = [
        ("[Content_Types].xml", TYPES.as_bytes()),
        ("_rels/.rels", ROOT_RELATIONS.as_bytes()),
        ("xl/workbook.xml", WORKBOOK.as_bytes()),
        ("xl/_rels/workbook.xml.rels", RELATIONS.as_bytes()),
        ("xl/sharedStrings.xml", STRINGS.as_bytes()),
        ("xl/styles.xml", STYLES.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
    ];
    package(parts.into_iter().chain(more.iter().copied()))
}

/// An `OpenDocument` spreadsheet with this inside its one sheet.
pub(super) fn ods(rows: &str, manifest: &str) -> Vec<u8> {
    ods_beside(rows, manifest, ("settings.xml", b""))
}

/// The same, with another part beside it.
pub(super) fn ods_beside(rows: &str, manifest: &str, more: (&str, &[u8])) -> Vec<u8> {
    let content = format!(
        r#"<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
        xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">
        <office:body><office:spreadsheet><table:table table:name="表1">{rows}</table:table></office:spreadsheet></office:body>
        </office:document-content>"#
    );
    package([
        (
            "mimetype",
            &b"application/vnd.oasis.opendocument.spreadsheet"[..],
        ),
        ("META-INF/manifest.xml", manifest.as_bytes()),
        ("content.xml", content.as_bytes()),
        more,
    ])
}

pub(super) const ODS_ROWS: &str = r#"<table:table-row><table:table-cell office:value-type="string"><text:p>year</text:p></table:table-cell>
  <table:table-cell office:value-type="string" table:number-columns-repeated="2"><text:p>value</text:p></table:table-cell></table:table-row>
  <table:table-row table:number-rows-repeated="3"><table:table-cell office:value-type="date" office:date-value="2020-01-01T00:00:00"><text:p>1 Jan</text:p></table:table-cell>
  <table:table-cell office:value-type="float" office:value="1.25"><text:p>1.3</text:p></table:table-cell>
  <table:table-cell office:value-type="percentage" office:value="0.5"><text:p>50 %</text:p></table:table-cell>
  <table:table-cell table:number-columns-repeated="16000"/></table:table-row>
  <table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>"#;

const SECTOR: usize = 512;
const END: u32 = 0xFFFF_FFFE;
const TABLE: u32 = 0xFFFF_FFFD;
const FREE: u32 = 0xFFFF_FFFF;

/// A compound file with one stream, of at least the size of large ones; `link` makes the chain after its last sector.
pub(super) fn compound(name: &str, stream: &[u8], link: u32) -> Vec<u8> {
    compound_beside(name, stream, link, None)
}

/// The same, with an empty folder of a name beside the stream.
pub(super) fn compound_beside(
    name: &str,
    stream: &[u8],
    link: u32,
    folder: Option<&str>,
) -> Vec<u8> {
    let mut stream = stream.to_vec();
    stream.resize(stream.len().max(4096).next_multiple_of(SECTOR), 0);
    let sectors = u32::try_from(stream.len() / SECTOR).unwrap();
    assert!(sectors < 120, "one sector for the table of chains");
    let mut file = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1".to_vec();
    file.extend([0; 16]);
    file.extend([0x3E, 0, 3, 0, 0xFE, 0xFF, 9, 0, 6, 0]);
    file.extend([0; 10]);
    // One sector for the table of chains, the directory in sector 1, streams from 4096 bytes on are large.
    for number in [1, 1, 0, 4096, END, 0, END, 0, 0] {
        file.extend(number.to_le_bytes());
    }
    file.resize(SECTOR, 0xFF);
    let mut chains = vec![TABLE, END];
    chains.extend((0..sectors).map(|index| {
        if index + 1 == sectors {
            link
        } else {
            index + 3
        }
    }));
    chains.resize(SECTOR / 4, FREE);
    for number in chains {
        file.extend(number.to_le_bytes());
    }
    let mut directory = entry("Root Entry", 5, END, 0);
    directory.extend(entry(name, 2, 2, u32::try_from(stream.len()).unwrap()));
    directory.extend(
        folder
            .into_iter()
            .flat_map(|folder| entry(folder, 1, END, 0)),
    );
    directory.resize(SECTOR, 0);
    file.extend(directory);
    file.extend(stream);
    file
}

fn entry(name: &str, kind: u8, start: u32, length: u32) -> Vec<u8> {
    let mut entry: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let name_bytes = u16::try_from(entry.len() + 2).unwrap();
    entry.resize(64, 0);
    entry.extend(name_bytes.to_le_bytes());
    entry.extend([kind, 1]);
    entry.extend([0xFF; 12]);
    entry.resize(116, 0);
    entry.extend(start.to_le_bytes());
    entry.extend(length.to_le_bytes());
    entry.resize(128, 0);
    entry
}

fn record(kind: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap();
    [&kind.to_le_bytes()[..], &length.to_le_bytes(), data].concat()
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// The stream of a workbook in BIFF8: three rows, every kind of cell, a shared text cut by the end of a record.
pub(super) fn biff(before_sheets: &[u8]) -> Vec<u8> {
    let bof = |kind: u8| record(0x0809, &[0, 6, kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let mut stream = bof(5);
    stream.extend(before_sheets);
    // Two styles, the second a day.
    for format in [0_u8, 14] {
        let mut xf = [0; 20];
        xf[2] = format;
        stream.extend(record(0x00E0, &xf));
    }
    let mut bound = vec![0, 0, 0, 0, 0, 0, 2, 1];
    bound.extend(wide("人口"));
    let bound_at = stream.len() + 4;
    stream.extend(record(0x0085, &bound));
    let mut shared = [3_u32.to_le_bytes(), 3_u32.to_le_bytes()].concat();
    shared.extend([4, 0, 1]);
    shared.extend(wide("都道府県"));
    shared.extend([5, 0, 0]);
    shared.extend(b"value");
    shared.extend([3, 0, 1]);
    shared.extend(wide("北海"));
    stream.extend(record(0x00FC, &shared));
    stream.extend(record(0x003C, &[&[1][..], &wide("道")].concat()));
    stream.extend(record(0x000A, &[]));
    let start = u32::try_from(stream.len()).unwrap();
    stream[bound_at..bound_at + 4].copy_from_slice(&start.to_le_bytes());
    stream.extend(bof(0x10));
    stream.extend(sheet());
    stream.extend(record(0x000A, &[]));
    stream
}

fn sheet() -> Vec<u8> {
    let cell = |kind: u16, row: u8, column: u8, style: u8, rest: &[u8]| {
        record(kind, &[&[row, 0, column, 0, style, 0][..], rest].concat())
    };
    let mut stream = cell(0x00FD, 0, 0, 0, &0_u32.to_le_bytes());
    stream.extend(cell(0x00FD, 0, 1, 0, &1_u32.to_le_bytes()));
    let label = [&[3, 0, 1][..], &wide("調査日")].concat();
    stream.extend(cell(0x0204, 0, 2, 0, &label));
    stream.extend(cell(0x00FD, 1, 0, 0, &2_u32.to_le_bytes()));
    // 12345.67 as a hundredfold integer, and a day.
    let integer = (1_234_567_u32 << 2) | 3;
    stream.extend(cell(0x027E, 1, 1, 0, &integer.to_le_bytes()));
    stream.extend(cell(0x0203, 1, 2, 1, &44105_f64.to_le_bytes()));
    // A formula with a text, which follows; then two numbers in one record.
    let mut formula = [0, 0, 0, 0, 0, 0, 0xFF, 0xFF].to_vec();
    formula.extend([0; 8]);
    stream.extend(cell(0x0006, 2, 0, 0, &formula));
    stream.extend(record(0x0207, &[&[3, 0, 1][..], &wide("青森県")].concat()));
    let one = (7_u32 << 2) | 2;
    let many = [
        &[2, 0, 1, 0][..],
        &[0, 0],
        &one.to_le_bytes(),
        &[0, 0],
        &one.to_le_bytes(),
        &[2, 0],
    ]
    .concat();
    stream.extend(record(0x00BD, &many));
    stream
}

/// The record that says that the rest is encrypted.
pub(super) fn file_pass() -> Vec<u8> {
    record(0x002F, &[1, 0, 1, 0, 1, 0])
}

pub(super) const CHAIN_END: u32 = END;
