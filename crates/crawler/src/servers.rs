//! What must survive of servers and seeds, kill or not: who asked for how much rest, and around what the scope reaches.
//!
//! Two files of lines below `state/`, appended as things happen: `servers.jsonl` (the last line of a server holds) and
//! `seeds.txt`. Both are small: most servers never ask for anything.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use junkai_frontier::{Scheduler, ServerKey, ServerState};
use junkai_weburl::PageUrl;

use crate::line_file::LineFile;
use crate::small_file;
use crate::visit::Visit;

/// Where the states of servers are, below `state/`.
const STATES: &str = "servers.jsonl";
/// The file of states is written anew when it is longer than this, and twice as long as then.
const STATES_BYTES_MAX: u64 = 4 << 20;

/// The two files, and which servers were visited in this run.
#[derive(Debug)]
pub(crate) struct Servers {
    state: PathBuf,
    states: LineFile,
    /// How long the file of states was when it was written anew.
    shortened_bytes: u64,
    seeds: LineFile,
    restored: Vec<ServerState>,
    visited: Box<[bool]>,
}

impl Servers {
    /// Opens both files, reads what they say, and shortens the first to one line a server.
    pub(crate) fn open(state: &Path, keys: u32) -> io::Result<Servers> {
        let restored = restored_states(state, keys)?;
        write_states(state, &restored)?;
        let states = LineFile::open(&state.join(STATES))?;
        Ok(Servers {
            state: state.to_owned(),
            shortened_bytes: states.length(),
            states,
            seeds: LineFile::open(&state.join("seeds.txt"))?,
            restored,
            visited: vec![false; keys as usize].into(),
        })
    }

    /// The servers that asked for something in earlier runs.
    pub(crate) fn restored(&self) -> &[ServerState] {
        &self.restored
    }

    /// Notes how a server stands now.
    pub(crate) fn note(&mut self, scheduler: &Scheduler<Visit>, key: ServerKey) {
        let state = scheduler.server_state(key);
        // A struct of numbers always serialises.
        if serde_json::to_writer(&mut *self.states.buffer(), &state).is_ok() {
            self.states.buffer().push(b'\n');
        }
    }

    /// Notes a URL around which the scope reaches.
    pub(crate) fn note_seed(&mut self, seed: &PageUrl) {
        self.seeds
            .buffer()
            .extend_from_slice(seed.as_str().as_bytes());
        self.seeds.buffer().push(b'\n');
    }

    /// Writes the file anew with one line a server, when it has grown long.
    pub(crate) fn shorten_when_long(&mut self, scheduler: &Scheduler<Visit>) -> io::Result<()> {
        if self.states.length() < STATES_BYTES_MAX.max(2 * self.shortened_bytes) {
            return Ok(());
        }
        let states: Vec<ServerState> = scheduler.server_states().collect();
        write_states(&self.state, &states)?;
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

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.states.flush()?;
        self.seeds.flush()
    }
}

/// Puts a file with one line a server in the place of the old one.
fn write_states(state: &Path, states: &[ServerState]) -> io::Result<()> {
    let mut lines = Vec::new();
    for server in states {
        serde_json::to_writer(&mut lines, server)?;
        lines.push(b'\n');
    }
    small_file::replace(&state.join(STATES), &lines)
}

/// The last line of each server.
pub(crate) fn restored_states(state: &Path, keys: u32) -> io::Result<Vec<ServerState>> {
    let mut last = BTreeMap::new();
    for line in lines(&state.join(STATES))? {
        // A torn or foreign line says nothing.
        if let Ok(server) = serde_json::from_str::<ServerState>(&line)
            && server.key.number() < keys
        {
            last.insert(server.key, server);
        }
    }
    Ok(last.into_values().collect())
}

/// The seeds of earlier runs.
pub(crate) fn earlier_seeds(state: &Path) -> io::Result<Vec<String>> {
    lines(&state.join("seeds.txt"))
}

fn lines(path: &Path) -> io::Result<Vec<String>> {
    match fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes)
            .lines()
            .map(str::to_owned)
            .collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use junkai_frontier::{Event, Overflow, PolitenessConfig, RingConfig, Time};

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

    #[test]
    fn the_last_word_of_a_server_survives_a_torn_line() {
        let state = tempfile::tempdir().unwrap();
        let (key, other) = (ServerKey::new(3), ServerKey::new(5));
        let mut servers = Servers::open(state.path(), 64).unwrap();
        let mut scheduler = scheduler();
        for seconds in [10, 20] {
            let until = Time::EPOCH + Duration::from_secs(seconds);
            for key in [key, other] {
                scheduler.step(Time::EPOCH, Event::Hold { key, until }, &mut Vec::new());
                servers.note(&scheduler, key);
            }
        }
        servers.flush().unwrap();
        let path = state.path().join("servers.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 5]).unwrap();

        let restored = Servers::open(state.path(), 64).unwrap().restored().to_vec();
        let holds: Vec<_> = restored
            .iter()
            .map(|state| (state.key, state.hold_until))
            .collect();
        let after = |seconds| Time::EPOCH + Duration::from_secs(seconds);
        assert_eq!(holds, [(key, after(20)), (other, after(10))]);
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
    }
}
