//! What was found, a sentence each: the goal and whether it is met first; where we lose, by how much.

use junkai_simulation::policy::Policy;

use super::repeat::{Comparison, Standing};
use super::tables::rounded;
use super::{Ours, Results};
use crate::experiment::trials::{MARKS, Trial};
use crate::experiment::words::{count, difference, listed, percent, share};

/// The mark that sentences are about: a fifth of the pages.
const FIFTH: usize = 1;

/// What [`Ours::BEST`] are called in sentences.
const NAMES: [&str; 2] = ["worth", "worth that welcomes pages back"];

/// Where fewer of the pages than this part can be reached, it is said.
const FEW_WITHIN_REACH: f64 = 0.5;

/// Where no order has this many times the share of a random one, it is said.
const NEARLY_STRAIGHT: f64 = 1.25;

impl Results<'_> {
    pub(super) fn findings(&self) -> Vec<String> {
        let graphs: Vec<(usize, String)> = self
            .graphs()
            .map(|(graph, name)| (graph, name.to_owned()))
            .collect();
        let mut findings: Vec<String> = (0..NAMES.len())
            .map(|ours| self.total(&graphs, ours))
            .collect();
        findings.push(
            "Worth that welcomes pages back runs in the lab only: the crawler spills what finds no room and takes it up \
             again when there is room, but not at once when it is linked again."
                .to_owned(),
        );
        for (graph, name) in &graphs {
            findings.extend((0..NAMES.len()).map(|ours| self.record(*graph, name, ours)));
            findings.extend(self.few_within_reach(*graph, name));
            findings.extend(self.nearly_straight(*graph, name));
            findings.extend(self.parts(*graph, name));
        }
        findings
    }

    /// The goal, and whether one of ours meets it.
    fn total(&self, graphs: &[(usize, String)], ours: usize) -> String {
        let what = NAMES[ours];
        let mut all = Vec::new();
        let (mut met, mut missed) = (Vec::new(), Vec::new());
        for (graph, name) in graphs {
            let comparisons = self.comparisons(*graph, ours);
            if comparisons.is_empty() {
                continue;
            }
            if tally(&comparisons, Standing::Behind) == 0 {
                met.push(name.clone());
            } else {
                missed.push(name.clone());
            }
            all.extend(comparisons);
        }
        let Some(worst) = worst(&all) else {
            return format!("There is no policy of the papers to compare {what} with.");
        };
        let behind = tally(&all, Standing::Behind);
        let losses = if behind == 0 {
            "behind in none".to_owned()
        } else {
            let graph = &graphs[worst.graph].1;
            format!(
                "behind in {behind}, at worst by {}, on {graph}",
                told(worst)
            )
        };
        format!(
            "The goal, at least the share of any policy of the papers in the same memory at {}: over {} sets of starts {what} is level \
             with or ahead of the best of the papers in {} of {} comparisons (ahead in {}); {losses}. Met on {}; missed on {}.",
            listed(&MARKS.map(percent)),
            self.experiment.repetitions,
            all.len() - behind,
            all.len(),
            tally(&all, Standing::Ahead),
            listed(&met),
            listed(&missed),
        )
    }

    /// Where one of ours wins and where it loses on a graph.
    fn record(&self, graph: usize, name: &str, ours: usize) -> String {
        let comparisons = self.comparisons(graph, ours);
        let what = NAMES[ours];
        let best = comparisons
            .iter()
            .max_by(|left, right| left.margin.mean.total_cmp(&right.margin.mean));
        let (Some(best), Some(worst)) = (best, worst(&comparisons)) else {
            return format!("{name}: no policy of the papers to compare {what} with.");
        };
        format!(
            "{name}: {what} is ahead of the best of the papers in {} of {} comparisons, level in {}, behind in {}; between {} and {}.",
            tally(&comparisons, Standing::Ahead),
            comparisons.len(),
            tally(&comparisons, Standing::Level),
            tally(&comparisons, Standing::Behind),
            told(worst),
            told(best),
        )
    }

    /// Says so where no order gathers much more than it visits, and there is little to win.
    fn nearly_straight(&self, graph: usize, name: &str) -> Option<String> {
        let reached = |trial: &Trial| trial.share_at[FIFTH].filter(|_| trial.policy != Policy::Opt);
        let most = self
            .trials
            .all(graph)
            .filter_map(reached)
            .reduce(f64::max)?;
        let ceiling = self.trials.of(graph, &Policy::Opt).share_at[FIFTH]?;
        (most < NEARLY_STRAIGHT * MARKS[FIFTH]).then(|| {
            format!(
                "{name}: no order has more than {} after {} of the pages (the ceiling is {}): the curves are nearly straight, and there \
                 is little to tell orders apart by.",
                share(most),
                percent(MARKS[FIFTH]),
                share(ceiling)
            )
        })
    }

    /// Says so where most of a graph is out of reach, and little can be learnt from it.
    fn few_within_reach(&self, graph: usize, name: &str) -> Option<String> {
        let subject = &self.trials.subjects()[graph];
        let (reachable, all) = (subject.value.reachable(), subject.web.links.page_count());
        (f64::from(reachable) < FEW_WITHIN_REACH * f64::from(all)).then(|| {
            format!(
                "{name}: only {} of {} pages can be reached from the starts of all experiments, so a crawl of it says little.",
                count(reachable.into()),
                count(all.into())
            )
        })
    }

    /// What the parts of our policy are good for, in the middle budget.
    fn parts(&self, graph: usize, name: &str) -> Option<String> {
        let budgets = &self.budgets[graph];
        let budget = budgets.get(budgets.len() / 2)?;
        let reached = |ours: Ours| {
            let trial = self.trials.of(graph, &ours.within(budget.stored));
            match trial.share_at[FIFTH] {
                Some(reached) => share(reached),
                None => format!("nothing (it ends at {})", percent(trial.coverage)),
            }
        };
        let discarding = self
            .trials
            .of(graph, &Ours::Discarding.within(budget.stored));
        Some(format!(
            "{name}, {} in memory, at {} of the pages: worth has {}, welcoming back {}, discarding {} (and ends at {} of the pages); \
             counting links instead of worth {}, or {} when welcoming back; in-degree first within bounds, without turns, {}.",
            count(budget.stored.into()),
            percent(MARKS[FIFTH]),
            reached(Ours::Worth),
            reached(Ours::Welcome),
            reached(Ours::Discarding),
            percent(discarding.coverage),
            reached(Ours::Count),
            reached(Ours::CountWelcome),
            reached(Ours::InDegree),
        ))
    }
}

/// The comparison with the least margin.
fn worst(comparisons: &[Comparison]) -> Option<&Comparison> {
    comparisons
        .iter()
        .min_by(|left, right| left.margin.mean.total_cmp(&right.margin.mean))
}

fn tally(comparisons: &[Comparison], standing: Standing) -> usize {
    let alike = |one: &&Comparison| one.standing() == standing;
    comparisons.iter().filter(alike).count()
}

/// A margin, and where it is: `+0.031 ± 0.004 (at 20 % with about 8,981 in memory)`.
pub(super) fn told(comparison: &Comparison) -> String {
    format!(
        "{} ± {} (at {} with about {} in memory)",
        difference(comparison.margin.mean),
        share(comparison.margin.error()),
        percent(MARKS[comparison.place.mark]),
        count(rounded(comparison.memory)),
    )
}
