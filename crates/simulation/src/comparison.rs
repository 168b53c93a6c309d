//! Any policies side by side on one graph: what each had fetched of what matters, when, and in how much memory.
//!
//! [`compare`] crawls once by each policy, several at a time; [`outcome`] puts the runs into tables and figures. The
//! experiments of the papers choose their policies themselves; here the caller does.

use std::sync::atomic::{AtomicU64, Ordering};

use junkai_charts::{Axis, Chart, Format, Line, Style};
use rayon::prelude::*;

use crate::crawl::{Pace, Run, Trial, simulate};
use crate::outcome::{
    Cell, Column, Drawing, Figure, Outcome, Parameter, Table, counted, grouped, span,
};
use crate::policy::Policy;
use crate::subject::Subject;

/// The parts of the pages at which the share of `PageRank` is told.
pub const PARTS: [f64; 4] = [0.1, 0.2, 0.3, 0.5];

/// Shares that differ by less than this are level: sums in another order differ by as much.
const LEVEL: f64 = 1e-9;

/// Points of a curve, at most.
const CURVE_POINTS: usize = 200;

/// What one policy did.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The policy.
    pub policy: Policy,
    /// What it is called in tables and figures.
    pub label: String,
    /// Its crawl.
    pub run: Run,
    /// The share of `PageRank` after each visit.
    pub cumulated: Vec<f64>,
}

/// What is to be crawled.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The policy.
    pub policy: Policy,
    /// What it is to be called.
    pub label: String,
}

/// Crawls once by each policy, up to `pages_max` pages. `progress` hears now and then how many pages were visited by all
/// policies together, from any thread. The results are in the order of the entries.
pub fn compare(
    subject: &Subject,
    entries: &[Entry],
    pages_max: u32,
    progress: &(dyn Fn(u64) + Sync),
) -> Vec<Compared> {
    let visited = AtomicU64::new(0);
    entries
        .par_iter()
        .map(|entry| {
            let trial = Trial {
                web: &subject.web,
                seeds: &subject.seeds,
                policy: &entry.policy,
                pages_max,
                latencies: &subject.latencies,
            };
            let mut told = 0;
            let mut tell = |visits: u64| {
                let more = visits - told;
                told = visits;
                progress(visited.fetch_add(more, Ordering::Relaxed) + more);
            };
            let run = simulate(&trial, &subject.value, &mut tell);
            tell(run.order.len() as u64);
            Compared {
                policy: entry.policy.clone(),
                label: entry.label.clone(),
                cumulated: subject.value.cumulated(&run.order),
                run,
            }
        })
        .collect()
}

/// The runs as tables, figures and findings.
#[must_use]
pub fn outcome(subject: &Subject, compared: &[Compared], command: String) -> Outcome {
    let name = &subject.web.name;
    let mut parameters = vec![
        parameter("graph", name),
        parameter(
            "pages that can be reached",
            &grouped(subject.value.reachable().into()),
        ),
        parameter("seeds", &grouped(subject.seeds.len() as u64)),
    ];
    parameters.extend(
        compared
            .iter()
            .map(|one| parameter(&format!("policy {}", one.label), &one.policy.to_string())),
    );
    Outcome {
        name: "crawl".to_owned(),
        title: format!("What a schedule fetches of {name}"),
        command,
        parameters,
        findings: findings(subject, compared),
        claims: Vec::new(),
        tables: vec![runs_table(subject, compared), curve_table(compared)],
        figures: vec![
            share_figure(subject, compared),
            stored_figure(subject, compared),
        ],
    }
}

pub(crate) fn parameter(name: &str, value: &str) -> Parameter {
    Parameter {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

/// The least that a server had between two visits, for people and in the unit of the policy; none if no server was visited
/// twice, or the policy knows no time.
#[must_use]
pub fn least_gap(policy: &Policy, pace: &Pace) -> Option<String> {
    match gap_cells(policy, pace) {
        [Cell::Count(steps), _] => Some(counted(steps, "step")),
        [_, Cell::Seconds(seconds)] => Some(span(seconds)),
        _ => None,
    }
}

/// The least that a server had between two visits, for the columns of [`gap_columns`]: steps of the paper's ring, or time by
/// the clock of ours. Empty if no server was visited twice, or the policy promises nothing.
#[must_use]
pub fn gap_cells(policy: &Policy, pace: &Pace) -> [Cell; 2] {
    match (policy, pace.least) {
        (_, None) | (Policy::Opt, _) => [Cell::None, Cell::None],
        (Policy::OneStepRing(_), Some(steps)) => [Cell::Count(steps), Cell::None],
        (Policy::Crawl(_), Some(micros)) => [Cell::None, Cell::Seconds(micros as f64 / 1e6)],
    }
}

/// The columns of [`gap_cells`].
#[must_use]
pub fn gap_columns() -> Vec<Column> {
    Column::list([
        ("least_gap_steps", "least gap, steps"),
        ("least_gap_seconds", "least gap, time"),
    ])
}

fn runs_table(subject: &Subject, compared: &[Compared]) -> Table {
    let mut columns = vec![Column::new("policy", "policy")];
    columns.extend(PARTS.map(|part| Column::at_part("share", "share at", part)));
    columns.extend(Column::list([
        ("share_at_the_end", "share at the end"),
        ("coverage", "coverage"),
        ("visited_pages", "pages visited"),
        ("stored_max_urls", "most stored"),
        ("discarded_times", "discarded"),
        ("put_aside_times", "spilled"),
    ]));
    columns.extend(gap_columns());
    columns.push(Column::new("too_early_visits", "gaps too short"));
    let row = |one: &Compared| {
        let value = &subject.value;
        let mut cells = vec![Cell::Text(one.label.clone())];
        cells.extend(PARTS.map(|part| Cell::share(value.share_at(&one.cumulated, part))));
        cells.extend([
            Cell::share(one.cumulated.last().copied()),
            Cell::Share(value.coverage(&one.run)),
            Cell::Count(one.run.order.len() as u64),
            Cell::Count(one.run.stored_max().into()),
            Cell::Count(one.run.discarded),
            Cell::Count(one.run.spilled),
        ]);
        cells.extend(gap_cells(&one.policy, &one.run.pace));
        cells.push(Cell::Count(one.run.pace.violations));
        cells
    };
    Table {
        name: "runs".to_owned(),
        caption: "Share of PageRank when this part of the pages was visited; pages that waited in memory; politeness"
            .to_owned(),
        columns,
        rows: compared.iter().map(row).collect(),
    }
}

fn curve_table(compared: &[Compared]) -> Table {
    let rows = compared.iter().flat_map(|one| {
        places(one.cumulated.len()).map(|place| {
            vec![
                Cell::Text(one.label.clone()),
                Cell::Count(place as u64 + 1),
                Cell::Share(one.cumulated[place]),
                Cell::Count(one.run.stored[place].into()),
            ]
        })
    });
    Table {
        name: "curve".to_owned(),
        caption: "Share of PageRank and pages in memory after so many visits".to_owned(),
        columns: Column::list([
            ("policy", "policy"),
            ("visited_pages", "visits"),
            ("share", "share"),
            ("stored_urls", "stored"),
        ]),
        rows: rows.collect(),
    }
}

/// Places of a list of this length at which a curve is told, evenly spread, the last one included.
pub(crate) fn places(length: usize) -> impl Iterator<Item = usize> {
    let points = length.min(CURVE_POINTS);
    (1..=points).map(move |point| point * length / points - 1)
}

/// The share of `PageRank` against visits, a line for each.
pub(crate) fn share_line(label: &str, cumulated: &[f64]) -> Line {
    let points = places(cumulated.len()).map(|place| (place as f64 + 1.0, cumulated[place]));
    Line::new(label, std::iter::once((0.0, 0.0)).chain(points))
}

fn share_figure(subject: &Subject, compared: &[Compared]) -> Figure {
    let mut chart = Chart::new(
        "What matters, against what was fetched",
        Axis::linear("pages visited").min(0.0),
        Axis::linear("share of PageRank")
            .format(Format::Share)
            .min(0.0)
            .max(1.0),
    )
    .subtitle(subject.web.name.clone());
    for one in compared {
        let line = share_line(&one.label, &one.cumulated);
        chart = chart.line(match one.policy {
            Policy::Opt => line.style(Style::Reference),
            Policy::OneStepRing(_) | Policy::Crawl(_) => line,
        });
    }
    Figure {
        name: "share".to_owned(),
        caption: "The higher a line, the more of PageRank was fetched by then.".to_owned(),
        chart: Drawing::One(Box::new(chart)),
    }
}

fn stored_figure(subject: &Subject, compared: &[Compared]) -> Figure {
    let mut chart = Chart::new(
        "Pages that wait in memory",
        Axis::linear("pages visited").min(0.0),
        Axis::linear("pages in memory").min(0.0),
    )
    .subtitle(subject.web.name.clone());
    for one in compared.iter().filter(|one| one.policy != Policy::Opt) {
        let points = places(one.run.stored.len())
            .map(|place| (place as f64 + 1.0, f64::from(one.run.stored[place])));
        chart = chart.line(Line::new(one.label.clone(), points));
    }
    Figure {
        name: "stored".to_owned(),
        caption: "What a policy must remember as it goes; what was spilled to disk does not count."
            .to_owned(),
        chart: Drawing::One(Box::new(chart)),
    }
}

fn findings(subject: &Subject, compared: &[Compared]) -> Vec<String> {
    let statistics = &subject.statistics;
    let mut findings = vec![format!(
        "{}: {}, {}, {} on {}; from {}, {} can be reached.",
        statistics.name,
        counted(statistics.pages.into(), "page"),
        counted(statistics.links, "link"),
        counted(statistics.hosts.into(), "host"),
        counted(statistics.servers.into(), "server"),
        counted(subject.seeds.len() as u64, "seed"),
        counted(subject.value.reachable().into(), "page"),
    )];
    findings.extend(
        PARTS
            .iter()
            .filter_map(|part| leaders(subject, compared, *part)),
    );
    findings.extend(politeness(compared));
    findings
}

/// Who has most after a part of the pages; none if there is nobody to be ahead of.
fn leaders(subject: &Subject, compared: &[Compared], part: f64) -> Option<String> {
    let reached: Vec<(f64, &str)> = compared
        .iter()
        .filter(|one| one.policy != Policy::Opt)
        .filter_map(|one| {
            let share = subject.value.share_at(&one.cumulated, part)?;
            Some((share, one.label.as_str()))
        })
        .collect();
    let most = reached.iter().map(|(share, _)| *share).reduce(f64::max)?;
    let first: Vec<&str> = reached
        .iter()
        .filter(|(share, _)| most - share < LEVEL)
        .map(|(_, label)| *label)
        .collect();
    let standing = match first.as_slice() {
        _ if reached.len() < 2 => return None,
        [one] => format!("{one} is ahead"),
        several => format!("{} are level", several.join(", ")),
    };
    Some(format!(
        "After {:.0} % of the pages {standing}, with {:.1} % of PageRank.",
        100.0 * part,
        100.0 * most
    ))
}

/// Whether promises to servers were kept; none if nothing was promised, or no server was visited twice.
fn politeness(compared: &[Compared]) -> Option<String> {
    let promising = || {
        compared
            .iter()
            .map(|one| &one.run.pace)
            .filter(|pace| 0 < pace.promised && pace.least.is_some())
    };
    promising().next()?;
    let too_short: u64 = promising().map(|pace| pace.violations).sum();
    Some(if too_short == 0 {
        "No server was visited sooner than promised.".to_owned()
    } else {
        format!("{} came SOONER THAN PROMISED.", counted(too_short, "visit"))
    })
}

#[cfg(test)]
mod tests {
    use junkai_graph::generate::{Generator, GeneratorConfig};
    use junkai_graph::{Cache, unwatched};

    use super::*;

    fn subject() -> Subject {
        let web = Generator::new(GeneratorConfig::new(2000, 1)).collect(&mut unwatched);
        Subject::measure(web, &Cache::none(), &mut unwatched)
    }

    fn entries(texts: &[&str]) -> Vec<Entry> {
        let entry = |text: &&str| Entry {
            policy: text.parse().unwrap(),
            label: (*text).to_owned(),
        };
        texts.iter().map(entry).collect()
    }

    #[test]
    fn every_policy_has_a_row_and_a_line_and_nothing_depends_on_threads() {
        let subject = subject();
        let entries = entries(&["opt", "bfs", "one-step-ring:64x64", "worth:200,welcome"]);
        let with_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let compared = pool.install(|| compare(&subject, &entries, u32::MAX, &|_| ()));
            outcome(&subject, &compared, "again".to_owned())
        };
        let one = with_threads(1);
        let two = with_threads(2);
        assert_eq!(one.tables[0].rows.len(), 4);
        for (left, right) in one.tables.iter().zip(&two.tables) {
            assert_eq!(left.csv(), right.csv());
            assert!(left.rows.iter().all(|row| row.len() == left.columns.len()));
        }
        for (left, right) in one.figures.iter().zip(&two.figures) {
            assert_eq!(left.chart.svg(), right.chart.svg());
        }
        assert_eq!(one.findings, two.findings);
        assert!(
            one.findings
                .last()
                .unwrap()
                .contains("No server was visited sooner")
        );
    }

    #[test]
    fn a_crawl_stops_where_it_is_told_and_progress_adds_up() {
        let subject = subject();
        let entries = entries(&["bfs", "in-degree"]);
        let most = AtomicU64::new(0);
        let compared = compare(&subject, &entries, 700, &|visits| {
            most.fetch_max(visits, Ordering::Relaxed);
        });
        assert!(compared.iter().all(|one| one.run.order.len() == 700));
        assert_eq!(most.into_inner(), 1400);
    }

    #[test]
    fn a_curve_ends_with_the_last_visit_and_is_bounded() {
        for length in [0, 1, 2, 199, 200, 201, 12_345] {
            let places: Vec<usize> = places(length).collect();
            assert_eq!(places.last().copied(), length.checked_sub(1));
            assert_eq!(places.len(), length.min(CURVE_POINTS));
            assert!(places.is_sorted_by(|left, right| left < right));
        }
    }
}
