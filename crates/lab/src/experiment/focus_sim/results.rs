//! What came of all trials: means, spreads, and paired differences.

use junkai_focus::explore::Policy;

use super::trial::Measures;
use super::world::Population;
use crate::experiment::estimate::Estimate;

/// All that was measured.
pub(super) struct Results {
    pub(super) sites: u32,
    pub(super) policies: Vec<Policy>,
    /// Fetches at which verdicts were judged.
    pub(super) checkpoints: Vec<u32>,
    /// For each draw and, within it, each population.
    pub(super) trials: Vec<Trial>,
}

/// What was measured on one draw of one population, at each checkpoint.
pub(super) struct Trial {
    /// By each policy.
    pub(super) policies: Vec<Vec<Measures>>,
    /// By ours, if it is told what sites there are.
    pub(super) informed: Vec<Measures>,
}

/// What is read off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Accuracy,
    Precision,
    Recall,
    /// Accuracy and recall with the chance of the labels left out.
    ExpectedAccuracy,
    ExpectedRecall,
    /// The same if sites are judged by the plain mean of their pages, whatever the policy makes of them.
    PlainAccuracy,
    PlainRecall,
    Agreement,
    StatedError,
}

impl Measure {
    pub(super) fn of(self, measures: &Measures) -> f64 {
        match self {
            Measure::Accuracy => measures.accuracy,
            Measure::Precision => measures.precision,
            Measure::Recall => measures.recall,
            Measure::ExpectedAccuracy => measures.expected_accuracy,
            Measure::ExpectedRecall => measures.expected_recall,
            Measure::PlainAccuracy => measures.plain_accuracy,
            Measure::PlainRecall => measures.plain_recall,
            Measure::Agreement => measures.agreement,
            Measure::StatedError => measures.stated_error,
        }
    }
}

/// Where something is read off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) population: Population,
    /// The place of its checkpoint.
    pub(super) place: usize,
    pub(super) measure: Measure,
}

impl Results {
    /// A policy's mean over draws.
    pub(super) fn estimate(&self, policy: Policy, cell: Cell) -> Estimate {
        Estimate::of(&self.values(policy, cell))
    }

    /// By how much one policy is ahead of another, draw by draw.
    pub(super) fn lead(&self, one: Policy, other: Policy, cell: Cell) -> Estimate {
        Estimate::of_differences(&self.values(one, cell), &self.values(other, cell))
    }

    /// The mean over draws of ours, if it is told what sites there are.
    pub(super) fn informed(&self, cell: Cell) -> Estimate {
        Estimate::of(&self.informed_values(cell))
    }

    /// By how much ours would be better if it were told what sites there are, draw by draw.
    pub(super) fn worth_of_knowing(&self, cell: Cell) -> Estimate {
        let ours = self.values(Policy::Foresight, cell);
        Estimate::of_differences(&self.informed_values(cell), &ours)
    }

    /// The places of checkpoints with at least so many fetches for each site.
    pub(super) fn places_from(&self, per_site: u32) -> impl Iterator<Item = usize> + '_ {
        let from = self.sites.saturating_mul(per_site);
        (0..self.checkpoints.len()).filter(move |place| from <= self.checkpoints[*place])
    }

    /// The place of the checkpoint with so many fetches for each site.
    pub(super) fn place_of(&self, per_site: u32) -> Option<usize> {
        let fetches = self.sites.saturating_mul(per_site);
        self.checkpoints
            .iter()
            .position(|checkpoint| *checkpoint == fetches)
    }

    /// Who is held against ours.
    pub(super) fn others(&self) -> impl Iterator<Item = Policy> + '_ {
        self.policies
            .iter()
            .copied()
            .filter(|policy| *policy != Policy::Foresight)
    }

    fn values(&self, policy: Policy, cell: Cell) -> Vec<f64> {
        let Some(column) = self.policies.iter().position(|one| *one == policy) else {
            return Vec::new();
        };
        self.draws(cell.population)
            .map(|trial| cell.measure.of(&trial.policies[column][cell.place]))
            .collect()
    }

    fn informed_values(&self, cell: Cell) -> Vec<f64> {
        self.draws(cell.population)
            .map(|trial| cell.measure.of(&trial.informed[cell.place]))
            .collect()
    }

    fn draws(&self, population: Population) -> impl Iterator<Item = &Trial> {
        let place = Population::ALL.iter().position(|one| *one == population);
        let first = place.unwrap_or(self.trials.len());
        self.trials
            .iter()
            .skip(first)
            .step_by(Population::ALL.len())
    }
}
