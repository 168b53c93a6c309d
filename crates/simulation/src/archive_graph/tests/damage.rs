//! Hostile and broken files.

use proptest::prelude::*;

use super::made::{Folder, Made, gzip, told};
use crate::archive_graph::{ArchiveGraph, Options, read};
use junkai_graph::unwatched;

fn pages(count: u32) -> Vec<Made> {
    (0..count)
        .map(|number| Made::page(&format!("http://a.test/{number}"), number, &["/x"]))
        .collect()
}

fn captured(graph: &ArchiveGraph) -> Vec<&str> {
    (0..graph.captured).map(|page| graph.url(page)).collect()
}

#[test]
fn a_damaged_record_costs_itself_alone() {
    for name in ["0.warc.gz", "0.warc"] {
        let records: Vec<Vec<u8>> = pages(4)
            .iter()
            .map(|made| {
                if name == "0.warc" {
                    made.bytes()
                } else {
                    made.gzip()
                }
            })
            .collect();
        let mut damaged = records.clone();
        if name == "0.warc" {
            let text = String::from_utf8(damaged[1].clone()).unwrap();
            damaged[1] = text
                .replace("Content-Length: ", "Content-Length: x")
                .into_bytes();
        } else {
            let middle = damaged[1].len() / 2;
            damaged[1][middle] ^= 0xff;
        }
        let folder = Folder::new();
        folder.write(name, &damaged.concat());
        let graph = folder.graph();
        assert_eq!(
            captured(&graph),
            ["http://a.test/0", "http://a.test/2", "http://a.test/3"]
        );
        assert_eq!(graph.report.passed_over.damaged_records, 1, "{name}");
        assert_eq!(graph.report.records, 3);
        let problem = &graph.report.problems[0];
        assert_eq!(
            (&*problem.file, problem.offset),
            (name, records[0].len() as u64)
        );
        assert!(!problem.message.is_empty());
    }
}

#[test]
fn a_length_that_lies_does_not_swallow_what_follows() {
    let liar = Made::page("http://a.test/liar", 1, &[]).bytes();
    let liar = String::from_utf8(liar).unwrap();
    let liar = liar
        .replace("Content-Length: ", "Content-Length: 99999")
        .into_bytes();
    let folder = Folder::new();
    folder.write("0.warc", &[liar, pages(1)[0].bytes()].concat());
    let graph = folder.graph();
    assert_eq!(captured(&graph), ["http://a.test/0"]);
    assert_eq!(graph.report.passed_over.damaged_records, 1);
}

#[test]
fn a_torn_end_is_counted_unless_the_file_is_being_written() {
    let whole: Vec<u8> = pages(3).iter().flat_map(Made::gzip).collect();
    let torn = &whole[..whole.len() - 10];
    for (name, count) in [("0.warc.gz", 1), ("0.warc.gz.open", 0)] {
        let folder = Folder::new();
        folder.write(name, torn);
        let graph = folder.graph();
        assert_eq!(captured(&graph), ["http://a.test/0", "http://a.test/1"]);
        assert_eq!(graph.report.passed_over.damaged_records, count, "{name}");
    }
}

#[test]
fn files_that_are_no_warc_files_are_counted_and_the_others_read() {
    let folder = Folder::of(&pages(1));
    folder.write("garbage.warc", b"GIF89a and so on\n\n");
    folder.write(
        "arc.warc.gz",
        &gzip(b"filedesc://x.arc 0.0.0.0 20200101000000 text/plain 9\n1 0 x\n"),
    );
    folder.write("empty.warc.gz", b"");
    folder.write("notes.txt", b"not even called so");
    let graph = folder.graph();
    assert_eq!(captured(&graph), ["http://a.test/0"]);
    assert_eq!(graph.report.files, 4);
    assert_eq!(
        graph.report.passed_over.unreadable_files, 2,
        "{:?}",
        graph.report
    );
    let named: Vec<&str> = graph
        .report
        .problems
        .iter()
        .map(|problem| &*problem.file)
        .collect();
    assert_eq!(named, ["arc.warc.gz", "garbage.warc"]);
}

#[test]
fn captures_with_bad_bytes_inside_are_read_as_far_as_they_go() {
    let graph = Folder::of(&[
        Made::new("response", b"\xff\xfe\x00 no answer at all").of("http://a.test/0", 1),
        Made::answer(
            "http://a.test/1",
            2,
            "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip",
            b"<a href=x>not gzip</a>",
        ),
        Made::answer(
            "http://a.test/2",
            3,
            "200 OK\r\nContent-Type: \u{ff}",
            b"<html><a href='\xff\xfe'>\x00<a href=y>",
        ),
        Made::answer("http://a.test/3", 4, "abc", b""),
    ])
    .graph();
    assert_eq!(graph.captured, 4);
    assert_eq!(told(&graph)[1], "http://a.test/1 -> http://a.test/x");
    assert!(
        told(&graph)[2].ends_with("http://a.test/y"),
        "{:?}",
        told(&graph)
    );
    assert_eq!(graph.report.passed_over.no_answers, 2);
}

#[test]
fn an_archive_without_captures_is_an_empty_graph() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("archive")).unwrap();
    let graph = folder.graph();
    assert_eq!((graph.captured, graph.web().links.page_count()), (0, 0));
    let web = graph.only_captured().into_web_graph();
    assert_eq!((web.hosts.count(), web.links.link_count()), (0, 0));
}

#[test]
fn what_is_no_archive_is_refused_in_words() {
    let folder = Folder::new();
    folder.write("notes.txt", b"no WARC file");
    for path in [
        folder.path().to_owned(),
        folder.path().join("notes.txt"),
        folder.path().join("missing"),
    ] {
        let error = read(&path, &Options::default(), &mut unwatched).unwrap_err();
        let expected = format!("no archive at {}: expected a folder", path.display());
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}

#[test]
fn a_crawls_folder_a_file_and_folders_below_are_archives() {
    let folder = Folder::new();
    folder.add("archive/0.warc.gz", &pages(1));
    folder.add("exports/copy.warc.gz", &pages(3));
    assert_eq!(folder.graph().captured, 1);
    let file = folder.path().join("exports/copy.warc.gz");
    let graph = read(&file, &Options::default(), &mut unwatched).unwrap();
    assert_eq!((graph.captured, &*graph.web().name), (3, "copy.warc.gz"));
    let bare = Folder::new();
    bare.add("a/b/0.warc.gz", &pages(2));
    assert_eq!(bare.graph().captured, 2);
}

#[test]
fn progress_goes_from_nothing_to_all() {
    let folder = Folder::of(&pages(3));
    let mut seen = Vec::new();
    read(folder.path(), &Options::default(), &mut |progress| {
        seen.push(progress);
    })
    .unwrap();
    let reading: Vec<_> = seen
        .iter()
        .filter(|progress| progress.stage == junkai_graph::Stage::ReadLinks)
        .collect();
    assert_eq!(reading.first().unwrap().done, 0);
    let last = reading.last().unwrap();
    assert!(0 < last.total && last.done == last.total);
    assert!(reading.is_sorted_by_key(|progress| progress.done));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_bytes_are_read_or_passed_over(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let folder = Folder::new();
        folder.write("0.warc", &bytes);
        folder.write("1.warc.gz", &[gzip(&bytes), bytes.clone()].concat());
        folder.write("2.warc", &[b"WARC/1.1\r\n", &bytes[..]].concat());
        folder.write("3.warc.gz", &Made::answer("http://a.test/", 1, "200 OK\r\nContent-Type: text/html", &bytes).gzip());
        folder.write("4.warc", &Made::new("response", &bytes).of("http://a.test/4", 1).bytes());
        let graph = folder.graph();
        prop_assert!(2 <= graph.captured);
    }

    #[test]
    fn cut_and_flipped_files_give_no_page_that_was_not_there(
        place in 0_usize..4000, bit in 0_u32..8, cut in 0_usize..4000, compressed: bool,
    ) {
        let records = pages(6);
        let mut bytes: Vec<u8> = records
            .iter()
            .flat_map(|made| if compressed { made.gzip() } else { made.bytes() })
            .collect();
        let flipped = place % bytes.len();
        bytes[flipped] ^= 1 << bit;
        bytes.truncate(bytes.len() - cut % bytes.len());
        let folder = Folder::new();
        folder.write("0.warc", &bytes);
        let graph = folder.graph();
        prop_assert!(graph.captured <= 6);
        if compressed {
            // The check sum of a member guards its bytes: what is read was there.
            let all = [0, 1, 2, 3, 4, 5].map(|number| format!("http://a.test/{number}"));
            for url in captured(&graph) {
                prop_assert!(all.iter().any(|known| known == url), "{}", url);
            }
        }
    }
}
