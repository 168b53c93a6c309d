//! A server that answers from a script, byte for byte, and notes what it was asked.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use junkai_fetch::{AddressGuard, Client, Exchange, FetchConfig, Identity, Request, Resources};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use url::Url;

/// What a server does about a request.
#[derive(Clone)]
pub(crate) enum Step {
    /// Sends at once.
    Send(Vec<u8>),
    /// Sends in pieces of seven bytes.
    Dribble(Vec<u8>),
    /// Sends this again and again, with pauses.
    Forever(&'static [u8], Duration),
    /// Sends this again and again, as fast as it can.
    Flood(&'static [u8]),
    /// Does nothing until the client goes.
    Hang,
    /// Closes the connection.
    Close,
}

/// A running server.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    script: Arc<Vec<Vec<Step>>>,
    requests: Arc<Mutex<Vec<Vec<u8>>>>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Serves; the n-th request, on whatever connection, meets the n-th part of the script.
    pub(crate) async fn start(script: Vec<Vec<Step>>) -> Self {
        let (server, listener) = Self::bind(script).await;
        let this = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let this = this.clone();
                tokio::spawn(async move { this.play(stream).await });
            }
        });
        server
    }

    /// A server whose connections the caller accepts.
    pub(crate) async fn bind(script: Vec<Vec<Step>>) -> (Self, TcpListener) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            script: Arc::new(script),
            requests: Arc::default(),
            connections: Arc::default(),
        };
        (server, listener)
    }

    /// Answers on one connection until the script or the client ends it.
    pub(crate) async fn play(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
        self.connections.fetch_add(1, Ordering::SeqCst);
        while let Some(request) = read_request(&mut stream).await {
            let number = {
                let mut requests = self.requests.lock().unwrap();
                requests.push(request);
                requests.len() - 1
            };
            for step in self.script.get(number).into_iter().flatten() {
                match step {
                    Step::Send(bytes) => drop(stream.write_all(bytes).await),
                    Step::Dribble(bytes) => {
                        for piece in bytes.chunks(7) {
                            drop(stream.write_all(piece).await);
                            drop(stream.flush().await);
                            tokio::task::yield_now().await;
                        }
                    }
                    Step::Forever(bytes, pause) => {
                        while stream.write_all(bytes).await.is_ok() {
                            drop(stream.flush().await);
                            tokio::time::sleep(*pause).await;
                        }
                    }
                    Step::Flood(bytes) => {
                        let bytes = bytes.repeat(4096 / bytes.len() + 1);
                        while stream.write_all(&bytes).await.is_ok() {}
                    }
                    Step::Hang => drop(read_request(&mut stream).await),
                    Step::Close => {
                        drop(stream.shutdown().await);
                        return;
                    }
                }
            }
            drop(stream.flush().await);
        }
    }

    pub(crate) fn url(&self, path: &str) -> Url {
        format!("http://{}{path}", self.address).parse().unwrap()
    }

    pub(crate) fn requests(&self) -> Vec<Vec<u8>> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn connection_count(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<Vec<u8>> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).await.ok()? == 0 {
            return None;
        }
        request.extend(byte);
    }
    Some(request)
}

/// A client that may visit loopback.
pub(crate) fn client(config: &FetchConfig) -> Client {
    client_sharing(config, resources(config))
}

/// As much as a test may need.
pub(crate) fn resources(config: &FetchConfig) -> Arc<Resources> {
    Resources::new(config, &std::env::temp_dir(), 1000)
}

/// A client that may visit loopback, and shares what there is with others.
pub(crate) fn client_sharing(config: &FetchConfig, resources: Arc<Resources>) -> Client {
    let identity = Identity::with_contact("ops@example.org");
    Client::new(
        config,
        &identity,
        AddressGuard::allowing_private(),
        resources,
    )
    .unwrap()
}

/// Fetches one page from a server with this script.
pub(crate) async fn fetch_from(script: Vec<Step>, config: &FetchConfig) -> Exchange {
    let server = Server::start(vec![script]).await;
    let url = server.url("/page");
    client(config)
        .fetch(Request::new(&url, server.address.ip()))
        .await
}
