//! All hosts of the web: who lives where, who misbehaves, and what each answers.
//!
//! Connections ask [`World::respond`], the DNS server asks [`World::resolve`]. Nothing here touches a socket.

use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::access_log::AccessLog;
use crate::answer::{Answer, Request, host_name};
use crate::chance::mix;
use crate::clock::{Clock, UnixNanos};
use crate::config::TestWebConfig;
use crate::delivery::{Manner, Wire};
use crate::folder::Folder;
use crate::graph::Graph;
use crate::misbehaviour::{Misbehaviour, Refusal, RetryAfterForm};
use crate::synthetic::{Ports, Synthetic, SyntheticHost, Traps};
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
    folders: Vec<Folder>,
    hosts: Vec<HostEntry>,
    by_name: HashMap<String, usize>,
}

/// One host and where to find it.
#[derive(Debug)]
struct HostEntry {
    name: String,
    site: Site,
    misbehaviours: Vec<Misbehaviour>,
    requests: AtomicU64,
    /// Unix nanoseconds until which the host refuses.
    refuses_until: AtomicU64,
}

/// Where the pages of a host come from: the place in the list of its kind.
#[derive(Clone, Copy, Debug)]
enum Site {
    Synthetic(usize),
    Graph(usize),
    Folder(usize),
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
        let folders = config.folders.iter();
        let mut world = Self {
            clock: Clock::start(config.clock_speed),
            log,
            ports,
            synthetic: Synthetic::new(&config, ports),
            graph: graph.transpose()?,
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
        let names = world.config.folders.iter().map(|folder| &folder.host);
        sites.extend(
            names
                .map(|name| host_name(name))
                .zip((0..).map(Site::Folder)),
        );
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
        self.hosts.push(HostEntry {
            name,
            site,
            misbehaviours,
            requests: AtomicU64::new(0),
            refuses_until: AtomicU64::new(0),
        });
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
            let misbehaved = host.misbehaviours.iter().find_map(bad_robots);
            return proper(misbehaved.unwrap_or_else(|| self.site_answer(host, request)));
        }
        let misbehaved = host
            .misbehaviours
            .iter()
            .find_map(|misbehaviour| self.bad_answer(host, misbehaviour, request));
        Response {
            answer: misbehaved.unwrap_or_else(|| self.site_answer(host, request)),
            manner: host.manner(self.config.latency),
        }
    }

    fn site_answer(&self, host: &HostEntry, request: &Request) -> Answer {
        match host.site {
            Site::Synthetic(index) => {
                let traps = host.traps(self.config.seed);
                self.synthetic.answer(index, request, &self.clock, traps)
            }
            Site::Graph(index) => match &self.graph {
                Some(graph) => graph.answer(index, request, &self.clock),
                None => Answer::plain(404),
            },
            Site::Folder(index) => self.folders[index].answer(request),
        }
    }

    /// The answer of a host that does not give its own.
    fn bad_answer(
        &self,
        host: &HostEntry,
        misbehaviour: &Misbehaviour,
        request: &Request,
    ) -> Option<Answer> {
        match misbehaviour {
            Misbehaviour::Refuse(refusal) => host.refuse(*refusal, self.clock.now()),
            Misbehaviour::RedirectLoop(length) => {
                let step = request.path().strip_prefix("/loop/");
                let step = step.and_then(|step| step.parse::<u32>().ok());
                let next = step.map_or(0, |step| (step % length + 1) % length);
                Some(Answer::redirect(302, format!("/loop/{next}")))
            }
            Misbehaviour::RedirectPrivate => {
                let chosen = PRIVATE_TARGETS.iter().cycle();
                let skipped = mix(self.config.seed, request.target.len() as u64) % 8;
                let target = chosen
                    .clone()
                    .nth(usize::try_from(skipped).unwrap_or_default())?;
                Some(Answer::redirect(302, (*target).to_owned()))
            }
            _ => None,
        }
    }

    /// Where to begin: home pages, the graph's best connected page, and the folders' roots.
    pub(crate) fn seeds(&self) -> Vec<String> {
        let hosts = self.synthetic.hosts().iter().take(self.config.seeds);
        let folders = self
            .folders
            .iter()
            .map(|folder| format!("{}/", folder.origin));
        hosts
            .map(SyntheticHost::home)
            .chain(self.graph.as_ref().and_then(Graph::seed))
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
            Some(Site::Folder(_)) | None => Box::new(std::iter::empty()),
        }
    }

    pub(crate) fn page_count(&self) -> u64 {
        self.synthetic.page_count() + self.graph.as_ref().map_or(0, Graph::page_count)
    }
}

/// Addresses among which a moving name moves.
const MOVING_ADDRESSES: u128 = 8;

/// Where no crawler should be led.
const PRIVATE_TARGETS: [&str; 8] = [
    "http://127.0.0.1:22/",
    "http://10.0.0.1/",
    "http://192.168.1.1/admin",
    "http://172.16.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://[fd00::1]/",
    "http://0.0.0.0/",
];

impl HostEntry {
    fn manner(&self, latency: Duration) -> Manner {
        let mut manner = Manner::proper(latency);
        for misbehaviour in &self.misbehaviours {
            manner.misbehave(misbehaviour);
        }
        manner
    }

    fn traps(&self, seed: u64) -> Traps {
        let has = |wanted: &Misbehaviour| self.misbehaviours.contains(wanted);
        let session = has(&Misbehaviour::SessionTrap)
            .then(|| mix(seed, self.requests.fetch_add(1, Ordering::Relaxed)));
        Traps {
            session,
            has_calendar: has(&Misbehaviour::CalendarTrap),
        }
    }

    /// Refuses while a time of refusal lasts, and begins one every so many requests.
    fn refuse(&self, refusal: Refusal, now: UnixNanos) -> Option<Answer> {
        let until = UnixNanos(self.refuses_until.load(Ordering::Relaxed));
        let mut left = Duration::from_nanos(until.0.saturating_sub(now.0));
        if left.is_zero() {
            let requests = 1 + self.requests.fetch_add(1, Ordering::Relaxed);
            if !requests.is_multiple_of(refusal.every.into()) {
                return None;
            }
            left = refusal.retry_after;
            if refusal.every > 1 {
                self.refuses_until
                    .store(now.after(left).0, Ordering::Relaxed);
            }
        }
        let retry_after = match refusal.form {
            RetryAfterForm::Seconds => left.as_nanos().div_ceil(1_000_000_000).to_string(),
            // A date has whole seconds: the next one is the first that is not too early.
            RetryAfterForm::Date => httpdate::fmt_http_date(
                now.after(left + Duration::from_nanos(999_999_999))
                    .system_time(),
            ),
        };
        Some(Answer::plain(refusal.status.code()).header("retry-after", retry_after))
    }
}

/// A robots.txt that is not what it should be.
fn bad_robots(misbehaviour: &Misbehaviour) -> Option<Answer> {
    match misbehaviour {
        Misbehaviour::RobotsStatus(status) => Some(Answer::plain(*status)),
        Misbehaviour::RobotsHtml => Some(Answer::ok(
            "text/html; charset=utf-8",
            "<!DOCTYPE html><title>Welcome</title><p>Disallow: / is what this page does not mean.\n",
        )),
        Misbehaviour::RobotsHuge(bytes) => {
            let bytes = usize::try_from(*bytes).unwrap_or(usize::MAX);
            let mut text = b"User-agent: *\nDisallow: /private/\n".to_vec();
            let filler = b"# This line only takes up room.\nDisallow: /private/huge\n";
            text.extend(filler.iter().cycle().take(bytes.saturating_sub(text.len())));
            Some(Answer::ok("text/plain", text))
        }
        _ => None,
    }
}
