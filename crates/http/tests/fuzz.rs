//! Any bytes at all: readers never panic, never hang, and give no more than they may.

use std::io::Read as _;
use std::time::Duration;

use junkai_http::{ChunkDecoder, Progress, Start, TextHead, content, find_head, message};

const TIME: Duration = Duration::from_secs(2);

#[test]
fn fuzz_messages() {
    bolero::check!()
        .with_test_time(TIME)
        .with_type::<Vec<u8>>()
        .for_each(|bytes| {
            let mut payload_length = 0;
            let mut decoder = ChunkDecoder::default();
            let progress = decoder.take_apart(bytes, |piece| payload_length += piece.len());
            if let Progress::Complete(length) | Progress::Malformed(length) = progress {
                assert!(length <= bytes.len());
                assert!(payload_length <= length);
            }
            let codings = ["gzip", "deflate", "br", "zstd", "br, gzip"];
            for coding in codings {
                let head = format!(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: {coding}\r\n\r\n"
                );
                let stored = [head.as_bytes(), bytes].concat();
                assert!(message(&stored).content(100).bytes.len() <= 100);
                read_some(&stored);
            }
            assert!(message(bytes).content(100).bytes.len() <= 100);
            read_some(bytes);
            if let Start::Head { interim, head } = find_head(bytes) {
                assert!(interim + head.length <= bytes.len());
            }
        });
}

/// Reads a stored message as a stream; a damaged one may end with an error.
fn read_some(stored: &[u8]) {
    let head = TextHead::parse(stored);
    let mut some = Vec::new();
    let body = &stored[head.length..];
    let _error = content(&head, body).take(1000).read_to_end(&mut some);
    assert!(some.len() <= 1000);
}
