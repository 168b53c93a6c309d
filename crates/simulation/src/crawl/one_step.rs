//! A crawl by Morimoto et al. (2011): step after step, each batch downloaded whole before the next.
//!
//! Morimoto et al. (2011), algorithm 1, with the errata corrected: the seeds go through the scheduler, and a URL counts as known when it
//! was booked, not when it was found, so that a discarded one may come back. Departures: none.

use std::time::Duration;

use junkai_frontier::Time;
use junkai_frontier::ring::{OneStepRing, OneStepRingConfig};
use junkai_graph::{Page, WebGraph};

use super::{Pace, Run, Ticker, Trial, mix};
use crate::policy::{OneStepRingSetup, ServerSpread};

/// The length of a step; the order does not depend on it.
const STEP: Duration = Duration::from_secs(1);
/// The least number of steps between two visits to a server, that Morimoto et al. (2011) proves.
const STEPS_PROMISED: u64 = 2;

pub(super) fn crawl(
    trial: &Trial<'_>,
    setup: OneStepRingSetup,
    progress: &mut dyn FnMut(u64),
) -> Run {
    let mut crawl = OneStepCrawl::new(trial, setup);
    let mut ticker = Ticker { sink: progress };
    for &seed in trial.seeds {
        crawl.enqueue(seed);
    }
    let mut now = Time::EPOCH;
    while !crawl.ring.is_empty() && !crawl.run.is_over(trial) {
        now = now + STEP;
        let batch = crawl.ring.next(now).unwrap_or_default();
        for (place, &page) in batch.iter().enumerate() {
            if crawl.run.is_over(trial) {
                break;
            }
            let behind_it = batch.len() - place - 1;
            crawl.visit(page, behind_it);
            ticker.at(crawl.run.order.len());
        }
    }
    crawl.run
}

struct OneStepCrawl<'a> {
    web: &'a WebGraph,
    setup: OneStepRingSetup,
    ring: OneStepRing<Page>,
    is_booked: Vec<bool>,
    /// The step of the last visit to each residue, for the check of the promise.
    visited_at: Vec<Option<u64>>,
    run: Run,
}

impl<'a> OneStepCrawl<'a> {
    fn new(trial: &Trial<'a>, setup: OneStepRingSetup) -> OneStepCrawl<'a> {
        let config = OneStepRingConfig {
            slots: setup.slots,
            residues: setup.residues,
            interval: STEP,
            rule: setup.rule,
        };
        OneStepCrawl {
            web: trial.web,
            setup,
            ring: OneStepRing::new(config, Time::EPOCH),
            is_booked: vec![false; trial.web.links.page_count() as usize],
            visited_at: vec![None; setup.residues as usize],
            run: Run {
                pace: Pace::promising(STEPS_PROMISED),
                ..Run::default()
            },
        }
    }

    /// Visits a page of a batch, of which so many are still to come: they wait in memory too.
    fn visit(&mut self, page: Page, behind_it: usize) {
        let step = self.ring.now_step();
        let residue = self.residue(page) as usize;
        if let Some(last) = self.visited_at[residue].replace(step) {
            self.run.pace.note(step - last);
        }
        let web = self.web;
        let links = web.links.successors(page);
        self.run.links += links.len() as u64;
        for &link in links {
            self.enqueue(link);
        }
        self.run.visited(page, self.ring.len() + behind_it);
    }

    fn enqueue(&mut self, page: Page) {
        if self.is_booked[page as usize] {
            return;
        }
        match self.ring.enqueue(self.residue(page), page) {
            Ok(_) => self.is_booked[page as usize] = true,
            Err(_) => self.run.discarded += 1,
        }
    }

    fn residue(&self, page: Page) -> u32 {
        let server = self.web.hosts.server(self.web.hosts.host(page));
        let number = match self.setup.spread {
            ServerSpread::Hashed => mix(server),
            ServerSpread::Plain => u64::from(server),
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a remainder of division by a u32"
        )]
        let residue = (number % u64::from(self.setup.residues)) as u32;
        residue
    }
}
