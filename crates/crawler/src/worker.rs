//! A worker: one thread that fetches, understands, digests, compresses and stores pages, each from start to end.
//!
//! Orders come in from the frontier's thread and reports go back. A page's bytes stay on the thread they arrived on, but for the PDF files that focus reads:
//! a program extracts their text while a second thread waits for it. Earlier captures that a page is compared with are read beside the worker as well.
//!
//! Each worker owns its connections, its resolver and its WARC file. What the workers share ([`Shared`]) is locked for moments (rules, scope, cookies), or shared
//! out by semaphores (memory, large bodies, links on their way): a visit that waits for its share does not keep the worker's other visits waiting.
//!
//! Invariants: a [`What::Visit`] is answered by one [`Input::Ended`], or by a [`Report::Broken`], which ends the crawl; what is in flight when the crawl ends is
//! abandoned without a report, and visited again by the next run. A capture is in the archive and in its index before it is reported.
//!
//! Not here: when a visit may start; the order says so, and the lease is held.

mod contents;
mod earlier;
mod found;
mod heads;
mod keep;
mod link_room;
mod links;
mod payloads;
mod recent;
mod signals;

use std::cell::RefCell;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant, SystemTime};

use futures_util::FutureExt;
use hashbrown::HashSet;
use junkai_archive::{Provenance, Writer};
use junkai_fetch::{Access, Client, Exchange, Failure, Request, Resolver, Resources};
use junkai_focus::data_file::declared_type;
use junkai_frontier::{EndReport, Overflow, ServerKey, Time};
use junkai_page::LinkOptions;
use junkai_page::content::{Boilerplate, BoilerplateBounds};
use junkai_weburl::{Canonicalizer, Fingerprint, PageUrl};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::Receiver;
use tokio::task::LocalSet;

use self::contents::has_known_payload;
use self::found::{Reading, Validators, found};
use self::keep::Keeper;
pub(crate) use self::link_room::LinkRoom;
use self::links::{Brought, Understood};
use self::recent::Recent;
use crate::CrawlError;
use crate::annotation;
use crate::clock::Clock;
use crate::focus::Judge;
use crate::node::Mailboxes;
use crate::progress::Progress;
use crate::report::{Errand, Report, What};
use crate::rules::{Rules, SAID_HOLDS, Say};
use crate::scope::ScopeRules;
use crate::settings::Settings;
use crate::unread::Unread;
use crate::visit::{Discovered, EndedVisit, Fate, HostAsked, Outcome, Purpose, Visit};
use junkai_engine::Input;
use junkai_engine::turn::{Spend, end_report, fate, fate_of_our_own, retry_after, spend};
use junkai_engine::visit::Located;

/// How often connections that were idle for too long are closed.
const TIDY_EVERY: Duration = Duration::from_secs(5);

/// Bytes of a decoded body that any worker reads at any time. Larger ones are read one at a time, by all workers together: a few kilobytes may unpack to
/// megabytes at many servers at once.
const SMALL_BODY_BYTES: usize = 4 << 20;

/// Large PDF files that are read at a time, by all workers together.
pub(crate) const LARGE_PDFS: usize = 2;

/// Where sites have their sitemap, unless robots.txt says otherwise.
const USUAL_SITEMAP: &str = "/sitemap.xml";

/// What all workers share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) settings: Arc<Settings>,
    pub(crate) scope: Arc<RwLock<ScopeRules>>,
    pub(crate) rules: Arc<Rules>,
    pub(crate) progress: Arc<Progress>,
    pub(crate) clock: Clock,
    /// Who knows what is wanted, where something is.
    pub(crate) judge: Option<Arc<Judge>>,
    /// The captures whose content nobody has read.
    pub(crate) unread: Arc<Unread>,
    /// Held by whoever reads a large body.
    pub(crate) large_bodies: Arc<Semaphore>,
    /// Held by whoever has a large PDF file read, which may take a minute: those who read other large bodies do not wait for it.
    pub(crate) large_pdfs: Arc<Semaphore>,
    /// Room for the links of pages, until the frontier's thread has taken them in.
    pub(crate) link_room: LinkRoom,
    pub(crate) mailboxes: Mailboxes,
    /// Memory, disk and file descriptors for answers.
    pub(crate) resources: Arc<Resources>,
    /// What some hosts get besides, and proxies.
    pub(crate) access: Option<Arc<Access>>,
    /// Names that a worker asks for at a time.
    pub(crate) names_max: usize,
}

/// One worker's own.
pub(crate) struct Worker {
    number: usize,
    shared: Shared,
    client: Client,
    resolver: Resolver,
    /// Bounds the names asked for at a time, and so the sockets that it takes.
    resolving: Semaphore,
    /// Held by whoever has a PDF file read.
    reading_pdf: Semaphore,
    canonical: Canonicalizer,
    /// Which links of a page are taken.
    links: LinkOptions,
    recent: Recent,
    /// What the pages of a site have in common, and is not content.
    boilerplate: RefCell<Boilerplate>,
    keeper: Keeper,
}

impl Worker {
    /// Opens the worker's WARC file and its network. Must run on the worker's own runtime.
    pub(crate) fn new(
        number: usize,
        shared: Shared,
        archive: &std::path::Path,
    ) -> Result<Worker, CrawlError> {
        let settings = Arc::clone(&shared.settings);
        let network = |error: &dyn std::fmt::Display| CrawlError::Network {
            reason: error.to_string(),
        };
        let client = Client::new(
            &settings.fetch,
            &settings.identity,
            settings.addresses.clone(),
            Arc::clone(&shared.resources),
        )
        .map_err(|error| network(&error))?
        .with_access(shared.access.clone());
        let resolver = Resolver::new(&settings.dns, settings.addresses.clone())
            .map_err(|error| network(&error))?;
        let provenance = Provenance {
            software: format!("junkai/{}", env!("CARGO_PKG_VERSION")),
            worker: u32::try_from(number).unwrap_or(u32::MAX),
            address: None,
            robots: "obey".to_owned(),
            user_agent: settings.identity.user_agent(),
            from: settings.identity.from().unwrap_or_default().to_owned(),
        };
        let writer = Writer::open(archive, &settings.archive, provenance)?;
        let keeper = Keeper::new(
            writer,
            &settings,
            Arc::clone(&shared.progress),
            shared.clock.clone(),
        );
        Ok(Worker {
            number,
            resolving: Semaphore::new(shared.names_max),
            reading_pdf: Semaphore::new(1),
            canonical: Canonicalizer::new(&settings.canonical),
            links: LinkOptions {
                // Where something is wanted, it is what pages say, and not how they look.
                requisites: settings.links.requisites && shared.judge.is_none(),
                ..settings.links.clone()
            },
            recent: match settings.crawl.overflow {
                Overflow::Defer if !settings.is_ordered() => Recent::new(),
                Overflow::Defer | Overflow::Discard => Recent::none(),
            },
            boilerplate: RefCell::new(Boilerplate::new(BoilerplateBounds::default())),
            shared,
            client,
            resolver,
            keeper,
        })
    }

    /// Works until the errands end, then closes the WARC file.
    pub(crate) async fn run(self, mut errands: Receiver<Errand>) -> Result<(), CrawlError> {
        let worker = Rc::new(self);
        let tasks = LocalSet::new();
        tasks
            .run_until(async {
                let mut tidy = tokio::time::interval(TIDY_EVERY);
                loop {
                    tokio::select! {
                        errand = errands.recv() => {
                            let Some(errand) = errand else { break };
                            let worker = Rc::clone(&worker);
                            tokio::task::spawn_local(async move { worker.carry_out(errand).await });
                        }
                        _ = tidy.tick() => worker.client.close_idle(),
                    }
                }
            })
            .await;
        // What is still in flight is abandoned here: it was not reported, so it will be visited again.
        drop(tasks);
        worker.keeper.finish()
    }

    /// Carries out an errand and reports, whatever happens: a lease without a report would be held for ever.
    async fn carry_out(&self, errand: Errand) {
        // In a box: the future is some thousand bytes, which would else be copied from layer to layer and into the task.
        let work = Box::pin(self.report_on(errand.what));
        let carried_out = AssertUnwindSafe(work).catch_unwind().await;
        let report = match carried_out {
            Ok(Ok(report)) => report,
            Ok(Err(error)) => Report::Broken(error.to_string()),
            Err(_) => Report::Broken("it panicked; please report what is printed above".to_owned()),
        };
        let mailbox = self.shared.mailboxes.of(errand.partition);
        if mailbox.send(report).is_err() {
            // The frontier's thread has gone: the crawl is over.
        }
    }

    async fn report_on(&self, what: What) -> Result<Report, CrawlError> {
        match what {
            What::Visit(start) => {
                let until = Instant::now() + self.shared.clock.until(start.at);
                tokio::time::sleep_until(until.into()).await;
                let ended = self.visit(start.visit, start.key, start.address).await?;
                Ok(Report::Happened(Input::Ended(Box::new(ended))))
            }
            What::Resolve(host) => {
                let _turn = self.resolving.acquire().await;
                let answer = self.resolver.resolve(&host).await;
                if let Ok(resolved) = &answer {
                    self.keeper.keep_dns(&host, resolved)?;
                }
                let answer = answer.map(|resolved| Located {
                    address: resolved.chosen,
                    holds: resolved.ttl,
                });
                Ok(Report::Happened(Input::Resolved { host, answer }))
            }
        }
    }

    /// Makes one visit; first robots.txt has its say, and may take the turn.
    async fn visit(
        &self,
        visit: Visit,
        key: ServerKey,
        address: IpAddr,
    ) -> Result<EndedVisit, CrawlError> {
        let turn = Turn {
            visit,
            key,
            address,
            started: self.shared.clock.now(),
        };
        if turn.visit.purpose.is_robots() {
            return self.fetch_rules(turn.visit.url.clone(), turn).await;
        }
        match spend(&turn.visit, &self.shared.rules, turn.started) {
            Spend::Page => self.fetch_page(turn).await,
            Spend::Rules(robots) => {
                let robots = self
                    .canonical
                    .parse(&robots)
                    .map_err(|error| CrawlError::Bug {
                        what: error.to_string(),
                    })?;
                self.fetch_rules(robots, turn).await
            }
            Spend::Nothing { fate, outcome } => Ok(self.unvisited(turn, fate, *outcome)),
        }
    }

    /// Fetches, and says when that was over.
    async fn fetch(&self, url: &PageUrl, turn: &Turn) -> (Exchange, Time) {
        let is_page = !turn.visit.purpose.is_robots() && *url == turn.visit.url;
        // Where no page links, none is named.
        let is_linked = !turn.visit.via.is_empty() && !turn.visit.is_inferred();
        let referer = (is_page && is_linked).then_some(&*turn.visit.via);
        let validators = if is_page {
            Validators::of(&turn.visit)
        } else {
            Validators::default()
        };
        let request = Request {
            referer,
            conditional: validators.conditional(),
            ..Request::new(url.as_url(), turn.address)
        };
        let exchange = self.client.fetch(request).await;
        // Asked when all is over, and not put together from parts: a server's rest must not begin before its answer has ended.
        let ended = self.shared.clock.now();
        (exchange, ended)
    }

    /// Spends the turn on a robots.txt. The page that it was for takes another turn.
    async fn fetch_rules(&self, robots: PageUrl, mut turn: Turn) -> Result<EndedVisit, CrawlError> {
        let (exchange, ended) = self.fetch(&robots, &turn).await;
        if let Some(fate) = fate_of_our_own(&exchange) {
            return Ok(self.report_unkept(turn, &exchange, ended, fate));
        }
        self.shared.progress.robots_fetched.add(1);
        let is_redirected = turn.visit.purpose.is_robots();
        let whose = if let Purpose::Robots { origin } = &turn.visit.purpose {
            (**origin).clone()
        } else {
            self.shared.rules.begin(robots.origin());
            robots.clone()
        };
        let rules = &self.shared.rules;
        let learned = rules.learn(whose.origin(), robots.as_url(), &exchange, ended);
        if !is_redirected && rules.ask(&turn.visit.url, ended) == Say::Allowed {
            turn.visit.allowed_until = Some(ended + SAID_HOLDS);
        }
        let rules_elsewhere = learned.redirect.and_then(|target| {
            let target = self.canonical.parse(target.as_str()).ok()?;
            Some((whose.origin().to_owned(), target))
        });
        // The rules may be from elsewhere; what they ask for is for the host that sent there.
        let asked = learned.has_rules.then(|| HostAsked {
            host: whose.host().into(),
            origin: Fingerprint::of(whose.origin()).0,
            delay: learned.crawl_delay,
        });
        let mut links = Vec::new();
        if self.shared.settings.crawl.sitemaps {
            links = self.sitemaps(&learned.sitemaps, &robots, &whose, &turn.visit);
            let is_answered = exchange.status().is_some_and(|status| status < 500);
            if learned.sitemaps.is_empty() && is_answered && rules_elsewhere.is_none() {
                links = self.usual_sitemap(&whose, &turn.visit);
            }
        }
        let mut outcome = self
            .keep(
                &robots,
                &turn,
                Brought::unseen(&exchange),
                &Understood::default(),
            )
            .await?;
        if !is_redirected {
            outcome.instead = Some(robots.as_str().to_owned());
        }
        let fate = if is_redirected {
            Fate::Done
        } else {
            Fate::AnotherTurn
        };
        let end = end_report(&exchange, turn.started, ended, SystemTime::now());
        let ending = Ending {
            ended,
            end,
            fate,
            links,
            outcome,
        };
        Ok(EndedVisit {
            rules_elsewhere,
            asked,
            retry_after: retry_after(&exchange, end, SystemTime::now()),
            ..self.ended(turn, ending)
        })
    }

    /// Fetches a page, keeps it, and finds where it leads.
    async fn fetch_page(&self, mut turn: Turn) -> Result<EndedVisit, CrawlError> {
        let url = turn.visit.url.clone();
        let (exchange, ended) = self.fetch(&url, &turn).await;
        if let Some(fate) = self.fate_without_blame(&exchange, &turn.visit) {
            return Ok(self.report_unkept(turn, &exchange, ended, fate));
        }
        let end = end_report(&exchange, turn.started, ended, SystemTime::now());
        let pdf_text = self.pdf_text(&url, &exchange).await;
        let payload_digest = self.payload_digest(&turn.visit, &exchange);
        let has_known_payload = has_known_payload(&turn.visit, payload_digest.as_deref());
        if !has_known_payload {
            self.read_earlier(&mut turn.visit, &exchange).await;
        }
        let brought = Brought {
            exchange: &exchange,
            pdf_text: pdf_text.as_deref(),
            payload_digest: payload_digest.as_deref(),
            has_known_payload,
            decoded_max: self.decoded_max().min(SMALL_BODY_BYTES),
        };
        let mut link_room = self.shared.link_room.take().await;
        self.recent
            .forget_if_refused(self.shared.progress.urls_refused.read());
        let understood = self.understand_whole(&turn.visit, brought).await;
        link_room.shrink_to(understood.link_bytes());
        let outcome = self.keep(&url, &turn, brought, &understood).await?;
        let fate = fate(&exchange, end);
        let known = turn.visit.known_version();
        let algorithm = self.shared.settings.archive.digest;
        let kept = outcome.kept.as_ref();
        let mut reading = Reading {
            content: understood.content,
            unread: kept
                .and_then(|kept| kept.place)
                .filter(|_| understood.is_unread),
        };
        if understood.is_unread && reading.unread.is_none() {
            let _turn = self.shared.large_bodies.acquire().await;
            reading.content = self.content(&turn.visit, &exchange);
        }
        let found = found(&exchange, kept, known, reading, algorithm);
        let links = if fate == Fate::Done {
            understood.links
        } else {
            Vec::new()
        };
        self.recent.remember(&links);
        let links = self.once_each(links);
        let ending = Ending {
            ended,
            end,
            fate,
            links,
            outcome,
        };
        Ok(EndedVisit {
            retry_after: retry_after(&exchange, end, SystemTime::now()),
            found: Some(found),
            said: understood.said,
            list: understood.list,
            signals: understood.signals,
            link_room: Some(Box::new(link_room)),
            ..self.ended(turn, ending)
        })
    }

    /// What becomes of a visit that failed by our own doing, and of which nothing is to be kept therefore.
    fn fate_without_blame(&self, exchange: &Exchange, visit: &Visit) -> Option<Fate> {
        match exchange.failure()? {
            Failure::Short(_) | Failure::Proxy(_) => fate_of_our_own(exchange),
            // The last time, what came of it is better than nothing.
            Failure::GaveWay if visit.tries < self.shared.settings.crawl.retries_max => {
                Some(Fate::Retry {
                    not_before: Duration::ZERO,
                })
            }
            _ => None,
        }
    }

    /// Reports a visit of which nothing is kept.
    fn report_unkept(
        &self,
        turn: Turn,
        exchange: &Exchange,
        ended: Time,
        fate: Fate,
    ) -> EndedVisit {
        let outcome = keep::describe_failed(exchange);
        self.shared.progress.bytes_received.add(outcome.size);
        let end = end_report(exchange, turn.started, ended, SystemTime::now());
        let ending = Ending {
            ended,
            end,
            fate,
            links: Vec::new(),
            outcome,
        };
        self.ended(turn, ending)
    }

    /// The text of a PDF file, where it is wanted: read by a program of its own, on a thread beside this one, which goes on fetching meanwhile.
    async fn pdf_text(&self, url: &PageUrl, exchange: &Exchange) -> Option<String> {
        let judge = self.shared.judge.as_ref()?;
        let text = |name| exchange.header(name).and_then(|it| str::from_utf8(it).ok());
        let content_type = declared_type(text("content-type"), text("content-disposition"));
        if exchange.status() != Some(200) || !judge.wants_pdf_text(url, content_type) {
            return None;
        }
        // One at a time of each worker, and of large ones few of all workers: each takes memory until the program has read it.
        let _turn = self.reading_pdf.acquire().await.ok()?;
        let is_small = exchange.decoded(SMALL_BODY_BYTES).problem.is_none();
        let _large = if is_small {
            None
        } else {
            Some(self.shared.large_pdfs.acquire().await.ok()?)
        };
        let decoded = exchange.decoded(self.decoded_max());
        let pdf = decoded.bytes.into_owned();
        let judge = Arc::clone(judge);
        let read = tokio::task::spawn_blocking(move || judge.pdf_text(&pdf));
        read.await.ok().flatten()
    }

    /// Reads the page; the rest of one that is large when it has its turn, for that takes memory.
    async fn understand_whole(&self, visit: &Visit, brought: Brought<'_>) -> Understood {
        let understood = self.understand(visit, brought);
        let decoded_max = self.decoded_max();
        if !understood.is_cut || decoded_max <= brought.decoded_max {
            return understood;
        }
        let _turn = self.shared.large_bodies.acquire().await;
        let brought = Brought {
            decoded_max,
            ..brought
        };
        self.understand(visit, brought)
    }

    /// Reads the page. A parser that panics costs its own page, not the crawl.
    fn understand(&self, visit: &Visit, brought: Brought<'_>) -> Understood {
        let read = AssertUnwindSafe(|| links::understand(self, visit, brought));
        catch_unwind(read).unwrap_or_else(|_| {
            tracing::error!(
                page = visit.url.as_str(),
                "a parser failed on this page; its links are not followed"
            );
            Understood {
                annotations: vec![annotation::PARSER_FAILED.to_owned()],
                ..Understood::default()
            }
        })
    }

    async fn keep(
        &self,
        url: &PageUrl,
        turn: &Turn,
        brought: Brought<'_>,
        understood: &Understood,
    ) -> Result<Outcome, CrawlError> {
        let exchange = brought.exchange;
        let mut outcome = self.keeper.keep(url, turn, brought, understood).await?;
        outcome
            .annotations
            .extend(understood.annotations.iter().cloned());
        if let Some(remark) = understood.remark.as_ref().or(exchange.irregular.as_ref()) {
            outcome.result = format!("{}; {remark}", outcome.result);
        }
        if exchange.irregular.is_some() {
            outcome.annotations.push(annotation::IRREGULAR.to_owned());
        }
        if 0 < turn.visit.tries {
            outcome
                .annotations
                .push(format!("{}t", turn.visit.tries + 1));
        }
        Ok(outcome)
    }

    fn unvisited(&self, turn: Turn, fate: Fate, outcome: Outcome) -> EndedVisit {
        let ended = self.shared.clock.now();
        self.ended(
            turn,
            Ending {
                ended,
                end: EndReport::Unvisited,
                fate,
                links: Vec::new(),
                outcome,
            },
        )
    }

    fn ended(&self, turn: Turn, ending: Ending) -> EndedVisit {
        EndedVisit {
            visit: turn.visit,
            key: turn.key,
            address: turn.address,
            started: turn.started,
            ended: ending.ended,
            end: ending.end,
            fate: ending.fate,
            asked: None,
            retry_after: None,
            found: None,
            said: None,
            list: None,
            signals: Vec::new(),
            links: ending.links,
            link_room: None,
            leads_to_new: false,
            rules_elsewhere: None,
            outcome: ending.outcome,
            worker: self.number,
        }
    }

    /// Where links count, each page once, however often it is linked to from this one. Where they do not, the frontier passes over what it knows.
    fn once_each(&self, mut links: Vec<Discovered>) -> Vec<Discovered> {
        if self.shared.settings.is_ordered() {
            let mut linked = HashSet::with_capacity(links.len());
            links.retain(|link| linked.insert(link.url.fingerprint()));
        }
        links
    }

    /// In a crawl that goes by sitemaps alone: the one in the usual place, of an origin whose robots.txt names none.
    fn usual_sitemap(&self, origin: &PageUrl, visit: &Visit) -> Vec<Discovered> {
        if self.shared.settings.crawl.sitemaps_only {
            self.sitemaps(&[USUAL_SITEMAP.to_owned()], origin, origin, visit)
        } else {
            Vec::new()
        }
    }

    /// The sitemaps that a robots.txt names, for an origin that may have sent there.
    fn sitemaps(
        &self,
        sitemaps: &[String],
        robots: &PageUrl,
        whose: &PageUrl,
        visit: &Visit,
    ) -> Vec<Discovered> {
        // Hosts that merely serve what pages need, or others' sitemaps, are not asked for theirs.
        let is_asked = match visit.purpose {
            Purpose::Page => true,
            Purpose::Robots { .. } => links::is_at_host_in_scope(self, whose),
            Purpose::Requisite | Purpose::Sitemap => false,
        };
        let purpose = if is_asked {
            links::sitemap_purpose(self)
        } else {
            Purpose::Page
        };
        let named = sitemaps
            .iter()
            .filter_map(|text| self.canonical.join(robots, text).ok());
        links::in_scope(
            self,
            false,
            named.map(|url| Discovered {
                url,
                hop: Some('M'),
                depth: visit.depth,
                purpose: purpose.clone(),
                link_estimate: None,
            }),
        )
    }
}

/// A visit whose turn has come.
pub(crate) struct Turn {
    pub(crate) visit: Visit,
    key: ServerKey,
    pub(crate) address: IpAddr,
    pub(crate) started: Time,
}

struct Ending {
    ended: Time,
    end: EndReport,
    fate: Fate,
    links: Vec<Discovered>,
    outcome: Outcome,
}
