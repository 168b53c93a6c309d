//! Standard: other tools open the archive as it is. `warcio` reads it, `cdxj-indexer` writes the same index, and `pywb`
//! shows what the web had sent.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use junkai_testweb::{FolderConfig, TestWebConfig};
use tempfile::TempDir;

use crate::support::{
    Stage, assert_warcio_accepts, files, free_port, index_lines, junkai, python_tool, run,
    start_pywb,
};

/// A crawled web, and the folder that it serves beside the rest.
struct Crawled {
    stage: Stage,
    _twins: TempDir,
}

/// A crawl with every form of answer that a well-behaved web has: whole, chunked, compressed, over TLS, redirects, and
/// pages that are the same to the byte.
fn crawled(config: &str) -> Crawled {
    let twins = tempfile::tempdir().unwrap();
    let home = "<a href=a.html>a</a> <a href=b.html>b</a> <a href=c.html>c</a>";
    std::fs::write(twins.path().join("index.html"), home).unwrap();
    for name in ["a.html", "b.html", "c.html"] {
        std::fs::write(twins.path().join(name), "All the same. ".repeat(200)).unwrap();
    }
    let web = TestWebConfig {
        hosts: 12,
        addresses: 12,
        pages: 120,
        gzip_percent: 50,
        chunked_percent: 50,
        change_interval: Duration::ZERO,
        tls: true,
        https_percent: 30,
        folders: vec![FolderConfig {
            host: "twins.test".to_owned(),
            path: twins.path().to_owned(),
        }],
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, config);
    let authority = stage.path("authority.pem");
    std::fs::write(&authority, stage.web.ca_pem().unwrap()).unwrap();
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "0s", "--quiet"]);
    crawl.arg("--extra-roots").arg(&authority);
    run(crawl).expect(0);
    Crawled {
        stage,
        _twins: twins,
    }
}

#[test]
fn warcio_and_cdxj_indexer_read_the_archive_as_we_do() {
    for compression in ["gzip", "none"] {
        // Files that roll over make an index of many parts.
        let config =
            format!("[archive]\nrollover_bytes = 300000\ncompression = \"{compression}\"\n");
        let Crawled { stage, _twins } = crawled(&config);
        let warcs = files(&stage.archive().join("archive"));
        assert!(3 < warcs.len(), "the files rolled over");
        assert_warcio_accepts(&warcs);

        let theirs = python_tool("cdxj_indexer.main", &[], &warcs).expect(0).out;
        let mut theirs: Vec<&str> = theirs.lines().collect();
        theirs.sort_unstable();
        assert!(120 < theirs.len());
        assert_eq!(index_lines(&stage.archive()), theirs);

        let mut index = junkai();
        index.args(["warc", "index", "--sort"]).args(&warcs);
        let ours = run(index).expect(0).out;
        assert_eq!(ours.lines().collect::<Vec<_>>(), theirs);

        let mut check = junkai();
        check.args(["warc", "check"]).args(&warcs);
        run(check).expect(0);
    }
}

/// The usual tools do not read zstd; our own prove what they can.
#[test]
fn an_archive_in_zstd_is_sound_and_indexed() {
    let Crawled { stage, _twins } = crawled("[archive]\ncompression = \"zstd\"\n");
    let warcs = files(&stage.archive().join("archive"));
    let mut check = junkai();
    check.args(["warc", "check"]).args(&warcs);
    run(check).expect(0);
    let mut index = junkai();
    index.args(["warc", "index", "--sort"]).args(&warcs);
    let indexed = run(index).expect(0).out;
    assert_eq!(
        indexed.lines().collect::<Vec<_>>(),
        index_lines(&stage.archive())
    );
}

#[test]
fn pywb_replays_what_the_web_had_sent() {
    let Crawled { stage, _twins } = crawled("");
    let port = free_port();
    let wayback = start_pywb(&stage.archive(), &stage.path("pywb"), port);
    let mut kinds = BTreeMap::new();
    let mut count = |kind| *kinds.entry(kind).or_insert(0) += 1;
    for event in stage.events() {
        if event.warc.is_none() {
            continue;
        }
        let sent = fetch(&stage, &event.url);
        let replayed = get(port, "127.0.0.1", &format!("/a/2id_/{}", event.url));
        assert_eq!(replayed.status, event.status, "{}", event.url);
        let is_redirect = sent.header("location").is_some();
        if is_redirect {
            assert!(replayed.header("location").is_some(), "{}", event.url);
        } else {
            assert!(replayed.body == sent.body, "{} differs", event.url);
        }
        for (kind, is_kind) in [
            ("whole", sent.header("content-length").is_some()),
            ("chunked", sent.header("transfer-encoding").is_some()),
            ("gzip", sent.header("content-encoding").is_some()),
            ("TLS", event.url.starts_with("https://")),
            ("redirect", is_redirect),
            (
                "revisit",
                event
                    .annotations
                    .iter()
                    .any(|word| word == "duplicate:digest"),
            ),
        ] {
            if is_kind {
                count(kind);
            }
        }
    }
    println!("replayed: {kinds:?}");
    assert_eq!(kinds.len(), 6, "one of each kind was replayed: {kinds:?}");
    assert_eq!(kinds["revisit"], 2);
    drop(wayback);
}

/// Asks the web itself. All its addresses answer for all its hosts, and in the clear too.
fn fetch(stage: &Stage, url: &str) -> Answer {
    let (_, rest) = url.split_once("://").unwrap();
    let (authority, path) = rest.split_once('/').unwrap();
    get(stage.web.http_port(), authority, &format!("/{path}"))
}

struct Answer {
    status: i32,
    head: String,
    /// Without its chunks, but still compressed.
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (field, value) = line.split_once(':')?;
            field.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

/// A GET as simple as can be: the test must not depend on the client that it tests.
fn get(port: u16, host: &str, path: &str) -> Answer {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no head in the answer to {path}"));
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut answer = Answer {
        status,
        head,
        body: bytes.split_off(end + 4),
    };
    if answer.header("transfer-encoding").is_some() {
        answer.body = without_chunks(&answer.body);
    }
    answer
}

fn without_chunks(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let line = rest.iter().position(|&byte| byte == b'\n').unwrap();
        let size = std::str::from_utf8(&rest[..line]).unwrap().trim();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return body;
        }
        rest = &rest[line + 1..];
        body.extend_from_slice(&rest[..size]);
        rest = &rest[size + 2..];
    }
}
