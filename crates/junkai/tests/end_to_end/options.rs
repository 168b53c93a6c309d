//! What people ask of every crawler: a limit on bytes, a name of one's own, sitemaps alone, every page daily, and the flags that hands know.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use junkai_testweb::{FolderConfig, TestWebConfig};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Finished, Running, Stage, junkai, run, wait_until};

const HOST: &str = "site.test";
const ELSEWHERE: [&str; 3] = ["one.elsewhere", "two.elsewhere", "three.elsewhere"];
/// A problem, as the shell is told.
const PROBLEMS: i32 = 4;

/// The last line of what a run with `--json` printed.
fn summary(finished: &Finished) -> Value {
    let line = finished.out.lines().last().unwrap_or_default();
    let value: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{}", finished.all()));
    value["summary"].clone()
}

#[test]
fn a_crawl_ends_in_order_when_its_bytes_are_received() {
    const BYTES_MAX: u64 = 200_000;
    const IN_FLIGHT: usize = 2;
    let web = TestWebConfig {
        hosts: 4,
        addresses: 4,
        pages: 100,
        page_bytes: 10_000,
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "[crawl]\nbytes_max = \"200kB\"\n");
    let crawl = |flags: &[&str]| {
        let mut command = stage.crawl();
        command.args(["--interval", "0s", "--scope", "any", "--json"]);
        command.args(["--concurrency", &IN_FLIGHT.to_string()]);
        command.args(flags).args(stage.web.seeds());
        run(command).expect(0)
    };
    let first = crawl(&[]);
    assert_eq!(summary(&first)["ended"], "bytes-reached", "{}", first.all());
    let (mut sum, mut beyond) = (0, 0);
    for event in stage.events() {
        // What robots.txt keeps out is logged without a visit.
        beyond += usize::from(BYTES_MAX <= sum && 0 < event.size);
        sum += event.size;
    }
    assert!(BYTES_MAX <= sum, "{sum}");
    assert!(
        beyond <= IN_FLIGHT,
        "{beyond} visits ended after the last byte that was asked for"
    );
    // The flag goes before the file, and the limit is of a run: the rest comes in the next one.
    let second = crawl(&["--bytes", "1GB"]);
    assert_eq!(summary(&second)["ended"], "complete", "{}", second.all());
    assert!(100 <= stage.exchanges().len());
}

/// Answers so many requests, each on a connection of its own; the `User-Agent` of each.
fn serve_agents(listener: &TcpListener, robots: &str, requests: usize) -> Vec<String> {
    let mut agents = Vec::new();
    while agents.len() < requests {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut head, mut line) = (Vec::new(), String::new());
        while reader.read_line(&mut line).is_ok_and(|count| 2 < count) {
            head.push(std::mem::take(&mut line).trim_end().to_owned());
        }
        let Some(first) = head.first() else {
            continue;
        };
        let (kind, body) = if first.contains("/robots.txt ") {
            ("text/plain", robots)
        } else {
            ("text/html", "hello")
        };
        let length = body.len();
        let text = format!(
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(text.as_bytes()).unwrap();
        let agent = head.iter().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("user-agent").then_some(value)
        });
        agents.push(agent.unwrap_or_default().to_owned());
    }
    agents
}

#[test]
fn servers_see_a_suffix_or_another_name_and_robots_txt_still_speaks_to_junkai() {
    let folder = tempfile::tempdir().unwrap();
    // Whatever the crawl calls itself, these lines are for it.
    let robots = "User-agent: junkai\nDisallow: /secret\n\nUser-agent: Other\nDisallow: /\n";
    for (name, flags, expected) in [
        (
            "suffix",
            vec!["--user-agent-suffix", "my-project/2"],
            "Mozilla/5.0 (compatible; junkai/0.1; +me@example.org) my-project/2",
        ),
        ("whole", vec!["--user-agent", "Other/1.0"], "Other/1.0"),
        (
            "both",
            vec!["--userAgent", "Other/1.0", "--userAgentSuffix", "x"],
            "Other/1.0 x",
        ),
    ] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let seed = format!("http://{}/", listener.local_addr().unwrap());
        let mut command = junkai();
        command.args(["crawl", &seed, "--once", "--interval", "0s"]);
        command.args(["--allow", "127.0.0.1", "--contact", "me@example.org"]);
        command.arg("--archive").arg(folder.path().join(name));
        command.args(&flags);
        let crawl = Running::start(command);
        let agents = serve_agents(&listener, robots, 2);
        crawl.wait().expect(0);
        assert_eq!(agents, [expected, expected]);
    }
    for wrong in ["", "a\nb", "é"] {
        let mut command = junkai();
        command.args(["crawl", "127.0.0.1:1", "--user-agent-suffix", wrong]);
        command.arg("--archive").arg(folder.path().join("wrong"));
        let refused = run(command).expect(3);
        assert!(refused.err.contains("printable ASCII"), "{}", refused.all());
    }
}

/// A site in a folder.
struct Site {
    folder: TempDir,
    stage: Stage,
}

impl Site {
    fn new(files: &[(&str, &str)]) -> Site {
        let folder = tempfile::tempdir().unwrap();
        // The same files at every host.
        let hosts = [&[HOST][..], &ELSEWHERE].concat();
        let folders = hosts.into_iter().map(|host| FolderConfig {
            host: host.to_owned(),
            path: folder.path().to_owned(),
        });
        let web = TestWebConfig {
            hosts: 0,
            folders: folders.collect(),
            ..TestWebConfig::default()
        };
        let site = Site {
            folder,
            stage: Stage::new(web, ""),
        };
        for (path, text) in files {
            let file = site.folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            let origin = site.stage.url(HOST, "");
            let mut text = text.replace("ORIGIN", &origin);
            for host in ELSEWHERE {
                text = text.replace(&format!("{host}/"), &site.stage.url(host, "/"));
            }
            fs::write(file, text).unwrap();
        }
        site
    }

    /// Crawls by sitemaps alone, without an end in sight unless that is said.
    fn crawl(&self, archive: &str, flags: &[&str]) -> Finished {
        let archive = self.stage.path(archive);
        let mut command = junkai();
        command.arg("crawl").arg("--archive").arg(archive);
        command.args(["--dns", &self.stage.web.dns().to_string()]);
        command.args(["--allow", "127.0.0.0/8", "--interval", "0s"]);
        command.arg("--sitemap-only").args(flags);
        run(command)
    }

    /// The paths that were asked for, without robots.txt.
    fn paths(&self) -> BTreeSet<String> {
        let exchanges = self.stage.exchanges();
        let path = |url: &str| format!("/{}", url.splitn(4, '/').nth(3).unwrap());
        let paths = exchanges.iter().map(|exchange| path(&exchange.url));
        paths.filter(|path| path != "/robots.txt").collect()
    }
}

fn sitemap(pages: &[&str]) -> String {
    let pages = pages
        .iter()
        .map(|page| format!("<url><loc>ORIGIN{page}</loc></url>"));
    let pages: String = pages.collect();
    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{pages}</urlset>")
}

fn index(sitemaps: &[&str]) -> String {
    let sitemaps = sitemaps
        .iter()
        .map(|sitemap| format!("<sitemap><loc>{sitemap}</loc></sitemap>"));
    let sitemaps: String = sitemaps.collect();
    format!(
        "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{sitemaps}</sitemapindex>"
    )
}

const INDEX: &str = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
    <sitemap><loc>ORIGIN/maps/a.xml</loc></sitemap></sitemapindex>";
const PAGE: &str = "<html><body><img src=/images/a.png><a href=/docs/linked.html>a link</a>\
    <iframe src=/docs/frame.html></iframe></body></html>";

#[test]
fn by_sitemaps_alone_pages_are_found_and_links_are_not_followed() {
    let site = Site::new(&[
        ("robots.txt", "Sitemap: /maps/index.xml\n"),
        ("maps/index.xml", INDEX),
        (
            "maps/a.xml",
            &sitemap(&["/docs/listed.html", "/elsewhere.html"]),
        ),
        ("docs/index.html", PAGE),
        ("docs/listed.html", PAGE),
        ("docs/linked.html", PAGE),
        ("docs/frame.html", "a frame"),
        ("elsewhere.html", PAGE),
        ("images/a.png", "no image"),
    ]);
    // The sitemaps lie outside of what is to be crawled; what they list is held against it.
    let seed = site.stage.url(HOST, "/docs/");
    let done = site.crawl("one", &["--once", "--scope", "prefix", &seed]);
    let done = done.expect(0);
    let expected = [
        "/docs/",
        "/docs/frame.html",
        "/docs/listed.html",
        "/images/a.png",
        "/maps/a.xml",
        "/maps/index.xml",
    ];
    let expected = expected.map(str::to_owned);
    assert_eq!(site.paths(), BTreeSet::from(expected), "{}", done.all());
    // What was visited for a reason of its own is not called out of scope, and what was left out is.
    let archive = site.stage.path("one");
    for (path, is_out) in [
        ("/maps/a.xml", false),
        ("/images/a.png", false),
        ("/docs/listed.html", false),
        ("/elsewhere.html", true),
    ] {
        let url = site.stage.url(HOST, path);
        let mut explain = junkai();
        explain.args(["explain", "--json", &url]);
        explain.arg("--archive").arg(&archive);
        let told: Value = serde_json::from_str(&run(explain).out).unwrap();
        let scope = told["scope"].to_string();
        assert_eq!(scope.contains("out of scope"), is_out, "{path}: {scope}");
    }
}

#[test]
fn where_robots_txt_names_none_the_usual_sitemap_is_read_and_a_seed_may_be_one() {
    let site = Site::new(&[
        ("sitemap.xml", &sitemap(&["/listed.html"])),
        ("other.txt", "ORIGIN/by-seed.html\n"),
        // Served as text/html.
        ("list.html", "ORIGIN/by-list.html\n"),
        ("by-list.html", "listed by what is called HTML"),
        ("index.html", "<a href=/linked.html>a link</a>"),
        ("listed.html", "listed"),
        ("by-seed.html", "listed elsewhere"),
        ("linked.html", "linked"),
    ]);
    let home = site.stage.url(HOST, "/");
    site.crawl("one", &["--once", &home]).expect(0);
    let expected = ["/", "/listed.html", "/sitemap.xml"].map(str::to_owned);
    assert_eq!(site.paths(), BTreeSet::from(expected));
    let list = site.stage.url(HOST, "/other.txt");
    site.crawl("two", &["--once", &list]).expect(0);
    assert!(site.paths().contains("/by-seed.html"));
    let list = site.stage.url(HOST, "/list.html");
    site.crawl("three", &["--once", &list]).expect(0);
    assert!(site.paths().contains("/by-list.html"));
    assert!(!site.paths().contains("/linked.html"));
}

#[test]
fn a_chain_of_sitemap_indexes_leads_neither_to_host_after_host_nor_on_without_end() {
    let site = Site::new(&[
        ("robots.txt", "Sitemap: one.elsewhere/1.xml\n"),
        (
            "1.xml",
            &index(&["one.elsewhere/2.xml", "two.elsewhere/b.xml", "ORIGIN/c.xml"]),
        ),
        ("2.xml", &index(&["one.elsewhere/3.xml"])),
        ("3.xml", &index(&["one.elsewhere/4.xml"])),
        ("4.xml", &sitemap(&["/too-far.html"])),
        (
            "b.xml",
            &index(&["three.elsewhere/4.xml", "two.elsewhere/c.xml"]),
        ),
        ("c.xml", &sitemap(&["/listed.html"])),
        ("seed.xml", &index(&["two.elsewhere/b.xml"])),
        ("index.html", "home"),
        ("listed.html", "listed"),
        ("too-far.html", "behind four indexes"),
    ]);
    let visited = || -> BTreeSet<String> {
        let urls = site.stage.exchanges().into_iter().map(|seen| seen.url);
        urls.filter(|url| !url.ends_with("/robots.txt")).collect()
    };
    let home = site.stage.url(HOST, "/");
    site.crawl("one", &["--once", &home]).expect(0);
    let mut expected = BTreeSet::from([home, site.stage.url(HOST, "/c.xml")]);
    expected.insert(site.stage.url(HOST, "/listed.html"));
    for path in ["/1.xml", "/2.xml", "/3.xml"] {
        expected.insert(site.stage.url("one.elsewhere", path));
    }
    assert_eq!(visited(), expected);
    // Where a seed names them, they are wanted; where these lead is not.
    let seed = site.stage.url(HOST, "/seed.xml");
    site.crawl("two", &["--once", &seed]).expect(0);
    expected.insert(seed);
    for path in ["/b.xml", "/c.xml"] {
        expected.insert(site.stage.url("two.elsewhere", path));
    }
    assert_eq!(visited(), expected);
}

#[test]
fn a_site_without_a_sitemap_is_told_of_and_fails() {
    let site = Site::new(&[("index.html", "<a href=/linked.html>a link</a>")]);
    let home = site.stage.url(HOST, "/");
    // Without an end in sight, at the end of all, and again where it was found out before.
    for flags in [vec![], vec!["--once"], vec!["--json"]] {
        let said = site.crawl("none", &[flags.clone(), vec![&home]].concat());
        let said = said.expect(PROBLEMS);
        if flags == ["--json"] {
            assert_eq!(summary(&said)["ended"], "no-sitemap");
        } else {
            assert!(said.out.contains("No sitemap was found"), "{}", said.all());
            assert!(said.out.contains("what helps: name the sitemap"));
        }
        if flags.is_empty() {
            assert!(said.out.contains("/sitemap.xml: 404"), "{}", said.all());
        }
    }
    assert!(!site.paths().contains("/linked.html"));
    // One that lists nothing of the crawl is of no use, and that is said.
    let other = Site::new(&[
        ("index.html", "home"),
        (
            "sitemap.xml",
            "<urlset><url><loc>http://www.site.test/a</loc></url></urlset>",
        ),
    ]);
    let said = other.crawl("none", &[&other.stage.url(HOST, "/")]);
    let said = said.expect(PROBLEMS).out;
    assert!(said.contains("does not belong to the crawl"), "{said}");
}

/// A day of the crawl's clock, and of the web's, in so many seconds of ours.
fn fast_clock(seconds_a_day: f64) -> (f64, f64, String) {
    let origin = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let origin = origin.as_secs_f64().floor();
    let speed = 86_400.0 / seconds_a_day;
    let clock = format!("[clock]\nspeed = {speed:?}\norigin = {origin:?}\n");
    (speed, origin, clock)
}

#[test]
fn every_page_is_planned_for_within_a_day_and_visited() {
    const PAGES: u64 = 30;
    let (speed, origin, clock) = fast_clock(4.0);
    let web = TestWebConfig {
        hosts: 3,
        addresses: 3,
        pages: PAGES,
        // Pages that never change are otherwise visited ever more rarely.
        change_interval: Duration::ZERO,
        clock_speed: speed,
        clock_origin: Some(origin),
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, &clock);
    let mut command = stage.crawl_on();
    command.args(["--interval", "0s", "--scope", "any", "--at-least", "1day"]);
    let mut crawl = Running::start({
        command.args(stage.web.seeds());
        command
    });
    wait_until("every page was visited four times", || {
        assert!(crawl.is_running(), "{}", crawl.printed());
        let events = stage.events();
        let mut pages: Vec<&str> = events.iter().map(|event| &*event.url).collect();
        pages.retain(|url| !url.ends_with("robots.txt"));
        pages.sort_unstable();
        let visits = pages.chunk_by(|left, right| left == right);
        let often = visits.filter(|visits| 4 <= visits.len());
        usize::try_from(PAGES).unwrap() <= often.count()
    });
    crawl.interrupt();
    let said = crawl.wait().expect(11);
    assert!(!said.out.contains("revisit.at_least"), "{}", said.all());
    let day = jiff::SignedDuration::from_hours(24);
    for event in stage.events() {
        if let Some(next) = event.next_visit {
            assert!(next.duration_since(event.time) <= day, "{event:?}");
        }
    }
}

#[test]
fn a_shorter_time_brings_forward_the_visits_of_pages_that_are_known() {
    const PAGES: u64 = 20;
    let (speed, origin, clock) = fast_clock(600.0);
    let web = TestWebConfig {
        hosts: 2,
        addresses: 2,
        pages: PAGES,
        change_interval: Duration::ZERO,
        clock_speed: speed,
        clock_origin: Some(origin),
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, &clock);
    let crawl = |mut command: Command, at_least: &str| {
        command.args(["--interval", "0s", "--scope", "any", "--no-requisites"]);
        command.args(["--at-least", at_least]);
        command.args(stage.web.seeds());
        command
    };
    // Known pages come back after some days, each of them ten minutes of ours.
    run(crawl(stage.crawl(), "6days")).expect(0);
    let known = stage.events();
    let known = known.iter().filter(|event| event.next_visit.is_some());
    let known: BTreeSet<String> = known.map(|event| event.url.to_string()).collect();
    assert!(usize::try_from(PAGES).unwrap() <= known.len(), "{known:?}");
    let before = stage.events().len();
    let mut again = Running::start(crawl(stage.crawl_on(), "3min"));
    wait_until("every known page was visited again", || {
        assert!(again.is_running(), "{}", again.printed());
        let events = stage.events();
        let visited: BTreeSet<&str> = events[before..].iter().map(|event| &*event.url).collect();
        known.iter().all(|url| visited.contains(url.as_str()))
    });
    again.interrupt();
    again.wait().expect(11);
}

#[test]
fn a_pace_that_does_not_allow_every_page_daily_is_told_of() {
    const PAGES: u64 = 40;
    let (speed, origin, clock) = fast_clock(2.0);
    let web = TestWebConfig {
        hosts: 1,
        addresses: 1,
        pages: PAGES,
        change_interval: Duration::ZERO,
        clock_speed: speed,
        clock_origin: Some(origin),
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, &format!("[revisit]\nat_least = \"1day\"\n{clock}"));
    let home = stage.web.seeds().remove(0);
    let mut command = stage.crawl_on();
    // At most twelve visits a day, for forty pages.
    command.args(["--interval", "2h", &home]);
    let mut crawl = Running::start(command);
    wait_until("all pages are known", || {
        assert!(crawl.is_running(), "{}", crawl.printed());
        let events = stage.events();
        let known = events.iter().filter(|event| event.next_visit.is_some());
        let known: BTreeSet<&str> = known.map(|event| &*event.url).collect();
        usize::try_from(PAGES).unwrap() <= known.len()
    });
    crawl.interrupt();
    let said = crawl.wait().expect(11).out;
    assert!(
        said.contains("1 server cannot have every page visited as often as revisit.at_least says"),
        "{said}"
    );
    let ask = |words: &[&str]| {
        let mut command = junkai();
        command.args(words).arg("--archive").arg(stage.archive());
        run(command).expect(0).out
    };
    let stats = ask(&["state", "stats"]);
    assert!(
        stats.contains("the pace of 1 server does not allow it"),
        "{stats}"
    );
    assert!(
        stats.contains("one of them is http://host0.test"),
        "{stats}"
    );
    let explained = ask(&["explain", &home]);
    assert!(
        explained.contains("and not as often as revisit.at_least says"),
        "{explained}"
    );
}

#[test]
fn hands_that_know_other_crawlers_are_understood_or_told_what_to_use() {
    let site = Site::new(&[
        (
            "a/index.html",
            "<a href=page.html>in</a> <a href=/b.html>out</a>",
        ),
        ("a/page.html", "<a href=deep.html>deeper</a>"),
        ("a/deep.html", "deep"),
        ("b.html", "outside"),
    ]);
    let mut command = site.stage.crawl();
    command.args(["-r", "-np", "-l", "1", "-w", "0", "-Q", "10m", "-nv"]);
    command.arg("--url").arg(site.stage.url(HOST, "/a/"));
    let said = run(command).expect(0);
    let expected = ["/a/", "/a/page.html"].map(str::to_owned);
    assert_eq!(site.paths(), BTreeSet::from(expected), "{}", said.all());

    for (flags, told) in [
        (vec!["--no-robots"], "robots.txt is always obeyed"),
        (vec!["-e", "robots=off"], "robots.txt is always obeyed"),
        (vec!["--accept-regex", "x"], "--include REGEX"),
        (vec!["-s", "CONCURRENT_REQUESTS_PER_DOMAIN=8"], "one visit"),
        (vec!["--scopeType", "custom"], "--include REGEX"),
        (vec!["--no-such-flag"], "unexpected argument"),
    ] {
        let mut command = junkai();
        command.args(["crawl", "http://127.0.0.1:1/"]).args(flags);
        let refused = run(command).expect(2);
        assert!(refused.err.contains(told), "{}", refused.all());
    }
}
