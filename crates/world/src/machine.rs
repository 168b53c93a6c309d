//! A machine whose time passes when the simulation says so.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use junkai_engine::CrawlError;
use junkai_engine::platform::{Machine, Task, Work};
use junkai_files::SimulatedDisk;

/// What the wall clock shows when the simulation begins.
const WALL_AT_START: Duration = Duration::from_secs(1_700_000_000);
/// So often a full disk is looked at before there is room.
const LOOKS_AT_FULL_DISK: u32 = 3;

/// The machine.
#[derive(Debug)]
pub(crate) struct SimulatedMachine {
    state: Mutex<State>,
    disk: SimulatedDisk,
}

#[derive(Debug, Default)]
struct State {
    /// What has really passed.
    passed: Duration,
    /// When it was started last.
    booted: Duration,
    boots: u32,
    /// How far the wall clock is off, in microseconds.
    wall_off: i64,
    /// Whether the count follows the wall clock, which is a bug.
    follows_wall: bool,
    /// Whether the name of a start changes: with every power failure, never or with every process.
    boot_bug: Option<bool>,
    processes: u32,
    looks: u32,
    /// Work that waits to be done.
    work: Vec<Arc<Waiting>>,
}

/// Work beside the engine, until it is done.
struct Waiting {
    work: Mutex<Option<Work>>,
    is_done: AtomicBool,
}

impl std::fmt::Debug for Waiting {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Waiting")
    }
}

impl Waiting {
    fn run(&self) {
        let work = self
            .work
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(work) = work {
            work();
            self.is_done.store(true, Ordering::Relaxed);
        }
    }
}

impl SimulatedMachine {
    pub(crate) fn new(disk: SimulatedDisk) -> SimulatedMachine {
        SimulatedMachine {
            state: Mutex::default(),
            disk,
        }
    }

    /// What has passed since the simulation began.
    pub(crate) fn passed(&self) -> Duration {
        self.state().passed
    }

    /// Time passes.
    pub(crate) fn pass_to(&self, time: Duration) {
        let mut state = self.state();
        state.passed = state.passed.max(time);
    }

    /// Somebody sets the wall clock by so many seconds.
    pub(crate) fn set_wall(&self, seconds: i64) {
        self.state().wall_off += seconds * 1_000_000;
    }

    pub(crate) fn follow_wall(&self) {
        self.state().follows_wall = true;
    }

    pub(crate) fn name_boots(&self, always_other: bool) {
        self.state().boot_bug = Some(always_other);
    }

    /// The process has ended: what it did beside the engine is not finished.
    pub(crate) fn end_process(&self) {
        let mut state = self.state();
        state.work.clear();
        state.processes += 1;
    }

    /// The machine is started again.
    pub(crate) fn boot(&self) {
        let mut state = self.state();
        state.booted = state.passed;
        state.boots += 1;
    }

    /// Does the work that waits.
    pub(crate) fn work(&self) {
        let work = std::mem::take(&mut self.state().work);
        for waiting in work {
            waiting.run();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn wall(&self) -> Duration {
        let micros = i64::try_from((WALL_AT_START + self.passed).as_micros());
        let micros = micros.unwrap_or(i64::MAX).saturating_add(self.wall_off);
        Duration::from_micros(u64::try_from(micros).unwrap_or_default())
    }
}

impl Machine for SimulatedMachine {
    fn wall(&self) -> Duration {
        self.state().wall()
    }

    fn counted(&self) -> Duration {
        let state = self.state();
        if state.follows_wall {
            return state.wall();
        }
        // A machine has counted a little when the first process starts.
        Duration::from_secs(30) + state.passed.saturating_sub(state.booted)
    }

    fn boot(&self) -> String {
        let state = self.state();
        match state.boot_bug {
            None => format!("boot {}", state.boots),
            Some(false) => "the only boot".to_owned(),
            Some(true) => format!("process {}", state.processes),
        }
    }

    fn wait(&self, time: Duration) {
        let mut state = self.state();
        state.passed += time;
        state.looks += 1;
        if LOOKS_AT_FULL_DISK <= state.looks {
            state.looks = 0;
            drop(state);
            self.disk.make_room();
        }
    }

    fn free_bytes(&self, _folder: &Path) -> Option<u64> {
        None
    }

    fn begin(&self, _name: &str, work: Work) -> Result<Box<dyn Task>, CrawlError> {
        let waiting = Arc::new(Waiting {
            work: Mutex::new(Some(work)),
            is_done: AtomicBool::new(false),
        });
        self.state().work.push(Arc::clone(&waiting));
        Ok(Box::new(SimulatedTask(waiting)))
    }
}

#[derive(Debug)]
struct SimulatedTask(Arc<Waiting>);

impl Task for SimulatedTask {
    fn is_finished(&self) -> bool {
        self.0.is_done.load(Ordering::Relaxed)
    }

    fn wait(self: Box<Self>) -> bool {
        self.0.run();
        self.0.is_done.load(Ordering::Relaxed)
    }
}
