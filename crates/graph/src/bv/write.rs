//! Writes a graph in the BV format, one page after another, in memory for a window of pages.
//!
//! Boldi and Vigna, "The `WebGraph` Framework I: Compression Techniques", WWW 2004, sections 4 and 5: a list of links is described by a reference to one
//! of the lists before it, by intervals, and by gaps. Every reference within the window is tried, and the shortest description is written.
//! Departures: none.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use super::bits::{BitWriter, Code};
use super::properties::{Format, Properties};
use super::with_ending;
use crate::{GraphError, Page};

/// Writes links page after page: `.graph` and `.offsets`, in the end `.properties`.
pub(crate) struct BvGraphWriter {
    base: PathBuf,
    graph: BitWriter<BufWriter<File>>,
    /// Where each page begins, as gaps: other readers jump by it.
    offsets: BitWriter<BufWriter<File>>,
    properties: Properties,
    /// The pages that the next one may refer to, the last one first.
    window: VecDeque<Earlier>,
    /// The shortest description of the page so far, and the one that is tried: kept for their memory.
    best: Description,
    tried: Description,
}

/// A page to which later ones may refer.
#[derive(Default)]
struct Earlier {
    targets: Vec<Page>,
    /// How many references have to be followed to read it.
    references: u64,
}

impl BvGraphWriter {
    pub(crate) fn create(base: PathBuf) -> Result<Self, GraphError> {
        let create = |ending| {
            let path = with_ending(&base, ending);
            let file = File::create(&path);
            file.map(|file| BitWriter::new(BufWriter::new(file)))
                .map_err(|source| GraphError::Write { path, source })
        };
        let (graph, mut offsets) = (create("graph")?, create("offsets")?);
        let first = offsets.write(OFFSETS, 0);
        first.map_err(cannot_write(&base, "offsets"))?;
        Ok(Self {
            graph,
            offsets,
            properties: Properties {
                pages: 0,
                links: 0,
                format: Format::default(),
            },
            window: VecDeque::new(),
            best: Description::default(),
            tried: Description::default(),
            base,
        })
    }

    /// Writes the links of the next page, sorted.
    pub(crate) fn page(&mut self, targets: &[Page]) -> Result<(), GraphError> {
        let mut targets = targets.to_vec();
        targets.sort_unstable();
        let page = self.properties.pages;
        self.properties.pages += 1;
        self.properties.links += targets.len() as u64;
        let references = self.describe(page, &targets);
        let begun = self.graph.written();
        for &(code, number) in &self.best.numbers {
            let written = self.graph.write(code, number);
            written.map_err(cannot_write(&self.base, "graph"))?;
        }
        let length = self.graph.written() - begun;
        let written = self.offsets.write(OFFSETS, length);
        written.map_err(cannot_write(&self.base, "offsets"))?;
        self.remember(Earlier {
            targets,
            references,
        });
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<(), GraphError> {
        let base = self.base;
        let bits = self.graph.written();
        for (writer, ending) in [(self.graph, "graph"), (self.offsets, "offsets")] {
            let ended = writer
                .finish()
                .and_then(|file| file.into_inner().map_err(io::IntoInnerError::into_error))
                .and_then(|file| file.sync_all());
            ended.map_err(cannot_write(&base, ending))?;
        }
        let written = fs::write(
            with_ending(&base, "properties"),
            self.properties.to_text(bits),
        );
        written.map_err(cannot_write(&base, "properties"))
    }

    /// Puts the shortest description of a page in `best`, and says how many references have to be followed to read it.
    fn describe(&mut self, page: u64, targets: &[Page]) -> u64 {
        let format = self.properties.format;
        self.best.make(page, targets, None, &format);
        let mut references = 0;
        if targets.is_empty() {
            return references;
        }
        for (distance, earlier) in (1..).zip(&self.window) {
            if earlier.targets.is_empty() || format.references_max <= earlier.references {
                continue;
            }
            let reference = Reference {
                distance,
                targets: &earlier.targets,
            };
            self.tried.make(page, targets, Some(reference), &format);
            if self.tried.bits < self.best.bits {
                std::mem::swap(&mut self.best, &mut self.tried);
                references = earlier.references + 1;
            }
        }
        references
    }

    fn remember(&mut self, page: Earlier) {
        self.window.push_front(page);
        let length = usize::try_from(self.properties.format.window).unwrap_or(usize::MAX);
        self.window.truncate(length);
    }
}

const OFFSETS: Code = Code::Gamma;

fn cannot_write(base: &Path, ending: &str) -> impl FnOnce(io::Error) -> GraphError {
    let path = with_ending(base, ending);
    |source| GraphError::Write { path, source }
}

/// An earlier page's list, from which links are copied.
struct Reference<'a> {
    distance: u64,
    targets: &'a [Page],
}

/// The numbers that describe the links of a page, each with its code.
#[derive(Default)]
struct Description {
    numbers: Vec<(Code, u64)>,
    /// The length of all of them.
    bits: u64,
    /// The lengths of the blocks that are copied and skipped by turns, and the targets that are not copied.
    blocks: Vec<u64>,
    extra: Vec<Page>,
    residuals: Vec<Page>,
}

impl Description {
    fn make(&mut self, page: u64, targets: &[Page], reference: Option<Reference>, format: &Format) {
        self.numbers.clear();
        self.bits = 0;
        self.put(format.outdegrees, targets.len() as u64);
        if targets.is_empty() {
            return;
        }
        self.copy(targets, reference, format);
        self.find_intervals(page, format);
        let mut last = None;
        for at in 0..self.residuals.len() {
            let target = u64::from(self.residuals[at]);
            self.put(format.residuals, gap(page, last, target));
            last = Some(target);
        }
    }

    fn put(&mut self, code: Code, number: u64) {
        self.numbers.push((code, number));
        self.bits += code.length(number);
    }

    /// Describes what is copied; the rest of the targets is left in `extra`.
    fn copy(&mut self, targets: &[Page], reference: Option<Reference>, format: &Format) {
        self.extra.clear();
        let Some(reference) = reference else {
            self.put(format.references, 0);
            self.extra.extend_from_slice(targets);
            return;
        };
        self.put(format.references, reference.distance);
        self.compare(targets, reference.targets);
        self.put(format.blocks, self.blocks.len() as u64);
        for at in 0..self.blocks.len() {
            // Only the first block can be empty.
            self.put(format.blocks, self.blocks[at] - u64::from(at != 0));
        }
    }

    /// Finds the blocks of an earlier list that are copied and skipped by turns; the last one, which ends with the list, is left out.
    fn compare(&mut self, targets: &[Page], earlier: &[Page]) {
        self.blocks.clear();
        let mut rest = targets;
        let mut is_copied = true;
        let mut block = 0;
        for &candidate in earlier {
            let before = rest.partition_point(|&target| target < candidate);
            self.extra.extend_from_slice(&rest[..before]);
            rest = &rest[before..];
            let is_wanted = rest.first() == Some(&candidate);
            if is_wanted {
                rest = &rest[1..];
            }
            if is_wanted != is_copied {
                self.blocks.push(block);
                is_copied = is_wanted;
                block = 0;
            }
            block += 1;
        }
        self.extra.extend_from_slice(rest);
    }

    /// Describes runs of consecutive targets; the others are left in `residuals`.
    fn find_intervals(&mut self, page: u64, format: &Format) {
        self.residuals.clear();
        if self.extra.is_empty() {
            return;
        }
        let extra = std::mem::take(&mut self.extra);
        let runs = || extra.chunk_by(|first, second| first + 1 == *second);
        let is_interval = |run: &&[Page]| format.interval_min <= run.len() as u64;
        self.put(format.intervals, runs().filter(is_interval).count() as u64);
        let mut last = None;
        for run in runs() {
            if !is_interval(&run) {
                self.residuals.extend_from_slice(run);
                continue;
            }
            let (start, length) = (u64::from(run[0]), run.len() as u64);
            self.put(format.intervals, gap(page, last, start));
            self.put(format.intervals, length - format.interval_min);
            // Between two intervals there is a gap.
            last = Some(start + length);
        }
        self.extra = extra;
    }
}

/// How a target is written: as its distance from the page (even numbers up, odd ones down), or from what is before it in the list.
fn gap(page: u64, last: Option<u64>, target: u64) -> u64 {
    match last {
        Some(last) => target - last - 1,
        None if page <= target => 2 * (target - page),
        None => 2 * (page - target) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bv::fixture;
    use crate::bv::read::tests::weblike;

    #[test]
    fn files_are_those_of_the_reference_writer() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("graph");
        let mut writer = BvGraphWriter::create(base.clone()).unwrap();
        for list in weblike() {
            writer.page(&list).unwrap();
        }
        writer.finish().unwrap();
        for ending in ["graph", "offsets"] {
            let ours = fs::read(with_ending(&base, ending)).unwrap();
            let theirs = fs::read(with_ending(&fixture("default"), ending)).unwrap();
            assert_eq!(ours, theirs, "{ending}");
        }
    }
}
