//! Whether a crate's licence is one of those that `licences.toml` allows.
//!
//! A licence is an SPDX expression (SPDX Specification 2.3, annex D); the slash of old manifests is an `OR`. It is satisfied if a choice of its licences is.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::vec;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::Metadata;

/// What is allowed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Licences {
    allowed: BTreeSet<String>,
    exceptions: Vec<LicenceException>,
}

/// What is allowed of some crates alone.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LicenceException {
    crates: Vec<String>,
    /// The licence that they have, or that their text is.
    licence: String,
    #[expect(dead_code, reason = "for people; the file must have it")]
    reason: String,
}

impl Licences {
    pub(super) fn read() -> Result<Licences> {
        Licences::parse(include_str!("../../licences.toml"))
    }

    fn parse(text: &str) -> Result<Licences> {
        toml::from_str(text).context("cannot read xtask/licences.toml")
    }

    /// What is wrong with the licences of crates from elsewhere, a line each.
    pub(super) fn mistakes(&self, metadata: &Metadata) -> Vec<String> {
        let foreign = metadata.packages.iter().filter(|it| it.source.is_some());
        let mut mistakes: Vec<String> = foreign
            .filter_map(|package| {
                let licence = package.license.as_deref();
                (!self.allows(&package.name, licence)).then(|| {
                    let name = format!("{} {}", package.name, package.version);
                    match licence {
                        Some(licence) => format!("{name}: licence {licence:?} is not allowed by xtask/licences.toml"),
                        None => format!("{name}: its manifest names no licence, and xtask/licences.toml no exception"),
                    }
                })
            })
            .collect();
        let is_here = |name: &&String| metadata.packages.iter().any(|it| it.name == **name);
        let excepted = self.exceptions.iter().flat_map(|it| &it.crates);
        let stale = excepted.filter(|name| !is_here(name));
        mistakes.extend(stale.map(|name| {
            format!("{name}: no such crate is built any more; remove its exception from xtask/licences.toml")
        }));
        mistakes
    }

    fn allows(&self, name: &str, licence: Option<&str>) -> bool {
        let exception = self
            .exceptions
            .iter()
            .find(|exception| exception.crates.iter().any(|it| it == name));
        match (licence, exception) {
            (None, exception) => exception.is_some(),
            (Some(licence), exception) => {
                let is_allowed = |id: &str| {
                    self.allowed.contains(id) || exception.is_some_and(|it| it.licence == id)
                };
                is_satisfied(licence, &is_allowed)
            }
        }
    }
}

/// Whether an expression holds, if these licences do; one that cannot be read does not.
fn is_satisfied(expression: &str, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<String> = spaced.split_whitespace().map(str::to_owned).collect();
    let mut words = words.into_iter().peekable();
    let holds = any(&mut words, is_allowed);
    holds == Some(true) && words.next().is_none()
}

type Words = Peekable<vec::IntoIter<String>>;

/// Licences of which one is to be chosen.
fn any(words: &mut Words, is_allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut holds = all(words, is_allowed)?;
    while words.next_if(|word| word == "OR").is_some() {
        holds |= all(words, is_allowed)?;
    }
    Some(holds)
}

/// Licences that hold together.
fn all(words: &mut Words, is_allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut holds = one(words, is_allowed)?;
    while words.next_if(|word| word == "AND").is_some() {
        holds &= one(words, is_allowed)?;
    }
    Some(holds)
}

/// A licence, with its exception, or an expression in brackets.
fn one(words: &mut Words, is_allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let word = words.next()?;
    match &*word {
        "(" => {
            let holds = any(words, is_allowed)?;
            (words.next()? == ")").then_some(holds)
        }
        ")" | "AND" | "OR" | "WITH" => None,
        licence if words.next_if(|word| word == "WITH").is_some() => {
            Some(is_allowed(&format!("{licence} WITH {}", words.next()?)))
        }
        licence => Some(is_allowed(licence)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_holds_if_a_choice_of_its_licences_is_allowed() {
        let is_allowed = |id: &str| matches!(id, "MIT" | "ISC" | "Apache-2.0 WITH LLVM-exception");
        for (expression, holds) in [
            ("MIT", true),
            ("GPL-3.0-only", false),
            ("MIT OR GPL-3.0-only", true),
            ("GPL-3.0-only / MIT", true),
            ("GPL-3.0-only/MIT", true),
            ("MIT AND GPL-3.0-only", false),
            ("MIT AND ISC", true),
            ("(MIT OR GPL-3.0-only) AND ISC", true),
            ("MIT OR GPL-3.0-only AND LGPL-2.1-only", true),
            ("(MIT OR GPL-3.0-only) AND LGPL-2.1-only", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0", false),
            ("MIT WITH some-exception", false),
            ("", false),
            ("(MIT", false),
            ("MIT)", false),
            ("MIT ISC", false),
            ("MIT OR", false),
        ] {
            assert_eq!(is_satisfied(expression, &is_allowed), holds, "{expression}");
        }
    }

    fn told(package: &str) -> Vec<String> {
        let licences = r#"
            allowed = ["MIT"]
            [[exceptions]]
            crates = ["odd"]
            licence = "MPL-2.0"
            reason = "a test"
        "#;
        let odd = r#"{"id":"odd","name":"odd","version":"1.0.0","license":"MPL-2.0","source":"elsewhere","manifest_path":"/o"}"#;
        let metadata = format!(
            r#"{{"packages":[{odd}{package}],"workspace_members":[],"resolve":{{"nodes":[]}}}}"#
        );
        let metadata = serde_json::from_str(&metadata).unwrap();
        Licences::parse(licences).unwrap().mistakes(&metadata)
    }

    fn package(licence: &str, source: &str) -> String {
        format!(
            r#",{{"id":"planted","name":"planted","version":"0.1.2","license":{licence},"source":{source},"manifest_path":"/p"}}"#
        )
    }

    #[test]
    fn a_crate_whose_licence_is_not_allowed_is_named() {
        assert_eq!(told(""), [""; 0]);
        assert_eq!(told(&package("\"MIT\"", "\"elsewhere\"")), [""; 0]);
        for licence in ["\"GPL-3.0-only\"", "\"MPL-2.0\"", "null"] {
            let told = told(&package(licence, "\"elsewhere\""));
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].starts_with("planted 0.1.2: "), "{told:?}");
            assert!(licence == "null" || told[0].contains(licence), "{told:?}");
            // Our own crates are under our own licence.
            assert_eq!(super::tests::told(&package(licence, "null")), [""; 0]);
        }
    }

    #[test]
    fn an_exception_for_a_crate_that_is_gone_is_told() {
        let licences = "allowed = []\n[[exceptions]]\ncrates = [\"gone\"]\nlicence = \"MPL-2.0\"\nreason = \"a test\"";
        let metadata = r#"{"packages":[],"workspace_members":[],"resolve":{"nodes":[]}}"#;
        let metadata = serde_json::from_str(metadata).unwrap();
        let told = Licences::parse(licences).unwrap().mistakes(&metadata);
        assert!(told.len() == 1 && told[0].starts_with("gone: "), "{told:?}");
    }
}
