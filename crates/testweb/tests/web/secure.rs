//! TLS and HTTP/2.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::support::block_on;
use hyper_util::rt::{TokioExecutor, TokioIo};
use junkai_testweb::{Ending, Exchange, TestWeb, TestWebConfig};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

fn config() -> TestWebConfig {
    TestWebConfig {
        hosts: 4,
        addresses: 2,
        pages: 40,
        tls: true,
        https_percent: 100,
        clock_speed: 0.0,
        gzip_percent: 0,
        misbehaviours: vec!["host1.test=truncated".parse().unwrap()],
        ..TestWebConfig::default()
    }
}

/// Shakes hands with a host at the address where DNS has it.
async fn connect(web: &TestWeb, host: &str, name: &str) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = rustls::RootCertStore::empty();
    let ca = CertificateDer::from_pem_slice(web.ca_pem().unwrap().as_bytes()).unwrap();
    roots.add(ca).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let found = crate::support::resolver(web)
        .lookup_ip(format!("{host}."))
        .await
        .unwrap();
    let address = SocketAddr::new(found.iter().next().unwrap(), web.https_port().unwrap());
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from(name.to_owned()).unwrap();
    TlsConnector::from(Arc::new(tls))
        .connect(name, stream)
        .await
}

/// Asks for a page by HTTP/2: its status and the length of its body.
async fn get_http2(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    url: &str,
) -> (u16, Vec<u8>) {
    let io = TokioIo::new(stream);
    let (mut sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), io)
        .await
        .unwrap();
    tokio::spawn(connection);
    let request = http::Request::get(url).body(String::new()).unwrap();
    let response = sender.send_request(request).await.unwrap();
    let status = response.status().as_u16();
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = std::future::poll_fn(|context| {
        http_body::Body::poll_frame(std::pin::Pin::new(&mut body), context)
    })
    .await
    {
        bytes.extend_from_slice(frame.unwrap().data_ref().unwrap());
    }
    (status, bytes)
}

#[test]
fn https_speaks_http2_with_a_certificate_for_each_host() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("access.jsonl");
    let web = TestWeb::start(TestWebConfig {
        log: Some(log.clone()),
        ..config()
    })
    .unwrap();
    let home = format!("https://host2.test:{}/", web.https_port().unwrap());
    assert!(web.seeds().contains(&home));
    let plain = crate::support::get(&web, "host2.test", "/");
    let (status, body) = block_on(async {
        let stream = connect(&web, "host2.test", "host2.test").await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        get_http2(stream, &home).await
    });
    assert_eq!(status, 200);
    assert_eq!(body, plain.body);
    web.stop();
    let text = std::fs::read_to_string(log).unwrap();
    let last: Exchange = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((last.url, last.ending), (home, Ending::Complete));
    assert_eq!(last.bytes, body.len() as u64);
}

#[test]
fn a_certificate_is_only_for_hosts_of_the_web_and_under_their_own_name() {
    let web = TestWeb::start(config()).unwrap();
    block_on(async {
        assert!(connect(&web, "host2.test", "nobody.test").await.is_err());
        assert!(connect(&web, "host2.test", "host3.test").await.is_ok());
    });
}

#[test]
fn a_host_that_breaks_the_wire_is_offered_http1_only() {
    let web = TestWeb::start(config()).unwrap();
    let bytes = block_on(async {
        let mut stream = connect(&web, "host1.test", "host1.test").await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
        let request = b"GET / HTTP/1.1\r\nhost: host1.test\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.unwrap();
        bytes
    });
    let reply = crate::support::Reply::parse(&bytes);
    let announced: usize = reply.header("content-length").unwrap().parse().unwrap();
    assert_eq!(reply.body.len(), announced / 2);
}

#[test]
fn http2_in_the_clear_begins_with_its_preface() {
    let web = TestWeb::start(config()).unwrap();
    let address = SocketAddr::new(crate::support::resolve(&web, "host3.test"), web.http_port());
    let ask = |host: &'static str| {
        block_on(async move {
            let stream = TcpStream::connect(address).await.unwrap();
            get_http2(stream, &format!("http://{host}/")).await.0
        })
    };
    assert_eq!(ask("host3.test"), 200);
    assert_eq!(ask("nobody.test"), 421);
    assert_eq!(ask("host1.test"), 421);
}

#[test]
fn over_ipv6_every_host_is_at_the_one_loopback_address() {
    let web = TestWeb::start(TestWebConfig {
        ipv6: true,
        ..config()
    })
    .unwrap();
    let found = block_on(crate::support::resolver(&web).ipv6_lookup("host3.test.")).unwrap();
    assert_eq!(found.answers().len(), 1);
    let status = block_on(async {
        let stream = TcpStream::connect(("::1", web.http_port())).await.unwrap();
        get_http2(stream, "http://host3.test/").await.0
    });
    assert_eq!(status, 200);
}
