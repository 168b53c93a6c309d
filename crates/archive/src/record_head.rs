//! What a record says of itself, and where it is.

/// The format of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Warc,
    /// The older format, whose heads are read as those of WARC records.
    Arc,
}

/// The head of a record and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// Offset of the record, or of its compressed member, in the file.
    pub offset: u64,
    /// Such as `WARC/1.1`; `ARC/1` or `ARC/2` for a record of an ARC file, whose fields are given the names of WARC fields.
    pub version: String,
    /// Names and values, in order.
    pub fields: Vec<(String, String)>,
    /// Length of the block.
    pub content_length: u64,
}

impl RecordHead {
    /// The value of the first field of that name, in any case.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        let (_, value) = self
            .fields
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(value)
    }

    pub(crate) fn format(&self) -> Format {
        if self.version.starts_with("ARC/") {
            Format::Arc
        } else {
            Format::Warc
        }
    }

    /// `WARC-Type`; empty if there is none.
    #[must_use]
    pub fn record_type(&self) -> &str {
        self.field("WARC-Type").unwrap_or_default()
    }

    /// `WARC-Target-URI`, mended as warcio does: without the angle brackets of old wget, and with blanks encoded.
    #[must_use]
    pub fn target_uri(&self) -> Option<String> {
        let uri = self.field("WARC-Target-URI")?;
        let uri = uri
            .strip_prefix('<')
            .and_then(|rest| rest.strip_suffix('>'))
            .unwrap_or(uri);
        Some(uri.replace(' ', "%20"))
    }
}

/// Where a record was, and how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Offset of the record or its member.
    pub offset: u64,
    /// Its length: of the member, or of the plain record without the empty lines after it.
    pub length: u64,
    /// Where the next record starts.
    pub end: u64,
    /// Whether exactly the two line ends of the standard follow the block.
    pub is_terminated: bool,
}

#[cfg(test)]
mod tests {
    use super::RecordHead;

    #[test]
    fn a_target_uri_is_mended_as_warcio_does() {
        let check = |uri: &str, expected: &str| {
            let head = RecordHead {
                offset: 0,
                version: String::new(),
                fields: vec![("warc-target-uri".to_owned(), uri.to_owned())],
                content_length: 0,
            };
            assert_eq!(head.target_uri().as_deref(), Some(expected));
        };
        check("<http://example.org/>", "http://example.org/");
        check("http://example.org/a b", "http://example.org/a%20b");
    }
}
