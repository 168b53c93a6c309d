//! What is written to a folder.

use std::fs;
use std::path::Path;

use junkai_graph::{LoadOptions, load, unwatched};

use super::made::{Folder, Made};
use crate::archive_graph::folder::{Occupied, Parts, Summary, check, write};
use crate::archive_graph::{ArchiveGraph, ArchiveGraphError};

fn graph() -> ArchiveGraph {
    Folder::of(&[
        Made::page(
            "http://a.test/",
            1,
            &["/x", "http://b.test/", "http://b.test/2", "/"],
        )
        .at("192.0.2.1"),
        Made::page(
            "http://b.test/",
            2,
            &["http://a.test/x", "http://c.test/?q=%20"],
        )
        .at("2001:db8::1"),
        Made::page("http://a.test/x", 3, &[]).at("192.0.2.1"),
    ])
    .graph()
}

fn export(graph: &ArchiveGraph, folder: &Path, parts: Parts) -> Summary {
    write(graph, folder, parts, Occupied::Refuse, &mut unwatched).unwrap()
}

fn bytes_of(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for folder in [folder.to_owned(), folder.join("hosts")] {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                files.push((path.display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn what_is_written_is_read_back() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("exports/graph");
    let graph = graph();
    let summary = export(&graph, &folder, Parts::PagesAndHosts);
    assert_eq!((summary.captured, summary.pages, summary.links), (3, 5, 6));
    assert_eq!(
        (summary.hosts, summary.servers, summary.host_links),
        (3, 2, 4)
    );

    let read = load(&folder, &LoadOptions::default(), &mut unwatched).unwrap();
    let mut expected = graph.clone().into_web_graph();
    expected.name = "graph".to_owned();
    assert_eq!(read, expected);

    let hosts = load(
        &folder.join("hosts"),
        &LoadOptions::default(),
        &mut unwatched,
    )
    .unwrap();
    assert_eq!(hosts.links.successors(0), [0, 1]);
    assert_eq!(hosts.links.successors(1), [0, 2]);
    assert_eq!(hosts.hosts.name(2), "c.test");
    assert_eq!(
        hosts.hosts.server_name(hosts.hosts.server(1)),
        "2001:db8::1"
    );
    assert_eq!(hosts.hosts.server_name(hosts.hosts.server(2)), "c.test");

    let before = bytes_of(&folder);
    export(&graph, &folder, Parts::PagesAndHosts);
    assert_eq!(
        bytes_of(&folder),
        before,
        "the same archive gives the same bytes"
    );
}

#[test]
fn hosts_are_linked_as_often_as_their_pages_are() {
    use super::super::{HostGraph, HostLink};
    let graph = graph();
    let link = |source, target, count| HostLink {
        source,
        target,
        count,
    };
    assert_eq!(
        HostGraph::of(&graph.web().links, &graph.web().hosts).links,
        [link(0, 0, 2), link(0, 1, 2), link(1, 0, 1), link(1, 2, 1)]
    );
}

#[test]
fn the_graph_of_hosts_can_be_had_alone() {
    let out = tempfile::tempdir().unwrap();
    export(&graph(), out.path(), Parts::PagesAndHosts);
    assert!(out.path().join("urls.txt.gz").exists());
    export(&graph(), out.path(), Parts::Hosts);
    assert!(!out.path().join("urls.txt.gz").exists());
    assert!(out.path().join("hosts/edges.tsv.gz").exists());
}

#[test]
fn somebody_elses_folder_is_left_alone_unless_told_otherwise() {
    let out = tempfile::tempdir().unwrap();
    fs::write(out.path().join("thesis.tex"), "ten years of work").unwrap();
    fs::write(out.path().join("graph.json"), "{\"format\": \"another\"}").unwrap();
    let error = write(
        &graph(),
        out.path(),
        Parts::PagesAndHosts,
        Occupied::Refuse,
        &mut unwatched,
    )
    .unwrap_err();
    assert!(
        matches!(error, ArchiveGraphError::NotOurs { .. }),
        "{error}"
    );
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 2);
    let written = write(
        &graph(),
        out.path(),
        Parts::PagesAndHosts,
        Occupied::Overwrite,
        &mut unwatched,
    );
    assert!(written.is_ok());
    assert!(out.path().join("thesis.tex").exists());
    assert!(check(out.path()).is_ok());
}

#[test]
fn an_export_that_was_killed_does_not_stand_in_the_way_of_the_next() {
    let out = tempfile::tempdir().unwrap();
    fs::create_dir(out.path().join("unfinished.part")).unwrap();
    fs::write(out.path().join("unfinished.part/edges.tsv.gz"), "half").unwrap();
    assert!(check(out.path()).is_ok());
    assert!(check(&out.path().join("missing")).is_ok());
    export(&graph(), out.path(), Parts::PagesAndHosts);
    assert!(!out.path().join("unfinished.part").exists());
}

#[test]
fn a_folder_that_cannot_be_written_to_is_named() {
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let error = write(
        &graph(),
        &file.join("graph"),
        Parts::PagesAndHosts,
        Occupied::Overwrite,
        &mut unwatched,
    )
    .unwrap_err();
    assert!(error.to_string().contains("file/graph"), "{error}");
}

#[test]
fn an_empty_graph_is_written_and_read_back() {
    let archive = tempfile::tempdir().unwrap();
    fs::create_dir(archive.path().join("archive")).unwrap();
    let options = crate::archive_graph::Options::default();
    let graph = crate::archive_graph::read(archive.path(), &options, &mut unwatched).unwrap();
    let out = tempfile::tempdir().unwrap();
    export(&graph, out.path(), Parts::PagesAndHosts);
    let read = load(out.path(), &LoadOptions::default(), &mut unwatched).unwrap();
    assert_eq!(read.links.page_count(), 0);
}
