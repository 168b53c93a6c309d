//! The spool: answers too large for memory, each in a file without a name, all together within a bound.
//!
//! A file has no name from the start, so that nothing is left of it after a kill. It grows by stretches, for which it asks before
//! it reads on. When there is no room for a stretch, answers that have ended will soon leave some. If there are none, one gives way and is cut
//! where it is: the slowest of those that bring little, or else the newest, which has the least to lose. So a server that sends much and then
//! trickles loses its place, and those that send steadily come to their end. Whoever waits for room does not read on, so the bound is never passed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use futures_util::task::AtomicWaker;

use crate::failure::Failure;
use crate::stock::{Share, Stock};

/// What an answer grows by before it asks for room again.
const STRETCH: u64 = 256 * 1024;
/// An answer that has not brought so many bytes within [`SLOW_AFTER`] is slow: one of the largest would not come within the time for a visit.
const PROGRESS: u64 = 64 * 1024;
const SLOW_AFTER: Duration = Duration::from_secs(2);
/// Bytes read back at a time where an answer is not wanted as a whole.
const READ_BACK_BYTES: usize = 64 * 1024;

/// The files of all answers that are too large for memory.
#[derive(Debug)]
pub(crate) struct Spool {
    folder: PathBuf,
    bytes_max: u64,
    descriptors: Arc<Stock>,
    /// What time is counted from.
    begun: Instant,
    books: Mutex<Books>,
}

#[derive(Debug, Default)]
struct Books {
    /// Bytes in files, and room that was granted to them.
    bytes: u64,
    /// Answers that still come, in the order in which they went to disk.
    growing: BTreeMap<u64, Arc<Sign>>,
    /// Answers that have ended, or were told to, and still have their file.
    ended: usize,
    /// The next number for `growing`.
    next_number: u64,
    /// Who waits for room.
    waiting: Vec<Waker>,
}

/// How far an answer has come, and how it is told to give way, whatever its thread.
#[derive(Debug)]
struct Sign {
    must_give_way: AtomicBool,
    waker: AtomicWaker,
    /// Whether it waits for room, and could go on at once.
    is_waiting: AtomicBool,
    /// When it last had brought another [`PROGRESS`], in milliseconds.
    progressed: AtomicU64,
}

/// Why an answer cannot go on.
#[derive(Debug)]
pub(crate) enum NoRoom {
    /// It is the slowest, and there is no room left for all.
    GaveWay,
    /// The machine is short of something.
    Short(io::Error),
}

impl From<NoRoom> for Failure {
    fn from(no_room: NoRoom) -> Self {
        match no_room {
            NoRoom::GaveWay => Self::GaveWay,
            NoRoom::Short(error) => Self::Short(error.to_string()),
        }
    }
}

impl Spool {
    pub(crate) fn new(folder: &Path, bytes_max: u64, descriptors: Arc<Stock>) -> Arc<Self> {
        Arc::new(Self {
            folder: folder.to_owned(),
            bytes_max,
            descriptors,
            begun: Instant::now(),
            books: Mutex::default(),
        })
    }

    /// A new file, with no room yet.
    pub(crate) fn begin(self: &Arc<Self>) -> io::Result<SpoolFile> {
        let short = || io::Error::other("no file descriptor is left for a large answer");
        let descriptor = self.descriptors.take(1).ok_or_else(short)?;
        let file = tempfile::tempfile_in(&self.folder)?;
        let sign = Arc::new(Sign {
            must_give_way: AtomicBool::new(false),
            waker: AtomicWaker::new(),
            is_waiting: AtomicBool::new(false),
            progressed: AtomicU64::new(self.now()),
        });
        let number = self.books().line_up(Arc::clone(&sign));
        Ok(SpoolFile {
            spool: Arc::clone(self),
            file,
            length: 0,
            room: 0,
            number,
            sign,
            has_ended: false,
            _descriptor: descriptor,
        })
    }

    /// Milliseconds since the beginning.
    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        // No code runs under the lock that could leave the books half changed.
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books {
    fn line_up(&mut self, sign: Arc<Sign>) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.growing.insert(number, sign);
        number
    }

    /// Tells an answer to give way, unless room is on its way already.
    fn make_room(&mut self, now: u64) {
        if self.ended != 0 {
            return;
        }
        let slowest = self
            .growing
            .iter()
            .filter(|(_, sign)| sign.is_slow(now))
            .min_by_key(|(_, sign)| sign.progressed.load(Ordering::Relaxed));
        let newest = || self.growing.last_key_value();
        let Some((&number, _)) = slowest.or_else(newest) else {
            return;
        };
        if let Some(sign) = self.growing.remove(&number) {
            self.ended += 1;
            sign.must_give_way.store(true, Ordering::Release);
            sign.waker.wake();
        }
    }

    fn wait(&mut self, waker: &Waker) {
        if !self.waiting.iter().any(|other| other.will_wake(waker)) {
            self.waiting.push(waker.clone());
        }
    }

    fn wake_all(&mut self) {
        self.waiting.drain(..).for_each(Waker::wake);
    }
}

impl Sign {
    fn is_slow(&self, now: u64) -> bool {
        let progressed = Duration::from_millis(self.progressed.load(Ordering::Relaxed));
        let quiet = Duration::from_millis(now).saturating_sub(progressed);
        SLOW_AFTER <= quiet && !self.is_waiting.load(Ordering::Relaxed)
    }
}

/// One answer on disk; gone when this is dropped.
#[derive(Debug)]
pub(crate) struct SpoolFile {
    spool: Arc<Spool>,
    file: File,
    /// Bytes written.
    length: u64,
    /// Bytes that may be written.
    room: u64,
    /// Its number among those that grow.
    number: u64,
    sign: Arc<Sign>,
    has_ended: bool,
    _descriptor: Share,
}

impl SpoolFile {
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Ready when there is room for so many more bytes, or as soon as there will be none.
    pub(crate) fn poll_room(
        &mut self,
        context: &mut Context<'_>,
        bytes: usize,
    ) -> Poll<Result<(), NoRoom>> {
        self.sign.waker.register(context.waker());
        if self.must_give_way() {
            return Poll::Ready(Err(NoRoom::GaveWay));
        }
        let wanted = self.length + bytes as u64;
        if wanted <= self.room {
            return Poll::Ready(Ok(()));
        }
        let more = (wanted - self.room).max(STRETCH);
        let mut books = self.spool.books();
        if books.bytes + more <= self.spool.bytes_max {
            books.bytes += more;
            self.room += more;
            if self.sign.is_waiting.swap(false, Ordering::Relaxed) {
                self.note_progress();
            }
            return Poll::Ready(Ok(()));
        }
        self.sign.is_waiting.store(true, Ordering::Relaxed);
        books.wait(context.waker());
        books.make_room(self.spool.now());
        drop(books);
        if self.must_give_way() {
            return Poll::Ready(Err(NoRoom::GaveWay));
        }
        Poll::Pending
    }

    fn must_give_way(&self) -> bool {
        self.sign.must_give_way.load(Ordering::Acquire)
    }

    /// Writes bytes for which there is room.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        assert!(
            self.length + bytes.len() as u64 <= self.room,
            "room is asked for before bytes are written"
        );
        self.file.write_all_at(bytes, self.length)?;
        let before = self.length;
        self.length += bytes.len() as u64;
        if before / PROGRESS < self.length / PROGRESS {
            self.note_progress();
        }
        Ok(())
    }

    fn note_progress(&self) {
        let now = self.spool.now();
        self.sign.progressed.store(now, Ordering::Relaxed);
    }

    /// No more comes: what room is left over goes to others.
    pub(crate) fn end(&mut self) {
        if self.has_ended {
            return;
        }
        self.has_ended = true;
        let mut books = self.spool.books();
        if books.growing.remove(&self.number).is_some() {
            books.ended += 1;
        }
        books.bytes -= self.room - self.length;
        self.room = self.length;
        books.wake_all();
    }

    /// All of it.
    pub(crate) fn read_all(&self) -> io::Result<Vec<u8>> {
        let length = usize::try_from(self.length).map_err(io::Error::other)?;
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }

    /// All of it from an offset on, piece by piece.
    pub(crate) fn read_from(&self, from: u64, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        let mut buffer = vec![0; READ_BACK_BYTES];
        let mut offset = from;
        while offset < self.length {
            let left = usize::try_from(self.length - offset).unwrap_or(READ_BACK_BYTES);
            let piece = &mut buffer[..left.min(READ_BACK_BYTES)];
            self.file.read_exact_at(piece, offset)?;
            take(piece);
            offset += piece.len() as u64;
        }
        Ok(())
    }
}

impl Drop for SpoolFile {
    fn drop(&mut self) {
        self.end();
        let mut books = self.spool.books();
        books.ended -= 1;
        books.bytes -= self.room;
        books.wake_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Wake;

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Bell(std::sync::atomic::AtomicUsize);

    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    struct Stage {
        spool: Arc<Spool>,
        bell: Arc<Bell>,
        folder: tempfile::TempDir,
    }

    /// A spool with room for so many stretches.
    fn stage(stretches: u64) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(folder.path(), stretches * STRETCH, Stock::new(100));
        let hour = Duration::from_hours(1);
        let begun = Instant::now().checked_sub(hour).unwrap();
        Arc::get_mut(&mut spool).unwrap().begun = begun;
        Stage {
            spool,
            bell: Arc::default(),
            folder,
        }
    }

    impl Stage {
        fn poll(&self, file: &mut SpoolFile) -> Poll<Result<(), NoRoom>> {
            let waker = Waker::from(Arc::clone(&self.bell));
            file.poll_room(&mut Context::from_waker(&waker), 1000)
        }

        /// Grows by so many stretches, one after the other.
        fn grow(&self, file: &mut SpoolFile, stretches: usize) {
            for _ in 0..stretches {
                assert!(matches!(self.poll(file), Poll::Ready(Ok(()))));
                file.append(&vec![7; usize::try_from(file.room - file.length).unwrap()])
                    .unwrap();
            }
        }

        fn rings(&self) -> usize {
            self.bell.0.load(Ordering::SeqCst)
        }
    }

    #[test]
    fn what_was_written_is_read_back_and_no_name_is_left() {
        let stage = stage(4);
        let mut file = stage.spool.begin().unwrap();
        assert!(matches!(stage.poll(&mut file), Poll::Ready(Ok(()))));
        file.append(b"hello ").unwrap();
        file.append(b"world").unwrap();
        assert_eq!(file.read_all().unwrap(), b"hello world");
        let mut rest = Vec::new();
        file.read_from(6, |piece| rest.extend_from_slice(piece))
            .unwrap();
        assert_eq!(rest, b"world");
        let names = std::fs::read_dir(stage.folder.path()).unwrap().count();
        assert_eq!(names, 0, "the file has no name while it is written");
    }

    /// Makes it slow.
    fn stall(file: &SpoolFile) {
        file.sign.progressed.store(0, Ordering::Relaxed);
    }

    #[test]
    fn the_slowest_gives_way_and_the_others_go_on() {
        let stage = stage(4);
        let [mut trickling, mut steady] = [(); 2].map(|()| stage.spool.begin().unwrap());
        stage.grow(&mut trickling, 2);
        stage.grow(&mut steady, 2);
        stall(&trickling);
        assert!(stage.poll(&mut steady).is_pending(), "there is no room");
        assert!(matches!(
            stage.poll(&mut trickling),
            Poll::Ready(Err(NoRoom::GaveWay))
        ));
        assert!(
            stage.poll(&mut steady).is_pending(),
            "it waits until there is room"
        );
        assert_eq!(trickling.read_all().unwrap().len() as u64, 2 * STRETCH);
        drop(trickling);
        assert!(0 < stage.rings(), "whoever waits is woken");
        stage.grow(&mut steady, 2);
        assert_eq!(stage.spool.books().bytes, 4 * STRETCH);
    }

    #[test]
    fn where_none_is_slow_the_newest_gives_way() {
        let stage = stage(4);
        let [mut first, mut second, mut third] = [(); 3].map(|()| stage.spool.begin().unwrap());
        stage.grow(&mut first, 2);
        stage.grow(&mut second, 2);
        assert!(matches!(
            stage.poll(&mut third),
            Poll::Ready(Err(NoRoom::GaveWay))
        ));
        drop(third);
        // One that waits for room is not slow, however long it has to.
        assert!(stage.poll(&mut first).is_pending());
        stall(&first);
        assert!(matches!(
            stage.poll(&mut second),
            Poll::Ready(Err(NoRoom::GaveWay))
        ));
        drop(second);
        stage.grow(&mut first, 2);
    }

    #[test]
    fn nobody_gives_way_while_room_is_about_to_be_left() {
        let stage = stage(4);
        let [mut ended, mut slow, mut quick] = [(); 3].map(|()| stage.spool.begin().unwrap());
        stage.grow(&mut ended, 2);
        stage.grow(&mut slow, 1);
        stage.grow(&mut quick, 1);
        ended.end();
        stall(&slow);
        assert!(stage.poll(&mut quick).is_pending());
        assert!(!slow.must_give_way());
        drop(ended);
        assert!(0 < stage.rings(), "whoever waits is woken");
        stage.grow(&mut quick, 1);
        stage.grow(&mut slow, 1);
    }

    #[test]
    fn the_last_one_standing_is_cut_at_the_bound() {
        let stage = stage(2);
        let mut file = stage.spool.begin().unwrap();
        stage.grow(&mut file, 2);
        assert!(matches!(
            stage.poll(&mut file),
            Poll::Ready(Err(NoRoom::GaveWay))
        ));
        drop(file);
        assert_eq!(stage.spool.books().bytes, 0);
        assert_eq!(stage.spool.books().ended, 0);
    }

    #[test]
    fn without_a_descriptor_there_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path(), STRETCH, Stock::new(1));
        let first = spool.begin().unwrap();
        assert!(spool.begin().is_err());
        drop(first);
        assert!(spool.begin().is_ok());
    }
}
