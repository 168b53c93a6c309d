//! What must survive of servers, hosts and seeds, kill or not: who asked for how much rest, and around what the scope reaches.
//!
//! Two files of lines below `state/`, appended as things happen: `servers.jsonl` (the last line of a server or host holds) and
//! `seeds.txt`. Both are small: most servers never ask for anything.
//!
//! A damaged line of `servers.jsonl` (`servers::line`) costs no server its rest: where one bit was flipped, it counts as it was written. Where there is more damage and the
//! line still tells whose it was, that server or host rests for as long as any may ask for (`RestMax`): it is one, and it did ask for something. Where not even that
//! is known, every server rests for an interval, as after every start: to let all of them rest for the day that one may have asked for would stop the crawl for a damaged sector.
//!
//! With what was asked for stands a moment by which the next run can tell how much of a rest is left ([`Clock::end_of_rest`]).

mod line;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use junkai_files::Folder;
use junkai_frontier::{
    HostPaces, HostState, PolitenessConfig, Scheduler, ServerKey, ServerState, Time,
};
use junkai_weburl::PageUrl;

use self::line::{Line, Whose};

use crate::CrawlError;
use crate::clock::{Clock, Moment};
use crate::line_file::LineFile;
use crate::platform::PARTITIONS;
use crate::settings::Settings;
use crate::visit::Visit;

/// Where the states of servers are, below `state/`.
const STATES: &str = "servers.jsonl";
/// The file of states is written anew when it is longer than this, and twice as long as then.
const STATES_BYTES_MAX: u64 = 4 << 20;

/// Damaged lines that are searched for a flipped bit at most, the first ones: a disk that flips single bits does not flip so many, and a search takes a millisecond.
const SEARCHES_MAX: usize = 256;

/// The longest rests that may be asked for.
#[derive(Clone, Copy, Debug)]
struct RestMax {
    server: Duration,
    host: Duration,
}

impl From<&PolitenessConfig> for RestMax {
    fn from(politeness: &PolitenessConfig) -> RestMax {
        let told = politeness.retry_after_max;
        RestMax {
            server: told.max(politeness.backoff_max),
            host: told.max(politeness.crawl_delay_max),
        }
    }
}

/// What servers and hosts asked for in earlier runs.
#[derive(Clone, Debug, Default)]
pub struct Restored {
    /// How each server stands.
    pub servers: Vec<ServerState>,
    /// What hosts ask for.
    pub hosts: Vec<HostState>,
    /// When that was written down last.
    moment: Option<Moment>,
    /// Whether the last run ended in an orderly way.
    pub was_closed: bool,
    damage: Damage,
}

/// What was damaged in the file of states.
#[derive(Clone, Debug, Default)]
struct Damage {
    lines: usize,
    /// Of these, lines with one flipped bit, which count as they were written.
    mended: usize,
    /// Of these, lines whose server or host is not known.
    nobodys: usize,
    /// Servers and hosts of whose last word nothing but the name can be read.
    servers: BTreeSet<ServerKey>,
    hosts: BTreeSet<Box<str>>,
}

/// Which servers were visited in this run, by all partitions.
#[derive(Clone, Debug)]
pub struct Visited(Arc<[AtomicBool]>);

impl Visited {
    /// None of so many.
    #[must_use]
    pub fn none_of(keys: u32) -> Visited {
        Visited((0..keys).map(|_| AtomicBool::new(false)).collect())
    }
}

/// The two files, and which servers were visited in this run.
#[derive(Debug)]
pub struct Servers {
    state: Folder,
    clock: Clock,
    states: LineFile,
    /// How long the file of states was when it was written anew.
    shortened_bytes: u64,
    seeds: LineFile,
    restored: Restored,
    visited: Visited,
}

impl Restored {
    /// What was damaged, if anything was.
    #[must_use]
    pub fn damage_in_words(&self) -> Option<String> {
        let damage = &self.damage;
        let resting = damage.servers.len() + damage.hosts.len();
        let mut words = format!(
            "what servers asked for: {} lines of state/{STATES} were damaged from outside",
            damage.lines
        );
        for (count, what) in [
            (
                damage.mended,
                "had one flipped bit and count as they were written",
            ),
            (
                resting,
                "servers or hosts rest now for as long as any may ask for",
            ),
            (
                damage.nobodys,
                "do not tell whose they were: pause hosts that are to be left alone (junkai pause)",
            ),
        ] {
            if 0 < count {
                words.extend(["; ", &count.to_string(), " ", what]);
            }
        }
        words.push_str("; check the disk");
        (0 < damage.lines).then_some(words)
    }

    /// Lets those rest whose last word cannot be read.
    fn rest_damaged(&mut self, rest_max: RestMax, now: Time) {
        let until = now + rest_max.server;
        for &key in &self.damage.servers {
            match self.servers.iter_mut().find(|server| server.key == key) {
                Some(server) => server.hold_until = server.hold_until.max(until),
                None => self.servers.push(ServerState {
                    key,
                    hold_until: until,
                    strikes: 0,
                }),
            }
        }
        let until = now + rest_max.host;
        for name in &self.damage.hosts {
            match self.hosts.iter_mut().find(|host| host.host == *name) {
                Some(host) => host.free_at = host.free_at.max(until),
                None => self.hosts.push(HostState {
                    host: name.clone(),
                    asks: Vec::new(),
                    free_at: until,
                }),
            }
        }
    }
}

impl Servers {
    /// Opens both files, reads what they say, and shortens the first to one line a server.
    pub fn open(
        state: &Folder,
        settings: &Settings,
        clock: &Clock,
        visited: &Visited,
    ) -> Result<Servers, CrawlError> {
        let keys = settings.ring.keys;
        let mut restored = restored(state, keys)?;
        if let Some(then) = &restored.moment {
            for server in &mut restored.servers {
                server.hold_until = clock.end_of_rest(server.hold_until, then);
            }
            for host in &mut restored.hosts {
                host.free_at = clock.end_of_rest(host.free_at, then);
            }
        }
        restored.rest_damaged((&settings.politeness).into(), clock.now());
        let servers = restored.servers.iter().copied();
        let hosts = restored.hosts.iter().cloned();
        write_states(state, servers, hosts, written(clock, false))?;
        let states = LineFile::open(state.disk(), &state.file(STATES))?;
        Ok(Servers {
            state: state.clone(),
            clock: clock.clone(),
            shortened_bytes: states.length(),
            states,
            seeds: LineFile::open(state.disk(), &state.file("seeds.txt"))?,
            restored,
            visited: visited.clone(),
        })
    }

    /// What was asked for in earlier runs.
    #[must_use]
    pub fn restored(&self) -> &Restored {
        &self.restored
    }

    /// Notes how a server stands now.
    pub fn note(&mut self, scheduler: &Scheduler<Visit>, key: ServerKey) {
        self.note_line(&Line::Server(scheduler.server_state(key)));
    }

    /// Notes what a host asks for now.
    pub fn note_host(&mut self, paces: &HostPaces, host: &str) {
        let nothing = || HostState {
            host: host.into(),
            asks: Vec::new(),
            free_at: Time::EPOCH,
        };
        self.note_line(&Line::Host(
            paces.state(host, self.clock.now()).unwrap_or_else(nothing),
        ));
    }

    fn note_line(&mut self, line: &Line) {
        line.write(self.states.buffer());
    }

    /// Notes a URL around which the scope reaches.
    pub fn note_seed(&mut self, seed: &PageUrl) {
        self.seeds
            .buffer()
            .extend_from_slice(seed.as_str().as_bytes());
        self.seeds.buffer().push(b'\n');
    }

    /// Writes the file anew with one line a server, when it has grown long.
    pub fn shorten_when_long(
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
    pub fn close(
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
        self.states = LineFile::open(self.state.disk(), &self.state.file(STATES))?;
        self.shortened_bytes = self.states.length();
        Ok(())
    }

    /// Whether this server was not visited in this run before, by any partition; from now on it was.
    pub fn is_new(&mut self, key: ServerKey) -> bool {
        let visited = self.visited.0.get(key.index());
        visited.is_some_and(|visited| !visited.swap(true, Ordering::Relaxed))
    }

    /// Hands what was noted to the operating system.
    pub fn flush(&mut self) -> Result<(), CrawlError> {
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
    state: &Folder,
    servers: impl Iterator<Item = ServerState>,
    hosts: impl Iterator<Item = HostState>,
    written: Line,
) -> Result<(), CrawlError> {
    let mut lines = Vec::new();
    let all = servers.map(Line::Server).chain(hosts.map(Line::Host));
    for line in all.chain([written]) {
        line.write(&mut lines);
    }
    Ok(state.replace(STATES, &lines)?)
}

/// The last line of each server and host.
pub fn restored(state: &Folder, keys: u32) -> Result<Restored, CrawlError> {
    let mut gathered = Gathered::default();
    let bytes = state.read(STATES)?.unwrap_or_default();
    let (whole, last) = match bytes.iter().rposition(|&byte| byte == b'\n') {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (&bytes[..0], &bytes[..]),
    };
    let lines = whole.split(|&byte| byte == b'\n');
    for line in lines.filter(|line| !line.is_empty()) {
        gathered.take_in(line, keys);
    }
    // A kill may have torn the last one.
    if !last.is_empty() && (Line::read(last).is_some() || !Line::is_torn(last)) {
        gathered.take_in(last, keys);
    }
    Ok(Restored {
        servers: gathered.servers.into_values().collect(),
        hosts: gathered.hosts.into_values().collect(),
        ..gathered.restored
    })
}

/// What the lines say, as far as they have been read.
#[derive(Default)]
struct Gathered {
    servers: BTreeMap<ServerKey, ServerState>,
    hosts: BTreeMap<Box<str>, HostState>,
    /// The rest of it.
    restored: Restored,
}

impl Gathered {
    fn take_in(&mut self, line: &[u8], keys: u32) {
        if let Some(line) = Line::read(line) {
            return self.note(line, keys);
        }
        self.restored.was_closed = false;
        let damage = &mut self.restored.damage;
        damage.lines += 1;
        if damage.lines <= SEARCHES_MAX
            && let Some(mended) = Line::mend(line)
        {
            damage.mended += 1;
            for line in mended {
                self.note(line, keys);
            }
            return;
        }
        match Whose::of(line) {
            Some(Whose::Server(key)) if key.number() < keys => {
                damage.servers.insert(key);
            }
            Some(Whose::Host(host)) => {
                damage.hosts.insert(host);
            }
            Some(Whose::Server(_)) | None => damage.nobodys += 1,
        }
    }

    /// What a line says holds, whatever lines before it said.
    fn note(&mut self, line: Line, keys: u32) {
        let restored = &mut self.restored;
        restored.was_closed = false;
        match line {
            Line::Server(server) if server.key.number() < keys => {
                restored.damage.servers.remove(&server.key);
                self.servers.insert(server.key, server);
            }
            Line::Server(_) => {}
            Line::Host(host) => {
                restored.damage.hosts.remove(&host.host);
                self.hosts.insert(host.host.clone(), host);
            }
            Line::Written { moment, is_last } => {
                restored.moment = Some(moment);
                restored.was_closed = is_last;
            }
        }
    }
}

/// The seeds of earlier runs, of all partitions.
pub fn earlier_seeds(state: &Folder) -> Result<Vec<String>, CrawlError> {
    let mut folders = vec![state.clone()];
    let several = state.folder(PARTITIONS);
    if state.disk().exists(several.path()) {
        let names = state.disk().list(several.path())?;
        folders.extend(names.iter().map(|name| several.folder(name)));
    }
    let mut seeds = Vec::new();
    for folder in folders {
        let bytes = folder.read("seeds.txt")?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        seeds.extend(text.lines().map(str::to_owned));
    }
    Ok(seeds)
}

/// How the servers stand that several partitions have visited: each rests as long as any of them was told.
#[must_use]
pub fn of_all_partitions<'a>(restored: impl Iterator<Item = &'a Restored>) -> Vec<ServerState> {
    let mut servers: BTreeMap<ServerKey, ServerState> = BTreeMap::new();
    for state in restored.flat_map(|restored| &restored.servers) {
        let server = servers.entry(state.key).or_insert(*state);
        server.hold_until = server.hold_until.max(state.hold_until);
        server.strikes = server.strikes.max(state.strikes);
    }
    servers.into_values().collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use junkai_frontier::{Event, Overflow, RingConfig};

    use crate::clock::ClockConfig;
    use crate::testing::platform;

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
        Clock::start(&platform().machine, &ClockConfig::default(), Time::EPOCH)
    }

    const REST_MAX: RestMax = RestMax {
        server: Duration::from_hours(24),
        host: Duration::from_hours(24),
    };

    fn restored(state: &Path, keys: u32) -> Result<Restored, CrawlError> {
        super::restored(&Folder::real(state), keys)
    }

    fn open(state: &Path, clock: &Clock) -> Servers {
        let mut settings = Settings::default();
        settings.ring.keys = 64;
        Servers::open(
            &Folder::real(state),
            &settings,
            clock,
            &Visited::none_of(64),
        )
        .unwrap()
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
        let mut servers = open(state.path(), &clock);
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

        let servers = open(state.path(), &clock);
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
        drop(open(state.path(), &clock));
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{{\"kfy\":3}}\n\u{fffd}\n{text}")).unwrap();
        let servers = open(state.path(), &clock);
        let told = servers.restored().damage_in_words().unwrap();
        assert!(told.contains(": 2 lines of state/servers.jsonl"), "{told}");
    }

    /// A file of one server and one host that rest for an hour, and the clock that it was written by.
    fn two_that_rest(state: &Path) -> Clock {
        let (clock, mut scheduler, mut paces) = (clock(), scheduler(), paces());
        let until = clock.now() + Duration::from_hours(1);
        let mut servers = open(state, &clock);
        let key = ServerKey::new(3);
        scheduler.step(Time::EPOCH, Event::Hold { key, until }, &mut Vec::new());
        servers.note(&scheduler, key);
        paces.told("a.test", 1, Some(Duration::from_mins(9)), clock.now());
        servers.close(&scheduler, &paces).unwrap();
        clock
    }

    #[test]
    fn whatever_bit_is_flipped_it_is_told_and_everybody_rests_as_before() {
        let state = tempfile::tempdir().unwrap();
        let clock = two_that_rest(state.path());
        let path = state.path().join(STATES);
        let whole = fs::read(&path).unwrap();
        let before = restored(state.path(), 64).unwrap();
        assert!(before.damage_in_words().is_none());
        for at in 0..whole.len() {
            for bit in 0..u8::BITS {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                fs::write(&path, &damaged).unwrap();
                let shown = String::from_utf8_lossy(&damaged);
                let mut after = restored(state.path(), 64).unwrap();
                assert!(after.damage_in_words().is_some(), "{shown}");
                after.rest_damaged(REST_MAX, clock.now());
                for server in &before.servers {
                    let rests = after.servers.iter().find(|after| after.key == server.key);
                    assert!(rests.is_some_and(|rests| server.hold_until <= rests.hold_until));
                }
                for host in &before.hosts {
                    let rests = after.hosts.iter().find(|after| after.host == host.host);
                    assert!(rests.is_some_and(|rests| host.free_at <= rests.free_at));
                }
            }
        }
    }

    #[test]
    fn whose_last_word_is_damaged_rests_for_long_and_over_the_next_start() {
        let state = tempfile::tempdir().unwrap();
        let clock = two_that_rest(state.path());
        let path = state.path().join(STATES);
        let text = fs::read_to_string(&path).unwrap();
        let damaged: String = text
            .lines()
            .map(|line| match line.split_once(',') {
                Some((name, rest)) if !line.contains("is_last") => {
                    format!("{name},{}\n", "?".repeat(rest.len()))
                }
                _ => format!("{line}\n"),
            })
            .collect();
        fs::write(&path, damaged).unwrap();
        for is_told in [true, false] {
            let servers = open(state.path(), &clock);
            let restored = servers.restored();
            assert_eq!(restored.damage_in_words().is_some(), is_told);
            let day = clock.now() + Duration::from_hours(23);
            let (server, host) = (&restored.servers[0], &restored.hosts[0]);
            assert!(server.key == ServerKey::new(3) && day < server.hold_until);
            assert!(&*host.host == "a.test" && day < host.free_at);
        }
    }

    #[test]
    fn a_later_word_counts_although_an_earlier_one_is_damaged() {
        let state = tempfile::tempdir().unwrap();
        let clock = two_that_rest(state.path());
        let path = state.path().join(STATES);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{{\"key\":3,???\n{text}")).unwrap();
        let servers = open(state.path(), &clock);
        let rest = servers.restored().servers[0].hold_until;
        assert!(rest < clock.now() + Duration::from_hours(2));
        assert!(servers.restored().damage_in_words().is_some());
    }

    /// With every start all servers count as visited just now.
    #[test]
    fn where_nobody_knows_whose_a_line_was_every_server_rests_for_an_interval() {
        let state = tempfile::tempdir().unwrap();
        let clock = two_that_rest(state.path());
        fs::write(state.path().join(STATES), "\0\0\0\n").unwrap();
        let servers = open(state.path(), &clock);
        let told = servers.restored().damage_in_words().unwrap();
        assert!(told.contains("1 do not tell whose they were"), "{told}");
        let mut scheduler = scheduler();
        scheduler.restore(servers.restored().servers.iter().copied());
        for number in 0..64 {
            let free_at = scheduler.explain(ServerKey::new(number)).free_at;
            assert!(Some(Time::EPOCH + PolitenessConfig::default().interval) <= free_at);
        }
    }

    #[test]
    fn what_a_host_asked_for_is_there_after_a_stop_and_gone_when_it_was_taken_back() {
        let state = tempfile::tempdir().unwrap();
        let clock = clock();
        let (mut paces, scheduler) = (paces(), scheduler());
        let mut servers = open(state.path(), &clock);
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
        assert!(!open(state.path(), &clock).restored().hosts.is_empty());
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
        let servers = open(state.path(), &clock());
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
        let mut servers = open(state.path(), &before);
        let mut scheduler = scheduler();
        let until = before.now() + Duration::from_hours(1);
        scheduler.step(Time::EPOCH, Event::Hold { key, until }, &mut Vec::new());
        servers.note(&scheduler, key);
        servers.flush().unwrap();

        let tomorrow = before.now() + Duration::from_hours(24);
        let after = Clock::start(&platform().machine, &ClockConfig::default(), tomorrow);
        let servers = open(state.path(), &after);
        let hold_until = servers.restored().servers[0].hold_until;
        let left = hold_until.saturating_duration_since(after.now());
        assert!(Duration::from_mins(50) < left, "{left:?}");
        assert!(left <= Duration::from_hours(1), "{left:?}");
    }
}
