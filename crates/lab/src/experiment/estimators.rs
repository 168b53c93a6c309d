//! How well each estimator tells how often a page changes: Tamura and Kitsuregawa's (2007) equation 4, and ours.
//!
//! Three trials. *Open loop*: pages that change by a Poisson process are visited at gaps that nobody chooses, regular or
//! not, and the estimate is compared with the truth. *Closed loop*: the estimate sets the next gap, as in the paper's
//! crawler. *Replay*: pages of real sites are visited at gaps that nobody chooses, and each estimator foretells, before every
//! visit, the chance of a change; there is no truth to compare with, but there is what the visit finds.
//!
//! Every estimator sees the same visits of the same pages. Where equation 4 and the exact solution have no answer (nothing or
//! everything changed), they answer by the paper's back-off, as a crawler would.

mod claims;
mod closed_loop;
mod contestant;
mod draw;
mod open_loop;
mod replay;
mod tables;

use std::time::Duration;

use junkai_graph::history::History;
use junkai_revisit::RevisitConfig;
use junkai_simulation::outcome::{Outcome, Parameter};

use self::closed_loop::ClosedLoop;
use self::open_loop::OpenLoop;
use self::replay::Replay;
use super::words::{count, parameter};
use super::{Progress, Watch};

/// The settings of the experiment.
#[derive(Clone, Debug)]
pub struct EstimatorsExperiment {
    /// Simulated pages for each row of the open loop. Default 2000.
    pub runs: u32,
    /// Simulated pages of the closed loop. Default 3000.
    pub pages: u32,
    /// Pages of a history that are replayed, drawn at random where there are more. Default 2000.
    pub replayed_max: u32,
    /// The time in which our filters forget, when a history is replayed. Default as a crawl has it.
    pub forgetting: Duration,
    /// What chance is drawn from. Default 1.
    pub seed: u64,
    /// The command that repeats it, as it is to be printed. Default none.
    pub command: String,
}

impl Default for EstimatorsExperiment {
    fn default() -> EstimatorsExperiment {
        EstimatorsExperiment {
            runs: 2000,
            pages: 3000,
            replayed_max: 2000,
            forgetting: RevisitConfig::default().forgetting,
            seed: 1,
            command: String::new(),
        }
    }
}

/// Runs it, with these histories to replay.
pub fn run(histories: &[History], experiment: &EstimatorsExperiment, watch: Watch<'_>) -> Outcome {
    let trials = (open_loop::SITUATIONS.len() + 1 + histories.len()) as u64;
    let meter = |done| {
        watch(Progress {
            done,
            total: trials,
        });
    };
    let open = OpenLoop::run(experiment, meter);
    let closed = ClosedLoop::run(experiment);
    meter(open_loop::SITUATIONS.len() as u64 + 1);
    let mut replays = Vec::new();
    for history in histories {
        replays.push(Replay::run(history, experiment));
        meter(trials - (histories.len() - replays.len()) as u64);
    }
    let results = Results {
        open,
        closed,
        replays,
    };
    Outcome {
        name: "estimators".to_owned(),
        title: "How often a page changes: our estimator against Tamura and Kitsuregawa's (2007)"
            .to_owned(),
        command: experiment.command.clone(),
        parameters: results.parameters(experiment),
        findings: results.findings(),
        claims: results.claims(),
        tables: results.tables(),
        figures: results.figures(),
    }
}

struct Results {
    open: OpenLoop,
    closed: ClosedLoop,
    replays: Vec<Replay>,
}

impl Results {
    fn parameters(&self, experiment: &EstimatorsExperiment) -> Vec<Parameter> {
        let histories: Vec<String> = self
            .replays
            .iter()
            .map(|replay| {
                format!(
                    "{} ({} pages, {} visits)",
                    replay.name,
                    count(replay.pages.into()),
                    count(replay.visits)
                )
            })
            .collect();
        vec![
            parameter(
                "simulated pages for each row",
                count(experiment.runs.into()),
            ),
            parameter(
                "closed loop",
                format!(
                    "{} pages, {}",
                    count(experiment.pages.into()),
                    closed_loop::POPULATION
                ),
            ),
            parameter("histories", histories.join("; ")),
            parameter("visits of a replay", replay::VISITS),
            parameter(
                "forgetting in a replay",
                format!("{} days", experiment.forgetting.as_secs() / 86_400),
            ),
            parameter(
                "our prior",
                "open loop: the distribution of the site’s rates, and beside it what a crawl takes for granted before it knows anything; \
                 closed loop and replay: learnt while it goes, as a crawl does",
            ),
            parameter("seed", experiment.seed.to_string()),
        ]
    }
}

#[cfg(test)]
mod tests;
