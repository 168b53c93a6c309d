//! What was found, and what was claimed.

use junkai_simulation::outcome::{Claim, GOAL, Verdict};

use super::Results;
use super::contestant::Contestant;
use super::open_loop::Row;
use crate::experiment::words::{count, difference, percent, share};

/// From so many visits on, ours is to be near the exact solution.
const VISITS_ENOUGH: u32 = 20;

/// So much larger the error may be than that of the exact solution.
const SLACK: f64 = 1.1;

impl Results {
    pub(super) fn findings(&self) -> Vec<String> {
        let mut findings = vec![
            self.growing_bias(),
            self.near_the_exact(),
            self.cold_start(),
            "The pages of the open loop differ in their rates, and our filters have the distribution that these are drawn from as their prior, as \
             they would on a site that is known; that favours them at few visits."
                .to_owned(),
            self.mistaken_prior(),
        ];
        findings.push(self.closed());
        findings.extend(self.replays.iter().map(|replay| {
            let loss = |contestant| share(replay.score(contestant).log_loss());
            format!(
                "{}: before each of {} visits to {} pages, of which {} found a change, ours loses {} nats; equation 4 with the geometric \
                 mean {}, with the mean {}, the exact solution {}, the Gamma filter {}.",
                replay.name,
                count(replay.visits),
                count(replay.pages.into()),
                percent(replay.changed_share),
                loss(Contestant::OURS),
                loss(Contestant::GapGeometricMean),
                loss(Contestant::GapMean),
                loss(Contestant::Likelihood),
                loss(Contestant::Gamma),
            )
        }));
        findings
    }

    pub(super) fn claims(&self) -> Vec<Claim> {
        let mut claims = Vec::new();
        claims.extend(self.equation_4_claim());
        claims.extend(self.goal_equation_4());
        claims.extend(self.goal_exact());
        claims.extend(self.goal_closed());
        claims.extend(self.goal_replay());
        claims
    }

    fn row(&self, median: f64, sigma: f64, visits: u32) -> Option<&Row> {
        self.open.rows.iter().find(|row| {
            (row.situation.median - median).abs() < 1e-9
                && (row.situation.sigma - sigma).abs() < 1e-9
                && row.situation.visits == visits
        })
    }

    fn growing_bias(&self) -> String {
        let bias = |sigma, visits| {
            let row = self.row(1.0, sigma, visits);
            row.map_or(f64::NAN, |row: &Row| {
                row.quality(Contestant::GapGeometricMean).bias
            })
        };
        format!(
            "Equation 4 with the paper’s geometric mean is biased, and the more the longer a page is watched: at irregular visits (σ = 0.5) the \
             mean of ln(estimate / truth) is {} after 20 visits and {} after 1000, at very irregular ones (σ = 1.5) {} and {}. With the mean \
             changed gap it is not.",
            difference(bias(0.5, 20)),
            difference(bias(0.5, 1000)),
            difference(bias(1.5, 20)),
            difference(bias(1.5, 1000)),
        )
    }

    fn near_the_exact(&self) -> String {
        let worst = self
            .enough_visits()
            .map(|row| {
                let rmse = |contestant| row.quality(contestant).rmse;
                (rmse(Contestant::OURS) / rmse(Contestant::Likelihood), row)
            })
            .max_by(|(one, _), (other, _)| one.total_cmp(other));
        worst.map_or_else(String::new, |(ratio, row)| {
            format!(
                "From {VISITS_ENOUGH} visits on, our error is at most {ratio:.2} times that of the exact solution, which remembers every gap \
                 (at a median gap of {} d, σ = {}, {} visits).",
                row.situation.median, row.situation.sigma, row.situation.visits
            )
        })
    }

    fn cold_start(&self) -> String {
        let rmse = |visits, measure: &dyn Fn(&Row) -> f64| {
            self.row(1.0, 0.5, visits).map_or(f64::NAN, measure)
        };
        let cold = |row: &Row| row.cold_quality().rmse;
        let exact = |row: &Row| row.quality(Contestant::Likelihood).rmse;
        format!(
            "On a site of which nothing is known, whose pages change daily and are taken for such that change every three months, our error is \
             {} after 5 visits, {} after 20 and {} after 100; that of the exact solution, which takes nothing for granted, {}, {} and {}.",
            share(rmse(5, &cold)),
            share(rmse(20, &cold)),
            share(rmse(100, &cold)),
            share(rmse(5, &exact)),
            share(rmse(20, &exact)),
            share(rmse(100, &exact)),
        )
    }

    /// Where equation 4 leads in the prototype's rows.
    fn mistaken_prior(&self) -> String {
        let ratio = |row: &Row| {
            let rmse = |contestant| Some(row.regular_quality(contestant)?.rmse);
            Some(rmse(Contestant::OURS)? / rmse(Contestant::GapGeometricMean)?)
        };
        let rows = self.open.mistaken.iter();
        let ratios: Vec<(f64, u32)> = rows
            .filter_map(|row| Some((ratio(row)?, row.situation.visits)))
            .collect();
        let ahead = || ratios.iter().filter(|(ratio, _)| 1.0 < *ratio);
        let worst = ratios.iter().map(|(ratio, _)| *ratio).fold(0.0, f64::max);
        let visits = ahead().map(|(_, visits)| *visits).max().unwrap_or(0);
        format!(
            "In the table open-loop-prototype all pages have one rate, the prior is up to four times off, and pages without an exact solution are \
             left out: there equation 4 has the smaller error in {} of {} rows, of at most {visits} visits, and ours is at most {worst:.2} times as \
             large.",
            ahead().count(),
            ratios.len(),
        )
    }

    fn closed(&self) -> String {
        let of = |contestant| self.closed.of(contestant);
        let (ours, paper, exact) = (
            of(Contestant::OURS),
            of(Contestant::GapGeometricMean),
            of(Contestant::Likelihood),
        );
        format!(
            "When estimates set the intervals, ours makes {} visits of which {} find a change, equation 4 with the geometric mean {} ({}), the \
             exact solution {} ({}); errors of the rate at the end are {}, {} and {}.",
            count(ours.visits),
            percent(ours.yield_share()),
            count(paper.visits),
            percent(paper.yield_share()),
            count(exact.visits),
            percent(exact.yield_share()),
            share(ours.rmse),
            share(paper.rmse),
            share(exact.rmse),
        )
    }

    fn enough_visits(&self) -> impl Iterator<Item = &Row> {
        let rows = self.open.rows.iter();
        rows.filter(|row| VISITS_ENOUGH <= row.situation.visits)
    }

    /// Equation 4 stands in for equation 2.
    fn equation_4_claim(&self) -> Option<Claim> {
        let irregular = |row: &&Row| 0.0 < row.situation.sigma;
        let rows: Vec<&Row> = self.enough_visits().filter(irregular).collect();
        let is_near = |row: &&&Row| {
            let rmse = |contestant| row.quality(contestant).rmse;
            rmse(Contestant::GapGeometricMean) <= SLACK * rmse(Contestant::Likelihood)
        };
        let near = rows.iter().filter(is_near).count();
        Some(Claim {
            source: "Tamura and Kitsuregawa (2007), equation 4".to_owned(),
            claim: "the geometric mean of the shortest and the mean changed gap gives nearly the maximum-likelihood rate".to_owned(),
            graph: "irregular visits, 20 and more".to_owned(),
            measured: format!(
                "within {} of the exact solution’s error in {near} of {} rows",
                percent(SLACK - 1.0),
                rows.len()
            ),
            verdict: Verdict::of_comparisons(near, rows.len())?,
        })
    }

    fn goal_equation_4(&self) -> Option<Claim> {
        let all = self.open.rows.len() * Contestant::EQUATION_4.len();
        let mut behind = Vec::new();
        for row in &self.open.rows {
            for rival in Contestant::EQUATION_4 {
                if !row.is_no_worse_than(rival) {
                    let it = row.situation;
                    behind.push(format!(
                        "{} at {} d, σ = {}, {} visits",
                        rival.name(),
                        it.median,
                        it.sigma,
                        it.visits
                    ));
                }
            }
        }
        Some(Claim {
            source: GOAL.to_owned(),
            claim: "no reading of equation 4 has a smaller error than ours".to_owned(),
            graph: "simulated pages, open loop".to_owned(),
            measured: kept("level or ahead", all, &behind),
            verdict: Verdict::of_comparisons(all - behind.len(), all)?,
        })
    }

    fn goal_exact(&self) -> Option<Claim> {
        let all = self.enough_visits().count();
        let ratio = |row: &Row| {
            let rmse = |contestant| row.quality(contestant).rmse;
            rmse(Contestant::OURS) / rmse(Contestant::Likelihood)
        };
        let worst = self.enough_visits().map(ratio).fold(0.0, f64::max);
        let behind: Vec<String> = self
            .enough_visits()
            .filter(|row| SLACK < ratio(row))
            .map(|row| {
                let it = row.situation;
                format!("{} d, σ = {}, {} visits", it.median, it.sigma, it.visits)
            })
            .collect();
        Some(Claim {
            source: GOAL.to_owned(),
            claim: format!(
                "from {VISITS_ENOUGH} visits on, our error is within {} of that of the exact solution",
                percent(SLACK - 1.0)
            ),
            graph: "simulated pages, open loop".to_owned(),
            measured: format!(
                "{}; at most {} times as large",
                kept("within it", all, &behind),
                share(worst)
            ),
            verdict: Verdict::of_comparisons(all - behind.len(), all)?,
        })
    }

    fn goal_closed(&self) -> Option<Claim> {
        let ours = self.closed.of(Contestant::OURS);
        let rivals = Contestant::EQUATION_4.map(|rival| self.closed.of(rival));
        let behind: Vec<String> = rivals
            .iter()
            .filter(|rival| rival.rmse < ours.rmse)
            .map(|rival| rival.contestant.name().to_owned())
            .collect();
        Some(Claim {
            source: GOAL.to_owned(),
            claim: "no reading of equation 4 has a smaller error than ours when estimates set the intervals".to_owned(),
            graph: "simulated pages, closed loop".to_owned(),
            measured: kept("ahead", rivals.len(), &behind),
            verdict: Verdict::of_comparisons(rivals.len() - behind.len(), rivals.len())?,
        })
    }

    fn goal_replay(&self) -> Option<Claim> {
        let rivals = [
            Contestant::Likelihood,
            Contestant::GapGeometricMean,
            Contestant::GapMean,
            Contestant::GapShortest,
            Contestant::Naive,
            Contestant::Gamma,
        ];
        let all = self.replays.len() * rivals.len();
        let mut behind = Vec::new();
        for replay in &self.replays {
            let loss = |contestant| replay.score(contestant).log_loss();
            for rival in rivals {
                if loss(rival) < loss(Contestant::OURS) {
                    behind.push(format!("{} on {}", rival.name(), replay.name));
                }
            }
        }
        Some(Claim {
            source: GOAL.to_owned(),
            claim: "nobody foretells better than ours what a visit finds".to_owned(),
            graph: "real histories".to_owned(),
            measured: kept("ahead", all, &behind),
            verdict: Verdict::of_comparisons(all - behind.len(), all)?,
        })
    }
}

/// How many comparisons were kept, and which were not, the first few by name.
fn kept(word: &str, all: usize, behind: &[String]) -> String {
    const NAMED_MAX: usize = 4;
    let mut text = format!("{word} in {} of {all} comparisons", all - behind.len());
    if let Some(named) = behind
        .get(..behind.len().min(NAMED_MAX))
        .filter(|it| !it.is_empty())
    {
        text.push_str("; behind: ");
        text.push_str(&named.join("; "));
        if NAMED_MAX < behind.len() {
            text.push_str("; …");
        }
    }
    text
}
