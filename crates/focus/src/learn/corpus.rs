//! The examples of a training: pages with their sites, each page as the counts of its features.
//!
//! Whoever trains adds pages one by one and may drop them then; of a page only numbers stay. Features are named once.

use hashbrown::{HashMap, HashTable};
use rapidhash::fast::RandomState;
use thiserror::Error;

use super::features::{Look, Looker};
use super::group::Group;
use super::page_model::key;
use super::view::PageView;
use crate::words::Words;

/// Most features that are told apart; what comes later and is new is not looked at.
const FEATURES_MAX: usize = 8 << 20;
/// Most pages.
const PAGES_MAX: usize = 1 << 24;

/// Why a page cannot be an example.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CorpusError {
    /// The site was added as the opposite before.
    #[error("the site {site} is labelled both as holding what is wanted and as not holding it")]
    Torn {
        /// Which one.
        site: String,
    },
    /// There is no room.
    #[error("more than {PAGES_MAX} pages are too many to learn from")]
    Full,
}

/// Pages to learn from.
#[derive(Debug)]
pub struct Corpus {
    looker: Looker,
    /// Positions in `features`, by the key of each.
    table: HashTable<(u64, u32)>,
    pub(super) features: Vec<(Group, Box<str>)>,
    pub(super) sites: Vec<Site>,
    site_numbers: HashMap<String, u32, RandomState>,
    group_numbers: HashMap<String, u32, RandomState>,
    pub(super) pages: Vec<Page>,
}

/// A site and what is known of it.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) wanted: bool,
    pub(super) page_count: usize,
    /// Sites of one group are never on both sides of a check.
    pub(super) group: u32,
}

/// A page as numbers.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub(super) site: u32,
    /// Features and how often each occurs, by feature.
    pub(super) counts: Vec<(u32, u32)>,
}

impl Corpus {
    /// No pages yet; each is looked at as `look` says, and `words` must split as it says.
    #[must_use]
    pub fn new(look: Look, words: Words) -> Self {
        Self {
            looker: Looker::new(look, words),
            table: HashTable::new(),
            features: Vec::new(),
            sites: Vec::new(),
            site_numbers: HashMap::default(),
            group_numbers: HashMap::default(),
            pages: Vec::new(),
        }
    }

    /// Adds a page of a site that holds what is wanted, or does not.
    ///
    /// # Errors
    /// If the site was said to be the opposite before, or there are too many pages.
    pub fn add(
        &mut self,
        site: &str,
        wanted: bool,
        page: &PageView<'_>,
    ) -> Result<(), CorpusError> {
        self.add_in_group(site, site, wanted, page)
    }

    /// The same, for a site that has much in common with the others of its group, such as its owner: whoever has learned from one
    /// is not asked about another.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_in_group(
        &mut self,
        site: &str,
        group: &str,
        wanted: bool,
        page: &PageView<'_>,
    ) -> Result<(), CorpusError> {
        if PAGES_MAX <= self.pages.len() {
            return Err(CorpusError::Full);
        }
        let number = self.site_number(site, group, wanted)?;
        let mut found: Vec<u32> = Vec::new();
        let Self {
            looker,
            table,
            features,
            ..
        } = self;
        looker.each(page, |group, name| {
            let key = key(group, name);
            if let Some((_, position)) = table.find(key, |entry| entry.0 == key) {
                found.push(*position);
            } else if features.len() < FEATURES_MAX {
                let position = number_of(features.len());
                table.insert_unique(key, (key, position), |entry| entry.0);
                features.push((group, name.into()));
                found.push(position);
            }
        });
        found.sort_unstable();
        let counts = found
            .chunk_by(|a, b| a == b)
            .map(|same| (same[0], number_of(same.len())));
        self.pages.push(Page {
            site: number,
            counts: counts.collect(),
        });
        self.sites[number as usize].page_count += 1;
        Ok(())
    }

    fn site_number(&mut self, site: &str, group: &str, wanted: bool) -> Result<u32, CorpusError> {
        if let Some(&number) = self.site_numbers.get(site) {
            if self.sites[number as usize].wanted == wanted {
                return Ok(number);
            }
            return Err(CorpusError::Torn {
                site: site.to_owned(),
            });
        }
        let groups = self.group_numbers.len();
        let group = *self
            .group_numbers
            .entry_ref(group)
            .or_insert_with(|| number_of(groups));
        let number = number_of(self.sites.len());
        self.sites.push(Site {
            wanted,
            page_count: 0,
            group,
        });
        self.site_numbers.insert(site.to_owned(), number);
        Ok(number)
    }

    pub(super) fn look(&self) -> &Look {
        self.looker.look()
    }

    pub(super) fn group_count(&self) -> usize {
        self.group_numbers.len()
    }

    /// How many pages there are.
    #[must_use]
    pub fn page_count(&self) -> usize {
        self.pages.len()
    }

    /// How many sites hold what is wanted, or do not.
    #[must_use]
    pub fn site_count(&self, wanted: bool) -> usize {
        self.sites
            .iter()
            .filter(|site| site.wanted == wanted)
            .count()
    }
}

fn number_of(count: usize) -> u32 {
    // The bounds are far below.
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> PageView<'_> {
        PageView {
            text,
            ..PageView::default()
        }
    }

    #[test]
    fn pages_become_counts() {
        let mut corpus = Corpus::new(Look::default(), Words::new());
        corpus.add("a", true, &page("one two one")).unwrap();
        corpus.add("b", false, &page("two")).unwrap();
        corpus.add("a", true, &page("")).unwrap();
        assert_eq!(corpus.pages[0].counts, [(0, 2), (1, 1)]);
        assert_eq!(corpus.pages[1].counts, [(1, 1)]);
        assert_eq!(corpus.page_count(), 3);
        assert_eq!((corpus.site_count(true), corpus.site_count(false)), (1, 1));
    }

    #[test]
    fn a_site_is_one_or_the_other() {
        let mut corpus = Corpus::new(Look::default(), Words::new());
        corpus.add("a", true, &page("")).unwrap();
        let torn = corpus.add("a", false, &page("")).unwrap_err();
        assert!(torn.to_string().contains("site a"));
    }
}
