//! What is wanted, and how much is spent on finding it. Table `[focus]`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use junkai_focus::explore::Policy;
use serde::{Deserialize, Serialize};

use super::Aim;

/// How `junkai focus` finds the sites that hold what is wanted, and how much of them it collects. Table `[focus]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct FocusConfig {
    /// The model that knows what is wanted: a file that `junkai focus train` made. Default: the model of statistical data that comes with junkai.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<PathBuf>,
    /// How the site is chosen of which a page is fetched next. Default "foresight", the best of the lab; `junkai lab focus-sim` compares them.
    pub policy: Policy,
    /// A site is taken to hold what is wanted from this probability on. Default 0.5: to miss a site costs as much as to take one in vain. If
    /// it costs c times as much, say 1/(1 + c). After few fetches, and where few sites hold it, a site may be taken to hold it from a little below on: else
    /// hardly any would be found.
    pub threshold: f64,
    /// Pages that exploring fetches, for each site that is known, where the command does not say how many in all. Default 10.
    pub fetches_per_site: f64,
    /// Exploring ends before all these pages are fetched, if no fetch is worth more than this: by how much one is expected to bring the verdicts on sites
    /// nearer to the truth, where a mistake costs the distance of the site's probability from the threshold. Default 0.0001: 5,000 fetches are well spent
    /// if they set one verdict right that is as wrong as can be. With 0 it goes on as long as a fetch can teach anything,
    /// as it does where pages lead to new sites.
    pub worth_min: f64,
    /// A site two pages of which are this sure, and as sure as the threshold asks, is taken to hold what is wanted, whatever its other pages say, and is asked no more: it may have much else.
    /// Default 0.8; with 1 sites are judged by all their pages alike.
    pub proof: f64,
    /// Sites of which a page is being fetched at a time, at most. Default: a twentieth of all, and at least 16. The fewer, the more each choice
    /// knows; the more, the sooner all is done. At most 16777216.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_max: Option<NonZeroUsize>,
    /// Sites that are explored at most. Default 1000000, from 1 to 1073741824; each takes some hundred bytes.
    pub sites_max: usize,
    /// Pages and files of one site that collecting fetches at most. Default 10000.
    pub pages_max: u64,
    /// Whether collecting asks for data files that no page was seen to link to, where at least three pages of the site and four in five of those that
    /// were compared name their files alike (`x.html` and `x.csv`), or where data files list such names. Default true: most of these exist, and for each the
    /// site is spared a page. They are asked for like any other URL, within scope, robots.txt, pace and `pages_max`; a way of guessing that
    /// fails more often than in one of five is given up.
    pub guess: bool,
    /// A file is listed in the catalogue if it is of the wanted kind with this probability at least. Default 0.5.
    pub file_probability_min: f64,
    /// Whether `junkai crawl`, in an archive that was explored, leaves the sites alone that were found not to hold what is wanted. Default true.
    pub keep_to_wanted: bool,
    /// What this run is for.
    #[serde(skip)]
    pub aim: Aim,
}

impl Default for FocusConfig {
    fn default() -> Self {
        FocusConfig {
            model: None,
            policy: Policy::default(),
            threshold: 0.5,
            fetches_per_site: 10.0,
            worth_min: 0.0001,
            proof: 0.8,
            asked_max: None,
            sites_max: 1_000_000,
            pages_max: 10_000,
            guess: true,
            file_probability_min: 0.5,
            keep_to_wanted: true,
            aim: Aim::Everything,
        }
    }
}

impl FocusConfig {
    /// Everything that is wrong with the values, in words that say what to do.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let checks = [
            (
                (0.0..=1.0).contains(&self.threshold),
                "focus.threshold must be 0 to 1",
            ),
            (
                (0.0..=1e9).contains(&self.fetches_per_site),
                "focus.fetches_per_site must be 0 to 1000000000",
            ),
            (
                (0.0..=1.0).contains(&self.worth_min),
                "focus.worth_min must be 0 to 1",
            ),
            (
                (0.0..=1.0).contains(&self.proof),
                "focus.proof must be 0 to 1",
            ),
            (
                (1..=1 << 30).contains(&self.sites_max),
                "focus.sites_max must be 1 to 1073741824",
            ),
            (
                (0.0..=1.0).contains(&self.file_probability_min),
                "focus.file_probability_min must be 0 to 1",
            ),
        ];
        let wrong = checks.into_iter().filter(|(is_right, _)| !is_right);
        wrong.map(|(_, mistake)| mistake.to_owned()).collect()
    }
}
