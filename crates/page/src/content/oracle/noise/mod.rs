//! Tells what comes and goes in a text while it says the same: dates and times, counters, years of copyright.
//!
//! [`drop_from`] is called for each block. It recognises what is written for readers of English, Japanese and Chinese, by small
//! grammars that look a bounded way ahead: [`date`] and [`counter`]. What they take for noise and is not (a verse, a score) is
//! lost to the content; its payload is compared all the same.

mod counter;
mod cursor;
mod date;

use super::token::{Token, TokenKind};
use cursor::{Cursor, Hint};

/// Words that noise may begin with; most words are none of them, and cost no more than to see that.
const STARTS: Hint = hint_of([&date::STARTS, &counter::STARTS, &[&["pv"]]]);
/// Words that may follow a number that noise begins with.
const FOLLOWERS: Hint = hint_of([&date::FOLLOWERS, &counter::FOLLOWERS, &[&["pv"]]]);
/// Characters that may follow such a number, or begin noise.
const CHARACTERS: &str =
    "令平昭午年月日時分秒週ヶかカ天小周个回件人万千億フいビ閲アコ視再表訪来累本昨今合浏阅评次条";

const fn hint_of(groups: [&[&[&str]]; 3]) -> Hint {
    Hint::of(groups[0])
        .or(Hint::of(groups[1]))
        .or(Hint::of(groups[2]))
}

/// Marks the tokens of `text` that are noise.
pub(super) fn drop_from(text: &str, tokens: &mut [Token]) {
    let mut at = 0;
    while at < tokens.len() {
        let cursor = Cursor::new(text, tokens, at);
        let length = if may_begin(cursor) {
            length_at(cursor)
        } else {
            0
        };
        for token in &mut tokens[at..at + length] {
            token.kind = TokenKind::Noise;
        }
        at += length.max(1);
    }
}

/// Whether noise may begin here, at a glance.
fn may_begin(mut cursor: Cursor<'_>) -> bool {
    let is_character = |cursor: Cursor<'_>| {
        cursor
            .character()
            .is_some_and(|character| CHARACTERS.contains(character))
    };
    match cursor.kind() {
        Some(TokenKind::Word) => cursor.is_hinted(&STARTS),
        Some(TokenKind::Character) => is_character(cursor),
        Some(TokenKind::Mark) => matches!(cursor.character(), Some('©' | '(')),
        Some(TokenKind::Number) => {
            cursor.step();
            match cursor.kind() {
                Some(TokenKind::Word) => cursor.is_hinted(&FOLLOWERS),
                Some(TokenKind::Character) => is_character(cursor),
                Some(TokenKind::Mark | TokenKind::Sign) => cursor.is_tight(),
                Some(TokenKind::Number | TokenKind::Secret | TokenKind::Noise) | None => false,
            }
        }
        Some(TokenKind::Sign | TokenKind::Secret | TokenKind::Noise) | None => false,
    }
}

/// How many tokens are noise from the cursor on.
fn length_at(start: Cursor<'_>) -> usize {
    let mut cursor = start;
    let is_noise = date::skip(&mut cursor) || counter::skip(&mut cursor);
    if is_noise {
        cursor.distance_from(&start)
    } else {
        0
    }
}
