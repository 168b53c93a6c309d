//! What was to be reached, and what was found.

use junkai_simulation::outcome::{Claim, GOAL, Verdict};

use super::Results;
use super::carried::Carried;
use super::contestant::Contestant;
use super::exploring::Explored;
use super::tables::{Counting, at};
use super::trial::Trial;
use super::whole::Whole;
use crate::experiment::words::{count, percent};

/// Of breadth-first's fetches, for nine tenths of the files.
const GOAL_PART: f64 = 0.5;

impl Results<'_> {
    pub(super) fn claims(&self) -> Vec<Claim> {
        let mut claims = Vec::new();
        if let Some(trial) = &self.real {
            for contestant in [Contestant::OURS, Contestant::BY_LINKS] {
                for counting in [Counting::All, Counting::Pages] {
                    claims.extend(half_of_breadth_first(trial, contestant, counting));
                }
            }
        }
        claims.extend(self.ahead_on_templates(Contestant::BREADTH_FIRST));
        claims.extend(self.ahead_on_templates(Contestant::TAG_PATHS));
        claims.extend(self.carried.iter().filter_map(Carried::claim));
        claims.extend(self.explored.iter().flat_map(Explored::claims));
        claims.extend(self.whole.iter().flat_map(Whole::claims));
        claims
    }

    pub(super) fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        match &self.real {
            Some(trial) => findings.extend(real_findings(trial)),
            None => findings.push(
                "The real site is not at hand; what follows is of generated sites.".to_owned(),
            ),
        }
        for rival in [Contestant::BREADTH_FIRST, Contestant::TAG_PATHS] {
            if let Some(part) = self.part_on_templates(rival) {
                findings.push(format!(
                    "On generated sites of {} templates, ours has nine tenths of the files after {} of the fetches without a file that {} takes (geometric mean).",
                    self.templates.len(), percent(part), rival.name
                ));
            }
        }
        findings.extend(self.carried.iter().filter_map(Carried::finding));
        findings.extend(self.whole.iter().filter_map(Whole::finding));
        findings
    }

    /// The geometric mean over templates of our fetches over the other's.
    fn part_on_templates(&self, rival: Contestant) -> Option<f64> {
        let logarithms: Vec<f64> = self
            .template_parts(rival)
            .into_iter()
            .map(f64::ln)
            .collect();
        let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
        mean.is_finite().then(|| mean.exp())
    }

    fn template_parts(&self, rival: Contestant) -> Vec<f64> {
        let part = |trial: &Trial| {
            let ours = at(trial.of(Contestant::OURS), 1, Counting::Pages)?;
            let theirs = at(trial.of(rival), 1, Counting::Pages)?;
            Some(ours.median.max(1.0) / theirs.median.max(1.0))
        };
        self.templates.iter().filter_map(part).collect()
    }

    fn ahead_on_templates(&self, rival: Contestant) -> Option<Claim> {
        let parts = self.template_parts(rival);
        let kept = parts.iter().filter(|part| **part < 1.0).count();
        Some(Claim {
            source: GOAL.to_owned(),
            claim: format!(
                "nine tenths of the files with fewer pages than {}, whatever the template",
                rival.name
            ),
            graph: "generated sites".to_owned(),
            measured: format!(
                "fewer on {kept} of {} templates; {} of the pages (geometric mean)",
                parts.len(),
                percent(self.part_on_templates(rival)?)
            ),
            verdict: Verdict::of_comparisons(kept, parts.len())?,
        })
    }
}

fn half_of_breadth_first(
    trial: &Trial,
    contestant: Contestant,
    counting: Counting,
) -> Option<Claim> {
    let ours = at(trial.of(contestant), 1, counting)?;
    let breadth_first = at(trial.of(Contestant::BREADTH_FIRST), 1, counting)?;
    let part = ours.median / breadth_first.median;
    let counted = match counting {
        Counting::All => "all fetches",
        Counting::Pages => "fetches that bring no data file",
    };
    Some(Claim {
        source: GOAL.to_owned(),
        claim: format!(
            "{}: nine tenths of the data files with at most half of breadth-first's fetches, counting {counted}",
            contestant.name
        ),
        graph: trial.name.clone(),
        measured: format!(
            "{} against {}: {:.1} %",
            count_of(ours.median),
            count_of(breadth_first.median),
            100.0 * part
        ),
        verdict: if ours.high <= GOAL_PART * breadth_first.median {
            Verdict::Holds
        } else if part <= GOAL_PART {
            Verdict::Partly
        } else {
            Verdict::Fails
        },
    })
}

/// What is possible, and what was reached.
fn real_findings(trial: &Trial) -> Vec<String> {
    let mut findings = Vec::new();
    let median = |harvests, counting| at(harvests, 1, counting).map(|middle| middle.median);
    let all = |harvests| median(harvests, Counting::All);
    let (Some(breadth_first), Some(knowing), Some(ours), Some(following)) = (
        all(trial.of(Contestant::BREADTH_FIRST)),
        all(&trial.knowing),
        all(trial.of(Contestant::OURS)),
        all(trial.of(Contestant::BY_LINKS)),
    ) else {
        return findings;
    };
    let wanted = (0.9 * f64::from(trial.files)).ceil();
    findings.push(format!(
        "{}: breadth first has nine tenths of the {} data files after {} fetches. The files themselves are {} fetches ({:.1} %), whoever collects; \
         a greedy order that knows all links and follows them needs {} ({:.1} %).",
        trial.name, count(trial.files.into()), count_of(breadth_first), count_of(wanted), 100.0 * wanted / breadth_first, count_of(knowing),
        100.0 * knowing / breadth_first
    ));
    findings.push(format!(
        "Ours needs {} fetches ({:.1} %) by following links alone, and {} ({:.1} %) because it also asks for addresses that no page was seen to link to: \
         files guessed by analogy with those of like pages, and of pages that data files list.",
        count_of(following), 100.0 * following / breadth_first, count_of(ours), 100.0 * ours / breadth_first
    ));
    let pages = |harvests| median(harvests, Counting::Pages);
    if let (Some(ours), Some(breadth_first)) = (
        pages(trial.of(Contestant::OURS)),
        pages(trial.of(Contestant::BREADTH_FIRST)),
    ) {
        findings.push(format!(
            "Of the fetches that bring no data file, which are all that can be saved, it needs {} against {} ({:.1} %).",
            count_of(ours), count_of(breadth_first), 100.0 * ours / breadth_first
        ));
    }
    findings
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count"
)]
fn count_of(number: f64) -> String {
    count(number as u64)
}
