//! What all clients of a crawl share, because the machine has only so much of it: memory and disk for answers, and file
//! descriptors.
//!
//! An answer is in memory while it is small; a large one goes to the spool while it comes, and is taken back into memory when
//! it has ended and its turn has come to be worked on. So memory is bounded whatever servers do: half of
//! `fetch.bodies_in_memory` is for answers that come in, half for large ones that are worked on.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::bounds::{Bounds, bytes};
use crate::config::FetchConfig;
use crate::spool::Spool;
use crate::stock::{Share, Stock};

/// Memory that a large answer takes while it is worked on, as a multiple of its length: itself, its payload without chunks, its record and
/// that compressed.
const WORK_FACTOR: usize = 4;
/// What one permit of the semaphore stands for: it counts no further than 32 bits.
const PERMIT_BYTES: usize = 1024;
/// A connection is kept for a later visit only while fewer than these of each hundred file descriptors are taken: the rest is for visits, which need
/// up to two each.
const KEPT_IDLE_PERCENT: usize = 33;

/// Memory, disk and file descriptors for all clients of a crawl.
#[derive(Debug)]
pub struct Resources {
    /// Memory of answers that come in, or that have come and are small.
    pub(crate) incoming: Arc<Stock>,
    pub(crate) spool: Arc<Spool>,
    descriptors: Arc<Stock>,
    work: Arc<Semaphore>,
    work_permits: u32,
}

impl Resources {
    /// Answers that are too large for memory go to nameless files in `folder`; at most `descriptors` file descriptors are taken.
    #[must_use]
    pub fn new(config: &FetchConfig, folder: &Path, descriptors: usize) -> Arc<Self> {
        let half = bytes(config.bodies_in_memory) / 2;
        let bounds = Bounds::new(config);
        let largest = bounds.head.saturating_add(bounds.body) as u64;
        let descriptors = Stock::new(descriptors);
        let work_permits = u32::try_from(half / PERMIT_BYTES).unwrap_or(u32::MAX >> 3);
        let work_permits = work_permits.max(1);
        Arc::new(Self {
            incoming: Stock::new(half),
            spool: Spool::new(
                folder,
                config.bodies_on_disk.as_u64().max(largest),
                Arc::clone(&descriptors),
            ),
            descriptors,
            work: Arc::new(Semaphore::new(work_permits as usize)),
            work_permits,
        })
    }

    /// A file descriptor, if one is left.
    #[must_use]
    pub fn descriptor(&self) -> Option<Share> {
        self.descriptors.take(1)
    }

    /// Whether so many descriptors are taken that none should be kept for a later visit.
    pub(crate) fn is_short_of_descriptors(&self) -> bool {
        self.descriptors.is_taken_to(KEPT_IDLE_PERCENT)
    }

    /// Waits for memory to work on an answer of this length; one that would need all of it, and more, gets all of it.
    pub(crate) async fn memory_to_work(&self, length: usize) -> Option<OwnedSemaphorePermit> {
        let permits = length.saturating_mul(WORK_FACTOR).div_ceil(PERMIT_BYTES);
        let permits = u32::try_from(permits).unwrap_or(u32::MAX);
        let permits = permits.min(self.work_permits);
        // It is never closed.
        Arc::clone(&self.work)
            .acquire_many_owned(permits)
            .await
            .ok()
    }
}
