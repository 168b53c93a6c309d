//! A visit on its way: from the backlog through the ring to a worker, and back as a report.
//!
//! [`Order`]s go from the frontier's thread to the workers, reports ([`EndedVisit`]) come back; both travel in bounded channels.

mod codec;

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use junkai_fetch::DnsFailure;
use junkai_frontier::admission::priority_of_byte;
use junkai_frontier::{EndReport, ServerKey, Time, VisitKind};
use junkai_revisit::{Found, Hints, PageState, Source, Version};
use junkai_store::backlog::Entry;
use junkai_weburl::{Canonicalizer, Fingerprint, PageUrl, UrlError};

use self::codec::{Kind, Traces, WhatFor};
use crate::annotation::{self, CUT};
use crate::focus::{LinkEstimate, Said};
use crate::outbox::Links;
use crate::waiting_room::Receipt;

/// One planned fetch.
#[derive(Debug)]
pub struct Visit {
    /// The page.
    pub url: PageUrl,
    /// The page that led here; empty for seeds.
    pub via: Box<str>,
    /// Heritrix's hop letters from the seed.
    pub hops: Box<str>,
    /// Links from the seed.
    pub depth: u16,
    /// Failed tries before this one.
    pub tries: u8,
    /// What it is for.
    pub purpose: Purpose,
    /// How it lines up for its server.
    pub line: Line,
    /// Why this known page is visited out of turn, if it is: then its state is not here but in the time queue, where it stays.
    pub out_of_turn: Option<OutOfTurn>,
    /// Its priority, by the links to it: when it was handed out, or as far as that is known before.
    pub priority: f32,
    /// What was estimated of the link to it, where something is wanted and the link was found in this run.
    pub link_estimate: Option<Box<LinkEstimate>>,
    /// What is known of its page; none for a page that was never had, and for a visit out of turn.
    pub state: Option<Box<PageState>>,
    /// What an earlier visit out of turn found, while that waits for the page's state.
    pub noted: Option<Box<Version>>,
    /// Until when it may be made because the rules that took its turn said so. It holds though these had to make way for others since: else they
    /// would take every turn.
    pub allowed_until: Option<Time>,
    /// Its place among those that wait, until it is done.
    pub receipt: Receipt,
}

/// How a visit lines up for its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// At the end, as a new one.
    New,
    /// Ahead of new ones, because it had a turn before.
    Returning,
    /// Ahead of all whose turn is to come, because its own has come: its host has moved meanwhile.
    Moved,
}

/// Why a known page is visited out of turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfTurn {
    /// Somebody asked for it.
    Asked,
    /// A sitemap or a feed says that it has changed.
    Signalled,
}

impl OutOfTurn {
    /// How the page was reached: not as a seed, around which the scope would reach.
    fn hop(self) -> &'static str {
        match self {
            OutOfTurn::Asked => "A",
            OutOfTurn::Signalled => "S",
        }
    }

    /// In a word, for the log.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            OutOfTurn::Asked => annotation::ASKED,
            OutOfTurn::Signalled => annotation::SIGNALLED,
        }
    }
}

/// How a known page was reached that is no seed: that is not kept.
pub const KNOWN_HOP: &str = "-";
/// Heritrix's letter for the hop to a page that no link was seen to lead to.
pub const INFERRED_HOP: char = 'I';
/// Lists in a row that lead to a sitemap: the standard has an index and its sitemaps, some sites have indexes of indexes, and more is a trap.
pub const SITEMAP_LEVELS_MAX: usize = 3;
/// Hop letters that are kept.
const HOPS_MAX: usize = 64;
/// What a visit is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A page: its links count.
    Page,
    /// Something that a page needs: its links count only if it would be in scope as a page; a style sheet's requisites always.
    Requisite,
    /// Where a redirect of a robots.txt leads.
    Robots {
        /// A URL of the origin that the rules are for: its own robots.txt.
        origin: Box<PageUrl>,
    },
    /// A sitemap, in a crawl that goes by them alone: it is read wherever it lies.
    Sitemap,
}

impl Purpose {
    /// What a waiting visit is for. The rules of a robots.txt are for the origin that redirected to it.
    pub fn of_entry(entry: &Entry, canonical: &Canonicalizer) -> Result<Purpose, UrlError> {
        Ok(match Kind::of(entry).what_for {
            WhatFor::Robots => Purpose::Robots {
                origin: Box::new(canonical.parse(&entry.via)?),
            },
            page => Purpose::of_page(page),
        })
    }

    /// What a known page is visited for.
    #[must_use]
    pub fn of_state(state: &PageState) -> Purpose {
        Purpose::of_page(Traces::of(state).what_for)
    }

    /// Whether it is no page that is wanted, but rules.
    #[must_use]
    pub fn is_robots(&self) -> bool {
        matches!(self, Purpose::Robots { .. })
    }

    fn what_for(&self) -> WhatFor {
        match self {
            Purpose::Page => WhatFor::Page,
            Purpose::Requisite => WhatFor::Requisite,
            Purpose::Robots { .. } => WhatFor::Robots,
            Purpose::Sitemap => WhatFor::Sitemap,
        }
    }

    /// The purpose of a visit to a page; a page's state is of no robots.txt.
    fn of_page(what_for: WhatFor) -> Purpose {
        match what_for {
            WhatFor::Page | WhatFor::Robots => Purpose::Page,
            WhatFor::Requisite => Purpose::Requisite,
            WhatFor::Sitemap => Purpose::Sitemap,
        }
    }
}

impl Visit {
    /// A visit as the backlog kept it, with what its texts mean.
    pub fn from_entry(entry: Entry, url: PageUrl, purpose: Purpose, receipt: Receipt) -> Visit {
        let kind = Kind::of(&entry);
        Visit {
            url,
            purpose,
            out_of_turn: kind.out_of_turn,
            via: entry.via.into(),
            hops: entry.hops.into(),
            depth: entry.depth,
            tries: entry.tries,
            line: if kind.is_returning {
                Line::Returning
            } else {
                Line::New
            },
            priority: priority_of_byte(entry.priority),
            link_estimate: None,
            state: None,
            noted: None,
            allowed_until: None,
            receipt,
        }
    }

    /// A visit to a known page, as its state has it.
    pub fn known(url: PageUrl, state: PageState, receipt: Receipt) -> Visit {
        let traces = Traces::of(&state);
        Visit {
            url,
            via: "".into(),
            hops: if traces.is_seed { "" } else { KNOWN_HOP }.into(),
            depth: state.depth,
            tries: traces.tries,
            purpose: Purpose::of_state(&state),
            line: if traces.is_returning {
                Line::Returning
            } else {
                Line::New
            },
            priority: state.worth,
            out_of_turn: None,
            link_estimate: None,
            state: Some(Box::new(state)),
            noted: None,
            allowed_until: None,
            receipt,
        }
    }

    /// The version of its page that is known.
    pub fn known_version(&self) -> Option<&Version> {
        let of_state = self.state.as_ref().and_then(|state| state.version.as_ref());
        of_state.or(self.noted.as_deref())
    }

    /// The same, to learn more of it.
    pub fn known_version_mut(&mut self) -> Option<&mut Version> {
        let of_state = self.state.as_mut().and_then(|state| state.version.as_mut());
        of_state.or(self.noted.as_deref_mut())
    }

    /// As much of it as the log wants.
    pub fn for_the_log(&self) -> Logged<'_> {
        Logged {
            url: self.url.as_str(),
            via: &self.via,
            hops: &self.hops,
            is_robots: self.purpose.is_robots(),
        }
    }

    /// Writes into a page's state what the next visit has to know of this one, and how that lines up.
    pub fn leave_traces(&self, state: &mut PageState, line: Line) {
        let traces = Traces {
            what_for: self.purpose.what_for(),
            is_seed: self.is_seed(),
            is_returning: line == Line::Returning,
            tries: self.tries,
        };
        state.kind = traces.to_byte();
        state.depth = self.depth;
        // What links are worth is the order's own scale: to the planner, a version of any page is worth as much as of another.
    }

    /// The visit as the backlog keeps it, to be made at `due`, and its place until then. Its priority is left to whoever knows the order.
    pub fn into_entry(self, due: Time) -> (Entry, Receipt) {
        let kind = Kind {
            what_for: self.purpose.what_for(),
            out_of_turn: self.out_of_turn,
            is_returning: self.line != Line::New,
            is_discarded: false,
        };
        let entry = Entry {
            url: self.url.into(),
            via: self.via.into(),
            hops: self.hops.into(),
            depth: self.depth,
            tries: self.tries,
            kind: kind.to_byte(),
            priority: 0,
            due,
        };
        (entry, self.receipt)
    }

    /// Whether no link was seen to lead to it.
    pub fn is_inferred(&self) -> bool {
        self.hops.ends_with(INFERRED_HOP)
    }

    /// How many lists in a row led to this sitemap: 1 if robots.txt or a seed names it, 0 for a seed. How a known page was reached is not kept: it may list sitemaps, but no
    /// further indexes.
    pub fn sitemap_level(&self) -> usize {
        sitemap_level(&self.hops)
    }

    /// Which half of its server's turns it takes.
    pub fn kind(&self) -> VisitKind {
        // What is asked for out of turn is not to wait for the pace of known pages.
        if self.state.is_some() {
            VisitKind::Revisit
        } else {
            VisitKind::First
        }
    }

    /// What stands for its host in admission.
    pub fn host(&self) -> u64 {
        host_of(&self.url)
    }

    /// Whether it is a seed, or where a seed redirects to.
    pub fn is_seed(&self) -> bool {
        self.purpose == Purpose::Page && self.hops.bytes().all(|hop| hop == b'R')
    }

    /// What the backlog's log says of a visit that was discarded: its URL is not known.
    pub fn discard_marker(&self) -> Entry<&str> {
        Entry {
            url: self.url.as_str(),
            via: &self.via,
            hops: &self.hops,
            depth: self.depth,
            tries: self.tries,
            kind: Kind {
                is_discarded: true,
                ..Kind::new(self.purpose.what_for())
            }
            .to_byte(),
            priority: 0,
            due: Time::EPOCH,
        }
    }
}

fn sitemap_level(hops: &str) -> usize {
    let before = hops.trim_end_matches(['M', 'R']);
    let lists = hops[before.len()..].matches('M').count();
    let untold = [
        KNOWN_HOP,
        OutOfTurn::Asked.hop(),
        OutOfTurn::Signalled.hop(),
    ];
    let is_untold = untold.into_iter().any(|hop| before.ends_with(hop));
    lists + if is_untold { SITEMAP_LEVELS_MAX - 1 } else { 0 }
}

/// What stands for a page's host in admission.
pub fn host_of(url: &PageUrl) -> u64 {
    Fingerprint::of(url.host()).0
}

/// The entry of a visit that is known already, and so neither new nor to be discarded.
pub fn returning<T: AsRef<str>>(mut entry: Entry<T>) -> Entry<T> {
    let kind = Kind {
        is_returning: true,
        ..Kind::of(&entry)
    };
    entry.kind = kind.to_byte();
    entry
}

/// The entry of a visit that somebody asks for to a page whose state is in the time queue, and stays there.
pub fn asked<T: AsRef<str>>(mut entry: Entry<T>) -> Entry<T> {
    let kind = Kind {
        out_of_turn: Some(OutOfTurn::Asked),
        is_returning: true,
        ..Kind::of(&entry)
    };
    entry.kind = kind.to_byte();
    entry
}

/// The visit to a known page out of turn.
pub fn asked_entry(
    page: &PageUrl,
    why: OutOfTurn,
    purpose: &Purpose,
    depth: u16,
    due: Time,
) -> Entry {
    let kind = Kind {
        out_of_turn: Some(why),
        is_returning: true,
        ..Kind::new(purpose.what_for())
    };
    Entry {
        url: page.as_str().to_owned(),
        via: String::new(),
        hops: why.hop().to_owned(),
        depth,
        tries: 0,
        kind: kind.to_byte(),
        priority: 0,
        due,
    }
}

/// The same visit as one that makes its page known.
pub fn in_turn<T: AsRef<str>>(mut entry: Entry<T>) -> Entry<T> {
    let kind = Kind {
        out_of_turn: None,
        ..Kind::of(&entry)
    };
    entry.kind = kind.to_byte();
    entry
}

/// Whether an entry is of a known page that somebody asked for.
#[must_use]
pub fn is_asked(entry: &Entry) -> bool {
    Kind::of(entry).out_of_turn.is_some()
}

/// Whether an entry only says that its URL was discarded.
#[must_use]
pub fn is_discard_marker(entry: &Entry) -> bool {
    Kind::of(entry).is_discarded
}

/// Whether an entry is of a URL that is known as a page: where a robots.txt redirects to is not.
#[must_use]
pub fn is_of_page(entry: &Entry) -> bool {
    Kind::of(entry).what_for != WhatFor::Robots
}

/// The visit to where the robots.txt of an origin redirects.
pub fn robots_entry(target: &PageUrl, origin: &str, due: Time) -> Entry {
    let kind = Kind {
        is_returning: true,
        ..Kind::new(WhatFor::Robots)
    };
    Entry {
        url: target.as_str().to_owned(),
        via: format!("{origin}/robots.txt"),
        hops: "P".to_owned(),
        depth: 0,
        tries: 0,
        kind: kind.to_byte(),
        priority: 0,
        due,
    }
}

/// A URL that a worker found, in scope and canonical.
#[derive(Clone, Debug)]
pub struct Discovered {
    /// The page.
    pub url: PageUrl,
    /// Heritrix's letter for the hop; none for a seed.
    pub hop: Option<char>,
    /// Links from the seed.
    pub depth: u16,
    /// What it would be visited for.
    pub purpose: Purpose,
    /// What is estimated of the link, where something is wanted.
    pub link_estimate: Option<Box<LinkEstimate>>,
}

impl Discovered {
    /// The new URL as the backlog keeps it, found on the page `via` that was reached by `hops`.
    pub fn entry<'a>(&'a self, via: &'a str, hops: &str, due: Time) -> Entry<Cow<'a, str>> {
        // The oldest hops go when there are too many; the depth still counts all links.
        let kept = &hops[hops.len().saturating_sub(HOPS_MAX - 1)..];
        let mut hops = String::with_capacity(HOPS_MAX);
        hops.push_str(kept);
        hops.extend(self.hop);
        Entry {
            url: Cow::Borrowed(self.url.as_str()),
            via: Cow::Borrowed(via),
            hops: Cow::Owned(hops),
            depth: self.depth,
            tries: 0,
            kind: Kind::new(self.purpose.what_for()).to_byte(),
            priority: 0,
            due,
        }
    }
}

/// What the engine wants done.
#[derive(Debug)]
pub enum Order {
    /// Visit a page. The lease is held until the report comes.
    Visit(Box<Start>),
    /// Find the address of a host.
    Resolve(Box<str>),
    /// Take links to the partition that they belong to.
    Links(Links),
    /// Tell a partition that its links are safe here.
    Confirm(Confirmation),
}

/// A batch of links is in a checkpoint of the partition that it was sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirmation {
    /// The partition that sent it.
    pub to: u16,
    /// What that knows it by.
    pub batch: u64,
}

/// A visit whose turn has come.
#[derive(Debug)]
pub struct Start {
    /// What to visit.
    pub visit: Visit,
    /// The server, whose lease it holds.
    pub key: ServerKey,
    /// The server's address.
    pub address: IpAddr,
    /// Not before this time.
    pub at: Time,
}

impl Start {
    /// Whom it visits.
    pub fn server(&self) -> SocketAddr {
        SocketAddr::new(self.address, self.visit.url.port())
    }
}

/// Where a host is, or why it is nowhere.
pub type Resolution = Result<Located, DnsFailure>;

/// The address of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// The address.
    pub address: IpAddr,
    /// How long that holds from now on.
    pub holds: Duration,
}

/// A visit that ended: its capture, if any, is in the archive.
#[derive(Debug)]
pub struct EndedVisit {
    /// The visit.
    pub visit: Visit,
    /// Its server.
    pub key: ServerKey,
    /// The server's address.
    pub address: IpAddr,
    /// When the exchange began and ended.
    pub started: Time,
    /// When the exchange ended.
    pub ended: Time,
    /// What the lease learns from it.
    pub end: EndReport,
    /// What became of the page.
    pub fate: Fate,
    /// What a robots.txt asks of its host, where this visit brought one.
    pub asked: Option<HostAsked>,
    /// How long an answer that told of no overload asked to be left alone all the same.
    pub retry_after: Option<Duration>,
    /// What it says of the page; none if it was no visit to the page.
    pub found: Option<Found>,
    /// What it says of its site, where something is wanted.
    pub said: Option<Box<Said>>,
    /// What it lists, if it is a sitemap or feed.
    pub list: Option<List>,
    /// What it says of other pages' changes.
    pub signals: Vec<Signal>,
    /// What it led to.
    pub links: Vec<Discovered>,
    /// What is held until these are taken in: their room on the way.
    pub link_room: Option<Box<dyn Held>>,
    /// Whether a page that was not known is among these; the frontier's thread finds out.
    pub leads_to_new: bool,
    /// An origin whose robots.txt is elsewhere, and where.
    pub rules_elsewhere: Option<(String, PageUrl)>,
    /// What it came to, for the logs.
    pub outcome: Outcome,
    /// The worker that made it.
    pub worker: usize,
}

/// Something that a worker holds until its report was taken in, and that is given back by dropping it.
pub trait Held: std::fmt::Debug + Send {}

/// What the robots.txt of an origin asks of visits to its host.
#[derive(Clone, Debug)]
pub struct HostAsked {
    /// The host.
    pub host: Box<str>,
    /// What stands for the origin.
    pub origin: u64,
    /// The pause between two visits; none if it asks for none, or no longer.
    pub delay: Option<Duration>,
}

/// What a sitemap or feed lists, sitemaps of its own not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    /// Pages.
    pub entries: usize,
    /// Of these, the ones that belong to the crawl.
    pub in_scope: usize,
}

/// What a sitemap or a feed says of a page that it lists.
#[derive(Clone, Debug)]
pub struct Signal {
    /// The page.
    pub url: PageUrl,
    /// Who says so.
    pub source: Source,
    /// What is said.
    pub hints: Hints,
}

/// What becomes of a visit after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is done.
    Done,
    /// Its turn went to robots.txt: it takes the next one.
    AnotherTurn,
    /// It comes back after this time, as if nothing had happened.
    Later(Duration),
    /// Our own machine is short of something, such as file descriptors: it comes back soon, and fewer visits are made at a time.
    Short,
    /// The proxy failed: it comes back, and neither page nor server is charged.
    NoProxy,
    /// It failed in a way that may pass: it is tried again, after this time at the earliest.
    Retry {
        /// The time to wait.
        not_before: Duration,
    },
}

/// What the log wants of a visit.
#[derive(Clone, Copy, Debug)]
pub struct Logged<'a> {
    /// The page.
    pub url: &'a str,
    /// The page that led here.
    pub via: &'a str,
    /// How it was reached.
    pub hops: &'a str,
    /// It is for the rules of another origin, and no page.
    pub is_robots: bool,
}

/// What a visit came to, as the logs tell it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// HTTP status or Heritrix's negative code.
    pub status: i32,
    /// Bytes received.
    pub size: u64,
    /// Media type as sent.
    pub mime: Option<String>,
    /// Digest of the payload.
    pub digest: Option<String>,
    /// Words for the log.
    pub annotations: Vec<String>,
    /// Where the capture is, if there is one.
    pub warc: Option<Place>,
    /// In plain words.
    pub result: String,
    /// A URL other than the visit's own that was fetched in its turn: robots.txt.
    pub instead: Option<String>,
    /// The capture, as later ones refer to it.
    pub kept: Option<Kept>,
    /// What changed since the visit before, in a word.
    pub change: Option<String>,
    /// When the page is visited next.
    pub next_visit: Option<Timestamp>,
    /// The scope that people set leaves the page out: no failure.
    pub is_out_of_scope: bool,
}

impl Outcome {
    /// Whether what was kept ends before the answer did.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        let is_of_a_cut = |word: &String| CUT.contains(&word.as_str());
        self.warc.is_some() && self.annotations.iter().any(is_of_a_cut)
    }
}

/// A capture, as later ones refer to it.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Digest of the payload.
    pub payload_digest: String,
    /// The digest by which the index knows it.
    pub indexed_digest: Option<String>,
    /// The date of the capture that holds the payload: this one, or the one that it repeats.
    pub captured: Time,
    /// Where this capture is, if it holds the payload itself.
    pub place: Option<junkai_revisit::Place>,
}

/// Where a capture is.
#[derive(Debug)]
pub struct Place {
    /// The WARC file.
    pub file: Arc<str>,
    /// Where the record begins.
    pub offset: u64,
    /// Bytes of the record.
    pub length: u64,
}

/// Heritrix's status codes for what is not an HTTP answer.
pub mod status {
    /// No address was found.
    pub const DNS_FAILED: i32 = -1;
    /// No connection came about.
    pub const CONNECT_FAILED: i32 = -2;
    /// The connection was lost.
    pub const CONNECTION_LOST: i32 = -3;
    /// It took too long.
    pub const TIMED_OUT: i32 = -4;
    /// Something else went wrong.
    pub const RUNTIME_ERROR: i32 = -5;
    /// robots.txt could not be had.
    pub const ROBOTS_UNREACHABLE: i32 = -61;
    /// The address or the URL does not belong to the crawl.
    pub const OUT_OF_SCOPE: i32 = -5000;
    /// robots.txt says no.
    pub const ROBOTS_DENIED: i32 = -9998;
}

/// When a capture was made, as WARC and logs tell it.
#[must_use]
pub fn timestamp_of(time: Time) -> Timestamp {
    crate::clock::timestamp(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_in_a_row_are_counted_from_the_robots_txt_that_names_the_first() {
        for (hops, level) in [
            ("", 0),
            ("R", 0),
            ("M", 1),
            ("PM", 1),
            ("PMR", 1),
            ("PMRM", 2),
            ("PMMPM", 1),
            ("PMMM", 3),
            // How it was reached is not known: it may list sitemaps, these may not list others.
            ("-", 2),
            ("-R", 2),
            ("-M", 3),
            ("AM", 3),
            ("SM", 3),
            ("-PM", 1),
        ] {
            assert_eq!(sitemap_level(hops), level, "{hops}");
        }
    }
}
