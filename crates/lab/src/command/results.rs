//! What every experiment takes beside its own settings, and does with its outcome.

use std::path::PathBuf;

use anyhow::Result;
use junkai_simulation::outcome::Outcome;
use junkai_terminal::exit::Ending;
use junkai_terminal::show::{self, SharedBar, Shown};

use super::experiment::OUT_DEFAULT;

/// Where chance begins, and where the outcome goes.
#[derive(clap::Args)]
pub(super) struct Results {
    /// What everything that is left to chance is drawn from.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// The folder to write to; the experiment has its own below it.
    #[arg(long, short, value_name = "DIR", default_value = OUT_DEFAULT)]
    out: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Results {
    /// Runs an experiment under a progress bar, writes its outcome and prints it.
    pub(super) fn of(
        &self,
        experiment: impl FnOnce(&SharedBar) -> Result<Outcome>,
    ) -> Result<Ending> {
        show::prepare(&self.out)?;
        let bar = SharedBar::new();
        let outcome = experiment(&bar)?;
        drop(bar);
        let shown = Shown {
            written: Some(show::write(&outcome, &self.out)?),
            out_again: show::out_again_unless(&self.out, OUT_DEFAULT),
            json: self.json,
        };
        show::outcome(&outcome, &shown)?;
        Ok(Ending::Well)
    }
}
