//! Opening an archive: makes its folders, takes its lock, repairs what a crash left, and reads its state.

use std::num::NonZeroU16;
use std::path::Path;
use std::sync::{Arc, RwLock};

use hashbrown::HashSet;
use junkai_files::Folder;
use junkai_frontier::{ServerState, Time};
use junkai_revisit::{PageState, Planner};
use junkai_store::backlog::{Backlog, Lengths, Position, Tails};
use junkai_store::seen::Seen;
use junkai_store::time_queue;
use junkai_store::time_queue::TimeQueue;
use junkai_weburl::{Canonicalizer, Fingerprint, PageUrl, without_login};

use crate::checkpoint::{Books, Checkpoints};
use crate::clock::Clock;
use crate::command::UserCommand;
use crate::focus::{Focus, Unwanted};
use crate::known::KnownPages;
use crate::log::Logs;
use crate::manifest::Manifest;
use crate::outbox::Outbox;
use crate::outcomes::Outcomes;
use crate::partition::Partition;
use crate::paused::Paused;
use crate::platform::{ArchiveFolder, Platform};
use crate::progress::Progress;
use crate::rules::Rules;
use crate::scope::{Found, ScopeRules};
use crate::servers::{Servers, Visited, of_all_partitions};
use crate::settings::Settings;
use crate::sitemaps::Sitemaps;
use crate::visit::{is_discard_marker, is_of_page};
use crate::{CrawlError, command_box, planner_file, repairs};

/// The settings of the last run, below `state`.
const SETTINGS: &str = "settings.toml";

/// What the last checkpoint says, if there was one.
struct Last {
    manifest: Option<Manifest>,
    /// Whether the machine may have been restarted since.
    is_restarted: bool,
}

impl Last {
    fn load(platform: &Platform, state: &Folder) -> Result<Last, CrawlError> {
        let manifest = Manifest::load(state)?;
        let boot = platform.machine.boot();
        let is_restarted = manifest
            .as_ref()
            .is_some_and(|manifest| !manifest.is_of_boot(&boot));
        Ok(Last {
            manifest,
            is_restarted,
        })
    }

    /// What to believe of the files of a backlog that had these lengths at the last checkpoint, if it was there.
    fn tails<'a>(&self, lengths: Option<&'a Lengths>, nothing: &'a Lengths) -> Tails<'a> {
        match lengths {
            Some(lengths) if self.is_restarted => Tails::Cut(lengths),
            None if self.is_restarted => Tails::Cut(nothing),
            Some(lengths) => Tails::Keep(lengths),
            None => Tails::Keep(nothing),
        }
    }
}

/// A partition of an archive that is open, and all that its engine needs of it.
pub struct Opening {
    /// The settings of this run, with the partition's share of what is bounded.
    pub settings: Arc<Settings>,
    /// Which partition it is.
    pub partition: Partition,
    /// What it runs on.
    pub platform: Platform,
    /// The crawl's time.
    pub clock: Clock,
    /// Which URLs belong to the crawl.
    pub scope: Arc<RwLock<ScopeRules>>,
    /// What robots.txt files say.
    pub rules: Arc<Rules>,
    /// The known URLs.
    pub seen: Seen,
    /// The visits that wait.
    pub backlog: Backlog,
    /// The links to other partitions, where there are any.
    pub outbox: Option<Outbox>,
    /// The known pages.
    pub known: KnownPages,
    /// What servers asked for.
    pub servers: Servers,
    /// How servers stand, by what all partitions know of them.
    pub server_states: Vec<ServerState>,
    /// The logs.
    pub logs: Logs,
    /// Who makes it all durable.
    pub checkpoints: Checkpoints,
    /// The seeds of this run.
    pub seeds: Vec<PageUrl>,
    /// What was learned of what is wanted, where something is.
    pub focus: Option<Focus>,
    /// Sites that are left alone.
    pub unwanted: Unwanted,
    /// What is paused.
    pub paused: Paused,
    /// Whether a sitemap was found, where that matters.
    pub sitemaps: Sitemaps,
    /// Commands that were given while no crawl was running.
    pub commands: Vec<UserCommand>,
    /// The archive's folder.
    pub archive: ArchiveFolder,
    /// Whether the archive was crawled before.
    pub is_resumed: bool,
    /// Whether it has a page.
    pub has_pages: bool,
    /// What had to be repaired, in sentences.
    pub repairs: Vec<String>,
}

/// Has a crawl that does not say how many partitions it has go on with those that its archive was begun with.
///
/// # Errors
/// If that cannot be read.
pub fn take_up_partitions(
    folder: &ArchiveFolder,
    settings: &mut Settings,
) -> Result<(), CrawlError> {
    if settings.crawl.partitions.is_none() {
        let begun = folder.partitions_begun()?;
        settings.crawl.partitions = begun.filter(|begun| *begun != NonZeroU16::MIN);
    }
    Ok(())
}

/// What is said against a crawl before anything is written.
///
/// # Errors
/// If a seed cannot be crawled, or there is nothing to crawl.
pub fn check(folder: &ArchiveFolder, settings: &Settings) -> Result<(), CrawlError> {
    check_partitions(folder, settings)?;
    scope_and_seeds(folder, settings).map(|_| ())
}

impl Opening {
    /// Opens the archive in `folder`, new or begun before, with one partition; its folders are there, and it is nobody else's.
    ///
    /// # Errors
    /// If there is nothing to crawl, the archive was begun with other settings that cannot change, or a file cannot be read or mended.
    pub fn of(
        platform: &Platform,
        folder: &Path,
        settings: &Settings,
        progress: &Arc<Progress>,
    ) -> Result<Opening, CrawlError> {
        let mut partitions = Opening::all(platform, folder, settings, progress)?;
        match partitions.pop() {
            Some(whole) if partitions.is_empty() => Ok(whole),
            _ => Err(CrawlError::Bug {
                what: "an archive of several partitions was opened as one".to_owned(),
            }),
        }
    }

    /// Opens all partitions of the archive in `folder`, new or begun before; its folders are there, and it is nobody else's.
    ///
    /// # Errors
    /// If there is nothing to crawl, the archive was begun with other settings that cannot change, or a file cannot be read or mended.
    pub fn all(
        platform: &Platform,
        folder: &Path,
        settings: &Settings,
        progress: &Arc<Progress>,
    ) -> Result<Vec<Opening>, CrawlError> {
        let archive = ArchiveFolder::new(platform.disk.clone(), folder);
        check_partitions(&archive, settings)?;
        let (scope, seeds) = scope_and_seeds(&archive, settings)?;
        archive.make_partitions(settings.partitions())?;
        let given = Given {
            platform,
            archive: &archive,
            settings: Arc::new(settings.of_partition()),
            progress,
            visited: Visited::none_of(settings.ring.keys),
        };
        given.open(scope, &seeds)
    }
}

/// What all partitions have in common.
struct Common {
    clock: Clock,
    scope: Arc<RwLock<ScopeRules>>,
    rules: Arc<Rules>,
    server_states: Vec<ServerState>,
    logs: Logs,
    is_resumed: bool,
    has_pages: bool,
}

/// What a partition has on disk.
struct Stores {
    backlog: Backlog,
    outbox: Option<Outbox>,
    known: KnownPages,
    seen: Seen,
    servers: Servers,
}

impl Stores {
    /// Takes in again what was found since the set of known URLs was last written, and returns how many of these URLs cannot be read.
    fn make_whole(
        &mut self,
        last: &Last,
        checkpoints: &mut Checkpoints,
        logs: &mut Logs,
        seeds: &[PageUrl],
    ) -> Result<u64, CrawlError> {
        // Not where somebody moved a damaged manifest aside: to promise nothing there would give up what is.
        let is_new = last.manifest.is_none() && self.backlog.position() == Position(0);
        if is_new && !seeds.is_empty() {
            checkpoints.promise_nothing()?;
        }
        let mut books = Books {
            seen: &mut self.seen,
            backlog: &mut self.backlog,
            outcomes: Outcomes {
                outbox: self.outbox.as_mut(),
                servers: &mut self.servers,
                logs,
                // Nothing was said yet.
                focus: None,
                known: &mut self.known,
            },
        };
        let damaged = replay(&mut books, checkpoints)?;
        if last.is_restarted {
            // Else a kill before the first checkpoint would pass for another restart, and what is written until then would be cut off.
            checkpoints.promise(&mut books)?;
        }
        Ok(damaged)
    }
}

/// The rules of robots.txt files that are known. Where they kept every seed out, they are asked for again.
fn rules(state: &Folder, settings: &Settings, has_pages: bool) -> Rules {
    if has_pages {
        Rules::load(settings, state)
    } else {
        Rules::new(settings)
    }
}

/// The crawl's clock, which goes on from the last run.
fn clock_after(platform: &Platform, lasts: &[Last], settings: &Settings) -> Clock {
    let manifests = lasts.iter().filter_map(|last| last.manifest.as_ref());
    let last = manifests.map(|manifest| manifest.now).max();
    let last = last.unwrap_or(Time::EPOCH);
    Clock::start(&platform.machine, &settings.clock, last)
}

/// What an archive is opened with.
pub struct Given<'a> {
    /// What it is on.
    pub platform: &'a Platform,
    /// Its folder.
    pub archive: &'a ArchiveFolder,
    /// The settings of each partition.
    pub settings: Arc<Settings>,
    /// Who is told how it goes.
    pub progress: &'a Arc<Progress>,
    /// Which servers were visited in this run.
    pub visited: Visited,
}

impl Given<'_> {
    /// Opens all partitions, with these seeds.
    fn open(&self, scope: ScopeRules, seeds: &[PageUrl]) -> Result<Vec<Opening>, CrawlError> {
        let (state, count) = (self.archive.state(), self.settings.partitions());
        let mut lasts = Vec::new();
        for partition in Partition::all(count) {
            let last = Last::load(self.platform, &self.archive.partition(partition))?;
            check_fixed(last.manifest.as_ref(), &self.settings)?;
            lasts.push(last);
        }
        let clock = clock_after(self.platform, &lasts, &self.settings);
        let mut repairs = Vec::new();
        let logs = self.captures_and_logs(&lasts, &mut repairs)?;
        let mut stores = Vec::new();
        for (partition, last) in Partition::all(count).zip(&lasts) {
            stores.push(self.stores(partition, last, &clock, &mut repairs)?);
        }
        let has_pages = self.has_pages(&stores)?;
        let restored = stores.iter().map(|stores| stores.servers.restored());
        let common = Common {
            clock,
            scope: Arc::new(RwLock::new(scope)),
            rules: Arc::new(rules(&state, &self.settings, has_pages)),
            server_states: of_all_partitions(restored),
            logs,
            is_resumed: lasts.iter().any(|last| last.manifest.is_some())
                || stores.iter().any(|stores| !stores.seen.is_empty()),
            has_pages,
        };
        if seeds.is_empty() && !common.is_resumed {
            return Err(CrawlError::NothingToCrawl);
        }
        let canonical = Canonicalizer::new(&self.settings.canonical);
        let commands = of_partitions(command_box::look(&state)?, count, &canonical);
        let mut openings = Vec::new();
        let partitions = Partition::all(count).zip(lasts.iter().zip(stores));
        for ((partition, (last, stores)), commands) in partitions.zip(commands) {
            let mut opening = self.opening(partition, last, stores, seeds, &common)?;
            opening.commands = commands;
            opening.repairs.splice(0..0, repairs.drain(..));
            openings.push(opening);
        }
        Ok(openings)
    }

    /// A partition whose stores are open.
    fn opening(
        &self,
        partition: Partition,
        last: &Last,
        mut stores: Stores,
        seeds: &[PageUrl],
        common: &Common,
    ) -> Result<Opening, CrawlError> {
        if !common.has_pages {
            // Whoever starts a crawl anew that got nowhere wants to know at once whether it does now.
            stores.backlog.bring_failed_forward();
        }
        let mut checkpoints = Checkpoints::new(self, partition, common.clock.clone());
        checkpoints.go_on_from(last.manifest.as_ref());
        let mut logs = common.logs.of_another_engine();
        let damaged = stores.make_whole(last, &mut checkpoints, &mut logs, seeds)?;
        let backlog = self.archive.partition(partition).file("backlog");
        let replayed = repairs::of_found_urls(&self.archive.shown(&backlog), damaged);
        let (state, folder) = (self.archive.state(), self.archive.path());
        let settings = &self.settings;
        let own_seeds = seeds.iter().filter(|seed| partition.has(seed));
        Ok(Opening {
            sitemaps: Sitemaps::open(&state, settings, last_settings(&state).as_ref())?,
            focus: Focus::open(folder, settings)?,
            unwanted: Unwanted::load(folder, settings)?,
            rules: Arc::clone(&common.rules),
            checkpoints,
            scope: Arc::clone(&common.scope),
            settings: Arc::clone(settings),
            partition,
            clock: common.clock.clone(),
            seen: stores.seen,
            backlog: stores.backlog,
            outbox: stores.outbox,
            known: stores.known,
            servers: stores.servers,
            server_states: common.server_states.clone(),
            logs,
            seeds: own_seeds.cloned().collect(),
            paused: Paused::load(&state)?,
            commands: Vec::new(),
            archive: self.archive.clone(),
            platform: self.platform.clone(),
            is_resumed: common.is_resumed,
            has_pages: common.has_pages,
            repairs: replayed.into_iter().collect(),
        })
    }

    /// Repairs what a crash left of the captures, and opens the logs. After a restart of the machine, only what a checkpoint names is known to be whole: the longest that any
    /// partition names, of files that were rotated as often as any says.
    fn captures_and_logs(
        &self,
        lasts: &[Last],
        repairs: &mut Vec<String>,
    ) -> Result<Logs, CrawlError> {
        let manifests = || lasts.iter().filter_map(|last| last.manifest.as_ref());
        let is_restarted = lasts.iter().any(|last| last.is_restarted);
        // A manifest of this boot was written after the logs were cut in this boot.
        let are_all_restarted = lasts
            .iter()
            .all(|last| last.is_restarted || last.manifest.is_none());
        repairs.extend(self.platform.captures.recover(is_restarted)?);
        let rotations = manifests().map(|manifest| manifest.log_rotations).max();
        let rotations = rotations.unwrap_or_default();
        let mut logs = Logs::open(
            &self.archive.logs(),
            &self.settings.logs,
            rotations,
            self.platform.machine.wall(),
        )?;
        if is_restarted && are_all_restarted {
            let mut lengths = [0, 0];
            for manifest in manifests().filter(|manifest| manifest.log_rotations == rotations) {
                for (length, named) in lengths.iter_mut().zip(manifest.log_lengths) {
                    *length = named.max(*length);
                }
            }
            logs.cut_to(lengths)?;
        }
        Ok(logs)
    }

    /// What a partition has on disk.
    fn stores(
        &self,
        partition: Partition,
        last: &Last,
        clock: &Clock,
        repairs: &mut Vec<String>,
    ) -> Result<Stores, CrawlError> {
        let state = self.archive.partition(partition);
        let disk = state.disk();
        let is_seen_missing =
            !disk.exists(&state.file("seen")) && disk.exists(&state.file("backlog"));
        let backlog = self.waiting_visits(&state, last, repairs)?;
        let outbox = if partition.is_whole() {
            None
        } else {
            Some(self.outbox(&state, partition, last, repairs)?)
        };
        let mut known = self.known_pages(&state, last, repairs)?;
        time_by_settings(
            &mut known,
            &self.settings,
            last.manifest.as_ref(),
            clock.now(),
        )?;
        if is_seen_missing {
            let captures = &self.platform.captures;
            let made = captures.make_seen(&state, partition, &self.settings, known.queue())?;
            repairs.extend(made);
        }
        let seen = Seen::open_on(disk.clone(), &state.file("seen"), &self.settings.seen)?;
        let servers = Servers::open(&state, &self.settings, clock, &self.visited)?;
        repairs.extend(servers.restored().damage_in_words());
        Ok(Stores {
            backlog,
            outbox,
            known,
            seen,
            servers,
        })
    }

    /// The visits that wait.
    fn waiting_visits(
        &self,
        state: &Folder,
        last: &Last,
        repairs: &mut Vec<String>,
    ) -> Result<Backlog, CrawlError> {
        let nothing = Lengths::default();
        let lengths = last.manifest.as_ref().map(|manifest| &manifest.backlog);
        let disk = state.disk().clone();
        let folder = state.file("backlog");
        let tails = last.tails(lengths, &nothing);
        let (mut backlog, recovery) =
            Backlog::open_on(disk, &folder, &self.settings.backlog, tails)?;
        repairs.extend(repairs::of_visits(&self.archive.shown(&folder), &recovery));
        let last = last_settings(&self.archive.state());
        if last.is_some_and(|last| has_other_pace(&last.of_partition(), &self.settings)) {
            backlog.bring_forward();
        }
        self.progress.visits_lost.add(recovery.lost);
        Ok(backlog)
    }

    /// The links to other partitions.
    fn outbox(
        &self,
        state: &Folder,
        partition: Partition,
        last: &Last,
        repairs: &mut Vec<String>,
    ) -> Result<Outbox, CrawlError> {
        let nothing = Lengths::default();
        let lengths = last
            .manifest
            .as_ref()
            .and_then(|manifest| manifest.outbox.as_ref());
        let folder = state.file("outbox");
        let (outbox, recovery) = Outbox::open_on(
            state.disk().clone(),
            &folder,
            &self.settings.backlog,
            last.tails(lengths, &nothing),
            partition,
            Canonicalizer::new(&self.settings.canonical),
        )?;
        repairs.extend(repairs::of_visits(&self.archive.shown(&folder), &recovery));
        self.progress.visits_lost.add(recovery.lost);
        Ok(outbox)
    }

    /// The known pages, with what was learned of their sites and servers.
    fn known_pages(
        &self,
        state: &Folder,
        last: &Last,
        repairs: &mut Vec<String>,
    ) -> Result<KnownPages, CrawlError> {
        let manifest = last.manifest.as_ref();
        let lengths = manifest
            .map(|manifest| manifest.time_queue)
            .unwrap_or_default();
        let tails = if last.is_restarted {
            time_queue::Tails::Cut(&lengths)
        } else {
            time_queue::Tails::Keep(&lengths)
        };
        let folder = state.file("time_queue");
        let disk = state.disk().clone();
        let (queue, recovery) =
            TimeQueue::open_on(disk, &folder, &self.settings.time_queue, tails)?;
        let pages = manifest.map_or(0, |manifest| manifest.pages_known);
        let shown = self.archive.shown(&folder);
        repairs.extend(repairs::of_known_pages(&shown, &recovery, pages));
        if recovery.journal_damaged {
            let gone = pages.saturating_sub(recovery.waiting);
            self.progress.states_lost.add(gone);
        }
        let mut planner = self.settings.planner();
        let was_learned = restore(&mut planner, state)?;
        let was_closed = manifest.is_none_or(|manifest| manifest.is_last);
        if !(was_learned && was_closed) {
            recount(&mut planner, &queue)?;
        }
        let canonical = Canonicalizer::new(&self.settings.canonical);
        let just_visited = time_queue::put_since(state.disk(), &folder, &lengths)?
            .iter()
            .map(|url| Fingerprint::of(url).0)
            .collect();
        Ok(KnownPages::new(
            queue,
            planner,
            canonical,
            Arc::clone(self.progress),
            just_visited,
            self.platform.clone(),
        ))
    }

    /// Whether a page was captured. Where the captures are not at hand, states of pages stand for them.
    fn has_pages(&self, stores: &[Stores]) -> Result<bool, CrawlError> {
        let has_pages = self.platform.captures.have_pages(&self.settings)?;
        let has_states = || stores.iter().any(|stores| 0 < stores.known.len());
        Ok(has_pages.unwrap_or_else(has_states))
    }
}

/// The settings of the last run; none if there was none, or they cannot be read.
#[must_use]
pub fn last_settings(state: &Folder) -> Option<Settings> {
    let text = state.read(SETTINGS).ok()??;
    toml::from_slice(&text).ok()
}

/// Whether visits that the last run deferred would have another time now.
fn has_other_pace(last: &Settings, now: &Settings) -> bool {
    last.politeness != now.politeness || last.ring != now.ring
}

/// Has the known pages visited as often as the settings of this run say. A focused crawl visits none of them, and leaves that to the next run.
fn time_by_settings(
    known: &mut KnownPages,
    settings: &Settings,
    manifest: Option<&Manifest>,
    now: Time,
) -> Result<(), CrawlError> {
    if settings.focus.aim.is_focused() {
        return Ok(());
    }
    let timed_by = manifest.and_then(|manifest| manifest.timed_by);
    known.time_by(settings.revisit.at_least, timed_by, now)
}

/// Takes up what was learned of sites and servers; false if nothing was, or it cannot be read.
fn restore(planner: &mut Planner, state: &Folder) -> Result<bool, CrawlError> {
    let Some(learned) = planner_file::load(state)? else {
        return Ok(false);
    };
    let restored = planner.restore(&learned);
    if let Err(error) = &restored {
        tracing::warn!(%error, "what was learned of sites and servers is learned anew");
    }
    Ok(restored.is_ok())
}

/// Counts anew what known pages ask of their servers: after a kill their states are newer than what was saved. Of more than so many pages the
/// saved count stays, which a kill leaves off by the visits of a few seconds.
fn recount(planner: &mut Planner, queue: &TimeQueue) -> Result<(), CrawlError> {
    const PAGES_MAX: u64 = 2_000_000;
    if PAGES_MAX < queue.records() {
        tracing::warn!(
            pages = queue.records(),
            "too many pages to count anew what their servers are asked for; the last count stays"
        );
        return Ok(());
    }
    planner.uncount();
    queue.scan(|record| {
        if let Some(known) = PageState::decode(record.body) {
            planner.remember(&known);
        }
    })?;
    Ok(())
}

/// Writes the settings of this run to `state/settings.toml`, where `explain` finds them; and to a new archive's
/// `junkai.toml`, so that the next run needs no flags. Limits of this run are not kept.
pub fn write_settings_down(archive: &ArchiveFolder, settings: &Settings) -> Result<(), CrawlError> {
    let mut kept = settings.clone();
    kept.crawl.pages_max = None;
    kept.crawl.bytes_max = None;
    kept.crawl.run_time_max = None;
    kept.crawl.once = false;
    let text = toml::to_string_pretty(&kept).map_err(|error| CrawlError::Bug {
        what: error.to_string(),
    })?;
    archive.state().replace(SETTINGS, text.as_bytes())?;
    let path = archive.settings();
    if !archive.disk().exists(&path) {
        let head = "# The settings of this archive; flags go before them. `junkai init` writes a file that explains each.";
        let text = format!("{head}\n\n{text}");
        archive.disk().replace(&path, text.as_bytes())?;
    }
    Ok(())
}

/// An archive keeps the partitions that it was begun with.
fn check_partitions(archive: &ArchiveFolder, settings: &Settings) -> Result<(), CrawlError> {
    let asked = settings.partitions();
    match archive.partitions_begun()? {
        Some(begun) if begun != asked => {
            let mistake = format!(
                "crawl.partitions = {asked}: this archive was begun with {begun}; it cannot change"
            );
            let mistakes = vec![mistake];
            Err(CrawlError::Settings { mistakes })
        }
        _ => Ok(()),
    }
}

/// What an archive was begun with and cannot change: by it the known URLs and the holds of servers have their meaning.
fn check_fixed(manifest: Option<&Manifest>, settings: &Settings) -> Result<(), CrawlError> {
    let Some(manifest) = manifest else {
        return Ok(());
    };
    let mut mistakes = Vec::new();
    if manifest.keys != settings.ring.keys {
        let keys = manifest.keys;
        mistakes.push(format!(
            "ring.keys: this archive was begun with {keys}; it cannot change"
        ));
    }
    if manifest.canonical != settings.canonical {
        mistakes.push(
            "[canonical]: this archive was begun with other settings; they cannot change"
                .to_owned(),
        );
    }
    if mistakes.is_empty() {
        Ok(())
    } else {
        Err(CrawlError::Settings { mistakes })
    }
}

/// Puts the URLs that were found since the last flush back into the seen set, and returns how many of them cannot be read.
fn replay(books: &mut Books<'_>, checkpoints: &mut Checkpoints) -> Result<u64, CrawlError> {
    let mut found = HashSet::new();
    let mark = books.seen.mark();
    let damaged = books.backlog.replay_since(Position(mark.0), |entry| {
        let fingerprint = Fingerprint::of(&entry.url).0;
        if is_discard_marker(entry) {
            found.remove(&fingerprint);
        } else if is_of_page(entry) {
            found.insert(fingerprint);
        }
    })?;
    for fingerprint in found {
        if books.seen.room() == 0 {
            // With the old mark: the rest would be replayed again.
            checkpoints.promise(books)?;
            books.seen.flush(mark)?;
        }
        books.seen.insert(fingerprint)?;
    }
    Ok(damaged)
}

/// The scope around all seeds, those of earlier runs included, and the seeds of this one.
fn scope_and_seeds(
    archive: &ArchiveFolder,
    settings: &Settings,
) -> Result<(ScopeRules, Vec<PageUrl>), CrawlError> {
    let scope = ScopeRules::in_force(&archive.state(), settings)?;
    let of_settings = ScopeRules::new(&settings.scope);
    let of_settings = of_settings.map_err(|mistakes| CrawlError::Settings { mistakes })?;
    let canonical = Canonicalizer::new(&settings.canonical);
    let (mut seeds, mut mistakes) = (Vec::new(), Vec::new());
    for text in &settings.crawl.seeds {
        match canonical.parse_seed(text) {
            Ok(url) if scope.decide(&url, Found::Seed).accepts() => seeds.push(url),
            Ok(url) if of_settings.decide(&url, Found::Seed).accepts() => {
                let rule = scope.decide(&url, Found::Seed);
                tracing::warn!(
                    "seed {url}: {rule}, since `junkai scope` was told so; it is left out"
                );
            }
            Ok(url) => mistakes.push(format!("seed {url}: {}", scope.decide(&url, Found::Seed))),
            Err(error) => mistakes.push(format!("seed {:?}: {error}", without_login(text))),
        }
    }
    if !mistakes.is_empty() {
        return Err(CrawlError::Settings { mistakes });
    }
    if seeds.is_empty() && !was_begun(archive, settings.partitions()) {
        return Err(CrawlError::NothingToCrawl);
    }
    Ok((scope, seeds))
}

/// Whether something was written that an earlier run knew of.
fn was_begun(archive: &ArchiveFolder, count: NonZeroU16) -> bool {
    let states = archive.partitions(count);
    let mut files = states
        .iter()
        .flat_map(|state| ["MANIFEST", "seen"].map(|name| state.file(name)));
    files.any(|file| archive.disk().exists(&file))
}

/// Commands as each partition has to carry them out.
fn of_partitions(
    commands: Vec<UserCommand>,
    count: NonZeroU16,
    canonical: &Canonicalizer,
) -> Vec<Vec<UserCommand>> {
    let mut shared: Vec<Vec<UserCommand>> = vec![Vec::new(); usize::from(count.get())];
    for command in commands {
        for (commands, part) in shared.iter_mut().zip(command.parts(count, canonical)) {
            commands.extend(part);
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use junkai_store::backlog::{self, Entry};

    use std::fs;

    use super::*;
    use crate::scope_changes::ScopeChanges;

    fn open(folder: &Path, settings: &Settings) -> Opening {
        let archive = ArchiveFolder::real(folder);
        archive.make().unwrap();
        let progress = Arc::new(Progress::default());
        Opening::of(&crate::testing::platform(), folder, settings, &progress).unwrap()
    }

    #[test]
    fn nothing_is_believed_that_was_written_before_the_first_checkpoint_and_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.crawl.seeds.push("http://a.example/".to_owned());
        let open = || open(folder.path(), &settings);
        drop(open());
        let log = folder.path().join("logs/crawl.log");
        fs::write(&log, "a line\n").unwrap();
        drop(open());
        assert_eq!(fs::read(&log).unwrap(), b"a line\n", "a kill leaves it");
        let state = ArchiveFolder::real(folder.path()).state();
        let manifest = Manifest::load(&state).unwrap().unwrap();
        let boot = "another".to_owned();
        Manifest { boot, ..manifest }.store(&state).unwrap();
        drop(open());
        assert_eq!(fs::read(&log).unwrap(), b"");
    }

    /// A driver that keeps nothing of a visit.
    struct Nothing;

    impl backlog::Outcomes for Nothing {
        type Error = backlog::BacklogError;

        fn write(&mut self, _entries: backlog::EntriesWritten) -> Result<(), Self::Error> {
            Ok(())
        }
    }

    #[test]
    fn where_the_manifest_was_moved_aside_no_other_gives_up_what_waits() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.crawl.seeds.push("http://a.example/".to_owned());
        let open = || open(folder.path(), &settings);
        let mut opened = open();
        let waiting = Entry {
            url: "http://a.example/waits".to_owned(),
            ..Entry::default()
        };
        opened.backlog.append(&waiting, Time::EPOCH).unwrap();
        opened.backlog.flush(&mut Nothing).unwrap();
        drop(opened);
        let state = ArchiveFolder::real(folder.path()).state();
        fs::remove_file(state.file("MANIFEST")).unwrap();
        let opened = open();
        assert_eq!(opened.backlog.waiting(), 1);
        assert!(Manifest::load(&state).unwrap().is_none());
    }

    #[test]
    fn a_kill_after_a_restart_of_the_machine_costs_nothing_that_was_written_since() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.crawl.seeds.push("http://a.example/".to_owned());
        let open = || open(folder.path(), &settings);
        drop(open());
        let state = ArchiveFolder::real(folder.path()).state();
        let manifest = Manifest::load(&state).unwrap().unwrap();
        let boot = "another".to_owned();
        Manifest { boot, ..manifest }.store(&state).unwrap();
        let mut restarted = open();
        let waiting = Entry {
            url: "http://a.example/found".to_owned(),
            ..Entry::default()
        };
        restarted.backlog.append(&waiting, Time::EPOCH).unwrap();
        restarted.backlog.flush(&mut Nothing).unwrap();
        // Before its first checkpoint.
        drop(restarted);
        assert_eq!(open().backlog.waiting(), 1);
    }

    #[test]
    fn a_seed_that_a_command_left_out_does_not_keep_the_crawl_from_starting() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.crawl.seeds = vec!["http://a.example/".into(), "http://b.example/".into()];
        drop(open(folder.path(), &settings));
        let changes = ScopeChanges {
            exclude: vec!["a.example".to_owned()],
            ..ScopeChanges::default()
        };
        let state = ArchiveFolder::real(folder.path()).state();
        changes.store(&state).unwrap();
        let opened = open(folder.path(), &settings);
        let seeds: Vec<&str> = opened.seeds.iter().map(PageUrl::as_str).collect();
        assert_eq!(seeds, ["http://b.example/"]);
        settings.scope.exclude = vec!["b.example".to_owned()];
        let refused = scope_and_seeds(&ArchiveFolder::real(folder.path()), &settings).unwrap_err();
        assert!(
            refused.to_string().contains("seed http://b.example/"),
            "{refused}"
        );
    }
}
