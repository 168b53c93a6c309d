//! The formats of data files, told by name or by the first bytes.
//!
//! [`looks_like_data`] judges a link before anything is fetched; [`of_bytes`] judges what came. Servers say `text/plain` or
//! `application/octet-stream` of many a data file, and send an HTML page in place of many another, so bytes have the last word.

use serde::{Deserialize, Serialize};

/// How far HTML is looked for.
const SNIFF_BYTES: usize = 1024;

/// A format that data files come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Values separated by commas, semicolons or bars.
    Csv,
    /// Values separated by tabs.
    Tsv,
    /// Excel's binary format, BIFF in a compound file.
    Xls,
    /// Office Open XML.
    Xlsx,
    /// `OpenDocument`.
    Ods,
    /// Tables of an HTML page.
    HtmlTable,
    /// PDF, of which only the text is looked at.
    Pdf,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 7] = [
        Self::Csv,
        Self::Tsv,
        Self::Xls,
        Self::Xlsx,
        Self::Ods,
        Self::HtmlTable,
        Self::Pdf,
    ];

    /// The name that people know it by, in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Xls => "xls",
            Self::Xlsx => "xlsx",
            Self::Ods => "ods",
            Self::HtmlTable => "html",
            Self::Pdf => "pdf",
        }
    }

    /// Its media type, as registered with IANA.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv",
            Self::Tsv => "text/tab-separated-values",
            Self::Xls => "application/vnd.ms-excel",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Ods => "application/vnd.oasis.opendocument.spreadsheet",
            Self::HtmlTable => "text/html",
            Self::Pdf => "application/pdf",
        }
    }

    /// Whether a program reads it as rows and columns; the others are made for people.
    #[must_use]
    pub fn is_machine_readable(self) -> bool {
        match self {
            Self::Csv | Self::Tsv | Self::Xls | Self::Xlsx | Self::Ods => true,
            Self::HtmlTable | Self::Pdf => false,
        }
    }

    fn of_extension(extension: &str) -> Option<Self> {
        let format = match &*extension.to_ascii_lowercase() {
            "csv" => Self::Csv,
            "tsv" | "tab" => Self::Tsv,
            "xls" | "xlt" => Self::Xls,
            "xlsx" | "xlsm" | "xltx" | "xltm" => Self::Xlsx,
            "ods" | "ots" => Self::Ods,
            "pdf" => Self::Pdf,
            _ => return None,
        };
        Some(format)
    }

    fn of_media_type(content_type: &str) -> Option<Self> {
        let essence = content_type.split([';', ',']).next().unwrap_or_default();
        let format = match &*essence.trim().to_ascii_lowercase() {
            "text/csv" | "application/csv" | "text/x-csv" | "text/comma-separated-values" => {
                Self::Csv
            }
            "text/tab-separated-values" | "text/tsv" => Self::Tsv,
            "application/vnd.ms-excel" | "application/msexcel" | "application/x-msexcel" => {
                Self::Xls
            }
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
            | "application/vnd.ms-excel.sheet.macroenabled.12" => Self::Xlsx,
            "application/vnd.oasis.opendocument.spreadsheet" => Self::Ods,
            "application/pdf" | "application/x-pdf" => Self::Pdf,
            _ => return None,
        };
        Some(format)
    }
}

/// Tells by name alone whether a URL leads to a data file; never [`Format::HtmlTable`], as every page may hold a table.
///
/// The extension of the path counts most, then a declared type, then a format named in the query (`?format=csv`).
#[must_use]
pub fn looks_like_data(url: &str, content_type: Option<&str>) -> Option<Format> {
    let without_fragment = url.split('#').next().unwrap_or_default();
    let (path, query) = without_fragment
        .split_once('?')
        .unwrap_or((without_fragment, ""));
    let file = path.rsplit('/').next().unwrap_or_default();
    let by_name = file
        .rsplit_once('.')
        .and_then(|(_, extension)| Format::of_extension(extension));
    by_name
        .or_else(|| content_type.and_then(Format::of_media_type))
        .or_else(|| of_query(query))
}

/// The type that headers declare: that of the name under which a file is to be saved (`Content-Disposition`, RFC 6266), where that is a
/// data file's, else the Content-Type. Scripts that hand out files often have no other word of what they are.
#[must_use]
pub fn declared_type<'a>(
    content_type: Option<&'a str>,
    disposition: Option<&str>,
) -> Option<&'a str> {
    let is_page = content_type.is_some_and(|it| it.trim_start().starts_with("text/html"));
    let saved_as = disposition.filter(|_| !is_page).and_then(of_disposition);
    saved_as.map(Format::media_type).or(content_type)
}

/// The format of the file name in a `Content-Disposition`: `attachment; filename="deaths.csv"`, `filename*=UTF-8''deaths.csv`.
fn of_disposition(disposition: &str) -> Option<Format> {
    disposition.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let name = name.trim().to_ascii_lowercase();
        (name == "filename" || name == "filename*").then_some(())?;
        let value = value.trim().trim_end_matches('"');
        Format::of_extension(value.rsplit_once('.')?.1)
    })
}

/// A format that the query asks for: `format=csv`, `file=population.xlsx`, `output=xls`.
fn of_query(query: &str) -> Option<Format> {
    const NAMES: [&str; 6] = [
        "format",
        "output",
        "type",
        "file",
        "filename",
        "outputformat",
    ];
    query.split(['&', ';']).find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let is_asked = NAMES.iter().any(|known| name.eq_ignore_ascii_case(known));
        let extension = value.rsplit('.').next().unwrap_or_default();
        is_asked.then(|| Format::of_extension(extension)).flatten()
    })
}

/// Tells what `bytes` are, with `by_name` as the word of the name; none if they are no data file.
#[must_use]
pub(crate) fn of_bytes(bytes: &[u8], by_name: Option<Format>) -> Option<Format> {
    const COMPOUND: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";
    if bytes.starts_with(b"%PDF-") {
        return Some(Format::Pdf);
    }
    if bytes.starts_with(COMPOUND) {
        return Some(Format::Xls);
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return Some(of_package(bytes, by_name));
    }
    if is_html(bytes) {
        return Some(Format::HtmlTable);
    }
    match by_name {
        Some(Format::Csv | Format::Tsv) => by_name,
        // A table of tabs or commas under the name of a spreadsheet is an old habit of web applications.
        Some(Format::Xls | Format::Xlsx | Format::Ods | Format::HtmlTable) | None => {
            is_text(bytes).then(|| delimited(bytes))
        }
        Some(Format::Pdf) => None,
    }
}

/// Which package it is: `OpenDocument` names its type in the first entry, stored as it is.
fn of_package(bytes: &[u8], by_name: Option<Format>) -> Format {
    const DOCUMENT: &[u8] = b"mimetypeapplication/vnd.oasis.opendocument";
    let start = &bytes[..bytes.len().min(SNIFF_BYTES)];
    let is_document = start
        .windows(DOCUMENT.len())
        .any(|window| window == DOCUMENT);
    if is_document || by_name == Some(Format::Ods) {
        Format::Ods
    } else {
        Format::Xlsx
    }
}

fn is_html(bytes: &[u8]) -> bool {
    const STARTS: [&[u8]; 6] = [
        b"<!doctype html",
        b"<html",
        b"<head",
        b"<table",
        b"<?xml",
        b"<meta",
    ];
    let start = &bytes[..bytes.len().min(SNIFF_BYTES)];
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let start = start.trim_ascii_start();
    let begins = |prefix: &&[u8]| {
        start
            .get(..prefix.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(prefix))
    };
    start.starts_with(b"<!--") || STARTS.iter().any(begins)
}

/// Whether bytes may be text: no control characters but the usual, unless it is UTF-16.
fn is_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(SNIFF_BYTES)];
    let is_utf_16 = start.starts_with(b"\xFF\xFE") || start.starts_with(b"\xFE\xFF");
    let is_control =
        |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0C | 0x1B);
    !start.is_empty() && (is_utf_16 || !start.iter().any(is_control))
}

fn delimited(bytes: &[u8]) -> Format {
    let start = &bytes[..bytes.len().min(SNIFF_BYTES)];
    let count = |wanted: u8| memchr::memchr_iter(wanted, start).count();
    if count(b',') < count(b'\t') {
        Format::Tsv
    } else {
        Format::Csv
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_tells_the_format() {
        for (url, content_type, expected) in [
            ("https://a.example/population.csv", None, Some(Format::Csv)),
            ("https://a.example/A.XLSX?v=2#x", None, Some(Format::Xlsx)),
            (
                "https://a.example/t.tsv",
                Some("text/plain"),
                Some(Format::Tsv),
            ),
            ("https://a.example/report.pdf", None, Some(Format::Pdf)),
            ("https://a.example/file-download?statInfId=1", None, None),
            (
                "https://a.example/download?id=7&format=CSV",
                None,
                Some(Format::Csv),
            ),
            (
                "https://a.example/get?file=a.b.ods",
                None,
                Some(Format::Ods),
            ),
            ("https://a.example/get?title=csv", None, None),
            (
                "https://a.example/download/7",
                Some("Text/CSV; charset=Shift_JIS"),
                Some(Format::Csv),
            ),
            ("https://a.example/", Some("text/html"), None),
            ("https://csv", None, None),
            ("", None, None),
        ] {
            assert_eq!(looks_like_data(url, content_type), expected, "{url}");
        }
    }

    #[test]
    fn the_name_to_save_it_under_tells_the_format() {
        for (disposition, expected) in [
            ("attachment; filename=\"deaths.csv\"", "text/csv"),
            (
                "attachment; filename=deaths.tsv; size=7",
                "text/tab-separated-values",
            ),
            ("inline; FileName*=UTF-8''%E4%BA%BA.pdf", "application/pdf"),
            (
                "attachment; filename=\"photo.jpeg\"",
                "application/octet-stream",
            ),
            ("attachment", "application/octet-stream"),
            (";=.;filename=.", "application/octet-stream"),
        ] {
            let declared = declared_type(Some("application/octet-stream"), Some(disposition));
            assert_eq!(declared, Some(expected), "{disposition}");
        }
        let page = declared_type(Some("text/html"), Some("attachment; filename=a.csv"));
        assert_eq!(page, Some("text/html"));
    }

    #[test]
    fn bytes_have_the_last_word() {
        let html = b"  <!DOCTYPE html><title>Not found</title>";
        assert_eq!(of_bytes(html, Some(Format::Csv)), Some(Format::HtmlTable));
        assert_eq!(of_bytes(b"%PDF-1.7", Some(Format::Xlsx)), Some(Format::Pdf));
        assert_eq!(
            of_bytes(b"a\tb\n1\t2", Some(Format::Xls)),
            Some(Format::Tsv)
        );
        assert_eq!(of_bytes(b"a,b\n1,2", None), Some(Format::Csv));
        assert_eq!(of_bytes(b"\x89PNG\r\n\x1A\n\0\0", None), None);
        assert_eq!(of_bytes(b"", None), None);
        assert_eq!(of_bytes(b"no such thing", Some(Format::Pdf)), None);
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_format_or_none(bytes: Vec<u8>, url: String) {
            let by_name = looks_like_data(&url, None);
            let _format = of_bytes(&bytes, by_name);
        }
    }
}
