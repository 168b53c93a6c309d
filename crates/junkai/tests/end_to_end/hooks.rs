//! Hooks: a program and a server of the operator hear of every change at least once, whatever fails or is killed, and the crawl waits for neither.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use junkai_testweb::TestWebConfig;
use serde_json::Value;

use crate::support::{Finished, Running, Stage, events, junkai, run, wait_until};

fn web(pages: u64) -> TestWebConfig {
    TestWebConfig {
        hosts: 4,
        addresses: 4,
        pages,
        page_bytes: 2000,
        ..TestWebConfig::default()
    }
}

fn crawl(stage: &Stage, flags: &[&str]) -> Running {
    let mut command = stage.crawl();
    command.args(["--interval", "0s", "--scope", "any", "--json"]);
    command.args(["--no-requisites"]).args(flags);
    command.args(stage.web.seeds());
    Running::start(command)
}

/// What the summary says of the first hook.
fn report(finished: &Finished) -> Value {
    let line = finished.out.lines().last().unwrap_or_default();
    let value: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{}", finished.all()));
    value["summary"]["hooks"][0].clone()
}

/// The pages that were told of, by identifier; the same one tells the same.
fn told<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeMap<String, String> {
    let mut told = BTreeMap::new();
    for line in lines {
        let change: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| change[name].as_str().unwrap().to_owned();
        assert_eq!(text("what"), "new", "{line}");
        for field in ["time", "status", "changes", "similarity", "next_visit"] {
            assert!(change.get(field).is_some(), "{field} is not in {line}");
        }
        let before = told.insert(text("id"), text("url"));
        assert!(before.is_none_or(|url| url == text("url")), "{line}");
    }
    told
}

/// The pages that the log says are new.
fn new_pages(archive: &Path) -> BTreeSet<String> {
    let mut command = junkai();
    command.args(["changes", "--since", "10years", "--json", "--archive"]);
    let out = run({
        command.arg(archive);
        command
    });
    let out = out.expect(0).out;
    let url = |line: &str| -> String {
        let change: Value = serde_json::from_str(line).unwrap();
        change["url"].as_str().unwrap().to_owned()
    };
    out.lines().map(url).collect()
}

fn urls(told: &BTreeMap<String, String>) -> BTreeSet<String> {
    told.values().cloned().collect()
}

#[test]
fn a_program_that_fails_at_first_hears_of_everything_once_it_works() {
    let folder = tempfile::tempdir().unwrap();
    let (out, tries) = (folder.path().join("out"), folder.path().join("tries"));
    let script = format!(
        "echo >> {1}; test 3 -le $(wc -l < {1}) || {{ echo not yet >&2; exit 7; }}; cat >> {0}",
        out.display(),
        tries.display()
    );
    let config =
        format!("[hook]\nrun = ['sh', '-c', '{script}']\nbatch_max = 10\nbatch_time = '0s'\n");
    let stage = Stage::new(web(40), &config);
    // It ends while the hook still fails, or not; the next run goes on with what is left.
    let mut last = crawl(&stage, &[]).wait().expect(0);
    wait_until("all is delivered", || {
        if report(&last)["pending"] == 0 {
            return true;
        }
        last = crawl(&stage, &[]).wait().expect(0);
        false
    });
    let all = new_pages(&stage.archive());
    assert!(40 <= all.len());
    let lines = fs::read_to_string(&out).unwrap();
    let told = told(lines.lines());
    assert_eq!(urls(&told), all);
    // Whoever failed had taken nothing: each is told once.
    assert_eq!(lines.lines().count(), all.len());
    assert_eq!(report(&last)["delivered"], all.len());
    assert_eq!(report(&last)["failures"], 2);
    let error = report(&last)["error"]["reason"].clone();
    assert_eq!(error, "sh: exit code 7: not yet");
    let mut command = junkai();
    command.args(["stats", "--archive"]);
    command.arg(stage.archive());
    let stats = run(command).expect(0).out;
    assert!(stats.contains("changes delivered, 0 pending"), "{stats}");
    assert!(stats.contains("exit code 7: not yet"), "{stats}");
}

/// A server of the operator: takes what is posted, but for the first so many.
struct Server {
    port: u16,
    bodies: Arc<Mutex<Vec<String>>>,
    _thread: JoinHandle<()>,
}

impl Server {
    fn start(refused: usize) -> Server {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let taken = Arc::clone(&bodies);
        let thread = std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let (mut head, mut line) = (Vec::new(), String::new());
                while reader.read_line(&mut line).is_ok_and(|count| 2 < count) {
                    head.push(std::mem::take(&mut line));
                }
                let length = head.iter().find_map(|line| {
                    let line = line.to_lowercase();
                    line.strip_prefix("content-length: ")?.trim().parse().ok()
                });
                let mut body = vec![0; length.unwrap_or(0)];
                if reader.read_exact(&mut body).is_err() {
                    // Who was killed has not said all.
                    continue;
                }
                assert!(head[0].starts_with("POST /told?key=1 "), "{head:?}");
                let is_kind = |line: &String| line.trim_end().ends_with("application/x-ndjson");
                assert!(head.iter().any(is_kind), "{head:?}");
                let status = match number {
                    number if refused <= number => "204 No Content",
                    0 => "500 Oh",
                    // Nobody is sent elsewhere.
                    _ => "307 Elsewhere\r\nLocation: http://127.0.0.1:1/",
                };
                if refused <= number {
                    let body = String::from_utf8(body).unwrap();
                    taken.lock().unwrap().push(body);
                }
                let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
                // Who was killed does not hear it.
                let _heard = stream.write_all(answer.as_bytes());
            }
        });
        Server {
            port,
            bodies,
            _thread: thread,
        }
    }

    fn told(&self) -> BTreeMap<String, String> {
        let bodies = self.bodies.lock().unwrap();
        told(bodies.iter().flat_map(|body| body.lines()))
    }
}

#[test]
fn a_server_that_fails_at_first_hears_of_everything_through_kills() {
    let server = Server::start(2);
    let config = format!(
        "[hook]\npost = \"http://localhost:{}/told?key=1\"\nbatch_max = 7\nbatch_time = '0s'\n",
        server.port
    );
    let stage = Stage::new(web(150), &config);
    let mut kills = 0;
    for kill in 1..=3 {
        let mut crawl = crawl(&stage, &[]);
        let is_enough = || {
            let seen = events(&stage.archive()).len();
            30 * kill <= seen && (kill < 3 || 10 <= server.told().len())
        };
        wait_until("some pages are visited", || {
            !crawl.is_running() || is_enough()
        });
        kills += usize::from(crawl.kill());
    }
    assert!(0 < kills, "no crawl was killed");
    let mut last = crawl(&stage, &[]).wait().expect(0);
    wait_until("all is delivered", || {
        if report(&last)["pending"] == 0 {
            return true;
        }
        last = crawl(&stage, &[]).wait().expect(0);
        false
    });
    let all = new_pages(&stage.archive());
    assert!(150 <= all.len());
    assert_eq!(urls(&server.told()), all);
    let bodies = server.bodies.lock().unwrap();
    assert!(bodies.iter().all(|body| body.lines().count() <= 7));
    // Who was killed before the answer has not heard of a failure.
    let failures = report(&last)["failures"].as_u64().unwrap();
    assert!(failures <= 2, "{}", last.all());
}

#[test]
fn a_hook_that_never_ends_keeps_no_page_from_being_visited() {
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    let slow = format!(
        "[hook]\nrun = ['sh', '-c', 'echo >> {}; exec sleep 3600']\ntimeout = '1h'\nbatch_max = 1\nbatch_time = '0s'\n",
        started.display()
    );
    let stage = Stage::new(web(100), &slow);
    let done = crawl(&stage, &[]).wait().expect(0);
    let all = new_pages(&stage.archive());
    assert!(100 <= all.len());
    // The first change is still with the program, and every page was visited all the same.
    assert_eq!(fs::read_to_string(&started).unwrap().lines().count(), 1);
    assert_eq!(report(&done)["delivered"], 0, "{}", done.all());
    assert_eq!(report(&done)["pending"], all.len(), "{}", done.all());
    assert_eq!(report(&done)["failures"], 1);

    let out = folder.path().join("out");
    let quick = format!("[hook]\nrun = ['sh', '-c', 'cat >> {}']\n", out.display());
    fs::write(stage.path("junkai.toml"), quick).unwrap();
    let done = crawl(&stage, &[]).wait().expect(0);
    assert_eq!(report(&done)["delivered"], all.len(), "{}", done.all());
    let lines = fs::read_to_string(out).unwrap();
    assert_eq!(urls(&told(lines.lines())), all);
}
