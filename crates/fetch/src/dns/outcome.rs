//! What is known of a host: where it is, or why nobody can say.

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use crate::guard::Refused;

/// What is known of a host.
pub(super) type Outcome = Result<Resolved, DnsFailure>;

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
    /// Our own machine ran short of something that asking needs: neither host nor name server is to blame.
    #[error("our own machine is short of something: {0}")]
    Short(String),
    /// It cannot be a host name.
    #[error("not a host name")]
    BadName,
}

impl DnsProblem {
    /// Whether it may be over soon, so that no verdict about the host follows from it.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Timeout | Self::ServerFailure(_) | Self::Short(_) => true,
            Self::NoSuchName | Self::NoAddress | Self::Refused(_) | Self::BadName => false,
        }
    }
}
