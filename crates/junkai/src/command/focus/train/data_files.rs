//! The data files to learn from, out of a folder.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use junkai_focus::data_file::{Bounds, Hints, inspect, looks_like_data};
use junkai_focus::learn::{Figures, FileExample, FileModel, FileTraining};

use super::examples::files_in;
use super::labels::{Label, Labels};
use crate::bar::Bar;
use crate::print::tell;

/// More of a file is not read.
const FILE_BYTES_MAX: u64 = 32 << 20;

/// Learns from labelled data files; the figures are of files whose sources were held out.
pub(super) fn learn(labels: &Path, folder: &Path) -> Result<(FileModel, Figures)> {
    let labels = Labels::read(labels)?;
    let mut bar = Bar::new();
    let mut examples = Vec::new();
    let mut missing = Vec::new();
    for (done, (name, label)) in labels.iter().enumerate() {
        bar.at("reading data files", done as u64, labels.len() as u64);
        let place = folder.join(name);
        if !place.exists() {
            missing.push(name);
            continue;
        }
        let mut files = Vec::new();
        files_in(&place, &mut files)?;
        for file in files {
            if let Some(example) = example(folder, &file, label)? {
                examples.push(example);
            }
        }
    }
    warn_of_missing(&missing, folder);
    if examples.is_empty() {
        bail!(
            "no labelled data file is in {}: labels name folders or files in it",
            folder.display()
        );
    }
    let training = FileTraining::default();
    let said = FileModel::held_out(&examples, &training)?;
    let answers = examples.iter().zip(said);
    let figures = Figures::of(answers.map(|(example, said)| (example.is_wanted, 0.5 <= said)));
    Ok((FileModel::train(&examples, &training)?, figures))
}

/// Says which labels have no file, the first of them by name.
fn warn_of_missing(missing: &[&str], folder: &Path) {
    if let Some((first, others)) = missing.split_first() {
        let more = match others.len() {
            0 => String::new(),
            count => format!(" (and {count} more)"),
        };
        tell!(
            "junkai: {first:?}{more} is labelled, but not in {}",
            folder.display()
        );
    }
}

fn example(folder: &Path, file: &Path, label: &Label) -> Result<Option<FileExample>> {
    // Where the folder is says nothing of the file.
    let name = file.strip_prefix(folder).unwrap_or(file).to_string_lossy();
    if looks_like_data(&name, None).is_none() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut bytes))
        .with_context(|| format!("cannot read {}", file.display()))?;
    let hints = Hints {
        url: &name,
        ..Hints::default()
    };
    Ok(Some(FileExample {
        features: inspect(&bytes, &hints, &Bounds::default()).features,
        is_wanted: label.wanted,
        source: label.group.clone(),
    }))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn of_a_file_of_three_gigabytes_the_beginning_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.csv");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"region,2019,2020\nnorth,1,2\nsouth,3,4\n")
            .unwrap();
        // A hole: it takes no room on the disk.
        file.set_len(3 << 30).unwrap();
        let label = Label {
            wanted: true,
            group: String::new(),
        };
        let example = example(folder.path(), &path, &label).unwrap().unwrap();
        assert!(example.features.is_read());
    }
}
