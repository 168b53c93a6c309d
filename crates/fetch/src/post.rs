//! Sends bytes to an address that the operator named: what a crawl tells a hook.
//!
//! Not a visit: nothing of the web can bring it about, or say where it goes. So the [`AddressGuard`](crate::AddressGuard), which keeps links from leading a crawl into private networks, is not
//! asked (a hook is usually on this very machine), names are the system's resolver's, and no redirect is followed: else the one who answers would choose the next address.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use url::{Host, Position, Url};

use crate::client::ClientError;
use crate::config::FetchConfig;
use crate::identity::Identity;
use crate::tls::Tls;

/// Bytes of an answer that are read, for courtesy: nothing in them is looked at.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// Posts to addresses of the operator, a connection for each message.
pub struct Poster {
    tls: Tls,
    user_agent: HeaderValue,
}

/// Why a message was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PostError {
    /// The URL is not one to post to.
    #[error("not a URL to post to")]
    Url,
    /// The host has no address.
    #[error("the host has no address")]
    NoAddress(#[source] Option<io::Error>),
    /// Nobody listens, or the network is down.
    #[error("cannot connect to {0}")]
    Connect(SocketAddr, #[source] io::Error),
    /// The server does not speak TLS, or shows a certificate that does not hold.
    #[error("TLS handshake failed: {0}")]
    Tls(String),
    /// The connection ended before an answer.
    #[error("no answer")]
    Broken(#[from] hyper::Error),
}

impl Poster {
    /// With the certificates that pages are fetched with, and under the same name.
    ///
    /// # Errors
    /// If a setting cannot be used.
    pub fn new(config: &FetchConfig, identity: &Identity) -> Result<Poster, ClientError> {
        identity.validate()?;
        let config = FetchConfig {
            http2: false,
            ..config.clone()
        };
        let user_agent = HeaderValue::try_from(identity.user_agent());
        Ok(Poster {
            tls: Tls::new(&config)?,
            user_agent: user_agent.map_err(|_| ClientError::Field("user_agent"))?,
        })
    }

    /// Sends a message, and answers with the status that came back. Whoever calls sets a limit of time.
    ///
    /// # Errors
    /// If no answer came.
    pub async fn post(
        &self,
        url: &Url,
        content_type: &'static str,
        body: Bytes,
    ) -> Result<u16, PostError> {
        let stream = connect(url).await?;
        let message = self.message(url, content_type, body)?;
        match url.scheme() {
            "http" => exchange(stream, message).await,
            "https" => {
                let host = url.host_str().ok_or(PostError::Url)?;
                let secured = self.tls.secure(stream, host).await;
                exchange(secured.map_err(PostError::Tls)?.stream, message).await
            }
            _ => Err(PostError::Url),
        }
    }

    fn message(
        &self,
        url: &Url,
        content_type: &'static str,
        body: Bytes,
    ) -> Result<http::Request<Full<Bytes>>, PostError> {
        let host = &url[Position::BeforeHost..Position::AfterPort];
        http::Request::post(&url[Position::BeforePath..Position::AfterQuery])
            .header(header::HOST, host)
            .header(header::USER_AGENT, &self.user_agent)
            .header(header::CONTENT_TYPE, content_type)
            .header(header::CONNECTION, "close")
            .body(Full::new(body))
            .map_err(|_| PostError::Url)
    }
}

/// A connection to the first address of the host that takes one.
async fn connect(url: &Url) -> Result<TcpStream, PostError> {
    let port = url.port_or_known_default().ok_or(PostError::Url)?;
    let addresses: Vec<SocketAddr> = match url.host().ok_or(PostError::Url)? {
        Host::Ipv4(address) => vec![(address, port).into()],
        Host::Ipv6(address) => vec![(address, port).into()],
        Host::Domain(name) => {
            let found = tokio::net::lookup_host((name, port)).await;
            found
                .map_err(|error| PostError::NoAddress(Some(error)))?
                .collect()
        }
    };
    let mut failed = PostError::NoAddress(None);
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => failed = PostError::Connect(address, error),
        }
    }
    Err(failed)
}

async fn exchange<S>(stream: S, message: http::Request<Full<Bytes>>) -> Result<u16, PostError>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let mut answer = pin!(async {
        let response = sender.send_request(message).await?;
        let status = response.status().as_u16();
        let rest = Limited::new(response.into_body(), ANSWER_BYTES_MAX);
        // The status has said all.
        let _read = rest.collect().await;
        Ok::<u16, PostError>(status)
    });
    let connection = pin!(connection);
    tokio::select! {
        status = &mut answer => status,
        _ended = connection => answer.await,
    }
}
