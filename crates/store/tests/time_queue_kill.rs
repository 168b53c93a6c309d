//! `kill -9`, hundreds of times, at moments that nobody chose: every page state that was acknowledged is there, once.
//!
//! The test starts itself again as a child, which cycles the states of some hundred pages with small buffers, so that most of its time goes into writing
//! runs, moving records down, beginning journals and removing files. It tells on its standard error what it is about to change, and what is flushed. The
//! parent kills it after some of that, opens the queue, and compares.
#![expect(clippy::unwrap_used, reason = "all of it is a test")]
#![expect(
    clippy::disallowed_methods,
    reason = "the child is told by an environment variable what it is, and keeps a manifest as a crawl does"
)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use junkai_chance::mix;
use junkai_frontier::Time;
use junkai_store::time_queue::{
    Layout, Lengths, Record, RecordRef, Tails, TimeQueue, TimeQueueConfig, look,
};

const PAGES: u64 = 400;
/// The child opens the queue after each kill; the parent too, after some, because that waits for the disk.
const KILLS_PER_OPENING: u64 = 5;
/// New pages in one round.
const PAGES_PER_ROUND: usize = 40;
const KILLS: u64 = 200;
const SIGKILL: i32 = 9;
/// Tells the child which directory to work in, and which round is next.
const CHILD: &str = "JUNKAI_TIME_QUEUE_CHILD";

type Versions = BTreeMap<u64, u64>;

#[test]
fn killed_hundreds_of_times_it_holds_what_was_acknowledged() {
    if let Ok(task) = std::env::var(CHILD) {
        let (round, dir) = task.split_once(' ').unwrap();
        cycle(Path::new(dir), round.parse().unwrap());
    }
    for layout in [Layout::Graded, Layout::Hierarchical] {
        // What a kill leaves is what the system was given, on whatever file system: in memory nothing waits for a disk.
        let in_memory = tempfile::tempdir_in("/dev/shm");
        let dir = in_memory.or_else(|_| tempfile::tempdir()).unwrap();
        let mut parent = Parent::new(dir.path(), layout);
        for number in 0..KILLS / 2 {
            parent.kill_one(1 + mix(number) % 250);
        }
        assert!(parent.states.len() as u64 == PAGES);
        let cycles: u64 = parent.states.values().sum();
        assert!(KILLS < cycles, "{cycles} states were ever acknowledged");
    }
}

fn config(layout: Layout) -> TimeQueueConfig {
    TimeQueueConfig {
        layout,
        buffer_bytes: 8 << 10,
        page_bytes: 256,
        ..TimeQueueConfig::default()
    }
}

fn number_of(url: &str) -> u64 {
    let (_, number) = url.rsplit_once('/').unwrap();
    number.parse().unwrap()
}

fn version_of(body: &[u8]) -> u64 {
    u64::from_le_bytes(body[..8].try_into().unwrap())
}

fn record(number: u64, version: u64, now: Time) -> Record {
    let interval = 60 + mix(number ^ (version << 32)) % 40_000;
    Record {
        url: format!("https://www.host{}.example/pages/{number}", number % 9),
        due: now + Duration::from_secs(interval),
        body: [&version.to_le_bytes()[..], &mix(version).to_le_bytes()].concat(),
    }
}

/// The layout is in the directory's name for the child.
fn layout_file(dir: &Path) -> std::path::PathBuf {
    dir.join("layout")
}

fn manifest(dir: &Path) -> Lengths {
    std::fs::read(dir.join("manifest")).map_or_else(
        |_| Lengths::default(),
        |bytes| serde_json::from_slice(&bytes).unwrap(),
    )
}

/// The child: works until it is killed.
fn cycle(dir: &Path, mut round: u64) -> ! {
    let layout = serde_json::from_slice(&std::fs::read(layout_file(dir)).unwrap()).unwrap();
    let lengths = manifest(dir);
    let opened = TimeQueue::open(&dir.join("queue"), &config(layout), Tails::Keep(&lengths));
    let (mut queue, _) = opened.unwrap();
    let mut missing: Vec<u64> = (0..PAGES).collect();
    let scanned = queue.scan(|record| missing.retain(|number| *number != number_of(record.url)));
    scanned.unwrap();
    let tell = |line: &str| std::io::stderr().write_all(line.as_bytes()).unwrap();
    let start = Time::from_micros(1_700_000_000_000_000);
    loop {
        let now = start + Duration::from_mins(7 * round);
        // A change is told before it is made, because any of them may be written before the round ends.
        for number in missing.drain(..missing.len().min(PAGES_PER_ROUND)) {
            tell(&format!("change {number} 1\n"));
            queue.put(&record(number, 1, now), now).unwrap();
        }
        while queue.next_due().is_some_and(|due| due <= now) {
            let Some((ticket, found)) = queue.next(now).unwrap() else {
                continue;
            };
            let (number, version) = (number_of(&found.url), version_of(&found.body) + 1);
            tell(&format!("change {number} {version}\n"));
            let record = record(number, version, now);
            queue.put_back(ticket, &record, now).unwrap();
        }
        queue.flush().unwrap();
        tell(&format!("flushed {round}\n"));
        if round.is_multiple_of(50) {
            let lengths = queue.sync().unwrap();
            let path = dir.join("manifest");
            std::fs::write(
                dir.join("manifest.tmp"),
                serde_json::to_vec(&lengths).unwrap(),
            )
            .unwrap();
            std::fs::rename(dir.join("manifest.tmp"), &path).unwrap();
            queue.checkpointed().unwrap();
        }
        round += 1;
    }
}

/// The next line, without its end; nothing where there is no end of it.
fn whole_line(told: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    line.strip_suffix('\n').map(str::to_owned)
}

struct Parent<'a> {
    dir: &'a Path,
    layout: Layout,
    states: Versions,
    round: u64,
    kills: u64,
}

impl Parent<'_> {
    fn new(dir: &Path, layout: Layout) -> Parent<'_> {
        std::fs::write(layout_file(dir), serde_json::to_vec(&layout).unwrap()).unwrap();
        Parent {
            dir,
            layout,
            states: Versions::new(),
            round: 0,
            kills: 0,
        }
    }

    /// Starts a child, kills it after it has told so many lines, and looks at what it left.
    fn kill_one(&mut self, lines_max: u64) {
        let task = format!("{} {}", self.round, self.dir.display());
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "killed_hundreds_of_times_it_holds_what_was_acknowledged",
            ])
            .arg("--nocapture")
            .env(CHILD, task)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = BufReader::new(child.stderr.take().unwrap());
        let mut lines = Vec::new();
        // A line that the kill cut is not a line.
        while let Some(line) = whole_line(&mut told) {
            lines.push(line);
            if lines.len() as u64 == lines_max {
                child.kill().unwrap();
            }
        }
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(SIGKILL), "{}", lines.join("\n"));
        self.judge(&lines);
    }

    /// What is there must be what was flushed, and some of the changes that were made since, in their order.
    fn judge(&mut self, lines: &[String]) {
        let mut changes = Vec::new();
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["change", page, version] => {
                    changes.push((page.parse().unwrap(), version.parse().unwrap()));
                }
                ["flushed", round] => {
                    self.round = round.parse::<u64>().unwrap() + 1;
                    self.states.append(&mut changes.drain(..).collect());
                }
                // The test's own words.
                _ => {}
            }
        }
        let found = self.found();
        let mut changes = changes.into_iter();
        while self.states != found {
            let change = changes.next();
            let (page, version) = change.unwrap_or_else(|| panic!("it never held {found:?}"));
            self.states.insert(page, version);
        }
    }

    /// What one who looks on finds, and at times what the queue opens with.
    fn found(&mut self) -> Versions {
        let queue_dir = self.dir.join("queue");
        let mut seen = Versions::new();
        let mut visit = |record: RecordRef| {
            let version = version_of(record.body);
            let doubled = seen.insert(number_of(record.url), version);
            assert_eq!(doubled, None, "{} is there twice", record.url);
        };
        if !queue_dir.exists() {
            return seen;
        }
        look(&queue_dir, &mut visit).unwrap();
        self.kills += 1;
        if !self.kills.is_multiple_of(KILLS_PER_OPENING) {
            return seen;
        }
        let lengths = manifest(self.dir);
        let config = config(self.layout);
        let (queue, report) = TimeQueue::open(&queue_dir, &config, Tails::Keep(&lengths)).unwrap();
        assert!(!report.journal_damaged, "{report:?}");
        let mut opened = Versions::new();
        let scanned = queue.scan(|record| {
            opened.insert(number_of(record.url), version_of(record.body));
        });
        scanned.unwrap();
        assert_eq!(opened, seen);
        assert_eq!(queue.waiting(), opened.len() as u64);
        opened
    }
}
