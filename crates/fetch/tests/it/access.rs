//! What some hosts get besides the request: header fields, logins, cookies; and what the kept request shows of them.

use std::io::Write;

use junkai_fetch::{Access, Client, Exchange, FetchConfig, HeaderConfig, LoginConfig, Request};
use url::Url;

use crate::server::{Server, Step, client};

fn answer(fields: &str) -> Vec<Step> {
    let text = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 0\r\n\r\n");
    vec![Step::Send(text.into_bytes())]
}

fn with_access(config: &FetchConfig) -> Client {
    client(config).with_access(Access::load(config, &environment).unwrap())
}

fn environment(name: &str) -> Option<String> {
    (name == "S3CRET").then(|| "s3cret".to_owned())
}

/// A URL of a server under another name.
fn url(server: &Server, host: &str) -> Url {
    let port = server.address.port();
    format!("http://{host}:{port}/").parse().unwrap()
}

async fn fetch(client: &Client, server: &Server, host: &str) -> Exchange {
    let url = url(server, host);
    client.fetch(Request::new(&url, server.address.ip())).await
}

fn sent(server: &Server) -> String {
    let last = server.requests().pop().unwrap();
    String::from_utf8(last).unwrap()
}

#[tokio::test]
async fn header_fields_go_to_their_hosts_and_replace_the_usual_ones() {
    let server = Server::start(vec![answer(""), answer("")]).await;
    let header = |name: &str, value: &str, hosts: &[&str]| HeaderConfig {
        name: name.to_owned(),
        value: Some(value.to_owned()),
        hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        ..HeaderConfig::default()
    };
    let config = FetchConfig {
        headers: vec![
            header("X-Note", "for all", &[]),
            header("accept", "text/plain", &["*.a.example"]),
        ],
        ..FetchConfig::default()
    };
    let client = with_access(&config);
    let exchange = fetch(&client, &server, "w.a.example").await;
    let request = sent(&server);
    assert!(request.contains("\r\nX-Note: for all\r\n"), "{request}");
    assert!(request.contains("\r\nAccept: text/plain\r\n"), "{request}");
    assert_eq!(
        exchange.request,
        request.as_bytes(),
        "nothing of it is secret"
    );
    assert_eq!(exchange.redacted, None);
    fetch(&client, &server, "b.example").await;
    let request = sent(&server);
    assert!(request.contains("\r\nX-Note: for all\r\n"), "{request}");
    assert!(request.contains("\r\nAccept: text/html,"), "{request}");
}

#[tokio::test]
async fn a_secret_goes_to_its_host_alone_and_is_not_kept() {
    let server = Server::start(vec![answer(""), answer(""), answer("")]).await;
    let port = server.address.port();
    let config = FetchConfig {
        headers: vec![HeaderConfig {
            name: "X-Api-Key".to_owned(),
            value_env: Some("S3CRET".to_owned()),
            hosts: vec!["a.example".to_owned()],
            ..HeaderConfig::default()
        }],
        logins: vec![
            LoginConfig {
                host: format!("a.example:{port}"),
                user: Some("me".to_owned()),
                password_env: Some("S3CRET".to_owned()),
                ..LoginConfig::default()
            },
            LoginConfig {
                host: format!("b.example:{port}"),
                bearer_env: Some("S3CRET".to_owned()),
                ..LoginConfig::default()
            },
        ],
        ..FetchConfig::default()
    };
    let client = with_access(&config);
    let exchange = fetch(&client, &server, "a.example").await;
    let request = sent(&server);
    assert!(
        request.contains("\r\nAuthorization: Basic bWU6czNjcmV0\r\n"),
        "{request}"
    );
    assert!(request.contains("\r\nX-Api-Key: s3cret\r\n"), "{request}");
    let kept = String::from_utf8(exchange.request.to_vec()).unwrap();
    assert!(
        kept.contains("\r\nAuthorization: Basic redacted\r\n"),
        "{kept}"
    );
    assert!(kept.contains("\r\nX-Api-Key: redacted\r\n"), "{kept}");
    assert!(kept.ends_with("\r\n\r\n"));
    assert_eq!(
        exchange.redacted.as_deref(),
        Some("x-api-key, authorization")
    );
    for secret in ["s3cret", "bWU6czNjcmV0"] {
        assert!(!format!("{exchange:?}{config:?}").contains(secret));
    }
    fetch(&client, &server, "b.example").await;
    let request = sent(&server);
    assert!(
        request.contains("\r\nAuthorization: Bearer s3cret\r\n"),
        "{request}"
    );
    assert!(!request.contains("X-Api-Key"), "{request}");
    fetch(&client, &server, "c.example").await;
    assert!(!sent(&server).contains("s3cret"));
    assert!(!sent(&server).contains("Authorization"));
}

#[tokio::test]
async fn cookies_of_a_file_are_sent_and_those_of_servers_are_kept_where_that_is_asked() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "a.example\tFALSE\t/\tFALSE\t0\tmine\ts3cret").unwrap();
    for keep_cookies in [false, true] {
        let set = "Set-Cookie: theirs=1; Path=/\r\nset-cookie: other=2; Domain=b.example\r\n";
        let server = Server::start(vec![answer(set), answer(""), answer("")]).await;
        let config = FetchConfig {
            cookies: Some(file.path().to_owned()),
            keep_cookies,
            ..FetchConfig::default()
        };
        let access = Access::load(&config, &environment).unwrap();
        let first = client(&config).with_access(access.clone());
        let exchange = fetch(&first, &server, "a.example").await;
        assert!(sent(&server).contains("\r\nCookie: mine=s3cret\r\n"));
        let kept = String::from_utf8(exchange.request.to_vec()).unwrap();
        assert!(kept.contains("\r\nCookie: mine=redacted\r\n"), "{kept}");
        let response = String::from_utf8(exchange.response.to_vec()).unwrap();
        assert!(
            response.contains("Set-Cookie: theirs=1"),
            "as the server sent it"
        );
        // Another worker's client has the same cookies.
        let second = client(&config).with_access(access);
        fetch(&second, &server, "a.example").await;
        let with_theirs = sent(&server).contains("mine=s3cret; theirs=1");
        assert_eq!(with_theirs, keep_cookies, "{}", sent(&server));
        fetch(&second, &server, "b.example").await;
        assert!(!sent(&server).contains("Cookie"), "{}", sent(&server));
    }
}
