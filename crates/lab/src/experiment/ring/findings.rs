//! What was found, a sentence each.

use super::Results;
use crate::experiment::look::look;
use crate::experiment::trials::MARKS;
use crate::experiment::words::{count, percent, share};
use crate::policy::Policy;

/// The mark that sentences are about: a fifth of the pages.
const FIFTH: usize = 1;

impl Results<'_> {
    pub(super) fn findings(&self) -> Vec<String> {
        let graphs: Vec<(usize, String)> = self
            .graphs()
            .map(|(graph, name)| (graph, name.to_owned()))
            .collect();
        let mut findings = Vec::new();
        for (graph, name) in &graphs {
            findings.push(self.standing(*graph, name));
        }
        for (graph, name) in &graphs {
            findings.extend(self.cause(*graph, name));
        }
        findings.push(self.politeness());
        findings
    }

    /// Who has how much after a fifth of the pages.
    fn standing(&self, graph: usize, name: &str) -> String {
        let mut ranked: Vec<(String, f64)> = Vec::new();
        let mut ended: Vec<String> = Vec::new();
        for policy in self.plan.compared(&self.trials, graph) {
            let trial = self.trials.of(graph, &policy);
            match trial.share_at[FIFTH] {
                Some(share) => ranked.push((look(&policy).name, share)),
                None => ended.push(format!(
                    "{} (at {})",
                    look(&policy).name,
                    percent(trial.coverage)
                )),
            }
        }
        ranked.sort_by(|left, right| right.1.total_cmp(&left.1));
        let ranking: Vec<String> = ranked
            .into_iter()
            .map(|(policy, reached)| format!("{policy} {}", share(reached)))
            .collect();
        let mut sentence = format!(
            "{name}: after {} of the pages the shares of PageRank are {}",
            percent(MARKS[FIFTH]),
            ranking.join(", ")
        );
        if !ended.is_empty() {
            sentence.push_str("; run dry before: ");
            sentence.push_str(&ended.join(", "));
        }
        sentence.push('.');
        sentence
    }

    /// What the gain over breadth first comes from.
    fn cause(&self, graph: usize, name: &str) -> Option<String> {
        let ablation = self.ablation_of(graph, FIFTH)?;
        let steps = format!(
            "{name}: breadth first has {} after {} of the pages, with servers interleaved it is {}, and with discarding {} ({})",
            share(ablation.breadth_first),
            percent(MARKS[FIFTH]),
            share(ablation.interleaved),
            share(ablation.discarding),
            ablation.best,
        );
        Some(match ablation.explained() {
            Some(part) if (0.0..=1.0).contains(&part) => {
                format!(
                    "{steps}: interleaving explains {} of the gain, discarding the rest.",
                    percent(part)
                )
            }
            Some(part) if 1.0 < part => format!(
                "{steps}: all of the gain is interleaving, and discarding costs some of it."
            ),
            Some(_) => format!("{steps}: interleaving alone does not help here."),
            None => format!("{steps}: the ring gains nothing over breadth first here."),
        })
    }

    fn politeness(&self) -> String {
        let graphs = 0..self.trials.subjects().len();
        let promising: Vec<_> = graphs
            .flat_map(|graph| self.trials.all(graph))
            .filter(|trial| 0 < trial.pace.promised && trial.policy != Policy::Opt)
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
