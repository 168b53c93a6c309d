//! Takes entries in: each goes to the bucket where it is waited for, at the end of that bucket's last segment.

use super::account::{Bound, Weight};
use super::calendar::Bucket;
use super::class::Class;
use super::segment::Segment;
use super::ticket::SegmentId;
use super::{Backlog, BacklogError, Entry, NotReplaced, Ticket};
use junkai_frontier::Time;

impl Backlog {
    /// Appends an entry, in memory until the next [`flush`](Backlog::flush).
    ///
    /// # Errors
    /// The entry was not appended; the call may be repeated.
    pub fn append<T: AsRef<str>>(
        &mut self,
        entry: &Entry<T>,
        now: Time,
    ) -> Result<(), BacklogError> {
        let _waits = self.append_to(self.calendar.bucket(entry.due, now), entry, None)?;
        self.waiting += 1;
        Ok(())
    }

    /// Appends an entry that is in hand at once: [`next`](Backlog::next) does not hand it out in this life of the process, and does in
    /// the next, when it is due.
    ///
    /// # Errors
    /// The entry was not appended; the call may be repeated.
    pub fn append_held<T: AsRef<str>>(&mut self, entry: &Entry<T>) -> Result<Ticket, BacklogError> {
        let ticket = self.append_to(Bucket::Held, entry, None)?;
        self.in_hand += 1;
        Ok(ticket)
    }

    /// Appends an entry in the place of one that was handed out, as one step: neither a kill nor a full disk can leave both or none.
    ///
    /// # Errors
    /// Nothing was changed, and the ticket comes back.
    pub fn replace<T: AsRef<str>>(
        &mut self,
        ticket: Ticket,
        entry: &Entry<T>,
        now: Time,
    ) -> Result<(), NotReplaced> {
        let bucket = self.calendar.bucket(entry.due, now);
        self.replace_in(bucket, ticket, entry)
    }

    /// Spills an entry that was handed out, as one step: it waits for [`next_spilled`](Backlog::next_spilled), whenever it was due, among
    /// others of its priority.
    ///
    /// # Errors
    /// Nothing was changed, and the ticket comes back.
    pub fn spill<T: AsRef<str>>(
        &mut self,
        ticket: Ticket,
        entry: &Entry<T>,
    ) -> Result<(), NotReplaced> {
        self.replace_in(Bucket::Spilled(Class::of(entry.priority)), ticket, entry)?;
        self.spilled += 1;
        Ok(())
    }

    fn replace_in<T: AsRef<str>>(
        &mut self,
        bucket: Bucket,
        ticket: Ticket,
        entry: &Entry<T>,
    ) -> Result<(), NotReplaced> {
        if let Err(source) = self.append_to(bucket, entry, Some(&ticket)) {
            return Err(NotReplaced { ticket, source });
        }
        self.waiting += 1;
        self.ack(ticket);
        Ok(())
    }

    /// Why an entry would be one too many, if it would: for one that may as well be left out. [`append`](Backlog::append) takes in any.
    #[must_use]
    pub fn refuses<T: AsRef<str>>(&self, entry: &Entry<T>) -> Option<Bound> {
        self.account.refuses(Weight::of(entry))
    }

    /// Appends an entry to a bucket, and gives what stands for it.
    pub(super) fn append_to<T: AsRef<str>>(
        &mut self,
        bucket: Bucket,
        entry: &Entry<T>,
        replaces: Option<&Ticket>,
    ) -> Result<Ticket, BacklogError> {
        // Entries alone: what the acknowledgements stand for may not be written yet.
        if self.buffer_bytes_max <= self.buffered_bytes {
            self.flush_entries()?;
        }
        let position = self.position;
        let id = self.segment_for(bucket);
        let segment = self.segments.entry(id);
        let segment = segment.or_insert_with(|| Segment::new(id, bucket));
        let index = segment.entries;
        let bytes = segment.append(entry, position, replaces, &mut self.packer)?;
        self.position += 1;
        self.buffered_bytes += bytes as u64;
        self.unwritten.insert(id);
        let weight = Weight::of(entry);
        self.account.add(weight);
        Ok(Ticket {
            segment: id,
            index,
            weight,
        })
    }

    /// The segment that a bucket's next entry belongs in.
    fn segment_for(&mut self, bucket: Bucket) -> SegmentId {
        let has_room = |id: &&SegmentId| {
            let segment = &self.segments[*id];
            segment.bytes() < self.segment_bytes && segment.entries < u32::MAX
        };
        match self.appending.get(&bucket).filter(has_room) {
            Some(id) => *id,
            None => self.begin_segment(bucket),
        }
    }

    /// Gives a bucket the number of a new segment, and puts that where it is read from.
    fn begin_segment(&mut self, bucket: Bucket) -> SegmentId {
        let id = SegmentId(self.next_segment);
        self.next_segment += 1;
        self.appending.insert(bucket, id);
        match bucket {
            Bucket::Now => self.lanes.now.segments.push_back(id),
            Bucket::Held => {}
            Bucket::Spilled(class) => self.lanes.line_up_spilled(class, id),
            Bucket::Later { .. } => self.closed.entry(bucket).or_default().push(id),
        }
        self.has_new_files = true;
        id
    }
}
