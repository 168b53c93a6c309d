//! Exploring real sites with labels: which of them hold pages of a class, told from few of their pages.
//!
//! The pages of `WebKB` (Craven and others, "Learning to Extract Symbolic Knowledge from the World Wide Web", AAAI 1998) come with their
//! classes and universities. A *site* is a folder at the top of a host, such as a person's, with at least [`PAGES_MIN`] pages; it is wanted
//! if it has a page of a course. Universities are dealt into two halves; the model that judges the pages of one half has learned from the
//! other, so nothing of a site, nor of its university, is known to the model that is asked about it.
//!
//! Seed 004, section 4. Departures: the label is of the class of pages, not of statistical data, for which there is no labelled collection.

use std::collections::BTreeMap;
use std::path::Path;

use junkai_focus::explore::{self, Explorer, Policy, SiteNumber};
use junkai_focus::learn::{Corpus, Look, Seen, Split, TrainSettings, train};
use junkai_focus::words::Words;
use rayon::prelude::*;

use super::chance::Chance;
use super::unpack::{UnpackError, unpack};

/// Sites with fewer pages are left out: there is nothing to choose.
const PAGES_MIN: usize = 3;
/// Fetches at which verdicts are compared, per site.
pub(super) const FETCHES_PER_SITE: [f64; 5] = [0.5, 1.0, 1.5, 2.0, 4.0];
/// The policies that are compared.
pub(super) const POLICIES: [Policy; 8] = [
    Policy::Foresight,
    Policy::Delta,
    Policy::Random,
    Policy::EpsilonGreedy,
    Policy::Ucb,
    Policy::Thompson,
    Policy::Lsa,
    Policy::OptimisticGradient,
];

/// Real pages with labels.
#[derive(Clone, Debug)]
pub struct LabelledPages {
    pub(super) sites: Vec<LabelledSite>,
}

/// A site and its pages.
#[derive(Clone, Debug)]
pub(super) struct LabelledSite {
    pub(super) name: String,
    university: String,
    pub(super) is_wanted: bool,
    /// Address and body.
    pub(super) pages: Vec<(String, Vec<u8>)>,
}

/// A site with what the model of the other half says of its pages.
#[derive(Clone, Debug)]
pub(super) struct JudgedSite {
    is_wanted: bool,
    probabilities: Vec<f64>,
}

/// How good the verdicts are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Quality {
    pub(super) accuracy: f64,
    pub(super) precision: f64,
    pub(super) recall: f64,
}

/// Reads `WebKB`: an archive of `class/university/address`, where addresses have `^` for `/`.
///
/// # Errors
/// If the archive cannot be read.
pub fn read_labelled(path: &Path) -> Result<LabelledPages, UnpackError> {
    let mut sites: BTreeMap<String, LabelledSite> = BTreeMap::new();
    for (name, file) in unpack(path)? {
        let mut parts = name.rsplitn(4, '/');
        let (Some(address), Some(university), Some(class)) =
            (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let address = address.replace('^', "/");
        let Some((_, rest)) = address.split_once("//") else {
            continue;
        };
        let parts: Vec<&str> = rest.split('/').collect();
        let host = parts[0].to_ascii_lowercase();
        let folder = if 2 < parts.len() { parts[1] } else { "" };
        let site = sites
            .entry(format!("{host}/{folder}"))
            .or_insert_with_key(|name| LabelledSite {
                name: name.clone(),
                university: domain(&host, university),
                is_wanted: false,
                pages: Vec::new(),
            });
        site.is_wanted |= class == "course";
        site.pages
            .push((format!("http://{rest}"), after_head(&file).to_vec()));
    }
    let sites = sites
        .into_values()
        .filter(|site| PAGES_MIN <= site.pages.len());
    Ok(LabelledPages {
        sites: sites.collect(),
    })
}

/// Whose site it is: the university's name, or the host's last two labels where that is not told.
fn domain(host: &str, university: &str) -> String {
    if university != "misc" {
        return university.to_owned();
    }
    let labels: Vec<&str> = host.rsplit('.').take(2).collect();
    labels.join(".")
}

/// The body of a stored answer.
fn after_head(file: &[u8]) -> &[u8] {
    let ends = ["\n\n", "\r\n\r\n"].map(|end| {
        file.windows(end.len())
            .position(|window| window == end.as_bytes())
            .map(|at| at + end.len())
    });
    let end = ends.into_iter().flatten().min();
    end.map_or(file, |end| &file[end..])
}

impl LabelledPages {
    pub(super) fn wanted(&self) -> usize {
        self.sites.iter().filter(|site| site.is_wanted).count()
    }

    pub(super) fn pages(&self) -> usize {
        self.sites.iter().map(|site| site.pages.len()).sum()
    }

    /// Has each half of the universities judged by a model of the other; none if a half has too little to learn from.
    pub(super) fn judged(&self, seed: u64) -> Option<Vec<JudgedSite>> {
        let halves = self.halves();
        let mut judged = vec![None; self.sites.len()];
        for half in 0..2 {
            let look = Look {
                split: Split::Script,
                ..Look::default()
            };
            let words = Words::by_script;
            let mut corpus = Corpus::new(look.clone(), words());
            for (site, _) in self
                .sites
                .iter()
                .zip(&halves)
                .filter(|(_, other)| **other != half)
            {
                for (url, body) in &site.pages {
                    let shown = Seen::read(body, Some("text/html"), url);
                    corpus
                        .add_in_group(&site.name, &site.university, site.is_wanted, &shown.view())
                        .ok()?;
                }
            }
            let settings = TrainSettings {
                folds: 3,
                costs: vec![0.03],
                seed,
                ..TrainSettings::default()
            };
            let model = train(&corpus, words(), &settings, |_| {}).ok()?.model;
            for (place, site) in self
                .sites
                .iter()
                .enumerate()
                .filter(|(place, _)| halves[*place] == half)
            {
                let pages = site.pages.par_iter();
                let probability = |(url, body): &(String, Vec<u8>)| {
                    model.probability(&Seen::read(body, Some("text/html"), url).view())
                };
                judged[place] = Some(JudgedSite {
                    is_wanted: site.is_wanted,
                    probabilities: pages.map(probability).collect(),
                });
            }
        }
        judged.into_iter().collect()
    }

    /// Which half each site is in: universities, the largest first, go to the half with fewer sites.
    fn halves(&self) -> Vec<usize> {
        let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
        for site in &self.sites {
            *sizes.entry(&site.university).or_default() += 1;
        }
        let mut by_size: Vec<(&str, usize)> = sizes.into_iter().collect();
        by_size.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
        let mut counts = [0; 2];
        let mut halves = BTreeMap::new();
        for (university, size) in by_size {
            let half = usize::from(counts[1] < counts[0]);
            counts[half] += size;
            halves.insert(university, half);
        }
        self.sites
            .iter()
            .map(|site| halves[&*site.university])
            .collect()
    }
}

/// Explores the sites by a policy, their pages in any order; returns the verdicts' quality at each of [`FETCHES_PER_SITE`].
pub(super) fn explore(sites: &[JudgedSite], policy: Policy, seed: u64) -> Vec<Quality> {
    let mut chance = Chance::about(seed, 1);
    let mut explorer = Explorer::new(policy, explore::Settings::default());
    let mut left: Vec<Vec<f64>> = Vec::new();
    for site in sites {
        explorer.add_site();
        left.push(site.probabilities.clone());
    }
    let mut qualities = Vec::new();
    let mut fetches = 0;
    for per_site in FETCHES_PER_SITE {
        while f64::from(fetches) < per_site * sites.len() as f64 {
            let Some(site) = explorer.next(&mut || chance.unit()) else {
                break;
            };
            let pages = &mut left[site.0 as usize];
            let place = chance.below(u32::try_from(pages.len()).unwrap_or(u32::MAX));
            if pages.is_empty() {
                explorer.exhausted(site);
                continue;
            }
            let probability = pages.swap_remove(place as usize);
            explorer.observe(site, probability);
            if pages.is_empty() {
                explorer.exhausted(site);
            }
            fetches += 1;
        }
        qualities.push(quality(sites, &explorer));
    }
    qualities
}

fn quality(sites: &[JudgedSite], explorer: &Explorer) -> Quality {
    let (mut right, mut taken, mut found, mut wanted) = (0.0, 0.0, 0.0, 0.0);
    for (number, site) in (0..).zip(sites) {
        let holds = explorer.verdict(SiteNumber(number)).holds;
        right += f64::from(u8::from(holds == site.is_wanted));
        taken += f64::from(u8::from(holds));
        found += f64::from(u8::from(holds && site.is_wanted));
        wanted += f64::from(u8::from(site.is_wanted));
    }
    Quality {
        accuracy: right / (sites.len() as f64).max(1.0),
        precision: found / f64::max(taken, 1.0),
        recall: found / f64::max(wanted, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn universities_are_never_in_both_halves() {
        let site = |university: &str| LabelledSite {
            name: String::new(),
            university: university.to_owned(),
            is_wanted: false,
            pages: Vec::new(),
        };
        let universities = ["a", "a", "a", "b", "b", "c", "d", "d"];
        let pages = LabelledPages {
            sites: universities.map(site).to_vec(),
        };
        let halves = pages.halves();
        for (one, two) in [(0, 1), (0, 2), (3, 4), (6, 7)] {
            assert_eq!(halves[one], halves[two]);
        }
        assert_eq!(halves.iter().sum::<usize>(), 4);
    }

    #[test]
    fn verdicts_get_better_with_fetches() {
        let mut chance = Chance::about(1, 7);
        let sites: Vec<JudgedSite> = (0..200)
            .map(|number| {
                let is_wanted = number % 4 == 0;
                let middle = if is_wanted { 0.7 } else { 0.3 };
                let probabilities =
                    (0..10).map(|_| (middle + 0.8 * (chance.unit() - 0.5)).clamp(0.0, 1.0));
                JudgedSite {
                    is_wanted,
                    probabilities: probabilities.collect(),
                }
            })
            .collect();
        for policy in POLICIES {
            let qualities = explore(&sites, policy, 3);
            assert!(
                qualities[0].accuracy <= qualities[4].accuracy + 0.05,
                "{policy}: {qualities:?}"
            );
            assert!(0.75 < qualities[4].accuracy, "{policy}: {qualities:?}");
        }
    }
}
