//! What the entries that wait take in bytes, of each host and in all: by it new ones are refused, so that no page, host or web fills the disk.
//!
//! Bytes are those of the entries before they are packed: on disk they take a third of it or less, unless somebody makes them so that they do not pack.
//! Hosts are counted in a table of fixed size, a count-min sketch (Cormode and Muthukrishnan, "An Improved Data Stream Summary", J. Algorithms 55(1), 2005):
//! a host has a counter in each of two rows, which it may share, and the lesser of the two counts. So a host is never thought to have less than it has; one
//! with few is refused for others only if both of its counters are shared with hosts that have as much as they may.
//!
//! Opening counts anew what waits. Departures from the paper: counters go down too, when an entry is done with.

use xxhash_rust::xxh3::xxh3_64;

use super::Entry;

/// Counters in a row: a megabyte for both.
const COUNTERS: usize = 1 << 16;
const ROWS: usize = 2;

/// Why no more entries are taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Those of the same host take as many bytes as they may.
    Host,
    /// All together do.
    All,
}

/// What an entry adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Weight {
    /// The host's counter in each row.
    counters: [u16; ROWS],
    bytes: u32,
}

impl Weight {
    pub(super) fn of<T: AsRef<str>>(entry: &Entry<T>) -> Weight {
        let hash = xxh3_64(host_of(entry.url.as_ref()).as_bytes()).to_le_bytes();
        let counter = |at: usize| u16::from_le_bytes([hash[at], hash[at + 1]]);
        Weight {
            counters: [counter(0), counter(4)],
            bytes: u32::try_from(entry.bytes()).unwrap_or(u32::MAX),
        }
    }
}

/// The host in the URL of a page, with its port, as it stands there.
#[must_use]
pub fn host_of(url: &str) -> &str {
    // The scheme of every page first: to search for the end of any other takes longer than all the rest.
    let of_page = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"));
    let rest = of_page.unwrap_or_else(|| url.split_once("://").map_or(url, |(_, rest)| rest));
    let end = rest.bytes().position(|byte| matches!(byte, b'/' | b'?'));
    &rest[..end.unwrap_or(rest.len())]
}

#[derive(Debug)]
pub(super) struct Account {
    rows: [Vec<u64>; ROWS],
    all: u64,
    host_bytes_max: u64,
    bytes_max: u64,
}

impl Account {
    pub(super) fn new(host_bytes_max: u64, bytes_max: u64) -> Account {
        Account {
            rows: [vec![0; COUNTERS], vec![0; COUNTERS]],
            all: 0,
            host_bytes_max,
            bytes_max,
        }
    }

    pub(super) fn add(&mut self, weight: Weight) {
        let bytes = u64::from(weight.bytes);
        for (row, counter) in self.rows.iter_mut().zip(weight.counters) {
            row[usize::from(counter)] += bytes;
        }
        self.all += bytes;
    }

    /// Takes an entry out. What was counted when a damaged file was still whole may be missing here, never the other way round.
    pub(super) fn take(&mut self, weight: Weight) {
        let bytes = u64::from(weight.bytes);
        for (row, counter) in self.rows.iter_mut().zip(weight.counters) {
            let counter = &mut row[usize::from(counter)];
            *counter = counter.saturating_sub(bytes);
        }
        self.all = self.all.saturating_sub(bytes);
    }

    /// Why an entry cannot be taken in besides, if it cannot.
    pub(super) fn refuses(&self, weight: Weight) -> Option<Bound> {
        let bytes = u64::from(weight.bytes);
        if self.bytes_max < self.all + bytes {
            return Some(Bound::All);
        }
        let counters = self.rows.iter().zip(weight.counters);
        let of_host = counters.map(|(row, counter)| row[usize::from(counter)]);
        let of_host = of_host.min().unwrap_or(0);
        (self.host_bytes_max < of_host + bytes).then_some(Bound::Host)
    }

    /// Bytes of all.
    pub(super) fn all(&self) -> u64 {
        self.all
    }

    /// Memory that is held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.rows.iter().map(Vec::capacity).sum::<usize>() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(url: &str) -> Weight {
        Weight::of(&Entry {
            url: url.to_owned(),
            ..Entry::default()
        })
    }

    #[test]
    fn a_host_is_what_stands_before_the_path() {
        for (url, host) in [
            ("https://www.example.org/a/b?c", "www.example.org"),
            ("http://example.org:8080/", "example.org:8080"),
            ("http://example.org?a", "example.org"),
            ("http://[::1]:80/", "[::1]:80"),
            ("", ""),
        ] {
            assert_eq!(host_of(url), host);
        }
    }

    #[test]
    fn a_host_is_refused_at_its_bound_and_others_are_not() {
        let page = weight("http://full.example/1234567890");
        let bytes = u64::from(page.bytes);
        let mut account = Account::new(10 * bytes, 15 * bytes);
        for _ in 0..10 {
            assert_eq!(account.refuses(page), None);
            account.add(page);
        }
        assert_eq!(account.refuses(page), Some(Bound::Host));
        let other = weight("http://othr.example/1234567890");
        for _ in 0..5 {
            assert_eq!(account.refuses(other), None);
            account.add(other);
        }
        assert_eq!(account.refuses(other), Some(Bound::All));
        account.take(page);
        assert_eq!(account.refuses(page), None, "what is done with makes room");
        for _ in 0..9 {
            account.take(page);
        }
        for _ in 0..5 {
            account.take(other);
        }
        assert_eq!(account.all(), 0);
    }

    #[test]
    fn with_thousands_of_hosts_at_their_bound_few_others_are_refused() {
        let mut account = Account::new(1000, u64::MAX);
        for number in 0..3000 {
            let page = weight(&format!("http://full{number}.example/"));
            while account.refuses(page).is_none() {
                account.add(page);
            }
        }
        let refused = (0..10_000)
            .map(|number| weight(&format!("http://fresh{number}.example/")))
            .filter(|page| account.refuses(*page).is_some());
        // About (3000 / 65536)² of them share both counters.
        assert!(refused.count() < 100);
    }
}
