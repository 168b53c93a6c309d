//! Nothing that a server can send brings the room down.
//!
//! Each target runs for a moment here; `cargo bolero test` runs it for as long as wanted.

use std::time::Duration;

use junkai_fetch::robots::Because;
use junkai_fetch::{Exchange, Robots};

const MOMENT: Duration = Duration::from_secs(1);

#[test]
fn fuzz_robots() {
    bolero::check!()
        .with_test_time(MOMENT)
        .with_type::<(Vec<u8>, String)>()
        .for_each(|(file, path)| {
            let with_group = [b"User-agent: *\nDisallow: ", &file[..]].concat();
            for file in [file, &with_group] {
                let robots = Robots::parse(file, "junkai");
                let decision = robots.decide(path);
                assert!(decision.allow() || decision.because != Because::NoRule);
                assert!(robots.decide("/robots.txt").allow());
                let stored = serde_json::to_string(&robots).unwrap();
                let restored: Robots = serde_json::from_str(&stored).unwrap();
                assert_eq!(restored.decide(path).because, decision.because);
            }
        });
}

#[test]
fn fuzz_response() {
    const HEADS: [&[u8]; 4] = [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: br, gzip\r\nContent-Length: 9\r\n\r\n",
    ];
    bolero::check!()
        .with_test_time(MOMENT)
        .with_type::<Vec<u8>>()
        .for_each(|bytes| {
            for head in HEADS {
                let bytes = [head, bytes].concat();
                let exchange = Exchange::from_response(&bytes);
                assert!(exchange.response.len() <= bytes.len());
                assert!(exchange.payload().len() <= exchange.response.len());
                assert!(exchange.decoded(1000).bytes.len() <= 1000);
                if let Some(head) = &exchange.head {
                    assert_eq!(
                        head.length() + exchange.body().len(),
                        exchange.response.len()
                    );
                    assert!(head.fields().all(|field| field.0.len() < bytes.len()));
                }
            }
        });
}
