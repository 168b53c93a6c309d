//! Who waits for a server: the crawls that asked for a visit and were told to ask again.
//!
//! Pure: it takes the time as an argument, and knows nothing of files. `Neighbours` reads a line, changes it and writes it back while it has the line's lock.
//!
//! Turns go by how long a crawl has waited: nobody who began to wait later goes before it, so each other crawl has at most one turn while it waits, and the server gets the
//! rest that this crawl keeps from others' visits. A crawl asks only when its interval since its own last visit is over; until then the others go on. So of two crawls each has at least
//! half of its own pace, however much their intervals differ.
//!
//! A waiter that does not ask again within [`WAITER_LASTS`] does not count any more: a crawl that was killed, or that has nothing left to visit, hinders nobody for longer.
//! A line has room for [`WAITERS_MAX`]; when there are more, those that have waited longest are in it.

use std::time::Duration;

/// Crawls that a line has room for.
const WAITERS_MAX: usize = 8;
const WAITER_BYTES: usize = 32;
pub(super) const LINE_BYTES: usize = WAITERS_MAX * WAITER_BYTES;

/// How long a waiter counts after it asked.
pub(super) const WAITER_LASTS: Duration = Duration::from_secs(15);

/// A crawl that waits. Times are what the machine had counted since its boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiter {
    /// What tells the crawl from others; never zero, which is an empty place.
    pub(super) of: u64,
    pub(super) since: Duration,
    /// When it asked last.
    pub(super) asked: Duration,
}

/// The crawls that wait for one server, by how long they have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line(Vec<Waiter>);

impl Line {
    /// Whether somebody goes before this crawl.
    pub(super) fn has_before(&self, asker: &Waiter) -> bool {
        self.0.iter().any(|waiter| {
            waiter.of != asker.of && waiter.rank() < asker.rank() && waiter.counts(asker.asked)
        })
    }

    /// Takes the crawl in, or notes that it asked again. Those that do not count any more go.
    pub(super) fn join(&mut self, asker: Waiter) {
        self.0
            .retain(|waiter| waiter.of != asker.of && waiter.counts(asker.asked));
        self.0.push(asker);
        self.0.sort_unstable_by_key(Waiter::rank);
        self.0.truncate(WAITERS_MAX);
    }

    /// Lets the crawl out. Those that do not count any more go, too.
    pub(super) fn leave(&mut self, of: u64, counted: Duration) {
        self.0
            .retain(|waiter| waiter.of != of && waiter.counts(counted));
    }

    /// Until when somebody in it counts, if nobody asks again; zero if it is empty.
    pub(super) fn lasts_until(&self) -> Duration {
        let asked = self.0.iter().map(|waiter| waiter.asked).max();
        asked.map_or(Duration::ZERO, |asked| asked.saturating_add(WAITER_LASTS))
    }

    pub(super) fn from_bytes(bytes: &[u8; LINE_BYTES]) -> Line {
        let (waiters, _) = bytes.as_chunks::<WAITER_BYTES>();
        Line(waiters.iter().filter_map(Waiter::from_bytes).collect())
    }

    pub(super) fn to_bytes(&self) -> [u8; LINE_BYTES] {
        let mut bytes = [0; LINE_BYTES];
        let (places, _) = bytes.as_chunks_mut::<WAITER_BYTES>();
        for (place, waiter) in places.iter_mut().zip(&self.0) {
            *place = waiter.to_bytes();
        }
        bytes
    }
}

impl Waiter {
    /// Who has waited longer comes first; of two that began at once, always the same. Times are compared as the file has them, in microseconds: two crawls plan
    /// by the same steps and often begin to wait within one, and by their own finer times each would find the other's mark earlier and give way for ever.
    fn rank(&self) -> (u64, u64) {
        (micros(self.since), self.of)
    }

    /// Whether it has asked not long ago. A time ahead is of before the machine's last start.
    pub(super) fn counts(&self, counted: Duration) -> bool {
        let is_of_this_boot = self.asked <= counted.saturating_add(super::AHEAD_MAX);
        is_of_this_boot && counted <= self.asked.saturating_add(WAITER_LASTS)
    }

    fn from_bytes(bytes: &[u8; WAITER_BYTES]) -> Option<Waiter> {
        let [of, since, asked, _] = words(bytes);
        (of != 0).then(|| Waiter {
            of,
            since: Duration::from_micros(since),
            asked: Duration::from_micros(asked),
        })
    }

    fn to_bytes(self) -> [u8; WAITER_BYTES] {
        bytes_of([self.of, micros(self.since), micros(self.asked), 0])
    }
}

/// Four numbers of a file.
pub(super) fn words(bytes: &[u8; 32]) -> [u64; 4] {
    let (words, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|word| u64::from_le_bytes(words[word]))
}

pub(super) fn bytes_of(words: [u64; 4]) -> [u8; 32] {
    let mut bytes = [0; 32];
    let (places, _) = bytes.as_chunks_mut::<8>();
    for (place, word) in places.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    bytes
}

/// Half of all numbers are enough for 292,000 years.
pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).map_or(u64::MAX >> 1, |micros| micros.min(u64::MAX >> 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(1000 + seconds)
    }

    fn waiter(of: u64, since: u64, asked: u64) -> Waiter {
        Waiter {
            of,
            since: at(since),
            asked: at(asked),
        }
    }

    #[test]
    fn who_waits_goes_before_all_who_came_later() {
        let mut line = Line::default();
        line.join(waiter(1, 0, 0));
        assert!(line.has_before(&waiter(2, 4, 4)), "from the beginning");
        assert!(line.has_before(&waiter(2, 4, 5)));
        assert!(
            !line.has_before(&waiter(3, 0, 5).longer()),
            "it came earlier"
        );
        assert!(
            !line.has_before(&waiter(1, 9, 9)),
            "nobody waits for itself"
        );
        line.leave(1, at(6));
        assert!(!line.has_before(&waiter(2, 4, 6)));
        assert_eq!(line, Line::default());
    }

    impl Waiter {
        fn longer(self) -> Waiter {
            let since = self.since.saturating_sub(Duration::from_secs(1));
            Waiter { since, ..self }
        }
    }

    #[test]
    fn of_two_that_began_within_a_microsecond_one_goes_first() {
        let later = |waiter: Waiter, nanos| Waiter {
            since: waiter.since + Duration::from_nanos(nanos),
            ..waiter
        };
        let askers = [later(waiter(1, 0, 9), 700), later(waiter(2, 0, 9), 200)];
        let mut line = Line::default();
        for asker in askers {
            line.join(asker);
        }
        let line = Line::from_bytes(&line.to_bytes());
        let gives_way = askers.map(|asker| line.has_before(&asker));
        assert_eq!(gives_way, [false, true]);
    }

    #[test]
    fn who_does_not_ask_again_hinders_nobody_for_long() {
        let mut line = Line::default();
        line.join(waiter(1, 0, 3));
        let lasts = WAITER_LASTS.as_secs();
        assert_eq!(line.lasts_until(), at(3 + lasts));
        assert!(line.has_before(&waiter(2, 4, 3 + lasts)));
        assert!(!line.has_before(&waiter(2, 4, 4 + lasts)));
        line.join(waiter(2, 4, 4 + lasts));
        let rest: Vec<u64> = line.0.iter().map(|waiter| waiter.of).collect();
        assert_eq!(rest, [2]);
    }

    #[test]
    fn a_waiter_of_before_the_last_boot_does_not_count() {
        let mut line = Line::default();
        line.join(waiter(1, 0, 1_000_000));
        let mut later = waiter(2, 50, 50);
        later.since = at(1_000_000);
        assert!(!line.has_before(&later));
        line.leave(2, at(50));
        assert_eq!(line.lasts_until(), Duration::ZERO);
    }

    #[test]
    fn a_full_line_has_those_that_have_waited_longest() {
        let mut line = Line::default();
        let all = WAITERS_MAX as u64 + 3;
        for number in (1..=all).rev() {
            line.join(waiter(number, number, all));
        }
        let kept: Vec<u64> = line.0.iter().map(|waiter| waiter.of).collect();
        assert_eq!(kept, (1..=WAITERS_MAX as u64).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut line = Line::default();
        assert_eq!(Line::from_bytes(&line.to_bytes()), line);
        for number in 1..=3 {
            line.join(waiter(u64::MAX - number, number, 9));
        }
        assert_eq!(Line::from_bytes(&line.to_bytes()), line);
    }
}
