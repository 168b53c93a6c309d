//! The cost of one choice: to name the next site and to take in its answer, in CPU time, whatever the policy learns meanwhile included.
//!
//! Every site was fetched once before the clock starts. What a page says is drawn by lot.

use std::num::NonZeroUsize;

use junkai_focus::explore::{Explorer, Policy, Settings, SiteNumber};

use crate::chance::mixed;
use crate::cpu;
use crate::report::{Cell, Limit, Report, Table};
use crate::samples::{Samples, short};

/// The policies that are measured: the paper's, the best of the literature, and ours.
const POLICIES: [Policy; 3] = [Policy::Delta, Policy::OptimisticGradient, Policy::Foresight];
/// By how much a choice may cost more with a thousand times the sites: twice as many levels of the tree, in slower memory.
const RISE_MAX: f64 = 4.0;

/// What `choose` takes.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Arguments {
    /// How many sites are explored.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "1000,10000,100000,1000000"
    )]
    sites: Vec<u32>,
    /// Choices that are measured at each size.
    #[arg(long, default_value = "100000")]
    choices: u32,
}

/// Measures each policy at each size; sizes and policies take turns.
pub(crate) fn run(report: &mut Report, arguments: &Arguments, repeat: NonZeroUsize) {
    let (sizes, choices) = (arguments.sites.as_slice(), arguments.choices);
    let mut costs = vec![[const { Vec::new() }; POLICIES.len()]; sizes.len()];
    for repetition in 0..repeat.get() {
        println!("repetition {}", repetition + 1);
        for (size, costs) in sizes.iter().zip(&mut costs) {
            for (policy, costs) in POLICIES.into_iter().zip(costs.iter_mut()) {
                costs.push(nanoseconds(policy, *size, choices));
            }
        }
    }
    let costs: Vec<[Samples; POLICIES.len()]> = costs
        .into_iter()
        .map(|of_size| of_size.map(Samples::from_iter))
        .collect();
    let mut table = Table::new(
        "choice",
        "one choice",
        [
            "sites",
            "delta ns",
            "optimistic-gradient ns",
            "foresight ns",
        ],
    );
    for (size, costs) in sizes.iter().zip(&costs) {
        table.row(short(f64::from(*size)), costs.clone().map(Cell::from));
    }
    report.table(table);
    if let ([first, .., last], [fewest, .., most]) = (costs.as_slice(), sizes) {
        for (place, policy) in POLICIES.into_iter().enumerate() {
            let what = format!(
                "{policy}: cost of a choice among {} sites, × that among {}",
                short(f64::from(*most)),
                short(f64::from(*fewest))
            );
            report.target(
                what,
                last[place].ratio_to(&first[place]).median(),
                Limit::AtMost(RISE_MAX),
            );
        }
    }
}

/// What a choice costs.
fn nanoseconds(policy: Policy, sites: u32, choices: u32) -> f64 {
    let mut explorer = Explorer::new(policy, Settings::default());
    let mut drawn = 0_u64;
    let mut page = |site: SiteNumber| {
        drawn += 1;
        let about = f64::from(site.0 % 101) / 101.0;
        0.7 * about + 0.3 * (mixed(drawn) >> 11) as f64 / (1_u64 << 53) as f64
    };
    for _ in 0..sites {
        let site = explorer.add_site();
        explorer.observe(site, page(site));
    }
    let (time, ()) = cpu::cost_of(|| {
        for _ in 0..choices {
            if let Some(site) = explorer.next(&mut || 0.5) {
                explorer.observe(site, page(site));
            }
        }
    });
    time.as_secs_f64() * 1e9 / f64::from(choices.max(1))
}
