//! Tamura and Kitsuregawa (2007): what known pages ask of their servers, which servers cannot bear it, and what each relief costs.
//!
//! A population of servers is simulated, a small copy of the paper's 3.2 million; archives bring their own. Relief is tried on one
//! overloaded server, whose pages are revisited for years by the planner that crawls: what was lost is measured, not computed.

mod draw;
mod population;
mod relieved;

use std::path::Path;

use junkai_graph::history::HistoryError;
use junkai_revisit::{ReliefKind, RevisitConfig, ServerReport};
use junkai_simulation::outcome::{Cell, Claim, Column, GOAL, Outcome, Parameter, Table, Verdict};
use junkai_simulation::what_if::LogError;
use relieved::Relieved;

use super::words::{count, parameter, percent, share, text};
use crate::revisit::logged;

/// The settings of the experiment.
#[derive(Clone, Debug)]
pub struct ServersExperiment {
    /// Servers of the simulated population. Default 5000.
    pub servers: u32,
    /// Pages of the overloaded server. Default 2000.
    pub pages: u32,
    /// Days that it is visited. Default three years.
    pub days: u32,
    /// Where chance begins. Default 1.
    pub seed: u64,
    /// The command that repeats it, as it is to be printed. Default none.
    pub command: String,
}

impl Default for ServersExperiment {
    fn default() -> ServersExperiment {
        ServersExperiment {
            servers: 5000,
            pages: 2000,
            days: 3 * 365,
            seed: 1,
            command: String::new(),
        }
    }
}

/// Servers that are known: simulated, or an archive's.
#[derive(Clone, Debug)]
pub struct Known {
    /// What they are called together.
    pub name: String,
    /// Each of them.
    pub servers: Vec<ServerReport>,
}

impl Known {
    /// The servers of an archive, as its log of visits tells of them.
    pub fn of_archive(archive: &Path) -> Result<Known, LogError> {
        let logged = logged::read(archive, &RevisitConfig::default())?;
        Ok(Known {
            name: archive.display().to_string(),
            servers: logged.planner.servers().reports().collect(),
        })
    }
}

/// Runs it: on the simulated population, and on the servers of archives.
pub fn run(archives: Vec<Known>, experiment: &ServersExperiment) -> Result<Outcome, HistoryError> {
    let mut known = vec![Known {
        name: "simulated".to_owned(),
        servers: population::draw(experiment),
    }];
    known.extend(archives);
    let results = Results {
        known,
        relieved: relieved::run(experiment)?,
        experiment,
    };
    Ok(Outcome {
        name: "servers".to_owned(),
        title: "What known pages ask of their servers".to_owned(),
        command: experiment.command.clone(),
        parameters: results.parameters(),
        findings: results.findings(),
        claims: results.claims(),
        tables: vec![results.summary(), results.reliefs()],
        figures: results.figures(),
    })
}

struct Results<'a> {
    known: Vec<Known>,
    relieved: Vec<Relieved>,
    experiment: &'a ServersExperiment,
}

impl Results<'_> {
    fn parameters(&self) -> Vec<Parameter> {
        let experiment = self.experiment;
        vec![
            parameter(
                "servers of the population",
                count(experiment.servers.into()),
            ),
            parameter(
                "pages of a server",
                format!("a power law with mean {:.0}", population::PAGES_MEAN),
            ),
            parameter(
                "time of a fetch",
                format!(
                    "log-normal over servers, mean {} s",
                    population::FETCH_SECONDS_MEAN
                ),
            ),
            parameter(
                "populations that are judged",
                format!("of {} servers and more", count(SERVERS_JUDGED_MIN as u64)),
            ),
            parameter(
                "servers per visit in flight",
                format!("{:.0}", population::SERVERS_PER_VISIT),
            ),
            parameter(
                "the overloaded server",
                format!(
                    "{} pages, {} days",
                    count(experiment.pages.into()),
                    count(experiment.days.into())
                ),
            ),
            parameter("seed", experiment.seed.to_string()),
        ]
    }

    fn summary(&self) -> Table {
        let rows = self.known.iter().map(|known| {
            let part = |is: &dyn Fn(&ServerReport) -> bool| {
                let those = known.servers.iter().filter(|one| is(one)).count();
                Cell::Part(those as f64 / known.servers.len().max(1) as f64)
            };
            vec![
                text(&known.name),
                Cell::Count(known.servers.len() as u64),
                Cell::Share(mean(&known.servers, |one| one.pages as f64)),
                Cell::Seconds(mean(&known.servers, |one| one.fetch_mean.as_secs_f64())),
                part(&|one| 1.0 / 60.0 <= one.load),
                part(&|one| !one.is_feasible()),
                part(&|one| one.ratio().is_some_and(|ratio| ratio < 1.0)),
                part(&ServerReport::is_overloaded),
            ]
        });
        Table {
            name: "servers".to_owned(),
            caption: "Servers, their pages and fetches on average, and which share of them asks for a visit a minute or more, does not meet the paper's condition \
                      R ≥ S/C, cannot be kept up with by any number of connections (R < 1), and asks for more than its share of visits at its pace."
                .to_owned(),
            columns: Column::list([
                ("population", "population"),
                ("servers", "servers"),
                ("pages_mean", "pages each"),
                ("fetch_mean_seconds", "a fetch"),
                ("each_minute_share", "a visit a minute"),
                ("infeasible_share", "R < S/C"),
                ("impossible_share", "R < 1"),
                ("overloaded_share", "overloaded"),
            ]),
            rows: rows.collect(),
        }
    }

    fn reliefs(&self) -> Table {
        let rows = self.relieved.iter().map(|one| {
            vec![
                Cell::Share(one.overload),
                text(one.name()),
                Cell::Share(one.load_ratio()),
                Cell::Count(one.tally.visits()),
                Cell::Share(one.tally.capture()),
                Cell::Share(one.tally.freshness()),
                Cell::Difference(one.capture_lost),
                Cell::Difference(one.freshness_lost),
                Cell::Count(one.versions_lost_expected),
            ]
        });
        Table {
            name: "relief".to_owned(),
            caption: "A server whose pages ask for this many times what it can bear, by each relief: load at the end as a share of what it can bear, visits, the \
                      share of versions captured and of time current, what of both was lost, and how many versions the planner itself expects to have lost."
                .to_owned(),
            columns: Column::list([
                ("overload", "overload"),
                ("relief", "relief"),
                ("load_of_capacity", "load"),
                ("visits", "visits"),
                ("captured_share", "captured"),
                ("current_share", "current"),
                ("captured_share_lost", "captured, lost"),
                ("current_share_lost", "current, lost"),
                ("versions_lost_expected", "versions lost, expected"),
            ]),
            rows: rows.collect(),
        }
    }

    fn claims(&self) -> Vec<Claim> {
        let mut claims = Vec::new();
        let is_judged = |known: &&Known| SERVERS_JUDGED_MIN <= known.servers.len();
        for known in self.known.iter().filter(is_judged) {
            let overloaded = known
                .servers
                .iter()
                .filter(|one| !one.is_feasible())
                .count();
            let part = overloaded as f64 / known.servers.len().max(1) as f64;
            claims.push(Claim {
                source: "Tamura and Kitsuregawa (2007), figure 7".to_owned(),
                claim: "less than one server in a hundred is overloaded (R < S/C)".to_owned(),
                graph: known.name.clone(),
                measured: format!(
                    "{} of {} servers",
                    percent(part),
                    count(known.servers.len() as u64)
                ),
                verdict: if part < 0.01 {
                    Verdict::Holds
                } else {
                    Verdict::Fails
                },
            });
        }
        let relieved: Vec<&Relieved> = self
            .relieved
            .iter()
            .filter(|one| one.kind.is_some())
            .collect();
        let kept = relieved
            .iter()
            .filter(|one| one.load_ratio() <= LOAD_RATIO_MAX)
            .count();
        let worst = relieved
            .iter()
            .map(|one| one.load_ratio())
            .fold(0.0, f64::max);
        claims.extend(
            Verdict::of_comparisons(kept, relieved.len()).map(|verdict| Claim {
                source: GOAL.to_owned(),
                claim: "every relief brings the load down to what the server can bear".to_owned(),
                graph: "one overloaded server".to_owned(),
                measured: format!("at most {} of it", share(worst)),
                verdict,
            }),
        );
        claims
    }

    fn findings(&self) -> Vec<String> {
        let of = |overload: f64, kind: ReliefKind| {
            let is_it = |one: &&Relieved| {
                one.kind == Some(kind) && (one.overload - overload).abs() < f64::EPSILON
            };
            self.relieved.iter().find(is_it)
        };
        relieved::OVERLOADS
            .into_iter()
            .filter_map(|overload| {
                let (stretch, delay) = (of(overload, ReliefKind::Stretch)?, of(overload, ReliefKind::Delay)?);
                Some(format!(
                    "At {overload:.0} times what a server can bear, stretching all intervals captures {} of the versions and keeps {} current; a delay for \
                     all captures {} and keeps {} current.",
                    share(stretch.tally.capture()),
                    share(stretch.tally.freshness()),
                    share(delay.tally.capture()),
                    share(delay.tally.freshness()),
                ))
            })
            .collect()
    }
}

/// Of fewer servers it cannot be told whether one in a hundred is overloaded: chance alone makes it none or several.
const SERVERS_JUDGED_MIN: usize = 1000;

/// Load that counts as borne: the pressure moves with every visit, and so never stands still.
const LOAD_RATIO_MAX: f64 = 1.05;

fn mean(servers: &[ServerReport], of: impl Fn(&ServerReport) -> f64) -> f64 {
    servers.iter().map(of).sum::<f64>() / servers.len().max(1) as f64
}
