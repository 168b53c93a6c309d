//! Groups of links that are alike, and how many new data files the pages behind them brought.
//!
//! A *cluster* holds links with like tag paths; an *arm* holds those of a cluster whose addresses are alike too (in the published order a
//! cluster has one arm). What an arm is worth is a Gamma distribution over the new data files per page. Its prior is the cluster's mean,
//! whose prior is the site's, or what other sites taught ([`Experience`]): an arm that was never tried is worth what its like is worth.
//! Old pages are forgotten slowly, because what an arm brings wears off: the later pages of a list repeat what the earlier ones had.
//!
//! Gauquier, Manolescu and Senellart, SB-CLASSIFIER, 2026. Departures: the nearest centroid is searched for among all, instead of by an
//! approximate index, since there are at most some hundred; when there are as many as allowed, a link joins the nearest.

use std::collections::VecDeque;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::experience::{Experience, Prior};
use super::numbers::{Numbers, Relation};
use super::tag_path::PathVector;

/// Tag paths at least so alike are one cluster.
pub(super) const ALIKE_MIN: f64 = 0.75;
/// Arms of one cluster; further addresses share the last.
const ARMS_PER_CLUSTER_MAX: u32 = 16;
/// Paths whose cluster is remembered.
const PATHS_MAX: usize = 1 << 14;
/// What a page counts after the next one of its arm.
const KEPT: f64 = 0.97;
/// How many pages the level above counts for.
const PRIOR_PAGES: f64 = 1.0;
/// New data files per page of a site of which nothing is known.
const FIRST_MEAN: f64 = 0.5;
/// Other arms that the pages of an arm lead to, as far as they are counted.
const FOLLOWERS_MAX: usize = 16;

/// How links are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grouping {
    /// By tag path.
    Paths,
    /// By tag path and address.
    PathsAndAddresses,
}

/// All arms of a site.
#[derive(Clone, Debug)]
pub(super) struct Arms {
    grouping: Grouping,
    arms_max: u32,
    pub(super) clusters: Vec<Cluster>,
    pub(super) arms: Vec<Arm>,
    /// Clusters by the hash of a path, and arms by the hash of cluster and address.
    paths: HashTable<(u64, u32)>,
    keys: HashTable<(u64, u32)>,
    site: Record,
    experience: Experience,
}

/// Links with like tag paths.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) centroid: PathVector,
    links: u32,
    arms: u32,
    record: Record,
    pub(super) prior: Option<Prior>,
    /// All pages and their files, none forgotten.
    pub(super) pages: f64,
    pub(super) files: f64,
}

/// Links with like tag paths and addresses.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub(super) cluster: u32,
    record: Record,
    /// New links into other arms, forgotten like pages.
    followers: Vec<(u32, f64)>,
    /// What the numbers beside its links say.
    pub(super) relation: Relation,
    /// Links that wait, by number.
    pub(super) waiting: VecDeque<u32>,
}

/// Pages and the new data files that they brought.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    pages: f64,
    files: f64,
}

/// What a page of an arm brought.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brought<'a> {
    /// New data files, certain or guessed.
    pub(super) files: f64,
    /// The numbers beside its link.
    pub(super) numbers: Numbers,
    /// The arms of its new links to pages; may repeat.
    pub(super) followers: &'a [u32],
}

impl Arms {
    pub(super) fn new(grouping: Grouping, arms_max: u32, experience: &Experience) -> Self {
        Self {
            grouping,
            arms_max: arms_max.max(1),
            clusters: Vec::new(),
            arms: Vec::new(),
            paths: HashTable::new(),
            keys: HashTable::new(),
            site: Record::default(),
            experience: experience.clone(),
        }
    }

    /// The arm of a link; a new one if it is like no other.
    pub(super) fn arm_of(&mut self, tag_path: &str, url: &str) -> u32 {
        let cluster = self.cluster_of(tag_path);
        let shape = match self.grouping {
            Grouping::Paths => 0,
            Grouping::PathsAndAddresses => address_shape(url),
        };
        let key =
            |shape: u64| xxh3_64(&[u64::from(cluster).to_le_bytes(), shape.to_le_bytes()].concat());
        let known = |key: u64| {
            self.keys
                .find(key, |entry| entry.0 == key)
                .map(|entry| entry.1)
        };
        if let Some(arm) = known(key(shape)) {
            return arm;
        }
        // The last arm of a cluster takes all addresses for which there is no room.
        let is_full = ARMS_PER_CLUSTER_MAX <= self.clusters[cluster as usize].arms
            || self.arms_max as usize <= self.arms.len();
        let shape = if is_full { u64::MAX } else { shape };
        if let Some(arm) = known(key(shape)) {
            return arm;
        }
        self.add_arm(cluster, key(shape))
    }

    fn add_arm(&mut self, cluster: u32, key: u64) -> u32 {
        let arm = number(self.arms.len());
        self.clusters[cluster as usize].arms += 1;
        self.arms.push(Arm {
            cluster,
            record: Record::default(),
            followers: Vec::new(),
            relation: Relation::default(),
            waiting: VecDeque::new(),
        });
        self.keys.insert_unique(key, (key, arm), |entry| entry.0);
        arm
    }

    fn cluster_of(&mut self, tag_path: &str) -> u32 {
        let hash = xxh3_64(tag_path.as_bytes());
        if let Some((_, cluster)) = self.paths.find(hash, |entry| entry.0 == hash) {
            return *cluster;
        }
        let vector = PathVector::of(tag_path);
        let alike = self
            .clusters
            .iter()
            .map(|cluster| cluster.centroid.cosine(&vector));
        let nearest = alike
            .enumerate()
            .max_by(|one, two| one.1.total_cmp(&two.1).then(two.0.cmp(&one.0)));
        let has_room = self.clusters.len() < self.arms_max as usize;
        let cluster = match nearest {
            Some((index, cosine)) if ALIKE_MIN <= cosine || !has_room => {
                let cluster = &mut self.clusters[index];
                cluster.links = cluster.links.saturating_add(1);
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "the weight of one path among many"
                )]
                let part = 1.0 / cluster.links as f32;
                cluster.centroid.approach(&vector, part);
                number(index)
            }
            Some(_) | None => {
                let prior = self.experience.prior(&vector);
                self.clusters.push(Cluster::new(vector, prior));
                number(self.clusters.len() - 1)
            }
        };
        if self.paths.len() == PATHS_MAX {
            self.paths.clear();
        }
        self.paths
            .insert_unique(hash, (hash, cluster), |entry| entry.0);
        cluster
    }

    /// Learns what a page of an arm brought.
    pub(super) fn learn(&mut self, arm: u32, brought: Brought<'_>) {
        let arm = &mut self.arms[arm as usize];
        arm.relation.learn(brought.numbers, brought.files);
        let cluster = &mut self.clusters[arm.cluster as usize];
        cluster.pages += 1.0;
        cluster.files += brought.files;
        for record in [&mut arm.record, &mut cluster.record, &mut self.site] {
            record.pages = record.pages * KEPT + 1.0;
            record.files = record.files * KEPT + brought.files;
        }
        for (_, count) in &mut arm.followers {
            *count *= KEPT;
        }
        for follower in brought.followers {
            let is_it = |known: &(u32, f64)| known.0 == *follower;
            if let Some(place) = arm.followers.iter().position(is_it) {
                arm.followers[place].1 += 1.0;
            } else if arm.followers.len() < FOLLOWERS_MAX {
                arm.followers.push((*follower, 1.0));
            }
        }
    }

    /// Takes back what the pages of an arm brought, so much for each: it is had without them from now on.
    pub(super) fn discount(&mut self, arm: u32, files_per_page: f64) {
        let arm = &mut self.arms[arm as usize];
        let cluster = &mut self.clusters[arm.cluster as usize];
        let files = (files_per_page * arm.record.pages).min(arm.record.files);
        for record in [&mut arm.record, &mut cluster.record, &mut self.site] {
            record.files = (record.files - files).max(0.0);
        }
    }

    /// Shape and rate of the Gamma distribution of an arm's new data files per page.
    pub(super) fn belief(&self, arm: u32) -> (f64, f64) {
        let arm = &self.arms[arm as usize];
        let cluster = &self.clusters[arm.cluster as usize];
        let mut base = Record {
            pages: PRIOR_PAGES,
            files: PRIOR_PAGES * self.site.mean(FIRST_MEAN),
        };
        if let Some(prior) = cluster.prior {
            base = Record {
                pages: prior.pages,
                files: prior.pages * prior.files_per_page,
            };
        }
        let mean = (base.files + cluster.record.files) / (base.pages + cluster.record.pages);
        let shape = PRIOR_PAGES * mean + arm.record.files;
        (shape.max(SHAPE_MIN), PRIOR_PAGES + arm.record.pages)
    }

    /// Mean new links per page from this arm into others.
    pub(super) fn followers(&self, arm: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        let arm = &self.arms[arm as usize];
        let pages = arm.record.pages + PRIOR_PAGES;
        arm.followers
            .iter()
            .map(move |(follower, count)| (*follower, count / pages))
    }

    /// Pages of this arm that count.
    pub(super) fn pages(&self, arm: u32) -> f64 {
        self.arms[arm as usize].record.pages
    }
}

/// Keeps the distribution defined where nothing was ever found.
const SHAPE_MIN: f64 = 0.02;

impl Cluster {
    fn new(centroid: PathVector, prior: Option<Prior>) -> Self {
        Self {
            centroid,
            links: 1,
            arms: 0,
            record: Record::default(),
            prior,
            pages: 0.0,
            files: 0.0,
        }
    }
}

impl Record {
    fn mean(self, first: f64) -> f64 {
        (first * PRIOR_PAGES + self.files) / (PRIOR_PAGES + self.pages)
    }
}

/// What addresses of one kind have in common, as a number: the folders, how the last part begins and ends, the names in the query.
fn address_shape(url: &str) -> u64 {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (path, query) = after_scheme.split_once('?').unwrap_or((after_scheme, ""));
    let mut shape = String::new();
    let (folders, last) = path.rsplit_once('/').unwrap_or(("", path));
    for folder in folders.split('/').take(4) {
        let is_word = !folder.bytes().any(|byte| byte.is_ascii_digit());
        shape.push_str(if is_word { folder } else { "0" });
        shape.push('/');
    }
    // How the last part begins: a word and what sets it apart. A name of one word says which page, not which kind.
    let word = last.len() - last.trim_start_matches(char::is_alphabetic).len();
    let (_, rest) = last.split_at(word);
    let apart = rest.len() - rest.trim_start_matches(['-', '_', '+', ',', '~']).len();
    if 0 < apart {
        shape.push_str(&last[..word + apart]);
    }
    shape.push(' ');
    shape.push_str(last.rsplit_once('.').map_or("", |(_, ending)| ending));
    for parameter in query.split('&').take(8) {
        shape.push('&');
        shape.push_str(parameter.split('=').next().unwrap_or_default());
    }
    xxh3_64(shape.as_bytes())
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
