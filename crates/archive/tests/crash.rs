//! Nothing lost: whatever a crash leaves of the open files, what was reported and is on disk is found again, and
//! nothing torn passes as whole.
#![expect(clippy::unwrap_used, reason = "a test says by panicking what is wrong")]

mod support;

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use junkai_archive::{
    Compression, Index, Layout, Reader, Stored, check, recover, recover_after_power_loss,
};
use tempfile::tempdir;

const PAGES: u32 = 12;

/// A crawl that was killed: its directory, and what it reported.
struct Killed {
    root: tempfile::TempDir,
    stored: Vec<Stored>,
    warc: PathBuf,
    index: PathBuf,
}

fn killed(compression: Compression) -> Killed {
    let root = tempdir().unwrap();
    let mut writer = support::writer(root.path(), &support::config(compression));
    let stored = (0..PAGES)
        .map(|number| writer.store(&support::page(number).capture(None)).unwrap())
        .collect();
    drop(writer);
    let only = |directory: PathBuf| {
        fs::read_dir(directory)
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path()
    };
    let layout = Layout::new(root.path());
    Killed {
        warc: only(layout.archive()),
        index: only(layout.indexes()),
        stored,
        root,
    }
}

fn cut(path: &Path, length: u64) {
    OpenOptions::new()
        .write(true)
        .open(path)
        .unwrap()
        .set_len(length)
        .unwrap();
}

/// After recovery, exactly the captures that are whole in the first `length` bytes are there.
fn assert_recovered(killed: &Killed, length: u64) {
    let root = killed.root.path();
    let index = Index::open(root).unwrap();
    let layout = Layout::new(root);
    let mut expected = 0;
    for stored in &killed.stored {
        let entry = index
            .lookup(&support::page(number(stored)).uri)
            .unwrap()
            .next()
            .transpose()
            .unwrap();
        // A plain record is whole with the two line ends after it.
        let terminator = if stored.file.ends_with(".warc") { 4 } else { 0 };
        let is_whole = stored.offset + stored.length + terminator <= length;
        assert_eq!(entry.is_some(), is_whole, "{} of {length}", stored.offset);
        let Some(entry) = entry else { continue };
        expected += 1;
        assert_eq!(
            (entry.offset, entry.length, &*entry.filename),
            (stored.offset, stored.length, &*stored.file)
        );
        let path = layout.warc(&entry.filename).unwrap();
        let mut reader = Reader::open_at(&path, entry.offset).unwrap();
        let record = reader.next_record().unwrap().unwrap();
        assert_eq!(
            record.head().field("WARC-Record-ID"),
            Some(&*stored.record_id)
        );
        assert_eq!(record.finish().unwrap().length, stored.length);
    }
    assert_eq!(index.iter().unwrap().count(), expected);
    for file in fs::read_dir(layout.archive()).unwrap() {
        let path = file.unwrap().path();
        assert!(!path.to_string_lossy().ends_with(".open"));
        let mut told = Vec::new();
        let report = check(&path, |problem| told.push(problem.clone())).unwrap();
        assert!(report.is_sound(), "{length}: {told:?}");
    }
    assert!(
        recover(root).unwrap().is_empty(),
        "there is nothing left to repair"
    );
}

fn number(stored: &Stored) -> u32 {
    let (_, rest) = stored.cdxj.split_once(")/page/").unwrap();
    rest.split(' ').next().unwrap().parse().unwrap()
}

fn cut_everywhere(compression: Compression, step: usize) {
    let length = fs::metadata(killed(compression).warc).unwrap().len();
    let places = (0..=length).step_by(step);
    for place in places {
        let killed = killed(compression);
        let place = place.min(fs::metadata(&killed.warc).unwrap().len());
        cut(&killed.warc, place);
        // The index is torn as well, at a place of its own, or not at all.
        let index_length = fs::metadata(&killed.index).unwrap().len();
        match place % 4 {
            0 => cut(&killed.index, place * 7919 % (index_length + 1)),
            1 => fs::remove_file(&killed.index).unwrap(),
            _ => {}
        }
        recover(killed.root.path()).unwrap();
        assert_recovered(&killed, place);
    }
}

#[test]
fn a_cut_of_a_gzip_file_loses_what_was_cut() {
    cut_everywhere(Compression::Gzip, 151);
}

#[test]
fn a_cut_of_a_zstd_file_loses_what_was_cut() {
    cut_everywhere(Compression::Zstd, 211);
}

#[test]
fn a_cut_of_a_plain_file_loses_what_was_cut() {
    cut_everywhere(Compression::None, 503);
}

#[test]
fn any_byte_of_the_last_group_may_be_the_last() {
    let length = fs::metadata(killed(Compression::Gzip).warc).unwrap().len();
    for back in (0..1300).step_by(7) {
        let killed = killed(Compression::Gzip);
        let place = fs::metadata(&killed.warc).unwrap().len() - back.min(length);
        cut(&killed.warc, place);
        recover(killed.root.path()).unwrap();
        assert_recovered(&killed, place);
    }
}

#[test]
fn a_file_without_a_whole_record_is_removed() {
    let killed = killed(Compression::Gzip);
    cut(&killed.warc, 20);
    let recovery = recover(killed.root.path()).unwrap();
    assert_eq!(recovery.removed.len(), 1);
    assert_recovered(&killed, 20);
}

#[test]
fn zeros_after_the_last_record_are_cut() {
    let killed = killed(Compression::Gzip);
    let length = fs::metadata(&killed.warc).unwrap().len();
    cut(&killed.warc, length + 4096);
    let recovery = recover(killed.root.path()).unwrap();
    assert_eq!(recovery.closed[0].bytes_cut, 4096);
    assert_recovered(&killed, length);
}

#[test]
fn a_closed_file_is_reported_and_left_alone() {
    let killed = killed(Compression::Gzip);
    recover(killed.root.path()).unwrap();
    let path = Layout::new(killed.root.path())
        .warc(&killed.stored[0].file)
        .unwrap();
    cut(&path, 30);
    let recovery = recover(killed.root.path()).unwrap();
    assert_eq!(recovery.damaged.len(), 1, "{recovery}");
    assert!(
        recovery.to_string().contains("is closed, but damaged"),
        "{recovery}"
    );
    assert_eq!(fs::metadata(&path).unwrap().len(), 30);
}

#[test]
fn damage_inside_a_file_is_set_aside_and_not_lost() {
    let killed = killed(Compression::Gzip);
    fs::remove_file(&killed.index).unwrap();
    let mut bytes = fs::read(&killed.warc).unwrap();
    let (good, bad) = (&killed.stored[4], &killed.stored[5]);
    let at = usize::try_from(bad.offset).unwrap();
    bytes[at + 100] ^= 0x55;
    fs::write(&killed.warc, &bytes).unwrap();
    let recovery = recover(killed.root.path()).unwrap();
    assert!(recovery.to_string().contains("set aside"), "{recovery}");
    let aside = Layout::new(killed.root.path())
        .archive()
        .join(format!("{}.damaged", good.file));
    assert_eq!(fs::read(aside).unwrap(), bytes[at..]);
    assert_eq!(
        Index::open(killed.root.path())
            .unwrap()
            .iter()
            .unwrap()
            .count(),
        5
    );
}

#[test]
fn an_index_that_outlived_its_records_is_cut() {
    let killed = killed(Compression::Gzip);
    cut(&killed.warc, killed.stored[6].offset + 10);
    let recovery = recover(killed.root.path()).unwrap();
    assert_eq!(
        (
            recovery.closed[0].lines_dropped,
            recovery.closed[0].lines_made
        ),
        (6, 0),
        "{recovery}"
    );
    assert_recovered(&killed, killed.stored[6].offset + 10);
}

/// Puts zeros in the place of a part of a file, as a loss of power may leave them.
fn blank(path: &Path, from: u64, count: usize) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&vec![0; count], from).unwrap();
}

#[test]
fn after_a_loss_of_power_no_line_is_believed_whose_record_did_not_reach_the_disk() {
    let killed = killed(Compression::Gzip);
    // Of what follows, records and lines did.
    blank(&killed.warc, killed.stored[6].offset, 200);
    recover_after_power_loss(killed.root.path()).unwrap();
    let name = format!("{}.damaged", killed.stored[6].file);
    fs::remove_file(Layout::new(killed.root.path()).archive().join(name)).unwrap();
    assert_recovered(&killed, killed.stored[6].offset);
}

#[test]
fn after_a_loss_of_power_lines_are_made_anew_whose_file_was_closed() {
    let killed = killed(Compression::Gzip);
    let whole = fs::metadata(&killed.warc).unwrap().len();
    fs::rename(&killed.warc, killed.warc.with_extension("")).unwrap();
    let lines = fs::metadata(&killed.index).unwrap().len();
    blank(&killed.index, lines / 3, 200);
    let recovery = recover_after_power_loss(killed.root.path()).unwrap();
    assert_eq!(recovery.sealed.len(), 1, "{recovery}");
    assert_recovered(&killed, whole);
}

#[test]
fn after_a_loss_of_power_the_lines_of_a_file_that_is_gone_go_too() {
    let killed = killed(Compression::Gzip);
    fs::remove_file(&killed.warc).unwrap();
    recover_after_power_loss(killed.root.path()).unwrap();
    let index = Index::open(killed.root.path()).unwrap();
    assert_eq!(index.iter().unwrap().count(), 0);
}
