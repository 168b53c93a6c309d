//! The running web: listens, serves on threads of its own, and stops.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::access_log::{AccessLog, Counters};
use crate::config::TestWebConfig;
use crate::dns;
use crate::graph::GraphError;
use crate::http1::{Arrived, Connection, Served, Transport};
use crate::http2;
use crate::synthetic::Ports;
use crate::tls::{Tls, TlsError};
use crate::world::World;

/// A web on loopback that is being served. It stops when dropped.
#[derive(Debug)]
pub struct TestWeb {
    world: Arc<World>,
    tls: Option<Arc<Tls>>,
    dns: SocketAddr,
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

/// Why a web does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The settings do not fit together.
    #[error("{}", .0.join("; "))]
    Config(Vec<String>),
    /// A port cannot be listened on.
    #[error("cannot listen on port {port} for {service}")]
    Listen {
        /// HTTP, HTTPS or DNS.
        service: &'static str,
        /// The port that was asked for.
        port: u16,
        /// What the system said.
        source: io::Error,
    },
    /// The access log cannot be written.
    #[error("cannot create access log {path}")]
    Log {
        /// The log.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder is not there.
    #[error("there is no folder {0}")]
    Folder(PathBuf),
    /// The graph cannot be served.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// There is no TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// No thread can be started.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
}

impl TestWeb {
    /// Starts to serve; everything listens when this returns.
    pub fn start(config: TestWebConfig) -> Result<Self, StartError> {
        let mistakes = config.mistakes();
        if !mistakes.is_empty() {
            return Err(StartError::Config(mistakes));
        }
        if let Some(folder) = config.folders.iter().find(|folder| !folder.path.is_dir()) {
            return Err(StartError::Folder(folder.path.clone()));
        }
        let log = AccessLog::create(config.log.as_deref()).map_err(|source| StartError::Log {
            path: config.log.clone().unwrap_or_default(),
            source,
        })?;
        let http = Listeners::bind("HTTP", config.http_port, &config)?;
        let https = config
            .tls
            .then(|| Listeners::bind("HTTPS", config.https_port, &config));
        let https = https.transpose()?;
        let (dns, names) = bind_dns(config.dns_port)?;
        let ports = Ports {
            http: http.port,
            https: https.as_ref().map(|listeners| listeners.port),
        };
        let world = Arc::new(World::new(config, ports, log)?);
        let tls = https.is_some().then(|| Tls::new(&world)).transpose()?;
        let (stop, stopped) = watch::channel(false);
        let mut web = Self {
            world,
            tls: tls.map(Arc::new),
            dns,
            stop,
            threads: Vec::new(),
        };
        let mut names = Some(names);
        let mut https = https.into_iter().flat_map(|listeners| listeners.per_thread);
        for http in http.per_thread {
            let thread = ServerThread {
                world: Arc::clone(&web.world),
                http,
                https: web.tls.clone().zip(https.next()),
                names: names.take(),
                stopped: stopped.clone(),
            };
            web.threads
                .push(thread.spawn().map_err(StartError::Thread)?);
        }
        Ok(web)
    }

    /// Where the DNS server listens, UDP and TCP.
    #[must_use]
    pub fn dns(&self) -> SocketAddr {
        self.dns
    }

    /// The port of HTTP, on every address.
    #[must_use]
    pub fn http_port(&self) -> u16 {
        self.world.ports.http
    }

    /// The port of HTTPS, on every address, if there is TLS.
    #[must_use]
    pub fn https_port(&self) -> Option<u16> {
        self.world.ports.https
    }

    /// The certificate of the authority that clients must trust, if there is TLS.
    #[must_use]
    pub fn ca_pem(&self) -> Option<&str> {
        self.tls.as_deref().map(Tls::ca_pem)
    }

    /// URLs to begin a crawl with: home pages, from any one of which all synthetic hosts can be reached; the graph's
    /// page with the most links; the roots of folders.
    #[must_use]
    pub fn seeds(&self) -> Vec<String> {
        self.world.seeds()
    }

    /// The names of all hosts.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.world.host_names()
    }

    /// The URLs of a host's pages that can be reached from its home page; folders do not tell theirs.
    pub fn pages_of(&self, host: &str) -> impl Iterator<Item = String> {
        self.world.page_urls(host)
    }

    /// The URLs of all pages that can be reached: what a complete crawl has found, redirects, feeds, sitemaps, images
    /// and the like aside.
    pub fn pages(&self) -> impl Iterator<Item = String> {
        self.hosts().flat_map(|host| self.pages_of(host))
    }

    /// How many pages there are.
    #[must_use]
    pub fn page_count(&self) -> u64 {
        self.world.page_count()
    }

    /// Requests answered and bytes sent so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.world.log.counters()
    }

    /// Where the access log is written, if it is.
    #[must_use]
    pub fn log_path(&self) -> Option<&Path> {
        self.world.log.path()
    }

    /// Writes out what has been logged so far; it happens by itself every 20 ms.
    pub fn flush_log(&self) {
        self.world.log.flush();
    }

    /// Closes all connections, logs what was going on in them, and returns when the log is complete.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for TestWeb {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the web panicked");
            }
        }
        self.world.log.flush();
    }
}

fn bind_dns(port: u16) -> Result<(SocketAddr, dns::Sockets), StartError> {
    dns::Sockets::bind(port)
        .and_then(|sockets| Ok((sockets.address()?, sockets)))
        .map_err(|source| StartError::Listen {
            service: "DNS",
            port,
            source,
        })
}

/// The listeners of one service: for each thread one on all IPv4 addresses, and one on `::1` if wanted.
struct Listeners {
    port: u16,
    per_thread: Vec<Vec<std::net::TcpListener>>,
}

impl Listeners {
    fn bind(service: &'static str, port: u16, config: &TestWebConfig) -> Result<Self, StartError> {
        let mut listeners = Self {
            port,
            per_thread: Vec::new(),
        };
        let listen_error = |source| StartError::Listen {
            service,
            port,
            source,
        };
        for _ in 0..config.threads {
            let v4 = listen(IpAddr::V4(Ipv4Addr::UNSPECIFIED), listeners.port);
            let v4 = v4.map_err(listen_error)?;
            listeners.port = v4.local_addr().map_err(listen_error)?.port();
            let mut thread = vec![v4];
            if config.ipv6 {
                let v6 = listen(IpAddr::V6(Ipv6Addr::LOCALHOST), listeners.port);
                thread.push(v6.map_err(listen_error)?);
            }
            listeners.per_thread.push(thread);
        }
        Ok(listeners)
    }
}

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 4096;

/// Linux routes all of 127.0.0.0/8 to the loopback device, so one listener on all addresses serves every host;
/// connections from elsewhere are dropped when accepted.
fn listen(address: IpAddr, port: u16) -> io::Result<std::net::TcpListener> {
    let address = SocketAddr::new(address, port);
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_nonblocking(true)?;
    socket.set_reuse_address(true)?;
    // A free port is one that nobody has, not one that somebody is willing to share: the will to share comes second.
    socket.set_reuse_port(port != 0)?;
    socket.bind(&address.into())?;
    socket.set_reuse_port(true)?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// One thread that serves, with a runtime of its own.
struct ServerThread {
    world: Arc<World>,
    http: Vec<std::net::TcpListener>,
    https: Option<(Arc<Tls>, Vec<std::net::TcpListener>)>,
    names: Option<dns::Sockets>,
    stopped: watch::Receiver<bool>,
}

/// How long to rest when no connection can be accepted, as when file descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

impl ServerThread {
    fn spawn(self) -> io::Result<JoinHandle<()>> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let thread = std::thread::Builder::new().name("testweb".into());
        thread.spawn(move || {
            if let Err(error) = runtime.block_on(self.run()) {
                tracing::error!(%error, "a thread of the web does not serve");
            }
        })
    }

    async fn run(mut self) -> io::Result<()> {
        let (tls, https) = self.https.unzip();
        let plain = self.http.into_iter().map(|listener| (listener, None));
        let secure = https
            .into_iter()
            .flatten()
            .map(|listener| (listener, tls.clone()));
        for (listener, tls) in plain.chain(secure) {
            let listener = TcpListener::from_std(listener)?;
            tokio::spawn(accept(listener, tls, Arc::clone(&self.world)));
        }
        let _names = match self.names {
            Some(sockets) => Some(sockets.serve(Arc::clone(&self.world))?),
            None => None,
        };
        // An error means that the sender is gone, which is as good a reason to stop.
        let _stopped = self.stopped.wait_for(|&stopped| stopped).await;
        Ok(())
    }
}

async fn accept(listener: TcpListener, tls: Option<Arc<Tls>>, world: Arc<World>) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) if peer.ip().to_canonical().is_loopback() => {
                tokio::spawn(serve(stream, tls.clone(), Arc::clone(&world)));
            }
            Ok((_, peer)) => tracing::warn!(%peer, "connection from outside dropped"),
            Err(error) => {
                tracing::warn!(%error, "connection not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Time for a TLS handshake.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);

async fn serve(stream: TcpStream, tls: Option<Arc<Tls>>, world: Arc<World>) {
    let Ok(local) = stream.local_addr() else {
        return;
    };
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "connection without TCP_NODELAY");
    }
    let arrived = Arrived {
        address: local.ip(),
        is_https: tls.is_some(),
    };
    let Some(tls) = tls else {
        return serve_any(stream, world, arrived).await;
    };
    match tokio::time::timeout(HANDSHAKE_MAX, tls.accept(stream)).await {
        Ok(Ok(stream)) => serve_any(stream, world, arrived).await,
        Ok(Err(error)) => tracing::debug!(%error, "handshake failed"),
        Err(_) => tracing::debug!("handshake not finished in time"),
    }
}

/// Serves HTTP/1.1, or HTTP/2 to a client that begins with its preface, which over TLS was agreed before.
async fn serve_any<S: Transport>(stream: S, world: Arc<World>, arrived: Arrived) {
    let connection = Connection::new(stream, Arc::clone(&world), arrived);
    match connection.serve().await {
        Served::Done => {}
        Served::Http2 { stream, input } => http2::serve(stream, input, world, arrived).await,
    }
}
