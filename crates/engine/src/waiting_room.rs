//! The waiting room: every visit that waits is on disk, and the best of them stand in the order in which they get a turn.
//!
//! Owns the backlog and admission, because what becomes of a visit concerns both. [`engine`](crate::engine) fills and empties it, in one of two ways:
//!
//! ```text
//!  first come, first served:  new page ──► backlog ──► next ──► ring
//!
//!  by an order:               new page ──► held on disk, and offered ──► next ──► ring
//!                             known page ► raised, if it stands here        ▲
//!                             turned away ──► spilled, by its priority ─────┘ when there is room again
//!                             due again (deferred, or left by the last run) ──► offered
//! ```
//!
//! Read [`WaitingRoom::next`] first, then [`Receipt`]: a visit that was handed out is released once, because nobody else can open its receipt,
//! and whoever opens it here releases it.
//!
//! Invariants: a page stands here once; of an order's candidates no more than fit are in memory; what is handed out depends on the order of calls
//! alone, not on the clock. Where to wait for room on a full disk is decided here, too: no call comes back half done.
//!
//! Not here: which URLs are new (`engine::discovery`), and when a server may be visited (`frontier`).

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use junkai_frontier::Time;
use junkai_frontier::admission::{
    Admission, Candidate, Source, filled_from_spilled, priority_byte,
};
use junkai_store::backlog::{
    Backlog, BacklogError, BacklogStats, Bound, Entry, NotReplaced, Ticket,
};
use junkai_store::time_queue;
use junkai_weburl::{Canonicalizer, PageUrl};

use crate::CrawlError;
use crate::focus::FocusOrder;
use crate::patience::wait_for_room;
use crate::platform::Machine;
use crate::progress::Progress;
use crate::settings::Settings;
use crate::visit::{Discovered, Line, Purpose, Visit, host_of, is_discard_marker};

/// Visits that wait between the backlog and the ring at most, where the first to come is served first.
const FIFO_MAX: usize = 4096;
/// The priority of a seed: that of the mean of all pages of a web, where priority is shared as `PageRank` shares it.
const SEED_PRIORITY: f32 = 1.0;

/// The visits that wait.
pub struct WaitingRoom {
    backlog: Backlog,
    standing: Standing,
    /// Whether there is an order of its own.
    is_ordered: bool,
    /// Candidates in memory at most.
    candidates_max: usize,
    /// With fewer candidates than this, some are taken from those that were spilled.
    candidates_low: usize,
    /// Where a robots.txt leads: pages wait for it, so it waits for nobody.
    urgent: VecDeque<Visit>,
    canonical: Canonicalizer,
    progress: Arc<Progress>,
    machine: Arc<dyn Machine>,
    /// What was found damaged, and is to be told.
    damage: Damage,
    /// Times that a visit was spilled because there was no room for it.
    spilled: u64,
}

/// Damaged blocks of the backlog that were passed over and not told of yet. A disk that fails damages many: one line tells of all that are found within [`TELL_AFTER`].
#[derive(Debug, Default)]
struct Damage {
    /// When the first of them was found.
    since: Option<Time>,
    files: BTreeSet<PathBuf>,
    blocks: u64,
    visits: u64,
}

/// How long damage is gathered.
const TELL_AFTER: Duration = Duration::from_secs(5);

impl Damage {
    fn add(&mut self, path: PathBuf, entries: u32, now: Time) {
        self.since.get_or_insert(now);
        self.files.insert(path);
        self.blocks += 1;
        self.visits += u64::from(entries);
    }

    /// Takes out what is to be told by now, in a line.
    fn due(&mut self, now: Time) -> Option<String> {
        let is_due = self.since.is_some_and(|since| since + TELL_AFTER <= now);
        if is_due { self.take() } else { None }
    }

    /// Takes out all that is to be told, in a line.
    fn take(&mut self) -> Option<String> {
        let Damage {
            since,
            files,
            blocks,
            visits,
        } = std::mem::take(self);
        since?;
        let files: Vec<_> = files
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let files = files.join(", ");
        Some(format!(
            "waiting visits cannot be read; the crawl goes on without them: lost {visits}, damaged blocks {blocks}, in {files}"
        ))
    }
}

/// Tells the operator of damage.
fn tell(damage: Option<String>) {
    if let Some(damage) = damage {
        tracing::error!("{damage}");
    }
}

/// Who comes next.
enum Standing {
    /// By what links say.
    Order(Box<dyn Admission<Visit> + Send>),
    /// By what is wanted.
    Focus(Box<FocusOrder>),
}

/// What a link adds to the page that it leads to.
#[derive(Clone, Copy, Debug)]
pub enum Gain<'a> {
    /// As much as a seed has: no page links to it.
    OfSeed,
    /// What the order makes of the page that it was found on.
    From(&'a Source),
    /// This much, as another partition has found.
    Told(f32),
}

/// A visit's place among those that wait, on disk. Only its owner can open it, and that settles all that its place brings with it.
#[derive(Debug)]
pub enum Receipt {
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
    pub fn new(
        backlog: Backlog,
        focus: Option<FocusOrder>,
        settings: &Settings,
        progress: Arc<Progress>,
        machine: Arc<dyn Machine>,
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
            candidates_low: filled_from_spilled(candidates_max),
            urgent: VecDeque::new(),
            machine,
            canonical: Canonicalizer::new(&settings.canonical),
            progress,
            damage: Damage::default(),
            spilled: 0,
        }
    }

    /// Takes in a page that was not known, with what the first link to it adds. Where something is wanted, its priority is what its link promises.
    pub fn take_in(
        &mut self,
        mut entry: Entry<Cow<'_, str>>,
        found: &Discovered,
        gain: Gain<'_>,
        now: Time,
    ) -> Result<(), CrawlError> {
        if !self.is_ordered {
            return self.append(&entry, now);
        }
        let priority = match &found.link_estimate {
            Some(estimate) => estimate.promise,
            None => self.priority_of_link(&found.url, gain),
        };
        entry.priority = priority_byte(priority);
        let Some(ticket) = self.append_held(&entry)? else {
            return Ok(());
        };
        let entry = entry.with_own_texts();
        let mut visit = Visit::from_entry(
            entry,
            found.url.clone(),
            found.purpose.clone(),
            Receipt::of(ticket),
        );
        visit.priority = priority;
        visit.link_estimate.clone_from(&found.link_estimate);
        self.offer(visit, now)?;
        Ok(())
    }

    /// Why a page that a link leads to cannot be taken in, if too much waits. Seeds, and what was taken in before, are never too much.
    pub fn refuses<T: AsRef<str>>(&self, entry: &Entry<T>) -> Option<Bound> {
        let is_seed = entry.via.as_ref().is_empty();
        self.backlog.refuses(entry).filter(|_| !is_seed)
    }

    /// Learns of a link to a page that is known: it counts for more, if it stands here.
    pub fn raise(&mut self, url: &PageUrl, gain: Gain<'_>) {
        if self.is_ordered && !matches!(gain, Gain::OfSeed) {
            let gain = self.priority_of_link(url, gain);
            self.admission().raise(url.fingerprint().0, gain);
        }
    }

    /// What a link adds to the page that it leads to.
    fn priority_of_link(&mut self, url: &PageUrl, gain: Gain<'_>) -> f32 {
        match gain {
            Gain::OfSeed => SEED_PRIORITY,
            Gain::From(source) => self.admission().gain(source, host_of(url)),
            Gain::Told(gain) => gain,
        }
    }

    /// The priority of a link to a page of another partition: what it adds there.
    pub fn priority_byte_of_link(&mut self, url: &PageUrl, gain: Gain<'_>) -> u8 {
        if self.is_ordered {
            priority_byte(self.priority_of_link(url, gain))
        } else {
            0
        }
    }

    /// Takes in the entry of a page that is visited when it is due, however it came about.
    pub fn append<T: AsRef<str>>(&mut self, entry: &Entry<T>, now: Time) -> Result<(), CrawlError> {
        while let Err(error) = self.backlog.append(entry, now) {
            if self.is_too_long(entry, &error) {
                break;
            }
            wait_for_room(&*self.machine, &self.progress, error.into())?;
        }
        Ok(())
    }

    /// Takes in a page that is known already, and is to be visited once more because somebody asks for it.
    pub fn append_known<T: AsRef<str>>(
        &mut self,
        mut entry: Entry<T>,
        now: Time,
    ) -> Result<(), CrawlError> {
        entry.priority = self.priority_byte(SEED_PRIORITY);
        self.append(&entry, now)
    }

    /// Lets visits that are due stand in the order, this many at most; in an order of its own also the best of those that were spilled, as far
    /// as there is room.
    pub fn refill(&mut self, entries_max: usize, now: Time) -> Result<(), CrawlError> {
        tell(self.damage.due(now));
        for _ in 0..entries_max {
            let mut next = self.read(now, |backlog| backlog.next(now))?;
            if next.is_none() && !self.is_ordered {
                // An earlier run had another order.
                next = self.read(now, Backlog::next_spilled)?;
            }
            let Some((ticket, entry)) = next else {
                break;
            };
            if let Some(visit) = self.visit_of(ticket, entry) {
                self.offer(visit, now)?;
            }
        }
        self.fill_from_spilled(now)
    }

    /// Takes in the best of those that were spilled, until more than three quarters of the candidates' room are taken; the rest is for who is
    /// found next.
    fn fill_from_spilled(&mut self, now: Time) -> Result<(), CrawlError> {
        while self.is_ordered
            && self.admission().len() < self.candidates_low
            && let Some((ticket, entry)) = self.read(now, Backlog::next_spilled)?
        {
            if let Some(visit) = self.visit_of(ticket, entry)
                && self.offer(visit, now)? == Offered::TurnedAway
            {
                // An order that has room, but not for this page: the next call looks at the next one.
                break;
            }
        }
        Ok(())
    }

    /// Hands out the visit that comes next; none if none waits, or none of those that wait may go before another is over. It is out until it is
    /// [`done`](Self::done) or [deferred](Self::defer).
    ///
    /// Its place is filled at once from what was spilled. Were that done later, it would depend on the clock whether a page that is found next stands before or
    /// behind the one that was spilled.
    pub fn next(&mut self, now: Time) -> Result<Option<Visit>, CrawlError> {
        if let Some(urgent) = self.urgent.pop_front() {
            return Ok(Some(urgent));
        }
        let Some(candidate) = self.admission().next() else {
            return Ok(None);
        };
        let mut visit = candidate.visit;
        visit.priority = candidate.priority;
        if let Receipt::Waiting { is_handed_out, .. } = &mut visit.receipt {
            *is_handed_out = true;
        }
        self.fill_from_spilled(now)?;
        Ok(Some(visit))
    }

    /// A visit is over, or will not be made.
    pub fn done(&mut self, visit: Visit) {
        self.release(&visit);
        if let Standing::Focus(focus) = &mut self.standing {
            focus.ended(&visit);
        }
        if let Receipt::Waiting { ticket, .. } = visit.receipt {
            self.backlog.ack(ticket);
        }
    }

    /// A visit is to be made at `due`, and will not line up as a new one again.
    pub fn defer(&mut self, mut visit: Visit, due: Time, now: Time) -> Result<(), CrawlError> {
        self.release(&visit);
        visit.line = Line::Returning;
        let priority = self.priority_byte(visit.priority);
        let (mut entry, receipt) = visit.into_entry(due);
        entry.priority = priority;
        let Receipt::Waiting { mut ticket, .. } = receipt else {
            return Ok(());
        };
        while let Err(NotReplaced {
            ticket: kept,
            source,
        }) = self.backlog.replace(ticket, &entry, now)
        {
            ticket = kept;
            wait_for_room(&*self.machine, &self.progress, source.into())?;
        }
        Ok(())
    }

    /// Writes down what links have made of the candidates, so that the next run goes on with it. Until then that is in memory alone: after a
    /// kill they have what their first link gave them.
    pub fn spill_all(&mut self, now: Time) -> Result<(), CrawlError> {
        tell(self.damage.take());
        while self.is_ordered
            && let Some(candidate) = self.admission().take_out()
        {
            self.spill(candidate, now)?;
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

    /// Lets a visit stand in the order; the one that has to make room is spilled to disk.
    fn offer(&mut self, visit: Visit, now: Time) -> Result<Offered, CrawlError> {
        if self.is_ordered && visit.purpose.is_robots() {
            self.urgent.push_back(visit);
            return Ok(Offered::Stands);
        }
        let fingerprint = stands_for(&visit);
        if self.admission().raise(fingerprint, 0.0) {
            // Two entries on disk for one page: a seed that is asked for twice, or URLs that are one page by today's settings.
            self.done(visit);
            return Ok(Offered::Stands);
        }
        let candidate = Candidate {
            fingerprint,
            host: visit.host(),
            priority: visit.priority,
            visit,
        };
        let candidates_max = self.candidates_max;
        match self.admission().offer_within(candidate, candidates_max) {
            Some(candidate) => {
                self.spilled += 1;
                self.spill(candidate, now)?;
                Ok(Offered::TurnedAway)
            }
            None => Ok(Offered::Stands),
        }
    }

    fn spill(&mut self, candidate: Candidate<Visit>, now: Time) -> Result<(), CrawlError> {
        let (mut entry, receipt) = candidate.visit.into_entry(now);
        entry.priority = self.priority_byte(candidate.priority);
        let Receipt::Waiting { mut ticket, .. } = receipt else {
            return Ok(());
        };
        while let Err(NotReplaced {
            ticket: kept,
            source,
        }) = self.backlog.spill(ticket, &entry)
        {
            ticket = kept;
            wait_for_room(&*self.machine, &self.progress, source.into())?;
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
                Err(error) => wait_for_room(&*self.machine, &self.progress, error.into())?,
            }
        }
    }

    /// An entry from the backlog. A damaged file is told of, and passed over.
    fn read(
        &mut self,
        now: Time,
        mut next: impl FnMut(&mut Backlog) -> Result<Option<(Ticket, Entry)>, BacklogError>,
    ) -> Result<Option<(Ticket, Entry)>, CrawlError> {
        loop {
            match next(&mut self.backlog) {
                Ok(next) => return Ok(next),
                Err(BacklogError::Damaged { path, entries, .. }) => {
                    self.progress.visits_lost.add(u64::from(entries));
                    self.damage.add(path, entries, now);
                }
                Err(error) => wait_for_room(&*self.machine, &self.progress, error.into())?,
            }
        }
    }

    /// The visit of an entry; none if it cannot be made.
    fn visit_of(&mut self, ticket: Ticket, entry: Entry) -> Option<Visit> {
        if is_discard_marker(&entry) {
            self.backlog.ack(ticket);
            return None;
        }
        let url = self.canonical.parse(&entry.url);
        let purpose = Purpose::of_entry(&entry, &self.canonical);
        match url.and_then(|url| Ok((url, purpose?))) {
            Ok((url, purpose)) => {
                let receipt = Receipt::of(ticket);
                Some(Visit::from_entry(entry, url, purpose, receipt))
            }
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

    /// The priority as the backlog keeps it; in a crawl without an order of its own it would only take room.
    fn priority_byte(&self, priority: f32) -> u8 {
        if self.is_ordered {
            priority_byte(priority)
        } else {
            0
        }
    }

    fn admission(&mut self) -> &mut dyn Admission<Visit> {
        match &mut self.standing {
            Standing::Order(admission) => &mut **admission,
            Standing::Focus(focus) => focus.admission(),
        }
    }

    /// The order of a focused crawl.
    pub fn focus(&mut self) -> Option<&mut FocusOrder> {
        match &mut self.standing {
            Standing::Order(_) => None,
            Standing::Focus(focus) => Some(focus),
        }
    }

    /// The same, to look at.
    #[must_use]
    pub fn focus_shown(&self) -> Option<&FocusOrder> {
        match &self.standing {
            Standing::Order(_) => None,
            Standing::Focus(focus) => Some(focus),
        }
    }

    /// Whether there is an order of its own.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    /// Visits that stand in the order.
    pub fn in_memory(&mut self) -> usize {
        self.urgent.len() + self.admission().len()
    }

    /// Times that a visit was spilled because there was no room for it.
    #[must_use]
    pub fn spilled(&self) -> u64 {
        self.spilled
    }

    /// What waits, and what is in hand.
    #[must_use]
    pub fn stats(&self) -> BacklogStats {
        self.backlog.stats()
    }

    /// Where all that waits is kept, for whoever makes it durable or looks through it.
    pub fn backlog(&mut self) -> &mut Backlog {
        &mut self.backlog
    }
}

/// What became of a visit that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offered {
    /// It stands in the order, or stood there already.
    Stands,
    /// It, or the one that had to make room for it, was spilled.
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

/// What stands for a visit among the candidates. A visit out of turn is another one than the first visit to the same page, which makes the page known: one must
/// not be taken for the other.
fn stands_for(visit: &Visit) -> u64 {
    const OUT_OF_TURN: u64 = 1 << 63;
    let fingerprint = visit.url.fingerprint().0;
    match visit.out_of_turn {
        Some(_) => fingerprint ^ OUT_OF_TURN,
        None => fingerprint,
    }
}

#[cfg(test)]
mod tests;
