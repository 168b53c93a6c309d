//! The stage of a test: a web, an archive, the program that is run, killed and asked, and the logs of both sides.

use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use junkai_chance::Chance;
use junkai_crawler::LogEvent;
use junkai_testweb::{Exchange, TestWeb, TestWebConfig, Verdict, judge};
use tempfile::TempDir;

/// No single step of a test takes so long, even on a machine that compiles meanwhile; beyond it something hangs.
const PATIENCE: Duration = Duration::from_mins(10);

/// Between two looks at something that is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A web on loopback and an empty archive to crawl it into.
pub(crate) struct Stage {
    pub(crate) web: TestWeb,
    config: String,
    folder: TempDir,
}

impl Stage {
    /// Serves the web; `config` is the text of the crawl's configuration file.
    pub(crate) fn new(web: TestWebConfig, config: &str) -> Stage {
        Stage::in_folder(tempfile::tempdir().unwrap(), web, config)
    }

    /// The same, with everything that is written in a folder of its own.
    pub(crate) fn in_folder(folder: TempDir, web: TestWebConfig, config: &str) -> Stage {
        let web = TestWebConfig {
            log: Some(folder.path().join("access.log")),
            ..web
        };
        fs::write(folder.path().join("junkai.toml"), config).unwrap();
        Stage {
            web: TestWeb::start(web).unwrap(),
            config: config.to_owned(),
            folder,
        }
    }

    pub(crate) fn archive(&self) -> PathBuf {
        self.folder.path().join("archive")
    }

    /// A file or folder of the test's own.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `junkai crawl` of this web into this archive, to its end; seeds and further flags are to be added.
    pub(crate) fn crawl(&self) -> Command {
        self.crawl_into(&self.archive())
    }

    /// The same, into another folder.
    pub(crate) fn crawl_into(&self, archive: &Path) -> Command {
        let mut command = self.crawl_on_into(archive);
        command.arg("--once");
        command
    }

    /// A crawl of this web into this archive that goes on until it is stopped.
    pub(crate) fn crawl_on(&self) -> Command {
        self.crawl_on_into(&self.archive())
    }

    fn crawl_on_into(&self, archive: &Path) -> Command {
        let mut command = junkai();
        command.arg("crawl").arg("--archive").arg(archive);
        command.arg("--config").arg(self.path("junkai.toml"));
        command.args(["--dns", &self.web.dns().to_string()]);
        if !self.config.contains("[addresses]") {
            // Loopback alone: whatever a page says, no test leaves this machine.
            command.args(["--allow", "127.0.0.0/8"]);
        }
        command
    }

    /// What the web's servers saw so far, in the order of starts.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.web.flush_log();
        let text = fs::read_to_string(self.web.log_path().unwrap()).unwrap();
        let mut exchanges: Vec<Exchange> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        exchanges.sort_by_key(|exchange| exchange.start);
        exchanges
    }

    /// The judge's verdict on everything so far.
    pub(crate) fn verdict(&self, interval: Duration) -> Verdict {
        self.web.flush_log();
        judge(self.web.log_path().unwrap(), interval).unwrap()
    }

    pub(crate) fn events(&self) -> Vec<LogEvent<'static>> {
        events(&self.archive())
    }

    /// The URL of a path at a host of this web.
    pub(crate) fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.web.http_port())
    }
}

/// The program under test.
pub(crate) fn junkai() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_junkai"));
    command.env_remove("JUNKAI_CONTACT").env_remove("RUST_LOG");
    for scheme in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
        command.env_remove(scheme).env_remove(scheme.to_uppercase());
    }
    command
}

/// A Python that has warcio, cdxj-indexer and pywb.
pub(crate) fn python() -> Command {
    let path = std::env::var_os("JUNKAI_PYTHON").expect(
        "JUNKAI_PYTHON must name a Python that has warcio, cdxj-indexer and pywb: run `cargo xtask test`, which sets it up",
    );
    let mut command = Command::new(path);
    command.env("PYTHONWARNINGS", "ignore");
    command
}

/// Runs a tool by its Python module.
pub(crate) fn python_tool(module: &str, arguments: &[&str], files: &[PathBuf]) -> Finished {
    let mut command = python();
    command.args([
        "-c",
        &format!("import runpy; runpy.run_module('{module}', run_name='__main__', alter_sys=True)"),
    ]);
    command.args(arguments).args(files);
    Running::start(command).wait()
}

/// Serves the archive's own folders, as they are, as pywb's collection `a`; as a proxy, byte for byte.
pub(crate) fn start_pywb(archive: &Path, folder: &Path, port: u16) -> Running {
    let config = format!(
        "collections:\n  a:\n    index_paths: {0}/indexes/\n    archive_paths: {0}/archive/\n\
         proxy:\n  coll: a\n  enable_banner: false\n  enable_content_rewrite: false\n  enable_wombat: false\n",
        archive.display()
    );
    fs::create_dir(folder).unwrap();
    fs::write(folder.join("config.yaml"), config).unwrap();
    let mut command = python();
    command.args(["-c", "from pywb.apps.cli import wayback; wayback()"]);
    command.args(["--bind", "127.0.0.1", "--port", &port.to_string()]);
    command.current_dir(folder);
    let mut pywb = Running::start(command);
    wait_until("pywb listens", || {
        assert!(pywb.is_running(), "{}", pywb.printed());
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    pywb
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Whether warcio finds every record and digest right.
pub(crate) fn assert_warcio_accepts(files: &[PathBuf]) {
    let checked = python_tool("warcio.cli", &["check"], files);
    assert_eq!(checked.code, Some(0), "{}", checked.all());
}

/// What the events of an archive report; a line that a kill tore does not count.
pub(crate) fn events(archive: &Path) -> Vec<LogEvent<'static>> {
    let text = fs::read_to_string(archive.join("logs/events.jsonl")).unwrap_or_default();
    text.split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// The files of an archive's WARC or index folder, by name.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

/// The lines of a whole index, sorted.
pub(crate) fn index_lines(archive: &Path) -> Vec<String> {
    let mut lines: Vec<String> = files(&archive.join("indexes"))
        .iter()
        .flat_map(|file| {
            let text = fs::read_to_string(file).unwrap();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    lines.sort_unstable();
    lines
}

/// Waits until something holds.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(LOOK_EVERY);
    }
}

/// The program while it runs. Dropping it kills it.
pub(crate) struct Running {
    child: Child,
    out: File,
    err: File,
    what: String,
}

/// What became of a run.
pub(crate) struct Finished {
    /// The exit code; none after a signal.
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
    what: String,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Running {
        let out = tempfile::tempfile().unwrap();
        let err = tempfile::tempfile().unwrap();
        let what = format!("{command:?}");
        let child = command
            .stdin(Stdio::null())
            .stdout(out.try_clone().unwrap())
            .stderr(err.try_clone().unwrap())
            .spawn()
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        Running {
            child,
            out,
            err,
            what,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it by SIGKILL. Answers whether it was still running.
    pub(crate) fn kill(mut self) -> bool {
        let was_running = self.child.try_wait().unwrap().is_none();
        self.child.kill().unwrap();
        let finished = self.wait();
        assert!(
            was_running || finished.code == Some(0),
            "{}",
            finished.all()
        );
        was_running
    }

    /// Sends SIGINT, as Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// What it has printed to standard output so far.
    pub(crate) fn printed(&self) -> String {
        read_all(&self.out)
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> Finished {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if deadline <= Instant::now() => {
                    let (out, err) = (read_all(&self.out), read_all(&self.err));
                    panic!("{} does not end\n{out}\n{err}", self.what)
                }
                None => std::thread::sleep(LOOK_EVERY),
            }
        };
        Finished {
            code: status.code(),
            out: read_all(&self.out),
            err: read_all(&self.err),
            what: std::mem::take(&mut self.what),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended by itself, or a failed test leaves it behind.
        if self.child.kill().is_ok() {
            let _ended = self.child.wait();
        }
    }
}

impl Finished {
    /// Everything, for the message of a failed assertion.
    pub(crate) fn all(&self) -> String {
        let Finished {
            code,
            out,
            err,
            what,
        } = self;
        format!("{what}\nexit code {code:?}\n{out}\n{err}")
    }

    /// Asserts the exit code.
    pub(crate) fn expect(self, code: i32) -> Finished {
        assert_eq!(self.code, Some(code), "{}", self.all());
        self
    }
}

/// Runs a command to its end.
pub(crate) fn run(command: Command) -> Finished {
    Running::start(command).wait()
}

/// The most memory that a process had so far.
pub(crate) fn peak_bytes(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Reads a file that the program may be writing, without moving the place where it writes.
fn read_all(file: &File) -> String {
    let length = usize::try_from(file.metadata().unwrap().len()).unwrap();
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, 0).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a test leaves to chance, from a seed that its failures print.
pub(crate) struct Dice(Chance);

impl Dice {
    pub(crate) fn new() -> Dice {
        let seed = std::env::var("JUNKAI_TEST_SEED")
            .ok()
            .and_then(|seed| seed.parse().ok())
            .unwrap_or(2026);
        println!("repeat with JUNKAI_TEST_SEED={seed}");
        Dice(Chance::new(seed))
    }

    /// A time below `end`.
    pub(crate) fn time_below(&mut self, end: Duration) -> Duration {
        end.mul_f64(self.0.unit())
    }
}
