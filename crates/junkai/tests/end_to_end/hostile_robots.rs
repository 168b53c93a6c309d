//! Hostile robots.txt files: whatever one says, memory is bounded, other hosts are visited, and its own pages are left alone where it cannot be
//! obeyed to the letter. What a host asks for is for that host alone, and for as long as it asks.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use junkai_testweb::{FolderConfig, TestWebConfig};

use crate::support::{Finished, Running, Stage, junkai, peak_bytes, run, wait_until};

/// What the program may take at its peak. The files below used to take gigabytes.
const PEAK_BYTES_MAX: u64 = 512_000_000;

/// A web of these folders at one address.
fn folders(folder: &Path, hosts: &[&str]) -> TestWebConfig {
    TestWebConfig {
        hosts: 1,
        addresses: 1,
        pages: 1,
        folders: hosts
            .iter()
            .map(|host| FolderConfig {
                host: (*host).to_owned(),
                path: folder.join(host),
            })
            .collect(),
        ..TestWebConfig::default()
    }
}

/// Writes a site of this many pages that its home page links to.
fn write_site(folder: &Path, robots: &str, pages: usize) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("robots.txt"), robots).unwrap();
    let mut links = String::new();
    for page in 0..pages {
        writeln!(links, "<a href=\"/{page}.html\">{page}</a>").unwrap();
        let text = format!("<!DOCTYPE html><title>{page}</title><p>Page {page}.\n");
        fs::write(folder.join(format!("{page}.html")), text).unwrap();
    }
    let home = format!("<!DOCTYPE html><title>Home</title>\n{links}");
    fs::write(folder.join("index.html"), home).unwrap();
}

fn explain(stage: &Stage, url: &str) -> Finished {
    let mut command = junkai();
    command
        .args(["explain", url, "--archive"])
        .arg(stage.archive());
    run(command)
}

/// Pages of a host that were had.
fn pages_had(stage: &Stage, host: &str) -> usize {
    let start = stage.url(host, "/");
    let events = stage.events();
    let is_had = |url: &str| url.starts_with(&start) && !url.ends_with("/robots.txt");
    events
        .iter()
        .filter(|event| event.status == 200 && is_had(&event.url))
        .count()
}

#[test]
fn a_small_file_of_many_rules_costs_next_to_nothing_however_many_hosts_send_it() {
    const HOSTS: usize = 150;
    let web = TestWebConfig {
        hosts: HOSTS,
        addresses: 150,
        pages: HOSTS as u64,
        size_exponent: 0.0,
        seeds: HOSTS,
        misbehaviours: vec!["*=robots-bomb:64000".parse().unwrap()],
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "page", "--no-requisites"]);
    crawl.args(["--interval", "10ms", "--quiet"]);
    let mut running = Running::start(crawl);
    let mut peak = 0;
    wait_until("the crawl ends", || {
        peak = peak_bytes(running.id()).unwrap_or(peak);
        !running.is_running()
    });
    running.wait().expect(0);
    println!("peak {} MB", peak / 1_000_000);
    assert!(peak < PEAK_BYTES_MAX, "{peak} bytes");
    let had = stage
        .events()
        .iter()
        .filter(|event| event.status == 200)
        .count();
    assert_eq!(had, 2 * HOSTS, "robots.txt and a page each");
    let rules = stage.archive().join("state/robots.jsonl");
    let kept = fs::read(&rules).unwrap();
    assert!(kept.len() < 1000 * HOSTS, "{} bytes", kept.len());

    // Rules that cannot be read are told of.
    fs::write(&rules, &kept[..kept.len() - 10]).unwrap();
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "page", "--interval", "10ms", "--quiet"]);
    let told = run(crawl).expect(0).err;
    assert!(
        told.contains("some rules of robots.txt files cannot be read"),
        "{told}"
    );
}

#[test]
fn a_file_of_wildcards_keeps_nobody_waiting_and_is_explained() {
    const LONG_URLS: usize = 600;
    let folder = tempfile::tempdir().unwrap();
    let trap = folder.path().join("trap.test");
    let rules = (0..24_000).map(|number| format!("Allow:/*abb{number:x}*ba\n"));
    let rules: String = rules.collect();
    write_site(&trap, &format!("User-agent: *\n{rules}"), 0);
    let long = "ab".repeat(3900);
    let links = (0..LONG_URLS).map(|number| format!("<a href=\"/{number}{long}\">{number}</a>\n"));
    let links: String = links.collect();
    fs::write(trap.join("index.html"), format!("<!DOCTYPE html>\n{links}")).unwrap();
    write_site(&folder.path().join("other.test"), "", 20);
    let web = folders(folder.path(), &["trap.test", "other.test"]);
    let stage = Stage::new(
        TestWebConfig {
            addresses: 3,
            ..web
        },
        "",
    );
    let mut crawl = stage.crawl();
    crawl.args(["trap.test", "other.test"].map(|host| stage.url(host, "/")));
    crawl.args(["--scope", "host", "--interval", "10ms", "--quiet"]);
    let finished = run(crawl).expect(0);
    assert!(
        finished.out.contains("The crawl is complete"),
        "{}",
        finished.all()
    );
    assert_eq!(pages_had(&stage, "other.test"), 21);
    assert_eq!(pages_had(&stage, "trap.test"), 1, "its home page");
    let events = stage.events();
    let denied: Vec<_> = events
        .iter()
        .filter(|event| event.status == -9998)
        .collect();
    assert_eq!(denied.len(), LONG_URLS);
    for event in denied {
        assert!(
            event.result.contains("patterns with wildcards"),
            "{event:#?}"
        );
    }
    let url = stage.url("trap.test", &format!("/0{long}"));
    let told = explain(&stage, &url).expect(0).out;
    assert!(
        told.contains("patterns with wildcards would have to be tried"),
        "{told}"
    );
}

#[test]
fn a_crawl_delay_is_for_the_host_that_asks_and_not_for_its_neighbour() {
    let folder = tempfile::tempdir().unwrap();
    let delay = "User-agent: *\nCrawl-delay: 100000000\n";
    write_site(&folder.path().join("slow.test"), delay, 5);
    write_site(&folder.path().join("quick.test"), "", 20);
    let stage = Stage::new(folders(folder.path(), &["slow.test", "quick.test"]), "");
    let mut crawl = stage.crawl();
    crawl.args(["slow.test", "quick.test"].map(|host| stage.url(host, "/")));
    crawl.args(["--scope", "host", "--interval", "20ms", "--quiet"]);
    let running = Running::start(crawl);
    wait_until("the neighbour is visited to its last page", || {
        pages_had(&stage, "quick.test") == 21
    });
    let home = stage.url("slow.test", "/");
    let told = explain(&stage, &home).expect(0).out;
    let words = "its robots.txt asks for 1h between two visits, the most that is obeyed (politeness.crawl_delay_max); it rests until";
    assert!(told.contains(words), "{told}");
    running.interrupt();
    running.wait().expect(11);
    let exchanges = stage.exchanges();
    let slow: Vec<&str> = exchanges
        .iter()
        .filter(|seen| seen.host == "slow.test")
        .map(|seen| &*seen.url)
        .collect();
    assert_eq!(slow, [stage.url("slow.test", "/robots.txt")]);
}

#[test]
fn a_crawl_without_a_page_tells_of_the_crawl_delay_that_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let delay = "User-agent: *\nCrawl-delay: 100000000\n";
    write_site(&folder.path().join("slow.test"), delay, 5);
    let stage = Stage::new(folders(folder.path(), &["slow.test"]), "");
    // The second time it is known from the start.
    for _ in 0..2 {
        let mut crawl = stage.crawl_on();
        crawl.args([&*stage.url("slow.test", "/"), "--for", "3s", "-v"]);
        crawl.args(["--interval", "20ms"]);
        let finished = run(crawl).expect(4);
        let words = "the Crawl-delay in the robots.txt of slow.test asks for 1h between two visits, the most that is obeyed (politeness.crawl_delay_max); the host rests until";
        let told = |text: &str| text.lines().filter(|line| line.contains(words)).count();
        assert!(0 < told(&finished.out), "{}", finished.out);
        let by_log = finished.err.lines().filter(|line| line.contains("INFO"));
        let by_log: Vec<&str> = by_log.collect();
        assert_eq!(told(&by_log.join("\n")), 1, "{}", finished.err);
    }
}

#[test]
fn pages_that_robots_txt_keeps_out_are_told_of_once_for_each_host() {
    let folder = tempfile::tempdir().unwrap();
    let rules = "User-agent: *\nDisallow: /\nAllow: /$\n";
    write_site(&folder.path().join("shut.test"), rules, 5);
    let stage = Stage::new(folders(folder.path(), &["shut.test"]), "");
    for (flag, count) in [("-v", 1), ("-vv", 5)] {
        let mut crawl = stage.crawl_into(&stage.path(flag));
        crawl.args([&*stage.url("shut.test", "/"), "--interval", "0s", flag]);
        let told = run(crawl).expect(0).err;
        let kept_out = told.lines().filter(|line| line.contains(".html: "));
        assert_eq!(kept_out.count(), count, "{told}");
    }
}

#[test]
fn a_crawl_delay_that_is_no_longer_asked_for_is_gone() {
    const DELAY_SECONDS: f64 = 2.0;
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("slow.test");
    write_site(&site, "User-agent: *\nCrawl-delay: 100000000\n", 6);
    let config = "[politeness]\ncrawl_delay_max = \"2s\"\n";
    let stage = Stage::new(folders(folder.path(), &["slow.test"]), config);
    let crawl = || {
        let mut crawl = stage.crawl();
        crawl.arg(stage.url("slow.test", "/"));
        crawl.args(["--scope", "host", "--interval", "20ms", "--quiet"]);
        crawl
    };
    let life = Running::start(crawl());
    wait_until("the delay is asked for, and kept", || {
        2 <= stage.events().len()
    });
    assert!(life.kill());
    let before = stage.exchanges();
    for pair in before.windows(2) {
        let pause = pair[1].start.seconds_since(pair[0].end);
        assert!(DELAY_SECONDS <= pause, "{pause} s before {}", pair[1].url);
    }
    let home = stage.url("slow.test", "/");
    let told = explain(&stage, &home).expect(0).out;
    assert!(told.contains("asks for 2s between two visits"), "{told}");

    // A kill leaves no rules behind: the next run asks for them, one delay after it has begun.
    fs::write(site.join("robots.txt"), "User-agent: *\nDisallow:\n").unwrap();
    run(crawl()).expect(0);
    let after = &stage.exchanges()[before.len()..];
    assert_eq!(after[0].url, stage.url("slow.test", "/robots.txt"));
    let pause = after[0].start.seconds_since(before[before.len() - 1].end);
    assert!(DELAY_SECONDS <= pause, "{pause} s after the kill");
    assert_eq!(pages_had(&stage, "slow.test"), 7);
    let told = explain(&stage, &home).expect(0).out;
    assert!(!told.contains("between two visits"), "{told}");
    let kept = fs::read_to_string(stage.archive().join("state/servers.jsonl")).unwrap();
    assert!(!kept.contains("slow.test"), "{kept}");
}
