//! Numbers and texts as bytes: the words that the files of this room are written in.
//!
//! Numbers are written in groups of seven bits, low ones first; a text is its length, then its bytes.

/// Appends a number in as few bytes as it needs.
#[inline]
pub(crate) fn put_number(number: u64, out: &mut Vec<u8>) {
    match u8::try_from(number) {
        Ok(small @ ..0x80) => out.push(small),
        Ok(_) | Err(_) => put_large_number(number, out),
    }
}

fn put_large_number(mut number: u64, out: &mut Vec<u8>) {
    while 0x80 <= number {
        out.push(low_seven(number) | 0x80);
        number >>= 7;
    }
    out.push(low_seven(number));
}

fn low_seven(number: u64) -> u8 {
    number.to_le_bytes()[0] & 0x7f
}

/// Appends bytes behind their number.
#[inline]
pub(crate) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_number(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Bytes that are still to be read.
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl<'a> Input<'a> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Option<u64> {
        match self.0.split_first() {
            Some((small @ ..0x80, rest)) => {
                self.0 = rest;
                Some(u64::from(*small))
            }
            Some(_) | None => self.large_number(),
        }
    }

    fn large_number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits.leading_zeros() < shift {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
}

/// Small numbers of either sign become small numbers.
pub(crate) fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

pub(crate) fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}
