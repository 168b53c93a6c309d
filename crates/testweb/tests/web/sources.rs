//! Graphs and folders served beside the synthetic hosts.

use std::collections::BTreeSet;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::Path;

use crate::support::{crawl, get, get_with, links};
use junkai_graph::{Form, LoadOptions, unwatched};
use junkai_testweb::{FolderConfig, GraphConfig, StartError, TestWeb, TestWebConfig};

fn only() -> TestWebConfig {
    TestWebConfig {
        hosts: 0,
        addresses: 4,
        page_bytes: 500,
        ..TestWebConfig::default()
    }
}

fn graph(path: &Path, urls: Option<&Path>) -> TestWeb {
    TestWeb::start(TestWebConfig {
        graph: Some(GraphConfig {
            path: path.to_owned(),
            urls: urls.map(Path::to_owned),
            pages_per_host: NonZeroU32::new(3).unwrap(),
        }),
        ..only()
    })
    .unwrap()
}

fn gzipped(path: &Path, text: &str) {
    let file = std::fs::File::create(path).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap();
}

/// Page 1 has most links; 5 and 6 cannot be reached from it.
const EDGES: &str = "0 1\n1 0\n1 2\n1 3\n2 4\n4 1\n5 6\n6 1\n";

#[test]
fn an_edge_list_is_a_web_with_just_its_links() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.tsv.gz");
    gzipped(&path, EDGES);
    let web = graph(&path, None);
    let port = web.http_port();
    let url = |node: u32| format!("http://h{}.graph.test:{port}/p{node}", node / 3);
    assert_eq!(web.seeds(), [url(1)]);
    let reply = get(&web, "h0.graph.test", "/p1");
    let found: Vec<_> = links(&url(1), &reply.body)
        .into_iter()
        .map(|link| link.url)
        .collect();
    assert_eq!(found, [url(0), url(2), url(3)]);
    let expected: BTreeSet<String> = (0..5).map(url).collect();
    assert_eq!(web.pages().collect::<BTreeSet<_>>(), expected);
    assert_eq!(
        crawl(&web, &web.seeds()[0])
            .into_keys()
            .collect::<BTreeSet<_>>(),
        expected
    );
    for (host, path) in [
        ("h0.graph.test", "/p3"),
        ("h1.graph.test", "/p03"),
        ("h0.graph.test", "/robots.txt"),
    ] {
        assert_eq!(get(&web, host, path).status, 404, "{host}{path}");
    }
}

#[test]
fn webgraph_files_are_the_same_web_as_their_edge_list() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("edges.txt");
    std::fs::write(&list, EDGES).unwrap();
    let read = junkai_graph::load(&list, &LoadOptions::default(), &mut unwatched).unwrap();
    let files = folder.path().join("files");
    junkai_graph::write(&read, &files, Form::BvGraph, &mut unwatched).unwrap();
    let pages = |web: &TestWeb| {
        let port = format!(":{}/", web.http_port());
        web.pages()
            .map(|url| url.replace(&port, "/"))
            .collect::<Vec<_>>()
    };
    let from_files = graph(&files.join("graph"), None);
    assert_eq!(pages(&from_files), pages(&graph(&list, None)));
    assert_eq!(from_files.page_count(), 5);
}

#[test]
fn a_list_of_urls_names_the_pages() {
    let folder = tempfile::tempdir().unwrap();
    let edges = folder.path().join("edges.txt");
    std::fs::write(&edges, "0 1\n0 2\n1 0\n").unwrap();
    let urls = folder.path().join("urls.txt.gz");
    gzipped(
        &urls,
        "http://www.example.edu/\nhttps://other.example.org:8443/a?b=1&c=2\n",
    );
    let web = graph(&edges, Some(&urls));
    let port = web.http_port();
    let home = get(&web, "www.example.edu", "/");
    let found = links("http://www.example.edu/", &home.body).into_iter();
    assert_eq!(
        found.map(|link| link.url).collect::<Vec<_>>(),
        [
            format!("http://other.example.org:{port}/a?b=1&c=2"),
            format!("http://h0.graph.test:{port}/p2")
        ]
    );
    assert_eq!(get(&web, "other.example.org", "/a?b=1&c=2").status, 200);
}

#[test]
fn a_folder_is_a_site_under_any_name() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    std::fs::write(folder.path().join("index.html"), "<a href=\"sub\">sub</a>").unwrap();
    std::fs::write(
        folder.path().join("sub/index.html"),
        "<a href=\"../x.pdf\">x</a>",
    )
    .unwrap();
    std::fs::write(folder.path().join("x.pdf"), "%PDF").unwrap();
    let web = TestWeb::start(TestWebConfig {
        folders: vec![FolderConfig {
            host: "docs.example.org".into(),
            path: folder.path().to_owned(),
        }],
        ..only()
    })
    .unwrap();
    let found = crawl(&web, &web.seeds()[0]);
    let origin = format!("http://docs.example.org:{}", web.http_port());
    let expected = [("/", 200), ("/sub", 301), ("/sub/", 200), ("/x.pdf", 200)];
    let expected = expected.map(|(path, status)| (format!("{origin}{path}"), status));
    assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    let file = get(&web, "docs.example.org", "/x.pdf");
    assert_eq!(file.header("content-type"), Some("application/pdf"));
    let since = format!(
        "if-modified-since: {}\r\n",
        file.header("last-modified").unwrap()
    );
    assert_eq!(
        get_with(&web, "docs.example.org", "/x.pdf", &since).status,
        304
    );
}

#[test]
fn what_cannot_be_served_is_said_at_the_start() {
    let start = |config| TestWeb::start(config).unwrap_err();
    let folder = |host: &str| FolderConfig {
        host: host.into(),
        path: std::env::temp_dir(),
    };
    let twice = start(TestWebConfig {
        folders: vec![folder("a.org"), folder("A.org")],
        ..only()
    });
    assert_eq!(twice.to_string(), "two hosts are called a.org");
    let absent = start(TestWebConfig {
        folders: vec![FolderConfig {
            path: "/does/not/exist".into(),
            ..folder("a.org")
        }],
        ..only()
    });
    assert!(matches!(absent, StartError::Folder(_)));
    let graph = start(TestWebConfig {
        graph: Some(GraphConfig {
            path: "/does/not/exist".into(),
            urls: None,
            pages_per_host: NonZeroU32::MIN,
        }),
        ..only()
    });
    assert!(matches!(graph, StartError::Graph(_)));
    assert!(matches!(start(only()), StartError::Config(_)));
    let web = TestWeb::start(TestWebConfig { hosts: 1, ..only() }).unwrap();
    let taken = TestWebConfig {
        hosts: 1,
        dns_port: web.dns().port(),
        ..only()
    };
    assert!(matches!(
        start(taken),
        StartError::Listen { service: "DNS", .. }
    ));
}
