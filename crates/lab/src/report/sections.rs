//! The parts of the page.

use junkai_graph::{HostCut, Statistics};
use junkai_simulation::outcome::{Cell, Claim, Drawing, Figure, Outcome, Verdict};

use super::html::{Html, id};
use super::table::{self, Legend};

/// What the graphs are like, side by side.
pub(super) fn graphs(page: &mut Html, statistics: &[Statistics]) {
    page.section("graphs", "The graphs");
    let columns: Vec<_> = statistics.iter().map(rows_of).collect();
    if let Some(first) = columns.first() {
        let caption = "Graphs that were read, and those that the lab generated, side by side. Graphs without URLs are cut into \
                       hosts by a rule.";
        table::open(
            page,
            "graphs-table",
            &Legend {
                caption,
                file: None,
            },
        );
        page.raw("<thead><tr><td></td>");
        for graph in statistics {
            page.inline("th", "number", &graph.name);
        }
        page.raw("</tr></thead>\n<tbody>\n");
        for (row, (name, _)) in first.iter().enumerate() {
            page.raw("<tr><th scope=\"row\">");
            page.escaped(name);
            page.raw("</th>");
            for column in &columns {
                page.inline("td", "number", &column[row].1);
            }
            page.raw("</tr>\n");
        }
        page.raw("</tbody>\n");
        table::close(page);
    }
    page.raw("</section>\n");
}

/// The statistics of a graph, with commas between thousands.
fn rows_of(graph: &Statistics) -> Vec<(&'static str, String)> {
    let hosts_from = match graph.host_cut {
        HostCut::Urls => "URLs",
        HostCut::Blocks { .. } => "blocks of pages",
        HostCut::EqualBlocks(_) => "equal blocks",
        HostCut::Given => "its maker",
    };
    let grouped = |value: String| match value.parse() {
        Ok(count) => Cell::Count(count).to_string(),
        Err(_) => value,
    };
    let measured = graph
        .rows()
        .into_iter()
        .map(|(name, value)| (name, grouped(value)));
    std::iter::once(("hosts come from", hosts_from.to_owned()))
        .chain(measured)
        .collect()
}

/// One experiment: what was found first, then how.
pub(super) fn outcome(page: &mut Html, outcome: &Outcome, statistics: &[Statistics]) {
    page.section(&id(&outcome.name), &outcome.title);
    if !outcome.findings.is_empty() {
        page.raw("<h3>Findings</h3>\n<ul class=\"findings\">\n");
        for text in &outcome.findings {
            finding(page, text, statistics);
        }
        page.raw("</ul>\n");
    }
    if !outcome.claims.is_empty() {
        page.raw("<h3>Claims</h3>\n");
        claims(page, &outcome.claims);
    }
    if !outcome.figures.is_empty() {
        page.raw("<h3>Figures</h3>\n");
        for drawn in &outcome.figures {
            figure(page, &outcome.name, drawn);
        }
    }
    if !outcome.tables.is_empty() {
        page.raw("<h3>Tables</h3>\n");
        for numbers in &outcome.tables {
            table::add(page, &outcome.name, numbers);
        }
    }
    page.raw("</section>\n");
}

/// A sentence; the graph that it is about stands out.
fn finding(page: &mut Html, text: &str, statistics: &[Statistics]) {
    let graph = statistics
        .iter()
        .map(|graph| graph.name.as_str())
        .filter(|name| !name.is_empty() && text.starts_with(name))
        .max_by_key(|name| name.len());
    let rest = graph.map_or(text, |name| &text[name.len()..]);
    page.raw("<li>");
    if let Some(name) = graph {
        page.inline("b", "", name);
    }
    page.escaped(rest);
    page.raw("</li>\n");
}

/// Claims, each with what was measured on each graph.
fn claims(page: &mut Html, claims: &[Claim]) {
    page.raw("<div class=\"scroll\"><table class=\"claims\">\n<thead><tr>");
    for column in ["graph", "measured here", "verdict"] {
        page.inline("th", "", column);
    }
    page.raw("</tr></thead>\n");
    let is_same =
        |left: &Claim, right: &Claim| left.claim == right.claim && left.source == right.source;
    for group in claims.chunk_by(is_same) {
        page.raw("<tbody>\n<tr class=\"claim\"><th scope=\"rowgroup\" colspan=\"3\">");
        page.escaped(&group[0].claim);
        page.raw(" ");
        page.inline("span", "source", &group[0].source);
        page.raw("</th></tr>\n");
        for claim in group {
            page.raw("<tr>");
            page.inline("td", "graph", &claim.graph);
            page.inline("td", "", &claim.measured);
            page.raw("<td>");
            badge(page, claim.verdict);
            page.raw("</td></tr>\n");
        }
        page.raw("</tbody>\n");
    }
    page.raw("</table></div>\n");
    page.element("p", "caption", Verdict::RULE);
}

/// A verdict, told by word, sign and colour.
pub(super) fn badge(page: &mut Html, verdict: Verdict) {
    page.raw(match verdict {
        Verdict::Holds => "<span class=\"badge holds\">✓ holds</span>",
        Verdict::Partly => "<span class=\"badge partly\">≈ partly</span>",
        Verdict::Fails => "<span class=\"badge fails\">✗ fails</span>",
    });
}

fn figure(page: &mut Html, outcome: &str, figure: &Figure) {
    let prefix = format!("{}-{}", id(outcome), figure.name);
    page.raw("<div class=\"figure\">\n");
    page.raw(&match &figure.chart {
        Drawing::One(chart) => chart.html(&prefix),
        Drawing::Many(grid) => grid.html(&prefix),
    });
    page.raw("<p class=\"caption\">");
    page.escaped(&figure.caption);
    page.raw(" ");
    page.inline("code", "", &format!("{outcome}/{}.svg", figure.name));
    page.raw("</p>\n</div>\n");
}

/// The commands and parameters that give the same bytes again.
pub(super) fn making(page: &mut Html, outcomes: &[Outcome]) {
    page.section("making", "How this was made");
    let how = format!(
        "Made with junkai {}. Nothing here depends on the machine, the number of threads or the moment: the same command on the same \
         links writes the same bytes. Policies are given in the form that the commands take.",
        env!("CARGO_PKG_VERSION")
    );
    page.element("p", "", &how);
    for outcome in outcomes {
        page.element("h3", "", &outcome.title);
        page.raw("<pre><code>");
        page.escaped(&outcome.command);
        page.raw("</code></pre>\n<dl>\n");
        for parameter in &outcome.parameters {
            page.element("dt", "", &parameter.name);
            page.element("dd", "", &parameter.value);
        }
        page.raw("</dl>\n");
    }
    page.raw("</section>\n");
}
