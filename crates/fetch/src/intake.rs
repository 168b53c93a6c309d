//! The bytes of an answer while they come: in memory, and in a file of the spool once they are many.
//!
//! Whoever reads from the network asks [`Intake::poll_room`] first and then appends what came. An answer that stays small costs no more than a
//! vector and, when that grows, an atomic count of its capacity.

use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::{io, mem};

use bytes::Bytes;

use crate::resources::Resources;
use crate::spool::{NoRoom, SpoolFile};
use crate::stock::Share;

/// Bytes that are read from a connection at once; hyper's buffer grows to twice as much.
pub(crate) const READ_MAX: usize = 32 * 1024;
/// An answer that is longer is on disk while it comes.
const IN_MEMORY_MAX: usize = 1024 * 1024;
/// An answer that is shorter is in memory, however little of that is left.
const IN_MEMORY_MIN: usize = 16 * 1024;

/// An answer that comes.
#[derive(Debug)]
pub(crate) struct Intake {
    resources: Arc<Resources>,
    /// All of it, until it goes to disk.
    memory: Vec<u8>,
    /// The memory's part of what there is.
    share: Share,
    /// Length of its head, once that is there: until then it stays in memory.
    head_length: Option<usize>,
    disk: Option<OnDisk>,
}

#[derive(Debug)]
struct OnDisk {
    file: SpoolFile,
    /// A copy of the head, which is wanted sooner than the rest.
    head: Bytes,
}

/// An answer that has come.
#[derive(Debug)]
pub(crate) struct Taken {
    /// All of it, or only the head of what is on disk.
    pub(crate) bytes: Bytes,
    /// The memory's part of what there is.
    pub(crate) share: Share,
    /// The whole answer where it is too large for memory.
    pub(crate) file: Option<SpoolFile>,
}

impl Intake {
    pub(crate) fn new(resources: &Arc<Resources>) -> Self {
        Self {
            resources: Arc::clone(resources),
            memory: Vec::new(),
            share: Share::nothing(&resources.incoming),
            head_length: None,
            disk: None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        let on_disk = self.disk.as_ref().map_or(0, |disk| disk.file.length());
        // What is on disk is as long as a body may be, which is a number of this machine.
        usize::try_from(on_disk).unwrap_or(usize::MAX) + self.memory.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The answer as long as its head is not settled: all of it is in memory.
    pub(crate) fn start(&self) -> &[u8] {
        &self.memory
    }

    /// Says where the head of the answer ends, after what is to be forgotten; from here on it may go to disk. `expected` is its whole length, if
    /// that is known.
    pub(crate) fn settle_head(&mut self, forgotten: usize, length: usize, expected: Option<usize>) {
        self.memory.drain(..forgotten);
        self.head_length = Some(length);
        let expected = expected.unwrap_or(0).min(IN_MEMORY_MAX);
        // Not before there are bytes to believe the length for, where memory is short.
        if !self.resources.incoming.is_taken_to(100) {
            self.memory
                .reserve(expected.saturating_sub(self.memory.len()));
        }
        self.share.resize(self.memory.capacity());
    }

    /// Ready when [`READ_MAX`] bytes may be read and appended.
    pub(crate) fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<Result<(), NoRoom>> {
        if self.disk.is_none() {
            match self.head_length {
                Some(head_length) if self.is_large() => {
                    let file = self.resources.spool.begin().map_err(NoRoom::Short)?;
                    let head = Bytes::copy_from_slice(&self.memory[..head_length]);
                    self.disk = Some(OnDisk { file, head });
                }
                Some(_) | None => return Poll::Ready(Ok(())),
            }
        }
        if let Some(disk) = &mut self.disk {
            ready!(disk.file.poll_room(context, self.memory.len() + READ_MAX))?;
            if !self.memory.is_empty() {
                let memory = mem::take(&mut self.memory);
                disk.file.append(&memory).map_err(NoRoom::Short)?;
                self.share.resize(0);
            }
        }
        Poll::Ready(Ok(()))
    }

    fn is_large(&self) -> bool {
        let length = self.memory.len();
        IN_MEMORY_MAX <= length
            || (IN_MEMORY_MIN <= length && self.resources.incoming.is_taken_to(100))
    }

    /// Takes in what was read after [`Self::poll_room`] was ready.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(disk) = &mut self.disk {
            return disk.file.append(bytes);
        }
        self.memory.extend_from_slice(bytes);
        self.share.resize(self.memory.capacity());
        Ok(())
    }

    /// The body so far, piece by piece.
    pub(crate) fn read_body(&self, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        let start = self.head_length.unwrap_or(0);
        match &self.disk {
            Some(disk) if 0 < disk.file.length() => disk.file.read_from(start as u64, take),
            Some(_) | None => {
                take(&self.memory[start..]);
                Ok(())
            }
        }
    }

    /// Takes the answer away and makes room for another.
    pub(crate) fn take(&mut self) -> Taken {
        self.head_length = None;
        let share = self.share.split_off();
        let memory = mem::take(&mut self.memory);
        match self.disk.take() {
            // One that was only about to go to disk is in memory.
            Some(mut disk) if memory.is_empty() => {
                disk.file.end();
                Taken {
                    bytes: disk.head,
                    share,
                    file: Some(disk.file),
                }
            }
            Some(_) | None => Taken {
                bytes: memory.into(),
                share,
                file: None,
            },
        }
    }
}
