//! Where a page leads: links, sitemap and feed entries, redirects, in canonical form and within scope.

use junkai_fetch::{DecodeProblem, Decoded, Exchange};
use junkai_focus::data_file::declared_type;
use junkai_page::content::{self, Content};
use junkai_page::sitemap::Entry as SitemapEntry;
use junkai_page::{
    Analysis, Answer, ContentKind, FollowOptions, LeadOptions, Leads, LinkKind, LinkRole,
    RedirectTarget,
};
use junkai_weburl::PageUrl;

use super::heads::Heads;
use super::{Worker, signals};
use crate::annotation;
use crate::focus::{FetchedFile, LinkEstimate, Said, whole_bytes};
use crate::scope::Found;
use crate::visit::{Discovered, List, Purpose, SITEMAP_LEVELS_MAX, Signal, Visit};

/// What was understood of a page.
#[derive(Debug, Default)]
pub(crate) struct Understood {
    pub(crate) links: Vec<Discovered>,
    /// Links that were left out because there are too many, or they are too long.
    pub(crate) links_left_out: u64,
    /// The page asks not to be kept, and that is respected.
    pub(crate) must_not_keep: bool,
    pub(crate) charset: Option<&'static str>,
    pub(crate) language: Option<String>,
    /// What the page says, whatever surrounds it, where that was read.
    pub(crate) content: Option<Content>,
    /// Nobody has to read it now: the page is new, and if it changes, the archive has it.
    pub(crate) is_unread: bool,
    /// What it says of its site, where something is wanted.
    pub(crate) said: Option<Box<Said>>,
    /// What it lists, if it is a sitemap or feed.
    pub(crate) list: Option<List>,
    /// What it says of other pages' changes.
    pub(crate) signals: Vec<Signal>,
    pub(crate) annotations: Vec<String>,
    /// What was wrong with the content, in words.
    pub(crate) remark: Option<String>,
    /// The body was longer than what was to be read of it.
    pub(crate) is_cut: bool,
}

impl Understood {
    /// Bytes of the URLs that it leads to and speaks of.
    pub(crate) fn link_bytes(&self) -> u64 {
        let links = self.links.iter().map(|link| &link.url);
        let signals = self.signals.iter().map(|signal| &signal.url);
        let bytes = links.chain(signals).map(|url| url.as_str().len() as u64);
        bytes.sum()
    }
}

/// Links that room is made for at once: as many as most pages lead to.
const LINKS_USUAL: usize = 32;

/// Style sheets in a row that import each other, or each need the next: more is a trap.
const STYLE_SHEETS_MAX: usize = 8;

/// Redirects in a row that are followed: as many as browsers do.
const REDIRECTS_MAX: usize = 20;

/// What a redirect promises: as much as a seed, for it is the page that was asked for.
const REDIRECT_PROMISE: f32 = 1.0;

/// What an exchange brought.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Brought<'a> {
    pub(crate) exchange: &'a Exchange,
    /// The text of its body, if that is a PDF file and its text is wanted.
    pub(crate) pdf_text: Option<&'a str>,
    /// The digest of its payload, where that was worked out.
    pub(crate) payload_digest: Option<&'a str>,
    /// Whether its payload is that of the last visit.
    pub(crate) has_known_payload: bool,
    /// Bytes of its body, without codings, that are read at most.
    pub(crate) decoded_max: usize,
}

impl<'a> Brought<'a> {
    /// What nobody has looked at.
    pub(crate) fn unseen(exchange: &'a Exchange) -> Brought<'a> {
        Brought {
            exchange,
            pdf_text: None,
            payload_digest: None,
            has_known_payload: false,
            decoded_max: 0,
        }
    }
}

/// Reads what an exchange brought.
pub(crate) fn understand(worker: &Worker, visit: &Visit, brought: Brought<'_>) -> Understood {
    let mut understood = Understood::default();
    let exchange = brought.exchange;
    let Some(status) = exchange.status() else {
        return understood;
    };
    match Answer::of(status, exchange.header("location")) {
        Answer::Redirect(location) => redirect(worker, visit, location, &mut understood),
        Answer::Content => match reads(worker, visit) {
            Reads::Page => read_body(worker, visit, brought, &mut understood),
            Reads::StyleSheet => read_requisite(worker, visit, brought, &mut understood),
            Reads::Nothing => {}
        },
        Answer::Nothing => {}
    }
    keep_within_bounds(worker, &mut understood);
    understood
}

/// Leaves out links beyond the bytes that one page may bring in, and tells how many of its links are not followed.
fn keep_within_bounds(worker: &Worker, understood: &mut Understood) {
    let bytes_max = worker.shared.settings.backlog.page_bytes_max;
    let Understood { links, signals, .. } = understood;
    let found = links.len();
    links.truncate(fitting(bytes_max, links.iter().map(|link| &link.url)));
    signals.truncate(fitting(bytes_max, signals.iter().map(|signal| &signal.url)));
    let left_out = understood.links_left_out + (found - links.len()) as u64;
    if 0 < left_out {
        worker.shared.progress.links_left_out.add(left_out);
        understood
            .annotations
            .push(format!("{}{left_out}", annotation::LINKS_LEFT_OUT));
    }
}

/// How many URLs, from the first on, are together within so many bytes.
fn fitting<'a>(bytes_max: u64, urls: impl Iterator<Item = &'a PageUrl>) -> usize {
    let sums = urls.scan(0, |sum: &mut u64, url| {
        *sum += url.as_str().len() as u64;
        Some(*sum)
    });
    sums.take_while(|sum| *sum <= bytes_max).count()
}

/// What of an answer is read.
enum Reads {
    /// All: it is a page, or something that a page needs and that would be a page in its own right.
    Page,
    /// What it needs itself, if it is a style sheet; a page in a frame from elsewhere is kept as it is.
    StyleSheet,
    Nothing,
}

fn reads(worker: &Worker, visit: &Visit) -> Reads {
    match visit.purpose {
        Purpose::Page | Purpose::Sitemap => Reads::Page,
        Purpose::Robots { .. } => Reads::Nothing,
        Purpose::Requisite if is_in_scope(worker, &visit.url, visit.depth) => Reads::Page,
        Purpose::Requisite => Reads::StyleSheet,
    }
}

/// Whether a link to this page, so many links from a seed, would be followed.
fn is_in_scope(worker: &Worker, url: &PageUrl, depth: u16) -> bool {
    let scope = worker.shared.scope.read();
    scope.is_ok_and(|scope| scope.decide(url, Found::Link(depth)).accepts())
}

/// The target of a redirect is a visit of its own, as deep as this one; where a seed leads is a seed.
fn redirect(worker: &Worker, visit: &Visit, location: &[u8], understood: &mut Understood) {
    let annotations = &mut understood.annotations;
    let url = match RedirectTarget::of(&worker.canonical, &visit.url, location) {
        RedirectTarget::Page(url) => url,
        RedirectTarget::Itself => return annotations.push(annotation::REDIRECT_TO_ITSELF.into()),
        RedirectTarget::Bad => return annotations.push(annotation::BAD_LOCATION.into()),
    };
    let discovered = Discovered {
        url,
        hop: Some('R'),
        depth: visit.depth,
        purpose: visit.purpose.clone(),
        link_estimate: worker.shared.judge.as_ref().map(|_| {
            let estimate = visit.link_estimate.as_deref().cloned().unwrap_or_default();
            Box::new(LinkEstimate {
                promise: REDIRECT_PROMISE,
                ..estimate
            })
        }),
    };
    let redirects = visit.hops.bytes().rev().take_while(|hop| *hop == b'R');
    if REDIRECTS_MAX <= redirects.count() {
        understood
            .annotations
            .push(annotation::TOO_MANY_REDIRECTS.to_owned());
        return;
    }
    // A sitemap that a seed or the robots.txt of a host in scope names may have moved.
    let is_followed = visit.purpose != Purpose::Sitemap
        || visit.sitemap_level() == 1
        || leads_to_sitemap(worker, visit, &discovered.url);
    worker
        .shared
        .progress
        .out_of_scope
        .add(u64::from(!is_followed));
    let discovered = [discovered].into_iter().filter(|_| is_followed);
    understood.links = in_scope(worker, visit.is_seed(), discovered);
}

/// The body without its codings; none if it is to be read again, with more room.
fn decoded<'a>(
    worker: &Worker,
    brought: Brought<'a>,
    understood: &mut Understood,
) -> Option<Decoded<'a>> {
    let decoded = brought.exchange.decoded(brought.decoded_max);
    understood.is_cut = matches!(decoded.problem, Some(DecodeProblem::Bomb { .. }));
    if understood.is_cut && brought.decoded_max < worker.decoded_max() {
        return None;
    }
    if let Some(problem) = &decoded.problem {
        understood
            .annotations
            .push(annotation::CONTENT_CODING.to_owned());
        understood.remark = Some(problem.to_string());
    }
    Some(decoded)
}

/// Reads what a page needs and is no page in scope: only a style sheet needs more in its turn.
fn read_requisite(
    worker: &Worker,
    visit: &Visit,
    brought: Brought<'_>,
    understood: &mut Understood,
) {
    let heads = Heads::of(brought.exchange);
    let is_style_sheet = junkai_page::kind_of(&[], heads.content_type) == ContentKind::Css;
    if is_style_sheet
        && let Some(decoded) = decoded(worker, brought, understood)
        && let Leads::StyleSheet(analysis) = leads(worker, visit, &heads, &decoded.bytes)
    {
        take_style_sheet(worker, visit, &analysis, understood);
    }
}

fn read_body(worker: &Worker, visit: &Visit, brought: Brought<'_>, understood: &mut Understood) {
    let exchange = brought.exchange;
    let Some(decoded) = decoded(worker, brought, understood) else {
        return;
    };
    let heads = Heads::of(exchange);
    let content_type = heads.content_type;
    let mut charset = None;
    match leads(worker, visit, &heads, &decoded.bytes) {
        Leads::Page(analysis) => {
            let judge = worker.shared.judge.as_ref();
            understood.said =
                judge.map(|judge| Box::new(judge.page(&decoded.bytes, content_type, &visit.url)));
            take_page(worker, visit, &analysis, understood);
            charset = Some(analysis.charset());
        }
        Leads::Sitemap(sitemap) => {
            let entries = sitemap.index.iter().chain(&sitemap.urls);
            understood.signals = signals::of_sitemap(worker, visit, entries);
            let locations = |entries| Iterator::map(entries, |entry: &SitemapEntry| &*entry.loc);
            let urls = locations(sitemap.urls.iter());
            let pages = listed(worker, visit, &Purpose::Page, urls);
            understood.list = Some(List {
                entries: sitemap.urls.len(),
                in_scope: pages.len(),
            });
            let sitemaps = locations(sitemap.index.iter());
            understood.links =
                listed_sitemaps(worker, visit, sitemaps, &mut understood.annotations);
            understood.links.extend(pages);
        }
        Leads::Feed(entries) => {
            understood.signals = signals::of_feed(worker, visit, &entries);
            let urls = entries.iter().map(|entry| entry.url.as_str());
            understood.links = listed(worker, visit, &Purpose::Page, urls);
            understood.list = Some(List {
                entries: entries.len(),
                in_scope: understood.links.len(),
            });
        }
        Leads::StyleSheet(analysis) => {
            take_style_sheet(worker, visit, &analysis, understood);
            judge_file(worker, visit, brought, &decoded.bytes, understood);
        }
        Leads::File(analysis) => {
            take_links(worker, visit, &analysis, understood);
            judge_file(worker, visit, brought, &decoded.bytes, understood);
        }
    }
    let is_first = visit.known_version().is_none() && visit.out_of_turn.is_none();
    if !worker.shared.settings.revisit.enabled || brought.has_known_payload {
        // Nothing is to be compared.
    } else if is_first {
        understood.is_unread = content::is_readable(&decoded.bytes, content_type);
    } else {
        let mut boilerplate = worker.boilerplate.borrow_mut();
        let url = visit.url.as_url();
        understood.content = match charset {
            Some(charset) => content::of_page(&mut boilerplate, &decoded.bytes, charset, url),
            None => content::of(&mut boilerplate, &decoded.bytes, content_type, url),
        };
    }
}

/// What a body leads to, under the settings of the crawl.
fn leads(worker: &Worker, visit: &Visit, heads: &Heads<'_>, body: &[u8]) -> Leads {
    let options = LeadOptions {
        links: &worker.links,
        contexts: worker.shared.judge.is_some(),
        lists: worker.shared.settings.crawl.sitemaps,
        is_named_as_list: visit.is_seed() || visit.hops.ends_with('M'),
    };
    Leads::of(&heads.source(worker, visit, body), &options)
}

fn take_style_sheet(
    worker: &Worker,
    visit: &Visit,
    analysis: &Analysis,
    understood: &mut Understood,
) {
    let hops = visit.hops.bytes().rev();
    let needs = hops.take_while(|hop| matches!(hop, b'E' | b'R'));
    if STYLE_SHEETS_MAX < needs.filter(|hop| *hop == b'E').count() {
        understood
            .annotations
            .push(annotation::TOO_MANY_STYLE_SHEETS.to_owned());
        return;
    }
    understood.charset = Some(analysis.charset);
    take_links(worker, visit, analysis, understood);
}

/// Asks what a file holds, where something is wanted.
fn judge_file(
    worker: &Worker,
    visit: &Visit,
    brought: Brought<'_>,
    bytes: &[u8],
    understood: &mut Understood,
) {
    let Some(judge) = &worker.shared.judge else {
        return;
    };
    let header = |name| brought.exchange.header(name);
    let text = |name| header(name).and_then(|value| str::from_utf8(value).ok());
    let file = FetchedFile {
        bytes,
        content_type: declared_type(text("content-type"), text("content-disposition")),
        whole_bytes: whole_bytes(text, bytes.len()),
        pdf_text: brought.pdf_text,
    };
    let said = judge.file(&file, visit);
    understood.said = Some(Box::new(said));
}

fn take_page(worker: &Worker, visit: &Visit, analysis: &Analysis, understood: &mut Understood) {
    let settings = &worker.shared.settings;
    understood.must_not_keep = settings.crawl.respect_noarchive && analysis.robots.noarchive;
    understood.charset = Some(analysis.charset);
    understood.language = analysis
        .language
        .as_ref()
        .map(|language| language.code.clone());
    take_links(worker, visit, analysis, understood);
}

fn take_links(worker: &Worker, visit: &Visit, analysis: &Analysis, understood: &mut Understood) {
    if analysis.truncated_links {
        understood
            .annotations
            .push(annotation::LINKS_TRUNC.to_owned());
    }
    understood.links_left_out = analysis.links_left_out;
    understood.links = page_links(worker, visit, analysis);
}

fn page_links(worker: &Worker, visit: &Visit, analysis: &Analysis) -> Vec<Discovered> {
    let settings = &worker.shared.settings;
    let sitemaps_only = settings.crawl.sitemaps_only;
    let followed = analysis.followed(FollowOptions {
        respects_nofollow: settings.crawl.respect_nofollow,
        lists: settings.crawl.sitemaps,
    });
    let discovered = followed.filter_map(|(link, role)| {
        if worker.recent.contains(&link.url) {
            return None;
        }
        let url = worker.canonical.parse(&link.url).ok()?;
        let depth = depth_of(worker, visit, &url);
        // A frame that is no page of the crawl is a part of this one all the same.
        let is_frame = matches!(link.kind, LinkKind::Frame | LinkKind::Iframe);
        let is_page = || !sitemaps_only && is_in_scope(worker, &url, depth);
        let role = if is_frame && worker.links.requisites && !is_page() {
            LinkRole::Requisite
        } else {
            role
        };
        let (hop, depth, purpose) = match role {
            LinkRole::Requisite => ('E', visit.depth, Purpose::Requisite),
            LinkRole::List => ('M', visit.depth, Purpose::Page),
            LinkRole::Page if sitemaps_only => return None,
            LinkRole::Page => ('L', depth, Purpose::Page),
        };
        let judge = worker.shared.judge.as_ref();
        let judge = judge.filter(|_| role != LinkRole::Requisite);
        let link_estimate = judge.map(|judge| {
            let context = link.context.as_deref().cloned().unwrap_or_default();
            Box::new(judge.estimate(&url, context, depth))
        });
        Some(Discovered {
            url,
            hop: Some(hop),
            depth,
            purpose,
            link_estimate,
        })
    });
    in_scope(worker, false, discovered)
}

/// How deep a page is that a visited one links to: one link further. Where something is wanted, each site counts from its own first page: its home page,
/// or the seed that named it; what others link to is taken to be one link from there.
fn depth_of(worker: &Worker, visit: &Visit, target: &PageUrl) -> u16 {
    let is_elsewhere = worker.shared.judge.is_some() && target.site() != visit.url.site();
    match (is_elsewhere, target.path_and_query()) {
        (false, _) => visit.depth.saturating_add(1),
        (true, "/") => 0,
        (true, _) => 1,
    }
}

/// The entries of a sitemap or feed, one link further than the list.
fn listed<'a>(
    worker: &Worker,
    visit: &Visit,
    purpose: &Purpose,
    entries: impl Iterator<Item = &'a str>,
) -> Vec<Discovered> {
    let parse = |text| worker.canonical.parse(text).ok();
    in_scope(
        worker,
        false,
        entries.filter_map(parse).map(|url: PageUrl| Discovered {
            depth: depth_of(worker, visit, &url),
            url,
            hop: Some('M'),
            purpose: purpose.clone(),
            link_estimate: None,
        }),
    )
}

/// The sitemaps that an index lists. Where the crawl goes by sitemaps alone these are not held against `[scope]`, so that there are other bounds: an index in an index in an
/// index is the end, and none leads to a host that neither a seed nor the robots.txt of a host in scope has named.
fn listed_sitemaps<'a>(
    worker: &Worker,
    visit: &Visit,
    entries: impl Iterator<Item = &'a str>,
    annotations: &mut Vec<String>,
) -> Vec<Discovered> {
    let purpose = sitemap_purpose(worker);
    let mut sitemaps = listed(worker, visit, &purpose, entries);
    if purpose != Purpose::Sitemap || sitemaps.is_empty() {
        return sitemaps;
    }
    let count = sitemaps.len();
    if SITEMAP_LEVELS_MAX <= visit.sitemap_level() {
        annotations.push(annotation::TOO_MANY_SITEMAPS.to_owned());
        sitemaps.clear();
    } else {
        sitemaps.retain(|found| leads_to_sitemap(worker, visit, &found.url));
    }
    let outside = (count - sitemaps.len()) as u64;
    worker.shared.progress.out_of_scope.add(outside);
    sitemaps
}

/// Whether a sitemap that was visited may lead to this one, in a crawl that goes by sitemaps alone.
fn leads_to_sitemap(worker: &Worker, visit: &Visit, target: &PageUrl) -> bool {
    visit.is_seed() || target.host() == visit.url.host() || is_at_host_in_scope(worker, target)
}

/// Whether the scope takes something of the host of a URL.
pub(crate) fn is_at_host_in_scope(worker: &Worker, url: &PageUrl) -> bool {
    let scope = worker.shared.scope.read();
    scope.is_ok_and(|scope| scope.takes_host(url))
}

/// What a sitemap that is named by robots.txt or by another sitemap is visited for.
pub(crate) fn sitemap_purpose(worker: &Worker) -> Purpose {
    if worker.shared.settings.crawl.sitemaps_only {
        Purpose::Sitemap
    } else {
        Purpose::Page
    }
}

/// Keeps what belongs to the crawl; where a seed redirects to is a seed.
pub(crate) fn in_scope(
    worker: &Worker,
    from_seed: bool,
    discovered: impl Iterator<Item = Discovered>,
) -> Vec<Discovered> {
    let Ok(scope) = worker.shared.scope.read() else {
        return Vec::new();
    };
    let mut outside = 0;
    let most = discovered.size_hint().1.unwrap_or(LINKS_USUAL);
    let mut kept = Vec::with_capacity(most.min(LINKS_USUAL));
    kept.extend(discovered.filter(|found| {
        let how = match (Found::of(&found.purpose, found.depth), found.hop) {
            (Found::Link(_), Some('R')) if from_seed => Found::Seed,
            (how, _) => how,
        };
        let accepted = scope.decide(&found.url, how).accepts();
        outside += u64::from(!accepted);
        accepted
    }));
    worker.shared.progress.out_of_scope.add(outside);
    kept
}
