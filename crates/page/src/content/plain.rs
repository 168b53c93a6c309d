//! The words of a block without digits: most blocks are such, and hardly anything in them is noise.
//!
//! Dates, counters and what machines write for machines have digits in them. What has none is told by its words: how long ago something was
//! ("an hour ago", "just now"), and that there is nothing to count ("no comments"). So a block is read here in one go, without tokens, and left
//! to the tokenizer where one of these turns up. Both find the same words: the oracle's tests hold them to it.

use std::ops::Range;

use super::buffer::Buffer;
use super::hash::{self, first_eight};
use super::label::Labels;
use super::noise;
use super::token::{
    CASE_BITS, Class, TokenKind, class_at, class_of, common_character, is_secret, is_sign,
    letter_bits, long_word_length, other_token, secret_run,
};

/// Appends the hashes of the words of a text that has no digits, and counts those that are labels of `links`; none if there may be
/// noise in it, and then nothing is appended.
///
/// It costs least where eight bytes follow the last word: spaces, for instance.
pub(super) fn read(text: &str, links: &[Range<usize>], words: &mut Buffer) -> Option<usize> {
    if has_digit(text.as_bytes()) {
        return None;
    }
    let mut reader = Reader {
        text,
        at: 0,
        run_end: 0,
        // Each has a byte at least.
        hashes: words.room_for(text.len()),
        count: 0,
        labels: Labels::new(links),
    };
    reader.read()?;
    let (count, label_words) = (reader.count, reader.labels.finish());
    words.take_in(count);
    Some(label_words)
}

/// Whether there is an ASCII digit. A piece is looked at as a whole, which compilers turn into a few wide instructions.
fn has_digit(text: &[u8]) -> bool {
    const PIECE: usize = 64;
    let is_in = |piece: &[u8]| {
        piece
            .iter()
            .fold(false, |found, byte| found | byte.is_ascii_digit())
    };
    text.chunks(PIECE).any(is_in)
}

/// A text that is being read.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// What is before here has been found to be no secret.
    run_end: usize,
    hashes: &'a mut [u64],
    count: usize,
    labels: Labels<'a>,
}

impl Reader<'_> {
    /// Reads to the end, unless there may be noise.
    fn read(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        while let Some(rest) = bytes.get(self.at..).filter(|rest| !rest.is_empty()) {
            let eight = first_eight(rest);
            let bits = letter_bits(eight | CASE_BITS);
            if bits == 0 {
                self.other(eight, rest);
            } else if bits == u64::from(u64::BITS) {
                self.long_word(eight, rest)?;
            } else {
                let hash = hash::of_short(eight, bits);
                if is_suspect(hash) && self.may_be_noise(eight, bits) {
                    return None;
                }
                let next = class_of(eight >> bits);
                self.word(hash, (bits / 8) as usize, next)?;
            }
        }
        Some(())
    }

    fn long_word(&mut self, eight: u64, rest: &[u8]) -> Option<()> {
        let length = long_word_length(rest);
        let hash = hash::of_word(eight, &rest[..length]);
        self.word(hash, length, class_at(rest, length))
    }

    /// Takes a word of ASCII letters and the space behind it, unless it is part of a secret.
    #[inline]
    fn word(&mut self, hash: u64, length: usize, next: Class) -> Option<()> {
        if next == Class::Joiner && self.run_end <= self.at && self.is_secret() {
            return None;
        }
        self.labels.word(self.at);
        self.push(hash);
        self.at += length + usize::from(next == Class::Space);
        Some(())
    }

    /// Takes what is not a word of ASCII letters.
    fn other(&mut self, eight: u64, rest: &[u8]) {
        match class_of(eight) {
            Class::Space => self.at += 1,
            Class::Other => self.beyond_ascii(eight),
            Class::Letter | Class::Digit | Class::Joiner | Class::Mark => {
                // Before a digit, a minus would be one, too.
                if is_sign(rest[0]) {
                    self.push(hash::of_three(eight, 8));
                }
                self.at += 1;
            }
        }
    }

    /// Takes kana and common Han characters for as long as they follow each other, or something rarer.
    fn beyond_ascii(&mut self, mut eight: u64) {
        if common_character(eight).is_none() {
            return self.rarer(eight);
        }
        while common_character(eight).is_some() {
            self.labels.character(self.at);
            self.push(hash::of_three(eight, 24));
            self.at += 3;
            eight = first_eight(self.text.as_bytes().get(self.at..).unwrap_or_default());
        }
    }

    fn rarer(&mut self, eight: u64) {
        let rest = &self.text[self.at..];
        let Some((kind, length)) = other_token(rest) else {
            // White space.
            self.at += rest.chars().next().map_or(1, char::len_utf8);
            return;
        };
        match kind {
            TokenKind::Character => self.labels.character(self.at),
            TokenKind::Word | TokenKind::Number => self.labels.word(self.at),
            TokenKind::Sign | TokenKind::Mark | TokenKind::Secret => {}
        }
        if kind.is_word() {
            self.push(hash::of_word(eight, &rest.as_bytes()[..length]));
        }
        self.at += length;
    }

    #[inline]
    fn push(&mut self, hash: u64) {
        self.hashes[self.count] = hash;
        self.count += 1;
    }

    /// Whether noise may begin or end with the word that is next.
    #[cold]
    fn may_be_noise(&self, eight: u64, bits: u64) -> bool {
        let bytes = self.text.as_bytes();
        match (eight | CASE_BITS) & !(u64::MAX << bits) {
            NO => noise::may_be_counted(bytes[self.at + 2..].trim_ascii_start()),
            NOW => {
                let before = bytes[..self.at].trim_ascii_end();
                let is_beyond_ascii = before.last().is_some_and(|byte| !byte.is_ascii());
                let start = before.len().saturating_sub(4);
                is_beyond_ascii || before[start..].eq_ignore_ascii_case(b"just")
            }
            AGO => true,
            _ => false,
        }
    }

    /// Whether a token of a session or the like begins here, of letters alone.
    fn is_secret(&mut self) -> bool {
        let run = secret_run(&self.text.as_bytes()[self.at..]);
        self.run_end = self.at + run.len();
        is_secret(run)
    }
}

/// The words that noise without digits has in it.
const NO: u64 = u64::from_le_bytes(*b"no\0\0\0\0\0\0");
const NOW: u64 = u64::from_le_bytes(*b"now\0\0\0\0\0");
const AGO: u64 = u64::from_le_bytes(*b"ago\0\0\0\0\0");

/// Whether a word may be one of these, in whatever case, by its hash: few others are taken for one.
#[inline]
fn is_suspect(hash: u64) -> bool {
    /// A bit for each beginning of a hash.
    static SUSPECTS: [u64; 64] = {
        let mut sets = [0; 64];
        let words = [(NO, 2), (NOW, 3), (AGO, 3)];
        let mut index = 0;
        while index < words.len() {
            let (word, length) = words[index];
            let mut capitals = 0;
            while capitals < 1 << length {
                let case = capitals & 1 | (capitals & 2) << 7 | (capitals & 4) << 14;
                let hash = hash::of_short(word ^ (0x20 * case), 8 * length);
                sets[(hash >> 58) as usize] |= 1 << (hash >> 52 & 63);
                capitals += 1;
            }
            index += 1;
        }
        sets
    };
    SUSPECTS[(hash >> 58) as usize] >> (hash >> 52 & 63) & 1 != 0
}
