//! Other crawls on this machine: however many there are, a server sees one visitor at a time, and each crawl keeps its interval from the last one's end.
//!
//! The crawls of one user share a file in a folder that is named after the user's number alone, so that they find each other whatever their environment says: from a
//! terminal, from cron, from a service, and after a logout. The file has a slot for each address, chosen by hash. While a visit is under way, a byte at the slot's
//! place is locked; the slot itself says when the last visit ended, by what the machine has counted since its boot, and whose it was: from its own visits a crawl
//! keeps its distance by itself. The kernel gives locks back however their holder ends; a slot that says "under way" without a lock was left by a kill, and its
//! visit counts as ended when that is noticed.
//!
//! Who tidies up may delete the file; the crawls that have it open then go on in a new one. Where there is no such file, or it cannot be written, each crawl keeps
//! its promises for itself, and says so once. On loopback, where tests and
//! demonstrations have many servers at few addresses, a port is a server of its own.

use std::fs::{self, DirBuilder, File};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hashbrown::HashMap;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use xxhash_rust::xxh3::xxh3_64;

use crate::settings::Settings;

/// Slots of the file, which has holes where nobody was visited.
const SLOTS: u64 = 1 << 20;
const SLOT_BYTES: usize = 16;

/// A visit of somebody else takes no longer to be looked after again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A time that is further ahead was written before the machine's last start.
const AHEAD_MAX: Duration = Duration::from_mins(1);

/// The file that crawls share.
#[derive(Debug)]
pub(crate) struct Neighbours {
    folder: PathBuf,
    file: File,
    /// What tells this crawl's visits from others'.
    own: u64,
    /// Slots whose lock we have, and for how many visits: two addresses may share a slot.
    held: HashMap<u64, u32>,
    /// Whether the operator was told that the file does not work.
    has_warned: bool,
}

/// What a slot says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Slot {
    /// When the last visit ended, or the one that is under way began.
    at: Duration,
    is_under_way: bool,
    /// The crawl whose visit it was.
    of: u64,
}

impl Neighbours {
    /// Opens the file in the folder of this user; none where there is no such folder, or the crawl is not to share. Who has a clock of its own shares no time
    /// with others.
    pub(crate) fn of_crawl(settings: &Settings) -> Option<Neighbours> {
        if !settings.crawl.share_pace || !settings.clock.is_real() {
            return None;
        }
        let opened = Neighbours::open(folder_of_user());
        if let Err(error) = &opened {
            tracing::warn!(%error, "other crawls of this machine cannot be seen; each keeps its own pace");
        }
        opened.ok()
    }

    fn open(folder: PathBuf) -> io::Result<Neighbours> {
        Ok(Neighbours {
            file: open_file(&folder)?,
            folder,
            // Anything that two crawls at a time do not share.
            own: RandomState::new().hash_one(std::process::id()),
            held: HashMap::new(),
            has_warned: false,
        })
    }

    /// Begins a visit now; else says how long to wait. What the machine has counted is asked for when nobody else can write the slot any more. A file
    /// that cannot be read or written hinders nobody.
    pub(crate) fn start(
        &mut self,
        server: SocketAddr,
        interval: Duration,
        counted: impl Fn() -> Duration,
    ) -> Result<(), Duration> {
        let slot = slot_of(server);
        self.follow_file();
        if let Some(visits) = self.held.get_mut(&slot) {
            *visits += 1;
            return Ok(());
        }
        match self.lock(slot, libc::F_WRLCK) {
            Ok(true) => {}
            Ok(false) => return Err(LOOK_AGAIN),
            Err(error) => {
                self.warn(&error);
                return Ok(());
            }
        }
        match self.begin(slot, interval, counted()) {
            Ok(Some(wait)) => {
                self.unlock(slot);
                return Err(wait);
            }
            Ok(None) => {}
            // The lock still keeps others away while the visit lasts.
            Err(error) => self.warn(&error),
        }
        self.held.insert(slot, 1);
        Ok(())
    }

    /// Notes a visit in a slot whose lock we have, or says how long to wait.
    fn begin(
        &self,
        slot: u64,
        interval: Duration,
        counted: Duration,
    ) -> io::Result<Option<Duration>> {
        let last = self.read(slot)?;
        if last.is_under_way {
            // Its crawl was killed; the server has seen the end of the visit by now.
            let ended = Slot {
                at: counted,
                is_under_way: false,
                ..last
            };
            self.write(slot, ended)?;
            return Ok(Some(interval));
        }
        let is_of_this_boot = last.at <= counted + AHEAD_MAX;
        let is_another_s = last != Slot::default() && last.of != self.own;
        let wait = last.at.saturating_add(interval).saturating_sub(counted);
        if is_another_s && is_of_this_boot && !wait.is_zero() {
            return Ok(Some(wait));
        }
        self.write(slot, self.own_visit(counted, true))?;
        Ok(None)
    }

    /// Goes on in a new file if somebody deleted the one that is open, and takes along what is under way.
    fn follow_file(&mut self) {
        let is_there = self.file.metadata().is_ok_and(|file| 0 < file.nlink());
        if is_there {
            return;
        }
        let held = std::mem::take(&mut self.held);
        let noted: Vec<(u64, u32, io::Result<Slot>)> = held
            .into_iter()
            .map(|(slot, visits)| (slot, visits, self.read(slot)))
            .collect();
        match open_file(&self.folder) {
            Ok(file) => self.file = file,
            Err(error) => self.warn(&error),
        }
        for (slot, visits, note) in noted {
            match self.lock(slot, libc::F_WRLCK) {
                Ok(true) => {
                    self.held.insert(slot, visits);
                }
                // Another crawl has it by now.
                Ok(false) => continue,
                Err(error) => self.warn(&error),
            }
            if let Err(error) = note.and_then(|note| self.write(slot, note)) {
                self.warn(&error);
            }
        }
    }

    /// A visit has ended at this time by the machine's count; none if it was not made.
    pub(crate) fn end(&mut self, server: SocketAddr, counted: Option<Duration>) {
        let slot = slot_of(server);
        self.follow_file();
        let Some(visits) = self.held.get_mut(&slot) else {
            return;
        };
        *visits -= 1;
        if 0 < *visits {
            return;
        }
        self.held.remove(&slot);
        // Without a visit the server rests from the last start on, which is no shorter than from the end before.
        let ended = match counted {
            Some(counted) => Ok(counted),
            None => self.read(slot).map(|last| last.at),
        };
        let written = ended.and_then(|ended| self.write(slot, self.own_visit(ended, false)));
        if let Err(error) = written {
            self.warn(&error);
        }
        self.unlock(slot);
    }

    fn unlock(&mut self, slot: u64) {
        if let Err(error) = self.lock(slot, libc::F_UNLCK) {
            self.warn(&error);
        }
    }

    /// Tells the operator, once: what fails for one visit fails for many.
    fn warn(&mut self, error: &io::Error) {
        if !self.has_warned {
            let folder = self.folder.display();
            tracing::warn!(%error, "{folder}: other crawls of this machine cannot be told of visits; each keeps its own pace");
        }
        self.has_warned = true;
    }

    /// Locks or unlocks the byte of a slot; false if somebody else has it. Locks belong to this open file, whatever else the process opens.
    fn lock(&self, slot: u64, kind: libc::c_int) -> io::Result<bool> {
        let too_large = |_| io::Error::from(io::ErrorKind::InvalidInput);
        let range = libc::flock {
            l_type: kind.try_into().map_err(too_large)?,
            l_whence: libc::SEEK_SET.try_into().map_err(too_large)?,
            l_start: slot.try_into().map_err(too_large)?,
            l_len: 1,
            l_pid: 0,
        };
        match fcntl(&self.file, FcntlArg::F_OFD_SETLK(&range)) {
            Ok(_) => Ok(true),
            Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn read(&self, slot: u64) -> io::Result<Slot> {
        let mut bytes = [0; SLOT_BYTES];
        match self.file.read_exact_at(&mut bytes, place_of(slot)) {
            Ok(()) => Ok(Slot::from_bytes(bytes)),
            // Nobody was there yet.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Slot::default()),
            Err(error) => Err(error),
        }
    }

    fn own_visit(&self, at: Duration, is_under_way: bool) -> Slot {
        Slot {
            at,
            is_under_way,
            of: self.own,
        }
    }

    fn write(&self, slot: u64, value: Slot) -> io::Result<()> {
        self.file.write_all_at(&value.to_bytes(), place_of(slot))
    }
}

impl Slot {
    fn from_bytes(bytes: [u8; SLOT_BYTES]) -> Slot {
        let [at, of] = [0, 8].map(|from| {
            let part = std::array::from_fn(|offset| bytes[from + offset]);
            u64::from_le_bytes(part)
        });
        Slot {
            at: Duration::from_micros(at >> 1),
            is_under_way: at & 1 == 1,
            of,
        }
    }

    fn to_bytes(self) -> [u8; SLOT_BYTES] {
        let micros = u64::try_from(self.at.as_micros()).unwrap_or(u64::MAX >> 1);
        let at = micros << 1 | u64::from(self.is_under_way);
        (u128::from(self.of) << 64 | u128::from(at)).to_le_bytes()
    }
}

fn place_of(slot: u64) -> u64 {
    slot * SLOT_BYTES as u64
}

fn slot_of(server: SocketAddr) -> u64 {
    let port = if server.ip().is_loopback() {
        server.port()
    } else {
        0
    };
    let text = match server.ip() {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    let mut bytes = text.octets().to_vec();
    bytes.extend(port.to_le_bytes());
    xxh3_64(&bytes) % SLOTS
}

/// The folder in which all crawls of this user find each other. It does not depend on the environment, and stays when the user logs out.
fn folder_of_user() -> PathBuf {
    let user = rustix::process::getuid().as_raw();
    PathBuf::from(format!("/tmp/junkai-{user}"))
}

/// Opens the file in a folder that is this user's alone, both made if they are not there.
fn open_file(folder: &Path) -> io::Result<File> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let metadata = fs::symlink_metadata(folder)?;
    let is_ours = metadata.is_dir() && metadata.uid() == rustix::process::getuid().as_raw();
    // Who may read the file may lock it, too.
    if !is_ours || metadata.mode() & 0o077 != 0 {
        let message = format!("{} is not a folder of this user alone", folder.display());
        return Err(io::Error::other(message));
    }
    junkai_files::change(&folder.join("servers"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const INTERVAL: Duration = Duration::from_secs(5);

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(1000 + seconds)
    }

    fn server(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn crawl_in(folder: &tempfile::TempDir) -> Neighbours {
        Neighbours::open(folder.path().join("junkai")).unwrap()
    }

    #[test]
    fn a_server_has_one_visitor_at_a_time_and_rests_in_between() {
        let folder = tempfile::tempdir().unwrap();
        let mut one = crawl_in(&folder);
        let mut two = crawl_in(&folder);
        let (here, there) = (server("192.0.2.1:80"), server("192.0.2.2:80"));
        assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
        assert_eq!(two.start(here, INTERVAL, || at(1)), Err(LOOK_AGAIN));
        assert_eq!(two.start(there, INTERVAL, || at(1)), Ok(()));
        one.end(here, Some(at(2)));
        let wait = Duration::from_secs(4);
        assert_eq!(two.start(here, INTERVAL, || at(3)), Err(wait));
        assert_eq!(
            two.start(server("192.0.2.1:443"), INTERVAL, || at(3)),
            Err(wait)
        );
        assert_eq!(two.start(here, INTERVAL, || at(7)), Ok(()));
        // A crawl with a shorter interval goes by its own.
        two.end(here, Some(at(8)));
        assert_eq!(one.start(here, Duration::from_secs(1), || at(9)), Ok(()));
    }

    #[test]
    fn a_visit_that_a_kill_cut_off_has_ended_when_that_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let mut killed = crawl_in(&folder);
        let mut other = crawl_in(&folder);
        let here = server("192.0.2.1:80");
        assert_eq!(killed.start(here, INTERVAL, || at(0)), Ok(()));
        drop(killed);
        assert_eq!(other.start(here, INTERVAL, || at(60)), Err(INTERVAL));
        assert_eq!(
            other.start(here, INTERVAL, || at(62)),
            Err(Duration::from_secs(3))
        );
        assert_eq!(other.start(here, INTERVAL, || at(65)), Ok(()));
    }

    #[test]
    fn a_visit_that_was_not_made_costs_nobody_more_than_its_start() {
        let folder = tempfile::tempdir().unwrap();
        let mut one = crawl_in(&folder);
        let here = server("192.0.2.1:80");
        assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
        one.end(here, None);
        let mut two = crawl_in(&folder);
        assert_eq!(
            two.start(here, INTERVAL, || at(4)),
            Err(Duration::from_secs(1))
        );
        assert_eq!(two.start(here, INTERVAL, || at(5)), Ok(()));
    }

    #[test]
    fn from_its_own_visits_a_crawl_keeps_its_distance_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let mut one = crawl_in(&folder);
        let here = server("192.0.2.1:80");
        assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
        one.end(here, Some(at(1)));
        assert_eq!(one.start(here, INTERVAL, || at(1)), Ok(()));
    }

    #[test]
    fn times_of_before_the_last_boot_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let mut one = crawl_in(&folder);
        let here = server("192.0.2.1:80");
        assert_eq!(one.start(here, INTERVAL, || at(1_000_000)), Ok(()));
        one.end(here, Some(at(1_000_000)));
        let mut two = crawl_in(&folder);
        assert_eq!(two.start(here, INTERVAL, || at(0)), Ok(()));
    }

    #[test]
    fn a_visit_that_ends_while_another_crawl_reads_the_clock_counts() {
        let folder = tempfile::tempdir().unwrap();
        let (mut one, mut two) = (crawl_in(&folder), crawl_in(&folder));
        let here = server("192.0.2.1:80");
        assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
        one.end(here, Some(at(2)));
        // A clock that was read a little too early.
        let wait = Duration::from_secs(6);
        assert_eq!(two.start(here, INTERVAL, || at(1)), Err(wait));
        // It is read when the slot is locked.
        let is_locked = std::cell::Cell::new(false);
        let clock = || {
            is_locked.set(
                one.lock(slot_of(here), libc::F_WRLCK)
                    .is_ok_and(|ours| !ours),
            );
            at(7)
        };
        assert_eq!(two.start(here, INTERVAL, clock), Ok(()));
        assert!(is_locked.get());
    }

    /// A file in which locks work and nothing can be written, as on a full disk.
    fn full_file() -> File {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).open("/dev/full").unwrap()
    }

    #[test]
    fn a_file_that_is_full_locks_nobody_out() {
        let folder = tempfile::tempdir().unwrap();
        let (mut one, mut two) = (crawl_in(&folder), crawl_in(&folder));
        (one.file, two.file) = (full_file(), full_file());
        // All processes of the machine have this file in common: an address that only this one asks for.
        let here = server(&format!(
            "[2001:db8::{:x}]:80",
            std::process::id() % 0x1_0000
        ));
        assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
        assert!(one.has_warned);
        assert_eq!(two.start(here, INTERVAL, || at(1)), Err(LOOK_AGAIN));
        one.end(here, Some(at(2)));
        assert_eq!(two.start(here, INTERVAL, || at(2)), Ok(()));
        two.end(here, None);
        assert_eq!(one.start(here, INTERVAL, || at(3)), Ok(()));
    }

    #[test]
    fn a_file_that_cannot_be_locked_hinders_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let (mut one, mut two) = (crawl_in(&folder), crawl_in(&folder));
        one.file = File::open(folder.path().join("junkai/servers")).unwrap();
        let here = server("192.0.2.1:80");
        assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
        assert!(one.has_warned && one.held.is_empty());
        one.end(here, Some(at(1)));
        assert_eq!(two.start(here, INTERVAL, || at(1)), Ok(()));
    }

    #[test]
    fn crawls_meet_again_in_a_new_file_when_theirs_was_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let (mut one, mut two) = (crawl_in(&folder), crawl_in(&folder));
        let (here, there) = (server("192.0.2.1:80"), server("192.0.2.2:80"));
        assert_eq!(one.start(here, INTERVAL, || at(0)), Ok(()));
        fs::remove_dir_all(folder.path().join("junkai")).unwrap();
        assert_eq!(one.start(there, INTERVAL, || at(1)), Ok(()));
        assert_eq!(two.start(here, INTERVAL, || at(1)), Err(LOOK_AGAIN));
        assert_eq!(two.start(there, INTERVAL, || at(1)), Err(LOOK_AGAIN));
        // The rest begins with the end of a visit, or with the start of one that was not made.
        one.end(here, Some(at(2)));
        one.end(there, None);
        let wait = Duration::from_secs;
        assert_eq!(two.start(here, INTERVAL, || at(3)), Err(wait(4)));
        assert_eq!(two.start(there, INTERVAL, || at(3)), Err(wait(3)));
    }

    #[test]
    fn only_a_folder_of_this_user_alone_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("junkai");
        open_file(&path).unwrap();
        let mode = fs::metadata(&path).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(open_file(&link).is_err());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(open_file(&path).is_err());
    }

    #[test]
    fn on_loopback_a_port_is_a_server() {
        assert_ne!(
            slot_of(server("127.0.0.1:1")),
            slot_of(server("127.0.0.1:2"))
        );
        assert_eq!(
            slot_of(server("192.0.2.1:1")),
            slot_of(server("192.0.2.1:2"))
        );
    }
}
