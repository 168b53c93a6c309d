//! The numbers of the experiment.

use junkai_simulation::comparison::{gap_cells, gap_columns};
use junkai_simulation::outcome::{Cell, Column, Table};
use junkai_simulation::policy::{Policy, ServerSpread};

use super::{Plan, Results, RingSize};
use crate::experiment::look::look;
use crate::experiment::trials::{LEVELS, MARKS, TIE, Trial};
use crate::experiment::words::{counted, text};

/// Shares of PageRank of which figure 2 asks in how few pages they are.
const CONCENTRATIONS: [f64; 4] = [0.2, 0.4, 0.6, 0.8];

/// What the paper's ring is called that has more slots than there are pages.
pub(super) const INTERLEAVED: &str = "interleaved, nothing discarded";

/// A gain that three decimals do not show is not explained.
const GAIN_MIN: f64 = 0.0005;

/// How a gain over breadth first comes about.
pub(super) struct Ablation {
    /// The share of PageRank of breadth first.
    pub(super) breadth_first: f64,
    /// With servers interleaved, and nothing discarded.
    pub(super) interleaved: f64,
    /// With what does not fit discarded, at the size that gains most.
    pub(super) discarding: f64,
    /// That size.
    pub(super) best: String,
}

impl Ablation {
    /// The part of the gain that interleaving explains; none if there is no gain.
    pub(super) fn explained(&self) -> Option<f64> {
        let gain = self.discarding - self.breadth_first;
        (GAIN_MIN <= gain).then(|| (self.interleaved - self.breadth_first) / gain)
    }
}

impl Results<'_> {
    pub(super) fn tables(&self) -> Vec<Table> {
        let mut tables = vec![
            self.shares(),
            self.memory(),
            self.ablation(),
            self.concentration(),
        ];
        if !self.plan.varied_slots().is_empty() {
            tables.push(self.slots());
        }
        if !self.plan.varied_keys(ServerSpread::Hashed).is_empty() {
            tables.push(self.keys());
        }
        tables
    }

    /// Numbers and names of the graphs.
    pub(super) fn graphs(&self) -> impl Iterator<Item = (usize, &str)> {
        let names = self.trials.subjects().iter();
        names.map(|subject| subject.web.name.as_str()).enumerate()
    }

    fn shares(&self) -> Table {
        let mut rows = Vec::new();
        for (graph, name) in self.graphs() {
            let subject = &self.trials.subjects()[graph];
            let interleaving = Plan::interleaving(subject, self.plan.experiment.keys_fixed);
            let policies = self.plan.compared(&self.trials, graph);
            let named = policies
                .into_iter()
                .map(|policy| (look(&policy).family, policy));
            for (policy_name, policy) in named.chain([(INTERLEAVED.to_owned(), interleaving)]) {
                let trial = self.trials.of(graph, &policy);
                let mut row = vec![text(name), text(policy_name)];
                row.extend(trial.share_at.map(Cell::share));
                row.extend([
                    Cell::Share(trial.coverage),
                    Cell::Share(trial.share),
                    stored(trial),
                ]);
                row.extend(gap_cells(&policy, &trial.pace));
                row.push(Cell::Count(trial.pace.violations));
                rows.push(row);
            }
        }
        let mut columns = Column::list([("graph", "graph"), ("policy", "policy")]);
        columns.extend(MARKS.map(|mark| Column::at_part("share", "at", mark)));
        columns.extend(Column::list([
            ("coverage", "coverage"),
            ("share_at_the_end", "in the end"),
            ("stored_max_urls", "most stored"),
        ]));
        columns.extend(gap_columns());
        columns.push(Column::new("too_early_visits", "too early"));
        Table {
            name: "shares".to_owned(),
            caption: "Share of PageRank when a part of the pages was visited (–: the crawl ended before), the part of the pages \
                      visited in the end and their share, the most URLs that waited in memory, the least gap between two visits \
                      to a server (000: start to start in steps; ours: end to start) and visits that came too early."
                .to_owned(),
            columns,
            rows,
        }
    }

    /// For each family of policies, the smallest store with which a share of PageRank was reached.
    fn memory(&self) -> Table {
        let mut rows = Vec::new();
        for (graph, name) in self.graphs() {
            let irlbot = self.trials.of(graph, &Policy::irlbot()).stored_at;
            for (family, stored_at) in self.families(graph) {
                let mut row = vec![text(name), text(family)];
                for (stored, irlbot) in stored_at.into_iter().zip(irlbot) {
                    row.push(counted(stored));
                    row.push(Cell::share(ratio(irlbot, stored)));
                }
                rows.push(row);
            }
        }
        let mut columns = Column::list([("graph", "graph"), ("policy", "policy")]);
        for level in LEVELS {
            let part = format!("{:.0}", 100.0 * level);
            columns.push(Column::new(
                format!("stored_for_{part}_percent_urls"),
                format!("stored for {part} %"),
            ));
            columns.push(Column::new(
                format!("irlbot_ratio_for_{part}_percent"),
                "IRLbot’s ÷ it",
            ));
        }
        Table {
            name: "memory".to_owned(),
            caption: "The most URLs that waited in memory until a share of PageRank was reached, and how many times as many \
                      IRLbot needed. For rings, the smallest of all sizes tried."
                .to_owned(),
            columns,
            rows,
        }
    }

    /// The smallest store of each family for each level.
    fn families(&self, graph: usize) -> Vec<(String, [Option<u32>; LEVELS.len()])> {
        let of = |policy: &Policy| self.trials.of(graph, policy).stored_at;
        let worth = self.plan.worth(&self.trials, graph);
        let singles = [
            Policy::irlbot(),
            super::published(),
            Policy::breadth_first(),
            Policy::in_degree(),
            self.plan.our_ring(),
            worth,
        ];
        let mut families: Vec<_> = singles
            .iter()
            .map(|policy| (look(policy).family, of(policy)))
            .collect();
        families.insert(
            4,
            (
                "one-step ring, best size".to_owned(),
                self.best_rings(graph),
            ),
        );
        families
    }

    /// The paper's rings that were tried with hashed servers, those aside that are so large as never to discard: among them a
    /// ring is the best one.
    pub(super) fn rings(&self, graph: usize) -> Vec<(RingSize, &Trial)> {
        let slots_of_all = Plan::slots_of_all(&self.trials.subjects()[graph]);
        let mut rings = Vec::new();
        for trial in self.trials.all(graph) {
            if let Policy::OneStepRing(setup) = &trial.policy
                && setup.spread == ServerSpread::Hashed
                && setup.slots < slots_of_all
            {
                let size = RingSize {
                    slots: setup.slots,
                    keys: setup.residues,
                };
                rings.push((size, trial));
            }
        }
        rings
    }

    /// The smallest store of the paper's rings for each level.
    pub(super) fn best_rings(&self, graph: usize) -> [Option<u32>; LEVELS.len()] {
        let rings = self.rings(graph);
        std::array::from_fn(|level| {
            let stored = rings.iter().filter_map(|(_, ring)| ring.stored_at[level]);
            stored.min()
        })
    }

    fn ablation(&self) -> Table {
        let mut rows = Vec::new();
        for (graph, name) in self.graphs() {
            for (place, mark) in MARKS.into_iter().enumerate() {
                let Some(ablation) = self.ablation_of(graph, place) else {
                    continue;
                };
                rows.push(vec![
                    text(name),
                    Cell::Part(mark),
                    Cell::Share(ablation.breadth_first),
                    Cell::Share(ablation.interleaved),
                    Cell::Share(ablation.discarding),
                    text(ablation.best.clone()),
                    ablation.explained().map_or(Cell::None, Cell::Part),
                ]);
            }
        }
        Table {
            name: "ablation".to_owned(),
            caption: "Share of PageRank by breadth first, with servers interleaved and nothing discarded (the paper’s ring with \
                      more slots than pages and as many residues), and with discarding at the size that gains most; the part of the gain that \
                      interleaving alone explains (100 %: the ring had lost nothing by discarding yet, nor won; above it, discarding \
                      costs)."
                .to_owned(),
            columns: Column::list([
                ("graph", "graph"),
                ("visited_part", "pages visited"),
                ("share_breadth_first", "breadth first"),
                ("share_interleaved", "interleaved"),
                ("share_discarding", "and discarding"),
                ("best_ring", "best size"),
                ("gain_part_by_interleaving", "by interleaving"),
            ]),
            rows,
        }
    }

    /// What each step brings at a mark; none if no ring that discards came so far, or the ring that should discard nothing did.
    pub(super) fn ablation_of(&self, graph: usize, mark: usize) -> Option<Ablation> {
        let breadth_first = self.trials.of(graph, &Policy::breadth_first());
        let mut best: Option<(f64, RingSize)> = None;
        for (size, trial) in self.rings(graph) {
            if let Some(share) = trial.share_at[mark].filter(|_| 0 < trial.discarded)
                && best.is_none_or(|(most, _)| most + TIE < share)
            {
                best = Some((share, size));
            }
        }
        let (discarding, best) = best?;
        let interleaving = Plan::interleaving(&self.trials.subjects()[graph], best.keys);
        let interleaved = self.trials.of(graph, &interleaving);
        if interleaved.discarded != 0 {
            return None;
        }
        Some(Ablation {
            breadth_first: breadth_first.share_at[mark]?,
            interleaved: interleaved.share_at[mark]?,
            discarding,
            best: look(&best.policy()).name,
        })
    }

    fn concentration(&self) -> Table {
        let mut rows = Vec::new();
        for (graph, name) in self.graphs() {
            let subject = &self.trials.subjects()[graph];
            let cumulated = subject.value.cumulated(&subject.value.best_first());
            let mut row = vec![text(name), Cell::Count(subject.value.reachable().into())];
            for level in CONCENTRATIONS {
                let pages = cumulated.partition_point(|share| *share < level) + 1;
                let part = pages as f64 / f64::from(subject.value.reachable().max(1));
                row.push(Cell::Part(part));
            }
            rows.push(row);
        }
        let mut columns = Column::list([("graph", "graph"), ("reachable_pages", "pages")]);
        columns.extend(CONCENTRATIONS.map(|level| {
            let part = format!("{:.0}", 100.0 * level);
            Column::new(
                format!("pages_part_that_holds_{part}_percent"),
                format!("hold {part} %"),
            )
        }));
        Table {
            name: "concentration".to_owned(),
            caption: "The fewest pages that hold a share of PageRank (figure 2), as a part of the pages that can be reached.".to_owned(),
            columns,
            rows,
        }
    }

    fn slots(&self) -> Table {
        let mut rows = Vec::new();
        for (graph, name) in self.graphs() {
            for (slots, policy) in self
                .plan
                .experiment
                .slots
                .iter()
                .zip(self.plan.varied_slots())
            {
                let trial = self.trials.of(graph, &policy);
                rows.push(vec![
                    text(name),
                    Cell::Count(*slots as u64),
                    Cell::Count(trial.pages.into()),
                    Cell::Share(trial.share),
                    Cell::Count(trial.stored_max.into()),
                ]);
            }
        }
        Table {
            name: "slots".to_owned(),
            caption: format!(
                "Pages that the paper’s ring visits before it runs dry, their share of PageRank, and the most URLs in memory, by \
                 slots B, with H = {} (figure 3).",
                self.plan.experiment.keys_fixed
            ),
            columns: Column::list([
                ("graph", "graph"),
                ("slots", "slots B"),
                ("visited_pages", "pages"),
                ("share", "share of PageRank"),
                ("stored_max_urls", "most stored"),
            ]),
            rows,
        }
    }

    fn keys(&self) -> Table {
        let mut rows = Vec::new();
        let hashed = self.plan.varied_keys(ServerSpread::Hashed);
        let plain = self.plan.varied_keys(ServerSpread::Plain);
        for (graph, name) in self.graphs() {
            for (place, keys) in self.plan.experiment.keys.iter().enumerate() {
                let mut row = vec![text(name), Cell::Count(u64::from(*keys))];
                for policies in [&hashed, &plain] {
                    let trial = self.trials.of(graph, &policies[place]);
                    row.extend([Cell::Count(trial.pages.into()), Cell::Share(trial.share)]);
                }
                rows.push(row);
            }
        }
        Table {
            name: "keys".to_owned(),
            caption: format!(
                "The same by residues H, with B = {} (figure 4): servers find their residue by a hash, or by their number.",
                self.plan.experiment.slots_fixed
            ),
            columns: Column::list([
                ("graph", "graph"),
                ("residues", "residues H"),
                ("visited_pages_hashed", "pages, hashed"),
                ("share_hashed", "share, hashed"),
                ("visited_pages_not_hashed", "pages, not hashed"),
                ("share_not_hashed", "share, not hashed"),
            ]),
            rows,
        }
    }
}

impl Plan<'_> {
    /// The ring that the paper's claims are about.
    pub(super) fn claimed(self) -> Option<Policy> {
        self.sizes().pop()
    }
}

/// How many times `stored` the memory of IRLbot is.
pub(super) fn ratio(irlbot: Option<u32>, stored: Option<u32>) -> Option<f64> {
    let (irlbot, stored) = (irlbot?, stored?);
    (stored != 0).then(|| f64::from(irlbot) / f64::from(stored))
}

/// The most URLs in memory; the ceiling stores nothing.
fn stored(trial: &Trial) -> Cell {
    match trial.policy {
        Policy::Opt => Cell::None,
        Policy::OneStepRing(_) | Policy::Crawl(_) => Cell::Count(trial.stored_max.into()),
    }
}
