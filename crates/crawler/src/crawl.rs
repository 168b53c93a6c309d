//! A crawl: opens an archive, runs the rounds until there is a reason to end, and leaves everything in order.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use junkai_engine::platform::ArchiveFolder;
use junkai_fetch::{Access, roots_mistake};
use serde::Serialize;

use crate::CrawlError;
use crate::crew::Crew;
use crate::descriptors;
use crate::first_pages::FailedSeed;
use crate::hook::{HookReport, Hooks};
use crate::lock;
use crate::losses::Losses;
use crate::opening::{self, Opening, write_settings_down};
use crate::platform::platform;
use crate::progress::{Progress, Snapshot, Stop};
use crate::rounds::Rounds;
use crate::settings::Settings;

/// How long an orderly stop waits for what is in flight.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// A crawl that is ready to run.
pub struct Crawl {
    rounds: Rounds,
    hooks: Hooks,
    repairs: Vec<String>,
    proxies: Vec<String>,
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
    /// The number of bytes asked for is received.
    BytesReached,
    /// The time asked for is over.
    TimeReached,
    /// It goes by sitemaps alone, and found none.
    NoSitemap,
    /// Every seed has failed, and the archive has no page.
    NothingReached,
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
    /// What was left out or lost, in this run and all before it.
    pub losses: Losses,
    /// Where the archive has no page: the first seeds that failed, and why.
    pub failed_seeds: Vec<FailedSeed>,
    /// Where the crawl goes by sitemaps alone and found none: where it looked first, and what was there.
    pub sitemaps_tried: Vec<FailedSeed>,
    /// What was told to hooks.
    pub hooks: Vec<HookReport>,
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
        let mut mistakes = settings.mistakes();
        mistakes.extend(roots_mistake(&settings.fetch));
        if !mistakes.is_empty() {
            return Err(CrawlError::Settings { mistakes });
        }
        let environment = |name: &str| std::env::var(name).ok();
        let access = Access::load(&settings.fetch, &environment)
            .map_err(|mistakes| CrawlError::Settings { mistakes })?;
        let proxies = access.as_ref().map(|access| access.proxies_in_words());
        descriptors::raise_limit();
        // First what may be refused, then what is written: a crawl that does not start changes nothing.
        let folder = ArchiveFolder::real(archive);
        opening::check(&folder, &settings)?;
        folder.make()?;
        let lock = Arc::new(lock::take(archive)?);
        let platform = platform(archive);
        let opening = Opening::of(&platform, archive, settings, &progress)?;
        let repairs = opening.repairs.clone();
        let crew = Crew::start(archive, &opening, &progress, access)?;
        // Only now, that nothing speaks against them: the next run goes by them.
        write_settings_down(&folder, &opening.settings)?;
        // Before the first visit is logged: a hook that is new hears of it.
        let hooks = Hooks::start(archive, &opening.settings, &progress)?;
        let rounds = Rounds::new(opening, lock, crew, progress)?;
        Ok(Crawl {
            rounds,
            hooks,
            repairs,
            proxies: proxies.unwrap_or_default(),
            begun: Instant::now(),
        })
    }

    /// What had to be repaired at opening, in sentences.
    #[must_use]
    pub fn repairs(&self) -> &[String] {
        &self.repairs
    }

    /// Which proxies visits go through, in sentences.
    #[must_use]
    pub fn proxies(&self) -> &[String] {
        &self.proxies
    }

    /// Pages that the archive knows already.
    #[must_use]
    pub fn pages_known(&self) -> u64 {
        self.rounds.engine().pages_known()
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
        if ended == Ended::NothingReached {
            self.rounds.engine().give_seeds_up();
        }
        // While the archive is still ours, and all that was visited is in the log.
        let hooks = self.hooks.finish();
        let failed_seeds = self.rounds.engine().failed_seeds();
        let sitemaps_tried = self.rounds.engine().sitemaps_tried().to_vec();
        let losses = self.rounds.engine().losses();
        // Whatever became of the hooks: the archive is left in order.
        let progress = self.rounds.close()?;
        Ok(Summary {
            losses,
            failed_seeds,
            sitemaps_tried,
            hooks: hooks?,
            ended,
            seconds: self.begun.elapsed().as_secs_f64(),
            progress,
        })
    }

    fn reason_to_end(&mut self) -> Option<Ended> {
        let is_goal_reached = self.rounds.is_goal_reached();
        let limits = &self.rounds.engine().settings().crawl;
        if self.rounds.stop() != Stop::Never {
            Some(Ended::Stopped)
        } else if limits
            .pages_max
            .is_some_and(|pages_max| pages_max <= self.rounds.engine().pages())
            || self.rounds.engine().is_budget_spent()
        {
            Some(Ended::PagesReached)
        } else if self.rounds.engine().are_bytes_reached() {
            Some(Ended::BytesReached)
        } else if limits
            .run_time_max
            .is_some_and(|time_max| time_max <= self.begun.elapsed())
        {
            Some(Ended::TimeReached)
        } else if self.rounds.engine().is_without_sitemap()
            && !self.rounds.engine().is_out_of_reach()
        {
            Some(Ended::NoSitemap)
        } else if is_goal_reached
            || (self.rounds.engine().settings().crawl.once && self.rounds.is_complete())
        {
            Some(Ended::Complete)
        } else if self.rounds.engine().is_out_of_reach() {
            Some(Ended::NothingReached)
        } else {
            None
        }
    }

    fn finish_what_is_in_flight(&mut self) -> Result<(), CrawlError> {
        let deadline = Instant::now() + STOP_PATIENCE;
        while self.rounds.engine().has_visits_in_flight()
            && Instant::now() < deadline
            && self.rounds.stop() != Stop::Now
        {
            self.rounds.wind_down()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::servers;

    /// A crawl of one seed that nobody serves.
    fn crawl(archive: &Path) -> Crawl {
        let settings = "[crawl]\nseeds = [\"http://127.0.0.1:1/\"]\nonce = true\n\
                        [politeness]\ninterval = \"0s\"\nabort_slack = \"0s\"\n\
                        [addresses]\nallow = [\"127.0.0.0/8\"]\n";
        let settings = toml::from_str(settings).unwrap();
        Crawl::open(archive, settings, Arc::new(Progress::default())).unwrap()
    }

    #[test]
    fn an_error_of_a_hook_is_told_after_the_archive_is_left_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("archive");
        let mut broken = crawl(&archive);
        let keys = broken.rounds.engine().settings().ring.keys;
        broken.hooks = Hooks::broken();
        let error = broken.run().unwrap_err();
        assert!(matches!(error, CrawlError::Bug { .. }), "{error}");
        let restored = servers::restored(&ArchiveFolder::real(&archive).state(), keys).unwrap();
        assert!(restored.was_closed, "all was written down");
        // The archive is nobody's any more, and nothing has to be repaired.
        let again = crawl(&archive);
        assert_eq!(again.repairs(), [""; 0]);
        assert_eq!(again.run().unwrap().ended, Ended::NothingReached);
    }
}
