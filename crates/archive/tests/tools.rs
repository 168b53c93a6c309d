//! What other tools say of our files, and of the files of others: `warcio`, `cdxj-indexer` and `pywb` are the judges.
//!
//! They are found by the Python in `JUNKAI_PYTHON`, which `cargo xtask test` sets up. The files of others are looked for in
//! `JUNKAI_SHARED_DATA`, or else in `../shared/data` beside the workspace; without them that test says so and ends.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test says by panicking what is wrong"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use junkai_archive::{Compression, Index, Layout, check, index_file, merge};
use tempfile::tempdir;

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
            assert!(
                check(file).unwrap().is_sound(),
                "{:?}",
                check(file).unwrap().problems
            );
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

/// The files of others, if they are there.
fn files_of_others() -> Option<Vec<PathBuf>> {
    let data = std::env::var_os("JUNKAI_SHARED_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let Ok(directories) = fs::read_dir(data.join("warc")) else {
        println!(
            "no files of others at {}: nothing to compare",
            data.display()
        );
        return None;
    };
    let mut files = Vec::new();
    for directory in directories {
        for file in fs::read_dir(directory.unwrap().path()).unwrap() {
            let name = file.as_ref().unwrap().file_name().into_string().unwrap();
            if name.contains(".warc") && !name.contains(".cdx") {
                files.push(file.unwrap().path());
            }
        }
    }
    assert!(20 < files.len(), "the files are there");
    files.sort();
    Some(files)
}

/// Which files of others are damaged, and what we say of them. Every other is to be read to its end.
const DAMAGED: [(&str, &str); 2] = [
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
    let found = files_of_others().unwrap_or_default();
    let found = found.iter().filter_map(|path| {
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
    let Some(files) = files_of_others() else {
        return;
    };
    let output = python()
        .args(["-c", INDEX_EACH])
        .args(&files)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(output.stderr));
    let theirs: Vec<String> = serde_json::from_slice(&output.stdout).unwrap();
    for (path, theirs) in files.iter().zip(&theirs) {
        compare(path, theirs);
    }
    println!("{} files compared", files.len());
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
