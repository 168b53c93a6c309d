//! Listens, accepts, and serves on threads that each have a runtime of their own.
//!
//! [`crate::TestWeb`] binds the [`Listeners`] and starts one [`ServerThread`] for each.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::config::TestWebConfig;
use crate::dns;
use crate::http1::{Connection, Served, Transport};
use crate::http2;
use crate::open_exchange::Arrived;
use crate::tls::Tls;
use crate::web::StartError;
use crate::world::World;

/// The listeners of one service: for each thread one on all IPv4 addresses, and one on `::1` if wanted.
pub(crate) struct Listeners {
    pub(crate) port: u16,
    pub(crate) per_thread: Vec<Vec<std::net::TcpListener>>,
}

impl Listeners {
    pub(crate) fn bind(
        service: &'static str,
        port: u16,
        config: &TestWebConfig,
    ) -> Result<Self, StartError> {
        let mut listeners = Self {
            port,
            per_thread: Vec::new(),
        };
        let listen_error = |source| StartError::listen(service, port, source);
        for thread in 0..config.threads {
            let sharing = match thread {
                0 => Sharing::WithNobody,
                _ => Sharing::AmongOurThreads,
            };
            let v4 = listen(IpAddr::V4(Ipv4Addr::UNSPECIFIED), listeners.port, sharing);
            let v4 = v4.map_err(listen_error)?;
            listeners.port = v4.local_addr().map_err(listen_error)?.port();
            let mut thread = vec![v4];
            if config.ipv6 {
                let v6 = listen(IpAddr::V6(Ipv6Addr::LOCALHOST), listeners.port, sharing);
                thread.push(v6.map_err(listen_error)?);
            }
            listeners.per_thread.push(thread);
        }
        Ok(listeners)
    }
}

/// Who else may listen on a port already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    WithNobody,
    AmongOurThreads,
}

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 4096;

/// Linux routes all of 127.0.0.0/8 to the loopback device, so one listener on all addresses serves every host;
/// connections from elsewhere are dropped when accepted.
fn listen(address: IpAddr, port: u16, sharing: Sharing) -> io::Result<std::net::TcpListener> {
    let address = SocketAddr::new(address, port);
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_nonblocking(true)?;
    socket.set_reuse_address(true)?;
    // A free port is one that nobody has, not one that another web is willing to share among its threads: the will to share comes second.
    socket.set_reuse_port(sharing == Sharing::AmongOurThreads)?;
    socket.bind(&address.into())?;
    socket.set_reuse_port(true)?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// One thread that serves, with a runtime of its own.
pub(crate) struct ServerThread {
    pub(crate) world: Arc<World>,
    pub(crate) http: Vec<std::net::TcpListener>,
    pub(crate) https: Option<(Arc<Tls>, Vec<std::net::TcpListener>)>,
    pub(crate) names: Option<dns::Sockets>,
    pub(crate) stopped: watch::Receiver<bool>,
}

/// How long to rest when no connection can be accepted, as when file descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

impl ServerThread {
    pub(crate) fn spawn(self) -> io::Result<JoinHandle<()>> {
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
