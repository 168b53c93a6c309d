//! A small web that links, changes and misbehaves: what is at a URL at a moment follows from the run's number.
//!
//! Every page of a host is reached from its first one by links. Hosts share servers, and move now and then. On some hosts `/private/` is off limits for good.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use junkai_chance::Chance;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::Plan;
use crate::draws::{Draws, Matter};

/// The web.
#[derive(Debug)]
pub(crate) struct Web {
    number: u64,
    hosts: u32,
    pages: u32,
    fails: bool,
}

/// What a server does with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reaction {
    pub(crate) how: How,
    /// How long it takes.
    pub(crate) takes: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// It answers with these bytes.
    Answers(String),
    /// No connection comes about.
    Refuses,
    /// It says nothing until we give up.
    Hangs,
    /// It breaks off.
    Resets,
}

/// How long we wait for a server that hangs.
const PATIENCE: Duration = Duration::from_mins(1);

impl Web {
    pub(crate) fn new(number: u64, plan: &Plan) -> Web {
        Web {
            number,
            hosts: plan.hosts,
            pages: plan.pages.max(2),
            fails: plan.network_fails,
        }
    }

    fn draw(&self, what: &str) -> u64 {
        xxh3_64_with_seed(what.as_bytes(), self.number)
    }

    /// From now on nothing fails.
    pub(crate) fn calm_down(&mut self) {
        self.fails = false;
    }

    pub(crate) fn host(host: u32) -> String {
        format!("h{host}.example")
    }

    fn number_of(host: &str) -> Option<u32> {
        let name = host.strip_prefix('h')?.strip_suffix(".example")?;
        name.parse().ok()
    }

    /// The first pages of the hosts with which a crawl begins.
    pub(crate) fn seeds(&self) -> Vec<String> {
        let first = self.hosts.div_ceil(2).max(1);
        (0..first)
            .map(|host| format!("http://{}/p0", Web::host(host)))
            .collect()
    }

    /// Some URL of the web, which may have no page.
    pub(crate) fn any_url(&self, chance: &mut Chance) -> String {
        let host = Web::host(chance.below(self.hosts));
        format!("http://{host}/p{}", chance.below(self.pages + 2))
    }

    /// Where a host is at a moment: hosts share servers, and some move every few hours.
    pub(crate) fn address(&self, host: &str, at: Duration) -> Option<IpAddr> {
        let number = Web::number_of(host).filter(|number| *number < self.hosts)?;
        let moves = self.draw(&format!("moves {host}")).is_multiple_of(4);
        let place = if moves { at.as_secs() / 20_000 } else { 0 };
        let servers = u64::from(self.hosts.div_ceil(2).max(1));
        let server = (u64::from(number) + place) % servers;
        let last = u8::try_from(server % 250 + 1).unwrap_or(1);
        Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, last)))
    }

    /// Whether robots.txt of this host has said since ever that private pages are off limits.
    pub(crate) fn is_private(&self, host: &str, path: &str) -> bool {
        path.starts_with("/private/") && self.has_fixed_rules(host)
    }

    fn has_fixed_rules(&self, host: &str) -> bool {
        self.draw(&format!("rules {host}")).is_multiple_of(2)
    }

    /// What the server of `host` does with a request for `path` at a moment.
    pub(crate) fn react(
        &self,
        host: &str,
        path: &str,
        at: Duration,
        draws: &mut Draws,
    ) -> Reaction {
        let quick = draws.of(Matter::Servers).between(500, 400_000);
        let quick = Duration::from_micros(u64::from(quick));
        if self.fails {
            let trouble = self.trouble(host, at, draws.of(Matter::Trouble));
            // Where there is no robots.txt, everything is allowed: not on hosts whose rules never change.
            let is_fixed = path == "/robots.txt" && self.has_fixed_rules(host);
            let lifts_rules = |reaction: &Reaction| match &reaction.how {
                How::Answers(answer) => answer.starts_with("HTTP/1.1 404"),
                How::Refuses | How::Hangs | How::Resets => false,
            };
            if let Some(reaction) = trouble
                && !(is_fixed && lifts_rules(&reaction))
            {
                return reaction;
            }
        }
        let answer = if path == "/robots.txt" {
            self.robots(host, at)
        } else {
            self.page(host, path, at)
        };
        Reaction {
            how: How::Answers(answer),
            takes: quick,
        }
    }

    /// What goes wrong now and then; a host has days on which much does.
    fn trouble(&self, host: &str, at: Duration, chance: &mut Chance) -> Option<Reaction> {
        let hour = at.as_secs() / 3600;
        let is_bad_hour = self.draw(&format!("bad {host} {hour}")).is_multiple_of(8);
        if !chance.is(if is_bad_hour { 0.6 } else { 0.03 }) {
            return None;
        }
        let short = Duration::from_millis(u64::from(chance.between(1, 3000)));
        let answers = |text: &str| How::Answers(text.to_owned());
        let (how, takes) = match chance.below(9) {
            0 => (How::Refuses, short),
            1 => (How::Hangs, PATIENCE),
            2 => (How::Resets, short),
            3 => (
                answers("HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n"),
                short,
            ),
            4 => (
                answers("HTTP/1.1 404 Gone for now\r\nContent-Length: 0\r\n\r\n"),
                short,
            ),
            5 => (
                answers("HTTP/1.1 503 Busy\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n"),
                short,
            ),
            6 => (
                answers("HTTP/1.1 429 Too many\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"),
                short,
            ),
            7 => (
                answers("HTTP/1.1 503 Busy\r\nRetry-After: soon\r\nContent-Length: 0\r\n\r\n"),
                short,
            ),
            _ => (
                answers("HTTP/1.1 429 Too many\r\nContent-Length: 0\r\n\r\n"),
                short,
            ),
        };
        Some(Reaction { how, takes })
    }

    fn robots(&self, host: &str, at: Duration) -> String {
        let rules = if self.has_fixed_rules(host) {
            "User-agent: *\nDisallow: /private/\n".to_owned()
        } else {
            // It changes every day: nothing, a page that is off limits, a pause.
            match self.draw(&format!("robots {host} {}", at.as_secs() / 86_400)) % 4 {
                0 => return "HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n".to_owned(),
                1 => "User-agent: *\nDisallow: /p3\n".to_owned(),
                2 => "User-agent: *\nCrawl-delay: 20\n".to_owned(),
                _ => String::new(),
            }
        };
        format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{rules}",
            rules.len()
        )
    }

    fn page(&self, host: &str, path: &str, at: Duration) -> String {
        let is_there = self.place(path).is_some() || path.starts_with("/private/");
        let kind = self.draw(&format!("kind {host}{path}")) % 24;
        match kind {
            _ if !is_there => "HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n".to_owned(),
            0 if path != "/p0" => {
                "HTTP/1.1 301 Moved\r\nLocation: /p0\r\nContent-Length: 0\r\n\r\n".to_owned()
            }
            1 if path != "/p0" => "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n".to_owned(),
            _ => {
                let version = self.version(host, path, at);
                format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: \"{version}\"\r\nContent-Length: 0\r\n\r\n"
                )
            }
        }
    }

    /// Which version of a page is there at a moment.
    pub(crate) fn version(&self, host: &str, path: &str, at: Duration) -> u64 {
        let drawn = self.draw(&format!("changes {host}{path}"));
        let period = 600 << (drawn % 12);
        (at.as_secs() + drawn % period) / period
    }

    fn place(&self, path: &str) -> Option<u32> {
        let page: u32 = path.strip_prefix("/p")?.parse().ok()?;
        (page < self.pages).then_some(page)
    }

    /// Where a page leads: to its two children, to a few others, and to pages that are off limits, out of scope or not there.
    pub(crate) fn links(&self, host: &str, path: &str, at: Duration) -> Vec<String> {
        let Some(page) = self.place(path) else {
            return Vec::new();
        };
        let mut links = vec![
            format!("/p{}", 2 * page + 1),
            format!("/p{}", 2 * page + 2),
            format!("/private/{page}"),
        ];
        let version = self.version(host, path, at);
        for number in 0..3 {
            let drawn = self.draw(&format!("link {host}{path} {number} {}", version % 3));
            let other = u32::try_from(drawn % u64::from(self.hosts)).unwrap_or_default();
            let page = (drawn >> 32) % u64::from(self.pages);
            links.push(format!("http://{}/p{page}", Web::host(other)));
        }
        links.push("http://elsewhere.invalid/".to_owned());
        links
    }
}
