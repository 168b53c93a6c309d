//! The parts of the floor, each measured alone.
//!
//! Each part goes over the same few hundred pages again and again, so its own code and tables are warm: this is the least that it
//! costs. What HTTP costs is not here: it needs the web, and is measured as a process that only fetches.

use std::fs::File;
use std::hint::black_box;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::page::{self, Known, Page, Records};
use crate::cpu;
use crate::samples::Samples;

/// What is measured, in the order of [`Parts::costs`].
pub(super) const PARTS: [&str; 5] = [
    "links: lol_html",
    "URLs: url, xxh3, a hash set in memory",
    "digests of block and payload: sha1",
    "three records put together and compressed: libdeflate",
    "one write",
];

/// Pages that are gone over.
pub(super) const SAMPLE_PAGES: usize = 400;
/// How often.
const ROUNDS: u32 = 10;
/// URLs known at the begin, so that asking for one misses the caches as it would.
const KNOWN_BEFORE: u64 = 1_000_000;

/// What the parts cost, over several repetitions, in microseconds a page.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) costs: [Samples; PARTS.len()],
}

impl Parts {
    /// Takes in what a process that ran [`measure`] printed.
    pub(super) fn push(&mut self, line: &str) -> Result<()> {
        let said: Value = serde_json::from_str(line)?;
        for (at, samples) in self.costs.iter_mut().enumerate() {
            let cost = said["parts"][at].as_f64();
            samples.push(cost.with_context(|| format!("no part {at} in {line}"))?);
        }
        Ok(())
    }

    /// All parts together.
    pub(super) fn sum(&self) -> Samples {
        let mut costs = self.costs.iter();
        let first = costs.next().cloned().unwrap_or_default();
        costs.fold(first, |sum, cost| sum.plus(cost))
    }
}

/// Measures each part on `pages`, and tells the costs as [`Parts::push`] wants them.
pub(super) fn measure(pages: &[Page], mut file: File) -> Result<Value> {
    let mut known: Known = (0..KNOWN_BEFORE).map(crate::chance::mixed).collect();
    let mut records = Records::new()?;
    let mut costs = [Duration::ZERO; PARTS.len()];
    for _ in 0..ROUNDS {
        let (cost, references) =
            cpu::cost_of(|| pages.iter().map(page::references).collect::<Vec<_>>());
        costs[0] += cost;
        let urls = || {
            for (page, references) in pages.iter().zip(&references) {
                black_box(page::new_urls(page, references, &mut known));
            }
        };
        costs[1] += cpu::cost_of(urls).0;
        let (cost, digests) = cpu::cost_of(|| pages.iter().map(page::digests).collect::<Vec<_>>());
        costs[2] += cost;
        let mut groups = Vec::new();
        for (page, digests) in pages.iter().zip(&digests) {
            let (cost, made) = cpu::cost_of(|| records.make(page, digests));
            made?;
            costs[3] += cost;
            groups.push(records.group.clone());
        }
        let write = || {
            groups
                .iter()
                .try_for_each(|group| page::write(&mut file, group))
        };
        let (cost, written) = cpu::cost_of(write);
        written?;
        costs[4] += cost;
    }
    let visits = f64::from(ROUNDS) * pages.len() as f64;
    let costs = costs.map(|cost| cost.as_secs_f64() * 1e6 / visits);
    Ok(json!({ "pages": pages.len(), "parts": costs }))
}
