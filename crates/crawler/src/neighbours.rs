//! Other crawls on this machine: however many there are, a server sees one visitor at a time, each crawl keeps its interval from the last one's end, and all of them
//! have their turns.
//!
//! The crawls of one user share a file in a folder that is named after the user's number alone, so that they find each other whatever their environment says: from a
//! terminal, from cron, from a service, and after a logout. The file has a [slot] for each address, chosen by hash. While a visit is under way, a byte at the slot's
//! place is locked; the slot itself says when the last visit ended, by what the machine has counted since its boot, and whose it was: from its own visits a crawl
//! keeps its distance by itself. It also says how long the server is to be left alone, because it asked one of the crawls for rest or failed it. The kernel gives locks
//! back however their holder ends; a slot that says "under way" without a lock was left by a kill, and its
//! visit counts as ended when that is noticed.
//!
//! A crawl that has to wait notes this in the slot's [line](mod@line), which has a lock of its own, and in the slot that somebody waits. Whoever may visit the server
//! looks into the line if the slot says so, and gives way to those that have waited longer. While nobody waits, this costs no call more.
//!
//! Who tidies up may delete the file; the crawls that have it open then go on in a new one. Where there is no such file, or it cannot be written, each crawl keeps
//! its promises for itself, and says so once. On loopback, where tests and
//! demonstrations have many servers at few addresses, a port is a server of its own.

mod line;
mod slot;

use std::fs::{self, DirBuilder, File};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hashbrown::{HashMap, HashSet};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use xxhash_rust::xxh3::xxh3_64;

use self::line::{LINE_BYTES, Line, WAITER_LASTS, Waiter};
use self::slot::{LastVisit, Rest, SLOT_BYTES, Slot, VISIT_BYTES};
use crate::settings::Settings;

/// The file's name; another layout has another name, so that no version reads what it does not know.
const NAME: &str = "servers-2";

/// Slots of the file, which has holes where nobody was visited. Behind them are as many lines, with holes where nobody waited.
const SLOTS: u64 = 1 << 20;

/// Who waits asks again within this time, so that others know that it still waits.
const ASK_WITHIN: Duration = Duration::from_secs(10);

/// What a server on loopback asks one crawl for holds for the others no longer than this.
const LOOPBACK_HOLD_MAX: Duration = Duration::from_secs(10);

/// A time that is further ahead was written before the machine's last start.
const AHEAD_MAX: Duration = Duration::from_mins(1);

/// Servers of which it is remembered that we wait for them, or that this was told.
const REMEMBERED_MAX: usize = 1 << 16;

/// Visits that follow each other this closely need not look each whether the file is still there: while one is under way, nobody looks either.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Between two looks at which servers are no longer waited for.
const FORGET_EVERY: Duration = Duration::from_secs(1);

/// The file that crawls share.
#[derive(Debug)]
pub(crate) struct Neighbours {
    folder: PathBuf,
    file: File,
    /// What tells this crawl's visits from others'.
    own: u64,
    /// The longest hold that is obeyed, whoever was asked for it.
    hold_max: Duration,
    /// Slots whose lock we have.
    held: HashMap<u64, Held>,
    /// Slots that we wait for.
    waiting: HashMap<u64, Waited>,
    /// When those were last looked through.
    forgot_at: Duration,
    /// When the file was last seen in its folder.
    looked_at: Option<Duration>,
    /// Visits that had to wait.
    waits: Waits,
    /// Slots for which the operator was told that we wait.
    told: HashSet<u64>,
    /// Whether the operator was told that the file does not work.
    has_warned: bool,
}

/// Our visits under way at one slot.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// How many: two addresses may share a slot.
    visits: u32,
    /// What the slot says of them.
    note: LastVisit,
}

/// How long we have waited for a server.
#[derive(Clone, Copy, Debug)]
struct Waited {
    since: Duration,
    asked: Duration,
}

/// Visits that began later than they could have, because of other crawls of this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waits {
    pub(crate) visits: u64,
    /// How long they waited, all together; two may have waited at once.
    pub(crate) time: Duration,
}

/// Why a visit does not begin now, and when to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Another crawl visits the server, or has the next turn: ask again soon.
    Busy,
    /// Another crawl visited the server a moment ago.
    Rest(Duration),
    /// The server asked another crawl for rest, or failed it.
    Hold(Duration),
}

impl Neighbours {
    /// Opens the file in the folder of this user; none where there is no such folder, or the crawl is not to share. Who has a clock of its own shares no time
    /// with others.
    pub(crate) fn of_crawl(settings: &Settings) -> Option<Neighbours> {
        if !settings.crawl.share_pace || !settings.clock.is_real() {
            return None;
        }
        let opened = Neighbours::open(folder_of_user(), settings.politeness.retry_after_max);
        if let Err(error) = &opened {
            tracing::warn!(%error, "other crawls of this machine cannot be seen; each keeps its own pace");
        }
        opened.ok()
    }

    fn open(folder: PathBuf, hold_max: Duration) -> io::Result<Neighbours> {
        Ok(Neighbours {
            file: open_file(&folder)?,
            folder,
            // Anything that two crawls at a time do not share.
            own: RandomState::new().hash_one(std::process::id()).max(1),
            hold_max,
            held: HashMap::new(),
            waiting: HashMap::new(),
            waits: Waits::default(),
            forgot_at: Duration::ZERO,
            looked_at: None,
            told: HashSet::new(),
            has_warned: false,
        })
    }

    /// Begins a visit at a time by the machine's count; else says how long to wait from then on. What the machine has counted is asked for when nobody else
    /// can write the slot any more. A file that cannot be read or written hinders nobody.
    pub(crate) fn start(
        &mut self,
        server: SocketAddr,
        interval: Duration,
        counted: impl Fn() -> Duration,
    ) -> Result<(), Wait> {
        let slot = slot_of(server);
        self.follow_file(counted());
        if let Some(held) = self.held.get_mut(&slot) {
            held.visits += 1;
            return Ok(());
        }
        match self.lock(visit_byte(slot), libc::F_WRLCK) {
            Ok(true) => {}
            Ok(false) => {
                let asker = self.asker(slot, counted());
                self.wait_in_line(slot, asker);
                return Err(Wait::Busy);
            }
            Err(error) => {
                self.warn(&error);
                return Ok(());
            }
        }
        let asker = self.asker(slot, counted());
        let note = match self.begin(slot, asker, interval, self.hold_max_of(server)) {
            Ok(Ok(note)) => note,
            Ok(Err(wait)) => {
                self.unlock(visit_byte(slot));
                return Err(wait);
            }
            // The lock still keeps others away while the visit lasts.
            Err(error) => {
                self.warn(&error);
                self.own_visit(asker.asked, Duration::ZERO)
            }
        };
        self.waiting.remove(&slot);
        if asker.since < asker.asked {
            self.waits.visits += 1;
            self.waits.time += asker.asked.saturating_sub(asker.since);
        }
        self.held.insert(slot, Held { visits: 1, note });
        Ok(())
    }

    /// The longest hold of a server that is obeyed. On loopback another program soon has the port of one that has ended, and did not ask for anything.
    fn hold_max_of(&self, server: SocketAddr) -> Duration {
        if server.ip().is_loopback() {
            self.hold_max.min(LOOPBACK_HOLD_MAX)
        } else {
            self.hold_max
        }
    }

    /// Notes a visit in a slot whose lock we have, or says how long to wait.
    fn begin(
        &mut self,
        slot: u64,
        asker: Waiter,
        interval: Duration,
        hold_max: Duration,
    ) -> io::Result<Result<LastVisit, Wait>> {
        let Slot {
            visit: last,
            waited_until,
        } = self.read(slot)?;
        let counted = asker.asked;
        if last.is_under_way {
            // Its crawl was killed; the server has seen the end of the visit by now.
            let ended = LastVisit {
                at: counted,
                is_under_way: false,
                ..last
            };
            self.write(slot, ended)?;
            self.wait_in_line(slot, asker);
            return Ok(Err(Wait::Rest(interval.min(ASK_WITHIN))));
        }
        match last.rest(self.own, interval, hold_max, counted) {
            Rest::Over => {}
            Rest::AfterVisit(rest) => {
                self.wait_in_line(slot, asker);
                return Ok(Err(Wait::Rest(rest.min(ASK_WITHIN))));
            }
            // Nobody has a turn until then.
            Rest::Hold(hold) => return Ok(Err(Wait::Hold(hold))),
        }
        if !waited_until.is_zero() && !self.is_first(slot, asker)? {
            self.remember(slot, asker);
            return Ok(Err(Wait::Busy));
        }
        let note = LastVisit {
            is_under_way: true,
            ..self.own_visit(
                counted,
                last.hold_until.min(last.at.saturating_add(hold_max)),
            )
        };
        self.write(slot, note)?;
        Ok(Ok(note))
    }

    /// Whether nobody in the line goes before us. Then we leave it, else we are in it.
    fn is_first(&mut self, slot: u64, asker: Waiter) -> io::Result<bool> {
        let mut is_first = false;
        let changed = self.change_line(slot, |line| {
            is_first = !line.has_before(&asker);
            if is_first {
                line.leave(asker.of, asker.asked);
            } else {
                line.join(asker);
            }
        });
        changed.map(|is_changed| is_changed && is_first)
    }

    /// Lets others know that we wait.
    fn wait_in_line(&mut self, slot: u64, asker: Waiter) {
        self.remember(slot, asker);
        if let Err(error) = self.change_line(slot, |line| line.join(asker)) {
            self.warn(&error);
        }
    }

    /// Changes the line of a slot, and says in the slot whether somebody is in it. False if another crawl is at it at this moment.
    fn change_line(&mut self, slot: u64, change: impl FnOnce(&mut Line)) -> io::Result<bool> {
        if !self.lock(line_byte(slot), libc::F_WRLCK)? {
            return Ok(false);
        }
        let changed = self.rewrite_line(slot, change);
        self.unlock(line_byte(slot));
        changed.map(|()| true)
    }

    fn rewrite_line(&self, slot: u64, change: impl FnOnce(&mut Line)) -> io::Result<()> {
        let mut bytes = [0; LINE_BYTES];
        self.read_at(&mut bytes, place_of_line(slot))?;
        let mut line = Line::from_bytes(&bytes);
        change(&mut line);
        self.file
            .write_all_at(&line.to_bytes(), place_of_line(slot))?;
        let until = line::micros(line.lasts_until()).to_le_bytes();
        let place = place_of(slot) + VISIT_BYTES as u64;
        self.file.write_all_at(&until, place)
    }

    /// This crawl, as it asks for a server at this time.
    fn asker(&self, slot: u64, counted: Duration) -> Waiter {
        let waited = self.waiting.get(&slot);
        let since = waited
            .filter(|waited| counted <= waited.asked.saturating_add(WAITER_LASTS))
            .map_or(counted, |waited| waited.since);
        Waiter {
            of: self.own,
            since,
            asked: counted,
        }
    }

    fn remember(&mut self, slot: u64, asker: Waiter) {
        if REMEMBERED_MAX <= self.waiting.len() {
            // Who is forgotten begins to wait anew.
            self.waiting.clear();
        }
        let Waiter { since, asked, .. } = asker;
        self.waiting.insert(slot, Waited { since, asked });
    }

    /// For how many servers we wait because another crawl visits them.
    pub(crate) fn waiting(&mut self, counted: Duration) -> u64 {
        if self.forgot_at.saturating_add(FORGET_EVERY) <= counted {
            self.forgot_at = counted;
            self.waiting
                .retain(|_, waited| counted <= waited.asked.saturating_add(WAITER_LASTS));
        }
        self.waiting.len() as u64
    }

    /// What sharing the pace has cost so far.
    pub(crate) fn waits(&self) -> Waits {
        self.waits
    }

    /// Whether we wait for this server because another crawl visits it.
    pub(crate) fn is_waited_for(&self, server: SocketAddr) -> bool {
        self.waiting.contains_key(&slot_of(server))
    }

    /// Whether the operator is to be told that we wait for this server: the first time.
    pub(crate) fn is_news(&mut self, server: SocketAddr) -> bool {
        self.told.len() < REMEMBERED_MAX && self.told.insert(slot_of(server))
    }

    /// Goes on in a new file if somebody deleted the one that is open, and takes along what is under way.
    fn follow_file(&mut self, counted: Duration) {
        let since = self.looked_at.and_then(|at| counted.checked_sub(at));
        if since.is_some_and(|since| since < LOOK_EVERY) {
            return;
        }
        self.looked_at = Some(counted);
        let is_there = self.file.metadata().is_ok_and(|file| 0 < file.nlink());
        if is_there {
            return;
        }
        match open_file(&self.folder) {
            Ok(file) => self.file = file,
            Err(error) => self.warn(&error),
        }
        for (slot, held) in std::mem::take(&mut self.held) {
            match self.lock(visit_byte(slot), libc::F_WRLCK) {
                Ok(true) => {
                    self.held.insert(slot, held);
                }
                // Another crawl has it by now.
                Ok(false) => continue,
                Err(error) => self.warn(&error),
            }
            if let Err(error) = self.write(slot, held.note) {
                self.warn(&error);
            }
        }
    }

    /// A visit has ended at this time by the machine's count; none if it was not made. From then on all crawls leave the server alone for the rest that it needs.
    pub(crate) fn end(&mut self, server: SocketAddr, counted: Option<Duration>, rest: Duration) {
        let slot = slot_of(server);
        let rest = rest.min(self.hold_max_of(server));
        if let Some(counted) = counted {
            self.follow_file(counted);
        }
        let Some(held) = self.held.get_mut(&slot) else {
            return;
        };
        // Without a visit the server rests from the last start on, which is no shorter than from the end before.
        let ended = counted.unwrap_or(held.note.at);
        let hold_until = match rest {
            Duration::ZERO => held.note.hold_until,
            rest => held.note.hold_until.max(ended.saturating_add(rest)),
        };
        held.note.hold_until = hold_until;
        held.visits -= 1;
        if 0 < held.visits {
            return;
        }
        self.held.remove(&slot);
        if let Err(error) = self.write(slot, self.own_visit(ended, hold_until)) {
            self.warn(&error);
        }
        self.unlock(visit_byte(slot));
    }

    /// The crawl ends: it waits for nobody any more.
    pub(crate) fn leave(&mut self, counted: Duration) {
        self.follow_file(counted);
        let own = self.own;
        for (slot, _) in std::mem::take(&mut self.waiting) {
            if let Err(error) = self.change_line(slot, |line| line.leave(own, counted)) {
                self.warn(&error);
            }
        }
    }

    fn unlock(&mut self, byte: u64) {
        if let Err(error) = self.lock(byte, libc::F_UNLCK) {
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

    /// Locks or unlocks a byte; false if somebody else has it. Locks belong to this open file, whatever else the process opens.
    fn lock(&self, byte: u64, kind: libc::c_int) -> io::Result<bool> {
        let too_large = |_| io::Error::from(io::ErrorKind::InvalidInput);
        let range = libc::flock {
            l_type: kind.try_into().map_err(too_large)?,
            l_whence: libc::SEEK_SET.try_into().map_err(too_large)?,
            l_start: byte.try_into().map_err(too_large)?,
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
        self.read_at(&mut bytes, place_of(slot))?;
        Ok(Slot::from_bytes(&bytes))
    }

    /// Reads so many bytes. What is beyond the file's end is as if nobody had been there yet.
    fn read_at(&self, bytes: &mut [u8], place: u64) -> io::Result<()> {
        let mut had = 0;
        while had < bytes.len() {
            match self.file.read_at(&mut bytes[had..], place + had as u64) {
                Ok(0) => return Ok(()),
                Ok(count) => had += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn own_visit(&self, at: Duration, hold_until: Duration) -> LastVisit {
        LastVisit {
            at,
            is_under_way: false,
            of: self.own,
            hold_until,
        }
    }

    fn write(&self, slot: u64, visit: LastVisit) -> io::Result<()> {
        self.file.write_all_at(&visit.to_bytes(), place_of(slot))
    }
}

/// What is locked while a visit is under way.
fn visit_byte(slot: u64) -> u64 {
    slot
}

/// What is locked while a line is changed.
fn line_byte(slot: u64) -> u64 {
    SLOTS + slot
}

fn place_of(slot: u64) -> u64 {
    slot * SLOT_BYTES as u64
}

fn place_of_line(slot: u64) -> u64 {
    place_of(SLOTS) + slot * LINE_BYTES as u64
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
    junkai_files::change(&folder.join(NAME))
}

#[cfg(test)]
mod tests;
