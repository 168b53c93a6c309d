//! How many visits may be in flight: as settings, the system and the end of the crawl allow.

use super::shared::Shared;

/// What bounds the visits of a run.
#[derive(Debug)]
pub(super) struct Limits {
    /// Visits in flight that the system's limits are enough for.
    visits_max: usize,
    /// Bytes that the visits of this run have received, as far as they were reported.
    pub(super) bytes_received: u64,
    /// The crawl is about to end: nothing more is started.
    pub(super) is_winding_down: bool,
}

impl Limits {
    /// Of a run that begins, on a system that bears so many visits in flight.
    pub(super) fn new(visits_max: usize) -> Limits {
        Limits {
            visits_max,
            bytes_received: 0,
            is_winding_down: false,
        }
    }

    /// How many visits may be in flight: none at the end and while the disk is full, and no more than pages are still asked for. `borne` are bounds of the moment, where
    /// our machine is short of something; `fetches_left` those of a focused crawl.
    pub(super) fn starts_allowed(
        &self,
        borne: Option<usize>,
        fetches_left: Option<u64>,
        shared: &Shared,
    ) -> usize {
        let is_over = self.is_winding_down || self.are_bytes_reached(shared);
        if is_over || shared.progress.is_disk_full() {
            return 0;
        }
        let crawl = &shared.settings.crawl;
        let borne = borne.unwrap_or(usize::MAX);
        let most = crawl.concurrency.get().min(self.visits_max).min(borne);
        let pages = shared.progress.pages.read();
        let pages_left = crawl
            .pages_max
            .map(|pages_max| pages_max.saturating_sub(pages));
        let left = [pages_left, fetches_left].into_iter().flatten().min();
        left.and_then(|left| usize::try_from(left).ok())
            .map_or(most, |left| most.min(left))
    }

    /// Whether as many bytes were received as were asked for.
    pub(super) fn are_bytes_reached(&self, shared: &Shared) -> bool {
        let bytes_max = shared.settings.crawl.bytes_max;
        bytes_max.is_some_and(|bytes_max| bytes_max.as_u64() <= self.bytes_received)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Parts;
    use super::*;

    #[test]
    fn no_more_visits_start_than_pages_are_left_and_the_machine_bears() {
        let shared = Parts::with(|settings| settings.crawl.pages_max = Some(5)).shared;
        let limits = Limits::new(64);
        assert_eq!(limits.starts_allowed(None, None, &shared), 5);
        shared.progress.pages.add(2);
        assert_eq!(limits.starts_allowed(None, None, &shared), 3);
        assert_eq!(limits.starts_allowed(None, Some(1), &shared), 1);
        assert_eq!(limits.starts_allowed(Some(2), None, &shared), 2);
        assert_eq!(Limits::new(1).starts_allowed(None, None, &shared), 1);
    }

    #[test]
    fn nothing_starts_at_the_end() {
        let shared = Parts::with(|_| {}).shared;
        let mut limits = Limits::new(64);
        assert!(0 < limits.starts_allowed(None, None, &shared));
        limits.is_winding_down = true;
        assert_eq!(limits.starts_allowed(None, None, &shared), 0);
    }
}
