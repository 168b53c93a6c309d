//! How many bytes of links may be on their way from the workers to the frontier's thread: the brake on pages that lead to megabytes of URLs.
//!
//! A worker takes room for the links of a whole page before it reads one, and gives back what the page did not need; the rest goes with the report, and is free when
//! the frontier's thread has taken that in. So memory for links is bounded however many reports wait.

use std::sync::Arc;

use junkai_engine::visit::Held;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Room is counted in pieces of this size.
const PIECE_BYTES: u64 = 1024;
/// Room for links on their way, as long as it holds one page of each worker besides.
const ROOM_BYTES: u64 = 64 << 20;

/// The room that all workers share.
#[derive(Clone, Debug)]
pub(crate) struct LinkRoom {
    pieces: Arc<Semaphore>,
    /// Pieces that one page may need.
    pieces_per_page: u32,
}

impl Held for TakenRoom {}

/// Room for the links of one page, until it is dropped.
#[derive(Debug, Default)]
pub(crate) struct TakenRoom(Option<OwnedSemaphorePermit>);

impl LinkRoom {
    /// Room for workers whose pages bring in so many bytes at most.
    pub(crate) fn new(workers: usize, page_bytes_max: u64) -> LinkRoom {
        let pieces_per_page = pieces(page_bytes_max).max(1);
        let of_workers = workers.saturating_mul(pieces_per_page as usize);
        let pieces = (pieces(ROOM_BYTES) as usize).saturating_add(of_workers);
        LinkRoom {
            pieces: Arc::new(Semaphore::new(pieces.min(Semaphore::MAX_PERMITS))),
            pieces_per_page,
        }
    }

    /// Takes room for a page, when there is some.
    pub(crate) async fn take(&self) -> TakenRoom {
        let pieces = Arc::clone(&self.pieces);
        let taken = pieces.acquire_many_owned(self.pieces_per_page).await;
        // It is never closed.
        TakenRoom(taken.ok())
    }
}

impl TakenRoom {
    /// Gives back all but so many bytes.
    pub(crate) fn shrink_to(&mut self, bytes: u64) {
        if let Some(taken) = &mut self.0 {
            let needed = usize::try_from(pieces(bytes)).unwrap_or(usize::MAX);
            let unused = taken.num_permits().saturating_sub(needed);
            drop(taken.split(unused));
        }
    }
}

fn pieces(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(PIECE_BYTES)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn who_finds_no_room_waits_until_a_report_was_taken_in() {
        let page_bytes_max = ROOM_BYTES / 2;
        let room = LinkRoom::new(1, page_bytes_max);
        let mut taken: Vec<TakenRoom> = (0..3)
            .map(|_| room.take().now_or_never().expect("there is room for three"))
            .collect();
        assert!(room.take().now_or_never().is_none());
        taken[0].shrink_to(10 * PIECE_BYTES);
        assert!(room.take().now_or_never().is_none(), "a little is missing");
        taken.truncate(2);
        assert!(room.take().now_or_never().is_some());
    }
}
