//! Strongly connected components: the largest sets of pages of which each can be reached from each other.
//!
//! Pearce, "A Space-Efficient Algorithm for Finding Strongly Connected Components", Information Processing Letters 116(1),
//! 2016: Tarjan's algorithm with one number for each page. With a stack of our own, since paths are as long as the
//! graph is large. Departures: none.

use crate::progress::{Progress, Reporter, Stage};
use crate::{Links, Page};

/// The components of a graph, numbered in the order of their first pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    of_page: Vec<u32>,
    sizes: Vec<u32>,
    first_pages: Vec<Page>,
}

impl Components {
    /// From the component of each page, under whatever numbers; pages are in one component if their numbers are equal.
    /// Numbers are below the number of pages.
    pub(crate) fn from_numbers(mut of_page: Vec<u32>) -> Self {
        let mut renumbered: Vec<Option<u32>> = vec![None; of_page.len()];
        let (mut sizes, mut first_pages) = (Vec::new(), Vec::new());
        for (page, number) in (0..).zip(&mut of_page) {
            let component = *renumbered[*number as usize].get_or_insert_with(|| {
                sizes.push(0);
                first_pages.push(page);
                u32::try_from(sizes.len() - 1).unwrap_or(u32::MAX)
            });
            sizes[component as usize] += 1;
            *number = component;
        }
        Self {
            of_page,
            sizes,
            first_pages,
        }
    }

    /// How many components there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.sizes.len()).unwrap_or(u32::MAX)
    }

    /// The component of a page.
    ///
    /// # Panics
    /// If there is no such page.
    #[must_use]
    pub fn component(&self, page: Page) -> u32 {
        self.of_page[page as usize]
    }

    /// The component of every page.
    #[must_use]
    pub fn of_pages(&self) -> &[u32] {
        &self.of_page
    }

    /// How many pages each component has.
    #[must_use]
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The component with the most pages, the first of several; none in a graph without pages.
    #[must_use]
    pub fn largest(&self) -> Option<u32> {
        self.by_size().first().copied()
    }

    /// The first pages of the `count` largest components: where an experiment's crawl begins. Of components of equal size the
    /// one with the lower first page comes first.
    #[must_use]
    pub fn seeds(&self, count: usize) -> Vec<Page> {
        let components = self.by_size().into_iter().take(count);
        components
            .map(|component| self.first_pages[component as usize])
            .collect()
    }

    fn by_size(&self) -> Vec<u32> {
        let mut components: Vec<u32> = (0..self.count()).collect();
        components.sort_by_key(|&component| std::cmp::Reverse(self.sizes[component as usize]));
        components
    }
}

/// Finds the strongly connected components. Memory: at most 28 bytes a page, the result included.
pub fn components(links: &Links, progress: &mut dyn FnMut(Progress)) -> Components {
    let mut reporter = Reporter::new(progress, Stage::Components, u64::from(links.page_count()));
    let mut search = Search::new(links);
    for page in links.pages() {
        search.explore_from(page);
        reporter.at(u64::from(page));
    }
    reporter.finish();
    Components::from_numbers(search.into_numbers())
}

/// A depth-first search over all pages.
struct Search<'a> {
    links: &'a Links,
    /// For each page: 0 before it is found; then the lowest visit number that is known to be reachable from it; at last the
    /// number of its component, counted down from the number of pages so that no open page has a higher one.
    lowest: Vec<u32>,
    visits: u32,
    finished_components: u32,
    /// The pages from where the search began to where it is.
    path: Vec<Step>,
    /// Pages that are left, whose components are not known yet.
    open: Vec<Page>,
}

#[derive(Clone, Copy)]
struct Step {
    page: Page,
    /// Which of the page's links is next.
    link: u32,
    /// Whether the page has reached no page that was found before it.
    is_root: bool,
}

impl<'a> Search<'a> {
    fn new(links: &'a Links) -> Self {
        Self {
            links,
            lowest: vec![0; links.page_count() as usize],
            visits: 0,
            finished_components: 0,
            path: Vec::new(),
            open: Vec::new(),
        }
    }

    fn explore_from(&mut self, start: Page) {
        if self.lowest[start as usize] == 0 {
            self.enter(start);
        }
        while let Some(&step) = self.path.last() {
            let targets = self.links.successors(step.page);
            match targets.get(step.link as usize) {
                Some(&target) if self.lowest[target as usize] == 0 => self.enter(target),
                Some(&target) => self.learn(step, self.lowest[target as usize]),
                None => self.leave(step),
            }
        }
    }

    fn enter(&mut self, page: Page) {
        self.visits += 1;
        self.lowest[page as usize] = self.visits;
        self.path.push(Step {
            page,
            link: 0,
            is_root: true,
        });
    }

    /// Takes in how low the target of the next link reaches, and goes to the link after it.
    fn learn(&mut self, step: Step, reached: u32) {
        let lowest = &mut self.lowest[step.page as usize];
        let is_lower = reached < *lowest;
        if is_lower {
            *lowest = reached;
        }
        if let Some(step) = self.path.last_mut() {
            step.is_root &= !is_lower;
            step.link += 1;
        }
    }

    /// Goes back from a page whose links are all followed; the page before it then learns how low it reaches.
    fn leave(&mut self, step: Step) {
        self.path.pop();
        if !step.is_root {
            self.open.push(step.page);
            return;
        }
        let own = self.lowest[step.page as usize];
        let component = u32::MAX - self.finished_components;
        self.finished_components += 1;
        self.visits -= 1;
        self.lowest[step.page as usize] = component;
        while let Some(&page) = self.open.last()
            && own <= self.lowest[page as usize]
        {
            self.open.pop();
            self.lowest[page as usize] = component;
            self.visits -= 1;
        }
    }

    fn into_numbers(mut self) -> Vec<u32> {
        for number in &mut self.lowest {
            *number = u32::MAX - *number;
        }
        self.lowest
    }
}

/// Which pages can be reached from any of the seeds, these included.
///
/// # Panics
/// If a seed is no page.
#[must_use]
pub fn reachable(links: &Links, seeds: &[Page]) -> Vec<bool> {
    let mut is_reached = vec![false; links.page_count() as usize];
    let mut waiting = Vec::new();
    let mut reach = |page: Page, waiting: &mut Vec<Page>| {
        if !std::mem::replace(&mut is_reached[page as usize], true) {
            waiting.push(page);
        }
    };
    for &seed in seeds {
        reach(seed, &mut waiting);
    }
    while let Some(page) = waiting.pop() {
        for &target in links.successors(page) {
            reach(target, &mut waiting);
        }
    }
    is_reached
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::progress::unwatched;

    #[test]
    fn components_are_numbered_by_their_first_pages() {
        // 0 → 1 ⇄ 2, 3 alone, 4 → 5 → 6 → 4, all of which lead to 0.
        let lists = [
            vec![1],
            vec![2],
            vec![1],
            vec![3],
            vec![5, 0],
            vec![6],
            vec![4],
        ];
        let found = components(&Links::from_lists(&lists), &mut unwatched);
        assert_eq!(found.of_pages(), [0, 1, 1, 2, 3, 3, 3]);
        assert_eq!(found.sizes(), [1, 2, 1, 3]);
        assert_eq!(found.largest(), Some(3));
        assert_eq!(found.seeds(3), [4, 1, 0]);
        assert_eq!(found.seeds(64), [4, 1, 0, 3]);
    }

    #[test]
    fn no_pages_have_no_components() {
        let found = components(&Links::empty(), &mut unwatched);
        assert_eq!((found.count(), found.largest()), (0, None));
        assert_eq!(found.seeds(64), [0; 0]);
    }

    #[test]
    fn a_path_as_long_as_the_graph_needs_no_deep_stack() {
        let pages = 1_000_000;
        let mut pairs: Vec<(Page, Page)> = (1..pages).map(|page| (page - 1, page)).collect();
        let path = Links::from_pairs(pages, &pairs);
        assert_eq!(components(&path, &mut unwatched).count(), pages);
        assert!(reachable(&path, &[0]).iter().all(|&is_reached| is_reached));
        pairs.push((pages - 1, 0));
        let ring = Links::from_pairs(pages, &pairs);
        assert_eq!(components(&ring, &mut unwatched).sizes(), [pages]);
    }

    proptest! {
        #[test]
        fn pages_share_a_component_if_each_reaches_the_other(
            lists in (1_u32..25).prop_flat_map(|pages| {
                let list = proptest::collection::vec(0..pages, 0..3);
                proptest::collection::vec(list, pages as usize)
            }),
        ) {
            let links = Links::from_lists(&lists);
            let found = components(&links, &mut unwatched);
            let reached: Vec<Vec<bool>> = links.pages().map(|page| naive_reachable(&links, page)).collect();
            for one in links.pages() {
                prop_assert_eq!(&reachable(&links, &[one]), &reached[one as usize]);
                for other in links.pages() {
                    let (first, second) = (one as usize, other as usize);
                    let are_joined = reached[first][second] && reached[second][first];
                    prop_assert_eq!(found.component(one) == found.component(other), are_joined);
                }
            }
            prop_assert_eq!(found.sizes().iter().sum::<u32>(), links.page_count());
            let first_seen = found.of_pages().iter().scan(0, |next, &component| {
                let is_new = component == *next;
                *next += u32::from(is_new);
                Some(is_new || component < *next)
            });
            prop_assert!(first_seen.into_iter().all(|is_in_order| is_in_order));
        }
    }

    /// Adds what is one link away until nothing is added.
    fn naive_reachable(links: &Links, start: Page) -> Vec<bool> {
        let mut is_reached = vec![false; links.page_count() as usize];
        is_reached[start as usize] = true;
        for _ in links.pages() {
            for page in links
                .pages()
                .filter(|&page| is_reached[page as usize])
                .collect::<Vec<_>>()
            {
                for &target in links.successors(page) {
                    is_reached[target as usize] = true;
                }
            }
        }
        is_reached
    }
}
