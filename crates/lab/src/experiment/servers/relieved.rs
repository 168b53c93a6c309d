//! One overloaded server, by each relief: what was lost is measured beside the same server without bounds.

use std::num::NonZeroU32;
use std::time::Duration;

use junkai_graph::history::{GeneratorConfig, HistoryError, generate};
use junkai_revisit::{ReliefKind, RevisitConfig, ServersConfig};
use rayon::prelude::*;

use super::ServersExperiment;
use crate::revisit::{ChangingWeb, Prediction, Setting, Tally, predict};

/// How many times what the server can bear its pages ask for.
pub(super) const OVERLOADS: [f64; 2] = [2.0, 5.0];

/// Templates of the server's pages.
const TEMPLATES: u32 = 50;

/// What became of the server.
pub(super) struct Relieved {
    pub(super) overload: f64,
    /// None: nothing was done.
    pub(super) kind: Option<ReliefKind>,
    pub(super) tally: Tally,
    load: f64,
    capacity: f64,
    pub(super) capture_lost: f64,
    pub(super) freshness_lost: f64,
    pub(super) versions_lost_expected: u64,
}

impl Relieved {
    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            None => "none",
            Some(ReliefKind::Price) => "price",
            Some(ReliefKind::Stretch) => "stretch",
            Some(ReliefKind::Delay) => "delay",
            Some(ReliefKind::Templates) => "templates",
            Some(ReliefKind::Content) => "content",
        }
    }

    /// The load at the end, as a share of what the server can bear.
    pub(super) fn load_ratio(&self) -> f64 {
        self.load / self.capacity
    }
}

/// Content is left out: pages that are simulated have no text to compare.
const KINDS: [ReliefKind; 4] = [
    ReliefKind::Price,
    ReliefKind::Stretch,
    ReliefKind::Delay,
    ReliefKind::Templates,
];

pub(super) fn run(experiment: &ServersExperiment) -> Result<Vec<Relieved>, HistoryError> {
    let config = GeneratorConfig {
        pages: experiment.pages,
        span: Duration::from_hours(24 * u64::from(experiment.days)),
        ..GeneratorConfig::default()
    };
    let history = generate(&config, experiment.seed)?.history;
    let templates = NonZeroU32::new(TEMPLATES).unwrap_or(NonZeroU32::MIN);
    let web = ChangingWeb::in_folders(history, templates);
    let free = predict(&web, &setting(Duration::from_millis(1), &[]));
    let mut cases: Vec<(f64, Option<ReliefKind>)> = Vec::new();
    for overload in OVERLOADS {
        cases.push((overload, None));
        cases.extend(KINDS.map(|kind| (overload, Some(kind))));
    }
    let relieved = cases.into_par_iter().map(|(overload, kind)| {
        // Half of its visits are for known pages.
        let pace =
            Duration::from_secs_f64(0.5 * overload / free.server.load.max(f64::MIN_POSITIVE));
        let kinds: Vec<ReliefKind> = kind.into_iter().collect();
        let prediction = predict(&web, &setting(pace, &kinds));
        relieved(overload, kind, &prediction, &free)
    });
    Ok(relieved.collect())
}

/// A crawl without a budget of a server that can be visited once in `pace`.
fn setting(pace: Duration, relief: &[ReliefKind]) -> Setting {
    Setting::new(RevisitConfig {
        servers: ServersConfig {
            interval: pace,
            interval_large: pace,
            relief: relief.to_vec(),
            ..ServersConfig::default()
        },
        ..RevisitConfig::default()
    })
}

fn relieved(
    overload: f64,
    kind: Option<ReliefKind>,
    prediction: &Prediction,
    free: &Prediction,
) -> Relieved {
    let server = &prediction.server;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count, and not negative"
    )]
    let versions_lost_expected = server.cost.versions_lost.round() as u64;
    Relieved {
        overload,
        kind,
        tally: prediction.tally,
        load: server.load,
        capacity: server.capacity,
        capture_lost: free.tally.capture() - prediction.tally.capture(),
        freshness_lost: free.tally.freshness() - prediction.tally.freshness(),
        versions_lost_expected,
    }
}
