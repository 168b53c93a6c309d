//! Starts that lie far apart: each next one is the farthest from those before, along the links.

use junkai_graph::{Links, Page};
use junkai_simulation::subject::Subject;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Chooses starts in the largest strongly connected component: the first by chance, each next one as many links as can be from
/// all before it, ties by chance. Chance is a hash of the seed and the page. Fewer if the component has fewer pages.
pub(super) fn far_apart(subject: &Subject, count: usize, seed: u64) -> Vec<Page> {
    let components = &subject.components;
    let Some(largest) = components.largest() else {
        return Vec::new();
    };
    let links = &subject.web.links;
    let candidates: Vec<Page> = links
        .pages()
        .filter(|page| components.component(*page) == largest)
        .collect();
    let chance = |page: &Page| (xxh3_64_with_seed(&page.to_le_bytes(), seed), *page);
    let mut starts: Vec<Page> = candidates
        .iter()
        .copied()
        .min_by_key(chance)
        .into_iter()
        .collect();
    while starts.len() < count {
        let distances = distances(links, &starts);
        let farthest = candidates
            .iter()
            .copied()
            .filter(|page| distances[*page as usize] != Some(0))
            .max_by_key(|page| (distances[*page as usize], chance(page)));
        match farthest {
            Some(page) => starts.push(page),
            None => break,
        }
    }
    starts
}

/// For each page the links on the shortest way from any of the starts; none where there is no way.
fn distances(links: &Links, starts: &[Page]) -> Vec<Option<u32>> {
    let mut distances = vec![None; links.page_count() as usize];
    for &start in starts {
        distances[start as usize] = Some(0);
    }
    let mut wave = starts.to_vec();
    for distance in 1.. {
        let mut next = Vec::new();
        for target in wave.iter().flat_map(|page| links.successors(*page)) {
            let known = &mut distances[*target as usize];
            if known.is_none() {
                *known = Some(distance);
                next.push(*target);
            }
        }
        if next.is_empty() {
            break;
        }
        wave = next;
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_counted_in_links_from_the_nearest_start() {
        let links = Links::from_pairs(6, &[(0, 1), (1, 2), (2, 3), (3, 0), (4, 3)]);
        assert_eq!(
            distances(&links, &[0]),
            [Some(0), Some(1), Some(2), Some(3), None, None]
        );
        assert_eq!(
            distances(&links, &[0, 2]),
            [Some(0), Some(1), Some(0), Some(1), None, None]
        );
    }
}
