//! What was found, a sentence each: over all graphs first, then on each.

use junkai_simulation::policy::Policy;

use super::Results;
use super::tables::ratio;
use crate::experiment::look::look;
use crate::experiment::trials::{LEVELS, MARKS, TIE, Trial};
use crate::experiment::words::{count, difference, listed, percent, share};

/// The mark that sentences are about: a fifth of the pages.
const FIFTH: usize = 1;

/// The level of PageRank that they are about: four fifths.
const FOUR_FIFTHS: usize = LEVELS.len() - 1;

impl Results<'_> {
    pub(super) fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        if 1 < self.trials.subjects().len() {
            findings.push(self.standing());
            findings.extend(self.memories());
        }
        for (graph, name) in self.graphs() {
            findings.push(self.on(graph, name));
            findings.extend(self.causes(graph, name));
        }
        findings.extend(self.politeness());
        findings
    }

    /// How often the paper's ring is ahead.
    fn standing(&self) -> String {
        let graphs = self.trials.subjects().len();
        let ahead_of = |policy: &Policy| {
            let is_ahead = |graph: &usize| {
                let theirs = self.trials.of(*graph, policy).share_at[FIFTH];
                let ours = self.best_ring(*graph).and_then(|ring| ring.share_at[FIFTH]);
                match (theirs, ours) {
                    (Some(theirs), Some(ours)) => theirs + TIE < ours,
                    (None, Some(_)) => true,
                    (_, None) => false,
                }
            };
            (0..graphs).filter(is_ahead).count()
        };
        format!(
            "After {} of the pages the best size of the paper’s ring, chosen for each graph, is ahead of breadth first on {} and of IRLbot on {} of {graphs} \
             graphs.",
            percent(MARKS[FIFTH]),
            ahead_of(&Policy::breadth_first()),
            ahead_of(&Policy::irlbot()),
        )
    }

    /// What the gains over breadth first come from, at each mark.
    fn causes(&self, graph: usize, name: &str) -> Option<String> {
        let told: Vec<String> = MARKS
            .into_iter()
            .enumerate()
            .filter_map(|(place, mark)| {
                let ablation = self.ablation_of(graph, place)?;
                Some(format!(
                    "at {} {} and {}",
                    percent(mark),
                    difference(ablation.interleaved - ablation.breadth_first),
                    difference(ablation.discarding - ablation.interleaved),
                ))
            })
            .collect();
        (!told.is_empty()).then(|| {
            format!(
                "{name}: what taking turns between servers adds to the share of breadth first with nothing discarded, and what \
                 discarding adds to that in the best ring: {}.",
                listed(&told)
            )
        })
    }

    /// How much memory the ring saves.
    fn memories(&self) -> Option<String> {
        let ratios: Vec<(f64, &str)> = self
            .graphs()
            .filter_map(|(graph, name)| {
                let irlbot = self.trials.of(graph, &Policy::irlbot()).stored_at[FOUR_FIFTHS];
                let ring = self.best_rings(graph)[FOUR_FIFTHS];
                Some((ratio(irlbot, ring)?, name))
            })
            .collect();
        let least = ratios
            .iter()
            .min_by(|left, right| left.0.total_cmp(&right.0))?;
        let most = ratios
            .iter()
            .max_by(|left, right| left.0.total_cmp(&right.0))?;
        Some(format!(
            "To gather {} of PageRank the best ring stores between 1/{:.1} ({}) and 1/{:.1} ({}) of what IRLbot stores, not 1/10.",
            percent(LEVELS[FOUR_FIFTHS]),
            most.0,
            most.1,
            least.0,
            least.1,
        ))
        .filter(|_| most.0 < 10.0)
    }

    /// How things stand on one graph.
    fn on(&self, graph: usize, name: &str) -> String {
        let of = |policy: &Policy| self.trials.of(graph, policy);
        let told = |trial: &Trial| match trial.share_at[FIFTH] {
            Some(reached) => format!(
                "{} ({} stored)",
                share(reached),
                count(trial.stored_max.into())
            ),
            None => format!("nothing, for it ends at {}", percent(trial.coverage)),
        };
        let others = format!(
            "breadth first has {}, IRLbot {}, worth in the memory of {} {}, and the ceiling is {}",
            told(of(&Policy::breadth_first())),
            told(of(&Policy::irlbot())),
            look(&self.plan.experiment.memory_of.policy()).name,
            told(of(&self.plan.worth(&self.trials, graph))),
            share(of(&Policy::Opt).share_at[FIFTH].unwrap_or(1.0)),
        );
        let Some(ring) = self.best_ring(graph) else {
            return format!(
                "{name}: no ring of the paper comes as far as {} of the pages; {others}.",
                percent(MARKS[FIFTH])
            );
        };
        format!(
            "{name}: after {} of the pages the best of the paper’s rings is {} with a share of {}, which visits {} of the pages in all; {others}.",
            percent(MARKS[FIFTH]),
            look(&ring.policy).name,
            told(ring),
            percent(ring.coverage),
        )
    }

    /// The ring of the paper that has gathered most after a fifth of the pages, of all that were tried.
    fn best_ring(&self, graph: usize) -> Option<&Trial> {
        let rings = self.rings(graph).into_iter();
        let reaching = rings.filter_map(|(_, ring)| Some((ring.share_at[FIFTH]?, ring)));
        reaching
            .max_by(|left, right| left.0.total_cmp(&right.0))
            .map(|(_, ring)| ring)
    }

    /// Whether promises were kept; none if nothing was promised, or no server was visited twice.
    fn politeness(&self) -> Option<String> {
        let graphs = 0..self.trials.subjects().len();
        let promising: Vec<_> = graphs
            .flat_map(|graph| self.trials.all(graph))
            .filter(|trial| 0 < trial.pace.promised && trial.pace.least.is_some())
            .collect();
        promising.first()?;
        let visits: u64 = promising.iter().map(|trial| u64::from(trial.pages)).sum();
        let violations: u64 = promising.iter().map(|trial| trial.pace.violations).sum();
        Some(format!(
            "In {} crawls with a ring, {} of {} visits came earlier than was promised to their server.",
            promising.len(),
            count(violations),
            count(visits),
        ))
    }
}
