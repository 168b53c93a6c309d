//! Thompson sampling: every site draws from what may be its mean, and the highest draw wins.
//!
//! Thompson, "On the Likelihood that One Unknown Probability Exceeds Another", Biometrika 25, 1933; with Beta posteriors of one more than the
//! sums of *p* and 1 − *p*, a page's probability counting as a fraction of a yes. Gamma draws by Marsaglia and Tsang, "A Simple Method
//! for Generating Gamma Variables", ACM TOMS 26(3), 2000.
//!
//! It looks for the best site, not for the line between good and bad; here to be compared with. Each choice draws for every site: O(*n*).
//!
//! # Departures
//! None.

use super::policy::{Rule, Sites};
use super::{Chance, Evidence};

/// Thompson sampling on the sites' means.
#[derive(Debug)]
pub(crate) struct Thompson;

impl Rule for Thompson {
    fn worth(&self, evidence: &Evidence) -> f64 {
        evidence.mean().unwrap_or(1.0)
    }

    fn choose(&self, sites: &dyn Sites, chance: Chance<'_>) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        for site in (0..sites.count()).filter_map(|place| sites.at(place)) {
            let evidence = sites.evidence(site);
            let yes = gamma(1.0 + evidence.sum(), chance);
            let no = gamma(
                1.0 + (f64::from(evidence.fetches()) - evidence.sum()).max(0.0),
                chance,
            );
            let draw = yes / (yes + no);
            if best.is_none_or(|(highest, _)| highest < draw) {
                best = Some((draw, site));
            }
        }
        best.map(|(_, site)| site)
    }
}

/// A draw from the Gamma distribution of this shape, which is at least 1.
fn gamma(shape: f64, chance: Chance<'_>) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(chance);
        let v = 1.0 + c * x;
        if v <= 0.0 {
            continue;
        }
        let v = v * v * v;
        let lot = 1.0 - chance();
        // Mostly decided without a logarithm.
        let is_taken = lot < 1.0 - 0.0331 * x * x * x * x
            || libm::log(lot) < 0.5 * x * x + d * (1.0 - v + libm::log(v));
        if is_taken {
            return d * v;
        }
    }
}

/// A draw from the standard normal distribution, by Marsaglia's polar method.
fn normal(chance: Chance<'_>) -> f64 {
    loop {
        let (one, other) = (2.0 * chance() - 1.0, 2.0 * chance() - 1.0);
        let square = one * one + other * other;
        if 0.0 < square && square < 1.0 {
            return one * (-2.0 * libm::log(square) / square).sqrt();
        }
    }
}
