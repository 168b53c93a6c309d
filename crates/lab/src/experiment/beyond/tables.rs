//! The numbers of the experiment.

use junkai_simulation::outcome::{Cell, Column, Table};
use junkai_simulation::policy::{Policy, Setup};

use super::repeat::Comparison;
use super::{Ours, Results};
use crate::experiment::look::look;
use crate::experiment::trials::MARKS;
use crate::experiment::words::text;

impl Results<'_> {
    pub(super) fn tables(&self) -> Vec<Table> {
        vec![
            self.margins(),
            self.single_run(),
            self.any_memory(),
            self.all_shares(),
        ]
    }

    /// Each comparison over all sets of starts.
    fn margins(&self) -> Table {
        let mut rows = Vec::new();
        for (graph, name) in self.graphs() {
            let mut comparisons: Vec<(usize, Comparison)> = (0..Ours::BEST.len())
                .flat_map(|ours| {
                    let all = self.comparisons(graph, ours).into_iter();
                    all.map(move |one| (ours, one))
                })
                .collect();
            comparisons.sort_by_key(|(ours, one)| (one.place.budget, *ours, one.place.mark));
            for (ours, one) in comparisons {
                let ring = &self.repeated_rings[graph][one.place.budget];
                rows.push(vec![
                    text(name),
                    text(look(ring).name),
                    Cell::Count(rounded(one.memory)),
                    text(look(&Ours::BEST[ours].within(rounded_u32(one.memory))).family),
                    Cell::Part(MARKS[one.place.mark]),
                    Cell::Difference(one.margin.mean),
                    Cell::Share(one.margin.error()),
                    Cell::Count(one.not_behind as u64),
                    Cell::Count(one.margin.count as u64),
                    text(one.standing().name()),
                ]);
            }
        }
        Table {
            name: "margins".to_owned(),
            caption: format!(
                "Over {} sets of starts: how far the share of PageRank is ahead of the best policy of the papers that fits into the \
                 memory of a ring, after a part of the pages: mean, standard error of the mean, sets in which ours is level or \
                 ahead, and sets that came so far. Level: within two standard errors. Left out: where fewer than half of the sets came so far.",
                self.experiment.repetitions
            ),
            columns: Column::list([
                ("graph", "graph"),
                ("memory_of", "memory of"),
                ("memory_mean_urls", "URLs"),
                ("policy", "ours"),
                ("visited_part", "pages visited"),
                ("margin_mean", "ahead by"),
                ("margin_standard_error", "± s.e."),
                ("not_behind_sets", "level or ahead"),
                ("sets", "of sets"),
                ("standing", "standing"),
            ]),
            rows,
        }
    }

    fn single_run(&self) -> Table {
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
                        row.push(Cell::difference(self.margin(graph, budget, ours, mark)));
                    }
                    row.push(Cell::Share(trial.coverage));
                    row.push(Cell::Share(self.trials.of(graph, &budget.ring).coverage));
                    rows.push(row);
                }
            }
        }
        let mut columns = Column::list([
            ("graph", "graph"),
            ("memory_urls", "URLs in memory"),
            ("policy", "ours"),
        ]);
        columns.extend(MARKS.map(|mark| Column::at_part("margin", "at", mark)));
        columns.extend(Column::list([
            ("coverage", "coverage"),
            ("coverage_of_ring", "the ring’s coverage"),
        ]));
        Table {
            name: "single-run".to_owned(),
            caption: "One crawl each, from the starts of all experiments: how far the share of PageRank is ahead of the best policy of the papers that fits into this memory, after parts of \
                      the pages (–: no policy of the papers came so far in this memory); the part of the pages visited in the end, \
                      by ours and by the ring of the paper that has this memory."
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
                    self.best_published(graph, mark, None),
                    self.budgets[graph].last(),
                ) else {
                    continue;
                };
                let mut row = vec![
                    text(name),
                    Cell::Part(part),
                    text(look(&best.trial.policy).name),
                    Cell::Count(best.trial.stored_max.into()),
                    Cell::Share(best.share),
                    Cell::Count(budget.stored.into()),
                ];
                for ours in Ours::BEST {
                    let share = self.trials.of(graph, &ours.within(budget.stored)).share_at[mark];
                    row.push(Cell::share(share));
                    row.push(Cell::difference(share.map(|share| share - best.share)));
                }
                rows.push(row);
            }
        }
        Table {
            name: "any-memory".to_owned(),
            caption: "The best policy of the papers in any memory, and ours in the largest budget."
                .to_owned(),
            columns: Column::list([
                ("graph", "graph"),
                ("visited_part", "pages visited"),
                ("best_of_seeds", "best of the papers"),
                ("best_of_seeds_stored_max_urls", "URLs in memory"),
                ("best_of_seeds_share", "its share"),
                ("memory_urls", "ours in memory"),
                ("worth_share", "worth"),
                ("worth_margin", "ahead by"),
                ("welcome_share", "welcome back"),
                ("welcome_margin", "ahead by"),
            ]),
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
            let is_free = |policy: &&Policy| {
                self.budgets[graph]
                    .iter()
                    .all(|budget| budget.ring != **policy)
            };
            let free = self.published.iter().filter(is_free).cloned();
            for policy in bounded.chain(free).chain([Policy::Opt]) {
                let trial = self.trials.of(graph, &policy);
                let mut row = vec![text(name), text(look(&policy).family), memory(&policy)];
                row.extend(trial.share_at.map(Cell::share));
                row.extend([
                    Cell::Share(trial.coverage),
                    match policy {
                        Policy::Opt => Cell::None,
                        Policy::OneStepRing(_) | Policy::Crawl(_) => {
                            Cell::Count(trial.stored_max.into())
                        }
                    },
                ]);
                rows.push(row);
            }
        }
        let mut columns = Column::list([
            ("graph", "graph"),
            ("policy", "policy"),
            ("memory_urls", "may store"),
        ]);
        columns.extend(MARKS.map(|mark| Column::at_part("share", "at", mark)));
        columns.extend(Column::list([
            ("coverage", "coverage"),
            ("stored_max_urls", "most stored"),
        ]));
        Table {
            name: "shares".to_owned(),
            caption: "Share of PageRank when a part of the pages was visited, by memory: a ring of the paper, and below it what ours make \
                      of the same memory; then the policies of the papers that are not bounded."
                .to_owned(),
            columns,
            rows,
        }
    }
}

/// The URLs that a policy may store at most, those included that were handed to the ring ahead of their turn; none if it is
/// not told.
fn memory(policy: &Policy) -> Cell {
    match policy {
        Policy::Crawl(Setup {
            candidates_max: Some(candidates),
            ring,
            ..
        }) => {
            let ahead = ring.map_or(0, |ring| ring.lookahead);
            Cell::Count(candidates.saturating_add(ahead) as u64)
        }
        Policy::Opt | Policy::OneStepRing(_) | Policy::Crawl(_) => Cell::None,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the mean of counts"
)]
pub(super) fn rounded(mean: f64) -> u64 {
    mean.round() as u64
}

fn rounded_u32(mean: f64) -> u32 {
    u32::try_from(rounded(mean)).unwrap_or(u32::MAX)
}
