//! Files as people publish them.

use std::fmt::Write as _;
use std::io::Cursor;

use calamine::{Data, Reader as _};

use super::make;
use super::*;

fn texts(
    bytes: &[u8],
    read: fn(&[u8], &Bounds, &mut Sheets) -> Result<Workbook, Refusal>,
) -> Vec<Vec<String>> {
    let bounds = Bounds::default();
    let mut sheets = Sheets::new(&bounds);
    read(bytes, &bounds, &mut sheets).unwrap();
    let tables = sheets.finish();
    tables[0]
        .rows
        .iter()
        .map(|row| row.iter().map(|cell| cell.text.clone()).collect())
        .collect()
}

/// Rows as the library reads them, which is the oracle.
fn oracle(range: &calamine::Range<Data>) -> Vec<Vec<String>> {
    let text = |cell: &Data| match cell {
        Data::Empty => String::new(),
        Data::DateTime(time) => {
            let (year, month, day, ..) = time.to_ymd_hms_milli();
            format!("{year:04}-{month:02}-{day:02}")
        }
        other => other.to_string(),
    };
    range
        .rows()
        .map(|row| row.iter().map(text).collect())
        .collect()
}

#[test]
fn xlsx_is_read_as_the_library_reads_it() {
    let bytes = make::xlsx(make::SHEET, &[]);
    let mut workbook = calamine::Xlsx::new(Cursor::new(&bytes)).unwrap();
    let range = workbook.worksheet_range("人口 & 世帯").unwrap();
    let found = texts(&bytes, xlsx::read);
    assert_eq!(found, oracle(&range));
    assert_eq!(found[1], ["北海道", "5224614", "2020-10-01"]);
}

#[test]
fn xls_is_read_as_the_library_reads_it() {
    let bytes = make::compound("Workbook", &make::biff(&[]), make::CHAIN_END);
    let mut workbook = calamine::Xls::new(Cursor::new(&bytes)).unwrap();
    let range = workbook.worksheet_range("人口").unwrap();
    let found = texts(&bytes, xls::read);
    assert_eq!(found, oracle(&range));
    assert_eq!(found[0], ["都道府県", "value", "調査日"]);
    assert_eq!(found[1], ["北海道", "12345.67", "2020-10-01"]);
    assert_eq!(found[2], ["青森県", "7", "7"]);
}

#[test]
fn ods_is_read_with_its_repeats() {
    let bytes = make::ods(make::ODS_ROWS, "<manifest/>");
    let found = texts(&bytes, ods::read);
    assert_eq!(
        found,
        [
            vec!["year", "value", "value"],
            vec!["2020-01-01", "1.25", "50 %"]
        ]
    );
    let inspection = look("a.ods", &bytes);
    assert_eq!(inspection.reading, Reading::Whole);
    assert_eq!(inspection.rows(), Some(3));
    assert_eq!(inspection.tables[0].name.as_deref(), Some("表1"));
}

#[test]
fn a_statistical_table_is_described() {
    let csv = "表1 都道府県別人口,,\n（単位：千人）,,\n都道府県,平成27年,令和2年\n全国,127095,126146\n北海道,5382,5225\n青森県,1308,1238\n資料：総務省統計局「国勢調査」,,\n";
    let (bytes, _, _) = encoding_rs::SHIFT_JIS.encode(csv);
    let inspection = look("c01.csv", &bytes);
    assert_eq!(inspection.format, Some(Format::Csv));
    assert_eq!(inspection.reading, Reading::Whole);
    assert_eq!(inspection.title.as_deref(), Some("表1 都道府県別人口"));
    assert_eq!(inspection.columns(), ["都道府県", "平成27年", "令和2年"]);
    assert_eq!(inspection.rows(), Some(3));
    assert_eq!(inspection.units, ["千人"]);
    assert_eq!(inspection.language.as_deref(), Some("ja"));
    let period = inspection.time_range.unwrap();
    assert_eq!(period.first.to_string(), "2015-01-01");
    assert_eq!(period.last.to_string(), "2020-12-31");
    assert_eq!(inspection.features.named("totals"), Some(1.0));
}

#[test]
fn a_column_of_units_names_them() {
    let csv = "Year,Units,Geo code,Value\n2019,Percentage (%),E92,12.5\n2020,Percentage (%),E92,13.5\n2021,Number,E92,14\n";
    let inspection = look("1-1-1.csv", csv.as_bytes());
    assert_eq!(inspection.units, ["Percentage (%)", "Number"]);
    assert_eq!(inspection.time_range.map(|it| it.last.year()), Some(2021));
}

#[test]
fn tables_of_pages_are_read_each_by_itself() {
    let html = "<!doctype html><table><tr><td>menu<td><table class=data><caption>GDP &amp; growth</caption>
        <tr><th rowspan=2>Country<th colspan=2>GDP (million euros)<tr><th>2019<th>2020
        <tr><td>France<td>2,437,635<td>2,310,469</tr><tr><td>Italy<td>1,796,649<td>1,661,240</table></table>
        <table><tr><td>one cell</table>";
    let inspection = look("gdp.html", html.as_bytes());
    assert_eq!(inspection.format, Some(Format::HtmlTable));
    assert_eq!(inspection.tables.len(), 1);
    let table = &inspection.tables[0];
    assert_eq!(table.name.as_deref(), Some("GDP & growth"));
    assert_eq!(
        table.columns,
        [
            "Country",
            "GDP (million euros) / 2019",
            "GDP (million euros) / 2020"
        ]
    );
    assert_eq!(table.rows, 2);
    assert_eq!(inspection.units, ["million euros"]);
}

#[test]
fn a_pdf_is_read_by_what_the_caller_brings() {
    let text = "Births by region\n\nRegion      2019     2020\nNorth       1,234    1,301\nSouth         987      950\n\u{C}Prose only.\n";
    let read = |_: &[u8]| Some(text.to_owned());
    let hints = Hints {
        url: "https://a.example/births.pdf",
        pdf_text: Some(&read),
        ..Hints::default()
    };
    let inspection = inspect(b"%PDF-1.7 ...", &hints, &Bounds::default());
    assert_eq!(inspection.tables.len(), 1);
    assert_eq!(inspection.columns(), ["Region", "2019", "2020"]);
    assert_eq!(inspection.title.as_deref(), Some("Births by region"));
    let without = look("population-statistics.pdf", b"%PDF-1.7 ...");
    assert_eq!(without.reading, Reading::Refused(Refusal::PdfUnread));
    assert!(!without.features.is_read());
    assert!(without.features.named("statistics_words") > Some(0.0));
}

#[test]
fn the_rest_of_a_long_file_is_estimated() {
    let mut csv = String::from("year,value\n");
    for row in 0..1000 {
        writeln!(csv, "2020,{row:05}").unwrap();
    }
    let hints = Hints {
        url: "https://a.example/long.csv",
        whole_bytes: Some(2 << 30),
        ..Hints::default()
    };
    let inspection = inspect(csv.as_bytes(), &hints, &Bounds::default());
    assert_eq!(inspection.reading, Reading::Prefix);
    let rows = inspection.rows().unwrap();
    assert!((190_000_000..200_000_000).contains(&rows), "{rows}");
}
