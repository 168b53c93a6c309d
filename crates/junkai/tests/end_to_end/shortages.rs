//! What a machine has little of: memory for answers, file descriptors, somebody who reads what is printed, a thread for each who asks. A crawl
//! lives with that and charges it to nobody.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use junkai_testweb::TestWebConfig;
use serde_json::Value;

use crate::changing::STOPPED;
use crate::support::{Running, Stage, junkai, peak_bytes, run, wait_until};

/// What a crawl may take at its peak at the default settings, whatever servers do.
const PEAK_BYTES_MAX: u64 = 512_000_000;

/// Hosts on servers of their own, each with a few pages.
fn web(hosts: usize) -> TestWebConfig {
    TestWebConfig {
        hosts,
        addresses: u32::try_from(hosts).unwrap(),
        pages: 5 * hosts as u64,
        page_bytes: 4000,
        seeds: hosts,
        ..TestWebConfig::default()
    }
}

/// A crawl of the whole web that takes no longer than it must.
fn quick_crawl(stage: &Stage) -> Command {
    let mut crawl = stage.crawl();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "0s"]);
    crawl
}

/// A command in a shell that first does something else.
fn in_shell(script: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.env_remove("JUNKAI_CONTACT").env_remove("RUST_LOG");
    shell.args(["-c", script, "sh"]).arg(command.get_program());
    shell.args(command.get_args());
    shell
}

fn assert_every_page_was_had(stage: &Stage) {
    let events = stage.events();
    let had = events.iter().filter(|event| event.status == 200);
    let had: BTreeSet<&str> = had.map(|event| &*event.url).collect();
    let missing: Vec<String> = stage
        .web
        .pages()
        .filter(|page| !had.contains(page.as_str()))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn with_few_file_descriptors_every_page_is_had_and_no_server_is_blamed() {
    for open_files in [64, 100] {
        let stage = Stage::new(web(40), "[crawl]\nworkers = 2\n");
        let mut crawl = quick_crawl(&stage);
        crawl.arg("--json");
        let script = format!("ulimit -n {open_files} && exec \"$@\"");
        let finished = run(in_shell(&script, &crawl)).expect(0);
        assert_every_page_was_had(&stage);
        let summary: Value = serde_json::from_str(finished.out.lines().last().unwrap()).unwrap();
        assert_eq!(summary["summary"]["ended"], "complete");
        for counter in ["errors", "retried"] {
            let count = &summary["summary"]["progress"][counter];
            assert_eq!(count, 0, "{counter}: {}", finished.all());
        }
        let told = format!("the system allows {open_files} open files");
        assert!(finished.err.contains(&told), "{}", finished.all());
    }
    let stage = Stage::new(web(1), "[crawl]\nworkers = 2\n");
    let crawl = quick_crawl(&stage);
    let finished = run(in_shell("ulimit -n 24 && exec \"$@\"", &crawl)).expect(1);
    assert!(finished.err.contains("ulimit -n"), "{}", finished.all());
}

/// Servers that send much of a body at once, and then next to nothing.
struct Tricklers {
    addresses: Vec<SocketAddr>,
    /// Those that have sent what they send at once.
    sent: Arc<AtomicUsize>,
}

const TRICKLED_BYTES: usize = 12_000_000;

impl Tricklers {
    fn start(count: u8) -> Tricklers {
        let sent = Arc::new(AtomicUsize::new(0));
        let serve = |number| {
            let listener = TcpListener::bind((Ipv4Addr::new(127, 77, 0, number), 0)).unwrap();
            let (address, sent) = (listener.local_addr().unwrap(), Arc::clone(&sent));
            std::thread::spawn(move || {
                for stream in listener.incoming() {
                    let (stream, sent) = (stream.unwrap(), Arc::clone(&sent));
                    // Whoever is visited has to bear that the visitor goes.
                    std::thread::spawn(move || drop(trickle(&stream, &sent)));
                }
            });
            address
        };
        Tricklers {
            addresses: (1..=count).map(serve).collect(),
            sent,
        }
    }
}

fn trickle(mut stream: &TcpStream, sent: &AtomicUsize) -> std::io::Result<()> {
    loop {
        let mut lines = BufReader::new(stream).lines();
        let request = lines.next().ok_or(std::io::ErrorKind::UnexpectedEof)??;
        while !lines
            .next()
            .ok_or(std::io::ErrorKind::UnexpectedEof)??
            .is_empty()
        {}
        if request.contains("/robots.txt") {
            stream.write_all(b"HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n")?;
            continue;
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 33000000\r\n\r\n")?;
        let piece = vec![b'x'; 100_000];
        for _ in 0..TRICKLED_BYTES / piece.len() {
            stream.write_all(&piece)?;
        }
        sent.fetch_add(1, Ordering::SeqCst);
        loop {
            stream.write_all(b"a little more")?;
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn many_large_bodies_at_once_take_little_memory() {
    const SERVERS: u8 = 60;
    let tricklers = Tricklers::start(SERVERS);
    let stage = Stage::new(web(1), "");
    let mut crawl = stage.crawl();
    crawl.args(["--scope", "page", "--interval", "0s", "--quiet"]);
    crawl.args(
        tricklers
            .addresses
            .iter()
            .map(|address| format!("http://{address}/large")),
    );
    let mut running = Running::start(crawl);
    let mut peak = 0;
    wait_until("all of them have sent most of a body", || {
        peak = peak_bytes(running.id()).unwrap_or(peak);
        assert!(running.is_running(), "{}", running.printed());
        tricklers.sent.load(Ordering::SeqCst) == usize::from(SERVERS)
    });
    let names = std::fs::read_dir(stage.archive().join("state")).unwrap();
    let names: Vec<String> = names
        .map(|name| name.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("tmp"))
        .collect();
    assert!(names.is_empty(), "large bodies have no name: {names:?}");
    running.interrupt();
    running.wait().expect(STOPPED);
    println!("peak {} MB", peak / 1_000_000);
    assert!(peak < PEAK_BYTES_MAX, "{peak} bytes");
}

/// Bytes that each of the small answers below unpacks to.
const UNPACKED_BYTES: usize = 60_000_000;

/// Servers that answer every request with some kilobytes that unpack to a large page.
fn start_bombers(count: u8) -> Vec<SocketAddr> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let piece = "<p>A page that is long and says little. ".repeat(1000);
    for _ in 0..UNPACKED_BYTES / piece.len() {
        gzip.write_all(piece.as_bytes()).unwrap();
    }
    let packed: Arc<[u8]> = gzip.finish().unwrap().into();
    let serve = |number| {
        let listener = TcpListener::bind((Ipv4Addr::new(127, 78, 0, number), 0)).unwrap();
        let (address, packed) = (listener.local_addr().unwrap(), Arc::clone(&packed));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, packed) = (stream.unwrap(), Arc::clone(&packed));
                std::thread::spawn(move || drop(answer_packed(&stream, &packed)));
            }
        });
        address
    };
    (1..=count).map(serve).collect()
}

fn answer_packed(mut stream: &TcpStream, packed: &[u8]) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().ok_or(std::io::ErrorKind::UnexpectedEof)??;
    while lines
        .next()
        .transpose()?
        .is_some_and(|line| !line.is_empty())
    {}
    if request.contains("/robots.txt") {
        return stream
            .write_all(b"HTTP/1.1 404 None\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
    let kind = if request.contains(".pdf") {
        "application/pdf"
    } else {
        "text/html"
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        packed.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(packed)
}

/// Each of many workers has one at the same time.
#[test]
fn many_bodies_that_unpack_to_much_take_little_memory() {
    const SERVERS: u8 = 12;
    let addresses = start_bombers(SERVERS);
    let stage = Stage::new(web(1), &format!("[crawl]\nworkers = {SERVERS}\n"));
    let mut crawl = stage.crawl();
    crawl.args(["--scope", "page", "--interval", "0s", "--quiet"]);
    let seeds = addresses.iter();
    crawl.args(seeds.map(|address| format!("http://{address}/large")));
    let mut running = Running::start(crawl);
    let mut peak = 0;
    wait_until("all of them are read", || {
        peak = peak_bytes(running.id()).unwrap_or(peak);
        !running.is_running()
    });
    running.wait().expect(0);
    let events = stage.events();
    let read = |event: &&junkai_crawler::LogEvent<'_>| event.url.ends_with("/large");
    let read: Vec<_> = events.iter().filter(read).collect();
    assert_eq!(read.len(), usize::from(SERVERS), "{events:?}");
    assert!(read.iter().all(|event| event.status == 200), "{read:?}");
    println!("peak {} MB", peak / 1_000_000);
    assert!(peak < PEAK_BYTES_MAX, "{peak} bytes");
}

/// The program that reads PDF is slow, so that each of many workers would have a large file in memory at the same time.
#[test]
fn many_pdf_files_that_unpack_to_much_take_little_memory() {
    const SERVERS: u8 = 12;
    const SLOW_READER: &str = "#!/bin/sh\ncat > /dev/null\nsleep 1\necho nothing\n";
    let addresses = start_bombers(SERVERS);
    let stage = Stage::new(web(1), &format!("[crawl]\nworkers = {SERVERS}\n"));
    let reader = stage.path("pdftotext");
    std::fs::write(&reader, SLOW_READER).unwrap();
    std::fs::set_permissions(&reader, Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(reader.parent().unwrap().to_owned());
    let folders = folders.chain(std::env::split_paths(&path));
    let mut collect = junkai();
    collect.env("PATH", std::env::join_paths(folders).unwrap());
    collect.args(["focus", "collect", "--interval", "0s", "--quiet"]);
    collect.args(["--allow", "127.0.0.0/8", "--archive"]);
    collect.arg(stage.archive());
    collect.arg("--config").arg(stage.path("junkai.toml"));
    for address in &addresses {
        collect.args(["--site", &format!("http://{address}/large.pdf")]);
    }
    let mut running = Running::start(collect);
    let mut peak = 0;
    wait_until("all of them are read", || {
        peak = peak_bytes(running.id()).unwrap_or(peak);
        !running.is_running()
    });
    running.wait().expect(0);
    let events = stage.events();
    let read = events.iter().filter(|event| event.url.ends_with(".pdf"));
    assert_eq!(read.count(), usize::from(SERVERS), "{events:?}");
    println!("peak {} MB", peak / 1_000_000);
    assert!(peak < PEAK_BYTES_MAX, "{peak} bytes");
}

#[test]
fn a_crawl_goes_on_when_nobody_reads_what_it_prints() {
    // Every visit is told, so that much is printed to nobody.
    for script in [
        "exec \"$@\" 2>&-",
        "exec \"$@\" >&-",
        "exec \"$@\" >&- 2>&-",
        "{ \"$@\" 2>&1; echo $? >&3; } 3>&1 >/dev/null | head -1 >&2",
    ] {
        let stage = Stage::new(web(4), "");
        let mut crawl = quick_crawl(&stage);
        crawl.args(["-vv", "--json"]);
        run(in_shell(script, &crawl)).expect(0);
        assert_every_page_was_had(&stage);
    }
    let stage = Stage::new(web(4), "");
    let mut crawl = quick_crawl(&stage);
    crawl.arg("-vv");
    crawl.stdin(Stdio::null());
    let mut child = crawl
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_every_page_was_had(&stage);
    // A command that fails says why to nobody, and fails no otherwise.
    let mut failing = junkai();
    failing.args(["pause", "--archive", "/nonexistent", "--all"]);
    let mut child = failing.stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn slow_clients_of_the_control_socket_delay_nobody_and_are_let_go() {
    let stage = Stage::new(web(4), "");
    let mut crawl = stage.crawl_on();
    crawl.args(stage.web.seeds());
    crawl.args(["--scope", "any", "--interval", "0s", "--quiet"]);
    let running = Running::start(crawl);
    let socket = stage.archive().join("state/control.sock");
    let connect = || UnixStream::connect(&socket);
    wait_until("the crawl listens", || connect().is_ok());
    let ask = |mut client: UnixStream| {
        client.write_all(b"explain http://a.example/\n").unwrap();
        client
    };
    let asking: Vec<UnixStream> = (0..7).map(|_| ask(connect().unwrap())).collect();
    let slow: Vec<UnixStream> = (0..70).map(|_| connect().unwrap()).collect();
    // Each says a little all the time and never comes to an end, until it is let go.
    let dripping = std::thread::spawn(move || {
        let mut slow = slow;
        while !slow.is_empty() {
            slow.retain_mut(|client| client.write_all(b"e").is_ok());
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    for name in ["pause", "resume"] {
        let mut command = junkai();
        command.args([name, "--all", "--json", "--archive"]);
        command.arg(stage.archive());
        let told = run(command).expect(0);
        let told: Value = serde_json::from_str(&told.out).unwrap();
        assert_eq!(told["when"], "now", "the running crawl has heard it");
    }
    for mut client in asking {
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.ends_with("}\n"), "{answer}");
    }
    dripping.join().unwrap();
    running.interrupt();
    running.wait().expect(STOPPED);
}
