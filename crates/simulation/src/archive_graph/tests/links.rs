//! Which links count.

use super::made::{Folder, Made, gzip, html, told};
use crate::archive_graph::{ArchiveGraphError, Options};

fn leads(record: Made, options: &Options) -> String {
    let graph = Folder::of(&[record]).graph_with(options).unwrap();
    let told = told(&graph).join("\n");
    told.split_once("->").unwrap().1.trim().to_owned()
}

fn page(body: &str) -> Made {
    Made::answer(
        "http://a.test/d/",
        1,
        "200 OK\r\nContent-Type: text/html",
        body.as_bytes(),
    )
}

#[test]
fn links_are_canonical_distinct_and_in_document_order() {
    let record = Made::page(
        "HTTP://A.test:80/d/?",
        1,
        &[
            "b",
            "HTTP://A.TEST/a",
            "/d/b#x",
            "mailto:a@b.test",
            "%7euser",
            "",
            "/d/",
            "http://[/",
        ],
    );
    assert_eq!(
        leads(record, &Options::default()),
        "http://a.test/d/b http://a.test/a http://a.test/d/~user http://a.test/d/"
    );
}

#[test]
fn links_that_ask_not_to_be_followed_count_only_if_so_configured() {
    let body = "<a href=1>1</a> <a rel=nofollow href=2>2</a>";
    let disobedient = Options {
        respect_nofollow: false,
        ..Options::default()
    };
    assert_eq!(leads(page(body), &Options::default()), "http://a.test/d/1");
    assert_eq!(
        leads(page(body), &disobedient),
        "http://a.test/d/1 http://a.test/d/2"
    );
    let tagged = |tag: &str| {
        let head = format!("200 OK\r\nContent-Type: text/html\r\nX-Robots-Tag: {tag}");
        Made::answer("http://a.test/d/", 1, &head, body.as_bytes())
    };
    assert_eq!(leads(tagged("nofollow"), &Options::default()), "");
    assert_eq!(
        leads(tagged("other: nofollow"), &Options::default()),
        "http://a.test/d/1"
    );
    assert_eq!(
        leads(tagged("nofollow"), &disobedient),
        "http://a.test/d/1 http://a.test/d/2"
    );
    let addressed = Options {
        robots_agent: "other".to_owned(),
        ..Options::default()
    };
    assert_eq!(leads(tagged("other: nofollow"), &addressed), "");
}

#[test]
fn page_requisites_count_only_if_so_configured() {
    let body = "<img src=i.png><a href=1>1</a>";
    let mut options = Options::default();
    assert_eq!(
        leads(page(body), &options),
        "http://a.test/d/i.png http://a.test/d/1"
    );
    options.links.requisites = false;
    assert_eq!(leads(page(body), &options), "http://a.test/d/1");
}

#[test]
fn style_sheets_and_heads_of_answers_lead_to_what_they_name() {
    let answer = |content_type: &str, body: &str| {
        let head = format!("200 OK\r\nContent-Type: {content_type}\r\nLink: <h>; rel=next");
        let made = Made::answer("http://a.test/d/", 1, &head, body.as_bytes());
        leads(made, &Options::default())
    };
    let of_sheet = "http://a.test/d/h http://a.test/d/s.css http://a.test/i.png";
    let sheet = "@import 's.css'; b { c: url(/i.png) }";
    assert_eq!(answer("text/css", sheet), of_sheet);
    assert_eq!(answer("application/pdf", "%PDF"), "http://a.test/d/h");
}

#[test]
fn a_redirect_is_a_link_unless_it_leads_to_itself() {
    let redirect = |status: &str, location: &str| {
        let head = format!("{status} Moved\r\nContent-Type: text/html\r\nLocation: {location}");
        Made::answer("http://a.test/d/", 1, &head, html(&["body"]).as_bytes())
    };
    let check = |status, location, expected| {
        let found = leads(redirect(status, location), &Options::default());
        assert_eq!(found, expected, "{status} {location}");
    };
    check("301", "../x", "http://a.test/x");
    check("308", "//b.test", "http://b.test/");
    check("302", "http://A.test/d/#x", "");
    check("302", "javascript:1", "");
    check("304", "/x", "");
    check("404", "/x", "");
    // A Location in any other answer is not followed.
    check("201", "/x", "http://a.test/d/body");
}

#[test]
fn a_page_in_the_place_of_a_file_is_a_page_whatever_its_success_is_called() {
    for status in ["200 OK", "203 Transformed", "206 Partial"] {
        let head = format!("{status}\r\nContent-Type: text/html");
        let record = Made::answer("http://a.test/x.csv", 1, &head, html(&["y"]).as_bytes());
        assert_eq!(leads(record, &Options::default()), "http://a.test/y");
    }
}

#[test]
fn sitemaps_and_feeds_count_only_if_so_configured() {
    let without = Options {
        sitemaps: false,
        ..Options::default()
    };
    let sitemap = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>http://a.test/1</loc></url></urlset>";
    let feed = "<rss version=\"2.0\"><channel><title>f</title><item><link>http://a.test/2</link></item></channel></rss>";
    let xml = |body: &str| {
        Made::answer(
            "http://a.test/s",
            1,
            "200 OK\r\nContent-Type: text/xml",
            body.as_bytes(),
        )
    };
    assert_eq!(leads(xml(sitemap), &Options::default()), "http://a.test/1");
    assert_eq!(leads(xml(feed), &Options::default()), "http://a.test/2");
    assert_eq!(leads(xml(sitemap), &without), "");
    assert_eq!(leads(xml(feed), &without), "");
    let page = page("<link rel=alternate type=application/rss+xml href=feed><a href=1>1</a>");
    assert_eq!(leads(page.clone(), &without), "http://a.test/d/1");
    assert_eq!(
        leads(page, &Options::default()),
        "http://a.test/d/feed http://a.test/d/1"
    );
}

#[test]
fn chunks_and_content_codings_are_undone() {
    let packed = gzip(html(&["x"]).as_bytes());
    let mut body = format!("{:x}\r\n", packed.len()).into_bytes();
    body.extend_from_slice(&packed);
    body.extend_from_slice(b"\r\n0\r\n\r\n");
    let head =
        "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked";
    let record = Made::answer("http://a.test/", 1, head, &body);
    assert_eq!(leads(record, &Options::default()), "http://a.test/x");
}

#[test]
fn a_page_is_read_as_far_as_a_crawl_would() {
    let options = Options {
        decoded_bytes_max: html(&["1", "2"]).len() - 5,
        ..Options::default()
    };
    let found = leads(Made::page("http://a.test/", 1, &["1", "2", "3"]), &options);
    assert!(
        found.starts_with("http://a.test/1 ") && !found.contains("/3"),
        "{found}"
    );
}

#[test]
fn a_resource_is_a_page_too() {
    let record = Made::new("resource", html(&["x"]).as_bytes())
        .of("http://a.test/", 1)
        .with("Content-Type", "text/html");
    assert_eq!(leads(record, &Options::default()), "http://a.test/x");
}

#[test]
fn a_robots_txt_is_no_page() {
    let robots = |second| {
        Made::answer(
            "http://a.test/robots.txt",
            second,
            "200 OK\r\nContent-Type: text/plain",
            b"",
        )
    };
    let page = Made::page("http://a.test/", 2, &["/robots.txt"]);
    let graph = Folder::of(&[robots(1), page.clone()]).graph();
    assert_eq!(told(&graph), ["http://a.test/ -> http://a.test/robots.txt"]);
    assert_eq!((graph.report.captures, graph.report.robots_files), (1, 1));

    // Where it is told how URLs were found, that decides.
    let metadata = |of: u32, hops: &str| {
        let block = format!("via: http://a.test/\r\nhopsFromSeed: {hops}\r\n");
        Made::new("metadata", block.as_bytes()).with("WARC-Concurrent-To", &super::made::id(of))
    };
    let graph = Folder::of(&[
        robots(1).id(1),
        metadata(1, "LP"),
        Made::page("http://a.test/elsewhere", 1, &["/x"]).id(2),
        metadata(2, "P"),
        page.id(3),
        metadata(3, "L"),
        robots(3).id(4),
        metadata(4, "LL"),
    ])
    .graph();
    assert_eq!(
        told(&graph),
        [
            "http://a.test/ -> http://a.test/robots.txt",
            "http://a.test/robots.txt ->"
        ]
    );
    assert_eq!(graph.report.robots_files, 2);
}

#[test]
fn what_is_no_page_of_the_web_is_passed_over() {
    let graph = Folder::of(&[
        Made::new("warcinfo", b"software: x\r\n"),
        Made::new("resource", b"a.test. IN A 192.0.2.1").of("dns:a.test", 1),
        Made::new("request", b"GET / HTTP/1.1\r\n\r\n").of("http://a.test/", 1),
        Made::page("http://", 1, &["/x"]),
        Made::new("response", b"HTTP/1.1 200 OK\r\n\r\n"),
        Made::page("http://a.test/", 1, &["/x"]),
    ])
    .graph();
    assert_eq!(told(&graph), ["http://a.test/ -> http://a.test/x"]);
    assert_eq!(graph.report.records, 6);
    assert_eq!(graph.report.passed_over.bad_urls, 2);
}

#[test]
fn a_record_beyond_the_limit_is_known_without_its_links() {
    let long = Made::page("http://a.test/long", 1, &["/x"; 100]);
    let short = Made::page("http://a.test/short", 2, &["/y"]);
    let options = Options {
        record_bytes_max: 1000,
        ..Options::default()
    };
    let graph = Folder::of(&[long, short]).graph_with(&options).unwrap();
    assert_eq!(
        told(&graph),
        [
            "http://a.test/long ->",
            "http://a.test/short -> http://a.test/y"
        ]
    );
    assert_eq!(graph.report.passed_over.long_records, 1);
}

#[test]
fn more_pages_than_allowed_are_an_error() {
    let folder = Folder::of(&[Made::page("http://a.test/", 1, &["1", "2"])]);
    let options = |pages_max| Options {
        pages_max,
        ..Options::default()
    };
    assert_eq!(
        folder
            .graph_with(&options(3))
            .unwrap()
            .web()
            .links
            .page_count(),
        3
    );
    let error = folder.graph_with(&options(2)).unwrap_err();
    assert!(matches!(
        error,
        ArchiveGraphError::TooManyPages { pages_max: 2 }
    ));
}
