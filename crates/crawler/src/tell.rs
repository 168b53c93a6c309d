//! Gives a command to a crawl, whether it runs or not.
//!
//! A running crawl is told through its control socket, and answers when what it did would survive a kill. A stopped archive is told by its files,
//! under the archive's lock: pauses and scope change at once; seeds and pages wait in the [command box](crate::command_box) for the next start.
//! Between the two, while a crawl opens or closes, [`tell`] waits.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hashbrown::HashSet;
use junkai_archive::Index;
use junkai_files::Folder;
use junkai_frontier::Time;
use junkai_weburl::{Canonicalizer, PageUrl, without_login};
use serde::Serialize;

use crate::ArchiveFolder;
use crate::captured::last_status;
use crate::command::{CommandResponse, UserCommand};
use crate::control::{self, Answer};
use crate::paused::Paused;
use crate::scope::{Found, ScopeRules};
use crate::scope_changes::ScopeChanges;
use crate::settings::Settings;
use crate::{CrawlError, command_box, lock};

/// How long to wait for a crawl that opens, closes, or is too busy to answer.
const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What became of a command, and when it takes effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Told {
    /// When it takes effect.
    pub when: When,
    /// What was done.
    #[serde(flatten)]
    pub response: CommandResponse,
}

/// When a command takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// It did: a crawl is running.
    Now,
    /// With the next start of the crawl.
    NextStart,
}

/// Gives a command to the crawl of the archive in `folder`.
///
/// # Errors
/// If there is no archive, it cannot be written, or a crawl has it and does not answer.
pub fn tell(folder: &Path, settings: &Settings, command: &UserCommand) -> Result<Told, CrawlError> {
    let state = ArchiveFolder::existing(folder)?.state();
    let mut told = Told {
        when: When::Now,
        response: CommandResponse::default(),
    };
    let parts = match command {
        UserCommand::Add { seeds } => {
            let seeds = acceptable_seeds(&state, settings, seeds, &mut told.response)?;
            UserCommand::several(seeds, |seeds| UserCommand::Add { seeds })
        }
        UserCommand::Revisit { pages } => {
            let pages = captured_pages(folder, settings, pages, &mut told.response)?;
            UserCommand::several(pages, |pages| UserCommand::Revisit { pages })
        }
        other => vec![other.clone()],
    };
    for part in parts {
        let part = tell_part(folder, settings, &part)?;
        told.when = part.when;
        told.response.add(part.response);
    }
    Ok(told)
}

/// Gives a command that fits into one line.
fn tell_part(
    folder: &Path,
    settings: &Settings,
    command: &UserCommand,
) -> Result<Told, CrawlError> {
    let state = ArchiveFolder::real(folder).state();
    let deadline = Instant::now() + PATIENCE;
    loop {
        match control::tell(state.path(), command) {
            Answer::Response(response) => {
                return Ok(Told {
                    when: When::Now,
                    response,
                });
            }
            Answer::Refused(reason) => return Err(CrawlError::Refused { reason }),
            // To ask again does no harm, even if it was heard.
            Answer::None => {}
        }
        if let Some(lock) = lock::try_take(folder)? {
            return Ok(Told {
                when: When::NextStart,
                response: write_down(&state, settings, command, &lock)?,
            });
        }
        if deadline <= Instant::now() {
            return Err(CrawlError::NoAnswer {
                archive: folder.to_owned(),
            });
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Writes a command into the files of an archive that is ours while `_lock` is held.
fn write_down(
    state: &Folder,
    settings: &Settings,
    command: &UserCommand,
    _lock: &File,
) -> Result<CommandResponse, CrawlError> {
    let mut response = CommandResponse::default();
    match command {
        UserCommand::Add { seeds: urls } | UserCommand::Revisit { pages: urls } => {
            command_box::put(state, std::slice::from_ref(command))?;
            response.done = urls.len() as u64;
        }
        UserCommand::Pause { whom } => {
            let mut paused = Paused::load(state)?;
            response.count(paused.pause(whom, wall_clock()));
            paused.store(state)?;
        }
        UserCommand::Resume { whom } => {
            let mut paused = Paused::load(state)?;
            response.count(paused.resume(whom));
            paused.store(state)?;
        }
        UserCommand::Scope(change) => {
            let mut changes = ScopeChanges::load(state)?;
            response = changes.apply(change, &settings.scope);
            changes.store(state)?;
        }
    }
    Ok(response)
}

/// Seeds that can be crawled; the others are refused.
fn acceptable_seeds(
    state: &Folder,
    settings: &Settings,
    seeds: &[String],
    response: &mut CommandResponse,
) -> Result<Vec<PageUrl>, CrawlError> {
    let canonical = Canonicalizer::new(&settings.canonical);
    let scope = ScopeRules::in_force(state, settings)?;
    let (mut accepted, mut known) = (Vec::new(), HashSet::new());
    for text in seeds {
        match canonical.parse_seed(text) {
            Ok(seed) if !known.insert(seed.fingerprint()) => {}
            Ok(seed) => match scope.decide(&seed, Found::Seed) {
                rule if rule.accepts() => accepted.push(seed),
                rule => response.refuse(format!("{seed}: {rule}")),
            },
            Err(error) => response.refuse(format!("{:?}: {error}", without_login(text))),
        }
    }
    Ok(accepted)
}

/// Pages that were captured; the others cannot be visited again, and are refused.
fn captured_pages(
    folder: &Path,
    settings: &Settings,
    pages: &[String],
    response: &mut CommandResponse,
) -> Result<Vec<PageUrl>, CrawlError> {
    let canonical = Canonicalizer::new(&settings.canonical);
    let index = Index::open(folder)?;
    let (mut accepted, mut known) = (Vec::new(), HashSet::new());
    for text in pages {
        match canonical.parse_seed(text) {
            Ok(page) if !known.insert(page.fingerprint()) => {}
            Ok(page) if last_status(&index, &page)?.is_some() => accepted.push(page),
            Ok(page) => response.refuse(format!(
                "{page} was never captured; `junkai add` takes new pages, and tries failed ones again"
            )),
            Err(error) => response.refuse(format!("{:?}: {error}", without_login(text))),
        }
    }
    Ok(accepted)
}

fn wall_clock() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Time::EPOCH + since.unwrap_or_default()
}
