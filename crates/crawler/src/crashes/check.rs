//! Opens what an end has left of an archive, as the next start does, and checks that nothing is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use junkai_archive::{Index, Reader};
use junkai_engine::platform::ArchiveFolder;
use junkai_revisit::PageState;
use junkai_store::time_queue;
use junkai_weburl::{Canonicalizer, PageUrl};

use super::log_of;
use super::small_web::SmallWeb;
use crate::log::Event;
use crate::manifest::Manifest;
use crate::opening::Opening;
use crate::platform::platform;
use crate::progress::Progress;
use crate::settings::Settings;

/// What is checked, and against what.
pub(super) struct Judge {
    settings: Settings,
    web: SmallWeb,
    pages: Vec<PageUrl>,
}

/// What an archive says of its pages, by URL.
#[derive(Debug, Default)]
struct Told {
    captured: BTreeSet<String>,
    /// Lines in both logs.
    logged: BTreeMap<String, usize>,
    /// Visits, by the page's state.
    visits: BTreeMap<String, usize>,
    waiting: BTreeSet<String>,
}

impl Judge {
    pub(super) fn new(settings: Settings, web: &SmallWeb) -> Judge {
        let canonical = Canonicalizer::new(&settings.canonical);
        let pages = web
            .pages()
            .map(|page| canonical.parse(&web.url(page)).unwrap());
        Judge {
            pages: pages.collect(),
            settings,
            web: web.clone(),
        }
    }

    /// After a kill.
    pub(super) fn check_killed(&self, archive: &Path) {
        self.check(archive);
    }

    /// After a power failure: the machine has been started again.
    pub(super) fn check_restarted(&self, archive: &Path) {
        let state = ArchiveFolder::real(archive).state();
        let manifest = state
            .path()
            .is_dir()
            .then(|| Manifest::load(&state).unwrap());
        let Some(manifest) = manifest.flatten() else {
            self.check(archive);
            return;
        };
        let before = Manifest {
            boot: "another".to_owned(),
            ..manifest
        };
        before.store(&state).unwrap();
        let opening = self.check(archive);
        let logs = ["crawl.log", "events.jsonl"].into_iter();
        for ((name, length), promised) in logs.zip(opening.logs.lengths().0).zip(before.log_lengths)
        {
            // The failure may have come when the file was rotated, and before a manifest says so.
            let is_rotated = length == 0 && last_rotated_bytes(archive, name) == promised;
            assert!(
                is_rotated || length == promised,
                "{name}: {length} bytes, not {promised}"
            );
        }
        let after = (opening.backlog.waiting(), opening.known.len());
        let promised = (before.waiting, before.pages_known);
        assert_eq!(
            after, promised,
            "what the manifest promises is there, and no more"
        );
    }

    fn check(&self, archive: &Path) -> Opening {
        let progress = Arc::new(Progress::default());
        ArchiveFolder::real(archive).make().unwrap();
        let platform = platform(archive);
        let opened = Opening::of(&platform, archive, &self.settings, &progress);
        let mut opening = opened.unwrap();
        for repair in &opening.repairs {
            // A torn end of a WARC file may be set aside: it was not promised, and is fetched again.
            let is_lost = repair.contains("LOST") || repair.contains("damaged from outside");
            assert!(!is_lost, "{repair}");
        }
        let told = Told::by(archive, &opening);
        for (number, page) in self.pages.iter().enumerate() {
            let url = page.as_str();
            let is_known = opening.seen.contains(page.fingerprint().0).unwrap();
            let is_visited_again =
                told.waiting.contains(url) && !opening.known.was_just_visited(page);
            let logged = told.logged.get(url).copied().unwrap_or(0);
            let visits = told.visits.get(url).copied().unwrap_or(0);
            assert!(
                visits <= logged,
                "{url}: {visits} visits, {logged} log lines"
            );
            // What is not known is found again, by whoever links to it.
            if is_visited_again || !is_known {
                continue;
            }
            assert!(
                0 < logged,
                "{url} is known, in no log, and not visited again"
            );
            assert!(
                0 < visits,
                "{url} is known, has no state, and is not visited again"
            );
            assert!(
                told.captured.contains(url),
                "{url} is logged, and not in the index"
            );
            for link in self.web.links_of(number) {
                let link = &self.pages[link];
                let is_known = opening.seen.contains(link.fingerprint().0).unwrap();
                assert!(is_known, "{link}, a link of {url}, is lost");
            }
        }
        opening
    }
}

impl Told {
    fn by(archive: &Path, opening: &Opening) -> Told {
        let mut told = Told::default();
        let mut captures = BTreeSet::new();
        for entry in Index::open(archive).unwrap().iter().unwrap() {
            let entry = entry.unwrap();
            let warc = ArchiveFolder::real(archive).warcs().file(&entry.filename);
            let mut reader = Reader::<fs::File>::open_at(&warc, entry.offset).unwrap();
            let record = reader.next_record().unwrap().unwrap();
            assert_eq!(record.head().target_uri().as_ref(), Some(&entry.url));
            captures.insert((entry.filename, entry.offset));
            told.captured.insert(entry.url);
        }
        let text = log_of(archive, "crawl.log");
        let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
        for line in text.lines() {
            *lines
                .entry(line.split_whitespace().nth(3).unwrap())
                .or_default() += 1;
        }
        let text = log_of(archive, "events.jsonl");
        for line in text.lines() {
            let event: Event<'_> = serde_json::from_str(line).unwrap();
            let Some(place) = event.warc else {
                continue;
            };
            let place = (place.file.into_owned(), place.offset);
            assert!(
                captures.contains(&place),
                "{} is not in the index",
                event.url
            );
            *told.logged.entry(event.url.into_owned()).or_default() += 1;
        }
        for (url, count) in &told.logged {
            let lines = lines.get(url.as_str()).copied().unwrap_or(0);
            assert!(
                *count <= lines,
                "{url} is in events.jsonl, and not in crawl.log"
            );
        }
        let states = time_queue::look(
            &ArchiveFolder::real(archive).state().file("time_queue"),
            |record| {
                let state = PageState::decode(record.body).unwrap();
                let doubled = told
                    .visits
                    .insert(record.url.to_owned(), state.visits as usize);
                assert_eq!(doubled, None, "{} has two states", record.url);
            },
        );
        states.unwrap();
        let waiting = opening.backlog.scan(|entry| {
            told.waiting.insert(entry.url.clone());
        });
        waiting.unwrap();
        told
    }
}

/// The length of a log's file that was rotated last.
fn last_rotated_bytes(archive: &Path, name: &str) -> u64 {
    let files = junkai_archive::logs::log_files(archive, name).unwrap();
    let is_rotated = |file: &&std::path::PathBuf| !file.ends_with(name);
    let last = files.iter().rfind(is_rotated);
    last.map_or(0, |file| fs::metadata(file).unwrap().len())
}
