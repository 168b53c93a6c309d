//! The hot paths, each on the same input in every run.
//!
//! They go through the public doors of the rooms, as the crawler does. What is warm in a crawl (tables that are made once, files that are open) is made warm before
//! counting begins.

mod frontier;
mod page;
mod robots;

use anyhow::{Context as _, Result};

/// A path with a budget.
pub(crate) struct HotPath {
    /// As in the record.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) what: &'static str,
    /// The unit that its instructions are told for.
    pub(crate) each: &'static str,
    /// Sets everything up, and does it once within [`counted`](crate::count::counted).
    run: fn() -> Result<()>,
}

/// All of them.
pub(crate) const PATHS: &[HotPath] = &[
    path(
        "links",
        "a page's charset, links and robots directives",
        "page",
        page::links,
    ),
    path(
        "content",
        "what a page says, and its fingerprint",
        "page",
        page::content,
    ),
    path(
        "records",
        "a capture's records, compressed, and its index line",
        "capture",
        page::records,
    ),
    path(
        "canonical",
        "the canonical form of a link",
        "link",
        page::canonical,
    ),
    path(
        "robots-read",
        "robots.txt of seventy rules, read",
        "file",
        robots::read,
    ),
    path(
        "robots-question",
        "whether robots.txt allows a URL",
        "question",
        robots::question,
    ),
    path(
        "ring",
        "a visit is placed in the ring and taken",
        "visit",
        frontier::ring,
    ),
    path(
        "scheduler",
        "a visit is offered, started and ended",
        "visit",
        frontier::scheduler,
    ),
    path(
        "seen",
        "whether a URL is known, nine of ten are",
        "question",
        frontier::seen,
    ),
    path(
        "backlog",
        "a visit is appended, handed out and acknowledged",
        "visit",
        frontier::backlog,
    ),
    path(
        "state",
        "a page's state is written and read",
        "state",
        page::state,
    ),
];

const fn path(
    name: &'static str,
    what: &'static str,
    each: &'static str,
    run: fn() -> Result<()>,
) -> HotPath {
    HotPath {
        name,
        what,
        each,
        run,
    }
}

/// Goes along one path.
pub(crate) fn run(name: &str) -> Result<()> {
    let path = PATHS.iter().find(|path| path.name == name);
    let path = path.with_context(|| format!("there is no path {name}"))?;
    (path.run)()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_can_be_gone() {
        for path in PATHS {
            (path.run)().unwrap();
        }
    }
}
