//! Exploring real sites with labels: which of them hold pages of a class, told from few of their pages.
//!
//! The pages of `WebKB` (Craven and others, "Learning to Extract Symbolic Knowledge from the World Wide Web", AAAI 1998) come with their
//! classes and universities. A *site* is a folder at the top of a host, such as a person's, with at least [`PAGES_MIN`] pages; it is wanted
//! if it has a page of a course. Universities are dealt into two halves; the model that judges the pages of one half has learned from the
//! other, so nothing of a site, nor of its university, is known to the model that is asked about it. What is made of the judgements is in
//! `exploring`.
//!
//! Kato et al. (2022), section 4. Departures: the label is of the class of pages, not of statistical data, for which there is no labelled collection.

use std::collections::BTreeMap;
use std::path::Path;

use junkai_chance::Chance;
use junkai_focus::learn::{Corpus, Look, Seen, Split, TrainSettings, train};
use junkai_focus::words::Words;
use rayon::prelude::*;

use super::shuffle;
use super::unpack::{UnpackError, unpack};

/// Sites with fewer pages are left out: there is nothing to choose.
const PAGES_MIN: usize = 3;
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
    pub(super) is_wanted: bool,
    /// One for each page.
    pub(super) probabilities: Vec<f64>,
}

impl JudgedSite {
    /// The same site, its pages in an order that is drawn.
    pub(super) fn in_any_order(&self, chance: &mut Chance) -> JudgedSite {
        let mut probabilities = self.probabilities.clone();
        shuffle(chance, &mut probabilities);
        JudgedSite {
            probabilities,
            ..*self
        }
    }
}

/// Reads `WebKB`: an archive of `class/university/address`, where addresses have `^` for `/`.
///
/// # Errors
/// If the archive cannot be read.
pub fn read_labelled(path: &Path) -> Result<LabelledPages, UnpackError> {
    let mut sites: BTreeMap<String, LabelledSite> = BTreeMap::new();
    for (name, file) in unpack(path)? {
        let mut parts = name.rsplitn(4, '/');
        let (Some(address), Some(_), Some(class)) = (parts.next(), parts.next(), parts.next())
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
                university: university_of(&host),
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

/// Whose host it is: its last two labels, without a port, whose colon the archive leaves out. What the archive calls a university is not
/// asked, because a few pages of others are in its folder.
fn university_of(host: &str) -> String {
    let name = host.split(':').next().unwrap_or_default();
    let name = name.trim_end_matches(|character: char| character.is_ascii_digit());
    let mut labels: Vec<&str> = name.rsplit('.').take(2).collect();
    labels.reverse();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_a_university_are_its_own_whatever_their_ports() {
        for host in [
            "www.cs.cornell.edu",
            "simon.cornell.edu80",
            "cornell.edu:8080",
        ] {
            assert_eq!(university_of(host), "cornell.edu");
        }
        assert_eq!(university_of("localhost"), "localhost");
    }

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
}
