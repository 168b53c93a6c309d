//! The pages that are known: their states in the time queue, and the planner that says when to come back.
//!
//! The second of the two loops of `ARCHITECTURE.md`. [`engine`](crate::engine) takes what is due by [`KnownPages::next`], and gives it back, after its
//! visit or without one, by [`KnownPages::revisited`], [`defer`](KnownPages::defer) or [`forget`](KnownPages::forget). A page joins by
//! [`KnownPages::first_visited`].
//!
//! A page that is visited out of turn, because somebody asks for it or a sitemap says that it changed, is not looked up: the time queue cannot do
//! that. What was found is noted beside the queue, and joined with the page's state when that surfaces.
//!
//! Invariants: a page has one state; what a visit found is journalled before the visit is acknowledged. Where to wait for room on a full disk is
//! decided here, as in the waiting room. Not here: which of those that wait goes next.

use std::sync::Arc;
use std::time::Duration;

use hashbrown::{HashMap, HashSet};
use junkai_frontier::{ServerKey, Time};
use junkai_page::content::{Boilerplate, BoilerplateBounds};
use junkai_revisit::{
    Advice, Change, Draw, Found, Hints, Judgement, Look, Looking, Next, PageState, Planner,
    Sighting, Version,
};
use junkai_store::time_queue::{Lengths, Record, Ticket, TimeQueue, TimeQueueError};
use junkai_weburl::{Canonicalizer, Fingerprint, PageUrl};

use crate::CrawlError;
use crate::outcomes::Told;
use crate::patience::wait_for_room;
use crate::platform::Platform;
use crate::progress::Progress;
use crate::soon::SoonDue;
use crate::visit::{Line, Signal, Visit};
use crate::waiting_room::Receipt;

/// Between two looks through the notes of visits out of turn.
const NOTES_EVERY: Duration = Duration::from_hours(24);
/// A note waits for its page's state for so many of the longest intervals.
const NOTES_PATIENCE: u32 = 2;
/// Saving what the planner has learned takes at most one part in so many of the frontier's time.
const SAVING_PART: u32 = 100;
/// Pages of which it is remembered what lists say of them: some 100 bytes each.
const HINTS_MAX: usize = 100_000;
/// Bytes of an earlier capture that is read when a visit out of turn is joined with its page, at most: the frontier's thread waits for it.
const JOINED_BYTES_MAX: usize = 1 << 20;
/// States that are looked through for a few pages, at most: the frontier's thread waits for it.
const LOOKED_THROUGH_MAX: u64 = 200_000;
/// Known pages that a round looks at because they may wait too long by new settings, at most.
const RECALLS_PER_ROUND: usize = 1024;
/// Such captures that are read in a round.
const JOINED_READS_PER_ROUND: usize = 16;

/// The known pages.
pub struct KnownPages {
    queue: TimeQueue,
    planner: Planner,
    canonical: Canonicalizer,
    progress: Arc<Progress>,
    /// The machine, and the captures whose content nobody has read.
    platform: Platform,
    /// Captures that may still be read in this round.
    reads_left: usize,
    /// Pages that may still be recalled in this round.
    recalls_left: usize,
    /// How often every page is to be visited (`revisit.at_least`), and how often all known pages were planned to be when this run began.
    at_least: Option<Duration>,
    timed_by: Option<Duration>,
    boilerplate: Boilerplate,
    /// Pages whose state was written shortly before a kill, when the end of their first visit may not have been: by fingerprint.
    just_visited: HashSet<u64>,
    /// Pages that found no room in the ring, for a moment.
    soon: SoonDue,
    /// What lists said of pages that were not visited since, by fingerprint; no more than [`HINTS_MAX`].
    hints: HashMap<u64, Hints>,
    /// Visits out of turn that were joined with their pages' states and not told of yet: those of one call of [`KnownPages::next`].
    joined: Vec<Joined>,
    /// Pages whose states could not be read and that were not told of yet: those of one call of [`KnownPages::next`].
    unreadable: Vec<PageUrl>,
    /// When notes are looked through next.
    notes_due: Time,
    /// Signals taken in so far.
    signals: u32,
    /// Whether the planner was saved since anything was learned.
    is_planner_saved: bool,
    /// When it may be saved next.
    saving_due: Duration,
}

/// A visit out of turn that was joined with its page's state.
#[derive(Debug)]
pub struct Joined {
    /// The page.
    pub page: PageUrl,
    /// When it was made.
    pub visited: Time,
    /// What became of it.
    pub verdict: Verdict,
}

/// What became of a visit, beside what the log says of it.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// What changed; none for a page that was not known.
    pub change: Option<Change>,
    /// When the page is visited next.
    pub next: Next,
}

impl KnownPages {
    /// The known pages of a queue, planned by `planner`.
    pub fn new(
        queue: TimeQueue,
        planner: Planner,
        canonical: Canonicalizer,
        progress: Arc<Progress>,
        just_visited: HashSet<u64>,
        platform: Platform,
    ) -> KnownPages {
        KnownPages {
            saving_due: platform.machine.counted(),
            platform,
            reads_left: JOINED_READS_PER_ROUND,
            recalls_left: RECALLS_PER_ROUND,
            at_least: None,
            timed_by: None,
            boilerplate: Boilerplate::new(BoilerplateBounds {
                hosts: 0,
                blocks_per_host: 0,
            }),
            queue,
            planner,
            canonical,
            progress,
            just_visited,
            soon: SoonDue::default(),
            hints: HashMap::new(),
            joined: Vec::new(),
            unreadable: Vec::new(),
            notes_due: Time::EPOCH,
            signals: 0,
            is_planner_saved: true,
        }
    }

    /// Every page is to be visited at least so often, and those that are known were planned to be as often as `timed_by` says. Where that is less often, each of
    /// them is looked at once, and brought forward if it waits too long: a few in each round.
    pub fn time_by(
        &mut self,
        at_least: Option<Duration>,
        timed_by: Option<Duration>,
        now: Time,
    ) -> Result<(), CrawlError> {
        (self.at_least, self.timed_by) = (at_least, timed_by);
        let is_shorter = at_least.is_some_and(|now| timed_by.is_none_or(|before| now < before));
        if is_shorter && 0 < self.queue.records() {
            let pages = self.queue.records();
            tracing::info!(
                pages,
                "revisit.at_least is shorter than the known pages were planned by: their next visits are brought forward"
            );
            self.queue.recall(now)?;
        }
        Ok(())
    }

    /// How often all known pages are planned to be visited at least: what the next run is to be told.
    #[must_use]
    pub fn timed_by(&self) -> Option<Duration> {
        if self.queue.is_recalled() {
            self.at_least
        } else {
            self.timed_by
        }
    }

    /// Whether the round has recalled as many pages as it may.
    #[must_use]
    pub fn has_more_to_recall(&self) -> bool {
        self.recalls_left == 0
    }

    /// A round begins, with room for a few captures to be read and a few pages to be recalled.
    pub fn begin_round(&mut self) {
        self.reads_left = JOINED_READS_PER_ROUND;
        self.recalls_left = RECALLS_PER_ROUND;
    }

    /// The next page that is due; it is out until it is given back. Pages that are only to be looked at, or whose time lies beyond what the queue
    /// covers, are put back. `None` while this [is full](KnownPages::is_full) means: call again when that is written. It may also mean that the round has read as
    /// many captures as it may: then the rest comes in the next one.
    pub fn next(&mut self, now: Time) -> Result<Option<Visit>, CrawlError> {
        if let Some(visit) = self.soon.next(now) {
            return Ok(Some(visit));
        }
        while !self.is_full()
            && 0 < self.reads_left
            && let Some((ticket, record)) = self.read(now)?
        {
            let Ok(url) = self.canonical.parse(&record.url) else {
                tracing::error!(url = record.url, "a known page has no URL; it is forgotten");
                self.queue.remove(ticket);
                continue;
            };
            let Some(state) = PageState::decode(&record.body) else {
                tracing::warn!(%url, "the state of a page cannot be read; it is visited as a new one");
                self.queue.remove(ticket);
                self.unreadable.push(url);
                continue;
            };
            let note = self.queue.take_early(&ticket, url.fingerprint().0);
            // A note that was made while the page was out on a visit is older than what that found.
            let noted = note
                .and_then(|note| PageState::decode(&note))
                .filter(|noted| state.last_visit < noted.last_visit);
            if let Some(noted) = noted {
                let visit = Visit::known(url, state, Receipt::Known(ticket));
                self.join(visit, noted)?;
                continue;
            }
            let mut state = state;
            let drawn_last = draw(&url, state.visits.saturating_sub(1));
            let looking = Looking {
                page: &url,
                at: now,
                hints: self.hints_of(&url),
            };
            let look = self.planner.look(&mut state, &looking, drawn_last);
            let visit = Visit::known(url, state, Receipt::Known(ticket));
            match look {
                Look::Visit => return Ok(Some(visit)),
                Look::Again(then) => self.defer_unchanged(visit, then, now)?,
            }
        }
        Ok(None)
    }

    /// A page was visited for the first time. Whoever calls acknowledges the visit afterwards.
    pub fn first_visited(
        &mut self,
        visit: &Visit,
        sighting: &Sighting<'_>,
    ) -> Result<Verdict, CrawlError> {
        self.is_planner_saved = false;
        let (mut state, next) = self.planner.first_visit(sighting, draw(sighting.page, 0));
        visit.leave_traces(&mut state, Line::New);
        match next {
            Next::At(_) => {
                let look = self.planner.next_look(&state, sighting.at);
                if !self.put(&record(&visit.url, &state, look), sighting.at)? {
                    self.planner.forget(&state);
                }
            }
            Next::GiveUp(_) => {}
        }
        Ok(Verdict { change: None, next })
    }

    /// A known page was visited, or could not be.
    pub fn revisited(
        &mut self,
        visit: Visit,
        sighting: &Sighting<'_>,
    ) -> Result<Verdict, CrawlError> {
        let verdict = self.settle(visit, sighting)?;
        self.progress.revisits.add(1);
        self.count_change(&verdict);
        Ok(verdict)
    }

    /// Brings a page's state up to date, and puts it where its next visit is.
    fn settle(&mut self, mut visit: Visit, sighting: &Sighting<'_>) -> Result<Verdict, CrawlError> {
        self.is_planner_saved = false;
        let Some(mut state) = visit.state.take() else {
            return Err(CrawlError::Bug {
                what: format!("{} is not known", visit.url),
            });
        };
        let draw = draw(sighting.page, state.visits);
        self.hints.remove(&sighting.page.fingerprint().0);
        let Judgement { change, next } = self.planner.revisited(&mut state, sighting, draw);
        visit.tries = 0;
        visit.leave_traces(&mut state, Line::New);
        let Receipt::Known(ticket) = visit.receipt else {
            return Err(CrawlError::Bug {
                what: format!("{} did not come from the time queue", visit.url),
            });
        };
        match next {
            Next::At(_) => {
                let look = self.planner.next_look(&state, sighting.at);
                self.put_back(ticket, &record(&visit.url, &state, look), sighting.at)?;
            }
            Next::GiveUp(_) => {
                self.progress.given_up.add(1);
                self.queue.remove(ticket);
            }
        }
        Ok(Verdict {
            change: Some(change),
            next,
        })
    }

    /// A page was visited out of turn: what was found waits for its state. Answers what changed since the last such visit, if that still waits; what
    /// changed since the page's own turn is told when its state surfaces.
    pub fn visited_early(&mut self, visit: &Visit, mut sighting: Sighting<'_>) -> Option<Change> {
        if matches!(sighting.found, Found::Failed) {
            // Nothing was found out.
            return None;
        }
        self.progress.revisits.add(1);
        let noted = visit.noted.as_deref();
        let change = noted.map(|noted| self.planner.compared(noted, &sighting));
        if let (Found::NotModified, Some(noted)) = (&sighting.found, noted) {
            sighting.found = Found::Page(noted.clone());
        }
        let note = early_note(&mut self.planner, &sighting);
        let fingerprint = visit.url.fingerprint().0;
        if self.queue.early(fingerprint).is_some() {
            // Only the last one is joined with the state.
            self.planner.spend(sighting.at);
        }
        if !self.queue.note_early(fingerprint, &note) {
            tracing::debug!(page = %visit.url, "too many early visits are noted; this page is visited in its turn all the same");
        }
        change
    }

    /// What the last visit out of turn found of a page, while that waits for the page's state.
    pub fn noted(&self, page: &PageUrl) -> Option<Version> {
        let note = self.queue.early(page.fingerprint().0)?;
        PageState::decode(note)?.version
    }

    /// Drops notes of pages that have no state: that would have surfaced by now.
    pub fn drop_old_notes(&mut self, now: Time) {
        if now < self.notes_due {
            return;
        }
        self.notes_due = now + NOTES_EVERY;
        let oldest = NOTES_PATIENCE * self.planner.longest_interval();
        let dropped = self.queue.drop_early(|note| {
            let is_young = |noted: PageState| now <= noted.last_visit + oldest;
            PageState::decode(note).is_some_and(is_young)
        });
        if 0 < dropped {
            tracing::info!(
                dropped,
                "notes of pages that are not known any more are dropped"
            );
        }
    }

    /// The visits out of turn that were joined with their pages' states since the last call.
    pub fn take_joined(&mut self) -> Vec<Joined> {
        std::mem::take(&mut self.joined)
    }

    /// The pages whose states could not be read since the last call: they are known no longer, and have to be visited as new ones.
    pub fn take_unreadable(&mut self) -> Vec<PageUrl> {
        std::mem::take(&mut self.unreadable)
    }

    /// Joins a state that surfaces with what an early visit found: that was the visit.
    fn join(&mut self, mut visit: Visit, noted: PageState) -> Result<(), CrawlError> {
        let page = visit.url.clone();
        if let Some(found) = &noted.version {
            self.read_earlier(&mut visit, found);
        }
        let sighting = Sighting {
            at: noted.last_visit,
            page: &page,
            server: noted.server,
            took: Duration::ZERO,
            found: noted.version.map_or(Found::Gone, Found::Page),
            hints: self.hints_of(&page),
        };
        let verdict = self.settle(visit, &sighting)?;
        self.count_change(&verdict);
        self.joined.push(Joined {
            visited: noted.last_visit,
            page,
            verdict,
        });
        Ok(())
    }

    /// Reads what a page said before it was visited out of turn, if it was found with other bytes and nobody has: who made that visit did not know
    /// where to look.
    fn read_earlier(&mut self, visit: &mut Visit, found: &Version) {
        let page = visit.url.clone();
        let Some(known) = visit.known_version_mut() else {
            return;
        };
        if known.digest.is_same(&found.digest) || found.content.is_none() {
            return;
        }
        self.reads_left = self.reads_left.saturating_sub(1);
        if let Some(earlier) = self.platform.captures.page(&page, known, JOINED_BYTES_MAX) {
            known.content = earlier.content(&mut self.boilerplate, &page);
        }
    }

    /// A known page is visited later than it was to be.
    pub fn defer(&mut self, mut visit: Visit, due: Time, now: Time) -> Result<(), CrawlError> {
        visit.line = Line::Returning;
        self.defer_unchanged(visit, due, now)
    }

    /// The ring has no room for a known page before this time: it waits for that here if it is near, else in the queue.
    pub fn defer_for_room(
        &mut self,
        mut visit: Visit,
        due: Time,
        now: Time,
    ) -> Result<(), CrawlError> {
        visit.line = Line::Returning;
        match self.soon.put(visit, due, now) {
            None => Ok(()),
            Some(visit) => self.defer_unchanged(visit, due, now),
        }
    }

    /// Gives a page back as it is.
    fn defer_unchanged(
        &mut self,
        mut visit: Visit,
        due: Time,
        now: Time,
    ) -> Result<(), CrawlError> {
        let Some(mut state) = visit.state.take() else {
            return Ok(());
        };
        visit.leave_traces(&mut state, visit.line);
        let Receipt::Known(ticket) = visit.receipt else {
            return Ok(());
        };
        self.put_back(ticket, &record(&visit.url, &state, due), now)
    }

    /// A page is not to be visited any more.
    pub fn forget(&mut self, visit: Visit) {
        if let Some(state) = &visit.state {
            self.planner.forget(state);
        }
        if let Receipt::Known(ticket) = visit.receipt {
            self.queue.remove(ticket);
        }
    }

    /// Whether this first visit was made shortly before a kill, and its state is kept: then it is not made again.
    pub fn was_just_visited(&mut self, page: &PageUrl) -> bool {
        !self.just_visited.is_empty() && self.just_visited.remove(&page.fingerprint().0)
    }

    /// Whether what a list says of a page makes a visit out of turn worth it. What it says is remembered until the page is visited, and tells then
    /// how far the list can be believed.
    pub fn is_worth_a_visit(&mut self, signal: &Signal) -> bool {
        let fingerprint = signal.url.fingerprint();
        if self.hints.len() < HINTS_MAX || self.hints.contains_key(&fingerprint.0) {
            let hints = self.hints.entry(fingerprint.0).or_default();
            hints.sitemap = signal.hints.sitemap.or(hints.sitemap);
            hints.feed = signal.hints.feed.or(hints.feed);
            hints.changes_every = signal.hints.changes_every.or(hints.changes_every);
        }
        if !signal.hints.tells_of_change() || self.was_visited_since(signal) {
            return false;
        }
        let chance = Draw::of_visit(fingerprint, self.signals);
        self.signals = self.signals.wrapping_add(1);
        self.planner.signal(&signal.url, signal.source, chance) == Advice::VisitNow
    }

    /// Whether the change that a list tells of was before a visit out of turn: another list told of it.
    fn was_visited_since(&self, signal: &Signal) -> bool {
        let told = signal.hints.sitemap.max(signal.hints.feed);
        let note = self.queue.early(signal.url.fingerprint().0);
        let visited = note.and_then(PageState::decode).map(|note| note.last_visit);
        visited.is_some_and(|visited| told.is_some_and(|told| told < visited))
    }

    /// What lists said of a page since its last visit.
    pub fn hints_of(&self, page: &PageUrl) -> Hints {
        let hints = self.hints.get(&page.fingerprint().0);
        hints.copied().unwrap_or_default()
    }

    /// How far apart the known pages of a server are to be visited.
    #[must_use]
    pub fn pace(&self, server: ServerKey) -> Duration {
        self.planner.servers().pace(server)
    }

    /// When the next bucket opens, or a page that waits for a moment has its turn.
    #[must_use]
    pub fn next_due(&self) -> Option<Time> {
        let times = [self.queue.next_due(), self.soon.next_due()];
        times.into_iter().flatten().min()
    }

    /// The same, of what is not due by now.
    #[must_use]
    pub fn next_due_after(&self, now: Time) -> Option<Time> {
        let times = [self.queue.next_due(), self.soon.next_due()];
        let later = times.into_iter().flatten().filter(|due| now < *due);
        later.min()
    }

    /// Pages that are known.
    #[must_use]
    #[expect(
        clippy::len_without_is_empty,
        reason = "it counts, and nobody asks whether that is none"
    )]
    pub fn len(&self) -> u64 {
        self.queue.records()
    }

    /// Takes the fingerprints of the pages that are known out of a set. Where there are so many pages that a look through all would take long, all of the set counts as known.
    pub fn take_known_out_of(&self, pages: &mut HashSet<Fingerprint>) -> Result<(), CrawlError> {
        if LOOKED_THROUGH_MAX < self.queue.records() {
            pages.clear();
        }
        if !pages.is_empty() {
            self.queue.scan(|record| {
                pages.remove(&Fingerprint::of(record.url));
            })?;
        }
        Ok(())
    }

    /// Where their states are, to look at: only [`flush`](KnownPages::flush) writes them.
    #[must_use]
    pub fn queue(&self) -> &TimeQueue {
        &self.queue
    }

    /// Of these, the ones that are out for a visit.
    #[must_use]
    pub fn in_hand(&self) -> u64 {
        self.queue.records() - self.queue.waiting()
    }

    /// Gives all changes to the system, now that what they stand for is written.
    pub fn flush(&mut self, _told: Told) -> Result<(), CrawlError> {
        Ok(self.queue.flush()?)
    }

    /// Whether so many changes wait in memory that they should be written before there are more.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.queue.is_full()
    }

    /// Servers whose pace does not allow what `revisit.at_least` says.
    #[must_use]
    pub fn servers_behind(&self) -> u64 {
        self.planner.servers_behind()
    }

    /// What a manifest names of the states.
    #[must_use]
    pub fn lengths(&self) -> Lengths {
        self.queue.lengths()
    }

    /// A manifest with the lengths is durable.
    pub fn checkpointed(&mut self) -> Result<(), CrawlError> {
        Ok(self.queue.checkpointed()?)
    }

    /// What the planner has learned of sites and servers, if that changed since the last call. To write it takes the frontier's thread, so what takes
    /// long is written the more rarely, unless it is the last time.
    pub fn learned(&mut self, is_last: bool) -> Option<Vec<u8>> {
        let begun = self.platform.machine.counted();
        if self.is_planner_saved || (begun < self.saving_due && !is_last) {
            return None;
        }
        let saved = self.planner.save();
        self.is_planner_saved = true;
        let took = self.platform.machine.counted().saturating_sub(begun);
        self.saving_due = begun + SAVING_PART * took;
        Some(saved)
    }

    fn count_change(&self, verdict: &Verdict) {
        if verdict.change.is_some_and(|change| change.counts()) {
            self.progress.changed.add(1);
        }
    }

    /// Puts a state into the queue; false if it cannot be kept.
    fn put(&mut self, record: &Record, now: Time) -> Result<bool, CrawlError> {
        while let Err(error) = self.queue.put(record, now) {
            if is_too_long(record, &error) {
                return Ok(false);
            }
            wait_for_room(&*self.platform.machine, &self.progress, error.into())?;
        }
        Ok(true)
    }

    fn put_back(&mut self, ticket: Ticket, record: &Record, now: Time) -> Result<(), CrawlError> {
        let mut kept = ticket;
        while let Err(refused) = self.queue.put_back(kept, record, now) {
            kept = refused.ticket;
            wait_for_room(
                &*self.platform.machine,
                &self.progress,
                refused.source.into(),
            )?;
        }
        Ok(())
    }

    /// The next record that is due, or waits too long by new settings.
    fn read(&mut self, now: Time) -> Result<Option<(Ticket, Record)>, CrawlError> {
        while 0 < self.recalls_left
            && !self.is_full()
            && let Some((ticket, record)) = self.take(TimeQueue::next_recalled)?
        {
            self.recalls_left -= 1;
            let state = PageState::decode(&record.body);
            let is_in_time = state.is_some_and(|state| !self.planner.waits_too_long(&state));
            if is_in_time && now < record.due {
                self.put_back(ticket, &record, now)?;
            } else {
                return Ok(Some((ticket, record)));
            }
        }
        self.take(|queue| queue.next(now))
    }

    /// Takes a record out of the queue. Damage is told of, and passed over.
    fn take(
        &mut self,
        next: impl Fn(&mut TimeQueue) -> Result<Option<(Ticket, Record)>, TimeQueueError>,
    ) -> Result<Option<(Ticket, Record)>, CrawlError> {
        loop {
            match next(&mut self.queue) {
                Ok(next) => return Ok(next),
                Err(error @ TimeQueueError::Damaged { records, .. }) => {
                    self.progress.states_lost.add(u64::from(records));
                    tracing::error!(%error, "page states cannot be read; the crawl goes on without them");
                }
                Err(error) => wait_for_room(&*self.platform.machine, &self.progress, error.into())?,
            }
        }
    }
}

fn record(url: &PageUrl, state: &PageState, due: Time) -> Record {
    Record {
        url: url.as_str().to_owned(),
        due,
        body: state.encode(),
    }
}

/// What is left to chance for the visit number `visits` of a page: the same in every run.
fn draw(page: &PageUrl, visits: u32) -> Draw {
    Draw::of_visit(page.fingerprint(), visits)
}

/// What an early visit found, in the form of a state: without a version if the page was gone.
fn early_note(planner: &mut Planner, sighting: &Sighting<'_>) -> Vec<u8> {
    let (state, next) = planner.first_visit(sighting, draw(sighting.page, 0));
    if let Next::At(_) = next {
        // It is a note, not a page of its own.
        planner.forget(&state);
    }
    state.encode()
}

/// Whether a state cannot be kept because its URL is too long; that is told of.
fn is_too_long(record: &Record, error: &TimeQueueError) -> bool {
    let TimeQueueError::TooLong { bytes } = *error else {
        return false;
    };
    tracing::warn!(
        url = record.url,
        bytes,
        "a URL is too long for its page to be visited again"
    );
    true
}

#[cfg(test)]
mod tests {
    use junkai_revisit::{Digest, Hints, RevisitConfig, Sameness, Source, Version};
    use junkai_store::time_queue::{Lengths, Tails, TimeQueueConfig};
    use junkai_weburl::CanonicalConfig;
    use tempfile::TempDir;

    use super::*;
    use crate::settings::Settings;
    use crate::testing::{TestCaptures, TestMachine};
    use crate::visit::OutOfTurn;

    const DAY: Duration = Duration::from_hours(24);
    const START: Time = Time::from_micros(1_700_000_000_000_000);

    fn open(folder: &TempDir) -> KnownPages {
        open_with(folder, &TimeQueueConfig::default())
    }

    fn open_with(folder: &TempDir, config: &TimeQueueConfig) -> KnownPages {
        open_by(folder, config, &RevisitConfig::default())
    }

    fn open_by(folder: &TempDir, config: &TimeQueueConfig, revisit: &RevisitConfig) -> KnownPages {
        open_on(folder, config, revisit, crate::testing::platform())
    }

    fn open_on(
        folder: &TempDir,
        config: &TimeQueueConfig,
        revisit: &RevisitConfig,
        platform: Platform,
    ) -> KnownPages {
        let lengths = Lengths::default();
        let tails = Tails::Keep(&lengths);
        let (queue, _) = TimeQueue::open(folder.path(), config, tails).unwrap();
        KnownPages::new(
            queue,
            Planner::new(revisit, 64),
            Canonicalizer::new(&CanonicalConfig::default()),
            Arc::new(Progress::default()),
            HashSet::new(),
            platform,
        )
    }

    /// Known pages, and captures that were not read yet.
    fn open_over(folder: &TempDir, captures: Arc<TestCaptures>) -> KnownPages {
        let (config, revisit) = (TimeQueueConfig::default(), RevisitConfig::default());
        let platform = Platform {
            disk: junkai_files::Disk::default(),
            machine: Arc::new(TestMachine::default()),
            captures,
        };
        open_on(folder, &config, &revisit, platform)
    }

    /// Captures a page, and says what its state would keep of that.
    fn capture(captures: &TestCaptures, url: &str, body: &str) -> Version {
        let mut bodies = captures.bodies.lock().unwrap();
        bodies.insert(url.to_owned(), body.to_owned());
        let Found::Page(version) = found(1) else {
            unreachable!("it is a page");
        };
        Version {
            unread: Some(junkai_revisit::Place { file: 1, offset: 0 }),
            ..version
        }
    }

    fn content_of(body: &str, url: &PageUrl) -> Option<junkai_page::content::Content> {
        let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
        let content_type = Some("text/html; charset=utf-8");
        junkai_page::content::of(
            &mut boilerplate,
            body.as_bytes(),
            content_type,
            url.as_url(),
        )
    }

    fn url(text: &str) -> PageUrl {
        Canonicalizer::new(&CanonicalConfig::default())
            .parse(text)
            .unwrap()
    }

    fn page() -> PageUrl {
        url("http://a.example/page")
    }

    fn found(payload: u8) -> Found {
        Found::Page(Version {
            digest: Digest::new(&[payload; 20]).unwrap(),
            indexed: None,
            content: None,
            unread: None,
            captured: START,
            etag: None,
            last_modified: None,
        })
    }

    fn sighting(page: &PageUrl, at: Time, found: Found) -> Sighting<'_> {
        Sighting {
            at,
            page,
            server: ServerKey::new(1),
            took: Duration::from_secs(1),
            found,
            hints: Hints::default(),
        }
    }

    /// A visit whose receipt does not matter.
    fn first_visit(page: &PageUrl, ticket: Ticket) -> Visit {
        let (state, _) = Planner::new(&RevisitConfig::default(), 64)
            .first_visit(&sighting(page, START, found(0)), Draw::new(1));
        Visit {
            state: None,
            out_of_turn: Some(OutOfTurn::Asked),
            ..Visit::known(page.clone(), state, Receipt::Known(ticket))
        }
    }

    /// A ticket, which only a queue can give.
    fn ticket(folder: &TempDir) -> Ticket {
        let mut other = open(folder);
        let record = Record {
            url: "http://other.example/".to_owned(),
            due: START,
            body: Vec::new(),
        };
        other.put(&record, START).unwrap();
        other.queue.next(START + DAY).unwrap().unwrap().0
    }

    fn known(folder: &TempDir) -> KnownPages {
        let elsewhere = tempfile::tempdir().unwrap();
        let page = page();
        let visit = first_visit(&page, ticket(&elsewhere));
        let mut known = open(folder);
        let verdict = known
            .first_visited(&visit, &sighting(&page, START, found(1)))
            .unwrap();
        assert!(matches!(verdict.next, Next::At(due) if START + DAY <= due));
        known
    }

    #[test]
    fn a_page_comes_back_when_it_is_due_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let mut known = known(&folder);
        let page = page();
        assert!(known.next(START).unwrap().is_none());
        let visit = known.next(START + 8 * DAY).unwrap().unwrap();
        assert_eq!(visit.url, page);
        let at = START + 8 * DAY;
        let verdict = known
            .revisited(visit, &sighting(&page, at, found(2)))
            .unwrap();
        assert!(matches!(verdict.change, Some(Change::Changed { .. })));
        assert!(known.next(at).unwrap().is_none());
        assert_eq!(known.progress.changed.read(), 1);
    }

    #[test]
    fn a_shorter_at_least_brings_forward_what_waits_too_long() {
        const PAGES: u64 = 3 * RECALLS_PER_ROUND as u64;
        const AT_LEAST: Duration = Duration::from_hours(10);
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let mut before = open(&folder);
        let canonical = Canonicalizer::new(&CanonicalConfig::default());
        let mut visit = first_visit(&page(), ticket(&elsewhere));
        for number in 0..PAGES {
            let url = format!("http://{}.example/page/{number}", number % 50);
            visit.url = canonical.parse(&url).unwrap();
            let url = visit.url.clone();
            let sighting = sighting(&url, START, found(1));
            before.first_visited(&visit, &sighting).unwrap();
        }
        before.flush(Told::nothing()).unwrap();
        drop(before);
        let at_least = |hours: &str| -> RevisitConfig {
            toml::from_str(&format!("at_least = \"{hours}h\"")).unwrap()
        };
        let queue = TimeQueueConfig::default();
        let mut known = open_by(&folder, &queue, &at_least("10"));
        let begun = START + Duration::from_hours(1);
        known.time_by(Some(AT_LEAST), Some(2 * DAY), begun).unwrap();
        assert_eq!(known.timed_by(), Some(2 * DAY), "it is under way");
        for left in [true, true, true, false] {
            assert!(known.next(begun).unwrap().is_none(), "none is due so soon");
            assert_eq!(known.has_more_to_recall(), left, "a round does its part");
            known.flush(Told::nothing()).unwrap();
            known.begin_round();
        }
        assert_eq!(known.timed_by(), Some(AT_LEAST), "all have their times");
        drop(known);
        // By the same settings nothing is to be done again; and all are due in time.
        let mut known = open_by(&folder, &queue, &at_least("10"));
        known
            .time_by(Some(AT_LEAST), Some(AT_LEAST), begun)
            .unwrap();
        assert!(known.queue.is_recalled());
        let latest = START + AT_LEAST + Duration::from_mins(1);
        let mut visits = 0;
        while let Some(visit) = known.next(latest).unwrap() {
            let state = visit.state.as_ref().unwrap();
            assert!(state.due() <= START + AT_LEAST, "{state:?}");
            visits += 1;
        }
        assert_eq!(visits, PAGES);
    }

    #[test]
    fn a_page_that_a_shorter_at_least_makes_overdue_is_visited_at_once() {
        let folder = tempfile::tempdir().unwrap();
        known(&folder).flush(Told::nothing()).unwrap();
        let revisit: RevisitConfig = toml::from_str("at_least = \"1h\"").unwrap();
        let mut known = open_by(&folder, &TimeQueueConfig::default(), &revisit);
        let now = START + Duration::from_hours(2);
        known.time_by(revisit.at_least, None, now).unwrap();
        assert_eq!(known.next(now).unwrap().unwrap().url, page());
    }

    #[test]
    fn no_page_waits_longer_than_at_least_says() {
        let at_least = Duration::from_mins(3);
        let mut settings = Settings::default();
        settings.revisit.at_least = Some(at_least);
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut known = open_with(&folder, &settings.time_queue);
        known.planner = settings.planner();
        let page = page();
        let visit = first_visit(&page, ticket(&elsewhere));
        let mut last = START;
        known
            .first_visited(&visit, &sighting(&page, last, found(1)))
            .unwrap();
        let second = Duration::from_secs(1);
        let mut now = START;
        for number in 0..100 {
            let visit = loop {
                now = now + second;
                if let Some(visit) = known.next(now).unwrap() {
                    break visit;
                }
                assert!(now < last + at_least, "visit {number}");
            };
            known
                .revisited(visit, &sighting(&page, now, found(1)))
                .unwrap();
            last = now;
        }
    }

    #[test]
    fn a_page_that_found_no_room_in_the_ring_is_due_when_it_was_promised() {
        let folder = tempfile::tempdir().unwrap();
        let at = START + 8 * DAY;
        let (soon, later) = (Duration::from_millis(20), Duration::from_mins(5));
        {
            let mut known = known(&folder);
            let visit = known.next(at).unwrap().unwrap();
            known.defer_for_room(visit, at + soon, at).unwrap();
            assert_eq!(known.next_due_after(at), Some(at + soon), "no minute later");
            assert_eq!(known.in_hand(), 1);
            assert!(known.next(at + soon / 2).unwrap().is_none());
            let visit = known.next(at + soon).unwrap().unwrap();
            assert_eq!(visit.line, Line::Returning);
            // What is further off waits on disk.
            known.defer_for_room(visit, at + later, at + soon).unwrap();
            assert_eq!(known.in_hand(), 0);
            assert!(known.next(at + soon).unwrap().is_none());
            let visit = known.next(at + 2 * later).unwrap().unwrap();
            known
                .defer_for_room(visit, at + 2 * later + soon, at + 2 * later)
                .unwrap();
            known.flush(Told::nothing()).unwrap();
        }
        let mut again = open(&folder);
        let visit = again.next(at + 2 * later).unwrap();
        assert!(visit.is_some(), "whoever waited for a moment is not lost");
    }

    #[test]
    fn how_often_a_page_is_said_to_change_is_remembered_and_asks_for_no_visit() {
        let folder = tempfile::tempdir().unwrap();
        let mut known = known(&folder);
        let mut signal = Signal {
            url: page(),
            source: Source::Sitemap,
            hints: Hints {
                changes_every: Some(DAY),
                ..Hints::default()
            },
        };
        assert!(!known.is_worth_a_visit(&signal));
        signal.hints.sitemap = Some(START + DAY);
        assert!(known.is_worth_a_visit(&signal), "a change is news");
        signal.hints = Hints::default();
        assert!(!known.is_worth_a_visit(&signal));
        let remembered = known.hints_of(&page());
        assert_eq!(remembered.changes_every, Some(DAY));
        assert_eq!(remembered.sitemap, Some(START + DAY));
    }

    #[test]
    fn a_change_that_one_list_told_of_is_no_news_in_another() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let mut known = known(&folder);
        let page = page();
        let changed = START + Duration::from_hours(1);
        let told = |feed| Signal {
            url: page.clone(),
            source: Source::Feed,
            hints: Hints {
                feed: Some(feed),
                ..Hints::default()
            },
        };
        assert!(known.is_worth_a_visit(&told(changed)));
        let early = first_visit(&page, ticket(&elsewhere));
        let at = START + Duration::from_hours(2);
        known.visited_early(&early, sighting(&page, at, found(2)));
        assert!(!known.is_worth_a_visit(&told(changed)), "it is had");
        assert!(known.is_worth_a_visit(&told(at + DAY)), "that is another");
    }

    #[test]
    fn a_visit_out_of_turn_is_joined_with_the_state_and_not_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let mut known = known(&folder);
        let page = page();
        let early = first_visit(&page, ticket(&elsewhere));
        let at = START + Duration::from_hours(1);
        assert_eq!(known.noted(&page), None);
        known.visited_early(&early, sighting(&page, at, found(2)));
        assert_eq!(known.progress.revisits.read(), 1);
        let Found::Page(noted) = found(2) else {
            panic!("a page was found")
        };
        assert_eq!(known.noted(&page), Some(noted));
        // When its state surfaces, the change is counted as of the early visit, and the page waits for its next turn.
        let surfaced = START + 8 * DAY;
        let mut next = known.next(surfaced).unwrap();
        assert_eq!(known.progress.changed.read(), 1);
        assert_eq!(known.progress.revisits.read(), 1, "it was one visit");
        assert_eq!(known.len(), 1, "a page has one state");
        let joined = known.take_joined();
        assert_eq!((joined.len(), joined[0].visited), (1, at));
        assert!(matches!(joined[0].verdict.next, Next::At(_)));
        assert_eq!(known.noted(&page), None, "the note is used up");
        while let Some(visit) = next {
            let state = visit.state.as_ref().unwrap();
            assert_eq!((state.last_visit, state.changes), (at, 1));
            known.defer(visit, surfaced + DAY, surfaced).unwrap();
            next = known.next(surfaced).unwrap();
        }
    }

    #[test]
    fn a_visit_out_of_turn_is_compared_with_what_nobody_had_read() {
        let noisy = |time: &str| {
            format!("<p>One text that stays as it is, told at some time of the day: {time}</p>")
        };
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let page = page();
        let captures = Arc::new(TestCaptures::default());
        let version = capture(&captures, page.as_str(), &noisy("12:34"));
        let early = first_visit(&page, ticket(&elsewhere));
        let mut known = open_over(&folder, captures);
        known
            .first_visited(
                &early,
                &sighting(&page, START, Found::Page(version.clone())),
            )
            .unwrap();
        let found = Version {
            digest: Digest::new(&[9; 20]).unwrap(),
            content: content_of(&noisy("13:45"), &page),
            unread: None,
            ..version
        };
        assert!(found.content.is_some());
        let at = START + Duration::from_hours(1);
        known.visited_early(&early, sighting(&page, at, Found::Page(found)));
        known.next(START + 8 * DAY).unwrap();
        let joined = known.take_joined();
        let change = joined[0].verdict.change;
        assert_eq!(change, Some(Change::Same(Sameness::Content)), "{joined:?}");
    }

    #[test]
    fn a_round_reads_few_captures_and_the_next_one_goes_on() {
        const PAGES: usize = JOINED_READS_PER_ROUND + 4;
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let captures = Arc::new(TestCaptures::default());
        let mut known = open_over(&folder, Arc::clone(&captures));
        for number in 0..PAGES {
            let page = url(&format!("http://a.example/{number}"));
            let text = "<p>A text that is read when other bytes have come.</p>";
            let version = capture(&captures, page.as_str(), text);
            let early = first_visit(&page, ticket(&elsewhere));
            let first = sighting(&page, START, Found::Page(version.clone()));
            known.first_visited(&early, &first).unwrap();
            let found = Version {
                digest: Digest::new(&[9; 20]).unwrap(),
                content: content_of(text, &page),
                unread: None,
                ..version
            };
            let at = START + Duration::from_hours(1);
            known.visited_early(&early, sighting(&page, at, Found::Page(found)));
        }
        let later = START + 8 * DAY;
        known.next(later).unwrap();
        assert_eq!(known.take_joined().len(), JOINED_READS_PER_ROUND);
        assert!(known.next(later).unwrap().is_none());
        known.begin_round();
        known.next(later).unwrap();
        assert_eq!(known.take_joined().len(), PAGES - JOINED_READS_PER_ROUND);
    }

    #[test]
    fn a_page_whose_state_cannot_be_read_is_not_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let mut known = open(&folder);
        let record = Record {
            url: page().as_str().to_owned(),
            due: START,
            body: b"of another release".to_vec(),
        };
        known.put(&record, START).unwrap();
        assert!(known.next(START + DAY).unwrap().is_none());
        assert_eq!(known.take_unreadable(), [page()]);
        assert_eq!(known.len(), 0);
    }

    #[test]
    fn a_note_of_a_page_without_a_state_is_dropped_in_time() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let mut known = open(&folder);
        let page = page();
        let early = first_visit(&page, ticket(&elsewhere));
        known.visited_early(&early, sighting(&page, START, found(2)));
        let longest = RevisitConfig::default().interval_max;
        for (at, is_there) in [
            (START, true),
            (START + longest, true),
            (START + 3 * longest, false),
        ] {
            known.drop_old_notes(at);
            assert_eq!(known.noted(&page).is_some(), is_there, "{at:?}");
        }
    }

    #[test]
    fn memory_does_not_grow_with_the_pages_that_are_known() {
        const PAGES: u32 = 20_000;
        const BUFFER_BYTES: u64 = 1 << 20;
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let config = TimeQueueConfig {
            buffer_bytes: BUFFER_BYTES,
            ..TimeQueueConfig::default()
        };
        let mut known = open_with(&folder, &config);
        let canonical = Canonicalizer::new(&CanonicalConfig::default());
        let mut visit = first_visit(&page(), ticket(&elsewhere));
        let mut half = None;
        for number in 0..PAGES {
            let url = format!("http://{}.example/page/{number}", number % 50);
            visit.url = canonical.parse(&url).unwrap();
            let url = visit.url.clone();
            let sighting = sighting(&url, START, found(1));
            known.first_visited(&visit, &sighting).unwrap();
            if number == PAGES / 2 {
                half = Some(known.learned(true).unwrap().len());
            }
        }
        assert_eq!(known.len(), u64::from(PAGES));
        let learned = known.learned(true).unwrap().len();
        assert!(learned < half.unwrap() + 1000, "{learned} after {half:?}");
        let memory = known.queue.stats().memory_bytes;
        println!("{memory} bytes in memory for {PAGES} pages");
        // Beside the buffers: what packs them, and the journal's own.
        assert!(memory < BUFFER_BYTES + (4 << 20), "{memory} bytes");
    }

    #[test]
    fn a_state_outlives_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let mut before = known(&folder);
        before.flush(Told::nothing()).unwrap();
        drop(before);
        let mut after = open(&folder);
        let visit = after.next(START + 8 * DAY).unwrap().unwrap();
        assert_eq!(visit.state.unwrap().visits, 1);
    }

    #[test]
    fn a_page_that_is_gone_is_visited_ever_more_rarely_and_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let mut known = known(&folder);
        let page = page();
        let mut now = START;
        let mut visits = Vec::new();
        while known.len() == 1 {
            now = now + DAY;
            while let Some(visit) = known.next(now).unwrap() {
                visits.push(now);
                known
                    .revisited(visit, &sighting(&page, now, Found::Gone))
                    .unwrap();
            }
            assert!(now < START + 4000 * DAY, "it is never given up");
        }
        let gaps: Vec<Duration> = visits
            .windows(2)
            .map(|pair| pair[1].saturating_duration_since(pair[0]))
            .collect();
        println!("{} visits, with gaps of {gaps:?}", visits.len());
        assert!(gaps.is_sorted(), "{gaps:?}");
        assert!(2 * gaps[0] <= gaps[gaps.len() - 1], "{gaps:?}");
        let most = usize::from(RevisitConfig::default().gone_visits_max);
        assert_eq!(visits.len(), most, "{visits:?}");
        assert_eq!(known.progress.given_up.read(), 1);
    }
}
