//! A model as one file: what pages and files of the wanted kind look like.
//!
//! The file is [`MAGIC`], a version, a checksum of all that follows, and a zstd frame with JSON in it. A file that is damaged, is of
//! another version or is no model is told apart and refused; none of them can make the reader use more than its bounds.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use super::features::Split;
use super::file_model::FileModel;
use super::page_model::{PageModel, PageModelParts};
use crate::words::{DictionaryError, Words};

/// What every model begins with.
const MAGIC: [u8; 8] = *b"junkai-m";
/// The version of the file that this program reads and writes.
const VERSION: u32 = 1;
/// The bytes before the frame: magic, version, checksum.
const HEAD_BYTES: usize = 20;
/// No model is larger, packed or unpacked.
const BYTES_MAX: u64 = 512 << 20;
/// Costs seconds at most, and models are written seldom.
const COMPRESSION_LEVEL: i32 = 19;

/// Where Debian puts the sources of IPADIC.
pub const DICTIONARY_FOLDER: &str = "/usr/share/mecab/dic/ipadic";

/// Why a model cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file cannot be read or written.
    #[error("cannot {what} the model {path}")]
    File {
        /// `read` or `write`.
        what: &'static str,
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is something else.
    #[error("not a model of junkai: `junkai focus train` makes one")]
    NotAModel,
    /// The file is of another version.
    #[error(
        "the model has version {found}, and this junkai reads version {VERSION}: train it anew, or use the junkai that made it"
    )]
    Version {
        /// Its version.
        found: u32,
    },
    /// The file was changed or cut.
    #[error("the model is damaged: its checksum does not fit; copy or train it anew")]
    Damaged,
    /// The checksum fits, but not what it says.
    #[error("the model does not hold what it should: {0}")]
    Content(String),
    /// The model looks at nouns, and no dictionary can be had.
    #[error("the model tells pages by their nouns and needs a dictionary")]
    Dictionary(#[from] DictionaryError),
}

/// The model that junkai ships: `cargo xtask focus-model` makes it.
const STATISTICAL_DATA: &[u8] = include_bytes!("../../models/statistical-data.model");

/// What was learned from examples: a name, what pages of sites that hold it look like, and what files of its kind look like.
#[derive(Debug)]
pub struct Model {
    name: String,
    page: PageModel,
    files: Option<FileModel>,
}

#[derive(Serialize, Deserialize)]
struct ModelParts {
    name: String,
    page: PageModelParts,
    files: Option<FileModel>,
}

impl Model {
    /// A model from what was learned of pages, and of files if there were any.
    #[must_use]
    pub fn new(name: &str, page: PageModel, files: Option<FileModel>) -> Self {
        Self {
            name: name.to_owned(),
            page,
            files,
        }
    }

    /// The model that comes with junkai: sites that hold statistical data, in Japanese and English. `docs/focus-model.md` says how
    /// good it is, and on what.
    ///
    /// # Panics
    /// Never: the model is part of the program, and a test reads it.
    #[must_use]
    #[expect(
        clippy::expect_used,
        reason = "the bytes are constant, and a test reads them"
    )]
    pub fn statistical_data() -> Self {
        Self::from_bytes(STATISTICAL_DATA).expect("the shipped model is sound")
    }

    /// Reads a model.
    ///
    /// # Errors
    /// If the file cannot be read, is no model, is damaged or of another version, or looks at nouns without a dictionary in
    /// [`DICTIONARY_FOLDER`].
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let failed = |source| ModelError::File {
            what: "read",
            path: path.to_owned(),
            source,
        };
        let mut bytes = Vec::new();
        let file = fs::File::open(path).map_err(failed)?;
        file.take(BYTES_MAX)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        Self::from_bytes(&bytes)
    }

    /// Writes the model, whole or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), ModelError> {
        let failed = |source| ModelError::File {
            what: "write",
            path: path.to_owned(),
            source,
        };
        let bytes = self.to_bytes()?;
        junkai_files::replace(path, &bytes).map_err(failed)
    }

    /// What it was trained to find.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What judges pages.
    #[must_use]
    pub fn page(&self) -> &PageModel {
        &self.page
    }

    /// What judges data files, if it was trained on any.
    #[must_use]
    pub fn files(&self) -> Option<&FileModel> {
        self.files.as_ref()
    }

    /// The model as a file.
    ///
    /// # Errors
    /// If it cannot be written down, which no model that was trained is.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        let content = |error: &dyn std::fmt::Display| ModelError::Content(error.to_string());
        let parts = ModelParts {
            name: self.name.clone(),
            page: self.page.parts(),
            files: self.files.clone(),
        };
        let json = serde_json::to_vec(&parts).map_err(|error| content(&error))?;
        let frame =
            zstd::bulk::compress(&json, COMPRESSION_LEVEL).map_err(|error| content(&error))?;
        let mut bytes = Vec::with_capacity(HEAD_BYTES + frame.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&xxh3_64(&frame).to_le_bytes());
        bytes.extend_from_slice(&frame);
        Ok(bytes)
    }

    /// Reads a model out of a file's bytes.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        let rest = bytes.strip_prefix(&MAGIC).ok_or(ModelError::NotAModel)?;
        let (version, rest) = rest.split_first_chunk().ok_or(ModelError::Damaged)?;
        let found = u32::from_le_bytes(*version);
        if found != VERSION {
            return Err(ModelError::Version { found });
        }
        let (checksum, frame) = rest.split_first_chunk().ok_or(ModelError::Damaged)?;
        if u64::from_le_bytes(*checksum) != xxh3_64(frame) {
            return Err(ModelError::Damaged);
        }
        let content = |error: &dyn std::fmt::Display| ModelError::Content(error.to_string());
        let mut json = Vec::new();
        zstd::Decoder::new(frame)
            .and_then(|decoder| decoder.take(BYTES_MAX).read_to_end(&mut json))
            .map_err(|error| content(&error))?;
        let parts: ModelParts = serde_json::from_slice(&json).map_err(|error| content(&error))?;
        let words = words_for(parts.page.look.split, Path::new(DICTIONARY_FOLDER))?;
        Ok(Self {
            name: parts.name,
            page: PageModel::new(parts.page, words),
            files: parts.files,
        })
    }
}

/// What splits text in the given way.
///
/// # Errors
/// If nouns are asked for and `dictionary` holds none.
pub fn words_for(split: Split, dictionary: &Path) -> Result<Words, DictionaryError> {
    match split {
        Split::Unicode => Ok(Words::new()),
        Split::Script => Ok(Words::by_script()),
        Split::Nouns => Words::with_dictionary(dictionary),
    }
}

#[cfg(test)]
mod tests {
    use super::super::calibration::Calibration;
    use super::super::features::Look;
    use super::super::group::Group;
    use super::super::page_model::Feature;
    use super::super::view::{LinkView, PageView};
    use super::*;
    use proptest::prelude::*;

    fn small() -> Model {
        let parts = PageModelParts {
            look: Look::default(),
            features: vec![Feature {
                group: Group::Text,
                name: "人口".into(),
                idf: 1.5,
                weight: 2.0,
            }],
            bias: -1.0,
            calibration: Calibration::Platt {
                slope: 2.0,
                offset: 0.5,
            },
        };
        Model::new("small", PageModel::new(parts, Words::by_script()), None)
    }

    #[test]
    fn a_model_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.model");
        small().save(&path).unwrap();
        let loaded = Model::load(&path).unwrap();
        assert_eq!(loaded.name(), "small");
        assert_eq!(loaded.page().parts(), small().page().parts());
        let page = PageView {
            text: "人口",
            ..PageView::default()
        };
        // -1 + 1 × 2, and 1 / (1 + e^-(2 + 0.5)).
        assert!((loaded.page().probability(&page) - 0.924_141_819_978_756_6).abs() < 1e-9);
        assert_eq!(
            loaded.page().explain(&page),
            [("text 人口".to_owned(), 2.0)]
        );
    }

    #[test]
    fn what_is_no_model_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let absent = Model::load(&folder.path().join("absent")).unwrap_err();
        assert!(matches!(absent, ModelError::File { .. }));
        for bytes in [&b""[..], b"junkai", b"PK\x03\x04 something else"] {
            assert!(matches!(
                Model::from_bytes(bytes),
                Err(ModelError::NotAModel)
            ));
        }
        assert!(matches!(
            Model::from_bytes(&MAGIC),
            Err(ModelError::Damaged)
        ));
        let mut other = small().to_bytes().unwrap();
        other[8] = 99;
        let error = Model::from_bytes(&other).unwrap_err();
        assert!(matches!(error, ModelError::Version { found: 99 }));
        assert!(error.to_string().contains("train it anew"));
    }

    /// A frame that unpacks to other things has a right checksum all the same.
    #[test]
    fn a_sound_file_with_something_else_in_it_is_told() {
        let frame = zstd::bulk::compress(b"{\"name\": 1}", 1).unwrap();
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&xxh3_64(&frame).to_le_bytes());
        bytes.extend_from_slice(&frame);
        assert!(matches!(
            Model::from_bytes(&bytes),
            Err(ModelError::Content(_))
        ));
    }

    #[test]
    fn the_shipped_model_tells_a_statistics_office_from_a_shop() {
        let model = Model::statistical_data();
        assert_eq!(model.name(), "statistical data");
        let link = |url, text| LinkView { url, text };
        let pages = [
            (
                true,
                "Population by region",
                "Statistics on population by age and sex, 2020. Source: census.",
                link("t1.csv", "Table 1 (CSV)"),
            ),
            (
                true,
                "人口統計",
                "統計表 都道府県別人口 令和2年国勢調査 単位：人",
                link("hyo1.xlsx", "統計表（エクセル）"),
            ),
            (
                false,
                "Winter jackets",
                "Free delivery. Add to basket. Only 49.90 dollars.",
                link("cart.html", "Basket"),
            ),
            (
                false,
                "冬物セール",
                "送料無料 カートに入れる レビュー 12件",
                link("cart.html", "カート"),
            ),
        ];
        let judge = |(_, title, text, link): (bool, &str, &str, LinkView<'_>)| {
            let page = PageView {
                url: "https://www.example.org/a",
                title,
                text,
                links: vec![link],
                declares_dataset: false,
            };
            model.page().probability(&page)
        };
        let (wanted, other): (Vec<_>, Vec<_>) = pages.into_iter().partition(|page| page.0);
        let least = wanted.into_iter().map(judge).fold(1.0, f64::min);
        let most = other.into_iter().map(judge).fold(0.0, f64::max);
        assert!(2.0 * most < least, "{least} {most}");
    }

    proptest! {
        #[test]
        fn damage_is_told(at: prop::sample::Index, flip in 1..=255_u8, cut: prop::sample::Index) {
            let sound = small().to_bytes().unwrap();
            let mut damaged = sound.clone();
            damaged[at.index(sound.len())] ^= flip;
            prop_assert!(Model::from_bytes(&damaged).is_err());
            prop_assert!(Model::from_bytes(&sound[..cut.index(sound.len())]).is_err());
        }

        #[test]
        fn any_page_is_judged(url: String, title: String, text: String) {
            let model = small();
            let page = PageView {
                url: &url,
                title: &title,
                text: &text,
                links: vec![LinkView { url: &title, text: &text }],
                declares_dataset: true,
            };
            prop_assert!((0.0..=1.0).contains(&model.page().probability(&page)));
        }
    }
}
