//! The orders of a focused crawl, and the files that go with them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use junkai_frontier::admission::Admission;
use junkai_weburl::{Canonicalizer, Fingerprint, PageUrl, without_login};

use super::collecting::{Before, Noted};
use super::experience::Learned;
use super::files::found_files;
use super::kept::Kept;
use super::wanted::Wanted;
use super::{
    Aim, Collecting, Exploring, FocusBooks, Inferred, Judge, Page, evidence, explored,
    write_verdicts,
};
use crate::CrawlError;
use crate::scope::Preset;
use crate::settings::Settings;
use crate::visit::Visit;

/// A focused crawl, as it was left.
pub struct Focus {
    /// Who knows what is wanted.
    pub judge: Arc<Judge>,
    /// What is written down while the crawl goes on.
    pub books: FocusBooks,
    /// Which page is next.
    pub order: FocusOrder,
}

/// In which order a focused crawl visits pages.
pub enum FocusOrder {
    /// To find out which sites hold what is wanted.
    Exploring(Exploring),
    /// To collect what is wanted.
    Collecting(Collecting),
}

impl Focus {
    /// Takes up what was learned before; none if nothing in particular is wanted.
    pub fn open(archive: &Path, settings: &Settings) -> Result<Option<Focus>, CrawlError> {
        let order = match &settings.focus.aim {
            Aim::Everything => return Ok(None),
            Aim::Explore { .. } => {
                explored::keep(archive, &settings.focus)?;
                FocusOrder::Exploring(taken_up(archive, settings)?)
            }
            Aim::Collect { sites } => FocusOrder::Collecting(collected(archive, settings, sites)?),
        };
        Ok(Some(Focus {
            judge: Arc::new(Judge::new(archive, &settings.focus)?),
            books: FocusBooks::open(archive)?,
            order,
        }))
    }
}

/// The order of exploring, knowing what pages said before.
fn taken_up(archive: &Path, settings: &Settings) -> Result<Exploring, CrawlError> {
    let canonical = Canonicalizer::new(&settings.canonical);
    let candidates_max = settings.crawl.candidates.get();
    let mut focus = settings.focus.clone();
    if settings.scope.preset == Preset::Any {
        // Every page may lead to sites that are not known yet.
        focus.worth_min = f64::NEG_INFINITY;
    }
    let mut exploring = Exploring::new(&focus, canonical.clone(), candidates_max);
    evidence(archive, |evidence| {
        if let Ok(page) = canonical.parse(&evidence.url) {
            exploring.observe(Page::of(&page), evidence.probability);
        }
    })?;
    Ok(exploring)
}

/// The order of collecting, from the sites that are named or else from those that were found to hold what is wanted.
fn collected(
    archive: &Path,
    settings: &Settings,
    named: &[String],
) -> Result<Collecting, CrawlError> {
    let canonical = Canonicalizer::new(&settings.canonical);
    let mut wanted: Vec<Wanted> = Vec::new();
    if named.is_empty() {
        let holding = write_verdicts(archive, settings)?.into_iter();
        let holding = holding.filter(|verdict| verdict.holds);
        wanted.extend(holding.map(|verdict| Wanted {
            site: verdict.site,
            start: None,
        }));
    } else {
        let pages = named.iter().map(|name| canonical.parse_seed(name));
        for (page, name) in pages.zip(named) {
            let page = page.map_err(|error| CrawlError::Settings {
                mistakes: vec![format!("site {:?}: {error}", without_login(name))],
            })?;
            wanted.push(Wanted {
                site: page.site().to_owned(),
                start: Some(page.as_str().to_owned()),
            });
        }
    }
    let mut starts: BTreeMap<String, String> = BTreeMap::new();
    evidence(archive, |evidence| {
        starts.entry(evidence.site).or_insert(evidence.url);
    })?;
    for wanted in &mut wanted {
        let explored = starts.remove(&wanted.site);
        wanted.start = explored.or_else(|| wanted.start.take());
    }
    let noted = found_files(archive)?.into_values();
    let noted = noted.map(|file| {
        let noted = match file.refused {
            Some(_) => Noted::Refused,
            None => Noted::Read,
        };
        (Fingerprint::of(&file.url).0, noted)
    });
    let before = Before {
        learned: Learned::load(archive)?,
        kept: Kept::open(archive)?,
        noted: noted.collect(),
    };
    Ok(Collecting::new(wanted, settings, before))
}

impl FocusOrder {
    /// The order as admission has it.
    pub fn admission(&mut self) -> &mut dyn Admission<Visit> {
        match self {
            FocusOrder::Exploring(exploring) => exploring,
            FocusOrder::Collecting(collecting) => collecting,
        }
    }

    /// Candidates that it holds.
    #[must_use]
    #[expect(
        clippy::len_without_is_empty,
        reason = "it counts, and nobody asks whether that is none"
    )]
    pub fn len(&self) -> usize {
        match self {
            FocusOrder::Exploring(exploring) => exploring.len(),
            FocusOrder::Collecting(collecting) => collecting.len(),
        }
    }

    /// The next page to take in that no link was seen to lead to.
    pub fn next_inferred(&mut self) -> Option<Inferred> {
        match self {
            FocusOrder::Exploring(exploring) => exploring.next_inferred(),
            FocusOrder::Collecting(collecting) => collecting.next_inferred(),
        }
    }

    /// Whether there is one.
    #[must_use]
    pub fn has_inferred(&self) -> bool {
        match self {
            FocusOrder::Exploring(exploring) => exploring.has_inferred(),
            FocusOrder::Collecting(collecting) => collecting.has_inferred(),
        }
    }

    /// Such a page was taken in, if it could be.
    pub fn inferred_taken_in(&mut self, url: &PageUrl) {
        match self {
            FocusOrder::Exploring(_) => {}
            FocusOrder::Collecting(collecting) => collecting.inferred_taken_in(url),
        }
    }

    /// A visit is over for good, and will not be made again.
    pub fn ended(&mut self, visit: &Visit) {
        match self {
            FocusOrder::Exploring(_) => {}
            FocusOrder::Collecting(collecting) => collecting.ended(&visit.url),
        }
    }
}
