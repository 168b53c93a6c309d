//! The synthetic web: hosts and pages that exist only as hashes.
//!
//! A page is a host and a number; its path, text, links and changes are drawn from a hash of the two. Read [`Synthetic`]
//! first, then [`SyntheticHost`]; `path` turns numbers into paths and back, `page` writes HTML, `around` the rest of a
//! site: robots.txt, sitemaps, feeds, images.
//!
//! Invariant: every page can be reached from the home page of every host, by links that are neither `nofollow` nor
//! disallowed. The pages of a host form a tree (page *n* links to [`FANOUT`] children), and so do the home pages.

mod around;
mod page;
mod path;

use encoding_rs::Encoding;

use crate::answer::{Answer, Request};
use crate::chance::{Chance, Distributions as _, mix};
use crate::change::ChangeProcess;
use crate::clock::Clock;
use crate::config::TestWebConfig;
use crate::prose::{Language, Prose};
use path::{Place, Style};

pub(crate) use around::{SITEMAP_NAMESPACE, XML_HEAD, line, write_to};

/// Children of a page in the tree of its host, and of a home page in the tree of hosts.
const FANOUT: u64 = 8;

/// All synthetic hosts.
#[derive(Debug)]
pub(crate) struct Synthetic {
    seed: u64,
    hosts: Vec<SyntheticHost>,
    prose: Vec<Prose>,
    links_per_page: u32,
    page_bytes: u32,
    change_gap_seconds: f64,
    change_spread: f64,
}

/// One host: what it is called, how large it is, and its habits.
#[derive(Debug)]
pub(crate) struct SyntheticHost {
    pub(crate) name: String,
    /// Scheme, name and port, as links begin.
    pub(crate) origin: String,
    number: u64,
    key: u64,
    pages: u64,
    dialect: usize,
    declaration: Declaration,
    style: Style,
    has_gzip: bool,
    has_chunks: bool,
    has_crawl_delay: bool,
}

/// How a host says which charset its pages are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Declaration {
    Header,
    Meta,
    Both,
}

/// A language in a charset, and how many of 100 hosts write so.
struct Dialect {
    language: Language,
    charset: &'static Encoding,
    percent: u64,
}

static DIALECTS: [Dialect; 8] = [
    dialect(Language::English, encoding_rs::UTF_8, 40),
    dialect(Language::German, encoding_rs::UTF_8, 10),
    dialect(Language::German, encoding_rs::WINDOWS_1252, 5),
    dialect(Language::French, encoding_rs::UTF_8, 8),
    dialect(Language::French, encoding_rs::WINDOWS_1252, 4),
    dialect(Language::Japanese, encoding_rs::UTF_8, 15),
    dialect(Language::Japanese, encoding_rs::SHIFT_JIS, 6),
    dialect(Language::Japanese, encoding_rs::EUC_JP, 4),
];

/// The dialect of the hosts that are left: Chinese.
static LAST_DIALECT: Dialect = dialect(Language::Chinese, encoding_rs::UTF_8, 8);

const fn dialect(language: Language, charset: &'static Encoding, percent: u64) -> Dialect {
    Dialect {
        language,
        charset,
        percent,
    }
}

fn dialects() -> impl Iterator<Item = &'static Dialect> {
    DIALECTS.iter().chain([&LAST_DIALECT])
}

/// Where the web listens, as URLs show it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ports {
    pub(crate) http: u16,
    pub(crate) https: Option<u16>,
}

impl Ports {
    /// `http://name:port`, the port left out where it is the scheme's own.
    pub(crate) fn origin(self, name: &str, is_https: bool) -> String {
        match (is_https, self.https) {
            (true, Some(443)) => format!("https://{name}"),
            (true, Some(port)) => format!("https://{name}:{port}"),
            _ if self.http == 80 => format!("http://{name}"),
            _ => format!("http://{name}:{}", self.http),
        }
    }
}

/// The habits of a host that depend on what it was told to do wrong.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traps {
    /// Links carry this session number.
    pub(crate) session: Option<u64>,
    /// Pages link to a calendar without end.
    pub(crate) has_calendar: bool,
}

/// One request to a synthetic host, and when and how it is met.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) request: &'a Request,
    pub(crate) clock: &'a Clock,
    pub(crate) traps: Traps,
}

impl Synthetic {
    pub(crate) fn new(config: &TestWebConfig, ports: Ports) -> Self {
        let sizes = host_sizes(config);
        let hosts = sizes
            .into_iter()
            .enumerate()
            .map(|(index, pages)| SyntheticHost::new(config, ports, index as u64, pages))
            .collect();
        Self {
            seed: config.seed,
            hosts,
            prose: dialects()
                .map(|dialect| Prose::new(config.seed, dialect.language, dialect.charset))
                .collect(),
            links_per_page: config.links_per_page,
            page_bytes: config.page_bytes,
            change_gap_seconds: config.change_interval.as_secs_f64(),
            change_spread: config.change_spread,
        }
    }

    pub(crate) fn hosts(&self) -> &[SyntheticHost] {
        &self.hosts
    }

    /// Answers a request to the host with this index.
    pub(crate) fn answer(&self, index: usize, call: Call<'_>) -> Answer {
        let host = &self.hosts[index];
        match host.place(&call.request.target) {
            Some(Place::Page(page)) => self.page_answer(host, page, call),
            Some(Place::Around(around)) => self.around_answer(host, around, call.clock),
            Some(Place::Calendar(month)) if call.traps.has_calendar => around::calendar(month),
            Some(Place::Calendar(_)) | None => Answer::plain(404),
        }
    }

    /// The pages of a host, in the order of their numbers.
    pub(crate) fn page_urls(&self, index: usize) -> impl Iterator<Item = String> {
        let host = &self.hosts[index];
        (0..host.pages).map(|page| format!("{}{}", host.origin, host.path(page)))
    }

    pub(crate) fn page_count(&self) -> u64 {
        self.hosts.iter().map(|host| host.pages).sum()
    }

    fn change_process(&self, host: &SyntheticHost, page: u64) -> ChangeProcess {
        ChangeProcess::of_page(
            mix(host.key, page),
            self.change_gap_seconds,
            self.change_spread,
        )
    }

    fn page_answer(&self, host: &SyntheticHost, page: u64, call: Call<'_>) -> Answer {
        let Call {
            request,
            clock,
            traps,
        } = call;
        let version = self
            .change_process(host, page)
            .version(clock.virtual_seconds());
        let made = clock.shown_at(version.made_at).system_time();
        let is_gzipped = host.has_gzip && request.accepts_gzip;
        let suffix = if is_gzipped { "-gz" } else { "" };
        let etag = format!("\"{:016x}{suffix}\"", version.tag());
        let headers = match request.validate(etag, made) {
            Ok(headers) => headers,
            Err(not_modified) => return not_modified,
        };
        let mut answer = Answer {
            status: 200,
            headers,
            body: self.html(host, page, version, traps),
            is_chunked: host.has_chunks,
        };
        answer.headers.push(("content-type", host.content_type()));
        if is_gzipped {
            answer = answer.gzipped();
        }
        answer
    }
}

impl SyntheticHost {
    fn new(config: &TestWebConfig, ports: Ports, number: u64, pages: u64) -> Self {
        let key = mix(config.seed, number);
        let mut chance = Chance::about(key, 0x686f_7374);
        let name = format!("host{number}.test");
        Self {
            origin: ports.origin(&name, chance.percent(config.https_percent)),
            name,
            number,
            key,
            pages,
            dialect: draw_dialect(&mut chance),
            declaration: *chance.pick(&[Declaration::Header, Declaration::Meta, Declaration::Both]),
            style: *chance.pick(&[Style::File, Style::File, Style::Folder, Style::Query]),
            has_gzip: chance.percent(config.gzip_percent),
            has_chunks: chance.percent(config.chunked_percent),
            has_crawl_delay: chance.percent(config.crawl_delay_percent),
        }
    }

    fn dialect(&self) -> &'static Dialect {
        DIALECTS.get(self.dialect).unwrap_or(&LAST_DIALECT)
    }

    fn content_type(&self) -> String {
        match self.declaration {
            Declaration::Header | Declaration::Both => {
                format!("text/html; charset={}", self.dialect().charset.name())
            }
            Declaration::Meta => "text/html".to_owned(),
        }
    }

    pub(crate) fn home(&self) -> String {
        format!("{}/", self.origin)
    }
}

fn draw_dialect(chance: &mut Chance) -> usize {
    let mut left = chance.below_large(100);
    DIALECTS
        .iter()
        .position(|dialect| {
            let is_this = left < dialect.percent;
            left = left.saturating_sub(dialect.percent);
            is_this
        })
        .unwrap_or(DIALECTS.len())
}

/// How many pages each host has, the largest first. All pages together come as near to the wish as rounding allows.
fn host_sizes(config: &TestWebConfig) -> Vec<u64> {
    let weights: Vec<f64> = (1..=config.hosts)
        .map(|rank| (rank as f64).powf(-config.size_exponent))
        .collect();
    let total: f64 = weights.iter().sum();
    let spare = config.pages.saturating_sub(config.hosts as u64) as f64;
    let mut weight_so_far = 0.0;
    let mut pages_so_far = 0;
    weights
        .iter()
        .map(|weight| {
            weight_so_far += weight;
            let upto = whole(spare * weight_so_far / total);
            let pages = upto.saturating_sub(pages_so_far);
            pages_so_far = upto;
            1 + pages
        })
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of pages: not negative, and a cast of floats saturates"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const PORTS: Ports = Ports {
        http: 8080,
        https: Some(443),
    };

    #[test]
    fn sizes_follow_the_power_law_and_add_up() {
        let config = TestWebConfig {
            hosts: 100,
            pages: 10_000,
            size_exponent: 1.0,
            ..TestWebConfig::default()
        };
        let sizes = host_sizes(&config);
        assert_eq!(sizes.iter().sum::<u64>(), 10_000);
        assert!(sizes.is_sorted_by(|left, right| left + 1 >= *right));
        // H(100) = 5.187: the first host has 9,900 / 5.187 pages and its home page.
        assert_eq!(sizes[0], 1909);
        assert_eq!(sizes[9], 192);
        let equal = TestWebConfig {
            size_exponent: 0.0,
            ..config
        };
        assert!(host_sizes(&equal).iter().all(|&size| size == 100));
    }

    #[test]
    fn origins_name_ports_only_where_needed() {
        assert_eq!(PORTS.origin("a.test", false), "http://a.test:8080");
        assert_eq!(PORTS.origin("a.test", true), "https://a.test");
        let without_tls = Ports {
            http: 80,
            https: None,
        };
        assert_eq!(without_tls.origin("a.test", true), "http://a.test");
    }

    #[test]
    fn every_dialect_is_spoken_somewhere_and_shares_add_up() {
        assert_eq!(dialects().map(|dialect| dialect.percent).sum::<u64>(), 100);
        let mut chance = Chance::about(1, 1);
        let mut counts = [0; 9];
        (0..10_000).for_each(|_| counts[draw_dialect(&mut chance)] += 1);
        for (dialect, count) in dialects().zip(counts) {
            let expected = i64::try_from(dialect.percent * 100).unwrap();
            assert!((expected - count).abs() < 200, "{count} for {expected}");
        }
    }
}
