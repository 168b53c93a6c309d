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
use super::link::LinkSeen;
use super::numbers::{Numbers, Relation};
use super::outlook::{self, Prospect};
use super::tag_path::PathVector;
use super::wording::{self, Lesson};

/// Tag paths at least so alike are one cluster.
pub(super) const ALIKE_MIN: f64 = 0.75;
/// Arms of one cluster; further addresses share the last.
const ARMS_PER_CLUSTER_MAX: u32 = 16;
/// Paths whose cluster is remembered.
const PATHS_MAX: usize = 1 << 14;
/// Links whose addresses begin alike, from which on that counts.
const LINKS_PER_BEGINNING_MIN: u32 = 4;
/// What a page counts after the next one of its arm.
const KEPT: f64 = 0.97;
/// Pages after which an arm is half known.
const KNOWN_PAGES: f64 = 2.0;
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
    bound: u32,
    pub(super) clusters: Vec<Cluster>,
    pub(super) all: Vec<Arm>,
    /// Clusters by the hash of a path, and arms by the hash of cluster and address.
    paths: HashTable<(u64, u32)>,
    keys: HashTable<(u64, u32)>,
    /// Links by how their addresses begin.
    beginnings: HashTable<(u64, u32)>,
    experience: Experience,
}

/// Links with like tag paths.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) centroid: PathVector,
    links: u32,
    arms: u32,
    pub(super) prior: Option<Prior>,
    /// All pages and their files, none forgotten.
    pub(super) pages: f64,
    pub(super) files: f64,
}

/// What links of a cluster turned out to be worth in all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Worth {
    /// Arms, each by how well it is known.
    pub(super) arms: f64,
    /// Sums over the arms: new data files per page, and per fetch with all that was opened.
    pub(super) files: f64,
    pub(super) outlook: f64,
}

/// Links with like tag paths and addresses.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub(super) cluster: u32,
    record: Record,
    /// New links into other arms, forgotten like pages.
    followers: Vec<(u32, f64)>,
    /// All pages, files and new links, none forgotten.
    lifetime: Record,
    opened: Vec<(u32, f64)>,
    /// The words of its first link, and by what factor they made it better before anything was tried.
    words: Vec<u64>,
    pub(super) factor: f64,
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
            bound: arms_max.max(1),
            clusters: Vec::new(),
            all: Vec::new(),
            paths: HashTable::new(),
            keys: HashTable::new(),
            beginnings: HashTable::new(),
            experience: experience.clone(),
        }
    }

    /// The arm of a link; a new one if it is like no other.
    pub(super) fn arm_of(&mut self, link: &LinkSeen<'_>) -> u32 {
        let LinkSeen { tag_path, url, .. } = *link;
        let cluster = self.cluster_of(tag_path);
        let shape = match self.grouping {
            Grouping::Paths => 0,
            Grouping::PathsAndAddresses => self.shape_of(cluster, url),
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
            || self.bound as usize <= self.all.len();
        let shape = if is_full { u64::MAX } else { shape };
        if let Some(arm) = known(key(shape)) {
            return arm;
        }
        let words = wording::words(link.text, url);
        self.add_arm(cluster, key(shape), words)
    }

    /// The shape of an address; how its last part begins counts once several links of the cluster begin like that, because most names say
    /// which page it is, and not which kind.
    fn shape_of(&mut self, cluster: u32, url: &str) -> u64 {
        let AddressShape { plain, with_word } = AddressShape::of(url);
        let Some(with_word) = with_word else {
            return plain;
        };
        let hash = with_word ^ u64::from(cluster);
        if let Some((_, links)) = self.beginnings.find_mut(hash, |entry| entry.0 == hash) {
            *links = links.saturating_add(1);
            return if LINKS_PER_BEGINNING_MIN <= *links {
                with_word
            } else {
                plain
            };
        }
        if self.beginnings.len() == PATHS_MAX {
            self.beginnings.clear();
        }
        self.beginnings
            .insert_unique(hash, (hash, 1), |entry| entry.0);
        plain
    }

    fn add_arm(&mut self, cluster: u32, key: u64, words: Vec<u64>) -> u32 {
        let arm = number(self.all.len());
        self.clusters[cluster as usize].arms += 1;
        self.all.push(Arm {
            cluster,
            record: Record::default(),
            followers: Vec::new(),
            lifetime: Record::default(),
            opened: Vec::new(),
            factor: self.experience.wording.factor(&words),
            words,
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
        let has_room = self.clusters.len() < self.bound as usize;
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
        let arm = &mut self.all[arm as usize];
        arm.relation.learn(brought.numbers, brought.files);
        let cluster = &mut self.clusters[arm.cluster as usize];
        cluster.pages += 1.0;
        cluster.files += brought.files;
        arm.record.pages = arm.record.pages * KEPT + 1.0;
        arm.record.files = arm.record.files * KEPT + brought.files;
        arm.lifetime.pages += 1.0;
        arm.lifetime.files += brought.files;
        for (_, count) in &mut arm.followers {
            *count *= KEPT;
        }
        for follower in brought.followers {
            for counts in [&mut arm.followers, &mut arm.opened] {
                let is_it = |known: &(u32, f64)| known.0 == *follower;
                if let Some(place) = counts.iter().position(is_it) {
                    counts[place].1 += 1.0;
                } else if counts.len() < FOLLOWERS_MAX {
                    counts.push((*follower, 1.0));
                }
            }
        }
    }

    /// Takes back what the pages of an arm brought, so much for each: it is had without them from now on.
    pub(super) fn discount(&mut self, arm: u32, files_per_page: f64) {
        let arm = &mut self.all[arm as usize];
        arm.record.files = (arm.record.files - files_per_page * arm.record.pages).max(0.0);
    }

    /// What is thought of the arms of each cluster before they are tried, in new data files per page.
    ///
    /// An arm counts by how well it is known, and at most for one, however many pages it has had: a hundred articles without a file say
    /// little of the next section, ten sections of them say more.
    pub(super) fn expectations(&self) -> Vec<f64> {
        let mut site = Record {
            pages: PRIOR_PAGES,
            files: PRIOR_PAGES * FIRST_MEAN,
        };
        let mut clusters = vec![Record::default(); self.clusters.len()];
        for arm in &self.all {
            let known = arm.record.known();
            let mean = arm.record.files / arm.record.pages.max(1.0);
            for record in [&mut site, &mut clusters[arm.cluster as usize]] {
                record.pages += known;
                record.files += known * mean;
            }
        }
        let site = site.files / site.pages;
        let expectation = |(cluster, record): (&Cluster, &Record)| {
            let (pages, mean) = match cluster.prior {
                Some(prior) => (prior.arms, prior.files_per_page),
                None => (PRIOR_PAGES, site),
            };
            (pages * mean + record.files) / (pages + record.pages)
        };
        self.clusters
            .iter()
            .zip(&clusters)
            .map(expectation)
            .collect()
    }

    /// Shape and rate of the Gamma distribution of an arm's new data files per page.
    pub(super) fn belief(&self, arm: u32, expectations: &[f64]) -> (f64, f64) {
        let arm = &self.all[arm as usize];
        let expectation = arm.factor * expectations[arm.cluster as usize];
        let shape = PRIOR_PAGES * expectation + arm.record.files;
        (shape.max(SHAPE_MIN), PRIOR_PAGES + arm.record.pages)
    }

    /// What the links of each arm were worth in all, with all that they opened, and in what words.
    pub(super) fn lessons(&self) -> impl Iterator<Item = Lesson<'_>> {
        let outlooks = outlook::indices(&self.lifetime_prospects());
        self.all.iter().zip(outlooks).map(|(arm, outlook)| Lesson {
            words: &arm.words,
            known: arm.lifetime.known(),
            outlook,
        })
    }

    fn lifetime_prospects(&self) -> Vec<Prospect> {
        let prospect = |arm: &Arm| {
            let pages = arm.lifetime.pages.max(1.0);
            let opened = arm.opened.iter();
            Prospect {
                files: arm.lifetime.files / pages,
                followers: opened
                    .map(|(arm, count)| (*arm as usize, count / pages))
                    .collect(),
            }
        };
        self.all.iter().map(prospect).collect()
    }

    /// What the links of each cluster were worth in all, to be carried to other sites.
    pub(super) fn worths(&self) -> Vec<Worth> {
        let prospects = self.lifetime_prospects();
        let indices = outlook::indices(&prospects);
        let mut worths = vec![Worth::default(); self.clusters.len()];
        for ((arm, prospect), index) in self.all.iter().zip(&prospects).zip(indices) {
            let worth = &mut worths[arm.cluster as usize];
            let known = arm.lifetime.known();
            worth.arms += known;
            worth.files += known * prospect.files;
            worth.outlook += known * index;
        }
        worths
    }

    /// Mean new links per page from this arm into others.
    pub(super) fn followers(&self, arm: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        let arm = &self.all[arm as usize];
        let pages = arm.record.pages + PRIOR_PAGES;
        arm.followers
            .iter()
            .map(move |(follower, count)| (*follower, count / pages))
    }

    /// Pages of this arm that count.
    pub(super) fn pages(&self, arm: u32) -> f64 {
        self.all[arm as usize].record.pages
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
            prior,
            pages: 0.0,
            files: 0.0,
        }
    }
}

impl Record {
    /// How well it is known, from 0 to 1.
    fn known(self) -> f64 {
        self.pages / (self.pages + KNOWN_PAGES)
    }
}

/// What addresses of one kind have in common.
struct AddressShape {
    /// The folders, the ending, and the names in the query.
    plain: u64,
    /// Also how the last part of the path begins, if it has parts.
    with_word: Option<u64>,
}

impl AddressShape {
    fn of(url: &str) -> Self {
        let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
        let (path, query) = after_scheme.split_once('?').unwrap_or((after_scheme, ""));
        let mut shape = String::new();
        let (folders, last) = path.rsplit_once('/').unwrap_or(("", path));
        for folder in folders.split('/').take(4) {
            let is_word = !folder.bytes().any(|byte| byte.is_ascii_digit());
            shape.push_str(if is_word { folder } else { "0" });
            shape.push('/');
        }
        shape.push_str(last.rsplit_once('.').map_or("", |(_, ending)| ending));
        for parameter in query.split('&').take(8) {
            shape.push('&');
            shape.push_str(parameter.split('=').next().unwrap_or_default());
        }
        let plain = xxh3_64(shape.as_bytes());
        let word = last.len() - last.trim_start_matches(char::is_alphabetic).len();
        let rest = &last[word..];
        let apart = rest.len() - rest.trim_start_matches(['-', '_', '+', ',', '~']).len();
        let with_word = (0 < apart).then(|| {
            shape.push(' ');
            shape.push_str(&last[..word + apart]);
            xxh3_64(shape.as_bytes())
        });
        Self { plain, with_word }
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
