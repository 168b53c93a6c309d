//! What was found, a sentence each; where we lose, by how much.

use super::{Margin, Ours, Results};
use crate::experiment::trials::{MARKS, NOTHING};
use crate::experiment::words::{count, difference, percent, share};

/// The mark that sentences are about: a fifth of the pages.
const FIFTH: usize = 1;

impl Results<'_> {
    pub(super) fn findings(&self) -> Vec<String> {
        let graphs: Vec<(usize, String)> = self
            .graphs()
            .map(|(graph, name)| (graph, name.to_owned()))
            .collect();
        let best = [
            (Ours::Worth, "worth"),
            (Ours::Welcome, "worth that welcomes pages back"),
        ];
        let mut findings = Vec::new();
        if 1 < graphs.len() {
            findings.extend(best.map(|(ours, what)| self.overall(ours, what)));
        }
        for (graph, name) in &graphs {
            findings.extend(best.map(|(ours, what)| self.record(*graph, name, ours, what)));
        }
        for (graph, name) in &graphs {
            findings.extend(self.parts(*graph, name));
        }
        findings
    }

    /// Where one of ours wins and where it loses.
    fn record(&self, graph: usize, name: &str, ours: Ours, what: &str) -> String {
        let margins = self.margins(graph, ours);
        let mut losses: Vec<&Margin> = margins
            .iter()
            .filter(|margin| margin.ahead <= -NOTHING)
            .collect();
        losses.sort_by(|left, right| left.ahead.total_cmp(&right.ahead));
        let best = margins
            .iter()
            .map(|margin| margin.ahead)
            .fold(f64::NEG_INFINITY, f64::max);
        if margins.is_empty() {
            return format!("{name}: no policy of the seeds to compare {what} with.");
        }
        let ahead = format!(
            "{name}: at equal memory {what} is level with or ahead of every policy of the seeds in {} of {} comparisons, by up to {}",
            margins.len() - losses.len(),
            margins.len(),
            share(best.max(0.0)),
        );
        let Some(worst) = losses.first() else {
            return format!("{ahead}, and behind in none.");
        };
        let place = format!(
            "at {} of the pages with {} in memory",
            percent(worst.part),
            count(worst.stored.into())
        );
        if losses.len() == 1 {
            return format!(
                "{ahead}. It loses one, by {} ({place}).",
                share(-worst.ahead)
            );
        }
        let mean = losses.iter().map(|loss| loss.ahead).sum::<f64>() / losses.len() as f64;
        format!(
            "{ahead}. It loses {}, by {} on average and {} at worst ({place}).",
            losses.len(),
            share(-mean),
            share(-worst.ahead),
        )
    }

    /// How one of ours fares over all graphs.
    fn overall(&self, ours: Ours, what: &str) -> String {
        let margins: Vec<Margin> = (0..self.budgets.len())
            .flat_map(|graph| self.margins(graph, ours))
            .collect();
        let level = margins
            .iter()
            .filter(|margin| -NOTHING < margin.ahead)
            .count();
        let mean =
            margins.iter().map(|margin| margin.ahead).sum::<f64>() / margins.len().max(1) as f64;
        format!(
            "Over all graphs, {what} is level with or ahead of the best policy of the seeds in {level} of {} comparisons at equal \
             memory, by {} on average.",
            margins.len(),
            difference(mean),
        )
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
