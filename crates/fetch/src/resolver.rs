//! Names to addresses, with the answers kept for as long as DNS allows.
//!
//! [`Resolver::resolve`] gives a host one canonical address, the numerically smallest of the
//! preferred family, so that a server keeps its key however its name server shuffles the answer.
//! Every answer passes the [`AddressGuard`] first. Answers and failures are kept for their time to
//! live, within configured bounds; hosts asked for at the same time by several tasks are asked for once.
//!
//! A resolver belongs to the runtime that it is first used in. Clones share everything.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use hashbrown::HashMap;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ProtocolConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::guard::{AddressGuard, Refused};

/// How names are resolved. Table `[dns]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DnsConfig {
    /// The name servers to ask, as `ADDRESS:PORT`. Default empty: those of the system.
    pub name_servers: Vec<SocketAddr>,
    /// Which addresses are wanted. Default `prefer_ipv4`.
    pub family: AddressFamily,
    /// Time for one question to one name server. Default `5s`.
    #[serde(with = "humantime_serde")]
    pub timeout: Duration,
    /// How often a question is repeated when no answer comes. Default 1.
    pub retries: usize,
    /// Least time for which an answer is kept. Default `1m`: a time to live of 0 is common, and
    /// asking before every visit would cost more than the visit.
    #[serde(with = "humantime_serde")]
    pub ttl_min: Duration,
    /// Longest time for which an answer is kept. Default `6h`.
    #[serde(with = "humantime_serde")]
    pub ttl_max: Duration,
    /// Least time for which a failure is kept. Default `1m`.
    #[serde(with = "humantime_serde")]
    pub negative_ttl_min: Duration,
    /// Longest time for which a failure is kept. Default `1h`.
    #[serde(with = "humantime_serde")]
    pub negative_ttl_max: Duration,
    /// How many hosts are kept. Default 65536.
    pub cache_hosts: usize,
}

impl Default for DnsConfig {
    fn default() -> Self {
        Self {
            name_servers: Vec::new(),
            family: AddressFamily::PreferIpv4,
            timeout: Duration::from_secs(5),
            retries: 1,
            ttl_min: Duration::from_mins(1),
            ttl_max: Duration::from_hours(6),
            negative_ttl_min: Duration::from_mins(1),
            negative_ttl_max: Duration::from_hours(1),
            cache_hosts: 65_536,
        }
    }
}

/// Which addresses of a host are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddressFamily {
    /// IPv4, and IPv6 where a host has nothing else. The default: reachable from everywhere.
    #[default]
    PreferIpv4,
    /// IPv6, and IPv4 where a host has nothing else.
    PreferIpv6,
    /// IPv4 only.
    OnlyIpv4,
    /// IPv6 only.
    OnlyIpv6,
}

impl AddressFamily {
    /// The questions to ask, one after another until there is an answer.
    fn record_types(self) -> &'static [RecordType] {
        match self {
            Self::PreferIpv4 => &[RecordType::A, RecordType::AAAA],
            Self::PreferIpv6 => &[RecordType::AAAA, RecordType::A],
            Self::OnlyIpv4 => &[RecordType::A],
            Self::OnlyIpv6 => &[RecordType::AAAA],
        }
    }
}

/// Where a host is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// All addresses that the guard lets pass, smallest first; never empty.
    pub addresses: Vec<IpAddr>,
    /// The address to connect to: the first of them.
    pub chosen: IpAddr,
    /// When the question was answered.
    pub answered: SystemTime,
    /// How long the answer is good for from then on, within the configured bounds.
    pub ttl: Duration,
    /// The answer's records in the form of a zone file, one a line; empty for an address literal.
    pub records: String,
}

impl Resolved {
    /// The body of a `text/dns` record of a WARC file, as Heritrix writes it: the time of the
    /// answer in 14 digits, then the records.
    #[must_use]
    pub fn text(&self) -> String {
        let when = jiff::Timestamp::try_from(self.answered).unwrap_or_default();
        format!("{}\n{}", when.strftime("%Y%m%d%H%M%S"), self.records)
    }
}

/// Why a host has no address, and how long that is worth remembering.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot resolve the host: {problem}")]
pub struct DnsFailure {
    /// What is wrong.
    pub problem: DnsProblem,
    /// For how long asking again would be in vain.
    pub ttl: Duration,
}

/// What can be wrong with a host name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DnsProblem {
    /// It does not exist.
    #[error("no such name")]
    NoSuchName,
    /// It exists, without an address of the wanted family.
    #[error("the name has no address")]
    NoAddress,
    /// No name server answered in time.
    #[error("no answer from the name server")]
    Timeout,
    /// The name server answered with an error.
    #[error("the name server failed: {0}")]
    ServerFailure(String),
    /// All its addresses are refused; this is one of them.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It cannot be a host name.
    #[error("not a host name")]
    BadName,
}

impl DnsProblem {
    /// Whether it may be over soon, so that no verdict about the host follows from it.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Timeout | Self::ServerFailure(_) => true,
            Self::NoSuchName | Self::NoAddress | Self::Refused(_) | Self::BadName => false,
        }
    }
}

/// Why a resolver cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up name resolution")]
pub struct ResolverError(#[from] NetError);

/// What is known of a host.
type Outcome = Result<Arc<Resolved>, DnsFailure>;

/// Resolves host names. Cheap to clone; clones share the cache.
#[derive(Clone)]
pub struct Resolver {
    inner: Arc<Inner>,
}

struct Inner {
    config: DnsConfig,
    guard: AddressGuard,
    hickory: TokioResolver,
    state: Mutex<State>,
}

struct State {
    cache: Cache,
    /// Questions that are being asked.
    ///
    /// Weakly held: a question that nobody waits for any longer is dropped.
    asking: HashMap<Box<str>, WeakShared<Question>>,
}

type Question = BoxFuture<'static, Outcome>;

/// Questions beyond which those that were dropped are swept out.
const ASKING_SWEPT: usize = 256;

impl State {
    /// The question about a host that is being asked, if any.
    fn question(&self, host: &str) -> Option<Shared<Question>> {
        self.asking.get(host)?.upgrade()
    }

    fn begin(&mut self, host: &str, question: &Shared<Question>) {
        if ASKING_SWEPT <= self.asking.len() {
            self.asking
                .retain(|_, question| question.upgrade().is_some());
        }
        if let Some(question) = question.downgrade() {
            self.asking.insert(host.into(), question);
        }
    }
}

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
            inner: Arc::new(Inner {
                hickory: builder.build()?,
                guard,
                state: Mutex::new(State {
                    cache: Cache::new(config.cache_hosts),
                    asking: HashMap::new(),
                }),
                config: config.clone(),
            }),
        })
    }

    /// Finds the address of a host, as it stands in a URL: a name, `192.0.2.1` or `[2001:db8::1]`.
    ///
    /// # Errors
    /// Why there is none, which is as good to know.
    pub async fn resolve(&self, host: &str) -> Outcome {
        if let Some(address) = literal(host) {
            return self.inner.resolve_literal(address);
        }
        let question = {
            let mut state = self.inner.lock();
            if let Some(outcome) = state.cache.get(host, Instant::now()) {
                return outcome;
            }
            state.question(host).unwrap_or_else(|| {
                let question = ask(Arc::clone(&self.inner), host.into()).boxed().shared();
                state.begin(host, &question);
                question
            })
        };
        question.await
    }

    /// How many hosts are kept, found or not.
    #[must_use]
    pub fn cached_hosts(&self) -> usize {
        self.inner.lock().cache.len()
    }
}

impl Inner {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // No code runs under the lock that could leave the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        Ok(Arc::new(Resolved {
            addresses: admitted,
            chosen,
            answered: SystemTime::now(),
            ttl,
            records,
        }))
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
        let (min, max) = (self.config.negative_ttl_min, self.config.negative_ttl_max);
        let ttl = ttl.unwrap_or(min).clamp(min, max.max(min));
        DnsFailure { problem, ttl }
    }
}

/// Asks, and keeps the answer.
async fn ask(inner: Arc<Inner>, host: Box<str>) -> Outcome {
    let outcome = inner.look_up(&host).await;
    let mut state = inner.lock();
    state.asking.remove(&host);
    state.cache.put(host, outcome.clone(), Instant::now());
    outcome
}

/// What an answer says.
struct Answer {
    addresses: BTreeSet<IpAddr>,
    ttl: Duration,
    records: String,
}

impl Answer {
    /// Longest text that is kept of an answer.
    const RECORDS_LENGTH_MAX: usize = 16 * 1024;

    fn read(records: &[Record], wanted: RecordType) -> Self {
        let mut answer = Self {
            addresses: BTreeSet::new(),
            ttl: Duration::MAX,
            records: String::new(),
        };
        for record in records {
            match &record.data {
                RData::A(address) if wanted == RecordType::A => {
                    answer.addresses.insert(IpAddr::V4(address.0));
                }
                RData::AAAA(address) if wanted == RecordType::AAAA => {
                    answer.addresses.insert(IpAddr::V6(address.0));
                }
                _ => {}
            }
            // An alias limits how long the whole answer is good for.
            answer.ttl = answer.ttl.min(Duration::from_secs(record.ttl.into()));
            if answer.records.len() < Self::RECORDS_LENGTH_MAX {
                let (name, ttl, class) = (&record.name, record.ttl, record.dns_class);
                let (kind, data) = (record.record_type(), &record.data);
                // Writing to a string does not fail.
                let _ = writeln!(answer.records, "{name}\t{ttl}\t{class}\t{kind}\t{data}");
            }
        }
        answer
    }
}

fn problem_of(error: &NetError) -> (DnsProblem, Option<Duration>) {
    match error {
        NetError::Dns(DnsError::NoRecordsFound(none)) => {
            let ttl = none
                .negative_ttl
                .map(|seconds| Duration::from_secs(seconds.into()));
            if error.is_nx_domain() {
                (DnsProblem::NoSuchName, ttl)
            } else {
                (DnsProblem::NoAddress, ttl)
            }
        }
        NetError::Timeout => (DnsProblem::Timeout, None),
        other => (DnsProblem::ServerFailure(other.to_string()), None),
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
    // The cache here knows how to choose, to bound and to forget; two would only disagree.
    options.cache_size = 0;
    options.preserve_intermediates = true;
    if !config.name_servers.is_empty() {
        options.use_hosts_file = ResolveHosts::Never;
    }
}

/// Outcomes by host, in two generations: when the young one is full the old one is dropped, so
/// that size is bounded and what is in use stays.
struct Cache {
    young: HashMap<Box<str>, Entry>,
    old: HashMap<Box<str>, Entry>,
    generation_max: usize,
}

#[derive(Clone)]
struct Entry {
    outcome: Outcome,
    expires: Instant,
}

impl Cache {
    fn new(hosts_max: usize) -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
            generation_max: (hosts_max / 2).max(1),
        }
    }

    fn get(&mut self, host: &str, now: Instant) -> Option<Outcome> {
        if let Some(entry) = self.young.get(host) {
            return (now < entry.expires).then(|| entry.outcome.clone());
        }
        let (host, entry) = self.old.remove_entry(host)?;
        if entry.expires <= now {
            return None;
        }
        let outcome = entry.outcome.clone();
        self.insert(host, entry);
        Some(outcome)
    }

    fn put(&mut self, host: Box<str>, outcome: Outcome, now: Instant) {
        let ttl = match &outcome {
            Ok(resolved) => resolved.ttl,
            Err(failure) => failure.ttl,
        };
        let expires = now + ttl;
        self.insert(host, Entry { outcome, expires });
    }

    fn insert(&mut self, host: Box<str>, entry: Entry) {
        if self.generation_max <= self.young.len() {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(host, entry);
    }

    fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }
}
