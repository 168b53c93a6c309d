//! One page from several outcomes: findings, claims, figures and tables, to be opened without a network.
//!
//! The page is whole in itself: figures and styles are in it, there is no script, and its own policy forbids it to load
//! anything. It is light or dark as the reader prefers, fits a phone, and prints. All text is escaped, whatever graphs are
//! called.
//!
//! Not here: running experiments (`experiment`), and drawing (`charts`).

mod html;
mod sections;
mod table;

use html::Html;
use junkai_graph::Statistics;
use junkai_simulation::outcome::{Claim, Outcome, Verdict};

/// The style of the page; the figures bring their own.
const STYLE: &str = include_str!("report/style.css");

/// Nothing may be loaded: what the page needs is in it.
const CONTENT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// Writes the page. The same outcomes give the same bytes.
#[must_use]
pub fn html(outcomes: &[Outcome], statistics: &[Statistics]) -> String {
    let mut page = Html::default();
    page.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.raw("<meta name=\"color-scheme\" content=\"light dark\">\n");
    page.raw(&format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{CONTENT_POLICY}\">\n"
    ));
    page.element("title", "", "junkai lab: report");
    page.raw("<style>");
    page.raw(junkai_charts::stylesheet());
    page.raw(STYLE);
    page.raw("</style>\n</head>\n<body>\n<main>\n");
    header(&mut page, outcomes, statistics);
    contents(&mut page, outcomes);
    sections::graphs(&mut page, statistics);
    for outcome in outcomes {
        sections::outcome(&mut page, outcome, statistics);
    }
    sections::making(&mut page, outcomes);
    page.raw("</main>\n</body>\n</html>\n");
    page.text
}

fn header(page: &mut Html, outcomes: &[Outcome], statistics: &[Statistics]) {
    page.raw("<header>\n");
    page.element("h1", "", "What a crawl order is worth");
    let names: Vec<&str> = statistics.iter().map(|graph| graph.name.as_str()).collect();
    let lead = format!(
        "Experiments of the junkai lab on {}: each crawl is simulated with the very scheduler that crawls, under a virtual clock. What \
         the papers claim stands beside what was measured here.",
        joined(&names)
    );
    page.element("p", "lead", &lead);
    let all = || outcomes.iter().flat_map(|outcome| &outcome.claims);
    let (goals, papers): (Vec<&Claim>, Vec<&Claim>) = all().partition(|claim| claim.is_goal());
    tally(page, &papers, "tests of the papers’ claims");
    tally(page, &goals, "tests of our own goals");
    page.raw("</header>\n");
}

/// How many claims hold; a claim is tested once on each graph.
fn tally(page: &mut Html, claims: &[&Claim], what: &str) {
    if claims.is_empty() {
        return;
    }
    page.raw("<ul class=\"tally\">\n");
    for verdict in [Verdict::Holds, Verdict::Partly, Verdict::Fails] {
        let count = claims
            .iter()
            .filter(|claim| claim.verdict == verdict)
            .count();
        page.raw("<li>");
        sections::badge(page, verdict);
        page.escaped(&format!(" {count} of {} {what}", claims.len()));
        page.raw("</li>\n");
    }
    page.raw("</ul>\n");
}

fn contents(page: &mut Html, outcomes: &[Outcome]) {
    page.raw("<nav aria-label=\"Contents\">\n<ol>\n");
    page.link("graphs", "The graphs");
    for outcome in outcomes {
        page.link(&html::id(&outcome.name), &outcome.title);
    }
    page.link("making", "How this was made");
    page.raw("</ol>\n</nav>\n");
}

fn joined(names: &[&str]) -> String {
    match names {
        [] => "no graph".to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests;
