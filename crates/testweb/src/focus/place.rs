//! Which paths a site has, and what is there.

use std::collections::BTreeMap;

use super::{FocusSite, Kind};

/// How one gets from the home page to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Home, themes, a theme, the item.
    Menu,
    /// Home, a list in pages, the item.
    Pager,
    /// Home, years, a year with all its items.
    Years,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Home,
    About,
    NewsList,
    News(u64),
    /// The list of all groups.
    Hub,
    Group(u64),
    Item(u64),
    /// A data file of an item.
    File {
        item: u64,
        format: Format,
    },
    /// A firm's one file.
    PriceList(Format),
}

/// What a data file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Csv,
    Xlsx,
}

impl Format {
    pub(super) fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Xlsx => "xlsx",
        }
    }
}

/// The first year that a site by years has; the others follow it.
const FIRST_YEAR: u64 = 2018;

impl FocusSite {
    /// All paths of the site.
    pub(super) fn lay_out(&self) -> BTreeMap<String, Place> {
        let mut places: Vec<Place> = vec![Place::Home, Place::About, Place::NewsList, Place::Hub];
        places.extend((0..self.news).map(Place::News));
        places.extend((0..self.groups).map(Place::Group));
        places.extend((0..self.items).map(Place::Item));
        if self.holds() {
            let formats = |item| self.formats(item).iter();
            places.extend(
                (0..self.items).flat_map(|item| {
                    formats(item).map(move |&format| Place::File { item, format })
                }),
            );
        }
        places.extend(self.price_list_format().map(Place::PriceList));
        let at = |place: Place| (self.path_of(place), place);
        places.into_iter().map(at).collect()
    }

    /// A firm has a price list to download.
    pub(super) fn price_list_format(&self) -> Option<Format> {
        let format = if self.skin == 0 {
            Format::Xlsx
        } else {
            Format::Csv
        };
        (self.kind == Kind::Firm).then_some(format)
    }

    pub(super) fn path_of(&self, place: Place) -> String {
        let folder = self.folder();
        match place {
            Place::Home => "/".to_owned(),
            Place::About => "/about.html".to_owned(),
            Place::NewsList => "/news/".to_owned(),
            Place::News(news) => format!("/news/{news}.html"),
            Place::Hub => match self.layout {
                Layout::Pager => format!("/{folder}"),
                Layout::Menu | Layout::Years => format!("/{folder}/"),
            },
            Place::Group(group) => match self.layout {
                Layout::Menu => format!("/{folder}/t{group:02}/"),
                Layout::Pager => format!("/{folder}?page={}", group + 1),
                Layout::Years => format!("/{folder}/{}/", year_of(group)),
            },
            Place::Item(item) => match self.layout {
                Layout::Menu => format!("/{folder}/t{:02}/{item:03}.html", self.group_of(item)),
                Layout::Pager => format!("/{folder}/{}", 1000 + item),
                Layout::Years => {
                    let year = year_of(self.group_of(item));
                    format!("/{folder}/{year}/{item}.html")
                }
            },
            Place::File { item, format } => self.path_of_file(item, format),
            Place::PriceList(format) => format!("/download/price-list.{}", format.ending()),
        }
    }

    pub(super) fn path_of_file(&self, item: u64, format: Format) -> String {
        let ending = format.ending();
        match self.layout {
            Layout::Menu => format!("/files/{:02}/{item:03}.{ending}", self.group_of(item)),
            Layout::Pager => format!("/download/{}.{ending}", 1000 + item),
            Layout::Years => {
                let year = year_of(self.group_of(item));
                format!("/{}/{year}/{item}.{ending}", self.folder())
            }
        }
    }

    /// Where the items are.
    fn folder(&self) -> &'static str {
        let folders: [&str; 3] = match self.kind {
            Kind::Statistics => ["stat", "library", "info"],
            Kind::News => ["section", "topics", "info"],
            Kind::Shop => ["shop", "goods", "list"],
            Kind::Manual => ["manual", "docs", "library"],
            Kind::Sports => ["season", "results", "league"],
            Kind::Firm => ["products", "lineup", "info"],
            Kind::Diary => ["diary", "archives", "log"],
            Kind::Review => ["review", "opinion", "library"],
            Kind::Town => ["town", "life", "info"],
        };
        folders[usize::try_from(self.skin).unwrap_or_default() % folders.len()]
    }
}

/// The year that a group stands for.
pub(super) fn year_of(group: u64) -> u64 {
    FIRST_YEAR + group
}
