//! The steps of `cargo xtask test`, in order of how soon they fail.

use std::env;
use std::num::NonZero;
use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::budgets;
use crate::tools::{self, Tools};

/// Runs everything that must hold before a change lands.
pub(crate) fn test() -> Result<()> {
    let begun = Instant::now();
    step("format", cargo(&["fmt", "--all", "--check"]))?;
    step(
        "lints",
        cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--quiet",
            "--",
            "-D",
            "warnings",
        ]),
    )?;
    let tools = tools::install()?;
    step(
        "tests",
        with_tools(
            many_at_a_time(cargo(&["test", "--workspace", "--quiet"])),
            &tools,
        ),
    )?;
    budgets::check(&tools.valgrind)?;
    let mut doc = cargo(&[
        "doc",
        "--workspace",
        "--no-deps",
        "--document-private-items",
        "--quiet",
    ]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    step("documentation", doc)?;
    println!("\nall is well, after {} s", begun.elapsed().as_secs());
    Ok(())
}

/// Tests that run at a time for each core: most of the time, those that crawl wait for a polite interval to pass.
const TESTS_PER_CORE: usize = 2;

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
    let status = command
        .status()
        .with_context(|| format!("cannot run {}", shown(&command)))?;
    if !status.success() {
        bail!("{name} failed; repeat it with: {}", shown(&command));
    }
    println!("── {name}: ok, {} s", begun.elapsed().as_secs());
    Ok(())
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
