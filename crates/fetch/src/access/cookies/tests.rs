use std::time::Duration;

use proptest::prelude::*;

use super::*;

const PRIVATE: Way = Way { is_private: true };
const OPEN: Way = Way { is_private: false };

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn sent(jar: &mut CookieJar, text: &str) -> String {
    let way = if text.starts_with("https:") {
        PRIVATE
    } else {
        OPEN
    };
    let field = jar.field_for(&url(text), way, now());
    field.map(|field| field.sent.0).unwrap_or_default()
}

fn set(jar: &mut CookieJar, from: &str, field: &str) {
    let way = if from.starts_with("https:") {
        PRIVATE
    } else {
        OPEN
    };
    jar.take(field.as_bytes(), &url(from), way, now());
}

/// Sets each cookie from `https://www.a.example/x/y`, and looks whether it is sent to a page.
fn check(cases: &[(&str, &str, bool)]) {
    for (field, there, is_sent) in cases {
        let mut jar = CookieJar::default();
        set(&mut jar, "https://www.a.example/x/y", field);
        assert_eq!(
            !sent(&mut jar, there).is_empty(),
            *is_sent,
            "{field} to {there}"
        );
    }
}

#[test]
fn a_cookie_goes_to_the_hosts_and_paths_that_it_is_for() {
    check(&[
        ("n=v", "https://www.a.example/x/z", true),
        ("n=v", "https://www.a.example/x", true),
        ("n=v", "https://www.a.example/", false),
        ("n=v; Path=/", "https://www.a.example/", true),
        ("n=v; Path=/", "https://a.example/", false),
        ("n=v; Path=/", "https://b.www.a.example/", false),
        ("n=v; Path=/; Domain=a.example", "https://a.example/", true),
        (
            "n=v; Path=/; Domain=.A.EXAMPLE",
            "https://b.a.example/",
            true,
        ),
        (
            "n=v; Path=/; Domain=a.example",
            "https://bada.example/",
            false,
        ),
        (
            "n=v; Path=/; Domain=www.a.example",
            "https://b.www.a.example/",
            true,
        ),
        (
            "n=v; Path=/; Domain=b.example",
            "https://www.a.example/",
            false,
        ),
        (
            "n=v; Path=/; Domain=b.www.a.example",
            "https://b.www.a.example/",
            false,
        ),
        (
            "n=v; Path=/; Domain=example",
            "https://www.a.example/",
            false,
        ),
        ("n=v; Path=/; Domain=", "https://www.a.example/", true),
        ("n=v; Path=/a", "https://www.a.example/ab", false),
        ("n=v; Path=/a", "https://www.a.example/a/b", true),
        ("", "https://www.a.example/x/y", false),
        ("=", "https://www.a.example/x/y", false),
        ("n=\u{1}v; Path=/", "https://www.a.example/", false),
    ]);
}

#[test]
fn a_cookie_ends_when_the_server_says_so() {
    let there = "https://www.a.example/";
    check(&[
        ("n=v; Path=/; Max-Age=0", there, false),
        ("n=v; Path=/; Max-Age=-1", there, false),
        ("n=v; Path=/; Max-Age=60", there, true),
        ("n=v; Path=/; Max-Age=99999999999999999999", there, true),
        (
            "n=v; Path=/; Expires=Sun, 06 Nov 1994 08:49:37 GMT",
            there,
            false,
        ),
        (
            "n=v; Path=/; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Max-Age=60",
            there,
            true,
        ),
        ("n=v; Path=/; Expires=soon", there, true),
    ]);
}

#[test]
fn a_cookie_that_is_marked_goes_over_private_ways_alone() {
    check(&[
        ("n=v; Path=/", "http://www.a.example/", true),
        ("n=v; Path=/; Secure", "http://www.a.example/", false),
        ("n=v; Path=/; Secure", "https://www.a.example/", true),
        ("__Host-n=v; Path=/; Secure", "https://www.a.example/", true),
        (
            "__Host-n=v; Path=/x; Secure",
            "https://www.a.example/x",
            false,
        ),
        (
            "__Host-n=v; Path=/; Secure; Domain=a.example",
            "https://www.a.example/",
            false,
        ),
        ("__secure-n=v; Path=/", "https://www.a.example/", false),
    ]);
    let mut jar = CookieJar::default();
    set(&mut jar, "http://www.a.example/", "n=v; Path=/; Secure");
    let there = "https://www.a.example/";
    assert_eq!(sent(&mut jar, there), "", "set where anybody could");
}

#[test]
fn nobody_sets_cookies_for_a_public_suffix() {
    for (from, domain, there) in [
        ("https://a.co.uk/", "co.uk", "https://b.co.uk/"),
        ("https://a.github.io/", "github.io", "https://b.github.io/"),
        ("https://a.example.com/", "com", "https://b.com/"),
        ("https://github.io/", "github.io", "https://b.github.io/"),
        ("http://127.0.0.1/", "0.0.1", "http://9.0.0.1/"),
    ] {
        let mut jar = CookieJar::default();
        set(&mut jar, from, &format!("n=v; Domain={domain}"));
        assert_eq!(sent(&mut jar, there), "", "{from} for {domain}");
    }
    let mut jar = CookieJar::default();
    set(&mut jar, "https://github.io/", "n=v; Domain=github.io");
    assert_eq!(sent(&mut jar, "https://github.io/"), "n=v", "of itself");
    set(&mut jar, "http://127.0.0.1/", "n=v; Domain=127.0.0.1");
    assert_eq!(sent(&mut jar, "http://127.0.0.1/"), "n=v");
}

#[test]
fn longer_paths_come_first_and_a_new_value_replaces_the_old() {
    let mut jar = CookieJar::default();
    set(&mut jar, "https://a.example/", "a=1");
    set(&mut jar, "https://a.example/", "b=2");
    set(&mut jar, "https://a.example/x/y", "c=3");
    set(&mut jar, "https://a.example/", "a=4");
    assert_eq!(sent(&mut jar, "https://a.example/x/z"), "c=3; a=4; b=2");
    set(&mut jar, "https://a.example/", "b=; Max-Age=0");
    assert_eq!(sent(&mut jar, "https://a.example/"), "a=4");
    assert_eq!(jar.count, 2);
}

/// The cookies of a file with these lines, or what is wrong with it.
fn of_file(lines: &str) -> Result<CookieJar, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cookies.txt");
    std::fs::write(&path, lines).unwrap();
    CookieJar::load(&path, now())
}

#[test]
fn a_file_of_a_browser_is_read() {
    let mut jar = of_file(
        "# Netscape HTTP Cookie File\n# https://curl.se/docs/http-cookies.html\n\n\
         .a.example\tTRUE\t/\tFALSE\t0\tall\t1\n\
         a.example\tFALSE\t/\tFALSE\t1800000000\tone\t2\r\n\
         #HttpOnly_a.example\tFALSE\t/x\tTRUE\t1800000000.5\tsecure\t3\n\
         a.example\tFALSE\t/\tFALSE\t1600000000\tover\t4\n\
         a.example\tFALSE\t/\tFALSE\t0\tempty\n\
         127.0.0.1\tTRUE\t/\tFALSE\t0\there\tf1ve\n",
    )
    .unwrap();
    assert_eq!(
        sent(&mut jar, "https://a.example/x/"),
        "secure=3; all=1; one=2; empty="
    );
    assert_eq!(
        sent(&mut jar, "http://a.example/x/"),
        "all=1; one=2; empty="
    );
    assert_eq!(sent(&mut jar, "http://b.a.example/"), "all=1");
    assert_eq!(sent(&mut jar, "http://127.0.0.1/"), "here=f1ve");
    assert!(!format!("{jar:?}").contains("f1ve"), "{jar:?}");
}

#[test]
fn a_mistake_in_a_file_is_named_by_its_line_and_shows_no_secret() {
    for lines in [
        "a.example FALSE / FALSE 0 session s3cret",
        "a.example\tmaybe\t/\tFALSE\t0\tsession\ts3cret",
        "a.example\tFALSE\t/\tFALSE\tsoon\tsession\ts3cret",
        "a.example\tFALSE\t/\tFALSE\t0\tsession\ts3cret; x",
        "[{\"name\": \"s3cret\"}]",
    ] {
        let said = of_file(&format!("# cookies\n{lines}\n")).unwrap_err();
        assert!(
            said.contains("line 2: ") && !said.contains("s3cret"),
            "{said}"
        );
    }
    assert!(of_file("# nothing\n").unwrap_err().contains("Netscape"));
}

#[test]
fn cookies_of_the_file_are_not_shown_and_those_of_servers_are() {
    let mut jar = of_file("a.example\tFALSE\t/\tFALSE\t0\tmine\ts3cret\n").unwrap();
    set(&mut jar, "https://a.example/", "theirs=1");
    let field = jar
        .field_for(&url("https://a.example/"), PRIVATE, now())
        .unwrap();
    assert_eq!(field.sent.0, "mine=s3cret; theirs=1");
    assert_eq!(field.shown.as_deref(), Some("mine=redacted; theirs=1"));
    assert!(!format!("{field:?}").contains("s3cret"));
    let mut public = CookieJar::default();
    set(&mut public, "https://a.example/", "theirs=1");
    let field = public
        .field_for(&url("https://a.example/"), PRIVATE, now())
        .unwrap();
    assert_eq!(field.shown, None);
}

#[test]
fn what_servers_set_is_bounded_and_the_file_stays() {
    let mut jar = of_file("a.example\tTRUE\t/\tFALSE\t0\tmine\ts3cret\n").unwrap();
    for number in 0..200 {
        set(&mut jar, "https://a.example/", &format!("n{number}=v"));
    }
    assert_eq!(jar.count, DOMAIN_COOKIES_MAX);
    let field = sent(&mut jar, "https://a.example/");
    assert!(
        field.starts_with("mine=s3cret; ") && field.contains("n199=v"),
        "{field}"
    );
    assert!(!field.contains("n0=v"));
    for number in 0..COOKIES_MAX + 100 {
        set(&mut jar, &format!("https://h{number}.example/"), "n=v");
    }
    assert_eq!(jar.count, COOKIES_MAX);
    let long = "v".repeat(COOKIE_BYTES_MAX - 1);
    for number in 0..COOKIES_MAX {
        set(
            &mut jar,
            &format!("https://h{number}.example/"),
            &format!("m={long}"),
        );
        assert!(jar.bytes <= BYTES_MAX);
    }
    let longer = format!("m={long}v");
    set(&mut jar, "https://long.example/", &longer);
    assert_eq!(sent(&mut jar, "https://long.example/"), "");
    for name in 0..20 {
        set(
            &mut jar,
            "https://many.example/",
            &format!("{name}={}", &long[..4000]),
        );
    }
    assert!(sent(&mut jar, "https://many.example/").len() <= FIELD_BYTES_MAX);
    assert!(sent(&mut jar, "https://a.example/").contains("mine=s3cret"));
}

#[test]
fn domains_whose_cookies_are_over_are_forgotten() {
    let mut jar = CookieJar::default();
    set(&mut jar, "https://stays.a.example/", "n=v");
    for number in 0..2 * COOKIES_MAX {
        let host = format!("https://h{number}.a.example/");
        set(&mut jar, &host, "n=v");
        set(&mut jar, &host, "n=; Max-Age=0");
        set(&mut jar, &host, "never-set=; Max-Age=0");
    }
    assert_eq!((jar.domains.len(), jar.count), (1, 1));
}

proptest! {
    #[test]
    fn whatever_servers_send_the_books_are_right(
        fields in prop::collection::vec(
            ("[a-c]=?[a-b]{0,2}(; ?(Path=/[a-b]?|Domain=[.a-b]{0,3}example|Max-Age=-?[0-9]|Secure|Expires=.{0,9}))*", 0_usize..3),
            0..60,
        )
    ) {
        let mut jar = CookieJar::default();
        let hosts = ["https://a.example/", "http://b.a.example/a/b", "https://b.example/"];
        for (field, host) in &fields {
            set(&mut jar, hosts[*host], field);
        }
        let all: Vec<&Cookie> = jar.domains.values().flatten().collect();
        prop_assert_eq!(all.len(), jar.count);
        prop_assert!(!jar.domains.values().any(Vec::is_empty));
        prop_assert_eq!(all.iter().map(|cookie| cookie.bytes()).sum::<usize>(), jar.bytes);
        for host in hosts {
            sent(&mut jar, host);
        }
    }
}
