//! The focus web as data, for who wants its sites without a server.

use super::place::Place;
use super::{FocusSite, FocusWeb};
use crate::change::Version;
use crate::config::TestWebConfig;
use crate::synthetic::Ports;

/// Where links lead: nobody listens there, so the port is the scheme's own.
const PORTS: Ports = Ports {
    http: 80,
    https: None,
};

/// A site with all that it shows, as it is before anything has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FocusContents {
    /// What it is called.
    pub name: String,
    /// The URL of its home page.
    pub home: String,
    /// Whether its data files are of the wanted kind.
    pub holds: bool,
    /// The URLs and bodies of its pages and files.
    pub pages: Vec<(String, Vec<u8>)>,
}

/// The sites that a web with this seed and so many focus sites has.
#[must_use]
pub fn focus_contents(seed: u64, sites: usize) -> Vec<FocusContents> {
    let config = TestWebConfig {
        seed,
        focus_sites: sites,
        ..TestWebConfig::default()
    };
    let web = FocusWeb::new(&config, PORTS);
    web.sites.iter().map(|site| web.contents(site)).collect()
}

impl FocusWeb {
    fn contents(&self, site: &FocusSite) -> FocusContents {
        let version = Version { made_at: 0.0 };
        let body = |place: &Place| match *place {
            Place::File { item, format } => site.file(item, format, version).1,
            Place::PriceList(format) => site.price_list(format).1,
            page => self.html(site, page, version),
        };
        let pages = site.places.iter();
        FocusContents {
            name: site.name.clone(),
            home: site.home(),
            holds: site.holds(),
            pages: pages
                .map(|(path, place)| (format!("{}{path}", site.origin), body(place)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_served_is_there_and_a_tenth_of_the_sites_hold_what_is_wanted() {
        let sites = focus_contents(3, 40);
        assert_eq!(sites.iter().filter(|site| site.holds).count(), 4);
        for site in &sites {
            assert!(site.pages.iter().any(|(url, _)| *url == site.home));
            assert!(site.pages.iter().all(|(_, body)| !body.is_empty()));
            let is_file = |url: &str| url.ends_with("csv") || url.ends_with("xlsx");
            let has_files = site.pages.iter().any(|(url, _)| is_file(url));
            assert!(has_files || !site.holds, "{}", site.name);
        }
        assert_eq!(sites, focus_contents(3, 40));
    }
}
