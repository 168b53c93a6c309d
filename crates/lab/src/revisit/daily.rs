//! The most urgent pages of each day are visited: policies at exactly equal visits.
//!
//! The budget is a share of the pages that are there on the day, the same for all. A visit that finds a page gone ends its visits until it comes
//! back, when it is found as a new page. The first days are not counted: all policies learn.

use std::time::Duration;

use junkai_frontier::ServerKey;
use junkai_graph::Page;
use junkai_graph::history::UnixSeconds;
use junkai_revisit::estimator::{Estimator, Evidence, Likelihood, LikelihoodMemory, Prior};
use junkai_revisit::policy::{Index, Objective, Outlook, Policy};
use junkai_revisit::{Belief, Draw, PageState, Planner, RevisitConfig, Sighting};

use super::contestant::Contestant;
use super::tally::Tally;
use super::web::{ChangingWeb, Line, Seen, time};

const DAY: Duration = Duration::from_hours(24);

/// Days at the beginning that are not counted.
pub const WARM_UP: Duration = Duration::from_hours(90 * 24);

/// How much is visited, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Visits a day, as a share of the pages that are there.
    pub share: f64,
    /// When in the day they are made: all that chance has a say in.
    pub hour: Duration,
}

/// Visits the most urgent pages of each day.
#[must_use]
pub fn replay(web: &ChangingWeb, contestant: Contestant, pace: Pace) -> Tally {
    replay_with(web, contestant, &contestant.config(), pace)
}

/// Likewise, with other settings of its planner.
#[must_use]
pub fn replay_with(
    web: &ChangingWeb,
    contestant: Contestant,
    config: &RevisitConfig,
    pace: Pace,
) -> Tally {
    let mut run = Run {
        web,
        ranker: Ranker::new(web, contestant, config),
        lines: web.history.pages().map(|page| web.line(page)).collect(),
        last_visit: vec![UnixSeconds::default(); web.history.page_count() as usize],
        counted_from: web.from().after(WARM_UP),
        ranking: Vec::new(),
        unspent: 0.0,
        tally: Tally::default(),
    };
    run.tally.versions = web.versions_after(run.counted_from);
    let mut day = web.from().after(pace.hour);
    while day < web.until() {
        run.day(day, pace.share);
        day = day.after(DAY);
    }
    run.tally
}

struct Run<'a> {
    web: &'a ChangingWeb,
    ranker: Ranker,
    lines: Vec<Line<'a>>,
    last_visit: Vec<UnixSeconds>,
    counted_from: UnixSeconds,
    /// Urgencies of known pages on the day.
    ranking: Vec<(f64, Page)>,
    /// The part of a visit that is left of the budget.
    unspent: f64,
    tally: Tally,
}

impl Run<'_> {
    fn day(&mut self, now: UnixSeconds, share: f64) {
        self.ranking.clear();
        let mut here = 0_u32;
        for page in self.web.history.pages() {
            let line = &mut self.lines[page as usize];
            line.advance(now, self.counted_from, &mut self.tally);
            here += u32::from(line.is_here);
            if line.is_known() {
                let elapsed = now.since(self.last_visit[page as usize]);
                self.ranking
                    .push((self.ranker.urgency(page, elapsed), page));
            } else if line.is_here {
                line.visit();
                self.last_visit[page as usize] = now;
                self.ranker.first_visit(self.web, line, page, now);
                self.tally.first_visits += u64::from(self.counted_from < now);
            }
        }
        self.unspent += share * f64::from(here);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of the pages, which are fewer than 2³²"
        )]
        let visits = (self.unspent as usize).min(self.ranking.len());
        self.unspent -= visits as f64;
        if 0 < visits && visits < self.ranking.len() {
            // Of equally urgent pages the first: the order is defined.
            self.ranking
                .select_nth_unstable_by(visits - 1, |left, right| {
                    right.0.total_cmp(&left.0).then(left.1.cmp(&right.1))
                });
        }
        for index in 0..visits {
            self.visit(self.ranking[index].1, now);
        }
    }

    fn visit(&mut self, page: Page, now: UnixSeconds) {
        let line = &mut self.lines[page as usize];
        let seen = line.visit();
        let is_counted = u64::from(self.counted_from < now);
        match seen {
            Seen::New => self.tally.captured += is_counted,
            Seen::Same | Seen::First => self.tally.wasted += is_counted,
            Seen::Gone => {
                self.tally.gone += is_counted;
                self.ranker.forget(page);
                line.forget();
                return;
            }
        }
        let gap = now.since(self.last_visit[page as usize]);
        self.last_visit[page as usize] = now;
        self.ranker.visited(
            self.web,
            line,
            Visit {
                page,
                now,
                gap,
                seen,
            },
        );
    }
}

#[derive(Clone, Copy)]
struct Visit {
    page: Page,
    now: UnixSeconds,
    gap: Duration,
    seen: Seen,
}

/// Learns, and says how urgent pages are.
struct Ranker {
    mind: Mind,
    /// What the policy knows of each page since its last visit.
    outlooks: Vec<Outlook>,
}

enum Mind {
    Planner {
        planner: Box<Planner>,
        states: Vec<Option<PageState>>,
    },
    Likelihood(Vec<LikelihoodMemory>),
    Hindsight,
}

/// The rate of a page that is never modified.
const HINDSIGHT_RATE_MIN: f64 = 1e-12;

const INDEX: Index = Index {
    objective: Objective::CAPTURE,
    first: None,
};

impl Ranker {
    fn new(web: &ChangingWeb, contestant: Contestant, config: &RevisitConfig) -> Ranker {
        let pages = web.history.page_count() as usize;
        let unknown = Outlook::new(Belief::point(PRIOR.rate));
        match contestant {
            Contestant::Hindsight => Ranker {
                mind: Mind::Hindsight,
                outlooks: web
                    .true_rates()
                    .map(|rate| Outlook::new(Belief::point(rate.max(HINDSIGHT_RATE_MIN))))
                    .collect(),
            },
            Contestant::IntervalLikelihood => Ranker {
                mind: Mind::Likelihood(vec![LikelihoodMemory::default(); pages]),
                outlooks: vec![unknown; pages],
            },
            Contestant::Uniform
            | Contestant::IntervalGeometricMean
            | Contestant::IntervalMean
            | Contestant::Index
            | Contestant::IndexGamma
            | Contestant::IndexFresh => Ranker {
                mind: Mind::Planner {
                    planner: Box::new(Planner::new(config, 1)),
                    states: vec![None; pages],
                },
                outlooks: vec![unknown; pages],
            },
        }
    }

    fn urgency(&self, page: Page, elapsed: Duration) -> f64 {
        let outlook = &self.outlooks[page as usize];
        match &self.mind {
            Mind::Planner { planner, .. } => planner.agenda().urgency(outlook, elapsed),
            Mind::Likelihood(_) | Mind::Hindsight => INDEX.urgency(outlook, elapsed),
        }
    }

    fn first_visit(&mut self, web: &ChangingWeb, line: &Line<'_>, page: Page, now: UnixSeconds) {
        match &mut self.mind {
            Mind::Planner { planner, states } => {
                let (state, _) = planner.first_visit(&sighting(web, line, page, now), Draw::new(0));
                self.outlooks[page as usize] = planner.outlook(&state, web.url(page));
                states[page as usize] = Some(state);
            }
            Mind::Likelihood(memories) => {
                memories[page as usize] = LikelihoodMemory::default();
                self.outlooks[page as usize] = Outlook::new(Belief::point(PRIOR.rate));
            }
            Mind::Hindsight => {}
        }
    }

    fn visited(&mut self, web: &ChangingWeb, line: &Line<'_>, visit: Visit) {
        let Visit {
            page,
            now,
            gap,
            seen,
        } = visit;
        match &mut self.mind {
            Mind::Planner { planner, states } => {
                if let Some(state) = &mut states[page as usize] {
                    let sighting = sighting(web, line, page, now);
                    planner.revisited(state, &sighting, Draw::new(0));
                    self.outlooks[page as usize] = planner.outlook(state, web.url(page));
                }
            }
            Mind::Likelihood(memories) => {
                let memory = &mut memories[page as usize];
                let evidence = match seen {
                    Seen::New => Evidence::Changed { gap },
                    Seen::Same | Seen::First | Seen::Gone => Evidence::Same { gap },
                };
                Likelihood.learn(memory, &evidence, &PRIOR);
                bound(memory);
                let belief = Likelihood.belief(memory, &PRIOR);
                self.outlooks[page as usize] = Outlook::new(belief);
            }
            Mind::Hindsight => {}
        }
    }

    fn forget(&mut self, page: Page) {
        if let Mind::Planner { planner, states } = &mut self.mind
            && let Some(state) = states[page as usize].take()
        {
            planner.forget(&state);
        }
    }
}

/// What those without a prior of their own believe of a page that was visited once: it changes once a week.
const PRIOR: Prior = Prior {
    rate: 1.0 / (7.0 * 86_400.0),
    shape: 1.0,
};

/// Changed gaps that the most likely rate is found from: the newest, so that the time of a visit is bounded.
const GAPS_MAX: usize = 64;

/// Forgets the oldest changed gap beyond the most, and as large a part of the time without changes.
fn bound(memory: &mut LikelihoodMemory) {
    let gaps = memory.changed_gaps.len();
    if GAPS_MAX < gaps {
        memory.changed_gaps.remove(0);
        memory.stable_seconds *= GAPS_MAX as f64 / gaps as f64;
    }
}

fn sighting<'a>(
    web: &'a ChangingWeb,
    line: &Line<'_>,
    page: Page,
    now: UnixSeconds,
) -> Sighting<'a> {
    Sighting {
        at: time(now),
        page: web.url(page),
        server: ServerKey::new(0),
        took: Duration::from_secs(1),
        found: line.found(time(now)),
        hints: junkai_revisit::Hints::default(),
    }
}
