//! Sites that were named and of which nothing came: who asked for them is told why.

use std::collections::BTreeMap;
use std::io::BufRead as _;
use std::path::Path;

use junkai_archive::logs;
use junkai_weburl::Canonicalizer;

use crate::CrawlError;
use crate::annotation::JOINED;
use crate::error::AtPath as _;
use crate::log::{EVENTS, Event};
use crate::platform::ArchiveFolder;
use crate::servers;
use crate::settings::Settings;

/// A site of a seed of which nothing came.
#[derive(Clone, Debug, PartialEq)]
pub struct Unreached {
    /// The site.
    pub site: String,
    /// What became of the last visit to it, in words.
    pub why: String,
}

impl Unreached {
    /// Of the sites of an archive's seeds those that `is_wanted` picks, in the order of their names, each with what became of it by the log.
    ///
    /// # Errors
    /// If the list of seeds or the log cannot be read. A line of the log that is torn or damaged is passed over.
    pub fn find(
        archive: &Path,
        settings: &Settings,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<Unreached>, CrawlError> {
        let canonical = Canonicalizer::new(&settings.canonical);
        let mut sites: BTreeMap<String, String> = BTreeMap::new();
        for seed in servers::earlier_seeds(&ArchiveFolder::real(archive).state())? {
            let Ok(page) = canonical.parse_seed(&seed) else {
                continue;
            };
            if is_wanted(page.site()) {
                let why = "it was not visited yet".to_owned();
                sites.insert(page.site().to_owned(), why);
            }
        }
        if sites.is_empty() {
            return Ok(Vec::new());
        }
        let path = archive.join(EVENTS);
        let log = logs::read_log(archive, "events.jsonl").at(&path)?;
        for line in log.split(b'\n') {
            let Ok(event) = serde_json::from_slice::<Event<'_>>(&line.at(&path)?) else {
                continue;
            };
            let is_visit = !event.annotations.iter().any(|word| word == JOINED);
            if is_visit
                && let Ok(page) = canonical.parse(&event.url)
                && let Some(why) = sites.get_mut(page.site())
            {
                *why = said(&event);
            }
        }
        let sites = sites.into_iter();
        Ok(sites.map(|(site, why)| Unreached { site, why }).collect())
    }
}

fn said(event: &Event<'_>) -> String {
    format!("{}: {}", event.url, event.result)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_last_word_of_the_log_is_why_nothing_came_of_a_site() {
        let archive = tempfile::tempdir().unwrap();
        for folder in ["state", "logs"] {
            fs::create_dir(archive.path().join(folder)).unwrap();
        }
        let seeds = "http://gone.example/\nhttp://here.example/\nhttp://later.example/\n";
        fs::write(archive.path().join("state/seeds.txt"), seeds).unwrap();
        let line = |url: &str, result: &str| {
            let event = Event {
                url: url.into(),
                result: result.into(),
                ..Event::default()
            };
            serde_json::to_string(&event).unwrap() + "\n"
        };
        let log = [
            line("http://gone.example/robots.txt", "timed out"),
            line("http://here.example/", "200"),
            line("http://gone.example/", "no such name"),
            "{\"torn".to_owned(),
        ]
        .concat();
        fs::write(archive.path().join(EVENTS), log).unwrap();
        let settings = Settings::default();
        let found = Unreached::find(archive.path(), &settings, |site| site != "here.example");
        let found: Vec<(String, String)> = found
            .unwrap()
            .into_iter()
            .map(|unreached| (unreached.site, unreached.why))
            .collect();
        let expected = [
            ("gone.example", "http://gone.example/: no such name"),
            ("later.example", "it was not visited yet"),
        ];
        assert_eq!(
            found,
            expected.map(|(site, why)| (site.to_owned(), why.to_owned()))
        );
    }
}
