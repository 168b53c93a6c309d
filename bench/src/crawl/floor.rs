//! The floor: a process that crawls with the best libraries and does nothing that could be left out.
//!
//! One thread, one connection for each host, URLs in memory. It has no robots.txt, no scope, no politeness, no retries, no limits, no
//! index, no logs, and after a crash nothing: what the crawler costs more than this is what all of these cost together.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use clap::ValueEnum;
use hashbrown::HashMap;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HOST, LOCATION, USER_AGENT};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use junkai_testweb::TestWebConfig;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::{LocalSet, spawn_local};
use url::{Position, Url};

use super::page::{self, Known, Page, Records};
use super::parts::{self, SAMPLE_PAGES};

/// What the process does.
#[derive(clap::Args)]
pub(crate) struct FloorArguments {
    #[arg(long, value_enum)]
    mode: Mode,
    #[arg(long)]
    pages: u64,
    #[arg(long)]
    http_port: u16,
    /// Where records go, and the list of what was visited.
    #[arg(long)]
    folder: PathBuf,
    /// Visits what this file names, a URL in a line, and nothing that these pages lead to.
    #[arg(long)]
    list: Option<PathBuf>,
    seeds: Vec<Url>,
}

/// How much of the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Everything, from seeds to records.
    All,
    /// Only fetches what an earlier run in mode `all` visited.
    Fetch,
    /// Fetches a few pages, and measures what follows part by part.
    Parts,
}

impl Mode {
    pub(super) fn name(self) -> &'static str {
        match self {
            Mode::All => "all",
            Mode::Fetch => "fetch",
            Mode::Parts => "parts",
        }
    }
}

/// Runs the process, and prints what it did as one line.
pub(crate) fn run(arguments: &FloorArguments) -> Result<()> {
    let visited_list = arguments.folder.join("visited");
    let (urls, pages) = match arguments.mode {
        Mode::All => match &arguments.list {
            Some(list) => {
                let urls = read_list(list)?;
                let pages = urls.len() as u64;
                (urls, pages)
            }
            None => (arguments.seeds.clone(), arguments.pages),
        },
        Mode::Fetch => (read_list(&visited_list)?, arguments.pages),
        Mode::Parts => {
            let urls = read_list(&visited_list)?;
            (urls, SAMPLE_PAGES as u64)
        }
    };
    let records = arguments.folder.join("records");
    let floor = Floor::new(arguments, pages, File::create(&records)?)?;
    let floor = crawl(floor, urls)?;
    let said = match arguments.mode {
        Mode::All => {
            fs::write(&visited_list, floor.visited.join("\n"))?;
            floor.said()
        }
        Mode::Fetch => floor.said(),
        Mode::Parts => parts::measure(&floor.sample, floor.file)?,
    };
    fs::remove_file(&records)?;
    println!("{said}");
    Ok(())
}

fn read_list(path: &Path) -> Result<Vec<Url>> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read the list of pages {}", path.display()))?;
    text.lines().map(|line| Ok(line.parse()?)).collect()
}

/// What all hosts share.
struct Floor {
    mode: Mode,
    follows_links: bool,
    http_port: u16,
    pages_max: u64,
    pages: u64,
    bytes: u64,
    known: Known,
    records: Records,
    file: File,
    hosts: HashMap<String, Rc<Host>>,
    visited: Vec<String>,
    /// In mode `parts`.
    sample: Vec<Page>,
    done: Rc<Notify>,
    failure: Option<anyhow::Error>,
}

/// The URLs of one host that wait; whoever adds one wakes its task.
#[derive(Default)]
struct Host {
    urls: RefCell<VecDeque<Url>>,
    added: Notify,
}

impl Floor {
    fn new(arguments: &FloorArguments, pages_max: u64, file: File) -> Result<Floor> {
        Ok(Floor {
            mode: arguments.mode,
            follows_links: arguments.list.is_none(),
            http_port: arguments.http_port,
            pages_max,
            pages: 0,
            bytes: 0,
            known: Known::default(),
            records: Records::new()?,
            file,
            hosts: HashMap::new(),
            visited: Vec::new(),
            sample: Vec::new(),
            done: Rc::new(Notify::new()),
            failure: None,
        })
    }

    fn said(&self) -> Value {
        json!({ "pages": self.pages, "bytes": self.bytes })
    }

    fn is_done(&self) -> bool {
        self.pages_max <= self.pages
    }

    /// Does what has to be done for a page, and returns where it leads.
    fn take(&mut self, page: Page) -> Result<Vec<Url>> {
        self.pages += 1;
        self.bytes += (page.head.len() + page.body.len()) as u64;
        let mut new = Vec::new();
        match self.mode {
            Mode::All => {
                let references = page::references(&page);
                new = page::new_urls(&page, &references, &mut self.known);
                let digests = page::digests(&page);
                self.records.make(&page, &digests)?;
                page::write(&mut self.file, &self.records.group)?;
                self.visited.push(page.url.into());
            }
            Mode::Fetch => {}
            Mode::Parts => self.sample.push(page),
        }
        if self.is_done() {
            self.done.notify_one();
        }
        Ok(new)
    }
}

/// Visits `urls`, and what they lead to, until there are pages enough.
fn crawl(floor: Floor, urls: Vec<Url>) -> Result<Floor> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let done = Rc::clone(&floor.done);
    let floor = Rc::new(RefCell::new(floor));
    let tasks = LocalSet::new();
    runtime.block_on(tasks.run_until(async {
        add(&floor, urls);
        done.notified().await;
    }));
    drop(tasks);
    let Ok(floor) = Rc::try_unwrap(floor) else {
        bail!("a task is left");
    };
    let mut floor = floor.into_inner();
    match floor.failure.take() {
        Some(failure) => Err(failure),
        None => Ok(floor),
    }
}

/// Gives URLs to the tasks of their hosts.
fn add(floor: &Rc<RefCell<Floor>>, urls: Vec<Url>) {
    for url in urls {
        let name = url.host_str().unwrap_or_default();
        let known = floor.borrow().hosts.get(name).cloned();
        let host = known.unwrap_or_else(|| {
            let host = Rc::new(Host::default());
            let mut shared = floor.borrow_mut();
            shared.hosts.insert(name.to_owned(), Rc::clone(&host));
            spawn_local(visit_host(
                Rc::clone(floor),
                name.to_owned(),
                Rc::clone(&host),
            ));
            host
        });
        host.urls.borrow_mut().push_back(url);
        host.added.notify_one();
    }
}

/// Visits the URLs of one host, one after the other.
async fn visit_host(floor: Rc<RefCell<Floor>>, name: String, host: Rc<Host>) {
    if let Err(failure) = try_visit_host(&floor, &name, &host).await {
        let mut floor = floor.borrow_mut();
        floor.failure.get_or_insert(failure);
        floor.done.notify_one();
    }
}

async fn try_visit_host(floor: &Rc<RefCell<Floor>>, name: &str, host: &Host) -> Result<()> {
    let port = floor.borrow().http_port;
    let mut connection = connect(address_of(name, port)?).await?;
    while !floor.borrow().is_done() {
        let next = host.urls.borrow_mut().pop_front();
        let Some(url) = next else {
            host.added.notified().await;
            continue;
        };
        if connection.ready().await.is_err() {
            connection = connect(address_of(name, port)?).await?;
        }
        let page = fetch(&mut connection, url).await?;
        if floor.borrow().is_done() {
            break;
        }
        let new = floor.borrow_mut().take(page)?;
        if floor.borrow().follows_links {
            add(floor, new);
        }
    }
    Ok(())
}

async fn connect(address: SocketAddr) -> Result<SendRequest<Empty<Bytes>>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    spawn_local(async move {
        // The next request finds out that the connection has ended.
        let _ended = connection.await;
    });
    Ok(sender)
}

/// Host number n lives at the n-th address.
fn address_of(name: &str, port: u16) -> Result<SocketAddr> {
    let number = name
        .strip_prefix("host")
        .and_then(|rest| rest.strip_suffix(".test"));
    let number: u32 = number
        .and_then(|number| number.parse().ok())
        .with_context(|| format!("{name} is no host of the web"))?;
    let first = u32::from(TestWebConfig::default().first_address);
    Ok(SocketAddr::from((Ipv4Addr::from(first + number), port)))
}

/// The header fields of a request, as the request record has them.
const FIELDS: [(http::HeaderName, &str); 3] = [
    (USER_AGENT, "floor/1.0 (+https://example.org/bot)"),
    (
        ACCEPT,
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    ),
    (ACCEPT_ENCODING, "identity"),
];

async fn fetch(connection: &mut SendRequest<Empty<Bytes>>, url: Url) -> Result<Page> {
    let authority = &url[Position::BeforeHost..Position::AfterPort];
    let target = &url[Position::BeforePath..Position::AfterQuery];
    let mut bytes = format!("GET {target} HTTP/1.1\r\nhost: {authority}\r\n").into_bytes();
    let mut request = Request::get(target).header(HOST, authority);
    for (name, value) in FIELDS {
        push_field(&mut bytes, name.as_str(), value.as_bytes());
        request = request.header(name, value);
    }
    bytes.extend_from_slice(b"\r\n");
    let response = connection.send_request(request.body(Empty::new())?).await?;
    let head = head_of(&response);
    let mut content_type = text_of(&response, &CONTENT_TYPE);
    let location = text_of(&response, &LOCATION);
    let mut body = response.into_body().collect().await?.to_bytes();
    if !location.is_empty() {
        // Followed as a link would be.
        "text/html".clone_into(&mut content_type);
        body = format!("<a href=\"{location}\">").into();
    }
    Ok(Page {
        url,
        request: bytes,
        head,
        content_type,
        body,
    })
}

fn text_of(response: &Response<Incoming>, name: &http::HeaderName) -> String {
    let value = response
        .headers()
        .get(name)
        .and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_owned()
}

/// The head of a response, put together again.
fn head_of(response: &Response<Incoming>) -> Vec<u8> {
    let mut head = Vec::with_capacity(512);
    head.extend_from_slice(b"HTTP/1.1 ");
    head.extend_from_slice(response.status().as_str().as_bytes());
    head.extend_from_slice(b" OK\r\n");
    for (name, value) in response.headers() {
        push_field(&mut head, name.as_str(), value.as_bytes());
    }
    head.extend_from_slice(b"\r\n");
    head
}

fn push_field(head: &mut Vec<u8>, name: &str, value: &[u8]) {
    head.extend_from_slice(name.as_bytes());
    head.extend_from_slice(b": ");
    head.extend_from_slice(value);
    head.extend_from_slice(b"\r\n");
}
