//! Which sites hold what is wanted, told with few fetches: Kato et al. (2022), section 4.1, for every exploration policy, and ours.
//!
//! Sites are drawn, each policy explores them with the very [`Explorer`](junkai_focus::explore::Explorer) that crawls, and its verdicts are
//! judged as the fetches grow. All policies see the same pages of the same sites, so that differences are paired: the chance of a draw
//! is the same on both sides.

mod ceiling;
mod claims;
mod results;
mod tables;
mod trial;
mod world;

use std::sync::atomic::{AtomicU64, Ordering};

use junkai_focus::explore::Policy;
use junkai_simulation::outcome::{Outcome, Parameter};
use rayon::prelude::*;

use self::results::{Results, Trial};
use self::trial::Course;
use self::world::World;
use super::words::{count, parameter};
use super::{Progress, Watch};

pub use self::world::Population;

/// The settings of the experiment.
#[derive(Clone, Debug)]
pub struct FocusSimExperiment {
    /// Sites. Default 1000, as in the paper.
    pub sites: u32,
    /// Fetches in all. Default 20,000, as in the paper.
    pub fetches: u32,
    /// Draws of all sites. Default 30; the paper has 10.
    pub seeds: u32,
    /// What the first draw is drawn from. Default 1.
    pub seed: u64,
    /// The command that repeats it, as it is to be printed. Default none.
    pub command: String,
}

impl Default for FocusSimExperiment {
    fn default() -> FocusSimExperiment {
        FocusSimExperiment {
            sites: 1000,
            fetches: 20_000,
            seeds: 30,
            seed: 1,
            command: String::new(),
        }
    }
}

/// Runs it.
#[must_use]
pub fn run(experiment: &FocusSimExperiment, watch: Watch<'_>) -> Outcome {
    let course = Course {
        fetches: experiment.fetches,
        step: (experiment.sites / 2).max(1),
        in_flight: 1,
    };
    let results = results(experiment, course, &Policy::ALL, watch);
    Outcome {
        name: "focus-sim".to_owned(),
        title: "Which sites hold what is wanted: exploration policies against Kato et al.'s (2022)"
            .to_owned(),
        command: experiment.command.clone(),
        parameters: parameters(experiment, course),
        findings: results.findings(),
        claims: results.claims(),
        tables: results.tables(),
        figures: results.figures(),
    }
}

/// Every policy on every draw of every population, side by side.
fn results(
    experiment: &FocusSimExperiment,
    course: Course,
    policies: &[Policy],
    watch: Watch<'_>,
) -> Results {
    // Beside the policies, ours is told what it would have to learn.
    let runs_each = Population::ALL.len() * (policies.len() + 1);
    let total = runs_each as u64 * u64::from(experiment.seeds);
    let done = AtomicU64::new(0);
    let one = |place: usize| {
        let population = Population::ALL[place % Population::ALL.len()];
        let seed = experiment.seed + (place / Population::ALL.len()) as u64;
        let world = World::draw(population, experiment.sites, seed);
        let told = |measures: Vec<trial::Measures>| {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            watch(Progress { done, total });
            measures
        };
        let run = |policy: &Policy| told(trial::run(&world, *policy, course, seed));
        Trial {
            policies: policies.iter().map(run).collect(),
            informed: told(trial::run_informed(&world, course, seed)),
        }
    };
    let trials: Vec<Trial> = (0..Population::ALL.len() * experiment.seeds as usize)
        .into_par_iter()
        .map(one)
        .collect();
    Results {
        sites: experiment.sites,
        policies: policies.to_vec(),
        checkpoints: course.checkpoints(experiment.sites),
        trials,
    }
}

fn parameters(experiment: &FocusSimExperiment, course: Course) -> Vec<Parameter> {
    let populations: Vec<&str> = Population::ALL
        .iter()
        .map(|population| population.name())
        .collect();
    vec![
        parameter("sites", count(experiment.sites.into())),
        parameter("fetches", count(experiment.fetches.into())),
        parameter("draws of all sites", count(experiment.seeds.into())),
        parameter("populations", populations.join("; ")),
        parameter(
            "verdicts judged",
            format!(
                "every {} fetches, once every site had one",
                count(course.step.into())
            ),
        ),
        parameter("seed", experiment.seed.to_string()),
    ]
}

#[cfg(test)]
mod tests;
