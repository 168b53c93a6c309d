//! The parts of the page.

use junkai_graph::{HostCut, Statistics};

use super::html::{Html, id};
use crate::outcome::{Cell, Claim, Drawing, Figure, Outcome, Table, Verdict};

/// What the graphs are like, side by side.
pub(super) fn graphs(page: &mut Html, statistics: &[Statistics]) {
    page.section("graphs", "The graphs");
    if !statistics.is_empty() {
        page.raw("<div class=\"scroll\"><table>\n<caption>");
        page.escaped("Pages, links and hosts; shares are of all pages, or of all links. Graphs without URLs are cut into hosts by a rule.");
        page.raw("</caption>\n<thead><tr><th></th>");
        for graph in statistics {
            cell(page, "th", "number", &graph.name);
        }
        page.raw("</tr></thead>\n<tbody>\n<tr><th scope=\"row\">hosts come from</th>");
        for graph in statistics {
            cell(page, "td", "number", hosts_from(graph.host_cut));
        }
        page.raw("</tr>\n");
        let columns: Vec<_> = statistics.iter().map(Statistics::rows).collect();
        for (row, (name, _)) in columns[0].iter().enumerate() {
            page.raw("<tr>");
            page.raw("<th scope=\"row\">");
            page.escaped(name);
            page.raw("</th>");
            for column in &columns {
                let value = column.get(row).map_or("", |(_, value)| value);
                let grouped = value.parse().map(|count| Cell::Count(count).to_string());
                cell(page, "td", "number", grouped.as_deref().unwrap_or(value));
            }
            page.raw("</tr>\n");
        }
        page.raw("</tbody></table></div>\n");
    }
    page.raw("</section>\n");
}

fn hosts_from(cut: HostCut) -> &'static str {
    match cut {
        HostCut::Urls => "URLs",
        HostCut::Blocks { .. } => "blocks of pages",
        HostCut::EqualBlocks(_) => "equal blocks",
        HostCut::Given => "its maker",
    }
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
            table(page, &outcome.name, numbers);
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
        page.raw("<b>");
        page.escaped(name);
        page.raw("</b>");
    }
    page.escaped(rest);
    page.raw("</li>\n");
}

/// Claims, each with what was measured on each graph.
fn claims(page: &mut Html, claims: &[Claim]) {
    page.raw("<div class=\"scroll\"><table class=\"claims\">\n<thead><tr>");
    for column in ["claim", "where", "graph", "measured here", "verdict"] {
        cell(page, "th", "", column);
    }
    page.raw("</tr></thead>\n");
    let is_same =
        |left: &Claim, right: &Claim| left.claim == right.claim && left.source == right.source;
    for group in claims.chunk_by(is_same) {
        page.raw("<tbody>\n");
        for (row, claim) in group.iter().enumerate() {
            page.raw("<tr>");
            if row == 0 {
                let span = group.len();
                page.raw(&format!("<th scope=\"rowgroup\" rowspan=\"{span}\">"));
                page.escaped(&claim.claim);
                page.raw(&format!("</th><td class=\"source\" rowspan=\"{span}\">"));
                page.escaped(&claim.source);
                page.raw("</td>");
            }
            cell(page, "td", "graph", &claim.graph);
            cell(page, "td", "measured", &claim.measured);
            page.raw("<td>");
            badge(page, claim.verdict);
            page.raw("</td></tr>\n");
        }
        page.raw("</tbody>\n");
    }
    page.raw("</table></div>\n");
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
    page.element("code", "", &format!("{outcome}/{}.svg", figure.name));
    page.raw("</p>\n</div>\n");
}

/// Numbers; rows that begin alike belong together.
fn table(page: &mut Html, outcome: &str, table: &Table) {
    page.raw("<div class=\"scroll tall\" tabindex=\"0\"><table>\n<caption>");
    page.escaped(&table.caption);
    page.raw(" ");
    page.element("code", "", &format!("{outcome}/{}.csv", table.name));
    page.raw("</caption>\n<thead><tr>");
    for (place, column) in table.columns.iter().enumerate() {
        let is_number = table
            .rows
            .iter()
            .any(|row| row.get(place).is_some_and(is_number));
        cell(page, "th", if is_number { "number" } else { "" }, column);
    }
    page.raw("</tr></thead>\n");
    for group in table
        .rows
        .chunk_by(|left, right| left.first() == right.first())
    {
        page.raw("<tbody>\n");
        for (row, cells) in group.iter().enumerate() {
            page.raw("<tr>");
            if let (0, Some(first)) = (row, cells.first()) {
                page.raw(&format!(
                    "<th scope=\"rowgroup\" rowspan=\"{}\">",
                    group.len()
                ));
                page.escaped(&first.to_string());
                page.raw("</th>");
            }
            for value in cells.iter().skip(1) {
                cell(
                    page,
                    "td",
                    if is_number(value) { "number" } else { "" },
                    &value.to_string(),
                );
            }
            page.raw("</tr>\n");
        }
        page.raw("</tbody>\n");
    }
    page.raw("</table></div>\n");
}

/// Whether a cell is set as a number: also differences, ratios and parts that were put into words.
fn is_number(cell: &Cell) -> bool {
    let Cell::Text(text) = cell else {
        return true;
    };
    text.starts_with(|first: char| first.is_ascii_digit() || "+−±".contains(first))
}

fn cell(page: &mut Html, name: &str, class: &str, text: &str) {
    page.open(name, class);
    page.escaped(text);
    page.raw("</");
    page.raw(name);
    page.raw(">");
}

/// The commands and parameters that give the same bytes again.
pub(super) fn making(page: &mut Html, outcomes: &[Outcome]) {
    page.section("making", "How this was made");
    page.element(
        "p",
        "",
        "Nothing here depends on the machine, the number of threads or the moment: the same command writes the same bytes. Policies are \
         given in the form that the commands take.",
    );
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
