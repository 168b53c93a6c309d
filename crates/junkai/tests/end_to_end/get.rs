//! `junkai get`: what was captured comes out of the archive as its reader wants it, and as it was sent.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use junkai_testweb::{FolderConfig, TestWebConfig};
use tempfile::TempDir;

use crate::support::{Finished, Stage, files, junkai, run};

const HOST: &str = "site.test";

/// A site of our own, crawled once, among pages that are sent in chunks and compressed.
struct Crawled {
    stage: Stage,
    _site: TempDir,
}

/// Every byte, and so nothing that a terminal or a text could carry.
fn bytes() -> Vec<u8> {
    (0..=255).collect::<Vec<u8>>().repeat(40)
}

fn crawled() -> Crawled {
    let site = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(site.path().join(name), bytes).unwrap();
    write(
        "index.html",
        b"<a href=a.html>a</a> <a href=b.html>b</a> <img src=bytes.png>",
    );
    write("bytes.png", &bytes());
    for name in ["a.html", "b.html"] {
        write(name, "All the same. ".repeat(200).as_bytes());
    }
    let web = TestWebConfig {
        hosts: 3,
        addresses: 3,
        pages: 12,
        gzip_percent: 100,
        chunked_percent: 100,
        folders: vec![FolderConfig {
            host: HOST.to_owned(),
            path: site.path().to_owned(),
        }],
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args([
        "--scope",
        "any",
        "--interval",
        "0s",
        "--quiet",
        "--requisites",
    ]);
    run(crawl).expect(0);
    Crawled { stage, _site: site }
}

fn get(stage: &Stage, arguments: &[&str]) -> Command {
    let mut command = junkai();
    command
        .args(["get", "--archive"])
        .arg(stage.archive())
        .args(arguments);
    command
}

fn got(stage: &Stage, arguments: &[&str]) -> Vec<u8> {
    let output = get(stage, arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    output.stdout
}

#[test]
fn a_capture_comes_out_as_a_reader_wants_it_and_as_it_was_sent() {
    let Crawled { stage, _site } = crawled();
    let url = stage.url(HOST, "/bytes.png");
    assert!(got(&stage, &[&url]) == bytes(), "to the byte");
    let file = stage.path("out.png");
    assert!(got(&stage, &[&url, "--output", file.to_str().unwrap()]).is_empty());
    assert!(fs::read(&file).unwrap() == bytes());

    // A page that was sent in chunks and compressed.
    let packed = stage.events().into_iter().find(|event| {
        let is_page = event
            .mime
            .as_deref()
            .is_some_and(|mime| mime.starts_with("text/html"));
        event.status == 200 && is_page && !event.url.contains(HOST)
    });
    let url = packed.unwrap().url.into_owned();
    // In whatever charset it is written.
    let text = got(&stage, &[&url]);
    let shown = String::from_utf8_lossy(&text).to_lowercase();
    assert!(shown.contains("<html") && shown.trim_end().ends_with("</html>"));
    let raw = got(&stage, &[&url, "--raw"]);
    assert!(raw != text);
    let whole = got(&stage, &[&url, "--headers", "--raw"]);
    assert!(whole.starts_with(b"HTTP/1.1 200 "));
    assert!(whole.ends_with(&raw) && raw.len() < whole.len());
    let with_head = got(&stage, &[&url, "--headers"]);
    assert!(with_head.starts_with(b"HTTP/1.1 200 ") && with_head.ends_with(&text));

    // Of two pages that are the same one repeats the other.
    for path in ["/a.html", "/b.html"] {
        let body = got(&stage, &[&stage.url(HOST, path)]);
        assert_eq!(body, "All the same. ".repeat(200).as_bytes(), "{path}");
    }

    // The same out of the files themselves.
    let mut out_of_files = junkai();
    out_of_files.args(["get", &stage.url(HOST, "/b.html")]);
    for warc in files(&stage.archive().join("archive")) {
        out_of_files.arg("--warc").arg(warc);
    }
    let body = out_of_files.output().unwrap().stdout;
    assert_eq!(body, "All the same. ".repeat(200).as_bytes());
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let Crawled { stage, _site } = crawled();
    let mut command = get(&stage, &[&stage.url(HOST, "/bytes.png")]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_was_not_captured_is_told_with_what_was() {
    let Crawled { stage, _site } = crawled();
    let told: Finished = run(get(&stage, &[&stage.url(HOST, "/c.html")])).expect(1);
    for words in ["no capture of", "/a.html", "junkai explain --archive"] {
        assert!(told.err.contains(words), "{words}: {}", told.all());
    }
    let wrong = run(get(&stage, &["http://a.test/", "--at", "soon"])).expect(2);
    assert!(wrong.err.contains("2days"), "{}", wrong.all());
    let mut nowhere = junkai();
    nowhere.args(["get", "--archive", "/nowhere", "http://a.test/"]);
    assert!(run(nowhere).expect(1).err.contains("--warc FILE"));
    let mut neither = junkai();
    neither.args(["get", "http://a.test/"]);
    run(neither).expect(2);
}

#[test]
fn the_nearest_capture_comes_out_of_files_of_any_age() {
    let folder = tempfile::tempdir().unwrap();
    let url = "http://a.example/";
    let arc = folder.path().join("old.arc.gz");
    let mut file = fs::File::create(&arc).unwrap();
    for part in [
        "filedesc://old.arc 0.0.0.0 19990101000000 text/plain 4\n1 0\n\n".to_owned(),
        format!("{url} 192.0.2.1 19990102030405 text/html 26\nHTTP/1.0 200 OK\r\n\r\nin 1999\n"),
    ] {
        let mut member = GzEncoder::new(Vec::new(), Compression::fast());
        member.write_all(part.as_bytes()).unwrap();
        file.write_all(&member.finish().unwrap()).unwrap();
    }
    let warc = folder.path().join("new.warc");
    let block = "HTTP/1.1 200 OK\r\n\r\nin 2026";
    let text = format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:a>\r\nWARC-Date: 2026-01-15T09:30:12Z\r\nWARC-Target-URI: {url}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    );
    fs::write(&warc, text).unwrap();
    for (arguments, expected) in [
        (&[][..], "in 2026"),
        (&["--at", "1999"], "in 1999"),
        (&["--at", "2005-05-05"], "in 1999"),
        (&["--at", "2020-01-01T00:00:00Z"], "in 2026"),
        (&["--at", "1day"], "in 2026"),
        (&["--at", "100years"], "in 1999"),
    ] {
        let mut command = junkai();
        command
            .args(["get", url])
            .arg("--warc")
            .arg(&arc)
            .arg("--warc")
            .arg(&warc);
        assert_eq!(run_out(command.args(arguments)), expected, "{arguments:?}");
    }
    let mut check = junkai();
    check.args(["warc", "check"]).arg(&arc);
    run(check).expect(0);
}

fn run_out(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}
