//! Knowledge gradients: a fetch is worth what it is expected, or hoped, to make surer.
//!
//! KG: Frazier, Powell and Dayanik, "A Knowledge-Gradient Policy for Sequential Information Collection", SIAM Journal on Control and
//! Optimization 47(5), 2008: the expected gain of one fetch more. OKG: Chen, Lin and Zhou, "Optimistic Knowledge Gradient Policy for Optimal
//! Budget Allocation in Crowdsourcing", ICML 2013, section 4: the gain of the better of the two possible answers, which never starves a
//! site as KG may.
//!
//! # Notation
//! *n*: `fetches`; *θ̂*: `mean`; *V*: variance of one probability; *a*, *b*: parameters of the Beta posterior, one more than the sums of
//! *p* and of 1 − *p*; *h*: the probability that the likelier verdict is right.
//!
//! # Departures
//! A page's probability counts as a fraction of a yes and a fraction of a no. In the two rules with a normal posterior *V* is the sample
//! variance with one more sample of variance *θ̂*(1 − *θ̂*), which is defined from the first fetch on.

use super::Evidence;
use super::beta::upper_half_of_beta;
use super::delta::{expected_crossing, upper_tail};
use super::policy::Rule;

/// The paper's *δ* with the spread that one more fetch really gives the mean, √(*V*/(*n*(*n* + 1))).
#[derive(Debug)]
pub(crate) struct Gradient {
    pub(crate) threshold: f64,
}

impl Rule for Gradient {
    fn is_gain(&self) -> bool {
        true
    }

    fn worth(&self, evidence: &Evidence) -> f64 {
        let seen = Normal::of(evidence);
        let spread = (seen.variance / (seen.fetches * (seen.fetches + 1.0))).sqrt();
        2.0 * expected_crossing((seen.mean - self.threshold).abs(), spread)
    }
}

/// OKG on a Beta posterior. Its threshold is ½.
#[derive(Debug)]
pub(crate) struct Optimistic;

impl Rule for Optimistic {
    fn is_gain(&self) -> bool {
        true
    }

    fn worth(&self, evidence: &Evidence) -> f64 {
        let yes = 1.0 + evidence.sum();
        let no = 1.0 + (f64::from(evidence.fetches()) - evidence.sum()).max(0.0);
        let sureness = |yes: f64, no: f64| {
            let probability = upper_half_of_beta(yes, no);
            probability.max(1.0 - probability)
        };
        sureness(yes + 1.0, no).max(sureness(yes, no + 1.0)) - sureness(yes, no)
    }
}

/// OKG on a normal posterior: the better of a next probability one standard deviation up or down.
#[derive(Debug)]
pub(crate) struct OptimisticNormal {
    pub(crate) threshold: f64,
}

impl Rule for OptimisticNormal {
    fn is_gain(&self) -> bool {
        true
    }

    fn worth(&self, evidence: &Evidence) -> f64 {
        let seen = Normal::of(evidence);
        let deviation = seen.variance.sqrt();
        if deviation <= 0.0 {
            return 0.0;
        }
        let sureness = |mean: f64, fetches: f64| {
            1.0 - upper_tail((mean - self.threshold).abs() * fetches.sqrt() / deviation)
        };
        let after = seen.fetches + 1.0;
        let step = deviation / after;
        let best = sureness(seen.mean + step, after).max(sureness(seen.mean - step, after));
        best - sureness(seen.mean, seen.fetches)
    }
}

/// A site's fetches, mean, and variance of one probability, the last with one sample more of variance *θ̂*(1 − *θ̂*).
struct Normal {
    fetches: f64,
    mean: f64,
    variance: f64,
}

impl Normal {
    fn of(evidence: &Evidence) -> Normal {
        let fetches = f64::from(evidence.fetches().max(1));
        let mean = evidence.mean().unwrap_or(0.5);
        let squares = evidence.variance().unwrap_or(0.0) * (fetches - 1.0);
        Normal {
            fetches,
            mean,
            variance: (squares + mean * (1.0 - mean)) / fetches,
        }
    }
}
