//! What is checked of the crates that the workspace is built from, by what `cargo metadata` tells: their licences, and that each is used.
//!
//! Not checked: known vulnerabilities. Their database is on the network, so that is a task of its own ([`advisories`]).

mod licences;
mod unused;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::steps;

/// What `cargo metadata` tells, as far as it is wanted.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    /// Where it came from; none if that is this workspace.
    source: Option<String>,
    manifest_path: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

/// A package and what it depends on.
#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    /// As code names it: underscores, and whatever it was renamed to.
    name: String,
    pkg: String,
}

impl Metadata {
    fn read() -> Result<Metadata> {
        let mut command = steps::cargo(&["metadata", "--format-version", "1", "--locked"]);
        command.arg("--all-features");
        let output = command.output().context("cannot run cargo metadata")?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            bail!("cargo metadata failed: {}", told.trim());
        }
        serde_json::from_slice(&output.stdout).context("cannot read what cargo metadata told")
    }

    fn package(&self, id: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.id == id)
    }
}

/// Fails if a crate's licence is not allowed, or a dependency is not used.
pub(crate) fn check() -> Result<()> {
    println!("\n── dependencies: licences, and whether each is used");
    let metadata = Metadata::read()?;
    let mut mistakes = licences::Licences::read()?.mistakes(&metadata);
    mistakes.extend(unused::mistakes(&metadata)?);
    if !mistakes.is_empty() {
        bail!("{}", mistakes.join("\n"));
    }
    println!("── dependencies: ok, {} crates", metadata.packages.len());
    Ok(())
}

/// Asks `cargo deny`, where it is installed, whether a crate has a known vulnerability.
pub(crate) fn advisories() -> Result<()> {
    let is_installed = steps::cargo(&["deny", "--version"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !is_installed {
        bail!("cargo-deny is not installed: cargo install cargo-deny");
    }
    steps::step("advisories", steps::cargo(&["deny", "check", "advisories"]))
}
