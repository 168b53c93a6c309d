//! What other tools say of our files, and of the files of others: `warcio`, `cdxj-indexer` and `pywb` are the judges.
//!
//! They are found by the Python in `JUNKAI_PYTHON`, which `cargo xtask test` sets up. The files of others are written by warcio
//! (`others.py`) wherever the tests run; those of the real data are read too.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test says by panicking what is wrong"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use junkai_archive::{Compression, Entry, Index, Layout, Severity, check, index_file, merge};
use tempfile::{TempDir, tempdir};

fn python() -> Command {
    let path = std::env::var_os("JUNKAI_PYTHON").expect(
        "JUNKAI_PYTHON must name a Python that has warcio, cdxj-indexer and pywb: run `cargo xtask test`, which sets it up",
    );
    let mut command = Command::new(path);
    command.env("PYTHONWARNINGS", "ignore");
    command
}

/// Runs a tool by its Python module.
fn run(module: &str, arguments: &[&Path]) -> Output {
    let script = format!(
        "import sys, runpy; runpy.run_module('{module}', run_name='__main__', alter_sys=True)"
    );
    python()
        .args(["-c", &script])
        .args(arguments)
        .output()
        .expect("python starts")
}

fn warc_files(root: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(Layout::new(root).archive())
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    files
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("tools write UTF-8")
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn our_files_pass_warcio_and_their_index_is_cdxj_indexers() {
    for compression in [Compression::Gzip, Compression::None] {
        let root = tempdir().unwrap();
        let mut config = support::config(compression);
        config.rollover_bytes = 8000;
        let mut writer = support::writer(root.path(), &config);
        let stored = support::store_all(&mut writer);
        writer.finish().unwrap();
        let files = warc_files(root.path());
        assert!(1 < files.len(), "the files roll over");
        let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();

        let mut arguments = vec![Path::new("check")];
        arguments.extend(&files);
        let output = run("warcio.cli", &arguments);
        assert!(
            output.status.success(),
            "{}{}",
            text(output.stdout),
            text(output.stderr)
        );

        let output = run("cdxj_indexer.main", &files);
        assert!(output.status.success(), "{}", text(output.stderr));
        let theirs = text(output.stdout);
        let mut ours = Vec::new();
        for file in &files {
            index_file(file, &mut ours).unwrap();
            let mut told = Vec::new();
            check(file, |problem| told.push(problem.clone())).unwrap();
            // A URL that the URL Standard lets stand is written as it was asked for.
            told.retain(|problem| {
                problem.severity == Severity::Problem || problem.clause != "5.14"
            });
            assert_eq!(told, [], "{}", file.display());
        }
        assert_eq!(text(ours), theirs);
        for _ in 0..2 {
            let mut indexed = Vec::new();
            let index = Index::open(root.path()).unwrap();
            let mut lines = index.iter().unwrap();
            while let Some(line) = lines.next_line().unwrap() {
                indexed.push(text(line));
            }
            assert_eq!(indexed, sorted(&theirs));
            merge(root.path()).unwrap();
        }
        let mut reported: Vec<_> = stored.into_iter().map(|stored| stored.cdxj).collect();
        reported.sort_unstable();
        assert_eq!(reported, sorted(&theirs));
    }
}

#[test]
fn our_captures_replay_in_pywb() {
    let root = tempdir().unwrap();
    let mut writer = support::writer(root.path(), &support::config(Compression::Gzip));
    support::store_all(&mut writer);
    writer.finish().unwrap();
    let script = include_str!("replay.py");
    let output = python()
        .args(["-c", script])
        .arg(root.path())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        text(output.stdout),
        text(output.stderr)
    );
}

/// Files that others wrote: made here by their tools, and those that are at hand.
struct FilesOfOthers {
    files: Vec<PathBuf>,
    _folder: TempDir,
}

impl FilesOfOthers {
    fn new() -> FilesOfOthers {
        let folder = tempdir().unwrap();
        let output = python()
            .args(["-c", include_str!("others.py")])
            .arg(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(output.stderr));
        let mut files = archives_in(folder.path());
        assert_eq!(files.len(), 12, "the files are made");
        if let Some(found) = junkai_testdata::find("warc") {
            for directory in fs::read_dir(found).unwrap() {
                files.extend(archives_in(&directory.unwrap().path()));
            }
        }
        FilesOfOthers {
            files,
            _folder: folder,
        }
    }

    /// The file that was made under a name.
    fn made(&self, name: &str) -> &Path {
        let named = |path: &&PathBuf| path.file_name().unwrap() == name;
        self.files.iter().find(named).unwrap()
    }
}

/// The WARC and ARC files in a folder, by name.
fn archives_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let is_archive = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        (name.contains(".warc") || name.contains(".arc")) && !name.contains(".cdx")
    };
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(is_archive)
        .collect();
    files.sort();
    files
}

/// Which files of others are damaged, and what we say of them. Every other is to be read to its end.
const DAMAGED: [(&str, &str); 6] = [
    (
        "one-member.warc.gz",
        "the member at offset 0 holds more than one record (`warcio recompress` repairs that)",
    ),
    (
        "torn.arc",
        "the record at offset 0 is torn: the file ends inside it",
    ),
    (
        "example-space-in-url.arc",
        "the record at offset 151 is torn: the file ends inside it",
    ),
    ("bad.arc", "the record at offset 0 has no valid length"),
    (
        "example-bad-non-chunked.warc.gz",
        "the member at offset 0 holds more than one record (`warcio recompress` repairs that)",
    ),
    (
        "example-wrong-chunks.warc.gz",
        "the record at offset 0 is damaged",
    ),
];

/// What is wrong with a file, as we know.
fn damage(path: &Path) -> Option<&'static str> {
    let name = path.file_name().unwrap().to_str().unwrap();
    let known = DAMAGED.iter().find(|(damaged, _)| *damaged == name);
    known.map(|(_, damage)| *damage)
}

#[test]
fn files_of_others_are_read_to_their_end_or_to_the_damage_that_is_known() {
    let others = FilesOfOthers::new();
    let found = others.files.iter().filter_map(|path| {
        let error = index_file(path, std::io::sink())
            .err()
            .map(|error| error.to_string());
        let is_known = error.as_deref() == damage(path);
        (!is_known).then(|| format!("{}: {error:?}", path.display()))
    });
    let wrong: Vec<String> = found.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_of_others_are_indexed_as_cdxj_indexer_does() {
    let others = FilesOfOthers::new();
    // It knows one version of the ARC format, and loses records that nothing separates.
    let is_known = |path: &&PathBuf| !path.to_str().unwrap().contains("second.arc");
    let files: Vec<&PathBuf> = others.files.iter().filter(is_known).collect();
    let output = python()
        .args(["-c", INDEX_EACH])
        .args(&files)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(output.stderr));
    let theirs: Vec<String> = serde_json::from_slice(&output.stdout).unwrap();
    let mut lines = 0;
    for (path, theirs) in files.iter().zip(&theirs) {
        compare(path, theirs);
        lines += theirs.lines().count();
    }
    println!("{} files, {lines} lines compared", files.len());
    assert!(50 < lines, "something was compared");
}

#[test]
fn both_versions_of_arc_files_have_the_same_captures() {
    let others = FilesOfOthers::new();
    let captures = |name: &str| {
        let mut lines = Vec::new();
        index_file(others.made(name), &mut lines).unwrap();
        let lines = text(lines);
        let entries = lines.lines().map(|line| Entry::parse(line).unwrap());
        entries
            .map(|entry| (entry.url, entry.timestamp, entry.status, entry.digest))
            .collect::<Vec<_>>()
    };
    let expected = captures("first.arc");
    assert_eq!(expected.len(), 5);
    for name in [
        "second.arc",
        "second.arc.gz",
        "bare-second.arc",
        "first.arc.gz",
    ] {
        assert_eq!(captures(name), expected, "{name}");
    }
}

#[test]
fn files_of_others_are_judged_record_by_record() {
    let others = FilesOfOthers::new();
    let faults = |name: &str| {
        let mut faults = Vec::new();
        let report = check(others.made(name), |problem| {
            if problem.severity == Severity::Problem {
                faults.push(format!("{}: {}", problem.clause, problem.message));
            }
        });
        faults.sort();
        (report.unwrap(), faults)
    };
    for name in ["one.warc", "one.warc.gz", "two.warc", "two.warc.gz"] {
        let (report, found) = faults(name);
        assert_eq!(
            (report.records, report.digests_unchecked),
            (13, 0),
            "{name}"
        );
        let expected = [
            "5.14: WARC-Target-URI `http://example.org/a b|c?d=\u{e9}` holds characters that must be escaped",
            "5.9: WARC-Payload-Digest must not be in a metadata record",
            "5.9: WARC-Payload-Digest must not be in a metadata record",
        ];
        assert_eq!(found, expected, "{name}");
    }
    for name in ["first.arc", "first.arc.gz", "bare-second.arc"] {
        let (report, found) = faults(name);
        assert_eq!(report.records, 6, "{name}");
        let blank = "ARC: the URL `http://example.org/a b?c=d` holds blanks";
        assert_eq!(found, [blank], "{name}");
    }
}

/// Prints, as a JSON list, what `cdxj-indexer` prints of each file until it fails.
const INDEX_EACH: &str = "
import io, json, sys
from cdxj_indexer.main import CDXJIndexer
lists = []
for path in sys.argv[1:]:
    out = io.StringIO()
    try:
        CDXJIndexer(out, [path]).process_all()
    except Exception as error:
        print(path, error, file=sys.stderr)
    lists.append(out.getvalue())
print(json.dumps(lists))
";

/// Compares our lines with the tool's, in a file that is known to be damaged up to the damage.
fn compare(path: &Path, theirs: &str) {
    let mut ours = Vec::new();
    let error = index_file(path, &mut ours)
        .err()
        .map(|error| error.to_string());
    assert_eq!(error.as_deref(), damage(path), "{}", path.display());
    let ours = text(ours);
    let theirs = match error {
        None => theirs,
        Some(_) => theirs.get(..ours.len()).unwrap_or(theirs),
    };
    assert_eq!(ours, theirs, "{}", path.display());
}
