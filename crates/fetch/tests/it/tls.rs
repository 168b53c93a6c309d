//! Encrypted servers: who is trusted, what is noted, and HTTP/2.

use std::convert::Infallible;
use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use junkai_fetch::{
    Access, End, Exchange, Failure, FetchConfig, LoginConfig, PostError, Poster, Protocol, Request,
    TlsVerify,
};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use url::Url;

use crate::server::{Server, Step, client, resources};

/// A host name, its certificate, and a file that says to trust it.
pub(crate) struct Identity {
    pub(crate) acceptor: TlsAcceptor,
    pub(crate) roots: tempfile::NamedTempFile,
}

pub(crate) fn identity(alpn: &[&[u8]]) -> Identity {
    identity_of("a.example", alpn)
}

fn identity_of(host: &str, alpn: &[&[u8]]) -> Identity {
    let made = rcgen::generate_simple_self_signed(vec![host.to_owned()]).unwrap();
    let mut roots = tempfile::NamedTempFile::new().unwrap();
    roots.write_all(made.cert.pem().as_bytes()).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Identity { acceptor, roots }
}

fn trusting(identity: &Identity) -> FetchConfig {
    FetchConfig {
        extra_roots: Some(identity.roots.path().to_owned()),
        ..FetchConfig::default()
    }
}

pub(crate) fn url_of(host: &str, listener: &TcpListener) -> Url {
    let port = listener.local_addr().unwrap().port();
    format!("https://{host}:{port}/page").parse().unwrap()
}

/// Fetches `https://HOST/page` from a scripted server.
async fn fetch(
    host: &str,
    identity: &Identity,
    config: &FetchConfig,
    script: Vec<Step>,
) -> Exchange {
    let (server, listener) = Server::bind(vec![script]).await;
    let url = url_of(host, &listener);
    let acceptor = identity.acceptor.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(stream) = acceptor.accept(stream).await {
                server.play(stream).await;
            }
        }
    });
    client(config)
        .fetch(Request::new(&url, [127, 0, 0, 1].into()))
        .await
}

fn hello() -> Vec<Step> {
    vec![Step::Dribble(
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".to_vec(),
    )]
}

#[tokio::test]
async fn an_encrypted_exchange_is_kept_in_the_clear() {
    let identity = identity(&[]);
    let exchange = fetch("a.example", &identity, &trusting(&identity), hello()).await;
    assert_eq!(
        (&exchange.end, exchange.payload()),
        (&End::Complete, &b"hello"[..])
    );
    assert!(exchange.response.starts_with(b"HTTP/1.1 200 OK"));
    let session = exchange.tls.unwrap();
    assert_eq!((session.version, &session.problem), ("tls/1.3", &None));
    assert!(session.cipher.starts_with("TLS_AES_"), "{}", session.cipher);
}

#[tokio::test]
async fn a_certificate_that_does_not_verify_fails_or_is_noted() {
    let identity = identity(&[]);
    for (host, config) in [
        ("a.example", FetchConfig::default()),
        ("b.example", trusting(&identity)),
        ("127.0.0.1", trusting(&identity)),
    ] {
        let strict = fetch(host, &identity, &config, hello()).await;
        assert!(
            matches!(strict.failure(), Some(Failure::Tls(_))),
            "{host}: {:?}",
            strict.end
        );
        let config = FetchConfig {
            tls_verify: TlsVerify::Lenient,
            ..config
        };
        let lenient = fetch(host, &identity, &config, hello()).await;
        assert_eq!(
            (&lenient.end, lenient.payload()),
            (&End::Complete, &b"hello"[..])
        );
        assert!(lenient.tls.unwrap().problem.is_some());
    }
    let config = FetchConfig {
        tls_verify: TlsVerify::Lenient,
        ..trusting(&identity)
    };
    let sound = fetch("a.example", &identity, &config, hello()).await;
    assert_eq!(sound.tls.unwrap().problem, None);
}

#[tokio::test]
async fn a_plain_server_on_a_tls_port_is_reported_as_such() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = url_of("a.example", &listener);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(stream.try_write(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
        }
    });
    let client = client(&FetchConfig::default());
    let exchange = client
        .fetch(Request::new(&url, [127, 0, 0, 1].into()))
        .await;
    assert!(
        matches!(exchange.failure(), Some(Failure::Tls(_))),
        "{:?}",
        exchange.end
    );
}

#[tokio::test]
async fn a_file_without_certificates_is_a_mistake_in_the_settings() {
    let empty = tempfile::NamedTempFile::new().unwrap();
    for path in [empty.path().to_owned(), "/nonexistent".into()] {
        let config = FetchConfig {
            extra_roots: Some(path),
            ..FetchConfig::default()
        };
        let identity = junkai_fetch::Identity::default();
        let guard = junkai_fetch::AddressGuard::default();
        assert!(junkai_fetch::Client::new(&config, &identity, guard, resources(&config)).is_err());
    }
}

/// Answers requests in HTTP/2 with their path.
async fn serve_http2(stream: TlsStream<TcpStream>) {
    let service = service_fn(|request: http::Request<hyper::body::Incoming>| async move {
        let path = request.uri().path().to_owned();
        let body = match path.as_str() {
            "/long" => "x".repeat(300_000),
            "/who" => request.headers()["authorization"]
                .to_str()
                .unwrap()
                .to_owned(),
            _ => path,
        };
        let response = http::Response::builder()
            .header("x-twice", "1")
            .header("x-twice", "2");
        Ok::<_, Infallible>(response.body(Full::new(Bytes::from(body))).unwrap())
    });
    let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    drop(server.serve_connection(TokioIo::new(stream), service).await);
}

#[tokio::test]
async fn http2_is_spoken_where_it_is_wanted_and_kept_as_a_message() {
    let identity = identity(&[b"h2"]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = url_of("a.example", &listener);
    let acceptor = identity.acceptor.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let stream = acceptor.accept(stream).await.unwrap();
            tokio::spawn(serve_http2(stream));
        }
    });
    let config = FetchConfig {
        http2: true,
        max_body_bytes: bytesize::ByteSize::b(200_000),
        ..trusting(&identity)
    };
    let client = client(&config);
    for reused in [false, true] {
        let exchange = client
            .fetch(Request::new(&url, [127, 0, 0, 1].into()))
            .await;
        assert_eq!(exchange.end, End::Complete);
        assert_eq!(
            (exchange.protocol, exchange.reused),
            (Some(Protocol::Http2), reused)
        );
        assert_eq!(
            (exchange.status(), exchange.payload()),
            (Some(200), &b"/page"[..])
        );
        let head = exchange.head.as_ref().unwrap();
        assert_eq!(head.values("X-Twice").collect::<Vec<_>>(), [b"1", b"2"]);
        assert!(exchange.response.starts_with(b"HTTP/1.1 200 \r\n"));
        let request = String::from_utf8_lossy(&exchange.request).into_owned();
        let start = format!("GET /page HTTP/1.1\r\nhost: {}\r\n", url.authority());
        assert!(request.starts_with(&start), "{request}");
        assert!(request.ends_with("\r\n\r\n"));
    }
    let long = client
        .fetch(Request::new(
            &url.join("/long").unwrap(),
            [127, 0, 0, 1].into(),
        ))
        .await;
    assert_eq!(long.failure(), Some(&Failure::BodyTooLarge));
    assert_eq!(long.payload().len(), 200_000);
}

#[tokio::test]
async fn a_login_goes_by_http2_too_and_is_not_kept() {
    let identity = identity(&[b"h2"]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = url_of("a.example", &listener).join("/who").unwrap();
    let acceptor = identity.acceptor.clone();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        serve_http2(acceptor.accept(stream).await.unwrap()).await;
    });
    let config = FetchConfig {
        http2: true,
        logins: vec![LoginConfig {
            host: url.authority().to_owned(),
            bearer_env: Some("TOKEN".to_owned()),
            ..LoginConfig::default()
        }],
        ..trusting(&identity)
    };
    let access = Access::load(&config, &|_| Some("t0k3n".to_owned())).unwrap();
    let client = client(&config).with_access(access);
    let exchange = client
        .fetch(Request::new(&url, [127, 0, 0, 1].into()))
        .await;
    assert_eq!(exchange.protocol, Some(Protocol::Http2));
    assert_eq!(exchange.payload(), b"Bearer t0k3n");
    let request = String::from_utf8_lossy(&exchange.request).into_owned();
    assert!(
        request.contains("\r\nauthorization: Bearer redacted\r\n"),
        "{request}"
    );
}

/// Takes one message by HTTP/1.1, answers, and returns it.
async fn take_message(listener: TcpListener, acceptor: TlsAcceptor) -> Option<String> {
    let (stream, _) = listener.accept().await.unwrap();
    let mut stream = acceptor.accept(stream).await.ok()?;
    let mut message = Vec::new();
    while !message.ends_with(b"the end") {
        let mut buffer = [0; 1024];
        let count = stream.read(&mut buffer).await.unwrap();
        message.extend_from_slice(&buffer[..count]);
    }
    let answer = b"HTTP/1.1 202 Taken\r\nContent-Length: 2\r\n\r\nok";
    stream.write_all(answer).await.unwrap();
    Some(String::from_utf8(message).unwrap())
}

#[tokio::test]
async fn what_is_posted_goes_to_whoever_shows_the_right_certificate() {
    let identity = identity_of("localhost", &[b"h2", b"http/1.1"]);
    let name = junkai_fetch::Identity::default();
    for (config, is_trusted) in [(trusting(&identity), true), (FetchConfig::default(), false)] {
        let config = FetchConfig {
            http2: true,
            ..config
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = url_of("localhost", &listener);
        let server = tokio::spawn(take_message(listener, identity.acceptor.clone()));
        let poster = Poster::new(&config, &name).unwrap();
        let body = Bytes::from_static(b"some lines, and the end");
        let status = poster.post(&url, "text/plain", body).await;
        let message = server.await.unwrap();
        if !is_trusted {
            assert!(matches!(status, Err(PostError::Tls(_))), "{status:?}");
            continue;
        }
        assert_eq!(status.unwrap(), 202);
        let message = message.unwrap().to_lowercase();
        assert!(message.starts_with("post /page http/1.1\r\n"), "{message}");
        for field in [
            "content-type: text/plain",
            "content-length: 23",
            "user-agent: mozilla/5.0 (compatible; junkai/0.1)",
        ] {
            assert!(message.contains(field), "{message}");
        }
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = url_of("localhost", &listener);
    drop(listener);
    let poster = Poster::new(&FetchConfig::default(), &name).unwrap();
    let nobody = poster.post(&url, "text/plain", Bytes::new()).await;
    assert!(
        matches!(nobody, Err(PostError::Connect(_, _))),
        "{nobody:?}"
    );
}
