//! Notes of visits out of turn: what was found waits here until the page's state surfaces.
//!
//! A page that is visited because of a signal or a command keeps its place in its bucket, for nothing is looked up by URL. The
//! driver notes what it found under the page's fingerprint, and joins the two when the state is handed out.

use super::entry::Entry;
use super::record::TEXT_BYTES_MAX;
use super::{Ticket, TimeQueue};

impl TimeQueue {
    /// Notes what an early visit found; it takes the place of an older note on the same page. False if there is no room for it: then the page's state
    /// knows nothing of the visit, and keeps its turn.
    pub fn note_early(&mut self, fingerprint: u64, note: &[u8]) -> bool {
        let is_known = self.contents.early.contains_key(&fingerprint);
        let has_room = is_known || self.contents.early.len() < self.early_max;
        if !has_room || TEXT_BYTES_MAX < note.len() {
            return false;
        }
        // A newer note outlives the joining of the older one.
        self.joining.retain(|_, joining| *joining != fingerprint);
        self.journal.push(&Entry::Note { fingerprint, note });
        self.journal.end_step();
        self.contents.early.insert(fingerprint, note.into());
        true
    }

    /// The note on a page, if there is one.
    #[must_use]
    pub fn early(&self, fingerprint: u64) -> Option<&[u8]> {
        self.contents.early.get(&fingerprint).map(AsRef::as_ref)
    }

    /// Drops the notes that are not to be kept; tells how many.
    pub fn drop_early(&mut self, mut keeps: impl FnMut(&[u8]) -> bool) -> usize {
        let notes = self.contents.early.iter();
        let dropped: Vec<u64> = notes
            .filter(|(_, note)| !keeps(note))
            .map(|(fingerprint, _)| *fingerprint)
            .collect();
        for fingerprint in &dropped {
            let fingerprint = *fingerprint;
            self.contents.early.remove(&fingerprint);
            self.journal.push(&Entry::Joined { fingerprint });
            self.journal.end_step();
        }
        dropped.len()
    }

    /// The note on the page whose record was handed out with `ticket`, to be joined with it. The note goes for good when the record is put back or
    /// removed, in the same step; a kill before that leaves both.
    pub fn take_early(&mut self, ticket: &Ticket, fingerprint: u64) -> Option<Vec<u8>> {
        let note = self.contents.early.get(&fingerprint)?.to_vec();
        self.joining.insert(ticket.0, fingerprint);
        Some(note)
    }
}
