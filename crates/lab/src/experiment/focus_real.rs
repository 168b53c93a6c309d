//! Focus on real sites: which of them hold what is wanted, how soon their data files are found, and both together.
//!
//! *Harvest*: a real statistics site (`read`), if it is at hand, is collected from by every order, from its first page to its last file.
//! *Templates*: the same on generated sites of eighteen templates (`generated`). *Experience*: rows of such sites, collected from one
//! after the other, with what was learned carried along and without (`carried`). *Exploring*: real sites with labels (`labelled`), judged by a
//! model that has learned from others, in the order of each policy (`exploring`). *The whole way*: webs of many sites, a few of which hold
//! data files, explored and then collected from (`whole`).
//!
//! Explorer and collector are those that crawl (`junkai_focus`). Fetches are counted in two ways: all of them, and those that bring no
//! data file. Data files have to be fetched by every order, so only the second kind can be saved.
//!
//! SB-CLASSIFIER (Gauquier, Manolescu and Senellart, 2026) is `tag-paths`; departures are told in `junkai_focus::collect`.
//!
//! Not here: what the sites that are made look like. They are handed in, because the room that makes them is not known here.

mod carried;
mod claims;
mod contestant;
mod draw;
mod exploring;
mod generated;
mod harvest;
mod labelled;
mod site;
mod tables;
mod trial;
mod unpack;
mod web;
mod whole;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use junkai_chance::Chance;
use junkai_focus::collect::Experience;
use junkai_focus::explore::Policy;
use junkai_simulation::outcome::{Outcome, Parameter};

use self::carried::Carried;
use self::contestant::Contestant;
use self::exploring::Explored;
use self::generated::Names;
use self::harvest::{Harvest, harvest};
use self::trial::Trial;
use self::whole::Whole;
use super::words::{count, listed, parameter};
use super::{Progress, Watch};

pub use self::labelled::{LabelledPages, read_labelled};
pub use self::site::Site;
pub use self::unpack::UnpackError;
pub use self::whole::MadeSite;

/// The settings of the experiment.
#[derive(Clone, Debug)]
pub struct FocusRealExperiment {
    /// Times that every order is run on every site. Default 10.
    pub repetitions: u32,
    /// Pages of a generated site, about. Default 1000.
    pub pages: u32,
    /// Sites that are made for the whole way. Default 300.
    pub sites: u32,
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
            sites: 300,
            seed: 1,
            command: String::new(),
        }
    }
}

impl FocusRealExperiment {
    /// One for each repetition.
    fn seeds(&self) -> Range<u64> {
        self.seed..self.seed + u64::from(self.repetitions)
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

/// Makes the sites of a web from a seed.
pub type MakeWeb<'a> = &'a (dyn Fn(u64) -> Vec<MadeSite> + Sync);

/// What an experiment is about, as far as it is at hand.
#[derive(Clone, Copy, Default)]
pub struct Material<'a> {
    /// A real site with data files.
    pub site: Option<&'a Site>,
    /// Real sites without.
    pub others: &'a [Site],
    /// Real pages with labels.
    pub pages: Option<&'a LabelledPages>,
    /// A web of sites that are made, some with data files.
    pub made: Option<MakeWeb<'a>>,
}

/// Runs it, with what is at hand.
#[must_use]
pub fn run(material: Material<'_>, experiment: &FocusRealExperiment, watch: Watch<'_>) -> Outcome {
    let meter = Meter::new(run_count(material, experiment), watch);
    let explored = |pages: &LabelledPages| {
        let judged = pages.judged(experiment.seed)?;
        Some(Explored::run(&judged, experiment.seeds(), &meter))
    };
    let results = Results {
        experiment,
        real: material
            .site
            .map(|site| Trial::run(site, experiment, &meter)),
        templates: (0..generated::TEMPLATES)
            .map(|template| Trial::of_template(template, experiment, &meter))
            .collect(),
        carried: [Names::Usual, Names::Own].map(|names| Carried::run(names, experiment, &meter)),
        explored: material.pages.and_then(explored),
        whole: Whole::run(material, experiment, &meter),
    };
    Outcome {
        name: "focus-real".to_owned(),
        title: "Focus on real sites: which hold data files, and how soon these are found"
            .to_owned(),
        command: experiment.command.clone(),
        parameters: results.parameters(material),
        findings: results.findings(),
        claims: results.claims(),
        tables: results.tables(),
        figures: results.figures(),
    }
}

/// How often something is collected from, explored or gone through.
fn run_count(material: Material<'_>, experiment: &FocusRealExperiment) -> u64 {
    let templates = u64::from(generated::TEMPLATES);
    let contestants = Contestant::ALL.len() as u64;
    let explored = material.pages.map_or(0, |_| Policy::ALL.len() as u64);
    let collected = contestants * (u64::from(material.site.is_some()) + templates) + 4 * templates;
    u64::from(experiment.repetitions) * (collected + explored + whole::run_count(material))
}

/// All that was measured.
struct Results<'a> {
    experiment: &'a FocusRealExperiment,
    real: Option<Trial>,
    templates: Vec<Trial>,
    carried: [Carried; 2],
    explored: Option<Explored>,
    whole: Vec<Whole>,
}

/// Tells how far the experiment is.
struct Meter<'a> {
    done: AtomicU64,
    total: u64,
    watch: Watch<'a>,
}

impl<'a> Meter<'a> {
    fn new(total: u64, watch: Watch<'a>) -> Meter<'a> {
        Meter {
            done: AtomicU64::new(0),
            total,
            watch,
        }
    }

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
        let others: Vec<String> = material
            .others
            .iter()
            .map(|site| format!("{}: {} pages", site.name, count(site.page_count().into())))
            .collect();
        vec![
            parameter("real site", real),
            parameter("real sites without data files", listed(&others)),
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

/// Puts items into any order, each as probable, by the draws that the figures of this experiment were made with.
fn shuffle<T>(chance: &mut Chance, items: &mut [T]) {
    for place in (1..items.len()).rev() {
        let other = chance.below(u32::try_from(place + 1).unwrap_or(u32::MAX));
        items.swap(place, other as usize);
    }
}

#[cfg(test)]
mod tests;
