//! How far ours is from what it could be: the same policy, if it is told what sites there are instead of learning it from them.
//!
//! No policy knows that, so a rival that is level with ours where ours is at the ceiling is at the ceiling too. Of the skewed population
//! the informed policy knows the means of the sites, but not that a label is less probable than the mean says.

use junkai_focus::explore::Policy;
use junkai_simulation::outcome::{Cell, Column, Table};

use super::results::{Cell as Place, Measure, Results};
use super::tables::SHOWN;
use super::world::Population;
use crate::experiment::words::text;

impl Results {
    /// Ours, ours if it knew, and the difference.
    pub(super) fn ceiling(&self) -> Table {
        let mut rows = Vec::new();
        for population in Population::ALL {
            for place in SHOWN.iter().filter_map(|per_site| self.place_of(*per_site)) {
                let mut row = vec![
                    text(population.key()),
                    Cell::Count(self.checkpoints[place].into()),
                ];
                for measure in [Measure::ExpectedAccuracy, Measure::ExpectedRecall] {
                    let cell = Place {
                        population,
                        place,
                        measure,
                    };
                    let missing = self.worth_of_knowing(cell);
                    row.push(Cell::Share(self.estimate(Policy::Foresight, cell).mean));
                    row.push(Cell::Share(self.informed(cell).mean));
                    row.push(Cell::Difference(missing.mean));
                    row.push(Cell::Share(missing.error()));
                }
                rows.push(row);
            }
        }
        Table {
            name: "ceiling".to_owned(),
            caption: "Ours, and ours if it were told what sites there are instead of learning it: what better learning could still bring, with the \
                      standard error"
                .to_owned(),
            columns: Column::list([
                ("population", "population"),
                ("fetches", "fetches"),
                ("accuracy", "accuracy"),
                ("informed_accuracy", "informed"),
                ("accuracy_missing", "missing"),
                ("accuracy_error", "±"),
                ("recall", "recall"),
                ("informed_recall", "informed"),
                ("recall_missing", "missing"),
                ("recall_error", "±"),
            ]),
            rows,
        }
    }
}
