//! What an archive does not have although it was found: left out by a bound, or lost to damage. Counted over all runs, in the manifest.

use serde::{Deserialize, Serialize};

use crate::progress::Progress;

/// Counts of what was left out or lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Losses {
    /// Answers that were not kept to their end, because they were too long, took too long or broke off.
    pub bodies_cut: u64,
    /// Links that were left out because their page has too many, or they are too long, each or together.
    pub links_left_out: u64,
    /// New URLs that were refused because too much waited.
    pub urls_refused: u64,
    /// Waiting visits that were lost to damage.
    pub visits_lost: u64,
    /// States of known pages that were lost to damage.
    pub states_lost: u64,
}

impl Losses {
    /// These, and those of the run that is under way.
    #[must_use]
    pub fn with(self, run: &Progress) -> Losses {
        Losses {
            bodies_cut: self.bodies_cut + run.bodies_cut.read(),
            links_left_out: self.links_left_out + run.links_left_out.read(),
            urls_refused: self.urls_refused + run.urls_refused.read(),
            visits_lost: self.visits_lost + run.visits_lost.read(),
            states_lost: self.states_lost + run.states_lost.read(),
        }
    }
}
