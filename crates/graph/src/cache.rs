//! Keeps what was measured of a graph, so that it is computed once.
//!
//! Results lie in a hidden folder beside the graph, or in another if that one cannot be written. A file's name holds the
//! fingerprint of the links and of the settings; its contents repeat them, with a checksum over all. A file that is not
//! exactly what it should be is not believed: the result is computed and written again. Files come into being whole, under
//! their final name, or not at all. That nothing could be written is no error: the result is computed each time.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use junkai_files::Replacement;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::progress::Progress;
use crate::{Components, Fingerprint, Links, PageRank, PageRankConfig, components, pagerank};

/// The folder beside a graph.
const FOLDER: &str = ".junkai-graph";

/// What a file begins with. Changes with the form of the files, and with whatever changes the results.
const MAGIC: [u8; 16] = *b"junkai-graph-01\n";

/// Where results are kept.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    folders: Vec<PathBuf>,
}

impl Cache {
    /// Keeps nothing.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Keeps results beside a graph, given the path that it was loaded from; or in `fallback`, where that is impossible.
    #[must_use]
    pub fn beside(path: &Path, fallback: Option<PathBuf>) -> Self {
        let folder = if path.is_dir() {
            path
        } else {
            match path.parent() {
                Some(parent) if parent != Path::new("") => parent,
                _ => Path::new("."),
            }
        };
        let mut folders = vec![folder.join(FOLDER)];
        folders.extend(fallback);
        Self { folders }
    }

    /// The measures of a graph, each computed when it is first asked for.
    #[must_use]
    pub fn measures<'a>(&'a self, links: &'a Links) -> Measures<'a> {
        Measures {
            cache: self,
            links,
            fingerprint: links.fingerprint(),
        }
    }

    fn find(&self, key: &Key) -> Option<Vec<u8>> {
        let files = self
            .folders
            .iter()
            .map(|folder| folder.join(key.file_name()));
        files
            .into_iter()
            .find_map(|file| key.opened(&fs::read(file).ok()?))
    }

    fn keep(&self, key: &Key, payload: &[u8]) {
        let sealed = key.sealed(payload);
        // The first folder that takes it. If none does, there is nothing to be found next time, and no harm done.
        let _is_kept = self
            .folders
            .iter()
            .any(|folder| write_whole(folder, &key.file_name(), &sealed).is_ok());
    }
}

/// What can be measured of a graph, from the cache if it is there.
#[derive(Clone, Copy, Debug)]
pub struct Measures<'a> {
    cache: &'a Cache,
    links: &'a Links,
    fingerprint: Fingerprint,
}

impl Measures<'_> {
    /// The fingerprint of the links.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// As [`pagerank()`].
    ///
    /// # Panics
    /// If the damping is not between 0 and 1 (1 excluded).
    pub fn pagerank(
        &self,
        config: &PageRankConfig,
        progress: &mut dyn FnMut(Progress),
    ) -> PageRank {
        let settings = [
            config.damping.to_bits().to_le_bytes(),
            config.tolerance.to_bits().to_le_bytes(),
            u64::from(config.iterations_max).to_le_bytes(),
        ];
        let key = Key::new("pagerank", self.fingerprint, settings.as_flattened());
        let pages = self.links.page_count();
        let kept = self.cache.find(&key);
        if let Some(rank) = kept.and_then(|bytes| decode_pagerank(&bytes, pages)) {
            return rank;
        }
        let rank = pagerank(self.links, config, progress);
        self.cache.keep(&key, &encode_pagerank(&rank));
        rank
    }

    /// As [`components()`].
    pub fn components(&self, progress: &mut dyn FnMut(Progress)) -> Components {
        let key = Key::new("components", self.fingerprint, &[]);
        let pages = self.links.page_count();
        let kept = self
            .cache
            .find(&key)
            .and_then(|bytes| numbers(&bytes, pages));
        if let Some(numbers) = kept
            && numbers.iter().all(|&number| number < pages)
        {
            return Components::from_numbers(numbers);
        }
        let found = components(self.links, progress);
        self.cache.keep(&key, &bytes_of(found.of_pages()));
        found
    }

    /// As [`Links::in_degrees`].
    #[must_use]
    pub fn in_degrees(&self) -> Vec<u32> {
        let key = Key::new("in-degrees", self.fingerprint, &[]);
        let pages = self.links.page_count();
        let kept = self
            .cache
            .find(&key)
            .and_then(|bytes| numbers(&bytes, pages));
        kept.unwrap_or_else(|| {
            let degrees = self.links.in_degrees();
            self.cache.keep(&key, &bytes_of(&degrees));
            degrees
        })
    }
}

/// What a result was computed of.
struct Key {
    measure: &'static str,
    /// Fingerprint and settings.
    bytes: Vec<u8>,
}

impl Key {
    fn new(measure: &'static str, fingerprint: Fingerprint, settings: &[u8]) -> Self {
        let mut bytes = fingerprint.0.to_le_bytes().to_vec();
        bytes.extend_from_slice(settings);
        Self { measure, bytes }
    }

    fn file_name(&self) -> String {
        format!("{}-{:032x}.bin", self.measure, xxh3_128(&self.bytes))
    }

    fn header(&self) -> Vec<u8> {
        let mut header = MAGIC.to_vec();
        header.extend_from_slice(self.measure.as_bytes());
        header.extend_from_slice(&self.bytes);
        header
    }

    /// The contents of the file: header, payload, checksum.
    fn sealed(&self, payload: &[u8]) -> Vec<u8> {
        let mut file = self.header();
        file.extend_from_slice(payload);
        file.extend_from_slice(&xxh3_64(&file).to_le_bytes());
        file
    }

    /// The payload of a file, if the file is what it should be.
    fn opened(&self, file: &[u8]) -> Option<Vec<u8>> {
        let (contents, checksum) = file.split_last_chunk::<8>()?;
        let is_sound = xxh3_64(contents) == u64::from_le_bytes(*checksum);
        let payload = contents.strip_prefix(self.header().as_slice())?;
        is_sound.then(|| payload.to_vec())
    }
}

fn encode_pagerank(rank: &PageRank) -> Vec<u8> {
    let mut bytes = rank.iterations.to_le_bytes().to_vec();
    bytes.extend_from_slice(&rank.residual.to_le_bytes());
    bytes.extend(rank.scores.iter().flat_map(|score| score.to_le_bytes()));
    bytes
}

fn decode_pagerank(bytes: &[u8], pages: u32) -> Option<PageRank> {
    let (iterations, bytes) = bytes.split_first_chunk()?;
    let (residual, bytes) = bytes.split_first_chunk()?;
    let (scores, rest) = bytes.as_chunks();
    (scores.len() == pages as usize && rest.is_empty()).then(|| PageRank {
        scores: scores
            .iter()
            .map(|score| f64::from_le_bytes(*score))
            .collect(),
        iterations: u32::from_le_bytes(*iterations),
        residual: f64::from_le_bytes(*residual),
    })
}

fn bytes_of(numbers: &[u32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

fn numbers(bytes: &[u8], pages: u32) -> Option<Vec<u32>> {
    let (numbers, rest) = bytes.as_chunks();
    (numbers.len() == pages as usize && rest.is_empty()).then(|| {
        numbers
            .iter()
            .map(|number| u32::from_le_bytes(*number))
            .collect()
    })
}

/// Writes a file whole or not at all; another process may be writing the same one.
fn write_whole(folder: &Path, name: &str, contents: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let suffix = format!(".{}.open", std::process::id());
    let mut file = Replacement::begin_with_suffix(&folder.join(name), &suffix)?;
    file.write_all(contents)?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::unwatched;

    fn links() -> Links {
        Links::from_lists(&[vec![1, 2], vec![0], vec![], vec![3, 0]])
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).map(Iterator::collect::<Vec<_>>);
        let mut files: Vec<PathBuf> = entries
            .unwrap_or_default()
            .into_iter()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        files
    }

    /// Whether a measure was computed rather than found.
    fn is_computed(cache: &Cache, links: &Links, config: &PageRankConfig) -> bool {
        let mut is_computed = false;
        let rank = cache
            .measures(links)
            .pagerank(config, &mut |_| is_computed = true);
        assert_eq!(rank, pagerank(links, config, &mut unwatched));
        is_computed
    }

    #[test]
    fn a_measure_is_computed_once() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::beside(folder.path(), None);
        let links = links();
        for _ in 0..2 {
            let measures = cache.measures(&links);
            let direct = components(&links, &mut unwatched);
            assert_eq!(measures.components(&mut unwatched), direct);
            assert_eq!(measures.in_degrees(), links.in_degrees());
        }
        assert_eq!(files(&folder.path().join(FOLDER)).len(), 2);
        let config = PageRankConfig::default();
        assert!(is_computed(&cache, &links, &config));
        assert!(!is_computed(&cache, &links, &config));
        let other = PageRankConfig {
            damping: 0.5,
            ..config
        };
        assert!(is_computed(&cache, &links, &other));
        assert!(is_computed(&cache, &links.transposed(), &config));
        assert!(!is_computed(&cache, &links, &config));
        assert!(is_computed(&Cache::none(), &links, &config));
    }

    #[test]
    fn a_damaged_file_is_computed_again_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::beside(&folder.path().join("graph.tsv"), None);
        let (links, config) = (links(), PageRankConfig::default());
        assert!(is_computed(&cache, &links, &config));
        let file = files(&folder.path().join(FOLDER)).remove(0);
        let sound = fs::read(&file).unwrap();
        for place in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[place] ^= 0x10;
            fs::write(&file, damaged).unwrap();
            assert!(is_computed(&cache, &links, &config), "byte {place}");
            assert_eq!(fs::read(&file).unwrap(), sound);
        }
        for length in 0..sound.len() {
            fs::write(&file, &sound[..length]).unwrap();
            assert!(is_computed(&cache, &links, &config), "cut to {length}");
        }
        assert!(!is_computed(&cache, &links, &config));
    }

    #[test]
    fn a_sound_file_of_another_graph_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::beside(folder.path(), None);
        let (links, config) = (links(), PageRankConfig::default());
        assert!(is_computed(&cache, &links, &config));
        let first = files(&folder.path().join(FOLDER)).remove(0);
        let other = links.transposed();
        assert!(is_computed(&cache, &other, &config));
        let both = files(&folder.path().join(FOLDER));
        let second = both.iter().find(|file| **file != first).unwrap();
        fs::copy(&first, second).unwrap();
        assert!(is_computed(&cache, &other, &config));
    }

    #[test]
    fn another_folder_is_used_where_nothing_can_be_written_beside_the_graph() {
        let folder = tempfile::tempdir().unwrap();
        // A file where the folder would be: nobody, not even root, can write into it.
        fs::write(folder.path().join(FOLDER), "").unwrap();
        let fallback = folder.path().join("deep/er");
        let cache = Cache::beside(folder.path(), Some(fallback.clone()));
        let (links, config) = (links(), PageRankConfig::default());
        assert!(is_computed(&cache, &links, &config));
        assert!(!is_computed(&cache, &links, &config));
        assert_eq!(files(&fallback).len(), 1);
        let nowhere = Cache::beside(folder.path(), None);
        assert!(is_computed(&nowhere, &links, &config));
        assert!(is_computed(&nowhere, &links, &config));
    }
}
