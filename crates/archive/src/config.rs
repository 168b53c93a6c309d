//! The settings of the archive, and what a file says of its origin.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// The largest size at which a WARC file may be closed.
const ROLLOVER_MAX: u64 = 1 << 40;

/// How captures are kept. Table `[archive]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ArchiveConfig {
    /// First part of the name of each WARC file. Default `junkai`.
    pub prefix: String,
    /// Size at which a WARC file is closed and the next one opened. Default `1GB`: the size that the
    /// WARC guidelines recommend and other tools expect.
    #[serde(with = "junkai_size::bytes")]
    pub rollover_bytes: u64,
    /// How records are compressed: `gzip`, `zstd` or `none`. Default `gzip`: every tool reads it. The `.warc.zst` of `zstd`
    /// costs less time, but is only a proposed standard.
    pub compression: Compression,
    /// Level of gzip compression, 1 (fastest) to 12 (smallest). Default 1: a page costs half of level 6, which
    /// would save 7 % of the bytes; compression is the most expensive part of a crawl.
    pub gzip_level: u8,
    /// Level of zstd compression, 1 to 19. Default 3: smaller than gzip at level 1, and faster.
    pub zstd_level: u8,
    /// Algorithm of the digests of blocks and payloads: `sha1` or `sha256`. Default `sha1`: the one by which archives and
    /// indexes of the world compare captures.
    pub digest: DigestAlgorithm,
    /// Who runs the crawl, for the `warcinfo` record. Default empty: the field is left out.
    pub operator: String,
    /// Who publishes the archive, for the `warcinfo` record. Default empty: the field is left out.
    pub publisher: String,
    /// The collection or job that the files belong to, for the `warcinfo` record. Default empty: the field is left out.
    pub is_part_of: String,
    /// What the crawl is about, for the `warcinfo` record. Default empty: the field is left out.
    pub description: String,
    /// The host name in file names and `warcinfo` records. Default empty: the name of this machine.
    pub hostname: String,
}

impl Default for ArchiveConfig {
    fn default() -> Self {
        Self {
            prefix: "junkai".to_owned(),
            rollover_bytes: 1_000_000_000,
            compression: Compression::Gzip,
            gzip_level: 1,
            zstd_level: 3,
            digest: DigestAlgorithm::Sha1,
            operator: String::new(),
            publisher: String::new(),
            is_part_of: String::new(),
            description: String::new(),
            hostname: String::new(),
        }
    }
}

impl ArchiveConfig {
    /// All that is wrong with the settings, a sentence each.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        let mut require = |is_right: bool, mistake: &str| {
            if !is_right {
                mistakes.push(mistake.to_owned());
            }
        };
        require(!self.prefix.is_empty(), "archive.prefix must not be empty");
        require(
            (1..=ROLLOVER_MAX).contains(&self.rollover_bytes),
            "archive.rollover_bytes must be 1 byte to 1TiB",
        );
        require(
            (1..=12).contains(&self.gzip_level),
            "archive.gzip_level must be 1 to 12",
        );
        require(
            (1..=19).contains(&self.zstd_level),
            "archive.zstd_level must be 1 to 19",
        );
        mistakes
    }
}

/// How the records of a WARC file are compressed, each for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// A gzip member for each record (`.warc.gz`).
    Gzip,
    /// A zstd frame for each record (`.warc.zst`), without a dictionary.
    Zstd,
    /// Records as they are (`.warc`).
    None,
}

impl Compression {
    /// The ending of a file so compressed.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Gzip => "warc.gz",
            Self::Zstd => "warc.zst",
            Self::None => "warc",
        }
    }
}

/// An algorithm for digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DigestAlgorithm {
    /// SHA-1, written `sha1:` and base 32.
    Sha1,
    /// SHA-256, written `sha256:` and hexadecimal.
    Sha256,
}

/// Where the captures of a writer come from; told in the `warcinfo` record of each of its files.
///
/// Empty fields are left out.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// Name and version of the software, such as `junkai/0.1.0`.
    pub software: String,
    /// Number of the worker that owns the writer: no two writers of a process share one.
    pub worker: u32,
    /// The address that the crawler sends from.
    pub address: Option<IpAddr>,
    /// The robots policy, such as `obey`.
    pub robots: String,
    /// The `User-Agent` that is sent.
    pub user_agent: String,
    /// The `From` that is sent.
    pub from: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_mistakes_are_told_at_once() {
        assert_eq!(ArchiveConfig::default().mistakes(), [""; 0]);
        let config = ArchiveConfig {
            prefix: String::new(),
            rollover_bytes: 0,
            gzip_level: 13,
            zstd_level: 0,
            ..ArchiveConfig::default()
        };
        assert_eq!(config.mistakes().len(), 4);
    }
}
