//! What deciding where to look costs: `classify`, a page from its bytes to the probability that its site holds what is wanted, and
//! `choose`, which site to ask next among many.

mod choose;
mod classify;

use anyhow::Result;

use crate::Common;
use crate::report::Report;

/// What `bench focus` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    classify: classify::Arguments,
    #[command(flatten)]
    choose: choose::Arguments,
}

/// Measures, and prints.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut report = Report::new("focus");
    classify::run(&mut report, &arguments.classify, arguments.common.repeat)?;
    choose::run(&mut report, &arguments.choose, arguments.common.repeat);
    report.finish(arguments.common.json.as_deref())
}
