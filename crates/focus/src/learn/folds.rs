//! Deals sites into folds: groups of sites stay together, and both classes are spread evenly.

use junkai_chance::Chance;

use super::corpus::{Corpus, Page};
use super::training::TrainSettings;

/// Which fold each group of sites is in: both classes are dealt out evenly.
pub(super) struct Folds {
    pub(super) count: usize,
    pub(super) of_site: Vec<usize>,
}

impl Folds {
    pub(super) fn deal(corpus: &Corpus, settings: &TrainSettings) -> Self {
        let sizes = group_sizes(corpus);
        let count = settings.folds.min(scarcest(&sizes));
        let mut groups: Vec<usize> = (0..sizes.len()).collect();
        Chance::new(settings.seed).shuffle(&mut groups);
        // The largest first: they fit nowhere later.
        groups.sort_by_key(|group| std::cmp::Reverse(sizes[*group]));
        let mut filled = vec![[0; 2]; count];
        let mut of_group = vec![0; sizes.len()];
        for group in groups {
            let [wanted, other] = sizes[group];
            // Of two that are as full, the first.
            let emptiest = (0..count).min_by_key(|fold| match wanted {
                0 => (filled[*fold][1], filled[*fold][0]),
                _ => (filled[*fold][0], filled[*fold][1]),
            });
            let fold = emptiest.unwrap_or_default();
            filled[fold][0] += wanted;
            filled[fold][1] += other;
            of_group[group] = fold;
        }
        let of_site = corpus
            .sites
            .iter()
            .map(|site| of_group[site.group as usize]);
        Self {
            count,
            of_site: of_site.collect(),
        }
    }

    pub(super) fn of(&self, page: &Page) -> usize {
        self.of_site[page.site as usize]
    }
}

/// How many sites of each group hold what is wanted, and how many do not.
pub(super) fn group_sizes(corpus: &Corpus) -> Vec<[usize; 2]> {
    let mut sizes = vec![[0; 2]; corpus.group_count()];
    for site in &corpus.sites {
        sizes[site.group as usize][usize::from(!site.wanted)] += 1;
    }
    sizes
}

/// How many groups have sites of the class that fewest have.
pub(super) fn scarcest(sizes: &[[usize; 2]]) -> usize {
    let with = |class: usize| sizes.iter().filter(|size| 0 < size[class]).count();
    with(0).min(with(1))
}
