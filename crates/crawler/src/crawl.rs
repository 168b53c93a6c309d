//! A crawl: opens an archive, runs the rounds until there is a reason to end, and leaves everything in order.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

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
use crate::node::Node;
use crate::opening::{self, Opening, write_settings_down};
use crate::platform::{counted, platform};
use crate::progress::{Progress, Snapshot, Stop};
use crate::rounds::Rounds;
use crate::settings::Settings;

/// Seeds and sitemaps that are told of.
const TOLD_MAX: usize = 5;

/// A crawl that is ready to run.
pub struct Crawl {
    /// The first partition, whose thread decides when the crawl ends.
    first: Rounds,
    /// The others.
    others: Vec<Rounds>,
    node: Arc<Node>,
    crew: Crew,
    settings: Arc<Settings>,
    progress: Arc<Progress>,
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
        mut settings: Settings,
        progress: Arc<Progress>,
    ) -> Result<Crawl, CrawlError> {
        let folder = ArchiveFolder::real(archive);
        opening::take_up_partitions(&folder, &mut settings)?;
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
        opening::check(&folder, &settings)?;
        folder.make()?;
        let lock = Arc::new(lock::take(archive)?);
        let platform = platform(archive);
        let openings = Opening::all(&platform, archive, &settings, &progress)?;
        let settings = Arc::new(settings);
        let repairs = openings.iter().flat_map(|opening| opening.repairs.clone());
        let repairs = repairs.collect();
        let (crew, lines) = Crew::start(archive, &openings[0], &settings, &progress, access)?;
        // Only now, that nothing speaks against them: the next run goes by them.
        write_settings_down(&folder, &settings)?;
        // Before the first visit is logged: a hook that is new hears of it.
        let hooks = Hooks::start(archive, &settings, &progress)?;
        let node = Node::new(crew.mailboxes.clone(), &settings, Arc::clone(&progress));
        let node = Arc::new(node);
        let mut partitions = Vec::new();
        for (opening, line) in openings.into_iter().zip(lines) {
            partitions.push(Rounds::new(
                opening,
                Arc::clone(&lock),
                line,
                Arc::clone(&node),
                crew.visits_max,
                Arc::clone(&progress),
            )?);
        }
        Ok(Crawl {
            first: partitions.remove(0),
            others: partitions,
            node,
            crew,
            settings,
            progress,
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
        let all = self.others.iter().chain([&self.first]);
        all.map(|partition| partition.engine().pages_known()).sum()
    }

    /// Crawls until everything is visited, a limit is reached or the user stops it.
    ///
    /// # Errors
    /// If the archive cannot be written (a full disk is waited for), or a public address would be visited without a contact.
    pub fn run(mut self) -> Result<Summary, CrawlError> {
        let threads = self.start_others()?;
        let ended = self.run_first();
        if ended.is_err() {
            // Nobody waits for room on the disk any more.
            self.progress.ask_to_stop();
        }
        // However it ended: the others end, too.
        self.node.end_all();
        let mut partitions = Vec::new();
        let mut errors = Vec::new();
        for thread in threads {
            match thread.join() {
                Ok(Ok(partition)) => partitions.push(partition),
                Ok(Err(error)) => errors.push(error),
                Err(_) => errors.push(CrawlError::Worker {
                    reason: "the thread of a partition panicked".to_owned(),
                }),
            }
        }
        let ended = ended?;
        if let Some(error) = errors.into_iter().next() {
            return Err(error);
        }
        partitions.insert(0, self.first);
        if ended == Ended::NothingReached {
            for partition in &partitions {
                partition.engine().give_seeds_up();
            }
        }
        // While the archive is still ours, and all that was visited is in the log.
        let hooks = self.hooks.finish();
        let mut failed_seeds = Vec::new();
        let mut sitemaps_tried = Vec::new();
        let has_page = partitions
            .iter()
            .any(|partition| partition.engine().has_pages());
        for partition in &partitions {
            // A partition of few seeds may have no page where the crawl has many.
            if !has_page {
                failed_seeds.extend(partition.engine().failed_seeds());
            }
            sitemaps_tried.extend_from_slice(partition.engine().sitemaps_tried());
        }
        let mut told = BTreeSet::new();
        failed_seeds.retain(|seed: &FailedSeed| told.insert(seed.url.clone()));
        failed_seeds.truncate(TOLD_MAX);
        sitemaps_tried.truncate(TOLD_MAX);
        let losses = partitions[0].engine().losses();
        // Whatever became of the hooks: the archive is left in order.
        for partition in &mut partitions {
            partition.dismiss();
        }
        self.crew.dismiss()?;
        if let Some(neighbours) = &mut *self.node.neighbours() {
            neighbours.leave(counted());
        }
        for partition in partitions {
            partition.close()?;
        }
        Ok(Summary {
            losses,
            failed_seeds,
            sitemaps_tried,
            hooks: hooks?,
            ended,
            seconds: self.begun.elapsed().as_secs_f64(),
            progress: self.progress.snapshot(),
        })
    }

    /// Starts the threads of all partitions but the first.
    fn start_others(&mut self) -> Result<Vec<Thread>, CrawlError> {
        let mut threads = Vec::new();
        for partition in self.others.drain(..) {
            let (node, progress) = (Arc::clone(&self.node), Arc::clone(&self.progress));
            let name = format!("frontier-{}", partition.engine().partition().number());
            let work = move || {
                let _ends_all = EndsAll(node);
                let ran = partition.run();
                if ran.is_err() {
                    progress.ask_to_stop();
                }
                ran
            };
            let thread = std::thread::Builder::new().name(name).spawn(work);
            threads.push(thread.map_err(|source| CrawlError::Thread { source })?);
        }
        Ok(threads)
    }

    /// Runs the first partition until there is a reason for the crawl to end, or another one has failed.
    fn run_first(&mut self) -> Result<Ended, CrawlError> {
        let ended = loop {
            self.first.round()?;
            if let Some(ended) = self.reason_to_end() {
                break ended;
            }
            if self.node.has_ended() {
                break Ended::Stopped;
            }
        };
        self.node.end_all();
        self.first.finish_what_is_in_flight()?;
        Ok(ended)
    }

    fn reason_to_end(&mut self) -> Option<Ended> {
        let is_goal_reached = self.first.is_goal_reached();
        let limits = &self.settings.crawl;
        let (engine, node) = (self.first.engine(), &self.node);
        if self.first.stop() != Stop::Never {
            Some(Ended::Stopped)
        } else if limits
            .pages_max
            .is_some_and(|pages_max| pages_max <= engine.pages())
            || engine.is_budget_spent()
        {
            Some(Ended::PagesReached)
        } else if limits
            .bytes_max
            .is_some_and(|bytes_max| bytes_max.as_u64() <= node.bytes())
        {
            Some(Ended::BytesReached)
        } else if limits
            .run_time_max
            .is_some_and(|time_max| time_max <= self.begun.elapsed())
        {
            Some(Ended::TimeReached)
        } else if node.is_without_sitemap() && !node.is_out_of_reach() {
            Some(Ended::NoSitemap)
        } else if is_goal_reached || (limits.once && node.is_complete()) {
            Some(Ended::Complete)
        } else if node.is_out_of_reach() {
            Some(Ended::NothingReached)
        } else {
            None
        }
    }
}

/// The thread of a partition, which gives back what is to be closed.
type Thread = JoinHandle<Result<Rounds, CrawlError>>;

/// Ends all partitions when one of them ends, however that comes.
struct EndsAll(Arc<Node>);

impl Drop for EndsAll {
    fn drop(&mut self) {
        self.0.end_all();
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
        let keys = broken.first.engine().settings().ring.keys;
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
