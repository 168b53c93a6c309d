//! Disk full: the crawl pauses, says so, and goes on when there is room; nothing that was cut off passes as whole.
//!
//! The disk is a small file system in memory. Its room is taken by a ballast file, which is removed later.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use junkai_testweb::TestWebConfig;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Running, Stage, assert_warcio_accepts, events, files, wait_until};

const DISK_BYTES: u64 = 24_000_000;

/// Writes fail in the midst of records, lines and checkpoints.
#[test]
fn a_full_disk_is_waited_for() {
    check(0, DISK_BYTES - 1_000_000);
}

/// The crawl leaves others some room.
#[test]
fn a_disk_that_is_nearly_full_is_waited_for() {
    check(8_000_000, DISK_BYTES - 9_000_000);
}

fn check(disk_free_min: u64, ballast_bytes: u64) {
    let config = format!(
        "[crawl]\ndisk_free_min = {disk_free_min}\ncheckpoint_every = \"200ms\"\n[archive]\nrollover_bytes = 300000\n"
    );
    let web = TestWebConfig {
        hosts: 30,
        addresses: 30,
        pages: 900,
        page_bytes: 10_000,
        // Slow enough for the crawl to look at the disk, which it does every second, before it is done.
        latency: Duration::from_millis(40),
        change_interval: Duration::ZERO,
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, &config);
    let disk = Disk::mount();
    let ballast = disk.path().join("ballast");
    fs::write(&ballast, vec![7; usize::try_from(ballast_bytes).unwrap()]).unwrap();

    let mut crawl = stage.crawl_into(&disk.path_inside().join("archive"));
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "0s", "--json"]);
    let mut running = Running::start(disk.command(&crawl));
    wait_until("the crawl says that the disk is full", || {
        assert!(running.is_running(), "{}", running.printed());
        last_progress(&running.printed()).is_some_and(|progress| progress["disk_full"] == true)
    });
    let archive = disk.path().join("archive");
    let captured = pages_captured(&archive);
    let missing = stage.web.pages().any(|page| !captured.contains(&page));
    assert!(missing, "the disk was full before everything was captured");

    fs::remove_file(&ballast).unwrap();
    let finished = running.wait().expect(0);
    let summary: Value = serde_json::from_str(finished.out.lines().last().unwrap()).unwrap();
    assert_eq!(summary["summary"]["ended"], "complete");
    assert_eq!(summary["summary"]["progress"]["disk_full"], false);

    assert_warcio_accepts(&files(&archive.join("archive")));
    let captured = pages_captured(&archive);
    let missing: Vec<String> = stage
        .web
        .pages()
        .filter(|page| !captured.contains(page))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

fn last_progress(printed: &str) -> Option<Value> {
    let whole = printed.rsplit_once('\n')?.0;
    let line: Value = serde_json::from_str(whole.lines().last()?).ok()?;
    Some(line["progress"].clone())
}

fn pages_captured(archive: &Path) -> BTreeSet<String> {
    events(archive)
        .into_iter()
        .filter(|event| event.warc.is_some() && event.status == 200)
        .map(|event| event.url.into_owned())
        .collect()
}

/// A small file system: mounted by root, or by anybody in a namespace of its own.
struct Disk {
    place: TempDir,
    /// The process that keeps the namespace.
    keeper: Option<Running>,
}

impl Disk {
    fn mount() -> Disk {
        let place = tempfile::tempdir().unwrap();
        let mount = format!(
            "mount -t tmpfs -o size={DISK_BYTES} tmpfs '{}'",
            place.path().display()
        );
        let is_mounted = Command::new("sh").args(["-c", &mount]).output();
        if is_mounted.is_ok_and(|output| output.status.success()) {
            return Disk {
                place,
                keeper: None,
            };
        }
        let mut keep = Command::new("unshare");
        keep.args(["--map-root-user", "--mount", "sh", "-c"]);
        keep.arg(format!("{mount} && echo ready && exec sleep 1000"));
        let mut keeper = Running::start(keep);
        wait_until("the file system is mounted", || {
            assert!(
                keeper.is_running(),
                "a test of a full disk needs a file system of its own: run it as root, or where users may make \
                 namespaces (sysctl kernel.unprivileged_userns_clone=1)"
            );
            keeper.printed().contains("ready")
        });
        Disk {
            place,
            keeper: Some(keeper),
        }
    }

    /// Where the test sees the file system.
    fn path(&self) -> PathBuf {
        match &self.keeper {
            None => self.place.path().to_owned(),
            Some(keeper) => {
                let root = PathBuf::from(format!("/proc/{}/root", keeper.id()));
                root.join(self.place.path().strip_prefix("/").unwrap())
            }
        }
    }

    /// Where the program sees it.
    fn path_inside(&self) -> &Path {
        self.place.path()
    }

    /// A command that runs where the file system is seen.
    fn command(&self, command: &Command) -> Command {
        let mut inside = match &self.keeper {
            None => Command::new(command.get_program()),
            Some(keeper) => {
                let mut enter = Command::new("nsenter");
                enter.args(["--user", "--mount", "--preserve-credentials", "--target"]);
                enter.arg(keeper.id().to_string());
                enter.arg(command.get_program());
                enter
            }
        };
        inside.args(command.get_args());
        inside
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.keeper.is_none() {
            let unmounted = Command::new("umount")
                .arg("--lazy")
                .arg(self.place.path())
                .status();
            assert!(
                unmounted.is_ok_and(|status| status.success()) || std::thread::panicking(),
                "{} stays mounted",
                self.place.path().display()
            );
        }
    }
}
