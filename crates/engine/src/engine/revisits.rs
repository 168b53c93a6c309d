//! The second loop: from a visit that ended to the next one of its page, by way of the time queue.

use junkai_frontier::{Event, ServerKey, Time};
use junkai_revisit::{Change, Found, GiveUp, Hints, Next, Sameness, Sighting};
use junkai_weburl::PageUrl;

use super::Engine;
use super::settling::Made;
use crate::CrawlError;
use crate::annotation::{self, BACK, JOINED};
use crate::clock::timestamp;
use crate::known::{Joined, Verdict};
use crate::log;
use crate::scope;
use crate::visit::{
    Discovered, KNOWN_HOP, Logged, OutOfTurn, Outcome, Purpose, Signal, Visit, returning,
};

impl Engine {
    /// The next known page that is due.
    pub(super) fn next_known(&mut self) -> Result<Option<Visit>, CrawlError> {
        // A focused crawl spends its visits on what it wants to know.
        if !self.settings.revisit.enabled || self.settings.focus.aim.is_focused() {
            return Ok(None);
        }
        let mut next = self.known.next(self.now)?;
        while next.is_none() && self.known.is_full() {
            self.write_down()?;
            next = self.known.next(self.now)?;
        }
        for joined in self.known.take_joined() {
            self.note_joined(&joined);
        }
        for url in self.known.take_unreadable() {
            let again = Discovered {
                url,
                hop: None,
                depth: self.depth_asked(),
                purpose: Purpose::Page,
                link_estimate: None,
            };
            let entry = again.entry("", KNOWN_HOP, self.now);
            self.room.append_known(returning(entry), self.now)?;
        }
        Ok(next)
    }

    /// Writes down what a visit out of turn meant for its page, now that the page's state is known.
    fn note_joined(&mut self, joined: &Joined) {
        let mut outcome = Outcome::default();
        tell(&mut outcome, &joined.verdict);
        let at = timestamp(joined.visited);
        outcome.result = format!("the visit out of turn at {at:.0} counts{}", outcome.result);
        self.logs.note_aside(&log::Event {
            time: timestamp(self.now),
            url: joined.page.as_str().into(),
            started: at,
            annotations: vec![JOINED.into()],
            change: outcome.change.as_deref().map(Into::into),
            next_visit: outcome.next_visit,
            result: outcome.result.into(),
            ..log::Event::default()
        });
    }

    /// A visit is over: says when to come back to its page, writes it down, and logs it.
    pub(super) fn come_back(
        &mut self,
        visit: Visit,
        mut outcome: Outcome,
        made: Made,
        sighted: Option<(ServerKey, Found)>,
    ) -> Result<(), CrawlError> {
        let sighted = sighted.filter(|_| {
            !visit.purpose.is_robots() && (self.settings.revisit.enabled || visit.state.is_some())
        });
        let Some((server, found)) = sighted else {
            self.note(&visit.for_the_log(), &outcome, made);
            self.room.done(visit);
            return Ok(());
        };
        let page = visit.url.clone();
        let sighting = Sighting {
            at: made.ended,
            page: &page,
            server,
            took: made.ended.saturating_duration_since(made.started),
            found,
            hints: Hints {
                leads_to_new: made.leads_to_new,
                ..self.known.hints_of(&page)
            },
        };
        if let Some(why) = visit.out_of_turn {
            outcome.change = self.known.visited_early(&visit, sighting).map(in_words);
            outcome.annotations.push(why.word().to_owned());
            self.note(&visit.for_the_log(), &outcome, made);
            self.room.done(visit);
        } else if visit.state.is_some() {
            let (via, hops) = (visit.via.clone(), visit.hops.clone());
            let was_missed = visit.state.as_ref().is_some_and(|state| 0 < state.misses);
            if was_missed && matches!(sighting.found, Found::Page(_) | Found::NotModified) {
                outcome.annotations.push(BACK.to_owned());
            }
            let verdict = self.known.revisited(visit, &sighting)?;
            tell(&mut outcome, &verdict);
            let told = Logged {
                url: page.as_str(),
                via: &via,
                hops: &hops,
                is_robots: false,
            };
            self.note(&told, &outcome, made);
        } else {
            let verdict = self.known.first_visited(&visit, &sighting)?;
            tell(&mut outcome, &verdict);
            self.note(&visit.for_the_log(), &outcome, made);
            self.room.done(visit);
        }
        self.keep_pace(server, self.now);
        Ok(())
    }

    /// A visit came to nothing. A page that is known is visited again, ever more rarely, until it is given up; one that was never had is not.
    pub(super) fn come_back_to_failed(
        &mut self,
        visit: Visit,
        outcome: Outcome,
        made: Made,
        found: Found,
    ) -> Result<(), CrawlError> {
        let sighted = visit.state.as_ref().map(|state| (state.server, found));
        self.come_back(visit, outcome, made, sighted)
    }

    /// A page is not to be visited any more: it does not belong to the crawl.
    pub(super) fn forget(&mut self, visit: Visit, outcome: Outcome) -> Result<(), CrawlError> {
        if visit.state.is_none() {
            return self.dismiss(visit, outcome);
        }
        self.note(&visit.for_the_log(), &outcome, Made::never(self.now));
        self.known.forget(visit);
        Ok(())
    }

    /// Takes in what lists say of other pages: a page that is likely to have changed is visited out of turn.
    pub(super) fn take_in_signals(&mut self, signals: Vec<Signal>) -> Result<(), CrawlError> {
        for signal in signals {
            let is_known = self.seen.contains(signal.url.fingerprint().0)?;
            if is_known && self.known.is_worth_a_visit(&signal) {
                let purpose = self.purpose_of_signalled(&signal.url);
                self.ask_for(&signal.url, OutOfTurn::Signalled, &purpose)?;
            }
        }
        Ok(())
    }

    /// What a known page is visited for that a list speaks of: where the crawl goes by sitemaps, one of them may lie outside the scope.
    fn purpose_of_signalled(&self, url: &PageUrl) -> Purpose {
        let found = scope::Found::Link(self.depth_asked());
        if self.settings.crawl.sitemaps_only && !self.rule_for(url, found).accepts() {
            Purpose::Sitemap
        } else {
            Purpose::Page
        }
    }

    /// Fits the distance of a server's known pages to what it can bear.
    pub(super) fn keep_pace(&mut self, key: ServerKey, now: Time) {
        let interval = self.known.pace(key);
        let event = Event::SetRevisitInterval { key, interval };
        self.scheduler.step(now, event, &mut self.commands);
    }
}

/// Says in the log what changed, and when the page is visited next.
fn tell(outcome: &mut Outcome, verdict: &Verdict) {
    outcome.change = verdict.change.map(in_words);
    match verdict.next {
        Next::At(due) => outcome.next_visit = Some(timestamp(due)),
        Next::GiveUp(why) => {
            outcome.annotations.push(annotation::GIVEN_UP.to_owned());
            outcome.result = format!(
                "{}; not visited again: {}",
                outcome.result,
                why_given_up(why)
            );
        }
    }
}

fn in_words(change: Change) -> String {
    match change {
        Change::First => "first".to_owned(),
        Change::Same(Sameness::NotModified) => "same:not-modified".to_owned(),
        Change::Same(_) => "same".to_owned(),
        Change::ALittle { similarity } => format!("little:{similarity:.3}"),
        Change::Changed {
            similarity: Some(similarity),
        } => format!("changed:{similarity:.3}"),
        Change::Changed { similarity: None } => "changed".to_owned(),
        Change::Gone => "gone".to_owned(),
        Change::Moved => "moved".to_owned(),
        Change::Failed => "failed".to_owned(),
    }
}

fn why_given_up(why: GiveUp) -> &'static str {
    match why {
        GiveUp::Gone => "it is gone for good",
        GiveUp::Moved => "it has moved for good",
        GiveUp::Failed => "it could not be had for long",
    }
}
