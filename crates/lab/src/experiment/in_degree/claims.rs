//! The claims of Matsukubo and Hayashi (2003), held against each graph.

use junkai_graph::power_law_exponent;
use junkai_simulation::outcome::{Claim, Verdict};

use super::tables::{Measure, Summary};
use super::{Found, GraphResults, Pair, Results};
use crate::experiment::words::share;

/// What in-degree first is said to find, as a multiple of what breadth first finds.
const AUTHORITIES_RATIO: f64 = 2.0;
const HUBS_RATIO: f64 = 10.0;
/// How far exponents of power laws may be apart to be called the same.
const EXPONENT_TOLERANCE: f64 = 0.2;
/// Degrees from which a distribution is taken for a power law.
const POWER_LAW_FROM: u32 = 10;

impl Results<'_> {
    pub(super) fn claims(&self) -> Vec<Claim> {
        let mut claims: Vec<Claim> = self.crawled().filter_map(density).collect();
        let measures = [
            (
                "figure 3",
                "about twice as many authorities as breadth first",
                Measure::Authorities,
                AUTHORITIES_RATIO,
            ),
            (
                "figure 4",
                "about ten times as many hubs",
                Measure::Hubs,
                HUBS_RATIO,
            ),
        ];
        for (place, claim, measure, claimed) in measures {
            claims.extend(self.crawled().filter_map(|graph| {
                let summary = graph.summary(measure);
                made(graph, place, claim, &summary, claimed)
            }));
        }
        claims.extend(self.crawled().map(ahead));
        claims
    }
}

/// A claim that in-degree first finds a multiple of what breadth first finds; none if breadth first found nothing.
fn made(
    graph: &GraphResults<'_>,
    place: &str,
    claim: &str,
    summary: &Summary,
    claimed: f64,
) -> Option<Claim> {
    let (ratio, (least, most)) = (summary.ratio()?, summary.ratios?);
    Some(Claim {
        source: format!("Matsukubo and Hayashi (2003), {place}"),
        claim: claim.to_owned(),
        graph: graph.name().to_owned(),
        measured: format!(
            "{ratio:.2} times as many ({least:.2} to {most:.2}), more from {} of {} starts",
            summary.ahead, summary.starts
        ),
        verdict: Verdict::of_factor(ratio, claimed),
    })
}

/// The claim of figures 1 and 2.
fn density(graph: &GraphResults<'_>) -> Option<Claim> {
    let exponent = |of: fn(&Pair) -> &Found| {
        let degrees: Vec<u32> = (graph.pairs.iter())
            .flat_map(|pair| of(pair).sub_graph.in_degrees.iter().copied())
            .collect();
        power_law_exponent(&degrees, POWER_LAW_FROM)
    };
    let ours = exponent(|pair| &pair.in_degree_first)?;
    let theirs = exponent(|pair| &pair.breadth_first)?;
    let summary = graph.summary(Measure::Density);
    let is_denser = summary.breadth_first < summary.in_degree_first;
    let is_parallel = (ours - theirs).abs() <= EXPONENT_TOLERANCE;
    Some(Claim {
        source: "Matsukubo and Hayashi (2003), figures 1 and 2".to_owned(),
        claim: "degrees follow the same power law as with breadth first, shifted to higher degrees"
            .to_owned(),
        graph: graph.name().to_owned(),
        measured: format!(
            "mean in-degree {} against {}, exponent {ours:.2} against {theirs:.2}",
            share(summary.in_degree_first),
            share(summary.breadth_first)
        ),
        verdict: match (is_denser, is_parallel) {
            (true, true) => Verdict::Holds,
            (true, false) => Verdict::Partly,
            (false, _) => Verdict::Fails,
        },
    })
}

/// The claim about distant starts, by the measure that does not favour in-degree first.
fn ahead(graph: &GraphResults<'_>) -> Claim {
    let own = graph.summary(Measure::Authorities);
    let whole = graph.summary(Measure::TopPages);
    Claim {
        source: "Matsukubo and Hayashi (2003), section 4".to_owned(),
        claim: "better from 4 of 5 distant starts".to_owned(),
        graph: graph.name().to_owned(),
        measured: format!(
            "more authorities of its own from {} of {} starts, more top pages of the whole graph from {}",
            own.ahead, own.starts, whole.ahead
        ),
        verdict: match (
            4 * own.starts <= 5 * own.ahead,
            4 * whole.starts <= 5 * whole.ahead,
        ) {
            (true, true) => Verdict::Holds,
            (true, false) | (false, true) => Verdict::Partly,
            (false, false) => Verdict::Fails,
        },
    }
}
