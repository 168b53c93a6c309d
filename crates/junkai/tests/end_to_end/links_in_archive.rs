//! Whoever can write in the folder of an archive cannot have a crawl write elsewhere: a symbolic link under a name that is written is replaced or refused,
//! never followed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use junkai_testweb::TestWebConfig;

use crate::support::{Stage, junkai, run};

const PRECIOUS: &str = "precious\n";
/// Files that are opened where they are, in every run.
const IN_PLACE: [&str; 4] = [
    "state/LOCK",
    "state/seeds.txt",
    "logs/crawl.log",
    "logs/events.jsonl",
];

fn stage() -> Stage {
    let web = TestWebConfig {
        hosts: 1,
        pages: 3,
        ..TestWebConfig::default()
    };
    Stage::new(web, "[politeness]\ninterval = \"1ms\"\n")
}

/// A crawl of it all, twice as far as needed to write every file of the state.
fn crawl(stage: &Stage, archive: &Path) -> Command {
    let mut crawl = stage.crawl_into(archive);
    crawl.args(stage.web.seeds());
    crawl
}

/// The files that a crawl leaves, below its archive's folder.
fn files_of(archive: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![archive.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.is_file() {
                files.push(path.strip_prefix(archive).unwrap().to_owned());
            }
        }
    }
    files.sort();
    files
}

/// An archive's folder with a link under each of these names, and where they lead.
fn trap(stage: &Stage, name: &str, links: &[PathBuf]) -> (PathBuf, PathBuf) {
    let (archive, precious) = (stage.path(name), stage.path(&format!("{name}.precious")));
    fs::write(&precious, PRECIOUS).unwrap();
    for link in links {
        let link = archive.join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&precious, link).unwrap();
    }
    (archive, precious)
}

fn is_whole(precious: &Path) -> bool {
    fs::read_to_string(precious).unwrap() == PRECIOUS
}

#[test]
fn no_file_that_a_crawl_writes_is_written_through_a_link() {
    let stage = stage();
    run(crawl(&stage, &stage.archive())).expect(0);
    let written = files_of(&stage.archive());
    for name in IN_PLACE {
        assert!(written.iter().any(|file| file == Path::new(name)), "{name}");
    }
    // Names of WARC files begin with the time, and such a file is never opened again.
    let guessable = |file: &&PathBuf| !file.starts_with("archive") && !file.starts_with("indexes");
    for (number, file) in written.iter().filter(guessable).enumerate() {
        let (archive, precious) =
            trap(&stage, &format!("trap{number}"), std::slice::from_ref(file));
        let ended = run(crawl(&stage, &archive));
        assert!(is_whole(&precious), "{}: {}", file.display(), ended.all());
        // What is gone on with is refused; what is replaced is a file of the archive again.
        if IN_PLACE.iter().any(|name| file == Path::new(name)) {
            assert_eq!(ended.code, Some(1), "{}", ended.all());
            assert!(ended.err.contains("symbolic link"), "{}", ended.all());
        }
    }
}

#[test]
fn what_is_written_aside_takes_the_place_of_a_link() {
    let stage = stage();
    run(crawl(&stage, &stage.archive())).expect(0);
    let aside = |file: PathBuf| {
        let with = |suffix: &str| PathBuf::from(format!("{}{suffix}", file.display()));
        [with(".new"), with(".tmp"), file.with_extension("new")]
    };
    let mut links: Vec<PathBuf> = files_of(&stage.archive())
        .into_iter()
        .flat_map(aside)
        .collect();
    links.sort();
    links.dedup();
    let (archive, precious) = trap(&stage, "trap", &links);
    run(crawl(&stage, &archive)).expect(0);
    assert!(is_whole(&precious));
    let manifest = fs::symlink_metadata(archive.join("state/MANIFEST")).unwrap();
    assert!(manifest.is_file());
}

#[test]
fn commands_and_exports_follow_no_link() {
    let stage = stage();
    run(crawl(&stage, &stage.archive())).expect(0);
    let precious = stage.path("precious");
    fs::write(&precious, PRECIOUS).unwrap();
    symlink(&precious, stage.archive().join("state/wishes.jsonl")).unwrap();
    let mut add = junkai();
    add.arg("add").arg("--archive").arg(stage.archive());
    add.arg("http://host0.test/more");
    let refused = run(add).expect(1);
    assert!(refused.err.contains("symbolic link"), "{}", refused.all());

    // A folder that a link leads to, where an export would put its files first.
    let elsewhere = stage.path("elsewhere");
    fs::create_dir_all(elsewhere.join("hosts")).unwrap();
    fs::write(elsewhere.join("graph.json"), PRECIOUS).unwrap();
    let exports = stage.archive().join("exports/graph");
    fs::create_dir_all(&exports).unwrap();
    symlink(&elsewhere, exports.join("unfinished.part")).unwrap();
    let mut export = junkai();
    export.args(["export", "graph"]).arg(stage.archive());
    run(export).expect(0);
    assert!(is_whole(&elsewhere.join("graph.json")));
    assert!(exports.join("edges.tsv.gz").is_file());
    assert!(is_whole(&precious));
}
