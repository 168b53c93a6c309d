//! A web on loopback whose pages have many links: page *n* links to the pages behind *n* · `links`, so that the first visits find thousands of URLs.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Servers that the pages are on, in turn.
const SERVERS: usize = 4;

/// A web that is served as long as the process lives.
#[derive(Clone)]
pub(super) struct SmallWeb {
    pages: usize,
    links: usize,
    ports: Arc<[u16]>,
    requests: Arc<AtomicU64>,
    /// With so many requests, the next ones wait.
    held_at: Arc<AtomicU64>,
}

impl SmallWeb {
    /// Serves so many pages, with so many links each.
    pub(super) fn start(pages: usize, links: usize) -> SmallWeb {
        let listeners: Vec<TcpListener> = (0..SERVERS)
            .map(|server| TcpListener::bind((address(server), 0)).unwrap())
            .collect();
        let ports = listeners
            .iter()
            .map(|listener| listener.local_addr().unwrap().port());
        let web = SmallWeb {
            pages,
            links,
            ports: ports.collect(),
            requests: Arc::default(),
            held_at: Arc::new(AtomicU64::new(u64::MAX)),
        };
        for listener in listeners {
            let web = web.clone();
            std::thread::spawn(move || {
                for stream in listener.incoming() {
                    let web = web.clone();
                    std::thread::spawn(move || web.answer(&stream.unwrap()));
                }
            });
        }
        web
    }

    /// The URL of a page.
    pub(super) fn url(&self, page: usize) -> String {
        let server = page % SERVERS;
        let (address, port) = (address(server), self.ports[server]);
        format!("http://{address}:{port}/p{page}")
    }

    /// The pages that a page links to.
    pub(super) fn links_of(&self, page: usize) -> impl Iterator<Item = usize> {
        let first = page * self.links + 1;
        (first..first + self.links).map(|page| page % self.pages)
    }

    /// All pages.
    pub(super) fn pages(&self) -> std::ops::Range<usize> {
        0..self.pages
    }

    /// Requests that were answered.
    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Lets requests for pages wait beyond so many in all, so that a crawl which needs more cannot end.
    pub(super) fn hold_at(&self, requests: u64) {
        self.held_at.store(requests, Ordering::Relaxed);
    }

    /// Answers one request, and hangs up. What a page says changes with every request.
    fn answer(&self, mut stream: &TcpStream) {
        let mut lines = BufReader::new(stream).lines();
        let Some(Ok(first)) = lines.next() else {
            return;
        };
        for line in lines {
            if line.is_ok_and(|line| !line.is_empty()) {
                continue;
            }
            break;
        }
        let path = first.split(' ').nth(1).unwrap_or_default();
        let page = path.strip_prefix("/p").and_then(|page| page.parse().ok());
        let (status, body) = match page {
            Some(page) => ("200 OK", self.body_of(page)),
            None => ("404 Not Found", String::new()),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        // The crawler may be gone.
        let _gone = stream.write_all(&[head.into_bytes(), body.into_bytes()].concat());
    }

    fn body_of(&self, page: usize) -> String {
        let request = self.requests.fetch_add(1, Ordering::Relaxed);
        while self.held_at.load(Ordering::Relaxed) <= request {
            std::thread::sleep(Duration::from_millis(1));
        }
        let links = self.links_of(page).map(|page| {
            let url = self.url(page);
            format!("<a href=\"{url}\">{page}</a>\n")
        });
        let links: String = links.collect();
        format!(
            "<title>{page}</title><p>Told for the {request}th time, and never again.</p>{links}"
        )
    }
}

fn address(server: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, 2 + u8::try_from(server).unwrap())
}
