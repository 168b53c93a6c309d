//! What known pages ask of their servers, and what these can bear.
//!
//! [`Servers`] is a table by server key: the agenda tells it of every interval that is planned and every visit that was made, and asks
//! it for the pressure on a server; the driver asks for its pace, and people for a [`ServerReport`].
//!
//! Tamura and Kitsuregawa (2007), equations 5 to 11. A schedule is feasible for a server if 1/*L* ≥ *I* ≥ (*S*/*C*)·*e*.
//!
//! # Notation
//! *L*: load index; *e*: time that a visit keeps a connection, its mean for the pace and its maximum for feasibility; *S*: servers with known
//! pages; *C*: visits in flight; *I*: interval between two visits to the server; *R* = (1/*L*)/max *e*: feasible if *R* ≥ *S*/*C*.
//!
//! Departures: *S*/*C* counts as one at least, for a server is visited by one connection at a time; the maximum decays, for one bad day must not
//! count for ever. The paper's *I* is for all visits; ours counts those for known pages, which are a share of them.
//!
//! **Invariant:** a server's load is the sum over its pages, whatever order they came in. Not here: new pages.

mod config;
mod load;
mod report;

use std::num::NonZeroU32;
use std::time::Duration;

use junkai_frontier::ServerKey;

pub use config::ServersConfig;
pub use load::LoadIndex;
pub use report::ServerReport;

use crate::belief::seconds;
use crate::codec::{Reader, put_double, put_float, put_varint};
use crate::price::Pressure;
use crate::relief::ReliefCost;

/// One server.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Server {
    load: LoadIndex,
    fetch: FetchTime,
    pressure: Pressure,
    /// Since the crawl began.
    cost: ReliefCost,
}

impl Server {
    fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.load.pages());
        put_double(out, self.load.per_second());
        put_float(out, self.fetch.mean);
        put_float(out, self.fetch.max);
        put_varint(out, self.fetch.visits.into());
        put_double(out, self.pressure.factor());
        put_double(out, self.cost.visits_saved);
        put_double(out, self.cost.versions_lost);
        put_double(out, self.cost.stale_seconds);
    }

    fn decode(reader: &mut Reader<'_>) -> Option<Server> {
        let pages = reader.varint()?;
        Some(Server {
            load: LoadIndex::restored(pages, reader.double()?)?,
            fetch: FetchTime {
                mean: reader.float().filter(|mean| 0.0 <= *mean)?,
                max: reader.float().filter(|max| 0.0 <= *max)?,
                visits: reader.number()?,
            },
            pressure: Pressure::of_factor(reader.double()?),
            cost: ReliefCost {
                visits_saved: reader.double()?,
                versions_lost: reader.double()?,
                stale_seconds: reader.double()?,
            },
        })
    }
}

/// How long visits keep a connection, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct FetchTime {
    mean: f32,
    max: f32,
    visits: u16,
}

impl FetchTime {
    /// Visits that the mean remembers.
    const MEMORY: u16 = 64;
    /// How much of the maximum's distance to the mean is forgotten with each visit.
    const DECAY: f32 = 1.0 / 256.0;

    fn learn(&mut self, took: Duration) {
        let took = took.as_secs_f32();
        self.visits = (self.visits + 1).min(FetchTime::MEMORY);
        self.mean += (took - self.mean) / f32::from(self.visits);
        self.max -= (self.max - self.mean).max(0.0) * FetchTime::DECAY;
        self.max = self.max.max(took);
    }
}

/// All servers that have known pages.
#[derive(Clone, Debug)]
pub struct Servers {
    config: ServersConfig,
    /// Every page is to be visited at least so often.
    at_least: Option<Duration>,
    table: Vec<Server>,
    /// How many of them have pages.
    count: u32,
    total: LoadIndex,
}

impl Servers {
    /// A table for as many server keys as the ring tells apart.
    ///
    /// # Panics
    /// If there is no key.
    #[must_use]
    pub fn new(config: &ServersConfig, keys: u32) -> Servers {
        assert!(0 < keys, "there must be at least one server key");
        Servers {
            config: config.clone(),
            at_least: None,
            table: vec![Server::default(); keys as usize],
            count: 0,
            total: LoadIndex::default(),
        }
    }

    /// The same, with every page to be visited at least so often.
    #[must_use]
    pub fn at_least(self, at_least: Option<Duration>) -> Servers {
        Servers { at_least, ..self }
    }

    /// A visit to the server kept a connection for so long.
    pub fn visited(&mut self, server: ServerKey, took: Duration) {
        self.server_mut(server).fetch.learn(took);
    }

    /// A page is known, and asks for a visit every `interval`.
    pub fn add(&mut self, server: ServerKey, interval: Duration) {
        self.total.add(interval);
        let load = &mut self.server_mut(server).load;
        load.add(interval);
        if load.pages() == 1 {
            self.count += 1;
        }
    }

    /// Forgets which pages there are, in order to count them anew; what is known of visits stays.
    pub fn uncount(&mut self) {
        for server in &mut self.table {
            server.load = LoadIndex::default();
        }
        self.count = 0;
        self.total = LoadIndex::default();
    }

    /// A page no longer asks for a visit every `interval`.
    pub fn remove(&mut self, server: ServerKey, interval: Duration) {
        self.total.remove(interval);
        let load = &mut self.server_mut(server).load;
        let had_pages = 0 < load.pages();
        load.remove(interval);
        if had_pages && load.pages() == 0 {
            self.count -= 1;
        }
    }

    /// What the known pages of a server ask for.
    #[must_use]
    pub fn load(&self, server: ServerKey) -> &LoadIndex {
        &self.server(server).load
    }

    /// Moves the pressure on a server towards what it can bear, after one of its visits was planned.
    pub(crate) fn settle(&mut self, server: ServerKey) {
        if self.config.relief.is_empty() {
            return;
        }
        let capacity = self.capacity(server);
        let entry = self.server_mut(server);
        let load = entry.load;
        entry.pressure.settle(&load, capacity);
    }

    /// What relief has cost a server's pages is written down.
    pub(crate) fn charge(&mut self, server: ServerKey, cost: ReliefCost) {
        self.server_mut(server).cost += cost;
    }

    /// The pressure on a server: none unless its pages ask for more than it can bear.
    #[must_use]
    pub fn pressure(&self, server: ServerKey) -> Pressure {
        self.server(server).pressure
    }

    /// Least time between two visits to a server for the sake of its known pages: a floor, and (*S*/*C*)·*e*.
    #[must_use]
    pub fn pace(&self, server: ServerKey) -> Duration {
        let entry = self.server(server);
        let floor = if self.config.large_pages <= entry.load.pages() {
            self.config.interval_large
        } else {
            self.config.interval
        };
        let floor = self.shortened(floor, entry.load.pages());
        floor.max(seconds(
            self.servers_per_visit() * f64::from(entry.fetch.mean),
        ))
    }

    /// The time between two visits to a server with so many known pages, where each is to be visited at least so often: as much shorter as that takes.
    fn shortened(&self, floor: Duration, pages: u64) -> Duration {
        let Some(at_least) = self.at_least.filter(|_| 0 < pages) else {
            return floor;
        };
        let least = self.config.interval_least.unwrap_or(floor);
        let share = self.config.known_share.clamp(SHARE_MIN, 1.0);
        let needed = at_least.as_secs_f64() * share * AT_LEAST_SLACK / pages as f64;
        floor.min(seconds(needed)).max(least)
    }

    /// Visits per second that a server can bear for its known pages: their share of one visit per pace.
    #[must_use]
    pub fn capacity(&self, server: ServerKey) -> f64 {
        let share = self.config.known_share.clamp(SHARE_MIN, 1.0);
        share / self.pace(server).as_secs_f64().max(PACE_SECONDS_MIN)
    }

    /// *S*/*C*, and one at least.
    #[must_use]
    pub fn servers_per_visit(&self) -> f64 {
        let servers = f64::from(self.count);
        let visits = self
            .config
            .visits_in_flight
            .map_or(servers, |visits| f64::from(NonZeroU32::get(visits)));
        if visits <= 0.0 {
            1.0
        } else {
            (servers / visits).max(1.0)
        }
    }

    /// Visits per second that all known pages ask for.
    #[must_use]
    pub fn total(&self) -> &LoadIndex {
        &self.total
    }

    /// Servers with known pages.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// What can be said of one server.
    #[must_use]
    pub fn report(&self, server: ServerKey) -> ServerReport {
        let entry = self.server(server);
        ServerReport {
            server,
            pages: entry.load.pages(),
            load: entry.load.per_second(),
            capacity: self.capacity(server),
            pace: self.pace(server),
            fetch_mean: Duration::from_secs_f32(entry.fetch.mean),
            fetch_max: Duration::from_secs_f32(entry.fetch.max),
            servers_per_visit: self.servers_per_visit(),
            pressure: entry.pressure,
            cost: entry.cost,
        }
    }

    /// All servers with known pages, by their keys.
    pub fn reports(&self) -> impl Iterator<Item = ServerReport> + '_ {
        (0..)
            .zip(&self.table)
            .filter(|(_, entry)| 0 < entry.load.pages())
            .map(|(number, _)| self.report(ServerKey::new(number)))
    }

    /// Those that cannot bear what their known pages ask for, the worst first, at most so many.
    #[must_use]
    pub fn overloaded(&self, most: usize) -> Vec<ServerReport> {
        let mut reports: Vec<ServerReport> =
            self.reports().filter(ServerReport::is_overloaded).collect();
        reports.sort_by(|left, right| {
            let by_overload = right.overload().total_cmp(&left.overload());
            by_overload.then(left.server.cmp(&right.server))
        });
        reports.truncate(most);
        reports
    }

    /// Appends what a restart needs to know: of each server with pages or visits, in the order of keys.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let known = || {
            (0_u64..)
                .zip(&self.table)
                .filter(|(_, entry)| **entry != Server::default())
        };
        put_varint(out, known().count() as u64);
        for (number, entry) in known() {
            put_varint(out, number);
            entry.encode(out);
        }
    }

    /// Takes up what an earlier run wrote, in place of what is here; none, and nothing is changed, if it is damaged.
    pub(crate) fn decode(&mut self, reader: &mut Reader<'_>) -> Option<()> {
        let mut restored = Servers {
            at_least: self.at_least,
            config: self.config.clone(),
            table: vec![Server::default(); self.table.len()],
            count: 0,
            total: LoadIndex::default(),
        };
        for _ in 0..reader.varint()? {
            let number: u32 = reader.number()?;
            let entry = Server::decode(reader)?;
            restored.total.merge(&entry.load);
            let place = restored.server_mut(ServerKey::new(number));
            let load = &mut place.load;
            load.merge(&entry.load);
            let load = *load;
            *place = Server { load, ..entry };
        }
        let with_pages = restored.table.iter().filter(|entry| 0 < entry.load.pages());
        restored.count = u32::try_from(with_pages.count()).ok()?;
        *self = restored;
        Some(())
    }

    fn server(&self, server: ServerKey) -> &Server {
        &self.table[server.index() % self.table.len()]
    }

    /// Keys of an earlier run, with more of them, fall on those that there are.
    fn server_mut(&mut self, server: ServerKey) -> &mut Server {
        let place = server.index() % self.table.len();
        &mut self.table[place]
    }
}

/// Of the time in which every page is to be visited once, the part in which that is to be done: visits are late now and then.
const AT_LEAST_SLACK: f64 = 0.9;

const SHARE_MIN: f64 = 0.01;
const PACE_SECONDS_MIN: f64 = 1e-3;
