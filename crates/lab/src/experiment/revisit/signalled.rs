//! What signals bring, by how true they are.

use rayon::prelude::*;

use super::RevisitExperiment;
use super::mean::Mean;
use crate::revisit::signals::{Hearing, Signalling, freshness};

/// Freshness where a share of pages is signalled with this recall and precision.
pub(super) struct Heard {
    pub(super) signalling: Signalling,
    pub(super) deaf: Mean,
    pub(super) naive: Mean,
    pub(super) measured: Mean,
    /// How far measured hearing is ahead of the better of the others, draw by draw.
    pub(super) margin: Mean,
}

const PAGES: usize = 300;
const DAYS: f64 = 150.0;
const VISITS_PER_CHANGE: f64 = 0.3;

pub(super) fn run(experiment: &RevisitExperiment) -> Vec<Heard> {
    let mut grid = Vec::new();
    for signalled in [0.3, 1.0] {
        for recall in [0.9, 0.7, 0.5] {
            grid.extend([0.9, 0.5, 0.2].map(|precision| Signalling {
                pages: PAGES,
                visits_per_change: VISITS_PER_CHANGE,
                days: DAYS,
                signalled,
                recall,
                precision,
                seed: experiment.seed,
            }));
        }
    }
    grid.into_par_iter()
        .map(|signalling| heard(signalling, experiment.repetitions))
        .collect()
}

fn heard(signalling: Signalling, repetitions: u32) -> Heard {
    let draws = |hearing| -> Vec<f64> {
        let seeds = (0..u64::from(repetitions)).map(|one| signalling.seed + one);
        seeds
            .map(|seed| freshness(&Signalling { seed, ..signalling }, hearing))
            .collect()
    };
    let (deaf, naive, measured) = (
        draws(Hearing::Deaf),
        draws(Hearing::Naive),
        draws(Hearing::Measured),
    );
    let mean = |values: &[f64]| -> Mean { values.iter().copied().collect() };
    let best = if mean(&deaf).mean < mean(&naive).mean {
        &naive
    } else {
        &deaf
    };
    let margin = measured.iter().zip(best).map(|(ours, best)| ours - best);
    Heard {
        signalling,
        margin: margin.collect(),
        deaf: mean(&deaf),
        naive: mean(&naive),
        measured: mean(&measured),
    }
}
