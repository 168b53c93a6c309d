//! Tells what comes and goes in a text while it says the same: dates and times, counters, years of copyright.
//!
//! [`mark`] is called for each block. It recognises what is written for readers of English, Japanese and Chinese, by small
//! grammars that look a bounded way ahead: [`date`] and [`counter`]. What they take for noise and is not (a verse, a score) is
//! lost to the content; its payload is compared all the same.
//!
//! Most of a text is nowhere near noise. So whoever cuts the text into tokens notes those that noise can begin with, by
//! [`STARTS`] and [`may_begin_with`], and the grammars are asked at these alone.

mod counter;
mod cursor;
mod date;
mod vocabulary;

pub(super) use vocabulary::{STARTS, WordId};

use super::hash::{EIGHT, first_eight};
use super::token::{CASE_BITS, Token, TokenKind, letters_in, long_word_length};
use cursor::Cursor;
use vocabulary::{COUNTED, FOLLOWERS};

/// Characters that may follow a number that noise begins with.
const FOLLOWING_CHARACTERS: &str =
    "令平昭午年月日時分秒週ヶかカ天小周个回件人万千億フいビ閲アコ視再表訪来累本昨今合浏阅评次条";

/// Marks the tokens of `text` that are noise, and tells whether there are any. `suspects` are the positions of those that it may begin with.
pub(super) fn mark(text: &str, tokens: &mut [Token], suspects: &[u32]) -> bool {
    let mut end = 0;
    for suspect in suspects {
        let at = *suspect as usize;
        let cursor = Cursor::new(text, tokens, at);
        if at < end || !may_begin(cursor) {
            continue;
        }
        let length = length_at(cursor);
        if 0 < length {
            end = at + length;
            for token in &mut tokens[at..end] {
                token.is_noise = true;
            }
        }
    }
    0 < end
}

/// Whether a text may begin with what a page counts of itself: at a glance, which takes all that is not ASCII for that.
pub(super) fn may_be_counted(text: &[u8]) -> bool {
    let start = first_eight(text) | CASE_BITS;
    let (start, length) = match letters_in(start) {
        0 => return text.first().is_some_and(|byte| !byte.is_ascii()),
        EIGHT => (start, long_word_length(text)),
        length => (start & ((1 << (8 * length)) - 1), length),
    };
    WordId::of(start, length, text).is_in(COUNTED)
}

/// Whether noise may begin with the character of this number, at a glance.
#[inline]
pub(super) fn may_begin_with(character: u32) -> bool {
    /// The first characters of [`is_beginning`], and others whose numbers end alike.
    const GLANCE: [u64; 8] = {
        let mut sets = [0; 8];
        let characters = [
            '令', '平', '昭', '午', 'コ', '閲', 'ア', '視', '再', '表', '訪', '来', 'ビ', 'い',
            'フ', 'カ', '累', '本', '昨', '今', '浏', '阅', '评',
        ];
        let mut index = 0;
        while index < characters.len() {
            let low = characters[index] as usize % 512;
            sets[low / 64] |= 1_u64 << (low % 64);
            index += 1;
        }
        sets
    };
    let low = character as usize % 512;
    GLANCE[low / 64] >> (low % 64) & 1 != 0
}

/// Whether noise may begin with these two characters: an era, a half of a day, or the label of a counter.
fn is_beginning(first: char, second: char) -> bool {
    match first {
        '令' | '昭' => second == '和',
        '平' => second == '成',
        '午' => matches!(second, '前' | '後'),
        'コ' => second == 'メ',
        '閲' => second == '覧',
        'ア' => second == 'ク',
        '視' => second == '聴',
        '再' => second == '生',
        '表' => second == '示',
        '訪' => second == '問',
        '来' => matches!(second, '訪' | '場'),
        'ビ' => second == 'ュ',
        'い' => second == 'い',
        'フ' => second == 'ォ',
        'カ' => second == 'ウ',
        '累' => second == '計',
        '本' | '昨' | '今' => second == '日',
        '浏' => second == '览',
        '阅' => second == '读',
        '评' => second == '论',
        _ => false,
    }
}

/// Whether noise may begin with a suspect, at a second glance.
fn may_begin(mut cursor: Cursor<'_>) -> bool {
    match cursor.kind() {
        Some(TokenKind::Word) => true,
        // The sign of a copyright.
        Some(TokenKind::Mark) => {
            let start = cursor.rest().as_bytes().get(..3);
            cursor.rest().starts_with('©')
                || start.is_some_and(|start| start.eq_ignore_ascii_case(b"(c)"))
        }
        Some(TokenKind::Character) => {
            let mut characters = cursor.rest().chars();
            let (first, second) = (characters.next(), characters.next());
            matches!((first, second), (Some(first), Some(second)) if is_beginning(first, second))
        }
        Some(TokenKind::Number) => {
            cursor.step();
            match cursor.kind() {
                Some(TokenKind::Word) => cursor.is_word(FOLLOWERS),
                Some(TokenKind::Character) => cursor
                    .character()
                    .is_some_and(|character| FOLLOWING_CHARACTERS.contains(character)),
                Some(TokenKind::Mark | TokenKind::Sign) => cursor.is_tight(),
                Some(TokenKind::Number | TokenKind::Secret) | None => false,
            }
        }
        Some(TokenKind::Sign | TokenKind::Secret) | None => false,
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
