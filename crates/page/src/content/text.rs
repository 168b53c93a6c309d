//! A page's text as rows of words, cut into blocks that each are content or not.
//!
//! A [`Composer`] is told the text as it stands in the page, and where blocks and links begin and end. When a block ends, its words are
//! found, what is noise among them is dropped, and of the rest only hashes are kept: [`Text`] is the result, and who asks for it decides
//! which of its blocks to take ([`Text::content`]).

use std::ops::Range;

use super::buffer::Buffer;
use super::label::Labels;
use super::token::{Token, TokenKind, Tokens, tokenize};
use super::{noise, normal, plain};

/// Most words that are taken of a page.
const WORDS_MAX: usize = 1 << 20;
/// Where a block that does not end is cut, in bytes.
const BLOCK_BYTES_MAX: usize = 1 << 16;
/// A page whose content is less than this share of its words is taken whole: what is content was not understood.
const CONTENT_SHARE_MIN: usize = 16;

/// Bytes that are kept from one page for the next, at most; most pages need a tenth.
const MEMORY_KEPT_MAX: usize = 1 << 20;

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
    words: Buffer,
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
            .map(|block| &self.words.as_slice()[block.words.clone()])
            .collect()
    }
}

/// Takes in a page's text piece by piece, one page after the other.
#[derive(Debug)]
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
    tokens: Tokens,
}

impl Default for Composer {
    fn default() -> Self {
        Self {
            text: Text::default(),
            noise: Noise::Drop,
            place: Place::Content,
            is_heading: false,
            block: String::new(),
            links: Vec::new(),
            link_start: None,
            tokens: Tokens::default(),
        }
    }
}

impl Composer {
    /// Begins with a page. What was allocated for the last one is used again, unless that was much.
    pub(super) fn begin(&mut self, noise: Noise) {
        if MEMORY_KEPT_MAX < self.memory_bytes() {
            *self = Self::default();
        }
        self.text.words.truncate(0);
        self.text.blocks.clear();
        self.noise = noise;
        self.place = Place::Content;
        self.is_heading = false;
        self.block.clear();
        self.links.clear();
        self.link_start = None;
    }

    /// Bytes that are kept from one page to the next, of those that may become many.
    pub(super) fn memory_bytes(&self) -> usize {
        self.text.words.memory_bytes()
            + self.text.blocks.capacity() * size_of::<Block>()
            + self.block.capacity()
            + self.tokens.memory_bytes()
    }

    /// Goes on with the open block.
    pub(super) fn push(&mut self, text: &str) {
        normal::push(&mut self.block, text);
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
    pub(super) fn finish(&mut self) -> &Text {
        self.end_block();
        &self.text
    }

    fn keep_block(&mut self) {
        // What readers of words like to see behind the last one.
        self.block.push_str("        ");
        let start = self.text.words.len();
        let plain = plain::read(&self.block, &self.links, &mut self.text.words);
        let label_words = plain.unwrap_or_else(|| self.keep_tokens());
        let words = start..self.text.words.len();
        if !words.is_empty() {
            let is_links = !self.is_heading && words.len() * 2 <= label_words * 3;
            self.text.blocks.push(Block {
                words,
                place: self.place,
                is_links,
            });
        }
    }

    /// Takes the words of the open block, token by token, but not what is noise; says how many are labels.
    fn keep_tokens(&mut self) -> usize {
        let Self {
            text,
            block,
            links,
            tokens,
            ..
        } = self;
        let start = text.words.len();
        tokenize(block, tokens, &mut text.words);
        if self.noise == Noise::Drop && noise::mark(block, &mut tokens.list, &tokens.suspects) {
            drop_noise(&tokens.list, &mut text.words, start);
        }
        label_words(&tokens.list, links)
    }
}

/// Takes the words out that turned out to be noise; those of the tokens begin at `start`.
fn drop_noise(tokens: &[Token], words: &mut Buffer, start: usize) {
    let hashes = words.as_mut_slice();
    let mut kept = start;
    let counted = tokens.iter().filter(|token| token.kind.is_word());
    for (index, token) in counted.enumerate() {
        if !token.is_noise {
            hashes[kept] = hashes[start + index];
            kept += 1;
        }
    }
    words.truncate(kept);
}

/// How many words of a block are labels of links.
fn label_words(tokens: &[Token], links: &[Range<usize>]) -> usize {
    let mut labels = Labels::new(links);
    for token in tokens.iter().filter(|token| !token.is_noise) {
        match token.kind {
            TokenKind::Word | TokenKind::Number => labels.word(token.range().start),
            TokenKind::Character => labels.character(token.range().start),
            TokenKind::Sign | TokenKind::Mark | TokenKind::Secret => {}
        }
    }
    labels.finish()
}
