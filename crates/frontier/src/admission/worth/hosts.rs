//! The hosts that have pages waiting or visits in hand, and which of them comes next.
//!
//! A host knows the levels of its waiting pages. While it has any, and is not at its bound of visits in hand, it *queues*: it is
//! in the list of its own level, which is that of its best page less what its visits so far take off.
//!
//! A host comes to a level when its level changes, when it begins to queue, and after each hand-out, and then stands behind those
//! that are there. Its level is reckoned anew whenever a page of it comes to a level or leaves, and whenever a visit is over.

use std::num::NonZeroU32;

use super::super::chains::{Chains, List};
use super::super::priority;
use super::super::register::{Keyed, Register, Slot};
use super::visits::Visits;

/// Levels of hosts: those of pages, and as many below for what visits take off.
const HOST_LEVELS: usize = 2 * priority::LEVELS as usize;

/// A host, while it has pages waiting or visits in hand.
#[derive(Clone, Debug)]
pub(super) struct Host {
    key: u64,
    /// A bit for each level at which it has waiting pages.
    levels: u64,
    in_hand: u32,
    /// The level at which it queues.
    queued_at: Option<u8>,
}

impl Keyed for Host {
    fn key(&self) -> u64 {
        self.key
    }
}

/// Which host comes next.
#[derive(Clone, Debug)]
pub(super) struct Hosts {
    known: Register<Host>,
    chains: Chains,
    lists: [List; HOST_LEVELS],
    /// A bit for each level whose list is not empty.
    queued: u128,
    visits: Visits,
    spread: f32,
    in_hand_max: NonZeroU32,
}

impl Hosts {
    pub(super) fn new(visits: Visits, spread: f32, in_hand_max: NonZeroU32) -> Hosts {
        Hosts {
            known: Register::new(),
            chains: Chains::default(),
            lists: [List::default(); HOST_LEVELS],
            queued: 0,
            visits,
            spread: priority::bounded(spread),
            in_hand_max,
        }
    }

    /// The slot of this host, which is known from now on; the caller settles it after giving it a page.
    pub(super) fn entry(&mut self, key: u64) -> Slot {
        match self.known.find(key) {
            Some(slot) => slot,
            None => self.known.insert(Host {
                key,
                levels: 0,
                in_hand: 0,
                queued_at: None,
            }),
        }
    }

    /// Learns that a host has pages waiting at this level.
    pub(super) fn add_level(&mut self, slot: Slot, level: u8) {
        self.known[slot].levels |= 1 << level;
    }

    /// Learns that a host has no pages waiting at this level any more.
    pub(super) fn remove_level(&mut self, slot: Slot, level: u8) {
        self.known[slot].levels &= !(1 << level);
    }

    /// The host that comes next, and the level of its best page.
    pub(super) fn first(&self) -> Option<(Slot, u8)> {
        let level = self.queued.checked_ilog2()?;
        let slot = self.lists[level as usize].first()?;
        Some((slot, best(self.known[slot].levels)?))
    }

    /// Counts a visit that is handed out; the host goes behind those of the level that it comes to.
    pub(super) fn hand_out(&mut self, slot: Slot) {
        self.leave_queue(slot);
        let host = &mut self.known[slot];
        host.in_hand += 1;
        self.visits.count(host.key);
        self.settle(slot);
    }

    /// Learns that a visit is over. A host that has none in hand is left as it is.
    pub(super) fn release(&mut self, key: u64) {
        let Some(slot) = self.known.find(key) else {
            return;
        };
        let host = &mut self.known[slot];
        host.in_hand = host.in_hand.saturating_sub(1);
        self.settle(slot);
    }

    /// Puts a host where it belongs after its pages or its visits have changed; forgets it if it has neither.
    pub(super) fn settle(&mut self, slot: Slot) {
        let place = self.place(&self.known[slot]);
        if place != self.known[slot].queued_at {
            self.leave_queue(slot);
            if let Some(level) = place {
                self.chains
                    .push_back(&mut self.lists[usize::from(level)], slot);
                self.queued |= 1 << level;
                self.known[slot].queued_at = Some(level);
            }
        }
        let host = &self.known[slot];
        if host.levels == 0 && host.in_hand == 0 {
            self.known.remove(slot);
        }
    }

    /// Hosts that have pages waiting or visits in hand.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// Memory taken, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.known.bytes() + self.chains.bytes() + self.visits.bytes()
    }

    /// The level at which a host should queue, if it should.
    fn place(&self, host: &Host) -> Option<u8> {
        if self.in_hand_max.get() <= host.in_hand {
            return None;
        }
        let best = best(host.levels)?;
        Some(priority::LEVELS + best - self.taken_off(host.key))
    }

    /// What the visits to a host so far take off its level: ⌊2 · spread · log₂(1 + visits)⌋, at most all levels of a page.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the product is not negative, and bounded by the levels"
    )]
    fn taken_off(&self, key: u64) -> u8 {
        let half_doublings = self.visits.half_doublings(key) as f32;
        (self.spread * half_doublings).min(f32::from(priority::LEVELS)) as u8
    }

    fn leave_queue(&mut self, slot: Slot) {
        if let Some(level) = self.known[slot].queued_at.take() {
            let list = &mut self.lists[usize::from(level)];
            self.chains.unlink(list, slot);
            if list.is_empty() {
                self.queued &= !(1 << level);
            }
        }
    }
}

/// The highest level of a host's waiting pages.
fn best(levels: u64) -> Option<u8> {
    levels
        .checked_ilog2()
        .and_then(|level| u8::try_from(level).ok())
}
