//! The waiting room: every visit that waits is on disk, and the best of them stand in the order in which they get a turn.
//!
//! Owns the backlog and admission, because what becomes of a visit concerns both. [`rounds`](crate::rounds) fills and empties it, in one of two ways:
//!
//! ```text
//!  first come, first served:  new page ──► backlog ──► next ──► ring
//!
//!  by an order:               new page ──► held on disk, and offered ──► next ──► ring
//!                             known page ► raised, if it stands here        ▲
//!                             turned away ──► aside, by its grade ──────────┘ when there is room again
//!                             due again (put off, or left by the last run) ──► offered
//! ```
//!
//! Read [`WaitingRoom::next`] first, then [`Receipt`]: a visit that was handed out is released once, because nobody else can open its receipt,
//! and whoever opens it here releases it.
//!
//! Invariants: a page stands here once; of an order's candidates no more than fit are in memory; what is handed out depends on the order of calls
//! alone, not on the clock. Where to wait for room on a full disk is decided here, too: no call comes back half done.
//!
//! Not here: which URLs are new (`rounds::discovery`), and when a server may be visited (`frontier`).

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use junkai_frontier::Time;
use junkai_frontier::admission::{Admission, Candidate, Source, filled_from_aside, grade_of};
use junkai_store::backlog::{
    Backlog, BacklogError, BacklogStats, Bound, Entry, NotReplaced, Ticket,
};
use junkai_store::time_queue;
use junkai_weburl::{Canonicalizer, PageUrl};

use crate::CrawlError;
use crate::clock::Clock;
use crate::focus::FocusOrder;
use crate::patience::wait_for_room;
use crate::progress::Progress;
use crate::settings::Settings;
use crate::visit::{Discovered, Line, Purpose, Visit, host_of, is_discard_marker};

/// Visits that wait between the backlog and the ring at most, where the first to come is served first.
const FIFO_MAX: usize = 4096;
/// What a seed is worth: as much as the mean of all pages of a web, where worth is shared as `PageRank` shares it.
const SEED_WORTH: f32 = 1.0;

/// The visits that wait.
pub(crate) struct WaitingRoom {
    backlog: Backlog,
    standing: Standing,
    /// Whether there is an order of its own.
    is_ordered: bool,
    /// Candidates in memory at most.
    candidates_max: usize,
    /// With fewer candidates than this, some are taken from those that were put aside.
    candidates_low: usize,
    /// Where a robots.txt leads: pages wait for it, so it waits for nobody.
    urgent: VecDeque<Visit>,
    canonical: Canonicalizer,
    clock: Clock,
    progress: Arc<Progress>,
}

/// Who comes next.
enum Standing {
    /// By what links say.
    Order(Box<dyn Admission<Visit> + Send>),
    /// By what is wanted.
    Focus(Box<FocusOrder>),
}

/// A visit's place among those that wait, on disk. Only its owner can open it, and that settles all that its place brings with it.
#[derive(Debug)]
pub(crate) enum Receipt {
    /// In the waiting room: an entry of the backlog, and its host's turn in the order.
    Waiting {
        /// The entry.
        ticket: Ticket,
        /// Whether its host has a turn out.
        is_handed_out: bool,
    },
    /// Among the known pages: its state in the time queue.
    Known(time_queue::Ticket),
}

impl WaitingRoom {
    /// The waiting room over a backlog, in the order that the settings say.
    pub(crate) fn new(
        backlog: Backlog,
        focus: Option<FocusOrder>,
        settings: &Settings,
        clock: Clock,
        progress: Arc<Progress>,
    ) -> WaitingRoom {
        let crawl = &settings.crawl;
        let candidates_max = if settings.is_ordered() {
            crawl.candidates.get()
        } else {
            FIFO_MAX
        };
        WaitingRoom {
            backlog,
            standing: match focus {
                Some(order) => Standing::Focus(Box::new(order)),
                None => Standing::Order(crawl.order.admission(candidates_max)),
            },
            is_ordered: settings.is_ordered(),
            candidates_max,
            candidates_low: filled_from_aside(candidates_max),
            urgent: VecDeque::new(),
            canonical: Canonicalizer::new(&settings.canonical),
            clock,
            progress,
        }
    }

    /// Takes in a page that was not known, found on `source`; a seed has none. Where something is wanted, it is worth what its link promises.
    pub(crate) fn take_in(
        &mut self,
        mut entry: Entry<Cow<'_, str>>,
        found: &Discovered,
        source: Option<&Source>,
    ) -> Result<(), CrawlError> {
        if !self.is_ordered {
            return self.append(&entry);
        }
        let host = host_of(&found.url);
        let worth = match (&found.lead, source) {
            (Some(lead), _) => lead.promise,
            (None, Some(source)) => self.admission().gain(source, host),
            (None, None) => SEED_WORTH,
        };
        entry.grade = grade_of(worth);
        let Some(ticket) = self.append_held(&entry)? else {
            return Ok(());
        };
        let entry = entry.with_own_texts();
        let mut visit = Visit::from_entry(entry, found.url.clone(), Receipt::of(ticket));
        visit.worth = worth;
        visit.lead.clone_from(&found.lead);
        self.offer(visit)?;
        Ok(())
    }

    /// Why a page that a link leads to cannot be taken in, if too much waits. Seeds, and what was taken in before, are never too much.
    pub(crate) fn refuses<T: AsRef<str>>(&self, entry: &Entry<T>) -> Option<Bound> {
        let is_seed = entry.via.as_ref().is_empty();
        self.backlog.refuses(entry).filter(|_| !is_seed)
    }

    /// Learns of a link to a page that is known: it counts for more, if it stands here.
    pub(crate) fn raise(&mut self, url: &PageUrl, source: Option<&Source>) {
        if self.is_ordered
            && let Some(source) = source
        {
            let admission = self.admission();
            let gain = admission.gain(source, host_of(url));
            admission.raise(url.fingerprint().0, gain);
        }
    }

    /// Takes in the entry of a page that is visited when it is due, however it came about.
    pub(crate) fn append<T: AsRef<str>>(&mut self, entry: &Entry<T>) -> Result<(), CrawlError> {
        while let Err(error) = self.backlog.append(entry, self.clock.now()) {
            if self.is_too_long(entry, &error) {
                break;
            }
            wait_for_room(&self.progress, error.into())?;
        }
        Ok(())
    }

    /// Takes in a page that is known already, and is to be visited once more because somebody asks for it.
    pub(crate) fn append_known<T: AsRef<str>>(
        &mut self,
        mut entry: Entry<T>,
    ) -> Result<(), CrawlError> {
        entry.grade = self.grade(SEED_WORTH);
        self.append(&entry)
    }

    /// Lets visits that are due stand in the order, this many at most; in an order of its own also the best of those that were put aside, as far
    /// as there is room.
    pub(crate) fn refill(&mut self, entries_max: usize) -> Result<(), CrawlError> {
        let now = self.clock.now();
        for _ in 0..entries_max {
            let mut next = self.read(|backlog| backlog.next(now))?;
            if next.is_none() && !self.is_ordered {
                // An earlier run had another order.
                next = self.read(Backlog::next_aside)?;
            }
            let Some((ticket, entry)) = next else {
                break;
            };
            if let Some(visit) = self.visit_of(ticket, entry) {
                self.offer(visit)?;
            }
        }
        self.fill_from_aside()
    }

    /// Takes in the best of those that were put aside, until more than three quarters of the candidates' room are taken; the rest is for who is
    /// found next.
    fn fill_from_aside(&mut self) -> Result<(), CrawlError> {
        while self.is_ordered
            && self.admission().len() < self.candidates_low
            && let Some((ticket, entry)) = self.read(Backlog::next_aside)?
        {
            if let Some(visit) = self.visit_of(ticket, entry)
                && self.offer(visit)? == Offered::TurnedAway
            {
                // An order that has room, but not for this page: the next call looks at the next one.
                break;
            }
        }
        Ok(())
    }

    /// Hands out the visit that comes next; none if none waits, or none of those that wait may go before another is over. It is out until it is
    /// [`done`](Self::done) or [put off](Self::put_off).
    ///
    /// Its place is filled from aside at once. Were that put off, it would depend on the clock whether a page that is found next stands before or
    /// behind the one from aside.
    pub(crate) fn next(&mut self) -> Result<Option<Visit>, CrawlError> {
        if let Some(urgent) = self.urgent.pop_front() {
            return Ok(Some(urgent));
        }
        let Some(candidate) = self.admission().next() else {
            return Ok(None);
        };
        let mut visit = candidate.visit;
        visit.worth = candidate.worth;
        if let Receipt::Waiting { is_handed_out, .. } = &mut visit.receipt {
            *is_handed_out = true;
        }
        self.fill_from_aside()?;
        Ok(Some(visit))
    }

    /// A visit is over, or will not be made.
    pub(crate) fn done(&mut self, visit: Visit) {
        self.release(&visit);
        if let Standing::Focus(focus) = &mut self.standing {
            focus.ended(&visit);
        }
        if let Receipt::Waiting { ticket, .. } = visit.receipt {
            self.backlog.ack(ticket);
        }
    }

    /// A visit is to be made at `due`, and will not line up as a new one again.
    pub(crate) fn put_off(&mut self, mut visit: Visit, due: Time) -> Result<(), CrawlError> {
        self.release(&visit);
        visit.line = Line::Returning;
        let grade = self.grade(visit.worth);
        let (mut entry, receipt) = visit.into_entry(due);
        entry.grade = grade;
        let Receipt::Waiting { mut ticket, .. } = receipt else {
            return Ok(());
        };
        while let Err(NotReplaced {
            ticket: kept,
            source,
        }) = self.backlog.replace(ticket, &entry, self.clock.now())
        {
            ticket = kept;
            wait_for_room(&self.progress, source.into())?;
        }
        Ok(())
    }

    /// Writes down what links have made of the candidates, so that the next run goes on with it. Until then that is in memory alone: after a
    /// kill they have what their first link gave them.
    pub(crate) fn put_all_aside(&mut self) -> Result<(), CrawlError> {
        while self.is_ordered
            && let Some(candidate) = self.admission().take_out()
        {
            self.put_aside(candidate)?;
        }
        Ok(())
    }

    /// The one place where a host gets its turn back.
    fn release(&mut self, visit: &Visit) {
        if let Receipt::Waiting {
            is_handed_out: true,
            ..
        } = visit.receipt
        {
            self.admission().release(visit.host());
        }
    }

    /// Lets a visit stand in the order; who has to make room is put aside.
    fn offer(&mut self, visit: Visit) -> Result<Offered, CrawlError> {
        if self.is_ordered && visit.purpose == Purpose::Robots {
            self.urgent.push_back(visit);
            return Ok(Offered::Stands);
        }
        let fingerprint = visit.url.fingerprint().0;
        if self.admission().raise(fingerprint, 0.0) {
            // Two entries on disk for one page: a seed that is asked for twice, or URLs that are one page by today's settings.
            self.done(visit);
            return Ok(Offered::Stands);
        }
        let candidate = Candidate {
            fingerprint,
            host: visit.host(),
            worth: visit.worth,
            visit,
        };
        let candidates_max = self.candidates_max;
        match self.admission().offer_within(candidate, candidates_max) {
            Some(candidate) => {
                self.put_aside(candidate)?;
                Ok(Offered::TurnedAway)
            }
            None => Ok(Offered::Stands),
        }
    }

    fn put_aside(&mut self, candidate: Candidate<Visit>) -> Result<(), CrawlError> {
        let (mut entry, receipt) = candidate.visit.into_entry(self.clock.now());
        entry.grade = self.grade(candidate.worth);
        let Receipt::Waiting { mut ticket, .. } = receipt else {
            return Ok(());
        };
        while let Err(NotReplaced {
            ticket: kept,
            source,
        }) = self.backlog.put_aside(ticket, &entry)
        {
            ticket = kept;
            wait_for_room(&self.progress, source.into())?;
        }
        Ok(())
    }

    fn append_held<T: AsRef<str>>(
        &mut self,
        entry: &Entry<T>,
    ) -> Result<Option<Ticket>, CrawlError> {
        loop {
            match self.backlog.append_held(entry) {
                Ok(ticket) => return Ok(Some(ticket)),
                Err(error) if self.is_too_long(entry, &error) => return Ok(None),
                Err(error) => wait_for_room(&self.progress, error.into())?,
            }
        }
    }

    /// An entry from the backlog. A damaged file is told of, and passed over.
    fn read(
        &mut self,
        mut next: impl FnMut(&mut Backlog) -> Result<Option<(Ticket, Entry)>, BacklogError>,
    ) -> Result<Option<(Ticket, Entry)>, CrawlError> {
        loop {
            match next(&mut self.backlog) {
                Ok(next) => return Ok(next),
                Err(error @ BacklogError::Damaged { entries, .. }) => {
                    self.progress.visits_lost.add(u64::from(entries));
                    tracing::error!(%error, "waiting visits cannot be read; the crawl goes on without them");
                }
                Err(error) => wait_for_room(&self.progress, error.into())?,
            }
        }
    }

    /// The visit of an entry; none if it cannot be made.
    fn visit_of(&mut self, ticket: Ticket, entry: Entry) -> Option<Visit> {
        if is_discard_marker(&entry) {
            self.backlog.ack(ticket);
            return None;
        }
        match self.canonical.parse(&entry.url) {
            Ok(url) => Some(Visit::from_entry(entry, url, Receipt::of(ticket))),
            Err(error) => {
                // It was written under another idea of what a URL is.
                self.progress.visits_lost.add(1);
                tracing::error!(url = ?entry.url, %error, "the URL of a waiting visit cannot be read; the crawl goes on without it");
                self.backlog.ack(ticket);
                None
            }
        }
    }

    /// Whether an entry cannot be kept because its URLs are too long; that is told of.
    fn is_too_long<T: AsRef<str>>(&self, entry: &Entry<T>, error: &BacklogError) -> bool {
        let BacklogError::EntryTooLong { bytes } = *error else {
            return false;
        };
        self.progress.urls_refused.add(1);
        tracing::warn!(url = ?entry.url.as_ref(), bytes, "a URL is too long to wait for its turn");
        true
    }

    /// The grade that the backlog keeps; in a crawl without an order of its own it would only take room.
    fn grade(&self, worth: f32) -> u8 {
        if self.is_ordered { grade_of(worth) } else { 0 }
    }

    fn admission(&mut self) -> &mut dyn Admission<Visit> {
        match &mut self.standing {
            Standing::Order(admission) => &mut **admission,
            Standing::Focus(focus) => focus.admission(),
        }
    }

    /// The order of a focused crawl.
    pub(crate) fn focus(&mut self) -> Option<&mut FocusOrder> {
        match &mut self.standing {
            Standing::Order(_) => None,
            Standing::Focus(focus) => Some(focus),
        }
    }

    /// The same, to look at.
    pub(crate) fn focus_shown(&self) -> Option<&FocusOrder> {
        match &self.standing {
            Standing::Order(_) => None,
            Standing::Focus(focus) => Some(focus),
        }
    }

    /// Whether there is an order of its own.
    pub(crate) fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    /// What waits, and what is in hand.
    pub(crate) fn stats(&self) -> BacklogStats {
        self.backlog.stats()
    }

    /// Where all that waits is kept, for whoever makes it durable or looks through it.
    pub(crate) fn backlog(&mut self) -> &mut Backlog {
        &mut self.backlog
    }
}

/// What became of a visit that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offered {
    /// It stands in the order, or stood there already.
    Stands,
    /// It, or who had to make room for it, is aside.
    TurnedAway,
}

impl Receipt {
    fn of(ticket: Ticket) -> Receipt {
        Receipt::Waiting {
            ticket,
            is_handed_out: false,
        }
    }
}

#[cfg(test)]
mod tests;
