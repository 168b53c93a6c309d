//! What a visit tells of a page's changes, and of who had said so before.
//!
//! A visit that finds a change tells that there was one within the gap. If the page's `Last-Modified`, its site's sitemap or a
//! feed says when, and has proved right before, it also tells the age of the last change, which is far more: the estimator then
//! learns of changes every half hour from one visit a day, as Tamura and Kitsuregawa (2010) found.

use std::time::Duration;

use junkai_frontier::Time;

use crate::belief::Belief;
use crate::estimator::{Chosen, Estimator, Evidence, Memory, Prior};
use crate::sighting::{Found, Sighting};
use crate::sites::{SiteKey, Sites};
use crate::trust::{Source, Trust};

/// The sources that say when a page changed.
const DATED: [Source; 3] = [Source::LastModified, Source::Sitemap, Source::Feed];

/// A date less than this before the visit is the server's clock, not the page's history.
const CLOCK_SLACK: Duration = Duration::from_secs(5);

/// The unit of dates that are not known to the second.
const DAY_MICROS: u64 = 86_400_000_000;

/// What a source says of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// It has changed since it was last seen, the last time so long before the visit.
    Changed { age: Duration },
    /// It has not.
    NotSince,
    /// Something that cannot be: a change in the future, or at the very moment of the visit.
    Nonsense,
}

/// A visit to a page that was seen before.
pub(super) struct Lesson<'a> {
    pub(super) sighting: &'a Sighting<'a>,
    pub(super) site: SiteKey,
    /// When the page was last seen.
    pub(super) seen: Time,
    pub(super) has_changed: bool,
}

impl Lesson<'_> {
    fn gap(&self) -> Duration {
        self.sighting.at.saturating_duration_since(self.seen)
    }

    /// What the visit tells of the page's changes.
    pub(super) fn evidence(&self, sites: &Sites) -> Evidence {
        let gap = self.gap();
        if !self.has_changed {
            return Evidence::Same { gap };
        }
        let ages = DATED.into_iter().filter_map(|source| {
            let Some(Claim::Changed { age }) = claim(self.sighting, source, self.seen) else {
                return None;
            };
            let trust = sites.trust(self.site, source).credit;
            (0.0 < trust).then_some((age, trust))
        });
        let best = ages.max_by(|(_, one), (_, other)| one.total_cmp(other));
        best.map_or(Evidence::Changed { gap }, |(age, trust)| {
            Evidence::ChangedAt { gap, age, trust }
        })
    }

    /// Writes down, for each source, whether it was right; `before` is what was believed without the visit.
    pub(super) fn judge_sources(&self, sites: &mut Sites, before: &Belief) {
        let gap = self.gap();
        for source in DATED {
            let Some(claim) = claim(self.sighting, source, self.seen) else {
                continue;
            };
            let record = sites.record(self.site, source);
            match claim {
                Claim::Changed { .. } => record.note(self.has_changed, true, gap),
                Claim::NotSince => record.note(self.has_changed, false, gap),
                Claim::Nonsense => record.note(false, true, Duration::ZERO),
            }
        }
        if let Some(every) = self.sighting.hints.changes_every {
            let claimed = Belief::point(1.0 / every.as_secs_f64().max(1.0));
            let score = |belief: &Belief| {
                let chance = belief.chance(gap);
                if self.has_changed {
                    chance
                } else {
                    1.0 - chance
                }
            };
            let is_better = score(before) < score(&claimed);
            let record = sites.record(self.site, Source::ChangeFrequency);
            record.note(is_better, true, gap);
        }
    }
}

/// The memory of a page that was seen for the first time: its site's prior, and what was said of it.
pub(super) fn first_memory(
    estimator: &Chosen,
    prior: &Prior,
    sites: &Sites,
    sighting: &Sighting<'_>,
) -> Memory {
    let site = SiteKey::of(sighting.page);
    let mut memory = estimator.begin(prior);
    let credit = |source| -> f64 {
        let Trust { credit, .. } = sites.trust(site, source);
        credit
    };
    let claims =
        DATED
            .into_iter()
            .filter_map(|source| match claim(sighting, source, Time::EPOCH) {
                Some(Claim::Changed { age }) => Some((age, credit(source))),
                Some(Claim::NotSince | Claim::Nonsense) | None => None,
            });
    if let Some((age, trust)) = claims.max_by(|(_, one), (_, other)| one.total_cmp(other)) {
        estimator.learn(&mut memory, &Evidence::Aged { age, trust }, prior);
    }
    if let Some(every) = sighting.hints.changes_every {
        let trust = credit(Source::ChangeFrequency);
        estimator.learn(&mut memory, &Evidence::Told { every, trust }, prior);
    }
    memory
}

/// What a source says of the page, if it says anything that can be told apart.
fn claim(sighting: &Sighting<'_>, source: Source, seen: Time) -> Option<Claim> {
    let told = match source {
        Source::LastModified => match &sighting.found {
            Found::Page(version) => version.last_modified,
            Found::NotModified | Found::Gone | Found::Moved | Found::Failed => None,
        },
        Source::Sitemap => sighting.hints.sitemap,
        Source::Feed => sighting.hints.feed,
        Source::ChangeFrequency => None,
    }?;
    let is_whole_day = told.as_micros().is_multiple_of(DAY_MICROS);
    let end_of_day = told + Duration::from_micros(DAY_MICROS);
    if sighting.at < told + CLOCK_SLACK {
        Some(Claim::Nonsense)
    } else if seen < told {
        let age = sighting.at.saturating_duration_since(told);
        Some(Claim::Changed { age })
    } else if is_whole_day && seen < end_of_day {
        // A change on the day on which it was last seen: before or after, nobody can tell.
        None
    } else {
        Some(Claim::NotSince)
    }
}
