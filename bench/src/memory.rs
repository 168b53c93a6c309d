//! The most memory that a process has held, as the system counts it.

use std::fs;

use anyhow::{Context as _, Result};

/// The most memory that a process has held at once, in bytes; none when it has just ended. `process` is a number, or `self`.
pub(crate) fn peak_of(process: &str) -> Option<f64> {
    peak(&fs::read_to_string(format!("/proc/{process}/status")).ok()?)
}

/// Lets the peak of this process count from now on.
pub(crate) fn forget_own_peak() -> Result<()> {
    const PEAK: &str = "5";
    let path = "/proc/self/clear_refs";
    fs::write(path, PEAK).with_context(|| format!("cannot write {path}"))
}

fn peak(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes: f64 = line?.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kibibytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_in_bytes() {
        let status = "Name:\tbench\nVmPeak:\t  900 kB\nVmHWM:\t  12 kB\nVmRSS:\t  10 kB\n";
        assert_eq!(peak(status), Some(12_288.0));
        assert_eq!(peak("Name:\tbench\n"), None);
        assert!(peak_of("self").is_some_and(|bytes| 0.0 < bytes));
    }
}
