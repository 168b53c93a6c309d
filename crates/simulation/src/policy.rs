//! What can be simulated: an order of visits, how much of it is kept in memory, and whether servers get their rest.
//!
//! A [`Policy`] has a short text form (`worth:9000,welcome`), so that a printed command repeats an experiment exactly.

mod parse;

use std::fmt;
use std::time::Duration;

use junkai_frontier::admission::{BudgetConfig, Budgets, Gain, InDegree, Worth, WorthConfig};
use junkai_frontier::ring::OneStepRule;
use junkai_frontier::{Admission, Fifo};
use junkai_graph::Page;

pub use parse::NotAPolicy;

/// A way to crawl.
#[derive(Clone, Debug, PartialEq)]
pub enum Policy {
    /// The ceiling: pages by their true PageRank, found or not.
    Opt,
    /// The scheduler of Morimoto et al. (2011) to the letter.
    OneStepRing(OneStepRingSetup),
    /// An admission policy of the crawler, with or without its ring.
    Crawl(Setup),
}

/// The parameters of Morimoto et al. (2011).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneStepRingSetup {
    /// *B*: steps that can be booked ahead.
    pub slots: usize,
    /// *H*: residue classes of servers.
    pub residues: u32,
    /// Where an idle residue begins.
    pub rule: OneStepRule,
    /// How a server finds its residue.
    pub spread: ServerSpread,
}

/// How a server finds its place among the residues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerSpread {
    /// By a hash of its number, as a crawler hashes addresses.
    Hashed,
    /// By its number: neighbours never collide.
    Plain,
}

/// A crawl with the crawler's own parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Who comes next.
    pub order: CrawlOrder,
    /// Pages that wait in memory at most; none: as many as there are.
    pub candidates_max: Option<usize>,
    /// What becomes of a page that found no room.
    pub evicted: Evicted,
    /// Whether servers get their rest; without it one page after another is visited.
    pub ring: Option<RingSetup>,
}

/// Who comes next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CrawlOrder {
    /// First come, first served.
    Fifo,
    /// Who is linked most.
    InDegree,
    /// IRLbot's budgets for sites.
    SiteBudgets(BudgetConfig),
    /// Ours: estimated PageRank, spread over hosts.
    Worth {
        /// What a link is worth.
        gain: Gain,
        /// How much a link from another host counts.
        cross_host: f32,
        /// How fast a host falls back with each visit to it.
        spread: f32,
    },
}

/// What becomes of a page that found no room in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evicted {
    /// It is forgotten, and may be found again.
    Discarded,
    /// It is spilled to disk by its worth, and comes back when there is room.
    Spilled,
    /// Likewise, and a link to it brings it back at once.
    SpilledAndWelcome,
}

/// The ring under a crawl, and the servers' pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSetup {
    /// Steps that the ring covers.
    pub slots: usize,
    /// Server keys.
    pub keys: u32,
    /// Visits in flight.
    pub concurrency: usize,
    /// Visits that are handed to the ring ahead of their turn.
    pub lookahead: usize,
    /// The least time from the end of a visit to a server to the start of the next.
    pub interval: Duration,
    /// The length of a step of the ring; none: as long as the interval.
    pub step: Option<Duration>,
    /// How long each visit takes.
    pub latency: Duration,
    /// Whether the first turn of each host goes to its robots.txt, as in a real crawl.
    pub has_robots: bool,
}

impl Default for RingSetup {
    /// A crawl that must choose: 16 visits in flight, each half as long as the interval.
    fn default() -> RingSetup {
        RingSetup {
            slots: 1024,
            keys: 65_536,
            concurrency: 16,
            lookahead: 16,
            interval: Duration::from_secs(1),
            step: None,
            latency: Duration::from_millis(500),
            has_robots: false,
        }
    }
}

impl Policy {
    /// Morimoto et al. (2011) with *B* slots and *H* residues.
    #[must_use]
    pub fn one_step_ring(slots: usize, residues: u32) -> Policy {
        Policy::OneStepRing(OneStepRingSetup {
            slots,
            residues,
            rule: OneStepRule::Text,
            spread: ServerSpread::Hashed,
        })
    }

    /// One page after another, in this order, with all memory.
    #[must_use]
    pub fn at_once(order: CrawlOrder) -> Policy {
        Policy::Crawl(Setup {
            order,
            candidates_max: None,
            evicted: Evicted::Spilled,
            ring: None,
        })
    }

    /// Breadth first.
    #[must_use]
    pub fn breadth_first() -> Policy {
        Policy::at_once(CrawlOrder::Fifo)
    }

    /// IRLbot as the prototype has it: one queue a round, budgets from 10 to 1,000 by links from other hosts.
    #[must_use]
    pub fn irlbot() -> Policy {
        Policy::at_once(CrawlOrder::SiteBudgets(BudgetConfig::one_queue()))
    }

    /// In-degree first, of Matsukubo and Hayashi (2003).
    #[must_use]
    pub fn in_degree() -> Policy {
        Policy::at_once(CrawlOrder::InDegree)
    }

    /// Ours in this much memory, with the ring: what finds no room waits on disk.
    #[must_use]
    pub fn worth(candidates_max: Option<usize>, evicted: Evicted) -> Policy {
        Policy::Crawl(Setup {
            order: CrawlOrder::worth(),
            candidates_max,
            evicted,
            ring: Some(RingSetup::default()),
        })
    }
}

impl CrawlOrder {
    /// Ours as the crawler has it.
    #[must_use]
    pub fn worth() -> CrawlOrder {
        let config = WorthConfig::default();
        CrawlOrder::Worth {
            gain: config.gain,
            cross_host: config.cross_host,
            spread: config.spread,
        }
    }

    /// The crawler's own waiting room for this order.
    #[must_use]
    pub fn admission(self, candidates_max: Option<usize>) -> Box<dyn Admission<Page>> {
        let most = candidates_max.unwrap_or(usize::MAX);
        match self {
            CrawlOrder::Fifo => Box::new(Fifo::new(most)),
            CrawlOrder::InDegree => match candidates_max {
                Some(most) => Box::new(InDegree::bounded(most)),
                None => Box::new(InDegree::unbounded()),
            },
            CrawlOrder::SiteBudgets(config) => Box::new(Budgets::new(config)),
            CrawlOrder::Worth {
                gain,
                cross_host,
                spread,
            } => Box::new(Worth::new(WorthConfig {
                candidates_max: most,
                gain,
                cross_host,
                spread,
                ..WorthConfig::default()
            })),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        parse::write(self, formatter)
    }
}
