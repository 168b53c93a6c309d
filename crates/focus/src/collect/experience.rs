//! What collecting from sites taught, carried to the next site.
//!
//! Sites are made with the same few programmes, and what links to data stands in like places in their pages. Each cluster of tag paths that
//! was tried leaves its centroid and what it brought; on a new site a cluster near it begins with that instead of with nothing. The
//! model of addresses goes along whole.
//!
//! Bounds: [`PLACES_MAX`] centroids; the least tried one makes room.

use serde::{Deserialize, Serialize};

use super::address::AddressModel;
use super::arms::{ALIKE_MIN, Cluster};
use super::collector::Collector;
use super::tag_path::PathVector;

const PLACES_MAX: usize = 512;
/// What other sites taught counts for at most so many pages of a new one.
const PAGES_MAX: f64 = 4.0;
/// What a site taught counts less by this factor when another has been learned from.
const KEPT: f64 = 0.8;

/// What was learned, to be saved and read back with serde.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Experience {
    places: Vec<Place>,
    pub(super) addresses: AddressModel,
    sites: u32,
}

/// Where links stood, and what they brought.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Place {
    centroid: PathVector,
    pages: f64,
    files: f64,
    /// What following such a link was worth with all that it opened.
    outlook: f64,
}

/// What is thought of a cluster of which nothing has been seen yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Prior {
    /// How many pages it counts for.
    pub(super) pages: f64,
    pub(super) files_per_page: f64,
    pub(super) outlook: f64,
}

impl Experience {
    /// How many sites it is from.
    #[must_use]
    pub fn sites(&self) -> u32 {
        self.sites
    }

    /// Learns from a site that was collected from.
    pub fn learn(&mut self, collector: &Collector) {
        for place in &mut self.places {
            place.pages *= KEPT;
            place.files *= KEPT;
        }
        for (cluster, outlook) in collector.clusters() {
            if 0.0 < cluster.pages {
                self.add(cluster, outlook);
            }
        }
        self.addresses = collector.addresses().clone();
        self.sites = self.sites.saturating_add(1);
    }

    fn add(&mut self, cluster: &Cluster, outlook: f64) {
        if let Some((index, _)) = self.nearest(&cluster.centroid) {
            let place = &mut self.places[index];
            let part = cluster.pages / (cluster.pages + place.pages);
            #[expect(clippy::cast_possible_truncation, reason = "a share")]
            place.centroid.approach(&cluster.centroid, part as f32);
            place.outlook += (outlook - place.outlook) * part;
            place.pages += cluster.pages;
            place.files += cluster.files;
            return;
        }
        if self.places.len() == PLACES_MAX {
            let least = self
                .places
                .iter()
                .enumerate()
                .min_by(|one, two| one.1.pages.total_cmp(&two.1.pages));
            if let Some((index, _)) = least {
                self.places.swap_remove(index);
            }
        }
        self.places.push(Place {
            centroid: cluster.centroid.clone(),
            pages: cluster.pages,
            files: cluster.files,
            outlook,
        });
    }

    /// What links at such a place brought elsewhere.
    pub(super) fn prior(&self, path: &PathVector) -> Option<Prior> {
        let (index, _) = self.nearest(path)?;
        let place = &self.places[index];
        Some(Prior {
            pages: place.pages.min(PAGES_MAX),
            files_per_page: place.files / place.pages,
            outlook: place.outlook,
        })
        .filter(|prior| 0.0 < prior.pages && prior.files_per_page.is_finite())
    }

    fn nearest(&self, path: &PathVector) -> Option<(usize, f64)> {
        let alike = self
            .places
            .iter()
            .map(|place| place.centroid.cosine(path))
            .enumerate();
        alike
            .filter(|(_, cosine)| ALIKE_MIN <= *cosine)
            .max_by(|one, two| one.1.total_cmp(&two.1).then(two.0.cmp(&one.0)))
    }

    /// Whether what was read back can be used; if not, a crawl begins without.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let is_number = |number: f64| number.is_finite() && 0.0 <= number;
        self.addresses.is_sound()
            && self.places.len() <= PLACES_MAX
            && self.places.iter().all(|place| {
                [place.pages, place.files, place.outlook]
                    .into_iter()
                    .all(is_number)
            })
    }
}
