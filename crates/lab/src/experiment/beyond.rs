//! Our policy against all those of the papers, in the same memory.
//!
//! A budget is the most URLs that a ring of the paper stored on the graph. Ours get that much, pages handed to the ring ahead of
//! their turn included; of the papers' policies those compete that stored no more: any ring that was tried, and any
//! unbounded order whose store happened to fit. What the best of them reaches in any memory is told too.
//!
//! All of it is crawled once from the starts of all experiments, and the contest between our best and the papers' again from
//! several sets of starts (`repeat`), for a single crawl is chaotic: what is found is said from these.
//!
//! Beside our policy stand its parts: in-degree within bounds (that of Matsukubo and Hayashi, 2003, in fixed memory), in-degree by host with servers taking
//! turns (Morimoto et al. (2011) and Matsukubo and Hayashi (2003) joined), and three fates of a page that finds no room.

mod claims;
mod draw;
mod findings;
mod repeat;
mod tables;

use junkai_frontier::admission::Gain;
use junkai_simulation::outcome::{Outcome, Parameter};
use junkai_simulation::policy::{CrawlOrder, Evicted, Policy, Setup};
use junkai_simulation::subject::Subject;

use super::Watch;
use super::look::look;
use super::ring::{RingExperiment, RingSize, published, worth_in};
use super::trials::{Meter, Trial, Trials};
use super::words::{common_parameters, count, parameter};

/// The settings of the experiment.
#[derive(Clone, Debug)]
pub struct BeyondExperiment {
    /// The rings of the paper that set the budgets, from small to large. Default 64, 128, … 1024, squared.
    pub sizes: Vec<RingSize>,
    /// Rings that compete too, wherever they fit. Default all that the experiment with rings tries.
    pub rivals: Vec<RingSize>,
    /// The rings of the paper whose memory ours get from each set of starts. Default 128, 256 and 1024, squared.
    pub repeated: Vec<RingSize>,
    /// Sets of starts. Default 10.
    pub repetitions: usize,
    /// What sets of starts are drawn from. Default 1.
    pub seed: u64,
    /// The command that repeats it, as it is to be printed. Default none.
    pub command: String,
}

impl Default for BeyondExperiment {
    fn default() -> BeyondExperiment {
        BeyondExperiment {
            sizes: [64, 128, 256, 512, 1024].map(RingSize::square).into(),
            rivals: RingExperiment::default().tried(),
            repeated: [128, 256, 1024].map(RingSize::square).into(),
            repetitions: 10,
            seed: 1,
            command: String::new(),
        }
    }
}

/// Runs it on each graph.
pub fn run(subjects: &[Subject], experiment: &BeyondExperiment, watch: Watch<'_>) -> Outcome {
    let published = published_policies(experiment);
    let of_a_set = published.len() + experiment.repeated.len() * Ours::BEST.len();
    let once = 1 + published.len() + experiment.sizes.len() * Ours::ALL.len();
    let crawls = once + experiment.repetitions * of_a_set;
    let meter = Meter::for_crawls(watch, subjects, crawls);
    let mut trials = Trials::new(subjects);
    trials.run(
        |_, _| published.iter().cloned().chain([Policy::Opt]).collect(),
        &meter,
    );
    let budgets: Vec<Vec<Budget>> = (0..subjects.len())
        .map(|graph| budgets_of(&trials, graph, &experiment.sizes))
        .collect();
    let ours = |budget: &Budget| Ours::ALL.map(|ours| ours.within(budget.stored));
    trials.run(
        |_, graph| budgets[graph].iter().flat_map(ours).collect(),
        &meter,
    );
    let repeated_rings: Vec<Vec<Policy>> = (0..subjects.len())
        .map(|graph| {
            let rings = budgets_of(&trials, graph, &experiment.repeated);
            rings.into_iter().map(|budget| budget.ring).collect()
        })
        .collect();
    let plan = repeat::Plan {
        seed: experiment.seed,
        sets: experiment.repetitions,
        published: &published,
        rings: repeated_rings.clone(),
    };
    let sets = plan.run(subjects, &meter);
    meter.finish();
    let results = Results {
        trials,
        budgets,
        published,
        repeated_rings,
        sets,
        experiment,
    };
    Outcome {
        name: "beyond".to_owned(),
        title: "Our order against those of the papers, in the same memory".to_owned(),
        command: experiment.command.clone(),
        parameters: results.parameters(),
        findings: results.findings(),
        claims: results.claims(),
        tables: results.tables(),
        figures: results.figures(),
    }
}

/// What competes for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ours {
    /// As the crawler has it: what finds no room is spilled to disk.
    Worth,
    /// Likewise, and a link to it brings it back at once.
    Welcome,
    /// What finds no room is forgotten.
    Discarding,
    /// In-degree by host, with servers taking turns.
    Count,
    /// Likewise, and a link brings back at once.
    CountWelcome,
    /// In-degree first within bounds, without turns.
    InDegree,
}

impl Ours {
    const ALL: [Ours; 6] = [
        Ours::Worth,
        Ours::Welcome,
        Ours::Discarding,
        Ours::Count,
        Ours::CountWelcome,
        Ours::InDegree,
    ];

    /// The two whose margins are told.
    const BEST: [Ours; 2] = [Ours::Worth, Ours::Welcome];

    /// The policy when so many URLs may be stored.
    fn within(self, stored: u32) -> Policy {
        match self {
            Ours::Worth => worth_in(stored, Evicted::Spilled),
            Ours::Welcome => worth_in(stored, Evicted::SpilledAndWelcome),
            Ours::Discarding => worth_in(stored, Evicted::Discarded),
            Ours::Count => counting(worth_in(stored, Evicted::Spilled)),
            Ours::CountWelcome => counting(worth_in(stored, Evicted::SpilledAndWelcome)),
            Ours::InDegree => Policy::Crawl(Setup {
                order: CrawlOrder::InDegree,
                candidates_max: Some((stored as usize).max(1)),
                evicted: Evicted::Spilled,
                ring: None,
            }),
        }
    }
}

/// The same with a link counting one, whatever page it is on.
fn counting(policy: Policy) -> Policy {
    match policy {
        Policy::Crawl(
            setup @ Setup {
                order:
                    CrawlOrder::Worth {
                        cross_host, spread, ..
                    },
                ..
            },
        ) => Policy::Crawl(Setup {
            order: CrawlOrder::Worth {
                gain: Gain::Count,
                cross_host,
                spread,
            },
            ..setup
        }),
        other @ (Policy::Opt | Policy::OneStepRing(_) | Policy::Crawl(_)) => other,
    }
}

/// The policies of the papers.
fn published_policies(experiment: &BeyondExperiment) -> Vec<Policy> {
    let mut policies = vec![
        Policy::breadth_first(),
        Policy::irlbot(),
        published(),
        Policy::in_degree(),
    ];
    let rings = experiment.sizes.iter().chain(&experiment.repeated);
    for size in rings.chain(&experiment.rivals) {
        let ring = Policy::one_step_ring(size.slots, size.keys);
        if !policies.contains(&ring) {
            policies.push(ring);
        }
    }
    policies
}

/// So much memory as a ring of the paper took.
#[derive(Clone, Debug)]
struct Budget {
    ring: Policy,
    stored: u32,
}

/// Budgets that differ by less than this part of the smaller are one.
const BUDGETS_APART: f64 = 0.1;

/// The budgets of a graph, from little to much: on a small graph larger rings store hardly more.
fn budgets_of(trials: &Trials<'_>, graph: usize, sizes: &[RingSize]) -> Vec<Budget> {
    let mut all: Vec<Budget> = sizes
        .iter()
        .map(|size| {
            let ring = Policy::one_step_ring(size.slots, size.keys);
            let stored = trials.of(graph, &ring).stored_max;
            Budget { ring, stored }
        })
        .collect();
    all.sort_by_key(|budget| budget.stored);
    all.dedup_by(|larger, smaller| {
        f64::from(larger.stored) < f64::from(smaller.stored) * (1.0 + BUDGETS_APART)
    });
    all
}

struct Results<'a> {
    trials: Trials<'a>,
    /// For each graph, from little to much memory.
    budgets: Vec<Vec<Budget>>,
    published: Vec<Policy>,
    /// For each graph, the rings whose memory ours got from each set of starts, from little to much.
    repeated_rings: Vec<Vec<Policy>>,
    /// For each graph, what came of each set of starts.
    sets: Vec<Vec<repeat::SetResults>>,
    experiment: &'a BeyondExperiment,
}

/// The best of several crawls at a mark.
struct Best<'a> {
    trial: &'a Trial,
    share: f64,
}

impl Results<'_> {
    fn graphs(&self) -> impl Iterator<Item = (usize, &str)> {
        let subjects = self.trials.subjects().iter();
        subjects
            .map(|subject| subject.web.name.as_str())
            .enumerate()
    }

    /// The best policy of the papers at a mark that stored no more than this.
    fn best_published(
        &self,
        graph: usize,
        mark: usize,
        stored_max: Option<u32>,
    ) -> Option<Best<'_>> {
        let mut best: Option<Best<'_>> = None;
        for policy in &self.published {
            let trial = self.trials.of(graph, policy);
            let fits = stored_max.is_none_or(|most| trial.stored_max <= most);
            if let Some(share) = trial.share_at[mark].filter(|_| fits)
                && best.as_ref().is_none_or(|best| best.share < share)
            {
                best = Some(Best { trial, share });
            }
        }
        best
    }

    /// How far ahead of the best of the papers one of ours is at a mark; none if no policy of theirs came so far.
    fn margin(&self, graph: usize, budget: &Budget, ours: Ours, mark: usize) -> Option<f64> {
        let trial = self.trials.of(graph, &ours.within(budget.stored));
        let best = self.best_published(graph, mark, Some(budget.stored))?;
        Some(trial.share_at[mark]? - best.share)
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = common_parameters(self.trials.subjects());
        parameters.push(parameter(
            "sets of starts",
            format!(
                "{}, each of them half of the first pages of the {} largest strongly connected components, drawn with seed {}",
                self.experiment.repetitions,
                repeat::COMPONENTS,
                self.experiment.seed
            ),
        ));
        for (graph, name) in self.graphs() {
            let budgets: Vec<String> = self.budgets[graph]
                .iter()
                .map(|budget| {
                    format!(
                        "{} ({})",
                        count(budget.stored.into()),
                        look(&budget.ring).name
                    )
                })
                .collect();
            parameters.push(parameter(&format!("memory on {name}"), budgets.join(", ")));
        }
        let first = self.budgets.first().and_then(|budgets| budgets.first());
        if let Some(budget) = first {
            let ours = Ours::ALL.map(|ours| ours.within(budget.stored).to_string());
            parameters.push(parameter(
                "ours, in the least memory of the first graph",
                ours.join("; "),
            ));
        }
        let published: Vec<String> = self.published.iter().map(ToString::to_string).collect();
        parameters.push(parameter("those of the papers", published.join("; ")));
        parameters
    }
}
