//! What the pages of a host have in common: blocks that are not content though no markup says so.
//!
//! A worker owns one [`Boilerplate`] and shows it every page that it reads. A block that as many as [`PAGES_MIN`] pages of a host
//! have had is the host's, and not the page's own. Memory is bounded, per host and in all; what is not seen again is forgotten
//! first, so that the blocks of single pages, which are most, do not displace those of all pages.
//!
//! What is known grows, is lost with a restart, and differs between workers. So it must not be relied upon that a page's own blocks are
//! the same tomorrow, and it is not: contents are also compared by all blocks (see [`Content`](super::Content)).
//!
//! Not here: what markup tells (`element`), and clocks. A host is looked after for as long as its pages come.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::text::Composer;

/// Pages of a host that have a block before it is the host's. With fewer, a text that is there twice would be.
pub const PAGES_MIN: usize = 4;
/// Shorter blocks are not judged: values of tables recur, and say something all the same.
const BLOCK_WORDS_MIN: usize = 8;
/// Entries that one hash may be in.
const WAYS: usize = 8;
/// How many rounds of newcomers an entry survives that was seen once, and again.
const LIFE_NEW: u8 = 1;
const LIFE_SEEN_AGAIN: u8 = 8;

/// How much is remembered. An entry takes 16 bytes, a host some hundred more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoilerplateBounds {
    /// Hosts. Default 1024.
    pub hosts: usize,
    /// Blocks of each host. Default 512: several pages' worth. Rounded up to a multiple of eight.
    pub blocks_per_host: usize,
}

impl Default for BoilerplateBounds {
    fn default() -> Self {
        Self {
            hosts: 1024,
            blocks_per_host: 512,
        }
    }
}

/// Knows which blocks the pages of a host share.
#[derive(Debug)]
pub struct Boilerplate {
    bounds: BoilerplateBounds,
    hosts: Vec<Host>,
    positions: HashMap<u64, usize>,
    /// Where the search for a host to forget goes on.
    hand: usize,
    /// The buffers of the last page that was read, for the next one.
    composer: Composer,
}

/// One page of a host.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageOfHost {
    pub(super) host: u64,
    pub(super) page: u64,
}

#[derive(Debug)]
struct Host {
    key: u64,
    /// Whether a second page has come since the hand last passed.
    is_recent: bool,
    blocks: Vec<KnownBlock>,
}

/// A block that was seen, or room for one.
#[derive(Clone, Copy, Debug, Default)]
struct KnownBlock {
    block: u64,
    /// Tags of the pages that have it.
    pages: [u16; PAGES_MIN],
    count: u8,
    life: u8,
}

impl Boilerplate {
    /// Knows nothing yet, and will not know more than this.
    #[must_use]
    pub fn new(bounds: BoilerplateBounds) -> Self {
        Self {
            bounds,
            hosts: Vec::new(),
            positions: HashMap::new(),
            hand: 0,
            composer: Composer::default(),
        }
    }

    /// Bytes in use for what is known.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let blocks: usize = self.hosts.iter().map(|host| host.blocks.capacity()).sum();
        blocks * size_of::<KnownBlock>()
            + self.hosts.capacity() * size_of::<Host>()
            + self.positions.capacity() * size_of::<(u64, usize)>()
            + self.composer.memory_bytes()
    }

    /// Reads a page with the buffers of the last one.
    pub(super) fn with_composer<T>(
        &mut self,
        read: impl FnOnce(&mut Self, &mut Composer) -> T,
    ) -> T {
        let mut composer = std::mem::take(&mut self.composer);
        let what = read(self, &mut composer);
        self.composer = composer;
        what
    }

    /// Learns the blocks of a page, each the hashes of its words, and keeps those that are its own; `hashes` are those of whole blocks.
    pub(super) fn keep_own(&mut self, at: PageOfHost, blocks: &mut Vec<&[u64]>, hashes: &[u64]) {
        if self.bounds.hosts == 0 || self.bounds.blocks_per_host == 0 {
            return;
        }
        let host = self.host(at.host);
        let mut hashes = hashes.iter();
        blocks.retain(|words| {
            let hash = hashes.next().copied().unwrap_or_default();
            words.len() < BLOCK_WORDS_MIN || !host.has_seen_often(hash, at.page)
        });
    }

    fn host(&mut self, key: u64) -> &mut Host {
        let is_full = self.bounds.hosts <= self.hosts.len();
        let position = match self.positions.entry(key) {
            Entry::Occupied(entry) => {
                self.hosts[*entry.get()].is_recent = true;
                *entry.get()
            }
            Entry::Vacant(entry) if !is_full => {
                self.hosts.push(Host::new(key, self.bounds.blocks_per_host));
                *entry.insert(self.hosts.len() - 1)
            }
            Entry::Vacant(_) => self.replace_host(key),
        };
        &mut self.hosts[position]
    }

    /// Forgets the next host that nothing has come from since the hand last passed, or a single page.
    fn replace_host(&mut self, key: u64) -> usize {
        while self.hosts[self.hand].is_recent {
            self.hosts[self.hand].is_recent = false;
            self.hand = (self.hand + 1) % self.hosts.len();
        }
        let position = self.hand;
        let host = &mut self.hosts[position];
        self.positions.remove(&host.key);
        self.positions.insert(key, position);
        host.key = key;
        host.blocks.fill(KnownBlock::default());
        self.hand = (self.hand + 1) % self.hosts.len();
        position
    }
}

impl Host {
    fn new(key: u64, blocks: usize) -> Self {
        Self {
            key,
            is_recent: false,
            blocks: vec![KnownBlock::default(); blocks.next_multiple_of(WAYS)],
        }
    }

    /// Learns that a page has a block; tells whether enough others had it.
    fn has_seen_often(&mut self, block: u64, page: u64) -> bool {
        // The upper half chooses the entries, so that what is compared in them is independent of it.
        let sets = self.blocks.len() / WAYS;
        let set = usize::try_from(block >> 32).unwrap_or_default() % sets;
        let entries = &mut self.blocks[set * WAYS..][..WAYS];
        let is_known = |entry: &&mut KnownBlock| entry.life != 0 && entry.block == block;
        if let Some(entry) = entries.iter_mut().find(is_known) {
            entry.life = LIFE_SEEN_AGAIN;
            entry.add_page(page);
            return PAGES_MIN <= usize::from(entry.count);
        }
        let least = entries.iter().map(|entry| entry.life).min().unwrap_or(0);
        for entry in entries.iter_mut() {
            entry.life -= least;
        }
        if let Some(entry) = entries.iter_mut().find(|entry| entry.life == 0) {
            *entry = KnownBlock {
                block,
                life: LIFE_NEW,
                ..KnownBlock::default()
            };
            entry.add_page(page);
        }
        false
    }
}

impl KnownBlock {
    fn add_page(&mut self, page: u64) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a tag is a part of the hash"
        )]
        let tag = page as u16;
        let count = usize::from(self.count);
        if count < PAGES_MIN && !self.pages[..count].contains(&tag) {
            self.pages[count] = tag;
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(number: u64) -> Vec<u64> {
        (0..10).map(|word| number * 100 + word).collect()
    }

    /// How many of the blocks are kept as the page's own.
    fn own(boilerplate: &mut Boilerplate, host: u64, page: u64, blocks: &[Vec<u64>]) -> usize {
        let mut blocks: Vec<&[u64]> = blocks.iter().map(Vec::as_slice).collect();
        let (_, hashes) = super::super::name_of(&blocks);
        boilerplate.keep_own(PageOfHost { host, page }, &mut blocks, &hashes);
        blocks.len()
    }

    #[test]
    fn a_block_of_many_pages_is_the_hosts() {
        let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
        let kept: Vec<usize> = (0..6)
            .map(|page| own(&mut boilerplate, 1, page, &[block(0), block(page + 1)]))
            .collect();
        assert_eq!(kept, [2, 2, 2, 1, 1, 1]);
        assert_eq!(own(&mut boilerplate, 2, 9, &[block(0)]), 1, "another host");
    }

    #[test]
    fn a_page_that_is_read_often_keeps_its_blocks() {
        let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
        for _ in 0..10 {
            for page in 0..3 {
                assert_eq!(own(&mut boilerplate, 1, page, &[block(0)]), 1);
            }
        }
    }

    #[test]
    fn short_blocks_are_not_judged() {
        let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
        let short = block(0)[..BLOCK_WORDS_MIN - 1].to_vec();
        for page in 0..10 {
            assert_eq!(
                own(&mut boilerplate, 1, page, std::slice::from_ref(&short)),
                1
            );
        }
    }

    #[test]
    fn what_all_pages_share_outlives_what_one_page_has() {
        let mut boilerplate = Boilerplate::new(BoilerplateBounds {
            hosts: 1,
            blocks_per_host: 64,
        });
        for page in 0..1000 {
            let blocks: Vec<_> = std::iter::once(block(0))
                .chain((0..20).map(|number| block(1 + page * 20 + number)))
                .collect();
            let is_learned = 3 <= page;
            let kept = own(&mut boilerplate, 1, page, &blocks);
            assert_eq!(kept, blocks.len() - usize::from(is_learned), "page {page}");
        }
    }

    #[test]
    fn memory_is_bounded_whatever_is_read() {
        let bounds = BoilerplateBounds {
            hosts: 10,
            blocks_per_host: 16,
        };
        let mut boilerplate = Boilerplate::new(bounds);
        for number in 0..2000 {
            own(&mut boilerplate, number % 100, number, &[block(number)]);
        }
        assert_eq!(boilerplate.hosts.len(), 10);
        assert_eq!(boilerplate.positions.len(), 10);
        assert!(
            boilerplate.memory_bytes() < 16 * 1024,
            "{}",
            boilerplate.memory_bytes()
        );
    }

    #[test]
    fn a_host_that_is_in_use_is_not_forgotten() {
        let mut boilerplate = Boilerplate::new(BoilerplateBounds {
            hosts: 4,
            blocks_per_host: 64,
        });
        for page in 0..100 {
            let kept = own(&mut boilerplate, 7, page, &[block(0), block(page + 1)]);
            assert_eq!(kept, if page < 3 { 2 } else { 1 }, "page {page}");
            own(&mut boilerplate, 1000 + page, page, &[block(0)]);
            own(&mut boilerplate, 2000 + page, page, &[block(0)]);
        }
    }
}
