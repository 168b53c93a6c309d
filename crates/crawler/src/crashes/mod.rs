//! Ends of all kinds: a crawl is recorded call by call, and the next start is tried after every one of them.
//!
//! A recorded crawl of a link-rich web, with small buffers, frequent checkpoints and people who speak to it, is replayed onto a [`TestDisk`]. After every call that
//! changes or syncs something, the archive is laid out as a kill would leave it, and as a power failure might: without what was not synced, wholly, partly, or
//! torn. Each time the archive is opened as the next start opens it, and [`Judge`] asks whether every captured page has its log line and its state, or is visited
//! again; whether every known URL waits or was visited; whether what the manifest promises is there.
//!
//! Nothing of the product knows of this: what counts is what the system was asked for, by whichever room.

mod check;
mod recording;
mod small_web;
mod test_disk;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use check::Judge;
use recording::{Recording, archive_of_child};
use small_web::SmallWeb;
use tempfile::TempDir;
use test_disk::{Call, Left, TestDisk};

use crate::command::{UserCommand, Whom};
use crate::crawl::Crawl;
use crate::progress::Progress;
use crate::settings::Settings;
use crate::tell::tell;

/// Nothing takes so long, even on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// Pages of a life of the crawl that people speak to.
const PAGES: u64 = 40;

/// Lives that are recorded, and what they must show.
const LIVES_MIN: usize = 2;
const LIVES_MAX: usize = 8;
const REVISITS_MIN: usize = 6;

/// By then pages that were visited before are due again, by the fast clock of [`BUSY`] and the intervals of [`SMALL_BUFFERS`].
const PAGES_ARE_DUE: Duration = Duration::from_millis(100);

/// What both crawls have in common.
const BUSY: &str = r#"
[crawl]
checkpoint_every = "250ms"
concurrency = 4
workers = 2
disk_free_min = 0
seeds = ["SEED"]
pages_max = PAGES

[scope]
preset = "any"

[addresses]
allow = ["127.0.0.0/8"]

[politeness]
interval = "0s"
abort_slack = "0s"

[archive]
rollover_bytes = 100000

[seen]
memory_bytes = 1048576

[ring]
keys = 64

[clock]
speed = 50.0
origin = ORIGIN
"#;

/// Buffers that are full after a few links, logs that are rotated every second, and pages that come back after seconds of a clock that runs fast.
const SMALL_BUFFERS: &str = r#"
[backlog]
buffer_bytes = 1000
segment_bytes = 20000

[revisit]
first_min = "1s"
first_max = "2s"
interval_min = "1s"
interval_max = "2s"
interval_spread_min = "1s"

[revisit.servers]
interval = "0s"
interval_large = "0s"

[time_queue]
resolution = "1s"
buffer_bytes = 65536

[logs]
bytes_max = "1 kB"
"#;

/// All that a log says, also in files that were rotated.
fn log_of(archive: &Path, name: &str) -> String {
    let log = junkai_archive::logs::read_log(archive, name).unwrap();
    std::io::read_to_string(log).unwrap()
}

#[test]
fn after_an_end_at_any_call_nothing_is_lost() {
    if let Some(archive) = archive_of_child() {
        return crawl(&archive);
    }
    let web = SmallWeb::start(900, 30);
    let stage = Stage::new(&web, SMALL_BUFFERS, PAGES);
    let (mut calls, mut lives) = (Vec::new(), 0);
    // Known pages have to come back as well: how soon they do is not for the test to say.
    while lives < LIVES_MIN || stage.revisits() < REVISITS_MIN {
        assert!(lives < LIVES_MAX, "known pages do not come back");
        lives += 1;
        let test = "crashes::after_an_end_at_any_call_nothing_is_lost";
        // The crawl does not end before everybody has spoken.
        web.hold_at(web.requests() + PAGES / 2);
        let recording = Recording::start(test, &stage.archive());
        speak(&stage, &web);
        std::thread::sleep(PAGES_ARE_DUE);
        web.hold_at(u64::MAX);
        calls.extend(recording.calls());
    }
    stage.try_every_end(&calls);
}

#[test]
fn after_an_end_at_any_call_nothing_is_lost_of_more_urls_than_fit_in_the_table() {
    if let Some(archive) = archive_of_child() {
        return crawl(&archive);
    }
    let web = SmallWeb::start(16_000, 1_600);
    let stage = Stage::new(&web, "", 10);
    let test =
        "crashes::after_an_end_at_any_call_nothing_is_lost_of_more_urls_than_fit_in_the_table";
    let calls = Recording::start(test, &stage.archive()).calls();
    stage.try_every_end(&calls);
}

/// The child: crawls as it is told.
fn crawl(archive: &Path) {
    let settings = settings_beside(archive);
    let crawl = Crawl::open(archive, settings, Arc::new(Progress::default())).unwrap();
    crawl.run().unwrap();
}

/// People who speak to the crawl: one asks for a page that is known and waits, one for a page that was captured, one pauses it.
fn speak(stage: &Stage, web: &SmallWeb) {
    let settings = settings_beside(&stage.archive());
    let begun = web.requests();
    for turn in 1..4 {
        let deadline = Instant::now() + PATIENCE;
        while web.requests() < begun + 6 * turn {
            assert!(Instant::now() < deadline, "the crawl does not get on");
            std::thread::sleep(Duration::from_millis(1));
        }
        let known = web.links_of(0).map(|page| web.url(page)).collect();
        for command in [
            UserCommand::Add { seeds: known },
            UserCommand::Revisit {
                pages: vec![web.url(0)],
            },
            UserCommand::Pause { whom: Whom::All },
            UserCommand::Resume { whom: Whom::All },
        ] {
            tell(&stage.archive(), &settings, &command).unwrap();
        }
    }
}

fn settings_beside(archive: &Path) -> Settings {
    let text = fs::read_to_string(archive.with_extension("toml")).unwrap();
    toml::from_str(&text).unwrap()
}

/// Where a crawl is recorded, and its ends are tried.
struct Stage {
    folder: TempDir,
    judge: Judge,
}

impl Stage {
    fn new(web: &SmallWeb, more: &str, pages: u64) -> Stage {
        // No end waits for a disk here, and none spares one: what is durable is for the test disk to say.
        let in_memory = tempfile::tempdir_in("/dev/shm");
        let folder = in_memory.or_else(|_| tempfile::tempdir()).unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let text = BUSY
            .replace("SEED", &web.url(0))
            .replace("PAGES", &pages.to_string())
            .replace("ORIGIN", &format!("{:?}", now.as_secs_f64()));
        let text = format!("{text}{more}");
        fs::write(folder.path().join("archive.toml"), &text).unwrap();
        Stage {
            folder,
            judge: Judge::new(toml::from_str(&text).unwrap(), web),
        }
    }

    fn archive(&self) -> PathBuf {
        self.folder.path().join("archive")
    }

    /// How many visits to known pages the log tells of.
    fn revisits(&self) -> usize {
        let events = log_of(&self.archive(), "events.jsonl");
        let is_revisit = |line: &&str| line.contains(r#""change":"#);
        events.lines().filter(is_revisit).count()
    }

    /// Tries the next start after every call, shared among threads.
    fn try_every_end(&self, calls: &[Call]) {
        self.assert_complete(calls);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let ends: usize = std::thread::scope(|scope| {
            let shares: Vec<_> = (0..threads)
                .map(|share| {
                    let is_mine = move |number: usize| number % threads == share;
                    scope.spawn(move || self.try_ends(calls, is_mine))
                })
                .collect();
            shares.into_iter().map(|share| share.join().unwrap()).sum()
        });
        println!("{} calls, {ends} ends", calls.len());
    }

    /// Tries the next start after the calls with these numbers; tells how many starts these were.
    fn try_ends(&self, calls: &[Call], is_mine: impl Fn(usize) -> bool) -> usize {
        let mut disk = TestDisk::default();
        let mut ends = 0;
        for (number, call) in calls.iter().enumerate() {
            if let Call::Write { path, bytes, .. } = call
                && is_mine(number)
            {
                let torn = Call::Write {
                    path: path.clone(),
                    at: Some(disk.place_of(call)),
                    bytes: bytes[..bytes.len() / 2].to_vec(),
                };
                let whole = Call::Write {
                    path: path.clone(),
                    at: Some(disk.place_of(call)),
                    bytes: bytes.clone(),
                };
                disk.apply(&torn);
                self.try_end(&disk, Left::Everything, number, call);
                disk.apply(&whole);
                ends += 1;
            } else {
                disk.apply(call);
            }
            if is_mine(number) {
                for left in lefts(number, call) {
                    self.try_end(&disk, left, number, call);
                    ends += 1;
                }
            }
        }
        ends
    }

    fn try_end(&self, disk: &TestDisk, left: Left, number: usize, call: &Call) {
        let folder = tempfile::tempdir_in(self.folder.path()).unwrap();
        disk.lay_out(left, folder.path());
        let _told = Last(format!("call {number}, {}: {left:?} is left", short(call)));
        match left {
            Left::Everything => self.judge.check_killed(folder.path()),
            _ => self.judge.check_restarted(folder.path()),
        }
    }

    /// The calls are all that made the archive what it is.
    fn assert_complete(&self, calls: &[Call]) {
        let mut disk = TestDisk::default();
        for call in calls {
            disk.apply(call);
        }
        let folder = tempfile::tempdir_in(self.folder.path()).unwrap();
        disk.lay_out(Left::Everything, folder.path());
        let (replayed, real) = (contents(folder.path()), contents(&self.archive()));
        let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&replayed), names(&real));
        for (path, content) in real {
            assert!(replayed[&path] == content, "{} differs", path.display());
        }
    }
}

/// What ends may leave after a call: all, if it changed anything; nothing but what was synced, if it may have made that a difference; and another part in turn.
fn lefts(number: usize, call: &Call) -> Vec<Left> {
    let mut lefts = Vec::new();
    if !matches!(call, Call::Sync { .. } | Call::SyncAll) {
        lefts.push(Left::Everything);
    }
    if !matches!(call, Call::Write { .. } | Call::Open { .. }) {
        lefts.push(Left::Synced);
    }
    let turns = [
        Left::Names,
        Left::Some(number as u64),
        Left::Synced,
        Left::NamesAndZeros,
        Left::Some(number as u64),
        Left::Contents,
    ];
    lefts.push(turns[number % turns.len()]);
    lefts
}

/// Says where a check failed.
struct Last(String);

impl Drop for Last {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}", self.0);
        }
    }
}

fn short(call: &Call) -> String {
    match call {
        Call::Write { path, bytes, .. } => {
            format!("write of {} bytes to {}", bytes.len(), path.display())
        }
        other => format!("{other:?}"),
    }
}

/// All files below a folder, by path.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                let path = entry.path().strip_prefix(folder).unwrap().to_owned();
                found.insert(path, fs::read(entry.path()).unwrap());
            }
        }
    }
    found
}
