//! Whole crawls, simulated.

use std::time::Duration;

use junkai_world::{Bug, Plan, run};

/// Runs of the test suite; `junkai lab simulate` makes as many as anybody likes.
const RUNS: u64 = 40;

#[test]
fn whatever_goes_wrong_the_promises_hold() {
    for number in 0..RUNS {
        if let Err(failure) = run(number, &Plan::default()) {
            panic!("{failure}; repeat it with: junkai lab simulate --from {number} --runs 1");
        }
    }
}

#[test]
fn the_same_number_gives_the_same_run() {
    for number in 0..3 {
        let plan = Plan::default();
        assert_eq!(run(number, &plan).unwrap(), run(number, &plan).unwrap());
    }
}

/// Runs in which a planted bug must be found.
const RUNS_TO_FIND: u64 = 60;

#[test]
fn every_planted_bug_is_found() {
    let mut missed = Vec::new();
    for bug in Bug::ALL {
        let plan = Plan {
            bug: Some(bug),
            ends: bug.ends(),
            time: Duration::from_hours(24),
            ..Plan::default()
        };
        if (0..RUNS_TO_FIND).all(|number| run(number, &plan).is_ok()) {
            missed.push(bug.name());
        }
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
}
