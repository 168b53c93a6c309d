//! What was found, and what was claimed.

use junkai_focus::explore::Policy;
use junkai_simulation::outcome::{Claim, GOAL, Verdict, signed};

use super::results::{Cell, Measure, Results};
use super::world::Population;
use crate::experiment::estimate::{Estimate, Standing};
use crate::experiment::words::{count, listed};

/// Fetches for each site up to which the paper says that *δ* is ahead in recall.
const AHEAD_UP_TO: u32 = 3;
/// Stated and real probabilities of error are the same within this.
const CALIBRATED: f64 = 0.01;
/// Cells that are named one by one; more are counted.
const NAMED: usize = 12;

impl Results {
    pub(super) fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        for population in Population::ALL {
            findings.extend(self.seed_against_random(population));
            findings.extend(self.ours_against_the_best(population));
        }
        findings.push(
            "The paper’s model is the same if every probability and every label is turned round, so recall, precision and accuracy move together \
             where both kinds of sites are as common; what differs between them there is the operating point, or chance."
                .to_owned(),
        );
        findings.push(
            "Ours leans towards holding: to miss a site counts a little more than to take one in vain, and more where such sites are rare. In \
             the table of choices every policy is judged alike, by the plain mean of the pages that it chose. In the table of the ceiling ours \
             is told what sites there are: where a rival is level with ours and ours with the ceiling, there is nothing left to win."
                .to_owned(),
        );
        findings
    }

    pub(super) fn claims(&self) -> Vec<Claim> {
        let mut claims = Vec::new();
        for population in [Population::Noisy, Population::Clear] {
            claims.extend(self.ahead_at_first(population));
            claims.extend(self.overtaken_later(population));
            claims.extend(self.accuracy_level(population));
        }
        for population in Population::ALL {
            claims.extend(self.goal(population, Measure::ExpectedAccuracy, "accuracy"));
            claims.extend(self.goal(population, Measure::ExpectedRecall, "recall"));
        }
        for population in [Population::Noisy, Population::Clear] {
            claims.extend(self.calibrated(population));
        }
        claims
    }

    /// *δ* against random, from the first checkpoint after the initial crawl on.
    fn delta_lead(&self, population: Population, place: usize, measure: Measure) -> Estimate {
        self.lead(
            Policy::Delta,
            Policy::Random,
            Cell {
                population,
                place,
                measure,
            },
        )
    }

    fn seed_against_random(&self, population: Population) -> Option<String> {
        let leads: Vec<String> = [2, 3, 5, 10, 20]
            .into_iter()
            .filter_map(|per_site| self.place_of(per_site))
            .map(|place| {
                let lead = self.delta_lead(population, place, Measure::ExpectedRecall);
                format!(
                    "{} ± {:.3} at {}",
                    signed(lead.mean),
                    lead.error(),
                    count(self.checkpoints[place].into())
                )
            })
            .collect();
        let told = !leads.is_empty();
        told.then(|| {
            format!(
                "{}: recall of δ less that of random is {}.",
                population.name(),
                listed(&leads)
            )
        })
    }

    fn ours_against_the_best(&self, population: Population) -> Option<String> {
        let leads: Vec<String> = [2, 3, 5, 10, 20]
            .into_iter()
            .filter_map(|per_site| self.place_of(per_site))
            .filter_map(|place| {
                let cell = Cell {
                    population,
                    place,
                    measure: Measure::ExpectedAccuracy,
                };
                let best = self.others().max_by(|one, other| {
                    self.estimate(*one, cell)
                        .mean
                        .total_cmp(&self.estimate(*other, cell).mean)
                })?;
                let lead = self.lead(Policy::Foresight, best, cell);
                let fetches = count(self.checkpoints[place].into());
                Some(format!(
                    "{} ± {:.4} over {best} at {fetches}",
                    exact(lead.mean),
                    lead.error()
                ))
            })
            .collect();
        let told = !leads.is_empty();
        told.then(|| {
            format!(
                "{}: accuracy of ours less the best of the others is {}.",
                population.name(),
                listed(&leads)
            )
        })
    }

    fn ahead_at_first(&self, population: Population) -> Option<Claim> {
        let early = self.sites.saturating_mul(AHEAD_UP_TO);
        let places: Vec<usize> = self
            .places_from(1)
            .filter(|place| {
                self.sites < self.checkpoints[*place] && self.checkpoints[*place] <= early
            })
            .collect();
        let leads: Vec<Estimate> = places
            .iter()
            .map(|place| self.delta_lead(population, *place, Measure::ExpectedRecall))
            .collect();
        let kept = leads.iter().filter(|lead| 0.0 < lead.mean).count();
        let last = leads.last()?;
        Some(Claim {
            source: "Kato et al. (2022), figure 3".to_owned(),
            claim: format!(
                "recall of δ is above random up to {} fetches",
                count(early.into())
            ),
            graph: population.name().to_owned(),
            measured: format!(
                "above in {kept} of {} checkpoints; at the last {} ± {:.3}",
                leads.len(),
                signed(last.mean),
                last.error()
            ),
            verdict: Verdict::of_comparisons(kept, leads.len())?,
        })
    }

    fn overtaken_later(&self, population: Population) -> Option<Claim> {
        let place = self.checkpoints.len().checked_sub(1)?;
        let lead = self.delta_lead(population, place, Measure::ExpectedRecall);
        Some(Claim {
            source: "Kato et al. (2022), figure 3".to_owned(),
            claim: "random overtakes δ in recall in the long run".to_owned(),
            graph: population.name().to_owned(),
            measured: format!(
                "{} ± {:.3} at {}",
                signed(lead.mean),
                lead.error(),
                count(self.checkpoints[place].into())
            ),
            verdict: match lead.standing() {
                Standing::Below => Verdict::Holds,
                Standing::Level => Verdict::Partly,
                Standing::Above => Verdict::Fails,
            },
        })
    }

    fn accuracy_level(&self, population: Population) -> Option<Claim> {
        let leads: Vec<Estimate> = self
            .places_from(2)
            .map(|place| self.delta_lead(population, place, Measure::ExpectedAccuracy))
            .collect();
        let kept = leads
            .iter()
            .filter(|lead| lead.standing() == Standing::Level)
            .count();
        Some(Claim {
            source: "Kato et al. (2022), figures 1 and 2".to_owned(),
            claim: "accuracy of δ and random is about the same".to_owned(),
            graph: population.name().to_owned(),
            measured: format!("level in {kept} of {} checkpoints", leads.len()),
            verdict: Verdict::of_comparisons(kept, leads.len())?,
        })
    }

    /// Ours is above every other policy at every checkpoint.
    fn goal(&self, population: Population, measure: Measure, name: &str) -> Option<Claim> {
        let mut level = Vec::new();
        let mut below = Vec::new();
        let mut all = 0;
        for place in self.places_from(2) {
            for other in self.others() {
                let lead = self.lead(
                    Policy::Foresight,
                    other,
                    Cell {
                        population,
                        place,
                        measure,
                    },
                );
                let told = format!(
                    "{other} at {} ({} ± {:.4})",
                    count(self.checkpoints[place].into()),
                    exact(lead.mean),
                    lead.error()
                );
                all += 1;
                match lead.standing() {
                    Standing::Above => (),
                    Standing::Level => level.push(told),
                    Standing::Below => below.push(told),
                }
            }
        }
        let above = all - level.len() - below.len();
        let verdict = if below.is_empty() {
            Verdict::of_comparisons(above, all)?
        } else {
            Verdict::Fails
        };
        Some(Claim {
            source: GOAL.to_owned(),
            claim: format!("{name} above every other policy at every budget"),
            graph: population.name().to_owned(),
            measured: format!(
                "above in {above} of {all}{}{}",
                named("; level with", &level),
                named("; below", &below)
            ),
            verdict,
        })
    }

    fn calibrated(&self, population: Population) -> Option<Claim> {
        let gaps: Vec<f64> = self
            .places_from(2)
            .map(|place| {
                let mean = |measure| {
                    self.estimate(
                        Policy::Foresight,
                        Cell {
                            population,
                            place,
                            measure,
                        },
                    )
                    .mean
                };
                mean(Measure::StatedError) - (1.0 - mean(Measure::ExpectedAccuracy))
            })
            .collect();
        let widest = gaps
            .iter()
            .copied()
            .max_by(|one, other| one.abs().total_cmp(&other.abs()))?;
        let kept = gaps.iter().filter(|gap| gap.abs() < CALIBRATED).count();
        Some(Claim {
            source: GOAL.to_owned(),
            claim: "the stated probabilities of error are the real ones".to_owned(),
            graph: population.name().to_owned(),
            measured: format!("stated less real is at most {} on average", exact(widest)),
            verdict: Verdict::of_comparisons(kept, gaps.len())?,
        })
    }
}

/// Cells by name, as many as fit in a sentence.
fn named(what: &str, cells: &[String]) -> String {
    match cells.len() {
        0 => String::new(),
        length if length <= NAMED => format!("{what} {}", listed(cells)),
        length => format!(
            "{what} {} and {} more",
            cells[..NAMED].join(", "),
            length - NAMED
        ),
    }
}

/// A small difference, with its sign.
fn exact(difference: f64) -> String {
    format!("{difference:+.4}").replace('-', "−")
}
