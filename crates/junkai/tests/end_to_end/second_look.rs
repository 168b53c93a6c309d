//! What a user meets on a second look: settings that are read alike everywhere, words that name what they are about, and nothing that is told wrongly.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::Command;

use junkai_testweb::{FolderConfig, TestWebConfig};
use serde_json::Value;

use crate::support::{Finished, Running, Stage, junkai, run, wait_until};

/// The exit code for a wrong configuration.
const BAD_COMMAND_LINE: i32 = 2;
const BAD_CONFIGURATION: i32 = 3;

fn small_web() -> TestWebConfig {
    TestWebConfig {
        hosts: 2,
        addresses: 2,
        pages: 20,
        page_bytes: 8000,
        ..TestWebConfig::default()
    }
}

/// `junkai COMMAND --archive …`, and what it says.
fn ask(stage: &Stage, words: &[&str]) -> Finished {
    let mut command = junkai();
    command.args(words).arg("--archive").arg(stage.archive());
    run(command)
}

/// The port of a server that has gone.
fn closed_port() -> u16 {
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    closed.local_addr().unwrap().port()
}

#[test]
fn answers_that_were_cut_are_counted_in_summary_and_stats() {
    let web = TestWebConfig {
        page_bytes: 60_000,
        gzip_percent: 0,
        ..small_web()
    };
    let stage = Stage::new(web, "[fetch]\nmax_body_bytes = \"16kB\"\n");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds()).args(["--interval", "0s"]);
    let said = run(crawl).expect(0).out;
    let events = stage.events();
    let is_cut = |event: &&junkai_crawler::LogEvent<'_>| {
        event.annotations.iter().any(|word| word == "lenTrunc")
    };
    let cut = events.iter().filter(is_cut).count();
    assert!(1 < cut, "{cut} of {}", events.len());
    let told = format!("{cut} answers were not kept to the end: too long (fetch.max_body_bytes)");
    assert!(said.contains(&told), "{said}");
    let stats = ask(&stage, &["stats", "--json"]).expect(0).out;
    let stats: Value = serde_json::from_str(&stats).unwrap();
    assert_eq!(stats["losses"]["bodies_cut"], cut);
    let stats = ask(&stage, &["stats"]).expect(0).out;
    assert!(stats.contains("answers not kept to their end"), "{stats}");
}

fn assert_no_line_is_long(said: &Finished) {
    for line in said.out.lines().chain(said.err.lines()) {
        let characters = line.chars().count();
        assert!(characters < 600, "{characters} characters: {line}");
    }
}

#[test]
fn a_long_url_is_shortened_on_screen() {
    let long = format!(
        "http://127.0.0.1:{}/{}/end",
        closed_port(),
        "x".repeat(7500)
    );
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("index.html"),
        format!("<a href=\"{long}\">far</a>"),
    )
    .unwrap();
    let web = TestWebConfig {
        hosts: 0,
        folders: vec![FolderConfig {
            host: "long.test".to_owned(),
            path: folder.path().to_owned(),
        }],
        ..TestWebConfig::default()
    };
    let stage = Stage::new(web, "[crawl]\nretries_max = 0\nsitemaps = false\n");
    let mut crawl = stage.crawl();
    crawl.args([&stage.url("long.test", "/"), "-vv", "--scope", "any"]);
    crawl.args(["--interval", "0s"]);
    let finished = run(crawl).expect(0);
    assert!(
        finished.out.contains("last trouble: http://127.0.0.1:"),
        "{}",
        finished.all()
    );
    assert!(finished.out.contains("xxx/end: "), "{}", finished.all());
    assert!(finished.err.contains("xxx/end: "), "{}", finished.all());
    assert_no_line_is_long(&finished);

    let explained = ask(&stage, &["explain", &long]).expect(0);
    assert!(explained.out.contains("xxx/end"), "{}", explained.all());
    assert_no_line_is_long(&explained);
    let longer = format!("no url {}", "y".repeat(20_000));
    let refused = ask(&stage, &["explain", &longer]).expect(2);
    assert_no_line_is_long(&refused);
}

#[test]
fn an_address_alone_is_a_network_in_the_configuration_too() {
    let stage = Stage::new(
        small_web(),
        "[crawl]\nretries_max = 0\n[addresses]\nallow = [\"127.0.0.1\"]\n",
    );
    for (address, word) in [("127.0.0.1", "cannot connect"), ("127.0.0.2", "is refused")] {
        let mut crawl = stage.crawl_into(&stage.path(address));
        crawl.arg(format!("http://{address}:{}/", closed_port()));
        let said = run(crawl).expect(4).out;
        assert!(said.contains(word), "{said}");
    }
}

/// Every setting that is a number of bytes, written in some way.
const SIZES: &str = r#"
[archive]
rollover_bytes = "1GB"
[seen]
memory_bytes = "64 MiB"
[backlog]
buffer_bytes = "1MB"
segment_bytes = "8MiB"
page_bytes_max = 1000000
host_bytes_max = "100MB"
bytes_max = "1GB"
[time_queue]
buffer_bytes = "1MiB"
page_bytes = "1KiB"
[fetch]
min_rate = "1kB"
max_body_bytes = 33000001
[links]
max_url_length = "4KiB"
[canonical]
max_length = "4KiB"
[logs]
bytes_max = "1 GB"
"#;

/// A crawl of two pages.
fn short_crawl(stage: &Stage) -> Command {
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--pages", "2", "--interval", "0s"]);
    crawl
}

#[test]
fn sizes_are_read_alike_in_every_setting() {
    let stage = Stage::new(small_web(), SIZES);
    run(short_crawl(&stage)).expect(0);
    // What the next run reads is what was set, to the byte.
    for name in ["junkai.toml", "state/settings.toml"] {
        let kept = fs::read_to_string(stage.archive().join(name)).unwrap();
        assert!(kept.contains("max_body_bytes = \"33000001B\""), "{kept}");
        assert!(kept.contains("rollover_bytes = \"1GB\""), "{kept}");
    }
}

#[test]
fn what_is_out_of_bounds_is_refused_with_its_bounds() {
    let bad = "[backlog]\nbytes_max = \"much\"\n[ring]\nkeys = 100000000\n[seen]\nmemory_bytes = \"5 TiB\"\n";
    for (config, flags, code, told) in [
        (
            bad,
            "",
            BAD_CONFIGURATION,
            [
                "line 2: backlog.bytes_max: \"much\" is no number of bytes",
                "ring.keys = 100000000: must be 1 to 16777216",
                "seen.memory_bytes = 5TiB: must be 0B to 1TiB",
            ],
        ),
        (
            "[crawl]\nworkers = 0\nconcurrency = \"many\"\nonce = \"yes\"\n",
            "",
            BAD_CONFIGURATION,
            [
                "line 2: crawl.workers = 0: must be 1 to 1024",
                "line 3: crawl.concurrency = \"many\": must be 1 to 65536",
                "line 4: crawl.once = \"yes\": must be true or false",
            ],
        ),
        (
            "",
            "--concurrency 1000000",
            BAD_COMMAND_LINE,
            [
                "--concurrency",
                "crawl.concurrency = 1000000: must be 1 to 65536",
                "more pages a second come from more servers",
            ],
        ),
        (
            "",
            "--workers 0",
            BAD_COMMAND_LINE,
            [
                "--workers",
                "crawl.workers = 0: must be 1 to 1024",
                "one for each core is best",
            ],
        ),
    ] {
        let stage = Stage::new(small_web(), config);
        let mut crawl = short_crawl(&stage);
        crawl.args(flags.split_whitespace());
        let refused = run(crawl).expect(code).err;
        for words in told {
            assert!(refused.contains(words), "{words}: {refused}");
        }
        assert!(
            !stage.archive().exists(),
            "a refused command changes nothing"
        );
    }
}

#[test]
fn a_damaged_line_of_what_servers_asked_for_is_told_and_mended() {
    let web = TestWebConfig {
        misbehaviours: vec!["host1.test=503:1h".parse().unwrap()],
        ..small_web()
    };
    let stage = Stage::new(web, "");
    let mut crawl = stage.crawl_on();
    crawl.args(stage.web.seeds()).args(["--interval", "0s"]);
    let crawl = Running::start(crawl);
    wait_until("host1 has asked for rest", || {
        stage.events().iter().any(|event| event.status == 503)
    });
    crawl.interrupt();
    crawl.wait();
    let file = stage.archive().join("state/servers.jsonl");
    let kept = fs::read_to_string(&file).unwrap();
    let (place, _) = kept.match_indices(':').next().unwrap();
    assert!(1 < kept.lines().count(), "{kept}");
    let whole = kept.clone();
    let mut damaged = kept.into_bytes();
    damaged[place + 1] ^= 1;
    fs::write(&file, damaged).unwrap();
    // What it repairs is told before the first visit, so any time is enough.
    let mut crawl = stage.crawl_on();
    crawl.args(["--interval", "0s", "--for", "1s"]);
    let said = run(crawl).err;
    let told = "repaired: what servers asked for: 1 lines of state/servers.jsonl were damaged";
    assert!(said.contains(told), "{said}");
    // One flipped bit is found: whoever asked for rest has it.
    assert!(said.contains("1 had one flipped bit"), "{said}");
    let mended = fs::read_to_string(&file).unwrap();
    let first = |text: &str| text.split(',').next().unwrap_or_default().to_owned();
    assert_eq!(first(&mended), first(&whole));
}

#[test]
fn the_robots_txt_of_http_says_nothing_of_https() {
    let stage = Stage::new(small_web(), "");
    let mut crawl = stage.crawl();
    crawl
        .args(stage.web.seeds())
        .args(["--interval", "0s", "--quiet"]);
    run(crawl).expect(0);
    let page = stage.url("host0.test", "/private/1");
    let told = ask(&stage, &["explain", &page]).expect(0).out;
    assert!(told.contains("not allowed by line"), "{told}");
    let secure = page.replace("http://", "https://");
    let told = ask(&stage, &["explain", &secure]).expect(0).out;
    assert!(told.contains("no robots.txt for this scheme"), "{told}");
}

#[test]
fn what_the_user_leaves_out_is_no_trouble() {
    let stage = Stage::new(small_web(), "");
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args([
        "--scope",
        "any",
        "--interval",
        "0s",
        "--pages",
        "2",
        "--quiet",
    ]);
    run(crawl).expect(0);
    let mut crawl = stage.crawl();
    crawl.args([
        "--interval",
        "0s",
        "--scope",
        "any",
        "--exclude",
        "host[01].test:[0-9]*/[a-z]",
        "--json",
    ]);
    let said = run(crawl).expect(0).out;
    let summary: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    let progress = &summary["summary"]["progress"];
    assert!(0 < progress["out_of_scope"].as_u64().unwrap(), "{summary}");
    assert_eq!(progress["trouble"], Value::Null, "{summary}");
    assert_eq!(progress["errors"], 0, "{summary}");
    let events = stage.events();
    let left_out = events
        .iter()
        .filter(|event| event.result.contains("exclude"));
    assert!(0 < left_out.count(), "the log says so all the same");
}

#[test]
fn an_error_about_a_file_names_it() {
    let stage = Stage::new(small_web(), "");
    let mut crawl = stage.crawl();
    crawl
        .args(stage.web.seeds())
        .args(["--pages", "2", "--interval", "0s", "--quiet"]);
    run(crawl).expect(0);
    let spoil = |name: &str| {
        let file = stage.archive().join(name);
        fs::rename(&file, file.with_extension("aside")).unwrap();
        fs::create_dir(&file).unwrap();
        file
    };
    let mend = |file: &Path| {
        fs::remove_dir(file).unwrap();
        fs::rename(file.with_extension("aside"), file).unwrap();
    };
    let page = stage.url("host0.test", "/");
    for (name, words) in [
        ("state/seeds.txt", vec!["explain", &page]),
        ("state/planner", vec!["explain", &page]),
        ("state/servers.jsonl", vec!["explain", &page]),
        ("logs/events.jsonl", vec!["explain", &page]),
        ("state/LOCK", vec!["pause", "host0.test"]),
        ("state/seeds.txt", vec!["crawl", "--allow-private"]),
        ("logs/crawl.log", vec!["crawl", "--allow-private"]),
    ] {
        let file = spoil(name);
        let refused = ask(&stage, &words).expect(1).err;
        assert!(refused.contains(name), "{words:?}: {refused}");
        assert!(refused.contains("because: "), "{words:?}: {refused}");
        mend(&file);
    }
}
