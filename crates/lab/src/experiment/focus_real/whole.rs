//! The whole way: explore many sites, then collect from those that are taken to hold data files; against crawls of all sites at once.
//!
//! There are two webs. *Real sites*: the statistics site among real ones that have none. *Made and real*: the same with sites that are
//! made anew for each repetition, a tenth of which hold data files, so that there are many to be found. What is not at hand is left out.

use junkai_charts::{Axis, Chart, Format, Grid, Line};
use junkai_focus::explore::Policy;
use junkai_simulation::outcome::{Cell, Claim, Column, Drawing, Figure, GOAL, Table, Verdict};
use rayon::prelude::*;

use super::contestant::Contestant;
use super::site::Site;
use super::tables::{Middle, fetches};
use super::web::{Judged, Member, Run, Way, Web};
use super::{FocusRealExperiment, Material, Meter};
use crate::experiment::words::{count, percent, text};

/// Fetches at which all ways are compared, as parts of all that the web has.
const BUDGETS: [f64; 3] = [0.1, 0.2, 0.4];
/// The budget of the claims.
const BUDGET: usize = 0;
/// Shares of the wanted files.
const SHARES: [f64; 2] = [0.5, 0.9];
/// Points of a curve.
const POINTS: u32 = 100;

/// What is gone through, and how it is called.
const WAYS: [(&str, Way); 7] = [
    (
        "all sites at once, breadth first",
        Way::AllAtOnce(Contestant::BREADTH_FIRST),
    ),
    (
        "all sites at once, random",
        Way::AllAtOnce(Contestant::RANDOM),
    ),
    (
        "all sites at once, tag paths as published",
        Way::AllAtOnce(Contestant::TAG_PATHS),
    ),
    (
        "explored at random, collected by ours",
        explore_first(Policy::Random, Contestant::OURS),
    ),
    (
        "explored by ours, collected breadth first",
        explore_first(Policy::Foresight, Contestant::BREADTH_FIRST),
    ),
    (
        "ours, by links only",
        explore_first(Policy::Foresight, Contestant::BY_LINKS),
    ),
    ("ours", explore_first(Policy::Foresight, Contestant::OURS)),
];
/// Those that ours is held against: what there was before.
const BASELINES: usize = 3;

const fn explore_first(policy: Policy, collect: Contestant) -> Way {
    Way::ExploreFirst { policy, collect }
}

/// A site that was made, with all that it shows.
#[derive(Clone, Debug)]
pub struct MadeSite {
    /// What it is called.
    pub name: String,
    /// The URL of its first page.
    pub home: String,
    /// Whether its data files are of the wanted kind.
    pub holds: bool,
    /// The URLs and bodies of its pages and files.
    pub pages: Vec<(String, Vec<u8>)>,
}

/// Every way through one web.
pub(super) struct Whole {
    name: &'static str,
    key: &'static str,
    /// One for each repetition.
    webs: Vec<Passage>,
}

/// All runs through the web of one repetition.
struct Passage {
    sites: usize,
    holding: Vec<(usize, u32)>,
    files: u32,
    things: u32,
    /// By way.
    runs: Vec<Run>,
}

/// How many runs there will be.
pub(super) fn run_count(material: Material<'_>) -> u64 {
    let webs = u64::from(material.site.is_some()) + u64::from(material.made.is_some());
    webs * WAYS.len() as u64
}

impl Whole {
    /// All webs that there is something at hand for.
    pub(super) fn run(
        material: Material<'_>,
        experiment: &FocusRealExperiment,
        meter: &Meter<'_>,
    ) -> Vec<Whole> {
        let labelled = labelled(material);
        let others = material.others.iter().chain(&labelled);
        let wanted = material.site.into_iter();
        let real: Vec<Member<'_>> = wanted
            .map(|site| Member { site, holds: true })
            .chain(others.map(|site| Member { site, holds: false }))
            .collect();
        let mut wholes = Vec::new();
        if material.site.is_some() {
            let web = Web::new(real.clone());
            let seeds = experiment.seeds().into_par_iter();
            wholes.push(Whole {
                name: "real sites",
                key: "real",
                webs: seeds.map(|seed| Passage::of(&web, seed, meter)).collect(),
            });
        }
        if let Some(make) = material.made {
            // One after the other: each has all pages of its sites in memory.
            let passage = |seed: u64| {
                let made: Vec<(Site, bool)> = make(seed)
                    .into_par_iter()
                    .filter_map(|site| Some((Site::made(&site)?, site.holds)))
                    .collect();
                let made = made.iter().map(|(site, holds)| Member {
                    site,
                    holds: *holds,
                });
                let web = Web::new(made.chain(real.iter().copied()).collect());
                Passage::of(&web, seed, meter)
            };
            wholes.push(Whole {
                name: if real.is_empty() {
                    "made sites"
                } else {
                    "made and real sites"
                },
                key: "made",
                webs: experiment.seeds().map(passage).collect(),
            });
        }
        wholes
    }

    pub(super) fn table(&self) -> Table {
        let mut columns = Column::list([
            ("way", "way"),
            ("explored_fetches", "fetches of exploring"),
            ("sites_taken", "sites taken"),
            ("sites_right", "of them with files"),
        ]);
        for budget in BUDGETS {
            columns.push(Column::at_part(
                "files_per_fetch",
                "files per fetch, ",
                budget,
            ));
        }
        columns.push(Column::at_part(
            "share_of_each_site",
            "share of a site's files, ",
            BUDGETS[BUDGET],
        ));
        for share in SHARES {
            let percent = 100.0 * share;
            columns.push(Column::new(
                format!("fetches_for_{percent:.0}_percent"),
                format!("fetches, {percent:.0} % of files"),
            ));
        }
        columns.extend(Column::list([
            ("files_in_the_end", "files in the end"),
            ("fetches_in_the_end", "fetches in the end"),
        ]));
        Table {
            name: format!("whole-{}", self.key),
            caption: self.caption(),
            columns,
            rows: (0..WAYS.len()).map(|way| self.row(way)).collect(),
        }
    }

    fn caption(&self) -> String {
        let median = |value: fn(&Passage) -> f64| self.median(value).unwrap_or(0.0);
        format!(
            "{}: {:.0} sites, {:.0} of them with {:.0} wanted data files, {:.0} pages and files in all. Data files per fetch when so many fetches were \
             made, as a part of all that there is to fetch, those of exploring included; the mean over sites with data of the share of a site's files \
             that was had by then; and what a half and nine tenths of all wanted files took. Medians over repetitions; a dash: never. Who collects only \
             from some sites stops when these have nothing left.",
            self.name,
            median(|web| web.sites as f64),
            median(|web| web.holding.len() as f64),
            median(|web| web.files.into()),
            median(|web| web.things.into()),
        )
    }

    fn row(&self, way: usize) -> Vec<Cell> {
        let judged = |value: fn(Judged) -> u32| {
            let values: Option<Vec<f64>> = self
                .webs
                .iter()
                .map(|web| web.runs[way].judged.map(|judged| value(judged).into()))
                .collect();
            fetches(values.and_then(Middle::of).map(|middle| middle.median))
        };
        let mut row = vec![
            text(WAYS[way].0),
            judged(|judged| judged.fetches),
            judged(|judged| judged.taken),
            judged(|judged| judged.right),
        ];
        for budget in 0..BUDGETS.len() {
            row.push(Cell::share(self.median(|web| web.rate(way, budget))));
        }
        row.push(Cell::share(
            self.median(|web| web.share_of_each(way, BUDGET)),
        ));
        for share in SHARES {
            let reached: Option<Vec<f64>> = self
                .webs
                .iter()
                .map(|web| web.fetches_for(way, share))
                .collect();
            row.push(fetches(
                reached.and_then(Middle::of).map(|middle| middle.median),
            ));
        }
        let end = self.median(|web| web.share_at(way, u32::MAX));
        row.push(end.map_or(Cell::None, Cell::Part));
        row.push(fetches(self.median(|web| web.runs[way].fetches.into())));
        row
    }

    fn median(&self, value: impl Fn(&Passage) -> f64) -> Option<f64> {
        Middle::of(self.webs.iter().map(value)).map(|middle| middle.median)
    }

    pub(super) fn figure(&self) -> Option<Figure> {
        let web = self.webs.first()?;
        let chart = |title: &str, value: &dyn Fn(usize, u32) -> f64| {
            let x = Axis::linear("fetches").min(0.0);
            let y = Axis::linear("data files")
                .min(0.0)
                .max(1.0)
                .format(Format::Share);
            let mut chart = Chart::new(title, x, y);
            for (way, (name, _)) in WAYS.iter().enumerate() {
                let last = web.runs[way].fetches;
                let points = (0..=POINTS).map(|point| {
                    let at = u32::try_from(u64::from(last) * u64::from(point) / u64::from(POINTS));
                    at.unwrap_or(last)
                });
                let points = points.map(|at| (f64::from(at), value(way, at)));
                chart = chart.line(Line::new(*name, points).slot(way));
            }
            chart
        };
        let grid = Grid::new(format!("The whole way: {}", self.name))
            .columns(2)
            .chart(chart("share of all wanted files", &|way, at| {
                web.share_at(way, at)
            }))
            .chart(chart(
                "share of a site's files, mean over sites",
                &|way, at| web.share_of_each_at(way, at),
            ));
        Some(Figure {
            name: format!("whole-{}", self.key),
            caption: format!(
                "{}: the share of all wanted data files, and the mean over sites with data of the share of their files, by all fetches; the first \
                 repetition.",
                self.name
            ),
            chart: Drawing::Many(Box::new(grid)),
        })
    }

    /// At the budget, against each baseline: repetition by repetition.
    pub(super) fn claims(&self) -> Vec<Claim> {
        let ours = WAYS.len() - 1;
        let against = |rival: usize| {
            let kept = self
                .webs
                .iter()
                .filter(|web| web.rate(rival, BUDGET) < web.rate(ours, BUDGET));
            let rate = |way| self.median(|web| web.rate(way, BUDGET));
            Some(Claim {
                source: GOAL.to_owned(),
                claim: format!(
                    "more data files per fetch than {}, after {} of all fetches",
                    WAYS[rival].0,
                    percent(BUDGETS[BUDGET])
                ),
                graph: self.name.to_owned(),
                measured: format!("{:.3} against {:.3}", rate(ours)?, rate(rival)?),
                verdict: Verdict::of_comparisons(kept.count(), self.webs.len())?,
            })
        };
        (0..BASELINES).filter_map(against).collect()
    }

    pub(super) fn finding(&self) -> Option<String> {
        let ours = WAYS.len() - 1;
        let rate = |way| self.median(|web| web.rate(way, BUDGET));
        let best = (0..BASELINES).max_by(|one, two| {
            let (one, two) = (rate(*one), rate(*two));
            one.unwrap_or(0.0).total_cmp(&two.unwrap_or(0.0))
        })?;
        let budget = self.median(|web| web.budget(BUDGET).into())?;
        let found: f64 = self.median(|web| {
            let right = web.runs[ours].judged.map_or(0, |judged| judged.right);
            f64::from(right) / web.holding.len().max(1) as f64
        })?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count"
        )]
        let budget = count(budget as u64);
        Some(format!(
            "The whole way, {}: after {budget} fetches ours has {:.3} data files per fetch; the best of the others, {}, has {:.3}. Ours finds {} of the sites with data, and has {} of all wanted files in the end.",
            self.name,
            rate(ours)?,
            WAYS[best].0,
            rate(best)?,
            percent(found),
            percent(self.median(|web| web.share_at(ours, u32::MAX))?),
        ))
    }
}

impl Passage {
    fn of(web: &Web<'_>, seed: u64, meter: &Meter<'_>) -> Passage {
        let run = |(_, way): &(&str, Way)| {
            let run = web.run(*way, seed);
            meter.add(1);
            run
        };
        let holding = web.holding();
        Passage {
            sites: web.site_count(),
            holding: holding
                .map(|(place, member)| (place, member.site.file_count()))
                .collect(),
            files: web.file_count(),
            things: web.thing_count(),
            runs: WAYS.par_iter().map(run).collect(),
        }
    }

    fn budget(&self, budget: usize) -> u32 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a part of a count"
        )]
        let fetches = (BUDGETS[budget] * f64::from(self.things)) as u32;
        fetches.max(1)
    }

    /// Wanted files that were had with so many fetches.
    fn files_at(&self, way: usize, fetches: u32) -> usize {
        let arrivals = &self.runs[way].arrivals;
        arrivals.partition_point(|(at, _)| *at <= fetches)
    }

    fn rate(&self, way: usize, budget: usize) -> f64 {
        let fetches = self.budget(budget);
        self.files_at(way, fetches) as f64 / f64::from(fetches)
    }

    fn share_at(&self, way: usize, fetches: u32) -> f64 {
        self.files_at(way, fetches) as f64 / f64::from(self.files.max(1))
    }

    fn share_of_each(&self, way: usize, budget: usize) -> f64 {
        self.share_of_each_at(way, self.budget(budget))
    }

    /// The mean over sites with data of the share of their files.
    fn share_of_each_at(&self, way: usize, fetches: u32) -> f64 {
        let had = &self.runs[way].arrivals[..self.files_at(way, fetches)];
        let share = |(place, files): &(usize, u32)| {
            let had = had.iter().filter(|(_, site)| site == place).count();
            had as f64 / f64::from((*files).max(1))
        };
        self.holding.iter().map(share).sum::<f64>() / self.holding.len().max(1) as f64
    }

    fn fetches_for(&self, way: usize, share: f64) -> Option<f64> {
        let arrivals = self.runs[way].arrivals.iter();
        let mut reached = arrivals
            .zip(1..)
            .filter(|(_, files)| share * f64::from(self.files) <= f64::from(*files));
        reached.next().map(|((at, _), _)| f64::from(*at))
    }
}

/// The sites of the labelled pages, none of which has wanted files.
fn labelled(material: Material<'_>) -> Vec<Site> {
    let sites = material.pages.map_or(&[][..], |pages| &pages.sites);
    let sites = sites.par_iter();
    sites
        .filter_map(|site| Site::of_pages(&site.name, &site.pages))
        .collect()
}
