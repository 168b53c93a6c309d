//! Where crawls of an archive's graph begin.

use std::collections::BTreeSet;
use std::fmt;

use junkai_graph::{Links, Page, WebGraph};

use super::Crawled;
use crate::outcome::counted;

/// Where crawls begin: the crawl's own seeds; and how pages are found to which no link leads.
///
/// A crawl may come to a page by a way that no link shows, such as a sitemap that robots.txt names. Without these pages,
/// what hangs on them would be missing. Such a page is found with the first page of its host; if it is that page itself, a
/// crawl begins there too. So every captured page can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPoints {
    /// The pages, seeds first.
    pub pages: Vec<Page>,
    /// How many of them are seeds of the crawl.
    pub seeds: usize,
    /// Pages that are found with another of their host.
    pub with_host: Vec<WithHost>,
}

/// A page that is found with another of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WithHost {
    /// The page to which no link leads.
    pub page: Page,
    /// The page that was captured first of its host.
    pub first: Page,
}

impl EntryPoints {
    /// Finds the seeds by their URLs, and the pages that cannot be reached from what was captured before them.
    pub(super) fn find(crawled: &Crawled) -> EntryPoints {
        let web = &crawled.web;
        let mut reach = Reach {
            web,
            is_reached: vec![false; web.links.page_count() as usize],
        };
        let wanted: BTreeSet<&str> = crawled.seeds.iter().map(String::as_str).collect();
        let mut pages: Vec<Page> = match &web.urls {
            Some(urls) => (0..)
                .zip(urls.iter())
                .filter(|(_, url)| wanted.contains(url))
                .map(|(page, _)| page)
                .collect(),
            None => Vec::new(),
        };
        for &seed in &pages {
            reach.follow(seed);
        }
        let seeds = pages.len();
        let mut with_host = Vec::new();
        let mut first_pages: Vec<Option<Page>> = vec![None; web.hosts.count() as usize];
        for page in 0..crawled.captured {
            let first = *first_pages[web.hosts.host(page) as usize].get_or_insert(page);
            if reach.is_reached[page as usize] {
                continue;
            }
            // All pages before this one are reached by now, so the first one of the host is.
            if first == page {
                pages.push(page);
            } else {
                with_host.push(WithHost { page, first });
            }
            reach.follow(page);
        }
        EntryPoints {
            pages,
            seeds,
            with_host,
        }
    }

    /// The links, and behind those of the first pages of hosts what is found with them.
    pub(super) fn complete(&self, links: Links) -> Links {
        if self.with_host.is_empty() {
            return links;
        }
        let mut lists: Vec<Vec<Page>> = links
            .pages()
            .map(|page| links.successors(page).to_vec())
            .collect();
        drop(links);
        for found in &self.with_host {
            lists[found.first as usize].push(found.page);
        }
        Links::from_lists(&lists)
    }

    /// Pages that are no seeds.
    #[must_use]
    pub fn others(&self) -> usize {
        self.pages.len() - self.seeds
    }
}

impl fmt::Display for EntryPoints {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if 0 < self.seeds {
            parts.push(counted(self.seeds as u64, "seed") + " of the crawl");
        }
        if 0 < self.others() || parts.is_empty() {
            let others = counted(self.others() as u64, "page");
            parts.push(others + " to which nothing that was captured before leads");
        }
        formatter.write_str(&parts.join(" and "))?;
        match self.with_host.len() as u64 {
            0 => Ok(()),
            pages => write!(
                formatter,
                "; {} that no link shows come with the first page of their host",
                counted(pages, "page")
            ),
        }
    }
}

struct Reach<'a> {
    web: &'a WebGraph,
    is_reached: Vec<bool>,
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
