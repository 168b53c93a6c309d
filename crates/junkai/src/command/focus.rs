//! `junkai focus`: finds the sites that hold what is wanted, collects it, and finds it again.
//!
//! Each subcommand is a file below; `run` is what those have in common that crawl.

mod collect;
mod explain;
mod explore;
mod run;
mod search;
mod train;

use anyhow::Result;

use crate::exit::Ending;

/// What focus can do, in the order of use.
#[derive(clap::Subcommand)]
pub(crate) enum Focus {
    /// Learn from labelled sites what is wanted, and say how well.
    Train(train::Arguments),
    /// Find out by few fetches which sites hold what is wanted.
    Explore(explore::Arguments),
    /// Say what a site is taken for, and by which pages.
    Explain(explain::Arguments),
    /// Get the data files of the sites that hold them, and list them.
    Collect(collect::Arguments),
    /// Find data files in the catalogue by words.
    Search(search::Arguments),
}

/// Does it.
pub(crate) fn run(focus: Focus) -> Result<Ending> {
    match focus {
        Focus::Train(arguments) => train::run(&arguments),
        Focus::Explore(arguments) => explore::run(arguments),
        Focus::Explain(arguments) => explain::run(&arguments),
        Focus::Collect(arguments) => collect::run(&arguments),
        Focus::Search(arguments) => search::run(&arguments),
    }
}
