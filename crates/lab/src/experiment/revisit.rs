//! Tamura and Kitsuregawa (2007) and ours: when to come back, at equal visits, on real histories and on simulated pages.
//!
//! Every policy visits the same number of pages each day (`revisit::daily`); beside them stands our live rule, which is told the budget
//! and plans each visit by itself (`revisit::live`). A history is replayed with visits at several hours of the day, a simulated population
//! is drawn anew each time: all means are over these repetitions.
//!
//! Histories are taken without bulk rebuilds unless the caller leaves them in: what a machine does to all pages at once says
//! nothing of how pages change. Pages that are added are visited at once, by all alike, outside of the budget; a page that was deleted costs
//! one visit to learn of it.

mod claims;
mod closed_loop;
mod draw;
mod mean;
mod signalled;
mod tables;

use std::time::Duration;

use junkai_graph::history::{Bursts, GeneratorConfig, HistoryError, generate};
use junkai_simulation::outcome::{Outcome, Parameter};
use mean::Mean;
use rayon::prelude::*;

use super::words::{count, parameter};
use super::{Progress, Watch};
use crate::revisit::daily::{Pace, WARM_UP, replay};
use crate::revisit::{ChangingWeb, Contestant, Setting, Tally, predict};

/// The settings of the experiment.
#[derive(Clone, Debug)]
pub struct RevisitExperiment {
    /// Visits a day, as shares of the pages that are there. Default 0.5, 2 and 5 %.
    pub shares: Vec<f64>,
    /// Repetitions. Default 10.
    pub repetitions: u32,
    /// Pages of the simulated populations. Default 2000.
    pub pages: u32,
    /// Days that these live. Default three years.
    pub days: u32,
    /// Where chance begins. Default 1.
    pub seed: u64,
    /// The command that repeats it, as it is to be printed. Default none.
    pub command: String,
}

impl Default for RevisitExperiment {
    fn default() -> RevisitExperiment {
        RevisitExperiment {
            shares: vec![0.005, 0.02, 0.05],
            repetitions: 10,
            pages: 2000,
            days: 3 * 365,
            seed: 1,
            command: String::new(),
        }
    }
}

/// What was tuned, and on what.
const CHOSEN: &str = "the time of forgetting, 6000 days among 4000, 6000 and 8000, by the versions captured of vimdoc-ja and curl-www at 0.5 % visits a day: \
                      for it, the other webs are held out. The form of the filter was found with openbsd-www in view too";

/// Runs it on the histories, and on two simulated populations: pages that change at any moment alike, and in bursts.
pub fn run(
    webs: Vec<ChangingWeb>,
    experiment: &RevisitExperiment,
    watch: Watch<'_>,
) -> Result<Outcome, HistoryError> {
    let mut subjects: Vec<Subject> = webs.into_iter().map(Subject::of_history).collect();
    for (name, bursts) in POPULATIONS {
        subjects.push(Subject::simulated(name, bursts, experiment)?);
    }
    let results = Results {
        trials: trials(&subjects, experiment, watch),
        loops: closed_loop::run(&subjects),
        hearing: signalled::run(experiment),
        subjects,
        experiment,
    };
    Ok(Outcome {
        name: "revisit".to_owned(),
        title: "When to come back: policies at equal visits".to_owned(),
        command: experiment.command.clone(),
        parameters: results.parameters(),
        findings: results.findings(),
        claims: results.claims(),
        tables: results.tables(),
        figures: results.figures(),
    })
}

const POPULATIONS: [(&str, Option<Bursts>); 2] = [
    ("simulated, Poisson", None),
    (
        "simulated, in bursts",
        Some(Bursts {
            changes_mean: 3.0,
            gap: Duration::from_hours(24),
        }),
    ),
];

/// What is visited: the same web each time, or one drawn anew.
struct Subject {
    name: String,
    webs: Vec<ChangingWeb>,
}

impl Subject {
    fn of_history(web: ChangingWeb) -> Subject {
        Subject {
            name: web.history.name().to_owned(),
            webs: vec![web],
        }
    }

    fn simulated(
        name: &str,
        bursts: Option<Bursts>,
        experiment: &RevisitExperiment,
    ) -> Result<Subject, HistoryError> {
        let config = GeneratorConfig {
            pages: experiment.pages,
            span: Duration::from_hours(24 * u64::from(experiment.days)),
            bursts,
            ..GeneratorConfig::default()
        };
        let seeds = (0..u64::from(experiment.repetitions)).map(|one| experiment.seed + one);
        let webs = seeds.map(|seed| Ok(ChangingWeb::new(generate(&config, seed)?.history)));
        Ok(Subject {
            name: name.to_owned(),
            webs: webs.collect::<Result<_, HistoryError>>()?,
        })
    }

    /// The web of a repetition.
    fn web(&self, repetition: u32) -> &ChangingWeb {
        &self.webs[repetition as usize % self.webs.len()]
    }
}

/// Who competes in a row of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Player {
    /// A policy at exactly equal visits.
    Daily(Contestant),
    /// Our live rule, with a budget to keep.
    Live,
}

impl Player {
    const OURS: Player = Player::Daily(Contestant::Index);
    const PAPER: Player = Player::Daily(Contestant::IntervalGeometricMean);
    const UNIFORM: Player = Player::Daily(Contestant::Uniform);

    fn all() -> Vec<Player> {
        let mut players: Vec<Player> = Contestant::ALL.map(Player::Daily).into();
        players.push(Player::Live);
        players
    }

    fn name(self) -> String {
        match self {
            Player::Daily(contestant) => contestant.to_string(),
            Player::Live => "index, live".to_owned(),
        }
    }
}

/// What came of one player at one budget: a tally for each repetition.
struct Trial {
    subject: usize,
    share: f64,
    player: Player,
    tallies: Vec<Tally>,
}

impl Trial {
    fn mean(&self, of: impl Fn(&Tally) -> f64) -> Mean {
        self.tallies.iter().map(of).collect()
    }
}

fn trials(subjects: &[Subject], experiment: &RevisitExperiment, watch: Watch<'_>) -> Vec<Trial> {
    let players = Player::all();
    let mut plan = Vec::new();
    for subject in 0..subjects.len() {
        for &share in &experiment.shares {
            plan.extend(players.iter().map(|&player| (subject, share, player)));
        }
    }
    let repetitions = experiment.repetitions;
    let total = plan.len() as u64 * u64::from(repetitions);
    let done = std::sync::atomic::AtomicU64::new(0);
    plan.into_par_iter()
        .map(|(subject, share, player)| {
            let tally = |repetition| {
                let tally = play(&subjects[subject], player, share, repetition, experiment);
                let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
                watch(Progress { done, total });
                tally
            };
            Trial {
                subject,
                share,
                player,
                tallies: (0..repetitions).into_par_iter().map(tally).collect(),
            }
        })
        .collect()
}

fn play(
    subject: &Subject,
    player: Player,
    share: f64,
    repetition: u32,
    experiment: &RevisitExperiment,
) -> Tally {
    let web = subject.web(repetition);
    match player {
        Player::Daily(contestant) => {
            let hour = Duration::from_hours(24) * repetition / experiment.repetitions.max(1);
            replay(web, contestant, Pace { share, hour })
        }
        Player::Live => {
            let mut revisit = Contestant::Index.config();
            // As for the others: one visit that finds a page gone is enough.
            revisit.gone_visits_max = 1;
            revisit.gone_time_min = Duration::ZERO;
            let setting = Setting {
                visits_a_day_share: Some(share),
                resolution: Duration::from_mins(1),
                warm_up: WARM_UP,
                seed: experiment.seed + u64::from(repetition),
                ..Setting::new(revisit)
            };
            predict(web, &setting).tally
        }
    }
}

/// All that came of the experiment.
struct Results<'a> {
    subjects: Vec<Subject>,
    trials: Vec<Trial>,
    loops: Vec<closed_loop::Loop>,
    hearing: Vec<signalled::Heard>,
    experiment: &'a RevisitExperiment,
}

impl Results<'_> {
    fn trial(&self, subject: usize, share: f64, player: Player) -> Option<&Trial> {
        self.trials.iter().find(|trial| {
            let is_share = (trial.share - share).abs() < f64::EPSILON;
            trial.subject == subject && is_share && trial.player == player
        })
    }

    /// How far the share of versions that one player captures is ahead of another's, repetition by repetition.
    fn margin(&self, subject: usize, share: f64, ahead: Player, of: Player) -> Option<Mean> {
        let ahead = self.trial(subject, share, ahead)?;
        let of = self.trial(subject, share, of)?;
        let pairs = ahead.tallies.iter().zip(&of.tallies);
        Some(
            pairs
                .map(|(one, other)| one.capture() - other.capture())
                .collect(),
        )
    }

    fn parameters(&self) -> Vec<Parameter> {
        let experiment = self.experiment;
        let histories = self.subjects.iter().map(|subject| {
            let web = subject.web(0);
            let days = web.until().since(web.from()).as_secs() / 86_400;
            format!(
                "{}: {} pages, {} modifications, {} days",
                subject.name,
                count(web.history.page_count().into()),
                count(web.versions_after(web.from())),
                count(days)
            )
        });
        vec![
            parameter("webs", histories.collect::<Vec<_>>().join("; ")),
            parameter(
                "repetitions",
                format!(
                    "{}: histories with visits at as many hours of the day, populations drawn with as many seeds from {} on",
                    experiment.repetitions, experiment.seed
                ),
            ),
            parameter(
                "protocol",
                "visits once a day, to the most urgent pages, as many as the share says of those that are there; the live rule visits at \
                 any minute; pages that are added are visited at once, outside of the budget; a page that was deleted costs one \
                 visit; the first 90 days are not counted",
            ),
            parameter("chosen beforehand", CHOSEN),
        ]
    }
}
