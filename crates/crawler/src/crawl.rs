//! A crawl: opens an archive, runs the rounds until there is a reason to end, and leaves everything in order.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::CrawlError;
use crate::crew::Crew;
use crate::descriptors;
use crate::opening::Opening;
use crate::progress::{Progress, Snapshot, Stop};
use crate::rounds::Rounds;
use crate::settings::Settings;

/// How long an orderly stop waits for what is in flight.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// A crawl that is ready to run.
pub struct Crawl {
    rounds: Rounds,
    repairs: Vec<String>,
    begun: Instant,
}

/// How a crawl ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Everything in scope has been visited once, and that was all.
    Complete,
    /// The number of pages asked for is reached.
    PagesReached,
    /// The time asked for is over.
    TimeReached,
    /// The user stopped it.
    Stopped,
}

/// What a crawl came to.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Why it ended.
    pub ended: Ended,
    /// How long it ran.
    pub seconds: f64,
    /// The counters at the end.
    pub progress: Snapshot,
}

impl Crawl {
    /// Opens an archive, new or begun before, repairs what a crash left, and starts the workers.
    ///
    /// # Errors
    /// If the settings are wrong, the archive is in use or cannot be read, or there is nothing to crawl.
    pub fn open(
        archive: &Path,
        settings: Settings,
        progress: Arc<Progress>,
    ) -> Result<Crawl, CrawlError> {
        let mistakes = settings.mistakes();
        if !mistakes.is_empty() {
            return Err(CrawlError::Settings { mistakes });
        }
        descriptors::raise_limit();
        let opening = Opening::of(archive, settings, &progress)?;
        let repairs = opening.repairs.clone();
        let crew = Crew::start(archive, &opening, &progress)?;
        let rounds = Rounds::new(opening, crew, progress)?;
        Ok(Crawl {
            rounds,
            repairs,
            begun: Instant::now(),
        })
    }

    /// What had to be repaired at opening, in sentences.
    #[must_use]
    pub fn repairs(&self) -> &[String] {
        &self.repairs
    }

    /// Crawls until everything is visited, a limit is reached or the user stops it.
    ///
    /// # Errors
    /// If the archive cannot be written (a full disk is waited for), or a public address would be visited without a contact.
    pub fn run(mut self) -> Result<Summary, CrawlError> {
        let ended = loop {
            self.rounds.round()?;
            if let Some(ended) = self.reason_to_end() {
                break ended;
            }
        };
        self.finish_what_is_in_flight()?;
        let progress = self.rounds.close()?;
        Ok(Summary {
            ended,
            seconds: self.begun.elapsed().as_secs_f64(),
            progress,
        })
    }

    fn reason_to_end(&mut self) -> Option<Ended> {
        let is_goal_reached = self.rounds.is_goal_reached();
        let limits = &self.rounds.settings().crawl;
        if self.rounds.stop() != Stop::Never {
            Some(Ended::Stopped)
        } else if limits
            .pages_max
            .is_some_and(|pages_max| pages_max <= self.rounds.pages())
            || self.rounds.is_budget_spent()
        {
            Some(Ended::PagesReached)
        } else if limits
            .run_time_max
            .is_some_and(|time_max| time_max <= self.begun.elapsed())
        {
            Some(Ended::TimeReached)
        } else if is_goal_reached
            || (self.rounds.settings().crawl.once && self.rounds.is_complete())
        {
            Some(Ended::Complete)
        } else {
            None
        }
    }

    fn finish_what_is_in_flight(&mut self) -> Result<(), CrawlError> {
        let deadline = Instant::now() + STOP_PATIENCE;
        while self.rounds.has_visits_in_flight()
            && Instant::now() < deadline
            && self.rounds.stop() != Stop::Now
        {
            self.rounds.wind_down()?;
        }
        Ok(())
    }
}
