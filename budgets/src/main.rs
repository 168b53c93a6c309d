//! Budgets of the hot paths in counted instructions: `cargo xtask budgets`, and a step of `cargo xtask test`.
//!
//! Time differs from machine to machine and from run to run; the number of instructions that a path takes for a fixed input does not. Each path of
//! [`paths`] runs once under callgrind ([`count`]), and what it took is compared with `budgets.toml` ([`budget`]): a path that became dearer fails. A change that
//! is worth its cost changes the record in its commit (`cargo xtask budgets --record`).
//!
//! The counts do not depend on the machine: valgrind shows the program a processor of its own (with AVX2 if the host has it, never with SHA
//! or AVX-512 instructions), the environment is empty, the allocator is the system's, and nothing is read but the corpus that is compiled in. They do depend on the
//! compiler, so the record names it.
//!
//! Not here: time, memory, input and output. `bench` measures those, and is no test.

#![expect(clippy::print_stdout, reason = "printing is what a command line does")]

mod budget;
mod corpus;
mod count;
mod paths;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::budget::{Budget, Budgets, Verdict};
use crate::paths::PATHS;

/// What is added to both sides of a new budget, in per cent: what the random keys of hash tables change from run to run, and then some.
const TOLERANCE_PERCENT: f64 = 2.0;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["check"] => check(&count_all()?),
        ["record"] => record(&count_all()?),
        ["run", name] => paths::run(name),
        _ => bail!("usage: junkai-budgets check|record; JUNKAI_VALGRIND may name the program"),
    }
}

/// What a path took for one of its units.
struct Counted {
    name: &'static str,
    instructions: u64,
}

fn count_all() -> Result<Vec<Counted>> {
    let valgrind = env::var_os("JUNKAI_VALGRIND").unwrap_or_else(|| "valgrind".into());
    let folder = root().join("../target/budgets");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let count = |path: &paths::HotPath| {
        let profile = folder.join(format!("{}.callgrind", path.name));
        let instructions = count::instructions(&valgrind, path.name, &profile)?;
        Ok(Counted {
            name: path.name,
            instructions,
        })
    };
    PATHS.iter().map(count).collect()
}

/// Compares what was counted with the record.
fn check(counted: &[Counted]) -> Result<()> {
    let recorded = Budgets::read(&record_path())?;
    let mut dearer = Vec::new();
    let mut cheaper = Vec::new();
    println!("{:<16} {:>12} {:>12}   each", "path", "recorded", "counted");
    for path in counted {
        let budget = recorded.of(path.name)?;
        let verdict = budget.judge(path.instructions);
        let change = (path.instructions as f64 / budget.instructions as f64 - 1.0) * 100.0;
        println!(
            "{:<16} {:>12} {:>12}   {}  {change:+.1} % {verdict}",
            path.name, budget.instructions, path.instructions, budget.each
        );
        match verdict {
            Verdict::Dearer => dearer.push(path.name),
            Verdict::Cheaper => cheaper.push(path.name),
            Verdict::Same => {}
        }
    }
    recorded.expect_only(counted.iter().map(|path| path.name))?;
    if !cheaper.is_empty() {
        println!(
            "cheaper than recorded: {}; tighten the record: cargo xtask budgets --record",
            cheaper.join(", ")
        );
    }
    if !dearer.is_empty() {
        bail!(
            "dearer than recorded: {}; see callgrind_annotate target/budgets/{}.callgrind, and if the change is worth it: \
             cargo xtask budgets --record{}",
            dearer.join(", "),
            dearer[0],
            recorded.compiler_remark()
        );
    }
    Ok(())
}

/// Writes what was counted to the record; tolerances stay as they were.
fn record(counted: &[Counted]) -> Result<()> {
    let before = Budgets::read(&record_path()).unwrap_or_default();
    let budget = |(path, counted): (&paths::HotPath, &Counted)| {
        let tolerance = before.of(path.name).map(|budget| budget.tolerance_percent);
        let budget = Budget {
            what: path.what.to_owned(),
            each: path.each.to_owned(),
            instructions: counted.instructions,
            tolerance_percent: tolerance.unwrap_or(TOLERANCE_PERCENT),
        };
        (path.name.to_owned(), budget)
    };
    let budgets = Budgets::new(PATHS.iter().zip(counted).map(budget));
    budgets.write(&record_path())?;
    check(counted)
}

fn record_path() -> PathBuf {
    root().join("budgets.toml")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
