//! A progress bar on standard error, where there is a terminal.

use std::io::Write;
use std::time::{Duration, Instant};

use junkai_graph::{Progress, Stage};

use crate::block;

/// Between two looks of the bar.
const DRAW_EVERY: Duration = Duration::from_millis(100);
/// Characters of a full bar, where there is room for it, and of what stands beside it.
const WIDTH: usize = 30;
const BESIDE_COLUMNS: usize = 30;

/// Shows how far a long operation has come.
pub struct Bar {
    is_shown: bool,
    name: Option<&'static str>,
    drawn: Instant,
    is_dirty: bool,
}

impl Bar {
    /// A bar that is not drawn yet.
    #[must_use]
    pub fn new() -> Bar {
        Bar {
            is_shown: block::is_live(),
            name: None,
            drawn: Instant::now(),
            is_dirty: false,
        }
    }

    /// Draws how far a graph's stage has come, if it is time to.
    pub fn show(&mut self, progress: Progress) {
        self.at(name(progress.stage), progress.done, progress.total);
    }

    /// Draws how far something else has come, if it is time to.
    pub fn at(&mut self, name: &'static str, done: u64, total: u64) {
        let is_new = self.name != Some(name);
        if !self.is_shown || (!is_new && self.drawn.elapsed() < DRAW_EVERY) {
            return;
        }
        self.name = Some(name);
        self.drawn = Instant::now();
        self.is_dirty = true;
        let width = block::size().columns.saturating_sub(BESIDE_COLUMNS);
        let line = line(name, done, total, width.min(WIDTH));
        write(&format!("\r\x1b[K{line}"));
    }

    /// Clears the line.
    pub fn finish(&mut self) {
        if std::mem::take(&mut self.is_dirty) {
            write("\r\x1b[K");
        }
    }
}

impl Default for Bar {
    fn default() -> Bar {
        Bar::new()
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}

fn line(name: &str, done: u64, total: u64, width: usize) -> String {
    let total = total.max(1);
    let done = done.min(total);
    let part = |whole: u64| {
        u64::try_from(u128::from(whole) * u128::from(done) / u128::from(total)).unwrap_or(whole)
    };
    let filled = usize::try_from(part(width as u64)).unwrap_or_default();
    let empty = width - filled;
    format!(
        "{:<22} {}{} {:>3} %",
        name,
        "█".repeat(filled),
        "░".repeat(empty),
        part(100)
    )
}

fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::ReadLinks => "reading links",
        Stage::ReadNames => "reading names",
        Stage::Arrange => "arranging links",
        Stage::Generate => "generating links",
        Stage::Write => "writing",
        Stage::PageRank => "PageRank",
        Stage::Components => "connected components",
        _ => "working",
    }
}

/// Writes to the terminal as it is, with what moves the cursor: our own words alone.
pub fn write(text: &str) {
    let mut out = std::io::stderr().lock();
    // A terminal that has gone away is no reason to stop.
    let _unseen = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_with_what_is_done() {
        let at = |done, total| line("writing", done, total, WIDTH);
        assert!(at(0, 10).ends_with("░   0 %"), "{}", at(0, 10));
        assert!(at(10, 10).ends_with("█ 100 %"), "{}", at(10, 10));
        assert!(at(5, 10).ends_with(" 50 %"), "{}", at(5, 10));
        assert_eq!(at(5, 10).matches('█').count(), 15);
        // Nothing to do, or more done than there was.
        assert!(at(0, 0).ends_with("  0 %"));
        assert!(at(u64::MAX, 3).ends_with("100 %"));
        // No room.
        assert!(line("writing", 5, 10, 0).ends_with(" 50 %"));
    }
}
