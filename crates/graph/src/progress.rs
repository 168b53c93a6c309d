//! How far a long operation has come, for a bar that somebody else draws.
//!
//! Everything here that may take more than a second takes a `&mut dyn FnMut(Progress)` and calls it now and then, always
//! from the thread that called. Nothing is printed.

/// A step of a long operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Links are read; counts bytes of the file.
    ReadLinks,
    /// URLs or host names are read; counts bytes of the file.
    ReadNames,
    /// Links are arranged by page; counts links.
    Arrange,
    /// Links are generated; counts pages.
    Generate,
    /// A graph is written; counts pages.
    Write,
    /// `PageRank` is computed; counts iterations, of as many as the tolerance is expected to need.
    PageRank,
    /// Strongly connected components are found; counts pages.
    Components,
}

/// How far a stage has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// How much of it is done.
    pub done: u64,
    /// How much there is to do; an estimate for [`Stage::PageRank`], which may end earlier.
    pub total: u64,
}

/// Takes reports and does nothing with them.
pub fn unwatched(_: Progress) {}

/// Reports one stage, and not more often than is of use.
pub(crate) struct Reporter<'a> {
    sink: &'a mut dyn FnMut(Progress),
    stage: Stage,
    total: u64,
    next: u64,
}

impl<'a> Reporter<'a> {
    /// Reports in a stage, apart from the first and the last.
    const REPORTS: u64 = 200;

    pub(crate) fn new(sink: &'a mut dyn FnMut(Progress), stage: Stage, total: u64) -> Self {
        let mut reporter = Self {
            sink,
            stage,
            total,
            next: 0,
        };
        reporter.at(0);
        reporter
    }

    /// Reports if there is a noticeable advance since the last time.
    #[inline]
    pub(crate) fn at(&mut self, done: u64) {
        if self.next <= done {
            self.report(done);
        }
    }

    /// Reports the end of the stage.
    pub(crate) fn finish(mut self) {
        let total = self.total;
        if self.next <= total || total == 0 {
            self.report(total);
        }
    }

    fn report(&mut self, done: u64) {
        (self.sink)(Progress {
            stage: self.stage,
            done: done.min(self.total),
            total: self.total,
        });
        self.next = done.saturating_add((self.total / Self::REPORTS).max(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_reported_from_start_to_end_in_bounded_number() {
        for total in [0, 1, 7, 1_000_000] {
            let mut seen = Vec::new();
            let mut sink = |progress: Progress| seen.push(progress.done);
            let mut reporter = Reporter::new(&mut sink, Stage::Arrange, total);
            (0..=total).for_each(|done| reporter.at(done));
            reporter.finish();
            assert_eq!((seen.first(), seen.last()), (Some(&0), Some(&total)));
            assert!(seen.len() <= 203, "{} reports", seen.len());
            assert!(seen.is_sorted());
        }
    }
}
