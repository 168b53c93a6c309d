//! The command line: what each subcommand prints, and by which exit code it ends.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use junkai_crawler::LogEvent;
use junkai_testweb::{FolderConfig, TestWebConfig};
use serde_json::Value;

use crate::support::{Finished, Running, Stage, files, free_port, junkai, run, wait_until};

/// A web that is crawled in a moment.
fn small_web() -> TestWebConfig {
    TestWebConfig {
        hosts: 4,
        addresses: 4,
        pages: 24,
        page_bytes: 4000,
        seeds: 1,
        ..TestWebConfig::default()
    }
}

/// A crawl of the whole web that takes no longer than it must.
fn quick_crawl(stage: &Stage) -> Command {
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "0s", "--quiet"]);
    crawl
}

fn say(arguments: &[&str]) -> Finished {
    let mut command = junkai();
    command.args(arguments);
    run(command)
}

fn json_lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

#[test]
fn help_names_every_command_and_exit_code() {
    let help = say(&["--help"]).expect(0).out;
    for command in [
        "crawl", "demo", "init", "add", "revisit", "pause", "resume", "scope", "explain", "get",
        "changes", "state", "stats", "warc", "export", "lab", "url", "robots", "links", "testweb",
    ] {
        assert!(
            help.contains(&format!("\n  {command} ")),
            "{command}\n{help}"
        );
        assert!(say(&[command, "--help"]).expect(0).out.contains("Usage:"));
    }
    assert!(help.contains("Exit codes:"), "{help}");
    say(&["--version"]).expect(0);
}

#[test]
fn a_wrong_command_line_ends_with_2_and_a_hint() {
    say(&["crwal"]).expect(2);
    let wrong = say(&["crawl", "--intervall", "1s"]).expect(2);
    assert!(wrong.err.contains("--interval"), "{}", wrong.all());
    say(&["crawl", "--interval", "soon", "http://a.test/"]).expect(2);
    let nowhere = tempfile::tempdir().unwrap();
    let nowhere = nowhere.path().join("none");
    let nowhere = nowhere.to_str().unwrap();
    // What clap takes, and we do not.
    for (words, says) in [
        (&["crawl"][..], "name a seed"),
        (&["crawl", "a.test", "--login", "x"], "a host and a file"),
        (&["crawl", "a.test", "--header", "x"], "a name and a value"),
        (&["crawl", "http://"], "seed \"http://\""),
        (
            &["crawl", "http://", "--archive", nowhere],
            "seed \"http://\"",
        ),
        (&["crawl", "a.test", "--for=-1"], "not less than 0"),
        (
            &["crawl", "a.test", "--for", "1e30"],
            "longer than 3660days",
        ),
        (
            &["explain", "http://", "--archive", nowhere],
            "is not a URL",
        ),
        (
            &["robots", "--file", "/dev/null", "http://"],
            "is not a URL",
        ),
        (
            &["robots", "--file", "/dev/null", "nonsense"],
            "\"nonsense\" is not a URL: write https://example.org/nonsense, or the path alone, /nonsense",
        ),
        (
            &["crawl", "a.test", "--concurrency", "0"],
            "crawl.concurrency = 0: must be 1 to 65536",
        ),
        (
            &["focus", "explore", "--workers", "x"],
            "crawl.workers = x: must be 1 to 1024",
        ),
        (
            &["testweb", "--history-hosts", "0"],
            "must be 1 to 4294967295",
        ),
        (
            &["focus", "explore", "--archive", nowhere],
            "name the sites",
        ),
    ] {
        let wrong = say(words).expect(2);
        assert!(wrong.err.contains(says), "{words:?}: {}", wrong.all());
        assert!(!std::path::Path::new(nowhere).exists(), "{words:?}");
    }
}

#[test]
fn what_holds_for_a_run_is_told_when_nothing_speaks_against_it() {
    let stage = Stage::new(small_web(), "");
    run(quick_crawl(&stage)).expect(0);
    let mut refused = quick_crawl(&stage);
    refused.args(["--depth", "1", "--cookies", "/no/such/file"]);
    let refused = run(refused).expect(3);
    assert!(
        refused.err.contains("cannot read cookies"),
        "{}",
        refused.all()
    );
    assert!(!refused.err.contains("for this run"), "{}", refused.all());
}

#[test]
fn a_seed_that_failed_in_an_earlier_run_and_had_no_turn_since_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    // Nobody listens there.
    let port = free_port();
    let crawl = |time: &[&str]| {
        let mut crawl = junkai();
        crawl.args(["crawl", "--allow-private", "--quiet", "--archive"]);
        crawl.arg(&archive).args(time);
        crawl.arg(format!("http://127.0.0.1:{port}/"));
        run(crawl)
    };
    let first = crawl(&[]).expect(4);
    assert!(first.out.contains("cannot connect"), "{}", first.all());
    // At the usual interval a server rests longer after a start.
    let second = crawl(&["--for", "1s"]).expect(4);
    assert!(second.out.contains("cannot connect"), "{}", second.all());
    assert!(second.out.contains("what helps: "), "{}", second.all());
}

#[test]
fn every_mistake_of_a_configuration_is_reported_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.toml");
    fs::write(
        &file,
        "[crawl]\nconcurency = 3\n\n[politness]\ninterval = \"1s\"\n\n[scope]\ndepth_max = \"deep\"\n",
    )
    .unwrap();
    let mut crawl = junkai();
    crawl.arg("crawl").arg("--archive").arg(folder.path());
    crawl.arg("--config").arg(&file).arg("http://a.test/");
    let wrong = run(crawl).expect(3);
    for words in [
        "3 mistakes",
        "line 2: unknown key `concurency`; did you mean `concurrency`?",
        "line 4: unknown key `politness`; did you mean `politeness`?",
        "line 8: ",
    ] {
        assert!(wrong.err.contains(words), "{words}\n{}", wrong.all());
    }
}

#[test]
fn init_writes_a_file_that_crawl_takes_and_never_overwrites_it() {
    let stage = Stage::new(small_web(), "");
    let folder = stage.path("begun");
    let mut init = junkai();
    init.arg("init").arg(&folder);
    run(init).expect(0);
    let file = folder.join("junkai.toml");
    let text = fs::read_to_string(&file).unwrap();
    for table in [
        "[crawl]",
        "[scope]",
        "[identity]",
        "[politeness]",
        "[fetch]",
    ] {
        assert!(text.contains(table), "{table}");
    }
    let mut again = junkai();
    again.arg("init").arg(&folder);
    let refused = run(again).expect(1);
    assert!(
        refused.err.contains("is there already"),
        "{}",
        refused.all()
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert_eq!(say(&["init", "--print"]).expect(0).out, text);

    let mut crawl = junkai();
    crawl.arg("crawl").arg("--archive").arg(&folder);
    crawl.args(stage.web.seeds());
    crawl.args(["--allow-private", "--interval", "0s", "--pages", "3"]);
    crawl.args(["--dns", &stage.web.dns().to_string()]);
    run(crawl).expect(0);
}

#[test]
fn nothing_to_crawl_is_an_error_that_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut crawl = junkai();
    crawl.arg("crawl").arg("--archive").arg(folder.path());
    let nothing = run(crawl).expect(2);
    assert!(nothing.err.contains("name a seed"), "{}", nothing.all());
}

#[test]
fn a_public_address_is_not_visited_by_a_crawler_that_nobody_can_reach() {
    let folder = tempfile::tempdir().unwrap();
    let mut crawl = junkai();
    crawl.arg("crawl").arg("--archive").arg(folder.path());
    // A public address, on a port where nobody answers: a visit would end in a timeout, and not with this code.
    crawl.arg("http://8.8.8.8:9/");
    let refused = run(crawl).expect(3);
    assert!(refused.err.contains("--contact"), "{}", refused.all());
    assert!(crate::support::events(folder.path()).is_empty());

    let mut crawl = junkai();
    crawl.arg("crawl").arg("--archive").arg(folder.path());
    crawl.args(["http://a.test/", "--contact", "me"]);
    let nonsense = run(crawl).expect(3);
    assert!(nonsense.err.contains("e-mail"), "{}", nonsense.all());
}

#[test]
fn a_private_address_is_refused_until_it_is_allowed_and_the_seed_is_then_tried_again() {
    let stage = Stage::new(small_web(), "[addresses]\nallow_private = false\n");
    let refused = run(quick_crawl(&stage)).expect(4);
    assert!(refused.out.contains("is refused"), "{}", refused.all());
    assert_eq!(stage.web.counters().requests, 0);
    let [event] = &stage.events()[..] else {
        panic!("one seed, one event")
    };
    assert!(event.result.contains("is refused: loopback"), "{event:#?}");

    let mut allowed = quick_crawl(&stage);
    allowed.arg("--allow-private");
    run(allowed).expect(0);
    let events = stage.events();
    for page in stage.web.pages() {
        let is_visit = |event: &&LogEvent<'_>| event.url == page && event.status == 200;
        assert_eq!(events.iter().filter(is_visit).count(), 1, "{page}");
    }

    // What was captured is not asked for again.
    let before = stage.web.counters().requests;
    let mut again = quick_crawl(&stage);
    again.arg("--allow-private");
    run(again).expect(0);
    assert_eq!(stage.web.counters().requests, before);
}

#[test]
fn json_progress_and_summary_are_lines_for_programs() {
    let stage = Stage::new(small_web(), "");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "0s", "--json"]);
    let lines = json_lines(&run(crawl).expect(0).out);
    let summary = lines.last().unwrap();
    assert_eq!(summary["type"], "summary");
    assert_eq!(summary["summary"]["ended"], "complete");
    let captured = stage
        .events()
        .iter()
        .filter(|event| event.status > 0)
        .count();
    let pages = summary["summary"]["progress"]["pages"].as_u64().unwrap();
    let robots = summary["summary"]["progress"]["robots_fetched"]
        .as_u64()
        .unwrap();
    assert_eq!(usize::try_from(pages + robots).unwrap(), captured);
    for line in &lines[..lines.len() - 1] {
        assert_eq!(line["type"], "progress");
        assert!(line["progress"]["known"].is_u64(), "{line}");
    }
}

#[test]
fn an_archive_is_crawled_by_one_process_at_a_time() {
    let stage = Stage::new(small_web(), "");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "2s", "--quiet"]);
    let first = Running::start(crawl);
    wait_until("the first crawl visits a server", || {
        0 < stage.web.counters().requests
    });
    let second = run(quick_crawl(&stage)).expect(5);
    assert!(second.err.contains("in use"), "{}", second.all());
    assert!(first.kill());
    run(quick_crawl(&stage)).expect(0);
}

#[test]
fn ctrl_c_ends_in_order_and_the_next_run_goes_on() {
    let stage = Stage::new(small_web(), "");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "100ms", "--quiet"]);
    let running = Running::start(crawl);
    wait_until("something is captured", || 3 <= stage.events().len());
    running.interrupt();
    let stopped = running.wait().expect(11);
    assert!(
        stopped.out.contains("Stopped on request"),
        "{}",
        stopped.all()
    );
    let before = stage.events().len();
    for file in files(&stage.archive().join("archive")) {
        let name = file.to_string_lossy();
        assert!(!name.ends_with(".open"), "{name} was not closed");
    }

    // No seed, no flag but the speed: the archive knows the rest.
    let mut resume = junkai();
    resume.arg("crawl").arg("--archive").arg(stage.archive());
    resume.args(["--once", "--interval", "0s", "--quiet"]);
    let resumed = run(resume).expect(0);
    assert!(resumed.out.contains("is complete"), "{}", resumed.all());
    assert!(!resumed.err.contains("repaired"), "{}", resumed.all());
    let events = stage.events();
    assert!(before < events.len());
    for page in stage.web.pages() {
        let visits = events.iter().filter(|event| event.url == page).count();
        assert_eq!(visits, 1, "{page}");
    }
}

#[test]
fn stats_count_as_many_waiting_visits_as_the_summary_of_a_stopped_run() {
    let stage = Stage::new(small_web(), "");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "200ms", "--json"]);
    let running = Running::start(crawl);
    wait_until("something is captured", || 3 <= stage.events().len());
    running.interrupt();
    let lines = json_lines(&running.wait().expect(11).out);
    let summary = &lines.last().unwrap()["summary"]["progress"];
    assert!(0 < summary["waiting"].as_u64().unwrap(), "{summary}");
    let archive = stage.archive();
    let stats = say(&["stats", "--archive", archive.to_str().unwrap(), "--json"]).expect(0);
    let stats = &json_lines(&stats.out)[0];
    assert_eq!(stats["waiting"], summary["waiting"], "{stats}\n{summary}");
    assert_eq!(stats["known"], summary["known"], "{stats}\n{summary}");
}

#[test]
fn what_gives_known_urls_their_meaning_cannot_change() {
    let stage = Stage::new(small_web(), "");
    let limited = || {
        let mut crawl = quick_crawl(&stage);
        crawl.args(["--pages", "2"]);
        crawl
    };
    run(limited()).expect(0);
    let kept = stage.archive().join("state/settings.toml");
    let settings = fs::read_to_string(&kept).unwrap();
    let before = stage.web.counters().requests;
    for (other, words) in [
        ("[canonical]\nsort_query = true\n", "[canonical]"),
        ("[ring]\nkeys = 1024\n", "ring.keys"),
    ] {
        fs::write(stage.path("junkai.toml"), other).unwrap();
        let refused = run(limited()).expect(3);
        assert!(refused.err.contains(words), "{}", refused.all());
        assert!(refused.err.contains("cannot change"), "{}", refused.all());
        assert_eq!(fs::read_to_string(&kept).unwrap(), settings, "{words}");
    }
    assert_eq!(stage.web.counters().requests, before);
    fs::write(stage.path("junkai.toml"), "").unwrap();
    run(quick_crawl(&stage)).expect(0);
}

#[test]
fn what_a_run_does_otherwise_than_its_archive_is_told_and_a_command_for_nothing_fails() {
    let stage = Stage::new(small_web(), "");
    let first = run(quick_crawl(&stage)).expect(0);
    assert!(!first.err.contains("for this run"), "{}", first.all());
    let mut again = quick_crawl(&stage);
    again.args(["--depth", "1"]);
    let again = run(again).expect(0);
    let told = "for this run: scope.depth_max = 1 (junkai.toml: not set)";
    assert!(again.err.contains(told), "{}", again.all());
    assert!(!again.err.contains("politeness"), "{}", again.all());

    let archive = stage.archive();
    let archive = archive.to_str().unwrap();
    say(&["add", "--archive", archive]).expect(2);
    say(&["revisit", "--archive", archive]).expect(2);
    let none = say(&["revisit", "--archive", archive, "--host", "none.test"]).expect(4);
    assert!(
        none.err.contains("no captured page matches"),
        "{}",
        none.all()
    );
    let empty = stage.path("empty");
    fs::write(&empty, "# nothing\n").unwrap();
    let empty = empty.to_str().unwrap();
    say(&["add", "--archive", archive, "--seeds-file", empty]).expect(4);
}

#[test]
fn limits_end_a_run_and_scope_and_depth_bound_it() {
    let stage = Stage::new(small_web(), "");
    let mut crawl = quick_crawl(&stage);
    crawl.args(["--pages", "5"]);
    let limited = run(crawl).expect(0);
    assert!(limited.out.contains("number of pages"), "{}", limited.all());
    let pages = |stage: &Stage| {
        let events = stage.events();
        let is_page = |url: &str| !url.ends_with("/robots.txt");
        let visited = events.iter().filter(|event| 0 < event.status);
        visited.filter(|event| is_page(&event.url)).count()
    };
    assert_eq!(pages(&stage), 5);

    let stage = Stage::new(small_web(), "[crawl]\nsitemaps = false\n");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args([
        "--scope",
        "host",
        "--depth",
        "1",
        "--interval",
        "0s",
        "--quiet",
    ]);
    crawl.args(["--exclude", "/private/", "--exclude", "\\.xml$"]);
    run(crawl).expect(0);
    let events = stage.events();
    assert!(2 < events.len());
    for event in &events {
        assert!(
            event.url.starts_with(&stage.url("host0.test", "/")),
            "{event:#?}"
        );
        assert!(event.hops.matches('L').count() <= 1, "{event:#?}");
        assert!(!event.url.contains("/private/"), "{event:#?}");
    }
}

#[test]
fn seeds_come_from_a_file_or_standard_input() {
    let stage = Stage::new(small_web(), "");
    let seed = &stage.web.seeds()[0];
    let file = stage.path("seeds.txt");
    fs::write(&file, format!("# where to start\n\n  {seed}  \n")).unwrap();
    let mut crawl = stage.crawl();
    crawl.args(["--scope", "page", "--interval", "0s", "--quiet"]);
    crawl.arg("--seeds-file").arg(&file);
    run(crawl).expect(0);
    assert!(stage.events().iter().any(|event| event.url == *seed));

    let other = stage.path("other");
    let mut crawl = stage.crawl_into(&other);
    crawl.args(["--scope", "page", "--interval", "0s", "--quiet", "-i", "-"]);
    let mut child = crawl
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{seed}").unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
    assert!(
        crate::support::events(&other)
            .iter()
            .any(|event| event.url == *seed)
    );
}

#[test]
fn explain_and_stats_tell_what_an_archive_holds() {
    let stage = Stage::new(small_web(), "");
    run(quick_crawl(&stage)).expect(0);
    let archive = stage.archive();
    let archive = archive.to_str().unwrap();
    let events = stage.events();

    let stats = say(&["stats", "--archive", archive, "--json"]).expect(0);
    let stats = &json_lines(&stats.out)[0];
    let reported = events.iter().filter(|event| event.warc.is_some()).count();
    assert_eq!(stats["captures"], reported);
    assert_eq!(stats["hosts"], 4);
    assert_eq!(stats["waiting"], 0);
    say(&["stats", "--archive", archive]).expect(0);
    say(&["stats", "--archive", "/nowhere"]).expect(1);

    let captured = stage.web.pages().nth(3).unwrap();
    let told = say(&["explain", "--archive", archive, "--json", &captured]).expect(0);
    let told = &json_lines(&told.out)[0];
    assert_eq!(told["visits"][0]["status"], 200);
    assert!(told["captures"][0]["offset"].is_u64(), "{told}");
    let private = events
        .iter()
        .find(|event| event.status == -9998)
        .expect("robots.txt keeps /private/ out");
    let told = say(&["explain", "--archive", archive, &private.url])
        .expect(0)
        .out;
    assert!(told.contains("Disallow: /private/"), "{told}");
    let unknown = stage.url("host0.test", "/nobody/links/here");
    let told = say(&["explain", "--archive", archive, &unknown])
        .expect(0)
        .out;
    assert!(told.contains("none so far"), "{told}");
    assert!(told.contains("does not know it"), "{told}");
}

#[test]
fn explain_tells_pages_apart_that_differ_in_case_only() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("index.html"), "<a href=page.html>1</a>").unwrap();
    fs::write(folder.path().join("page.html"), "<title>1</title>").unwrap();
    let web = TestWebConfig {
        hosts: 0,
        folders: vec![FolderConfig {
            host: "cases.test".to_owned(),
            path: folder.path().to_owned(),
        }],
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "");
    run(quick_crawl(&stage)).expect(0);
    let archive = stage.archive();
    for (path, captures) in [("/page.html", 1), ("/Page.html", 0)] {
        let url = stage.url("cases.test", path);
        let archive = archive.to_str().unwrap();
        let told = say(&["explain", "--archive", archive, "--json", &url]).expect(0);
        let told = &json_lines(&told.out)[0];
        assert_eq!(
            told["captures"].as_array().unwrap().len(),
            captures,
            "{told}"
        );
        assert_eq!(told["visits"].as_array().unwrap().len(), captures, "{told}");
        assert_eq!(told["known"], captures == 1, "{told}");
    }
}

#[test]
fn warc_commands_prove_index_and_show_records() {
    let stage = Stage::new(small_web(), "");
    run(quick_crawl(&stage)).expect(0);
    let warcs = files(&stage.archive().join("archive"));
    let mut check = junkai();
    check.args(["warc", "check", "--json"]).args(&warcs);
    let reports = json_lines(&run(check).expect(0).out);
    assert_eq!(
        reports.len(),
        warcs.len(),
        "nothing but a line for each file"
    );
    for report in reports {
        assert_eq!(report["problems"], 0, "{report}");
        assert!(0 < report["records"].as_u64().unwrap(), "{report}");
    }

    let event = stage.events().into_iter().find(|event| event.status == 200);
    let event = event.unwrap();
    let place = event.warc.unwrap();
    let file = stage.archive().join("archive").join(&*place.file);
    let mut cat = junkai();
    cat.args(["warc", "cat"])
        .arg(&file)
        .arg(place.offset.to_string());
    let record = run(cat).expect(0).out;
    assert!(record.starts_with("WARC/1.1\r\n"), "{record}");
    assert!(record.contains("WARC-Type: response\r\n"), "{record}");
    assert!(record.contains(&*event.url), "{record}");
    assert!(record.contains("\r\n\r\nHTTP/1.1 200 OK\r\n"), "{record}");

    // One bit, in the middle of a record.
    let damaged = stage.path("damaged.warc.gz");
    let mut bytes = fs::read(&file).unwrap();
    let middle = usize::try_from(place.offset + place.length / 2).unwrap();
    bytes[middle] ^= 1;
    fs::write(&damaged, bytes).unwrap();
    let mut check = junkai();
    check.args(["warc", "check"]).arg(&damaged);
    let told = run(check).expect(4);
    assert!(told.out.contains("PROBLEM"), "{}", told.all());
    // What follows the damage is read: one record is missing, and one line says so.
    let mut check = junkai();
    check
        .args(["warc", "check", "--json"])
        .args([&file, &damaged]);
    let lines = json_lines(&run(check).expect(4).out);
    let records = |line: &Value| line["records"].as_u64();
    let [whole, problem, rest] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert_eq!(
        records(whole),
        records(rest).map(|count| count + 1),
        "{lines:?}"
    );
    assert_eq!(problem["file"], damaged.to_str().unwrap());
    assert_eq!(problem["offset"], place.offset, "{problem}");
    assert_eq!(problem["clause"], "4", "{problem}");
    assert_eq!(problem["severity"], "problem", "{problem}");
    say(&["warc", "check", "/nowhere.warc.gz"]).expect(1);
}

#[test]
fn url_robots_and_links_show_what_the_crawler_sees() {
    let shown = say(&["url", "HTTP://Example.ORG:80/a/../b?x=1#top", "mailto:you"]).expect(4);
    let lines = json_lines(&shown.out);
    assert_eq!(lines[0]["url"], "http://example.org/b?x=1");
    assert_eq!(lines[0]["host"], "example.org");
    assert_eq!(lines[0]["surt"], "org,example)/b?x=1");
    assert!(lines[1]["error"].is_string(), "{}", lines[1]);

    let folder = tempfile::tempdir().unwrap();
    let robots = folder.path().join("robots.txt");
    fs::write(
        &robots,
        "User-agent: *\nDisallow: /private/\nAllow: /private/open\n",
    )
    .unwrap();
    let robots = robots.to_str().unwrap();
    let open = "https://example.org/private/open";
    let told = say(&["robots", "--file", robots, open, "/else"])
        .expect(0)
        .out;
    assert!(told.contains(&format!("allow\t{open}\tline 3")), "{told}");
    let told = say(&["robots", "--agent", "other", "--file", robots, "/private/x"])
        .expect(4)
        .out;
    assert!(told.contains("disallow\t/private/x\tline 2"), "{told}");

    let page = folder.path().join("page.html");
    fs::write(&page, "<title>T</title><a href=two>2</a><img src=i.png>").unwrap();
    let page = page.to_str().unwrap();
    let base = ["links", "--base", "https://example.org/one/", page];
    let found = json_lines(&say(&base).expect(0).out);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0]["url"], "https://example.org/one/two");
    assert_eq!(found[0]["kind"], "anchor");
    assert_eq!(found[0]["requisite"], false);
    assert_eq!(found[1]["requisite"], true);
    let pages = say(&[&base[..], &["--no-requisites"]].concat()).expect(0);
    assert_eq!(json_lines(&pages.out), found[..1]);
}

#[test]
fn a_file_without_a_record_is_not_sound() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.warc");
    fs::write(&empty, "").unwrap();
    for file in ["/dev/null", empty.to_str().unwrap()] {
        let judged = say(&["warc", "check", file]).expect(4);
        assert!(
            judged.out.contains("there is no record in it"),
            "{}",
            judged.all()
        );
    }
}

#[test]
fn the_judge_counts_visits_that_came_too_early() {
    let stage = Stage::new(small_web(), "");
    run(quick_crawl(&stage)).expect(0);
    stage.web.flush_log();
    let log = stage.web.log_path().unwrap().to_str().unwrap();
    let judged = say(&["testweb", "--judge", log, "--interval", "1h", "--json"]).expect(4);
    let verdict = &json_lines(&judged.out)[0];
    assert!(
        0 < verdict["violation_count"].as_u64().unwrap(),
        "{verdict}"
    );
    let judged = say(&["testweb", "--judge", log, "--interval", "0s"]).expect(0);
    assert!(judged.out.contains("no violations"), "{}", judged.all());
}

#[test]
fn the_demo_needs_nothing_and_is_polite() {
    let folder = tempfile::tempdir().unwrap();
    let mut demo = junkai();
    demo.args(["demo", "--for", "3s", "--json", "--archive"]);
    demo.arg(folder.path());
    let lines = json_lines(&run(demo).expect(0).out);
    let verdict = lines.last().unwrap();
    assert_eq!(verdict["type"], "verdict");
    assert_eq!(verdict["verdict"]["violation_count"], 0);
    let summary = &lines[lines.len() - 2];
    assert_eq!(summary["summary"]["ended"], "time-reached");
}

#[test]
fn a_reader_that_has_seen_enough_stops_nothing() {
    let stage = Stage::new(small_web(), "");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    // A line of progress a second, and the summary: all to a reader that is gone.
    crawl.args(["--scope", "any", "--interval", "100ms", "--json"]);
    let mut stats = junkai();
    stats.arg("stats").arg("--archive").arg(stage.archive());
    for mut command in [crawl, stats] {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait().unwrap();
        assert_eq!(ended.code(), Some(0), "{command:?}");
    }
    let visited = stage
        .events()
        .iter()
        .filter(|event| event.status == 200)
        .count();
    assert!(24 < visited, "{visited} pages");
}

#[test]
fn output_that_cannot_be_written_is_told_once_and_fails() {
    let mut command = junkai();
    command.args(["url", "http://example.org/a", "http://example.org/b"]);
    command.stdout(fs::File::options().write(true).open("/dev/full").unwrap());
    command.stderr(Stdio::piped());
    let ended = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(said.matches("cannot print").count(), 1, "{said}");
}
