//! What a crawl of a changing web sees, with the planner that crawls: each page is visited when the planner says.
//!
//! [`predict`] is the lab's word on a live crawl, which may be compared with one of the same history.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use junkai_frontier::ServerKey;
use junkai_graph::Page;
use junkai_graph::history::UnixSeconds;
use junkai_revisit::{
    Draw, Hints, Look, Looking, Next, PageState, Planner, RevisitConfig, ServerReport, Sighting,
};

use super::tally::Tally;
use super::web::{ChangingWeb, Line, Seen, time};

/// How a web is crawled.
#[derive(Clone, Debug)]
pub struct Setting {
    /// When to come back.
    pub revisit: RevisitConfig,
    /// Visits a day as a share of the pages that are there, set anew every day in place of `revisit.visits_a_day`. Default none: the
    /// settings hold.
    pub visits_a_day_share: Option<f64>,
    /// A visit is made at the next multiple of this time after it is due, and not below a second: what the crawler's queues and turns
    /// add. Default 1 s.
    pub resolution: Duration,
    /// Time at the beginning that is not counted. Default none.
    pub warm_up: Duration,
    /// Where chance begins.
    pub seed: u64,
}

impl Setting {
    /// A crawl by these settings, counted from its beginning.
    #[must_use]
    pub fn new(revisit: RevisitConfig) -> Setting {
        Setting {
            revisit,
            visits_a_day_share: None,
            resolution: Duration::from_secs(1),
            warm_up: Duration::ZERO,
            seed: 1,
        }
    }
}

/// What a crawl would see.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// All pages together.
    pub tally: Tally,
    /// Each page, by its number in the history.
    pub pages: Vec<PageTally>,
    /// The one server that all pages are on, at the end.
    pub server: ServerReport,
}

/// What became of one page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PageTally {
    /// Visits after the first that found a new version.
    pub captured: u32,
    /// Visits that found nothing new.
    pub wasted: u32,
    /// Visits that found it gone.
    pub gone: u32,
    /// The interval that was planned last; none for a page that is not known at the end.
    pub interval: Option<Duration>,
}

impl PageTally {
    /// Visits after the first.
    #[must_use]
    pub fn visits(&self) -> u32 {
        self.captured + self.wasted + self.gone
    }
}

/// Crawls a web from the beginning of its history to its end.
#[must_use]
pub fn predict(web: &ChangingWeb, setting: &Setting) -> Prediction {
    let mut crawl = Crawl::new(web, setting);
    let mut day = web.from();
    while let Some(Reverse(turn)) = crawl.turns.pop() {
        while setting.visits_a_day_share.is_some() && day <= turn.at {
            crawl.set_budget(day);
            day = day.after(Duration::from_hours(24));
        }
        crawl.turn(turn);
    }
    crawl.finish()
}

/// A page's turn: to be found, or to be visited. In one second, in the order of pages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    at: UnixSeconds,
    page: Page,
    /// Turns of a page that was found anew in between are void.
    life: u32,
}

struct Crawl<'a> {
    web: &'a ChangingWeb,
    setting: &'a Setting,
    planner: Planner,
    lines: Vec<Line<'a>>,
    pages: Vec<Known>,
    turns: BinaryHeap<Reverse<Turn>>,
    counted_from: UnixSeconds,
    prediction: Prediction,
}

#[derive(Clone, Default)]
struct Known {
    state: Option<PageState>,
    life: u32,
}

impl<'a> Crawl<'a> {
    fn new(web: &'a ChangingWeb, setting: &'a Setting) -> Crawl<'a> {
        let pages = web.history.page_count() as usize;
        let counted_from = web.from().after(setting.warm_up);
        let planner = Planner::new(&setting.revisit, 1);
        let server = planner.servers().report(SERVER);
        let mut crawl = Crawl {
            web,
            setting,
            planner,
            lines: web.history.pages().map(|page| web.line(page)).collect(),
            pages: vec![Known::default(); pages],
            turns: BinaryHeap::new(),
            counted_from,
            prediction: Prediction {
                tally: Tally {
                    versions: web.versions_after(counted_from),
                    ..Tally::default()
                },
                pages: vec![PageTally::default(); pages],
                server,
            },
        };
        for page in web.history.pages() {
            crawl.await_discovery(page, web.from());
        }
        crawl
    }

    fn set_budget(&mut self, now: UnixSeconds) {
        let share = self.setting.visits_a_day_share.unwrap_or(0.0);
        for line in &mut self.lines {
            line.advance(now, self.counted_from, &mut self.prediction.tally);
        }
        let here = self.lines.iter().filter(|line| line.is_here).count();
        let visits = share * here.max(1) as f64;
        self.planner.set_visits_a_day(Some(visits));
    }

    /// A page that is not known has its turn when something happens to it, or now if it is there.
    fn await_discovery(&mut self, page: Page, now: UnixSeconds) {
        let page_line = &self.lines[page as usize];
        let at = if page_line.is_here {
            Some(now)
        } else {
            page_line.next_event()
        };
        if let Some(at) = at {
            let life = self.pages[page as usize].life;
            self.turns.push(Reverse(Turn { at, page, life }));
        }
    }

    fn turn(&mut self, turn: Turn) {
        let Turn { at, page, life } = turn;
        if self.pages[page as usize].life != life || self.web.until() < at {
            return;
        }
        let line = &mut self.lines[page as usize];
        line.advance(at, self.counted_from, &mut self.prediction.tally);
        if self.pages[page as usize].state.is_some() {
            self.revisit(page, at);
        } else if line.is_here {
            self.first_visit(page, at);
        } else {
            self.await_discovery(page, at);
        }
    }

    fn first_visit(&mut self, page: Page, at: UnixSeconds) {
        self.lines[page as usize].visit();
        let draw = self.draw(page, 0);
        let sighting = self.sighting(page, at);
        let (state, next) = self.planner.first_visit(&sighting, draw);
        self.prediction.tally.first_visits += u64::from(self.counted_from < at);
        self.pages[page as usize].state = Some(state);
        self.plan(page, at, next);
    }

    /// A page that waits is looked at, and visited if its time has come.
    fn revisit(&mut self, page: Page, at: UnixSeconds) {
        let Some(mut state) = self.pages[page as usize].state.take() else {
            return;
        };
        let drawn_last = self.draw(page, state.visits - 1);
        let looking = Looking {
            page: self.web.url(page),
            at: time(at),
            hints: Hints::default(),
        };
        let next = match self.planner.look(&mut state, &looking, drawn_last) {
            Look::Again(then) => Next::At(then),
            Look::Visit => {
                let seen = self.lines[page as usize].visit();
                self.count(page, at, seen);
                let draw = self.draw(page, state.visits);
                let sighting = self.sighting(page, at);
                self.planner.revisited(&mut state, &sighting, draw).next
            }
        };
        self.pages[page as usize].state = Some(state);
        self.plan(page, at, next);
    }

    fn count(&mut self, page: Page, at: UnixSeconds, seen: Seen) {
        if at <= self.counted_from {
            return;
        }
        let (all, one) = (
            &mut self.prediction.tally,
            &mut self.prediction.pages[page as usize],
        );
        let (all, one) = match seen {
            Seen::New => (&mut all.captured, &mut one.captured),
            Seen::Same | Seen::First => (&mut all.wasted, &mut one.wasted),
            Seen::Gone => (&mut all.gone, &mut one.gone),
        };
        *all += 1;
        *one += 1;
    }

    fn plan(&mut self, page: Page, now: UnixSeconds, next: Next) {
        let known = &mut self.pages[page as usize];
        match next {
            Next::At(then) => {
                let state = known.state.as_ref();
                let look = state.map_or(then, |state| self.planner.next_look(state, time(now)));
                let at = UnixSeconds(look.as_micros().div_ceil(1_000_000));
                let at = rounded_up(
                    at.max(now.after(Duration::from_secs(1))),
                    self.setting.resolution,
                );
                self.turns.push(Reverse(Turn {
                    at,
                    page,
                    life: known.life,
                }));
            }
            Next::GiveUp(_) => {
                known.state = None;
                known.life += 1;
                self.lines[page as usize].forget();
                self.await_discovery(page, now);
            }
        }
    }

    fn sighting(&self, page: Page, at: UnixSeconds) -> Sighting<'a> {
        Sighting {
            at: time(at),
            page: self.web.url(page),
            server: SERVER,
            took: Duration::from_secs(1),
            found: self.lines[page as usize].found(time(at)),
            hints: Hints::default(),
        }
    }

    fn draw(&self, page: Page, visits: u32) -> Draw {
        let of_page = Draw::of_visit(self.web.url(page).fingerprint(), visits);
        of_page.another(self.setting.seed)
    }

    fn finish(mut self) -> Prediction {
        for page in self.web.history.pages() {
            let line = &mut self.lines[page as usize];
            line.advance(
                self.web.until(),
                self.counted_from,
                &mut self.prediction.tally,
            );
            let state = &self.pages[page as usize].state;
            self.prediction.pages[page as usize].interval =
                state.as_ref().map(|state| state.interval);
        }
        self.prediction.server = self.planner.servers().report(SERVER);
        self.prediction
    }
}

/// The server of all pages.
const SERVER: ServerKey = ServerKey::new(0);

/// The next multiple of so much time; not below a second.
fn rounded_up(at: UnixSeconds, resolution: Duration) -> UnixSeconds {
    let step = resolution.as_secs().max(1);
    UnixSeconds(at.0.div_ceil(step).saturating_mul(step))
}
