//! Other crawlers on the same web, where they are installed.
//!
//! They know nothing of our name server, so they ask the web as if it were their proxy: it answers for all of its hosts.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use super::{Arguments, Bench, Series, Visited};
use crate::child::{self, Wish};
use crate::report::{Cell, Table};
use crate::samples::Samples;

/// A crawler, and how it is told to visit about this many bytes and to write what it visited to a log.
struct Peer {
    name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
}

const PEERS: [Peer; 2] = [
    Peer {
        name: "GNU wget -r --warc-file",
        program: "wget",
        arguments: &["--warc-file=peer", "--delete-after"],
    },
    Peer {
        name: "GNU wget -r",
        program: "wget",
        arguments: &["--delete-after"],
    },
];

/// What wget is told in any case: all hosts, no end but the quota, no robots.txt, one line for each page.
const WGET: [&str; 8] = [
    "--recursive",
    "--level=inf",
    "--span-hosts",
    "--no-verbose",
    "--output-file=log",
    "--execute=robots=off",
    "--execute=use_proxy=on",
    "--tries=1",
];

/// All is well, or some page was not found.
const WGET_EXIT_CODES: [i32; 2] = [0, 8];

/// The size of a page, for peers that end after so many bytes.
const PAGE_BYTES: u64 = 20_000;

/// Adds a row for each peer.
pub(super) fn measure(
    bench: &Bench,
    arguments: &Arguments,
    floor: &Samples,
    table: &mut Table,
) -> Result<()> {
    for peer in &PEERS {
        if !is_installed(peer.program) {
            table.row(peer.name, [Cell::from("not installed")]);
            continue;
        }
        println!("{}", peer.name);
        let mut series = Series::default();
        for _ in 0..arguments.common.repeat.get() {
            series.push(&peer.crawl(bench, arguments.peer_pages)?);
        }
        table.row(peer.name, series.cells(floor));
    }
    Ok(())
}

impl Peer {
    fn crawl(&self, bench: &Bench, pages: u64) -> Result<Visited> {
        let folder = bench.folder.path().join("peer");
        fs::create_dir_all(&folder)?;
        let proxy = format!(
            "--execute=http_proxy=http://127.0.0.1:{}/",
            bench.web.http_port
        );
        let mut command = Command::new(self.program);
        command
            .current_dir(&folder)
            .args(WGET)
            .args(self.arguments)
            .arg(format!("--quota={}", pages * PAGE_BYTES))
            .arg(proxy)
            .args(&bench.web.seeds);
        let cost = child::measure(&mut command, bench.core, |_| Wish::GoOn)?;
        let cost = cost.if_ended_with(&WGET_EXIT_CODES)?;
        let visited = read_log(&folder.join("log"))?;
        fs::remove_dir_all(&folder)?;
        Ok(Visited { cost, ..visited })
    }
}

fn is_installed(program: &str) -> bool {
    let version = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    version.is_ok_and(|status| status.success())
}

/// Counts the lines `<date> URL:<url> [<length>/<length>] -> …`.
fn read_log(path: &Path) -> Result<Visited> {
    let log = fs::read_to_string(path).context("the peer wrote no log")?;
    let sizes = log.lines().filter_map(size_of_line);
    let (pages, bytes) = sizes.fold((0.0, 0.0), |(pages, bytes), size| {
        (pages + 1.0, bytes + size)
    });
    Ok(Visited {
        pages,
        bytes,
        ..Visited::default()
    })
}

fn size_of_line(line: &str) -> Option<f64> {
    let (_, rest) = line.split_once(" URL:")?;
    let (_, rest) = rest.split_once('[')?;
    let (size, _) = rest.split_once(|end: char| !end.is_ascii_digit())?;
    size.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_tells_the_size_of_a_page() {
        let line = "2026-01-01 00:00:00 URL:http://host0.test:1/ [21456/21456] -> \"x\" [1]";
        assert_eq!(size_of_line(line), Some(21456.0));
        assert_eq!(size_of_line("FINISHED --2026-01-01 00:00:00--"), None);
    }
}
