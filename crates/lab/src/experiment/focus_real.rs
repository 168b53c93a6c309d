//! How soon a site's data files are found: ours against plain orders and a published bandit, on a real statistics site and on generated
//! ones.
//!
//! *Harvest*: the real site (`read`), if it is at hand, is collected from by every order, from its first page to its last file.
//! *Templates*: the same on generated sites of eighteen templates (`generated`). *Experience*: a row of such sites, collected from one
//! after the other, with what was learned carried along and without. *Exploring*: real sites with labels (`labelled`), judged by a model
//! that has learned from others, in the order of each policy. *The whole way*: the real site among these (`whole`).
//!
//! The collector is the one that crawls (`junkai_focus::collect`). Fetches are counted in two ways: all of them, and those that bring no
//! data file. Data files have to be fetched by every order, so only the second kind can be saved.
//!
//! SB-CLASSIFIER (Gauquier, Manolescu and Senellart, 2026) is `tag-paths`; departures are told in `junkai_focus::collect`.

mod chance;
mod claims;
mod draw;
mod generated;
mod harvest;
mod labelled;
mod site;
mod tables;
mod unpack;
mod whole;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use junkai_focus::collect::{Experience, Order, Settings};
use junkai_focus::explore::Policy;
use rayon::prelude::*;

use self::chance::Chance;
use self::harvest::{Harvest, harvest, knowing};
pub use self::labelled::{LabelledPages, read_labelled};
use self::labelled::{POLICIES, Quality};
pub use self::site::Site;
pub use self::unpack::UnpackError;
use self::whole::{Run, Web};
use super::words::{count, parameter};
use super::{Progress, Watch};
use crate::outcome::{Outcome, Parameter};

/// The settings of the experiment.
#[derive(Clone, Debug)]
pub struct FocusRealExperiment {
    /// Times that every order is run on every site. Default 10.
    pub repetitions: u32,
    /// Pages of a generated site, about. Default 1000.
    pub pages: u32,
    /// What chance is drawn from. Default 1.
    pub seed: u64,
    /// The command that repeats it, as it is to be printed. Default none.
    pub command: String,
}

impl Default for FocusRealExperiment {
    fn default() -> FocusRealExperiment {
        FocusRealExperiment {
            repetitions: 10,
            pages: 1000,
            seed: 1,
            command: String::new(),
        }
    }
}

/// A way to collect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Contestant {
    name: &'static str,
    order: Order,
    guesses: bool,
}

impl Contestant {
    const fn new(name: &'static str, order: Order) -> Contestant {
        Contestant {
            name,
            order,
            guesses: false,
        }
    }

    const BREADTH_FIRST: Contestant = Contestant::new("breadth first", Order::BreadthFirst);
    const TAG_PATHS: Contestant = Contestant::new("tag paths, as published", Order::TagPaths);
    const FOLLOWING: Contestant = Contestant::new("ours, without guesses", Order::Learned);
    const OURS: Contestant = Contestant {
        name: "ours",
        order: Order::Learned,
        guesses: true,
    };

    const ALL: [Contestant; 6] = [
        Contestant::BREADTH_FIRST,
        Contestant::new("depth first", Order::DepthFirst),
        Contestant::new("random", Order::Random),
        Contestant::TAG_PATHS,
        Contestant::FOLLOWING,
        Contestant::OURS,
    ];

    fn settings(self) -> Settings {
        Settings {
            order: self.order,
            guesses: self.guesses,
            ..Settings::default()
        }
    }
}

/// Reads a site as it was at the beginning of a history with all bytes: an archive with `manifest.tsv` and `objects/`.
///
/// # Errors
/// If the archive cannot be read, or holds no such site.
pub fn read(path: &Path) -> Result<Site, UnpackError> {
    let files = unpack::unpack(path)?;
    let name = path
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let name = name.split('.').next().unwrap_or_default().to_owned();
    let manifest = files
        .get("manifest.tsv")
        .map(|bytes| String::from_utf8_lossy(bytes));
    let mut pages = BTreeMap::new();
    for line in manifest.iter().flat_map(|manifest| manifest.lines()) {
        // Time, operation, path, object, bytes; the operation `B` names what was there at the beginning.
        let columns: Vec<&str> = line.split('\t').collect();
        if let [_, "B", path, object, _] = columns[..]
            && let Some((folder, rest)) = object.split_at_checked(2)
        {
            // Of some files the archive has the name alone, which is all that is needed of a data file.
            let body = files.get(&format!("objects/{folder}/{rest}"));
            pages.insert(path.to_owned(), body.cloned().unwrap_or_default());
        }
    }
    Site::read(&name, &pages).ok_or_else(|| unpack::without_site(path))
}

/// What is real in an experiment, as far as it is at hand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Material<'a> {
    /// A site with data files.
    pub site: Option<&'a Site>,
    /// Pages with labels.
    pub pages: Option<&'a LabelledPages>,
}

/// Runs it, with what is at hand.
#[must_use]
pub fn run(material: Material<'_>, experiment: &FocusRealExperiment, watch: Watch<'_>) -> Outcome {
    let repetitions = u64::from(experiment.repetitions);
    let contestants = Contestant::ALL.len() as u64;
    let templates = u64::from(generated::TEMPLATES);
    let real = if material.site.is_some() {
        contestants * repetitions
    } else {
        0
    };
    let explored = if material.pages.is_some() {
        POLICIES.len() as u64
    } else {
        0
    };
    let meter = Meter {
        done: AtomicU64::new(0),
        total: real
            + templates * contestants * repetitions
            + 2 * templates * repetitions
            + explored,
        watch,
    };
    let results = Results {
        experiment,
        real: material
            .site
            .map(|site| Trial::run(site, experiment, &meter)),
        templates: (0..generated::TEMPLATES)
            .map(|template| Trial::of_template(template, experiment, &meter))
            .collect(),
        carried: carried(experiment, &meter),
        explored: material
            .pages
            .and_then(|pages| explored_by_all(pages, experiment, &meter)),
        whole: Whole::run(material, experiment),
    };
    Outcome {
        name: "focus-real".to_owned(),
        title: "How soon a site's data files are found".to_owned(),
        command: experiment.command.clone(),
        parameters: results.parameters(material),
        findings: results.findings(),
        claims: results.claims(),
        tables: results.tables(),
        figures: results.figures(),
    }
}

/// Every policy on the labelled pages: for each, the qualities of each repetition.
fn explored_by_all(
    pages: &LabelledPages,
    experiment: &FocusRealExperiment,
    meter: &Meter<'_>,
) -> Option<Vec<Vec<Vec<Quality>>>> {
    let judged = pages.judged(experiment.seed)?;
    let of_policy = |policy| {
        let seeds = (0..experiment.repetitions).into_par_iter();
        let qualities = seeds
            .map(|repetition| {
                labelled::explore(&judged, policy, experiment.seed + u64::from(repetition))
            })
            .collect();
        meter.add(1);
        qualities
    };
    Some(POLICIES.into_iter().map(of_policy).collect())
}

/// The real site among real sites without data files.
struct Whole {
    sites: usize,
    files: u32,
    /// What was run, and the runs of each repetition.
    runs: Vec<(&'static str, Vec<Run>)>,
}

impl Whole {
    fn run(material: Material<'_>, experiment: &FocusRealExperiment) -> Option<Whole> {
        let decoys = whole::decoys(material.pages?);
        let web = Web::new(material.site?, &decoys);
        let repeat = |run: &(dyn Fn(u64) -> Run + Sync)| {
            let seeds = (0..experiment.repetitions).into_par_iter();
            seeds
                .map(|repetition| run(experiment.seed + u64::from(repetition)))
                .collect()
        };
        Some(Whole {
            sites: web.site_count(),
            files: web.file_count(),
            runs: vec![
                (
                    "all sites at once, breadth first",
                    repeat(&|seed| web.all_at_once(Order::BreadthFirst, seed)),
                ),
                (
                    "all sites at once, random",
                    repeat(&|seed| web.all_at_once(Order::Random, seed)),
                ),
                (
                    "all sites at once, tag paths as published",
                    repeat(&|seed| web.all_at_once(Order::TagPaths, seed)),
                ),
                (
                    "explored at random, then collected",
                    repeat(&|seed| web.explore_and_collect(Policy::Random, seed)),
                ),
                (
                    "explored and collected, ours",
                    repeat(&|seed| web.explore_and_collect(Policy::Foresight, seed)),
                ),
            ],
        })
    }
}

/// All that was measured.
struct Results<'a> {
    experiment: &'a FocusRealExperiment,
    real: Option<Trial>,
    templates: Vec<Trial>,
    /// By the place in the row of sites.
    carried: Vec<Vec<Pair>>,
    /// By policy, repetition and budget.
    explored: Option<Vec<Vec<Vec<Quality>>>>,
    whole: Option<Whole>,
}

/// Every way to collect, on one site or on several of one template.
struct Trial {
    name: String,
    files: u32,
    pages: u32,
    /// By contestant, one for each repetition.
    harvests: Vec<Vec<Harvest>>,
    /// What an order would need that knows all links; one for each repetition.
    knowing: Vec<Harvest>,
}

impl Trial {
    fn run(site: &Site, experiment: &FocusRealExperiment, meter: &Meter<'_>) -> Trial {
        let knowing = knowing(site);
        Trial {
            name: site.name.clone(),
            files: site.file_count(),
            pages: site.page_count(),
            harvests: Contestant::ALL
                .map(|contestant| {
                    let seeds = (0..experiment.repetitions).into_par_iter();
                    seeds
                        .map(|repetition| {
                            meter.harvest(site, contestant, experiment.seed + u64::from(repetition))
                        })
                        .collect()
                })
                .into(),
            knowing: vec![knowing; experiment.repetitions as usize],
        }
    }

    /// A site for each repetition.
    fn of_template(template: u32, experiment: &FocusRealExperiment, meter: &Meter<'_>) -> Trial {
        let seeds =
            (0..experiment.repetitions).map(|repetition| experiment.seed + u64::from(repetition));
        let sites: Vec<(u64, Site)> = seeds
            .map(|seed| (seed, generated::site(template, experiment.pages, seed)))
            .collect();
        let sum = |count: fn(&Site) -> u32| sites.iter().map(|(_, site)| count(site)).sum::<u32>();
        let mean = |count| sum(count) / experiment.repetitions.max(1);
        let sites = &sites;
        Trial {
            name: generated::name(template),
            files: mean(Site::file_count),
            pages: mean(Site::page_count),
            harvests: Contestant::ALL
                .map(|contestant| {
                    let sites = sites.par_iter();
                    sites
                        .map(|(seed, site)| meter.harvest(site, contestant, *seed))
                        .collect()
                })
                .into(),
            knowing: sites.par_iter().map(|(_, site)| knowing(site)).collect(),
        }
    }

    fn of(&self, contestant: Contestant) -> &[Harvest] {
        let place = Contestant::ALL
            .iter()
            .position(|other| *other == contestant);
        place.map_or(&[], |place| &self.harvests[place])
    }
}

/// Fetches that brought no file until nine tenths of the files were had.
#[derive(Clone, Copy, Debug)]
struct Pair {
    fresh: f64,
    carried: f64,
}

/// Rows of sites of all templates, each row in another order.
fn carried(experiment: &FocusRealExperiment, meter: &Meter<'_>) -> Vec<Vec<Pair>> {
    let rows: Vec<Vec<Pair>> = (0..experiment.repetitions)
        .into_par_iter()
        .map(|repetition| carried_row(experiment.seed + u64::from(repetition), experiment, meter))
        .collect();
    let places = 0..generated::TEMPLATES as usize;
    places
        .map(|place| {
            rows.iter()
                .filter_map(|row| row.get(place).copied())
                .collect()
        })
        .collect()
}

fn carried_row(seed: u64, experiment: &FocusRealExperiment, meter: &Meter<'_>) -> Vec<Pair> {
    let mut chance = Chance::about(seed, u64::MAX);
    let mut templates: Vec<u32> = (0..generated::TEMPLATES).collect();
    for place in (1..templates.len()).rev() {
        let other = chance.below(u32::try_from(place + 1).unwrap_or(u32::MAX));
        templates.swap(place, other as usize);
    }
    let settings = Contestant::OURS.settings();
    let mut experience = Experience::default();
    let mut row = Vec::new();
    for (place, template) in (0..).zip(templates) {
        let site = generated::site(template, experiment.pages, mixed(seed, place));
        let (fresh, _) = harvest(&site, &settings, &Experience::default(), seed);
        let (with, collector) = harvest(&site, &settings, &experience, seed);
        experience.learn(&collector);
        meter.add(2);
        let pages =
            |harvest: &Harvest| harvest.reached[1].map_or(f64::NAN, |cost| f64::from(cost.pages));
        row.push(Pair {
            fresh: pages(&fresh),
            carried: pages(&with),
        });
    }
    row
}

/// A seed of its own for each place of a row.
fn mixed(seed: u64, place: u64) -> u64 {
    seed.wrapping_mul(1000) + place
}

/// Tells how far the experiment is.
struct Meter<'a> {
    done: AtomicU64,
    total: u64,
    watch: Watch<'a>,
}

impl Meter<'_> {
    fn harvest(&self, site: &Site, contestant: Contestant, seed: u64) -> Harvest {
        let (harvest, _) = harvest(site, &contestant.settings(), &Experience::default(), seed);
        self.add(1);
        harvest
    }

    fn add(&self, done: u64) {
        let done = self.done.fetch_add(done, Ordering::Relaxed) + done;
        (self.watch)(Progress {
            done,
            total: self.total,
        });
    }
}

impl Results<'_> {
    fn parameters(&self, material: Material<'_>) -> Vec<Parameter> {
        let real = match material.site {
            Some(site) => format!(
                "{}: {} pages, {} data files that links lead to",
                site.name,
                count(site.page_count().into()),
                count(site.file_count().into())
            ),
            None => "none at hand: name its archive with --site".to_owned(),
        };
        let labelled = match material.pages {
            Some(pages) => format!(
                "{} pages of {} sites, {} with a page of a course",
                count(pages.pages() as u64),
                pages.sites.len(),
                pages.wanted()
            ),
            None => "none at hand: name WebKB's archive with --labelled".to_owned(),
        };
        vec![
            parameter("real site", real),
            parameter("real pages with labels", labelled),
            parameter(
                "generated sites",
                format!(
                    "{} templates, about {} pages each",
                    generated::TEMPLATES,
                    count(self.experiment.pages.into())
                ),
            ),
            parameter("repetitions", self.experiment.repetitions.to_string()),
            parameter("seed", self.experiment.seed.to_string()),
        ]
    }
}

#[cfg(test)]
mod tests;
