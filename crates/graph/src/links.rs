//! The links of a web graph in memory: for each page its targets, one after another in one list.
//!
//! 8 bytes a page and 4 a link. Every pass over the links of all pages is sequential in memory.
//!
//! Invariants: each target is a page; a page has a target once; the order of a page's targets is that of whoever made
//! the links (document order where it is known), and stays so.

use xxhash_rust::xxh3::Xxh3Default;

/// A page of a graph: its number, from 0.
pub type Page = u32;

/// Pages that a graph may have unless the caller allows more or fewer.
///
/// A single line of an edge list can name any page number, and all pages below it exist then: this bounds what that costs.
pub const PAGES_MAX: u32 = 1 << 27;

/// Who links to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// Page *n* has the targets from `starts[n]` to `starts[n + 1]`.
    starts: Vec<u64>,
    targets: Vec<Page>,
}

/// A hash of links: equal for equal links, on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub u128);

impl Links {
    /// No pages, and so no links.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            starts: vec![0],
            targets: Vec::new(),
        }
    }

    /// The given targets of page 0, 1, and so on; repeated targets of a page are dropped, but for the first.
    ///
    /// # Panics
    /// If a target is not one of the pages, or there are more than 2³² − 1 pages.
    #[must_use]
    pub fn from_lists<L: AsRef<[Page]>>(lists: &[L]) -> Self {
        let mut builder = Builder::new();
        let mut seen = RepeatedTargets::new(lists.len());
        for list in lists {
            for &target in list.as_ref() {
                assert!((target as usize) < lists.len(), "no page {target}");
                if seen.is_first(builder.page(), target) {
                    builder.push(target);
                }
            }
            builder.finish_page();
        }
        builder.finish()
    }

    /// Arranges `(source, target)` pairs by source, in the order in which they come; repeated pairs are dropped, but for
    /// the first.
    ///
    /// # Panics
    /// If a source or target is not below `page_count`.
    #[must_use]
    pub fn from_pairs(page_count: u32, pairs: &[(Page, Page)]) -> Self {
        let pages = page_count as usize;
        let mut ends = vec![0_u64; pages + 1];
        for &(source, target) in pairs {
            assert!(target < page_count, "no page {target}");
            ends[source as usize + 1] += 1;
        }
        accumulate(&mut ends);
        let mut targets = vec![0; pairs.len()];
        // `ends[n]` moves from the start of page n to its end, which is the start of page n + 1.
        for &(source, target) in pairs {
            let end = &mut ends[source as usize];
            targets[index(*end)] = target;
            *end += 1;
        }
        Self::without_repetition(&ends[..pages], targets)
    }

    /// Closes the gaps that repeated targets leave; page *n* comes with targets up to `ends[n]`.
    fn without_repetition(ends: &[u64], mut targets: Vec<Page>) -> Self {
        let mut seen = RepeatedTargets::new(ends.len());
        let mut starts = Vec::with_capacity(ends.len() + 1);
        starts.push(0);
        let (mut kept, mut read) = (0, 0);
        for (page, &end) in (0..).zip(ends) {
            while read < index(end) {
                let target = targets[read];
                read += 1;
                if seen.is_first(page, target) {
                    targets[kept] = target;
                    kept += 1;
                }
            }
            starts.push(kept as u64);
        }
        targets.truncate(kept);
        targets.shrink_to_fit();
        Self { starts, targets }
    }

    /// How many pages there are: their numbers are 0 to one less.
    #[must_use]
    pub fn page_count(&self) -> u32 {
        u32::try_from(self.starts.len() - 1).unwrap_or(u32::MAX)
    }

    /// How many links there are.
    #[must_use]
    pub fn link_count(&self) -> u64 {
        self.targets.len() as u64
    }

    /// All pages, ascending.
    #[must_use]
    pub fn pages(&self) -> std::ops::Range<Page> {
        0..self.page_count()
    }

    /// The pages that a page links to, each once.
    ///
    /// # Panics
    /// If there is no such page.
    #[must_use]
    #[inline]
    pub fn successors(&self, page: Page) -> &[Page] {
        let page = page as usize;
        &self.targets[index(self.starts[page])..index(self.starts[page + 1])]
    }

    /// How many pages a page links to.
    ///
    /// # Panics
    /// If there is no such page.
    #[must_use]
    #[inline]
    pub fn out_degree(&self, page: Page) -> u32 {
        let page = page as usize;
        // A page links to each page once, so its degree is at most the number of pages.
        u32::try_from(self.starts[page + 1] - self.starts[page]).unwrap_or(u32::MAX)
    }

    /// For each page, how many pages link to it.
    #[must_use]
    pub fn in_degrees(&self) -> Vec<u32> {
        let mut degrees = vec![0; self.page_count() as usize];
        for &target in &self.targets {
            degrees[target as usize] += 1;
        }
        degrees
    }

    /// All links turned round: page *n* has the pages that link to it, ascending.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let pages = self.page_count() as usize;
        let mut starts = vec![0_u64; pages + 1];
        for &target in &self.targets {
            starts[target as usize + 1] += 1;
        }
        accumulate(&mut starts);
        let mut places = starts.clone();
        let mut sources = vec![0; self.targets.len()];
        for source in self.pages() {
            for &target in self.successors(source) {
                let place = &mut places[target as usize];
                sources[index(*place)] = source;
                *place += 1;
            }
        }
        Self {
            starts,
            targets: sources,
        }
    }

    /// A hash of all links, their order within a page included: what results are kept under.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        const NUMBERS_AT_A_TIME: usize = 4096;
        let mut hash = Xxh3Default::new();
        let mut bytes = Vec::with_capacity(8 * NUMBERS_AT_A_TIME);
        for starts in self.starts.chunks(NUMBERS_AT_A_TIME) {
            bytes.clear();
            bytes.extend(starts.iter().flat_map(|start| start.to_le_bytes()));
            hash.update(&bytes);
        }
        for targets in self.targets.chunks(NUMBERS_AT_A_TIME) {
            bytes.clear();
            bytes.extend(targets.iter().flat_map(|target| target.to_le_bytes()));
            hash.update(&bytes);
        }
        Fingerprint(hash.digest128())
    }
}

/// Makes [`Links`] page after page. The caller sees to it that a page has a target once, and that targets are pages.
pub(crate) struct Builder {
    starts: Vec<u64>,
    targets: Vec<Page>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        let Links { starts, targets } = Links::empty();
        Self { starts, targets }
    }

    /// The page whose targets are being pushed.
    pub(crate) fn page(&self) -> Page {
        u32::try_from(self.starts.len() - 1).unwrap_or(u32::MAX)
    }

    pub(crate) fn push(&mut self, target: Page) {
        self.targets.push(target);
    }

    pub(crate) fn extend(&mut self, targets: &[Page]) {
        self.targets.extend_from_slice(targets);
    }

    pub(crate) fn finish_page(&mut self) {
        self.starts.push(self.targets.len() as u64);
    }

    /// Takes in the pages that another builder made after those that are here.
    pub(crate) fn append(&mut self, later: &Self) {
        let base = self.targets.len() as u64;
        self.targets.extend_from_slice(&later.targets);
        self.starts
            .extend(later.starts[1..].iter().map(|start| base + start));
    }

    pub(crate) fn link_count(&self) -> u64 {
        self.targets.len() as u64
    }

    /// The targets of a page that is finished.
    pub(crate) fn successors(&self, page: Page) -> &[Page] {
        let page = page as usize;
        &self.targets[index(self.starts[page])..index(self.starts[page + 1])]
    }

    pub(crate) fn finish(self) -> Links {
        let Self { starts, targets } = self;
        Links { starts, targets }
    }
}

/// Tells a page's first link to a target from the later ones, as pages come in ascending order.
struct RepeatedTargets {
    /// For each target, one more than the last page that linked to it.
    last_source: Vec<u32>,
}

impl RepeatedTargets {
    fn new(pages: usize) -> Self {
        Self {
            last_source: vec![0; pages],
        }
    }

    fn is_first(&mut self, source: Page, target: Page) -> bool {
        let last = &mut self.last_source[target as usize];
        std::mem::replace(last, source + 1) != source + 1
    }
}

fn accumulate(counts: &mut [u64]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
}

/// A place in a list that is in memory, so that it fits.
#[inline]
fn index(place: u64) -> usize {
    usize::try_from(place).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_order_of_a_pages_links_is_kept_and_repeated_ones_are_dropped() {
        let pairs = [(2, 1), (0, 3), (0, 1), (2, 2), (0, 3), (0, 0), (2, 1)];
        let links = Links::from_pairs(4, &pairs);
        assert_eq!(links.successors(0), [3, 1, 0]);
        assert_eq!(links.successors(1), [0; 0]);
        assert_eq!(links.successors(2), [1, 2]);
        assert_eq!(links.out_degree(2), 2);
        assert_eq!((links.page_count(), links.link_count()), (4, 5));
        assert_eq!(links.in_degrees(), [1, 2, 1, 1]);
    }

    #[test]
    fn no_pages_have_no_links() {
        assert_eq!(Links::from_pairs(0, &[]), Links::empty());
        assert_eq!(Links::empty().transposed(), Links::empty());
        assert_eq!(Links::empty().page_count(), 0);
    }

    #[test]
    fn the_fingerprint_sees_order_and_boundaries() {
        let links = [
            Links::from_lists(&[vec![0, 1], vec![]]),
            Links::from_lists(&[vec![1, 0], vec![]]),
            Links::from_lists(&[vec![0], vec![1]]),
            Links::from_lists(&[vec![0, 1], vec![], vec![]]),
        ];
        for (place, one) in links.iter().enumerate() {
            for other in &links[..place] {
                assert_ne!(one.fingerprint(), other.fingerprint());
            }
            assert_eq!(one.fingerprint(), one.clone().fingerprint());
        }
    }

    fn pairs() -> impl Strategy<Value = (u32, Vec<(Page, Page)>)> {
        (1_u32..20).prop_flat_map(|pages| {
            let pair = (0..pages, 0..pages);
            (Just(pages), proptest::collection::vec(pair, 0..80))
        })
    }

    proptest! {
        #[test]
        fn pairs_are_arranged_as_by_a_naive_model((pages, pairs) in pairs()) {
            let links = Links::from_pairs(pages, &pairs);
            let mut model = vec![Vec::new(); pages as usize];
            for (source, target) in pairs {
                let list: &mut Vec<Page> = &mut model[source as usize];
                if !list.contains(&target) {
                    list.push(target);
                }
            }
            prop_assert_eq!(&links, &Links::from_lists(&model));
            for page in links.pages() {
                prop_assert_eq!(links.successors(page), &model[page as usize]);
            }
        }

        #[test]
        fn links_turned_round_twice_are_the_same_links((pages, pairs) in pairs()) {
            let mut pairs = pairs;
            pairs.sort_unstable();
            let links = Links::from_pairs(pages, &pairs);
            let transposed = links.transposed();
            prop_assert_eq!(&transposed.transposed(), &links);
            for page in links.pages() {
                prop_assert_eq!(transposed.out_degree(page), links.in_degrees()[page as usize]);
                prop_assert!(transposed.successors(page).is_sorted());
            }
        }
    }
}
