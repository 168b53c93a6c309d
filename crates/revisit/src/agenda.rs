//! Plans the next visit to a page: by its policy, at its price, within what its server can bear.
//!
//! The planner tells the [`Agenda`] what is known of a page that was visited, and gets its interval. Inside, `policy` says when a visit
//! is worth its price, `price` keeps all visits within the budget, `servers` says what each server can bear, and `relief` what
//! becomes of pages whose server cannot bear them.
//!
//! Invariants: every page that is known is counted once, at the interval that it was given; an interval is within its bounds, unless
//! its server needs a longer one. Not here: what is believed of a page (`estimator`), and what a visit found (`planner`).

use std::time::Duration;

use junkai_frontier::{ServerKey, Time};
use junkai_weburl::PageUrl;

use crate::belief::seconds;
use crate::codec::{Reader, put_double};
use crate::config::RevisitConfig;
use crate::draw::Draw;
use crate::policy::{Bounds, Chosen, Objective, Outlook, Policy, Terms};
use crate::price::{Pressure, Price};
use crate::relief::{Case, Relief, ReliefCost};
use crate::servers::Servers;

/// Plans visits to known pages.
#[derive(Clone, Debug)]
pub struct Agenda {
    policy: Chosen,
    price: Price,
    servers: Servers,
    relief: Relief,
    bounds: Bounds,
}

/// A page that was visited, and wants to be visited again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking<'a> {
    pub(crate) page: &'a PageUrl,
    pub(crate) server: ServerKey,
    pub(crate) now: Time,
    pub(crate) outlook: Outlook,
}

/// Without a budget, pages that are all visited alike are visited so often.
const UNIFORM_INTERVAL: Duration = Duration::from_hours(30 * 24);

/// With a budget, all pages are looked at so often in the time in which they would all be visited if they were visited alike: a look
/// costs a line in the time queue, not a visit.
const LOOKS: u32 = 8;

impl Agenda {
    /// An agenda without pages, for servers with keys below `keys`.
    #[must_use]
    pub fn new(config: &RevisitConfig, keys: u32) -> Agenda {
        Agenda {
            policy: Chosen::new(config),
            price: Price::new(Objective::new(config.objective), config.visits_a_day),
            servers: Servers::new(&config.servers, keys).at_least(config.at_least),
            relief: Relief::new(&config.servers.relief),
            bounds: Bounds {
                shortest: config.interval_min,
                longest: config.interval_max,
                spread_from: config.interval_spread_min,
            },
        }
    }

    /// Takes over the budget of these settings.
    pub(crate) fn set_budget(&mut self, config: &RevisitConfig) {
        self.policy = Chosen::new(config);
        self.price.set_visits_a_day(config.visits_a_day);
    }

    /// The interval until the next visit. The page is not counted by it: see [`Agenda::add`].
    pub(crate) fn interval(&mut self, asking: &Asking<'_>, draw: Draw) -> Duration {
        let pressure = self.servers.pressure(asking.server);
        let wanted = self.interval_at(Pressure::NONE, asking, draw);
        if !pressure.is_some() {
            return wanted;
        }
        let capacity = self.servers.capacity(asking.server);
        let pages = self.servers.load(asking.server).pages();
        let case = Case {
            page: asking.page,
            now: asking.now,
            wanted,
            priced: self.interval_at(pressure, asking, draw),
            pressure,
            mean_interval: seconds(pages as f64 / capacity),
        };
        let interval = self.relief.interval(&case);
        let cost = ReliefCost::of(&asking.outlook.belief, wanted, interval);
        self.servers.charge(asking.server, cost);
        interval
    }

    /// A page was found, and is planned to be visited every `interval`. The price moves on by one visit; the pressure on its server does not: where thousands of pages
    /// are found before the first of them is visited again, it would rise without anything to tell whether it is enough.
    pub(crate) fn add_first(&mut self, server: ServerKey, interval: Duration) {
        self.servers.add(server, interval);
        self.price.settle(interval, self.servers.total());
    }

    /// A page that was visited again is planned to be visited every `interval`. Price and pressure move on by one visit.
    pub(crate) fn add(&mut self, server: ServerKey, interval: Duration) {
        self.servers.add(server, interval);
        self.servers.settle(server);
        self.price.settle(interval, self.servers.total());
    }

    /// What servers are asked for, to be counted anew: without price or pressure moving.
    pub(crate) fn servers_mut(&mut self) -> &mut Servers {
        &mut self.servers
    }

    /// A page that was visited every `interval` no longer is, or will be added again.
    pub(crate) fn remove(&mut self, server: ServerKey, interval: Duration) {
        self.servers.remove(server, interval);
    }

    /// A visit to the server kept a connection for so long.
    pub(crate) fn visited(&mut self, server: ServerKey, took: Duration) {
        self.servers.visited(server, took);
    }

    /// A visit of the budget was made: not a first one.
    pub(crate) fn spend(&mut self, now: Time) {
        self.price.spend(now, self.servers.total());
    }

    /// The chance of a change that makes a visit out of turn worth it: what the price asks for. Where no price decides, an even one, and nothing while the
    /// budget is overdrawn.
    pub(crate) fn chance_asked(&self) -> f64 {
        match self.policy {
            Chosen::Index(_) => -(-self.price.depth()).exp_m1(),
            Chosen::ChangeInterval(_) | Chosen::Uniform(_) if self.price.is_overdrawn() => {
                f64::INFINITY
            }
            Chosen::ChangeInterval(_) | Chosen::Uniform(_) => 0.5,
        }
    }

    /// The interval at today's price, for a page that waits for its visit; none where the price does not decide: without a budget, by
    /// another policy, or on a server that is relieved.
    pub(crate) fn interval_now(&mut self, asking: &Asking<'_>, draw: Draw) -> Option<Duration> {
        if self.time_between_looks().is_none() || self.servers.pressure(asking.server).is_some() {
            return None;
        }
        self.price.pass(asking.now, self.servers.total());
        Some(self.interval_at(Pressure::NONE, asking, draw))
    }

    /// An interval within the bounds of the settings.
    pub(crate) fn bounded(&self, interval: Duration, draw: Draw) -> Duration {
        self.bounds.within(interval, draw)
    }

    /// A page that waits for its visit has another interval: price and pressure do not move.
    pub(crate) fn replan(&mut self, server: ServerKey, before: Duration, now: Duration) {
        self.servers.remove(server, before);
        self.servers.add(server, now);
    }

    /// The time between two looks at a page that waits; none where the price does not decide.
    pub(crate) fn time_between_looks(&self) -> Option<Duration> {
        let is_priced = matches!(self.policy, Chosen::Index(_));
        let has_budget = self.price.visits_per_second().is_some();
        (is_priced && has_budget).then(|| self.mean_interval() / LOOKS)
    }

    /// Whether only changes of content count on this server, because it is overloaded.
    pub(crate) fn counts_content_only(&self, server: ServerKey) -> bool {
        self.relief
            .counts_content_only(self.servers.pressure(server))
    }

    /// The interval that the policy asks for, before bounds and the server's needs.
    pub(crate) fn asked(&self, outlook: &Outlook) -> Duration {
        let outlook = Outlook {
            is_new: false,
            ..*outlook
        };
        self.policy
            .interval(&outlook, &self.terms(Pressure::NONE), Draw::new(0))
    }

    /// How urgent a visit is, `elapsed` after the last: what the lab ranks pages by.
    #[must_use]
    pub fn urgency(&self, outlook: &Outlook, elapsed: Duration) -> f64 {
        self.policy.urgency(outlook, elapsed)
    }

    /// What servers are asked for, and can bear.
    #[must_use]
    pub fn servers(&self) -> &Servers {
        &self.servers
    }

    /// What a visit must be worth.
    #[must_use]
    pub fn price(&self) -> &Price {
        &self.price
    }

    fn interval_at(&self, pressure: Pressure, asking: &Asking<'_>, draw: Draw) -> Duration {
        let terms = self.terms(pressure);
        let asked = self.policy.interval(&asking.outlook, &terms, draw);
        let interval = seconds(asked.as_secs_f64() * self.price.stretch(pressure));
        // Only a budget can ask for longer intervals than the settings.
        let bounds = match self.price.visits_per_second() {
            Some(_) => self.bounds.around(terms.mean_interval),
            None => self.bounds,
        };
        bounds.within(interval, draw)
    }

    fn terms(&self, pressure: Pressure) -> Terms {
        Terms {
            price: self.price.level(pressure),
            stretch: pressure.factor(),
            mean_interval: self.mean_interval(),
        }
    }

    /// The interval at which all pages together meet the budget.
    fn mean_interval(&self) -> Duration {
        let pages = self.servers.total().pages() as f64;
        self.price
            .visits_per_second()
            .map_or(UNIFORM_INTERVAL, |visits| seconds(pages / visits))
    }

    /// Appends what a restart needs to know.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_double(out, self.price.depth());
        self.servers.encode(out);
    }

    /// Takes up what an earlier run wrote; none, and nothing is taken up, if it is damaged.
    pub(crate) fn decode(&mut self, reader: &mut Reader<'_>) -> Option<()> {
        let depth = reader.double()?;
        self.servers.decode(reader)?;
        self.price.restore(depth, self.servers.total());
        Some(())
    }
}
