//! CPU time, and which core a process runs on.

use std::time::Duration;

use anyhow::{Context as _, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// What this thread has used, user and system.
fn of_this_thread() -> Duration {
    read(ClockId::ThreadCPUTime)
}

/// What all threads of this process have used, user and system.
fn of_this_process() -> Duration {
    read(ClockId::ProcessCPUTime)
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}

/// What this thread uses for `work`.
pub(crate) fn cost_of<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let before = of_this_thread();
    let result = work();
    (of_this_thread().saturating_sub(before), result)
}

/// What all threads of this process use while `work` is done.
pub(crate) fn cost_to_all_of<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let before = of_this_process();
    let result = work();
    (of_this_process().saturating_sub(before), result)
}

/// Does `work` on one core; threads and processes that it starts stay there.
///
/// Without permission, or without such a core, the work is done on any core.
pub(crate) fn on_core<T>(core: usize, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = sched_getaffinity(None).context("cannot ask for the cores of this process")?;
    let mut one = CpuSet::new();
    if core < CpuSet::MAX_CPU && before.is_set(core) {
        one.set(core);
        sched_setaffinity(None, &one).with_context(|| format!("cannot move to core {core}"))?;
    }
    let result = work();
    sched_setaffinity(None, &before).context("cannot move back to all cores")?;
    result
}
