//! What was found, a sentence each: over all graphs first, then on each.

use super::Results;
use super::tables::ratio;
use crate::experiment::look::look;
use crate::experiment::trials::{LEVELS, MARKS, Trial};
use crate::experiment::words::{count, listed, percent, share};
use crate::policy::Policy;

/// The mark that sentences are about: a fifth of the pages.
const FIFTH: usize = 1;

/// The level of PageRank that they are about: four fifths.
const FOUR_FIFTHS: usize = LEVELS.len() - 1;

impl Results<'_> {
    pub(super) fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        if 1 < self.trials.subjects().len() {
            findings.push(self.standing());
            findings.push(self.causes());
            findings.extend(self.memories());
        }
        findings.extend(self.graphs().map(|(graph, name)| self.on(graph, name)));
        findings.push(self.politeness());
        findings
    }

    /// How often the seed's ring is ahead.
    fn standing(&self) -> String {
        let graphs = self.trials.subjects().len();
        let ahead_of = |policy: &Policy| {
            let is_ahead = |graph: &usize| {
                let theirs = self.trials.of(*graph, policy).share_at[FIFTH];
                let ours = self.best_ring(*graph).and_then(|ring| ring.share_at[FIFTH]);
                theirs < ours
            };
            (0..graphs).filter(is_ahead).count()
        };
        format!(
            "After {} of the pages the best size of the seed’s ring, chosen for each graph, is ahead of breadth first on {} and of IRLbot on {} of {graphs} \
             graphs.",
            percent(MARKS[FIFTH]),
            ahead_of(&Policy::breadth_first()),
            ahead_of(&Policy::irlbot()),
        )
    }

    /// What the gains come from: the least and the greatest part over all marks at which there is a gain.
    fn causes(&self) -> String {
        let (mut parts, mut others) = (Vec::new(), Vec::new());
        for (graph, name) in self.graphs() {
            let explained: Vec<f64> = (0..MARKS.len())
                .filter_map(|mark| self.ablation_of(graph, mark)?.explained())
                .collect();
            let least = explained.iter().copied().fold(f64::INFINITY, f64::min);
            let most = explained.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if explained.is_empty() || most <= 0.0 {
                others.push(name.to_owned());
            } else {
                parts.push(format!("{} on {name}", from_to(least, most)));
            }
        }
        let mut sentence = format!(
            "Of the gain of the ring over breadth first, taking turns between servers explains, with nothing discarded and by how \
             far the crawl is, {}",
            listed(&parts)
        );
        if !others.is_empty() {
            sentence.push_str("; turns alone do not help on ");
            sentence.push_str(&listed(&others));
        }
        sentence.push('.');
        sentence
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
                "{name}: no ring of the seed comes as far as {} of the pages; {others}.",
                percent(MARKS[FIFTH])
            );
        };
        let mut sentence = format!(
            "{name}: after {} of the pages the best of the seed’s rings is {} with a share of {}, which visits {} of the pages in all; {others}.",
            percent(MARKS[FIFTH]),
            look(&ring.policy).name,
            told(ring),
            percent(ring.coverage),
        );
        if let Some(ablation) = self.ablation_of(graph, FIFTH) {
            sentence.push_str(" Turns alone bring breadth first to ");
            sentence.push_str(&share(ablation.interleaved));
            sentence.push('.');
        }
        sentence
    }

    /// The ring of the seed that has gathered most after a fifth of the pages.
    fn best_ring(&self, graph: usize) -> Option<&Trial> {
        let sizes = self.plan.sizes();
        let rings = sizes.iter().map(|policy| self.trials.of(graph, policy));
        let reaching = rings.filter_map(|ring| Some((ring.share_at[FIFTH]?, ring)));
        reaching
            .max_by(|left, right| left.0.total_cmp(&right.0))
            .map(|(_, ring)| ring)
    }

    fn politeness(&self) -> String {
        let graphs = 0..self.trials.subjects().len();
        let promising: Vec<_> = graphs
            .flat_map(|graph| self.trials.all(graph))
            .filter(|trial| 0 < trial.pace.promised)
            .collect();
        let visits: u64 = promising.iter().map(|trial| u64::from(trial.pages)).sum();
        let violations: u64 = promising.iter().map(|trial| trial.pace.violations).sum();
        format!(
            "In {} crawls with a ring, {} of {} visits came earlier than was promised to their server.",
            promising.len(),
            count(violations),
            count(visits),
        )
    }
}

/// A range of parts in words; below nothing, turns cost what discarding wins back.
fn from_to(least: f64, most: f64) -> String {
    let (least_text, most_text) = (percent(least), percent(most));
    if least < 0.0 {
        format!("at most {most_text}")
    } else if least_text == most_text {
        most_text
    } else {
        format!("{least_text} to {most_text}")
    }
}
