//! The numbers of pages, the latest captures, hosts and servers.

use std::net::IpAddr;

use super::made::{Folder, Made, told};

#[test]
fn captured_pages_come_first_in_the_order_of_their_first_captures() {
    let folder = Folder::new();
    folder.add(
        "a.warc",
        &[
            Made::page("http://a.test/late", 9, &["/only-linked", "/early"]),
            Made::page(
                "http://a.test/early",
                1,
                &["/late", "http://b.test/x", "/late#part"],
            ),
        ],
    );
    folder.add("b.warc.gz", &[Made::page("http://a.test/middle", 5, &[])]);
    let graph = folder.graph();
    let urls: Vec<&str> = graph.web().urls.as_ref().unwrap().iter().collect();
    assert_eq!(
        urls,
        [
            "http://a.test/early",
            "http://a.test/middle",
            "http://a.test/late",
            "http://b.test/x",
            "http://a.test/only-linked",
        ]
    );
    assert_eq!(graph.captured, 3);
    assert_eq!(graph.web().links.successors(0), [2, 3]);
    assert_eq!(graph.web().links.successors(1), [0; 0]);
    assert_eq!(graph.web().links.successors(2), [4, 0]);
    assert_eq!((graph.report.files, graph.report.records), (2, 3));
}

#[test]
fn a_tie_is_decided_by_file_and_place() {
    let folder = Folder::new();
    folder.add("b.warc", &[Made::page("http://a.test/3", 1, &[])]);
    folder.add(
        "a.warc",
        &[
            Made::page("http://a.test/1", 1, &[]),
            Made::page("http://a.test/2", 1, &[]),
        ],
    );
    let expected = [
        "http://a.test/1 ->",
        "http://a.test/2 ->",
        "http://a.test/3 ->",
    ];
    assert_eq!(told(&folder.graph()), expected);
}

#[test]
fn fractions_of_a_second_count() {
    let page = |name: &str, date: &str| {
        Made::new("response", b"HTTP/1.1 204 No Content\r\n\r\n")
            .with("WARC-Target-URI", &format!("http://a.test/{name}"))
            .with("WARC-Date", date)
    };
    let graph = Folder::of(&[
        page("3", "2026-01-15T09:00:00.25Z"),
        page("2", "2026-01-15T09:00:00.1Z"),
        page("1", "2026-01-15T09:00:00Z"),
        page("0", "yesterday"),
    ])
    .graph();
    let urls: Vec<&str> = graph.web().urls.as_ref().unwrap().iter().collect();
    assert_eq!(
        urls,
        [
            "http://a.test/0",
            "http://a.test/1",
            "http://a.test/2",
            "http://a.test/3"
        ]
    );
}

#[test]
fn the_latest_capture_of_a_page_counts_and_the_first_gives_its_number() {
    let folder = Folder::new();
    folder.add("1.warc.gz", &[Made::page("http://a.test/", 30, &["/new"])]);
    folder.add(
        "2.warc.gz",
        &[
            Made::page("http://a.test/", 10, &["/old"]),
            Made::page("http://a.test/new", 20, &["/"]),
        ],
    );
    let graph = folder.graph();
    // What only the older capture linked to is not known any more.
    assert_eq!(graph.web().links.page_count(), 2);
    assert_eq!(
        told(&graph),
        [
            "http://a.test/ -> http://a.test/new",
            "http://a.test/new -> http://a.test/"
        ]
    );
    assert_eq!(graph.report.captures, 3);
}

#[test]
fn a_hosts_server_is_the_address_of_its_last_capture() {
    let graph = Folder::of(&[
        Made::page("http://a.test/1", 1, &["http://c.test/"]).at("192.0.2.1"),
        Made::page("http://b.test:81/", 2, &[]).at("192.0.2.9"),
        Made::page("http://a.test/2", 4, &[]).at("192.0.2.9"),
        Made::page("http://a.test/3", 3, &[]).at("192.0.2.2"),
        Made::page("http://a.test/4", 5, &[]).at("not an address"),
    ])
    .graph();
    let address: IpAddr = "192.0.2.9".parse().unwrap();
    assert_eq!(graph.addresses, [Some(address), Some(address), None]);
    assert_eq!(graph.server_count(), 1);
    let web = graph.into_web_graph();
    assert_eq!(web.hosts.count(), 3);
    assert_eq!(web.hosts.server(0), web.hosts.server(1));
    assert_eq!(web.hosts.server_name(web.hosts.server(2)), "c.test");
}

#[test]
fn what_was_never_captured_can_be_left_out() {
    let graph = Folder::of(&[
        Made::page(
            "http://a.test/",
            1,
            &["http://c.test/", "http://b.test/", "/"],
        )
        .at("192.0.2.1"),
        Made::page("http://b.test/", 2, &["http://d.test/", "http://a.test/"]).at("192.0.2.2"),
    ])
    .graph();
    assert_eq!((graph.captured, graph.web().links.page_count()), (2, 4));
    let closed = graph.clone().only_captured();
    assert_eq!(
        told(&closed),
        [
            "http://a.test/ -> http://b.test/ http://a.test/",
            "http://b.test/ -> http://a.test/",
        ]
    );
    assert_eq!((closed.captured, closed.web().links.page_count()), (2, 2));
    assert_eq!(closed.addresses, graph.addresses[..2]);
    assert_eq!(closed.web().hosts.count(), 2);
}
