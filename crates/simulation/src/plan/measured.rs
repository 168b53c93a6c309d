//! What `cargo xtask bench all` measured: `docs/benchmarks.json` in constants. Written by `cargo xtask pages`.

/// CPU time of a visit to a known page that has changed, in microseconds.
pub(super) const CHANGED_VISIT_CPU_US: f64 = 332.0;

/// CPU time of a visit to a known page that is as it was, in microseconds.
pub(super) const UNCHANGED_VISIT_CPU_US: f64 = 95.6;

/// Memory of a crawl that knows little, in bytes.
pub(super) const PROCESS_BYTES: f64 = 1.37e8;

/// Memory for a known URL, in bytes.
pub(super) const SEEN_MEMORY_BYTES: f64 = 1.74;

/// Disk for a known URL, in bytes.
pub(super) const SEEN_DISK_BYTES: f64 = 7.27;
