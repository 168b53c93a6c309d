//! One run: the driver of the engine. What goes wrong is in `faults`, what its orders come to in `visits`.

mod faults;
mod visits;

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU16;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use junkai_engine::clock::Clock;
use junkai_engine::command::{UserCommand, Whom};
use junkai_engine::manifest::Manifest;
use junkai_engine::opening::{Opening, write_settings_down};
use junkai_engine::platform::{ArchiveFolder, Platform};
use junkai_engine::progress::Progress;
use junkai_engine::rules::Rules;
use junkai_engine::scope::ScopeRules;
use junkai_engine::settings::Settings;
use junkai_engine::shared_servers::SharedServers;
use junkai_engine::visit::Start;
use junkai_engine::{CrawlError, Engine, Input};
use junkai_files::{Disk, SimulatedDisk};
use junkai_frontier::Time;
use junkai_weburl::Canonicalizer;

use self::faults::vary;
use crate::captures::SimulatedCaptures;
use crate::check::{Broken, End, Judge, Ledger, Log, broken, check_opened};
use crate::draws::{Draws, Matter};
use crate::machine::SimulatedMachine;
use crate::web::Web;
use crate::worker::Made;
use crate::{Bug, Plan};

/// The longest the driver sleeps.
const NAP_MAX: Duration = Duration::from_mins(5);
/// Rounds without time passing, at most.
const ROUNDS_AT_A_MOMENT_MAX: u32 = 10_000;
/// When nothing goes wrong any more, all that waits is visited within this time.
const PROGRESS_WITHIN: Duration = Duration::from_hours(24 * 40);
/// Between a fault that ends the process and the next start, at most.
const DOWN_MAX_MS: u32 = 20_000;
/// A checkpoint is no older than this many of its intervals, and the longest nap.
const CHECKPOINTS_BEHIND_MAX: u32 = 20;

/// What a run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that servers saw.
    pub visits: u64,
    /// Kills and power failures.
    pub ends: u64,
    /// Other faults.
    pub faults: u64,
    /// Commands of users.
    pub commands: u64,
    /// Simulated time, in seconds.
    pub seconds: u64,
    /// URLs that were found.
    pub urls: u64,
}

/// A run that broke a promise.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Which, and how.
    pub broken: Broken,
    /// How far it had come.
    pub counts: Counts,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { visits, ends, .. } = self.counts;
        write!(
            formatter,
            "{} (after {visits} visits and {ends} ends)",
            self.broken
        )
    }
}

/// Runs the simulation of this number.
///
/// # Errors
/// If a promise is broken.
pub fn run(number: u64, plan: &Plan) -> Result<Counts, Failure> {
    let mut simulation = Simulation::new(number, plan);
    let ran = catch_unwind(AssertUnwindSafe(|| simulation.run()));
    let ran = ran.unwrap_or_else(|panic| {
        let what = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(broken("no panic", what.unwrap_or_default()))
    });
    let counts = simulation.counts();
    match ran {
        Ok(()) => Ok(counts),
        Err(broken) => Err(Failure { broken, counts }),
    }
}

#[derive(Debug)]
enum Event {
    /// The time of a partition's visit has come.
    Begin(usize, Box<Start>),
    /// A visit ends.
    End(usize, Box<Made>, Option<Duration>),
    /// A name server answers.
    Resolve(usize, Box<str>),
    /// One partition hears from another.
    Hear(usize, Input),
    /// A capture is written, long after its report.
    Capture(String),
    /// Somebody gives a command.
    Command(UserCommand),
    Fault(Fault),
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    /// The process ends at one of the next writes.
    Kill,
    /// So does the machine.
    PowerFailure,
    /// The user stops the crawl, and starts it again.
    Stop,
    FullDisk,
    SetWall(i64),
    /// Our own network is gone for so long.
    Outage(Duration),
    /// The machine sleeps for so long.
    Sleep(Duration),
}

struct Process {
    /// One for each partition.
    engines: Vec<Engine>,
    /// The servers that these share.
    servers: SharedServers,
    clock: Clock,
    rules: Arc<Rules>,
    scope: Arc<RwLock<ScopeRules>>,
    progress: Arc<Progress>,
}

impl Process {
    /// Ends all engines in order.
    fn close(self, now: Time) -> Result<(), CrawlError> {
        for engine in self.engines {
            engine.close(now)?;
        }
        Ok(())
    }
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "facts of a run that have nothing to do with each other"
)]
struct Simulation {
    plan: Plan,
    draws: Draws,
    disk: SimulatedDisk,
    machine: Arc<SimulatedMachine>,
    captures: Arc<SimulatedCaptures>,
    platform: Platform,
    web: Web,
    canonical: Canonicalizer,
    settings: Settings,
    judge: Judge,
    ledger: Ledger,
    log: Log,
    agenda: BTreeMap<(Duration, u64), Event>,
    serial: u64,
    process: Option<Process>,
    /// When that began.
    started_at: Duration,
    /// How long the machine has slept since.
    slept: Duration,
    /// When what was learned was last written, by the crawl's clock.
    written_at: Time,
    /// How the last process ended.
    last_end: &'static str,
    /// The power fails with the next end of the process.
    power_fails_next: bool,
    offline_until: Duration,
    /// A bit that was flipped.
    rotten: Option<(PathBuf, usize, u32)>,
    was_rotten: bool,
    was_told_of_damage: bool,
    /// Something was lost to rot.
    lost_to_rot: Option<String>,
    is_calm: bool,
    counts: Counts,
}

/// Why a step came to an end early.
enum Interruption {
    /// The process has ended.
    Ended,
    Broken(Broken),
}

impl From<Broken> for Interruption {
    fn from(broken: Broken) -> Interruption {
        Interruption::Broken(broken)
    }
}

impl Simulation {
    fn new(number: u64, plan: &Plan) -> Simulation {
        let mut draws = Draws::new(number);
        let disk = SimulatedDisk::default();
        let machine = Arc::new(SimulatedMachine::new(disk.clone()));
        let on_disk = Disk::simulated(disk.clone());
        let captures = Arc::new(SimulatedCaptures::new(on_disk.clone()));
        let platform = Platform {
            disk: on_disk,
            machine: Arc::clone(&machine) as Arc<_>,
            captures: Arc::clone(&captures) as Arc<_>,
        };
        let web = Web::new(number, plan);
        let mut settings = Settings::default();
        settings.crawl.seeds = web.seeds();
        settings.crawl.sitemaps = false;
        settings.seen.memory_bytes = 1 << 20;
        settings.ring.keys = 256;
        let count = draws.of(Matter::Settings).between(1, 3);
        let of_bug = plan.bug.map(Bug::partitions);
        let partitions = u16::try_from(plan.partitions.or(of_bug).unwrap_or(count));
        let partitions = partitions.ok().and_then(NonZeroU16::new);
        settings.crawl.partitions = partitions;
        vary(&mut settings, draws.of(Matter::Settings));
        let mut simulation = Simulation {
            canonical: Canonicalizer::new(&settings.canonical),
            plan: plan.clone(),
            draws,
            disk,
            machine,
            captures,
            platform,
            web,
            settings,
            judge: Judge::default(),
            ledger: Ledger::default(),
            log: Log::default(),
            agenda: BTreeMap::new(),
            serial: 0,
            process: None,
            started_at: Duration::ZERO,
            slept: Duration::ZERO,
            written_at: Time::EPOCH,
            last_end: "the first start",
            power_fails_next: false,
            offline_until: Duration::ZERO,
            rotten: None,
            was_rotten: false,
            was_told_of_damage: false,
            lost_to_rot: None,
            is_calm: false,
            counts: Counts::default(),
        };
        simulation.plant();
        simulation.plan_faults();
        simulation
    }

    fn counts(&self) -> Counts {
        Counts {
            seconds: self.machine.passed().as_secs(),
            urls: self.ledger.len() as u64,
            ..self.counts
        }
    }

    fn has(&self, bug: Bug) -> bool {
        self.plan.bug == Some(bug)
    }

    fn at(&mut self, at: Duration, event: Event) {
        self.serial += 1;
        self.agenda.insert((at, self.serial), event);
    }

    fn run(&mut self) -> Result<(), Broken> {
        let mut moment = (Duration::ZERO, 0);
        loop {
            let now = self.machine.passed();
            moment = if moment.0 == now {
                (now, moment.1 + 1)
            } else {
                (now, 0)
            };
            if ROUNDS_AT_A_MOMENT_MAX < moment.1 {
                return Err(broken("progress", format!("time stands still at {now:?}")));
            }
            if self.process.is_none() {
                match self.start() {
                    Ok(()) => {}
                    Err(Interruption::Ended) => {
                        self.process_ended()?;
                        continue;
                    }
                    Err(Interruption::Broken(broken)) => return Err(broken),
                }
            }
            match self.step() {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(Interruption::Ended) => self.process_ended()?,
                Err(Interruption::Broken(broken)) => return Err(broken),
            }
        }
    }

    /// A process starts, and finds what the last one left.
    fn start(&mut self) -> Result<(), Interruption> {
        self.disk.restart();
        self.spoil_state();
        let folder = ArchiveFolder::new(self.platform.disk.clone(), Path::new("/"));
        let made = folder.make();
        self.survived(made)?;
        let progress = Arc::new(Progress::default());
        let opened = Opening::all(&self.platform, Path::new("/"), &self.settings, &progress);
        let openings = self.survived(opened)?;
        let repairs: Vec<String> = openings
            .iter()
            .flat_map(|opening| opening.repairs.clone())
            .collect();
        let read = self.log.read(&self.platform.disk, true);
        self.survived(read)?;
        self.was_told_of_damage |= !repairs.is_empty();
        self.hear_of_damage(&progress);
        let may_lose = self.was_rotten;
        let checked = check_opened(
            &openings,
            &mut self.ledger,
            &self.log,
            &self.captures,
            may_lose,
        );
        let checked = self.survived(checked)?;
        let lost = checked.map_err(|broken| self.with_history(broken, &repairs))?;
        let lost = lost.map(|lost| {
            let (end, rotten) = (self.last_end, &self.rotten);
            format!("{lost}, after {end}, with {rotten:?}")
        });
        self.lost_to_rot = self.lost_to_rot.take().or(lost);
        let written = write_settings_down(&folder, &self.settings);
        self.survived(written)?;
        let first = &openings[0];
        let (clock, rules) = (first.clock.clone(), Arc::clone(&first.rules));
        let scope = Arc::clone(&first.scope);
        for seed in openings.iter().flat_map(|opening| &opening.seeds) {
            self.ledger.told(seed.as_str(), clock.now());
        }
        let mut engines = Vec::new();
        for opening in openings {
            let engine = Engine::new(opening, usize::MAX, Arc::clone(&progress), clock.now());
            engines.push(self.survived(engine)?);
        }
        self.ledger.written();
        (self.started_at, self.slept) = (self.machine.passed(), Duration::ZERO);
        self.process = Some(Process {
            engines,
            servers: SharedServers::new(&self.settings.ring, self.settings.politeness.interval),
            clock,
            rules,
            scope,
            progress,
        });
        Ok(())
    }

    /// Notes whether a process told of damage.
    fn hear_of_damage(&mut self, progress: &Progress) {
        let lost = progress.visits_lost.read() + progress.states_lost.read();
        self.was_told_of_damage |= 0 < lost;
    }

    /// With the lines of the log about a page that was lost.
    fn with_history(&self, mut broken: Broken, repairs: &[String]) -> Broken {
        let url = broken
            .what
            .split([',', ' '])
            .find(|word| word.starts_with("http"));
        let url = format!("\"url\":\"{}\"", url.unwrap_or_default());
        let log = self.platform.disk.read(Path::new("/logs/events.jsonl"));
        let log = log.ok().flatten().unwrap_or_default();
        for line in String::from_utf8_lossy(&log).lines() {
            if line.contains(&url) {
                broken.what = format!("{}\n  {line}", broken.what);
            }
        }
        broken.what = format!("{}\n  after {}", broken.what, self.last_end);
        if let Some((path, byte, bit)) = &self.rotten {
            let path = path.display();
            broken.what = format!(
                "{}\n  bit {bit} of byte {byte} of {path} was flipped",
                broken.what
            );
        }
        for repair in repairs {
            broken.what = format!("{}\n  repaired: {repair}", broken.what);
        }
        broken
    }

    /// The result, if the process has survived it; an error that it has no reason for breaks a promise.
    fn survived<T>(&mut self, result: Result<T, CrawlError>) -> Result<T, Interruption> {
        match result {
            Ok(value) => Ok(value),
            Err(_) if self.disk.is_killed() => Err(Interruption::Ended),
            // A crawl that runs waits for room; one that starts or ends says that there is none.
            Err(error) if self.process.is_none() && error.is_disk_full() => {
                self.disk.make_room();
                Err(Interruption::Ended)
            }
            Err(error) => {
                if let Some((path, byte, bit)) = self.rotten.take() {
                    // It was noticed and told; the operator restores the file from a copy.
                    self.was_told_of_damage = true;
                    self.disk.restart();
                    let _whether_it_is_there = self.disk.flip_bit(&path, byte, bit);
                    return Err(Interruption::Ended);
                }
                let mut what = error.to_string();
                let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(&error);
                while let Some(error) = cause {
                    what = format!("{what}: {error}");
                    cause = error.source();
                }
                Err(broken("a crawl goes on", what).into())
            }
        }
    }

    /// The process has ended: what it did beside the engine and on the network has, too.
    fn process_ended(&mut self) -> Result<(), Broken> {
        let now = self.machine.passed();
        let clock = self.now();
        let is_long_up = self.process.is_some() && self.started_at + self.behind_max() < now;
        if let Some(process) = self.process.take() {
            self.hear_of_damage(&process.progress);
        }
        self.machine.end_process();
        self.end_connections(now);
        self.counts.ends += 1;
        let is_power_failure = std::mem::take(&mut self.power_fails_next);
        self.last_end = match (is_power_failure, self.disk.is_killed()) {
            (true, _) => "a power failure",
            (false, true) => "a kill",
            (false, false) => "a stop",
        };
        self.disk.restart();
        if is_power_failure {
            self.disk.lose_power(self.draws.of(Matter::PowerFailures));
            self.machine.boot();
        }
        let folder = ArchiveFolder::new(self.platform.disk.clone(), Path::new("/"));
        let end = if is_power_failure {
            let states = folder.partitions(self.settings.partitions());
            let manifests = states
                .iter()
                .map(|state| Manifest::load(state).ok().flatten());
            // What any partition has lost is lost.
            let times = manifests.map(|manifest| manifest.map(|manifest| manifest.now));
            End::Power(times.min().flatten())
        } else {
            End::Process
        };
        if let End::Power(checkpoint) = end
            && is_long_up
            && !self.was_rotten
            && checkpoint.is_none_or(|checkpoint| checkpoint + self.behind_max() < clock)
        {
            let what = format!("at {clock:?}, the last checkpoint is of {checkpoint:?}");
            return Err(broken("a power failure costs little", what));
        }
        // Nobody knows what a server asked for in an answer that came and was not written down.
        self.judge.forgive_since(match end {
            End::Process => Some(self.written_at),
            End::Power(checkpoint) => checkpoint,
        });
        self.ledger.ended(end);
        let down = self.draws.of(Matter::Ends).below(DOWN_MAX_MS);
        let down = Duration::from_millis(u64::from(down));
        self.machine.pass_to(now + down);
        if self.plan.settings_change && !self.is_calm {
            vary(&mut self.settings, self.draws.of(Matter::Settings));
        }
        Ok(())
    }

    /// How old a checkpoint may be.
    fn behind_max(&self) -> Duration {
        CHECKPOINTS_BEHIND_MAX * (self.settings.crawl.checkpoint_every + NAP_MAX) + self.slept
    }

    /// Connections end with their process; what it had planned does not happen.
    fn end_connections(&mut self, now: Duration) {
        let agenda = std::mem::take(&mut self.agenda);
        for (when, event) in agenda {
            match event {
                Event::End(_, made, _) => {
                    let server = self.server_of(&made.start);
                    self.judge.end(server, now, None);
                }
                Event::Begin(..) | Event::Resolve(..) | Event::Hear(..) | Event::Capture(_) => {}
                Event::Command(_) | Event::Fault(_) => {
                    self.agenda.insert(when, event);
                }
            }
        }
    }

    /// One round of the driver. True when all is done.
    fn step(&mut self) -> Result<bool, Interruption> {
        for partition in self.partitions() {
            let now = self.now();
            self.engine(partition)?.begin_round(now);
        }
        self.happen()?;
        for partition in self.partitions() {
            let now = self.now();
            let refilled = self.engine(partition)?.refill(now);
            self.survived(refilled)?;
            let ticked = self.engine(partition)?.tick(now);
            self.survived(ticked)?;
            self.carry_out_orders(partition)?;
        }
        if !self.has(Bug::WriteDownSkipped) {
            for partition in self.partitions() {
                let written = self.engine(partition)?.write_down();
                self.survived(written)?;
            }
        }
        self.ledger.written();
        self.written_at = self.now();
        if !self.has(Bug::CheckpointSkipped) {
            for partition in self.partitions() {
                let now = self.now();
                let checked = self.engine(partition)?.checkpoint(now);
                self.survived(checked)?;
            }
        }
        if self.draws.of(Matter::Machine).is(0.5) {
            self.machine.work();
            if self.disk.is_killed() {
                return Err(Interruption::Ended);
            }
        }
        self.pass_on()
    }

    fn partitions(&self) -> Range<usize> {
        0..usize::from(self.settings.partitions().get())
    }

    fn engine(&mut self, partition: usize) -> Result<&mut Engine, Interruption> {
        let process = self.process()?;
        process
            .engines
            .get_mut(partition)
            .ok_or(Interruption::Ended)
    }

    fn process(&mut self) -> Result<&mut Process, Interruption> {
        self.process.as_mut().ok_or(Interruption::Ended)
    }

    /// What the crawl's clock shows.
    fn now(&self) -> Time {
        self.process
            .as_ref()
            .map_or(Time::EPOCH, |process| process.clock.now())
    }

    /// Lets time pass until something happens. True when nothing is left to do.
    fn pass_on(&mut self) -> Result<bool, Interruption> {
        let passed = self.machine.passed();
        if !self.is_calm && self.plan.time <= passed {
            self.calm_down();
        }
        let now = self.now();
        let process = self.process()?;
        let counts = process.progress.snapshot();
        if self.is_calm {
            let is_asked = self
                .agenda
                .values()
                .any(|event| matches!(event, Event::Command(_) | Event::Hear(..)));
            let process = self.process()?;
            let is_idle =
                |engine: &Engine| !engine.has_visits_in_flight() && !engine.has_links_to_send();
            if counts.waiting == 0 && !is_asked && process.engines.iter().all(is_idle) {
                return self.finish();
            }
            if self.plan.time + PROGRESS_WITHIN < passed {
                let what = format!("{} visits wait still{}", counts.waiting, self.waiting());
                return Err(broken("progress", what).into());
            }
        }
        let process = self.process()?;
        let wakes = process.engines.iter();
        let wake = wakes.filter_map(|engine| engine.next_wake(now)).min();
        let nap = wake.map_or(NAP_MAX, |wake| wake.saturating_duration_since(now));
        let next = self.agenda.keys().next().map(|(at, _)| *at);
        let until = (passed + nap.min(NAP_MAX)).min(next.unwrap_or(Duration::MAX));
        self.machine.pass_to(until);
        Ok(false)
    }

    /// The first visits that wait, and until when.
    fn waiting(&mut self) -> String {
        let now = self.now();
        let closed = self.process.take().map(|process| process.close(now));
        let progress = Arc::new(Progress::default());
        let settings = &self.settings;
        let opened = Opening::all(&self.platform, Path::new("/"), settings, &progress);
        let (Some(Ok(())), Ok(openings)) = (closed, opened) else {
            return String::new();
        };
        let mut waiting = String::new();
        for opening in openings {
            let scanned = opening.backlog.scan(|entry| {
                let (url, due, tries) = (&entry.url, entry.due, entry.tries);
                let line = format!("\n  {url}, due {due:?}, after {tries} tries");
                waiting.push_str(&line);
            });
            if let Err(error) = scanned {
                return format!(": {error}");
            }
        }
        format!(" at {now:?}:{waiting}")
    }

    /// From now on nothing goes wrong, and nobody wants anything.
    fn calm_down(&mut self) {
        self.is_calm = true;
        self.web.calm_down();
        self.offline_until = Duration::ZERO;
        self.disk.make_room();
        self.agenda
            .retain(|_, event| !matches!(event, Event::Command(_) | Event::Fault(_)));
        let hosts = (0..self.plan.hosts).map(|host| Whom::Host(Web::host(host)));
        for whom in hosts.chain([Whom::All]) {
            let resume = Event::Command(UserCommand::Resume { whom });
            self.at(self.machine.passed(), resume);
        }
    }

    /// Ends the crawl in order, and looks once more at all that it left.
    fn finish(&mut self) -> Result<bool, Interruption> {
        let now = self.now();
        let Some(process) = self.process.take() else {
            return Err(Interruption::Ended);
        };
        let progress = Arc::clone(&process.progress);
        let closed = process.close(now);
        self.survived(closed)?;
        self.hear_of_damage(&progress);
        self.machine.end_process();
        self.start()?;
        if let Some(lost) = self.lost_to_rot.take().filter(|_| !self.was_told_of_damage) {
            let what = format!("nobody was told of this: {lost}");
            return Err(self
                .with_history(broken("damage is told", what), &[])
                .into());
        }
        for url in self.captures.urls() {
            let host = url
                .strip_prefix("http://")
                .and_then(|rest| rest.split_once('/'));
            if let Some((host, path)) = host
                && self.web.is_private(host, &format!("/{path}"))
            {
                return Err(broken("robots.txt", format!("{url} was captured")).into());
            }
        }
        Ok(true)
    }

    /// All that happens by now.
    fn happen(&mut self) -> Result<(), Interruption> {
        while let Some(entry) = self.agenda.first_entry() {
            if self.machine.passed() < entry.key().0 {
                break;
            }
            match entry.remove() {
                Event::Begin(partition, start) => self.begin(partition, start)?,
                Event::End(partition, made, rest) => self.end(partition, *made, rest)?,
                Event::Resolve(partition, host) => self.resolve(partition, host)?,
                Event::Hear(partition, input) => {
                    let now = self.now();
                    let handled = self.engine(partition)?.handle(now, input);
                    self.survived(handled)?;
                    self.carry_out_orders(partition)?;
                }
                Event::Capture(url) => self.keep(Some(&url))?,
                Event::Command(command) => {
                    let carried_out = self.command(&command);
                    if let Err(Interruption::Ended) = carried_out {
                        // Whoever gets no answer asks again.
                        let later = self.machine.passed() + Duration::from_mins(1);
                        self.at(later, Event::Command(command));
                    }
                    carried_out?;
                }
                Event::Fault(fault) => self.fault(fault)?,
            }
        }
        Ok(())
    }
}
