//! A web site as data: its pages with their links, and its data files.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use junkai_focus::collect::{LinkSeen, Looks, names_in};
use junkai_focus::learn::Seen;
use junkai_page::{LinkOptions, Source, analyze_with_contexts};
use url::Url;

use super::whole::MadeSite;

/// A site that can be collected from. Links to what it does not have are left out.
#[derive(Clone, Debug)]
pub struct Site {
    /// What it is called.
    pub name: String,
    pub(super) start: String,
    things: BTreeMap<String, Thing>,
    /// The bytes of pages, where there are any.
    bodies: BTreeMap<String, Vec<u8>>,
}

/// What a URL names.
#[derive(Clone, Debug)]
pub(super) enum Thing {
    /// With the names in its first column.
    File(Vec<String>),
    Page(Vec<SiteLink>),
}

/// A link of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SiteLink {
    pub(super) url: String,
    pub(super) text: String,
    pub(super) tag_path: String,
    pub(super) beside: String,
    pub(super) looks: Looks,
}

impl SiteLink {
    pub(super) fn seen(&self) -> LinkSeen<'_> {
        LinkSeen {
            url: &self.url,
            text: &self.text,
            tag_path: &self.tag_path,
            beside: &self.beside,
            looks: self.looks,
        }
    }
}

impl Site {
    /// Of pages and files; what cannot be reached from the start by links is left out.
    pub(super) fn new(name: String, start: String, mut things: BTreeMap<String, Thing>) -> Site {
        let known: BTreeSet<String> = things.keys().cloned().collect();
        for thing in things.values_mut() {
            if let Thing::Page(links) = thing {
                links.retain(|link| known.contains(&link.url));
            }
        }
        let mut site = Site {
            name,
            start,
            things,
            bodies: BTreeMap::new(),
        };
        let reached: BTreeSet<String> = site.breadth_first().into_iter().collect();
        // A file that no page links to may exist all the same, and be guessed; but it is not counted.
        site.things.retain(|url, _| reached.contains(url));
        site
    }

    /// Of the bytes of its pages, by their paths; everything that is named as a data file is one.
    pub(super) fn read(name: &str, pages: &BTreeMap<String, Vec<u8>>) -> Option<Site> {
        let base = Url::parse(&format!("https://{name}.example/")).ok()?;
        let absolute = |(path, body): (&String, &Vec<u8>)| {
            Some((base.join(path).ok()?.to_string(), body.clone()))
        };
        let pages: BTreeMap<String, Vec<u8>> = pages.iter().filter_map(absolute).collect();
        let start = base.join("index.html").ok()?.to_string();
        pages
            .contains_key(&start)
            .then(|| Site::of_bodies(name, start, pages))
    }

    /// Of pages by their addresses; the first is where to start. None if there is none with an address.
    pub(super) fn of_pages(name: &str, pages: &[(String, Vec<u8>)]) -> Option<Site> {
        let absolute = |(url, body): &(String, Vec<u8>)| {
            Some((Url::parse(url).ok()?.to_string(), body.clone()))
        };
        let pages: Vec<(String, Vec<u8>)> = pages.iter().filter_map(absolute).collect();
        // The page with the shortest address is the one that others are below.
        let start = pages
            .iter()
            .map(|(url, _)| url)
            .min_by_key(|url| url.len())?
            .clone();
        Some(Site::of_bodies(name, start, pages.into_iter().collect()))
    }

    fn of_bodies(name: &str, start: String, bodies: BTreeMap<String, Vec<u8>>) -> Site {
        let mut things = BTreeMap::new();
        for (url, body) in &bodies {
            let thing = match Url::parse(url) {
                Ok(_) if is_file(url) => Thing::File(names_in(body)),
                Ok(parsed) => Thing::Page(links_of(&parsed, body)),
                Err(_) => continue,
            };
            things.insert(url.clone(), thing);
        }
        Site {
            bodies,
            ..Site::new(name.to_owned(), start, things)
        }
    }

    /// One that was made; none if its first page is not there.
    pub(super) fn made(site: &MadeSite) -> Option<Site> {
        let pages: BTreeMap<String, Vec<u8>> = site.pages.iter().cloned().collect();
        pages
            .contains_key(&site.home)
            .then(|| Site::of_bodies(&site.name, site.home.clone(), pages))
    }

    /// The addresses of the pages nearest to the first, which is one of them.
    pub(super) fn first_pages(&self, count: usize) -> Vec<String> {
        let is_page = |url: &String| matches!(self.things.get(url), Some(Thing::Page(_)));
        let pages = self.breadth_first().into_iter().filter(is_page);
        pages.take(count).collect()
    }

    /// A page, as one reads it who judges the site; none if there are no bytes of it.
    pub(super) fn seen(&self, url: &str) -> Option<Seen> {
        let body = self.bodies.get(url)?;
        Some(Seen::read(body, Some("text/html"), url))
    }

    /// All that can be reached.
    pub(super) fn urls(&self) -> impl Iterator<Item = &str> {
        self.things.keys().map(String::as_str)
    }

    pub(super) fn thing(&self, url: &str) -> Option<&Thing> {
        self.things.get(url)
    }

    /// The data files that links lead to.
    pub(super) fn file_count(&self) -> u32 {
        let files = self
            .things
            .values()
            .filter(|thing| matches!(thing, Thing::File(_)));
        u32::try_from(files.count()).unwrap_or(u32::MAX)
    }

    pub(super) fn page_count(&self) -> u32 {
        u32::try_from(self.things.len()).unwrap_or(u32::MAX) - self.file_count()
    }

    /// All URLs that links lead to, nearest first.
    pub(super) fn breadth_first(&self) -> Vec<String> {
        let mut order = Vec::new();
        let mut known = BTreeSet::from([&*self.start]);
        let mut line = VecDeque::from([&*self.start]);
        while let Some(url) = line.pop_front() {
            order.push(url.to_owned());
            if let Some(Thing::Page(links)) = self.things.get(url) {
                for link in links {
                    if known.insert(&link.url) {
                        line.push_back(&link.url);
                    }
                }
            }
        }
        order
    }
}

/// Whether the name is that of a data file.
pub(super) fn is_file(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    ["csv", "tsv", "xls", "xlsx", "ods"]
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
}

fn links_of(url: &Url, body: &[u8]) -> Vec<SiteLink> {
    let source = Source {
        body,
        content_type: Some("text/html"),
        url,
        robots_agent: "junkai",
        x_robots_tag: &[],
        link_headers: &[],
        detect_language: false,
    };
    let pages_only = LinkOptions {
        requisites: false,
        ..LinkOptions::default()
    };
    let analysis = analyze_with_contexts(&source, &pages_only);
    let links = analysis.links.into_iter().map(|link| {
        let context = link.context.map(|context| *context).unwrap_or_default();
        let looks = if is_file(&link.url) {
            Looks::DataFile
        } else {
            Looks::Page
        };
        SiteLink {
            url: link.url,
            text: context.text,
            tag_path: context.tag_path,
            beside: context.beside,
            looks,
        }
    });
    links.collect()
}
