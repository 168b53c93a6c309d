//! Visits through proxies: the address that was checked is the one that is asked for, and failures are told apart.

use std::io::Write;
use std::net::Ipv4Addr;
use std::time::Duration;

use junkai_fetch::{
    Access, AddressGuard, Client, End, Exchange, Failure, FetchConfig, HeaderConfig, Identity,
    LoginConfig, Request,
};
use url::Url;

use crate::proxy_server::{Manners, ProxyServer};
use crate::server::{Server, Step, client, resources};
use crate::tls;

const KINDS: [&str; 2] = ["http", "socks5"];

fn hello() -> Vec<Step> {
    vec![Step::Send(
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".to_vec(),
    )]
}

fn through(kind: &str, proxy: &ProxyServer) -> FetchConfig {
    FetchConfig {
        proxy: Some(format!("{kind}://{}", proxy.address)),
        ..FetchConfig::default()
    }
}

fn proxied(config: &FetchConfig) -> Client {
    let access = Access::load(config, &|_| None).unwrap();
    client(config).with_access(access)
}

/// Fetches a page of a scripted server through a proxy.
async fn fetch(config: &FetchConfig) -> (Exchange, Server) {
    let server = Server::start(vec![hello()]).await;
    // A name that this machine does not know: only the address that was found for it counts.
    let url: Url = format!("http://a.example:{}/", server.address.port())
        .parse()
        .unwrap();
    let request = Request::new(&url, server.address.ip());
    (proxied(config).fetch(request).await, server)
}

fn login_file(login: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "{login}").unwrap();
    file
}

#[tokio::test]
async fn a_page_comes_through_a_proxy_as_it_comes_without() {
    for kind in KINDS {
        let proxy = ProxyServer::start(Manners::default());
        let (exchange, server) = fetch(&through(kind, &proxy)).await;
        assert_eq!(
            (&exchange.end, exchange.payload()),
            (&End::Complete, &b"hello"[..])
        );
        assert_eq!(exchange.remote, Some(server.address), "not the proxy's");
        assert_eq!(proxy.asked(), [server.address.to_string()]);
        let request = String::from_utf8(exchange.request.to_vec()).unwrap();
        assert!(request.starts_with("GET / HTTP/1.1\r\nHost: a.example:"));
        assert_eq!(server.requests(), [exchange.request.to_vec()]);
    }
}

#[tokio::test]
async fn an_encrypted_page_comes_through_a_proxy() {
    for kind in KINDS {
        let proxy = ProxyServer::start(Manners::default());
        let identity = tls::identity(&[]);
        let config = FetchConfig {
            extra_roots: Some(identity.roots.path().to_owned()),
            ..through(kind, &proxy)
        };
        let (server, listener) = Server::bind(vec![hello()]).await;
        let url = tls::url_of("a.example", &listener);
        let acceptor = identity.acceptor.clone();
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            server.play(acceptor.accept(stream).await.unwrap()).await;
        });
        let request = Request::new(&url, Ipv4Addr::LOCALHOST.into());
        let exchange = proxied(&config).fetch(request).await;
        assert_eq!(exchange.end, End::Complete, "{kind}");
        assert!(exchange.tls.is_some());
        assert_eq!(proxy.asked().len(), 1);
        assert!(proxy.asked()[0].starts_with("127.0.0.1:"));
    }
}

#[tokio::test]
async fn a_tunnel_is_used_again() {
    let proxy = ProxyServer::start(Manners::default());
    let server = Server::start(vec![hello(), hello()]).await;
    let client = proxied(&through("http", &proxy));
    let url = server.url("/");
    for reused in [false, true] {
        let exchange = client.fetch(Request::new(&url, server.address.ip())).await;
        assert_eq!((exchange.reused, &exchange.end), (reused, &End::Complete));
    }
    assert_eq!(proxy.asked().len(), 1);
}

#[tokio::test]
async fn a_proxy_is_told_who_we_are_and_nobody_else_is() {
    for kind in KINDS {
        let manners = Manners {
            login: Some("proxy-user:pr0xy-s3cret"),
            ..Manners::default()
        };
        let proxy = ProxyServer::start(manners);
        let right = login_file("proxy-user:pr0xy-s3cret");
        let known = FetchConfig {
            proxy_login_file: Some(right.path().to_owned()),
            ..through(kind, &proxy)
        };
        let (exchange, server) = fetch(&known).await;
        assert_eq!(exchange.end, End::Complete, "{kind}");
        let seen = String::from_utf8(server.requests().concat()).unwrap();
        assert!(
            !seen.to_ascii_lowercase().contains("authorization"),
            "{seen}"
        );

        proxy.change(Manners {
            login: Some("proxy-user:an0ther"),
            ..Manners::default()
        });
        let wrong = login_file("proxy-user:wr0ng");
        let unknown = FetchConfig {
            proxy_login_file: Some(wrong.path().to_owned()),
            ..through(kind, &proxy)
        };
        for (config, says) in [
            (unknown, "accept the login"),
            (through(kind, &proxy), "wants a login"),
        ] {
            let (exchange, server) = fetch(&config).await;
            let Some(Failure::Proxy(why)) = exchange.failure() else {
                panic!("{kind}: {:?}", exchange.end);
            };
            assert!(why.contains(says) && !why.contains("wr0ng"), "{why}");
            assert!(server.requests().is_empty());
        }
    }
}

#[tokio::test]
async fn no_proxy_reads_a_secret_that_goes_to_its_own_machine() {
    let login = login_file("me:s3cret");
    let cookies = login_file("a.example\tFALSE\t/\tTRUE\t0\tsession\ts3cret");
    for (kind, allow_http) in KINDS
        .into_iter()
        .flat_map(|kind| [(kind, false), (kind, true)])
    {
        let proxy = ProxyServer::start(Manners::default());
        let server = Server::start(vec![hello()]).await;
        let port = server.address.port();
        let config = FetchConfig {
            headers: vec![HeaderConfig {
                name: "X-Api-Key".to_owned(),
                value_file: Some(login.path().to_owned()),
                hosts: vec!["a.example".to_owned()],
                allow_http,
                ..HeaderConfig::default()
            }],
            logins: vec![LoginConfig {
                host: format!("a.example:{port}"),
                login_file: Some(login.path().to_owned()),
                allow_http,
                ..LoginConfig::default()
            }],
            cookies: Some(cookies.path().to_owned()),
            ..through(kind, &proxy)
        };
        let url: Url = format!("http://a.example:{port}/").parse().unwrap();
        let request = Request::new(&url, server.address.ip());
        proxied(&config).fetch(request).await;
        let sent = String::from_utf8(server.requests().pop().unwrap()).unwrap();
        for name in ["X-Api-Key", "Authorization"] {
            assert_eq!(sent.contains(name), allow_http, "{sent}");
        }
        assert!(!sent.contains("Cookie"), "{sent}");
    }
}

#[tokio::test]
async fn a_failure_is_blamed_on_the_proxy_or_on_the_server_as_it_is() {
    let of_proxy = |failure: &Failure| matches!(failure, Failure::Proxy(_));
    let refused = |failure: &Failure| matches!(failure, Failure::ProxyRefused(_));
    let of_server = |failure: &Failure| matches!(failure, Failure::Connect(_));
    for (kind, answer, code, is_right) in [
        (
            "http",
            "SSH-2.0-other\r\n\r\n",
            0,
            &of_proxy as &dyn Fn(&Failure) -> bool,
        ),
        ("http", "HTTP/1.1 407 Who\r\n\r\n", 0, &of_proxy),
        ("http", "", 0, &refused),
        ("http", "HTTP/1.1 403 Forbidden\r\n\r\n", 0, &refused),
        (
            "http",
            "HTTP/1.1 500 Unable to connect\r\n\r\n",
            0,
            &of_server,
        ),
        (
            "http",
            "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\nno",
            0,
            &of_server,
        ),
        ("socks5", "", 1, &refused),
        ("socks5", "", 2, &refused),
        ("socks5", "", 99, &refused),
        ("socks5", "", 4, &of_server),
        ("socks5", "", 5, &of_server),
    ] {
        let proxy = ProxyServer::start(Manners {
            refuses: Some((answer, code)),
            ..Manners::default()
        });
        let (exchange, server) = fetch(&through(kind, &proxy)).await;
        let failure = exchange.failure().unwrap();
        assert!(is_right(failure), "{failure:?}");
        assert!(failure.to_string().contains("the proxy "), "{failure}");
        assert!(!failure.reached_server() && server.requests().is_empty());
    }
    // Nobody listens there any more.
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    for kind in KINDS {
        let config = FetchConfig {
            proxy: Some(format!("{kind}://{address}")),
            ..FetchConfig::default()
        };
        let (exchange, _server) = fetch(&config).await;
        let failure = exchange.failure().unwrap().to_string();
        assert!(
            failure.starts_with(&format!("the proxy {kind}://{address} cannot be reached")),
            "{failure}"
        );
    }
    // What speaks another protocol, or says nothing, is no proxy.
    let other = Server::start(vec![vec![Step::Hang]]).await;
    let config = FetchConfig {
        proxy: Some(format!("http://{}", other.address)),
        connect_timeout: Duration::from_millis(50),
        ..FetchConfig::default()
    };
    let (exchange, _server) = fetch(&config).await;
    assert_eq!(exchange.failure(), Some(&Failure::ConnectTimeout));
}

#[tokio::test]
async fn no_proxy_leads_around_the_address_guard() {
    let proxy = ProxyServer::start(Manners::default());
    let config = through("socks5", &proxy);
    let access = Access::load(&config, &|_| None).unwrap();
    let client = Client::new(
        &config,
        &Identity::default(),
        AddressGuard::default(),
        resources(&config),
    );
    let client = client.unwrap().with_access(access);
    let url: Url = "http://a.example/".parse().unwrap();
    let exchange = client
        .fetch(Request::new(&url, Ipv4Addr::LOCALHOST.into()))
        .await;
    assert!(matches!(exchange.failure(), Some(Failure::Refused(_))));
    assert!(proxy.asked().is_empty());
}

#[tokio::test]
async fn hosts_that_are_excepted_are_reached_without() {
    let config = FetchConfig {
        // Nobody could go through this one.
        proxy: Some("http://127.0.0.1:1".to_owned()),
        no_proxy: vec!["a.example".to_owned()],
        ..FetchConfig::default()
    };
    let (exchange, _server) = fetch(&config).await;
    assert_eq!(exchange.end, End::Complete);
}
