//! A population of servers like that of Tamura and Kitsuregawa (2007), section 6: 3,212,253 servers with 585.2 known pages each, fetched in 0.845 s on average.
//!
//! Departures: the paper's servers are measured; ours have sizes from a power law with the same mean, fetch times from a log-normal distribution with
//! the same mean, and pages that change as those of its figure 3 do: every day to every few years.

use std::num::NonZeroU32;
use std::time::Duration;

use junkai_frontier::ServerKey;
use junkai_revisit::servers::Servers;
use junkai_revisit::{Draw, ServerReport, ServersConfig};

use super::ServersExperiment;

/// Known pages of a server, on average.
pub(super) const PAGES_MEAN: f64 = 585.2;
/// Seconds of a fetch, on average over servers.
pub(super) const FETCH_SECONDS_MEAN: f64 = 0.845;
/// Spread of their logarithm.
const FETCH_SPREAD: f64 = 0.8;
/// *S*/*C* of the paper: 3.2 million servers, 32,000 connections.
pub(super) const SERVERS_PER_VISIT: f64 = 100.0;

/// Sizes: a Pareto distribution of this exponent, cut off at the most pages of a server.
const SIZE_EXPONENT: f64 = 1.0;
const SIZE_MAX: f64 = 1e6;

/// Of larger servers, so many pages are drawn and stand for the others.
const DRAWN_MAX: u64 = 2000;

/// Intervals of pages: log-uniform between these, in days.
const INTERVAL_DAYS: (f64, f64) = (1.0, 400.0);

pub(super) fn draw(experiment: &ServersExperiment) -> Vec<ServerReport> {
    let visits_in_flight = f64::from(experiment.servers) / SERVERS_PER_VISIT;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of a u32"
    )]
    let visits_in_flight = NonZeroU32::new(visits_in_flight as u32);
    let config = ServersConfig {
        visits_in_flight: visits_in_flight.or(Some(NonZeroU32::MIN)),
        relief: Vec::new(),
        ..ServersConfig::default()
    };
    let mut servers = Servers::new(&config, experiment.servers.max(1));
    let least = least_size();
    for number in 0..experiment.servers {
        let chance = Draw::new(experiment.seed).another(number.into());
        fill(&mut servers, ServerKey::new(number), chance, least);
    }
    servers.reports().collect()
}

fn fill(servers: &mut Servers, server: ServerKey, chance: Draw, least: f64) {
    let size =
        (least * (1.0 - chance.another(0).uniform()).powf(-1.0 / SIZE_EXPONENT)).min(SIZE_MAX);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and a million"
    )]
    let pages = size.round().max(1.0) as u64;
    let fetch = FETCH_SECONDS_MEAN
        * (FETCH_SPREAD * normal(chance.another(1)) - FETCH_SPREAD * FETCH_SPREAD / 2.0).exp();
    servers.visited(server, Duration::from_secs_f64(fetch));
    let (shortest, longest) = INTERVAL_DAYS;
    let drawn = pages.min(DRAWN_MAX);
    let intervals: Vec<Duration> = (0..drawn)
        .map(|page| {
            let place = chance.another(2 + page).uniform();
            Duration::from_secs_f64(86_400.0 * shortest * (longest / shortest).powf(place))
        })
        .collect();
    for interval in intervals
        .iter()
        .cycle()
        .take(usize::try_from(pages).unwrap_or(usize::MAX))
    {
        servers.add(server, *interval);
    }
}

/// The least size of a Pareto distribution of exponent 1, cut off above, with the mean of the paper: *m*(1 + ln(*M*/*m*)) = mean.
fn least_size() -> f64 {
    let (mut low, mut high) = (1.0, PAGES_MEAN);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if middle * (1.0 + (SIZE_MAX / middle).ln()) < PAGES_MEAN {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Box and Muller, 1958.
fn normal(chance: Draw) -> f64 {
    let radius = (-2.0 * (1.0 - chance.another(0).uniform()).ln()).sqrt();
    radius * (std::f64::consts::TAU * chance.another(1).uniform()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_mean_of_the_seed() {
        let least = least_size();
        let mean = least * (1.0 + (SIZE_MAX / least).ln());
        assert!((mean - PAGES_MEAN).abs() < 1e-6);
    }
}
