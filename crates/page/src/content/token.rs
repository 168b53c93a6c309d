//! Cuts text into words, numbers, single characters and marks.
//!
//! Letters and digits are set apart from each other (`15T12` is three tokens), and so is each character of the scripts that do not
//! set words apart, as there is no telling where one ends. What is made by a machine for a machine (tokens of sessions, digests,
//! UUIDs) is told here, where it is still in one piece.

use std::ops::Range;

use super::buffer::Buffer;
use super::hash::{self, EIGHT, first_eight};
use super::noise::{self, STARTS, WordId};

/// The shortest run that may be a secret. A digest of 64 bits has as many digits.
const SECRET_LENGTH_MIN: usize = 16;
/// Digits of a number that is no quantity: seconds since 1970 have ten.
const STAMP_DIGITS_MIN: usize = 10;

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    start: u32,
    end: u32,
    pub(super) kind: TokenKind,
    /// Whether space stands before it.
    pub(super) is_spaced: bool,
    /// Whether it turned out to be noise.
    pub(super) is_noise: bool,
    /// Which word it is to those who tell noise.
    pub(super) word: WordId,
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
}

impl Token {
    /// Where it stands in the text.
    pub(super) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl TokenKind {
    /// Whether such tokens count as words of the text.
    pub(super) fn is_word(self) -> bool {
        match self {
            Self::Word | Self::Number | Self::Character | Self::Sign => true,
            Self::Mark | Self::Secret => false,
        }
    }
}

/// The tokens of a text.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) list: Vec<Token>,
    /// The positions of those that noise may begin with, at a glance.
    pub(super) suspects: Vec<u32>,
}

impl Tokens {
    /// Bytes that they take.
    pub(super) fn memory_bytes(&self) -> usize {
        self.list.capacity() * size_of::<Token>() + self.suspects.capacity() * size_of::<u32>()
    }
}

/// Cuts `text`, of at most 4 GiB, into tokens, which replace what was there, and appends the hashes of those that count as words.
///
/// It costs least where eight bytes follow the last word: spaces, for instance.
pub(super) fn tokenize(text: &str, tokens: &mut Tokens, words: &mut Buffer) {
    tokens.list.clear();
    tokens.suspects.clear();
    let text = &text[..text.floor_char_boundary(u32::MAX as usize)];
    let mut tokenizer = Tokenizer {
        text,
        tokens,
        // Each has a byte at least.
        words: words.room_for(text.len()),
        word_count: 0,
        at: 0,
        is_spaced: true,
        run_end: 0,
    };
    while tokenizer.at < text.len() {
        let first_eight = first_eight(&text.as_bytes()[tokenizer.at..]);
        match class_of(first_eight) {
            Class::Letter => tokenizer.words(),
            Class::Space => tokenizer.skip_space(1),
            Class::Digit => tokenizer.digits(first_eight),
            Class::Mark | Class::Joiner => tokenizer.mark(first_eight),
            Class::Other => tokenizer.other(first_eight),
        }
    }
    let word_count = tokenizer.word_count;
    words.take_in(word_count);
}

/// A text that is being cut.
struct Tokenizer<'a> {
    text: &'a str,
    tokens: &'a mut Tokens,
    words: &'a mut [u64],
    word_count: usize,
    at: usize,
    /// Whether space stands before.
    is_spaced: bool,
    /// What is before here has been found to be no secret: every byte is looked at once.
    run_end: usize,
}

impl Tokenizer<'_> {
    fn skip_space(&mut self, length: usize) {
        self.at += length;
        self.is_spaced = true;
    }

    /// Takes words of ASCII letters for as long as one space stands between them.
    fn words(&mut self) {
        let bytes = self.text.as_bytes();
        // Words are most of most texts: what changes from one to the next is here at hand.
        let (mut at, mut is_spaced) = (self.at, self.is_spaced);
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let first_eight = hash::first_eight(rest);
            let lower = first_eight | CASE_BITS;
            let count = letters_in(lower);
            if count == 0 {
                break;
            }
            let length = if count < EIGHT {
                count
            } else {
                long_word_length(rest)
            };
            let next = class_at(rest, length);
            let goes_on = matches!(next, Class::Digit | Class::Joiner);
            if goes_on && self.run_end <= at {
                (self.at, self.is_spaced) = (at, is_spaced);
                if self.secret() {
                    return;
                }
            }
            self.push_word(if count < EIGHT {
                hash::of_short(first_eight, 8 * length as u64)
            } else {
                hash::of_word(first_eight, &rest[..length])
            });
            let word = WordId::of(lower & FIRST_BYTES[count], length, rest);
            if word != WordId::OTHER && word.is_in(STARTS) {
                self.suspect();
            }
            self.tokens.list.push(Token {
                start: position(at),
                end: position(at + length),
                kind: TokenKind::Word,
                is_spaced,
                is_noise: false,
                word,
            });
            is_spaced = next == Class::Space;
            at += length + usize::from(is_spaced);
            if !is_spaced {
                break;
            }
        }
        (self.at, self.is_spaced) = (at, is_spaced);
    }

    /// Takes a number, or a stamp that is too long for one.
    fn digits(&mut self, first_eight: u64) {
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let goes_on = matches!(class_at(rest, length), Class::Letter | Class::Joiner);
        if goes_on && self.run_end <= self.at && self.secret() {
            return;
        }
        if STAMP_DIGITS_MIN <= length {
            self.push(TokenKind::Secret, length, WordId::OTHER);
        } else {
            self.suspect();
            self.push_word(hash::of_word(first_eight, &rest[..length]));
            self.push(TokenKind::Number, length, WordId::OTHER);
        }
    }

    /// Takes any other character of ASCII.
    fn mark(&mut self, first_eight: u64) {
        let byte = |index: u32| (first_eight >> (8 * index) & 0xFF) as u8;
        // A minus, unless it stands between two things.
        let is_minus = byte(0) == b'-' && self.is_spaced && byte(1).is_ascii_digit();
        if byte(0) == b'(' {
            self.suspect();
        }
        if is_minus || is_sign(byte(0)) {
            self.push_word(hash::of_three(first_eight, 8));
            self.push(TokenKind::Sign, 1, WordId::OTHER);
        } else {
            self.push(TokenKind::Mark, 1, WordId::OTHER);
        }
    }

    /// Takes what is not ASCII: first of all a run of kana and common Han characters.
    #[inline]
    fn other(&mut self, first_eight: u64) {
        let Some(mut code) = common_character(first_eight) else {
            return self.rarer(first_eight);
        };
        let mut first_three = first_eight;
        let (mut at, mut is_spaced) = (self.at, self.is_spaced);
        loop {
            if noise::may_begin_with(code) {
                self.suspect();
            }
            self.push_word(hash::of_three(first_three, 24));
            self.tokens.list.push(Token {
                start: position(at),
                end: position(at + 3),
                kind: TokenKind::Character,
                is_spaced,
                is_noise: false,
                word: WordId::OTHER,
            });
            at += 3;
            is_spaced = false;
            let rest = self.text.as_bytes().get(at..).unwrap_or_default();
            first_three = hash::first_eight(rest);
            match common_character(first_three) {
                Some(next) => code = next,
                None => break,
            }
        }
        (self.at, self.is_spaced) = (at, is_spaced);
    }

    /// Takes what is neither ASCII nor kana nor a common Han character.
    fn rarer(&mut self, first_eight: u64) {
        let rest = &self.text[self.at..];
        let Some((kind, length)) = other_token(rest) else {
            let white_space = rest.chars().next().map_or(1, char::len_utf8);
            return self.skip_space(white_space);
        };
        let may_begin_noise = |first: char| match kind {
            TokenKind::Character => noise::may_begin_with(u32::from(first)),
            _ => first == '©',
        };
        if rest.chars().next().is_some_and(may_begin_noise) {
            self.suspect();
        }
        if kind.is_word() {
            let source = &rest.as_bytes()[..length];
            self.push_word(hash::of_word(first_eight, source));
        }
        self.push(kind, length, WordId::OTHER);
    }

    /// Takes a secret, if one begins here, which is letters or digits that go on with others: alone they are none, however long.
    fn secret(&mut self) -> bool {
        let run = secret_run(&self.text.as_bytes()[self.at..]);
        self.run_end = self.at + run.len();
        let is_secret = is_secret(run);
        if is_secret {
            self.push(TokenKind::Secret, run.len(), WordId::OTHER);
        }
        is_secret
    }

    #[inline]
    fn push_word(&mut self, hash: u64) {
        self.words[self.word_count] = hash;
        self.word_count += 1;
    }

    /// Notes that noise may begin with the token that is pushed next.
    fn suspect(&mut self) {
        self.tokens.suspects.push(position(self.tokens.list.len()));
    }

    #[inline]
    fn push(&mut self, kind: TokenKind, length: usize, word: WordId) {
        let end = self.at + length;
        self.tokens.list.push(Token {
            start: position(self.at),
            end: position(end),
            kind,
            is_spaced: self.is_spaced,
            is_noise: false,
            word,
        });
        self.at = end;
        self.is_spaced = false;
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "no text that is cut has more bytes"
)]
fn position(at: usize) -> u32 {
    at as u32
}

/// What a byte begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Space,
    Letter,
    Digit,
    /// A mark that secrets may have in them.
    Joiner,
    Mark,
    /// Something beyond ASCII.
    Other,
}

static CLASSES: [Class; 256] = {
    let mut classes = [Class::Mark; 256];
    let mut byte: u8 = 0;
    loop {
        classes[byte as usize] = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0C' => Class::Space,
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'+' | b'/' | b'_' | b'-' => Class::Joiner,
            0x80.. => Class::Other,
            _ => Class::Mark,
        };
        if byte == u8::MAX {
            break classes;
        }
        byte += 1;
    }
};

/// The number of the kana or common Han character that eight bytes begin with: one of the most common that stand alone.
#[inline]
pub(super) fn common_character(first_eight: u64) -> Option<u32> {
    #[expect(clippy::cast_possible_truncation, reason = "of eight bytes, three")]
    let bytes = first_eight as u32;
    let bits = |shift: u32, mask: u32| bytes >> shift & mask;
    // As if it had three bytes, as these have: else the first of them gives it away.
    let code = bits(0, 0xFF) << 12 | bits(8, 0x3F) << 6 | bits(16, 0x3F);
    let is_common = matches!(code, 0xE_3041..=0xE_30FA | 0xE_30FC..=0xE_30FF | 0xE_4E00..=0xE_9FFF);
    is_common.then_some(code & 0xFFFF)
}

/// What the lowest of eight bytes begins.
#[inline]
pub(super) fn class_of(eight: u64) -> Class {
    CLASSES[(eight & 0xFF) as usize]
}

/// What a text begins at this place, which is its end at most.
#[inline]
pub(super) fn class_at(text: &[u8], at: usize) -> Class {
    text.get(at)
        .map_or(Class::Space, |byte| CLASSES[usize::from(*byte)])
}

/// One in each byte.
const EACH_BYTE: u64 = 0x0101_0101_0101_0101;
/// The bit of each byte that makes a letter small.
pub(super) const CASE_BITS: u64 = EACH_BYTE * 0x20;

/// The bits of so many bytes as the index says.
static FIRST_BYTES: [u64; EIGHT + 1] = [
    0,
    0xFF,
    0xFFFF,
    0xFF_FFFF,
    0xFFFF_FFFF,
    0xFF_FFFF_FFFF,
    0xFFFF_FFFF_FFFF,
    0xFF_FFFF_FFFF_FFFF,
    u64::MAX,
];

/// How many of eight bytes are letters before the first that is none; the case bit of all is set.
#[inline]
pub(super) fn letters_in(eight: u64) -> usize {
    (letter_bits(eight) / 8) as usize
}

/// The same as a number of bits.
#[inline]
pub(super) fn letter_bits(eight: u64) -> u64 {
    const HIGH: u64 = EACH_BYTE * 0x80;
    // The high bit of each byte tells, and no sum reaches the next byte.
    let low = eight & !HIGH;
    let from_a = low + EACH_BYTE * u64::from(0x80 - b'a');
    let beyond_z = low + EACH_BYTE * u64::from(0x7F - b'z');
    let others = !(from_a & !beyond_z & !eight) & HIGH;
    // Down to the byte's lowest bit.
    u64::from((others >> 7).trailing_zeros())
}

/// How many letters a word has that has eight at least.
pub(super) fn long_word_length(rest: &[u8]) -> usize {
    let is_letter = |byte: &&u8| byte.is_ascii_alphabetic();
    EIGHT + rest[EIGHT..].iter().take_while(is_letter).count()
}

/// The token at the start of a text that is not ASCII there, and its length; none for white space.
pub(super) fn other_token(rest: &str) -> Option<(TokenKind, usize)> {
    let first = rest.chars().next()?;
    let length = first.len_utf8();
    if stands_alone(first) {
        return Some((TokenKind::Character, length));
    }
    if is_letter(first) || first.is_numeric() {
        let is_inside = |character: &char| {
            (is_letter(*character) || is_combining(*character)) && !stands_alone(*character)
        };
        let more = rest[length..].chars().take_while(is_inside);
        let more: usize = more.map(char::len_utf8).sum();
        return Some((TokenKind::Word, length + more));
    }
    if first.is_whitespace() || is_invisible(first) {
        return None;
    }
    let is_sign = matches!(
        first,
        '€' | '£' | '¥' | '₩' | '±' | '×' | '÷' | '°' | '−' | '≤' | '≥'
    );
    let kind = if is_sign {
        TokenKind::Sign
    } else {
        TokenKind::Mark
    };
    Some((kind, length))
}

/// Whether a character is alphabetic; the letters of European languages are known without a look into Unicode's tables.
#[inline]
fn is_letter(character: char) -> bool {
    match character {
        '\u{00C0}'..='\u{024F}' => !matches!(character, '×' | '÷'),
        '\u{0400}'..='\u{0481}' => true,
        // Punctuation of English and Japanese.
        '\u{2010}'..='\u{2027}' | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' => false,
        _ => character.is_alphabetic(),
    }
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

/// Whether a mark of ASCII changes what a number means.
#[inline]
pub(super) fn is_sign(byte: u8) -> bool {
    matches!(byte, b'$' | b'%' | b'<' | b'>' | b'=' | b'+')
}

/// What a text begins with that may be a secret as a whole.
pub(super) fn secret_run(rest: &[u8]) -> &[u8] {
    &rest[..rest.iter().take_while(|byte| is_in_secret(**byte)).count()]
}

fn is_in_secret(byte: u8) -> bool {
    matches!(
        CLASSES[usize::from(byte)],
        Class::Letter | Class::Digit | Class::Joiner
    )
}

pub(super) fn is_secret(run: &[u8]) -> bool {
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
