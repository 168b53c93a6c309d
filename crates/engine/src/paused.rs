//! What is paused: hosts, servers, or the whole crawl, by command and over restarts.
//!
//! `state/paused.json` is replaced at every change, before anybody is told of it. The frontier's thread asks [`Paused::until`] when a visit comes up
//! and when it is about to start: a paused visit is deferred, and so asked about again.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use junkai_files::Folder;
use junkai_frontier::Time;
use serde::{Deserialize, Serialize};

use crate::CrawlError;
use crate::command::Whom;
use crate::platform::ArchiveFolder;
use crate::small_file;

const NAME: &str = "paused.json";
/// A paused visit is deferred by the time that the pause has lasted, within these bounds. So what is resumed goes on within as long as it was paused,
/// and a long pause costs little.
const DEFERRAL_MIN: Duration = Duration::from_secs(1);
const DEFERRAL_MAX: Duration = Duration::from_mins(10);

/// What is paused, each since when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Paused {
    /// The whole crawl.
    pub all: Option<Time>,
    /// Hosts.
    pub hosts: BTreeMap<String, Time>,
    /// Servers, with all hosts that live there.
    pub servers: BTreeMap<IpAddr, Time>,
}

impl Paused {
    /// What is paused in the archive whose state is here.
    pub fn load(state: &Folder) -> Result<Paused, CrawlError> {
        small_file::load(state.disk(), &state.file(NAME))
    }

    /// Makes it last.
    pub fn store(&self, state: &Folder) -> Result<(), CrawlError> {
        small_file::store(state.disk(), &state.file(NAME), self)
    }

    /// Pauses somebody. Answers whether that is news.
    pub fn pause(&mut self, whom: &Whom, now: Time) -> bool {
        match whom {
            Whom::All => self.all.replace(self.all.unwrap_or(now)).is_none(),
            Whom::Host(host) if self.hosts.contains_key(host) => false,
            Whom::Host(host) => self.hosts.insert(host.clone(), now).is_none(),
            Whom::Server(server) if self.servers.contains_key(server) => false,
            Whom::Server(server) => self.servers.insert(*server, now).is_none(),
        }
    }

    /// Lets somebody go on; all means what was paused as all, not each by name. Answers whether that is news.
    pub fn resume(&mut self, whom: &Whom) -> bool {
        match whom {
            Whom::All => self.all.take().is_some(),
            Whom::Host(host) => self.hosts.remove(host).is_some(),
            Whom::Server(server) => self.servers.remove(server).is_some(),
        }
    }

    /// Whether nothing is paused.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_none() && self.hosts.is_empty() && self.servers.is_empty()
    }

    /// Until when a visit to this host is deferred, by its name or by where it lives; none if it may go on.
    #[must_use]
    pub fn until(&self, host: &str, server: Option<IpAddr>, now: Time) -> Option<Time> {
        let by_server = || server.and_then(|server| self.servers.get(&server));
        let since = self.hosts.get(host).or_else(by_server)?;
        let lasted = now.saturating_duration_since(*since);
        Some(now + lasted.clamp(DEFERRAL_MIN, DEFERRAL_MAX))
    }

    /// Why visits to this host do not start, in words; none if they do.
    #[must_use]
    pub fn reason(&self, host: &str, server: Option<IpAddr>) -> Option<String> {
        let since = |time: &Time| format!("since {:.0}", crate::clock::timestamp(*time));
        if let Some(time) = &self.all {
            return Some(format!("the whole crawl is paused {}", since(time)));
        }
        if let Some(time) = self.hosts.get(host) {
            return Some(format!("host {host} is paused {}", since(time)));
        }
        let server = server?;
        let time = self.servers.get(&server)?;
        Some(format!("its server {server} is paused {}", since(time)))
    }
}

/// What is paused in the archive in `folder`, whether a crawl is running or not.
///
/// # Errors
/// If the state cannot be read.
pub fn paused(folder: &Path) -> Result<Paused, CrawlError> {
    Paused::load(&ArchiveFolder::real(folder).state())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(seconds: u64) -> Time {
        Time::EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn a_pause_is_news_once_and_outlives_a_restart() {
        let state = tempfile::tempdir().unwrap();
        let mut paused = Paused::load(&Folder::real(state.path())).unwrap();
        assert!(paused.is_empty());
        for whom in [
            Whom::All,
            Whom::Host("a.example".to_owned()),
            Whom::Server("192.0.2.1".parse().unwrap()),
        ] {
            assert!(paused.pause(&whom, after(5)));
            assert!(!paused.pause(&whom, after(9)), "{whom:?}");
        }
        paused.store(&Folder::real(state.path())).unwrap();
        let mut again = Paused::load(&Folder::real(state.path())).unwrap();
        assert_eq!(again, paused);
        assert_eq!(again.all, Some(after(5)));
        assert!(again.resume(&Whom::All));
        assert!(!again.resume(&Whom::All));
        assert!(!again.is_empty(), "hosts are resumed by name");
    }

    #[test]
    fn a_visit_is_deferred_by_as_long_as_the_pause_has_lasted_within_bounds() {
        let mut paused = Paused::default();
        let server: IpAddr = "192.0.2.1".parse().unwrap();
        paused.pause(&Whom::Host("a.example".to_owned()), after(100));
        paused.pause(&Whom::Server(server), after(100));
        for (now, wait) in [(50, 1), (100, 1), (130, 30), (100_000, 600)] {
            let until = Some(after(now + wait));
            assert_eq!(paused.until("a.example", None, after(now)), until);
            assert_eq!(paused.until("b.example", Some(server), after(now)), until);
            assert_eq!(paused.until("b.example", None, after(now)), None);
        }
    }

    #[test]
    fn a_file_that_was_damaged_is_told_of_and_not_taken_for_nothing() {
        let state = tempfile::tempdir().unwrap();
        std::fs::write(state.path().join(NAME), "{").unwrap();
        let error = Paused::load(&Folder::real(state.path())).unwrap_err();
        assert!(error.to_string().contains("paused.json"), "{error}");
    }
}
