//! What came of visits: how many found a version that was new to us, and how long our copies were current.

use std::ops::AddAssign;

/// Counts of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// First visits of pages: not counted below.
    pub first_visits: u64,
    /// Visits that found a new version.
    pub captured: u64,
    /// Visits that found nothing new.
    pub wasted: u64,
    /// Visits that found the page gone.
    pub gone: u64,
    /// Versions that came to be: every modification.
    pub versions: u64,
    /// Seconds, over all known pages, in which our copy was current.
    pub current_seconds: f64,
    /// Seconds, over all known pages, in which they were there.
    pub known_seconds: f64,
}

impl Tally {
    /// Visits to known pages.
    #[must_use]
    pub fn visits(&self) -> u64 {
        self.captured + self.wasted + self.gone
    }

    /// The share of versions that were captured.
    #[must_use]
    pub fn capture(&self) -> f64 {
        share(self.captured as f64, self.versions as f64)
    }

    /// The share of the time in which our copies were current.
    #[must_use]
    pub fn freshness(&self) -> f64 {
        share(self.current_seconds, self.known_seconds)
    }

    /// New versions per visit.
    #[must_use]
    pub fn per_visit(&self) -> f64 {
        share(self.captured as f64, self.visits() as f64)
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.first_visits += other.first_visits;
        self.captured += other.captured;
        self.wasted += other.wasted;
        self.gone += other.gone;
        self.versions += other.versions;
        self.current_seconds += other.current_seconds;
        self.known_seconds += other.known_seconds;
    }
}

fn share(part: f64, whole: f64) -> f64 {
    if 0.0 < whole { part / whole } else { 0.0 }
}
