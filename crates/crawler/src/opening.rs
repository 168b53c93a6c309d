//! Opening an archive: makes its folders, takes its lock, repairs what a crash left, and reads its state.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use hashbrown::HashSet;
use junkai_frontier::Time;
use junkai_revisit::{PageState, Planner};
use junkai_store::backlog::{Backlog, Lengths, Position, Recovery, Tails};
use junkai_store::seen::Seen;
use junkai_store::time_queue;
use junkai_store::time_queue::TimeQueue;
use junkai_weburl::{Canonicalizer, Fingerprint, PageUrl, without_login};

use crate::captured::has_pages;
use crate::checkpoint::{Books, Checkpoints};
use crate::clock::Clock;
use crate::error::AtPath as _;
use crate::focus::{Focus, Unwanted};
use crate::known::KnownPages;
use crate::log::Logs;
use crate::manifest::Manifest;
use crate::outcomes::Outcomes;
use crate::paused::Paused;
use crate::progress::Progress;
use crate::rules::Rules;
use crate::scope::{Found, ScopeRules};
use crate::servers::Servers;
use crate::settings::Settings;
use crate::sitemaps::Sitemaps;
use crate::unread::Unread;
use crate::visit::{is_discard_marker, is_of_page};
use crate::wish::Wish;
use crate::{CrawlError, lock, planner_file, seen_again, wish_box};

/// An archive that is open, and all that a crawl needs of it.
pub(crate) struct Opening {
    pub(crate) settings: Arc<Settings>,
    pub(crate) clock: Clock,
    pub(crate) scope: Arc<RwLock<ScopeRules>>,
    pub(crate) rules: Arc<Rules>,
    pub(crate) seen: Seen,
    pub(crate) backlog: Backlog,
    pub(crate) known: KnownPages,
    pub(crate) servers: Servers,
    pub(crate) logs: Logs,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) seeds: Vec<PageUrl>,
    /// What was learned of what is wanted, where something is.
    pub(crate) focus: Option<Focus>,
    /// Sites that are left alone.
    pub(crate) unwanted: Unwanted,
    /// What is paused.
    pub(crate) paused: Paused,
    /// Whether a sitemap was found, where that matters.
    pub(crate) sitemaps: Sitemaps,
    /// What was wished for while no crawl was running.
    pub(crate) wishes: Vec<Wish>,
    /// The archive's folder.
    pub(crate) archive: PathBuf,
    /// Whether the archive was crawled before.
    pub(crate) is_resumed: bool,
    /// Whether it has a page.
    pub(crate) has_pages: bool,
    /// What had to be repaired, in sentences.
    pub(crate) repairs: Vec<String>,
    /// The archive is ours as long as somebody holds this.
    pub(crate) lock: Arc<File>,
}

impl Opening {
    /// Opens the archive in `folder`, new or begun before.
    pub(crate) fn of(
        folder: &Path,
        settings: Settings,
        progress: &Arc<Progress>,
    ) -> Result<Opening, CrawlError> {
        let state = folder.join("state");
        // First what may be refused, then what is written: a crawl that does not start changes nothing.
        let (scope, seeds) = scope_and_seeds(&state, &settings)?;
        make_folders(folder)?;
        let lock = lock::take(folder)?;
        let wants_seen = seen_again::is_wanted(folder);
        let manifest = Manifest::load(&state)?;
        check_fixed(manifest.as_ref(), &settings)?;
        let clock = clock_after(manifest.as_ref(), &settings);
        let mut repairs = Vec::new();
        let mut logs = captures_and_logs(folder, &settings, manifest.as_ref(), &mut repairs)?;
        let mut backlog =
            waiting_visits(&state, &settings, manifest.as_ref(), progress, &mut repairs)?;
        let mut known = known_pages(folder, &settings, manifest.as_ref(), progress, &mut repairs)?;
        let has_pages = has_pages(folder, &settings, known.len())?;
        if !has_pages {
            // Whoever starts a crawl anew that got nowhere wants to know at once whether it does now.
            backlog.bring_failed_forward();
        }
        time_by_settings(&mut known, &settings, manifest.as_ref(), clock.now())?;
        if wants_seen {
            repairs.push(seen_again::make(folder, &settings, known.queue())?);
        }
        let mut seen = Seen::open(&state.join("seen"), &settings.seen)?;
        let mut checkpoints = Checkpoints::new(folder, &settings, clock.clone(), progress);
        checkpoints.go_on_from(manifest.as_ref());
        let mut servers = Servers::open(&state, &settings, &clock)?;
        repairs.extend(servers.restored().damage_in_words());
        // Not where somebody moved a damaged manifest aside: to promise nothing there would give up what is.
        let is_new = manifest.is_none() && backlog.position() == Position(0);
        if is_new && !seeds.is_empty() {
            checkpoints.promise_nothing()?;
        }
        replay(
            &mut Books {
                seen: &mut seen,
                backlog: &mut backlog,
                outcomes: Outcomes {
                    servers: &mut servers,
                    logs: &mut logs,
                    // Nothing was said yet.
                    focus: None,
                    known: &mut known,
                },
            },
            &mut checkpoints,
        )?;
        let is_resumed = manifest.is_some() || !seen.is_empty();
        if seeds.is_empty() && !is_resumed {
            return Err(CrawlError::NothingToCrawl);
        }
        Ok(Opening {
            sitemaps: Sitemaps::open(&state, &settings, last_settings(&state).as_ref())?,
            focus: Focus::open(folder, &settings)?,
            unwanted: Unwanted::load(folder, &settings)?,
            rules: Arc::new(rules(&state, &settings, has_pages)),
            checkpoints,
            scope: Arc::new(RwLock::new(scope)),
            settings: Arc::new(settings),
            clock,
            seen,
            backlog,
            known,
            servers,
            logs,
            seeds,
            paused: Paused::load(&state)?,
            wishes: wish_box::look(&state)?,
            archive: folder.to_owned(),
            is_resumed,
            has_pages,
            repairs,
            lock: Arc::new(lock),
        })
    }
}

/// The rules of robots.txt files that are known. Where they kept every seed out, they are asked for again.
fn rules(state: &Path, settings: &Settings, has_pages: bool) -> Rules {
    if has_pages {
        Rules::load(settings, state)
    } else {
        Rules::new(settings)
    }
}

/// The crawl's clock, which goes on from the last run.
fn clock_after(manifest: Option<&Manifest>, settings: &Settings) -> Clock {
    let last = manifest.map_or(Time::EPOCH, |manifest| manifest.now);
    Clock::start(&settings.clock, last)
}

fn make_folders(archive: &Path) -> Result<(), CrawlError> {
    for part in ["archive", "indexes", "state", "logs"] {
        let part = archive.join(part);
        fs::create_dir_all(&part).at(&part)?;
    }
    Ok(())
}

/// Repairs what a crash left of the captures, and opens the logs. After a restart of the machine, only what a checkpoint names is known to be whole.
fn captures_and_logs(
    folder: &Path,
    settings: &Settings,
    manifest: Option<&Manifest>,
    repairs: &mut Vec<String>,
) -> Result<Logs, CrawlError> {
    let restarted = manifest.filter(|manifest| !manifest.is_of_this_boot());
    repairs.extend(repair_captures(folder, restarted.is_some())?);
    let mut logs = Logs::open(&folder.join("logs"), &settings.logs)?;
    if let Some(manifest) = restarted {
        logs.cut_to(manifest.log_lengths)?;
    }
    Ok(logs)
}

/// Repairs what a crash left of the captures, and says what that was.
fn repair_captures(folder: &Path, is_restarted: bool) -> Result<Option<String>, CrawlError> {
    let mut recovery = if is_restarted {
        junkai_archive::recover_after_power_loss(folder)?
    } else {
        junkai_archive::recover(folder)?
    };
    // A file that was merely open, and whole, is nothing to tell of.
    recovery
        .closed
        .retain(|file| 0 < file.bytes_cut + file.lines_made + file.lines_dropped);
    Ok((!recovery.is_empty()).then(|| recovery.to_string()))
}

/// The visits that wait.
fn waiting_visits(
    state: &Path,
    settings: &Settings,
    manifest: Option<&Manifest>,
    progress: &Progress,
    repairs: &mut Vec<String>,
) -> Result<Backlog, CrawlError> {
    let nothing = Lengths::default();
    let tails = match manifest {
        Some(manifest) if !manifest.is_of_this_boot() => Tails::Cut(&manifest.backlog),
        Some(manifest) => Tails::Keep(&manifest.backlog),
        None => Tails::Keep(&nothing),
    };
    let (mut backlog, recovery) = Backlog::open(&state.join("backlog"), &settings.backlog, tails)?;
    if last_settings(state).is_some_and(|last| has_other_pace(&last, settings)) {
        backlog.bring_forward();
    }
    repairs.extend(in_words(&recovery));
    progress.visits_lost.add(recovery.lost);
    Ok(backlog)
}

/// The settings of the last run; none if there was none, or they cannot be read.
pub(crate) fn last_settings(state: &Path) -> Option<Settings> {
    let text = fs::read_to_string(state.join("settings.toml")).ok()?;
    toml::from_str(&text).ok()
}

/// Whether visits that the last run put off would have another time now.
fn has_other_pace(last: &Settings, now: &Settings) -> bool {
    last.politeness != now.politeness || last.ring != now.ring
}

/// The known pages, with what was learned of their sites and servers.
fn known_pages(
    archive: &Path,
    settings: &Settings,
    manifest: Option<&Manifest>,
    progress: &Arc<Progress>,
    repairs: &mut Vec<String>,
) -> Result<KnownPages, CrawlError> {
    let lengths = manifest
        .map(|manifest| manifest.time_queue)
        .unwrap_or_default();
    let tails = match manifest {
        Some(manifest) if !manifest.is_of_this_boot() => time_queue::Tails::Cut(&lengths),
        _ => time_queue::Tails::Keep(&lengths),
    };
    let state = &archive.join("state");
    let folder = state.join("time_queue");
    let (queue, recovery) = TimeQueue::open(&folder, &settings.time_queue, tails)?;
    let pages = manifest.map_or(0, |manifest| manifest.pages_known);
    repairs.extend(damage_in_words(&recovery, pages));
    if recovery.journal_damaged {
        let lost = pages.saturating_sub(recovery.waiting);
        progress.states_lost.add(lost);
    }
    let mut planner = settings.planner();
    let is_restored = restore(&mut planner, state)?;
    let was_closed = manifest.is_none_or(|manifest| manifest.is_last);
    if !(is_restored && was_closed) {
        recount(&mut planner, &queue)?;
    }
    let canonical = Canonicalizer::new(&settings.canonical);
    let just_visited = time_queue::put_since(&folder, &lengths)?
        .iter()
        .map(|url| Fingerprint::of(url).0)
        .collect();
    Ok(KnownPages::new(
        queue,
        planner,
        canonical,
        Arc::clone(progress),
        just_visited,
        Unread::new(archive),
    ))
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
fn restore(planner: &mut Planner, state: &Path) -> Result<bool, CrawlError> {
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

/// What was damaged in the time queue, which had states of so many `pages` at the last checkpoint, if anything was. A torn end is nothing to tell of:
/// it was not acknowledged.
fn damage_in_words(recovery: &time_queue::Recovery, pages: u64) -> Option<String> {
    if recovery.journal_damaged {
        let time_queue::Recovery {
            waiting,
            cut_bytes,
            salvaged,
            ..
        } = recovery;
        let lost = match pages.saturating_sub(*waiting) {
            0 => "no page is lost".to_owned(),
            lost => format!("{lost} pages are LOST"),
        };
        return Some(format!(
            "known pages: the journal of state/time_queue was damaged from outside, and {cut_bytes} bytes of it cannot be read; of {pages} pages at \
             the last checkpoint {waiting} are there, some in states of an earlier time ({salvaged} read from buckets alone): {lost}"
        ));
    }
    let files = recovery.damaged_files;
    (0 < files).then(|| {
        format!("known pages: {files} files of state/time_queue were damaged from outside")
    })
}

/// What was repaired in the backlog, if anything.
fn in_words(recovery: &Recovery) -> Option<String> {
    let mut parts = Vec::new();
    if 0 < recovery.cut_bytes {
        parts.push(format!("{} torn bytes cut off", recovery.cut_bytes));
    }
    if 0 < recovery.kept {
        parts.push(format!(
            "{} visits kept that the last checkpoint did not name",
            recovery.kept
        ));
    }
    if 0 < recovery.lost {
        parts.push(format!(
            "{} visits LOST: files of state/backlog were damaged from outside",
            recovery.lost
        ));
    }
    if 0 < recovery.acks_lost_bytes {
        parts.push(format!(
            "{} bytes of acknowledgements cannot be read: files of state/backlog were damaged from outside, and some visits are made again",
            recovery.acks_lost_bytes
        ));
    }
    (!parts.is_empty()).then(|| format!("waiting visits: {}", parts.join(", ")))
}

/// Writes the settings of this run to `state/settings.toml`, where `explain` finds them; and to a new archive's
/// `junkai.toml`, so that the next run needs no flags. Limits of this run are not kept.
pub(crate) fn write_settings_down(folder: &Path, settings: &Settings) -> Result<(), CrawlError> {
    let mut kept = settings.clone();
    kept.crawl.pages_max = None;
    kept.crawl.bytes_max = None;
    kept.crawl.run_time_max = None;
    kept.crawl.once = false;
    let text = toml::to_string_pretty(&kept).map_err(|error| CrawlError::Bug {
        what: error.to_string(),
    })?;
    let in_force = folder.join("state/settings.toml");
    junkai_files::replace(&in_force, text.as_bytes()).at(&in_force)?;
    let path = folder.join("junkai.toml");
    if !path.exists() {
        let head = "# The settings of this archive; flags go before them. `junkai init` writes a file that explains each.";
        junkai_files::replace(&path, format!("{head}\n\n{text}").as_bytes()).at(&path)?;
    }
    Ok(())
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

/// Puts the URLs that were found since the last flush back into the seen set.
fn replay(books: &mut Books<'_>, checkpoints: &mut Checkpoints) -> Result<(), CrawlError> {
    let mut found = HashSet::new();
    let mark = books.seen.mark();
    books.backlog.replay_since(Position(mark.0), |entry| {
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
    Ok(())
}

/// The scope around all seeds, those of earlier runs included, and the seeds of this one.
fn scope_and_seeds(
    state: &Path,
    settings: &Settings,
) -> Result<(ScopeRules, Vec<PageUrl>), CrawlError> {
    let scope = ScopeRules::in_force(state, settings)?;
    let canonical = Canonicalizer::new(&settings.canonical);
    let (mut seeds, mut mistakes) = (Vec::new(), Vec::new());
    for text in &settings.crawl.seeds {
        match canonical.parse_seed(text) {
            Ok(url) if scope.decide(&url, Found::Seed).accepts() => seeds.push(url),
            Ok(url) => mistakes.push(format!("seed {url}: {}", scope.decide(&url, Found::Seed))),
            Err(error) => mistakes.push(format!("seed {:?}: {error}", without_login(text))),
        }
    }
    if !mistakes.is_empty() {
        return Err(CrawlError::Settings { mistakes });
    }
    let was_begun = ["MANIFEST", "seen"].map(|name| state.join(name).exists());
    if seeds.is_empty() && !was_begun.contains(&true) {
        return Err(CrawlError::NothingToCrawl);
    }
    Ok((scope, seeds))
}

#[cfg(test)]
mod tests {
    use junkai_store::backlog::{self, Entry};

    use super::*;

    #[test]
    fn nothing_is_believed_that_was_written_before_the_first_checkpoint_and_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.crawl.seeds.push("http://a.example/".to_owned());
        let open = || {
            let progress = Arc::new(Progress::default());
            Opening::of(folder.path(), settings.clone(), &progress).unwrap()
        };
        drop(open());
        let log = folder.path().join("logs/crawl.log");
        fs::write(&log, "a line\n").unwrap();
        drop(open());
        assert_eq!(fs::read(&log).unwrap(), b"a line\n", "a kill leaves it");
        let state = folder.path().join("state");
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
        let open = || {
            let progress = Arc::new(Progress::default());
            Opening::of(folder.path(), settings.clone(), &progress).unwrap()
        };
        let mut opened = open();
        let waiting = Entry {
            url: "http://a.example/waits".to_owned(),
            ..Entry::default()
        };
        opened.backlog.append(&waiting, Time::EPOCH).unwrap();
        opened.backlog.flush(&mut Nothing).unwrap();
        drop(opened);
        let state = folder.path().join("state");
        fs::remove_file(state.join("MANIFEST")).unwrap();
        let opened = open();
        assert_eq!(opened.backlog.waiting(), 1);
        assert!(Manifest::load(&state).unwrap().is_none());
    }

    #[test]
    fn damage_is_told_with_what_it_cost() {
        let whole = time_queue::Recovery {
            waiting: 7,
            ..time_queue::Recovery::default()
        };
        assert_eq!(damage_in_words(&whole, 7), None);
        let damaged = time_queue::Recovery {
            journal_damaged: true,
            cut_bytes: 1234,
            ..whole
        };
        let told = damage_in_words(&damaged, 10).unwrap();
        assert!(told.contains("1234 bytes"), "{told}");
        assert!(told.contains("3 pages are LOST"), "{told}");
        let told = damage_in_words(&damaged, 7).unwrap();
        assert!(told.contains("no page is lost"), "{told}");
    }
}
