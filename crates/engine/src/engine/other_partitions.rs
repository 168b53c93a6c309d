//! The other partitions of the crawl: links to them go out through the outbox, and batches of theirs are confirmed once a checkpoint holds them.

use std::collections::VecDeque;

use junkai_store::backlog::{BacklogError, Entry};

use super::origin::Origin;
use super::shared::Shared;
use crate::CrawlError;
use crate::outbox::{Links, Outbox};
use crate::partition::Partition;
use crate::visit::{Confirmation, Discovered, Order};
use crate::waiting_room::WaitingRoom;

/// With so many links that were taken in and not confirmed, a checkpoint is made at once.
const UNCONFIRMED_MANY: usize = 16_384;

/// What is between this partition and the others.
pub(super) struct OtherPartitions {
    /// Which partition of the crawl this is.
    pub(super) partition: Partition,
    /// Links to other partitions, where there are any.
    pub(super) outbox: Option<Outbox>,
    /// Batches of links that came from other partitions, each with the number of the checkpoint that will hold it.
    taken_in: VecDeque<(u64, Confirmation)>,
    /// Links that were taken in since a checkpoint was last wanted for their sake.
    unconfirmed: usize,
}

/// What became of a link to another partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Posted {
    /// It is on its way.
    Now,
    /// It went there a moment ago.
    Before,
    /// Too much waits, or it is too long.
    Refused,
}

impl OtherPartitions {
    /// Nothing was taken in yet.
    pub(super) fn new(partition: Partition, outbox: Option<Outbox>) -> OtherPartitions {
        OtherPartitions {
            partition,
            outbox,
            taken_in: VecDeque::new(),
            unconfirmed: 0,
        }
    }

    /// Posts one link.
    pub(super) fn post(
        &mut self,
        found: &Discovered,
        origin: &Origin<'_>,
        room: &mut WaitingRoom,
        shared: &Shared,
    ) -> Result<Posted, CrawlError> {
        let Some(outbox) = &mut self.outbox else {
            return Ok(Posted::Refused);
        };
        let refused = shared.progress.urls_refused.read() + shared.progress.discarded.read();
        outbox.forget_posted_after(refused);
        // In an order of its own, every link counts.
        if outbox.was_posted(found.url.fingerprint()) && !room.is_ordered() {
            return Ok(Posted::Before);
        }
        let mut entry = found.entry(origin.via(), origin.hops(), shared.now);
        entry.priority = room.priority_byte_of_link(&found.url, origin.gain());
        if outbox.refuses(&entry).is_some() {
            return Ok(Posted::Refused);
        }
        let posted = self.post_entry(&entry, shared)?;
        if let (Posted::Now, Some(outbox)) = (posted, &mut self.outbox) {
            outbox.note_posted(found.url.fingerprint());
        }
        Ok(posted)
    }

    /// Posts an entry, however much waits.
    pub(super) fn post_entry<T: AsRef<str>>(
        &mut self,
        entry: &Entry<T>,
        shared: &Shared,
    ) -> Result<Posted, CrawlError> {
        let Some(outbox) = &mut self.outbox else {
            return Ok(Posted::Refused);
        };
        loop {
            match outbox.post(entry, shared.now) {
                Ok(()) => return Ok(Posted::Now),
                Err(BacklogError::EntryTooLong { .. }) => return Ok(Posted::Refused),
                Err(error) => shared.wait_for_room(error.into())?,
            }
        }
    }

    /// Links of another partition were taken in, and this checkpoint will hold them: then it is told so. Answers whether so much waits for that that the checkpoint
    /// is wanted at once: the others keep what is not confirmed, and stop sending when that is much.
    pub(super) fn confirm_after(&mut self, checkpoint: u64, links: &Links) -> bool {
        let confirmation = Confirmation {
            to: links.from,
            batch: links.batch,
        };
        self.taken_in.push_back((checkpoint, confirmation));
        self.unconfirmed += links.entries.len();
        let is_much = UNCONFIRMED_MANY <= self.unconfirmed;
        if is_much {
            self.unconfirmed = 0;
        }
        is_much
    }

    /// Another partition's checkpoint holds a batch of links.
    pub(super) fn confirmed(&mut self, batch: u64) {
        if let Some(outbox) = &mut self.outbox {
            outbox.confirmed(batch);
        }
    }

    /// What is to be told to other partitions next, if anything is: checkpoints up to this one are durable.
    pub(super) fn next(
        &mut self,
        durable: u64,
        shared: &Shared,
    ) -> Result<Option<Order>, CrawlError> {
        if let Some((_, confirmation)) = self
            .taken_in
            .pop_front_if(|(checkpoint, _)| *checkpoint <= durable)
        {
            return Ok(Some(Order::Confirm(confirmation)));
        }
        let Some(outbox) = &mut self.outbox else {
            return Ok(None);
        };
        let links = loop {
            match outbox.next(shared.now) {
                Ok(links) => break links,
                Err(error) => shared.wait_for_room(error)?,
            }
        };
        shared.progress.visits_lost.add(outbox.take_lost());
        Ok(links.map(Order::Links))
    }

    /// Whether links wait to be sent to other partitions.
    pub(super) fn has_links_to_send(&self) -> bool {
        !self.outbox.as_ref().is_none_or(Outbox::is_sent)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use super::super::testing::{Parts, found};
    use super::*;

    fn other_partitions() -> OtherPartitions {
        let whole = Partition::all(NonZeroU16::MIN).next();
        OtherPartitions::new(whole.unwrap(), None)
    }

    #[test]
    fn links_are_confirmed_when_a_checkpoint_holds_them() {
        let (mut other_partitions, parts) = (other_partitions(), Parts::with(|_| {}));
        let links = Links {
            from: 1,
            to: 0,
            batch: 7,
            entries: Vec::new(),
        };
        assert!(!other_partitions.confirm_after(3, &links));
        assert!(other_partitions.next(2, &parts.shared).unwrap().is_none());
        let order = other_partitions.next(3, &parts.shared).unwrap();
        let confirmation = Confirmation { to: 1, batch: 7 };
        assert!(matches!(order, Some(Order::Confirm(order)) if order == confirmation));
        assert!(other_partitions.next(3, &parts.shared).unwrap().is_none());
    }

    #[test]
    fn without_an_outbox_nothing_is_posted() {
        let (mut other_partitions, mut parts) = (other_partitions(), Parts::with(|_| {}));
        let link = found("http://b.example/");
        let origin = Origin::seeds();
        let posted = other_partitions.post(&link, &origin, &mut parts.room, &parts.shared);
        assert_eq!(posted.unwrap(), Posted::Refused);
        assert!(!other_partitions.has_links_to_send());
    }
}
