//! Bits of a `.graph` file, and the codes for whole numbers that are written in them.
//!
//! Boldi and Vigna, "The `WebGraph` Framework II: Codes for the World-Wide Web", DCC 2004. Most significant bit first.
//! Departures: none. Unlike the reader of the `webgraph` crate, which trusts its file, this one ends in an error at
//! whatever a damaged file can say.

use webgraph::prelude::CompFlags;

/// A code for whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Unary,
    Gamma,
    Delta,
    /// ζ with this shrinking factor.
    Zeta(u32),
}

/// The codes of a graph's five kinds of number.
#[derive(Clone, Copy, Debug)]
pub(super) struct GraphCodes {
    pub(super) outdegrees: Code,
    pub(super) references: Code,
    pub(super) blocks: Code,
    pub(super) intervals: Code,
    pub(super) residuals: Code,
}

impl GraphCodes {
    /// The codes that the properties of a graph name, or the name of one that cannot be read.
    pub(super) fn from_flags(flags: &CompFlags) -> Result<Self, String> {
        use dsi_bitstream::dispatch::Codes;
        let code = |named: Codes| match named {
            Codes::Unary => Ok(Code::Unary),
            Codes::Gamma => Ok(Code::Gamma),
            Codes::Delta => Ok(Code::Delta),
            Codes::Zeta(factor @ 1..=16) => Ok(Code::Zeta(u32::try_from(factor).unwrap_or(1))),
            other => Err(format!("code {other} cannot be read")),
        };
        Ok(Self {
            outdegrees: code(flags.outdegrees)?,
            references: code(flags.references)?,
            blocks: code(flags.blocks)?,
            intervals: code(flags.intervals)?,
            residuals: code(flags.residuals)?,
        })
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

#[cfg(test)]
mod tests {
    use dsi_bitstream::impls::{BufBitWriter, MemWordWriterVec};
    use dsi_bitstream::prelude::{DeltaWrite, GammaWrite, ZetaWrite};
    use dsi_bitstream::traits::{BE, BitWrite};
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

    fn written(numbers: &[(Code, u64)]) -> Vec<u8> {
        let mut writer = <BufBitWriter<BE, _>>::new(MemWordWriterVec::new(Vec::<u64>::new()));
        for &(code, number) in numbers {
            match code {
                Code::Unary => writer.write_unary(number % 300),
                Code::Gamma => writer.write_gamma(number),
                Code::Delta => writer.write_delta(number),
                Code::Zeta(factor) => writer.write_zeta(number, factor as usize),
            }
            .unwrap();
        }
        let words = writer.into_inner().unwrap().into_inner();
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    proptest! {
        #[test]
        fn numbers_that_another_library_wrote_are_read(
            numbers in proptest::collection::vec((0..ALL.len(), 0_u64..63, any::<u64>()), 0..60),
        ) {
            let numbers: Vec<(Code, u64)> = numbers
                .into_iter()
                .map(|(code, bits, number)| (ALL[code], number & ((1 << bits) - 1) & (u64::MAX >> 8)))
                .collect();
            let bytes = written(&numbers);
            let mut reader = BitReader::new(&bytes);
            for (code, number) in numbers {
                let number = if code == Code::Unary { number % 300 } else { number };
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
