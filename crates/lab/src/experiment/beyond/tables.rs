//! The numbers of the experiment.

use super::{Ours, Results};
use crate::experiment::look::look;
use crate::experiment::trials::MARKS;
use crate::experiment::words::{count, difference, percent, text};
use crate::outcome::{Cell, Table};

impl Results<'_> {
    pub(super) fn tables(&self) -> Vec<Table> {
        vec![self.margins_table(), self.any_memory(), self.all_shares()]
    }

    fn margins_table(&self) -> Table {
        let mut rows = Vec::new();
        for (graph, name) in self.graphs() {
            for budget in &self.budgets[graph] {
                for ours in Ours::BEST {
                    let trial = self.trials.of(graph, &ours.within(budget.stored));
                    let mut row = vec![
                        text(name),
                        Cell::Count(budget.stored.into()),
                        text(look(&trial.policy).family),
                    ];
                    for mark in 0..MARKS.len() {
                        row.push(match self.margin(graph, budget, ours, mark) {
                            Some(margin) => text(difference(margin)),
                            None => text("alone"),
                        });
                    }
                    row.push(Cell::Share(trial.coverage));
                    row.push(Cell::Share(self.trials.of(graph, &budget.ring).coverage));
                    rows.push(row);
                }
            }
        }
        let mut columns = vec![
            "graph".to_owned(),
            "URLs in memory".to_owned(),
            "ours".to_owned(),
        ];
        columns.extend(MARKS.map(|mark| format!("at {}", percent(mark))));
        columns.extend(["coverage".to_owned(), "the ring’s coverage".to_owned()]);
        Table {
            name: "margins".to_owned(),
            caption: "How far the share of PageRank is ahead of the best policy of the seeds that fits into this memory, after parts of \
                      the pages (alone: no policy of the seeds came so far in this memory); the part of the pages visited in the end, \
                      by ours and by the ring of the seed that has this memory."
                .to_owned(),
            columns,
            rows,
        }
    }

    fn any_memory(&self) -> Table {
        let mut rows = Vec::new();
        for (graph, name) in self.graphs() {
            for (mark, part) in MARKS.into_iter().enumerate() {
                let (Some(best), Some(budget)) = (
                    self.best_seed(graph, mark, None),
                    self.budgets[graph].last(),
                ) else {
                    continue;
                };
                let mut row = vec![
                    text(name),
                    text(percent(part)),
                    text(look(&best.trial.policy).name),
                    Cell::Count(best.trial.stored_max.into()),
                    Cell::Share(best.share),
                    Cell::Count(budget.stored.into()),
                ];
                for ours in Ours::BEST {
                    let share = self.trials.of(graph, &ours.within(budget.stored)).share_at[mark];
                    row.push(Cell::share(share));
                    row.push(
                        share.map_or(Cell::None, |share| text(difference(share - best.share))),
                    );
                }
                rows.push(row);
            }
        }
        Table {
            name: "any-memory".to_owned(),
            caption: "The best policy of the seeds in any memory, and ours in the largest budget."
                .to_owned(),
            columns: [
                "graph",
                "pages visited",
                "best of the seeds",
                "URLs in memory",
                "its share",
                "ours in memory",
                "worth",
                "ahead by",
                "welcome back",
                "ahead by",
            ]
            .map(str::to_owned)
            .into(),
            rows,
        }
    }

    fn all_shares(&self) -> Table {
        let mut rows = Vec::new();
        for (graph, name) in self.graphs() {
            let bounded = self.budgets[graph].iter().flat_map(|budget| {
                std::iter::once(budget.ring.clone())
                    .chain(Ours::ALL.map(|ours| ours.within(budget.stored)))
            });
            let is_free = |policy: &&crate::policy::Policy| {
                self.budgets[graph]
                    .iter()
                    .all(|budget| budget.ring != **policy)
            };
            let free = self.seeds.iter().filter(is_free).cloned();
            for policy in bounded.chain(free).chain([crate::policy::Policy::Opt]) {
                let trial = self.trials.of(graph, &policy);
                let mut row = vec![text(name), text(look(&policy).name)];
                row.extend(trial.share_at.map(Cell::share));
                row.extend([
                    Cell::Share(trial.coverage),
                    text(match policy {
                        crate::policy::Policy::Opt => "–".to_owned(),
                        _ => count(trial.stored_max.into()),
                    }),
                ]);
                rows.push(row);
            }
        }
        let mut columns = vec!["graph".to_owned(), "policy".to_owned()];
        columns.extend(MARKS.map(|mark| format!("at {}", percent(mark))));
        columns.extend(["coverage".to_owned(), "most stored".to_owned()]);
        Table {
            name: "shares".to_owned(),
            caption: "Share of PageRank when a part of the pages was visited, by memory: a ring of the seed, and below it what ours make \
                      of the same memory; then the policies of the seeds that are not bounded."
                .to_owned(),
            columns,
            rows,
        }
    }
}
