//! One waiting visit, and its bytes on disk.
//!
//! The page that a link was found on often begins as the link does, so only the
//! rest of it is kept. A priority takes a byte only where there is one.

use super::SegmentId;
use super::ticket::Ticket;
use crate::coding::{Input, put_bytes, put_number, unzigzag, zigzag};
use junkai_frontier::Time;

/// A visit that waits for its time. Its texts are owned where it was read, and may be borrowed where it is to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry<T = String> {
    /// The page to visit, in canonical form.
    pub url: T,
    /// The page that led to it; empty for a seed.
    pub via: T,
    /// How it was reached, one letter a hop as in Heritrix: `L` link, `E` embedded, `R` redirect, …
    pub hops: T,
    /// Links from the nearest seed.
    pub depth: u16,
    /// Visits that were tried and failed so far.
    pub tries: u8,
    /// What the caller wants to remember; it means nothing here.
    pub kind: u8,
    /// How good it is, for visits that are spilled; zero where nothing is known.
    pub priority: u8,
    /// Not to be handed out before.
    pub due: Time,
}

/// More than the numbers of an entry take on disk.
const NUMBERS_BYTES: usize = 24;

impl<T: AsRef<str>> Entry<T> {
    /// About as many bytes as it takes before it is packed.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let [url, via, hops] = [&self.url, &self.via, &self.hops].map(AsRef::as_ref);
        url.len() + via.len() - shared_prefix(url, via) + hops.len() + NUMBERS_BYTES
    }

    /// The same with texts of its own.
    #[must_use]
    pub fn with_own_texts(&self) -> Entry {
        let [url, via, hops] =
            [&self.url, &self.via, &self.hops].map(|text| text.as_ref().to_owned());
        Entry {
            url,
            via,
            hops,
            depth: self.depth,
            tries: self.tries,
            kind: self.kind,
            priority: self.priority,
            due: self.due,
        }
    }
}

/// What an entry's bytes are relative to, to be short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) sequence: u64,
    pub(super) due: Time,
}

/// An entry as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) entry: Entry,
    /// The how-many-eth entry of this backlog it is.
    pub(super) sequence: u64,
    /// The entry whose place it takes: whoever finds this one knows that the other is done with.
    pub(super) replaces: Option<(SegmentId, u32)>,
}

/// What the first byte of an entry says of those that follow.
const REPLACES: u8 = 1;
const GRADED: u8 = 2;

/// Appends the bytes of an entry.
pub(super) fn encode<T: AsRef<str>>(
    entry: &Entry<T>,
    sequence: u64,
    replaces: Option<&Ticket>,
    base: Base,
    out: &mut Vec<u8>,
) {
    let mut flags = 0;
    if replaces.is_some() {
        flags |= REPLACES;
    }
    if entry.priority != 0 {
        flags |= GRADED;
    }
    out.push(flags);
    if let Some(ticket) = replaces {
        put_number(ticket.segment.0, out);
        put_number(u64::from(ticket.index), out);
    }
    put_number(sequence - base.sequence, out);
    let late = entry.due.as_micros().wrapping_sub(base.due.as_micros());
    put_number(zigzag(late.cast_signed()), out);
    put_number(u64::from(entry.depth), out);
    out.push(entry.tries);
    out.push(entry.kind);
    if entry.priority != 0 {
        out.push(entry.priority);
    }
    let [url, via, hops] = [&entry.url, &entry.via, &entry.hops].map(AsRef::as_ref);
    put_bytes(hops.as_bytes(), out);
    put_bytes(url.as_bytes(), out);
    let shared = shared_prefix(url, via);
    put_number(shared as u64, out);
    put_bytes(&via.as_bytes()[shared..], out);
}

/// The entry in `bytes`; nothing if they are not exactly one.
pub(super) fn decode(bytes: &[u8], base: Base) -> Option<Stored> {
    let mut input = Input(bytes);
    let flags = input.byte()?;
    if flags & !(REPLACES | GRADED) != 0 {
        return None;
    }
    let mut replaces = None;
    if flags & REPLACES != 0 {
        let segment = SegmentId(input.number()?);
        replaces = Some((segment, u32::try_from(input.number()?).ok()?));
    }
    let sequence = base.sequence.checked_add(input.number()?)?;
    let late = unzigzag(input.number()?);
    let due = base.due.as_micros().wrapping_add(late.cast_unsigned());
    let depth = u16::try_from(input.number()?).ok()?;
    let tries = input.byte()?;
    let kind = input.byte()?;
    let mut priority = 0;
    if flags & GRADED != 0 {
        priority = input.byte()?;
    }
    let hops = input.text()?.to_owned();
    let url = input.text()?.to_owned();
    let shared = usize::try_from(input.number()?).ok()?;
    let rest = input.text()?;
    let via = [url.get(..shared)?, rest].concat();
    let entry = Entry {
        url,
        via,
        hops,
        depth,
        tries,
        kind,
        priority,
        due: Time::from_micros(due),
    };
    input.0.is_empty().then_some(Stored {
        entry,
        sequence,
        replaces,
    })
}

fn shared_prefix(left: &str, right: &str) -> usize {
    // Eight bytes at a time: links of a site have their first dozens in common, and this is asked several times of each.
    let (left_words, _) = left.as_bytes().as_chunks::<8>();
    let (right_words, _) = right.as_bytes().as_chunks::<8>();
    let words = left_words.iter().zip(right_words);
    let mut shared = 8 * words.take_while(|(left, right)| left == right).count();
    let rests = left.as_bytes()[shared..]
        .iter()
        .zip(&right.as_bytes()[shared..]);
    shared += rests.take_while(|(left, right)| left == right).count();
    while !left.is_char_boundary(shared) || !right.is_char_boundary(shared) {
        shared -= 1;
    }
    shared
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::backlog::account::Weight;

    fn entry() -> impl Strategy<Value = Entry> {
        let texts = ("[aé]{0,9}", "[aéb]{0,9}", "[LERX]{0,5}");
        (texts, any::<(u16, u8, u8, u8, u64)>()).prop_map(|((url, via, hops), numbers)| Entry {
            url,
            via,
            hops,
            depth: numbers.0,
            tries: numbers.1,
            kind: numbers.2,
            priority: numbers.3,
            due: Time::from_micros(numbers.4),
        })
    }

    proptest! {
        #[test]
        fn an_entry_reads_back(entry in entry(), base in any::<(u32, u64)>(), ahead: u32, replaced in any::<Option<(u64, u32)>>()) {
            let base = Base { sequence: base.0.into(), due: Time::from_micros(base.1) };
            let sequence = base.sequence + u64::from(ahead);
            let replaces = replaced.map(|(segment, index)| (SegmentId(segment), index));
            let weight = Weight::of(&entry);
            let ticket = replaces.map(|(segment, index)| Ticket { segment, index, weight });
            let mut bytes = Vec::new();
            encode(&entry, sequence, ticket.as_ref(), base, &mut bytes);
            let stored = decode(&bytes, base).unwrap();
            prop_assert_eq!(stored, Stored { entry, sequence, replaces });
            for length in 0..bytes.len() {
                prop_assert!(decode(&bytes[..length], base).is_none());
            }
        }

        #[test]
        fn garbage_is_refused_or_read_but_never_fatal(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            decode(&bytes, Base { sequence: u64::MAX - 3, due: Time::EPOCH });
        }
    }

    #[test]
    fn a_usual_entry_is_short() {
        let entry = Entry {
            url: "https://www.example.org/articles/2024/one".to_owned(),
            via: "https://www.example.org/articles/".to_owned(),
            hops: "LL".to_owned(),
            ..Entry::default()
        };
        let mut bytes = Vec::new();
        encode(
            &entry,
            7,
            None,
            Base {
                sequence: 0,
                due: Time::EPOCH,
            },
            &mut bytes,
        );
        assert!(
            bytes.len() <= entry.url.len() + entry.hops.len() + 12,
            "{}",
            bytes.len()
        );
    }
}
