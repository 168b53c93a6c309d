//! What must survive of servers, hosts and seeds, kill or not: who asked for how much rest, and around what the scope reaches.
//!
//! Two files of lines below `state/`, appended as things happen: `servers.jsonl` (the last line of a server or host holds) and
//! `seeds.txt`. Both are small: most servers never ask for anything.
//!
//! A line of `servers.jsonl` is JSON, a tab, and the CRC-32 of the JSON: a bit that flips in a number is noticed too. Lines of before have no checksum.
//!
//! With what was asked for stands a moment by which the next run can tell how much of a rest is left ([`Clock::end_of_rest`]).

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use junkai_frontier::{HostPaces, HostState, Scheduler, ServerKey, ServerState};
use junkai_weburl::PageUrl;
use serde::{Deserialize, Serialize};

use crate::CrawlError;
use crate::clock::{Clock, Moment};
use crate::error::AtPath as _;
use crate::line_file::LineFile;
use crate::visit::Visit;

/// Where the states of servers are, below `state/`.
const STATES: &str = "servers.jsonl";
/// The file of states is written anew when it is longer than this, and twice as long as then.
const STATES_BYTES_MAX: u64 = 4 << 20;

/// A line of the file of states.
#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged)]
enum Line {
    /// A host asks for a pace of its own, or no longer.
    Host(HostState),
    /// How a server stands.
    Server(ServerState),
    /// When the lines around it were written.
    Written {
        #[serde(flatten)]
        moment: Moment,
        /// Whether the crawl ended there in an orderly way: nothing was visited after it.
        is_last: bool,
    },
}

impl Line {
    /// Appends the line, with its checksum and its end.
    fn write(&self, lines: &mut Vec<u8>) {
        // Numbers and names always serialise.
        if let Ok(json) = serde_json::to_string(self) {
            let checksum = crc32fast::hash(json.as_bytes());
            lines.extend_from_slice(format!("{json}\t{checksum:08x}\n").as_bytes());
        }
    }

    /// Reads a line without its end; none if it is not as it was written.
    fn read(line: &str) -> Option<Line> {
        let json = match line.split_once('\t') {
            Some((json, checksum)) => {
                let checksum = u32::from_str_radix(checksum, 16).ok()?;
                (checksum == crc32fast::hash(json.as_bytes())).then_some(json)?
            }
            None => line,
        };
        serde_json::from_str(json).ok()
    }
}

/// What servers and hosts asked for in earlier runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Restored {
    pub(crate) servers: Vec<ServerState>,
    pub(crate) hosts: Vec<HostState>,
    /// When that was written down last.
    moment: Option<Moment>,
    /// Whether the last run ended in an orderly way.
    pub(crate) was_closed: bool,
    /// Lines that cannot be read: whose they were is not known.
    pub(crate) unreadable: usize,
}

/// The two files, and which servers were visited in this run.
#[derive(Debug)]
pub(crate) struct Servers {
    state: PathBuf,
    clock: Clock,
    states: LineFile,
    /// How long the file of states was when it was written anew.
    shortened_bytes: u64,
    seeds: LineFile,
    restored: Restored,
    visited: Box<[bool]>,
}

impl Restored {
    /// What was damaged, if anything was.
    pub(crate) fn damage_in_words(&self) -> Option<String> {
        (0 < self.unreadable).then(|| {
            format!(
                "what servers asked for: {} lines of state/{STATES} were damaged from outside, and the rest that their servers or hosts asked for is not known; \
                 check the disk, and pause hosts that are to be left alone (junkai pause)",
                self.unreadable
            )
        })
    }
}

impl Servers {
    /// Opens both files, reads what they say, and shortens the first to one line a server.
    pub(crate) fn open(state: &Path, keys: u32, clock: &Clock) -> Result<Servers, CrawlError> {
        let mut restored = restored(state, keys)?;
        if let Some(then) = &restored.moment {
            for server in &mut restored.servers {
                server.hold_until = clock.end_of_rest(server.hold_until, then);
            }
            for host in &mut restored.hosts {
                host.free_at = clock.end_of_rest(host.free_at, then);
            }
        }
        let servers = restored.servers.iter().copied();
        let hosts = restored.hosts.iter().cloned();
        write_states(state, servers, hosts, written(clock, false))?;
        let states = LineFile::open(&state.join(STATES))?;
        Ok(Servers {
            state: state.to_owned(),
            clock: clock.clone(),
            shortened_bytes: states.length(),
            states,
            seeds: LineFile::open(&state.join("seeds.txt"))?,
            restored,
            visited: vec![false; keys as usize].into(),
        })
    }

    /// What was asked for in earlier runs.
    pub(crate) fn restored(&self) -> &Restored {
        &self.restored
    }

    /// Notes how a server stands now.
    pub(crate) fn note(&mut self, scheduler: &Scheduler<Visit>, key: ServerKey) {
        self.note_line(&Line::Server(scheduler.server_state(key)));
    }

    /// Notes what a host asks for now.
    pub(crate) fn note_host(&mut self, paces: &HostPaces, host: &str) {
        let nothing = || HostState {
            host: host.into(),
            asks: Vec::new(),
            free_at: junkai_frontier::Time::EPOCH,
        };
        self.note_line(&Line::Host(
            paces.state(host, self.clock.now()).unwrap_or_else(nothing),
        ));
    }

    fn note_line(&mut self, line: &Line) {
        line.write(self.states.buffer());
    }

    /// Notes a URL around which the scope reaches.
    pub(crate) fn note_seed(&mut self, seed: &PageUrl) {
        self.seeds
            .buffer()
            .extend_from_slice(seed.as_str().as_bytes());
        self.seeds.buffer().push(b'\n');
    }

    /// Writes the file anew with one line a server, when it has grown long.
    pub(crate) fn shorten_when_long(
        &mut self,
        scheduler: &Scheduler<Visit>,
        paces: &HostPaces,
    ) -> Result<(), CrawlError> {
        if self.states.length() < STATES_BYTES_MAX.max(2 * self.shortened_bytes) {
            return Ok(());
        }
        self.write_anew(scheduler, paces, false)
    }

    /// The crawl ends, and nothing is visited any more: the next run knows to the moment how long hosts rest.
    pub(crate) fn close(
        &mut self,
        scheduler: &Scheduler<Visit>,
        paces: &HostPaces,
    ) -> Result<(), CrawlError> {
        self.write_anew(scheduler, paces, true)
    }

    fn write_anew(
        &mut self,
        scheduler: &Scheduler<Visit>,
        paces: &HostPaces,
        is_last: bool,
    ) -> Result<(), CrawlError> {
        let written = written(&self.clock, is_last);
        let hosts = paces.states(self.clock.now());
        write_states(&self.state, scheduler.server_states(), hosts, written)?;
        self.states = LineFile::open(&self.state.join(STATES))?;
        self.shortened_bytes = self.states.length();
        Ok(())
    }

    /// Whether this server was not visited in this run before; from now on it was.
    pub(crate) fn is_new(&mut self, key: ServerKey) -> bool {
        self.visited
            .get_mut(key.index())
            .is_some_and(|visited| !std::mem::replace(visited, true))
    }

    pub(crate) fn flush(&mut self) -> Result<(), CrawlError> {
        if !self.states.buffer().is_empty() {
            self.note_line(&written(&self.clock, false));
        }
        self.states.flush()?;
        self.seeds.flush()
    }
}

fn written(clock: &Clock, is_last: bool) -> Line {
    let moment = clock.moment();
    Line::Written { moment, is_last }
}

/// Puts a file with one line a server and host in the place of the old one.
fn write_states(
    state: &Path,
    servers: impl Iterator<Item = ServerState>,
    hosts: impl Iterator<Item = HostState>,
    written: Line,
) -> Result<(), CrawlError> {
    let mut lines = Vec::new();
    let all = servers.map(Line::Server).chain(hosts.map(Line::Host));
    for line in all.chain([written]) {
        line.write(&mut lines);
    }
    let path = state.join(STATES);
    junkai_files::replace(&path, &lines).at(&path)
}

/// The last line of each server and host.
pub(crate) fn restored(state: &Path, keys: u32) -> Result<Restored, CrawlError> {
    let (mut servers, mut hosts) = (BTreeMap::new(), BTreeMap::new());
    let mut restored = Restored::default();
    let lines = lines(&state.join(STATES))?;
    for (left, line) in (0..lines.len()).rev().zip(&lines) {
        restored.was_closed = false;
        match Line::read(line) {
            Some(Line::Server(server)) if server.key.number() < keys => {
                servers.insert(server.key, server);
            }
            Some(Line::Host(host)) => {
                hosts.insert(host.host.clone(), host);
            }
            Some(Line::Written { moment, is_last }) => {
                restored.moment = Some(moment);
                restored.was_closed = is_last;
            }
            // A kill may have torn the last one.
            None if 0 < left => restored.unreadable += 1,
            Some(Line::Server(_)) | None => {}
        }
    }
    restored.servers = servers.into_values().collect();
    restored.hosts = hosts.into_values().collect();
    Ok(restored)
}

/// The seeds of earlier runs.
pub(crate) fn earlier_seeds(state: &Path) -> Result<Vec<String>, CrawlError> {
    lines(&state.join("seeds.txt"))
}

fn lines(path: &Path) -> Result<Vec<String>, CrawlError> {
    match fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes)
            .lines()
            .map(str::to_owned)
            .collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error).at(path),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use junkai_frontier::{Event, Overflow, PolitenessConfig, RingConfig, Time};

    use crate::clock::ClockConfig;

    use super::*;

    fn scheduler() -> Scheduler<Visit> {
        let ring = RingConfig {
            keys: 64,
            ..RingConfig::default()
        };
        Scheduler::new(
            &ring,
            PolitenessConfig::default(),
            Overflow::Defer,
            1,
            Time::EPOCH,
        )
    }

    fn clock() -> Clock {
        Clock::start(&ClockConfig::default(), Time::EPOCH)
    }

    fn paces() -> HostPaces {
        HostPaces::new(PolitenessConfig::default())
    }

    #[test]
    fn the_last_word_of_a_server_survives_a_torn_line() {
        let state = tempfile::tempdir().unwrap();
        let (key, other) = (ServerKey::new(3), ServerKey::new(5));
        let clock = clock();
        let start = clock.now();
        let mut servers = Servers::open(state.path(), 64, &clock).unwrap();
        let mut scheduler = scheduler();
        let after = |hours| start + Duration::from_hours(hours);
        for hours in [1, 2] {
            let until = after(hours);
            for key in [key, other] {
                scheduler.step(Time::EPOCH, Event::Hold { key, until }, &mut Vec::new());
                servers.note(&scheduler, key);
            }
            servers.flush().unwrap();
        }
        let path = state.path().join("servers.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let torn = text.rfind("{\"key\":5").unwrap() + 20;
        fs::write(&path, &text[..torn]).unwrap();

        let servers = Servers::open(state.path(), 64, &clock).unwrap();
        let restored = servers.restored();
        assert!(!restored.was_closed);
        let holds = restored.servers.iter().map(|state| {
            let off = state.hold_until.saturating_duration_since(start).as_secs();
            (state.key, off / 3600)
        });
        assert_eq!(holds.collect::<Vec<_>>(), [(key, 2), (other, 1)]);
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 3);
        assert_eq!(
            restored.damage_in_words(),
            None,
            "a kill may tear the last line"
        );
    }

    #[test]
    fn a_damaged_line_is_told_of() {
        let state = tempfile::tempdir().unwrap();
        let clock = clock();
        let path = state.path().join("servers.jsonl");
        drop(Servers::open(state.path(), 64, &clock).unwrap());
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{{\"kfy\":3}}\n\u{fffd}\n{text}")).unwrap();
        let servers = Servers::open(state.path(), 64, &clock).unwrap();
        let told = servers.restored().damage_in_words().unwrap();
        assert!(told.contains(": 2 lines of state/servers.jsonl"), "{told}");
    }

    #[test]
    fn any_changed_byte_of_a_line_is_noticed() {
        let mut line = Vec::new();
        let key = ServerKey::new(3);
        Line::Server(scheduler().server_state(key)).write(&mut line);
        let whole = String::from_utf8(line).unwrap();
        let whole = whole.trim_end();
        assert!(Line::read(whole).is_some());
        for at in 0..whole.len() {
            for bit in 0..7 {
                let mut damaged = whole.as_bytes().to_vec();
                damaged[at] ^= 1 << bit;
                let damaged = String::from_utf8(damaged).unwrap();
                // A hexadecimal digit in the other case is the same digit.
                let is_same = damaged.eq_ignore_ascii_case(whole) && whole.len() - 8 <= at;
                assert_eq!(Line::read(&damaged).is_some(), is_same, "{damaged}");
            }
        }
    }

    #[test]
    fn what_a_host_asked_for_is_there_after_a_stop_and_gone_when_it_was_taken_back() {
        let state = tempfile::tempdir().unwrap();
        let clock = clock();
        let (mut paces, scheduler) = (paces(), scheduler());
        let mut servers = Servers::open(state.path(), 64, &clock).unwrap();
        for host in ["a.test", "b.test"] {
            assert!(paces.told(host, 1, Some(Duration::from_mins(9)), clock.now()));
            servers.note_host(&paces, host);
        }
        assert!(paces.told("b.test", 1, None, clock.now()));
        servers.note_host(&paces, "b.test");
        servers.flush().unwrap();
        let killed = restored(state.path(), 64).unwrap();
        assert!(!killed.was_closed);
        let asking = killed.hosts.iter().filter(|host| !host.asks.is_empty());
        assert_eq!(
            asking.map(|host| &*host.host).collect::<Vec<_>>(),
            ["a.test"]
        );

        servers.close(&scheduler, &paces).unwrap();
        let stopped = restored(state.path(), 64).unwrap();
        assert!(stopped.was_closed);
        assert_eq!(stopped.hosts, paces.states(clock.now()).collect::<Vec<_>>());
        assert!(
            !Servers::open(state.path(), 64, &clock)
                .unwrap()
                .restored()
                .hosts
                .is_empty()
        );
        assert!(
            !restored(state.path(), 64).unwrap().was_closed,
            "it has begun anew"
        );
    }

    #[test]
    fn an_interval_that_an_archive_of_before_kept_for_a_server_is_not_taken_over() {
        let state = tempfile::tempdir().unwrap();
        let line =
            r#"{"key":3,"interval_told":{"secs":34560000,"nanos":0},"hold_until":0,"strikes":1}"#;
        fs::write(state.path().join(STATES), format!("{line}\n")).unwrap();
        let servers = Servers::open(state.path(), 64, &clock()).unwrap();
        let mut scheduler = scheduler();
        scheduler.restore(servers.restored().servers.iter().copied());
        let standing = scheduler.explain(ServerKey::new(3));
        assert_eq!(standing.strikes, 1);
        assert_eq!(standing.interval, Duration::from_secs(10));
    }

    #[test]
    fn a_rest_is_not_shortened_by_a_wall_clock_that_was_set_forward() {
        let state = tempfile::tempdir().unwrap();
        let key = ServerKey::new(3);
        let before = clock();
        let mut servers = Servers::open(state.path(), 64, &before).unwrap();
        let mut scheduler = scheduler();
        let until = before.now() + Duration::from_hours(1);
        scheduler.step(Time::EPOCH, Event::Hold { key, until }, &mut Vec::new());
        servers.note(&scheduler, key);
        servers.flush().unwrap();

        let tomorrow = before.now() + Duration::from_hours(24);
        let after = Clock::start(&ClockConfig::default(), tomorrow);
        let servers = Servers::open(state.path(), 64, &after).unwrap();
        let hold_until = servers.restored().servers[0].hold_until;
        let left = hold_until.saturating_duration_since(after.now());
        assert!(Duration::from_mins(50) < left, "{left:?}");
        assert!(left <= Duration::from_hours(1), "{left:?}");
    }
}
