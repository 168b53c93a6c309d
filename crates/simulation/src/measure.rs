//! What a piece of work takes of the machine: time, CPU time, and what the system was asked to read and write.
//!
//! The one part of the lab that looks at clocks: whoever uses it tells of this machine, and says so. Counts of I/O are those that Linux keeps
//! for a process (`/proc/self/io`); elsewhere they are zero.

use std::fs;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// What work took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// By the clock.
    pub wall: Duration,
    /// Of all threads of this process, user and system.
    pub cpu: Duration,
    /// Reading and writing.
    pub io: Io,
}

/// What the system was asked to read and write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Io {
    /// Bytes given to the system.
    pub written_bytes: u64,
    /// Bytes taken from the system, from its cache or not.
    pub read_bytes: u64,
    /// Calls that wrote.
    pub write_calls: u64,
    /// Calls that read.
    pub read_calls: u64,
    /// Bytes that had to come from the disk.
    pub disk_read_bytes: u64,
    /// Bytes that are bound for the disk: pages of the cache that were made dirty.
    pub disk_written_bytes: u64,
}

/// A measurement that has begun.
#[derive(Debug)]
pub struct Measurement {
    begun: Instant,
    cpu: Duration,
    io: Io,
}

impl Measurement {
    /// Begins.
    #[must_use]
    pub fn begin() -> Measurement {
        Measurement {
            io: Io::of_this_process(),
            cpu: cpu_of_this_process(),
            begun: Instant::now(),
        }
    }

    /// What was used since it began.
    #[must_use]
    pub fn used(&self) -> Used {
        Used {
            wall: self.begun.elapsed(),
            cpu: cpu_of_this_process().saturating_sub(self.cpu),
            io: Io::of_this_process().since(self.io),
        }
    }
}

impl Io {
    fn of_this_process() -> Io {
        Io::parse(&fs::read_to_string("/proc/self/io").unwrap_or_default())
    }

    fn parse(text: &str) -> Io {
        let field = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(": "));
            let found = lines.find(|(key, _)| *key == name);
            found.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
        };
        Io {
            written_bytes: field("wchar"),
            read_bytes: field("rchar"),
            write_calls: field("syscw"),
            read_calls: field("syscr"),
            disk_read_bytes: field("read_bytes"),
            disk_written_bytes: field("write_bytes"),
        }
    }

    fn since(self, before: Io) -> Io {
        Io {
            written_bytes: self.written_bytes.saturating_sub(before.written_bytes),
            read_bytes: self.read_bytes.saturating_sub(before.read_bytes),
            write_calls: self.write_calls.saturating_sub(before.write_calls),
            read_calls: self.read_calls.saturating_sub(before.read_calls),
            disk_read_bytes: self.disk_read_bytes.saturating_sub(before.disk_read_bytes),
            disk_written_bytes: self
                .disk_written_bytes
                .saturating_sub(before.disk_written_bytes),
        }
    }
}

fn cpu_of_this_process() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}

/// The value in the middle, or the mean of the two in the middle; none without values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_the_system_are_understood() {
        let text = "rchar: 6976\nwchar: 12\nsyscr: 10\nsyscw: 2\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n";
        let io = Io::parse(text);
        let expected = Io {
            written_bytes: 12,
            read_bytes: 6976,
            write_calls: 2,
            read_calls: 10,
            disk_read_bytes: 4096,
            disk_written_bytes: 8192,
        };
        assert_eq!(io, expected);
        assert_eq!(Io::parse("garbage\nwchar: many"), Io::default());
    }

    #[test]
    fn the_median_is_in_the_middle() {
        for (values, expected) in [
            (&[][..], None),
            (&[3.0][..], Some(3.0)),
            (&[9.0, 1.0, 2.0][..], Some(2.0)),
            (&[9.0, 1.0, 2.0, 4.0][..], Some(3.0)),
        ] {
            assert_eq!(median(values), expected);
        }
    }
}
