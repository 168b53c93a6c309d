//! A site that is to be collected, and its pages that wait.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashMap;
use junkai_focus::collect::{Collector, Fetched, LinkNumber, LinkSeen, Looks};
use junkai_frontier::admission::Candidate;
use junkai_weburl::PageUrl;

use crate::visit::{Discovered, Visit};

/// Links of one site that are remembered at most.
const LINKED_MAX: usize = 1 << 18;

/// A site to collect from.
pub struct Wanted {
    pub site: String,
    /// A page of it that was fetched before.
    pub start: Option<String>,
}

/// A page to which one links that the archive has.
pub(super) struct Linked {
    /// That one.
    pub(super) via: Arc<str>,
    pub(super) found: Discovered,
}

/// A site that is to be collected.
pub(super) struct WantedSite {
    pub(super) name: Box<str>,
    /// Where it begins: a page that exploring has fetched.
    pub(super) start: Option<String>,
    pub(super) stage: Stage,
    /// Its pages that wait, by fingerprint.
    pub(super) pages: HashMap<u64, Candidate<Visit>>,
    /// Of these, those that go whatever the collector says: it asked for them before, or never will.
    pub(super) late: VecDeque<u64>,
    /// The page that is out, and its link, if the collector asked for it.
    pub(super) out: Option<(u64, Option<LinkNumber>)>,
    /// Links that the collector asked for and that were deferred.
    pub(super) away: HashMap<u64, LinkNumber>,
    /// What pages link to that the archive has, by fingerprint.
    pub(super) linked: HashMap<u64, Linked>,
    /// The page that the collector asked for, does not wait, and is about to be taken in.
    pub(super) guess: Option<(u64, LinkNumber)>,
    /// Pages and files that were had, in all runs.
    pub(super) fetched: u64,
    pub(super) is_ready: bool,
    /// It has begun, and waits for a page that was deferred.
    pub(super) is_resting: bool,
}

pub(super) enum Stage {
    /// It has not begun.
    Waiting,
    /// It goes on.
    Begun(Box<Collector>),
    /// Nothing is left, or the bound is reached.
    Finished,
}

/// What came of a visit.
#[derive(Clone, Copy, Debug)]
pub enum Came<'a> {
    /// A page with these links.
    Page(&'a [Discovered]),
    /// A data file, with these names in its first column.
    DataFile(&'a [String]),
    /// Nothing of use.
    Nothing,
}

impl WantedSite {
    pub(super) fn new(wanted: Wanted) -> WantedSite {
        WantedSite {
            name: wanted.site.into(),
            start: wanted.start,
            stage: Stage::Waiting,
            pages: HashMap::new(),
            late: VecDeque::new(),
            out: None,
            away: HashMap::new(),
            linked: HashMap::new(),
            guess: None,
            fetched: 0,
            is_ready: false,
            is_resting: false,
        }
    }

    /// Tells the collector what came of a link that it asked for.
    pub(super) fn tell(&mut self, link: LinkNumber, came: Came<'_>) {
        let Stage::Begun(collector) = &mut self.stage else {
            return;
        };
        match came {
            Came::Page(links) => {
                let links = links.iter().filter(|link| link.url.site() == &*self.name);
                let seen: Vec<LinkSeen<'_>> = links.map(seen).collect();
                collector.fetched(link, Fetched::Page(&seen));
            }
            Came::DataFile(names) => {
                let url = collector.url(link).to_owned();
                collector.fetched(link, Fetched::DataFile);
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                collector.list(&url, &names);
            }
            Came::Nothing => collector.fetched(link, Fetched::Nothing),
        }
    }

    /// Remembers the links of a page that the archive has: they were seen by another run, whose bounds may have been narrower.
    pub(super) fn remember(&mut self, page: &PageUrl, links: &[Discovered]) {
        let depth = self.linked.get(&page.fingerprint().0);
        let depth = depth.map_or(0, |linked| linked.found.depth);
        let depth = depth.saturating_add(1);
        let via: Arc<str> = page.as_str().into();
        for found in links {
            let fingerprint = found.url.fingerprint().0;
            if let Some(known) = self.linked.get_mut(&fingerprint) {
                known.found.depth = known.found.depth.min(depth);
            } else if self.linked.len() < LINKED_MAX {
                let found = Discovered {
                    depth,
                    ..found.clone()
                };
                let via = Arc::clone(&via);
                self.linked.insert(fingerprint, Linked { via, found });
            }
        }
    }

    /// Tells the collector that it goes on elsewhere.
    pub(super) fn moved(&mut self, link: LinkNumber, target: &PageUrl) {
        self.tell(link, Came::Nothing);
        if let Stage::Begun(collector) = &mut self.stage
            && target.site() == &*self.name
        {
            collector.start(target.as_str());
        }
    }

    /// Tells the collector of what a list names, as if it had come now: each is a place to begin.
    pub(super) fn start_all(&mut self, entries: &[Discovered]) {
        if let Stage::Begun(collector) = &mut self.stage {
            for entry in entries {
                collector.start(entry.url.as_str());
            }
        }
    }

    /// The next page that goes whatever the collector says.
    pub(super) fn next_late(&mut self) -> Option<Candidate<Visit>> {
        while let Some(fingerprint) = self.late.pop_front() {
            if let Some(candidate) = self.pages.remove(&fingerprint) {
                self.out = Some((fingerprint, self.away.remove(&fingerprint)));
                return Some(candidate);
            }
        }
        None
    }

    /// Shows the collector the pages that wait and that no page it has read links to: a sitemap listed them, say. Those that it will not ask for
    /// go late.
    pub(super) fn offer_the_rest(&mut self) -> Offered {
        let mut rest: Vec<u64> = self.pages.keys().copied().collect();
        rest.sort_unstable();
        let mut offered = Offered::Nothing;
        if let Stage::Begun(collector) = &mut self.stage {
            for fingerprint in &rest {
                let visit = &self.pages[fingerprint].visit;
                if collector.start(visit.url.as_str()).is_some() {
                    offered = Offered::Something;
                }
            }
        }
        if offered == Offered::Nothing {
            self.late.extend(rest);
        }
        offered
    }
}

/// Whether the collector has learned of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    Something,
    Nothing,
}

/// A link as a collector sees it.
fn seen(found: &Discovered) -> LinkSeen<'_> {
    let estimate = found.link_estimate.as_deref();
    let context = estimate.map(|estimate| &estimate.context);
    LinkSeen {
        url: found.url.as_str(),
        text: context.map_or("", |context| &context.text),
        tag_path: context.map_or("", |context| &context.tag_path),
        beside: context.map_or("", |context| &context.beside),
        looks: match estimate.and_then(|estimate| estimate.format) {
            Some(_) => Looks::DataFile,
            None => Looks::Page,
        },
    }
}
