//! Makes terms of text, for the index and for queries alike.
//!
//! Terms are [`Words`] by Unicode's rules, and pairs of neighbouring ideographs besides, so that a Japanese query finds a compound
//! whichever way either was split. English words are taken for their singular.

use std::borrow::Cow;

use tantivy::tokenizer::{PreTokenizedString, Token};

use super::Entry;
use crate::words::Words;

/// Words of a query that are looked for.
const QUERY_WORDS_MAX: usize = 64;
/// Words of a field that are indexed.
const FIELD_WORDS_MAX: usize = 4096;
/// Characters of a snippet.
const SNIPPET_CHARACTERS: usize = 160;

/// Words that are in every text, and say nothing where others do.
#[rustfmt::skip]
const EMPTY_WORDS: [&str; 30] = [
    "a", "an", "and", "are", "as", "at", "by", "for", "from", "in", "is", "it", "of", "on", "or", "that", "the", "to", "with",
    "の", "は", "を", "に", "が", "と", "で", "も", "へ", "や", "から",
];

/// Makes terms of text.
#[derive(Default)]
pub(super) struct Terms {
    words: Words,
}

impl Terms {
    /// Words, and pairs of ideographs.
    fn each(&self, text: &str, mut visit: impl FnMut(std::ops::Range<usize>, &str)) {
        self.words
            .each_at(text, |range, word| visit(range, &singular(word)));
        if !text.is_ascii() {
            Words::by_script().each_at(text, |range, word| {
                if !word.is_ascii() {
                    visit(range, word);
                }
            });
        }
    }

    pub(super) fn of_text(&self, text: &str) -> PreTokenizedString {
        let mut tokens = Vec::new();
        self.each(text, |range, word| {
            if tokens.len() < FIELD_WORDS_MAX {
                tokens.push(Token {
                    offset_from: range.start,
                    offset_to: range.end,
                    position: tokens.len(),
                    text: word.to_owned(),
                    position_length: 1,
                });
            }
        });
        PreTokenizedString {
            text: String::new(),
            tokens,
        }
    }

    pub(super) fn of_query(&self, query: &str) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        self.each(query, |_, word| {
            if words.len() < QUERY_WORDS_MAX && !words.iter().any(|known| known == word) {
                words.push(word.to_owned());
            }
        });
        let says_something = |word: &String| !EMPTY_WORDS.contains(&&**word);
        if words.iter().any(says_something) {
            words.retain(says_something);
        }
        words
    }

    /// The text with the most words of the query, from a little before the first of them.
    pub(super) fn snippet(&self, entry: &Entry, words: &[String]) -> String {
        let columns = entry.columns.join(", ");
        let mut best: Option<(usize, usize, &str)> = None;
        for text in [&*entry.context, &columns, &entry.title] {
            let mut found: Vec<&str> = Vec::new();
            let mut first = usize::MAX;
            self.each(text, |range, word| {
                if let Some(known) = words.iter().find(|known| *known == word) {
                    first = first.min(range.start);
                    if !found.contains(&&**known) {
                        found.push(known);
                    }
                }
            });
            if best.is_none_or(|(most, ..)| most < found.len()) && !found.is_empty() {
                best = Some((found.len(), first, text));
            }
        }
        best.map_or_else(
            || cut_around(&entry.title, 0),
            |(_, first, text)| cut_around(text, first),
        )
    }
}

/// An English word without the ending of its plural: Harman, "How Effective Is Suffixing?", JASIS 42(1), 1991, the S-stemmer.
fn singular(word: &str) -> Cow<'_, str> {
    /// Shorter words are names and units.
    const BYTES_MIN: usize = 4;
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    let without = |count: usize| &word[..word.len() - count];
    if !word.is_ascii() || word.len() < BYTES_MIN || !word.ends_with('s') {
        Cow::Borrowed(word)
    } else if ends(&["ies"]) && !ends(&["eies", "aies"]) {
        Cow::Owned(format!("{}y", without(3)))
    } else if ends(&["us", "ss"]) {
        Cow::Borrowed(word)
    } else {
        Cow::Borrowed(without(1))
    }
}

/// A piece of text around a place, with dots where it was cut.
fn cut_around(text: &str, at: usize) -> String {
    let before = text[..at.min(text.len())].chars().rev();
    let start = at
        - before
            .take(SNIPPET_CHARACTERS / 4)
            .map(char::len_utf8)
            .sum::<usize>()
            .min(at);
    let piece: String = text[start..].chars().take(SNIPPET_CHARACTERS).collect();
    let ends_early = start + piece.len() < text.len();
    format!(
        "{}{}{}",
        if 0 < start { "…" } else { "" },
        piece.trim(),
        if ends_early { "…" } else { "" }
    )
}
