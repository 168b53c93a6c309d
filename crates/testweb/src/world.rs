//! All hosts of the web: who lives where, who misbehaves, and what each answers.
//!
//! Connections ask [`World::respond`], the DNS server asks [`World::resolve`]. Nothing here touches a socket.

use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use crate::access_log::AccessLog;
use crate::answer::{Answer, Request, host_name};
use crate::clock::Clock;
use crate::config::TestWebConfig;
use crate::delivery::{Manner, Wire};
use crate::focus::{FocusSite, FocusWeb};
use crate::folder::Folder;
use crate::graph::Graph;
use crate::history::HistoryWeb;
use crate::host::{Host, Site};
use crate::misbehaviour::Misbehaviour;
use crate::synthetic::{Call, Ports, Synthetic, SyntheticHost};
use crate::web::StartError;

/// Everything that connections share.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) config: TestWebConfig,
    pub(crate) clock: Clock,
    pub(crate) log: AccessLog,
    pub(crate) ports: Ports,
    synthetic: Synthetic,
    graph: Option<Graph>,
    history: Option<HistoryWeb>,
    focus: FocusWeb,
    folders: Vec<Folder>,
    hosts: Vec<Host>,
    by_name: HashMap<String, usize>,
}

/// What the DNS server is to say about a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    Found {
        v4: Ipv4Addr,
        v6: Option<Ipv6Addr>,
        ttl: Duration,
        wait: Duration,
    },
    Unknown,
    Fails,
}

/// What to send, and how.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) answer: Answer,
    pub(crate) manner: Manner,
}

impl World {
    pub(crate) fn new(
        config: TestWebConfig,
        ports: Ports,
        log: AccessLog,
    ) -> Result<Self, StartError> {
        let graph = config.graph.as_ref();
        let graph = graph.map(|source| Graph::load(source, &config, ports));
        let history = config.history.as_ref();
        let history = history.map(|source| HistoryWeb::load(source, &config, ports));
        let folders = config.folders.iter();
        let mut world = Self {
            clock: Clock::start(config.clock_speed, config.clock_origin),
            log,
            ports,
            synthetic: Synthetic::new(&config, ports),
            graph: graph.transpose()?,
            history: history.transpose()?,
            focus: FocusWeb::new(&config, ports),
            folders: folders
                .map(|folder| Folder::new(folder.path.clone(), ports.origin(&folder.host, false)))
                .collect(),
            hosts: Vec::new(),
            by_name: HashMap::new(),
            config,
        };
        let mut sites: Vec<(String, Site)> = Vec::new();
        let names = world.synthetic.hosts().iter().map(|host| &host.name);
        sites.extend(names.cloned().zip((0..).map(Site::Synthetic)));
        let names = world
            .graph
            .iter()
            .flat_map(Graph::hosts)
            .map(|host| &host.name);
        sites.extend(names.cloned().zip((0..).map(Site::Graph)));
        let hosts = world.history.iter().flat_map(HistoryWeb::hosts);
        let names = hosts.map(|host| &host.name);
        sites.extend(names.cloned().zip((0..).map(Site::History)));
        let names = world.focus.sites().iter().map(|site| &site.name);
        sites.extend(names.cloned().zip((0..).map(Site::Focus)));
        let names = world.config.folders.iter().map(|folder| &folder.host);
        sites.extend(
            names
                .map(|name| host_name(name))
                .zip((0..).map(Site::Folder)),
        );
        if let Some(path) = &world.config.truth {
            let written = world.focus.write_truth(path);
            written.map_err(|source| StartError::Truth {
                path: path.clone(),
                source,
            })?;
        }
        for (name, site) in sites {
            world.add_host(name, site)?;
        }
        Ok(world)
    }

    fn add_host(&mut self, name: String, site: Site) -> Result<(), StartError> {
        let rules = self.config.misbehaviours.iter();
        let misbehaviours = rules
            .filter(|rule| rule.covers(&name))
            .flat_map(|rule| rule.misbehaviours.iter().cloned())
            .collect();
        if self
            .by_name
            .insert(name.clone(), self.hosts.len())
            .is_some()
        {
            return Err(StartError::Config(vec![format!(
                "two hosts are called {name}"
            )]));
        }
        self.hosts.push(Host::new(name, site, misbehaviours));
        Ok(())
    }

    pub(crate) fn host_names(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().map(|host| host.name.as_str())
    }

    pub(crate) fn knows(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// True when the host can be served over HTTP/2: its misbehaviours leave the wire alone.
    pub(crate) fn is_tame(&self, name: &str) -> bool {
        self.by_name.get(name).is_none_or(|&index| {
            matches!(self.hosts[index].manner(Duration::ZERO).wire, Wire::Proper)
        })
    }

    /// What the DNS server says about a name in lower case, without the final dot.
    pub(crate) fn resolve(&self, name: &str) -> Lookup {
        let Some(&index) = self.by_name.get(name) else {
            return Lookup::Unknown;
        };
        let mut turn = index;
        let mut ttl = self.config.ttl;
        let mut wait = Duration::ZERO;
        for misbehaviour in &self.hosts[index].misbehaviours {
            match misbehaviour {
                Misbehaviour::DnsServfail => return Lookup::Fails,
                Misbehaviour::DnsSlow(slow) => wait = *slow,
                Misbehaviour::MovingAddress(period) => {
                    let moves = self.clock.age().as_nanos() / period.as_nanos().max(1);
                    turn += usize::try_from(moves % MOVING_ADDRESSES).unwrap_or_default();
                    ttl = *period;
                }
                _ => {}
            }
        }
        Lookup::Found {
            v4: self.config.address_of_host(turn),
            v6: self.config.ipv6.then_some(Ipv6Addr::LOCALHOST),
            ttl,
            wait,
        }
    }

    /// What to answer, and in which manner.
    pub(crate) fn respond(&self, request: &Request) -> Response {
        let proper = |answer| Response {
            answer,
            manner: Manner::proper(self.config.latency),
        };
        let Some(&index) = self.by_name.get(&request.host) else {
            return proper(Answer::plain(421));
        };
        if request.method != "GET" && request.method != "HEAD" {
            return proper(Answer::plain(405).header("allow", "GET, HEAD"));
        }
        let host = &self.hosts[index];
        if request.path() == "/robots.txt" {
            let misbehaved = host.bad_robots(self.ports);
            return proper(misbehaved.unwrap_or_else(|| self.site_answer(host, request)));
        }
        let misbehaved = host.bad_answer(request, self.clock.shown());
        let mut answer = misbehaved.unwrap_or_else(|| self.site_answer(host, request));
        if let Some(wait) = host.rest_asked() {
            answer = answer.header("retry-after", wait.as_secs().to_string());
        }
        Response {
            answer,
            manner: host.manner(self.config.latency),
        }
    }

    fn site_answer(&self, host: &Host, request: &Request) -> Answer {
        match host.site {
            Site::Synthetic(index) => {
                let call = Call {
                    request,
                    clock: &self.clock,
                    traps: host.traps(),
                };
                self.synthetic.answer(index, call)
            }
            Site::Graph(index) => match &self.graph {
                Some(graph) => graph.answer(index, request, &self.clock),
                None => Answer::plain(404),
            },
            Site::History(index) => match &self.history {
                Some(history) => history.answer(index, request, &self.clock),
                None => Answer::plain(404),
            },
            Site::Focus(index) => self.focus.answer(index, request, &self.clock),
            Site::Folder(index) => self.folders[index].answer(request),
        }
    }

    /// Where to begin: home pages, the graph's best connected page, the history's home page, those of all focus sites, and the folders' roots.
    pub(crate) fn seeds(&self) -> Vec<String> {
        let hosts = self.synthetic.hosts().iter().take(self.config.seeds);
        let folders = self
            .folders
            .iter()
            .map(|folder| format!("{}/", folder.origin));
        hosts
            .map(SyntheticHost::home)
            .chain(self.graph.as_ref().and_then(Graph::seed))
            .chain(self.history.as_ref().and_then(HistoryWeb::seed))
            .chain(self.focus.sites().iter().map(FocusSite::home))
            .chain(folders)
            .collect()
    }

    /// The pages of a host that can be reached.
    pub(crate) fn page_urls(&self, name: &str) -> Box<dyn Iterator<Item = String> + '_> {
        match self.by_name.get(name).map(|&index| self.hosts[index].site) {
            Some(Site::Synthetic(index)) => Box::new(self.synthetic.page_urls(index)),
            Some(Site::Graph(index)) => {
                let graph = self.graph.iter();
                Box::new(graph.flat_map(move |graph| graph.page_urls(index)))
            }
            Some(Site::History(index)) => {
                let history = self.history.iter();
                Box::new(history.flat_map(move |history| history.page_urls(index, &self.clock)))
            }
            Some(Site::Focus(index)) => Box::new(self.focus.page_urls(index)),
            Some(Site::Folder(_)) | None => Box::new(std::iter::empty()),
        }
    }

    pub(crate) fn page_count(&self) -> u64 {
        let history = self.history.as_ref();
        self.synthetic.page_count()
            + self.focus.page_count()
            + self.graph.as_ref().map_or(0, Graph::page_count)
            + history.map_or(0, |history| history.page_count(&self.clock))
    }
}

/// Addresses among which a moving name moves.
const MOVING_ADDRESSES: u128 = 8;
