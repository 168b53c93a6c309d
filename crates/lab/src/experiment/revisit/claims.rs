//! What is claimed, and what was found.

use junkai_simulation::outcome::{Claim, GOAL, Verdict};

use super::closed_loop::Loop;
use super::{Contestant, Mean, Player, Results};
use crate::experiment::words::{difference, percent, share};

impl Results<'_> {
    pub(super) fn claims(&self) -> Vec<Claim> {
        let mut claims = Vec::new();
        for (subject, one) in self.subjects.iter().enumerate() {
            for (ours, rival, claim) in [
                (
                    Player::OURS,
                    Player::UNIFORM,
                    "the index captures more versions than uniform visits at every budget",
                ),
                (
                    Player::OURS,
                    Player::PAPER,
                    "the index captures more versions than Tamura and Kitsuregawa's (2007) policy at every budget",
                ),
                (
                    Player::Live,
                    Player::UNIFORM,
                    "the live rule captures more versions than uniform visits at every budget",
                ),
                (
                    Player::Live,
                    Player::PAPER,
                    "the live rule captures more versions than Tamura and Kitsuregawa's (2007) policy at every budget",
                ),
            ] {
                let margins = self.margins_at_all_budgets(subject, ours, rival);
                let kept = margins
                    .iter()
                    .filter(|(_, margin)| margin.is_ahead())
                    .count();
                claims.extend(claim_of(GOAL, claim, &one.name, &margins, kept));
            }
            let behind = self.margins_at_all_budgets(subject, Player::UNIFORM, Player::PAPER);
            let behind: Vec<_> = behind
                .into_iter()
                .filter(|(share, _)| 0.01 < *share)
                .collect();
            let kept = behind
                .iter()
                .filter(|(_, margin)| margin.is_ahead())
                .count();
            let claim =
                "Tamura and Kitsuregawa's (2007) policy is behind uniform visits at 2 and 5 %";
            claims.extend(claim_of("our prototype", claim, &one.name, &behind, kept));
        }
        claims.extend(self.loops.iter().filter_map(|one| self.spike(one)));
        claims.extend(
            self.loops
                .iter()
                .filter_map(|one| self.falling_detection(one)),
        );
        claims.extend(self.hearing_claim());
        claims
    }

    fn margins_at_all_budgets(
        &self,
        subject: usize,
        ours: Player,
        rival: Player,
    ) -> Vec<(f64, Mean)> {
        let shares = self.experiment.shares.iter();
        shares
            .filter_map(|&share| Some((share, self.margin(subject, share, ours, rival)?)))
            .collect()
    }

    fn spike(&self, one: &Loop) -> Option<Claim> {
        if one.contestant != Contestant::IntervalGeometricMean || one.intervals.is_empty() {
            return None;
        }
        let (spike, before) = one.spike();
        Some(Claim {
            source: "Tamura and Kitsuregawa (2007), figure 3".to_owned(),
            claim: "intervals have a spike at 300 to 400 days".to_owned(),
            graph: self.subjects[one.subject].name.clone(),
            measured: format!(
                "{} of pages there, {} at 200 to 300 days",
                percent(spike),
                percent(before)
            ),
            verdict: if before < spike {
                Verdict::Holds
            } else {
                Verdict::Fails
            },
        })
    }

    fn falling_detection(&self, one: &Loop) -> Option<Claim> {
        let bins: Vec<_> = one.known_bins().collect();
        if one.contestant != Contestant::IntervalGeometricMean || bins.len() < 2 {
            return None;
        }
        let falls = bins
            .windows(2)
            .filter(|pair| pair[1].mean <= pair[0].mean)
            .count();
        let told: Vec<String> = bins.iter().map(|bin| share(bin.mean)).collect();
        Some(Claim {
            source: "Tamura and Kitsuregawa (2007), figure 4".to_owned(),
            claim: "new versions per visit fall with the interval".to_owned(),
            graph: self.subjects[one.subject].name.clone(),
            measured: format!("{} from short intervals to long", told.join(", ")),
            verdict: Verdict::of_comparisons(falls, bins.len() - 1)?,
        })
    }

    fn hearing_claim(&self) -> Option<Claim> {
        let kept = self
            .hearing
            .iter()
            .filter(|heard| heard.margin.is_level_or_ahead())
            .count();
        let least = self
            .hearing
            .iter()
            .map(|heard| heard.margin.mean)
            .fold(f64::INFINITY, f64::min);
        let most = self
            .hearing
            .iter()
            .map(|heard| heard.margin.mean)
            .fold(f64::NEG_INFINITY, f64::max);
        Some(Claim {
            source: GOAL.to_owned(),
            claim: "signals that are heard as far as they have proved true are never behind deafness or blind trust".to_owned(),
            graph: "simulated, with signals".to_owned(),
            measured: format!(
                "level or ahead in {kept} of {} cases; ahead of the better one by {} to {}",
                self.hearing.len(),
                difference(least),
                difference(most)
            ),
            verdict: Verdict::of_comparisons(kept, self.hearing.len())?,
        })
    }

    pub(super) fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        for (subject, one) in self.subjects.iter().enumerate() {
            let told = self.experiment.shares.iter().filter_map(|&budget| {
                let capture = |player| {
                    let trial = self.trial(subject, budget, player)?;
                    Some(share(trial.mean(super::Tally::capture).mean))
                };
                Some(format!(
                    "at {} visits a day {} (live {}) against {} by the paper, {} uniformly and {} in hindsight",
                    percent(budget),
                    capture(Player::OURS)?,
                    capture(Player::Live)?,
                    capture(Player::PAPER)?,
                    capture(Player::UNIFORM)?,
                    capture(Player::Daily(Contestant::Hindsight))?,
                ))
            });
            findings.push(format!(
                "{}: the index captures of all versions, {}.",
                one.name,
                told.collect::<Vec<_>>().join("; ")
            ));
        }
        findings
    }
}

/// A claim on how far one player is ahead of another.
fn claim_of(
    source: &str,
    claim: &str,
    web: &str,
    margins: &[(f64, Mean)],
    kept: usize,
) -> Option<Claim> {
    let told = margins.iter().map(|(share, margin)| {
        format!(
            "{} ± {:.4} at {}",
            difference(margin.mean),
            margin.error,
            percent(*share)
        )
    });
    Some(Claim {
        source: source.to_owned(),
        claim: claim.to_owned(),
        graph: web.to_owned(),
        measured: format!("ahead by {}", told.collect::<Vec<_>>().join(", ")),
        verdict: Verdict::of_comparisons(kept, margins.len())?,
    })
}
