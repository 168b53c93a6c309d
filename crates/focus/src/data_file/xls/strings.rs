//! The texts that the cells of a workbook share, which run on over the ends of records: MS-XLS, sections 2.4.265 and 2.5.293.

use super::{TEXT_BYTES, wide_text};
use crate::data_file::cell::cut;

/// The texts that cells share, out of the records that hold them.
pub(super) fn read(pieces: &[&[u8]]) -> Vec<String> {
    let mut reader = Pieces { pieces, at: 8 };
    let mut strings = Vec::new();
    while let Some(text) = reader.string() {
        strings.push(text);
    }
    strings
}

/// Reads on from piece to piece.
struct Pieces<'a> {
    pieces: &'a [&'a [u8]],
    at: usize,
}

impl Pieces<'_> {
    fn string(&mut self) -> Option<String> {
        let count = usize::from(self.byte()?) | usize::from(self.byte()?) << 8;
        let flags = self.byte()?;
        let run_count = if flags & 8 == 0 {
            0
        } else {
            usize::from(self.byte()?) | usize::from(self.byte()?) << 8
        };
        let mut extension = 0;
        if flags & 4 != 0 {
            for shift in [0, 8, 16, 24] {
                extension |= usize::from(self.byte()?) << shift;
            }
        }
        let text = self.characters(count, flags & 1 == 1);
        self.skip(run_count * 4 + extension);
        Some(text)
    }

    /// Characters; where a piece ends among them, the next begins with flags of its own.
    fn characters(&mut self, count: usize, mut is_wide: bool) -> String {
        let mut text = String::new();
        let mut left = count;
        while 0 < left {
            if self.rest().is_empty() {
                if !self.next_piece() {
                    break;
                }
                is_wide = self.byte().is_some_and(|flags| flags & 1 == 1);
            }
            let width = if is_wide { 2 } else { 1 };
            let rest = self.rest();
            let here = (rest.len() / width).min(left);
            if text.len() < TEXT_BYTES {
                text.push_str(&wide_text(rest, here.min(TEXT_BYTES), is_wide));
            }
            // Half a character at the end of a piece is damage, and left behind.
            let taken = if here == 0 { rest.len() } else { here * width };
            self.at += taken;
            left -= here;
        }
        cut(&text, TEXT_BYTES).to_owned()
    }

    fn byte(&mut self) -> Option<u8> {
        while self.rest().is_empty() {
            if !self.next_piece() {
                return None;
            }
        }
        let byte = self.rest()[0];
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, mut count: usize) {
        while 0 < count {
            let here = self.rest().len().min(count);
            self.at += here;
            count -= here;
            if 0 < count && !self.next_piece() {
                return;
            }
        }
    }

    fn rest(&self) -> &[u8] {
        let piece = self.pieces.first().copied().unwrap_or_default();
        piece.get(self.at..).unwrap_or_default()
    }

    fn next_piece(&mut self) -> bool {
        self.at = 0;
        match self.pieces {
            [] | [_] => {
                self.pieces = &[];
                false
            }
            [_, rest @ ..] => {
                self.pieces = rest;
                true
            }
        }
    }
}
