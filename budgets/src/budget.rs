//! What a path may cost, and whether it does: `budgets.toml`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

const HEADER: &str = "# What the hot paths may cost, in instructions for each unit, counted by callgrind on the corpus beside this file.\n\
    # Written by `cargo xtask budgets --record`, in the commit that changes a cost; `cargo xtask test` compares.\n\n";

/// The record of all paths.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Budgets {
    /// What they were counted with: another compiler makes other instructions.
    compiler: String,
    paths: BTreeMap<String, Budget>,
}

/// What one path may cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Budget {
    /// What the path does.
    pub(crate) what: String,
    /// The unit that the instructions are for.
    pub(crate) each: String,
    /// As last recorded.
    pub(crate) instructions: u64,
    /// By how much a count may differ on either side.
    pub(crate) tolerance_percent: f64,
}

/// How a count compares with its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Dearer,
    Cheaper,
    Same,
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Verdict::Dearer => "DEARER",
            Verdict::Cheaper => "cheaper",
            Verdict::Same => "",
        })
    }
}

impl Budget {
    /// Compares a count with the budget.
    pub(crate) fn judge(&self, instructions: u64) -> Verdict {
        let recorded = self.instructions as f64;
        let slack = recorded * self.tolerance_percent / 100.0;
        match instructions as f64 - recorded {
            more if slack < more => Verdict::Dearer,
            less if less < -slack => Verdict::Cheaper,
            _ => Verdict::Same,
        }
    }
}

impl Budgets {
    /// A record by this compiler.
    pub(crate) fn new(paths: impl IntoIterator<Item = (String, Budget)>) -> Budgets {
        Budgets {
            compiler: compiler(),
            paths: paths.into_iter().collect(),
        }
    }

    pub(crate) fn read(path: &Path) -> Result<Budgets> {
        let text = fs::read_to_string(path).with_context(|| {
            format!(
                "cannot read {}; make it: cargo xtask budgets --record",
                path.display()
            )
        })?;
        toml::from_str(&text).with_context(|| format!("{} is damaged", path.display()))
    }

    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let text = format!("{HEADER}{}", toml::to_string(self)?);
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// The budget of a path.
    pub(crate) fn of(&self, name: &str) -> Result<&Budget> {
        let budget = self.paths.get(name);
        budget
            .with_context(|| format!("{name} has no budget; add it: cargo xtask budgets --record"))
    }

    /// Fails if there is a budget of a path that does not exist: nobody would notice that it is not counted any more.
    pub(crate) fn expect_only<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<()> {
        let names: Vec<&str> = names.collect();
        match self
            .paths
            .keys()
            .find(|name| !names.contains(&name.as_str()))
        {
            Some(name) => bail!(
                "there is a budget for {name}, which is no path; remove it: cargo xtask budgets --record"
            ),
            None => Ok(()),
        }
    }

    /// What to think of where the record was made by another compiler.
    pub(crate) fn compiler_remark(&self) -> String {
        let compiler = compiler();
        if self.compiler == compiler {
            return String::new();
        }
        format!(" (it was made by {}, this is {compiler})", self.compiler)
    }
}

/// Name and version of the compiler; empty if it does not tell.
fn compiler() -> String {
    let said = Command::new("rustc").arg("--version").output();
    let said = said.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&said).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::PATHS;

    fn budget(instructions: u64) -> Budget {
        Budget {
            what: String::new(),
            each: "page".to_owned(),
            instructions,
            tolerance_percent: 2.0,
        }
    }

    #[test]
    fn a_cost_within_its_tolerance_is_the_same() {
        let check = |counted, expected| assert_eq!(budget(10_000).judge(counted), expected);
        check(10_000, Verdict::Same);
        check(10_200, Verdict::Same);
        check(9_800, Verdict::Same);
        check(10_201, Verdict::Dearer);
        check(9_799, Verdict::Cheaper);
    }

    #[test]
    fn a_record_survives_its_file() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("budgets.toml");
        let budgets = Budgets::new([("links".to_owned(), budget(7))]);
        budgets.write(&path).unwrap();
        assert_eq!(Budgets::read(&path).unwrap(), budgets);
    }

    #[test]
    fn a_path_without_budget_and_a_budget_without_path_are_told() {
        let budgets = Budgets::new([("links".to_owned(), budget(7))]);
        assert!(budgets.of("content").is_err());
        assert!(
            budgets
                .expect_only(["links", "content"].into_iter())
                .is_ok()
        );
        assert!(budgets.expect_only(["content"].into_iter()).is_err());
    }

    #[test]
    fn every_path_has_a_budget_in_the_record() {
        let budgets = Budgets::read(&crate::record_path()).unwrap();
        for path in PATHS {
            assert!(0 < budgets.of(path.name).unwrap().instructions);
        }
    }
}
