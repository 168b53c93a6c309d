//! The claims of Tamura and Kitsuregawa (2010), and our goal, held against what was measured.

use junkai_simulation::outcome::{Claim, GOAL, Verdict, span};
use junkai_store::time_queue::Layout;

use super::tables::{late_max, megabytes};
use super::trial::{DISKS, Point};
use super::{Costs, DAY, HOUR, MINUTE, Results, Setting};
use crate::experiment::words::listed;

/// What a minute's resolution may cost, in times of a day's.
const GOAL_RATIO: f64 = 1.2;
/// From the smallest to the largest buffer a cost that differs by less than this factor hardly depends on it.
const FLAT_FACTOR: f64 = 1.5;
/// What counts as a steep rise, and as a high cost.
const STEEP_FACTOR: f64 = 2.0;
/// Below this size of buffers the paper sees the cost rise.
const SMALL_BUFFER: u64 = 1 << 20;

pub(super) const SEED_DAY: Setting = Setting::new(Layout::Flat, DAY);
const SEED_HOUR: Setting = Setting::new(Layout::Flat, HOUR);
pub(super) const SEED_MINUTE: Setting = Setting::new(Layout::Flat, MINUTE);
pub(super) const OUR_DAY: Setting = Setting::new(Layout::Graded, DAY);
pub(super) const OUR_MINUTE: Setting = Setting::new(Layout::Graded, MINUTE);

/// A way to tell what a state costs.
#[derive(Clone, Copy)]
pub(super) struct Measure {
    pub(super) name: &'static str,
    pub(super) cost_us: fn(&Point) -> f64,
}

impl Results<'_> {
    /// The ways to tell costs in this run.
    pub(super) fn measures(&self) -> Vec<Measure> {
        let mut measures = vec![
            Measure {
                name: DISKS[0].name,
                cost_us: |point| point.modelled_us(&DISKS[0]),
            },
            Measure {
                name: DISKS[1].name,
                cost_us: |point| point.modelled_us(&DISKS[1]),
            },
        ];
        match self.experiment.costs {
            Costs::Counted => {}
            Costs::Timed => measures.extend([
                Measure {
                    name: "CPU time",
                    cost_us: Point::cpu_us,
                },
                Measure {
                    name: "by the clock",
                    cost_us: Point::wall_us,
                },
            ]),
        }
        measures
    }

    pub(super) fn claims(&self) -> Vec<Claim> {
        let measures = self.measures();
        let mut claims = Vec::new();
        for measure in &measures {
            claims.extend(self.day_claim(*measure));
        }
        for measure in &measures {
            claims.extend(self.hour_claim(*measure));
        }
        for measure in &measures {
            claims.extend(self.minute_claim(*measure));
        }
        for measure in &measures {
            claims.extend(self.goal_claim(*measure));
        }
        claims.push(self.punctual_claim());
        claims
    }

    fn claim(&self, source: &str, claim: &str, measured: String, verdict: Verdict) -> Claim {
        Claim {
            source: source.to_owned(),
            claim: claim.to_owned(),
            graph: self.pages(),
            measured,
            verdict,
        }
    }

    /// What the cost of a setting differs by between the smallest buffer of some and the largest of all.
    fn rise(&self, setting: Setting, measure: Measure) -> Option<f64> {
        let costs: Vec<f64> = self
            .of(setting)
            .map(|point| (measure.cost_us)(point))
            .collect();
        let (first, last) = (costs.first()?, costs.last()?);
        (1 < costs.len()).then_some(first / last)
    }

    fn day_claim(&self, measure: Measure) -> Option<Claim> {
        let rise = self.rise(SEED_DAY, measure)?;
        let verdict = match rise {
            r if r <= FLAT_FACTOR => Verdict::Holds,
            r if r <= FLAT_FACTOR * FLAT_FACTOR => Verdict::Partly,
            _ => Verdict::Fails,
        };
        Some(self.claim(
            "Tamura and Kitsuregawa (2010), figure 2",
            "At a day’s resolution the cost hardly depends on the size of the buffers.",
            format!(
                "{}: with the smallest {rise:.2} times the cost with the largest",
                measure.name
            ),
            verdict,
        ))
    }

    fn hour_claim(&self, measure: Measure) -> Option<Claim> {
        let rise = self.rise(SEED_HOUR, measure)?;
        self.of(SEED_HOUR)
            .any(|point| point.buffer_bytes < SMALL_BUFFER)
            .then(|| {
                self.claim(
                    "Tamura and Kitsuregawa (2010), figure 2",
                    "At an hour’s resolution the cost rises steeply where buffers are small.",
                    format!(
                        "{}: with the smallest {rise:.2} times the cost with the largest",
                        measure.name
                    ),
                    Verdict::of_factor(rise, STEEP_FACTOR),
                )
            })
    }

    fn minute_claim(&self, measure: Measure) -> Option<Claim> {
        let ratios = self.ratios(SEED_MINUTE, measure);
        let high = ratios.iter().filter(|(_, ratio)| STEEP_FACTOR <= *ratio);
        let verdict = Verdict::of_comparisons(high.count(), ratios.len())?;
        Some(self.claim(
            "Tamura and Kitsuregawa (2010), figure 2",
            "At a minute’s resolution the cost is high whatever the size of the buffers.",
            format!(
                "{}: {} times the cost at a day’s",
                measure.name,
                told(&ratios)
            ),
            verdict,
        ))
    }

    fn goal_claim(&self, measure: Measure) -> Option<Claim> {
        let ratios = self.ratios(OUR_MINUTE, measure);
        let kept = ratios.iter().filter(|(_, ratio)| *ratio <= GOAL_RATIO);
        let verdict = Verdict::of_comparisons(kept.count(), ratios.len())?;
        Some(self.claim(
            GOAL,
            "A minute’s resolution, graded, costs at most 1.2 times what the paper’s layout costs at a day’s.",
            format!("{}: {} times", measure.name, told(&ratios)),
            verdict,
        ))
    }

    fn punctual_claim(&self) -> Claim {
        let is_punctual = |point: &&Point| {
            let resolution = point.setting.resolution.as_secs_f64();
            // Times are kept in whole seconds.
            let is_early = point.rounds().any(|round| !round.early_max.is_zero());
            late_max(point) <= resolution + 1.0 && !is_early
        };
        let kept = self.points.iter().filter(is_punctual).count();
        let of_ours = self.of(OUR_MINUTE).map(late_max).fold(0.0, f64::max);
        self.claim(
            GOAL,
            "No state comes before its time, and none later than the resolution.",
            format!(
                "in {kept} of {} measurements; graded at a minute {} at most",
                self.points.len(),
                span(of_ours)
            ),
            Verdict::of_comparisons(kept, self.points.len()).unwrap_or(Verdict::Fails),
        )
    }

    /// What a setting costs in times of the paper's at a day's resolution, with each buffer.
    pub(super) fn ratios(&self, setting: Setting, measure: Measure) -> Vec<(u64, f64)> {
        self.ratios_to(SEED_DAY, setting, measure)
    }

    /// What a setting costs in times of another, with each buffer.
    pub(super) fn ratios_to(
        &self,
        other: Setting,
        setting: Setting,
        measure: Measure,
    ) -> Vec<(u64, f64)> {
        let ratio = |point: &Point| {
            let base = self.at(other, point.buffer_bytes)?;
            Some((
                point.buffer_bytes,
                (measure.cost_us)(point) / (measure.cost_us)(base),
            ))
        };
        self.of(setting).filter_map(ratio).collect()
    }
}

/// Ratios with the sizes of their buffers.
pub(super) fn told(ratios: &[(u64, f64)]) -> String {
    let each: Vec<String> = ratios
        .iter()
        .map(|(bytes, ratio)| format!("{ratio:.2} ({})", megabytes(*bytes)))
        .collect();
    listed(&each)
}
