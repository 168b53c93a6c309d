//! The line with which a record of an ARC file begins, read as the head of a WARC record.
//!
//! Burner and Kahle, "Arc File Format", Internet Archive, 1996: a line of five fields (version 1) or ten (version 2) that blanks
//! separate, the block, and a line feed. The first record describes the file (`filedesc://`). A head is given the names that
//! warcio gives it, so that whoever reads WARC records reads these.
//!
//! Departures: a URL may hold blanks, as crawlers wrote them, so fields are counted from the end of the line; the line feed
//! between records may be missing.

use crate::indexer::is_http_url;
use crate::record_head::RecordHead;

/// How the URL of the first record begins.
const FILE_DESCRIPTION: &str = "filedesc://";
/// What a date that is cut short is filled up with.
const DATE_FILL: &str = "00000101000000";
/// Digits of a date in full, and of the longest and shortest that are taken for one.
const DATE_DIGITS: usize = 14;
const DATE_DIGITS_MAX: usize = 20;
const DATE_DIGITS_MIN: usize = 8;

/// The line of a record, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArcLine<'a> {
    pub(crate) url: &'a str,
    pub(crate) address: &'a str,
    /// `YYYYMMDDhhmmss`, as far as it goes.
    pub(crate) date: &'a str,
    pub(crate) media_type: &'a str,
    /// The length of the block, as it is written.
    pub(crate) length: &'a str,
    /// Whether it has the fields of version 2.
    is_second_version: bool,
}

impl<'a> ArcLine<'a> {
    /// Takes a line apart, with or without its line end; nothing if it is no such line.
    pub(crate) fn parse(line: &'a str) -> Option<Self> {
        let line = line.trim_end_matches(['\r', '\n']);
        let second = line.rsplitn(10, ' ').collect::<Vec<_>>();
        if let [length, _, _, _, _, _, media_type, date, address, url] = second[..] {
            let line = ArcLine {
                url,
                address,
                date,
                media_type,
                length,
                is_second_version: true,
            };
            if line.is_likely() {
                return Some(line);
            }
        }
        let first = line.rsplitn(5, ' ').collect::<Vec<_>>();
        let [length, media_type, date, address, url] = first[..] else {
            return None;
        };
        let line = ArcLine {
            url,
            address,
            date,
            media_type,
            length,
            is_second_version: false,
        };
        line.is_likely().then_some(line)
    }

    /// Whether a line could be one, from its beginning alone.
    pub(crate) fn could_begin(bytes: &[u8]) -> bool {
        let end = bytes.iter().position(|byte| *byte == b' ');
        let word = &bytes[..end.unwrap_or(bytes.len())];
        str::from_utf8(word).is_ok_and(has_scheme)
    }

    /// The head of the record at `offset`; nothing if its length is no number.
    pub(crate) fn head(&self, offset: u64) -> Option<RecordHead> {
        let is_number = self.length.bytes().all(|byte| byte.is_ascii_digit());
        let content_length = self.length.parse().ok().filter(|_| is_number)?;
        let (record_type, place, media_type) = match self.url.strip_prefix(FILE_DESCRIPTION) {
            Some(file) => ("warcinfo", ("WARC-Filename", file), self.media_type),
            None if is_http_url(self.url) => {
                let media_type = "application/http;msgtype=response";
                ("response", ("WARC-Target-URI", self.url), media_type)
            }
            None => ("response", ("WARC-Target-URI", self.url), self.media_type),
        };
        let fields = [
            ("WARC-Type", record_type),
            place,
            ("WARC-Date", &self.iso_date()),
            ("WARC-IP-Address", self.address),
            ("Content-Type", media_type),
            ("Content-Length", self.length),
        ];
        let version = if self.is_second_version {
            "ARC/2"
        } else {
            "ARC/1"
        };
        Some(RecordHead {
            offset,
            version: version.to_owned(),
            fields: fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            content_length,
        })
    }

    /// The date as WARC files have it.
    pub(crate) fn iso_date(&self) -> String {
        let digits = &self.date[..self.date.len().min(DATE_DIGITS)];
        let digits = [digits, &DATE_FILL[digits.len()..]].concat();
        let part = |from: usize, to: usize| &digits[from..to];
        format!(
            "{}-{}-{}T{}:{}:{}Z",
            part(0, 4),
            part(4, 6),
            part(6, 8),
            part(8, 10),
            part(10, 12),
            part(12, 14)
        )
    }

    /// Whether the fields hold what they should, so that a line of text is not taken for a record.
    fn is_likely(&self) -> bool {
        let is_date = (DATE_DIGITS_MIN..=DATE_DIGITS_MAX).contains(&self.date.len())
            && self.date.bytes().all(|byte| byte.is_ascii_digit());
        let is_address = self.address == "-"
            || self
                .address
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':'));
        is_date && is_address && has_scheme(self.url)
    }
}

/// Whether a text begins as a URL does.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else {
        return false;
    };
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn head(line: &str) -> Option<(String, String, u64)> {
        let head = ArcLine::parse(line)?.head(0)?;
        let place = head
            .field("WARC-Target-URI")
            .or(head.field("WARC-Filename"));
        let date = head.field("WARC-Date").unwrap_or_default();
        Some((place?.to_owned(), date.to_owned(), head.content_length))
    }

    #[test]
    fn both_versions_of_a_line_are_taken_apart() {
        let read =
            |place: &str, date: &str, length| Some((place.to_owned(), date.to_owned(), length));
        // The examples of the description of the format.
        assert_eq!(
            head("filedesc://IA-001102.arc 0 19960923142103 text/plain 76\n"),
            read("IA-001102.arc", "1996-09-23T14:21:03Z", 76)
        );
        assert_eq!(
            head(
                "http://www.dryswamp.edu:80/index.html 127.10.100.2 19961104142103 text/html 202\n"
            ),
            read(
                "http://www.dryswamp.edu:80/index.html",
                "1996-11-04T14:21:03Z",
                202
            )
        );
        assert_eq!(
            head(
                "http://www.dryswamp.edu:80/index.html 127.10.100.2 19961104142103 text/html 200 fac069150613fe55599cc7fa88aa089d - 209 IA-001102.arc 202\n"
            ),
            read(
                "http://www.dryswamp.edu:80/index.html",
                "1996-11-04T14:21:03Z",
                202
            )
        );
        assert_eq!(
            head("http://a.example/a b c ::1 20140216 no-type 1\r\n"),
            read("http://a.example/a b c", "2014-02-16T00:00:00Z", 1)
        );
    }

    #[test]
    fn what_is_no_such_line_is_told_from_one() {
        for line in [
            "",
            "\n",
            "WARC/1.0\r\n",
            "see http://a.example/ from 1.2.3.4 on 20140216 for 5",
            "http://a.example/ 1.2.3.4 20140216 text/html -1",
            "http://a.example/ 1.2.3.4 yesterday text/html 1",
            "a.example/ 1.2.3.4 20140216 text/html 1",
        ] {
            assert_eq!(head(line), None, "{line}");
        }
        assert!(ArcLine::could_begin(b"http://a.example/ 1.2"));
        assert!(!ArcLine::could_begin(b"WARC/1.0\r\nWARC-Type: a"));
    }

    proptest! {
        #[test]
        fn any_line_is_read_or_refused(line in "\\PC*", url in "[a-z]{1,5}:\\PC{0,20}", date in "[0-9]{6,22}", length in "[0-9]{1,22}") {
            let _any = head(&line);
            let _likely = head(&format!("{url} 1.2.3.4 {date} text/html {length}"));
        }
    }
}
