//! What was found, a sentence each.

use junkai_store::time_queue::Layout;

use super::claims::{OUR_DAY, OUR_MINUTE, SEED_DAY, SEED_MINUTE, told};
use super::tables::megabytes;
use super::trial::{DISKS, Point};
use super::{Costs, MINUTE, Results, Setting};

impl Results<'_> {
    pub(super) fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        for measure in self.measures() {
            let ours = self.ratios(OUR_MINUTE, measure);
            let seeds = self.ratios(SEED_MINUTE, measure);
            let to_our_day = self.ratios_to(OUR_DAY, OUR_MINUTE, measure);
            findings.push(format!(
                "{}: a minute’s resolution costs {} times what the paper’s layout costs at a day’s, and {} times what ours costs at a day’s; in the paper’s \
                 layout {} times.",
                capitalized(measure.name),
                told(&ours),
                told(&to_our_day),
                told(&seeds)
            ));
        }
        findings.extend(self.layouts());
        findings.extend(self.sizes());
        match self.experiment.costs {
            Costs::Counted => {}
            Costs::Timed => findings.extend(self.speed()),
        }
        findings
    }

    /// The two graded layouts side by side.
    fn layouts(&self) -> Option<String> {
        let hierarchical = self.of(Setting::new(Layout::Hierarchical, MINUTE)).last()?;
        let ours = self.at(OUR_MINUTE, hierarchical.buffer_bytes)?;
        Some(format!(
            "At a minute with {} of buffers, the hierarchical layout writes each state {:.2} times and the graded one {:.2} times; on {} that is {:.2} \
             and {:.2} µs.",
            megabytes(hierarchical.buffer_bytes),
            hierarchical.amplification(),
            ours.amplification(),
            DISKS[1].name,
            hierarchical.modelled_us(&DISKS[1]),
            ours.modelled_us(&DISKS[1]),
        ))
    }

    /// How large a state is on disk.
    fn sizes(&self) -> Option<String> {
        let largest = |setting| {
            self.of(setting)
                .last()
                .map(|point: &Point| point.disk_bytes_per_record)
        };
        let round = self.of(OUR_MINUTE).last()?.rounds().last()?;
        Some(format!(
            "A state with its URL is {:.0} bytes; on disk it takes {:.0} graded at a minute, and {:.0} flat at a day, the journal included.",
            round.bytes as f64 / round.records as f64,
            largest(OUR_MINUTE)?,
            largest(SEED_DAY)?,
        ))
    }

    /// States a second.
    fn speed(&self) -> Option<String> {
        let point = self.of(OUR_MINUTE).last()?;
        let rate = |us: f64| format!("{:.2} million", 1.0 / us);
        Some(format!(
            "Graded at a minute with {} of buffers, {} states go round in a second by the clock, {} in a second of CPU time.",
            megabytes(point.buffer_bytes),
            rate(point.wall_us()),
            rate(point.cpu_us()),
        ))
    }
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
