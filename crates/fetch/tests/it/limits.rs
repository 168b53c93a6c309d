//! No server gets more time, or more memory, than it was given.
//!
//! The time limits here are short and the servers never come to an end, so that a slow
//! machine changes how long a test takes but not its result.

use std::time::Duration;

use bytesize::ByteSize;
use junkai_fetch::{
    AddressGuard, Client, End, Failure, FetchConfig, Identity, Request, Truncation,
};
use tokio::net::TcpListener;

use crate::server::{Server, Step, client, fetch_from, resources};

const SHORT: Duration = Duration::from_millis(100);
const NEVER: Duration = Duration::from_hours(1);

fn patient() -> FetchConfig {
    FetchConfig {
        first_byte_timeout: NEVER,
        total_timeout: NEVER,
        min_rate: 0,
        ..FetchConfig::default()
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_left() {
    let config = FetchConfig {
        first_byte_timeout: SHORT,
        ..patient()
    };
    let exchange = fetch_from(vec![Step::Hang], &config).await;
    assert_eq!(exchange.failure(), Some(&Failure::FirstByteTimeout));
    assert!(exchange.request.starts_with(b"GET /page HTTP/1.1\r\n"));
    assert!(SHORT <= exchange.timing.ended);
}

#[tokio::test]
async fn a_first_byte_is_enough_for_the_first_byte_limit() {
    let config = FetchConfig {
        first_byte_timeout: SHORT,
        total_timeout: SHORT * 4,
        ..patient()
    };
    let exchange = fetch_from(vec![Step::Send(b"H".to_vec()), Step::Hang], &config).await;
    assert_eq!(exchange.failure(), Some(&Failure::TotalTimeout));
    assert_eq!(
        (exchange.truncated, &exchange.response[..]),
        (None, &b"H"[..])
    );
}

#[tokio::test]
async fn an_endless_drip_ends_by_the_total_limit() {
    let config = FetchConfig {
        total_timeout: SHORT,
        ..patient()
    };
    let head = Step::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec());
    let drip = Step::Forever(b".", Duration::from_millis(5));
    let exchange = fetch_from(vec![head, drip], &config).await;
    assert_eq!(exchange.failure(), Some(&Failure::TotalTimeout));
    assert_eq!(
        (exchange.status(), exchange.truncated),
        (Some(200), Some(Truncation::Time))
    );
    assert!(exchange.payload().iter().all(|byte| *byte == b'.'));
}

#[tokio::test]
async fn a_drip_below_the_least_rate_ends_earlier() {
    let config = FetchConfig {
        first_byte_timeout: SHORT,
        min_rate: 1_000_000,
        min_rate_window: SHORT,
        ..patient()
    };
    let head = Step::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec());
    let drip = Step::Forever(b".", Duration::from_millis(5));
    let exchange = fetch_from(vec![head, drip], &config).await;
    assert_eq!(exchange.failure(), Some(&Failure::TooSlow));
    assert_eq!(exchange.truncated, Some(Truncation::Time));
}

#[tokio::test]
async fn an_endless_body_is_cut_at_its_bound() {
    let config = FetchConfig {
        max_body_bytes: ByteSize::kb(100),
        ..patient()
    };
    let heads: [&[u8]; 3] = [
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n",
    ];
    for head in heads {
        let flood = Step::Flood(&[b'x'; 4096]);
        let exchange = fetch_from(vec![Step::Send(head.to_vec()), flood], &config).await;
        assert_eq!(exchange.failure(), Some(&Failure::BodyTooLarge));
        assert_eq!(
            (exchange.status(), exchange.truncated),
            (Some(200), Some(Truncation::Length))
        );
        assert_eq!(exchange.body().len(), 100_000);
        assert!(exchange.payload().iter().all(|byte| *byte == b'x'));
    }
}

#[tokio::test]
async fn a_body_of_exactly_the_bound_is_whole() {
    let config = FetchConfig {
        max_body_bytes: ByteSize::b(5),
        ..patient()
    };
    let script = vec![Step::Send(
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".to_vec(),
    )];
    let exchange = fetch_from(script, &config).await;
    assert_eq!((exchange.end, exchange.response.len()), (End::Complete, 43));
}

#[tokio::test]
async fn endless_headers_and_endless_interim_responses_are_cut() {
    let config = FetchConfig {
        max_header_bytes: ByteSize::kib(16),
        max_body_bytes: ByteSize::kib(64),
        ..patient()
    };
    for (start, flood) in [
        (
            &b"HTTP/1.1 200 OK\r\n"[..],
            &b"X-More: and more and more\r\n"[..],
        ),
        (b"HTTP/1.1 200 OK\r\nX: ", b"one endless value "),
        (b"HTTP/1.1 ", b"200 "),
        (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    ] {
        let flood = Step::Flood(flood);
        let exchange = fetch_from(vec![Step::Send(start.to_vec()), flood], &config).await;
        let failure = exchange.failure().unwrap();
        assert!(
            matches!(failure, Failure::HeadTooLarge | Failure::BadResponse(_)),
            "{failure:?} after {start:?}"
        );
        assert!(
            exchange.response.len() <= 80 * 1024,
            "{}",
            exchange.response.len()
        );
        assert!(exchange.head.is_none());
    }
}

#[tokio::test]
async fn a_closed_port_and_a_silent_one_are_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let url = format!("https://{address}/").parse().unwrap();
    let config = FetchConfig {
        connect_timeout: SHORT,
        ..patient()
    };
    // It accepts, as the kernel does for it, but never shakes hands.
    let silent = client(&config)
        .fetch(Request::new(&url, address.ip()))
        .await;
    assert_eq!(silent.failure(), Some(&Failure::ConnectTimeout));
    drop(listener);
    let closed = client(&patient())
        .fetch(Request::new(&url, address.ip()))
        .await;
    assert!(
        matches!(closed.failure(), Some(Failure::Connect(_))),
        "{:?}",
        closed.end
    );
}

#[tokio::test]
async fn the_client_itself_refuses_private_addresses() {
    let server = Server::start(vec![vec![Step::Close]]).await;
    let config = patient();
    let guard = AddressGuard::default();
    let client = Client::new(&config, &Identity::default(), guard, resources(&config)).unwrap();
    let url = server.url("/");
    let exchange = client.fetch(Request::new(&url, server.address.ip())).await;
    assert!(matches!(exchange.failure(), Some(Failure::Refused(_))));
    assert!(exchange.request.is_empty());
    assert_eq!(server.connection_count(), 0);
}

#[tokio::test]
async fn a_url_that_is_no_web_page_is_a_failure_not_a_panic() {
    let url = "ftp://127.0.0.1/".parse().unwrap();
    let exchange = client(&patient())
        .fetch(Request::new(&url, [127, 0, 0, 1].into()))
        .await;
    assert!(matches!(exchange.failure(), Some(Failure::BadRequest(_))));
}
