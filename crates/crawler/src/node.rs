//! What the partitions of a crawl share in one process: servers, visits that are still asked for, the way to each other, and the question whether all is done.
//!
//! Each partition is an engine with a thread of its own ([`Rounds`](crate::rounds::Rounds)); the first one's thread also decides when the crawl ends.
//! With one partition all of this says yes at once.
//!
//! Done is what all partitions are, while nothing is on its way between them: a batch of links counts as on its way from before it is sent until its receiver has
//! taken it in and said again how it stands.

use std::num::NonZeroU16;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Sender, TrySendError};
use junkai_engine::Input;
use junkai_engine::first_pages::Outlook;
use junkai_engine::partition::Partition;
use junkai_engine::shared_servers::SharedServers;
use junkai_frontier::{ServerKey, ServerState, Time};
use junkai_weburl::Canonicalizer;

use crate::neighbours::Neighbours;
use crate::progress::Progress;
use crate::report::Report;
use crate::settings::Settings;

/// Where reports to each partition go.
#[derive(Clone, Debug)]
pub(crate) struct Mailboxes {
    senders: Arc<[Sender<Report>]>,
    canonical: Arc<Canonicalizer>,
}

impl Mailboxes {
    /// One for each partition.
    pub(crate) fn new(senders: Vec<Sender<Report>>, settings: &Settings) -> Mailboxes {
        Mailboxes {
            senders: senders.into(),
            canonical: Arc::new(Canonicalizer::new(&settings.canonical)),
        }
    }

    /// How many partitions there are.
    pub(crate) fn count(&self) -> NonZeroU16 {
        let count = u16::try_from(self.senders.len()).ok();
        count.and_then(NonZeroU16::new).unwrap_or(NonZeroU16::MIN)
    }

    /// By what URLs are read.
    pub(crate) fn canonical(&self) -> &Canonicalizer {
        &self.canonical
    }

    /// The partition that a URL belongs to; the first, if it is none.
    pub(crate) fn owner(&self, url: &str) -> u16 {
        let url = self.canonical.parse(url);
        url.map_or(0, |url| Partition::owner(self.count(), &url))
    }

    /// The mailbox of a partition.
    pub(crate) fn of(&self, partition: u16) -> &Sender<Report> {
        &self.senders[usize::from(partition)]
    }
}

/// How a partition stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    /// Nothing is left to visit.
    pub(crate) is_complete: bool,
    /// What a new crawl can hope for from it.
    pub(crate) outlook: Outlook,
    /// It goes by sitemaps alone, has found none and has nowhere left to look.
    pub(crate) is_without_sitemap: bool,
    /// Bytes that it has received.
    pub(crate) bytes: u64,
}

/// How all partitions stand.
#[derive(Debug)]
struct Standings {
    partitions: Vec<Option<Standing>>,
    /// Batches of links that are on their way.
    in_transit: u64,
}

/// What the partitions share.
#[derive(Debug)]
pub(crate) struct Node {
    mailboxes: Mailboxes,
    servers: Mutex<SharedServers>,
    neighbours: Mutex<Option<Neighbours>>,
    standings: Mutex<Standings>,
    /// Pages to be visited at most.
    pages_max: Option<u64>,
    /// Visits that may still become pages.
    under_way: Mutex<u64>,
    progress: Arc<Progress>,
    has_ended: AtomicBool,
}

impl Node {
    /// The node of a crawl with these settings.
    pub(crate) fn new(mailboxes: Mailboxes, settings: &Settings, progress: Arc<Progress>) -> Node {
        Node {
            servers: Mutex::new(SharedServers::new(
                &settings.ring,
                settings.politeness.interval,
            )),
            neighbours: Mutex::new(Neighbours::of_crawl(settings)),
            standings: Mutex::new(Standings {
                partitions: vec![None; usize::from(mailboxes.count().get())],
                in_transit: 0,
            }),
            pages_max: settings.crawl.pages_max,
            under_way: Mutex::new(0),
            mailboxes,
            progress,
            has_ended: AtomicBool::new(false),
        }
    }

    /// Begins a visit of a partition, as far as the others are concerned, and says how its server stands by what they know; else says when to ask again.
    pub(crate) fn start(
        &self,
        partition: Partition,
        key: ServerKey,
        at: Time,
        now: Time,
    ) -> Result<Option<ServerState>, Time> {
        if partition.is_whole() {
            return Ok(None);
        }
        let mut under_way = locked(&self.under_way);
        let mut servers = locked(&self.servers);
        if let Some(pages_max) = self.pages_max
            && pages_max <= self.progress.pages.read() + *under_way
        {
            return Err(now + servers.look_again());
        }
        let state = servers.start(partition.number(), key, at, now)?;
        *under_way += 1;
        Ok(Some(state))
    }

    /// How a server stands, by what all partitions know.
    pub(crate) fn server(&self, key: ServerKey) -> Option<ServerState> {
        locked(&self.servers).state(key)
    }

    /// A visit has ended, and its server stands like this; none if it was not made. To be told when the engine has counted it.
    pub(crate) fn end(&self, partition: Partition, key: ServerKey, state: Option<ServerState>) {
        if !partition.is_whole() {
            locked(&self.servers).end(partition.number(), key, state);
            *locked(&self.under_way) -= 1;
        }
    }

    /// Other crawls on this machine, where they can be seen.
    pub(crate) fn neighbours(&self) -> MutexGuard<'_, Option<Neighbours>> {
        locked(&self.neighbours)
    }

    /// Sends something to another partition; gives it back if that has no room for it at the moment.
    pub(crate) fn send(&self, to: u16, input: Input) -> Result<(), Input> {
        let is_links = matches!(input, Input::Links(_));
        if is_links {
            locked(&self.standings).in_transit += 1;
        }
        match self.mailboxes.of(to).try_send(Report::Happened(input)) {
            Err(TrySendError::Full(Report::Happened(input))) => {
                if is_links {
                    locked(&self.standings).in_transit -= 1;
                }
                Err(input)
            }
            // It has gone: the crawl is over, and the next run sends it again.
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// A partition says how it stands, after it has taken in so many batches of links.
    pub(crate) fn tell(&self, partition: Partition, standing: Standing, batches: u64) {
        let mut standings = locked(&self.standings);
        standings.partitions[usize::from(partition.number())] = Some(standing);
        standings.in_transit -= batches;
    }

    /// Whether all partitions are complete, and nothing is on its way between them.
    pub(crate) fn is_complete(&self) -> bool {
        let standings = locked(&self.standings);
        standings.in_transit == 0 && standings.all(|standing| standing.is_complete)
    }

    /// Whether every seed has failed, and nothing is left to hope for.
    pub(crate) fn is_out_of_reach(&self) -> bool {
        let standings = locked(&self.standings);
        let has = |outlook| standings.any(|standing| standing.outlook == outlook);
        standings.in_transit == 0
            && standings.all(|_| true)
            && has(Outlook::OutOfReach)
            && !has(Outlook::Hope)
    }

    /// Whether a crawl that goes by sitemaps alone has found none.
    pub(crate) fn is_without_sitemap(&self) -> bool {
        let standings = locked(&self.standings);
        standings.in_transit == 0 && standings.all(|standing| standing.is_without_sitemap)
    }

    /// Bytes that all partitions have received.
    pub(crate) fn bytes(&self) -> u64 {
        let standings = locked(&self.standings);
        let told = standings.partitions.iter().flatten();
        told.map(|standing| standing.bytes).sum()
    }

    /// The crawl ends.
    pub(crate) fn end_all(&self) {
        self.has_ended.store(true, Ordering::Release);
    }

    /// Whether the crawl ends.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }
}

impl Standings {
    /// Whether this holds for every partition; not before each has said how it stands.
    fn all(&self, holds: impl Fn(&Standing) -> bool) -> bool {
        let mut partitions = self.partitions.iter();
        partitions.all(|standing| standing.as_ref().is_some_and(&holds))
    }

    fn any(&self, holds: impl Fn(&Standing) -> bool) -> bool {
        self.partitions.iter().flatten().any(holds)
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use crossbeam_channel::bounded;
    use junkai_engine::outbox::Links;

    use super::*;

    const DONE: Standing = Standing {
        is_complete: true,
        outlook: Outlook::Nothing,
        is_without_sitemap: false,
        bytes: 10,
    };

    fn links(batch: u64) -> Input {
        Input::Links(Links {
            from: 0,
            to: 1,
            batch,
            entries: Vec::new(),
        })
    }

    #[test]
    fn a_crawl_is_complete_when_all_partitions_are_and_nothing_is_between_them() {
        let (boxes, received): (Vec<_>, Vec<_>) = (0..2).map(|_| bounded(1)).unzip();
        let mut settings = Settings::default();
        settings.crawl.share_pace = false;
        let mailboxes = Mailboxes::new(boxes, &settings);
        let [first, second] = [0, 1].map(|number| {
            Partition::all(mailboxes.count())
                .nth(number)
                .expect("there are two")
        });
        let node = Node::new(mailboxes, &settings, Arc::new(Progress::default()));
        node.tell(first, DONE, 0);
        assert!(!node.is_complete(), "the second has not said anything");
        node.tell(second, DONE, 0);
        assert!(node.is_complete());
        node.send(1, links(1)).unwrap();
        assert!(!node.is_complete(), "links are on their way");
        node.send(1, links(2)).unwrap_err();
        assert!(received[1].try_recv().is_ok());
        node.tell(first, DONE, 0);
        assert!(!node.is_complete(), "they were not taken in yet");
        let busy = Standing {
            is_complete: false,
            outlook: Outlook::OutOfReach,
            ..DONE
        };
        node.tell(second, busy, 1);
        assert!(!node.is_complete() && node.is_out_of_reach());
        node.tell(second, DONE, 0);
        assert!(node.is_complete() && !node.is_out_of_reach());
        assert_eq!(node.bytes(), 20);
    }
}
