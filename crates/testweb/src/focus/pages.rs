//! The pages of a site, as HTML.

use super::place::{Format, Layout, Place, year_of};
use super::tables::Table;
use super::words::grouped;
use super::{FocusSite, FocusWeb, Kind};
use crate::chance::{Chance, mix};
use crate::change::Version;
use crate::synthetic::write_to;

/// Home pages that a home page links to as its children in the tree of sites.
const FANOUT: u64 = 4;
/// Rows of a table that the page of its data set shows.
const PREVIEW_ROWS: usize = 4;

impl FocusWeb {
    /// A page of a site.
    pub(super) fn html(&self, site: &FocusSite, place: Place, version: Version) -> Vec<u8> {
        let mut page = Page::begin(site, place);
        match place {
            Place::Home => {
                page.paragraphs(2);
                page.link_list(&[(site.hub_title(), Place::Hub)]);
                page.latest();
                self.neighbours(&mut page);
            }
            Place::About => page.paragraphs(4),
            Place::NewsList => {
                let news = (0..site.news)
                    .map(|news| (site.title_of(Place::News(news)), Place::News(news)));
                page.link_list(&news.collect::<Vec<_>>());
            }
            Place::News(_) => page.paragraphs(3),
            Place::Hub => {
                page.paragraphs(1);
                let groups = (0..site.groups)
                    .map(|group| (site.title_of(Place::Group(group)), Place::Group(group)));
                page.link_list(&groups.collect::<Vec<_>>());
            }
            Place::Group(group) => page.group(group),
            Place::Item(item) => page.item(item, version),
            Place::File { .. } | Place::PriceList(_) => {}
        }
        page.end()
    }

    /// Links to the home pages of other sites.
    fn neighbours(&self, page: &mut Page<'_>) {
        let site = page.site;
        let children = (1..=FANOUT).map(|child| FANOUT * site.number + child);
        let mut chance = Chance::about(site.key, 17);
        let others = [(); 2].map(|()| chance.below_large(self.sites.len() as u64));
        let others = children.chain(others).filter_map(|number| {
            let index = usize::try_from(number).ok()?;
            self.sites.get(index)
        });
        write_to(
            &mut page.text,
            format_args!(
                "<h3>{}</h3>\n<ul class=\"neighbours\">",
                site.tongue.menu.links
            ),
        );
        for other in others {
            write_to(
                &mut page.text,
                format_args!(
                    "<li><a href=\"{}\">{}</a></li>\n",
                    other.home(),
                    other.title
                ),
            );
        }
        page.text.push_str("</ul>\n");
    }
}

impl FocusSite {
    fn hub_title(&self) -> String {
        self.tongue.menu.hub.first(self.kind).to_owned()
    }

    fn title_of(&self, place: Place) -> String {
        let tongue = self.tongue;
        match place {
            Place::Home => self.title.clone(),
            Place::About => tongue.menu.about.to_owned(),
            Place::NewsList => tongue.menu.news.to_owned(),
            Place::News(news) => {
                let mut chance = Chance::about(self.key, mix(news, 19));
                tongue.headline(Kind::News, &mut chance)
            }
            Place::Hub => self.hub_title(),
            Place::Group(group) => self.title_of_group(group),
            Place::Item(item) if self.holds() => self.table(item, Version { made_at: 0.0 }).title,
            Place::Item(item) => {
                let mut chance = Chance::about(self.key, mix(item, 23));
                tongue.headline(self.kind, &mut chance)
            }
            Place::File { format, .. } | Place::PriceList(format) => format.ending().to_uppercase(),
        }
    }

    fn title_of_group(&self, group: u64) -> String {
        match self.layout {
            Layout::Years => self.tongue.year(year_of(group)),
            Layout::Pager => (group + 1).to_string(),
            Layout::Menu if self.holds() => {
                let topics = self.tongue.topics;
                let index =
                    usize::try_from(mix(self.key, group)).unwrap_or_default() % topics.len();
                topics[index].name.to_owned()
            }
            Layout::Menu => {
                let mut chance = Chance::about(self.key, mix(group, 29));
                self.tongue.headline(self.kind, &mut chance)
            }
        }
    }

    /// In whose words a page is written: a town's statistics are not by those who write the rest.
    fn tone_of(&self, place: Place) -> Kind {
        match (self.kind, place) {
            (Kind::Town, Place::Hub | Place::Group(_) | Place::Item(_)) => Kind::Statistics,
            (kind, _) => kind,
        }
    }

    /// What an element for this use is called by those who made the site.
    fn class(&self, purpose: &str) -> String {
        match self.skin {
            0 => purpose.to_owned(),
            1 => format!("c-{purpose}"),
            _ => format!("{purpose} box"),
        }
    }
}

/// A page that is being written.
struct Page<'a> {
    site: &'a FocusSite,
    /// In whose words it is written.
    tone: Kind,
    chance: Chance,
    text: String,
}

impl<'a> Page<'a> {
    fn begin(site: &'a FocusSite, place: Place) -> Self {
        let path = site.path_of(place);
        let hash = path.bytes().fold(31, |hash, byte| mix(hash, byte.into()));
        let mut page = Page {
            site,
            tone: site.tone_of(place),
            chance: Chance::about(site.key, hash),
            text: String::new(),
        };
        let (title, menu) = (site.title_of(place), &site.tongue.menu);
        let tag = site.tongue.tag;
        write_to(
            &mut page.text,
            format_args!(
                "<!DOCTYPE html>\n<html lang=\"{tag}\"><head><meta charset=\"utf-8\"><title>{title} | {}</title></head>\n<body><div class=\"{}\"><ul>",
                site.title,
                site.class("nav")
            ),
        );
        for (text, place) in [
            (menu.home, Place::Home),
            (menu.hub.first(site.kind), Place::Hub),
            (menu.news, Place::NewsList),
            (menu.about, Place::About),
        ] {
            write_to(
                &mut page.text,
                format_args!("<li><a href=\"{}\">{text}</a></li>", site.path_of(place)),
            );
        }
        write_to(
            &mut page.text,
            format_args!(
                "</ul></div>\n<div id=\"{}\"><h1>{title}</h1>\n",
                site.class("main")
            ),
        );
        page
    }

    fn end(mut self) -> Vec<u8> {
        write_to(
            &mut self.text,
            format_args!(
                "</div>\n<div class=\"{}\"><p>{}</p><a href=\"/private/\">-</a></div></body></html>\n",
                self.site.class("foot"),
                self.site.title
            ),
        );
        self.text.into_bytes()
    }

    fn paragraphs(&mut self, count: u64) {
        for _ in 0..count {
            self.text.push_str("<p>");
            for _ in 0..3 + self.chance.below_large(4) {
                let sentence = self.site.tongue.sentence(self.tone, &mut self.chance);
                self.text.push_str(&sentence);
                self.text.push(' ');
            }
            self.text.push_str("</p>\n");
        }
    }

    fn link_list(&mut self, links: &[(String, Place)]) {
        write_to(
            &mut self.text,
            format_args!("<ul class=\"{}\">\n", self.site.class("list")),
        );
        for (title, place) in links {
            let path = self.site.path_of(*place);
            write_to(
                &mut self.text,
                format_args!("<li><a href=\"{path}\">{title}</a></li>\n"),
            );
        }
        self.text.push_str("</ul>\n");
    }

    /// The newest items, as home pages show them.
    fn latest(&mut self) {
        let site = self.site;
        let items = (0..site.items.min(2))
            .map(|item| (site.title_of(Place::Item(item)), Place::Item(item)));
        self.link_list(&items.collect::<Vec<_>>());
    }

    fn group(&mut self, group: u64) {
        let site = self.site;
        self.paragraphs(1);
        let lists_files = site.layout == Layout::Years && site.holds();
        if lists_files {
            self.table_of_files(group);
        } else {
            let items = site.items_of(group);
            let items = items.map(|item| (site.title_of(Place::Item(item)), Place::Item(item)));
            self.link_list(&items.collect::<Vec<_>>());
        }
        if site.layout == Layout::Pager {
            self.pager(group);
        }
    }

    /// All data sets of a year, with their files.
    fn table_of_files(&mut self, group: u64) {
        let site = self.site;
        write_to(
            &mut self.text,
            format_args!("<table class=\"{}\">\n", site.class("files")),
        );
        for item in site.items_of(group) {
            let path = site.path_of(Place::Item(item));
            let title = site.title_of(Place::Item(item));
            write_to(
                &mut self.text,
                format_args!("<tr><td><a href=\"{path}\">{title}</a></td>"),
            );
            self.text.push_str("<td>");
            self.links_to_files(item);
            self.text.push_str("</td></tr>\n");
        }
        self.text.push_str("</table>\n");
    }

    fn links_to_files(&mut self, item: u64) {
        for &format in self.site.formats(item) {
            let path = self.site.path_of_file(item, format);
            let size = 2 + self.chance.below_large(60);
            let name = match format {
                Format::Csv => "CSV",
                Format::Xlsx => "Excel",
            };
            write_to(
                &mut self.text,
                format_args!("<a href=\"{path}\">{name} ({size} KB)</a> "),
            );
        }
    }

    fn pager(&mut self, group: u64) {
        let site = self.site;
        let menu = &site.tongue.menu;
        write_to(
            &mut self.text,
            format_args!("<div class=\"{}\">", site.class("pager")),
        );
        let before = group.checked_sub(1).map(|before| (menu.previous, before));
        let after = (group + 1 < site.groups).then_some((menu.next, group + 1));
        for (text, group) in before.into_iter().chain(after) {
            let path = site.path_of(Place::Group(group));
            write_to(
                &mut self.text,
                format_args!("<a href=\"{path}\">{text}</a> "),
            );
        }
        self.text.push_str("</div>\n");
    }

    fn item(&mut self, item: u64, version: Version) {
        match self.site.kind {
            Kind::Statistics | Kind::Town => self.data_set(item, version),
            Kind::Review => {
                self.paragraphs(2);
                let table = self.site.table(item, version);
                self.preview(&table);
                self.paragraphs(2);
            }
            Kind::News | Kind::Diary => self.paragraphs(4),
            Kind::Shop | Kind::Firm => {
                self.paragraphs(1);
                self.prices();
                self.paragraphs(1);
            }
            Kind::Manual => {
                self.paragraphs(2);
                self.options();
                self.paragraphs(1);
            }
            Kind::Sports => {
                self.scores();
                self.paragraphs(2);
            }
        }
        if let (Some(format), 0) = (self.site.price_list_format(), item) {
            let text = self.site.tongue.menu.price_list;
            let path = self.site.path_of(Place::PriceList(format));
            write_to(
                &mut self.text,
                format_args!("<p><a href=\"{path}\">{text}</a></p>\n"),
            );
        }
        let next = (item + 1) % self.site.items;
        let title = self.site.title_of(Place::Item(next));
        self.link_list(&[(title, Place::Item(next))]);
    }

    fn data_set(&mut self, item: u64, version: Version) {
        let table = self.site.table(item, version);
        self.paragraphs(1);
        write_to(
            &mut self.text,
            format_args!(
                "<p>{}: {} ({})</p>\n<div class=\"{}\">",
                self.site.tongue.unit_word,
                table.unit,
                table.measure,
                self.site.class("download")
            ),
        );
        self.links_to_files(item);
        self.text.push_str("</div>\n");
        self.preview(&table);
        write_to(
            &mut self.text,
            format_args!(
                "<p>{}: {:x}</p>\n",
                self.site.tongue.menu.updated,
                version.tag() >> 40
            ),
        );
    }

    fn preview(&mut self, table: &Table) {
        let cells = |cells: &[String], tag: &str| {
            let between = format!("</{tag}><{tag}>");
            format!("<{tag}>{}</{tag}>", cells.join(&between))
        };
        self.text.push_str("<table border=\"1\">\n");
        write_to(
            &mut self.text,
            format_args!("<tr>{}</tr>\n", cells(&table.header, "th")),
        );
        for row in table.rows.iter().take(PREVIEW_ROWS) {
            write_to(
                &mut self.text,
                format_args!("<tr>{}</tr>\n", cells(row, "td")),
            );
        }
        self.text.push_str("</table>\n");
    }

    fn prices(&mut self) {
        let tongue = self.site.tongue;
        self.text.push_str("<table>\n");
        let head = tongue.price_header.join("</th><th>");
        write_to(&mut self.text, format_args!("<tr><th>{head}</th></tr>\n"));
        for _ in 0..4 + self.chance.below_large(6) {
            let (goods, colour) = (
                self.chance.pick(tongue.goods),
                self.chance.pick(tongue.colours),
            );
            let (number, price) = (
                100 + self.chance.below_large(900),
                grouped(10 * self.chance.below_large(3000)),
            );
            let stock = self.chance.pick(tongue.stock);
            write_to(
                &mut self.text,
                format_args!(
                    "<tr><td>{number}</td><td>{goods}</td><td>{colour}</td><td>{price}</td><td>{stock}</td></tr>\n"
                ),
            );
        }
        self.text.push_str("</table>\n");
    }

    fn options(&mut self) {
        self.text.push_str("<table>\n");
        for number in 0..5 + self.chance.below_large(8) {
            let (least, most) = (
                self.chance.below_large(10),
                10 + self.chance.below_large(4096),
            );
            let name = self
                .chance
                .pick(&["limit", "depth", "size", "retry", "level", "port"]);
            write_to(
                &mut self.text,
                format_args!(
                    "<tr><td><code>--{name}{number}</code></td><td>{least}</td><td>{most}</td></tr>\n"
                ),
            );
        }
        self.text.push_str("</table>\n");
    }

    fn scores(&mut self) {
        self.text.push_str("<table>\n");
        for place in 1..10 {
            let name = self.site.tongue.headline(Kind::Sports, &mut self.chance);
            write_to(
                &mut self.text,
                format_args!("<tr><td>{place}</td><td>{name}</td>"),
            );
            for _ in 0..5 {
                let score = self.chance.below_large(40);
                write_to(&mut self.text, format_args!("<td>{score}</td>"));
            }
            self.text.push_str("</tr>\n");
        }
        self.text.push_str("</table>\n");
    }
}
