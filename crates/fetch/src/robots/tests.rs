use super::*;

const OURS: &str = "junkai";

fn check(file: &str, path: &str, allow: bool) {
    let robots = Robots::parse(file.as_bytes(), OURS);
    assert_eq!(robots.decide(path).allow(), allow, "{path} by {file:?}");
}

#[test]
fn the_example_of_the_standard() {
    // RFC 9309, section 5.1.
    let file = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n\
        User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n\
        User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\n\
        User-Agent: quxbot\n";
    let allows =
        |token: &str, path: &str| Robots::parse(file.as_bytes(), token).decide(path).allow();
    assert!(!allows("other", "/a.gif"));
    assert!(!allows("other", "/example/x"));
    assert!(allows("other", "/publications/x"));
    assert!(allows("foobot", "/example/page.html"));
    assert!(allows("foobot", "/example/allowed.gif"));
    assert!(!allows("foobot", "/other"));
    assert!(!allows("barbot", "/example/page.html"));
    assert!(!allows("bazbot", "/example/page.html"));
    assert!(allows("bazbot", "/a.gif"));
    assert!(allows("quxbot", "/example/x"), "an empty group is a group");
}

#[test]
fn the_longest_match_decides_and_allow_wins_ties() {
    let table = [
        // A path between two rules is judged by its own match, not by its neighbour.
        ("Disallow: /a\nDisallow: /a/b", "/a/c", false),
        ("Disallow: /a/b", "/a/c", true),
        ("Disallow: /x\nAllow: /x/y", "/x/y/z", true),
        ("Allow: /x/y\nDisallow: /x", "/x/z", false),
        ("Allow: /page\nDisallow: /*.htm", "/page.htm", false),
        ("Allow: /page\nDisallow: /*.ph", "/page.php5", true),
        ("Disallow: /folder\nAllow: /folder", "/folder/page", true),
        ("Allow: /$\nDisallow: /", "/", true),
        ("Allow: /$\nDisallow: /", "/page.htm", false),
        ("Disallow:\n", "/anything", true),
        ("Disallow: /\nAllow:\n", "/anything", false),
        ("Disallow: foo\n", "/foo", true),
        ("Disallow: *\n", "/foo", false),
        ("Disallow: /\n", "/robots.txt", true),
        ("Disallow: /\n", "/robots.txt?x", true),
        ("Disallow: /\n", "/robots.txtx", false),
        ("Disallow: /\n", "", false),
        ("Disallow: /a#b\n", "/a", false),
        ("Disallow: /a\n", "/b#/a", true),
        ("Disallow: /A\n", "/a", true),
    ];
    for (rules, path, allow) in table {
        check(&format!("User-agent: *\n{rules}"), path, allow);
    }
}

#[test]
fn the_group_of_the_most_specific_token_is_used() {
    let table = [
        (
            "User-agent: *\nDisallow: /\nUser-agent: junkai\nDisallow:",
            true,
        ),
        ("User-agent: JUNKAI\nDisallow: /", false),
        ("User-agent: junkai/1.2\nDisallow: /", false),
        ("User-agent: junkai extra\nDisallow: /", false),
        ("User-agent: junkaibot\nDisallow: /", true),
        ("User-agent: junk\nDisallow: /", true),
        ("User-agent: my-junkai\nDisallow: /", true),
        ("User-agent: * baz\nDisallow: /", false),
        ("User-agent: *baz\nDisallow: /", true),
        ("Disallow: /\nUser-agent: *\n", true),
        ("User-agent: other\nUser-agent: junkai\nDisallow: /", false),
        (
            "User-agent: other\n\nUser-agent: junkai\n\nDisallow: /",
            false,
        ),
        (
            "User-agent: other\nCrawl-delay: 3\nUser-agent: junkai\nDisallow: /",
            false,
        ),
        (
            "User-agent: junkai\nSitemap: http://x/\nUser-agent: other\nDisallow: /",
            false,
        ),
        (
            "User-agent: junkai\nDisallow: /y\nUser-agent: other\nDisallow: /x",
            true,
        ),
        (
            "User-agent: junkai\nDisallow: /y\nUser-agent: other\nDisallow: /\nUser-agent: junkai\nDisallow: /x",
            false,
        ),
        ("User-agent: junkai\nfoo: bar\nDisallow: /", false),
        ("useragent: *\ndisalow: /", false),
    ];
    for (file, allow) in table {
        check(file, "/x", allow);
    }
}

#[test]
fn files_are_read_as_they_come() {
    let table = [
        ("\u{feff}User-agent: *\nDisallow: /x", false),
        ("User-agent: *\rDisallow: /x\r", false),
        ("User-agent: *\r\nDisallow: /x\r\n", false),
        ("  User-agent  :  *  \n\tDisallow\t:\t/x\t# why", false),
        ("# User-agent: *\nUser-agent: *#\nDisallow: /x", false),
        ("User-agent: *\nDisallow /x", false),
        (
            "<!DOCTYPE html>\n<html><body><p>User-agent: *<br>\nDisallow: /x</p></body></html>",
            true,
        ),
        ("", true),
        ("\0\0\u{fffd}\n:::\n", true),
    ];
    for (file, allow) in table {
        check(file, "/x", allow);
    }
}

#[test]
fn the_deciding_line_is_named() {
    let robots = Robots::parse(
        b"# hello\r\n\r\nUser-agent: *\r\nDisallow: /x # no\r\n",
        OURS,
    );
    let decision = robots.decide("/x/y");
    assert!(!decision.allow());
    assert_eq!(decision.because.to_string(), "line 4: Disallow: /x");
    assert_eq!(robots.decide("/y").because, Because::NoRule);
}

#[test]
fn crawl_delays_of_any_length_are_kept() {
    let delay = |file: &str| Robots::parse(file.as_bytes(), OURS).crawl_delay();
    let seconds = |seconds| Some(Duration::from_secs_f64(seconds));
    assert_eq!(delay("User-agent: *\nCrawl-delay: 600"), seconds(600.0));
    assert_eq!(
        delay("User-agent: *\nCrawl-delay: 0.5\nDisallow: /x"),
        seconds(0.5)
    );
    assert_eq!(
        delay("User-agent: *\nDisallow: /x\nCrawl-Delay: 86400"),
        seconds(86400.0)
    );
    assert_eq!(
        delay("User-agent: *\nCrawl-delay: 1e300"),
        Some(CRAWL_DELAY_MAX)
    );
    for nonsense in ["-1", "NaN", "", "soon", "1,5", "5 s"] {
        assert_eq!(
            delay(&format!("User-agent: *\nCrawl-delay: {nonsense}")),
            None,
            "{nonsense}"
        );
    }
    assert_eq!(
        delay("User-agent: *\nCrawl-delay: 9\nUser-agent: junkai\nDisallow: /x"),
        None
    );
    assert_eq!(
        delay("User-agent: junkai\nCrawl-delay: 3\n\nUser-agent: junkai\nCrawl-delay: 7"),
        seconds(7.0)
    );
    assert_eq!(delay("Crawl-delay: 9\nUser-agent: *\nDisallow:"), None);
    assert_eq!(
        delay("User-agent: a\nCrawl-delay: 9\nUser-agent: junkai\nDisallow: /x"),
        None,
        "the pause is for those named before it"
    );
}

#[test]
fn sitemaps_are_everybodys() {
    let file = "Sitemap: https://example.org/a.xml\nUser-agent: x\nDisallow: /\nsitemap: /b.xml\nSitemap:\n";
    let robots = Robots::parse(file.as_bytes(), OURS);
    assert_eq!(robots.sitemaps(), ["https://example.org/a.xml", "/b.xml"]);
    let flood = "Sitemap: /x\n".repeat(5000);
    assert_eq!(Robots::parse(flood.as_bytes(), OURS).sitemaps().len(), 1000);
}

#[test]
fn five_hundred_kibibytes_are_read_and_no_half_line() {
    let rule = "Disallow: /0123456789/01234567\n";
    let start = "User-agent: *\nDisallow: /early\n";
    let mut file = start.to_owned();
    while file.len() + rule.len() < ROBOTS_LENGTH_MAX {
        file.push_str(rule);
    }
    file.push_str("Disallow: /l");
    file.push_str(&"a".repeat(ROBOTS_LENGTH_MAX));
    file.push_str("\nDisallow: /late\n");
    let robots = Robots::parse(file.as_bytes(), OURS);
    assert!(!robots.decide("/early").allow());
    assert!(robots.decide("/late").allow());
    assert!(robots.decide("/laaa").allow());
}

#[test]
fn a_file_of_wildcard_bombs_is_decided_on_in_linear_time() {
    // 160 patterns of 1,500 stars each: a matcher that goes back does not return.
    let bomb = format!("Disallow: /{}b$\n", "*a".repeat(1500));
    let file = format!("User-agent: *\n{}", bomb.repeat(160));
    let path = format!("/{}", "a".repeat(8000));
    assert!(Robots::parse(file.as_bytes(), OURS).decide(&path).allow());
}

#[test]
fn rules_survive_being_stored() {
    let robots = Robots::parse(
        b"User-agent: *\nDisallow: /a*b?c=d:e$\nCrawl-delay: 2.5",
        OURS,
    );
    let stored = serde_json::to_string(&robots).unwrap();
    assert_eq!(serde_json::from_str::<Robots>(&stored).unwrap(), robots);
}
