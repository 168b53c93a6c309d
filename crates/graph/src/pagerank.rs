//! PageRank: where a surfer is who follows links at random, and now and then begins anew at any page.
//!
//! Page, Brin, Motwani and Winograd, "The PageRank Citation Ranking: Bringing Order to the Web", 1999. By power iteration;
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

/// Computes PageRank.
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
