//! Sites of many makes: eighteen templates, of six layouts and three programmes, with data files among pages that have none.
//!
//! A site has a menu on every page, sections of articles that link to each other, and somewhere its data files: a tenth to a hundredth of
//! its pages. The *layout* says where ([`Layout`]), the *programme* what the pages' markup is called and how addresses look. Sites of one
//! programme are alike in their markup, not in their size, their sections and their names.

use std::collections::BTreeMap;

use junkai_focus::collect::Looks;

use super::site::{Site, SiteLink, Thing, is_file};
use junkai_chance::Chance;

/// Where a site has its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// A catalogue in lists of pages, a page for each data set.
    Catalogue,
    /// Menus of topics and subtopics, tables at the end.
    Topics,
    /// Lists with the files themselves, next, next.
    Pager,
    /// An archive by year, month and day; most days have nothing.
    Calendar,
    /// Lists by every combination of filters, which all lead to the same data sets.
    Filters,
    /// Some articles of one section have a file.
    Releases,
}

const LAYOUTS: [Layout; 6] = [
    Layout::Catalogue,
    Layout::Topics,
    Layout::Pager,
    Layout::Calendar,
    Layout::Filters,
    Layout::Releases,
];

/// What a programme calls things in its markup and its addresses.
struct Programme {
    menu: &'static str,
    list: &'static str,
    next: &'static str,
    content: &'static str,
    file: &'static str,
    related: &'static str,
    naming: Naming,
}

/// How files are named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    /// After their page.
    Page,
    /// By number, in a folder.
    Number,
    /// By number, without an ending that tells.
    Query,
}

const PROGRAMMES: [Programme; 3] = [
    Programme {
        menu: "html body header.site nav.main ul li a",
        list: "html body main.content div.view table.listing tr td a.title",
        next: "html body main.content div.view nav.pager ul li.next a",
        content: "html body main.content article.node div.body p a",
        file: "html body main.content article.node div.files span.file a",
        related: "html body aside.related ul li a",
        naming: Naming::Page,
    },
    Programme {
        menu: "html body div#wrapper div#nav ul.menu li.item a",
        list: "html body div#wrapper div#main ul.results li.result h3 a",
        next: "html body div#wrapper div#main div.pagination a.next",
        content: "html body div#wrapper div#main div.text p a",
        file: "html body div#wrapper div#main div.downloads ul li a.download",
        related: "html body div#wrapper div#side div.box ul li a",
        naming: Naming::Number,
    },
    Programme {
        menu: "html body table tr td.left font a",
        list: "html body table tr td.right table.data tr td a",
        next: "html body table tr td.right center a",
        content: "html body table tr td.right font p a",
        file: "html body table tr td.right dl dd a",
        related: "html body table tr td.right small a",
        naming: Naming::Query,
    },
];

/// How many templates there are.
pub(super) const TEMPLATES: u32 = 18;
const MENU_SECTIONS: u32 = 8;
const LIST_LENGTH: u32 = 25;
/// What sections are usually called.
const DATA_WORDS: [&str; 5] = ["statistics", "data", "tables", "toukei", "downloads"];
const OTHER_WORDS: [&str; 16] = [
    "about",
    "news",
    "press",
    "events",
    "jobs",
    "contact",
    "services",
    "projects",
    "people",
    "library",
    "policy",
    "history",
    "research",
    "education",
    "health",
    "topics",
];

/// How a site calls its sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Mostly what others call theirs.
    Usual,
    /// Nothing like any other.
    Own,
}

impl Names {
    /// What its sections have.
    pub(super) fn told(self) -> &'static str {
        match self {
            Names::Usual => "usual names",
            Names::Own => "names of their own",
        }
    }

    pub(super) fn key(self) -> &'static str {
        match self {
            Names::Usual => "usual_names",
            Names::Own => "own_names",
        }
    }

    /// How probable a usual name is.
    fn usual(self) -> f64 {
        match self {
            Names::Usual => 0.7,
            Names::Own => 0.0,
        }
    }
}

/// Pages for each data file.
const PAGES_PER_FILE: [u32; 3] = [10, 25, 60];

/// What a template is called.
pub(super) fn name(template: u32) -> String {
    let layout = match LAYOUTS[(template / 3 % 6) as usize] {
        Layout::Catalogue => "catalogue",
        Layout::Topics => "topics",
        Layout::Pager => "pager",
        Layout::Calendar => "calendar",
        Layout::Filters => "filters",
        Layout::Releases => "releases",
    };
    format!("{layout}, programme {}", template % 3 + 1)
}

/// A site by this template, with about so many pages.
pub(super) fn site(template: u32, pages: u32, seed: u64, names: Names) -> Site {
    let mut maker = Maker::new(template, seed, names);
    let per_file = PAGES_PER_FILE[maker.chance.below(3) as usize];
    let files = (pages / per_file).max(12);
    let mut sections = maker.sections();
    maker.home(&sections);
    let section = sections.swap_remove(0);
    let articles = pages / MENU_SECTIONS;
    for other in &sections {
        maker.articles(other, articles, 0);
    }
    match maker.layout {
        Layout::Catalogue => maker.catalogue(&section, files),
        Layout::Topics => maker.topics(&section, files),
        Layout::Pager => maker.pager(&section, files),
        Layout::Calendar => maker.calendar(&section, files),
        Layout::Filters => maker.filters(&section, files),
        Layout::Releases => maker.articles(&section, articles.max(4 * files), files),
    }
    maker.end(template)
}

struct Maker {
    chance: Chance,
    layout: Layout,
    programme: &'static Programme,
    names: Names,
    base: String,
    menu: Vec<SiteLink>,
    things: BTreeMap<String, Thing>,
    files: u32,
}

impl Maker {
    fn new(template: u32, seed: u64, names: Names) -> Maker {
        let template = template % TEMPLATES;
        Maker {
            chance: Chance::about(seed, u64::from(template)),
            layout: LAYOUTS[(template / 3) as usize],
            programme: &PROGRAMMES[(template % 3) as usize],
            names,
            base: format!("https://s{seed}-{template}.example"),
            menu: Vec::new(),
            things: BTreeMap::new(),
            files: 0,
        }
    }

    /// The addresses of the sections, the one with the data first; the menu of all pages leads to them, in any order.
    fn sections(&mut self) -> Vec<String> {
        let mut words = vec![self.section_word(&DATA_WORDS)];
        while words.len() < MENU_SECTIONS as usize {
            let word = self.section_word(&OTHER_WORDS);
            if !words.contains(&word) {
                words.push(word);
            }
        }
        let section = |word: &String| format!("{}/{word}", self.base);
        let sections: Vec<String> = words.iter().map(section).collect();
        let entry = |(section, word): (&String, &String)| SiteLink {
            text: word.clone(),
            ..link(&format!("{section}/"), self.programme.menu, "")
        };
        let mut menu: Vec<SiteLink> = sections.iter().zip(&words).map(entry).collect();
        menu.sort_by(|one, two| one.url.cmp(&two.url));
        self.menu = menu;
        sections
    }

    /// What a section is called: mostly what others call theirs too.
    fn section_word(&mut self, usual: &[&str]) -> String {
        if self.chance.is(self.names.usual()) {
            let place = self
                .chance
                .below(u32::try_from(usual.len()).unwrap_or(u32::MAX));
            return usual[place as usize].to_owned();
        }
        self.word()
    }

    fn home(&mut self, sections: &[String]) {
        let teasers = sections
            .iter()
            .map(|section| link(&format!("{section}/"), self.programme.related, ""));
        let links = teasers.collect();
        self.page(&format!("{}/", self.base), links);
    }

    fn page(&mut self, url: &str, links: Vec<SiteLink>) {
        let mut all = self.menu.clone();
        all.extend(links);
        self.things.insert(url.to_owned(), Thing::Page(all));
    }

    /// Articles in lists; `files` of them have a file.
    fn articles(&mut self, section: &str, count: u32, files: u32) {
        let programme = self.programme;
        let urls: Vec<String> = (0..count)
            .map(|number| format!("{section}/{}-{number}.html", self.word()))
            .collect();
        for (place, url) in (0..).zip(&urls) {
            let mut links: Vec<SiteLink> = (0..4)
                .map(|_| {
                    link(
                        &urls[self.chance.below(count) as usize],
                        programme.related,
                        "",
                    )
                })
                .collect();
            if self.chance.is(0.3) {
                let other = self.chance.below(count) as usize;
                links.push(link(&urls[other], programme.content, ""));
            }
            if place * files / count.max(1) < (place + 1) * files / count.max(1) {
                links.push(self.file(url));
            }
            self.page(url, links);
        }
        self.lists(&format!("{section}/"), &urls, programme.list);
    }

    /// Lists of links that lead from one to the next; the first has the address of the section.
    fn lists(&mut self, first: &str, urls: &[String], path: &str) {
        let chunks: Vec<&[String]> = urls.chunks(LIST_LENGTH as usize).collect();
        let at = |place: usize| {
            if place == 0 {
                first.to_owned()
            } else {
                format!("{first}?page={place}")
            }
        };
        for (place, chunk) in chunks.iter().enumerate() {
            let mut links: Vec<SiteLink> = chunk.iter().map(|url| link(url, path, "")).collect();
            if place + 1 < chunks.len() {
                links.push(link(&at(place + 1), self.programme.next, ""));
            }
            self.page(&at(place), links);
        }
    }

    /// A page with one to three files, and what it is called.
    fn data_set(&mut self, section: &str, number: u32) -> String {
        let url = format!("{section}/{}-{number}.html", self.word());
        let count = self.chance.between(1, 3);
        let links = (0..count).map(|_| self.file(&url)).collect();
        self.page(&url, links);
        url
    }

    fn catalogue(&mut self, section: &str, files: u32) {
        let urls = self.data_sets(section, files);
        self.lists(&format!("{section}/"), &urls, self.programme.list);
    }

    fn data_sets(&mut self, section: &str, files: u32) -> Vec<String> {
        let mut urls = Vec::new();
        let until = self.files + files;
        while self.files < until {
            let number = self.files;
            urls.push(self.data_set(section, number));
        }
        urls
    }

    fn topics(&mut self, section: &str, files: u32) {
        let topics = self.chance.between(4, 8);
        let mut topic_urls = Vec::new();
        for topic in 0..topics {
            let topic_url = format!("{section}/{}-{topic}/", self.word());
            let mut entries = Vec::new();
            for subtopic in 0..3 {
                let subtopic_url = format!("{topic_url}{}-{subtopic}/", self.word());
                let folder = subtopic_url.trim_end_matches('/').to_owned();
                let urls = self.data_sets(&folder, files / (3 * topics) + 1);
                let beside = format!("{} tables", urls.len());
                self.lists(&subtopic_url, &urls, self.programme.list);
                entries.push(link(&subtopic_url, self.programme.content, &beside));
            }
            self.page(&topic_url, entries);
            topic_urls.push(topic_url);
        }
        self.lists(&format!("{section}/"), &topic_urls, self.programme.content);
    }

    fn pager(&mut self, section: &str, files: u32) {
        let first = format!("{section}/");
        let pages = files.div_ceil(10);
        for page in 0..pages {
            let url = if page == 0 {
                first.clone()
            } else {
                format!("{first}?page={page}")
            };
            let mut links: Vec<SiteLink> = (0..10).map(|_| self.file(&url)).collect();
            if page + 1 < pages {
                links.push(link(
                    &format!("{first}?page={}", page + 1),
                    self.programme.next,
                    "",
                ));
            }
            self.page(&url, links);
        }
    }

    fn calendar(&mut self, section: &str, files: u32) {
        let months = (files / 4).clamp(6, 120);
        let mut month_urls = Vec::new();
        for month in 0..months {
            let month_url = format!("{section}/{}/{:02}/", 2000 + month / 12, month % 12 + 1);
            let mut days = Vec::new();
            for day in 1..=28 {
                let url = format!("{month_url}{day:02}.html");
                // Evenly over all days, whatever their number.
                let number = 28 * month + day - 1;
                let has_file =
                    number * files / (28 * months) < (number + 1) * files / (28 * months);
                let links = if has_file {
                    vec![self.file(&url)]
                } else {
                    Vec::new()
                };
                self.page(&url, links);
                days.push(link(&url, self.programme.list, ""));
            }
            self.page(&month_url, days);
            month_urls.push(month_url);
        }
        self.lists(&format!("{section}/"), &month_urls, self.programme.content);
    }

    fn filters(&mut self, section: &str, files: u32) {
        let urls = self.data_sets(section, files);
        let first = format!("{section}/");
        let values = 6;
        for filter in 0..values * values {
            let (one, two) = (filter / values, filter % values);
            let chosen: Vec<String> = urls.iter().skip(one).step_by(values).cloned().collect();
            let list = format!("{first}?area={one}&year={two}");
            let mut links: Vec<SiteLink> = chosen
                .iter()
                .map(|url| link(url, self.programme.list, ""))
                .collect();
            for other in 0..values {
                links.push(link(
                    &format!("{first}?area={one}&year={other}"),
                    self.programme.related,
                    "",
                ));
                links.push(link(
                    &format!("{first}?area={other}&year={two}"),
                    self.programme.related,
                    "",
                ));
            }
            self.page(&list, links);
        }
        let entries = (0..values).map(|year| {
            link(
                &format!("{first}?area=0&year={year}"),
                self.programme.related,
                "",
            )
        });
        let entries = entries.collect();
        self.page(&first, entries);
    }

    /// A new file of a page.
    fn file(&mut self, page: &str) -> SiteLink {
        let number = self.files;
        self.files += 1;
        let stem = page.rsplit('/').next().unwrap_or_default();
        let stem = stem.strip_suffix(".html").unwrap_or(stem);
        let url = match self.programme.naming {
            Naming::Page if page.strip_suffix(".html").is_some() => {
                let parts = self
                    .things
                    .contains_key(&format!("{}/files/{stem}.csv", self.base));
                let part = if parts {
                    format!("-{number}")
                } else {
                    String::new()
                };
                format!("{}/files/{stem}{part}.csv", self.base)
            }
            Naming::Page | Naming::Number => {
                format!("{}/sites/default/files/t{number:05}.xlsx", self.base)
            }
            Naming::Query => format!("{}/cgi/get?statInfId={number:08}&kind=4", self.base),
        };
        self.things.insert(url.clone(), Thing::File(Vec::new()));
        let looks = if is_file(&url) {
            Looks::DataFile
        } else {
            Looks::Unknown
        };
        SiteLink {
            looks,
            ..link(&url, self.programme.file, "Download")
        }
    }

    /// Six letters, nothing like a word of a language.
    fn word(&mut self) -> String {
        let mut word = String::new();
        for _ in 0..3 {
            word.push(char::from(
                b"bdfgklmnprstvz"[self.chance.below(14) as usize],
            ));
            word.push(char::from(b"aeiou"[self.chance.below(5) as usize]));
        }
        word
    }

    fn end(self, template: u32) -> Site {
        let start = format!("{}/", self.base);
        Site::new(name(template), start, self.things)
    }
}

fn link(url: &str, tag_path: &str, beside: &str) -> SiteLink {
    let is_page = url.strip_suffix(".html").is_some() || url.ends_with('/');
    SiteLink {
        url: url.to_owned(),
        text: String::new(),
        tag_path: tag_path.to_owned(),
        beside: beside.to_owned(),
        looks: if is_page { Looks::Page } else { Looks::Unknown },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_has_files_that_can_be_reached() {
        for template in 0..TEMPLATES {
            let site = site(template, 600, 3, Names::Usual);
            assert!(
                5 <= site.file_count(),
                "{}: {}",
                site.name,
                site.file_count()
            );
            assert!(
                site.file_count() * 4 < site.page_count() * 3,
                "{}: {} of {}",
                site.name,
                site.file_count(),
                site.page_count()
            );
        }
    }

    #[test]
    fn the_seed_decides() {
        let urls = |seed| site(4, 600, seed, Names::Own).breadth_first();
        assert_eq!(urls(1), urls(1));
        assert_ne!(urls(1).len(), urls(2).len());
    }
}
