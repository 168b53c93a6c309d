//! A flood of links: small pages that lead to megabytes of URLs. What waits stays within what the settings allow, whatever the pages say, and what is left
//! out is counted and told; memory stays within its bound as well.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::{fs, thread};

use flate2::Compression;
use flate2::write::GzEncoder;
use junkai_chance::Chance;
use junkai_crawler::LogEvent;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Running, events, junkai, peak_bytes, run, wait_until};

const HOSTS: [&str; 3] = ["127.0.0.1", "127.0.0.2", "127.0.0.3"];
/// Seeds of each host: the pages that are visited.
const SEEDS: usize = 8;
const LINKS_PER_PAGE: u64 = 400;
const LINK_BYTES: usize = 8000;

const PAGE_BYTES_MAX: u64 = 1_000_000;
const HOST_BYTES_MAX: u64 = 2_000_000;
const BYTES_MAX: u64 = 4_500_000;
/// What the rest of the state takes: settings, known URLs, rules, what servers asked for.
const OTHER_STATE_BYTES_MAX: u64 = 1_000_000;

/// Serves any page at each of the hosts.
fn serve() -> u16 {
    let first = TcpListener::bind((HOSTS[0], 0)).unwrap();
    let port = first.local_addr().unwrap().port();
    let others = HOSTS[1..]
        .iter()
        .map(|host| TcpListener::bind((*host, port)).unwrap());
    for listener in std::iter::once(first).chain(others) {
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // The client may go before it has all.
                thread::spawn(|| answer(stream));
            }
        });
    }
    port
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines
        .next()
        .transpose()?
        .is_some_and(|line| !line.is_empty())
    {}
    let path = request.split(' ').nth(1).unwrap_or_default();
    let (status, coding, body) = match path {
        "/robots.txt" => ("404 Not Found", "identity", Vec::new()),
        path if path.starts_with(PACKED) => ("200 OK", "gzip", packed_page(path)),
        path => ("200 OK", "identity", page(path).into_bytes()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-encoding: {coding}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)
}

fn page(path: &str) -> String {
    let mut page = String::new();
    if path.starts_with(CLIQUE) {
        for number in 0..CLIQUE_PAGES {
            writeln!(page, "<a href=\"{}\">x</a>", of_clique(number)).unwrap();
        }
        return page;
    }
    for number in 0..LINKS_PER_PAGE {
        writeln!(page, "<a href=\"{}\">x</a>", link(path, number)).unwrap();
    }
    page
}

/// The path of a long link that is like no other, so that packing gains little.
fn link(path: &str, number: u64) -> String {
    let number = path.bytes().fold(number + 1, |sum, byte| {
        sum.wrapping_mul(257) ^ u64::from(byte)
    });
    let mut chance = Chance::new(number);
    let mut link = String::from("/l/");
    while link.len() < LINK_BYTES {
        write!(link, "{:016x}", chance.number()).unwrap();
    }
    link
}

/// Pages that all link to each other; together their URLs take several times as many bytes as may wait.
const CLIQUE: &str = "/clique/";
const CLIQUE_PAGES: usize = 200;

fn of_clique(number: usize) -> String {
    format!("{CLIQUE}{number}/{}", "x".repeat(1500))
}

/// Pages that are small on their way, and lead to many long URLs: each to more than one page may bring in, and those of each host to more than may wait for it.
const PACKED: &str = "/packed/";
const PACKED_PAGES: usize = 60;
const PACKED_LINKS: usize = 6000;
/// What the program may take at its peak, with no setting changed; what these pages lead to is several times as much.
const PEAK_BYTES_MAX: u64 = 512_000_000;

fn packed_page(path: &str) -> Vec<u8> {
    let mut page = GzEncoder::new(Vec::new(), Compression::fast());
    let padding = "x".repeat(LINK_BYTES);
    for number in 0..PACKED_LINKS {
        writeln!(page, "<a href=\"{path}/{number}/{padding}\">x</a>").unwrap();
    }
    page.finish().unwrap()
}

#[test]
fn long_links_of_small_pages_stay_within_memory_at_default_settings() {
    let port = serve();
    let folder = TempDir::new().unwrap();
    let archive = folder.path().join("archive");
    let mut crawl = junkai();
    crawl.args(["crawl", "--quiet", "--interval", "0s"]);
    crawl.args(["--pages", &PACKED_PAGES.to_string()]);
    crawl
        .args(["--allow", "127.0.0.0/8", "--archive"])
        .arg(&archive);
    for number in 0..PACKED_PAGES {
        let host = HOSTS[number % HOSTS.len()];
        crawl.arg(format!("http://{host}:{port}{PACKED}{number}"));
    }
    let mut running = Running::start(crawl);
    let mut peak = 0;
    wait_until("the pages are there", || {
        peak = peak_bytes(running.id()).unwrap_or(peak);
        !running.is_running()
    });
    running.wait().expect(0);
    println!("peak {} MB", peak / 1_000_000);
    assert!(peak < PEAK_BYTES_MAX, "{peak} bytes");
    let events = events(&archive);
    let had = events.iter().filter(|event| event.url.contains(PACKED));
    assert!(PACKED_PAGES <= had.count());
    assert!(0 < annotated(&events, "linksLeftOut:"), "they were read");
}

#[test]
fn what_was_refused_is_welcome_when_it_is_found_again() {
    let port = serve();
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("config.toml");
    fs::write(&config, "[backlog]\nhost_bytes_max = 65536\n").unwrap();
    let archive = folder.path().join("archive");
    let crawl = || {
        let mut crawl = junkai();
        crawl.args(["crawl", "--once", "--interval", "0s", "--workers", "1"]);
        crawl.args(["--allow", "127.0.0.0/8", "--config"]);
        crawl.arg(&config).arg("--archive").arg(&archive);
        crawl.arg(format!("http://{}:{port}{}", HOSTS[0], of_clique(0)));
        crawl
    };
    let said = run(crawl()).expect(0);
    let events = events(&archive);
    assert!(0 < annotated(&events, "urlsRefused:"), "{}", said.all());
    let visited = events.iter().filter(|event| event.url.contains(CLIQUE));
    assert_eq!(visited.count(), CLIQUE_PAGES, "{}", said.all());

    let again = run(crawl()).expect(0);
    assert!(
        again.out.contains("earlier runs refused"),
        "{}",
        again.all()
    );
    assert!(again.out.contains("junkai revisit"), "{}", again.all());
    assert!(!again.out.contains("is complete"), "{}", again.all());
}

#[test]
fn where_overflow_is_discarded_every_url_without_room_is_counted_and_logged() {
    const WAITING_MAX: u64 = 50;
    let port = serve();
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("config.toml");
    fs::write(&config, format!("[ring]\nwaiting_max = {WAITING_MAX}\n")).unwrap();
    let archive = folder.path().join("archive");
    let mut crawl = junkai();
    crawl.args(["crawl", "--once", "--json", "--pages", "1"]);
    crawl.args(["--overflow", "discard", "--allow", "127.0.0.0/8"]);
    crawl.arg("--config").arg(&config);
    crawl.arg("--archive").arg(&archive);
    crawl.arg(format!("http://{}:{port}/p", HOSTS[0]));
    let finished = run(crawl).expect(0);
    let last: Value = serde_json::from_str(finished.out.lines().last().unwrap()).unwrap();
    let discarded = last["summary"]["progress"]["discarded"].as_u64().unwrap();
    let logged = annotated(&events(&archive), "urlsRefused:");
    assert_eq!(logged, LINKS_PER_PAGE - WAITING_MAX, "{last}");
    assert!(logged <= discarded, "{last}");
}

/// Settings of an archive, with a bound in all that is below what waits.
fn lower_bound(settings: &str) -> String {
    let mut settings: toml::Table = settings.parse().unwrap();
    let backlog = settings["backlog"].as_table_mut().unwrap();
    backlog.insert("bytes_max".to_owned(), 65_536.into());
    settings.to_string()
}

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| match entry.metadata().unwrap() {
            folder if folder.is_dir() => size(&entry.path()),
            file => file.len(),
        })
        .sum()
}

fn annotated(events: &[LogEvent<'_>], word: &str) -> u64 {
    let annotations = events.iter().flat_map(|event| &event.annotations);
    let counts = annotations.filter_map(|annotation| annotation.strip_prefix(word));
    counts.map(|count| count.parse::<u64>().unwrap()).sum()
}

#[test]
fn what_waits_stays_within_its_bounds_and_what_is_left_out_is_told() {
    let port = serve();
    let folder = TempDir::new().unwrap();
    let (archive, config) = (
        folder.path().join("archive"),
        folder.path().join("junkai.toml"),
    );
    let bounds = format!(
        "[backlog]\npage_bytes_max = {PAGE_BYTES_MAX}\nhost_bytes_max = {HOST_BYTES_MAX}\nbytes_max = {BYTES_MAX}\n"
    );
    fs::write(&config, bounds).unwrap();
    let crawl = |pages: usize| {
        let mut crawl = junkai();
        crawl.args(["crawl", "--once", "--json", "--interval", "0s"]);
        crawl.args(["--allow", "127.0.0.0/8"]);
        crawl.arg("--archive").arg(&archive);
        crawl.arg("--config").arg(&config);
        crawl.args(["--pages", &pages.to_string()]);
        for host in HOSTS {
            crawl.args((0..SEEDS).map(|number| format!("http://{host}:{port}/p{number}")));
        }
        crawl
    };
    let finished = run(crawl(HOSTS.len() * SEEDS)).expect(0);
    let last: Value = serde_json::from_str(finished.out.lines().last().unwrap()).unwrap();
    let told = &last["summary"]["progress"];
    let count = |name: &str| told[name].as_u64().unwrap();
    assert!(count("waiting_bytes") <= BYTES_MAX, "{told}");
    assert!(BYTES_MAX / 2 < count("waiting_bytes"), "{told}");
    let on_disk = size(&archive.join("state"));
    // What was deferred is written anew, and the old file goes with a later checkpoint.
    assert!(on_disk < 2 * BYTES_MAX + OTHER_STATE_BYTES_MAX, "{on_disk}");

    // Every link is taken in, left out or refused, and the log says so page by page.
    let events = events(&archive);
    assert_eq!(annotated(&events, "linksLeftOut:"), count("links_left_out"));
    assert_eq!(annotated(&events, "urlsRefused:"), count("urls_refused"));
    let pages = (HOSTS.len() * SEEDS) as u64;
    let of_pages = count("links_left_out") + count("urls_refused") + count("waiting");
    assert_eq!(of_pages, pages * LINKS_PER_PAGE, "{told}");
    assert!(0 < count("links_left_out") && 0 < count("urls_refused"));

    let said = |arguments: &[&str]| {
        let mut command = junkai();
        command.args(arguments).arg("--archive").arg(&archive);
        run(command).expect(0).out
    };
    let stats = said(&["stats"]);
    assert!(
        stats.contains("URLs refused because too many waited"),
        "{stats}"
    );
    // Whether a URL finds room depends on what came first; where the bound is below what waits, none does.
    let settings = archive.join("state/settings.toml");
    let kept = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, lower_bound(&kept)).unwrap();
    let refused = format!("http://{}:{port}{}", HOSTS[0], link("/new", 0));
    let explained = said(&["explain", &refused]);
    fs::write(&settings, kept).unwrap();
    assert!(explained.contains("backlog."), "{explained}");

    // What is visited makes room: the count is right after a start, too.
    let finished = run(crawl(12)).expect(0);
    let last: Value = serde_json::from_str(finished.out.lines().last().unwrap()).unwrap();
    let waiting = last["summary"]["progress"]["waiting_bytes"].as_u64();
    assert!(waiting.unwrap() <= BYTES_MAX, "{last}");
    assert!(BYTES_MAX / 2 < waiting.unwrap(), "new ones took the room");
}
