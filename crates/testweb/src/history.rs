//! A history of changes served as sites: pages appear, change and go as the history has it.
//!
//! [`HistoryWeb::load`] reads a history; then [`HistoryWeb::answer`] shows it as of the clock's virtual time. `config` says how,
//! `page` writes what the pages say, `around` what is beside them (home, index pages, robots.txt, sitemaps, feed), and `stored`
//! brings the bytes where a folder has them.
//!
//! Invariants: whenever a page is there, an index page links to it, and a page of another version says something else.

mod around;
mod config;
mod page;
mod stored;

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::time::SystemTime;

use junkai_graph::history::{
    Edition, EventKind, History, HistoryError, PageEvent, Presence, UnixSeconds, load,
};

pub use config::{GoneStatus, HistoryConfig, SitemapHabit, UnknownWord, Validators};

use crate::answer::{Answer, Request};
use crate::chance::mix;
use crate::clock::Clock;
use crate::config::TestWebConfig;
use crate::folder::percent_decoded;
use crate::prose::{Language, Prose};
use crate::synthetic::Ports;
use around::Around;
use stored::Stored;

type Page = u32;

/// The history, and the hosts that show it.
#[derive(Debug)]
pub(crate) struct HistoryWeb {
    history: History,
    /// What happened, in the order of time, for feeds.
    in_order: Vec<PageEvent>,
    pages: HashMap<Box<str>, Page>,
    hosts: Vec<HistoryHost>,
    /// The moment of the history that the clock's origin shows.
    begin: UnixSeconds,
    stored: Option<Stored>,
    config: HistoryConfig,
    prose: Prose,
    seed: u64,
    page_bytes: usize,
    /// Answers given: what noise is drawn from.
    answers: AtomicU64,
}

#[derive(Debug)]
pub(crate) struct HistoryHost {
    pub(crate) name: String,
    /// Scheme, name and port, as links begin.
    origin: String,
    /// Page *n* of the history is on host *n* modulo the number of hosts.
    number: u32,
}

/// A request that is being answered, and the virtual time.
#[derive(Clone, Copy)]
struct Now<'a> {
    request: &'a Request,
    clock: &'a Clock,
    /// The moment of the history.
    moment: UnixSeconds,
}

impl HistoryWeb {
    pub(crate) fn load(
        config: &HistoryConfig,
        web: &TestWebConfig,
        ports: Ports,
    ) -> Result<Self, HistoryError> {
        let (history, stored, first) = if config.path.is_dir() {
            let replay = stored::load(&config.path)?;
            (replay.history, Some(replay.stored), replay.begin)
        } else {
            let history = load(&config.path)?;
            let first = history.span().map(|(first, _)| first);
            (history, None, first)
        };
        let pages = history
            .pages()
            .map(|page| (history.path(page).into(), page));
        let count = config.hosts.get();
        let hosts = (0..count).map(|number| {
            let host = crate::answer::host_name(&config.host);
            let name = match count {
                1 => host,
                _ => format!("{number}.{host}"),
            };
            HistoryHost {
                origin: ports.origin(&name, false),
                name,
                number,
            }
        });
        Ok(Self {
            pages: pages.collect(),
            hosts: hosts.collect(),
            in_order: history.in_order(),
            begin: config.begin.or(first).unwrap_or_default(),
            history,
            stored,
            config: config.clone(),
            prose: Prose::new(web.seed, Language::English, encoding_rs::UTF_8),
            seed: web.seed,
            page_bytes: web.page_bytes as usize,
            answers: AtomicU64::new(0),
        })
    }

    pub(crate) fn hosts(&self) -> &[HistoryHost] {
        &self.hosts
    }

    /// The home page from which all others can be reached.
    pub(crate) fn seed(&self) -> Option<String> {
        self.hosts.first().map(|host| format!("{}/", host.origin))
    }

    /// The URLs of a host's pages that are there now.
    pub(crate) fn page_urls(&self, host: usize, clock: &Clock) -> impl Iterator<Item = String> {
        let host = &self.hosts[host];
        let moment = self.moment(clock);
        self.pages_of(host)
            .filter(move |&page| self.edition(page, moment).is_some())
            .map(|page| self.url(page))
    }

    /// How many pages are there now.
    pub(crate) fn page_count(&self, clock: &Clock) -> u64 {
        let moment = self.moment(clock);
        let pages = self.history.pages();
        pages
            .filter(|&page| self.edition(page, moment).is_some())
            .count() as u64
    }

    pub(crate) fn answer(&self, host: usize, request: &Request, clock: &Clock) -> Answer {
        let host = &self.hosts[host];
        let moment = self.moment(clock);
        let now = Now {
            request,
            clock,
            moment,
        };
        if let Some(around) = Around::of_path(request.path()) {
            return self.around_answer(host, around, now);
        }
        let path = request.path().strip_prefix('/').and_then(percent_decoded);
        let page = path.and_then(|path| self.pages.get(path.as_str()).copied());
        let Some(page) = page.filter(|&page| self.host_of(page).number == host.number) else {
            return Answer::plain(404);
        };
        match self.history.presence(page, moment) {
            Presence::NotYet => Answer::plain(404),
            Presence::Gone { .. } => Answer::plain(match self.config.gone {
                GoneStatus::NotFound => 404,
                GoneStatus::Gone => 410,
            }),
            Presence::Here(edition) => self.page_answer(page, edition, now),
        }
    }

    fn page_answer(&self, page: Page, edition: Edition, now: Now<'_>) -> Answer {
        let made = self.date(edition.since, now.clock);
        let etag = format!("\"{:x}-{:x}\"", edition.version, self.key(page) >> 32);
        let request = now.request;
        let dated = |date| ("last-modified", httpdate::fmt_http_date(date));
        let headers = match self.config.validators {
            Validators::Honest => request.validate(etag, made),
            Validators::Dated => request.validate_by_date(made),
            Validators::Weak => request.validate_by_tag(format!("W/{etag}")),
            Validators::Absent => Ok(Vec::new()),
            Validators::Lying => {
                let shown = now.clock.shown();
                Ok(vec![
                    ("etag", format!("\"{:x}\"", shown.0)),
                    dated(shown.system_time()),
                ])
            }
            Validators::Stuck => {
                let first = self.history.events(page).first();
                let made = self.date(first.map(|event| event.at), now.clock);
                Ok(vec![("etag", "\"0\"".to_owned()), dated(made)])
            }
        };
        match headers {
            Ok(headers) => Answer {
                headers,
                // Servers that make pages as they send them do not know their length.
                is_chunked: self.key(page) & 1 == 1,
                ..self.content(page, edition, now)
            },
            Err(not_modified) => return not_modified,
        }
        .header("content-type", self.content_type(page))
    }

    /// The moment of the history that is shown now.
    fn moment(&self, clock: &Clock) -> UnixSeconds {
        let seconds = std::time::Duration::try_from_secs_f64(clock.virtual_seconds());
        self.begin.after(seconds.unwrap_or_default())
    }

    /// The date, by the clock, of a moment of the history; without one, of its beginning.
    fn date(&self, moment: Option<UnixSeconds>, clock: &Clock) -> SystemTime {
        let after = moment.map_or(0.0, |moment| moment.0 as f64 - self.begin.0 as f64);
        clock.shown_at(after).system_time()
    }

    fn edition(&self, page: Page, moment: UnixSeconds) -> Option<Edition> {
        match self.history.presence(page, moment) {
            Presence::Here(edition) => Some(edition),
            Presence::NotYet | Presence::Gone { .. } => None,
        }
    }

    /// When a version of a page was made; none for one that was there before.
    fn made(&self, page: Page, version: u32) -> Option<UnixSeconds> {
        let events = self.history.events(page).iter();
        let was_here = events
            .clone()
            .next()
            .is_some_and(|first| first.kind != EventKind::Added);
        let mut made = events.filter(|event| event.kind != EventKind::Deleted);
        let place = (version as usize).checked_sub(usize::from(was_here))?;
        made.nth(place).map(|event| event.at)
    }

    fn key(&self, page: Page) -> u64 {
        mix(self.seed, page.into())
    }

    fn host_of(&self, page: Page) -> &HistoryHost {
        &self.hosts[page as usize % self.hosts.len()]
    }

    fn pages_of(&self, host: &HistoryHost) -> impl ExactSizeIterator<Item = Page> + use<> {
        (host.number..self.history.page_count()).step_by(self.hosts.len())
    }

    fn url(&self, page: Page) -> String {
        format!(
            "{}/{}",
            self.host_of(page).origin,
            encoded(self.history.path(page))
        )
    }
}

/// A path as URLs write it (RFC 3986, section 3.3).
fn encoded(path: &str) -> String {
    const PLAIN: &[u8] = b"-._~!$'()*+,;=:@/";
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || PLAIN.contains(&byte) {
            encoded.push(byte.into());
        } else {
            crate::synthetic::write_to(&mut encoded, format_args!("%{byte:02X}"));
        }
    }
    encoded
}
