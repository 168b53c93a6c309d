use std::time::Duration;

use junkai_graph::history::{GeneratorConfig, generate};

use super::contestant::Contestant;
use super::*;

fn small() -> EstimatorsExperiment {
    EstimatorsExperiment {
        runs: 60,
        pages: 60,
        replayed_max: 40,
        ..EstimatorsExperiment::default()
    }
}

fn history() -> History {
    let config = GeneratorConfig {
        pages: 60,
        span: Duration::from_hours(3 * 365 * 24),
        ..GeneratorConfig::default()
    };
    generate(&config, 5).unwrap().history
}

#[test]
fn the_outcome_is_a_function_of_its_settings() {
    let once = run(&[history()], &small(), &|_| {});
    let again = run(&[history()], &small(), &|_| {});
    let json = |outcome| serde_json::to_string(outcome).unwrap();
    assert_eq!(json(&once), json(&again));
    assert_eq!(once.tables.len(), 4);
    assert_eq!(once.figures.len(), 3);
    for table in &once.tables {
        for row in &table.rows {
            assert_eq!(row.len(), table.columns.len(), "{}", table.name);
        }
    }
}

#[test]
fn without_histories_the_simulations_remain() {
    let outcome = run(&[], &small(), &|_| {});
    assert_eq!(outcome.tables.len(), 3);
    assert_eq!(outcome.figures.len(), 2);
}

#[test]
fn progress_ends_at_its_end() {
    let seen = std::sync::Mutex::new(Vec::new());
    run(&[history()], &small(), &|progress| {
        seen.lock().unwrap().push(progress);
    });
    let seen = seen.into_inner().unwrap();
    assert!(seen.windows(2).all(|pair| pair[0].done <= pair[1].done));
    assert!(seen.last().is_some_and(|last| last.done == last.total));
}

#[test]
fn on_regular_visits_equation_4_is_the_exact_solution() {
    let open = OpenLoop::run(&small(), |_| {});
    for row in open.rows.iter().filter(|row| row.situation.sigma == 0.0) {
        let exact = row.quality(Contestant::Likelihood);
        for rival in Contestant::EQUATION_4 {
            let quality = row.quality(rival);
            assert!(
                (quality.rmse - exact.rmse).abs() < 1e-4,
                "{:?}",
                row.situation
            );
            assert!(
                (quality.bias - exact.bias).abs() < 1e-4,
                "{:?}",
                row.situation
            );
        }
    }
}

#[test]
fn a_page_that_is_away_is_not_foretold() {
    let replay = Replay::run(&history(), &small());
    assert!(0 < replay.visits);
    for contestant in Contestant::ALL {
        let score = replay.score(contestant);
        assert!(score.log_loss().is_finite() && 0.0 < score.log_loss());
        let visits: f64 = score.bins.iter().map(|bin| bin.visits).sum();
        assert!((visits - replay.visits as f64).abs() < 0.5);
    }
}
