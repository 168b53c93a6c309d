//! What a client sees of a web that behaves.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

use crate::support::{
    PATIENCE, Reply, block_on, crawl, get, get_with, links, resolve, resolver_over, send,
};
use hickory_resolver::config::ConnectionConfig;
use junkai_testweb::{TestWeb, TestWebConfig};

fn small() -> TestWebConfig {
    TestWebConfig {
        hosts: 20,
        addresses: 5,
        pages: 400,
        clock_speed: 0.0,
        ..TestWebConfig::default()
    }
}

#[test]
fn a_home_page_is_served_under_the_name_that_dns_gives() {
    let web = TestWeb::start(small()).unwrap();
    assert_eq!(resolve(&web, "host7.test").to_string(), "127.1.0.3");
    let reply = get(&web, "host7.test", "/");
    assert_eq!(reply.status, 200);
    let content_type = reply.header("content-type").unwrap();
    assert!(content_type.starts_with("text/html"));
    assert!(reply.body.starts_with(b"<!DOCTYPE html>"));
}

#[test]
fn dns_answers_over_tcp_too_and_says_how_long_to_keep_it() {
    let web = TestWeb::start(TestWebConfig {
        ttl: Duration::from_secs(77),
        ..small()
    })
    .unwrap();
    for connection in [ConnectionConfig::udp(), ConnectionConfig::tcp()] {
        let resolver = resolver_over(&web, connection);
        let found = block_on(resolver.ipv4_lookup("HOST1.test.")).unwrap();
        assert_eq!(found.answers()[0].ttl, 77);
        let none = block_on(resolver.ipv6_lookup("host1.test.")).unwrap_err();
        assert!(none.is_no_records_found() && !none.is_nx_domain(), "{none}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let pages = |seed| {
        let web = TestWeb::start(TestWebConfig { seed, ..small() }).unwrap();
        let port = format!(":{}", web.http_port());
        let host = "host3.test";
        let paths = web.pages_of(host).map(|page| path_of(&page));
        paths
            .map(|path| get(&web, host, &path))
            .map(|reply| {
                let body = String::from_utf8_lossy(&reply.body).replace(&port, "");
                (reply.header("etag").map(str::to_owned), body)
            })
            .collect::<Vec<_>>()
    };
    let first = pages(5);
    assert!(first.len() > 10);
    assert_eq!(first, pages(5));
    assert_ne!(first, pages(6));
}

fn path_of(url: &str) -> String {
    let url = url::Url::parse(url).unwrap();
    url[url::Position::BeforePath..].to_owned()
}

#[test]
fn every_page_can_be_reached_from_one_seed_by_allowed_links() {
    let web = TestWeb::start(TestWebConfig {
        links_per_page: 15,
        page_bytes: 3000,
        threads: 2,
        ..small()
    })
    .unwrap();
    let expected: BTreeSet<String> = web.pages().collect();
    assert_eq!(expected.len() as u64, web.page_count());
    assert_eq!(web.page_count(), 400);
    let seed = &web.seeds()[4];
    let found = crawl(&web, seed);
    let statuses: BTreeSet<u16> = found.values().copied().collect();
    let missed: Vec<_> = expected
        .iter()
        .filter(|url| found.get(*url) != Some(&200))
        .collect();
    assert_eq!(missed, Vec::<&String>::new());
    // All that is not a page says so, and nothing links to what is not there by mistake.
    for (url, status) in &found {
        let is_page = expected.contains(url);
        let is_error = url.contains("/missing/");
        assert_eq!(*status == 200, is_page, "{url}: {status}");
        assert_eq!(*status >= 400, is_error, "{url}: {status}");
    }
    assert!(statuses.contains(&200) && statuses.contains(&404));
    assert!(statuses.iter().any(|status| (300..400).contains(status)));
}

#[test]
fn pages_have_the_size_and_the_links_that_were_asked_for() {
    let web = TestWeb::start(TestWebConfig {
        hosts: 5,
        pages: 500,
        gzip_percent: 0,
        ..small()
    })
    .unwrap();
    let (mut bytes, mut count, mut pages) = (0, 0, 0);
    for page in web.pages().step_by(5) {
        let url = url::Url::parse(&page).unwrap();
        let reply = get(&web, url.host_str().unwrap(), &path_of(&page));
        bytes += reply.body.len();
        count += links(&page, &reply.body).len();
        pages += 1;
    }
    assert_eq!(pages, 100);
    assert!(
        (18_000..22_000).contains(&(bytes / pages)),
        "{}",
        bytes / pages
    );
    assert!((36..46).contains(&(count / pages)), "{}", count / pages);
}

#[test]
fn in_degrees_are_far_from_even() {
    let web = TestWeb::start(TestWebConfig {
        hosts: 10,
        page_bytes: 3000,
        ..small()
    })
    .unwrap();
    let mut in_degrees = BTreeMap::<String, u32>::new();
    for page in web.pages() {
        let url = url::Url::parse(&page).unwrap();
        let reply = get(&web, url.host_str().unwrap(), &path_of(&page));
        let from = url.host_str().map(str::to_owned);
        for link in links(&page, &reply.body) {
            let target = url::Url::parse(&link.url).unwrap();
            if target.host_str().map(str::to_owned) != from {
                *in_degrees.entry(link.url).or_default() += 1;
            }
        }
    }
    let mut sorted: Vec<u32> = in_degrees.into_values().collect();
    sorted.sort_unstable_by(|left, right| right.cmp(left));
    let total: u32 = sorted.iter().sum();
    let top: u32 = sorted.iter().take(sorted.len() / 10).sum();
    // Were they even, it would have a seventh or so.
    assert!(top * 5 > total * 2, "the first tenth has {top} of {total}");
}

#[test]
fn every_charset_decodes_and_is_declared_in_header_or_meta() {
    let web = TestWeb::start(TestWebConfig {
        hosts: 80,
        pages: 80,
        gzip_percent: 0,
        ..small()
    })
    .unwrap();
    let mut seen = BTreeSet::new();
    let hosts: Vec<String> = web.hosts().map(str::to_owned).collect();
    for host in hosts {
        let reply = get(&web, &host, "/");
        let header = reply.header("content-type").unwrap();
        let in_header = header
            .split_once("charset=")
            .map(|(_, name)| name.to_owned());
        let head = String::from_utf8_lossy(&reply.body[..300]).into_owned();
        let in_meta = head
            .split_once("<meta charset=\"")
            .map(|(_, rest)| rest.split('"').next().unwrap().to_owned());
        if let (Some(left), Some(right)) = (&in_header, &in_meta) {
            assert_eq!(left, right);
        }
        let name = in_header
            .or(in_meta)
            .expect("every host declares its charset");
        let charset = encoding_rs::Encoding::for_label(name.as_bytes()).unwrap();
        let (_, _, malformed) = charset.decode(&reply.body);
        assert!(!malformed, "{host} is not {name}");
        seen.insert(name);
    }
    let expected = ["EUC-JP", "Shift_JIS", "UTF-8", "windows-1252"];
    assert_eq!(
        seen.iter().collect::<Vec<_>>(),
        expected.iter().collect::<Vec<_>>()
    );
}

#[test]
fn compression_and_chunks_change_nothing_in_the_page() {
    let start = |gzip_percent, chunked_percent| {
        let config = TestWebConfig {
            gzip_percent,
            chunked_percent,
            ..small()
        };
        TestWeb::start(config).unwrap()
    };
    let plain = start(0, 0);
    let both = start(100, 100);
    let expected = get(&plain, "host1.test", "/").body;
    let accept = "accept-encoding: gzip, br\r\n";
    let reply = get_with(&both, "host1.test", "/", accept);
    assert_eq!(reply.header("content-encoding"), Some("gzip"));
    assert_eq!(reply.header("transfer-encoding"), Some("chunked"));
    let mut body = Vec::new();
    flate2::read::GzDecoder::new(&reply.body[..])
        .read_to_end(&mut body)
        .unwrap();
    let with_port = |body: &[u8], web: &TestWeb| {
        String::from_utf8_lossy(body).replace(&format!(":{}/", web.http_port()), ":80/")
    };
    assert_eq!(with_port(&body, &both), with_port(&expected, &plain));
    let uncompressed = get(&both, "host1.test", "/");
    assert_eq!(uncompressed.header("content-encoding"), None);
    assert_eq!(uncompressed.body, body);
}

#[test]
fn a_page_that_has_not_changed_is_not_sent_again() {
    let web = TestWeb::start(small()).unwrap();
    let first = get(&web, "host0.test", "/");
    let etag = format!("if-none-match: {}\r\n", first.header("etag").unwrap());
    let date = first.header("last-modified").unwrap();
    for condition in [etag, format!("if-modified-since: {date}\r\n")] {
        let reply = get_with(&web, "host0.test", "/", &condition);
        assert_eq!((reply.status, reply.body.len()), (304, 0));
        assert_eq!(reply.header("etag"), first.header("etag"));
        assert_eq!(reply.header("content-length"), None);
    }
    let other = get_with(&web, "host0.test", "/", "if-none-match: \"x\"\r\n");
    assert_eq!(other.status, 200);
}

#[test]
fn pages_change_as_fast_as_the_clock_goes() {
    let start = |clock_speed| {
        let config = TestWebConfig {
            clock_speed,
            change_interval: Duration::from_secs(1000),
            ..small()
        };
        TestWeb::start(config).unwrap()
    };
    let version = |web: &TestWeb| {
        let reply = get(web, "host0.test", "/");
        (reply.header("etag").unwrap().to_owned(), reply.body)
    };
    let still = start(0.0);
    assert_eq!(version(&still), version(&still));
    let fast = start(1e6);
    let first = version(&fast);
    let deadline = Instant::now() + PATIENCE;
    while version(&fast).0 == first.0 {
        assert!(
            Instant::now() < deadline,
            "a thousand changes a second and none seen"
        );
    }
    let later = version(&fast);
    assert_ne!(later.1, first.1);
    // What holds the web together stays.
    let tree = |body: &[u8]| {
        let found = links("http://host0.test/", body);
        found
            .into_iter()
            .map(|link| link.url)
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(tree(&later.1), tree(&first.1));
    let reply = get(&fast, "host0.test", "/");
    let date = |name| httpdate::parse_http_date(reply.header(name).unwrap()).unwrap();
    assert!(date("last-modified") <= date("date"));
    assert!(
        std::time::SystemTime::now() < date("date"),
        "dates are virtual"
    );
}

#[test]
fn a_site_has_robots_sitemaps_feed_style_and_images() {
    let web = TestWeb::start(TestWebConfig {
        hosts: 2,
        pages: 12_000,
        ..small()
    })
    .unwrap();
    let origin = format!("http://host0.test:{}", web.http_port());
    let robots = get(&web, "host0.test", "/robots.txt");
    assert!(robots.text().contains("Disallow: /private/\n"));
    assert!(
        robots
            .text()
            .contains(&format!("Sitemap: {origin}/sitemap.xml\n"))
    );
    let index = get(&web, "host0.test", "/sitemap.xml");
    let mut listed = BTreeSet::new();
    for part in locations(index.text()) {
        let reply = get(&web, "host0.test", &path_of(&part));
        let mut xml = String::new();
        let mut decoder = flate2::read::GzDecoder::new(&reply.body[..]);
        decoder.read_to_string(&mut xml).unwrap();
        listed.extend(locations(&xml));
    }
    assert_eq!(listed, web.pages_of("host0.test").collect());
    let feed = get(&web, "host0.test", "/feed.xml");
    assert_eq!(feed.text().matches("<entry>").count(), 20);
    assert!(
        get(&web, "host0.test", "/images/5.gif")
            .body
            .starts_with(b"GIF89a")
    );
    assert_eq!(
        get(&web, "host0.test", "/style.css").header("content-type"),
        Some("text/css")
    );
    assert_eq!(get(&web, "host0.test", "/private/5").status, 200);
    for absent in ["/sitemap-9.xml.gz", "/go/99999", "/calendar/2026/1", "/x"] {
        assert_eq!(get(&web, "host0.test", absent).status, 404, "{absent}");
    }
}

fn locations(xml: &str) -> Vec<String> {
    let parts = xml.split("<loc>").skip(1);
    parts
        .map(|rest| rest.split('<').next().unwrap().to_owned())
        .collect()
}

#[test]
fn one_connection_serves_many_requests() {
    let web = TestWeb::start(small()).unwrap();
    let mut stream = send(&web, "host0.test", "/robots.txt", "");
    // A second request at once: answered in its turn. A third ends the connection.
    let more = "HEAD / HTTP/1.1\r\nhost: host0.test\r\n\r\n\
                POST / HTTP/1.1\r\nhost: HOST1.test.:99\r\ncontent-length: 3\r\nconnection: close\r\n\r\nabc";
    stream.write_all(more.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let statuses: Vec<_> = text
        .match_indices("HTTP/1.1 ")
        .map(|(at, _)| &text[at + 9..at + 12])
        .collect();
    assert_eq!(statuses, ["200", "200", "405"]);
    assert!(!text.contains("</html>"), "HEAD has no body");
    assert_eq!(web.counters().requests, 3);
}

#[test]
fn what_is_no_request_or_for_nobody_here_is_refused() {
    let web = TestWeb::start(small()).unwrap();
    assert_eq!(
        get_with(&web, "host0.test", "/", "host: nobody.test\r\n").status,
        421
    );
    for malformed in [
        "transfer-encoding: chunked\r\n",
        "content-length: x\r\n",
        "a b: c\r\n",
    ] {
        let reply = get_with(&web, "host0.test", "/", malformed);
        assert_eq!(
            reply,
            Reply::parse(
                b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )
        );
    }
    let long = format!("x: {}\r\n", "y".repeat(70_000));
    let mut stream = send(&web, "host0.test", "/", "");
    // The server may close before all of it is sent, with or without its answer being readable.
    let _sent = stream.write_all(long.as_bytes());
    let _read = stream.read_to_end(&mut Vec::new());
    assert_eq!(get(&web, "host0.test", "/").status, 200);
}
