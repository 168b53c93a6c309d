//! Sites of many kinds, a few of which hold data files: what a focused crawl is tried on.
//!
//! A tenth of the sites publish statistics, in files behind a menu, a pager or lists by year. The others look busy: news full of numbers, shops,
//! manuals, match results, diaries, and firms with a price list and nothing else. Half of them write English, half Japanese. Read [`FocusWeb`] first, then
//! [`FocusSite`]; `place` says which paths a site has, `pages` writes them, `tables` fills the files, `words` is what is said.
//!
//! Invariants: every page and every file of a site can be reached from its home page; home pages link to each other as a tree, so every site can be
//! reached from the first. What is wanted is known: [`FocusWeb::write_truth`] lists it.

mod contents;
mod pages;
mod place;
mod tables;
mod words;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::answer::{Answer, Request};
use crate::chance::{Chance, mix};
use crate::change::{ChangeProcess, Version};
use crate::clock::Clock;
use crate::config::TestWebConfig;
use crate::synthetic::Ports;
use place::{Format, Layout, Place};
use words::{ENGLISH, JAPANESE, Tongue};

pub use contents::{FocusContents, focus_contents};

/// One site in so many holds data files.
const HOLDING_EVERY: u64 = 10;

/// All sites of the focus web.
#[derive(Debug)]
pub(crate) struct FocusWeb {
    sites: Vec<FocusSite>,
    change_gap_seconds: f64,
    change_spread: f64,
}

/// One site: what it is about, and how it is laid out.
#[derive(Debug)]
pub(crate) struct FocusSite {
    pub(crate) name: String,
    /// Scheme, name and port, as links begin.
    origin: String,
    number: u64,
    key: u64,
    kind: Kind,
    layout: Layout,
    tongue: &'static Tongue,
    title: String,
    /// Lists of items: themes, sections, years, pages of a pager.
    groups: u64,
    /// Data sets, articles, goods, chapters.
    items: u64,
    news: u64,
    /// How its elements are called.
    skin: u64,
    places: BTreeMap<String, Place>,
}

/// What a site is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// Publishes statistics as data files: what is wanted.
    Statistics,
    /// News, full of numbers.
    News,
    /// A shop with prices.
    Shop,
    /// A manual of software, with tables.
    Manual,
    /// Match results.
    Sports,
    /// A firm with one price list to download.
    Firm,
    /// A diary.
    Diary,
    /// Writes about statistics, with tables of numbers, and has no file of its own.
    Review,
    /// A town, with its statistics in a corner: what is wanted, and hard to see.
    Town,
}

const HOLDING: [Kind; 3] = [Kind::Statistics, Kind::Statistics, Kind::Town];
const DECOYS: [Kind; 7] = [
    Kind::News,
    Kind::Shop,
    Kind::Manual,
    Kind::Sports,
    Kind::Firm,
    Kind::Diary,
    Kind::Review,
];

/// What is so of a site, as the file of truths has it.
#[derive(Debug, Serialize)]
struct Truth<'a> {
    site: &'a str,
    home: String,
    kind: Kind,
    language: &'static str,
    /// Whether it holds what is wanted.
    holds: bool,
    /// Its data files of the wanted kind.
    files: Vec<FileTruth>,
}

#[derive(Debug, Serialize)]
struct FileTruth {
    url: String,
    title: String,
}

impl FocusWeb {
    pub(crate) fn new(config: &TestWebConfig, ports: Ports) -> Self {
        let sites = 0..config.focus_sites as u64;
        Self {
            sites: sites
                .map(|number| FocusSite::new(config.seed, number, ports))
                .collect(),
            change_gap_seconds: config.change_interval.as_secs_f64(),
            change_spread: config.change_spread,
        }
    }

    pub(crate) fn sites(&self) -> &[FocusSite] {
        &self.sites
    }

    /// Answers a request to the site with this index.
    pub(crate) fn answer(&self, index: usize, request: &Request, clock: &Clock) -> Answer {
        let site = &self.sites[index];
        if request.path() == "/robots.txt" {
            return Answer::ok("text/plain", "User-agent: *\nDisallow: /private/\n");
        }
        let Some(place) = site.places.get(&request.target) else {
            return Answer::plain(404);
        };
        let version = self.version(site, *place, clock);
        let made = clock.shown_at(version.made_at).system_time();
        let headers = match request.validate(format!("\"{:016x}\"", version.tag()), made) {
            Ok(headers) => headers,
            Err(not_modified) => return not_modified,
        };
        let (content_type, body) = match *place {
            Place::File { item, format } => site.file(item, format, version),
            Place::PriceList(format) => site.price_list(format),
            page => ("text/html; charset=utf-8", self.html(site, page, version)),
        };
        Answer {
            status: 200,
            headers,
            body,
            is_chunked: false,
        }
        .header("content-type", content_type)
    }

    /// Data files and the pages of their data sets are revised together; all else stays as it is.
    fn version(&self, site: &FocusSite, place: Place, clock: &Clock) -> Version {
        match place {
            Place::File { item, .. } | Place::Item(item) if site.holds() => {
                let key = mix(site.key, item);
                ChangeProcess::of_page(key, self.change_gap_seconds, self.change_spread)
                    .version(clock.virtual_seconds())
            }
            _ => Version { made_at: 0.0 },
        }
    }

    /// Writes down what is so of each site, as JSON lines.
    pub(crate) fn write_truth(&self, path: &Path) -> io::Result<()> {
        let mut file = io::BufWriter::new(std::fs::File::create(path)?);
        for site in &self.sites {
            serde_json::to_writer(&mut file, &site.truth())?;
            file.write_all(b"\n")?;
        }
        file.flush()
    }

    pub(crate) fn page_urls(&self, index: usize) -> impl Iterator<Item = String> {
        let site = &self.sites[index];
        site.places
            .keys()
            .map(|path| format!("{}{path}", site.origin))
    }

    pub(crate) fn page_count(&self) -> u64 {
        self.sites.iter().map(|site| site.places.len() as u64).sum()
    }
}

impl FocusSite {
    fn new(seed: u64, number: u64, ports: Ports) -> Self {
        let key = mix(mix(seed, 0x66_6f63_7573), number);
        let mut chance = Chance::about(key, 0);
        // Spread evenly, but not at every tenth number: in each ten, one.
        let ten = number / HOLDING_EVERY;
        let holds = Chance::about(mix(seed, 0x0068_6f6c_6473), ten).below_large(HOLDING_EVERY)
            == number % HOLDING_EVERY;
        let kind = if holds {
            *chance.pick(&HOLDING)
        } else {
            *chance.pick(&DECOYS)
        };
        let tongue = *chance.pick(&[&ENGLISH, &JAPANESE]);
        let name = format!("focus{number}.test");
        let mut site = Self {
            origin: ports.origin(&name, false),
            name,
            number,
            key,
            kind,
            layout: *chance.pick(&[Layout::Menu, Layout::Pager, Layout::Years]),
            tongue,
            title: tongue.site_title(kind, &mut chance),
            groups: 3 + chance.below_large(4),
            items: 8 + chance.below_large(17),
            news: match kind {
                Kind::Town => 20 + chance.below_large(20),
                _ => 3 + chance.below_large(8),
            },
            skin: chance.below_large(3),
            places: BTreeMap::new(),
        };
        site.places = site.lay_out();
        site
    }

    pub(crate) fn home(&self) -> String {
        format!("{}/", self.origin)
    }

    fn group_of(&self, item: u64) -> u64 {
        match self.layout {
            // The first ones on the first page.
            Layout::Pager => item * self.groups / self.items.max(1),
            Layout::Menu | Layout::Years => item % self.groups,
        }
    }

    fn items_of(&self, group: u64) -> impl Iterator<Item = u64> {
        (0..self.items).filter(move |item| self.group_of(*item) == group)
    }

    /// In which formats a data set can be had.
    fn formats(&self, item: u64) -> &'static [Format] {
        let formats: &[&[Format]] = &[
            &[Format::Csv],
            &[Format::Xlsx],
            &[Format::Csv, Format::Xlsx],
        ];
        Chance::about(self.key, mix(item, 7)).pick::<&[Format]>(formats)
    }

    /// Whether the site holds data files of the wanted kind.
    fn holds(&self) -> bool {
        matches!(self.kind, Kind::Statistics | Kind::Town)
    }

    fn truth(&self) -> Truth<'_> {
        let holds = self.holds();
        let items = (0..self.items).filter(|_| holds);
        let files = items.flat_map(|item| {
            let formats = self.formats(item).iter();
            formats.map(move |format| FileTruth {
                url: format!("{}{}", self.origin, self.path_of_file(item, *format)),
                title: self.table(item, Version { made_at: 0.0 }).title,
            })
        });
        Truth {
            site: &self.name,
            home: self.home(),
            kind: self.kind,
            language: self.tongue.tag,
            holds,
            files: files.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const PORTS: Ports = Ports {
        http: 8080,
        https: None,
    };

    fn web(sites: usize) -> FocusWeb {
        let config = TestWebConfig {
            focus_sites: sites,
            ..TestWebConfig::default()
        };
        FocusWeb::new(&config, PORTS)
    }

    fn get(web: &FocusWeb, index: usize, target: &str) -> Answer {
        let request = Request {
            method: "GET".into(),
            target: target.into(),
            ..Request::default()
        };
        web.answer(index, &request, &Clock::start(1.0, None))
    }

    #[test]
    fn a_tenth_of_the_sites_hold_data_files_in_both_languages() {
        let web = web(400);
        let holding = web.sites.iter().filter(|site| site.truth().holds);
        assert_eq!(holding.clone().count(), 40);
        for tag in ["en", "ja"] {
            let count = holding
                .clone()
                .filter(|site| site.tongue.tag == tag)
                .count();
            assert!(10 < count, "{count} sites in {tag}");
        }
        for site in &web.sites {
            assert_eq!(site.truth().holds, !site.truth().files.is_empty());
        }
        for kind in DECOYS {
            assert!(web.sites.iter().any(|site| site.kind == kind), "{kind:?}");
        }
    }

    #[test]
    fn everything_can_be_reached_from_home_and_nothing_else_is_there() {
        let web = web(60);
        for (index, site) in web.sites.iter().enumerate() {
            let mut reached = BTreeSet::from(["/".to_owned()]);
            let mut todo = vec!["/".to_owned()];
            while let Some(path) = todo.pop() {
                let answer = get(&web, index, &path);
                assert_eq!(answer.status, 200, "{}{path}", site.name);
                let text = String::from_utf8_lossy(&answer.body).into_owned();
                let links = text.split("href=\"").skip(1);
                for link in links.filter_map(|link| link.split('"').next()) {
                    if link.starts_with('/')
                        && !link.starts_with("/private/")
                        && reached.insert(link.to_owned())
                    {
                        todo.push(link.to_owned());
                    }
                }
            }
            let there: BTreeSet<String> = site.places.keys().cloned().collect();
            assert_eq!(reached, there, "{}: {:?}", site.name, site.kind);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        let (one, other) = (web(30), web(30));
        for index in 0..30 {
            for path in one.sites[index].places.keys() {
                let left = get(&one, index, path).body;
                assert_eq!(left, get(&other, index, path).body, "{path}");
            }
        }
    }
}
