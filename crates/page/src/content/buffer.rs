//! A list that is filled block by block and page by page, and keeps its room.

/// A list of numbers whose room is made before they are written: to write one is a store, and nothing is allocated in between.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffer {
    /// Room that was made, and stays: what lies beyond `length` means nothing.
    room: Vec<u64>,
    length: usize,
}

impl Buffer {
    /// Room for so many more; [`take_in`](Self::take_in) says how many were written.
    pub(super) fn room_for(&mut self, more: usize) -> &mut [u64] {
        let needed = self.length + more;
        if self.room.len() < needed {
            self.room.resize(needed.next_power_of_two(), 0);
        }
        &mut self.room[self.length..]
    }

    /// Takes in what was written to the first so many places of the room.
    pub(super) fn take_in(&mut self, written: usize) {
        self.length = (self.length + written).min(self.room.len());
    }

    /// Bytes of the room.
    pub(super) fn memory_bytes(&self) -> usize {
        self.room.capacity() * size_of::<u64>()
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    pub(super) fn as_slice(&self) -> &[u64] {
        &self.room[..self.length]
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [u64] {
        &mut self.room[..self.length]
    }
}
