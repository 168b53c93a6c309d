//! Bits of a `.graph` file, and the codes for whole numbers that are written in them.
//!
//! Boldi and Vigna, "The `WebGraph` Framework II: Codes for the World-Wide Web", DCC 2004. Most significant bit first.
//! Departures: none. Unlike the reader of the `webgraph` crate, which trusts its file, this one ends in an error at
//! whatever a damaged file can say.

use std::io::{self, Write};

/// A code for whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Unary,
    Gamma,
    Delta,
    /// ζ with this shrinking factor.
    Zeta(u32),
}

impl Code {
    /// How many bits a number takes.
    pub(super) fn length(self, number: u64) -> u64 {
        let highest = u64::from((number + 1).ilog2());
        match self {
            Code::Unary => number + 1,
            Code::Gamma => 2 * highest + 1,
            Code::Delta => highest + Code::Gamma.length(highest),
            Code::Zeta(factor) => {
                let factor = u64::from(factor);
                let steps = highest / factor;
                let is_short = number + 1 < 2 << (steps * factor);
                steps + 1 + (steps + 1) * factor - u64::from(is_short)
            }
        }
    }
}

/// Why there is no number to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BitError {
    /// The bits end.
    End,
    /// The number has more than 63 bits.
    Huge,
}

/// Reads numbers from bits.
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    place: u64,
    end: u64,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            place: 0,
            end: 8 * bytes.len() as u64,
        }
    }

    /// Bits read so far.
    pub(super) fn place(&self) -> u64 {
        self.place
    }

    #[inline]
    pub(super) fn read(&mut self, code: Code) -> Result<u64, BitError> {
        match code {
            Code::Unary => self.unary(),
            Code::Gamma => self.gamma(),
            Code::Delta => self.delta(),
            Code::Zeta(factor) => self.zeta(factor),
        }
    }

    /// The number of zeros before the next one.
    #[inline]
    fn unary(&mut self) -> Result<u64, BitError> {
        let start = self.place;
        loop {
            let zeros = u64::from(self.peek().leading_zeros());
            if zeros < 64 {
                self.place += zeros + 1;
                return Ok(self.place - start - 1);
            }
            self.place += 64;
            if self.end <= self.place {
                return Err(BitError::End);
            }
        }
    }

    /// The unary length of what follows the highest bit, then that.
    #[inline]
    fn gamma(&mut self) -> Result<u64, BitError> {
        let length = self.unary()?;
        let rest = self.bits(length)?;
        Ok(((1 << length) | rest) - 1)
    }

    /// As gamma, with the length in gamma.
    fn delta(&mut self) -> Result<u64, BitError> {
        let length = self.gamma()?;
        let rest = self.bits(length)?;
        Ok(((1 << length) | rest) - 1)
    }

    /// The unary number of steps of `factor` bits, then a minimal binary number within the last step.
    #[inline]
    fn zeta(&mut self, factor: u32) -> Result<u64, BitError> {
        let steps = self.unary()?;
        let low_bits = steps.saturating_mul(u64::from(factor));
        let bits = low_bits + u64::from(factor);
        if 63 < bits {
            return Err(BitError::Huge);
        }
        let low = 1 << low_bits;
        let short = self.bits(bits - 1)?;
        Ok(if short < low {
            short + low - 1
        } else {
            ((short << 1) | self.bits(1)?) - 1
        })
    }

    /// A number of so many bits.
    #[inline]
    fn bits(&mut self, count: u64) -> Result<u64, BitError> {
        if 63 < count {
            return Err(BitError::Huge);
        }
        let bits = if count == 0 {
            0
        } else {
            self.peek() >> (64 - count)
        };
        self.place += count;
        if self.end < self.place {
            return Err(BitError::End);
        }
        Ok(bits)
    }

    /// The next 64 bits, zeros beyond the end.
    #[inline]
    fn peek(&self) -> u64 {
        let first = usize::try_from(self.place / 8).unwrap_or(usize::MAX);
        let mut window = [0; 9];
        if let Some(bytes) = self.bytes.get(first..first.saturating_add(9)) {
            window.copy_from_slice(bytes);
        } else {
            let rest = self.bytes.get(first..).unwrap_or_default();
            window[..rest.len()].copy_from_slice(rest);
        }
        let [head @ .., last] = window;
        let shift = self.place % 8;
        let head = u64::from_be_bytes(head) << shift;
        head | (u64::from(last) << shift) >> 8
    }
}

/// Writes numbers as bits. Numbers are less than 2⁶³ − 1.
pub(super) struct BitWriter<W: Write> {
    to: W,
    /// The bits that do not fill a word yet: the lowest `pending_bits` of it.
    pending: u64,
    pending_bits: u32,
    written: u64,
}

impl<W: Write> BitWriter<W> {
    pub(super) fn new(to: W) -> Self {
        Self {
            to,
            pending: 0,
            pending_bits: 0,
            written: 0,
        }
    }

    /// Bits written so far.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    pub(super) fn write(&mut self, code: Code, number: u64) -> io::Result<()> {
        let shifted = number + 1;
        let highest = shifted.ilog2();
        let rest = shifted ^ (1 << highest);
        match code {
            Code::Unary => self.unary(number),
            Code::Gamma => {
                self.unary(u64::from(highest))?;
                self.bits(rest, highest)
            }
            Code::Delta => {
                self.write(Code::Gamma, u64::from(highest))?;
                self.bits(rest, highest)
            }
            Code::Zeta(factor) => {
                let steps = highest / factor;
                let low = 1 << (steps * factor);
                let bits = (steps + 1) * factor;
                self.unary(u64::from(steps))?;
                if shifted < 2 * low {
                    self.bits(shifted - low, bits - 1)
                } else {
                    self.bits(shifted, bits)
                }
            }
        }
    }

    /// Fills the last word with zeros, as the reference library does.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let missing = (WORD_BITS - self.pending_bits) % WORD_BITS;
        self.bits(0, missing)?;
        Ok(self.to)
    }

    fn unary(&mut self, number: u64) -> io::Result<()> {
        const ZEROS_MAX: u32 = 32;
        let mut zeros = number;
        while u64::from(ZEROS_MAX) <= zeros {
            self.bits(0, ZEROS_MAX)?;
            zeros -= u64::from(ZEROS_MAX);
        }
        self.bits(1, 1 + u32::try_from(zeros).unwrap_or(ZEROS_MAX))
    }

    /// Writes the lowest `count` bits of a number that has no others, fewer than a word.
    fn bits(&mut self, number: u64, count: u32) -> io::Result<()> {
        debug_assert!(
            count < WORD_BITS && number >> count == 0,
            "{count} bits of {number}"
        );
        self.written += u64::from(count);
        let room = WORD_BITS - self.pending_bits;
        if count < room {
            self.pending = self.pending << count | number;
            self.pending_bits += count;
            return Ok(());
        }
        let left = count - room;
        let word = if room == WORD_BITS {
            number
        } else {
            self.pending << room | number >> left
        };
        self.to.write_all(&word.to_be_bytes())?;
        self.pending = number & ((1 << left) - 1);
        self.pending_bits = left;
        Ok(())
    }
}

const WORD_BITS: u32 = u64::BITS;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Code; 6] = [
        Code::Unary,
        Code::Gamma,
        Code::Delta,
        Code::Zeta(1),
        Code::Zeta(3),
        Code::Zeta(7),
    ];

    /// The bits of a number, as text.
    fn code_word(code: Code, number: u64) -> String {
        let mut writer = BitWriter::new(Vec::new());
        writer.write(code, number).unwrap();
        let length = usize::try_from(writer.written()).unwrap();
        let bytes = writer.finish().unwrap();
        let mut bits = String::new();
        bits.extend(bytes.iter().map(|byte| format!("{byte:08b}")));
        assert!(!bits.split_off(length).contains('1'));
        bits
    }

    /// The table in section 2 of the paper, whose numbers begin with 1.
    #[test]
    fn code_words_are_those_of_the_paper() {
        for (number, gamma, delta, zeta2, zeta3) in [
            (1, "1", "1", "10", "100"),
            (2, "010", "0100", "110", "1010"),
            (3, "011", "0101", "111", "1011"),
            (4, "00100", "01100", "01000", "1100"),
            (5, "00101", "01101", "01001", "1101"),
            (6, "00110", "01110", "01010", "1110"),
            (7, "00111", "01111", "01011", "1111"),
            (8, "0001000", "00100000", "011000", "0100000"),
        ] {
            let words = [
                (Code::Gamma, gamma),
                (Code::Delta, delta),
                (Code::Zeta(1), gamma),
                (Code::Zeta(2), zeta2),
                (Code::Zeta(3), zeta3),
            ];
            for (code, word) in words {
                assert_eq!(code_word(code, number - 1), word, "{code:?} of {number}");
            }
        }
        assert_eq!(code_word(Code::Unary, 3), "0001");
    }

    proptest! {
        #[test]
        fn numbers_that_were_written_are_read(
            numbers in proptest::collection::vec((0..ALL.len(), 0_u64..63, any::<u64>()), 0..60),
        ) {
            let numbers: Vec<(Code, u64)> = numbers
                .into_iter()
                .map(|(code, bits, number)| (ALL[code], number & ((1 << bits) - 1) & (u64::MAX >> 8)))
                .map(|(code, number)| (code, if code == Code::Unary { number % 300 } else { number }))
                .collect();
            let mut writer = BitWriter::new(Vec::new());
            for &(code, number) in &numbers {
                let begun = writer.written();
                writer.write(code, number).unwrap();
                prop_assert_eq!(writer.written() - begun, code.length(number), "{:?} of {}", code, number);
            }
            let bytes = writer.finish().unwrap();
            let mut reader = BitReader::new(&bytes);
            for (code, number) in numbers {
                prop_assert_eq!(reader.read(code), Ok(number), "{:?}", code);
            }
        }

        #[test]
        fn any_bits_come_to_an_end(bytes in proptest::collection::vec(any::<u8>(), 0..100), code in 0..ALL.len()) {
            let mut reader = BitReader::new(&bytes);
            let mut count = 0;
            while reader.read(ALL[code]).is_ok() {
                count += 1;
                prop_assert!(count <= 8 * bytes.len());
            }
        }
    }

    #[test]
    fn bits_end_and_numbers_have_an_upper_bound() {
        assert_eq!(BitReader::new(&[]).read(Code::Unary), Err(BitError::End));
        assert_eq!(
            BitReader::new(&[0; 40]).read(Code::Gamma),
            Err(BitError::End)
        );
        let mut long = [0; 40];
        long[20] = 1;
        for code in &ALL[1..] {
            assert_eq!(
                BitReader::new(&long).read(*code),
                Err(BitError::Huge),
                "{code:?}"
            );
        }
        assert_eq!(BitReader::new(&long).read(Code::Unary), Ok(167));
    }
}
