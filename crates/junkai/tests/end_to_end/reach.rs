//! What some hosts get besides the request, and the way through proxies: headers, cookies, logins; and that no secret is left behind.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use flate2::read::MultiGzDecoder;
use junkai_crawler::LogEvent;
use junkai_testweb::TestWebConfig;

use crate::changing::STOPPED;
use crate::proxy_server::{Manners, ProxyServer};
use crate::support::{Finished, Running, Stage, files, junkai, run, wait_until};

/// A problem, as the shell is told.
const PROBLEMS: i32 = 4;
/// A wrong configuration, as the shell is told.
const BAD_COMMAND_LINE: i32 = 2;
const BAD_CONFIGURATION: i32 = 3;

const PASSWORD: &str = "op3n-sesame";
/// `me:op3n-sesame`, as it is sent.
const SENT: &str = "bWU6b3Azbi1zZXNhbWU=";
const SESSION: &str = "c00kie-s3cret";

/// A web of two hosts, one of which wants to know who asks, that notes what it is sent.
#[derive(Clone)]
struct LoginWeb {
    port: u16,
    authorization: &'static str,
    requests: Arc<Mutex<Vec<(IpAddr, String)>>>,
}

impl LoginWeb {
    fn start(authorization: &'static str) -> LoginWeb {
        let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = closed.local_addr().unwrap().port();
        let other = TcpListener::bind((Ipv4Addr::new(127, 0, 0, 2), port)).unwrap();
        let web = LoginWeb {
            port,
            authorization,
            requests: Arc::default(),
        };
        for listener in [closed, other] {
            let web = web.clone();
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let web = web.clone();
                    std::thread::spawn(move || web.serve(stream));
                }
            });
        }
        web
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn serve(&self, mut stream: TcpStream) {
        let address = stream.local_addr().unwrap().ip();
        let mut request = Vec::new();
        let mut byte = [0];
        while let Ok(1) = stream.read(&mut byte) {
            request.push(byte[0]);
            if request.ends_with(b"\r\n\r\n") {
                let text = String::from_utf8(std::mem::take(&mut request)).unwrap();
                let answer = self.answer(address, &text);
                self.requests.lock().unwrap().push((address, text));
                drop(stream.write_all(answer.as_bytes()));
            }
        }
    }

    fn answer(&self, address: IpAddr, request: &str) -> String {
        let path = request.split(' ').nth(1).unwrap();
        let other = format!("http://127.0.0.2:{}", self.port);
        let is_other = address != IpAddr::V4(Ipv4Addr::LOCALHOST);
        let wanted = format!("\r\nAuthorization: {}\r\n", self.authorization);
        let (status, fields, body) = match path {
            "/robots.txt" => ("404 Not Found", String::new(), String::new()),
            _ if is_other => ("200 OK", String::new(), "landed".to_owned()),
            _ if !request.contains(&wanted) => ("401 Unauthorized", String::new(), String::new()),
            "/away" => (
                "302 Found",
                format!("Location: {other}/landing\r\n"),
                String::new(),
            ),
            _ => {
                let body =
                    format!("<a href=/next>n</a> <a href=/away>a</a> <a href={other}/linked>l</a>");
                (
                    "200 OK",
                    "Set-Cookie: theirs=1; Path=/\r\n".to_owned(),
                    body,
                )
            }
        };
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\n{fields}Content-Type: text/html\r\nContent-Length: {length}\r\n\r\n{body}"
        )
    }

    /// What one host was sent.
    fn sent_to(&self, last: u8) -> Vec<String> {
        let address = IpAddr::V4(Ipv4Addr::new(127, 0, 0, last));
        let requests = self.requests.lock().unwrap();
        let sent = requests.iter().filter(|(to, _)| *to == address);
        sent.map(|(_, request)| request.clone()).collect()
    }
}

/// Everything that is in a folder, uncompressed.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut contents = Vec::new();
    for path in files(folder) {
        if path.is_dir() {
            contents.extend(self::contents(&path));
        } else if let Ok(bytes) = fs::read(&path) {
            let mut plain = Vec::new();
            if MultiGzDecoder::new(&bytes[..])
                .read_to_end(&mut plain)
                .is_ok()
            {
                contents.push((path.display().to_string(), plain));
            }
            contents.push((path.display().to_string(), bytes));
        }
    }
    contents
}

/// Asserts that no secret stands in an archive, nor in what was printed.
fn assert_hidden(archive: &Path, finished: &Finished, secrets: &[&str]) {
    let holds = |bytes: &[u8], secret: &str| {
        bytes
            .windows(secret.len())
            .any(|part| part == secret.as_bytes())
    };
    for secret in secrets {
        for (name, bytes) in contents(archive) {
            assert!(!holds(&bytes, secret), "{secret} stands in {name}");
        }
        assert!(!finished.out.contains(secret), "{}", finished.out);
        assert!(!finished.err.contains(secret), "{}", finished.err);
    }
}

fn crawl(archive: &Path, seed: &str) -> Command {
    let mut command = junkai();
    command.args([
        "crawl",
        seed,
        "--once",
        "--interval",
        "0s",
        "--scope",
        "any",
    ]);
    command.args(["--allow", "127.0.0.0/8", "-vv", "--archive"]);
    command.arg(archive);
    command
}

#[test]
fn logins_and_cookies_reach_their_hosts_and_are_left_nowhere_else() {
    let web = LoginWeb::start("Basic bWU6b3Azbi1zZXNhbWU=");
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    let (login, cookies) = (
        folder.path().join("login"),
        folder.path().join("cookies.txt"),
    );
    fs::write(&login, format!("me:{PASSWORD}\n")).unwrap();
    fs::write(&cookies, format!("# Netscape HTTP Cookie File\n#HttpOnly_127.0.0.1\tFALSE\t/\tTRUE\t0\tsession\t{SESSION}\n")).unwrap();
    let mut command = crawl(&archive, &web.url("/"));
    command
        .arg("--login")
        .arg(format!("127.0.0.1:{}={}", web.port, login.display()));
    command.arg("--cookies").arg(&cookies).arg("--keep-cookies");
    command.args(["--header", "Accept-Language: ja"]);
    let finished = run(command).expect(0);
    let first = web.sent_to(1);
    let pages: BTreeSet<&str> = first
        .iter()
        .filter_map(|text| text.split(' ').nth(1))
        .collect();
    assert_eq!(
        pages,
        BTreeSet::from(["/", "/away", "/next", "/robots.txt"])
    );
    for request in &first {
        assert!(
            request.contains(&format!("\r\nAuthorization: Basic {SENT}\r\n")),
            "{request}"
        );
        assert!(
            request.contains(&format!("\r\nCookie: session={SESSION}")),
            "{request}"
        );
        assert!(request.contains("\r\nAccept-Language: ja\r\n"), "{request}");
    }
    let next = first
        .iter()
        .find(|text| text.starts_with("GET /next "))
        .unwrap();
    assert!(next.contains("; theirs=1\r\n"), "{next}");
    let other = web.sent_to(2);
    assert_eq!(
        other.len(),
        3,
        "robots.txt, a link and a redirect: {other:?}"
    );
    for request in &other {
        assert!(request.contains("\r\nAccept-Language: ja\r\n"), "{request}");
        assert!(
            !request.contains("Authorization") && !request.contains("Cookie"),
            "{request}"
        );
    }
    let secrets = [PASSWORD, SENT, SESSION];
    assert_hidden(&archive, &finished, &secrets);
    assert_redacted(&archive);
    let kept = fs::read_to_string(archive.join("junkai.toml")).unwrap();
    assert!(
        kept.contains(&format!("login_file = \"{}\"", login.display())),
        "{kept}"
    );
    let again = crawl_again(&archive, &web.url("/next"));
    let last = web.sent_to(1).pop().unwrap();
    assert!(
        last.starts_with("GET /next ") && last.contains(SENT),
        "{last}"
    );
    assert_hidden(&archive, &again, &secrets);
}

/// What the records of requests show of secrets, and that they are well-formed.
fn assert_redacted(archive: &Path) {
    let warc: Vec<u8> = contents(&archive.join("archive"))
        .into_iter()
        .flat_map(|(_, bytes)| bytes)
        .collect();
    let warc = String::from_utf8_lossy(&warc);
    for shown in [
        "\r\nAuthorization: Basic redacted\r\n",
        "\r\nCookie: session=redacted; theirs=1\r\n",
        "requestRedacted: authorization, cookie\r\n",
        // As the server sent it.
        "\r\nSet-Cookie: theirs=1; Path=/\r\n",
    ] {
        assert!(warc.contains(shown), "{shown}");
    }
    let mut checked = junkai();
    checked.args(["warc", "check"]);
    checked.args(files(&archive.join("archive")));
    run(checked).expect(0);
}

/// Visits a page of an archive once more, by the archive's own settings.
fn crawl_again(archive: &Path, page: &str) -> Finished {
    let mut command = junkai();
    command.args(["revisit", page, "--archive"]).arg(archive);
    run(command).expect(0);
    let mut again = junkai();
    again.args(["crawl", "--once", "--archive"]).arg(archive);
    run(again).expect(0)
}

#[test]
fn a_bearer_token_is_sent_and_its_absence_is_told_with_what_helps() {
    let web = LoginWeb::start("Bearer t0k3n");
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    let token = folder.path().join("token");
    fs::write(&token, "t0k3n\n").unwrap();
    let refused = run(crawl(&folder.path().join("vain"), &web.url("/"))).expect(PROBLEMS);
    assert!(
        refused.out.contains("401") && refused.out.contains("--login HOST=FILE"),
        "{}",
        refused.all()
    );
    let mut command = crawl(&archive, &web.url("/"));
    command
        .arg("--bearer")
        .arg(format!("127.0.0.1:{}={}", web.port, token.display()));
    let finished = run(command).expect(0);
    assert_hidden(&archive, &finished, &["t0k3n"]);
}

#[test]
fn a_secret_in_the_wrong_place_is_refused_and_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    for (flag, value, code, says) in [
        (
            "--header",
            "Authorization: Basic op3n-sesame",
            BAD_CONFIGURATION,
            "--login HOST=FILE",
        ),
        (
            "--header",
            "Cookie: a=op3n-sesame",
            BAD_CONFIGURATION,
            "--cookies FILE",
        ),
        (
            "--header",
            "X-Api-Key: op3n-sesame",
            BAD_CONFIGURATION,
            "value_file",
        ),
        (
            "--header",
            "Host: op3n-sesame",
            BAD_CONFIGURATION,
            "connections",
        ),
        ("--header", "op3n-sesame", 2, "Accept-Language: ja"),
        ("--login", "me:op3n-sesame", 2, "a host and a file"),
        (
            "--login",
            "me:op3n-sesame@a=b",
            BAD_CONFIGURATION,
            "is not a host",
        ),
        (
            "--login",
            "127.0.0.1=/no/such/file",
            BAD_CONFIGURATION,
            "cannot read /no/such/file",
        ),
        (
            "--cookies",
            "/no/such/file",
            BAD_CONFIGURATION,
            "cannot read cookies from /no/such/file",
        ),
        (
            "--proxy",
            "http://me:op3n-sesame@127.0.0.1:2",
            BAD_CONFIGURATION,
            "--proxy-login FILE",
        ),
        (
            "--proxy",
            "socks5h://127.0.0.1:2",
            BAD_CONFIGURATION,
            "socks5://",
        ),
    ] {
        let mut command = crawl(&archive, "http://127.0.0.1:1/");
        command.args([flag, value]);
        let said = run(command).expect(code).err;
        assert!(said.contains(says), "{said}");
        assert!(!said.contains(PASSWORD), "{said}");
        assert!(!archive.join("junkai.toml").exists(), "{said}");
    }
}

#[test]
fn a_host_has_one_login_and_two_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    let mut command = crawl(&archive, "http://127.0.0.1:1/");
    command.args(["--login", "a.test=one.txt", "--bearer", "A.test=two.txt"]);
    let said = run(command).expect(BAD_COMMAND_LINE).err;
    assert!(
        said.contains("--login and --bearer both name a.test"),
        "{said}"
    );
    assert!(!archive.exists(), "{said}");
}

#[test]
fn a_seed_with_a_login_is_refused_with_the_flag_to_use() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    let with_login = "http://me:op3n-sesame@127.0.0.1:1/";
    let assert_refused = |finished: &Finished| {
        let said = format!("{}{}", finished.out, finished.err);
        assert!(said.contains("--login HOST=FILE"), "{said}");
        assert!(!said.contains(PASSWORD), "{said}");
    };
    for seed in [with_login, "me:op3n-sesame@127.0.0.1"] {
        assert_refused(&run(crawl(&archive, seed)).expect(BAD_COMMAND_LINE));
        let mut unnamed = junkai();
        unnamed.args(["crawl", seed]).current_dir(folder.path());
        assert_refused(&run(unnamed).expect(BAD_COMMAND_LINE));
    }
    let list = folder.path().join("seeds.txt");
    fs::write(&list, format!("{with_login}\n")).unwrap();
    let mut command = junkai();
    command.args(["crawl", "--archive"]).arg(&archive);
    command.arg("--seeds-file").arg(&list);
    assert_refused(&run(command).expect(BAD_COMMAND_LINE));
    let settings = folder.path().join("junkai.toml");
    fs::write(&settings, format!("[crawl]\nseeds = [\"{with_login}\"]\n")).unwrap();
    let mut command = junkai();
    command.args(["crawl", "--archive"]).arg(&archive);
    command.arg("--config").arg(&settings);
    assert_refused(&run(command).expect(BAD_CONFIGURATION));
    assert!(!archive.join("junkai.toml").exists());

    let web = LoginWeb::start("nobody is let in");
    run(crawl(&archive, &web.url("/"))).expect(PROBLEMS);
    let mut command = junkai();
    command.args(["add", with_login, "--archive"]).arg(&archive);
    let refused = run(command).expect(PROBLEMS);
    assert_refused(&refused);
    assert_hidden(&archive, &refused, &[PASSWORD]);
}

fn small_web() -> TestWebConfig {
    TestWebConfig {
        hosts: 4,
        addresses: 2,
        pages: 40,
        ..TestWebConfig::default()
    }
}

#[test]
fn a_crawl_through_a_proxy_is_as_polite_and_as_complete_as_one_without() {
    let interval = Duration::from_millis(30);
    for kind in ["http", "socks5"] {
        let manners = Manners {
            login: Some("me:op3n-sesame"),
            ..Manners::default()
        };
        let proxy = ProxyServer::start(manners);
        let stage = Stage::new(small_web(), "");
        let login = stage.path("login");
        fs::write(&login, format!("me:{PASSWORD}\n")).unwrap();
        let mut command = stage.crawl();
        command.args(["--scope", "any", "--interval", "30ms", "--no-requisites"]);
        command.args(["--proxy", &format!("{kind}://{}", proxy.address)]);
        command
            .arg("--proxy-login")
            .arg(&login)
            .args(stage.web.seeds());
        let finished = run(command).expect(0);
        assert!(
            finished.err.contains(&format!(
                "all visits go through {kind}://{} (fetch.proxy)",
                proxy.address
            )),
            "{}",
            finished.all()
        );
        let events = stage.events();
        let visited: BTreeSet<&str> = events
            .iter()
            .filter(|event| event.status == 200)
            .map(|event| &*event.url)
            .collect();
        assert!(
            stage
                .web
                .pages()
                .all(|page| visited.contains(page.as_str())),
            "{}",
            finished.all()
        );
        let verdict = stage.verdict(interval);
        assert!(verdict.violations.is_empty(), "{verdict}");
        // The proxy is asked for the servers' addresses, and the archive names them.
        let servers: BTreeSet<String> = stage
            .exchanges()
            .iter()
            .map(|exchange| exchange.address.to_string())
            .collect();
        let asked: BTreeSet<String> = proxy
            .asked()
            .iter()
            .map(|target| target.rsplit_once(':').unwrap().0.to_owned())
            .collect();
        assert_eq!(asked, servers);
        let named: BTreeSet<String> = contents(&stage.archive().join("archive"))
            .iter()
            .flat_map(|(_, bytes)| {
                String::from_utf8_lossy(bytes)
                    .lines()
                    .filter_map(|line| Some(line.strip_prefix("WARC-IP-Address: ")?.to_owned()))
                    .collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(named, servers);
        assert_hidden(&stage.archive(), &finished, &[PASSWORD, SENT]);
    }
}

#[test]
fn a_proxy_that_fails_is_named_with_what_helps_and_no_server_is_blamed() {
    let stage = Stage::new(small_web(), "");
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let picky = ProxyServer::start(Manners {
        login: Some("me:op3n-sesame"),
        ..Manners::default()
    });
    let strict = ProxyServer::start(Manners {
        refuses: Some(("HTTP/1.1 403 Forbidden\r\n\r\n", 2)),
        ..Manners::default()
    });
    for (proxy, why, hint) in [
        (
            format!("http://127.0.0.1:{port}"),
            "cannot be reached",
            "--proxy none",
        ),
        (
            format!("socks5://127.0.0.1:{port}"),
            "cannot be reached",
            "--proxy none",
        ),
        (
            format!("http://{}", picky.address),
            "wants a login (407)",
            "--proxy-login FILE",
        ),
        (
            format!("http://{}", strict.address),
            "refused CONNECT",
            "ConnectPort",
        ),
        (
            format!("socks5://{}", strict.address),
            "does not allow",
            "--proxy none",
        ),
    ] {
        let archive = stage.path("vain");
        let mut command = stage.crawl_into(&archive);
        command
            .args(["--interval", "0s", "--proxy", &proxy])
            .arg(&stage.web.seeds()[0]);
        let finished = run(command).expect(PROBLEMS);
        let said = &finished.out;
        assert!(said.contains("every seed"), "{said}");
        assert!(said.contains(&format!("the proxy {proxy} {why}")), "{said}");
        assert!(said.contains(hint), "{said}");
        assert!(stage.exchanges().is_empty());
        fs::remove_dir_all(archive).unwrap();
    }
}

#[test]
fn a_proxy_that_fails_for_a_while_is_waited_for_and_no_page_is_charged() {
    // A minute, for which visits are held, passes in a fifth of a second.
    const CLOCK_SPEED: f64 = 300.0;
    let origin = UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
    let config = format!(
        "[clock]\nspeed = {CLOCK_SPEED:?}\norigin = {origin:?}\n[fetch]\nidle_connections = 0\n"
    );
    let web = TestWebConfig {
        clock_speed: CLOCK_SPEED,
        clock_origin: Some(origin),
        change_interval: Duration::ZERO,
        ..small_web()
    };
    let stage = Stage::new(web, &config);
    let proxy = ProxyServer::start(Manners::default());
    let mut command = stage.crawl_on();
    command.args([
        "--scope",
        "any",
        "--proxy",
        &format!("http://{}", proxy.address),
    ]);
    let mut crawl = Running::start({
        command.args(stage.web.seeds());
        command
    });
    let mut wait_for = |what: &str, holds: &dyn Fn(&[LogEvent<'_>]) -> bool| {
        wait_until(what, || {
            assert!(crawl.is_running(), "{}", crawl.printed());
            holds(&stage.events())
        });
    };
    wait_for("pages came", &|events| {
        5 <= events.iter().filter(|event| event.status == 200).count()
    });
    proxy.change(Manners {
        login: Some("me:op3n-sesame"),
        ..Manners::default()
    });
    wait_for("visits are held", &|events| {
        let held = events
            .iter()
            .filter(|event| event.annotations.iter().any(|word| word == "held"));
        8 <= held
            .filter(|event| event.result.contains("wants a login"))
            .count()
    });
    proxy.change(Manners::default());
    wait_for("every page was visited", &|events| {
        let answered = events.iter().filter(|event| event.status == 200);
        let answered: BTreeSet<&str> = answered.map(|event| &*event.url).collect();
        stage
            .web
            .pages()
            .all(|page| answered.contains(page.as_str()))
    });
    crawl.interrupt();
    crawl.wait().expect(STOPPED);
    for event in stage.events() {
        let is_charged = event.result.contains("given up")
            || event.annotations.iter().any(|word| word == "retry");
        assert!(!is_charged, "{event:?}");
    }
}

#[test]
fn the_usual_variables_name_the_proxy_but_not_for_this_machine() {
    let stage = Stage::new(small_web(), "");
    let mut command = stage.crawl();
    // Nobody could go through this one.
    command
        .env("all_proxy", "socks5://127.0.0.1:1")
        .args(["--interval", "0s", "--pages", "2"]);
    command.arg(&stage.web.seeds()[0]);
    let finished = run(command).expect(0);
    assert!(
        finished
            .err
            .contains("all visits go through socks5://127.0.0.1:1 (all_proxy)"),
        "{}",
        finished.all()
    );
    let mut command = stage.crawl();
    command
        .env("all_proxy", "socks5h://127.0.0.1:1")
        .arg(&stage.web.seeds()[0]);
    let refused = run(command).expect(BAD_CONFIGURATION);
    assert!(
        refused.err.contains("all_proxy") && refused.err.contains("--proxy none"),
        "{}",
        refused.all()
    );
}
