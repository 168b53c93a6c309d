//! Programs that do as they like, and files that mean harm.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;

use junkai_focus::data_file::{Bounds, Hints, inspect};

use super::*;

/// A program that does as it likes with what it is given.
fn program(script: &str) -> (PdfReader, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join(PROGRAM);
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let reader = PdfReader {
        program,
        limits: LIMITS,
    };
    (reader, folder)
}

#[test]
fn what_the_program_prints_is_the_text() {
    let (reader, _folder) = program("cat");
    let text = reader.text(b"year  births\n2020  12").unwrap();
    assert_eq!(text, "year  births\n2020  12");
}

#[test]
fn a_program_that_fails_or_says_nothing_gives_no_text() {
    const SCRIPTS: [&str; 3] = ["exit 1", "exec < /dev/null; echo", "kill -9 $$"];
    for script in SCRIPTS {
        let (reader, _folder) = program(script);
        assert_eq!(reader.text(&vec![0; 100_000]), None, "{script}");
    }
}

#[test]
fn a_program_that_never_stops_printing_is_cut_off() {
    let (reader, _folder) = program("yes births");
    let text = reader.text(b"%PDF").unwrap();
    assert_eq!(text.len() as u64, LIMITS.text_bytes);
}

#[test]
fn a_program_that_hangs_is_killed_with_all_that_it_started() {
    for script in [
        "sleep 1000",
        "sleep 1000 & echo births",
        "sleep 1000 & sleep 1000",
    ] {
        let (mut reader, _folder) = program(script);
        reader.limits.time = Duration::from_millis(300);
        assert_eq!(reader.text(b"%PDF"), None, "{script}");
    }
}

#[test]
fn a_program_that_takes_too_much_is_stopped_by_the_limits() {
    // A file of its own, more memory than it may have, and more time: none of them is to be had.
    let (reader, folder) = program("echo births > \"$(dirname \"$0\")/file\"; echo \"$?\"");
    reader.text(b"%PDF");
    let file = std::fs::metadata(folder.path().join("file"));
    assert!(file.is_ok_and(|file| file.len() == 0));
    let (mut reader, _folder) = program("while :; do :; done");
    reader.limits.cpu_seconds = 1;
    assert_eq!(reader.text(b"%PDF"), None);
    let (reader, _folder) = program("ulimit -v; ulimit -n; ulimit -c");
    let text = reader.text(b"%PDF").unwrap();
    let limits = [LIMITS.memory_kilobytes, OPEN_FILES_MAX, 0].map(|limit| limit.to_string());
    assert_eq!(text.split_whitespace().collect::<Vec<_>>(), limits);
}

#[test]
fn nothing_of_the_environment_is_handed_on() {
    let (reader, _folder) = program("echo \"home $HOME\"");
    assert_eq!(reader.text(b"%PDF").as_deref(), Some("home \n"));
}

/// The real program, with less patience; none, and told so, where there is none.
fn real() -> Option<PdfReader> {
    let named = std::env::var_os("JUNKAI_PDFTOTEXT").map(|program| PdfReader {
        program: program.into(),
        limits: LIMITS,
    });
    let Some(reader) = named.or_else(PdfReader::find) else {
        println!("no pdftotext: `cargo xtask test` sets it up; real files are not read");
        return None;
    };
    let limits = Limits {
        cpu_seconds: 1,
        ..LIMITS
    };
    Some(PdfReader { limits, ..reader })
}

/// A file of these objects, numbered from 1; the first is the catalogue (ISO 32000-1, section 7.5).
fn pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (number, object) in (1..).zip(objects) {
        writeln!(table, "{:010} 00000 n ", file.len()).unwrap();
        file.extend(format!("{number} 0 obj\n").bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let start = file.len();
    let count = objects.len() + 1;
    let trailer = format!("trailer << /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
    file.extend(table.bytes().chain(trailer.bytes()));
    file
}

fn stream(dictionary: &str, bytes: &[u8]) -> Vec<u8> {
    let head = format!("<< {dictionary} /Length {} >>\nstream\n", bytes.len());
    [head.as_bytes(), bytes, b"\nendstream"].concat()
}

/// A file with one page that shows this content; `more` are objects from number 6 on.
fn page(content: Vec<u8>, kids: &str, more: &[Vec<u8>]) -> Vec<u8> {
    let text = |text: &str| text.as_bytes().to_vec();
    let mut objects = vec![
        text("<< /Type /Catalog /Pages 2 0 R >>"),
        text(&format!(
            "<< /Type /Pages /Kids [{kids}] /Count {} >>",
            kids.matches('R').count()
        )),
        text(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
             /Resources << /Font << /F 5 0 R >> /XObject << /X 6 0 R >> >> >>",
        ),
        content,
        text("<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"),
    ];
    objects.extend(more.iter().cloned());
    pdf(&objects)
}

/// What shows these lines, one below the other.
fn lines(lines: &[String]) -> String {
    let shown = lines.iter().map(|line| format!("({line}) Tj 0 -14 Td "));
    format!("BT /F 10 Tf 50 740 Td {}ET", shown.collect::<String>())
}

const ONE_PAGE: &str = "3 0 R";

#[test]
fn a_real_table_is_read_with_its_columns() {
    let Some(reader) = real() else { return };
    let rows = (2015..2025).map(|year| format!("{year}      {}      {}", year * 7, year * 3));
    let table: Vec<String> = std::iter::once("Year      Births      Deaths".to_owned())
        .chain(rows)
        .collect();
    let file = page(stream("", lines(&table).as_bytes()), ONE_PAGE, &[]);
    let text = |bytes: &[u8]| reader.text(bytes);
    let hints = Hints {
        url: "https://a.example/births.pdf",
        pdf_text: Some(&text),
        ..Hints::default()
    };
    let inspection = inspect(&file, &hints, &Bounds::default());
    assert_eq!(inspection.columns(), ["Year", "Births", "Deaths"]);
    assert_eq!(inspection.rows(), Some(10));
    let range = format!("{:?}", inspection.time_range);
    assert!(range.contains("2015") && range.contains("2024"), "{range}");
}

#[test]
fn real_files_that_mean_harm_end_within_the_limits() {
    let Some(reader) = real() else { return };
    let shown = lines(&["births".to_owned()]);
    // Runs of one byte (ISO 32000-1, section 7.4.5): each pair of bytes is 128 spaces, or line breaks.
    let runs = |byte: u8| stream("/Filter /RunLengthDecode", &[129, byte].repeat(1 << 19));
    let form = |content: &str| {
        stream(
            "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F 5 0 R >> /XObject << /X 6 0 R >> >>",
            content.as_bytes(),
        )
    };
    let itself = form(&format!("{shown} /X Do /X Do /X Do"));
    let far = "BT /F 10 Tf 1 0 0 1 0 0 Tm (a) Tj 1 0 0 1 99999999 0 Tm (b) Tj 1 0 0 1 0 -99999999 Tm (c) Tj ET";
    let long = format!("BT /F 10 Tf {} ET", "(births) Tj ".repeat(100_000));
    let secret = b"<< /Filter /Standard /V 1 /R 2 /O (12345678901234567890123456789012) /U (12345678901234567890123456789012) /P -4 >>";
    let locked = page(stream("", shown.as_bytes()), ONE_PAGE, &[secret.to_vec()]);
    let locked = replaced(
        &locked,
        "/Root 1 0 R",
        "/Root 1 0 R /Encrypt 6 0 R /ID [(a) (a)]",
    );
    let whole = page(stream("", shown.as_bytes()), ONE_PAGE, &[]);
    for (what, file) in [
        ("a bomb", page(runs(b' '), ONE_PAGE, &[])),
        ("a bomb of operators", page(runs(b'q'), ONE_PAGE, &[])),
        (
            "a form in itself",
            page(stream("", b"/X Do"), ONE_PAGE, &[itself]),
        ),
        (
            "pages in a circle",
            page(stream("", shown.as_bytes()), "2 0 R 3 0 R", &[]),
        ),
        (
            "a page without end",
            page(stream("", shown.as_bytes()), &"3 0 R ".repeat(100_000), &[]),
        ),
        (
            "text far away",
            page(stream("", far.as_bytes()), ONE_PAGE, &[]),
        ),
        (
            "a line without end",
            page(stream("", long.as_bytes()), ONE_PAGE, &[]),
        ),
        ("half a file", whole[..whole.len() / 2].to_vec()),
        ("no file", b"%PDF-1.7\n\xFF\xFE\0".repeat(1000)),
    ] {
        let text = reader.text(&file).unwrap_or_default();
        println!("{what}: {} bytes of {}", text.len(), file.len());
        // What is no UTF-8 is replaced, which may take three bytes for one.
        assert!(text.len() as u64 <= 3 * LIMITS.text_bytes, "{what}");
    }
    assert_eq!(reader.text(&locked), None, "a password is needed");
    assert!(
        reader
            .text(&whole)
            .is_some_and(|text| text.contains("births"))
    );
}

/// A file with one text in place of another, its table of places left as it is: readers make it anew.
fn replaced(file: &[u8], from: &str, to: &str) -> Vec<u8> {
    let at = file
        .windows(from.len())
        .rposition(|bytes| bytes == from.as_bytes())
        .unwrap();
    [&file[..at], to.as_bytes(), &file[at + from.len()..]].concat()
}
