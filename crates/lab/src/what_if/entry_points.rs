//! Where crawls of an archive's graph begin.

use std::collections::BTreeSet;
use std::fmt;

use junkai_graph::{Page, WebGraph};

use super::Crawled;
use crate::outcome::counted;

/// Where crawls begin: the crawl's own seeds, then every captured page that cannot be reached from the pages before it.
///
/// A crawl may find a page by a way that no link shows, such as a sitemap that robots.txt names; without these pages, what
/// hangs on them would be missing. So every captured page can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPoints {
    /// The pages, seeds first.
    pub pages: Vec<Page>,
    /// How many of them are seeds of the crawl.
    pub seeds: usize,
}

impl EntryPoints {
    /// Finds the seeds by their URLs, and the pages that cannot be reached from them.
    pub(super) fn find(crawled: &Crawled) -> EntryPoints {
        let web = &crawled.web;
        let mut reach = Reach {
            web,
            is_reached: vec![false; web.links.page_count() as usize],
            pages: Vec::new(),
        };
        let wanted: BTreeSet<&str> = crawled.seeds.iter().map(String::as_str).collect();
        if let Some(urls) = web.urls.as_ref().filter(|_| !wanted.is_empty()) {
            let found = (0..)
                .zip(urls.iter())
                .filter(|(_, url)| wanted.contains(url));
            for (page, _) in found {
                // A seed is one even if others link to it.
                reach.pages.push(page);
                reach.follow(page);
            }
        }
        let seeds = reach.pages.len();
        for page in 0..crawled.captured {
            if !reach.is_reached[page as usize] {
                reach.pages.push(page);
                reach.follow(page);
            }
        }
        EntryPoints {
            pages: reach.pages,
            seeds,
        }
    }

    /// Pages that are no seeds.
    #[must_use]
    pub fn others(&self) -> usize {
        self.pages.len() - self.seeds
    }
}

impl fmt::Display for EntryPoints {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seeds, others) = (self.seeds, self.others());
        let seed_text = counted(seeds as u64, "seed") + " of the crawl";
        let other_text =
            counted(others as u64, "page") + " to which nothing that was captured before leads";
        match (seeds, others) {
            (_, 0) => formatter.write_str(&seed_text),
            (0, _) => formatter.write_str(&other_text),
            _ => write!(formatter, "{seed_text} and {other_text}"),
        }
    }
}

struct Reach<'a> {
    web: &'a WebGraph,
    is_reached: Vec<bool>,
    pages: Vec<Page>,
}

impl Reach<'_> {
    /// Marks everything that can be reached from a page.
    fn follow(&mut self, page: Page) {
        let mut open = vec![page];
        while let Some(page) = open.pop() {
            if !std::mem::replace(&mut self.is_reached[page as usize], true) {
                open.extend_from_slice(self.web.links.successors(page));
            }
        }
    }
}
