//! Where URLs were found, and what that place has to say for them.

use std::borrow::Cow;

use junkai_frontier::admission::{Source, priority_of_byte};
use junkai_store::backlog::Entry;

use crate::focus::Inferred;
use crate::visit::{Discovered, Purpose, Visit};
use crate::waiting_room::Gain;

/// Where URLs were found.
#[derive(Debug)]
pub(super) struct Origin<'a> {
    /// The page; empty for seeds.
    via: &'a str,
    /// How that page was reached.
    hops: Cow<'a, str>,
    /// What it has to say for the pages that it links to.
    says: Says,
}

/// What the place where URLs were found has to say for them.
#[derive(Clone, Copy, Debug)]
enum Says {
    /// Nobody says anything: they are seeds, or inferred.
    Nothing,
    /// A page links to them.
    Page(Source),
    /// Another partition has told what its link adds.
    Told(f32),
}

impl<'a> Origin<'a> {
    /// The user.
    pub(super) fn seeds() -> Origin<'static> {
        Origin {
            via: "",
            hops: "".into(),
            says: Says::Nothing,
        }
    }

    /// A page that was read of, or only thought of.
    pub(super) fn inferred(inferred: &'a Inferred) -> Origin<'a> {
        Origin {
            via: &inferred.via,
            hops: Cow::Borrowed(&inferred.hops),
            says: Says::Nothing,
        }
    }

    /// A page of another partition: one of its links, as it was sent here.
    pub(super) fn of_another_partition(entry: &'a Entry) -> Origin<'a> {
        let hops = entry.hops.char_indices().next_back();
        Origin {
            via: &entry.via,
            hops: Cow::Borrowed(&entry.hops[..hops.map_or(0, |(end, _)| end)]),
            says: Says::Told(priority_of_byte(entry.priority)),
        }
    }

    /// The page that was found on.
    pub(super) fn via(&self) -> &str {
        self.via
    }

    /// How that page was reached.
    pub(super) fn hops(&self) -> &str {
        &self.hops
    }

    /// What a link from there adds to a page.
    pub(super) fn gain(&self) -> Gain<'_> {
        match &self.says {
            Says::Nothing => Gain::OfSeed,
            Says::Page(source) => Gain::From(source),
            Says::Told(gain) => Gain::Told(*gain),
        }
    }

    /// Whether this is where a seed redirects to.
    pub(super) fn leads_seed_to(&self, found: &Discovered) -> bool {
        let is_of_seed = self.hops.bytes().all(|hop| hop == b'R');
        is_of_seed && found.hop == Some('R') && found.purpose == Purpose::Page
    }

    /// A page that was visited, and links to so many others.
    pub(super) fn page(visit: &'a Visit, links: usize) -> Origin<'a> {
        let source = Source {
            host: visit.host(),
            priority: visit.priority,
            links: u32::try_from(links).unwrap_or(u32::MAX),
        };
        Origin {
            via: visit.url.as_str(),
            hops: Cow::Borrowed(&visit.hops),
            says: Says::Page(source),
        }
    }

    /// The same, where it is a robots.txt that was fetched in the page's turn which leads there.
    pub(super) fn by_rules(self) -> Origin<'a> {
        let hops = format!("{}P", self.hops).into();
        Origin { hops, ..self }
    }
}
