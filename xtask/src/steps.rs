//! The steps of `cargo xtask test`, in order of how soon they fail.
//!
//! The tests of the whole program mostly wait for polite intervals to pass, so everything else that needs the processors runs meanwhile in a second thread: see
//! [`meanwhile`]. No two commands that run at the same time build in the same folder for long, for cargo would let one of them wait.

use std::env;
use std::io::{self, IsTerminal, Read};
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, anyhow, bail};

use crate::tools::{self, Tools};
use crate::{budgets, dependencies};

/// What the tests may go without.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Let tests pass whose real data is absent; each is told of.
    #[arg(long)]
    without_data: bool,
}

/// Runs everything that must hold before a change lands.
pub(crate) fn test(arguments: &Arguments) -> Result<()> {
    let begun = Instant::now();
    look_for_data(&junkai_testdata::folder(), arguments.without_data)?;
    step("format", cargo(&["fmt", "--all", "--check"]))?;
    dependencies::check()?;
    let tools = meanwhile(vec![("lints", lints())], tools::install)?;
    step(
        "build of the tests",
        cargo(&["test", "--workspace", "--quiet", "--no-run"]),
    )?;
    let with_needs = |mut tests: Command| {
        if arguments.without_data {
            tests.env(junkai_testdata::WITHOUT, "1");
        }
        with_tools(with_same_cases(tests), &tools)
    };
    let beside = vec![
        ("tests of the rooms", with_needs(tests_of_rooms())),
        ("budgets", budgets::check(&tools.valgrind)),
        ("documentation", documentation()),
    ];
    meanwhile(beside, || {
        let tests = with_needs(many_at_a_time(tests_of_program()));
        step("tests of the program", tests)
    })?;
    println!("\nall is well, after {} s", begun.elapsed().as_secs());
    if arguments.without_data {
        println!("real data was not asked for: search for GOES WITHOUT DATA above");
    }
    Ok(())
}

/// Fails before anything is built if the tests would, for want of data.
fn look_for_data(folder: &Path, without_data: bool) -> Result<()> {
    if without_data || folder.is_dir() {
        return Ok(());
    }
    bail!(
        "the real data that some tests judge by is not in {}: name its folder with {}, or go without: cargo xtask test --without-data",
        folder.display(),
        junkai_testdata::FOLDER
    )
}

/// The package of the program, and where its tests are beside those of its code.
const PROGRAM: &str = "junkai";
const PROGRAM_TESTS: [&str; 2] = ["end_to_end", "pages"];

/// The tests of the whole program, and of its own package: of all members with these names, so that nothing is built anew with other features.
fn tests_of_program() -> Command {
    let mut tests = cargo(&["test", "--workspace", "--quiet", "--bin", PROGRAM]);
    for name in PROGRAM_TESTS {
        tests.args(["--test", name]);
    }
    tests
}

/// The tests of all other packages.
fn tests_of_rooms() -> Command {
    cargo(&["test", "--workspace", "--quiet", "--exclude", PROGRAM])
}

fn lints() -> Command {
    let mut clippy = cargo(&["clippy", "--workspace", "--all-targets", "--quiet"]);
    clippy.args(["--", "-D", "warnings"]);
    clippy
}

fn documentation() -> Command {
    let mut doc = cargo(&["doc", "--workspace", "--no-deps", "--quiet"]);
    doc.arg("--document-private-items");
    doc.env("RUSTDOCFLAGS", "-D warnings");
    doc
}

/// Tests that run at a time for each core: most of the time, those that crawl wait for a polite interval to pass. All end-to-end tests together take five
/// minutes of processor time.
const TESTS_PER_CORE: usize = 3;

/// Runs more tests at a time than there are cores, unless the environment says how many.
fn many_at_a_time(mut command: Command) -> Command {
    const THREADS: &str = "RUST_TEST_THREADS";
    if env::var_os(THREADS).is_none() {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        command.env(THREADS, (cores * TESTS_PER_CORE).to_string());
    }
    command
}

/// Writes the generated pages anew; the tests only compare them.
pub(crate) fn pages() -> Result<()> {
    // All members, as the tests have it: for one package alone, much would be compiled anew with other features.
    let mut write = cargo(&["test", "--workspace", "--quiet"]);
    write.args([
        "--test",
        "pages",
        "--bin",
        "junkai-bench",
        "--bin",
        "junkai",
        "generated_pages",
    ]);
    write.env("JUNKAI_WRITE_PAGES", "1");
    step("generated pages", write)
}

/// A cargo command in the workspace's root.
///
/// What cargo told this program of its own package is not handed on: build scripts that look at such variables would run again, and all that depends
/// on them would be built a second time.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(tools::root());
    for (name, _) in env::vars_os() {
        let is_of_package =
            |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        if name.to_str().is_some_and(is_of_package) {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs one step, and says what it was and how long it took.
pub(crate) fn step(name: &str, mut command: Command) -> Result<()> {
    println!("\n── {name}: {}", shown(&command));
    let begun = Instant::now();
    let status = command.status();
    judge(name, &command, status, begun.elapsed())
}

/// Does `work` in this thread while the steps run one after another in a second one; then shows what each printed, in order.
///
/// Neither ends the other: when both fail, both failures are told. Ctrl-C ends both, for they belong to the terminal's one process group.
fn meanwhile<T>(
    steps: Vec<(&'static str, Command)>,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    thread::scope(|scope| {
        let second = scope.spawn(|| steps.into_iter().map(Collected::run).collect::<Vec<_>>());
        let done = work();
        if done.is_err() && !second.is_finished() {
            println!("\n── failed; waiting for what runs beside it");
        }
        let collected = second
            .join()
            .map_err(|_| anyhow!("the second thread panicked"))?;
        let failures: Vec<Error> = collected
            .into_iter()
            .filter_map(|step| step.show().err())
            .collect();
        joined(done, failures)
    })
}

/// The result of `done`, or all that failed in one error.
fn joined<T>(done: Result<T>, failures: Vec<Error>) -> Result<T> {
    let (done, first) = match done {
        Ok(done) => (Some(done), None),
        Err(error) => (None, Some(error)),
    };
    let told: Vec<String> = first
        .into_iter()
        .chain(failures)
        .map(|error| format!("{error:#}"))
        .collect();
    match done {
        Some(done) if told.is_empty() => Ok(done),
        _ => Err(anyhow!(told.join("\n"))),
    }
}

/// A step that ran, with all that it printed.
struct Collected {
    name: &'static str,
    command: Command,
    printed: String,
    status: io::Result<ExitStatus>,
    took: Duration,
}

impl Collected {
    fn run((name, mut command): (&'static str, Command)) -> Collected {
        if io::stdout().is_terminal() {
            command.env("CARGO_TERM_COLOR", "always");
        }
        let begun = Instant::now();
        let mut printed = Vec::new();
        let status = collect(&mut command, &mut printed);
        Collected {
            name,
            command,
            printed: String::from_utf8_lossy(&printed).into_owned(),
            status,
            took: begun.elapsed(),
        }
    }

    /// Prints what the step would have printed by itself.
    fn show(self) -> Result<()> {
        println!("\n── {}: {}", self.name, shown(&self.command));
        print!("{}", self.printed);
        judge(self.name, &self.command, self.status, self.took)
    }
}

/// Runs a command and keeps its standard output and standard error, in the order in which they were written.
fn collect(command: &mut Command, printed: &mut Vec<u8>) -> io::Result<ExitStatus> {
    let (mut reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // The command holds the writing end too; while that is open, reading does not end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    reader.read_to_end(printed)?;
    child.wait()
}

fn judge(
    name: &str,
    command: &Command,
    status: io::Result<ExitStatus>,
    took: Duration,
) -> Result<()> {
    let status = status.with_context(|| format!("cannot run {}", shown(command)))?;
    if !status.success() {
        bail!("{name} failed; repeat it with: {}", shown(command));
    }
    println!("── {name}: ok, {} s", took.as_secs());
    Ok(())
}

/// What generated cases are drawn from, by proptest and bolero.
const CASES: [(&str, &str); 2] = [
    ("PROPTEST_RNG_SEED", "20080521"),
    ("BOLERO_RANDOM_SEED", "20080521"),
];

/// The same generated cases in every run, unless the environment names others: a change is judged by what it changes, not by chance.
///
/// `cargo test` draws new cases each time; what that finds is added to the tests by name.
fn with_same_cases(mut command: Command) -> Command {
    for (name, seed) in CASES {
        if std::env::var_os(name).is_none() {
            command.env(name, seed);
        }
    }
    command
}

fn with_tools(mut command: Command, tools: &Tools) -> Command {
    command
        .env("JUNKAI_PYTHON", &tools.python)
        .env("JUNKAI_DOCS", &tools.docs)
        .env("JUNKAI_PDFTOTEXT", &tools.pdftotext)
        .env("JUNKAI_STRACE", &tools.strace)
        .env("JUNKAI_CHROMIUM", &tools.chromium)
        .env("JUNKAI_WGET", &tools.wget);
    command
}

fn shown(command: &Command) -> String {
    let mut words = Vec::new();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            words.push(format!(
                "{}={:?}",
                name.to_string_lossy(),
                value.to_string_lossy()
            ));
        }
    }
    words.push("cargo".to_owned());
    words.extend(
        command
            .get_args()
            .map(|word| word.to_string_lossy().into_owned()),
    );
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn without_data_nothing_is_begun_unless_that_is_asked_for() {
        let absent = Path::new("/nonexistent/data");
        let told = look_for_data(absent, false).unwrap_err().to_string();
        assert!(told.contains("--without-data"), "{told}");
        assert!(look_for_data(absent, true).is_ok());
        assert!(look_for_data(&tools::root(), false).is_ok());
    }

    /// A file of tests in its own right is one of Rust in `tests`, or a folder there with a `main.rs`.
    #[test]
    fn no_test_of_the_program_is_left_out() {
        let folder = tools::root().join("crates").join(PROGRAM).join("tests");
        let entries = std::fs::read_dir(folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let is_test = |path: &PathBuf| path.is_file() || path.join("main.rs").is_file();
        let mut found: Vec<String> = paths
            .filter(is_test)
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        found.sort();
        assert_eq!(found, PROGRAM_TESTS);
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_a_step_prints_is_kept_in_order() {
        let step = Collected::run(("talk", shell("echo one; echo two >&2; echo three")));
        assert_eq!(step.printed, "one\ntwo\nthree\n");
        assert!(step.show().is_ok());
    }

    #[test]
    fn work_succeeds_when_the_steps_beside_it_do() {
        let steps = vec![("first", shell("true")), ("second", shell("true"))];
        assert_eq!(meanwhile(steps, || Ok(7)).unwrap(), 7);
    }

    #[test]
    fn all_failures_are_told() {
        let steps = vec![
            ("first", shell("false")),
            ("second", shell("true")),
            ("third", shell("exit 3")),
        ];
        let told = meanwhile::<()>(steps, || bail!("tests failed")).unwrap_err();
        let lines: Vec<String> = told.to_string().lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert_eq!(lines[0], "tests failed");
        assert!(lines[1].starts_with("first failed"), "{lines:?}");
        assert!(lines[2].starts_with("third failed"), "{lines:?}");
    }

    #[test]
    fn a_step_that_fails_beside_good_work_fails_the_run() {
        let steps = vec![("first", shell("false"))];
        assert!(meanwhile(steps, || Ok(())).is_err());
    }
}
