//! The second loop: what a visit that ended means for the next one of its page, by way of the time queue.

use junkai_frontier::{ServerKey, Time};
use junkai_revisit::{Change, Found, GiveUp, Hints, Next, Sameness, Sighting};

use super::settling::Settling;
use super::shared::Shared;
use super::step::{Ending, Step};
use crate::CrawlError;
use crate::annotation::{self, BACK, JOINED};
use crate::clock::timestamp;
use crate::known::{Joined, KnownPages, Verdict};
use crate::log;
use crate::visit::{Logged, Outcome};

impl Settling {
    /// Writes down what a visit out of turn meant for its page, now that the page's state is known.
    pub(super) fn note_joined(&mut self, joined: &Joined, now: Time) {
        let mut outcome = Outcome::default();
        tell(&mut outcome, &joined.verdict);
        let at = timestamp(joined.visited);
        outcome.result = format!("the visit out of turn at {at:.0} counts{}", outcome.result);
        self.logs.note_aside(&log::Event {
            time: timestamp(now),
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
        mut ending: Ending,
        sighted: Option<(ServerKey, Found)>,
        known: &mut KnownPages,
        shared: &mut Shared,
    ) -> Result<Step, CrawlError> {
        let visit = &ending.visit;
        let sighted = sighted.filter(|_| {
            !visit.purpose.is_robots() && (shared.settings.revisit.enabled || visit.state.is_some())
        });
        let Some((server, found)) = sighted else {
            self.note_ending(&ending, shared);
            let (visit, server) = (ending.visit, None);
            return Ok(Step::Done { visit, server });
        };
        let page = visit.url.clone();
        let made = ending.made;
        let sighting = Sighting {
            at: made.ended,
            page: &page,
            server,
            took: made.ended.saturating_duration_since(made.started),
            found,
            hints: Hints {
                leads_to_new: made.leads_to_new,
                ..known.hints_of(&page)
            },
        };
        if visit.state.is_some() {
            self.come_back_to_known(ending, &sighting, known, shared)?;
            return Ok(Step::KeepPace(server));
        }
        if let Some(why) = visit.out_of_turn {
            ending.outcome.change = known.visited_early(visit, sighting).map(in_words);
            ending.outcome.annotations.push(why.word().to_owned());
        } else {
            let verdict = known.first_visited(visit, &sighting)?;
            tell(&mut ending.outcome, &verdict);
        }
        self.note_ending(&ending, shared);
        let (visit, server) = (ending.visit, Some(server));
        Ok(Step::Done { visit, server })
    }

    fn come_back_to_known(
        &mut self,
        ending: Ending,
        sighting: &Sighting<'_>,
        known: &mut KnownPages,
        shared: &mut Shared,
    ) -> Result<(), CrawlError> {
        let Ending {
            visit,
            mut outcome,
            made,
        } = ending;
        let (via, hops) = (visit.via.clone(), visit.hops.clone());
        let was_missed = visit.state.as_ref().is_some_and(|state| 0 < state.misses);
        if was_missed && matches!(sighting.found, Found::Page(_) | Found::NotModified) {
            outcome.annotations.push(BACK.to_owned());
        }
        let verdict = known.revisited(visit, sighting)?;
        tell(&mut outcome, &verdict);
        let told = Logged {
            url: sighting.page.as_str(),
            via: &via,
            hops: &hops,
            is_robots: false,
        };
        self.note(&told, &outcome, made, shared);
        Ok(())
    }

    /// A visit came to nothing. A page that is known is visited again, ever more rarely, until it is given up; one that was never had is not.
    pub(super) fn come_back_to_failed(
        &mut self,
        ending: Ending,
        found: Found,
        known: &mut KnownPages,
        shared: &mut Shared,
    ) -> Result<Step, CrawlError> {
        let state = ending.visit.state.as_ref();
        let sighted = state.map(|state| (state.server, found));
        self.come_back(ending, sighted, known, shared)
    }

    /// A page is not to be visited any more: it does not belong to the crawl.
    pub(super) fn forget(
        &mut self,
        ending: Ending,
        known: &mut KnownPages,
        shared: &mut Shared,
    ) -> Option<Step> {
        if ending.visit.state.is_none() {
            let found = Found::Failed;
            return Some(Step::GiveUp { ending, found });
        }
        self.note_ending(&ending, shared);
        known.forget(ending.visit);
        None
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
