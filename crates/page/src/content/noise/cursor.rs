//! Reads tokens one after the other; a copy is a way back.

use super::super::token::{Token, TokenKind};
use super::vocabulary::Lists;

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

    /// The text from the next token on.
    pub(super) fn rest(&self) -> &'a str {
        let start = self.tokens.get(self.at).map(|token| token.range().start);
        &self.text[start.unwrap_or(self.text.len())..]
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

    /// Takes a word of these lists, whatever its case is.
    pub(super) fn word(&mut self, lists: Lists) -> bool {
        let found = self.is_word(lists);
        self.at += usize::from(found);
        found
    }

    /// Whether the next token is a word of these lists.
    pub(super) fn is_word(&self, lists: Lists) -> bool {
        let token = self.tokens.get(self.at);
        token.is_some_and(|token| token.kind == TokenKind::Word && token.word.is_in(lists))
    }

    /// Takes one of these words that follows without space.
    pub(super) fn tight_word(&mut self, lists: Lists) -> bool {
        self.is_tight() && self.word(lists)
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
        if !self.rest().starts_with(text) {
            return false;
        }
        let end = self.text.len() - self.rest().len() + text.len();
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
