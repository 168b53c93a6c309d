//! Files that mean harm: bounded, reported, never executed.

use proptest::prelude::*;

use super::make;
use super::*;

fn refused(inspection: &Inspection) -> &Refusal {
    match &inspection.reading {
        Reading::Refused(refusal) => refusal,
        read => panic!("{read:?}"),
    }
}

#[test]
fn a_bomb_is_refused_before_it_has_unpacked() {
    let bounds = Bounds {
        unpacked_bytes: 1 << 20,
        ..Bounds::default()
    };
    let spaces = " ".repeat(30 << 20);
    let rows = "<row><c><v>1</v></c></row>".repeat(1 << 20);
    for sheet in [
        format!("<worksheet><sheetData>{spaces}</sheetData></worksheet>"),
        format!("<worksheet><sheetData>{rows}</sheetData></worksheet>"),
        format!("<worksheet><sheetData><c t='{spaces}'/></sheetData></worksheet>"),
    ] {
        let bytes = make::xlsx(&sheet, &[]);
        assert!(bytes.len() < 300_000, "{}", bytes.len());
        let inspection = look_within("bomb.xlsx", &bytes, &bounds);
        assert_eq!(
            refused(&inspection),
            &Refusal::UnpacksTooLarge { limit: 1 << 20 }
        );
    }
    let bytes = make::ods(&spaces, "<manifest/>");
    let inspection = look_within("bomb.ods", &bytes, &bounds);
    assert_eq!(
        refused(&inspection),
        &Refusal::UnpacksTooLarge { limit: 1 << 20 }
    );
}

#[test]
fn one_piece_of_xml_is_bounded_whatever_may_be_unpacked() {
    let sheet = format!(
        "<worksheet><sheetData><row><c t='str'><v>{}</v></c></row></sheetData></worksheet>",
        "x".repeat(20 << 20)
    );
    let inspection = look("long.xlsx", &make::xlsx(&sheet, &[]));
    assert!(matches!(
        refused(&inspection),
        Refusal::UnpacksTooLarge { .. }
    ));
}

#[test]
fn a_package_of_too_many_parts_is_refused() {
    let names: Vec<String> = (0..20_001).map(|number| format!("{number}")).collect();
    let bytes = make::package(names.iter().map(|name| (&**name, &b""[..])));
    let inspection = look("many.xlsx", &bytes);
    assert_eq!(
        refused(&inspection),
        &Refusal::TooManyParts { parts: 20_001 }
    );
}

#[test]
fn a_package_inside_a_package_is_left_alone() {
    let inner = make::xlsx(make::SHEET, &[]);
    let bytes = make::package([("inner.xlsx", &*inner)]);
    assert_eq!(refused(&look("outer.xlsx", &bytes)), &Refusal::NoDataFile);
}

#[test]
fn cells_at_the_end_of_the_world_cost_nothing() {
    let sheet = "<worksheet><dimension ref='A1:XFD1048576'/><sheetData>
        <row r='1'><c r='A1'><v>1</v></c><c r='XFD1'><v>2</v></c></row>
        <row r='1048576'><c r='XFD1048576'><v>3</v></c><c r='A1048576'><v>4</v></c></row>
        <row r='99999999999999'><c r='ZZZZZZZ1'><v>5</v></c></row></sheetData></worksheet>";
    let inspection = look("far.xlsx", &make::xlsx(sheet, &[]));
    assert_eq!(inspection.reading, Reading::Whole);
    assert_eq!(inspection.tables.len(), 1);
}

#[test]
fn repeats_without_end_cost_nothing() {
    let rows = "<table:table-row table:number-rows-repeated='18446744073709551615'>
        <table:table-cell table:number-columns-repeated='18446744073709551615' office:value-type='float' office:value='1'/>
        <table:table-cell table:number-columns-repeated='18446744073709551615'><text:p>x</text:p></table:table-cell>
        </table:table-row>"
        .repeat(50);
    let inspection = look("repeats.ods", &make::ods(&rows, "<manifest/>"));
    assert_eq!(inspection.reading, Reading::Whole);
    assert!(inspection.rows() <= Some(50 << 20));
}

#[test]
fn what_needs_a_password_is_reported() {
    let package = make::compound("EncryptedPackage", b"secret", make::CHAIN_END);
    let old = make::compound("Workbook", &make::biff(&make::file_pass()), make::CHAIN_END);
    let manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>";
    let document = make::ods(make::ODS_ROWS, manifest);
    for (name, bytes) in [("a.xlsx", package), ("a.xls", old), ("a.ods", document)] {
        assert_eq!(
            refused(&look(name, &bytes)),
            &Refusal::PasswordProtected,
            "{name}"
        );
    }
}

#[test]
fn macros_are_noted_and_formulas_are_text() {
    let sheet = r#"<worksheet><sheetData><row><c t="str"><f>HYPERLINK("http://evil.example","x")</f></c><c><v>1</v></c></row>
        <row><c t="str"><f>cmd|' /C calc'!A0</f></c><c><v>2</v></c></row></sheetData></worksheet>"#;
    let bytes = make::xlsx(sheet, &[("xl/vbaProject.bin", b"\xD0\xCF")]);
    let inspection = look("macros.xlsm", &bytes);
    assert!(inspection.has_macros);
    assert_eq!(inspection.reading, Reading::Whole);
    let csv = "name,value\n=HYPERLINK(\"http://evil.example\"),1\n@SUM(A1),2\n+1+1,3\n";
    let inspection = look("formulas.csv", csv.as_bytes());
    assert_eq!(inspection.rows(), Some(3));
    let book = make::biff(&[]);
    for folder in [None, Some("_VBA_PROJECT_CUR")] {
        let bytes = make::compound_beside("Workbook", &book, make::CHAIN_END, folder);
        let inspection = look("macros.xls", &bytes);
        assert_eq!(inspection.has_macros, folder.is_some());
        assert_eq!(inspection.rows(), Some(2), "its table is read all the same");
    }
    for part in ["settings.xml", "Basic/Standard/Module1.xml"] {
        let bytes = make::ods_beside(make::ODS_ROWS, "<manifest/>", (part, b"sub main"));
        let inspection = look("macros.ods", &bytes);
        assert_eq!(inspection.has_macros, part != "settings.xml");
        assert_eq!(inspection.reading, Reading::Whole);
    }
    let chart = make::compound("_VBA_PROJECT_CUR", b"x", make::CHAIN_END);
    assert_eq!(refused(&look("a.xls", &chart)), &Refusal::NoDataFile);
}

#[test]
fn chains_that_bite_their_tails_end() {
    for link in [0, 1, 2, 3, u32::MAX - 9] {
        let bytes = make::compound("Workbook", &make::biff(&[]), link);
        let inspection = look("cycle.xls", &bytes);
        assert_eq!(inspection.rows(), Some(2), "{link}");
        // A stream that claims to be far longer than the file.
        let mut longer = bytes;
        let length_at = 512 * 2 + 128 + 120;
        longer[length_at..length_at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(look("cycle.xls", &longer).rows(), Some(2), "{link}");
        // A directory in a circle.
        longer[512 + 4..512 + 8].copy_from_slice(&1_u32.to_le_bytes());
        look("cycle.xls", &longer);
    }
}

#[test]
fn entities_are_not_expanded() {
    let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;&b;&b;'>]>";
    let sheet = format!(
        "{bomb}<worksheet><sheetData><row><c t='str'><v>&c;</v></c><c t='str'><v>b</v></c></row><row><c><v>1</v></c></row></sheetData></worksheet>"
    );
    let inspection = look("laughs.xlsx", &make::xlsx(&sheet, &[]));
    assert!(
        inspection
            .tables
            .iter()
            .flat_map(|table| &table.columns)
            .all(|name| name.len() < 10)
    );
}

#[test]
fn broken_encodings_are_read_as_far_as_they_go() {
    let mut bytes = "都道府県,人口\n".as_bytes().to_vec();
    bytes.extend(b"\xFF\xFE\x81,12\n\x81\x40\xFF,34\n\xE3\x81,56\n");
    let inspection = look("broken.csv", &bytes);
    assert_eq!(inspection.reading, Reading::Whole);
    assert!(inspection.rows() >= Some(2));
    let page = "<html><body>Not found</body></html>";
    assert_eq!(
        refused(&look("gone.csv", page.as_bytes())),
        &Refusal::NoTable
    );
    assert_eq!(refused(&look("empty.csv", b"")), &Refusal::Empty);
    assert_eq!(
        refused(&look("a.png", b"\x89PNG\r\n\x1A\n\0")),
        &Refusal::NoDataFile
    );
}

#[test]
fn tables_nested_without_end_are_read_once() {
    let html = format!(
        "<html>{}",
        "<table><tr><td>a<td rowspan=99999999 colspan=99999999>1".repeat(20_000)
    );
    let inspection = look("nested.html", html.as_bytes());
    assert!(inspection.tables.len() <= Bounds::default().tables);
}

/// Whole files of every format.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("a.xlsx", make::xlsx(make::SHEET, &[])),
        (
            "a.xls",
            make::compound("Workbook", &make::biff(&[]), make::CHAIN_END),
        ),
        ("a.ods", make::ods(make::ODS_ROWS, "<manifest/>")),
        (
            "a.csv",
            "都道府県,人口\n\"北海道\",5224614\n".as_bytes().to_vec(),
        ),
        (
            "a.html",
            b"<table><tr><th>a<th>b<tr><td>1<td>2</table>".to_vec(),
        ),
    ]
}

#[test]
fn cut_files_are_read_or_refused() {
    for (name, bytes) in files() {
        for length in (0..bytes.len()).step_by(7) {
            look(name, &bytes[..length]);
        }
    }
}

proptest! {
    #[test]
    fn changed_files_are_read_or_refused(
        file in 0_usize..5,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let (name, mut bytes) = files().swap_remove(file);
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        let bounds = Bounds { unpacked_bytes: 1 << 20, ..Bounds::default() };
        let inspection = look_within(name, &bytes, &bounds);
        prop_assert!(inspection.features.values().iter().all(|value| value.is_finite()));
        prop_assert!(inspection.tables.len() <= bounds.tables);
    }

    #[test]
    fn any_bytes_under_any_name_are_read_or_refused(
        start in prop::sample::select(vec![&b""[..], b"PK\x03\x04", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", b"%PDF-", b"<html><table>"]),
        rest: Vec<u8>,
        name in "[a-z]\\.(csv|tsv|xls|xlsx|ods|pdf|html)",
    ) {
        look(&name, &[start, &rest].concat());
    }
}
