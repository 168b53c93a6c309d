//! The running web: listens, serves on threads of its own, and stops.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::watch;

use crate::access_log::{AccessLog, Counters};
use crate::config::TestWebConfig;
use crate::dns;
use crate::graph::GraphError;
use crate::port_holder::holder_of;
use crate::server::{Listeners, ServerThread};
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
    #[error("cannot listen on port {port} for {service}{}", held_by.as_ref().map_or_else(String::new, |holder| format!(": {holder} has it")))]
    Listen {
        /// HTTP, HTTPS or DNS.
        service: &'static str,
        /// The port that was asked for.
        port: u16,
        /// The process that has it, where that is known.
        held_by: Option<String>,
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
    /// What is so of the focus sites cannot be written down.
    #[error("cannot write what is so of the sites to {path}")]
    Truth {
        /// Where to.
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
    /// The history cannot be served.
    #[error(transparent)]
    History(#[from] junkai_graph::history::HistoryError),
    /// There is no TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// No thread can be started.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
}

impl StartError {
    pub(crate) fn listen(service: &'static str, port: u16, source: io::Error) -> StartError {
        let is_taken = source.kind() == io::ErrorKind::AddrInUse;
        StartError::Listen {
            service,
            port,
            held_by: is_taken.then(|| holder_of(port)).flatten(),
            source,
        }
    }
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
        let http = Listeners::bind("HTTP", config.http_port, &config)?;
        let https = config
            .tls
            .then(|| Listeners::bind("HTTPS", config.https_port, &config));
        let https = https.transpose()?;
        let (dns, names) = bind_dns(config.dns_port)?;
        // An old log is replaced, so first of all it must be ours.
        let log = AccessLog::create(config.log.as_deref()).map_err(|source| StartError::Log {
            path: config.log.clone().unwrap_or_default(),
            source,
        })?;
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
    /// page with the most links; the history's home page; the roots of folders.
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

    /// The moment at which the web's virtual time and real time are the same, in seconds since the Unix epoch: a client that is
    /// told this and the clock's speed shares the clock.
    #[must_use]
    pub fn clock_origin(&self) -> f64 {
        self.world.clock.origin()
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
        .map_err(|source| StartError::listen("DNS", port, source))
}
