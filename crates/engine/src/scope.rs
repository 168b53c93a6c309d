//! Scope: says which discovered URLs belong to the crawl, and by which rule.
//!
//! A URL is accepted when no `exclude` pattern matches, its depth is within bounds, and a preset around a seed or an
//! `include` pattern takes it. Page requisites of an accepted page are always in scope, as the page needs them.
//! Every decision names its [`Rule`], so that `junkai explain` can say why.

use std::fmt;

use hashbrown::HashSet;
use junkai_files::Folder;
use junkai_weburl::{Canonicalizer, PageUrl};
use regex::RegexSet;
use serde::{Deserialize, Serialize};

use crate::CrawlError;
use crate::scope_changes::ScopeChanges;
use crate::servers;
use crate::settings::Settings;
use crate::visit::Purpose;

/// Which discovered URLs belong to the crawl. Table `[scope]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScopeConfig {
    /// How far around each seed: "page" (it alone), "prefix" (its folder), "host", "site" (the registrable domain), "any". Default "host".
    pub preset: Preset,
    /// Regular expressions; a URL that matches one is in scope besides the preset. Default none.
    pub include: Vec<String>,
    /// Regular expressions; a URL that matches one is never in scope. Default none.
    pub exclude: Vec<String>,
    /// The most links to follow from a seed. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth_max: Option<u16>,
}

/// How far the crawl reaches around a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// The seed itself, nothing else.
    Page,
    /// What starts with the seed's URL up to its last slash.
    Prefix,
    /// The seed's host.
    Host,
    /// The seed's registrable domain, with all its hosts.
    Site,
    /// Everything that is linked.
    Any,
}

impl Default for ScopeConfig {
    fn default() -> Self {
        ScopeConfig {
            preset: Preset::Host,
            include: Vec::new(),
            exclude: Vec::new(),
            depth_max: None,
        }
    }
}

/// The rule that decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// It is a seed, or where a seed redirects to.
    Seed,
    /// The preset around a seed took it.
    Preset(Preset),
    /// A page in scope needs it.
    Requisite,
    /// It lists the pages of a host, which is asked for nothing else.
    Sitemap,
    /// This `include` pattern matched.
    Include(String),
    /// This `exclude` pattern matched.
    Exclude(String),
    /// More links away from the seed than allowed.
    TooDeep {
        /// Its links from the seed.
        depth: u16,
        /// The most allowed.
        depth_max: u16,
    },
    /// No rule took it.
    Outside,
}

impl Rule {
    /// Whether the URL belongs to the crawl.
    #[must_use]
    pub fn accepts(&self) -> bool {
        match self {
            Rule::Seed | Rule::Preset(_) | Rule::Requisite | Rule::Sitemap | Rule::Include(_) => {
                true
            }
            Rule::Exclude(_) | Rule::TooDeep { .. } | Rule::Outside => false,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Seed => out.write_str("in scope: it is a seed"),
            Rule::Preset(preset) => write!(out, "in scope: preset {}", preset.name()),
            Rule::Requisite => out.write_str("in scope: a page in scope needs it"),
            Rule::Sitemap => out.write_str("in scope: it is a sitemap, which the crawl goes by"),
            Rule::Include(pattern) => write!(out, "in scope: include {pattern:?}"),
            Rule::Exclude(pattern) => write!(out, "out of scope: exclude {pattern:?}"),
            Rule::TooDeep { depth, depth_max } => {
                write!(out, "out of scope: depth {depth} of at most {depth_max}")
            }
            Rule::Outside => {
                out.write_str("out of scope: around no seed, and no include pattern matches")
            }
        }
    }
}

impl Preset {
    /// The word in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Preset::Page => "page",
            Preset::Prefix => "prefix",
            Preset::Host => "host",
            Preset::Site => "site",
            Preset::Any => "any",
        }
    }
}

/// How a URL was found, as far as scope cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Given by the user, or where a seed redirects to.
    Seed,
    /// By a link of some kind, so many links from a seed.
    Link(u16),
    /// As part of a page that was visited.
    Requisite,
    /// As a sitemap of a host in scope, where the crawl goes by sitemaps alone. Who may name one that lies elsewhere was asked before.
    Sitemap,
}

impl Found {
    /// What is visited for this, so many links from a seed.
    #[must_use]
    pub fn of(purpose: &Purpose, depth: u16) -> Found {
        match purpose {
            Purpose::Requisite => Found::Requisite,
            Purpose::Sitemap => Found::Sitemap,
            Purpose::Page | Purpose::Robots { .. } => Found::Link(depth),
        }
    }
}

/// The compiled scope: patterns, and the seeds around which the preset reaches.
#[derive(Clone, Debug)]
pub struct ScopeRules {
    config: ScopeConfig,
    include: RegexSet,
    exclude: RegexSet,
    /// What the preset compares with, for each seed: a URL, a prefix, a host or a site. Whole names and not their fingerprints, so that no host can make
    /// itself a name that is taken for another's.
    roots: HashSet<Box<str>>,
    /// The hosts of the seeds, where these are not the roots or part of them.
    hosts: HashSet<Box<str>>,
}

impl ScopeRules {
    /// Compiles the patterns; the seeds come by [`ScopeRules::add_root`].
    ///
    /// # Errors
    /// All patterns that are no regular expressions, each with the reason.
    pub fn new(config: &ScopeConfig) -> Result<Self, Vec<String>> {
        let mut problems = Vec::new();
        let mut compile = |name: &str, patterns: &[String]| {
            for pattern in patterns {
                if let Err(error) = regex::Regex::new(pattern) {
                    let reason = error.to_string();
                    let last = reason.lines().last().unwrap_or_default();
                    problems.push(format!(
                        "scope.{name}: {pattern:?} is not a regular expression: {last}"
                    ));
                }
            }
            RegexSet::new(patterns).unwrap_or_else(|error| {
                if problems.is_empty() {
                    problems.push(format!("scope.{name}: all patterns together: {error}"));
                }
                RegexSet::empty()
            })
        };
        let include = compile("include", &config.include);
        let exclude = compile("exclude", &config.exclude);
        if problems.is_empty() {
            Ok(ScopeRules {
                config: config.clone(),
                include,
                exclude,
                roots: HashSet::new(),
                hosts: HashSet::new(),
            })
        } else {
            Err(problems)
        }
    }

    /// The rules of an archive: the configuration, the changes that people commanded, and the seeds of all runs.
    pub fn in_force(state: &Folder, settings: &Settings) -> Result<Self, CrawlError> {
        let config = ScopeChanges::load(state)?.over(&settings.scope);
        let mut rules = Self::new(&config).map_err(|mistakes| CrawlError::Settings { mistakes })?;
        let canonical = Canonicalizer::new(&settings.canonical);
        for seed in servers::earlier_seeds(state)? {
            if let Ok(seed) = canonical.parse(&seed) {
                rules.add_root(&seed);
            }
        }
        Ok(rules)
    }

    /// Takes other patterns; the seeds stay.
    ///
    /// # Errors
    /// As [`ScopeRules::new`]; nothing changes then.
    ///
    /// # Panics
    /// If the preset is another one.
    pub fn change(&mut self, config: &ScopeConfig) -> Result<(), Vec<String>> {
        assert_eq!(
            config.preset, self.config.preset,
            "the seeds are kept as the preset compares them"
        );
        let mut changed = Self::new(config)?;
        changed.roots = std::mem::take(&mut self.roots);
        changed.hosts = std::mem::take(&mut self.hosts);
        *self = changed;
        Ok(())
    }

    /// Says what is wrong with the patterns, if anything.
    ///
    /// # Errors
    /// As [`ScopeRules::new`].
    pub fn check(config: &ScopeConfig) -> Result<(), Vec<String>> {
        Self::new(config).map(drop)
    }

    /// Lets the preset reach around `seed` too. Answers whether that made the scope larger.
    pub fn add_root(&mut self, seed: &PageUrl) -> bool {
        let root = self.root_of(seed);
        let is_news = !self.roots.contains(root);
        if is_news {
            self.roots.insert(root.into());
        }
        let is_below_host = matches!(self.config.preset, Preset::Page | Preset::Prefix);
        if is_below_host && !self.hosts.contains(seed.host()) {
            self.hosts.insert(seed.host().into());
        }
        is_news
    }

    /// Whether a URL is at a host of which the scope takes something: around a seed, or by this very URL.
    #[must_use]
    pub fn takes_host(&self, url: &PageUrl) -> bool {
        let is_around_seed = match self.config.preset {
            Preset::Page | Preset::Prefix => self.hosts.contains(url.host()),
            Preset::Host | Preset::Site | Preset::Any => self.preset_takes(url),
        };
        is_around_seed || first_match(&self.include, url).is_some()
    }

    /// Decides on one URL.
    #[must_use]
    pub fn decide(&self, url: &PageUrl, found: Found) -> Rule {
        if let Some(index) = first_match(&self.exclude, url) {
            return Rule::Exclude(self.config.exclude[index].clone());
        }
        let depth = match found {
            Found::Seed => return Rule::Seed,
            Found::Requisite => return Rule::Requisite,
            Found::Sitemap => return Rule::Sitemap,
            Found::Link(depth) => depth,
        };
        if let Some(depth_max) = self.config.depth_max
            && depth_max < depth
        {
            return Rule::TooDeep { depth, depth_max };
        }
        if self.preset_takes(url) {
            return Rule::Preset(self.config.preset);
        }
        match first_match(&self.include, url) {
            Some(index) => Rule::Include(self.config.include[index].clone()),
            None => Rule::Outside,
        }
    }

    fn preset_takes(&self, url: &PageUrl) -> bool {
        let known = |part: &str| self.roots.contains(part);
        match self.config.preset {
            Preset::Any => true,
            Preset::Prefix => prefixes(url.as_str()).any(known),
            Preset::Page | Preset::Host | Preset::Site => known(self.root_of(url)),
        }
    }

    /// The part of a URL that the preset compares.
    fn root_of<'a>(&self, url: &'a PageUrl) -> &'a str {
        match self.config.preset {
            Preset::Page => url.as_str(),
            Preset::Prefix => folder(url.as_str()),
            Preset::Host => url.host(),
            Preset::Site => url.site(),
            Preset::Any => "",
        }
    }
}

/// The first pattern that matches. Without patterns, as in most crawls, nothing is searched: that would be done for every link.
fn first_match(patterns: &RegexSet, url: &PageUrl) -> Option<usize> {
    if patterns.is_empty() {
        return None;
    }
    patterns.matches(url.as_str()).iter().next()
}

/// A URL up to its last slash before the query.
fn folder(url: &str) -> &str {
    let path_end = url.find('?').unwrap_or(url.len());
    match url[..path_end].rfind('/') {
        Some(slash) => &url[..=slash],
        None => url,
    }
}

/// Every prefix of a URL that ends in a slash of its path, longest first.
fn prefixes(url: &str) -> impl Iterator<Item = &str> {
    let path_end = url.find('?').unwrap_or(url.len());
    let path_start = url.find("://").map_or(0, |colon| colon + 3);
    url[..path_end]
        .rmatch_indices('/')
        .filter(move |(at, _)| path_start <= *at)
        .map(|(at, _)| &url[..=at])
}

#[cfg(test)]
mod tests {
    use junkai_weburl::{CanonicalConfig, Canonicalizer};

    use super::*;

    fn page(text: &str) -> PageUrl {
        Canonicalizer::new(&CanonicalConfig::default())
            .parse(text)
            .unwrap()
    }

    fn rules(preset: Preset, seed: &str) -> ScopeRules {
        let mut rules = ScopeRules::new(&ScopeConfig {
            preset,
            ..ScopeConfig::default()
        })
        .unwrap();
        rules.add_root(&page(seed));
        rules
    }

    #[test]
    fn presets_reach_as_far_as_their_name_says() {
        let seed = "https://docs.example.org/guide/start.html";
        let cases = [
            (
                "https://docs.example.org/guide/start.html",
                [true, true, true, true, true],
            ),
            (
                "https://docs.example.org/guide/deep/end.html?q=/",
                [false, true, true, true, true],
            ),
            (
                "https://docs.example.org/guides/x",
                [false, false, true, true, true],
            ),
            (
                "http://docs.example.org/guide/x",
                [false, false, true, true, true],
            ),
            (
                "https://www.example.org/guide/",
                [false, false, false, true, true],
            ),
            (
                "https://example.com/guide/",
                [false, false, false, false, true],
            ),
        ];
        let presets = [
            Preset::Page,
            Preset::Prefix,
            Preset::Host,
            Preset::Site,
            Preset::Any,
        ];
        for (url, expected) in cases {
            for (preset, accepted) in presets.into_iter().zip(expected) {
                let rule = rules(preset, seed).decide(&page(url), Found::Link(1));
                assert_eq!(rule.accepts(), accepted, "{url} under {preset:?}: {rule}");
            }
        }
    }

    #[test]
    fn the_host_of_a_seed_is_taken_however_little_of_it_is_in_scope() {
        let seed = "https://docs.example.org/guide/start.html";
        let cases = [
            ("https://docs.example.org/maps/a.xml", [true; 5]),
            (
                "https://www.example.org/a.xml",
                [false, false, false, true, true],
            ),
            (
                "https://example.com/a.xml",
                [false, false, false, false, true],
            ),
        ];
        let presets = [
            Preset::Page,
            Preset::Prefix,
            Preset::Host,
            Preset::Site,
            Preset::Any,
        ];
        for (url, expected) in cases {
            for (preset, is_taken) in presets.into_iter().zip(expected) {
                let mut rules = rules(preset, seed);
                let other_patterns = ScopeConfig {
                    preset,
                    include: vec!["^https://other[.]example/".into()],
                    ..ScopeConfig::default()
                };
                rules.change(&other_patterns).unwrap();
                assert_eq!(rules.takes_host(&page(url)), is_taken, "{url} {preset:?}");
                assert!(rules.takes_host(&page("https://other.example/a.xml")));
            }
        }
    }

    #[test]
    fn exclude_beats_include_and_seed_and_names_its_pattern() {
        let config = ScopeConfig {
            include: vec!["/api/".into()],
            exclude: vec!["[?&]page=".into()],
            ..ScopeConfig::default()
        };
        let rules = ScopeRules::new(&config).unwrap();
        let accepted = rules.decide(&page("https://a.example/api/x"), Found::Link(9));
        assert_eq!(accepted, Rule::Include("/api/".into()));
        let refused = rules.decide(&page("https://a.example/api/x?page=2"), Found::Seed);
        assert_eq!(refused, Rule::Exclude("[?&]page=".into()));
    }

    #[test]
    fn depth_bounds_links_but_not_requisites() {
        let config = ScopeConfig {
            preset: Preset::Any,
            depth_max: Some(2),
            ..ScopeConfig::default()
        };
        let rules = ScopeRules::new(&config).unwrap();
        let url = page("https://a.example/x");
        assert!(rules.decide(&url, Found::Link(2)).accepts());
        assert_eq!(
            rules.decide(&url, Found::Link(3)),
            Rule::TooDeep {
                depth: 3,
                depth_max: 2
            }
        );
        assert!(rules.decide(&url, Found::Requisite).accepts());
    }

    #[test]
    fn every_bad_pattern_is_reported() {
        let config = ScopeConfig {
            include: vec!["(".into(), "a".into()],
            exclude: vec!["[".into()],
            ..ScopeConfig::default()
        };
        assert_eq!(ScopeRules::check(&config).unwrap_err().len(), 2);
    }
}
