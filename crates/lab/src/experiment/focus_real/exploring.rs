//! Every policy on the labelled sites: how good its verdicts are as the fetches grow.
//!
//! The pages of a site come in an order that is drawn anew for each repetition and is the same for all policies: two policies that choose the
//! same sites see the same pages. So differences are paired. The spread between repetitions is that of these orders; the models that judge the
//! pages are the same throughout.

use junkai_chance::Chance;
use junkai_charts::{Axis, Chart, Format, Grid, Line, Spread};
use junkai_focus::explore::{self, Explorer, Policy, SiteNumber};
use junkai_simulation::outcome::{
    Cell, Claim, Column, Drawing, Figure, GOAL, Table, Verdict, signed,
};
use rayon::prelude::*;

use super::Meter;
use super::labelled::JudgedSite;
use crate::experiment::estimate::{Estimate, Standing};
use crate::experiment::words::{share, text};

/// Verdicts are judged each time that so many fetches more were made for each site.
const STEP: f64 = 0.25;
const CHECKPOINTS: usize = 24;
/// Fetches for each site that the tables show.
const SHOWN: [f64; 6] = [0.5, 1.0, 1.5, 2.0, 3.0, 6.0];
/// What the figure shows, of which there are more policies than colours.
const DRAWN: [Policy; 7] = [
    Policy::Foresight,
    Policy::Delta,
    Policy::Random,
    Policy::OptimisticGradient,
    Policy::UcbError,
    Policy::Thompson,
    Policy::EpsilonGreedy,
];

/// How good the verdicts are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Quality {
    accuracy: f64,
    precision: f64,
    recall: f64,
}

/// What is read off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Accuracy,
    Precision,
    Recall,
}

impl Measure {
    const ALL: [Measure; 3] = [Measure::Accuracy, Measure::Precision, Measure::Recall];

    fn name(self) -> &'static str {
        match self {
            Measure::Accuracy => "accuracy",
            Measure::Precision => "precision",
            Measure::Recall => "recall",
        }
    }

    fn of(self, quality: &Quality) -> f64 {
        match self {
            Measure::Accuracy => quality.accuracy,
            Measure::Precision => quality.precision,
            Measure::Recall => quality.recall,
        }
    }
}

/// What came of it.
pub(super) struct Explored {
    /// By repetition, then by policy, then by checkpoint.
    trials: Vec<Vec<Vec<Quality>>>,
    /// The share of sites that are not wanted: the accuracy of who says so of all.
    pub(super) unwanted: f64,
}

impl Explored {
    /// Has every policy explore the sites, as often as there are seeds.
    pub(super) fn run(
        sites: &[JudgedSite],
        seeds: std::ops::Range<u64>,
        meter: &Meter<'_>,
    ) -> Explored {
        let trial = |seed: u64| {
            let drawn: Vec<JudgedSite> = (0..)
                .zip(sites)
                .map(|(number, site)| site.in_any_order(&mut Chance::about(seed, number)))
                .collect();
            let run = |policy: Policy| {
                let qualities = explore(&drawn, policy, seed);
                meter.add(1);
                qualities
            };
            Policy::ALL.into_iter().map(run).collect()
        };
        let wanted = sites.iter().filter(|site| site.is_wanted).count();
        Explored {
            trials: seeds.into_par_iter().map(trial).collect(),
            unwanted: 1.0 - wanted as f64 / sites.len().max(1) as f64,
        }
    }

    fn values(&self, policy: Policy, measure: Measure, checkpoint: usize) -> Vec<f64> {
        let Some(place) = Policy::ALL.iter().position(|other| *other == policy) else {
            return Vec::new();
        };
        let trials = self.trials.iter();
        trials
            .map(|trial| measure.of(&trial[place][checkpoint]))
            .collect()
    }

    /// By how much ours is ahead of another, repetition by repetition.
    fn lead(&self, other: Policy, measure: Measure, checkpoint: usize) -> Estimate {
        let ours = self.values(Policy::Foresight, measure, checkpoint);
        let theirs = self.values(other, measure, checkpoint);
        Estimate::of_differences(&ours, &theirs)
    }

    pub(super) fn tables(&self) -> Vec<Table> {
        let measured = Measure::ALL.map(|measure| self.measured(measure));
        measured.into_iter().chain([self.leads()]).collect()
    }

    fn measured(&self, measure: Measure) -> Table {
        let row = |policy: Policy| {
            let mut row = vec![text(policy.name())];
            for shown in SHOWN {
                let values = self.values(policy, measure, checkpoint_of(shown));
                row.push(Cell::Share(Estimate::of(&values).mean));
            }
            row
        };
        let name = measure.name();
        let mut columns = Column::list([("policy", "policy")]);
        columns.extend(SHOWN.map(|shown| {
            Column::new(
                format!("{name}_at_{}", key_of(shown)),
                format!("{shown} a site"),
            )
        }));
        Table {
            name: format!("exploring-{name}"),
            caption: format!(
                "Real sites with labels: {name} of the verdicts after so many fetches for each site, mean over repetitions. The pages of a site are \
                 judged by a model that has learned from other universities. Who says of every site that it is not wanted has an accuracy of {}.",
                share(self.unwanted)
            ),
            columns,
            rows: Policy::ALL.map(row).into(),
        }
    }

    fn leads(&self) -> Table {
        let mut columns = Column::list([("against", "against")]);
        for shown in SHOWN {
            let key = key_of(shown);
            columns.push(Column::new(
                format!("accuracy_lead_at_{key}"),
                format!("{shown} a site"),
            ));
            columns.push(Column::new(format!("error_at_{key}"), "±"));
        }
        let row = |other: Policy| {
            let mut row = vec![text(other.name())];
            for shown in SHOWN {
                let lead = self.lead(other, Measure::Accuracy, checkpoint_of(shown));
                row.push(Cell::Difference(lead.mean));
                row.push(Cell::Share(lead.error()));
            }
            row
        };
        Table {
            name: "exploring-leads".to_owned(),
            caption: "Real sites with labels: the accuracy of ours less that of each other policy, repetition by repetition, and the standard \
                      error of the mean."
                .to_owned(),
            columns,
            rows: others().map(row).collect(),
        }
    }

    pub(super) fn figure(&self) -> Figure {
        let mut grid = Grid::new("Verdicts on real sites with labels").columns(3);
        for measure in Measure::ALL {
            let x = Axis::linear("fetches for each site").min(1.0);
            let y = Axis::linear("share of sites").format(Format::Share);
            let mut chart = Chart::new(measure.name(), x, y);
            for (slot, policy) in DRAWN.into_iter().enumerate() {
                chart = chart.line(self.line(policy, measure).slot(slot));
            }
            grid = grid.chart(chart);
        }
        Figure {
            name: "exploring".to_owned(),
            caption: "Real sites with labels: how good the verdicts are as fetches grow, from one for each site on; means over repetitions, and \
                      for ours the standard deviation between them."
                .to_owned(),
            chart: Drawing::Many(Box::new(grid)),
        }
    }

    fn line(&self, policy: Policy, measure: Measure) -> Line {
        // Before a site has been asked once, verdicts are what is said of the unseen.
        let shown = (0..CHECKPOINTS).filter(|checkpoint| 1.0 <= fetches_at(*checkpoint));
        let estimates: Vec<(f64, Estimate)> = shown
            .map(|checkpoint| {
                let values = self.values(policy, measure, checkpoint);
                (fetches_at(checkpoint), Estimate::of(&values))
            })
            .collect();
        let line = Line::new(
            policy.name(),
            estimates.iter().map(|(x, estimate)| (*x, estimate.mean)),
        );
        if policy != Policy::Foresight {
            return line;
        }
        line.band(estimates.iter().map(|(x, estimate)| Spread {
            x: *x,
            low: estimate.mean - estimate.spread,
            high: estimate.mean + estimate.spread,
        }))
    }

    /// Ours against every other policy, from one fetch for each site on.
    pub(super) fn claims(&self) -> Vec<Claim> {
        let claims = [Measure::Accuracy, Measure::Recall].map(|measure| self.claim(measure));
        claims.into_iter().flatten().collect()
    }

    fn claim(&self, measure: Measure) -> Option<Claim> {
        let (mut above, mut level, mut below) = (0, 0, Vec::new());
        for other in others() {
            for shown in SHOWN.into_iter().filter(|shown| 1.0 < *shown) {
                let lead = self.lead(other, measure, checkpoint_of(shown));
                match lead.standing() {
                    Standing::Above => above += 1,
                    Standing::Level => level += 1,
                    Standing::Below => below.push((lead, other, shown)),
                }
            }
        }
        let all = above + level + below.len();
        let worst = below
            .iter()
            .min_by(|one, two| one.0.mean.total_cmp(&two.0.mean));
        let worst = worst.map_or_else(String::new, |(lead, other, shown)| {
            format!(
                "; the worst is {} ± {:.3} against {other} at {shown} a site",
                signed(lead.mean),
                lead.error()
            )
        });
        Some(Claim {
            source: GOAL.to_owned(),
            claim: format!(
                "{} above every other policy's at every budget",
                measure.name()
            ),
            graph: "real sites with labels".to_owned(),
            measured: format!(
                "above in {above} of {all}, level within two standard errors in {level}, below in {}{worst}",
                below.len()
            ),
            verdict: if below.is_empty() {
                Verdict::of_comparisons(above, all)?
            } else {
                Verdict::Fails
            },
        })
    }
}

/// Who is held against ours.
fn others() -> impl Iterator<Item = Policy> {
    let others = Policy::ALL.into_iter();
    others.filter(|policy| *policy != Policy::Foresight)
}

/// Fetches for each site at a checkpoint.
fn fetches_at(checkpoint: usize) -> f64 {
    STEP * (checkpoint + 1) as f64
}

/// The checkpoint with so many fetches for each site, or the last one before.
fn checkpoint_of(fetches: f64) -> usize {
    let until = (0..CHECKPOINTS).take_while(|checkpoint| fetches_at(*checkpoint) <= fetches);
    until.last().unwrap_or(0)
}

fn key_of(fetches: f64) -> String {
    format!("{fetches}_a_site").replace('.', "_")
}

/// Explores the sites by a policy, the pages of each from the first; returns the quality of the verdicts at each checkpoint.
fn explore(sites: &[JudgedSite], policy: Policy, seed: u64) -> Vec<Quality> {
    let mut chance = Chance::about(seed, u64::MAX);
    let mut explorer = Explorer::new(policy, explore::Settings::as_published());
    for _ in sites {
        explorer.add_site();
    }
    let mut asked = vec![0; sites.len()];
    let mut fetches = 0;
    let mut qualities = Vec::new();
    for checkpoint in 0..CHECKPOINTS {
        while f64::from(fetches) < fetches_at(checkpoint) * sites.len() as f64 {
            let Some(site) = explorer.next(&mut || chance.unit()) else {
                break;
            };
            let (pages, next) = (
                &sites[site.0 as usize].probabilities,
                &mut asked[site.0 as usize],
            );
            if let Some(probability) = pages.get(*next) {
                explorer.observe(site, *probability);
                *next += 1;
                fetches += 1;
            }
            if pages.len() <= *next {
                explorer.exhausted(site);
            }
        }
        qualities.push(quality(sites, &explorer));
    }
    qualities
}

fn quality(sites: &[JudgedSite], explorer: &Explorer) -> Quality {
    let (mut right, mut taken, mut found, mut wanted) = (0.0, 0.0, 0.0, 0.0);
    for (number, site) in (0..).zip(sites) {
        let holds = explorer.verdict(SiteNumber(number)).holds;
        right += f64::from(u8::from(holds == site.is_wanted));
        taken += f64::from(u8::from(holds));
        found += f64::from(u8::from(holds && site.is_wanted));
        wanted += f64::from(u8::from(site.is_wanted));
    }
    Quality {
        accuracy: right / (sites.len() as f64).max(1.0),
        precision: found / f64::max(taken, 1.0),
        recall: found / f64::max(wanted, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites() -> Vec<JudgedSite> {
        let mut chance = Chance::about(1, 7);
        let site = |number| {
            let is_wanted = number % 4 == 0;
            let middle = if is_wanted { 0.7 } else { 0.3 };
            let probabilities =
                (0..10).map(|_| (middle + 0.8 * (chance.unit() - 0.5)).clamp(0.0, 1.0));
            JudgedSite {
                is_wanted,
                probabilities: probabilities.collect(),
            }
        };
        (0..200).map(site).collect()
    }

    #[test]
    fn verdicts_get_better_with_fetches() {
        for policy in Policy::ALL {
            let qualities = explore(&sites(), policy, 3);
            let (first, last) = (qualities[3], qualities[CHECKPOINTS - 1]);
            assert!(
                first.accuracy <= last.accuracy + 0.05,
                "{policy}: {first:?} {last:?}"
            );
            assert!(0.75 < last.accuracy, "{policy}: {last:?}");
        }
    }

    #[test]
    fn a_policy_that_is_like_ours_leads_by_nothing() {
        let meter = Meter::new(0, &|_| {});
        let explored = Explored::run(&sites(), 1..4, &meter);
        let lead = explored.lead(Policy::Foresight, Measure::Accuracy, 5);
        assert!(lead.mean.abs() < 1e-12 && lead.error() < 1e-12);
        assert_eq!(explored.tables().len(), 4);
        assert!((explored.unwanted - 0.75).abs() < 1e-12);
    }

    #[test]
    fn checkpoints_are_found_by_their_fetches() {
        for (place, fetches) in [(1, 0.5), (3, 1.0), (11, 3.0), (23, 6.0)] {
            assert_eq!(checkpoint_of(fetches), place);
        }
    }
}
