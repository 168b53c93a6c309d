//! Morimoto et al. (2011): how much of what matters a ring of slots fetches, at what memory, and what of it comes from discarding.
//!
//! Morimoto et al. (2011), figures 2 to 6: PageRank against the fewest pages; pages and PageRank as the slots *B* or the residues *H* vary;
//! PageRank, and URLs in memory, against pages for every policy. Beside them an ablation that the paper does not have: breadth
//! first, then servers interleaved with nothing discarded, then the paper's ring.
//!
//! Departures: the paper's graph of 76 million pages is not to be had, so the claims are tested on each graph at hand; the paper
//! varies *H* with *B* = 1024, here it is 256, because the graphs are smaller.

mod claims;
mod draw;
mod findings;
mod tables;

use std::collections::BTreeSet;
use std::time::Duration;

use junkai_frontier::admission::BudgetConfig;
use junkai_simulation::outcome::Outcome;
use junkai_simulation::policy::{
    CrawlOrder, Evicted, OneStepRingSetup, Policy, RingSetup, ServerSpread, Setup,
};
use junkai_simulation::subject::Subject;

use super::Watch;
use super::trials::{Meter, Trials};
use super::words::{common_parameters, parameter};

/// What is to be varied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vary {
    /// Slots and keys, one after the other.
    #[default]
    Both,
    /// Slots: *B*.
    Slots,
    /// Keys of servers: *H*.
    Keys,
    /// Neither: the policies are compared, no more.
    Nothing,
}

/// The size of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSize {
    /// *B*: steps that can be booked ahead.
    pub slots: usize,
    /// *H*: residues of servers.
    pub keys: u32,
}

impl RingSize {
    /// As many slots as keys.
    #[must_use]
    pub fn square(side: u16) -> RingSize {
        RingSize {
            slots: side.into(),
            keys: side.into(),
        }
    }

    fn policy(self) -> Policy {
        Policy::one_step_ring(self.slots, self.keys)
    }
}

/// The settings of the experiment.
#[derive(Clone, Debug)]
pub struct RingExperiment {
    /// What is to be varied.
    pub vary: Vary,
    /// The slots to try (figure 3). Default 8, 16, … 2048.
    pub slots: Vec<usize>,
    /// The keys that go with them. Default 1024.
    pub keys_fixed: u32,
    /// The keys to try (figure 4). Default 8, 16, … 2048.
    pub keys: Vec<u32>,
    /// The slots that go with them. Default 256.
    pub slots_fixed: usize,
    /// The rings that are compared with other policies (figures 5 and 6), from small to large; the last is the one of the
    /// paper's claims. Default 64, 256, 1024 and 2048, squared.
    pub sizes: Vec<RingSize>,
    /// The ring of which our policies get the memory. Default 256 × 256.
    pub memory_of: RingSize,
    /// The command that repeats it, as it is to be printed. Default none.
    pub command: String,
}

impl Default for RingExperiment {
    fn default() -> RingExperiment {
        RingExperiment {
            vary: Vary::Both,
            slots: (3..=11).map(|power| 1 << power).collect(),
            keys_fixed: 1024,
            keys: (3..=11).map(|power| 1 << power).collect(),
            slots_fixed: 256,
            sizes: [64, 256, 1024, 2048].map(RingSize::square).into(),
            memory_of: RingSize::square(256),
            command: String::new(),
        }
    }
}

impl RingExperiment {
    /// All sizes that are tried with hashed servers.
    #[must_use]
    pub fn tried(&self) -> Vec<RingSize> {
        let by_slots = self.slots.iter().map(|&slots| RingSize {
            slots,
            keys: self.keys_fixed,
        });
        let by_keys = self.keys.iter().map(|&keys| RingSize {
            slots: self.slots_fixed,
            keys,
        });
        let compared = self.sizes.iter().copied().chain([self.memory_of]);
        compared.chain(by_slots).chain(by_keys).collect()
    }
}

/// Runs it on each graph.
pub fn run(subjects: &[Subject], experiment: &RingExperiment, watch: Watch<'_>) -> Outcome {
    let plan = Plan { experiment };
    let known: BTreeSet<String> = (plan.policies(subjects.first()).iter())
        .map(ToString::to_string)
        .collect();
    let meter = Meter::for_crawls(watch, subjects, known.len() + 1);
    let mut trials = Trials::new(subjects);
    trials.run(
        |trials, graph| plan.policies(trials.subjects().get(graph)),
        &meter,
    );
    trials.run(|trials, graph| vec![plan.worth(trials, graph)], &meter);
    meter.finish();
    let results = Results { trials, plan };
    Outcome {
        name: "ring".to_owned(),
        title: "The O(1) ring of Morimoto et al. (2011), against every other order".to_owned(),
        command: experiment.command.clone(),
        parameters: results.parameters(),
        findings: results.findings(),
        claims: results.claims(),
        tables: results.tables(),
        figures: results.figures(),
    }
}

/// Which crawls there are.
#[derive(Clone, Copy)]
struct Plan<'a> {
    experiment: &'a RingExperiment,
}

/// What came of them.
struct Results<'a> {
    trials: Trials<'a>,
    plan: Plan<'a>,
}

impl Plan<'_> {
    /// The crawls of a graph whose settings are known beforehand.
    fn policies(self, subject: Option<&Subject>) -> Vec<Policy> {
        let mut policies = Plan::others();
        policies.extend(self.sizes());
        policies.push(self.our_ring());
        policies.push(self.experiment.memory_of.policy());
        policies.extend(
            subject
                .into_iter()
                .flat_map(|subject| self.interleavings(subject)),
        );
        policies.extend(self.varied_slots());
        policies.extend(self.varied_keys(ServerSpread::Hashed));
        policies.extend(self.varied_keys(ServerSpread::Plain));
        policies
    }

    /// The orders that have no ring.
    fn others() -> Vec<Policy> {
        vec![
            Policy::Opt,
            Policy::breadth_first(),
            Policy::irlbot(),
            published(),
            Policy::in_degree(),
        ]
    }

    fn sizes(self) -> Vec<Policy> {
        let sizes = self.experiment.sizes.iter();
        sizes.map(|size| size.policy()).collect()
    }

    /// The crawler's own ring, with the memory of the paper's.
    fn our_ring(self) -> Policy {
        our_ring(self.experiment.memory_of)
    }

    /// The paper's ring with so many slots that nothing is ever discarded.
    fn interleaving(subject: &Subject, keys: u32) -> Policy {
        Policy::one_step_ring(Plan::slots_of_all(subject), keys)
    }

    /// So many slots that nothing is ever discarded, if a ring may have them.
    fn slots_of_all(subject: &Subject) -> usize {
        // Each page takes every second step of its residue, and the largest residue may hold them all.
        let steps = 2 * (subject.web.links.page_count() as usize + 2);
        steps.next_power_of_two().min(SLOTS_MAX)
    }

    /// That ring with the residues of each size that is tried, so that an ablation differs in slots alone.
    fn interleavings(self, subject: &Subject) -> Vec<Policy> {
        let keys = self.experiment.sizes.iter().map(|size| size.keys);
        let varied = match self.experiment.vary {
            Vary::Both | Vary::Keys => self.experiment.keys.as_slice(),
            Vary::Slots | Vary::Nothing => &[],
        };
        keys.chain([self.experiment.keys_fixed, self.experiment.memory_of.keys])
            .chain(varied.iter().copied())
            .map(|keys| Plan::interleaving(subject, keys))
            .collect()
    }

    fn varied_slots(self) -> Vec<Policy> {
        if !matches!(self.experiment.vary, Vary::Both | Vary::Slots) {
            return Vec::new();
        }
        let slots = self.experiment.slots.iter();
        slots
            .map(|&slots| Policy::one_step_ring(slots, self.experiment.keys_fixed))
            .collect()
    }

    fn varied_keys(self, spread: ServerSpread) -> Vec<Policy> {
        if !matches!(self.experiment.vary, Vary::Both | Vary::Keys) {
            return Vec::new();
        }
        let keys = self.experiment.keys.iter();
        keys.map(
            |&residues| match Policy::one_step_ring(self.experiment.slots_fixed, residues) {
                Policy::OneStepRing(setup) => {
                    Policy::OneStepRing(OneStepRingSetup { spread, ..setup })
                }
                other @ (Policy::Opt | Policy::Crawl(_)) => other,
            },
        )
        .collect()
    }

    /// Ours, in the memory that a ring of the paper took on this graph.
    fn worth(self, trials: &Trials<'_>, graph: usize) -> Policy {
        let ring = trials.of(graph, &self.experiment.memory_of.policy());
        worth_in(ring.stored_max, Evicted::Spilled)
    }

    /// What is compared in figures 5 and 6.
    fn compared(self, trials: &Trials<'_>, graph: usize) -> Vec<Policy> {
        let mut policies = Plan::others();
        policies.extend(self.sizes());
        policies.push(self.our_ring());
        policies.push(self.worth(trials, graph));
        policies
    }
}

/// Slots beyond which a ring takes more memory than it is worth.
const SLOTS_MAX: usize = 1 << 24;

/// IRLbot with the budgets and queues of its paper.
pub(super) fn published() -> Policy {
    Policy::at_once(CrawlOrder::SiteBudgets(BudgetConfig::published()))
}

/// The crawler's own ring alone: everything found is offered to it at once, and what finds no slot is discarded.
fn our_ring(size: RingSize) -> Policy {
    Policy::Crawl(Setup {
        order: CrawlOrder::Fifo,
        candidates_max: None,
        evicted: Evicted::Discarded,
        ring: Some(RingSetup {
            slots: size.slots,
            keys: size.keys,
            concurrency: usize::MAX,
            lookahead: usize::MAX,
            latency: Duration::ZERO,
            ..RingSetup::default()
        }),
    })
}

/// Our policy when so many pages may wait, those included that were handed to the ring ahead of their turn.
pub(super) fn worth_in(stored: u32, evicted: Evicted) -> Policy {
    let candidates = (stored as usize).saturating_sub(RingSetup::default().lookahead);
    Policy::worth(Some(candidates.max(1)), evicted)
}

impl Results<'_> {
    fn parameters(&self) -> Vec<junkai_simulation::outcome::Parameter> {
        let experiment = self.plan.experiment;
        let mut parameters = common_parameters(self.trials.subjects());
        let list = |numbers: &[String]| numbers.join(", ");
        if !self.plan.varied_slots().is_empty() {
            let slots: Vec<String> = experiment.slots.iter().map(usize::to_string).collect();
            let value = format!("{} with H = {}", list(&slots), experiment.keys_fixed);
            parameters.push(parameter("slots B tried", value));
        }
        if !self.plan.varied_keys(ServerSpread::Hashed).is_empty() {
            let keys: Vec<String> = experiment.keys.iter().map(u32::to_string).collect();
            let value = format!(
                "{} with B = {}, hashed and not hashed",
                list(&keys),
                experiment.slots_fixed
            );
            parameters.push(parameter("residues H tried", value));
        }
        if !self.trials.subjects().is_empty() {
            let policies = self.plan.compared(&self.trials, 0);
            let policies: Vec<String> = policies.iter().map(ToString::to_string).collect();
            parameters.push(parameter(
                "policies of the first graph",
                policies.join("; "),
            ));
        }
        parameters
    }
}
