//! The experiments of the papers, and ours against theirs: each takes graphs made ready, and gives an outcome.
//!
//! [`ring`] is Morimoto et al. (2011), [`in_degree`] Matsukubo and Hayashi (2003), [`beyond`] asks whether our policy is better than both at equal memory;
//! [`estimators`] is the first half of Tamura and Kitsuregawa (2007), how often pages change; [`revisit`] its policy against ours, [`servers`] what it asks of
//! servers; [`focus_sim`] is Kato et al. (2022), which sites hold what is wanted. Each
//! plans its crawls (`trials`), lets them run side by side, and writes down what came of them. What is kept of a crawl is
//! small, so that a graph of any size may be crawled a hundred times.
//!
//! **Invariant:** an outcome is a function of the graphs and the settings, byte for byte: neither threads nor time are in it.
//! Not here: reading graphs, and how the outcomes are shown (`report`).

pub mod beyond;
pub mod estimators;
pub mod focus_real;
pub mod focus_sim;
pub mod in_degree;
pub mod revisit;
pub mod ring;
pub mod servers;
pub mod time_queue;

mod estimate;
mod figures;
mod look;
mod trials;
mod words;

/// How far an experiment has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Visits that were simulated, or are known not to come.
    pub done: u64,
    /// Visits that there can be at most.
    pub total: u64,
}

/// Who is told of progress: from any thread, in no order.
pub type Watch<'a> = &'a (dyn Fn(Progress) + Sync);

#[cfg(test)]
mod tests;
