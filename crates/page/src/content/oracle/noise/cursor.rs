//! Reads tokens one after the other; a copy is a way back.

use super::super::token::{Token, TokenKind};

/// A place among the tokens of a text.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
}

/// A run of digits.
#[derive(Clone, Copy)]
pub(super) struct Number {
    /// At most ten digits are ever asked for.
    pub(super) value: u64,
    pub(super) digits: usize,
}

impl Number {
    /// Whether it may be a year of our time.
    pub(super) fn is_year(self) -> bool {
        self.digits == 4 && (1900..=2100).contains(&self.value)
    }

    /// Whether it has at most two digits, and this value.
    pub(super) fn is_in(self, range: std::ops::RangeInclusive<u64>) -> bool {
        self.digits <= 2 && range.contains(&self.value)
    }
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, tokens: &'a [Token], at: usize) -> Self {
        Self { text, tokens, at }
    }

    pub(super) fn distance_from(&self, start: &Self) -> usize {
        self.at - start.at
    }

    /// The next token's kind.
    pub(super) fn kind(&self) -> Option<TokenKind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    /// The kind of the token after the next.
    pub(super) fn kind_after(&self) -> Option<TokenKind> {
        self.tokens.get(self.at + 1).map(|token| token.kind)
    }

    /// Whether the next token follows without space.
    pub(super) fn is_tight(&self) -> bool {
        self.tokens
            .get(self.at)
            .is_some_and(|token| !token.is_spaced)
    }

    /// The next token's first character.
    pub(super) fn character(&self) -> Option<char> {
        self.source()?.chars().next()
    }

    /// Whether the next token is a word that a list with this hint may have.
    pub(super) fn is_hinted(&self, hint: &Hint) -> bool {
        self.source().is_some_and(|word| hint.may_have(word))
    }

    /// Steps over the next token.
    pub(super) fn step(&mut self) {
        self.at += 1;
    }

    /// Takes a number.
    pub(super) fn number(&mut self) -> Option<Number> {
        if self.kind()? != TokenKind::Number {
            return None;
        }
        let digits = self.source()?;
        self.at += 1;
        Some(Number {
            value: digits.parse().unwrap_or(u64::MAX),
            digits: digits.len(),
        })
    }

    /// Takes a number that follows without space.
    pub(super) fn tight_number(&mut self) -> Option<Number> {
        if self.is_tight() { self.number() } else { None }
    }

    /// Takes one of these words, which are in lower case, whatever its case is.
    pub(super) fn word(&mut self, words: &[&str]) -> bool {
        let found = self.kind() == Some(TokenKind::Word)
            && self
                .source()
                .is_some_and(|source| words.iter().any(|word| word.eq_ignore_ascii_case(source)));
        self.at += usize::from(found);
        found
    }

    /// Takes one of these words that follows without space.
    pub(super) fn tight_word(&mut self, words: &[&str]) -> bool {
        self.is_tight() && self.word(words)
    }

    /// Takes one of these marks or signs.
    pub(super) fn mark(&mut self, marks: &[char]) -> Option<char> {
        if !matches!(self.kind()?, TokenKind::Mark | TokenKind::Sign) {
            return None;
        }
        let mark = self.character().filter(|mark| marks.contains(mark))?;
        self.at += 1;
        Some(mark)
    }

    /// Takes one of these marks that follows without space.
    pub(super) fn tight_mark(&mut self, marks: &[char]) -> Option<char> {
        if self.is_tight() {
            self.mark(marks)
        } else {
            None
        }
    }

    /// Takes this very text if whole tokens make it up.
    pub(super) fn literal(&mut self, text: &str) -> bool {
        let Some(start) = self.tokens.get(self.at).map(|token| token.range().start) else {
            return false;
        };
        if !self.text[start..].starts_with(text) {
            return false;
        }
        let end = start + text.len();
        let rest = &self.tokens[self.at..];
        let count = rest
            .iter()
            .take_while(|token| token.range().end <= end)
            .count();
        let is_whole = count.checked_sub(1).map(|last| rest[last].range().end) == Some(end);
        self.at += if is_whole { count } else { 0 };
        is_whole
    }

    /// Takes the first of these texts that is there.
    pub(super) fn literal_of(&mut self, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.literal(text))
    }

    /// Takes what `grammar` accepts, or nothing.
    pub(super) fn accept(&mut self, grammar: impl FnOnce(&mut Self) -> Option<()>) -> bool {
        let mut ahead = *self;
        let is_accepted = grammar(&mut ahead).is_some();
        if is_accepted {
            *self = ahead;
        }
        is_accepted
    }

    fn source(&self) -> Option<&'a str> {
        let token = self.tokens.get(self.at)?;
        Some(&self.text[token.range()])
    }
}

/// Tells of most words that lists do not have them, by their length and their first and last letters.
#[derive(Clone, Copy)]
pub(super) struct Hint([u64; Hint::SETS]);

impl Hint {
    const SETS: usize = 16;

    /// The hint of some lists of ASCII words in lower case.
    pub(super) const fn of(lists: &[&[&str]]) -> Self {
        let mut hint = Self([0; Self::SETS]);
        let mut list = 0;
        while list < lists.len() {
            let mut word = 0;
            while word < lists[list].len() {
                let (set, bit) = Self::place(lists[list][word].as_bytes());
                hint.0[set] |= bit;
                word += 1;
            }
            list += 1;
        }
        hint
    }

    /// The hint of the lists of both.
    pub(super) const fn or(mut self, other: Self) -> Self {
        let mut set = 0;
        while set < Self::SETS {
            self.0[set] |= other.0[set];
            set += 1;
        }
        self
    }

    /// The same for a word in any case.
    const fn place(word: &[u8]) -> (usize, u64) {
        let (Some(first), Some(last)) = (word.first(), word.last()) else {
            return (0, 0);
        };
        let letters = (*first & 0x1F) as usize * 27 + (*last & 0x1F) as usize;
        let place = letters + word.len() * 61;
        (place / 64 % Self::SETS, 1 << (place % 64))
    }

    fn may_have(&self, word: &str) -> bool {
        let (set, bit) = Self::place(word.as_bytes());
        self.0[set] & bit != 0
    }
}
