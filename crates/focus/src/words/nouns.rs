//! The nouns of Japanese text, by a dictionary in MeCab's format.
//!
//! Kato et al. (2022) tells pages by their nouns, which MeCab finds with IPADIC. The analyser here is `vibrato`, which reads the sources of the
//! same dictionaries; nothing is downloaded, and who has no dictionary uses another split.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use encoding_rs::EUC_JP;
use thiserror::Error;
use vibrato::errors::VibratoError;
use vibrato::{SystemDictionaryBuilder, Tokenizer};

/// No dictionary is larger: IPADIC's sources are 30 MB, UniDic's less than ten times that.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// What the part of speech of a noun begins with.
const NOUN: &str = "名詞";

/// Why a dictionary cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DictionaryError {
    /// A file or the folder cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There are no words in the folder.
    #[error(
        "{path} holds no dictionary: no .csv file is in it (Debian's mecab-ipadic has one in /usr/share/mecab/dic/ipadic)"
    )]
    NoWords {
        /// The folder.
        path: PathBuf,
    },
    /// A file is larger than any dictionary.
    #[error("{path} is too large for a dictionary")]
    TooLarge {
        /// Which one.
        path: PathBuf,
    },
    /// The files do not make a dictionary.
    #[error("{path} holds no dictionary in MeCab's format")]
    Format {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<VibratoError>,
    },
}

pub(super) struct Nouns {
    tokenizer: Tokenizer,
}

impl Nouns {
    pub(super) fn load(folder: &Path) -> Result<Self, DictionaryError> {
        let mut lexicon = String::new();
        for path in csv_files(folder)? {
            lexicon.push_str(&read_text(&path)?);
            if !lexicon.ends_with('\n') {
                lexicon.push('\n');
            }
        }
        if lexicon.is_empty() {
            return Err(DictionaryError::NoWords {
                path: folder.to_owned(),
            });
        }
        let [matrix, characters, unknown] =
            ["matrix.def", "char.def", "unk.def"].map(|name| read_text(&folder.join(name)));
        let dictionary = SystemDictionaryBuilder::from_readers(
            lexicon.as_bytes(),
            matrix?.as_bytes(),
            characters?.as_bytes(),
            unknown?.as_bytes(),
        )
        .map_err(|source| DictionaryError::Format {
            path: folder.to_owned(),
            source: Box::new(source),
        })?;
        Ok(Self {
            tokenizer: Tokenizer::new(dictionary),
        })
    }

    /// Hands every noun of `text` to `take`.
    pub(super) fn each(&self, text: &str, take: &mut impl FnMut(Range<usize>)) {
        let mut worker = self.tokenizer.new_worker();
        worker.reset_sentence(text);
        worker.tokenize();
        for index in 0..worker.num_tokens() {
            let token = worker.token(index);
            let is_word = token.surface().chars().any(char::is_alphanumeric);
            if is_word && token.feature().starts_with(NOUN) {
                take(token.range_byte());
            }
        }
    }
}

/// The files of words, in the order of their names: the same folder is always the same dictionary.
fn csv_files(folder: &Path) -> Result<Vec<PathBuf>, DictionaryError> {
    let failed = |source| DictionaryError::Read {
        path: folder.to_owned(),
        source,
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "csv") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read_text(path: &Path) -> Result<String, DictionaryError> {
    let failed = |source| DictionaryError::Read {
        path: path.to_owned(),
        source,
    };
    if FILE_BYTES_MAX < fs::metadata(path).map_err(failed)?.len() {
        return Err(DictionaryError::TooLarge {
            path: path.to_owned(),
        });
    }
    let bytes = fs::read(path).map_err(failed)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => EUC_JP.decode(error.as_bytes()).0.into_owned(),
    })
}
