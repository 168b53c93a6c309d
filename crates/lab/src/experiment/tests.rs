use std::sync::atomic::{AtomicU64, Ordering};

use junkai_graph::generate::{Generator, GeneratorConfig};
use junkai_graph::{Cache, unwatched};
use junkai_simulation::outcome::{Cell, Outcome, Verdict};
use junkai_simulation::subject::Subject;

use super::beyond::BeyondExperiment;
use super::in_degree::InDegreeExperiment;
use super::ring::{RingExperiment, RingSize, Vary};
use super::*;
use crate::report;

/// Small webs of unlike sizes.
fn subjects() -> Vec<Subject> {
    [4000, 2500]
        .map(|pages| {
            let web = Generator::new(GeneratorConfig::new(pages, 7)).collect(&mut unwatched);
            Subject::measure(web, &Cache::none(), &mut unwatched)
        })
        .into()
}

fn small_ring() -> RingExperiment {
    RingExperiment {
        slots: vec![8, 32, 128],
        keys_fixed: 64,
        keys: vec![8, 32, 128],
        slots_fixed: 32,
        sizes: [16, 32, 128].map(RingSize::square).into(),
        memory_of: RingSize::square(32),
        command: "junkai lab ring small".to_owned(),
        ..RingExperiment::default()
    }
}

fn small_beyond() -> BeyondExperiment {
    BeyondExperiment {
        sizes: [16, 64].map(RingSize::square).into(),
        rivals: vec![RingSize::square(128)],
        command: "junkai lab beyond small".to_owned(),
        repeated: [16, 64].map(RingSize::square).into(),
        repetitions: 3,
        ..BeyondExperiment::default()
    }
}

fn small_in_degree() -> InDegreeExperiment {
    InDegreeExperiment {
        command: "junkai lab in-degree small".to_owned(),
        ..InDegreeExperiment::default()
    }
}

fn all(subjects: &[Subject]) -> Vec<Outcome> {
    vec![
        ring::run(subjects, &small_ring(), &|_| {}),
        in_degree::run(subjects, &small_in_degree(), &|_| {}),
        beyond::run(subjects, &small_beyond(), &|_| {}),
    ]
}

/// Everything that an outcome writes.
fn bytes(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        text.push_str(&serde_json::to_string(outcome).unwrap());
        for table in &outcome.tables {
            text.push_str(&table.csv());
        }
        for figure in &outcome.figures {
            text.push_str(&figure.chart.svg());
        }
    }
    text
}

#[test]
fn outcomes_do_not_depend_on_threads() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let subjects = subjects();
            let outcomes = all(&subjects);
            let statistics: Vec<_> = subjects
                .iter()
                .map(|subject| subject.statistics.clone())
                .collect();
            (bytes(&outcomes), report::html(&outcomes, &statistics))
        })
    };
    let (one, two) = (with(1), with(2));
    assert!(one.0 == two.0, "the files differ");
    assert!(one.1 == two.1, "the pages differ");
}

#[test]
fn every_outcome_is_whole() {
    let subjects = subjects();
    for outcome in all(&subjects) {
        let name = &outcome.name;
        for subject in &subjects {
            let graph = &subject.web.name;
            let is_found = outcome
                .findings
                .iter()
                .any(|finding| finding.starts_with(graph));
            assert!(is_found, "{name} says nothing of {graph}");
            assert!(
                outcome.claims.iter().any(|claim| claim.graph == *graph),
                "{name}, {graph}"
            );
        }
        for table in &outcome.tables {
            assert!(!table.rows.is_empty(), "{name}/{} is empty", table.name);
            for row in &table.rows {
                assert_eq!(row.len(), table.columns.len(), "{name}/{}", table.name);
            }
        }
        let mut files: Vec<&str> = outcome
            .tables
            .iter()
            .map(|table| table.name.as_str())
            .collect();
        files.sort_unstable();
        files.dedup();
        assert_eq!(
            files.len(),
            outcome.tables.len(),
            "{name}: two tables in one file"
        );
        assert!(!outcome.figures.is_empty());
        assert!(!outcome.parameters.is_empty());
        assert_eq!(outcome.command, format!("junkai lab {name} small"));
    }
}

#[test]
fn files_are_for_programs() {
    for outcome in all(&subjects()) {
        for table in &outcome.tables {
            let place = format!("{}/{}", outcome.name, table.name);
            let csv = table.csv();
            let header = csv.lines().next().unwrap();
            let is_plain = |key: &str| {
                key.starts_with(|first: char| first.is_ascii_lowercase())
                    && key
                        .chars()
                        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            };
            assert!(header.split(',').all(is_plain), "{place}: {header}");
            let unique: std::collections::BTreeSet<&str> = header.split(',').collect();
            assert_eq!(unique.len(), table.columns.len(), "{place}: {header}");
            for (column, head) in table.columns.iter().enumerate() {
                let is_text = |row: &&Vec<Cell>| matches!(row[column], Cell::Text(_));
                let texts = table.rows.iter().filter(is_text).count();
                if 0 < texts {
                    assert_eq!(texts, table.rows.len(), "{place}: {head:?} is mixed");
                    continue;
                }
                for row in &table.rows {
                    let cell = row[column].exact();
                    let is_number = cell.parse::<f64>().is_ok_and(f64::is_finite);
                    assert!(cell.is_empty() || is_number, "{place}: {head:?}: {cell}");
                }
            }
        }
    }
}

#[test]
fn shares_rise_with_pages_and_servers_get_their_rest() {
    let subjects = subjects();
    let outcome = ring::run(&subjects, &small_ring(), &|_| {});
    let table = outcome
        .tables
        .iter()
        .find(|table| table.name == "shares")
        .unwrap();
    let place = |name: &str| {
        table
            .columns
            .iter()
            .position(|column| column.title == name)
            .unwrap()
    };
    for row in &table.rows {
        let shares: Vec<f64> = row[place("at 10 %")..=place("at 50 %")]
            .iter()
            .filter_map(|cell| match cell {
                Cell::Share(share) => Some(*share),
                _ => None,
            })
            .collect();
        assert!(shares.is_sorted(), "{row:?}");
        assert!(
            shares.iter().all(|share| (0.0..=1.0).contains(share)),
            "{row:?}"
        );
        assert_eq!(row[place("too early")], Cell::Count(0), "{row:?}");
    }
    let interval: Vec<_> = outcome
        .claims
        .iter()
        .filter(|claim| claim.claim.contains("interval"))
        .collect();
    assert_eq!(interval.len(), subjects.len());
    assert!(interval.iter().all(|claim| claim.verdict == Verdict::Holds));
}

#[test]
fn with_more_slots_than_pages_nothing_is_left_out() {
    let outcome = ring::run(&subjects(), &small_ring(), &|_| {});
    let table = outcome
        .tables
        .iter()
        .find(|table| table.name == "shares")
        .unwrap();
    let coverage = table
        .columns
        .iter()
        .position(|column| column.key == "coverage")
        .unwrap();
    let interleaved: Vec<_> = table
        .rows
        .iter()
        .filter(|row| matches!(&row[1], Cell::Text(name) if name.starts_with("interleaved")))
        .collect();
    assert_eq!(interleaved.len(), 2);
    assert!(
        interleaved
            .iter()
            .all(|row| row[coverage] == Cell::Share(1.0))
    );
}

#[test]
fn only_what_is_asked_for_is_varied() {
    let subjects = subjects();
    for (vary, tables) in [
        (Vary::Nothing, vec![]),
        (Vary::Slots, vec!["slots"]),
        (Vary::Keys, vec!["keys"]),
        (Vary::Both, vec!["slots", "keys"]),
    ] {
        let experiment = RingExperiment {
            vary,
            ..small_ring()
        };
        let outcome = ring::run(&subjects[1..], &experiment, &|_| {});
        let names: Vec<&str> = outcome
            .tables
            .iter()
            .map(|table| table.name.as_str())
            .filter(|name| ["slots", "keys"].contains(name))
            .collect();
        assert_eq!(names, tables);
    }
}

#[test]
fn ours_stay_within_the_memory_of_the_ring() {
    let outcome = beyond::run(&subjects(), &small_beyond(), &|_| {});
    let table = outcome
        .tables
        .iter()
        .find(|table| table.name == "shares")
        .unwrap();
    let mut checked = 0;
    for row in &table.rows {
        if let (Cell::Count(budget), Some(Cell::Count(stored))) = (&row[2], row.last()) {
            assert!(stored <= budget, "{row:?}");
            checked += 1;
        }
    }
    assert!(12 <= checked);
}

#[test]
fn progress_never_exceeds_what_was_announced() {
    let subjects = subjects();
    let most = AtomicU64::new(0);
    let last = AtomicU64::new(0);
    let watch = |progress: Progress| {
        assert!(progress.done <= progress.total);
        most.fetch_max(progress.done, Ordering::Relaxed);
        last.store(progress.total, Ordering::Relaxed);
    };
    ring::run(&subjects, &small_ring(), &watch);
    assert_eq!(most.load(Ordering::Relaxed), last.load(Ordering::Relaxed));
    assert_ne!(last.load(Ordering::Relaxed), 0);
}

#[test]
fn no_graph_no_harm() {
    for outcome in all(&[]) {
        assert_eq!(outcome.claims.len(), 0);
        assert!(
            outcome
                .figures
                .iter()
                .all(|figure| figure.chart.svg().starts_with("<svg"))
        );
    }
    let empty = RingExperiment {
        slots: Vec::new(),
        keys: Vec::new(),
        sizes: Vec::new(),
        ..small_ring()
    };
    assert!(!ring::run(&subjects(), &empty, &|_| {}).findings.is_empty());
    let without = BeyondExperiment {
        sizes: Vec::new(),
        repeated: Vec::new(),
        ..small_beyond()
    };
    assert!(
        !beyond::run(&subjects(), &without, &|_| {})
            .findings
            .is_empty()
    );
}
