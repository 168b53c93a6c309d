//! A page's text as rows of words, cut into blocks that each are content or not.
//!
//! A [`Composer`] is told the text as it stands in the page, and where blocks and links begin and end. When a block ends, its words are
//! found, what is noise among them is dropped, and of the rest only hashes are kept: [`Text`] is the result, and who asks for it decides
//! which of its blocks to take ([`Text::content`]).

use std::ops::Range;

use icu_normalizer::ComposingNormalizerBorrowed;
use xxhash_rust::xxh3::xxh3_64;

use super::noise;
use super::token::{Token, TokenKind, tokenize};

/// Most words that are taken of a page.
const WORDS_MAX: usize = 1 << 20;
/// Where a block that does not end is cut, in bytes.
const BLOCK_BYTES_MAX: usize = 1 << 16;
/// A link of so many words may be a label, such as menus are made of; a longer one says something.
const LABEL_WORDS_MAX: usize = 4;
/// The same where each character counts as a word.
const LABEL_CHARACTERS_MAX: usize = 12;
/// A page whose content is less than this share of its words is taken whole: what is content was not understood.
const CONTENT_SHARE_MIN: usize = 16;

/// Where text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Title,
    Content,
    /// In a menu or the like.
    Boilerplate,
    /// Where no reader sees it.
    Hidden,
}

/// Whether what comes and goes by itself is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noise {
    Drop,
    /// In a list of dates, dates are what it says.
    Keep,
}

/// The words of a page and the blocks that they stand in.
#[derive(Debug, Default)]
pub(super) struct Text {
    words: Vec<u64>,
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
struct Block {
    words: Range<usize>,
    place: Place,
    /// Whether it consists of labels that lead elsewhere.
    is_links: bool,
}

impl Text {
    /// The blocks that are content, each as the hashes of its words.
    pub(super) fn content(&self) -> Vec<&[u64]> {
        let is_content = |block: &&Block| block.place == Place::Content && !block.is_links;
        let is_seen = |block: &&Block| matches!(block.place, Place::Content | Place::Boilerplate);
        let content = self.count(is_content);
        let seen = self.count(is_seen);
        let with_title = |block: &&Block| block.place == Place::Title;
        if 0 < content && seen <= content.saturating_mul(CONTENT_SHARE_MIN) {
            self.take(|block| is_content(block) || with_title(block))
        } else if 0 < seen {
            self.take(|block| is_seen(block) || with_title(block))
        } else {
            self.take(|_| true)
        }
    }

    fn count(&self, is_wanted: impl Fn(&&Block) -> bool) -> usize {
        let wanted = self.blocks.iter().filter(is_wanted);
        wanted.map(|block| block.words.len()).sum()
    }

    fn take(&self, is_wanted: impl Fn(&&Block) -> bool) -> Vec<&[u64]> {
        let wanted = self.blocks.iter().filter(is_wanted);
        wanted
            .map(|block| &self.words[block.words.clone()])
            .collect()
    }
}

/// Takes in a page's text piece by piece.
pub(super) struct Composer {
    text: Text,
    noise: Noise,
    place: Place,
    is_heading: bool,
    /// The text of the open block.
    block: String,
    /// Where the links of the open block are in its text.
    links: Vec<Range<usize>>,
    /// Where the open link began.
    link_start: Option<usize>,
    /// The parts of the open block: here to be used again.
    tokens: Vec<Token>,
}

impl Composer {
    pub(super) fn new(noise: Noise) -> Self {
        Self {
            text: Text::default(),
            noise,
            place: Place::Content,
            is_heading: false,
            block: String::new(),
            links: Vec::new(),
            link_start: None,
            tokens: Vec::new(),
        }
    }

    /// Goes on with the open block.
    pub(super) fn push(&mut self, text: &str) {
        const NORMALIZER: ComposingNormalizerBorrowed<'static> =
            ComposingNormalizerBorrowed::new_nfkc();
        if text.is_ascii() {
            self.block.push_str(text);
        } else {
            self.block.push_str(&NORMALIZER.normalize(text));
        }
        if BLOCK_BYTES_MAX < self.block.len() {
            self.end_block();
        }
    }

    /// From here on, text belongs to a link.
    pub(super) fn begin_link(&mut self) {
        self.link_start = Some(self.block.len());
    }

    /// From here on, it does not; there may have been no link.
    pub(super) fn end_link(&mut self) {
        if let Some(start) = self.link_start.take() {
            self.links.push(start..self.block.len());
        }
    }

    /// Says where the text that follows stands; what came before it is another block.
    pub(super) fn set_place(&mut self, place: Place) {
        if self.place != place {
            self.end_block();
            self.place = place;
        }
    }

    /// Says whether the text that follows is a heading.
    pub(super) fn set_heading(&mut self, is_heading: bool) {
        self.is_heading = is_heading;
    }

    /// Ends the open block, if there is one.
    pub(super) fn end_block(&mut self) {
        if let Some(start) = self.link_start {
            // The link goes on in the next block.
            self.links.push(start..self.block.len());
            self.link_start = Some(0);
        }
        if self.text.words.len() < WORDS_MAX && !self.block.trim_ascii().is_empty() {
            self.keep_block();
        }
        self.block.clear();
        self.links.clear();
    }

    /// What was composed.
    pub(super) fn finish(mut self) -> Text {
        self.end_block();
        self.text
    }

    fn keep_block(&mut self) {
        let Self {
            text,
            block,
            links,
            tokens,
            ..
        } = self;
        tokenize(block, tokens);
        if self.noise == Noise::Drop {
            noise::drop_from(block, tokens);
        }
        let start = text.words.len();
        text.words.extend(
            tokens
                .iter()
                .filter(|token| token.is_word())
                .map(|token| xxh3_64(block[token.range()].as_bytes())),
        );
        let words = start..text.words.len();
        if !words.is_empty() {
            let is_links = !self.is_heading && words.len() * 2 <= label_words(tokens, links) * 3;
            text.blocks.push(Block {
                words,
                place: self.place,
                is_links,
            });
        }
    }
}

/// How many words of a block are labels of links.
fn label_words(tokens: &[Token], links: &[Range<usize>]) -> usize {
    let mut rest = tokens;
    let mut total = 0;
    for link in links {
        let before = rest.partition_point(|token| token.range().start < link.start);
        let (_, from_link) = rest.split_at(before);
        let inside = from_link.partition_point(|token| token.range().start < link.end);
        let (label, after) = from_link.split_at(inside);
        rest = after;
        let count = |kind| label.iter().filter(|token| token.kind == kind).count();
        let characters = count(TokenKind::Character);
        let words = count(TokenKind::Word) + count(TokenKind::Number);
        if words <= LABEL_WORDS_MAX && words + characters <= LABEL_CHARACTERS_MAX {
            total += words + characters;
        }
    }
    total
}
