//! `junkai focus`: finds the sites that hold what is wanted, collects it, and finds it again.
//!
//! Each subcommand is a file below.

mod explain;
mod search;

use anyhow::Result;

use crate::exit::Ending;

/// What focus can do, in the order of use.
#[derive(clap::Subcommand)]
pub(crate) enum Focus {
    /// Say what a site is taken for, and by which pages.
    Explain(explain::Arguments),
    /// Find data files in the catalogue by words.
    Search(search::Arguments),
}

/// Does it.
pub(crate) fn run(focus: Focus) -> Result<Ending> {
    match focus {
        Focus::Explain(arguments) => explain::run(&arguments),
        Focus::Search(arguments) => search::run(&arguments),
    }
}
