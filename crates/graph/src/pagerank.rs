//! `PageRank`: where a surfer is who follows links at random, and now and then begins anew at any page.
//!
//! Page, Brin, Motwani and Winograd, "The `PageRank` Citation Ranking: Bringing Order to the Web", 1999. By power iteration;
//! from a page without links the surfer goes to any page.
//! Departures: none. The result is the same, bit for bit, whatever the number of threads: each page's sum is taken in the
//! order of its sources, and sums over all pages are taken in chunks of fixed size, then from the first to the last.
//!
//! # Notation
//! *d*: `damping`; *n*: pages; *x*: `scores`; *D*: pages without links;
//! *x′(v)* = *d* (Σ over links *u* → *v* of *x(u)* / out-degree(*u*) + Σ over *D* of *x* / *n*) + (1 − *d*) / *n*.

use rayon::prelude::*;
use serde::Serialize;

use crate::progress::{Progress, Reporter, Stage};
use crate::{Links, Page};

/// When to stop, and how the surfer behaves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PageRankConfig {
    /// How probable it is that the surfer follows a link. Default 0.85.
    pub damping: f64,
    /// Ends when an iteration changes the scores by less than this, summed over all pages. Default 10⁻¹⁰.
    pub tolerance: f64,
    /// Ends at the latest after so many iterations. Default 500, of which the default tolerance needs 150 at most.
    pub iterations_max: u32,
}

impl Default for PageRankConfig {
    fn default() -> Self {
        Self {
            damping: 0.85,
            tolerance: 1e-10,
            iterations_max: 500,
        }
    }
}

impl PageRankConfig {
    /// Iterations that suffice: each one leaves at most `damping` of the change, which is 2 at most.
    fn iterations_expected(&self) -> u32 {
        let mut change = 2.0;
        let mut iterations = 0;
        while self.tolerance <= change && iterations < self.iterations_max {
            change *= self.damping;
            iterations += 1;
        }
        iterations
    }
}

/// The scores, and how they came about.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRank {
    /// For each page the probability that the surfer is there; their sum is 1.
    pub scores: Vec<f64>,
    /// Iterations made.
    pub iterations: u32,
    /// By how much the last iteration changed the scores, summed over all pages.
    pub residual: f64,
}

impl PageRank {
    /// The least number of pages that together hold each of these shares of the whole. Shares are ascending.
    #[must_use]
    pub fn pages_for_shares(&self, shares: &[f64]) -> Vec<u32> {
        debug_assert!(shares.is_sorted(), "shares are ascending");
        let mut scores = self.scores.clone();
        scores.par_sort_unstable_by(|one, other| other.total_cmp(one));
        let mut pages = Vec::with_capacity(shares.len());
        let (mut sum, mut count) = (0.0, 0);
        for &share in shares {
            while sum < share && (count as usize) < scores.len() {
                sum += scores[count as usize];
                count += 1;
            }
            pages.push(count);
        }
        pages
    }
}

/// Pages whose sums are taken together: fixed, so that the result does not depend on the number of threads.
const CHUNK_PAGES: usize = 1 << 13;

/// Computes `PageRank`.
///
/// Memory: that of the links once more (they are turned round), and 28 bytes a page.
///
/// # Panics
/// If the damping is not between 0 and 1 (1 excluded).
pub fn pagerank(
    links: &Links,
    config: &PageRankConfig,
    progress: &mut dyn FnMut(Progress),
) -> PageRank {
    assert!((0.0..1.0).contains(&config.damping), "0 ≤ damping < 1");
    let pages = links.page_count() as usize;
    let mut reporter = Reporter::new(
        progress,
        Stage::PageRank,
        u64::from(config.iterations_expected()),
    );
    let surfer = Surfer {
        sources: links.transposed(),
        out_degrees: links.pages().map(|page| links.out_degree(page)).collect(),
        damping: config.damping,
    };
    let mut result = PageRank {
        scores: vec![1.0 / pages as f64; pages],
        iterations: 0,
        residual: if pages == 0 { 0.0 } else { f64::INFINITY },
    };
    let mut next = vec![0.0; pages];
    let mut passed_on = vec![0.0; pages];
    while config.tolerance <= result.residual && result.iterations < config.iterations_max {
        result.residual = surfer.step(&result.scores, &mut passed_on, &mut next);
        std::mem::swap(&mut result.scores, &mut next);
        result.iterations += 1;
        reporter.at(u64::from(result.iterations));
    }
    reporter.finish();
    result
}

struct Surfer {
    sources: Links,
    out_degrees: Vec<u32>,
    damping: f64,
}

impl Surfer {
    /// One iteration. Returns the sum of all changes.
    fn step(&self, scores: &[f64], passed_on: &mut [f64], next: &mut [f64]) -> f64 {
        let pages = scores.len() as f64;
        let stranded = self.pass_on(scores, passed_on);
        let base = self.damping * (stranded / pages) + (1.0 - self.damping) / pages;
        let passed_on = &*passed_on;
        let changes: Vec<f64> = next
            .par_chunks_mut(CHUNK_PAGES)
            .enumerate()
            .map(|(chunk, next)| {
                let first = chunk * CHUNK_PAGES;
                let mut change = 0.0;
                for (place, next) in next.iter_mut().enumerate() {
                    let page = first + place;
                    let sources = self.sources.successors(as_page(page));
                    let sum: f64 = sources
                        .iter()
                        .map(|&source| passed_on[source as usize])
                        .sum();
                    *next = self.damping * sum + base;
                    change += (*next - scores[page]).abs();
                }
                change
            })
            .collect();
        changes.iter().sum()
    }

    /// What each page passes on over each of its links. Returns the sum of what pages without links have.
    fn pass_on(&self, scores: &[f64], passed_on: &mut [f64]) -> f64 {
        let stranded: Vec<f64> = passed_on
            .par_chunks_mut(CHUNK_PAGES)
            .zip(scores.par_chunks(CHUNK_PAGES))
            .zip(self.out_degrees.par_chunks(CHUNK_PAGES))
            .map(|((passed_on, scores), out_degrees)| {
                let mut stranded = 0.0;
                for ((passed_on, &score), &degree) in
                    passed_on.iter_mut().zip(scores).zip(out_degrees)
                {
                    if degree == 0 {
                        stranded += score;
                        *passed_on = 0.0;
                    } else {
                        *passed_on = score / f64::from(degree);
                    }
                }
                stranded
            })
            .collect();
        stranded.iter().sum()
    }
}

fn as_page(place: usize) -> Page {
    Page::try_from(place).unwrap_or(Page::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::progress::unwatched;

    /// Made with networkx 3: `pagerank(graph, alpha=0.85, tol=1e-15)`.
    #[test]
    fn another_implementation_gives_the_same_scores() {
        let lists = [
            vec![0],
            vec![1, 5],
            vec![4, 0, 9],
            vec![9, 1, 7, 13],
            vec![],
            vec![11, 5],
            vec![8, 3, 12, 6],
            vec![7, 3, 13, 9],
            vec![8],
            vec![],
            vec![2, 1, 0],
            vec![9],
            vec![4],
            vec![1, 3],
        ];
        let expected = [
            0.215_045_167_175_225_4,
            0.090_084_481_386_420_08,
            0.025_135_149_410_093_614,
            0.049_187_516_374_799_6,
            0.047_847_718_093_184_86,
            0.100_646_496_171_118_79,
            0.024_870_896_138_620_778,
            0.038_143_718_017_535_105,
            0.165_805_974_257_456_75,
            0.098_271_846_528_335_4,
            0.019_585_830_709_163_827,
            0.062_360_591_581_889_87,
            0.024_870_896_138_620_778,
            0.038_143_718_017_535_105,
        ];
        let config = PageRankConfig {
            tolerance: 1e-15,
            ..PageRankConfig::default()
        };
        let result = pagerank(&Links::from_lists(&lists), &config, &mut unwatched);
        for (page, (score, expected)) in result.scores.iter().zip(expected).enumerate() {
            assert!((score - expected).abs() < 1e-13, "page {page}: {score}");
        }
    }

    /// Solves the equation of the module's notation by Gaussian elimination.
    fn dense(links: &Links, damping: f64) -> Vec<f64> {
        let pages = links.page_count() as usize;
        let mut rows = vec![vec![0.0; pages + 1]; pages];
        for (page, row) in rows.iter_mut().enumerate() {
            row[page] += 1.0;
            row[pages] = (1.0 - damping) / pages as f64;
        }
        for source in links.pages() {
            let targets = links.successors(source);
            for row in &mut rows {
                if targets.is_empty() {
                    row[source as usize] -= damping / pages as f64;
                }
            }
            for &target in targets {
                rows[target as usize][source as usize] -= damping / targets.len() as f64;
            }
        }
        for column in 0..pages {
            let pivot = (column..pages)
                .max_by(|&one, &other| {
                    rows[one][column]
                        .abs()
                        .total_cmp(&rows[other][column].abs())
                })
                .unwrap();
            rows.swap(column, pivot);
            let pivot = rows[column].clone();
            for (place, row) in rows.iter_mut().enumerate() {
                if place != column {
                    let factor = row[column] / pivot[column];
                    row.iter_mut()
                        .zip(&pivot)
                        .for_each(|(cell, pivot)| *cell -= factor * pivot);
                }
            }
        }
        rows.iter()
            .enumerate()
            .map(|(page, row)| row[pages] / row[page])
            .collect()
    }

    #[test]
    fn no_pages_have_no_scores() {
        let result = pagerank(&Links::empty(), &PageRankConfig::default(), &mut unwatched);
        assert_eq!((result.scores.len(), result.iterations), (0, 0));
        assert_eq!(result.pages_for_shares(&[0.2, 0.8]), [0, 0]);
    }

    #[test]
    fn iterations_are_bounded() {
        let links = Links::from_lists(&[vec![1], vec![0], vec![0]]);
        let config = PageRankConfig {
            iterations_max: 3,
            ..PageRankConfig::default()
        };
        let result = pagerank(&links, &config, &mut unwatched);
        assert_eq!(result.iterations, 3);
        assert!(config.tolerance < result.residual && result.residual < 1.0);
        assert!(PageRankConfig::default().iterations_expected() <= 150);
    }

    #[test]
    fn shares_are_held_by_the_foremost_pages() {
        let rank = PageRank {
            scores: vec![0.1, 0.5, 0.15, 0.25],
            iterations: 1,
            residual: 0.0,
        };
        assert_eq!(
            rank.pages_for_shares(&[0.2, 0.5, 0.6, 0.9, 1.0]),
            [1, 1, 2, 3, 4]
        );
    }

    #[test]
    fn the_result_is_the_same_on_any_number_of_threads() {
        let pages = 50_000_u32;
        let pairs: Vec<(Page, Page)> = (0..400_000_u32)
            .map(|link| {
                (
                    link.wrapping_mul(2_654_435_761) >> 8,
                    link.wrapping_mul(link | 1) >> 7,
                )
            })
            .map(|(source, target)| (source % (pages - 5_000), target % pages))
            .collect();
        let links = Links::from_pairs(pages, &pairs);
        let results: Vec<PageRank> = [1, 2, 5]
            .into_iter()
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                pool.install(|| pagerank(&links, &PageRankConfig::default(), &mut |_| {}))
            })
            .collect();
        assert_eq!(results[0], results[1]);
        assert_eq!(results[0], results[2]);
        let sum: f64 = results[0].scores.iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    }

    proptest! {
        #[test]
        fn a_direct_solution_gives_the_same_scores(
            lists in (1_u32..30).prop_flat_map(|pages| {
                let list = proptest::collection::vec(0..pages, 0..5);
                proptest::collection::vec(list, pages as usize)
            }),
            damping in 0.0_f64..0.95,
        ) {
            let links = Links::from_lists(&lists);
            let config = PageRankConfig { damping, tolerance: 1e-13, iterations_max: 2_000 };
            let result = pagerank(&links, &config, &mut unwatched);
            for (score, expected) in result.scores.iter().zip(dense(&links, damping)) {
                prop_assert!((score - expected).abs() < 1e-11, "{} {}", score, expected);
            }
        }
    }
}
