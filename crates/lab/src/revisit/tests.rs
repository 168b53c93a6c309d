//! Small webs whose visits can be counted by hand, and populations whose best policy is known.

use std::time::Duration;

use junkai_graph::history::{EventKind, GeneratorConfig, MeanGaps, generate};

use super::daily::{Pace, replay};
use super::signals::{Hearing, Signalling, freshness};
use super::{ChangingWeb, Contestant, Setting, Tally, predict};

const DAY: Duration = Duration::from_hours(24);

fn web(pages: u32, mean_gaps: MeanGaps, days: u32) -> ChangingWeb {
    let config = GeneratorConfig {
        pages,
        span: days * DAY,
        mean_gaps,
        ..GeneratorConfig::default()
    };
    ChangingWeb::new(generate(&config, 5).unwrap().history)
}

fn mixed() -> ChangingWeb {
    let gaps = MeanGaps::LogUniform {
        least: 2 * DAY,
        most: 400 * DAY,
    };
    web(300, gaps, 500)
}

#[test]
fn all_policies_make_the_same_visits() {
    let web = mixed();
    let pace = Pace {
        share: 0.02,
        hour: Duration::ZERO,
    };
    let tallies = Contestant::ALL.map(|contestant| replay(&web, contestant, pace));
    let visits: Vec<u64> = tallies.iter().map(Tally::visits).collect();
    assert!(visits.iter().all(|count| *count == visits[0]), "{visits:?}");
    // Six a day, on the days after the first ninety.
    let days = web.until().since(web.from()).as_secs() / 86_400 - 90;
    assert!(
        visits[0].abs_diff(6 * days) <= 6,
        "{} in {days} days",
        visits[0]
    );
}

#[test]
fn our_index_is_between_uniform_visits_and_hindsight() {
    let web = mixed();
    let capture = |contestant| {
        let pace = Pace {
            share: 0.03,
            hour: Duration::ZERO,
        };
        replay(&web, contestant, pace).capture()
    };
    let (uniform, ours, best) = (
        capture(Contestant::Uniform),
        capture(Contestant::Index),
        capture(Contestant::Hindsight),
    );
    assert!(uniform < ours && ours < best, "{uniform} {ours} {best}");
}

#[test]
fn a_visit_every_day_captures_all_but_the_changes_of_one_day() {
    // Changes once in 50 days: two in one day are rare.
    let web = web(50, MeanGaps::Equal(50 * DAY), 400);
    let pace = Pace {
        share: 1.0,
        hour: Duration::ZERO,
    };
    let tally = replay(&web, Contestant::Uniform, pace);
    assert!(0.97 < tally.capture(), "{}", tally.capture());
    assert!(0.97 < tally.freshness(), "{}", tally.freshness());
}

#[test]
fn the_live_rule_without_a_budget_finds_the_interval_of_the_theory() {
    // At one visit per expected change, 1 − 1/e of the versions are captured.
    let web = web(200, MeanGaps::Equal(10 * DAY), 2000);
    let tally = predict(&web, &Setting::new(Contestant::Index.config())).tally;
    let theory = 1.0 - (-1.0_f64).exp();
    assert!(
        (tally.capture() - theory).abs() < 0.05,
        "{}",
        tally.capture()
    );
    assert!(
        (tally.per_visit() - theory).abs() < 0.05,
        "{}",
        tally.per_visit()
    );
}

#[test]
fn the_live_rule_keeps_its_budget_and_repeats_itself() {
    let web = mixed();
    let setting = Setting {
        visits_a_day_share: Some(0.05),
        warm_up: 200 * DAY,
        ..Setting::new(Contestant::Index.config())
    };
    let prediction = predict(&web, &setting);
    let allowed = 0.05 * 300.0 * 300.0;
    let visits = prediction.tally.visits() as f64;
    assert!(
        (visits / allowed - 1.0).abs() < 0.1,
        "{visits} of {allowed}"
    );
    assert_eq!(prediction, predict(&web, &setting));
    let of_pages: u64 = prediction
        .pages
        .iter()
        .map(|page| u64::from(page.visits()))
        .sum();
    assert_eq!(of_pages, prediction.tally.visits());
}

#[test]
fn a_page_that_dies_is_given_up() {
    let config = GeneratorConfig {
        pages: 40,
        span: 600 * DAY,
        mean_gaps: MeanGaps::Equal(5 * DAY),
        lifetime: Some(60 * DAY),
        ..GeneratorConfig::default()
    };
    let web = ChangingWeb::new(generate(&config, 9).unwrap().history);
    let prediction = predict(&web, &Setting::new(Contestant::Index.config()));
    let mut long_dead = 0;
    for (page, tally) in web.history.pages().zip(&prediction.pages) {
        assert!(tally.gone <= 8, "{} visits to a dead page", tally.gone);
        let is_long_dead = web.history.events(page).last().is_some_and(|last| {
            last.kind == EventKind::Deleted && 200 * DAY < web.until().since(last.at)
        });
        if is_long_dead {
            long_dead += 1;
            assert_eq!(tally.interval, None, "page {page} is still visited");
        }
    }
    assert!(0 < long_dead);
}

#[test]
fn signals_that_lie_are_not_believed() {
    let signalling = Signalling {
        pages: 100,
        visits_per_change: 0.3,
        days: 100.0,
        signalled: 1.0,
        recall: 0.9,
        precision: 0.2,
        seed: 1,
    };
    let (deaf, naive, measured) = (
        freshness(&signalling, Hearing::Deaf),
        freshness(&signalling, Hearing::Naive),
        freshness(&signalling, Hearing::Measured),
    );
    assert!(naive < deaf && deaf < measured, "{naive} {deaf} {measured}");
}
