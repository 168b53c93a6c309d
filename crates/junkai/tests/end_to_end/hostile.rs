//! Hostile: every way in which a server can misbehave, in one crawl. It ends, in bounded memory, and reports each for
//! what it is.

use junkai_crawler::LogEvent;
use junkai_testweb::{MISBEHAVIOUR_NAMES, TestWebConfig};

use crate::support::{Running, Stage, peak_bytes, wait_until};

/// What the program may take at its peak, in the unoptimised build of the tests. What the web sends would fill it many times.
const PEAK_BYTES_MAX: u64 = 300_000_000;

/// Little patience, and nothing is tried twice: what is wrong shows at once. The web's own addresses are allowed by
/// name, so that loopback and private ones elsewhere are refused.
const STRICT: &str = r#"
[crawl]
retries_max = 0

[scope]
preset = "any"
depth_max = 3

[addresses]
allow = ["127.1.0.0/16"]

[politeness]
interval = "0s"
backoff_first = "200ms"
abort_slack = "0s"

[fetch]
first_byte_timeout = "2s"
total_timeout = "6s"
min_rate = 2000
min_rate_window = "2s"
max_header_bytes = "16KiB"
max_body_bytes = "512KiB"
max_decoded_bytes = "2MiB"
"#;

/// What a host does, and what has to be reported of its home page: the status, and words of the result or annotations.
const CASES: [(&str, i32, &str); 27] = [
    ("slow-first-byte:1m", -4, "no answer within the time limit"),
    ("slow-body:100", 200, "timeTrunc; came in too slowly"),
    ("reset", -3, "connection"),
    ("reset:1000", 200, "midFetchTrunc; connection ended"),
    ("truncated", 200, "midFetchTrunc; connection ended"),
    ("wrong-length:+100", 200, "midFetchTrunc; connection ended"),
    ("wrong-length:-100", 200, ""),
    (
        "endless-body",
        200,
        "lenTrunc; body of the answer is too long",
    ),
    ("endless-headers", -5, "head of the answer is too long"),
    ("gzip-bomb:400", 200, "contentCoding; is longer than"),
    ("redirect-loop:3", 302, ""),
    ("redirect-private", 302, ""),
    ("429:1s", 429, "asked for rest"),
    ("503:1s:date", 503, "given up"),
    ("robots-status:503", -61, "robots.txt cannot be had"),
    ("robots-status:403", 200, ""),
    ("robots-html", 200, ""),
    ("robots-huge:2000000", 200, ""),
    ("robots-bomb:64000", 200, ""),
    ("retry-after:1s", 200, ""),
    ("calendar-trap", 200, ""),
    ("session-trap", 200, ""),
    ("moving-address:300ms", 200, ""),
    ("garbage", -5, "not a usable HTTP answer"),
    ("dns-slow:1s", 200, ""),
    ("dns-servfail", -1, ""),
    ("robots-redirect:host0.test", 200, ""),
];

#[test]
fn every_misbehaviour_is_survived_and_reported_for_what_it_is() {
    let stage = Stage::new(web(), STRICT);
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    let more: Vec<String> = stage.web.pages_of(&host("redirect-private")).collect();
    crawl.args(more).args(["--for", "2m", "--quiet"]);
    let mut running = Running::start(crawl);
    let mut peak = 0;
    wait_until("the crawl ends", || {
        peak = peak_bytes(running.id()).unwrap_or(peak);
        !running.is_running()
    });
    let finished = running.wait().expect(0);
    assert!(
        finished.out.contains("The crawl is complete"),
        "{}",
        finished.all()
    );
    assert!(!finished.err.contains("panicked"), "{}", finished.all());
    println!("peak {} MB", peak / 1_000_000);
    assert!(peak < PEAK_BYTES_MAX, "{peak} bytes");

    let events = stage.events();
    let wrong: Vec<String> = CASES
        .into_iter()
        .filter_map(|(misbehaviour, status, words)| {
            let home = stage.url(&host(misbehaviour), "/");
            report_problem(&events, &home, status, words)
                .map(|problem| format!("{misbehaviour}: {problem}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_traps_are_bounded(&events);
    assert_private_addresses_are_refused(&events);
    assert_rules_are_kept(&stage);
}

#[test]
fn no_misbehaviour_is_left_out() {
    for name in MISBEHAVIOUR_NAMES.split(", ") {
        let name = name.split([':', '[']).next().unwrap();
        let is_told = CASES.iter().any(|(case, ..)| case.starts_with(name));
        assert!(is_told, "{name}");
    }
}

/// A host for each misbehaviour, at an address of its own.
fn web() -> TestWebConfig {
    let rules = CASES
        .iter()
        .map(|(misbehaviour, ..)| format!("{}={misbehaviour}", host(misbehaviour)));
    TestWebConfig {
        hosts: CASES.len(),
        // A name that moves takes the seven addresses that follow.
        addresses: 40,
        pages: 4 * CASES.len() as u64,
        size_exponent: 0.0,
        links_per_page: 6,
        page_bytes: 20_000,
        seeds: CASES.len(),
        gzip_percent: 0,
        chunked_percent: 0,
        misbehaviours: rules.map(|rule| rule.parse().unwrap()).collect(),
        ..TestWebConfig::default()
    }
}

fn host(misbehaviour: &str) -> String {
    let place = CASES.iter().position(|(case, ..)| *case == misbehaviour);
    format!("host{}.test", place.unwrap())
}

/// What is wrong with the report of a page that should have this status and all these words.
fn report_problem(events: &[LogEvent<'_>], url: &str, status: i32, words: &str) -> Option<String> {
    let reports: Vec<(i32, String)> = events
        .iter()
        .filter(|event| event.url == url)
        .map(|event| {
            let said = format!("{} {}", event.annotations.join(" "), event.result);
            (event.status, said)
        })
        .collect();
    let is_right = match &reports[..] {
        [(found, said)] => *found == status && words.split("; ").all(|words| said.contains(words)),
        _ => false,
    };
    (!is_right).then(|| format!("{status} {words:?} expected, found {reports:?}"))
}

/// The depth bounds what a trap costs.
fn assert_traps_are_bounded(events: &[LogEvent<'_>]) {
    for (trap, visits_max) in [("calendar-trap", 100), ("session-trap", 5000)] {
        let at_host = format!("http://{}:", host(trap));
        let visits = events
            .iter()
            .filter(|event| event.url.starts_with(&at_host));
        let visits = visits.count();
        println!("{trap}: {visits} visits");
        assert!(6 < visits, "{trap}: the crawl stepped into it");
        assert!(visits < visits_max, "{trap}: {visits} visits");
    }
}

/// A redirect to loopback, a private network or a metadata service is not followed.
fn assert_private_addresses_are_refused(events: &[LogEvent<'_>]) {
    let from = format!("http://{}:", host("redirect-private"));
    let targets: Vec<&LogEvent<'_>> = events
        .iter()
        .filter(|event| event.via.starts_with(&from) && event.hops.ends_with('R'))
        .collect();
    assert!(
        !targets.is_empty(),
        "there are redirects to private addresses"
    );
    for target in targets {
        assert!(target.status < 0, "{target:#?}");
        assert!(target.result.contains("is refused"), "{target:#?}");
        let is_metadata = target.result.contains("cloud metadata");
        let is_told = target.result.contains("--allow-private does not");
        assert!(is_told || !is_metadata, "{target:#?}");
        assert!(target.warc.is_none(), "{target:#?}");
    }
}

/// What robots.txt disallows is not fetched, however long the file is; where there is no such file, it is.
fn assert_rules_are_kept(stage: &Stage) {
    let without_rules = ["robots-status:403", "robots-html", "robots-bomb:64000"].map(host);
    for seen in stage.exchanges() {
        let is_private = seen.url.contains("/private/");
        assert!(
            !is_private || without_rules.contains(&seen.host),
            "{seen:?}"
        );
    }
}
