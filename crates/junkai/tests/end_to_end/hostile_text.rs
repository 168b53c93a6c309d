//! Nothing that strangers wrote commands a terminal: a server puts escape sequences wherever it can, and whatever a command prints of them has none.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use serde_json::Value;

use crate::support::{Finished, files, junkai, run};

/// What a terminal would obey: ESC and CSI in one character, a bell, text to the left, another line.
const EVIL: &str = "\u{1b}[31mX\u{9b}2J\u{7}\u{202e}\u{2028}\u{7f}";
/// The same without C0, as the field of a header may hold it.
const EVIL_IN_HEADER: &str = "\u{9b}2J\u{202e}\u{2028}\u{85}";

/// A server on loopback that answers every path with the same hostility.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || answer(&stream.unwrap()));
        }
    });
    origin
}

/// Answers one request; a client that goes away is none of the test's business.
fn answer(mut stream: &TcpStream) {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count == 1) {
        request.push(byte[0]);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let path = request.split(' ').nth(1).unwrap_or("/");
    let _client_left = stream.write_all(&response(path));
}

fn response(path: &str) -> Vec<u8> {
    let evil = EVIL_IN_HEADER;
    let (status, fields, body) = match path {
        "/robots.txt" => (
            "200 OK",
            "Content-Type: text/plain".to_owned(),
            format!(
                "User-agent: *\nDisallow: /no{EVIL}\nDisallow: /denied # {EVIL}\nCrawl-delay: {EVIL}\n"
            ),
        ),
        "/moved" => (
            "302 Found",
            format!("Location: /to{evil}?{evil}"),
            String::new(),
        ),
        "/type" => (
            "200 OK",
            format!("Content-Type: text/{evil}"),
            "?".to_owned(),
        ),
        // No client takes such a line for a header.
        "/broken" => (
            "200 OK",
            format!("X-Broken: {EVIL}\r\n{EVIL}"),
            String::new(),
        ),
        "/reason" => (
            "599 \u{9b}2J",
            "Content-Type: text/html".to_owned(),
            String::new(),
        ),
        "/table.csv" => (
            "200 OK",
            "Content-Type: text/csv".to_owned(),
            format!("year,{EVIL}\n2001,{EVIL}\n2002,2\n2003,3\n"),
        ),
        _ => ("200 OK", "Content-Type: text/html".to_owned(), page()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\n{fields}\r\nServer: {evil}\r\nETag: \"{evil}\"\r\nLast-Modified: {evil}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

fn page() -> String {
    let links = [
        "moved",
        "type",
        "broken",
        "reason",
        "denied",
        "table.csv",
        "no",
    ];
    let links: String = links
        .map(|name| format!("<a href='/{name}' title='{EVIL}'>data {EVIL}</a>\n"))
        .concat();
    format!(
        "<html lang='{EVIL}'><title>{EVIL}</title><h1>Statistics {EVIL}</h1><a href='/{EVIL}?{EVIL}'>{EVIL}</a>{links}"
    )
}

/// What a command printed that a terminal would obey, if anything.
fn obeyed(text: &str) -> Option<char> {
    text.chars().find(|&character| {
        let is_bidi = matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}');
        (character.is_control() && !matches!(character, '\n' | '\t')) || is_bidi
    })
}

fn assert_harmless(finished: &Finished) {
    for text in [&finished.out, &finished.err] {
        assert_eq!(obeyed(text), None, "{:?}", finished.all());
    }
}

/// Runs a command on an archive, and looks at all that it prints.
fn said(arguments: &[&str], files: &[PathBuf]) -> Finished {
    let mut command = junkai();
    command.args(arguments).args(files);
    let finished = run(command);
    assert_harmless(&finished);
    assert!(
        !finished.out.is_empty() || !finished.err.is_empty(),
        "{}",
        finished.all()
    );
    finished
}

fn crawl(archive: &Path, arguments: &[&str]) -> Command {
    let mut crawl = junkai();
    crawl.args(arguments).arg("--archive").arg(archive);
    crawl.args(["--allow", "127.0.0.0/8", "--interval", "1ms", "-vv"]);
    crawl
}

/// Puts lines as other people's tools might have written them into the index.
fn spoil_index(archive: &Path) {
    let evil = serde_json::to_string(EVIL).unwrap();
    let line = format!(
        "org,example)/ 20260101000000 {{\"url\": {evil}, \"mime\": {evil}, \"status\": {evil}, \"digest\": {evil}, \"length\": \"1\", \"offset\": \"0\", \"filename\": {evil}}}\n"
    );
    fs::write(archive.join("indexes/zz.cdxj"), line).unwrap();
}

/// A WARC file with escape sequences in its own fields.
fn foreign_warc(folder: &Path) -> PathBuf {
    let path = folder.join("foreign.warc");
    let body = "HTTP/1.1 200 OK\r\n\r\nx";
    let record = |digest: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{EVIL}>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: http://a.example/{EVIL}\r\n\
             WARC-Block-Digest: {digest}\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n",
            body.len()
        )
    };
    let records = [
        record(&format!("sha1:{EVIL}")),
        record(&format!("{EVIL}:1")),
    ]
    .concat();
    fs::write(&path, records).unwrap();
    path
}

#[test]
fn nothing_that_a_server_says_commands_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    let place = archive.to_str().unwrap();
    let origin = server();
    let ended = run(crawl(
        &archive,
        &["crawl", &origin, "--once", "--pages", "40"],
    ))
    .expect(0);
    assert_harmless(&ended);

    spoil_index(&archive);
    let stats = said(&["stats", "--archive", place], &[]).expect(0);
    assert!(stats.out.contains("\\u001b[31mX\\u009b"), "{}", stats.all());
    assert!(stats.out.contains("text/\\u009b"), "{}", stats.all());
    for path in [
        "/",
        "/moved",
        "/type",
        "/broken",
        "/reason",
        "/denied",
        "/table.csv",
        "/no",
    ] {
        let url = format!("{origin}{path}");
        said(&["explain", "--archive", place, &url], &[]).expect(0);
    }
    let denied = said(
        &["explain", "--archive", place, &format!("{origin}/denied")],
        &[],
    );
    assert!(denied.out.contains("Disallow: /denied"), "{}", denied.all());
    said(&["state", "dump", "--archive", place], &[]).expect(0);
    said(&["state", "stats", "--archive", place], &[]).expect(0);
    said(&["scope", "--archive", place, "--exclude", EVIL], &[]).expect(4);
    said(
        &["scope", "--archive", place, "--exclude", EVIL_IN_HEADER],
        &[],
    )
    .expect(0);
    said(&["scope", "--archive", place], &[]).expect(0);
    for command in ["add", "revisit", "pause", "resume", "explain"] {
        said(
            &[
                command,
                "--archive",
                place,
                &format!("http://a.example/{EVIL}"),
            ],
            &[],
        );
        said(&[command, "--archive", place, EVIL], &[]);
    }
    said(&["export", "graph", place], &[]).expect(0);
    said(
        &[
            "lab",
            "what-if",
            "--archive",
            place,
            "--out",
            folder.path().to_str().unwrap(),
        ],
        &[],
    );
    said(&["lab", "graph", &format!("{place}/exports/graph")], &[]);
    said(&["warc", "check"], &files(&archive.join("archive"))).expect(0);
}

#[test]
fn nothing_that_a_file_says_commands_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let warc = foreign_warc(folder.path());
    let checked = said(&["warc", "check"], std::slice::from_ref(&warc)).expect(4);
    assert!(
        checked.out.contains("sha1:\\u001b[31mX\\u009b"),
        "{}",
        checked.all()
    );
    said(
        &["export", "graph", "--out"],
        &[folder.path().join("graph"), warc.clone()],
    );

    let robots = place(
        "robots.txt",
        &format!("User-agent: *\nDisallow: /a{EVIL}\nAllow: /a # {EVIL}\n"),
    );
    let told = said(
        &["robots", "--file", &robots, &format!("/a{EVIL}"), "/a"],
        &[],
    );
    assert!(told.out.contains("line 3"), "{}", told.all());
    let html = place("page.html", &page());
    let base = [
        "links",
        "--base",
        "http://a.example/",
        "--requisites",
        &html,
    ];
    let told = said(&base, &[]).expect(0);
    assert!(told.err.contains("title \"\\u001b[31mX"), "{}", told.all());
    said(&["url", EVIL, &format!("http://a.example/{EVIL}")], &[]).expect(4);
    let config = place(
        "junkai.toml",
        &format!(
            "[crawl]\n\"{}\" = 1\n",
            EVIL.escape_default()
                .to_string()
                .replace("\\u{", "\\u00")
                .replace('}', "")
        ),
    );
    said(&["crawl", "--config", &config, "http://a.example/"], &[]);
    said(&["crawl", EVIL], &[]);
}

#[test]
fn exploring_and_collecting_show_no_commands_either() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    let place = archive.to_str().unwrap();
    let origin = server();
    for command in ["explore", "collect"] {
        let ended = run(crawl(
            &archive,
            &["focus", command, &origin][..if command == "explore" { 3 } else { 2 }],
        ));
        assert_harmless(&ended);
    }
    said(&["focus", "explain", "--archive", place, &origin], &[]);
    for query in ["data", EVIL] {
        said(&["focus", "search", "--archive", place, query], &[]);
    }
}

#[test]
fn json_is_exact_and_commands_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("indexes")).unwrap();
    fs::create_dir_all(folder.path().join("archive")).unwrap();
    fs::create_dir_all(folder.path().join("state")).unwrap();
    spoil_index(folder.path());
    let place = folder.path().to_str().unwrap();
    let stats = said(&["stats", "--json", "--archive", place], &[]).expect(0);
    let stats: Value = serde_json::from_str(&stats.out).unwrap();
    assert_eq!(stats["by_mime"][EVIL], 1, "{stats}");
    let warc = foreign_warc(folder.path());
    let report = said(&["warc", "check", "--json"], &[warc]).expect(4);
    let lines = report.out.lines();
    let lines: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told = lines
        .iter()
        .any(|line| line.to_string().contains("\\u001b"));
    assert!(told, "{lines:?}");
}
