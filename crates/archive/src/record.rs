//! The text of a record: version, named fields, block (WARC 1.1, section 4).

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use uuid::Uuid;

/// Puts a record together at the end of a buffer.
pub(crate) struct RecordBuilder<'a> {
    buffer: &'a mut Vec<u8>,
}

impl<'a> RecordBuilder<'a> {
    /// Starts a record of a type.
    pub(crate) fn new(buffer: &'a mut Vec<u8>, record_type: &str) -> Self {
        buffer.clear();
        buffer.extend_from_slice(b"WARC/1.1\r\n");
        let mut record = Self { buffer };
        record.field("WARC-Type", record_type);
        record
    }

    /// Adds a field.
    pub(crate) fn field(&mut self, name: &str, value: &str) {
        push_field(self.buffer, name, value);
    }

    /// Adds a field that has a value.
    pub(crate) fn optional(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.field(name, value);
        }
    }

    /// Adds the block, and so ends the record.
    pub(crate) fn block(mut self, block: &[u8]) {
        self.field("Content-Length", &block.len().to_string());
        self.buffer.extend_from_slice(b"\r\n");
        self.buffer.extend_from_slice(block);
        self.buffer.extend_from_slice(TERMINATOR);
    }
}

/// What follows each block.
pub(crate) const TERMINATOR: &[u8] = b"\r\n\r\n";

/// Appends a field as records and `application/warc-fields` have it; a control character in it, which could start
/// another field, becomes a blank.
pub(crate) fn push_field(buffer: &mut Vec<u8>, name: &str, value: &str) {
    buffer.extend_from_slice(name.as_bytes());
    buffer.extend_from_slice(b": ");
    buffer.extend(
        value
            .bytes()
            .map(|byte| if byte.is_ascii_control() { b' ' } else { byte }),
    );
    buffer.extend_from_slice(b"\r\n");
}

/// A new record id, with angle brackets.
pub(crate) fn new_record_id() -> String {
    let mut buffer = Uuid::encode_buffer();
    let urn = Uuid::new_v4().urn().encode_lower(&mut buffer);
    ["<", urn, ">"].concat()
}

/// A time as `WARC-Date` has it, to the microsecond.
pub(crate) fn warc_date(time: Timestamp) -> String {
    const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(6));
    PRINTER.timestamp_to_string(&time)
}

/// A time as the index has it, to the second.
pub(crate) fn index_timestamp(time: Timestamp) -> String {
    let mut digits = warc_date(time);
    digits.truncate("YYYY-MM-DDThh:mm:ss".len());
    digits.retain(|character| character.is_ascii_digit());
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spelt_as_the_standards_have_it() {
        let time: Timestamp = "2026-01-05T09:30:12.000123999Z".parse().unwrap();
        assert_eq!(warc_date(time), "2026-01-05T09:30:12.000123Z");
        assert_eq!(index_timestamp(time), "20260105093012");
        assert_eq!(
            warc_date(Timestamp::UNIX_EPOCH),
            "1970-01-01T00:00:00.000000Z"
        );
    }

    #[test]
    fn a_record_id_is_a_uuid() {
        let id = new_record_id();
        assert_eq!(id.len(), "<urn:uuid:>".len() + 36, "{id}");
        assert!(id.starts_with("<urn:uuid:") && id.ends_with('>'), "{id}");
    }
}
