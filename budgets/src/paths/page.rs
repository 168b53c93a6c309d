//! What the worker does with a page that came back: understand it, keep it, and remember it.

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use jiff::Timestamp;
use junkai_archive::{ArchiveConfig, Capture, Provenance, Writer};
use junkai_frontier::{ServerKey, Time};
use junkai_page::LinkOptions;
use junkai_page::content::{self, Boilerplate, BoilerplateBounds};
use junkai_revisit::estimator::{LogNormalMemory, Memory};
use junkai_revisit::{Digest, PageState, Version};
use junkai_weburl::{CanonicalConfig, Canonicalizer};
use tempfile::TempDir;

use crate::corpus::{self, Page};
use crate::count::counted;

/// When everything happens: 2026-01-01, in seconds.
const NOW_SECONDS: i64 = 1_767_225_600;
/// States that are written and read.
const STATES: u32 = 1000;

pub(super) fn links() -> Result<()> {
    let (pages, options) = (corpus::pages()?, LinkOptions::default());
    let read_all = || {
        for page in &pages {
            black_box(junkai_page::analyze(&page.source(), &options));
        }
    };
    read_all();
    counted(pages.len(), read_all);
    Ok(())
}

pub(super) fn content() -> Result<()> {
    let pages = corpus::pages()?;
    let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
    let mut read_all = || {
        for page in &pages {
            let content_type = Some(page.content_type);
            black_box(content::of(
                &mut boilerplate,
                page.body,
                content_type,
                &page.url,
            ));
        }
    };
    read_all();
    counted(pages.len(), read_all);
    Ok(())
}

pub(super) fn records() -> Result<()> {
    let pages = corpus::pages()?;
    let exchanges: Vec<Exchange> = pages.iter().map(Exchange::of).collect();
    let folder = TempDir::with_prefix("junkai-budgets-")?;
    let provenance = Provenance {
        software: "junkai".to_owned(),
        ..Provenance::default()
    };
    let mut writer = Writer::open(folder.path(), &ArchiveConfig::default(), provenance)?;
    let mut store_all = || {
        exchanges
            .iter()
            .try_for_each(|exchange| exchange.store(&mut writer))
    };
    store_all()?;
    let mut stored = Ok(());
    counted(pages.len(), || stored = store_all());
    stored
}

/// A page as it came over the wire.
struct Exchange {
    url: String,
    request: Vec<u8>,
    response: Vec<u8>,
    head_length: usize,
    metadata: Vec<(&'static str, String)>,
}

impl Exchange {
    fn of(page: &Page) -> Exchange {
        let head = format!(
            "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Type: {}\r\n\
             Content-Length: {}\r\nETag: \"66f2c0ff-51f4\"\r\nCache-Control: max-age=300\r\nConnection: keep-alive\r\n\r\n",
            page.content_type,
            page.body.len()
        );
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: junkai\r\nAccept: */*\r\nAccept-Encoding: gzip, br, zstd\r\n\r\n",
            page.url.path(),
            page.url.host_str().unwrap_or_default()
        );
        Exchange {
            url: page.url.to_string(),
            request: request.into_bytes(),
            head_length: head.len(),
            response: [head.as_bytes(), page.body].concat(),
            metadata: vec![
                ("via", "https://news.example/".to_owned()),
                ("hopsFromSeed", "LL".to_owned()),
                ("fetchTimeMs", "120".to_owned()),
            ],
        }
    }

    fn store(&self, writer: &mut Writer) -> Result<()> {
        let capture = Capture {
            target_uri: &self.url,
            date: Timestamp::from_second(NOW_SECONDS)?,
            address: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
            protocol: &["http/1.1"],
            cipher: None,
            request: &self.request,
            response: &self.response,
            head_length: self.head_length,
            payload: &self.response[self.head_length..],
            payload_digest: None,
            truncated: None,
            identified_payload_type: Some("text/html"),
            metadata: &self.metadata,
            revisit: None,
        };
        writer.store(&capture)?;
        Ok(())
    }
}

pub(super) fn canonical() -> Result<()> {
    let links = corpus::links()?;
    let canonicalizer = Canonicalizer::new(&CanonicalConfig::default());
    let parse_all = || {
        for link in &links {
            let url = canonicalizer.parse(link);
            black_box(url.map(|url| url.fingerprint()).ok());
        }
    };
    parse_all();
    counted(links.len(), parse_all);
    Ok(())
}

pub(super) fn state() -> Result<()> {
    let states: Vec<PageState> = (0..STATES).map(state_number).collect::<Result<_>>()?;
    let mut bytes = Vec::with_capacity(256);
    let mut differing = 0;
    let mut write_and_read = || {
        for state in &states {
            bytes.clear();
            state.encode_into(&mut bytes);
            differing += usize::from(PageState::decode(black_box(&bytes)).is_none());
        }
    };
    write_and_read();
    counted(states.len(), write_and_read);
    ensure!(differing == 0, "{differing} states did not come back");
    Ok(())
}

/// The state of a page that was visited many times, and changed sometimes.
fn state_number(number: u32) -> Result<PageState> {
    let seconds = |ago: u32| Time::from_micros((2_000_000_000 - u64::from(ago)) * 1_000_000);
    let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
    let text = format!("What page {number} has to say, in a few words that are its own.");
    let url = format!("https://news.example/{number}").parse()?;
    let digest = [number.to_be_bytes(); 5].concat();
    Ok(PageState {
        last_visit: seconds(number),
        seen: seconds(number),
        changed: Some(seconds(number + 86_400 * (number % 90))),
        interval: Duration::from_secs(3600 + u64::from(number) * 977),
        visits: 50 + number % 500,
        changes: number % 40,
        misses: 0,
        signals: 0,
        memory: Memory::LogNormal(LogNormalMemory {
            pull: -1.5,
            hold: 0.7,
            quiet_days: 3.25,
        }),
        version: Some(Version {
            digest: Digest::new(&digest).context("a digest is not that long")?,
            indexed: None,
            content: content::of(&mut boilerplate, text.as_bytes(), Some("text/plain"), &url),
            unread: None,
            captured: seconds(number + 7200),
            etag: Some(format!("\"{number:x}-51f4\"").into()),
            last_modified: None,
        }),
        server: ServerKey::new(number % 65_536),
        worth: 1.0,
        depth: 3,
        kind: 0,
    })
}
