//! The claims of Morimoto et al. (2011), held against each graph.

use junkai_simulation::outcome::{Claim, Verdict};
use junkai_simulation::policy::{Policy, ServerSpread};

use super::Results;
use super::tables::ratio;
use crate::experiment::look::look;
use crate::experiment::trials::{MARKS, TIE, Trial};
use crate::experiment::words::{count, listed, percent, share};

/// The level of PageRank that the claim about memory is made for: the last of the levels.
const CLAIMED_LEVEL: usize = 3;
/// How many times as many URLs IRLbot is said to store.
const CLAIMED_RATIO: f64 = 10.0;
/// What PageRank is said to rise by when pages double, and how far off still counts as that.
const CLAIMED_RISE: f64 = 0.1;
const RISE_TOLERANCE: f64 = 0.025;

impl Results<'_> {
    pub(super) fn claims(&self) -> Vec<Claim> {
        let graphs: Vec<(usize, String)> = self
            .graphs()
            .map(|(graph, name)| (graph, name.to_owned()))
            .collect();
        let tests: [fn(&Self, usize) -> Option<Tested>; 7] = [
            Self::memory_claim,
            Self::ahead_claim,
            Self::order_claim,
            Self::doubling_claim,
            Self::slots_claim,
            Self::keys_claim,
            Self::interval_claim,
        ];
        let mut claims = Vec::new();
        for test in tests {
            for (graph, name) in &graphs {
                claims.extend(test(self, *graph).map(|tested| Claim {
                    source: format!("Morimoto et al. (2011), {}", tested.place),
                    claim: tested.claim.to_owned(),
                    graph: name.clone(),
                    measured: tested.measured,
                    verdict: tested.verdict,
                }));
            }
        }
        claims
    }

    /// That little memory is enough.
    fn memory_claim(&self, graph: usize) -> Option<Tested> {
        let policy = self.plan.claimed()?;
        let ring = self.trials.of(graph, &policy);
        let irlbot = self.trials.of(graph, &Policy::irlbot()).stored_at[CLAIMED_LEVEL];
        let name = look(&policy).name;
        let claimed = ratio(irlbot, ring.stored_at[CLAIMED_LEVEL]);
        let best = ratio(irlbot, self.best_rings(graph)[CLAIMED_LEVEL]);
        let best_words = match best {
            Some(best) => format!("; the best size needs 1/{best:.1}"),
            None => "; no size reaches 80 %".to_owned(),
        };
        let (measured, verdict) = match (claimed, ring.stored_at[CLAIMED_LEVEL]) {
            (Some(ratio), Some(stored)) => (
                format!(
                    "{name} stores {} URLs, 1/{ratio:.1} of IRLbot’s{best_words}",
                    count(stored.into())
                ),
                Verdict::of_factor(ratio, CLAIMED_RATIO),
            ),
            _ => (
                format!(
                    "{name} ends at {} of PageRank{best_words}",
                    percent(ring.share)
                ),
                Verdict::Fails,
            ),
        };
        Some(Tested {
            place: "figure 6",
            claim: "80 % of PageRank with 1/10 of the URLs that IRLbot stores (B = H = 2048)",
            measured,
            verdict,
        })
    }

    /// That the ring is ahead of others after as many pages.
    fn ahead_claim(&self, graph: usize) -> Option<Tested> {
        let policy = self.plan.claimed()?;
        let ring = self.trials.of(graph, &policy);
        let mut score = Score::default();
        for other in [Policy::breadth_first(), Policy::irlbot()] {
            score.compare(ring, self.trials.of(graph, &other));
        }
        Some(Tested {
            place: "figure 5",
            claim: "ahead of breadth first and IRLbot at equal pages (B = H = 2048)",
            measured: score.words(&look(&policy).name),
            verdict: score.verdict()?,
        })
    }

    /// That every ring lies between the ceiling and the others.
    fn order_claim(&self, graph: usize) -> Option<Tested> {
        let mut score = Score::default();
        for policy in self.plan.sizes() {
            let ring = self.trials.of(graph, &policy);
            score.compare(self.trials.of(graph, &Policy::Opt), ring);
            for other in [Policy::breadth_first(), Policy::irlbot()] {
                score.compare(ring, self.trials.of(graph, &other));
            }
        }
        Some(Tested {
            place: "figure 5",
            claim: "OPT > ring > IRLbot and breadth first, for every size",
            measured: score.words("the claimed order"),
            verdict: score.verdict()?,
        })
    }

    /// That PageRank rises slowly with pages.
    fn doubling_claim(&self, graph: usize) -> Option<Tested> {
        let points: Vec<(f64, f64)> = (self.plan.varied_slots().iter())
            .map(|policy| self.trials.of(graph, policy))
            .filter(|trial| 0 < trial.pages)
            .map(|trial| (f64::from(trial.pages).log2(), trial.share))
            .collect();
        let slope = slope(&points)?;
        let factor = slope / CLAIMED_RISE;
        let verdict = if (slope - CLAIMED_RISE).abs() <= RISE_TOLERANCE {
            Verdict::Holds
        } else if (0.5..=2.0).contains(&factor) {
            Verdict::Partly
        } else {
            Verdict::Fails
        };
        Some(Tested {
            place: "figure 3",
            claim: "PageRank rises by about 0.1 when the pages double",
            measured: format!("it rises by {} as B grows", share(slope)),
            verdict,
        })
    }

    /// That more slots bring more.
    fn slots_claim(&self, graph: usize) -> Option<Tested> {
        let policies = self.plan.varied_slots();
        let slots = self.plan.experiment.slots.iter();
        let names: Vec<String> = slots.map(usize::to_string).collect();
        let shares = self.final_shares(graph, &policies);
        let pages: Vec<f64> = policies
            .iter()
            .map(|policy| f64::from(self.trials.of(graph, policy).pages))
            .collect();
        let (share_dips, share_verdict) = rises(&shares, &names)?;
        let (page_dips, page_verdict) = rises(&pages, &names)?;
        Some(Tested {
            place: "figure 3",
            claim: "pages and PageRank increase with B",
            measured: format!(
                "PageRank from {} to {}, {}; pages {}",
                share(shares[0]),
                share(shares[shares.len() - 1]),
                dips("B", &share_dips),
                dips("B", &page_dips),
            ),
            verdict: match (share_verdict, page_verdict) {
                (Verdict::Holds, Verdict::Holds) => Verdict::Holds,
                (Verdict::Fails, _) | (_, Verdict::Fails) => Verdict::Fails,
                (Verdict::Partly, _) | (_, Verdict::Partly) => Verdict::Partly,
            },
        })
    }

    /// That more residues bring more on the whole.
    fn keys_claim(&self, graph: usize) -> Option<Tested> {
        let shares = self.final_shares(graph, &self.plan.varied_keys(ServerSpread::Hashed));
        let (places, verdict) = rises(
            &shares,
            &self
                .plan
                .experiment
                .keys
                .iter()
                .map(u32::to_string)
                .collect::<Vec<_>>(),
        )?;
        let (first, last) = (shares[0], shares[shares.len() - 1]);
        Some(Tested {
            place: "figure 4",
            claim: "PageRank increases with H on the whole, with local decreases where servers collide",
            measured: format!(
                "from {} to {}, {}",
                share(first),
                share(last),
                dips("H", &places)
            ),
            // The dips are part of the claim.
            verdict: match verdict {
                Verdict::Holds | Verdict::Partly => Verdict::Holds,
                Verdict::Fails => Verdict::Fails,
            },
        })
    }

    /// That servers get their rest.
    fn interval_claim(&self, graph: usize) -> Option<Tested> {
        let promising: Vec<&Trial> = (self.trials.all(graph))
            .filter(|trial| 0 < trial.pace.promised && trial.pace.least.is_some())
            .collect();
        promising.first()?;
        let violations: u64 = promising.iter().map(|trial| trial.pace.violations).sum();
        let visits: u64 = promising.iter().map(|trial| u64::from(trial.pages)).sum();
        Some(Tested {
            place: "section 2",
            claim: "two visits to a server are never closer than the interval",
            measured: format!(
                "{} too early of {} visits in {} crawls",
                count(violations),
                count(visits),
                promising.len()
            ),
            verdict: if violations == 0 {
                Verdict::Holds
            } else {
                Verdict::Fails
            },
        })
    }

    fn final_shares(&self, graph: usize, policies: &[Policy]) -> Vec<f64> {
        policies
            .iter()
            .map(|policy| self.trials.of(graph, policy).share)
            .collect()
    }
}

/// A claim that was tested on a graph.
struct Tested {
    place: &'static str,
    claim: &'static str,
    measured: String,
    verdict: Verdict,
}

/// How often one crawl was ahead of another.
#[derive(Default)]
struct Score {
    ahead: usize,
    compared: usize,
    /// By how much it was behind at worst.
    worst: f64,
}

impl Score {
    /// Compares at each mark that both reached.
    fn compare(&mut self, ours: &Trial, theirs: &Trial) {
        for place in 0..MARKS.len() {
            if let (Some(ours), Some(theirs)) = (ours.share_at[place], theirs.share_at[place]) {
                self.compared += 1;
                self.ahead += usize::from(theirs - ours < TIE);
                self.worst = self.worst.max(theirs - ours);
            }
        }
    }

    fn words(&self, who: &str) -> String {
        let behind = if self.ahead == self.compared {
            String::new()
        } else {
            format!(", behind by up to {}", share(self.worst))
        };
        format!(
            "{who}: {} of {} comparisons at 10, 20, 30 and 50 %{behind}",
            self.ahead, self.compared
        )
    }

    fn verdict(&self) -> Option<Verdict> {
        Verdict::of_comparisons(self.ahead, self.compared)
    }
}

/// Where a series goes down, in words.
fn dips(symbol: &str, places: &[String]) -> String {
    match places {
        [] => "never down".to_owned(),
        places => format!("down at {symbol} = {}", listed(places)),
    }
}

/// Where a series goes down, and whether it rises without a dip, on the whole, or not: a flat one does not.
fn rises(shares: &[f64], names: &[String]) -> Option<(Vec<String>, Verdict)> {
    let (first, last) = (shares.first()?, shares.last()?);
    let places: Vec<String> = shares
        .windows(2)
        .zip(names.windows(2))
        .filter(|(pair, _)| pair[1] < pair[0] - TIE)
        .map(|(_, names)| names[1].clone())
        .collect();
    let verdict = match (first + TIE < *last, places.is_empty()) {
        (true, true) => Verdict::Holds,
        (true, false) => Verdict::Partly,
        (false, _) => Verdict::Fails,
    };
    Some((places, verdict))
}

/// The slope of the straight line through points, by least squares; none if all have the same place.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let count = points.len() as f64;
    let mean_x = points.iter().map(|point| point.0).sum::<f64>() / count;
    let mean_y = points.iter().map(|point| point.1).sum::<f64>() / count;
    let spread: f64 = points.iter().map(|point| (point.0 - mean_x).powi(2)).sum();
    let joint: f64 = points
        .iter()
        .map(|point| (point.0 - mean_x) * (point.1 - mean_y))
        .sum();
    (1e-12 < spread).then(|| joint / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_has_its_slope() {
        assert_eq!(
            slope(&[(1.0, 0.1), (2.0, 0.2), (3.0, 0.3)]).map(share),
            Some("0.100".to_owned())
        );
        assert_eq!(slope(&[(1.0, 0.1), (1.0, 0.2)]), None);
        assert_eq!(slope(&[]), None);
    }

    #[test]
    fn a_series_that_dips_rises_on_the_whole() {
        let names = ["8", "16", "32"].map(str::to_owned);
        assert_eq!(
            rises(&[0.1, 0.2, 0.3], &names),
            Some((vec![], Verdict::Holds))
        );
        assert_eq!(
            rises(&[0.2, 0.1, 0.3], &names),
            Some((vec!["16".to_owned()], Verdict::Partly))
        );
        assert_eq!(
            rises(&[0.3, 0.2, 0.2], &names),
            Some((vec!["16".to_owned()], Verdict::Fails))
        );
        assert_eq!(
            rises(&[0.3, 0.3, 0.3], &names),
            Some((vec![], Verdict::Fails))
        );
        assert_eq!(rises(&[], &names), None);
    }
}
