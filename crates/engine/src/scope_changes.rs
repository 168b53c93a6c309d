//! Changes of the scope by command, on top of the configuration and over restarts.
//!
//! `state/scope.json` is replaced at every change, before anybody is told of it. The rules in force are those of the configuration with these over
//! them ([`ScopeChanges::over`]); [`ScopeRules::in_force`](crate::scope::ScopeRules::in_force) puts both together.

use std::path::Path;

use junkai_files::Folder;
use serde::{Deserialize, Serialize};

use crate::CrawlError;
use crate::command::{CommandResponse, ScopeCommand};
use crate::platform::ArchiveFolder;
use crate::scope::{ScopeConfig, ScopeRules};
use crate::small_file;

const NAME: &str = "scope.json";
/// Patterns that commands may add at most: each is tried on every URL that is found.
const PATTERNS_MAX: usize = 1000;
/// The longest pattern.
const PATTERN_BYTES_MAX: usize = 4096;

/// Patterns that were added to those of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScopeChanges {
    /// In scope besides what the configuration says.
    pub include: Vec<String>,
    /// Out of scope besides what the configuration says.
    pub exclude: Vec<String>,
}

impl ScopeChanges {
    /// The changes in the archive whose state is here.
    pub fn load(state: &Folder) -> Result<ScopeChanges, CrawlError> {
        small_file::load(state.disk(), &state.file(NAME))
    }

    /// Makes them last.
    pub fn store(&self, state: &Folder) -> Result<(), CrawlError> {
        small_file::store(state.disk(), &state.file(NAME), self)
    }

    /// The configuration with these changes.
    #[must_use]
    pub fn over(&self, config: &ScopeConfig) -> ScopeConfig {
        let mut config = config.clone();
        config.include.extend(self.include.iter().cloned());
        config.exclude.extend(self.exclude.iter().cloned());
        config
    }

    /// Applies a command. What would not compile is refused, and changes nothing.
    pub fn apply(&mut self, command: &ScopeCommand, config: &ScopeConfig) -> CommandResponse {
        let mut response = CommandResponse::default();
        for pattern in &command.drop {
            let before = self.include.len() + self.exclude.len();
            self.include.retain(|known| known != pattern);
            self.exclude.retain(|known| known != pattern);
            let is_fixed = config.include.contains(pattern) || config.exclude.contains(pattern);
            match (self.include.len() + self.exclude.len() < before, is_fixed) {
                (true, _) => response.count(true),
                (false, true) => response.refuse(format!(
                    "{pattern:?} is of the configuration; take it out of junkai.toml, for the next start"
                )),
                (false, false) => {
                    response.refuse(format!("{pattern:?} is no pattern of this scope"));
                }
            }
        }
        for pattern in &command.include {
            let is_fixed = config.include.contains(pattern);
            self.add(pattern, is_fixed, Side::Include, &mut response);
        }
        for pattern in &command.exclude {
            let is_fixed = config.exclude.contains(pattern);
            self.add(pattern, is_fixed, Side::Exclude, &mut response);
        }
        response
    }

    fn add(&mut self, pattern: &str, is_fixed: bool, side: Side, response: &mut CommandResponse) {
        let count = self.include.len() + self.exclude.len();
        let patterns = match side {
            Side::Include => &mut self.include,
            Side::Exclude => &mut self.exclude,
        };
        if is_fixed || patterns.iter().any(|known| known == pattern) {
            response.count(false);
            return;
        }
        if PATTERNS_MAX <= count {
            response.refuse(format!(
                "{pattern:?}: {PATTERNS_MAX} patterns were added already"
            ));
            return;
        }
        if PATTERN_BYTES_MAX < pattern.len() {
            response.refuse(format!(
                "a pattern of {} bytes; {PATTERN_BYTES_MAX} are allowed",
                pattern.len()
            ));
            return;
        }
        patterns.push(pattern.to_owned());
        // All together must compile, not only each.
        let together = ScopeConfig {
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            ..ScopeConfig::default()
        };
        match ScopeRules::check(&together) {
            Ok(()) => response.count(true),
            Err(mistakes) => {
                let patterns = match side {
                    Side::Include => &mut self.include,
                    Side::Exclude => &mut self.exclude,
                };
                patterns.pop();
                response.refuse(mistakes.join("; "));
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Side {
    Include,
    Exclude,
}

/// How people changed the scope of the archive in `folder`, whether a crawl is running or not.
///
/// # Errors
/// If the state cannot be read.
pub fn scope_changes(folder: &Path) -> Result<ScopeChanges, CrawlError> {
    ScopeChanges::load(&ArchiveFolder::real(folder).state())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(include: &[&str], exclude: &[&str], drop: &[&str]) -> ScopeCommand {
        let owned = |patterns: &[&str]| patterns.iter().map(|&text| text.to_owned()).collect();
        ScopeCommand {
            include: owned(include),
            exclude: owned(exclude),
            drop: owned(drop),
        }
    }

    #[test]
    fn patterns_are_added_once_dropped_again_and_outlive_a_restart() {
        let state = tempfile::tempdir().unwrap();
        let config = ScopeConfig {
            exclude: vec!["/fixed/".to_owned()],
            ..ScopeConfig::default()
        };
        let mut changes = ScopeChanges::load(&Folder::real(state.path())).unwrap();
        let response = changes.apply(&command(&["/a/"], &["/b/", "/fixed/"], &[]), &config);
        assert_eq!(
            (response.done, response.already, response.refused),
            (2, 1, 0)
        );
        let response = changes.apply(&command(&["/a/"], &[], &["/b/"]), &config);
        assert_eq!((response.done, response.already), (1, 1));
        changes.store(&Folder::real(state.path())).unwrap();
        let changes = ScopeChanges::load(&Folder::real(state.path())).unwrap();
        let over = changes.over(&config);
        assert_eq!(over.include, ["/a/"]);
        assert_eq!(over.exclude, ["/fixed/"]);
    }

    #[test]
    fn what_cannot_be_done_is_refused_with_the_reason_and_changes_nothing() {
        let config = ScopeConfig {
            include: vec!["/fixed/".to_owned()],
            ..ScopeConfig::default()
        };
        let mut changes = ScopeChanges::default();
        let long = "x".repeat(PATTERN_BYTES_MAX + 1);
        let response = changes.apply(&command(&["("], &[&long], &["/fixed/", "/never/"]), &config);
        assert_eq!((response.done, response.refused), (0, 4));
        for words in [
            "junkai.toml",
            "no pattern of this scope",
            "not a regular expression",
            "bytes",
        ] {
            assert!(
                response.reasons.iter().any(|reason| reason.contains(words)),
                "{words}: {response:?}"
            );
        }
        assert_eq!(changes, ScopeChanges::default());
    }
}
