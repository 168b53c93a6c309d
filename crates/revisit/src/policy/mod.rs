//! When to come back, by what is believed of a page.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::belief::Belief;

/// How the time of the next visit follows from what is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyKind {
    /// Seed 002: the interval between visits is the interval between changes.
    #[default]
    Seed,
}

impl PolicyKind {
    /// From one visit to the next, before bounds and the server's needs.
    pub(crate) fn interval(self, belief: &Belief) -> Duration {
        match self {
            PolicyKind::Seed => belief.change_interval(),
        }
    }
}
