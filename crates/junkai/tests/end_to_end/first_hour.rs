//! What a new user meets: mistakes and dead ends that say what to do, and leave nothing behind.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use junkai_testweb::{TestWeb, TestWebConfig};
use serde_json::Value;

use crate::support::{Finished, Running, Stage, events, junkai, run};

/// A problem, as the shell is told.
const PROBLEMS: i32 = 4;
/// A wrong configuration, likewise.
const BAD_CONFIGURATION: i32 = 3;

fn small_web() -> TestWebConfig {
    TestWebConfig {
        hosts: 2,
        addresses: 2,
        pages: 20,
        ..TestWebConfig::default()
    }
}

/// Crawls a seed that comes to nothing, without an end in sight, and returns what was said.
fn crawl_in_vain(stage: &Stage, seed: &str, flags: &[&str]) -> String {
    let archive = stage.path("vain");
    // A sitemap would lead to pages though a seed fails.
    let config = stage.path("vain.toml");
    fs::write(&config, "[crawl]\nsitemaps = false\n").unwrap();
    let mut command = junkai();
    command.args(["crawl", seed, "--interval", "0s", "--config"]);
    command
        .arg(&config)
        .arg("--archive")
        .arg(&archive)
        .args(flags);
    command.args(["--dns", &stage.web.dns().to_string()]);
    let said = run(command).expect(PROBLEMS).out;
    fs::remove_dir_all(archive).unwrap();
    said
}

#[test]
fn a_crawl_that_gets_nothing_says_why_soon_and_fails() {
    let stage = Stage::new(small_web(), "");
    let loopback = ["--allow", "127.0.0.0/8"];
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let seed = format!("http://127.0.0.1:{port}/");
    let said = crawl_in_vain(&stage, &seed, &["--allow", "127.0.0.1"]);
    assert!(said.contains("every seed failed"), "{said}");
    assert!(
        said.contains("robots.txt cannot be had (cannot connect"),
        "{said}"
    );
    assert!(
        said.contains("what helps: check that the server runs"),
        "{said}"
    );

    let said = crawl_in_vain(&stage, &stage.url("host0.test", "/no-such-page"), &loopback);
    assert!(said.contains("404"), "{said}");
    assert!(said.contains("what helps: check the address"), "{said}");

    let said = crawl_in_vain(&stage, &stage.url("127.0.0.1", "/"), &[]);
    assert!(said.contains("--allow-private"), "{said}");

    let web = TestWebConfig {
        tls: true,
        https_percent: 100,
        ..small_web()
    };
    let with_tls = Stage::new(web, "");
    let tls_port = with_tls.web.https_port().unwrap();
    let said = crawl_in_vain(&with_tls, &with_tls.web.seeds()[0], &loopback);
    assert!(said.contains("TLS handshake failed"), "{said}");
    assert!(said.contains("--extra-roots"), "{said}");

    let said = crawl_in_vain(&stage, &format!("http://127.0.0.1:{tls_port}/"), &loopback);
    assert!(said.contains("https://"), "{said}");

    let said = crawl_in_vain(
        &stage,
        &stage.url("host0.test", "/no-such-page"),
        &["--allow", "127.0.0.0/8", "--for", "1h", "--json"],
    );
    let summary = said.lines().last().unwrap();
    let summary: serde_json::Value = serde_json::from_str(summary).unwrap();
    assert_eq!(summary["summary"]["ended"], "nothing-reached", "{said}");
    assert_eq!(summary["summary"]["failed_seeds"][0]["status"], 404);
}

/// A server of one host, with a robots.txt that allows all, whose pages all have the same answer until it is changed.
struct OneAnswer {
    url: String,
    answer: Arc<Mutex<String>>,
}

impl OneAnswer {
    fn start(answer: &str) -> OneAnswer {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let answer = Arc::new(Mutex::new(answer.to_owned()));
        let shared = Arc::clone(&answer);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut request = Vec::new();
                let mut lines = BufReader::new(&stream);
                while 2 < lines.read_until(b'\n', &mut request).unwrap_or(0) {
                    if request.ends_with(b"\r\n\r\n") {
                        break;
                    }
                }
                let head = if request.starts_with(b"GET /robots.txt ") {
                    "404 Not Found".to_owned()
                } else {
                    shared.lock().unwrap().clone()
                };
                // Whoever asked may have gone.
                let _gone = write!(
                    stream,
                    "HTTP/1.1 {head}\r\nContent-Type: text/html\r\nContent-Length: 4\r\nConnection: close\r\n\r\npage"
                );
            }
        });
        OneAnswer { url, answer }
    }

    fn change(&self, answer: &str) {
        answer.clone_into(&mut self.answer.lock().unwrap());
    }

    /// Crawls it into a folder, or goes on there.
    fn crawl(&self, archive: &Path, flags: &[&str]) -> Finished {
        let mut command = junkai();
        command.args(["crawl", &self.url, "--interval", "0s"]);
        command.args(["--allow", "127.0.0.1", "--archive"]);
        command.arg(archive).args(flags);
        run(command)
    }
}

#[test]
fn a_crawl_that_got_nothing_tries_again_at_once_when_it_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    for (number, answer) in [
        "404 Not Found",
        "500 Oh",
        "401 No",
        "302 Go\r\nLocation: /loop",
    ]
    .into_iter()
    .enumerate()
    {
        let archive = folder.path().join(number.to_string());
        let server = OneAnswer::start(answer);
        for _ in 0..2 {
            let said = server.crawl(&archive, &["--once"]).expect(PROBLEMS).out;
            assert!(said.contains("every seed"), "{answer}: {said}");
            assert!(said.contains(&answer[..3]), "{answer}: {said}");
        }
        server.change("200 OK");
        let said = server.crawl(&archive, &["--once"]).expect(0).out;
        assert!(said.contains("The crawl is complete"), "{answer}: {said}");
        // From now on it has its time.
        server.change("404 Not Found");
        server.crawl(&archive, &["--once"]).expect(0);
    }
}

#[test]
fn a_seed_that_could_not_be_reached_is_tried_again_at_once() {
    let stage = Stage::new(small_web(), "[crawl]\nretry_delay = \"1h\"\n");
    let crawl = || {
        let mut command = stage.crawl_on();
        run({
            command.args(["--interval", "0s", "--for", "1h", "http://127.0.0.1:1/"]);
            command
        })
        .expect(PROBLEMS)
        .out
    };
    for _ in 0..2 {
        let said = crawl();
        assert!(said.contains("every seed failed"), "{said}");
        assert!(said.contains("1 error"), "{said}");
    }
}

#[test]
fn a_page_that_failed_is_visited_again_when_it_is_added() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("x");
    let server = OneAnswer::start("404 Not Found");
    server.crawl(&archive, &["--once"]).expect(PROBLEMS);
    let mut add = junkai();
    add.args(["add", &server.url, "--archive"]).arg(&archive);
    run(add).expect(0);
    server.change("200 OK");
    let mut on = junkai();
    on.args(["crawl", "--once", "--archive"]).arg(&archive);
    run(on).expect(0);
    let good = events(&archive).into_iter().filter(|it| it.status == 200);
    assert_eq!(good.count(), 1, "visited once");
}

#[test]
fn a_seed_whose_server_asks_for_rest_is_named_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("x");
    let server = OneAnswer::start("429 Slowly\r\nRetry-After: 86400");
    for _ in 0..2 {
        let said = server
            .crawl(&archive, &["--for", "3s"])
            .expect(PROBLEMS)
            .out;
        assert!(said.contains("asks for rest until"), "{said}");
        assert!(!said.contains("last trouble: "), "told once: {said}");
    }
    let asked = events(&archive).into_iter().filter(|it| it.status == 429);
    assert_eq!(asked.count(), 1, "it has its rest");
}

#[test]
fn what_keeps_a_crawl_from_its_first_page_is_told_once_and_explained() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("x");
    let list = folder.path().join("list");
    fs::write(&list, "http://127.0.0.1:1/\nhttp://[\n").unwrap();
    let mut crawl = junkai();
    crawl.args(["crawl", "--interval", "0s", "--for", "1s"]);
    crawl
        .args(["--allow", "127.0.0.1", "--seeds-file"])
        .arg(&list);
    crawl.arg("--archive").arg(&archive);
    let said = run(crawl).expect(PROBLEMS).out;
    assert_eq!(said.matches("refused").count(), 1, "{said}");
    assert!(said.contains("1 bad line left out"), "{said}");
    assert!(!said.contains("warc check"), "nothing to check: {said}");
    let mut explain = junkai();
    explain.args(["explain", "http://127.0.0.1:1/", "--archive"]);
    let told = run({
        explain.arg(&archive);
        explain
    });
    let told = told.expect(0).out;
    let line = told.lines().find(|line| line.contains("robots ")).unwrap();
    assert!(line.contains("/robots.txt was tried at "), "{told}");
    assert!(line.contains("refused"), "{told}");
}

#[test]
fn rest_that_a_good_answer_asks_for_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("x");
    let server = OneAnswer::start("200 OK\r\nRetry-After: 86400");
    let said = server.crawl(&archive, &["--for", "3s", "-v"]).expect(0).err;
    let told = said.matches("asks for rest (Retry-After), and has it until");
    assert_eq!(told.count(), 1, "{said}");
}

#[test]
fn rules_from_elsewhere_are_no_page() {
    let web = TestWebConfig {
        misbehaviours: vec!["host0.test=robots-redirect:host1.test".parse().unwrap()],
        ..small_web()
    };
    let stage = Stage::new(web, "");
    let seed = stage.url("host0.test", "/no-such-page");
    for flags in [
        &["--allow", "127.0.0.0/8"][..],
        &["--allow", "127.0.0.0/8", "--once"],
    ] {
        let said = crawl_in_vain(&stage, &seed, flags);
        assert!(
            said.contains("Nothing could be visited: every seed"),
            "{said}"
        );
        assert!(said.contains("404"), "{said}");
    }
    let elsewhere = stage.url("host1.test", "/robots.txt");
    let mut exchanges = stage.exchanges().into_iter();
    assert!(exchanges.any(|seen| seen.url == elsewhere && seen.status == 200));
}

#[test]
fn a_refused_crawl_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("x");
    let bad_roots = folder.path().join("bad.pem");
    let bad = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    fs::write(&bad_roots, bad).unwrap();
    for (seed, flags) in [
        ("./foo.html", vec![]),
        (
            "http://127.0.0.1:1/",
            vec!["--extra-roots", bad_roots.to_str().unwrap()],
        ),
        (
            "http://127.0.0.1:1/",
            vec!["--extra-roots", "no-such-file.pem"],
        ),
        ("http://127.0.0.1:1/", vec!["--workers", "100000"]),
        ("http://127.0.0.1:1/", vec!["--concurrency", "1000000000"]),
    ] {
        let mut command = junkai();
        command.args(["crawl", seed, "--archive"]).arg(&archive);
        let are_roots = flags.contains(&"--extra-roots");
        let refused = run({
            command.args(flags);
            command
        });
        assert_ne!(refused.code, Some(0), "{}", refused.all());
        assert!(!archive.exists(), "{}", refused.all());
        if are_roots {
            assert_eq!(refused.code, Some(BAD_CONFIGURATION), "{}", refused.all());
            let causes = ["I/O error: ", "cannot be used: "];
            let is_told = causes.iter().any(|cause| refused.err.contains(cause));
            assert!(is_told, "{}", refused.all());
        }
    }
}

#[test]
fn a_bad_line_in_a_list_of_seeds_is_named_and_left_out() {
    let stage = Stage::new(small_web(), "");
    let list = stage.path("seeds.txt");
    let seed = stage.web.seeds().remove(0);
    let mut lines = b"# seeds\n./foo.html\n\xff\xfe\r\n".to_vec();
    lines.extend_from_slice(format!("{seed}\n").as_bytes());
    fs::write(&list, lines).unwrap();
    let mut command = stage.crawl();
    command.args([
        "--interval",
        "0s",
        "--scope",
        "any",
        "--pages",
        "2",
        "--seeds-file",
    ]);
    command.arg(&list);
    let said = run(command).expect(0);
    for line in ["seeds.txt line 2: ", "seeds.txt line 3: "] {
        assert!(said.err.contains(line), "{}", said.all());
    }
    fs::write(&list, "./foo.html\n").unwrap();
    let mut command = stage.crawl_into(&stage.path("other"));
    command.arg("--seeds-file").arg(&list);
    let refused = run(command).expect(2);
    assert!(
        refused.err.contains("no line is a URL"),
        "{}",
        refused.all()
    );
    assert!(!stage.path("other").exists());
}

#[test]
fn who_wants_to_hear_more_hears_of_every_visit() {
    let stage = Stage::new(small_web(), "");
    let seed = stage.url("host0.test", "/");
    let crawl = |name: &str, flags: &[&str]| {
        let mut command = stage.crawl_into(&stage.path(name));
        command
            .args(["--interval", "0s", "--scope", "page"])
            .arg(&seed);
        run({
            command.args(flags);
            command
        })
        .expect(0)
        .err
    };
    assert!(!crawl("silent", &[]).contains(&seed));
    let said = crawl("loud", &["-vv"]);
    assert!(said.contains(&format!("{seed}: 200")), "{said}");
    let closed = "http://127.0.0.1:1/";
    let mut command = stage.crawl_into(&stage.path("trouble"));
    command.args(["-v", closed]);
    let said = run(command).expect(PROBLEMS).err;
    assert!(said.contains("INFO") && said.contains(closed), "{said}");
}

#[test]
fn a_crawl_that_goes_on_says_so() {
    let stage = Stage::new(small_web(), "");
    let crawl = || {
        let mut command = stage.crawl();
        command.args(["--interval", "0s", "--scope", "any"]);
        run({
            command.args(stage.web.seeds());
            command
        })
        .expect(0)
        .err
    };
    assert!(!crawl().contains("going on"));
    let said = crawl();
    assert!(
        said.contains("going on in ") && said.contains(" pages known"),
        "{said}"
    );
}

#[test]
fn a_shorter_interval_counts_at_once() {
    let stage = Stage::new(small_web(), "");
    let crawl = |interval: &str, flags: &[&str]| {
        let mut crawl = stage.crawl();
        crawl.args(["--interval", interval]).args(flags);
        crawl.args(stage.web.seeds());
        crawl
    };
    // Longer than any test waits.
    let said = run(crawl("1h", &["--for", "3s"])).expect(0);
    assert!(
        said.out.contains("the time asked for is over"),
        "{}",
        said.all()
    );
    let said = run(crawl("10ms", &[])).expect(0);
    assert!(said.out.contains("The crawl is complete"), "{}", said.all());
}

#[test]
fn two_demos_share_no_port_and_both_are_polite() {
    let folder = tempfile::tempdir().unwrap();
    let demo = |name: &str| {
        let mut command = junkai();
        command
            .current_dir(folder.path())
            .args(["demo", "--archive", name]);
        command.args(["--for", "4s", "--json"]);
        Running::start(command)
    };
    let ended = |demo: Running| {
        let said = demo.wait().expect(0);
        let verdict = said.out.lines().last().unwrap_or_default();
        assert!(verdict.contains("\"verdict\""), "{}", said.all());
        said
    };
    for demo in [demo("one"), demo("two")] {
        ended(demo);
    }
    // Each goes on with the web that it had, whoever had to move.
    for name in ["one", "two"] {
        let said = ended(demo(name));
        assert!(!said.err.contains("takes a free port"), "{}", said.all());
        let pages = |line: &str| {
            serde_json::from_str::<Value>(line).unwrap()["summary"]["progress"]["pages"].as_u64()
        };
        let pages = said.out.lines().find_map(pages);
        assert!(0 < pages.unwrap_or_default(), "{}", said.all());
    }
}

#[test]
fn a_port_that_is_taken_is_taken_and_its_holder_is_named() {
    let web = TestWeb::start(TestWebConfig {
        threads: 2,
        ..small_web()
    })
    .unwrap();
    let mut command = junkai();
    command.args(["testweb", "--port", &web.http_port().to_string()]);
    let refused = run(command).expect(1);
    let holder = format!("(process {}) has it", std::process::id());
    assert!(refused.err.contains(&holder), "{}", refused.all());
}

#[test]
fn several_crawls_of_one_machine_keep_one_pace() {
    let interval = Duration::from_millis(500);
    let web = TestWebConfig {
        hosts: 1,
        addresses: 1,
        pages: 200,
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "[politeness]\ninterval = \"500ms\"\n");
    let crawls: Vec<Running> = ["one", "two", "three"]
        .into_iter()
        .map(|name| {
            let mut command = stage.crawl_into(&stage.path(name));
            command
                .args(["--pages", "4", "--quiet"])
                .args(stage.web.seeds());
            Running::start(command)
        })
        .collect();
    for crawl in crawls {
        let finished = crawl.wait();
        assert_eq!(finished.code, Some(0), "{}", finished.all());
    }
    let verdict = stage.verdict(interval);
    assert!(verdict.is_polite(), "{verdict}");
    // Each has its robots.txt and four pages.
    assert!(15 <= stage.exchanges().len());
}
