//! How much of a block is labels: short links, such as menus are made of.

use std::ops::Range;
use std::slice;

/// A link of so many words may be a label; a longer one says something.
const LABEL_WORDS_MAX: usize = 4;
/// The same where each character counts as a word.
const LABEL_CHARACTERS_MAX: usize = 12;

/// Counts the words of labels while the words of a block go by, in their order.
pub(super) struct Labels<'a> {
    /// The links that come after `link`.
    links: slice::Iter<'a, Range<usize>>,
    /// The open link, or the one that begins next.
    link: Option<&'a Range<usize>>,
    is_open: bool,
    /// Where the open link ends, or the next one begins.
    edge: usize,
    /// Words and characters since the last edge.
    words: usize,
    characters: usize,
    total: usize,
}

impl<'a> Labels<'a> {
    /// `links` are where links are in the block's text, in order.
    pub(super) fn new(links: &'a [Range<usize>]) -> Self {
        let mut links = links.iter();
        let link = links.next();
        Self {
            links,
            link,
            is_open: false,
            edge: link.map_or(usize::MAX, |link| link.start),
            words: 0,
            characters: 0,
            total: 0,
        }
    }

    /// A word begins at this place.
    #[inline]
    pub(super) fn word(&mut self, at: usize) {
        if self.edge <= at {
            self.pass(at);
        }
        self.words += 1;
    }

    /// A character of a script that does not set words apart stands at this place.
    #[inline]
    pub(super) fn character(&mut self, at: usize) {
        if self.edge <= at {
            self.pass(at);
        }
        self.characters += 1;
    }

    /// How many words and characters are labels, now that all have gone by.
    pub(super) fn finish(mut self) -> usize {
        self.pass(usize::MAX - 1);
        self.total
    }

    /// Passes the edges up to this place.
    #[cold]
    fn pass(&mut self, at: usize) {
        while self.edge <= at {
            let Some(link) = self.link else { return };
            if self.is_open {
                self.end_link();
            } else {
                self.edge = link.end;
            }
            self.is_open = !self.is_open;
            (self.words, self.characters) = (0, 0);
        }
    }

    fn end_link(&mut self) {
        let all = self.words + self.characters;
        if self.words <= LABEL_WORDS_MAX && all <= LABEL_CHARACTERS_MAX {
            self.total += all;
        }
        self.link = self.links.next();
        self.edge = self.link.map_or(usize::MAX, |link| link.start);
    }
}
