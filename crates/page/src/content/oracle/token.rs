//! Cuts text into words, numbers, single characters and marks.
//!
//! Letters and digits are set apart from each other (`15T12` is three tokens), and so is each character of the scripts that do not
//! set words apart, as there is no telling where one ends. What is made by a machine for a machine (tokens of sessions, digests,
//! UUIDs) is told here, where it is still in one piece.

use std::ops::Range;

/// The shortest run that may be a secret. A digest of 64 bits has as many digits.
const SECRET_LENGTH_MIN: usize = 16;
/// Digits of a number that is no quantity: seconds since 1970 have ten.
const STAMP_DIGITS_MIN: usize = 10;

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// Whether space stands before it.
    pub(super) is_spaced: bool,
    start: u32,
    end: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A run of letters.
    Word,
    /// A run of ASCII digits.
    Number,
    /// A character of a script that does not set words apart.
    Character,
    /// A sign that changes what a number means.
    Sign,
    /// Any other mark: punctuation.
    Mark,
    /// A token of a session, a digest, a time stamp.
    Secret,
    /// What turned out to be noise.
    Noise,
}

impl Token {
    /// Where it stands in the text.
    pub(super) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether it counts as a word of the text.
    pub(super) fn is_word(&self) -> bool {
        match self.kind {
            TokenKind::Word | TokenKind::Number | TokenKind::Character | TokenKind::Sign => true,
            TokenKind::Mark | TokenKind::Secret | TokenKind::Noise => false,
        }
    }
}

/// Cuts `text`, of at most 4 GiB, into tokens, which replace what was in the list.
pub(super) fn tokenize(text: &str, tokens: &mut Vec<Token>) {
    tokens.clear();
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut is_spaced = true;
    // What is before here has been found to be no secret: every byte is looked at once.
    let mut run_end = 0;
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii_whitespace() {
            is_spaced = true;
            at += 1;
            continue;
        }
        let (kind, length) = match byte {
            _ if byte.is_ascii_alphanumeric() && run_end <= at => {
                let run = secret_run(&bytes[at..]);
                run_end = at + run.len();
                if is_secret(run) {
                    (TokenKind::Secret, run.len())
                } else {
                    ascii_token(&bytes[at..], is_spaced)
                }
            }
            0..=0x7F => ascii_token(&bytes[at..], is_spaced),
            _ => match other_token(&text[at..]) {
                (Some(kind), length) => (kind, length),
                (None, length) => {
                    is_spaced = true;
                    at += length;
                    continue;
                }
            },
        };
        tokens.push(Token {
            kind,
            is_spaced,
            start: position(at),
            end: position(at + length),
        });
        at += length;
        is_spaced = false;
    }
}

fn position(at: usize) -> u32 {
    // A block is cut long before.
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn ascii_token(rest: &[u8], is_spaced: bool) -> (TokenKind, usize) {
    let first = rest[0];
    if first.is_ascii_alphanumeric() {
        let is_same_kind = |byte: &&u8| {
            byte.is_ascii_digit() == first.is_ascii_digit() && byte.is_ascii_alphanumeric()
        };
        let length = rest.iter().take_while(is_same_kind).count();
        let kind = match (first.is_ascii_digit(), length) {
            (true, STAMP_DIGITS_MIN..) => TokenKind::Secret,
            (true, _) => TokenKind::Number,
            (false, _) => TokenKind::Word,
        };
        return (kind, length);
    }
    let is_number_next = rest.get(1).is_some_and(u8::is_ascii_digit);
    let kind = match first {
        b'$' | b'%' | b'<' | b'>' | b'=' | b'+' => TokenKind::Sign,
        // A minus, unless it stands between two things.
        b'-' if is_spaced && is_number_next => TokenKind::Sign,
        _ => TokenKind::Mark,
    };
    (kind, 1)
}

/// The token at the start of a text that is not ASCII there; no kind for white space.
fn other_token(rest: &str) -> (Option<TokenKind>, usize) {
    let mut characters = rest.chars();
    let Some(first) = characters.next() else {
        return (None, 1);
    };
    let length = first.len_utf8();
    if first.is_whitespace() || is_invisible(first) {
        return (None, length);
    }
    if stands_alone(first) {
        return (Some(TokenKind::Character), length);
    }
    if !first.is_alphanumeric() {
        let is_sign = matches!(
            first,
            '€' | '£' | '¥' | '₩' | '±' | '×' | '÷' | '°' | '−' | '≤' | '≥'
        );
        let kind = if is_sign {
            TokenKind::Sign
        } else {
            TokenKind::Mark
        };
        return (Some(kind), length);
    }
    let is_inside = |character: &char| {
        (character.is_alphabetic() || is_combining(*character)) && !stands_alone(*character)
    };
    let more: usize = characters.take_while(is_inside).map(char::len_utf8).sum();
    (Some(TokenKind::Word), length + more)
}

/// Scripts that do not set words apart: Han, kana, Thai, Lao, Burmese, Khmer.
fn stands_alone(character: char) -> bool {
    matches!(
        character,
        '\u{0E00}'..='\u{0EFF}'
            | '\u{1000}'..='\u{109F}'
            | '\u{1780}'..='\u{17FF}'
            | '\u{3005}'..='\u{3007}'
            | '\u{3040}'..='\u{30FF}'
            | '\u{31F0}'..='\u{31FF}'
            | '\u{3400}'..='\u{4DBF}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{20000}'..='\u{3FFFF}'
    ) && character != '\u{30FB}'
}

/// Marks that belong to the letter before them.
fn is_combining(character: char) -> bool {
    matches!(character, '\u{0300}'..='\u{036F}' | '\u{0591}'..='\u{05C7}' | '\u{064B}'..='\u{065F}' | '\u{0900}'..='\u{0DFF}')
}

/// Characters that take no room: soft hyphens, joiners, direction marks, byte order marks.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{00AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}' | '\u{FEFF}'
    )
}

/// What a text begins with that may be a secret as a whole.
fn secret_run(rest: &[u8]) -> &[u8] {
    let is_inside =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-');
    &rest[..rest.iter().take_while(is_inside).count()]
}

fn is_secret(run: &[u8]) -> bool {
    SECRET_LENGTH_MIN <= run.len() && (is_uuid(run) || is_hexadecimal(run) || is_shuffled(run))
}

/// Hexadecimal digits of one case, both kinds of them.
fn is_hexadecimal(run: &[u8]) -> bool {
    let all = |is: fn(&u8) -> bool| run.iter().all(is);
    let is_one_case = all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        || all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'));
    is_one_case && run.iter().any(u8::is_ascii_digit) && run.iter().any(u8::is_ascii_alphabetic)
}

/// Whether capitals, small letters and digits are as mixed as in base64 of random bytes, where every second pair differs.
fn is_shuffled(run: &[u8]) -> bool {
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let mut counts = [0_usize; 4];
    for byte in run {
        counts[class(*byte)] += 1;
    }
    let switches = run
        .windows(2)
        .filter(|pair| class(pair[0]) != class(pair[1]))
        .count();
    // Words that hyphens join have few capitals and digits; a path of numbers has few letters.
    0 < counts[0]
        && 0 < counts[1]
        && 0 < counts[2]
        && counts[3] * 8 <= run.len()
        && run.len() <= switches * 3
}

/// 8-4-4-4-12 hexadecimal digits.
fn is_uuid(run: &[u8]) -> bool {
    let fits = |(index, byte): (usize, &u8)| match index {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    run.len() == 36 && run.iter().enumerate().all(fits)
}
