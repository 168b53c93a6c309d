//! What the answer to a robots.txt request means, now and over time.

use std::time::{Duration, SystemTime};

use junkai_fetch::robots::{RobotsAnswer, RobotsState, Verdict};
use junkai_fetch::{Exchange, FetchConfig};
use url::Url;

use crate::server::{Step, fetch_from};

const DAY: Duration = Duration::from_hours(24);

fn answer_to(response: &str) -> RobotsAnswer {
    let url = Url::parse("https://example.org/robots.txt").unwrap();
    let exchange = Exchange::from_response(response.as_bytes());
    RobotsAnswer::of(&url, &exchange, "junkai", exchange.started)
}

fn file(text: &str) -> RobotsAnswer {
    let length = text.len();
    answer_to(&format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{text}"
    ))
}

fn unreachable() -> RobotsAnswer {
    RobotsAnswer::unreachable()
}

fn is_allowed(state: &RobotsState, path: &str, now: SystemTime) -> Option<bool> {
    match state.decide(path, now) {
        Verdict::Decided(decision) => Some(decision.allow()),
        Verdict::AskFirst | Verdict::Wait { .. } => None,
    }
}

#[test]
fn status_codes_mean_what_the_standard_says() {
    for status in [
        "400 Bad",
        "401 No",
        "403 No",
        "404 Not Found",
        "410 Gone",
        "451 No",
    ] {
        let answer = answer_to(&format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n"));
        assert_eq!(answer, RobotsAnswer::Absent, "{status}");
    }
    for status in [
        "500 No", "502 No", "503 No", "599 No", "999 No", "101 No", "429 Slow",
    ] {
        let answer = answer_to(&format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n"));
        assert_eq!(answer, unreachable(), "{status}");
    }
    let answer = answer_to("HTTP/1.1 429 Slow\r\nRetry-After: 90\r\nContent-Length: 0\r\n\r\n");
    let retry_after = Some(Duration::from_secs(90));
    assert_eq!(answer, RobotsAnswer::Unreachable { retry_after });
    assert!(matches!(
        file("User-agent: *\nDisallow: /"),
        RobotsAnswer::Rules { .. }
    ));
    assert!(matches!(
        answer_to("HTTP/1.1 204 None\r\n\r\n"),
        RobotsAnswer::Rules { .. }
    ));
}

#[test]
fn redirects_lead_to_the_web_or_nowhere() {
    let redirect = |location: &str| {
        answer_to(&format!(
            "HTTP/1.1 301 Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
        ))
    };
    for (location, target) in [
        ("/other.txt", "https://example.org/other.txt"),
        (
            "http://www.example.org/robots.txt",
            "http://www.example.org/robots.txt",
        ),
        ("//cdn.example/robots.txt", "https://cdn.example/robots.txt"),
    ] {
        assert_eq!(
            redirect(location),
            RobotsAnswer::Redirect(Url::parse(target).unwrap())
        );
    }
    for nowhere in ["ftp://example.org/", "http://", "file:///etc/passwd"] {
        assert_eq!(redirect(nowhere), RobotsAnswer::Absent, "{nowhere}");
    }
    assert_eq!(
        answer_to("HTTP/1.1 302 Moved\r\nContent-Length: 0\r\n\r\n"),
        RobotsAnswer::Absent
    );
}

#[test]
fn half_a_file_is_no_file() {
    let half = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nUser-agent: *\nAllow: /\n";
    assert_eq!(answer_to(half), unreachable());
    let half_gzip = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\u{1f}";
    assert_eq!(answer_to(half_gzip), unreachable());
    assert_eq!(answer_to("nonsense"), unreachable());
    assert_eq!(answer_to(""), unreachable());
}

#[tokio::test]
async fn a_file_that_is_too_long_counts_as_far_as_it_was_read() {
    let config = FetchConfig {
        max_body_bytes: bytesize::ByteSize::mib(1),
        ..FetchConfig::default()
    };
    let start = Step::Send(b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /x\n".to_vec());
    let flood = Step::Flood(b"Disallow: /yyyyyyyyyyyyyyyyyyyyyyyyyyyy\n");
    let exchange = fetch_from(vec![start, flood], &config).await;
    let url = Url::parse("http://a.example/robots.txt").unwrap();
    let mut state = RobotsState::default();
    let now = SystemTime::now();
    state.note(RobotsAnswer::of(&url, &exchange, "junkai", now), now);
    assert_eq!(is_allowed(&state, "/x", now), Some(false));
    assert_eq!(is_allowed(&state, "/z", now), Some(true));
}

#[test]
fn nothing_is_decided_before_the_file_was_asked_for() {
    let now = SystemTime::now();
    let mut state = RobotsState::default();
    assert_eq!(state.decide("/", now), Verdict::AskFirst);
    state.note(file("User-agent: *\nDisallow: /x\nCrawl-delay: 600"), now);
    assert_eq!(is_allowed(&state, "/x", now), Some(false));
    assert_eq!(is_allowed(&state, "/y", now), Some(true));
    assert_eq!(state.crawl_delay(), Some(Duration::from_mins(10)));
    assert_eq!(
        state.decide("/y", now + DAY),
        Verdict::AskFirst,
        "rules live for a day"
    );
}

#[test]
fn the_life_of_a_file_is_bounded() {
    let life = |cache_control: &str| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nCache-Control: {cache_control}\r\nContent-Length: 0\r\n\r\n"
        );
        match answer_to(&head) {
            RobotsAnswer::Rules { life, .. } => life.as_secs() / 3600,
            other => panic!("{other:?}"),
        }
    };
    let table = [
        ("max-age=7200", 2),
        ("public, Max-Age=\"7200\"", 2),
        ("max-age=0", 1),
        ("max-age=99999999999", 24),
        ("no-store", 24),
        ("max-age=x", 24),
    ];
    for (cache_control, hours) in table {
        assert_eq!(life(cache_control), hours, "{cache_control}");
    }
}

#[test]
fn an_unreachable_file_forbids_everything_and_is_asked_for_ever_less_often() {
    let mut now = SystemTime::now();
    let start = now;
    let mut state = RobotsState::default();
    let mut pauses = Vec::new();
    while now < start + 29 * DAY {
        assert_eq!(state.decide("/", now), Verdict::AskFirst);
        state.note(unreachable(), now);
        let Verdict::Wait { until } = state.decide("/", now) else {
            panic!("{:?}", state.decide("/", now));
        };
        pauses.push(until.duration_since(now).unwrap());
        now = until;
    }
    assert_eq!(pauses[..3], [1, 2, 4].map(Duration::from_mins));
    assert!(pauses.is_sorted() && pauses.last() <= Some(&Duration::from_hours(12)));
    // RFC 9309, section 2.3.1.4: after 30 days the file may be taken for absent.
    state.note(unreachable(), start + 31 * DAY);
    assert_eq!(is_allowed(&state, "/", start + 31 * DAY), Some(true));
}

#[test]
fn the_last_rules_stay_in_force_while_the_file_is_unreachable() {
    let now = SystemTime::now();
    let mut state = RobotsState::default();
    state.note(file("User-agent: *\nDisallow: /x"), now);
    for day in 1..60 {
        let now = now + DAY * day;
        assert!(state.is_due(now));
        state.note(unreachable(), now);
        assert_eq!(is_allowed(&state, "/x", now), Some(false), "day {day}");
        assert_eq!(is_allowed(&state, "/y", now), Some(true), "day {day}");
    }
    state.note(RobotsAnswer::Absent, now + DAY * 60);
    assert_eq!(is_allowed(&state, "/x", now + DAY * 60), Some(true));
}

#[test]
fn a_server_that_names_a_time_is_not_asked_before_it() {
    let now = SystemTime::now();
    let mut state = RobotsState::default();
    let retry_after = Some(Duration::from_hours(2));
    state.note(RobotsAnswer::Unreachable { retry_after }, now);
    let until = now + Duration::from_hours(2);
    assert_eq!(state.decide("/", now), Verdict::Wait { until });
}

#[test]
fn five_redirects_are_followed_and_a_loop_is_not() {
    let now = SystemTime::now();
    let mut state = RobotsState::default();
    let target = Url::parse("https://example.org/robots.txt").unwrap();
    for _ in 0..5 {
        let next = state.note(RobotsAnswer::Redirect(target.clone()), now);
        assert_eq!(next, Some(target.clone()));
        assert_eq!(state.decide("/", now), Verdict::AskFirst);
    }
    assert_eq!(
        state.note(RobotsAnswer::Redirect(target.clone()), now),
        None
    );
    assert_eq!(is_allowed(&state, "/", now), Some(true));
    // The next day there are five again.
    assert!(
        state
            .note(RobotsAnswer::Redirect(target), now + DAY)
            .is_some()
    );
}

#[test]
fn the_state_survives_being_stored() {
    let now = SystemTime::UNIX_EPOCH + DAY * 20_000;
    let mut state = RobotsState::default();
    state.note(file("User-agent: *\nDisallow: /x"), now);
    state.note(unreachable(), now + DAY);
    let stored = serde_json::to_vec(&state).unwrap();
    assert_eq!(
        serde_json::from_slice::<RobotsState>(&stored).unwrap(),
        state
    );
}
