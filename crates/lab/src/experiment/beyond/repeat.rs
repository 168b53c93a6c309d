//! The comparison from several sets of starts: a single crawl is chaotic, so what is said comes from many.
//!
//! One start more or less, or a hundredth more memory, moves the share of a crawl by as much as policies differ. So each set
//! of starts is half of the first pages of the 128 largest strongly connected components, drawn and put in order by chance,
//! and all policies crawl from it: margins are paired. Ours get the memory that the ring of the paper took from the same set.
//!
//! Of the papers' policies the best one is taken anew in each set and at each mark, which favours them.

use junkai_graph::{Page, reachable};
use junkai_simulation::crawl::{self, simulate};
use junkai_simulation::policy::Policy;
use junkai_simulation::subject::Subject;
use junkai_simulation::value::Value;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Ours, Results};
use crate::experiment::trials::{MARKS, Meter, TIE};

/// The components that starts are drawn from: the largest ones.
pub(super) const COMPONENTS: usize = 128;

/// Sets that must have come to a mark before anything is said of it.
const SETS_MIN: usize = 2;

/// What is repeated on each graph.
#[derive(Clone, Debug)]
pub(super) struct Plan<'a> {
    pub(super) seed: u64,
    pub(super) sets: usize,
    /// The policies of the papers.
    pub(super) published: &'a [Policy],
    /// For each graph, the rings whose memory ours get.
    pub(super) rings: Vec<Vec<Policy>>,
}

impl Plan<'_> {
    /// Crawls from each set on each graph, several sets at a time. The results are by graph, then by set.
    pub(super) fn run(&self, subjects: &[Subject], meter: &Meter<'_>) -> Vec<Vec<SetResults>> {
        let mut jobs: Vec<(usize, usize)> = (0..subjects.len())
            .flat_map(|graph| (0..self.sets).map(move |set| (graph, set)))
            .collect();
        jobs.sort_by_key(|(graph, _)| std::cmp::Reverse(subjects[*graph].value.reachable()));
        let done: Vec<SetResults> = jobs
            .par_iter()
            .with_max_len(1)
            .map(|(graph, set)| self.crawl_set(&subjects[*graph], &self.rings[*graph], *set, meter))
            .collect();
        let mut results = vec![Vec::new(); subjects.len()];
        for ((graph, _), set) in jobs.into_iter().zip(done) {
            results[graph].push(set);
        }
        results
    }

    fn crawl_set(
        &self,
        subject: &Subject,
        rings: &[Policy],
        set: usize,
        meter: &Meter<'_>,
    ) -> SetResults {
        let starts = drawn(subject, self.seed, set);
        let value = Value::of_reachable(&subject.pagerank, &reachable(&subject.web.links, &starts));
        let crawl = |policy: &Policy, pages_max: u32| {
            let trial = crawl::Trial {
                web: &subject.web,
                seeds: &starts,
                policy,
                pages_max,
                latencies: &[],
            };
            let run = simulate(&trial, &value, &mut |_| {});
            meter.counter().at(u64::from(subject.value.reachable()));
            let cumulated = value.cumulated(&run.order);
            Reached {
                stored_max: run.stored_max(),
                share_at: MARKS.map(|mark| value.share_at(&cumulated, mark)),
            }
        };
        let published: Vec<Reached> = self
            .published
            .iter()
            .map(|policy| crawl(policy, u32::MAX))
            .collect();
        let stored_by = |ring: &Policy| {
            let place = self.published.iter().position(|policy| policy == ring);
            place.map_or(0, |place| published[place].stored_max)
        };
        // After the last mark nothing more is asked.
        let last = MARKS.into_iter().fold(0.0, f64::max);
        let pages_max = u32::try_from(value.visits_at(last)).unwrap_or(u32::MAX);
        let ours = rings.iter().map(|ring| {
            let memory = stored_by(ring);
            InMemory {
                memory,
                ours: Ours::BEST.map(|ours| crawl(&ours.within(memory), pages_max)),
            }
        });
        SetResults {
            ours: ours.collect(),
            published,
        }
    }
}

/// Half of the first pages of the largest components, in an order of their own. Chance is a hash of the seed, the set and the
/// page.
fn drawn(subject: &Subject, seed: u64, set: usize) -> Vec<Page> {
    let mut starts = subject.components.seeds(COMPONENTS);
    let chance = xxh3_64_with_seed(&(set as u64).to_le_bytes(), seed);
    starts.sort_by_cached_key(|page| (xxh3_64_with_seed(&page.to_le_bytes(), chance), *page));
    starts.truncate(starts.len().div_ceil(2));
    starts
}

/// What came of the crawls from one set of starts.
#[derive(Clone, Debug)]
pub(super) struct SetResults {
    /// Of the papers' policies, in their order.
    published: Vec<Reached>,
    /// Of ours, for each ring whose memory they got.
    ours: Vec<InMemory>,
}

#[derive(Clone, Debug)]
struct InMemory {
    memory: u32,
    /// In the order of [`Ours::BEST`].
    ours: [Reached; Ours::BEST.len()],
}

/// What is kept of a crawl.
#[derive(Clone, Copy, Debug)]
struct Reached {
    stored_max: u32,
    share_at: [Option<f64>; MARKS.len()],
}

impl SetResults {
    /// How far ahead of the best policy of the papers that fits one of ours is.
    fn margin(&self, place: Place) -> Option<f64> {
        let budget = &self.ours[place.budget];
        let best = self
            .published
            .iter()
            .filter(|reached| reached.stored_max <= budget.memory)
            .filter_map(|reached| reached.share_at[place.mark])
            .reduce(f64::max)?;
        Some(budget.ours[place.ours].share_at[place.mark]? - best)
    }
}

/// One comparison on a graph: by their places, the memory, the mark, and which of ours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) budget: usize,
    pub(super) mark: usize,
    pub(super) ours: usize,
}

/// Several measurements of the same, by mean and spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) count: usize,
    pub(super) mean: f64,
    /// The standard deviation of one.
    pub(super) deviation: f64,
}

impl Sample {
    /// None of fewer values than say anything of their spread.
    pub(super) fn new(values: &[f64]) -> Option<Sample> {
        if values.len() < SETS_MIN {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Sample {
            count: values.len(),
            mean,
            deviation: (squares / (count - 1.0)).sqrt(),
        })
    }

    /// The standard error of the mean.
    pub(super) fn error(&self) -> f64 {
        self.deviation / (self.count as f64).sqrt()
    }
}

/// How one of ours stands against the best of the papers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// By more than two standard errors.
    Ahead,
    /// Within two standard errors, or a tie.
    Level,
    /// By more than two standard errors.
    Behind,
}

impl Standing {
    pub(super) fn name(self) -> &'static str {
        match self {
            Standing::Ahead => "ahead",
            Standing::Level => "level",
            Standing::Behind => "behind",
        }
    }
}

/// A comparison over all sets.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    pub(super) graph: usize,
    pub(super) place: Place,
    pub(super) margin: Sample,
    /// Sets in which ours was level or ahead.
    pub(super) not_behind: usize,
    /// URLs in memory, on average.
    pub(super) memory: f64,
}

impl Comparison {
    pub(super) fn standing(&self) -> Standing {
        let level = (2.0 * self.margin.error()).max(TIE);
        if level < self.margin.mean {
            Standing::Ahead
        } else if self.margin.mean < -level {
            Standing::Behind
        } else {
            Standing::Level
        }
    }
}

impl Results<'_> {
    /// All comparisons of one of [`Ours::BEST`] on a graph that at least half of the sets came to.
    pub(super) fn comparisons(&self, graph: usize, ours: usize) -> Vec<Comparison> {
        let mut comparisons = Vec::new();
        for budget in 0..self.repeated_rings[graph].len() {
            for mark in 0..MARKS.len() {
                let place = Place { budget, mark, ours };
                let sets = &self.sets[graph];
                let margins: Vec<f64> = sets.iter().filter_map(|set| set.margin(place)).collect();
                // The few sets of many that came so far are not like the others.
                if 2 * margins.len() < sets.len() {
                    continue;
                }
                comparisons.extend(Sample::new(&margins).map(|margin| Comparison {
                    graph,
                    place,
                    margin,
                    not_behind: margins.iter().filter(|margin| -TIE < **margin).count(),
                    memory: self.mean_memory(graph, budget),
                }));
            }
        }
        comparisons
    }

    /// URLs that ours may store, on average over the sets.
    pub(super) fn mean_memory(&self, graph: usize, budget: usize) -> f64 {
        let memories = self.sets[graph]
            .iter()
            .map(|set| f64::from(set.ours[budget].memory));
        memories.sum::<f64>() / self.sets[graph].len().max(1) as f64
    }

    /// The share of one of ours at a mark.
    pub(super) fn our_share(&self, graph: usize, place: Place) -> Option<Sample> {
        let shares: Vec<f64> = self.sets[graph]
            .iter()
            .filter_map(|set| set.ours[place.budget].ours[place.ours].share_at[place.mark])
            .collect();
        Sample::new(&shares)
    }

    /// The share of a policy of the papers at a mark, and the URLs that it stored on average.
    pub(super) fn published_share(
        &self,
        graph: usize,
        policy: usize,
        mark: usize,
    ) -> Option<(f64, Sample)> {
        let reached: Vec<(f64, f64)> = self.sets[graph]
            .iter()
            .map(|set| &set.published[policy])
            .filter_map(|reached| Some((f64::from(reached.stored_max), reached.share_at[mark]?)))
            .collect();
        let shares: Vec<f64> = reached.iter().map(|(_, share)| *share).collect();
        let stored = reached.iter().map(|(stored, _)| stored).sum::<f64>();
        Some((stored / reached.len().max(1) as f64, Sample::new(&shares)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(margins: &[f64]) -> Comparison {
        Comparison {
            graph: 0,
            place: Place {
                budget: 0,
                mark: 0,
                ours: 0,
            },
            margin: Sample::new(margins).unwrap(),
            not_behind: 0,
            memory: 1.0,
        }
    }

    #[test]
    fn a_sample_has_the_deviation_of_the_textbook() {
        let sample = Sample::new(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert!((sample.mean - 5.0).abs() < 1e-12);
        assert!((sample.deviation - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert!((sample.error() - (4.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(Sample::new(&[1.0]), None);
    }

    #[test]
    fn what_varies_more_than_it_differs_is_level() {
        assert_eq!(comparison(&[0.1, -0.1, 0.12]).standing(), Standing::Level);
        assert_eq!(comparison(&[0.1, 0.11, 0.12]).standing(), Standing::Ahead);
        assert_eq!(comparison(&[-0.1, -0.11]).standing(), Standing::Behind);
        assert_eq!(comparison(&[0.0, 0.0]).standing(), Standing::Level);
        assert_eq!(comparison(&[-1e-12, -1e-12]).standing(), Standing::Level);
    }
}
