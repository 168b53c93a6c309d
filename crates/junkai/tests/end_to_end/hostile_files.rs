//! Data files that mean harm, fetched live: what is too long is cut off, what cannot be read is reported, and the rest is collected.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, thread};

use junkai_testweb::{FolderConfig, TestWebConfig};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Running, Stage, junkai, peak_bytes, run, wait_until};

/// The length of the file, as its server tells it.
const FILE_BYTES: u64 = 5 << 30;
/// What the settings let come of one file, and what may be under way in the buffers of both sides besides.
const BODY_BYTES_MAX: u64 = 8 << 20;
const BUFFERS_BYTES: u64 = 16 << 20;
/// What the program may take at its peak, in the unoptimised build of the tests.
const PEAK_BYTES_MAX: u64 = 400_000_000;

/// Serves one CSV file of five gigabytes and nothing else; counts the bytes of it that could be sent.
struct LargeFile {
    port: u16,
    sent: Arc<AtomicU64>,
}

impl LargeFile {
    fn serve() -> LargeFile {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let sent = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&sent);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // The client goes when it has had enough.
                let _gone = answer(stream, &counter);
            }
        });
        LargeFile { port, sent }
    }
}

fn answer(mut stream: TcpStream, sent: &AtomicU64) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines
        .next()
        .transpose()?
        .is_some_and(|line| !line.is_empty())
    {}
    if !request.contains(" /large.csv ") {
        return stream.write_all(
            b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        );
    }
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\ncontent-length: {FILE_BYTES}\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(b"region,2018,2019,2020,2021\n")?;
    let mut rows = String::new();
    for row in 0..2000 {
        writeln!(
            rows,
            "region {row},{},{},{},{}",
            900 + row,
            950 + row,
            990 + row,
            1010 + row
        )
        .unwrap();
    }
    loop {
        stream.write_all(rows.as_bytes())?;
        sent.fetch_add(rows.len() as u64, Ordering::Relaxed);
    }
}

#[test]
fn a_file_of_gigabytes_costs_what_the_settings_say() {
    let folder = TempDir::new().unwrap();
    let file = LargeFile::serve();
    let config = folder.path().join("junkai.toml");
    fs::write(
        &config,
        format!("[fetch]\nmax_body_bytes = \"{BODY_BYTES_MAX}B\"\n"),
    )
    .unwrap();
    let archive = folder.path().join("archive");
    let url = format!("http://127.0.0.1:{}/large.csv", file.port);
    let mut collect = junkai();
    collect.args([
        "focus",
        "collect",
        "--site",
        &url,
        "--json",
        "--interval",
        "20ms",
    ]);
    collect
        .args(["--allow", "127.0.0.0/8", "--archive"])
        .arg(&archive);
    collect.arg("--config").arg(&config);
    let mut running = Running::start(collect);
    let mut peak = 0;
    wait_until("the file is collected", || {
        peak = peak_bytes(running.id()).unwrap_or(peak);
        !running.is_running()
    });
    running.wait().expect(0);
    let sent = file.sent.load(Ordering::Relaxed);
    println!(
        "{} MB sent of {} MB, peak {} MB",
        sent >> 20,
        FILE_BYTES >> 20,
        peak >> 20
    );
    assert!(
        0 < sent && sent <= BODY_BYTES_MAX + BUFFERS_BYTES,
        "{sent} bytes were sent"
    );
    assert!(peak < PEAK_BYTES_MAX, "{peak} bytes of memory");
    let entries = fs::read_to_string(archive.join("focus/catalogue.jsonl")).unwrap();
    let entry: Value = serde_json::from_str(entries.lines().next().unwrap()).unwrap();
    // A row is about thirty bytes long; what did not come is estimated.
    let rows = entry["rows"].as_u64().unwrap();
    assert!(
        (FILE_BYTES / 60..FILE_BYTES / 15).contains(&rows),
        "{entry}"
    );
}

/// The program that reads PDF, on the path.
fn with_pdftotext(mut command: Command) -> Command {
    let program = env::var_os("JUNKAI_PDFTOTEXT").expect(
        "JUNKAI_PDFTOTEXT must name poppler's pdftotext: run `cargo xtask test`, which sets it up",
    );
    let folder = std::path::Path::new(&program).parent().unwrap().to_owned();
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder).chain(env::split_paths(&path));
    command.env("PATH", env::join_paths(folders).unwrap());
    command
}

/// A file of one page that shows these lines (ISO 32000-1, section 7.5); its table of places is left to readers.
fn pdf(lines: &[String], trailer: &str) -> Vec<u8> {
    let shown = lines.iter().map(|line| format!("({line}) Tj 0 -14 Td "));
    let content = format!("BT /F 10 Tf 50 740 Td {}ET", shown.collect::<String>());
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>".to_owned(),
        "<< /Filter /Standard /V 1 /R 2 /O (12345678901234567890123456789012) /U (12345678901234567890123456789012) /P -4 >>".to_owned(),
    ];
    let mut file = "%PDF-1.4\n".to_owned();
    for (number, object) in (1..).zip(&objects) {
        write!(file, "{number} 0 obj\n{object}\nendobj\n").unwrap();
    }
    write!(
        file,
        "trailer << /Size 7 /Root 1 0 R {trailer} >>\nstartxref\n0\n%%EOF\n"
    )
    .unwrap();
    file.into_bytes()
}

/// A file's name, its bytes, and what is said of it if it cannot be read.
type Case = (&'static str, Vec<u8>, Option<&'static str>);

/// Serves a site of these files.
fn serve(folder: TempDir, files: &[Case]) -> Stage {
    let site = folder.path().join("site");
    fs::create_dir(&site).unwrap();
    let mut index = String::from("<html><title>Statistics</title><h1>Population statistics</h1>");
    for (name, bytes, _) in files {
        fs::write(site.join(name), bytes).unwrap();
        write!(index, "<a href=\"/{name}\">Births and deaths by year</a>").unwrap();
    }
    fs::write(site.join("index.html"), index).unwrap();
    let web = TestWebConfig {
        hosts: 0,
        folders: vec![FolderConfig {
            host: "files.test".to_owned(),
            path: site,
        }],
        ..TestWebConfig::default()
    };
    Stage::in_folder(folder, web, "")
}

#[test]
fn pdf_is_read_by_workers_and_what_cannot_be_read_is_reported() {
    let folder = TempDir::new().unwrap();
    let rows = (2010..2025).map(|year| format!("{year}      {}      {}", year * 7, year * 3));
    let table: Vec<String> = std::iter::once("Year      Births      Deaths".to_owned())
        .chain(rows)
        .collect();
    let files = [
        ("births.pdf", pdf(&table, ""), None),
        (
            "locked.pdf",
            pdf(&table, "/Encrypt 6 0 R /ID [(a) (a)]"),
            Some("no text"),
        ),
        (
            "garbage.pdf",
            b"%PDF-1.7\n\xFF\xFE\0".repeat(1000),
            Some("no text"),
        ),
        (
            "damaged.xlsx",
            b"PK\x03\x04not a package".to_vec(),
            Some("damaged"),
        ),
    ];
    let stage = serve(folder, &files);
    let mut collect = with_pdftotext(junkai());
    collect.args(["focus", "collect", "--interval", "20ms", "--json"]);
    collect.args([
        "--allow",
        "127.0.0.0/8",
        "--dns",
        &stage.web.dns().to_string(),
    ]);
    collect.args(["--site", &stage.url("files.test", "/"), "--archive"]);
    collect.arg(stage.archive());
    run(collect).expect(0);
    let found = fs::read_to_string(stage.archive().join("focus/files.jsonl")).unwrap();
    let found: Vec<Value> = found
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(found.len(), files.len(), "{found:?}");
    for (name, _, refused) in &files {
        let url = stage.url("files.test", &format!("/{name}"));
        let line = found
            .iter()
            .find(|line| line["url"] == url.as_str())
            .unwrap();
        match refused {
            Some(why) => assert!(
                line["refused"].as_str().unwrap_or_default().contains(why),
                "{line}"
            ),
            None => assert_eq!(line["refused"], Value::Null, "{line}"),
        }
    }
    let entries = fs::read_to_string(stage.archive().join("focus/catalogue.jsonl")).unwrap();
    let births = entries
        .lines()
        .find(|line| line.contains("/births.pdf"))
        .unwrap();
    let births: Value = serde_json::from_str(births).unwrap();
    assert_eq!(births["rows"], 15, "{births}");
}
