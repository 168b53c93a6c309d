//! When a page changes: a Poisson process of its own for every page, computed and never stored.
//!
//! Time is cut into windows as long as the page's mean gap. A window holds Poisson(1) changes at uniform places, both
//! drawn from a hash of page and window; that is exactly a Poisson process, and the last change before any moment is
//! found by looking at that moment's window and, when it is empty, at those before it (1.6 of them on average).

use crate::chance::{Chance, Distributions as _, mix};

/// How one page changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangeProcess {
    key: u64,
    mean_gap_seconds: f64,
}

/// One version of a page: the moment it was made, in virtual seconds since the clock's origin.
///
/// Mostly negative in a young web: pages existed before anyone looked.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Version {
    pub(crate) made_at: f64,
}

impl Version {
    /// A number that differs from version to version.
    pub(crate) fn tag(self) -> u64 {
        mix(self.made_at.to_bits(), 0)
    }
}

/// Empty windows in a row before the search gives up; probability e^-64.
const WINDOWS_MAX: u32 = 64;

/// The shortest mean gap: keeps the windows of a wild draw from being so narrow that numbers blur.
const GAP_SECONDS_MIN: f64 = 1e-3;

impl ChangeProcess {
    /// The process of the page `key`, whose mean gap is drawn log-normally around `median_gap_seconds`.
    ///
    /// A median of 0 means that the page never changes.
    pub(crate) fn of_page(key: u64, median_gap_seconds: f64, spread: f64) -> Self {
        let factor = (Chance::about(key, 1).normal() * spread).exp();
        let mean_gap_seconds = if median_gap_seconds > 0.0 {
            (median_gap_seconds * factor).max(GAP_SECONDS_MIN)
        } else {
            f64::INFINITY
        };
        Self {
            key,
            mean_gap_seconds,
        }
    }

    /// The version that is current at virtual time `at`.
    pub(crate) fn version(&self, at: f64) -> Version {
        if self.mean_gap_seconds.is_infinite() {
            return Version { made_at: 0.0 };
        }
        let window = (at / self.mean_gap_seconds).floor();
        (0..WINDOWS_MAX)
            .find_map(|back| self.last_change(window - f64::from(back), at))
            .unwrap_or(Version {
                made_at: (window - f64::from(WINDOWS_MAX)) * self.mean_gap_seconds,
            })
    }

    /// The last change inside a window that is not after `at`.
    fn last_change(&self, window: f64, at: f64) -> Option<Version> {
        self.changes(window)
            .filter(|version| version.made_at <= at)
            .max_by(|left, right| left.made_at.total_cmp(&right.made_at))
    }

    fn changes(&self, window: f64) -> impl Iterator<Item = Version> {
        let mut chance = Chance::about(self.key, window.to_bits());
        let count = chance.poisson_one();
        let gap = self.mean_gap_seconds;
        (0..count).map(move |_| Version {
            made_at: (window + chance.unit()) * gap,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn process(key: u64) -> ChangeProcess {
        ChangeProcess {
            key,
            mean_gap_seconds: 10.0,
        }
    }

    #[test]
    fn the_process_has_the_rate_and_the_gaps_of_a_poisson_process() {
        let process = process(3);
        let mut times: Vec<f64> = (0..20_000)
            .flat_map(|window| process.changes(f64::from(window)))
            .map(|version| version.made_at)
            .collect();
        times.sort_by(f64::total_cmp);
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((mean - 10.0).abs() < 0.3, "mean gap {mean}");
        // Exponential gaps: the share above the mean is 1/e.
        let above = gaps.iter().filter(|&&gap| gap > 10.0).count() as f64 / gaps.len() as f64;
        assert!((above - (-1.0_f64).exp()).abs() < 0.02, "share {above}");
    }

    #[test]
    fn a_page_without_a_rate_never_changes() {
        let process = ChangeProcess::of_page(5, 0.0, 1.0);
        assert_eq!(process.version(-1e9), process.version(1e9));
    }

    proptest! {
        #[test]
        fn versions_only_go_forward_and_never_come_from_the_future(key: u64, mut times in prop::collection::vec(-1e4..1e4_f64, 2..50)) {
            let process = process(key);
            times.sort_by(f64::total_cmp);
            let versions: Vec<_> = times.iter().map(|&at| process.version(at)).collect();
            prop_assert!(versions.windows(2).all(|pair| pair[0] <= pair[1]));
            prop_assert!(versions.iter().zip(&times).all(|(version, &at)| version.made_at <= at));
            // Asking again at the very moment of the change finds the same version.
            for version in versions {
                prop_assert_eq!(process.version(version.made_at), version);
            }
        }
    }
}
