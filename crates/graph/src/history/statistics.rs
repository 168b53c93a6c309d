//! What a history is like, in a few numbers: to be printed beside those of other histories.

use std::time::Duration;

use serde::Serialize;

use super::{BULK_PAGES_MAX, EventKind, History};

/// Gaps between the changes of a page from which on it counts for [`HistoryStatistics::gap_dispersion`].
const GAPS_MIN: usize = 5;

const DAY_SECONDS: f64 = 86_400.0;

/// What a history is like. Shares are between 0 and 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryStatistics {
    /// What the history is called.
    pub name: String,
    /// Pages that there ever were.
    pub pages: u32,
    /// Pages that are there at the end.
    pub pages_at_end: u32,
    /// All events.
    pub events: u64,
    /// Events by which a page came to be, or came back.
    pub additions: u64,
    /// Events by which a page changed.
    pub modifications: u64,
    /// Events by which a page went.
    pub deletions: u64,
    /// From the first event to the last.
    pub span: Duration,
    /// The page in the middle, when ordered by modifications, has this many.
    pub modifications_median: u32,
    /// Pages that are never modified.
    pub unmodified_share: f64,
    /// Days between the modifications of a page, on average over all such gaps.
    pub gap_days_mean: f64,
    /// The coefficient of variation of these gaps, each divided by the mean of its page: 1 for Poisson changes, more where
    /// they come in bursts. None if no page has enough of them.
    pub gap_dispersion: Option<f64>,
    /// Share of the events that are part of a bulk rebuild: a publication of more than 300 events.
    pub bulk_share: f64,
}

impl History {
    /// What the history is like.
    #[must_use]
    pub fn statistics(&self) -> HistoryStatistics {
        let mut counts = [0_u64; 3];
        let mut at_end = 0;
        let mut modifications = Vec::with_capacity(self.page_count() as usize);
        let mut gaps = Gaps::default();
        for page in self.pages() {
            let events = self.events(page);
            let kinds = events.iter().map(|event| event.kind);
            kinds.for_each(|kind| counts[kind as usize] += 1);
            let last = events.last().map(|event| event.kind);
            at_end += u32::from(last.is_some_and(|kind| kind != EventKind::Deleted));
            let is_modified = |event: &&super::Event| event.kind == EventKind::Modified;
            modifications.push(events.iter().filter(is_modified).count());
            gaps.add_page(events);
        }
        modifications.sort_unstable();
        let unmodified = modifications.partition_point(|&count| count == 0);
        let median = modifications.get(modifications.len() / 2);
        let bulk = self.publications().into_values();
        let bulk: u64 = bulk
            .filter(|&size| BULK_PAGES_MAX < size)
            .map(u64::from)
            .sum();
        let [additions, modified, deletions] = counts;
        HistoryStatistics {
            name: self.name.clone(),
            pages: self.page_count(),
            pages_at_end: at_end,
            events: self.event_count() as u64,
            additions,
            modifications: modified,
            deletions,
            span: self
                .span()
                .map_or(Duration::ZERO, |(first, last)| last.since(first)),
            modifications_median: median
                .and_then(|&count| u32::try_from(count).ok())
                .unwrap_or(0),
            unmodified_share: share(unmodified as u64, self.page_count().into()),
            gap_days_mean: gaps.mean_days(),
            gap_dispersion: gaps.dispersion(),
            bulk_share: share(bulk, self.event_count() as u64),
        }
    }
}

/// What is kept of the gaps between modifications.
#[derive(Default)]
struct Gaps {
    seconds: f64,
    count: u64,
    /// Of gaps divided by the mean of their page: the sum of squares of what they differ from 1, and how many they are, less
    /// one for each page whose mean was taken from them.
    squares: f64,
    freedom: u64,
}

impl Gaps {
    fn add_page(&mut self, events: &[super::Event]) {
        // What lies between going and coming back is no gap between changes.
        let lives = events.split(|event| event.kind == EventKind::Deleted);
        let gaps: Vec<f64> = lives
            .flat_map(|life| life.windows(2))
            .filter(|pair| pair[1].kind == EventKind::Modified)
            .map(|pair| pair[1].at.since(pair[0].at).as_secs_f64())
            .collect();
        let sum: f64 = gaps.iter().sum();
        self.seconds += sum;
        self.count += gaps.len() as u64;
        if gaps.len() < GAPS_MIN || sum <= 0.0 {
            return;
        }
        let mean = sum / gaps.len() as f64;
        let squares = gaps.iter().map(|gap| (gap / mean - 1.0).powi(2));
        self.squares += squares.sum::<f64>();
        self.freedom += gaps.len() as u64 - 1;
    }

    fn mean_days(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        self.seconds / self.count as f64 / DAY_SECONDS
    }

    fn dispersion(&self) -> Option<f64> {
        (0 < self.freedom).then(|| (self.squares / self.freedom as f64).sqrt())
    }
}

impl HistoryStatistics {
    /// The statistics as rows for people: what it is, and its value.
    #[must_use]
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let days = self.span.as_secs_f64() / DAY_SECONDS;
        let dispersion = self.gap_dispersion;
        vec![
            ("pages", self.pages.to_string()),
            ("pages at the end", self.pages_at_end.to_string()),
            ("events", self.events.to_string()),
            ("pages added", self.additions.to_string()),
            ("pages modified", self.modifications.to_string()),
            ("pages deleted", self.deletions.to_string()),
            ("days from first to last", format!("{days:.0}")),
            (
                "modifications of a page, median",
                self.modifications_median.to_string(),
            ),
            ("pages never modified", percent(self.unmodified_share)),
            (
                "days between modifications, mean",
                format!("{:.1}", self.gap_days_mean),
            ),
            (
                "dispersion of these gaps (Poisson: 1)",
                dispersion.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}")),
            ),
            ("events in bulk rebuilds", percent(self.bulk_share)),
        ]
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::tests::history;

    #[test]
    fn a_small_history_is_counted() {
        const DAY: u64 = 86_400;
        let statistics = history(&[
            (0, "A", "a"),
            (DAY, "M", "a"),
            (4 * DAY, "M", "a"),
            (5 * DAY, "D", "a"),
            (9 * DAY, "A", "a"),
            (10 * DAY, "A", "b"),
            (11 * DAY, "D", "b"),
        ])
        .statistics();
        assert_eq!((statistics.pages, statistics.pages_at_end), (2, 1));
        assert_eq!(
            (
                statistics.additions,
                statistics.modifications,
                statistics.deletions
            ),
            (3, 2, 2)
        );
        assert_eq!(statistics.span, Duration::from_secs(11 * DAY));
        assert!((statistics.unmodified_share - 0.5).abs() < 1e-12);
        assert!(
            (statistics.gap_days_mean - 2.0).abs() < 1e-12,
            "the days away are no gap"
        );
        assert_eq!(statistics.gap_dispersion, None);
        assert_eq!(statistics.rows().len(), 12);
    }

    #[test]
    fn regular_changes_have_no_dispersion_and_bulk_is_found() {
        let paths: Vec<String> = (0..301).map(|page| page.to_string()).collect();
        let mut events: Vec<_> = (1..=10).map(|at| (100 * at, "M", "x")).collect();
        events.extend(paths.iter().map(|path| (5, "A", path.as_str())));
        let statistics = history(&events).statistics();
        assert!(statistics.gap_dispersion.unwrap() < 1e-9);
        assert!((statistics.bulk_share - 301.0 / 311.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_has_statistics() {
        let statistics = history(&[]).statistics();
        assert_eq!(statistics.span, Duration::ZERO);
        assert_eq!(statistics.modifications_median, 0);
    }
}
