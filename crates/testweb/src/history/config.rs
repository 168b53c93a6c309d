//! How a history is served. Table `[testweb.history]`.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;

use junkai_graph::history::UnixSeconds;
use serde::{Deserialize, Serialize};

/// A history of changes served as a site: at every virtual time its pages are as the history has them then.
///
/// Beside them are a home page and index pages that link to all pages that are there, robots.txt, sitemaps, and a feed of what
/// was added or modified last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryConfig {
    /// A file of events (`unix_time<TAB>A|M|D<TAB>path`, plain or compressed), whose pages are then written by the web; or a
    /// folder with `manifest.tsv` and `objects/`, which has the bytes of every version.
    pub path: PathBuf,
    /// The host name. Default `history.test`.
    #[serde(default = "history_host")]
    pub host: String,
    /// How many hosts the pages are dealt out to, in turn like cards; with more than one, a host's number comes before its
    /// name, as in `3.history.test`. Default 1.
    #[serde(default = "one")]
    pub hosts: NonZeroU32,
    /// The moment of the history that is shown at the clock's origin. Default none: its first event, or in a folder the first
    /// after those that tell what was there before.
    #[serde(default)]
    pub begin: Option<UnixSeconds>,
    /// What is answered for a page that was deleted. Default `not-found`.
    #[serde(default)]
    pub gone: GoneStatus,
    /// What the pages' headers tell of their versions. Default `honest`.
    #[serde(default)]
    pub validators: Validators,
    /// What the sitemaps tell of the pages' versions. Default `honest`.
    #[serde(default)]
    pub sitemap: SitemapHabit,
    /// Whether there is a feed. Default true.
    #[serde(default = "yes")]
    pub has_feed: bool,
    /// Whether the bytes of every answer differ though what a page says does not: dates, counters, tokens, navigation that
    /// rotates. Only pages that the web writes have it. Default false.
    #[serde(default)]
    pub has_noise: bool,
}

impl HistoryConfig {
    /// A history at a path, served in the default way.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            host: history_host(),
            hosts: one(),
            begin: None,
            gone: GoneStatus::default(),
            validators: Validators::default(),
            sitemap: SitemapHabit::default(),
            has_feed: yes(),
            has_noise: false,
        }
    }
}

fn history_host() -> String {
    "history.test".to_owned()
}

const fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

const fn yes() -> bool {
    true
}

/// What is answered for a page that was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GoneStatus {
    /// 404.
    #[default]
    NotFound,
    /// 410.
    Gone,
}

/// What the headers of an answer tell of a page's version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Validators {
    /// `ETag` and `Last-Modified`, both right.
    #[default]
    Honest,
    /// `Last-Modified` alone, and right.
    Dated,
    /// A weak `ETag` alone, and right.
    Weak,
    /// Nothing: every answer has the whole page.
    Absent,
    /// Every answer claims to be a version made at this moment.
    Lying,
    /// Every answer has the headers of the first version, whatever its body is.
    Stuck,
}

/// What sitemaps tell of the pages' versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SitemapHabit {
    /// `lastmod` is when the version was made.
    #[default]
    Honest,
    /// Every day a tenth of the pages claim to have been modified that day, and three in ten changes are not told.
    Noisy,
    /// No `lastmod`.
    Undated,
    /// No sitemap.
    Absent,
}

/// A setting that is none of the words that it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("say {0}")]
pub struct UnknownWord(&'static str);

impl FromStr for GoneStatus {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "not-found" => Ok(Self::NotFound),
            "gone" => Ok(Self::Gone),
            _ => Err(UnknownWord("not-found or gone")),
        }
    }
}

impl FromStr for Validators {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "honest" => Ok(Self::Honest),
            "dated" => Ok(Self::Dated),
            "weak" => Ok(Self::Weak),
            "absent" => Ok(Self::Absent),
            "lying" => Ok(Self::Lying),
            "stuck" => Ok(Self::Stuck),
            _ => Err(UnknownWord("honest, dated, weak, absent, lying or stuck")),
        }
    }
}

impl FromStr for SitemapHabit {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "honest" => Ok(Self::Honest),
            "noisy" => Ok(Self::Noisy),
            "undated" => Ok(Self::Undated),
            "absent" => Ok(Self::Absent),
            _ => Err(UnknownWord("honest, noisy, undated or absent")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_same_on_the_command_line_and_in_files() {
        fn check<T: FromStr + Serialize>(words: &[&str]) {
            for word in words {
                let value = word.parse::<T>().ok().unwrap();
                let written = serde_json::to_string(&value).unwrap();
                assert_eq!(written, format!("\"{word}\""));
            }
            assert!("odd".parse::<T>().is_err());
        }
        check::<GoneStatus>(&["not-found", "gone"]);
        check::<Validators>(&["honest", "dated", "weak", "absent", "lying", "stuck"]);
        check::<SitemapHabit>(&["honest", "noisy", "undated", "absent"]);
    }

    #[test]
    fn a_path_alone_is_a_history_served_in_the_default_way() {
        let read: HistoryConfig = serde_json::from_str("{\"path\": \"a.tsv\"}").unwrap();
        assert_eq!(read, HistoryConfig::new("a.tsv".into()));
    }
}
