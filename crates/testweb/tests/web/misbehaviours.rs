//! Every misbehaviour, as a client meets it.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read};
use std::time::{Duration, Instant, SystemTime};

use crate::support::{Reply, block_on, get, get_bytes, get_with, links, resolve, resolver, send};
use junkai_testweb::{Ending, Exchange, TestWeb, TestWebConfig};

/// A web in which every host does what is said.
fn web(misbehaviours: &str) -> TestWeb {
    TestWeb::start(TestWebConfig {
        hosts: 3,
        addresses: 16,
        pages: 30,
        chunked_percent: 0,
        misbehaviours: vec![format!("*={misbehaviours}").parse().unwrap()],
        ..TestWebConfig::default()
    })
    .unwrap()
}

fn is_robots_fine(web: &TestWeb) -> bool {
    get(web, "host0.test", "/robots.txt").status == 200
}

#[test]
fn a_slow_first_byte_comes_after_its_time() {
    let web = web("slow-first-byte:300ms");
    let started = Instant::now();
    assert_eq!(get(&web, "host0.test", "/").status, 200);
    assert!(Duration::from_millis(300) <= started.elapsed());
    assert!(is_robots_fine(&web));
}

#[test]
fn a_slow_body_takes_its_time() {
    let web = web("slow-body:10000");
    let length = get(&web, "host0.test", "/robots.txt").body.len();
    assert!(length < 1000);
    let started = Instant::now();
    let reply = get(&web, "host0.test", "/style.css");
    let expected = Duration::from_micros(100) * u32::try_from(reply.body.len()).unwrap();
    assert!(expected <= started.elapsed());
}

#[test]
fn a_reset_is_a_reset() {
    let error = get_bytes(&web("reset"), "host0.test", "/", "").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let web = web("reset:100");
    let mut stream = send(&web, "host0.test", "/", "");
    let mut bytes = Vec::new();
    let error = stream.read_to_end(&mut bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert!(bytes.len() < 1000);
}

#[test]
fn lengths_are_wrong_both_ways() {
    let announced = |reply: &Reply| -> usize {
        let length = reply.header("content-length").unwrap();
        length.parse().unwrap()
    };
    let truncated = get(&web("truncated"), "host0.test", "/");
    assert_eq!(truncated.body.len(), announced(&truncated) / 2);
    let surplus = get(&web("wrong-length:-100"), "host0.test", "/");
    assert_eq!(surplus.body.len(), announced(&surplus) + 100);
    let short = get(&web("wrong-length:+100"), "host0.test", "/");
    assert_eq!(short.body.len(), announced(&short) - 100);
}

#[test]
fn endless_things_go_on_until_the_client_leaves() {
    for (misbehaviour, starts_with) in [
        ("endless-body", "HTTP/1.1 200 OK\r\nserver"),
        ("endless-headers", "HTTP/1.1 200 OK\r\nx-padding"),
    ] {
        let web = web(misbehaviour);
        let mut bytes = vec![0; 20 << 20];
        let mut stream = send(&web, "host0.test", "/", "");
        stream.read_exact(&mut bytes).unwrap();
        assert!(bytes.starts_with(starts_with.as_bytes()), "{misbehaviour}");
        let ends = bytes.windows(4).filter(|four| four == b"\r\n\r\n").count();
        assert_eq!(ends, usize::from(misbehaviour == "endless-body"));
    }
}

#[test]
fn a_gzip_bomb_grows_a_thousandfold() {
    let reply = get(&web("gzip-bomb:50"), "host0.test", "/");
    assert_eq!(reply.header("content-encoding"), Some("gzip"));
    assert!(reply.body.len() < 100 << 10, "{}", reply.body.len());
    let mut decoder = flate2::read::GzDecoder::new(&reply.body[..]);
    let length = std::io::copy(&mut decoder, &mut std::io::sink()).unwrap();
    assert_eq!(length, 50 << 20);
}

#[test]
fn redirects_go_round_and_round() {
    let web = web("redirect-loop:3");
    let mut path = "/".to_owned();
    let mut visited = Vec::new();
    for _ in 0..7 {
        let reply = get(&web, "host0.test", &path);
        assert_eq!(reply.status, 302);
        path = reply.header("location").unwrap().to_owned();
        visited.push(path.clone());
    }
    assert_eq!(visited[..4], ["/loop/0", "/loop/1", "/loop/2", "/loop/0"]);
    assert_eq!(visited[1..4], visited[4..]);
}

#[test]
fn redirects_lead_to_private_addresses() {
    let web = web("redirect-private");
    let targets: BTreeSet<String> = (0..40)
        .map(|number| get(&web, "host0.test", &format!("/{}", "x".repeat(number))))
        .map(|reply| reply.header("location").unwrap().to_owned())
        .collect();
    assert!(targets.contains("http://169.254.169.254/latest/meta-data/"));
    assert_eq!(targets.len(), 8);
}

#[test]
fn refusals_name_the_time_in_both_forms() {
    let reply = get(&web("429:2s"), "host0.test", "/");
    assert_eq!(
        (reply.status, reply.header("retry-after")),
        (429, Some("2"))
    );
    let before = SystemTime::now();
    let reply = get(&web("503:90s:date"), "host0.test", "/");
    assert_eq!(reply.status, 503);
    let date = httpdate::parse_http_date(reply.header("retry-after").unwrap()).unwrap();
    let ahead = date.duration_since(before).unwrap();
    assert!(ahead >= Duration::from_secs(90), "{ahead:?}");
}

#[test]
fn a_host_may_refuse_only_now_and_then() {
    let web = web("429:1h:every=3");
    let status = || get(&web, "host0.test", "/").status;
    let statuses = [status(), status(), status(), status()];
    assert_eq!(statuses, [200, 200, 429, 429]);
}

#[test]
fn robots_txt_is_wrong_in_every_way() {
    let robots = |misbehaviour: &str| get(&web(misbehaviour), "host0.test", "/robots.txt");
    assert_eq!(robots("robots-status:503").status, 503);
    assert_eq!(robots("robots-status:403").status, 403);
    let html = robots("robots-html");
    assert_eq!(
        html.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    let moved_web = web("robots-redirect:host2.test");
    let moved = get(&moved_web, "host0.test", "/robots.txt");
    assert_eq!(moved.status, 301);
    let target = format!("http://host2.test:{}/robots.txt", moved_web.http_port());
    assert_eq!(moved.header("location"), Some(target.as_str()));
    let bomb = robots("robots-bomb");
    assert!(
        50 * bomb.body.len() < 64_000 * "Allow:/\n".len(),
        "{}",
        bomb.body.len()
    );
    let huge = robots("robots-huge");
    assert_eq!((huge.status, huge.body.len()), (200, 2_000_000));
    assert!(
        huge.text()
            .starts_with("User-agent: *\nDisallow: /private/\n")
    );
}

#[test]
fn the_calendar_has_no_end() {
    let web = web("calendar-trap");
    let month_of = |path: &str| {
        let page = format!("http://host0.test{path}");
        let body = get(&web, "host0.test", path).body;
        let mut found = links(&page, &body).into_iter().map(|link| link.url);
        found.find(|url| url.contains("/calendar/"))
    };
    assert_eq!(month_of("/").unwrap(), "http://host0.test/calendar/2026/1");
    let december = get(&web, "host0.test", "/calendar/9999/12");
    let months: Vec<_> = links("http://host0.test/", &december.body)
        .into_iter()
        .map(|link| link.url)
        .collect();
    assert_eq!(months[0], "http://host0.test/calendar/9999/11");
    assert_eq!(months[1], "http://host0.test/calendar/10000/1");
}

#[test]
fn every_visit_has_a_session_of_its_own() {
    let web = web("session-trap");
    let session = |path: &str| {
        let body = get(&web, "host0.test", path).body;
        let found = links("http://host0.test/", &body).into_iter();
        let found: BTreeSet<String> = found
            .filter_map(|link| Some(link.url.split_once("sid=")?.1.to_owned()))
            .collect();
        assert_eq!(found.len(), 1);
        found.into_iter().next().unwrap()
    };
    let first = session("/");
    let second = session(&format!("/?sid={first}"));
    assert_ne!(first, second);
}

#[test]
fn a_moving_name_is_at_many_addresses_and_answers_at_all() {
    let web = web("moving-address:20ms");
    let deadline = Instant::now() + crate::support::PATIENCE;
    let mut addresses = BTreeSet::new();
    while addresses.len() < 8 {
        assert!(Instant::now() < deadline, "only {addresses:?}");
        addresses.insert(resolve(&web, "host0.test"));
        assert_eq!(get(&web, "host0.test", "/").status, 200);
    }
    assert_eq!(addresses.first().unwrap().to_string(), "127.1.0.1");
    assert_eq!(addresses.last().unwrap().to_string(), "127.1.0.8");
}

#[test]
fn garbage_is_no_http() {
    let bytes = get_bytes(&web("garbage"), "host0.test", "/", "").unwrap();
    assert_eq!(bytes.len(), 1000);
    assert!(bytes.iter().all(|byte| !byte.is_ascii()));
}

#[test]
fn names_fail_or_dawdle() {
    let failing = web("dns-servfail");
    let error = block_on(resolver(&failing).lookup_ip("host0.test.")).unwrap_err();
    assert!(
        !error.is_no_records_found() && !error.is_nx_domain(),
        "{error}"
    );
    let unknown = block_on(resolver(&failing).lookup_ip("nobody.test.")).unwrap_err();
    assert!(unknown.is_nx_domain(), "{unknown}");
    let slow = web("dns-slow:200ms");
    let started = Instant::now();
    resolve(&slow, "host0.test");
    assert!(Duration::from_millis(200) <= started.elapsed());
}

#[test]
fn misbehaviours_go_together() {
    let web = web("slow-first-byte:100ms,truncated,session-trap");
    let started = Instant::now();
    let reply = get_with(&web, "host1.test", "/", "");
    assert!(Duration::from_millis(100) <= started.elapsed());
    let announced: usize = reply.header("content-length").unwrap().parse().unwrap();
    assert_eq!(reply.body.len(), announced / 2);
    assert!(String::from_utf8_lossy(&reply.body).contains("sid="));
}

#[test]
fn the_log_says_how_each_exchange_ended() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("access.jsonl");
    let rule = |text: &str| text.parse().unwrap();
    let web = TestWeb::start(TestWebConfig {
        hosts: 4,
        addresses: 4,
        pages: 4,
        misbehaviours: vec![
            rule("host1.test=truncated"),
            rule("host2.test=slow-body:1"),
            rule("host3.test=endless-body"),
        ],
        log: Some(log.clone()),
        ..TestWebConfig::default()
    })
    .unwrap();
    get(&web, "host0.test", "/");
    get_bytes(&web, "host1.test", "/", "").unwrap();
    drop(send(&web, "host3.test", "/", ""));
    // Still waiting when the web is stopped.
    let mut waiting = send(&web, "host2.test", "/", "");
    waiting.read_exact(&mut [0]).unwrap();
    let deadline = Instant::now() + crate::support::PATIENCE;
    while web.counters().requests < 3 {
        assert!(Instant::now() < deadline, "the departure was not noticed");
        std::thread::sleep(Duration::from_millis(5));
    }
    web.stop();
    let text = std::fs::read_to_string(log).unwrap();
    let mut exchanges: Vec<Exchange> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    exchanges.sort_by(|left, right| left.host.cmp(&right.host));
    let endings: Vec<_> = exchanges
        .iter()
        .map(|one| (one.status, one.ending))
        .collect();
    assert_eq!(
        endings[..2],
        [(200, Ending::Complete), (200, Ending::BrokenOff)]
    );
    assert_eq!(endings[2], (200, Ending::ClientGone));
    assert_eq!(endings[3].1, Ending::ClientGone);
    assert!(exchanges.iter().all(|one| one.start <= one.end));
    assert_eq!(exchanges[1].address.to_string(), "127.1.0.2");
}
