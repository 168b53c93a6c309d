//! Any bytes at all: readers never panic, never hang, and take no more than they are given.

use std::io::{Read as _, copy, sink};
use std::time::Duration;

use junkai_archive::Reader;

const TIME: Duration = Duration::from_secs(2);

#[test]
fn fuzz_warc_reading() {
    bolero::check!()
        .with_test_time(TIME)
        .with_type::<Vec<u8>>()
        .for_each(|bytes| {
            let as_they_are = bytes.clone();
            let mut as_record = b"WARC/1.1\r\nWARC-Type: response\r\n".to_vec();
            as_record.extend_from_slice(bytes);
            let mut as_block =
                format!("WARC/1.0\r\nContent-Length: {}\r\n\r\n", bytes.len()).into_bytes();
            as_block.extend_from_slice(bytes);
            let mut as_gzip = vec![0x1f, 0x8b, 8, 0];
            as_gzip.extend_from_slice(bytes);
            let mut as_zstd = vec![0x28, 0xb5, 0x2f, 0xfd];
            as_zstd.extend_from_slice(bytes);
            let mut as_dictionary = vec![0x5d, 0x2a, 0x4d, 0x18, 3, 0, 0, 0];
            as_dictionary.extend_from_slice(bytes);
            for file in [
                as_they_are,
                as_record,
                as_block,
                as_gzip,
                as_zstd,
                as_dictionary,
            ] {
                read(&file);
            }
        });
}

fn read(file: &[u8]) {
    let Ok(mut reader) = Reader::new(file) else {
        return;
    };
    let mut end = 0;
    while let Ok(Some(mut record)) = reader.next_record() {
        let length = record.head().content_length;
        let mut start = Vec::new();
        if record.by_ref().take(10).read_to_end(&mut start).is_err()
            || copy(&mut record, &mut sink()).is_err()
        {
            return;
        }
        let Ok(span) = record.finish() else { return };
        assert!(
            end <= span.offset && span.offset < span.end,
            "records follow each other"
        );
        assert!(span.end <= file.len() as u64, "a record lies in the file");
        assert!(start.len() as u64 <= length);
        end = span.end;
    }
}
