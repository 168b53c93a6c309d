//! Tells what comes and goes in a text while it says the same: dates and times, counters, years of copyright.
//!
//! [`drop_from`] is called for each block. It recognises what is written for readers of English, Japanese and Chinese, by small
//! grammars that look a bounded way ahead: [`date`] and [`counter`]. What they take for noise and is not (a verse, a score) is
//! lost to the content; its payload is compared all the same.

mod counter;
mod cursor;
mod date;

use super::token::{Token, TokenKind};
use cursor::Cursor;

/// Marks the tokens of `text` that are noise.
pub(super) fn drop_from(text: &str, tokens: &mut [Token]) {
    let mut at = 0;
    while at < tokens.len() {
        let length = match tokens[at].kind {
            TokenKind::Number | TokenKind::Word | TokenKind::Character | TokenKind::Mark => {
                length_at(Cursor::new(text, tokens, at))
            }
            TokenKind::Sign | TokenKind::Secret | TokenKind::Noise => 0,
        };
        for token in &mut tokens[at..at + length] {
            token.kind = TokenKind::Noise;
        }
        at += length.max(1);
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
