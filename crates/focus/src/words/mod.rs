//! The words of a text, in any language, folded so that the same word is the same string.
//!
//! [`Words::each`] is asked by `learn` for what a page says and by `catalogue` for what can be searched. Three ways to split are there:
//!
//! * [`Words::new`]: Unicode's own rules, with ICU's dictionaries where a script does not set words apart (Japanese, Chinese, Thai, …).
//!   Nothing has to be installed.
//! * [`Words::by_script`]: the same for scripts that set words apart; else pairs of neighbouring ideographs, and kana in whole runs.
//!   Several times as fast, and as good for telling pages apart; not what a person would call words.
//! * [`Words::with_dictionary`]: only the nouns of Japanese text, by a dictionary in MeCab's format, as Kato et al. (2022) does it.
//!
//! A word is in lower case and in Unicode's form NFKC, so that full-width letters and half-width kana are the usual ones.
//! Text is read up to [`TEXT_BYTES_MAX`]; what is longer than [`WORD_BYTES_MAX`] is no word.

mod ascii;
mod nouns;
mod script;

use std::ops::Range;
use std::path::Path;

use icu_normalizer::ComposingNormalizerBorrowed;
use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};

pub use nouns::DictionaryError;
use nouns::Nouns;

/// More of a text is not read.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// What is longer, as it stands in the text, is no word.
pub const WORD_BYTES_MAX: usize = 96;
/// Text without a space is cut after so many bytes, so that no dictionary is asked about a megabyte at once.
const CHUNK_BYTES_MAX: usize = 8 << 10;

/// Splits text into words.
pub struct Words {
    split: Split,
}

enum Split {
    Unicode(WordSegmenterBorrowed<'static>),
    Script,
    Nouns(Box<Nouns>),
}

impl Words {
    /// Words by Unicode's rules and ICU's dictionaries.
    #[must_use]
    pub fn new() -> Self {
        let segmenter = WordSegmenter::new_auto(WordBreakInvariantOptions::default());
        Self {
            split: Split::Unicode(segmenter),
        }
    }

    /// Words where a script sets them apart, and pairs of characters where it does not.
    #[must_use]
    pub fn by_script() -> Self {
        Self {
            split: Split::Script,
        }
    }

    /// The nouns of Japanese text, and every word that is written in letters.
    ///
    /// `folder` holds the sources of a dictionary in MeCab's format (`*.csv`, `matrix.def`, `char.def`, `unk.def`, in UTF-8 or
    /// EUC-JP), as Debian's `mecab-ipadic` has them. It takes seconds and some hundred megabytes to load.
    ///
    /// # Errors
    /// If a file is missing, cannot be read, or does not hold what it should.
    pub fn with_dictionary(folder: &Path) -> Result<Self, DictionaryError> {
        let nouns = Nouns::load(folder)?;
        Ok(Self {
            split: Split::Nouns(Box::new(nouns)),
        })
    }

    /// Hands each word of `text` to `visit`, in order.
    pub fn each(&self, text: &str, mut visit: impl FnMut(&str)) {
        self.each_at(text, |_, word| visit(word));
    }

    /// Hands each word of `text` to `visit`, in order, with where it stands in the text.
    pub fn each_at(&self, text: &str, mut visit: impl FnMut(Range<usize>, &str)) {
        let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
        let mut folder = Folder::default();
        let mut take = |range: Range<usize>| {
            if range.len() <= WORD_BYTES_MAX {
                let word = folder.fold(&text[range.clone()]);
                if !word.is_empty() {
                    visit(range, word);
                }
            }
        };
        for Chunk {
            start,
            text,
            is_ascii,
        } in Chunks::of(text)
        {
            let mut take = |range: Range<usize>| take(start + range.start..start + range.end);
            match &self.split {
                _ if is_ascii => ascii::each(text.as_bytes(), &mut take),
                Split::Unicode(segmenter) => unicode(*segmenter, text, &mut take),
                Split::Script => script::each(text, &mut take),
                Split::Nouns(nouns) => nouns.each(text, &mut take),
            }
        }
    }
}

impl Default for Words {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Words {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self.split {
            Split::Unicode(_) => "Words(unicode)",
            Split::Script => "Words(by script)",
            Split::Nouns(_) => "Words(nouns)",
        })
    }
}

fn unicode(segmenter: WordSegmenterBorrowed<'_>, text: &str, take: &mut impl FnMut(Range<usize>)) {
    let mut start = 0;
    for (end, kind) in segmenter.segment_str(text).iter_with_word_type() {
        if kind.is_word_like() {
            take(start..end);
        }
        start = end;
    }
}

/// A part of a text that no word reaches out of.
struct Chunk<'a> {
    start: usize,
    text: &'a str,
    is_ascii: bool,
}

/// The parts of a text between ASCII white space.
struct Chunks<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Chunks<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, at: 0 }
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Chunk<'a>;

    fn next(&mut self) -> Option<Chunk<'a>> {
        let bytes = self.text.as_bytes();
        let is_space = |byte: &u8| byte.is_ascii_whitespace();
        let start = self.at + bytes[self.at..].iter().position(|byte| !is_space(byte))?;
        let rest = &bytes[start..];
        let length = rest.iter().position(is_space).unwrap_or(rest.len());
        let end = if length <= CHUNK_BYTES_MAX {
            start + length
        } else {
            self.text.floor_char_boundary(start + CHUNK_BYTES_MAX)
        };
        self.at = end;
        let text = &self.text[start..end];
        Some(Chunk {
            start,
            text,
            is_ascii: text.is_ascii(),
        })
    }
}

/// Makes the same word the same string; the buffers are here to be used again.
#[derive(Default)]
struct Folder {
    word: String,
    normal: String,
}

impl Folder {
    fn fold<'a>(&'a mut self, source: &'a str) -> &'a str {
        const NORMALIZER: ComposingNormalizerBorrowed<'static> =
            ComposingNormalizerBorrowed::new_nfkc();
        if source.chars().all(is_folded) {
            return source;
        }
        self.word.clear();
        if source.is_ascii() {
            self.word.push_str(source);
            self.word.make_ascii_lowercase();
            return &self.word;
        }
        self.normal.clear();
        // Writing to a string cannot fail.
        let _: std::fmt::Result = NORMALIZER.normalize_to(source, &mut self.normal);
        let lower = self.normal.chars().flat_map(char::to_lowercase);
        self.word.extend(lower);
        &self.word
    }
}

/// Whether a character is the same in lower case and in NFKC, whatever stands beside it: most of the characters of text in Chinese
/// and Japanese, where folding would take most of the time.
fn is_folded(character: char) -> bool {
    matches!(character, 'a'..='z' | '0'..='9'
        | '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' | '\u{30FC}' | '\u{4E00}'..='\u{9FFF}')
}

#[cfg(test)]
mod tests;
