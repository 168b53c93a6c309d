//! The soak: a crawl of a large, link-rich web that is killed a thousand times while people speak to it, and loses nothing.
//!
//! Each life of the crawler is ended by SIGKILL after a number of requests that is left to chance, some of them before the first one. Meanwhile somebody adds pages
//! that are known or not, asks for others out of turn, pauses and resumes. Buffers are small, so that state files are written to all the time. The last life goes on to the
//! end. Then every page of the web must be captured, in the index, in both logs, and have one state; and by the web's own log no server was pressed.
//!
//! It fails, with exit code 1, if anything is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use junkai_archive::Index;
use junkai_store::time_queue;
use junkai_testweb::{TestWeb, TestWebConfig, judge};
use serde_json::Value;
use tempfile::TempDir;

use crate::chance::mixed;

/// Part of the pages that the lives before the last one may visit, in per cent: the last one must have something left to do.
const BEFORE_LAST_PERCENT: u64 = 80;
/// A life that is to end before its first visit does so within this time: the opening, and the rest after it.
const OPENING_MAX: Duration = Duration::from_millis(1500);
/// A life that gets nowhere is ended after this time.
const LIFE_MAX: Duration = Duration::from_mins(2);
/// How long the last life may take for each page.
const PER_PAGE_MAX: Duration = Duration::from_millis(200);
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Small buffers and frequent checkpoints: everything is written to disk in small pieces.
const CONFIG: &str = r#"
[crawl]
checkpoint_every = "100ms"
concurrency = 64
workers = 2

[archive]
rollover_bytes = 2000000

[seen]
memory_bytes = 1048576

[backlog]
buffer_bytes = 4096
segment_bytes = 200000

[time_queue]
buffer_bytes = 65536
"#;

/// What `soak` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Pages of the web.
    #[arg(long, default_value_t = 100_000)]
    pages: u64,
    /// Times that the crawl is killed.
    #[arg(long, default_value_t = 1000)]
    kills: u64,
    /// Links on a page, on average.
    #[arg(long, default_value_t = 100)]
    links: u32,
    /// Hosts of the web, each with an address of its own.
    #[arg(long, default_value_t = 64)]
    hosts: u32,
    /// The least time between two visits to an address, in milliseconds.
    #[arg(long, default_value_t = 20)]
    interval_ms: u64,
    /// What is left to chance is drawn from this.
    #[arg(long, default_value_t = 2026)]
    seed: u64,
    /// The crawler's binary; default: the one beside this program.
    #[arg(long, value_name = "FILE")]
    junkai: Option<PathBuf>,
}

/// Crawls, kills and checks.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let begun = Instant::now();
    let mut soak = Soak::new(arguments)?;
    for number in 1..=arguments.kills {
        soak.live_and_be_killed(arguments)
            .with_context(|| format!("life {number}, seed {}", arguments.seed))?;
        if number % 100 == 0 {
            let requests = soak.web.counters().requests;
            println!(
                "{number} kills, {requests} requests, {:.0} s",
                begun.elapsed().as_secs_f64()
            );
        }
    }
    soak.live_to_the_end(arguments)?;
    let found = Found::in_archive(&soak.archive())?;
    let losses = found.losses(&soak.web);
    soak.web.flush_log();
    let interval = Duration::from_millis(arguments.interval_ms);
    let verdict = judge(&soak.folder.path().join("access.log"), interval)?;
    println!(
        "{} kills ({} of them while opening), {} commands, {} pages, {} captures, {} log lines, {} states, {:.0} s",
        arguments.kills,
        soak.kills_while_opening,
        soak.commands,
        arguments.pages,
        found.captures,
        found.lines,
        found.states.len(),
        begun.elapsed().as_secs_f64()
    );
    println!("{verdict}");
    for loss in &losses {
        println!("LOST: {loss}");
    }
    ensure!(
        losses.is_empty(),
        "{} losses; the archive was not kept",
        losses.len()
    );
    ensure!(verdict.is_polite(), "a server was pressed");
    println!("nothing is lost");
    Ok(())
}

/// What is left to chance.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mixed(self.0) % end
    }
}

struct Soak {
    web: TestWeb,
    folder: TempDir,
    junkai: PathBuf,
    dice: Dice,
    pages: Vec<String>,
    commands: u64,
    kills_while_opening: u64,
}

impl Soak {
    fn new(arguments: &Arguments) -> Result<Soak> {
        let folder = TempDir::with_prefix("junkai-soak-")?;
        fs::write(folder.path().join("junkai.toml"), CONFIG)?;
        let web = TestWeb::start(TestWebConfig {
            hosts: arguments.hosts as usize,
            addresses: arguments.hosts,
            pages: arguments.pages,
            links_per_page: arguments.links,
            page_bytes: 4000,
            change_interval: Duration::ZERO,
            log: Some(folder.path().join("access.log")),
            ..TestWebConfig::default()
        })?;
        let junkai = match &arguments.junkai {
            Some(junkai) => junkai.clone(),
            None => std::env::current_exe()?.with_file_name("junkai"),
        };
        ensure!(
            junkai.is_file(),
            "there is no crawler at {}",
            junkai.display()
        );
        Ok(Soak {
            pages: web.pages().collect(),
            web,
            folder,
            junkai,
            dice: Dice(arguments.seed),
            commands: 0,
            kills_while_opening: 0,
        })
    }

    fn archive(&self) -> PathBuf {
        self.folder.path().join("archive")
    }

    fn start(&self, arguments: &Arguments) -> Result<Child> {
        let log = fs::File::create(self.folder.path().join("life.log"))?;
        let mut crawl = self.junkai("crawl");
        crawl.args(self.web.seeds());
        crawl.args([
            "--scope",
            "any",
            "--once",
            "--quiet",
            "--allow",
            "127.0.0.0/8",
        ]);
        crawl.args(["--dns", &self.web.dns().to_string()]);
        crawl.args(["--interval", &format!("{}ms", arguments.interval_ms)]);
        crawl
            .arg("--config")
            .arg(self.folder.path().join("junkai.toml"));
        Ok(crawl.stderr(log).spawn()?)
    }

    fn junkai(&self, command: &str) -> Command {
        let mut junkai = Command::new(&self.junkai);
        junkai.arg(command).arg("--archive").arg(self.archive());
        junkai
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        junkai
    }

    /// One life, ended by SIGKILL.
    fn live_and_be_killed(&mut self, arguments: &Arguments) -> Result<()> {
        let share = arguments.pages * BEFORE_LAST_PERCENT / 100 / arguments.kills.max(1);
        // Every life asks for each robots.txt again.
        let requests = self.dice.below(2 * share + 1);
        let goal = self.web.counters().requests + requests + u64::from(arguments.hosts);
        let mut crawl = self.start(arguments)?;
        if requests == 0 || self.dice.below(10) == 0 {
            self.kills_while_opening += 1;
            thread::sleep(self.time_below(OPENING_MAX));
        } else {
            let speaker = self.speaker();
            let deadline = Instant::now() + LIFE_MAX;
            while self.web.counters().requests < goal && Instant::now() < deadline {
                if let Some(status) = crawl.try_wait()? {
                    bail!("it ended by itself, {status}: {}", self.last_words());
                }
                thread::sleep(LOOK_EVERY);
            }
            crawl.kill()?;
            self.commands += speaker
                .join()
                .map_err(|_| anyhow::anyhow!("a command panicked"))??;
        }
        crawl.kill()?;
        crawl.wait()?;
        Ok(())
    }

    /// Says some things to the crawl, at moments left to chance, whether it still lives or not. What is paused is resumed.
    fn speaker(&mut self) -> thread::JoinHandle<Result<u64>> {
        let mut commands = Vec::new();
        if self.dice.below(2) == 0 {
            let mut add = self.junkai("add");
            for _ in 0..3 {
                add.arg(self.some_page());
            }
            let mut revisit = self.junkai("revisit");
            revisit.arg(self.some_page());
            commands.extend([add, revisit]);
        }
        if self.dice.below(8) == 0 {
            let (mut pause, mut resume) = (self.junkai("pause"), self.junkai("resume"));
            pause.arg("--all");
            resume.arg("--all");
            commands.extend([pause, resume]);
        }
        let wait = self.time_below(OPENING_MAX);
        thread::spawn(move || {
            thread::sleep(wait);
            let mut count = 0;
            for mut command in commands {
                // A page that is not known cannot be visited again; that is an answer too.
                command.status()?;
                count += 1;
            }
            Ok(count)
        })
    }

    fn some_page(&mut self) -> String {
        let number = self.dice.below(self.pages.len() as u64);
        self.pages[usize::try_from(number).unwrap_or_default()].clone()
    }

    fn time_below(&mut self, end: Duration) -> Duration {
        let micros = u64::try_from(end.as_micros()).unwrap_or(u64::MAX);
        Duration::from_micros(self.dice.below(micros))
    }

    fn live_to_the_end(&mut self, arguments: &Arguments) -> Result<()> {
        let patience = PER_PAGE_MAX * u32::try_from(arguments.pages).unwrap_or(u32::MAX);
        let deadline = Instant::now() + patience;
        let mut crawl = self.start(arguments)?;
        loop {
            if let Some(status) = crawl.try_wait()? {
                ensure!(
                    status.success(),
                    "the last life: {status}: {}",
                    self.last_words()
                );
                return Ok(());
            }
            if deadline < Instant::now() {
                crawl.kill()?;
                crawl.wait()?;
                bail!("the last life does not end");
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    fn last_words(&self) -> String {
        fs::read_to_string(self.folder.path().join("life.log")).unwrap_or_default()
    }
}

/// What an archive says of its pages.
#[derive(Default)]
struct Found {
    captures: usize,
    /// Those that the index has with an answer of 200.
    captured: BTreeSet<String>,
    lines: usize,
    /// In `events.jsonl`.
    reported: BTreeSet<String>,
    /// In `crawl.log`.
    logged: BTreeSet<String>,
    /// Captures that are reported, and not in the index.
    unindexed: Vec<String>,
    states: BTreeMap<String, usize>,
}

impl Found {
    fn in_archive(archive: &Path) -> Result<Found> {
        let mut found = Found::default();
        let mut places = BTreeSet::new();
        for entry in Index::open(archive)?.iter()? {
            let entry = entry?;
            found.captures += 1;
            places.insert((entry.filename, entry.offset));
            if entry.status.as_deref() == Some("200") {
                found.captured.insert(entry.url);
            }
        }
        for line in fs::read_to_string(archive.join("logs/events.jsonl"))?.lines() {
            found.lines += 1;
            let event: Value = serde_json::from_str(line)?;
            let url = event["url"].as_str().unwrap_or_default().to_owned();
            if let Some(file) = event["warc"]["file"].as_str() {
                let offset = event["warc"]["offset"].as_u64().unwrap_or_default();
                if !places.contains(&(file.to_owned(), offset)) {
                    found.unindexed.push(url.clone());
                }
            }
            found.reported.insert(url);
        }
        for line in fs::read_to_string(archive.join("logs/crawl.log"))?.lines() {
            let url = line.split_whitespace().nth(3).unwrap_or_default();
            found.logged.insert(url.to_owned());
        }
        time_queue::look(&archive.join("state/time_queue"), |record| {
            *found.states.entry(record.url.to_owned()).or_default() += 1;
        })?;
        Ok(found)
    }

    /// Everything that is not as it must be, in words.
    fn losses(&self, web: &TestWeb) -> Vec<String> {
        let mut losses = Vec::new();
        for page in web.pages() {
            let states = self.states.get(&page).copied().unwrap_or(0);
            for (holds, what) in [
                (self.captured.contains(&page), "is not captured"),
                (self.reported.contains(&page), "is not in events.jsonl"),
                (self.logged.contains(&page), "is not in crawl.log"),
                (0 < states, "has no state"),
                (states < 2, "has more than one state"),
            ] {
                if !holds {
                    losses.push(format!("{page} {what}"));
                }
            }
        }
        let unreported = self.captured.difference(&self.reported);
        losses.extend(unreported.map(|page| format!("{page} is captured, and in no log")));
        let unindexed = self.unindexed.iter();
        losses.extend(unindexed.map(|page| format!("{page} is reported, and not in the index")));
        losses
    }
}
