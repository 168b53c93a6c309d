//! What was sent is what is kept.

use std::borrow::Cow;
use std::io::Write;

use junkai_fetch::{
    Conditional, DecodeProblem, End, Failure, FetchConfig, Framing, Protocol, Request, Truncation,
};

use crate::server::{Server, Step, client, fetch_from};

/// Responses that are whole: their bytes, their payload, and whether the server closes.
fn whole_responses() -> Vec<(&'static str, Vec<u8>, &'static [u8], bool)> {
    let chunked = b"HTTP/1.1 200 Okey Dokey\r\ncOnTeNt-TyPe: text/html\r\nX-Twice: 1\r\nX-Twice: 2\r\nTransfer-Encoding: chunked\r\n\r\n\
        00A;ext=1\r\n0123456789\r\n3\r\nabc\r\n0\r\nX-Trailer: yes\r\n\r\n";
    vec![
        ("chunked with extension and trailer", chunked.to_vec(), b"0123456789abc", false),
        ("content length", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".to_vec(), b"hello", false),
        ("empty", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec(), b"", false),
        ("304 with length", b"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 5\r\n\r\n".to_vec(), b"", false),
        ("HTTP/1.0 to the end", b"HTTP/1.0 200 OK\r\n\r\nall of it".to_vec(), b"all of it", true),
        ("bare line feeds", b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi".to_vec(), b"hi", false),
        ("no reason", b"HTTP/1.1 404\r\nContent-Length: 2\r\n\r\nhi".to_vec(), b"hi", false),
        ("folded and odd fields", b"HTTP/1.1 200 OK\r\nA : 1\r\n 2\r\nodd line\r\n(bad): x\r\nContent-Length: 2\r\n\r\nhi".to_vec(), b"hi", false),
        ("latin-1 value", b"HTTP/1.1 200 OK\r\nX: caf\xe9\r\nContent-Length: 2\r\n\r\nhi".to_vec(), b"hi", false),
        ("status 999", b"HTTP/1.1 999 No\r\nContent-Length: 2\r\n\r\nhi".to_vec(), b"hi", false),
    ]
}

#[tokio::test]
async fn a_response_is_kept_byte_for_byte() {
    for dribble in [false, true] {
        for (name, bytes, payload, closes) in whole_responses() {
            let sent = if dribble {
                Step::Dribble(bytes.clone())
            } else {
                Step::Send(bytes.clone())
            };
            let end = if closes { Step::Close } else { Step::Hang };
            let exchange = fetch_from(vec![sent, end], &FetchConfig::default()).await;
            assert_eq!(exchange.end, End::Complete, "{name}");
            assert_eq!(exchange.response, bytes, "{name}");
            assert_eq!(exchange.payload(), payload, "{name}");
            assert_eq!(
                (exchange.truncated, exchange.irregular),
                (None, None),
                "{name}"
            );
        }
    }
}

#[tokio::test]
async fn a_request_is_kept_byte_for_byte() {
    let answer = || {
        vec![Step::Send(
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec(),
        )]
    };
    let server = Server::start(vec![answer(), answer()]).await;
    let client = client(&FetchConfig::default());
    let url = server.url("/a/b?c=d#fragment");
    let first = client.fetch(Request::new(&url, server.address.ip())).await;
    let second = client
        .fetch(Request {
            conditional: Conditional {
                etag: Some(b"\"v1\""),
                last_modified: Some(b"Sun, 06 Nov 1994 08:49:37 GMT"),
            },
            referer: Some("http://example.org/"),
            ..Request::new(&url, server.address.ip())
        })
        .await;
    assert_eq!(
        server.requests(),
        [first.request.to_vec(), second.request.to_vec()]
    );
    let expected = format!(
        "GET /a/b?c=d HTTP/1.1\r\nHost: {}\r\n\
         User-Agent: Mozilla/5.0 (compatible; junkai/0.1; +ops@example.org)\r\nFrom: ops@example.org\r\n\
         Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
         Accept-Encoding: gzip, br, zstd\r\n",
        server.address
    );
    assert_eq!(
        String::from_utf8_lossy(&first.request),
        format!("{expected}\r\n")
    );
    let conditional = "Referer: http://example.org/\r\nIf-None-Match: \"v1\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n";
    assert_eq!(
        String::from_utf8_lossy(&second.request),
        expected + conditional
    );
}

#[tokio::test]
async fn interim_responses_and_surplus_bytes_are_cut_off() {
    let last = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    let all = [
        b"\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
        &last[..],
        b"surplus",
    ]
    .concat();
    let server = Server::start(vec![vec![Step::Send(all)]]).await;
    let client = client(&FetchConfig::default());
    let url = server.url("/");
    let exchange = client.fetch(Request::new(&url, server.address.ip())).await;
    assert_eq!(exchange.end, End::Complete);
    assert_eq!(exchange.response, &last[..]);
    assert_eq!(
        client.idle_count(),
        0,
        "a server out of step is not spoken to again"
    );
}

#[tokio::test]
async fn what_hyper_refuses_is_understood_where_it_can_be() {
    let table: [(&str, &[u8], &[u8]); 4] = [
        (
            "lengths that differ",
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi",
            b"hi",
        ),
        (
            "line feeds in chunks",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nhi\n0\n\n",
            b"hi",
        ),
        (
            "chunks in HTTP/1.0",
            b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            b"hi",
        ),
        (
            "blanks around a size",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n 2 \r\nhi\r\n0\r\n\r\n",
            b"hi",
        ),
    ];
    for (name, bytes, payload) in table {
        let script = vec![Step::Dribble(bytes.to_vec()), Step::Hang];
        let exchange = fetch_from(script, &FetchConfig::default()).await;
        assert_eq!(exchange.end, End::Complete, "{name}");
        assert_eq!(exchange.response, bytes, "{name}");
        assert_eq!(exchange.payload(), payload, "{name}");
        assert!(
            exchange.irregular.is_some() || name.starts_with("blanks"),
            "{name}"
        );
    }
}

#[tokio::test]
async fn what_is_no_http_is_reported_as_such() {
    for bytes in [
        "ICY 200 OK\r\n\r\nnoise",
        "HTTP/2 200\r\n\r\n",
        "<html>hello</html>",
        "HTTP/1.1 1000 No\r\n\r\n",
    ] {
        let exchange = fetch_from(
            vec![Step::Send(bytes.into()), Step::Close],
            &FetchConfig::default(),
        )
        .await;
        assert!(
            matches!(exchange.failure(), Some(Failure::BadResponse(_))),
            "{bytes}: {:?}",
            exchange.end
        );
        assert_eq!(
            exchange.response, bytes,
            "the bytes are there to be looked at"
        );
        assert!(exchange.head.is_none() && exchange.truncated.is_none());
    }
}

#[tokio::test]
async fn a_broken_message_keeps_what_came() {
    let table: [(&[u8], Option<u16>, &[u8]); 5] = [
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
            Some(200),
            b"half",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
            Some(200),
            b"half",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf",
            Some(200),
            b"half",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-", None, b""),
        (b"", None, b""),
    ];
    for (bytes, status, payload) in table {
        let exchange = fetch_from(
            vec![Step::Send(bytes.to_vec()), Step::Close],
            &FetchConfig::default(),
        )
        .await;
        let received = bytes.len() as u64;
        assert_eq!(
            exchange.failure(),
            Some(&Failure::Disconnected { received })
        );
        assert_eq!(exchange.response, bytes);
        assert_eq!((exchange.status(), exchange.payload()), (status, payload));
        assert_eq!(exchange.truncated, status.map(|_| Truncation::Disconnect));
    }
}

#[tokio::test]
async fn a_malformed_chunk_ends_the_body_there() {
    let bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nzz\r\n";
    let exchange = fetch_from(
        vec![Step::Send(bytes.to_vec()), Step::Hang],
        &FetchConfig::default(),
    )
    .await;
    assert!(
        matches!(exchange.failure(), Some(Failure::BadResponse(_))),
        "{:?}",
        exchange.end
    );
    assert_eq!(exchange.payload(), b"hi");
    assert_eq!(exchange.truncated, Some(Truncation::Disconnect));
}

#[tokio::test]
async fn the_exchange_tells_what_the_head_says() {
    let bytes = b"HTTP/1.0 302 Gone Fishing\r\nlocation: /there\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n";
    let exchange = fetch_from(
        vec![Step::Send(bytes.to_vec()), Step::Close],
        &FetchConfig::default(),
    )
    .await;
    assert_eq!(exchange.protocol, Some(Protocol::Http10));
    assert_eq!(exchange.location(), Some(&b"/there"[..]));
    assert_eq!(
        exchange
            .retry_after(exchange.started)
            .map(|wait| wait.as_secs()),
        Some(7)
    );
    let head = exchange.head.as_ref().unwrap();
    assert_eq!(
        (head.reason(), head.framing()),
        (&b"Gone Fishing"[..], Framing::Length(0))
    );
    assert!(exchange.timing.connected <= exchange.timing.first_byte);
    assert!(exchange.timing.first_byte <= Some(exchange.timing.ended));
}

#[tokio::test]
async fn content_codings_are_undone_on_request_only() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(b"hello hello hello").unwrap();
    let body = encoder.finish().unwrap();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let script = vec![Step::Send([head.as_bytes(), &body].concat())];
    let exchange = fetch_from(script, &FetchConfig::default()).await;
    assert_eq!(exchange.payload(), body);
    assert_eq!(
        exchange.decoded(100).bytes,
        Cow::Borrowed(b"hello hello hello")
    );
    let bomb = exchange.decoded(5);
    assert_eq!(
        (&bomb.bytes[..], bomb.problem),
        (&b"hello"[..], Some(DecodeProblem::Bomb { limit: 5 }))
    );
}
