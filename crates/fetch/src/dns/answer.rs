//! What a name server's answer, or its failure, says.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::net::IpAddr;
use std::time::Duration;

use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::rr::{RData, Record, RecordType};

use super::outcome::DnsProblem;
use crate::failure::is_shortage;

/// What an answer says.
pub(super) struct Answer {
    pub(super) addresses: BTreeSet<IpAddr>,
    pub(super) ttl: Duration,
    pub(super) records: String,
}

impl Answer {
    /// Longest text that is kept of an answer.
    const RECORDS_LENGTH_MAX: usize = 16 * 1024;

    pub(super) fn read(records: &[Record], wanted: RecordType) -> Self {
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

/// What kept a question from being answered, and for how long that holds.
pub(super) fn problem_of(error: &NetError) -> (DnsProblem, Option<Duration>) {
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
        NetError::Io(error) if is_shortage(error) => (DnsProblem::Short(error.to_string()), None),
        NetError::Timeout => (DnsProblem::Timeout, None),
        other => (DnsProblem::ServerFailure(other.to_string()), None),
    }
}
