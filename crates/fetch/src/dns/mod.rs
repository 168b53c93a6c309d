//! Names to addresses: asks, and keeps nothing.
//!
//! [`Resolver::resolve`] gives a host one canonical address, the numerically smallest of the
//! preferred family, so that a server keeps its key however its name server shuffles the answer.
//! Every answer passes the [`AddressGuard`] first. It says for how long it holds, within configured bounds; so does a failure.
//!
//! Not here: a cache. The engine keeps answers and failures for as long as they hold (`engine::hosts`), and asks for a host once however many visits wait for it. Nobody
//! else asks: a redirect, of robots.txt too, is a visit of its own. So the cache of the library below is off.

mod answer;
mod config;
mod outcome;

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, SystemTime};

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ProtocolConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::Name;

use crate::guard::AddressGuard;
use answer::{Answer, problem_of};
pub use config::{AddressFamily, DnsConfig};
use outcome::Outcome;
pub use outcome::{DnsFailure, DnsProblem, Resolved};

/// Why a resolver cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up name resolution")]
pub struct ResolverError(#[from] NetError);

/// Resolves host names. It belongs to the runtime that it is first used in.
pub struct Resolver {
    config: DnsConfig,
    guard: AddressGuard,
    hickory: TokioResolver,
}

/// How long a question is not asked again that our own machine had not the means for.
const SHORT_TTL: Duration = Duration::from_secs(1);

impl Resolver {
    /// Sets up a resolver.
    ///
    /// # Errors
    /// If the system's name servers are wanted and cannot be read.
    pub fn new(config: &DnsConfig, guard: AddressGuard) -> Result<Self, ResolverError> {
        let provider = TokioRuntimeProvider::default();
        let mut builder = if config.name_servers.is_empty() {
            TokioResolver::builder(provider)?
        } else {
            let servers = config.name_servers.iter().map(name_server).collect();
            let servers = ResolverConfig::from_parts(None, Vec::new(), servers);
            TokioResolver::builder_with_config(servers, provider)
        };
        set_options(builder.options_mut(), config);
        Ok(Self {
            hickory: builder.build()?,
            guard,
            config: config.clone(),
        })
    }

    /// Finds the address of a host, as it stands in a URL: a name, `192.0.2.1` or `[2001:db8::1]`.
    ///
    /// # Errors
    /// Why there is none, which is as good to know.
    pub async fn resolve(&self, host: &str) -> Result<Resolved, DnsFailure> {
        match literal(host) {
            Some(address) => self.resolve_literal(address),
            None => self.look_up(host).await,
        }
    }

    fn resolve_literal(&self, address: IpAddr) -> Outcome {
        self.admit(
            BTreeSet::from([address]),
            self.config.ttl_max,
            String::new(),
        )
    }

    /// Lets the guard judge an answer.
    fn admit(&self, addresses: BTreeSet<IpAddr>, ttl: Duration, records: String) -> Outcome {
        let mut refused = None;
        let mut admitted = Vec::with_capacity(addresses.len());
        for address in addresses {
            match self.guard.check(address) {
                Ok(()) => admitted.push(address),
                Err(refusal) => refused = refused.or(Some(refusal)),
            }
        }
        let ttl = ttl.clamp(
            self.config.ttl_min,
            self.config.ttl_max.max(self.config.ttl_min),
        );
        let problem = refused.map_or(DnsProblem::NoAddress, DnsProblem::Refused);
        let Some(chosen) = admitted.first().copied() else {
            return Err(DnsFailure { problem, ttl });
        };
        Ok(Resolved {
            addresses: admitted,
            chosen,
            answered: SystemTime::now(),
            ttl,
            records,
        })
    }

    /// Asks for the address families in turn.
    async fn look_up(&self, host: &str) -> Outcome {
        let mut failure = self.failure(DnsProblem::NoAddress, None);
        // The final dot says that the name is whole: no search domain is appended.
        let Ok(name) = Name::from_ascii(format!("{}.", host.trim_end_matches('.'))) else {
            return Err(self.failure(DnsProblem::BadName, None));
        };
        for record_type in self.config.family.record_types() {
            match self.hickory.lookup(name.clone(), *record_type).await {
                Ok(lookup) => {
                    let answer = Answer::read(lookup.answers(), *record_type);
                    if !answer.addresses.is_empty() {
                        return self.admit(answer.addresses, answer.ttl, answer.records);
                    }
                }
                Err(error) => {
                    let (problem, ttl) = problem_of(&error);
                    failure = self.failure(problem, ttl);
                    // What does not exist has no other addresses either; and a server that fails on
                    // one question must not make a host seem to have only the other family.
                    if failure.problem != DnsProblem::NoAddress {
                        break;
                    }
                }
            }
        }
        Err(failure)
    }

    fn failure(&self, problem: DnsProblem, ttl: Option<Duration>) -> DnsFailure {
        if let DnsProblem::Short(_) = problem {
            // That says nothing of the host.
            let ttl = SHORT_TTL;
            return DnsFailure { problem, ttl };
        }
        let (min, max) = (self.config.negative_ttl_min, self.config.negative_ttl_max);
        let ttl = ttl.unwrap_or(min).clamp(min, max.max(min));
        DnsFailure { problem, ttl }
    }
}

fn literal(host: &str) -> Option<IpAddr> {
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    bare.unwrap_or(host).parse().ok()
}

fn name_server(address: &SocketAddr) -> NameServerConfig {
    let connection = |protocol| {
        let mut connection = ConnectionConfig::new(protocol);
        connection.port = address.port();
        connection
    };
    let connections = vec![
        connection(ProtocolConfig::Udp),
        connection(ProtocolConfig::Tcp),
    ];
    NameServerConfig::new(address.ip(), true, connections)
}

fn set_options(options: &mut ResolverOpts, config: &DnsConfig) {
    options.timeout = config.timeout;
    options.attempts = config.retries;
    // The engine keeps answers, and knows how long they hold; two caches would only disagree.
    options.cache_size = 0;
    options.preserve_intermediates = true;
    if !config.name_servers.is_empty() {
        options.use_hosts_file = ResolveHosts::Never;
    }
}
