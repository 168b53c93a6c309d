//! Policies at their own pace, without a budget: the paper's figures 3 and 4, and ours beside them.

use std::time::Duration;

use super::Subject;
use crate::revisit::{Contestant, Setting, Tally, predict};

/// One policy on one web, for as long as its history is.
pub(super) struct Loop {
    pub(super) subject: usize,
    pub(super) contestant: Contestant,
    pub(super) tally: Tally,
    /// Planned intervals of pages that were visited more than once, in days.
    pub(super) intervals: Vec<f64>,
    /// For bins of intervals: versions found per visit.
    pub(super) detection: Vec<Detection>,
}

/// Pages whose interval falls into one bin.
pub(super) struct Detection {
    /// Where the bin begins, in days.
    pub(super) from: f64,
    /// Where it ends.
    pub(super) to: f64,
    pub(super) pages: u64,
    /// Mean over the pages of new versions per visit.
    pub(super) mean: f64,
    /// Standard deviation.
    pub(super) deviation: f64,
}

/// Who is let loose.
pub(super) const LOOPERS: [Contestant; 2] = [Contestant::IntervalGeometricMean, Contestant::Index];

/// Bins of intervals, in days: as the paper draws them, a week and then longer and longer.
const BINS: [f64; 10] = [0.0, 1.0, 3.0, 7.0, 14.0, 30.0, 60.0, 120.0, 300.0, 400.1];

pub(super) fn run(subjects: &[Subject]) -> Vec<Loop> {
    let mut loops = Vec::new();
    for (place, subject) in subjects.iter().enumerate() {
        for contestant in LOOPERS {
            loops.push(run_one(place, subject, contestant));
        }
    }
    loops
}

fn run_one(place: usize, subject: &Subject, contestant: Contestant) -> Loop {
    let mut config = contestant.config();
    // The paper's own resolution.
    config.interval_min = Duration::from_hours(24);
    let prediction = predict(subject.web(0), &Setting::new(config));
    let visited = prediction.pages.iter().filter_map(|page| {
        let interval = page.interval?.as_secs_f64() / 86_400.0;
        let visits = page.captured + page.wasted;
        (0 < visits).then(|| (interval, f64::from(page.captured) / f64::from(visits)))
    });
    let visited: Vec<(f64, f64)> = visited.collect();
    let detection = BINS
        .windows(2)
        .map(|edges| detection(&visited, edges[0], edges[1]));
    Loop {
        subject: place,
        contestant,
        tally: prediction.tally,
        detection: detection.collect(),
        intervals: visited.into_iter().map(|(interval, _)| interval).collect(),
    }
}

fn detection(visited: &[(f64, f64)], from: f64, to: f64) -> Detection {
    let rates: Vec<f64> = visited
        .iter()
        .filter(|(interval, _)| from <= *interval && *interval < to)
        .map(|(_, rate)| *rate)
        .collect();
    let count = rates.len().max(1) as f64;
    let mean = rates.iter().sum::<f64>() / count;
    let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    Detection {
        from,
        to,
        pages: rates.len() as u64,
        mean,
        deviation: (squares / count).sqrt(),
    }
}

impl Loop {
    /// The share of pages whose interval is from 300 to 400 days, and from 200 to 300.
    pub(super) fn spike(&self) -> (f64, f64) {
        let share = |from: f64, to: f64| {
            let within = self.intervals.iter();
            let within = within.filter(|days| from <= **days && **days < to).count();
            within as f64 / self.intervals.len().max(1) as f64
        };
        (share(300.0, 400.1), share(200.0, 300.0))
    }

    /// Bins with enough pages to speak of.
    pub(super) fn known_bins(&self) -> impl Iterator<Item = &Detection> {
        const PAGES_MIN: u64 = 10;
        self.detection.iter().filter(|bin| PAGES_MIN <= bin.pages)
    }
}
