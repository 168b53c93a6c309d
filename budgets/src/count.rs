//! Counts the instructions of one path: this very program, under callgrind.
//!
//! The child sets everything up and then calls [`counted`] once; callgrind collects within that call alone. What the system does for the path
//! (reading, writing) is not counted.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// How callgrind finds [`at_the_gate`], whatever the compiler puts around its name.
const GATE: &str = "*junkai_budgets*at_the_gate*";

/// Does `work`, which is `units` of something; nothing else of the child is counted.
pub(crate) fn counted(units: usize, mut work: impl FnMut()) {
    at_the_gate(&mut work);
    println!("{units}");
}

/// Here counting begins and ends.
#[inline(never)]
fn at_the_gate(work: &mut dyn FnMut()) {
    work();
    // Keeps the call from becoming a jump out of this function.
    black_box(());
}

/// What one unit of a path takes. The profile stays in `profile`.
pub(crate) fn instructions(valgrind: &OsStr, path: &str, profile: &Path) -> Result<u64> {
    let mut command = Command::new(valgrind);
    // The environment is on the stack: another one would move everything on it.
    command
        .env_clear()
        .arg("--tool=callgrind")
        .arg(format!("--toggle-collect={GATE}"))
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(env::current_exe()?)
        .args(["run", path]);
    let output = command.output().with_context(|| {
        format!(
            "cannot run {}; `cargo xtask tools` installs it",
            valgrind.display()
        )
    })?;
    ensure!(
        output.status.success(),
        "{path} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let units: u64 = String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .with_context(|| format!("{path} does not say how much it did"))?;
    let profile = fs::read_to_string(profile).context("callgrind left no profile")?;
    let total = total(&profile).context("callgrind tells no total")?;
    ensure!(
        0 < total,
        "nothing of {path} was counted: the gate {GATE} was not found"
    );
    Ok((total + units / 2) / units.max(1))
}

/// All instructions of a profile.
fn total(profile: &str) -> Option<u64> {
    let line = profile
        .lines()
        .find_map(|line| line.strip_prefix("totals:"));
    line?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_of_a_profile_is_found() {
        let profile = "version: 1\nevents: Ir\nsummary: 5\n\nfn=(1) a\n1 5\n\ntotals: 12345\n";
        assert_eq!(total(profile), Some(12_345));
        assert_eq!(total("version: 1\n"), None);
    }
}
