//! Giving commands to a crawl: what `add`, `revisit`, `pause`, `resume` and `scope` have in common.

use std::path::PathBuf;

use anyhow::{Context, Result};
use junkai_crawler::{ArchiveFolder, CommandResponse, Settings, Told, UserCommand, When, tell};

use crate::config;
use crate::exit::Ending;
use crate::print::{say, shown};

/// Which crawl gets a command, and how its response is printed.
#[derive(clap::Args)]
pub(crate) struct Target {
    /// The archive's folder.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) archive: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Target {
    /// The settings of the archive's last start.
    ///
    /// # Errors
    /// If there is no archive, or its settings cannot be read.
    pub(crate) fn settings(&self) -> Result<Settings> {
        let archive = &self.archive;
        ArchiveFolder::existing(archive).with_context(|| {
            format!(
                "there is no archive to speak to; `junkai crawl URL --archive {}` begins one",
                archive.display()
            )
        })?;
        Ok(config::in_force(archive)?.unwrap_or_default())
    }

    /// Gives commands, and adds up what became of them.
    ///
    /// # Errors
    /// As [`tell`].
    pub(crate) fn tell(&self, settings: &Settings, commands: &[UserCommand]) -> Result<Told> {
        let mut sum = Told {
            when: When::Now,
            response: CommandResponse::default(),
        };
        for command in commands {
            let told = tell(&self.archive, settings, command)?;
            sum.when = told.when;
            sum.response.add(told.response);
        }
        Ok(sum)
    }

    /// Prints what became of a command; `words` say what was done.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub(crate) fn print(&self, told: &Told, words: &str) -> Result<Ending> {
        let response = &told.response;
        if self.json {
            say!("{}", serde_json::to_string(told)?);
        } else {
            say!("{words}");
            for reason in &response.reasons {
                say!("  not done: {}", shown(reason));
            }
            let untold = response.refused - response.reasons.len() as u64;
            if 0 < untold {
                say!("  not done: {untold} more");
            }
        }
        Ok(if response.refused == 0 {
            Ending::Well
        } else {
            Ending::Problems
        })
    }

    /// Who does it, and when.
    pub(crate) fn when(&self, told: &Told) -> String {
        match told.when {
            When::Now => "the running crawl has taken it in".to_owned(),
            When::NextStart => format!(
                "no crawl is running; the next `junkai crawl --archive {}` begins with it",
                self.archive.display()
            ),
        }
    }
}

/// "1 page", "2 pages".
pub(crate) fn counted(number: u64, what: &str) -> String {
    let number_told = junkai_simulation::outcome::grouped(number);
    match number {
        1 => format!("{number_told} {what}"),
        _ => format!("{number_told} {what}s"),
    }
}
