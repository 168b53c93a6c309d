//! The DNS server: knows the names of the web's hosts, and no others.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hickory_server::Server;
use hickory_server::net::runtime::Time;
use hickory_server::proto::op::{HeaderCounts, Metadata, OpCode, ResponseCode};
use hickory_server::proto::rr::rdata::{A, AAAA, SOA};
use hickory_server::proto::rr::{LowerName, Name, RData, Record, RecordType};
use hickory_server::server::{Request, RequestHandler, ResponseHandler, ResponseInfo};
use hickory_server::zone_handler::MessageResponseBuilder;
use tokio::net::{TcpListener, UdpSocket};

use crate::world::{Lookup, World};

/// The sockets that the server listens on: one port, UDP and TCP.
#[derive(Debug)]
pub(crate) struct Sockets {
    udp: std::net::UdpSocket,
    tcp: std::net::TcpListener,
}

/// Free ports tried before giving up on finding one that is free for both UDP and TCP.
const PORTS_TRIED: u32 = 100;

/// A TCP connection without a query for this long is closed.
const TCP_IDLE_MAX: Duration = Duration::from_secs(10);

/// Answers that may wait to be sent on one TCP connection.
const TCP_ANSWERS_MAX: usize = 32;

impl Sockets {
    /// Binds the port on 127.0.0.1; 0 takes one that is free.
    pub(crate) fn bind(port: u16) -> io::Result<Self> {
        let mut tries = 0;
        loop {
            match Self::try_bind(port) {
                Err(error)
                    if port == 0
                        && error.kind() == io::ErrorKind::AddrInUse
                        && tries < PORTS_TRIED =>
                {
                    tries += 1;
                }
                bound => return bound,
            }
        }
    }

    fn try_bind(port: u16) -> io::Result<Self> {
        let tcp = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let udp = std::net::UdpSocket::bind(tcp.local_addr()?)?;
        tcp.set_nonblocking(true)?;
        udp.set_nonblocking(true)?;
        Ok(Self { udp, tcp })
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.udp.local_addr()
    }

    /// Begins to answer, as tasks of the current runtime, for as long as the returned server lives.
    pub(crate) fn serve(self, world: Arc<World>) -> io::Result<Server<Names>> {
        let mut server = Server::new(Names { world });
        server.register_socket(UdpSocket::from_std(self.udp)?);
        server.register_listener(
            TcpListener::from_std(self.tcp)?,
            TCP_IDLE_MAX,
            TCP_ANSWERS_MAX,
        );
        Ok(server)
    }
}

/// Answers queries about the web's hosts.
pub(crate) struct Names {
    world: Arc<World>,
}

#[async_trait::async_trait]
impl RequestHandler for Names {
    async fn handle_request<R: ResponseHandler, T: Time>(
        &self,
        request: &Request,
        mut response_handle: R,
    ) -> ResponseInfo {
        let mut metadata = Metadata::response_from_request(&request.metadata);
        metadata.authoritative = true;
        let mut answers = Vec::new();
        let mut authority = Vec::new();
        match request.request_info() {
            Ok(info) if request.metadata.op_code == OpCode::Query => {
                let name = Name::from(info.query.name());
                match self.lookup(info.query.name()).await {
                    Lookup::Unknown => metadata.response_code = ResponseCode::NXDomain,
                    Lookup::Fails => metadata.response_code = ResponseCode::ServFail,
                    Lookup::Found { v4, v6, ttl, .. } => {
                        let data = match info.query.query_type() {
                            RecordType::A => Some(RData::A(A(v4))),
                            RecordType::AAAA => v6.map(|v6| RData::AAAA(AAAA(v6))),
                            _ => None,
                        };
                        let ttl = u32::try_from(ttl.as_secs()).unwrap_or(u32::MAX);
                        answers.extend(data.map(|data| Record::from_rdata(name, ttl, data)));
                    }
                }
                if answers.is_empty() && metadata.response_code != ResponseCode::ServFail {
                    authority.push(start_of_authority());
                }
            }
            Ok(_) => metadata.response_code = ResponseCode::NotImp,
            Err(_) => metadata.response_code = ResponseCode::FormErr,
        }
        let response = MessageResponseBuilder::from_message_request(request).build(
            metadata,
            &answers,
            [],
            &authority,
            [],
        );
        response_handle
            .send_response(response)
            .await
            .unwrap_or_else(|error| {
                tracing::debug!(%error, "DNS answer not sent");
                let counts = HeaderCounts::default();
                hickory_server::proto::op::Header { metadata, counts }.into()
            })
    }
}

impl Names {
    async fn lookup(&self, name: &LowerName) -> Lookup {
        let text = name.to_string();
        let lookup = self.world.resolve(text.trim_end_matches('.'));
        if let Lookup::Found { wait, .. } = lookup
            && !wait.is_zero()
        {
            tokio::time::sleep(wait).await;
        }
        lookup
    }
}

/// How long it may be remembered that there is no such name (RFC 2308, section 5), in seconds.
const NEGATIVE_TTL: u32 = 60;

fn start_of_authority() -> Record {
    let soa = SOA::new(
        Name::root(),
        Name::root(),
        1,
        3600,
        600,
        86_400,
        NEGATIVE_TTL,
    );
    Record::from_rdata(Name::root(), NEGATIVE_TTL, RData::SOA(soa))
}
