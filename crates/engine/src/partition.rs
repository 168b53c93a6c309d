//! Partitions: a crawl's sites shared out among several engines, each with a store of its own.
//!
//! A URL belongs to the partition that the hash of its site says, for as long as the archive lives. So robots.txt, the pace of a host and the states of a site's
//! pages are in one place, and most links stay where they were found; the others go through an [outbox](crate::outbox). What belongs to a server, which may have sites of
//! several partitions, is the node's: see [`shared_servers`](crate::shared_servers).
//!
//! A crawl of one partition has the files of an engine in `state/` itself; one of several has them in `state/partitions/<number>/`.

use std::num::NonZeroU16;

use junkai_weburl::{Fingerprint, PageUrl};

/// One of the parts that a crawl's sites are shared out among.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Partition {
    number: u16,
    count: NonZeroU16,
}

impl Partition {
    /// The only one of a crawl that is not shared out.
    pub const WHOLE: Partition = Partition {
        number: 0,
        count: NonZeroU16::MIN,
    };

    /// All of so many partitions, from the first on.
    pub fn all(count: NonZeroU16) -> impl Iterator<Item = Partition> {
        (0..count.get()).map(move |number| Partition { number, count })
    }

    /// The number of the partition that a URL belongs to, among so many.
    #[must_use]
    pub fn owner(count: NonZeroU16, url: &PageUrl) -> u16 {
        if count == NonZeroU16::MIN {
            return 0;
        }
        let remainder = Fingerprint::of(url.site()).0 % u64::from(count.get());
        u16::try_from(remainder).unwrap_or_default()
    }

    /// Whether a URL belongs to it.
    #[must_use]
    pub fn has(self, url: &PageUrl) -> bool {
        Partition::owner(self.count, url) == self.number
    }

    /// Its number, from 0 on.
    #[must_use]
    pub fn number(self) -> u16 {
        self.number
    }

    /// How many there are.
    #[must_use]
    pub fn count(self) -> NonZeroU16 {
        self.count
    }

    /// Whether it is the only one.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.count == NonZeroU16::MIN
    }

    /// Whether it is the first, which sees to what is done once for all of them.
    #[must_use]
    pub fn is_first(self) -> bool {
        self.number == 0
    }

    /// Whether it is the last.
    #[must_use]
    pub fn is_last(self) -> bool {
        self.number + 1 == self.count.get()
    }
}

#[cfg(test)]
mod tests {
    use junkai_weburl::{CanonicalConfig, Canonicalizer};

    use super::*;

    #[test]
    fn every_url_of_a_site_belongs_to_the_same_partition_and_to_no_other() {
        let canonical = Canonicalizer::new(&CanonicalConfig::default());
        let count = NonZeroU16::new(5).unwrap();
        let mut pages = [0; 5];
        for site in 0..500 {
            let owners = ["http://", "https://www.", "http://a.b."].map(|start| {
                let url = format!("{start}site-{site}.example.org/page?{site}");
                let url = canonical
                    .parse(&url.replace(".example", "-example"))
                    .unwrap();
                let owners: Vec<u16> = Partition::all(count)
                    .filter(|partition| partition.has(&url))
                    .map(Partition::number)
                    .collect();
                assert_eq!(owners, [Partition::owner(count, &url)]);
                owners[0]
            });
            assert!(owners.iter().all(|owner| *owner == owners[0]), "{owners:?}");
            pages[usize::from(owners[0])] += 1;
        }
        assert!(pages.iter().all(|pages| 50 < *pages), "{pages:?}");
    }

    #[test]
    fn where_a_site_belongs_never_changes() {
        let canonical = Canonicalizer::new(&CanonicalConfig::default());
        let count = NonZeroU16::new(64).unwrap();
        let owners = ["http://example.org/", "https://www.example.com/x"].map(|url| {
            let url = canonical.parse(url).unwrap();
            Partition::owner(count, &url)
        });
        assert_eq!(owners, [5, 51], "archives go by it");
    }
}
