//! What each site is taken for: a table that is made from the evidence alone, whenever it is asked for, and as the last exploring was told to judge. Which policy
//! chose the pages does not matter.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use junkai_focus::explore::{Explorer, Policy, SiteNumber};
use serde::{Deserialize, Serialize};

use super::unreached::Unreached;
use super::{Clue, FOLDER, evidence, explored, site_columns};
use crate::CrawlError;
use crate::error::AtPath as _;
use crate::settings::Settings;

/// Features that are named for a verdict.
const WHY_MAX: usize = 5;
/// Features of one site that are summed up at most.
const FEATURES_MAX: usize = 1000;
const NAME: &str = "sites.jsonl";
const COLUMNS_NAME: &str = "sites.parquet";

/// What a site is taken for, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteVerdict {
    /// The site.
    pub site: String,
    /// Whether it is taken to hold what is wanted.
    pub holds: bool,
    /// Whether that is because two of its pages are proof.
    #[serde(default)]
    pub proven: bool,
    /// The estimated probability that it does.
    pub probability: f64,
    /// The probability that this verdict is wrong.
    pub error_probability: f64,
    /// From which probability on a site is taken to hold it.
    #[serde(default)]
    pub threshold: f64,
    /// Pages that it rests on.
    pub fetches: u32,
    /// Pages that were fetched and said nothing: redirects, errors, pictures.
    pub silent: u32,
    /// What spoke most for the verdict.
    pub why: Vec<Clue>,
    /// Why nothing is known of it, if so: what became of its seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
}

/// Judges every site of which a page was fetched, in the order in which they came up, and names those of seeds of which none was.
///
/// # Errors
/// If the evidence cannot be read.
pub fn verdicts(archive: &Path, settings: &Settings) -> Result<Vec<SiteVerdict>, CrawlError> {
    let judging = explored::judging(archive, &settings.focus)?;
    let mut book = Book {
        explorer: Explorer::new(Policy::default(), judging),
        threshold: judging.threshold,
        numbers: BTreeMap::new(),
        sites: Vec::new(),
    };
    evidence(archive, |evidence| book.take_in(evidence))?;
    for seed in Unreached::find(archive, settings, |site| !book.has_heard(site))? {
        book.take_in_unreached(seed);
    }
    Ok(book.verdicts())
}

/// The same, and writes them to `focus/sites.jsonl` and `focus/sites.parquet`.
///
/// # Errors
/// If the evidence cannot be read, or the table not written.
pub fn write_verdicts(archive: &Path, settings: &Settings) -> Result<Vec<SiteVerdict>, CrawlError> {
    let verdicts = verdicts(archive, settings)?;
    let folder = archive.join(FOLDER);
    fs::create_dir_all(&folder).at(&folder)?;
    let lines_path = path(archive);
    junkai_files::replace_with(&lines_path, |file| {
        let mut lines = BufWriter::new(file);
        for verdict in &verdicts {
            serde_json::to_writer(&mut lines, verdict)?;
            lines.write_all(b"\n")?;
        }
        lines.flush()
    })
    .at(&lines_path)?;
    let columns_path = folder.join(COLUMNS_NAME);
    junkai_files::replace_with(&columns_path, |file| {
        site_columns::write(file, &verdicts).map_err(std::io::Error::other)
    })
    .at(&columns_path)?;
    Ok(verdicts)
}

/// Where the verdicts are.
pub(super) fn path(archive: &Path) -> PathBuf {
    archive.join(FOLDER).join(NAME)
}

struct Book {
    explorer: Explorer,
    threshold: f64,
    numbers: BTreeMap<String, SiteNumber>,
    sites: Vec<Heard>,
}

/// What was heard of one site.
struct Heard {
    site: String,
    silent: u32,
    weights: BTreeMap<String, f64>,
    /// Why nothing was heard, if so.
    unreached: Option<String>,
}

impl Book {
    /// Whether a page of the site said something.
    fn has_heard(&self, site: &str) -> bool {
        let number = self.numbers.get(site).copied();
        number.is_some_and(|number| 0 < self.explorer.evidence(number).fetches())
    }

    fn number_of(&mut self, site: String) -> SiteNumber {
        let entry = self.numbers.entry(site);
        let site = entry.key().clone();
        *entry.or_insert_with(|| {
            self.sites.push(Heard {
                site,
                silent: 0,
                weights: BTreeMap::new(),
                unreached: None,
            });
            self.explorer.add_site()
        })
    }

    fn take_in_unreached(&mut self, seed: Unreached) {
        let number = self.number_of(seed.site);
        self.sites[number.0 as usize].unreached = Some(seed.why);
    }

    fn take_in(&mut self, evidence: super::Evidence) {
        let number = self.number_of(evidence.site);
        let heard = &mut self.sites[number.0 as usize];
        match evidence.probability {
            Some(probability) => self.explorer.observe(number, probability),
            None => heard.silent += 1,
        }
        for Clue { feature, weight } in evidence.clues {
            if heard.weights.len() < FEATURES_MAX || heard.weights.contains_key(&feature) {
                *heard.weights.entry(feature).or_default() += weight;
            }
        }
    }

    fn verdicts(self) -> Vec<SiteVerdict> {
        let explorer = self.explorer;
        let sites = self.sites.into_iter().zip(0..);
        let verdicts = sites.map(|(heard, number)| {
            let verdict = explorer.verdict(SiteNumber(number));
            SiteVerdict {
                site: heard.site,
                holds: verdict.holds,
                proven: verdict.is_proven,
                probability: verdict.mean,
                error_probability: verdict.error_probability,
                threshold: self.threshold,
                fetches: verdict.fetches,
                silent: heard.silent,
                why: why(heard.weights, verdict.holds),
                unknown: match (verdict.fetches, heard.unreached) {
                    (0, Some(why)) => Some(why),
                    (0, None) => Some("no page of it could be judged".to_owned()),
                    (_, _) => None,
                },
            }
        });
        verdicts.collect()
    }
}

/// What spoke most for the verdict.
fn why(weights: BTreeMap<String, f64>, holds: bool) -> Vec<Clue> {
    let clues = weights.into_iter();
    let mut clues: Vec<Clue> = clues
        .map(|(feature, weight)| Clue { feature, weight })
        .filter(|clue| (0.0 < clue.weight) == holds)
        .collect();
    clues.sort_by(|left, right| right.weight.abs().total_cmp(&left.weight.abs()));
    clues.truncate(WHY_MAX);
    clues
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::Evidence;
    use super::*;

    #[test]
    fn a_verdict_rests_on_what_was_heard_and_says_why() {
        let archive = tempfile::tempdir().unwrap();
        fs::create_dir(archive.path().join(FOLDER)).unwrap();
        let page = |url: &str, site: &str, probability, word: &str, weight| {
            let evidence = Evidence {
                url: url.to_owned(),
                site: site.to_owned(),
                at: Timestamp::UNIX_EPOCH,
                status: 200,
                depth: 0,
                probability,
                clues: vec![Clue {
                    feature: word.to_owned(),
                    weight,
                }],
            };
            serde_json::to_string(&evidence).unwrap() + "\n"
        };
        let text = [
            page("http://a.example/", "a.example", Some(0.9), "census", 2.0),
            page("http://b.example/", "b.example", Some(0.1), "shop", -1.0),
            page("http://a.example/2", "a.example", Some(0.95), "census", 1.0),
            page("http://a.example/3", "a.example", None, "cart", -0.5),
        ]
        .concat();
        fs::write(super::super::evidence::path(archive.path()), text).unwrap();
        let table = write_verdicts(archive.path(), &Settings::default()).unwrap();
        assert_eq!(table.len(), 2);
        assert!(table[0].holds && table[0].error_probability < 0.5);
        assert_eq!((table[0].fetches, table[0].silent), (2, 1));
        assert_eq!(table[0].why.len(), 1);
        assert!((table[0].why[0].weight - 3.0).abs() < 1e-12);
        assert!(!table[1].holds);
        assert_eq!(table[1].why[0].feature, "shop");
        let written = fs::read_to_string(archive.path().join(FOLDER).join(NAME)).unwrap();
        let read: Vec<SiteVerdict> = written
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(read, table);
    }
}
