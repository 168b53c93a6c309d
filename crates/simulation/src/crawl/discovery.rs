//! What is known and what waits: from the links of a visited page to the page that comes next.
//!
//! The order of events is that of the crawler's rounds: the links of a visit are taken in, in the order of the document, before
//! anything else is handed out.

use junkai_frontier::admission::filled_from_spilled;
use junkai_frontier::{Admission, Candidate, Source};
use junkai_graph::{Page, WebGraph};
use junkai_weburl::Fingerprint;

use super::engine::web::host_name;
use super::spilled::{Returning, Spilled};
use super::{Run, Trial, mix};
use crate::policy::{Evicted, Setup};

/// The worth of a seed.
const SEED_WORTH: f32 = 1.0;

/// Where a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whereabouts {
    Unknown,
    Waiting,
    Spilled,
    HandedOut,
}

/// Everything between the links of a page and the ring.
pub(super) struct Discovery<'a> {
    web: &'a WebGraph,
    admission: Box<dyn Admission<Page>>,
    spilled: Spilled,
    evicted: Evicted,
    candidates_max: usize,
    pages: Vec<Whereabouts>,
    /// What stands for each host, as in a crawl: orders that count by hosts share counters by it.
    hosts: Vec<u64>,
}

/// A page that was handed out, and what it was worth then.
#[derive(Clone, Copy, Debug)]
pub(super) struct HandedOut {
    pub(super) page: Page,
    pub(super) worth: f32,
}

impl<'a> Discovery<'a> {
    /// Knows the seeds.
    pub(super) fn new(trial: &Trial<'a>, setup: &Setup, run: &mut Run) -> Discovery<'a> {
        let mut discovery = Discovery {
            web: trial.web,
            admission: setup.order.admission(setup.candidates_max),
            spilled: Spilled::default(),
            evicted: setup.evicted,
            candidates_max: setup.candidates_max.unwrap_or(usize::MAX),
            pages: vec![Whereabouts::Unknown; trial.web.links.page_count() as usize],
            hosts: (0..trial.web.hosts.count())
                .map(|host| Fingerprint::of(&host_name(host)).0)
                .collect(),
        };
        for &seed in trial.seeds {
            if discovery.pages[seed as usize] == Whereabouts::Unknown {
                discovery.offer(seed, SEED_WORTH, run);
            }
        }
        discovery
    }

    /// Takes in the links of a page that was visited.
    pub(super) fn take_in_links(&mut self, visited: HandedOut, run: &mut Run) {
        let links = self.web.links.successors(visited.page);
        let source = Source {
            host: self.host_of(visited.page),
            priority: visited.worth,
            links: u32::try_from(links.len()).unwrap_or(u32::MAX),
        };
        run.links += links.len() as u64;
        for &page in links {
            let gain = self.admission.gain(&source, self.host_of(page));
            match self.pages[page as usize] {
                Whereabouts::HandedOut => {}
                Whereabouts::Waiting => {
                    self.admission.raise(mix(page), gain);
                }
                Whereabouts::Spilled if self.evicted == Evicted::Spilled => {}
                Whereabouts::Spilled | Whereabouts::Unknown => self.offer(page, gain, run),
            }
        }
    }

    /// Learns that a visit is over.
    pub(super) fn release(&mut self, page: Page) {
        self.admission.release(self.host_of(page));
    }

    /// Lets pages come back that were spilled, while there is ample room.
    fn refill(&mut self, run: &mut Run) {
        let filled = filled_from_spilled(self.candidates_max);
        while self.admission.len() < filled {
            let Some(Returning { page, worth }) = self.spilled.next() else {
                return;
            };
            // Otherwise a link has brought it back before.
            if self.pages[page as usize] == Whereabouts::Spilled {
                self.offer(page, worth, run);
            }
        }
    }

    /// Takes out the page that comes next; its place is filled from what was spilled the moment it is free.
    pub(super) fn next(&mut self, run: &mut Run) -> Option<HandedOut> {
        let candidate = self.admission.next()?;
        self.pages[candidate.visit as usize] = Whereabouts::HandedOut;
        self.refill(run);
        Some(HandedOut {
            page: candidate.visit,
            worth: candidate.priority,
        })
    }

    /// Pages that wait in memory.
    pub(super) fn len(&self) -> usize {
        self.admission.len()
    }

    /// Gives back a page whose turn has been deferred.
    pub(super) fn offer_again(&mut self, deferred: HandedOut, run: &mut Run) {
        self.offer(deferred.page, deferred.worth, run);
    }

    /// Forgets a page for which the ring had no turn; it may be found again.
    pub(super) fn forget(&mut self, page: Page, run: &mut Run) {
        self.pages[page as usize] = Whereabouts::Unknown;
        run.discarded += 1;
    }

    fn offer(&mut self, page: Page, worth: f32, run: &mut Run) {
        self.pages[page as usize] = Whereabouts::Waiting;
        let candidate = Candidate {
            fingerprint: mix(page),
            host: self.host_of(page),
            priority: worth,
            visit: page,
        };
        let evicted = self.admission.offer_within(candidate, self.candidates_max);
        let Some(evicted) = evicted else {
            return;
        };
        match self.evicted {
            Evicted::Discarded => self.forget(evicted.visit, run),
            Evicted::Spilled | Evicted::SpilledAndWelcome => {
                self.pages[evicted.visit as usize] = Whereabouts::Spilled;
                self.spilled.put(evicted.visit, evicted.priority);
                run.spilled += 1;
            }
        }
    }

    fn host_of(&self, page: Page) -> u64 {
        self.hosts[self.web.hosts.host(page) as usize]
    }
}
