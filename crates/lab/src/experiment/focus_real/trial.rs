//! Every way to collect, on one site or on several of one template.

use rayon::prelude::*;

use super::contestant::Contestant;
use super::generated::{self, Names};
use super::harvest::{Harvest, knowing};
use super::site::Site;
use super::{FocusRealExperiment, Meter};

/// What came of it.
pub(super) struct Trial {
    pub(super) name: String,
    pub(super) files: u32,
    pub(super) pages: u32,
    /// By contestant, one for each repetition.
    harvests: Vec<Vec<Harvest>>,
    /// What an order would need that knows all links; one for each repetition.
    pub(super) knowing: Vec<Harvest>,
}

impl Trial {
    /// One site, as often as there are repetitions.
    pub(super) fn run(site: &Site, experiment: &FocusRealExperiment, meter: &Meter<'_>) -> Trial {
        let knowing = knowing(site);
        Trial {
            name: site.name.clone(),
            files: site.file_count(),
            pages: site.page_count(),
            harvests: Contestant::ALL
                .map(|contestant| {
                    let seeds = experiment.seeds().into_par_iter();
                    seeds
                        .map(|seed| meter.harvest(site, contestant, seed))
                        .collect()
                })
                .into(),
            knowing: vec![knowing; experiment.repetitions as usize],
        }
    }

    /// A site for each repetition.
    pub(super) fn of_template(
        template: u32,
        experiment: &FocusRealExperiment,
        meter: &Meter<'_>,
    ) -> Trial {
        let site = |seed| generated::site(template, experiment.pages, seed, Names::Usual);
        let sites: Vec<(u64, Site)> = experiment.seeds().map(|seed| (seed, site(seed))).collect();
        let sum = |count: fn(&Site) -> u32| sites.iter().map(|(_, site)| count(site)).sum::<u32>();
        let mean = |count| sum(count) / experiment.repetitions.max(1);
        let sites = &sites;
        Trial {
            name: generated::name(template),
            files: mean(Site::file_count),
            pages: mean(Site::page_count),
            harvests: Contestant::ALL
                .map(|contestant| {
                    let sites = sites.par_iter();
                    sites
                        .map(|(seed, site)| meter.harvest(site, contestant, *seed))
                        .collect()
                })
                .into(),
            knowing: sites.par_iter().map(|(_, site)| knowing(site)).collect(),
        }
    }

    pub(super) fn of(&self, contestant: Contestant) -> &[Harvest] {
        let place = Contestant::ALL
            .iter()
            .position(|other| *other == contestant);
        place.map_or(&[], |place| &self.harvests[place])
    }
}
