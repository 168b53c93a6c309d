//! The least that a crawl of a graph could cost: its links in the order in which it followed them, and one bit for each page.

use junkai_simulation::graph::{Links, Page};

/// Pages that one word of bits stands for.
const WORD: usize = u64::BITS as usize;

/// Visits pages in this order and follows all of their links; returns how many pages they lead to.
pub(super) fn walk(links: &Links, order: &[Page]) -> u64 {
    let mut is_found = vec![0_u64; (links.page_count() as usize).div_ceil(WORD)];
    let mut found = 0;
    for &page in order {
        for &target in links.successors(page) {
            let (word, bit) = (target as usize / WORD, target as usize % WORD);
            found += !is_found[word] >> bit & 1;
            is_found[word] |= 1 << bit;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_found_once_and_only_from_pages_that_are_visited() {
        let links = Links::from_lists(
            &[vec![1, 2], vec![2, 99], vec![0], vec![4]]
                .into_iter()
                .chain((4..100).map(|_| vec![]))
                .collect::<Vec<Vec<Page>>>(),
        );
        assert_eq!(walk(&links, &[]), 0);
        assert_eq!(walk(&links, &[0, 1]), 3);
        assert_eq!(walk(&links, &[1, 0, 2]), 4);
    }
}
