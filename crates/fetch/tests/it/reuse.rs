//! Kept connections save handshakes and never hide a visit.

use std::time::Duration;

use junkai_fetch::{End, Failure, FetchConfig, Request};

use crate::server::{Server, Step, client};

fn hello() -> Step {
    Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".to_vec())
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let chunked = Step::Send(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n".to_vec(),
    );
    let server = Server::start(vec![vec![hello()], vec![chunked], vec![hello()]]).await;
    let client = client(&FetchConfig::default());
    let url = server.url("/");
    for (reused, payload) in [(false, "hello"), (true, "hi"), (true, "hello")] {
        let exchange = client.fetch(Request::new(&url, server.address.ip())).await;
        assert_eq!(
            (exchange.reused, exchange.payload()),
            (reused, payload.as_bytes())
        );
    }
    assert_eq!((server.connection_count(), client.idle_count()), (1, 1));
    client.close_all();
    assert_eq!(client.idle_count(), 0);
}

#[tokio::test]
async fn a_connection_that_the_server_closed_is_not_used_again() {
    let closing = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec();
    let script = vec![
        vec![hello(), Step::Close],
        vec![Step::Send(closing), Step::Close],
        vec![hello()],
    ];
    let server = Server::start(script).await;
    let client = client(&FetchConfig::default());
    let url = server.url("/");
    for _ in 0..3 {
        let exchange = client.fetch(Request::new(&url, server.address.ip())).await;
        assert_eq!((exchange.end, exchange.reused), (End::Complete, false));
        // Lets the server's end of the connection arrive.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!((server.requests().len(), server.connection_count()), (3, 3));
}

#[tokio::test]
async fn a_request_on_a_stale_connection_is_not_repeated() {
    // The server reads the second request and only then closes: it has seen a visit.
    let server = Server::start(vec![vec![hello()], vec![Step::Close], vec![hello()]]).await;
    let client = client(&FetchConfig::default());
    let url = server.url("/");
    client.fetch(Request::new(&url, server.address.ip())).await;
    let stale = client.fetch(Request::new(&url, server.address.ip())).await;
    assert_eq!(stale.failure(), Some(&Failure::StaleConnection));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn connections_are_not_kept_where_none_are_wanted() {
    let config = FetchConfig {
        idle_connections: 0,
        ..FetchConfig::default()
    };
    let server = Server::start(vec![vec![hello()], vec![hello()]]).await;
    let client = client(&config);
    let url = server.url("/");
    for _ in 0..2 {
        let exchange = client.fetch(Request::new(&url, server.address.ip())).await;
        let request = String::from_utf8_lossy(&exchange.request).into_owned();
        assert!(request.contains("\r\nConnection: close\r\n"), "{request}");
    }
    assert_eq!(server.connection_count(), 2);
}

#[tokio::test]
async fn an_idle_connection_is_closed_in_time() {
    let config = FetchConfig {
        idle_timeout: Duration::from_millis(20),
        ..FetchConfig::default()
    };
    let server = Server::start(vec![vec![hello()]]).await;
    let client = client(&config);
    let url = server.url("/");
    client.fetch(Request::new(&url, server.address.ip())).await;
    tokio::time::sleep(Duration::from_millis(40)).await;
    client.close_idle();
    assert_eq!(client.idle_count(), 0);
}

#[tokio::test]
async fn two_hosts_on_one_address_do_not_share_a_connection() {
    let server = Server::start(vec![vec![hello()], vec![hello()]]).await;
    let client = client(&FetchConfig::default());
    let port = server.address.port();
    for host in ["a.example", "b.example"] {
        let url = format!("http://{host}:{port}/").parse().unwrap();
        let exchange = client.fetch(Request::new(&url, server.address.ip())).await;
        assert!(!exchange.reused);
        let host = format!("\r\nHost: {host}:{port}\r\n");
        assert!(String::from_utf8_lossy(&exchange.request).contains(&host));
    }
}
