//! What collecting from sites taught, carried to the next site.
//!
//! Sites are made with the same few programmes, and what links to data stands in like places in their pages. Each cluster of tag paths that
//! was tried leaves its centroid and what it brought; on a new site a cluster near it begins with that instead of with nothing. The
//! model of addresses and what words were worth (`wording`) go along whole.
//!
//! Bounds: [`PLACES_MAX`] centroids; the least tried one makes room.

use serde::{Deserialize, Serialize};

use super::address::AddressModel;
use super::arms::{ALIKE_MIN, Cluster, Worth};
use super::collector::Collector;
use super::tag_path::PathVector;
use super::wording::Wording;

const PLACES_MAX: usize = 512;
/// What other sites taught counts for at most so many arms of a new one.
const ARMS_MAX: f64 = 2.0;
/// What a site taught counts less by this factor when another has been learned from.
const KEPT: f64 = 0.9;

/// What was learned, to be saved and read back with serde.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Experience {
    places: Vec<Place>,
    pub(super) addresses: AddressModel,
    /// Absent where an earlier version wrote it.
    #[serde(default)]
    pub(super) wording: Wording,
    sites: u32,
}

/// Where links stood, and what they brought.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Place {
    centroid: PathVector,
    /// Arms that stood there, by how well they were known.
    arms: f64,
    /// Sums over them: new data files per page, and per fetch with all that was opened.
    files: f64,
    outlook: f64,
}

/// What is thought of a cluster of which nothing has been seen yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Prior {
    /// How many arms it counts for.
    pub(super) arms: f64,
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
            for sum in [&mut place.arms, &mut place.files, &mut place.outlook] {
                *sum *= KEPT;
            }
        }
        for (cluster, worth) in collector.worths() {
            if 0.0 < worth.arms {
                self.add(cluster, worth);
            }
        }
        self.wording.fade(KEPT);
        for lesson in collector.wordings() {
            self.wording.learn(lesson);
        }
        self.wording.forget();
        self.addresses = collector.addresses().clone();
        self.sites = self.sites.saturating_add(1);
    }

    fn add(&mut self, cluster: &Cluster, worth: Worth) {
        if let Some((index, _)) = self.nearest(&cluster.centroid) {
            let place = &mut self.places[index];
            let part = worth.arms / (worth.arms + place.arms);
            #[expect(clippy::cast_possible_truncation, reason = "a share")]
            place.centroid.approach(&cluster.centroid, part as f32);
            place.arms += worth.arms;
            place.files += worth.files;
            place.outlook += worth.outlook;
            return;
        }
        if self.places.len() == PLACES_MAX {
            let places = self.places.iter().enumerate();
            let least = places.min_by(|one, two| one.1.arms.total_cmp(&two.1.arms));
            if let Some((index, _)) = least {
                self.places.swap_remove(index);
            }
        }
        self.places.push(Place {
            centroid: cluster.centroid.clone(),
            arms: worth.arms,
            files: worth.files,
            outlook: worth.outlook,
        });
    }

    /// What links at such a place brought elsewhere.
    pub(super) fn prior(&self, path: &PathVector) -> Option<Prior> {
        let (index, _) = self.nearest(path)?;
        let place = &self.places[index];
        let prior = Prior {
            arms: place.arms.min(ARMS_MAX),
            files_per_page: place.files / place.arms,
            outlook: place.outlook / place.arms,
        };
        (0.0 < prior.arms && prior.files_per_page.is_finite()).then_some(prior)
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
            && self.wording.is_sound()
            && self.places.len() <= PLACES_MAX
            && self.places.iter().all(|place| {
                [place.arms, place.files, place.outlook]
                    .into_iter()
                    .all(is_number)
            })
    }
}
