//! Revisit records: whose links they have.

use super::made::{Folder, Made, date, id, told};
use crate::archive_graph::PassedOver;

const HTML: &str = "200 OK\r\nContent-Type: text/html";

fn original() -> Made {
    Made::page("http://a.test/d/one", 1, &["x", "http://b.test/"])
        .id(1)
        .with("WARC-Payload-Digest", "sha1:ABC")
}

#[test]
fn a_payload_that_another_page_had_leads_on_from_the_revisited_page() {
    let references: [&dyn Fn(Made) -> Made; 4] = [
        &|made| made.with("WARC-Refers-To", &id(1)),
        &|made| {
            made.with("WARC-Refers-To-Target-URI", "http://a.test/d/one")
                .with("WARC-Refers-To-Date", &date(1))
        },
        &|made| made.with("WARC-Payload-Digest", "sha1:ABC"),
        // The record is not there, the payload is.
        &|made| {
            made.with("WARC-Refers-To", &id(99))
                .with("WARC-Payload-Digest", "sha1:ABC")
        },
    ];
    for refer in references {
        for names in [
            ["0.warc.gz", "0.warc.gz"],
            ["0.warc", "1.warc.gz"],
            ["1.warc.gz", "0.warc"],
        ] {
            let revisit = refer(Made::revisit("http://c.test/e/two", 2, Some(HTML)));
            let folder = Folder::new();
            if names[0] == names[1] {
                folder.add(names[0], &[original(), revisit]);
            } else {
                folder.add(names[0], &[original()]);
                folder.add(names[1], &[revisit]);
            }
            let graph = folder.graph();
            assert_eq!(
                told(&graph),
                [
                    "http://a.test/d/one -> http://a.test/d/x http://b.test/",
                    "http://c.test/e/two -> http://c.test/e/x http://b.test/",
                ]
            );
            assert_eq!((graph.report.captures, graph.report.revisits), (2, 1));
            assert_eq!(graph.report.passed_over, PassedOver::default());
        }
    }
}

#[test]
fn a_page_that_has_not_changed_leads_where_it_led() {
    let later = Made::page("http://a.test/d/one", 5, &["changed"]).id(5);
    let not_modified =
        |second| Made::revisit("http://a.test/d/one", second, Some("304 Not Modified"));
    for revisit in [
        not_modified(9).with("WARC-Refers-To", &id(5)),
        not_modified(9),
        Made::revisit("http://a.test/d/one", 9, None),
        // By way of another revisit record.
        not_modified(9).with("WARC-Refers-To", &id(6)),
    ] {
        let between = not_modified(6).id(6).with("WARC-Refers-To", &id(5));
        let graph = Folder::of(&[original(), later.clone(), between, revisit]).graph();
        assert_eq!(
            told(&graph),
            ["http://a.test/d/one -> http://a.test/d/changed"]
        );
    }
}

#[test]
fn a_page_that_is_again_what_it_once_was_has_its_old_links_again() {
    let between = Made::page("http://a.test/d/one", 5, &["changed"]).id(5);
    let again = Made::revisit("http://a.test/d/one", 9, Some(HTML)).with("WARC-Refers-To", &id(1));
    let graph = Folder::of(&[original(), between, again]).graph();
    assert_eq!(
        told(&graph),
        ["http://a.test/d/one -> http://a.test/d/x http://b.test/"]
    );
}

#[test]
fn an_older_revisit_record_does_not_count() {
    let revisit = Made::revisit("http://c.test/", 2, Some(HTML)).with("WARC-Refers-To", &id(99));
    let latest = Made::page("http://c.test/", 3, &["/y"]);
    let graph = Folder::of(&[revisit, latest]).graph();
    assert_eq!(told(&graph), ["http://c.test/ -> http://c.test/y"]);
    assert_eq!(graph.report.passed_over.lost_payloads, 0);
}

#[test]
fn the_head_of_the_revisit_record_counts() {
    let head = format!("{HTML}\r\nX-Robots-Tag: nofollow");
    let revisit = Made::revisit("http://c.test/", 2, Some(&head)).with("WARC-Refers-To", &id(1));
    assert_eq!(
        told(&Folder::of(&[original(), revisit]).graph())[1],
        "http://c.test/ ->"
    );
    let moved = "301 Moved\r\nLocation: /there";
    let revisit = Made::revisit("http://c.test/", 2, Some(moved)).with("WARC-Refers-To", &id(1));
    assert_eq!(
        told(&Folder::of(&[original(), revisit]).graph())[1],
        "http://c.test/ -> http://c.test/there"
    );
    let gone =
        Made::revisit("http://c.test/", 2, Some("404 Not Found")).with("WARC-Refers-To", &id(1));
    assert_eq!(
        told(&Folder::of(&[original(), gone]).graph())[1],
        "http://c.test/ ->"
    );
}

#[test]
fn a_payload_that_is_not_there_is_counted() {
    let lost = Made::revisit("http://c.test/", 2, Some(HTML)).with("WARC-Refers-To", &id(99));
    // Records that refer to one another have no payload among them.
    let first = Made::revisit("http://d.test/", 3, Some(HTML))
        .id(3)
        .with("WARC-Refers-To", &id(4));
    let second = Made::revisit("http://e.test/", 4, Some(HTML))
        .id(4)
        .with("WARC-Refers-To", &id(3));
    let graph = Folder::of(&[lost, first, second]).graph();
    assert_eq!(
        told(&graph),
        [
            "http://c.test/ ->",
            "http://d.test/ ->",
            "http://e.test/ ->"
        ]
    );
    assert_eq!(graph.report.passed_over.lost_payloads, 3);
}
