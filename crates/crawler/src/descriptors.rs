//! File descriptors: how many the system gives, and how they are shared out.
//!
//! The crawl's own files come first: those that are open at the start, those that a worker opens, and a reserve for what is opened for a moment
//! or grows. The rest is for the network, and bounds how many visits are made at a time. So it is visits that wait when descriptors are few, and
//! never the archive.

use std::fs;

use rustix::process::{Resource, getrlimit, setrlimit};

use crate::CrawlError;

/// Descriptors of a worker: its event loop, a WARC file with its index, their successors, and the pipes of a program that reads PDF files.
const WORKER_OWN: usize = 8;
/// Descriptors for a visit: its connection, and a file for a large answer.
const VISIT_OWN: usize = 2;
/// Descriptors for a name that is asked for: by UDP and by TCP.
const NAME_OWN: usize = 2;
/// Names that a worker asks for at a time, at most.
const NAMES_MAX: usize = 64;
/// Bounds of the reserve for files that are opened later, which is else a quarter of all.
const RESERVE_MIN: usize = 12;
const RESERVE_MAX: usize = 64;

/// Who may have how many descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptors {
    /// For connections and large answers, over all workers.
    pub(crate) network: usize,
    /// Visits in flight that these are enough for.
    pub(crate) visits: usize,
    /// Names that a worker may ask for at a time.
    pub(crate) names_of_worker: usize,
    /// What the system allows in all.
    pub(crate) allowed: usize,
}

impl Descriptors {
    /// Shares out what the system allows.
    ///
    /// # Errors
    /// If that is not enough for a single visit.
    pub(crate) fn share_out(workers: usize) -> Result<Descriptors, CrawlError> {
        let allowed = getrlimit(Resource::Nofile).current;
        let allowed = allowed.map_or(usize::MAX, |number| {
            usize::try_from(number).unwrap_or(usize::MAX)
        });
        // Where there is no /proc, a crawl of many workers has some twenty.
        let open = fs::read_dir("/proc/self/fd").map_or(20, Iterator::count);
        Self::of(allowed, open, workers)
    }

    fn of(allowed: usize, open: usize, workers: usize) -> Result<Descriptors, CrawlError> {
        let reserve = (allowed / 4).clamp(RESERVE_MIN, RESERVE_MAX);
        let own = open + reserve + workers * WORKER_OWN;
        let left = allowed.saturating_sub(own);
        let names_of_worker = (left / (8 * workers * NAME_OWN)).clamp(1, NAMES_MAX);
        let names = workers * names_of_worker * NAME_OWN;
        let network = left.saturating_sub(names);
        // A third is for connections that idle between two visits.
        let visits = network / (VISIT_OWN + 1);
        if visits == 0 {
            let needed = own + names + VISIT_OWN + 1;
            return Err(CrawlError::OpenFiles { allowed, needed });
        }
        Ok(Descriptors {
            network,
            visits,
            names_of_worker,
            allowed,
        })
    }
}

/// Takes as many file descriptors as the system gives.
pub(crate) fn raise_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "cannot raise the limit of open files");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_allowed_is_enough_for_all_that_is_shared_out() {
        for workers in [1, 2, 16] {
            for allowed in (0..3000).chain([65_536, 1 << 20]) {
                let open = 25;
                match Descriptors::of(allowed, open, workers) {
                    Ok(shares) => {
                        let names = workers * shares.names_of_worker * NAME_OWN;
                        let sum = open + workers * WORKER_OWN + names + shares.network;
                        assert!(sum + RESERVE_MIN <= allowed, "{shares:?}");
                        assert!(shares.visits * VISIT_OWN < shares.network, "{shares:?}");
                    }
                    Err(CrawlError::OpenFiles { needed, .. }) => {
                        assert!(allowed < needed, "{allowed} < {needed}");
                        assert!(Descriptors::of(needed + needed / 3 + 1, open, workers).is_ok());
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }

    #[test]
    fn the_usual_limits_are_enough_for_many_visits() {
        assert!(512 <= Descriptors::of(4096, 30, 8).unwrap().visits);
        assert!(200 <= Descriptors::of(1024, 30, 2).unwrap().visits);
        assert!(1 <= Descriptors::of(64, 25, 2).unwrap().visits);
    }
}
