//! The settings of name resolution.

use std::net::SocketAddr;
use std::time::Duration;

use hickory_resolver::proto::rr::RecordType;
use serde::{Deserialize, Serialize};

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
    /// How often a question is repeated when no answer comes. Default 1; at most 16.
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
    /// How many hosts are kept, found or not, for as long as their answers hold. Default 200000; at most 16777216.
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
            cache_hosts: 200_000,
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
    pub(super) fn record_types(self) -> &'static [RecordType] {
        match self {
            Self::PreferIpv4 => &[RecordType::A, RecordType::AAAA],
            Self::PreferIpv6 => &[RecordType::AAAA, RecordType::A],
            Self::OnlyIpv4 => &[RecordType::A],
            Self::OnlyIpv6 => &[RecordType::AAAA],
        }
    }
}
