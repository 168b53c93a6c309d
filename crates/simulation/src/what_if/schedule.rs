//! The pace of a crawl and its memory, as the crawler's settings have them.

use std::time::Duration;

use junkai_frontier::Overflow;
use junkai_frontier::admission::{BudgetConfig, Order};

use crate::policy::{CrawlOrder, Evicted, Policy, RingSetup, Setup};

/// How a crawl is paced, and how much of it is kept in memory. The fields are the crawler's settings of the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The least time from the end of a visit to a server to the start of the next.
    pub interval: Duration,
    /// The length of a step of the ring.
    pub step: Duration,
    /// How long each visit takes.
    pub latency: Duration,
    /// Visits in flight.
    pub concurrency: usize,
    /// Steps that the ring covers.
    pub slots: usize,
    /// Server keys.
    pub keys: u32,
    /// Visits that wait in the ring at most, where the order is `fifo`.
    pub waiting_max: usize,
    /// Pages that stand in order in memory at most, where the order is another.
    pub candidates: usize,
    /// Visits that are booked ahead at most, where the order is not `fifo`.
    pub lookahead: usize,
    /// What becomes of a visit that finds no room in the ring, where the order is `fifo`.
    pub overflow: Overflow,
}

impl Schedule {
    /// A crawl in this order at this pace.
    #[must_use]
    pub fn policy(&self, order: Order) -> Policy {
        let crawl_order = match order {
            Order::Fifo => CrawlOrder::Fifo,
            Order::InDegree => CrawlOrder::InDegree,
            Order::SiteBudgets => CrawlOrder::SiteBudgets(BudgetConfig::published()),
            Order::Worth => CrawlOrder::worth(),
        };
        let is_fifo = order == Order::Fifo;
        Policy::Crawl(Setup {
            order: crawl_order,
            // First come, first served asks for no choice: what does not fit into the ring waits on disk as it came.
            candidates_max: (!is_fifo).then_some(self.candidates),
            evicted: if is_fifo && self.overflow == Overflow::Discard {
                Evicted::Discarded
            } else {
                Evicted::Spilled
            },
            ring: Some(RingSetup {
                slots: self.slots,
                keys: self.keys,
                concurrency: self.concurrency,
                lookahead: if is_fifo {
                    self.waiting_max
                } else {
                    self.lookahead
                },
                interval: self.interval,
                step: Some(self.step),
                latency: self.latency,
                has_robots: true,
            }),
        })
    }

    /// Pages in memory at most, given how many there are to wait.
    pub(super) fn in_memory(&self, order: &str, waiting: u32) -> u64 {
        let waiting = u64::from(waiting);
        if order == Order::Fifo.name() {
            waiting.min(self.waiting_max as u64)
        } else {
            waiting
        }
    }

    /// The least time that a server needs for so many visits, one after another.
    #[must_use]
    pub fn time_of(&self, visits: u64) -> Duration {
        let visits = u32::try_from(visits).unwrap_or(u32::MAX);
        let pauses = self.interval.saturating_mul(visits.saturating_sub(1));
        pauses.saturating_add(self.latency.saturating_mul(visits))
    }
}
