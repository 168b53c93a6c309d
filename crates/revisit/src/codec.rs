//! Numbers as few bytes, and back: what page states and the planner's own state are written with.
//!
//! A varint has seven bits in each byte, the lowest first, and the eighth set in all but the last (LEB128). Reading is
//! bounded: a [`Reader`] never goes beyond its bytes, and says none instead.

/// Appends a number.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while 0x7f < number {
        out.push(low_bits(number) | 0x80);
        number >>= 7;
    }
    out.push(low_bits(number));
}

/// Appends a number that may be negative, the small ones of either sign in few bytes.
pub(crate) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put_varint(out, (number << 1 ^ number >> 63).cast_unsigned());
}

/// Appends the four bytes of a float.
pub(crate) fn put_float(out: &mut Vec<u8>, number: f32) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Appends the upper three bytes of a float, rounded: sixteen significant bits.
pub(crate) fn put_short_float(out: &mut Vec<u8>, number: f32) {
    out.extend_from_slice(&shortened(number).to_le_bytes()[1..]);
}

/// The bits of a float whose last byte is zero: the nearest such one, and of two the even.
fn shortened(number: f32) -> u32 {
    let bits = number.to_bits();
    let is_odd = bits >> 8 & 1;
    bits.wrapping_add(0x7f + is_odd) & !0xff
}

/// Appends the eight bytes of a float.
pub(crate) fn put_double(out: &mut Vec<u8>, number: f64) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Appends bytes and how many they are.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn low_bits(number: u64) -> u8 {
    (number & 0x7f) as u8
}

/// Reads what the functions above wrote, from bytes that may be damaged.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    /// Whether all was read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// A number in its shortest form; none for any other.
    pub(crate) fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if (bits << shift) >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                let is_shortest = shift == 0 || bits != 0;
                return is_shortest.then_some(number);
            }
        }
        None
    }

    /// A number that fits a smaller type; none if it does not.
    pub(crate) fn number<N: TryFrom<u64>>(&mut self) -> Option<N> {
        N::try_from(self.varint()?).ok()
    }

    pub(crate) fn signed(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// A float that is a number.
    pub(crate) fn float(&mut self) -> Option<f32> {
        let number = f32::from_le_bytes(self.array()?);
        number.is_finite().then_some(number)
    }

    /// A float of three bytes that is a number.
    pub(crate) fn short_float(&mut self) -> Option<f32> {
        let [low, middle, high] = self.array()?;
        let number = f32::from_le_bytes([0, low, middle, high]);
        number.is_finite().then_some(number)
    }

    /// A float of double precision that is a number.
    pub(crate) fn double(&mut self) -> Option<f64> {
        let number = f64::from_le_bytes(self.array()?);
        number.is_finite().then_some(number)
    }

    /// Bytes, at most so many.
    pub(crate) fn bytes(&mut self, count_max: usize) -> Option<&'a [u8]> {
        let count = self.number::<usize>()?;
        if count_max < count {
            return None;
        }
        let (bytes, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(bytes)
    }

    pub(crate) fn array<const COUNT: usize>(&mut self) -> Option<[u8; COUNT]> {
        self.array_ref().copied()
    }

    pub(crate) fn array_ref<const COUNT: usize>(&mut self) -> Option<&'a [u8; COUNT]> {
        let (array, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(array)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn small_numbers_are_short() {
        for (number, length) in [(0, 1), (127, 1), (128, 2), (u64::MAX, 10)] {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, number);
            assert_eq!(bytes.len(), length, "{number}");
        }
        for (number, length) in [(-64, 1), (63, 1), (64, 2)] {
            let mut bytes = Vec::new();
            put_signed(&mut bytes, number);
            assert_eq!(bytes.len(), length, "{number}");
        }
    }

    #[test]
    fn a_number_has_one_form() {
        for bytes in [&[0x80][..], &[0x80, 0x00], &[0xff; 10], &[]] {
            assert_eq!(Reader::new(bytes).varint(), None, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            number: u64,
            signed: i64,
            float in -1e30_f32..1e30,
            double in -1e300_f64..1e300,
            short in -1e30_f32..1e30,
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let mut out = Vec::new();
            put_varint(&mut out, number);
            put_signed(&mut out, signed);
            put_float(&mut out, float);
            put_double(&mut out, double);
            put_short_float(&mut out, short);
            put_bytes(&mut out, &bytes);
            let mut reader = Reader::new(&out);
            prop_assert_eq!(reader.varint(), Some(number));
            prop_assert_eq!(reader.signed(), Some(signed));
            prop_assert_eq!(reader.float(), Some(float));
            prop_assert_eq!(reader.double(), Some(double));
            let rounded = reader.short_float().unwrap();
            prop_assert!((rounded - short).abs() <= short.abs() / 65_536.0);
            let mut again = Vec::new();
            put_short_float(&mut again, rounded);
            prop_assert_eq!(Reader::new(&again).short_float(), Some(rounded));
            prop_assert_eq!(reader.bytes(300), Some(&bytes[..]));
            prop_assert!(reader.is_at_end());
        }
    }
}
