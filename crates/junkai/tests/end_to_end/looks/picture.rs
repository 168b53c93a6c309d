//! A screenshot: PNG as browsers write it, eight bits for each colour, and how much two of them differ.

use std::io::Read;

/// Colours that differ by less look the same.
const COLOUR_DIFFERENCE_MAX: u8 = 8;

pub(super) struct Picture {
    /// Bytes of a pixel.
    pixel: usize,
    width: usize,
    pixels: Vec<u8>,
}

impl Picture {
    pub(super) fn read(png: &[u8]) -> Picture {
        let mut rest = png.strip_prefix(b"\x89PNG\r\n\x1a\n").expect("a PNG file");
        let number = |bytes: &[u8]| u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
        let (mut header, mut packed) = (&[][..], Vec::new());
        while !rest.is_empty() {
            let length = number(rest);
            let data = &rest[8..8 + length];
            match &rest[4..8] {
                b"IHDR" => header = data,
                b"IDAT" => packed.extend_from_slice(data),
                _ => {}
            }
            rest = &rest[12 + length..];
        }
        let pixel = match header[8..] {
            [8, 2, 0, 0, 0] => 3,
            [8, 6, 0, 0, 0] => 4,
            ref other => panic!("a form of PNG that browsers do not write: {other:?}"),
        };
        let width = number(header);
        let mut filtered = Vec::new();
        let mut unpack = flate2::read::ZlibDecoder::new(&packed[..]);
        unpack.read_to_end(&mut filtered).unwrap();
        let mut before = vec![0; width * pixel];
        let mut pixels = Vec::with_capacity(filtered.len());
        for line in filtered.chunks_exact(width * pixel + 1) {
            before = unfiltered(line[0], &line[1..], &before, pixel);
            pixels.extend_from_slice(&before);
        }
        Picture {
            pixel,
            width,
            pixels,
        }
    }

    /// Of a thousand pixels, those that look other than in another picture.
    pub(super) fn differing_per_mille(&self, other: &Picture) -> usize {
        assert_eq!((self.width, self.pixel), (other.width, other.pixel));
        assert_eq!(self.pixels.len(), other.pixels.len());
        let pairs = self
            .pixels
            .chunks_exact(self.pixel)
            .zip(other.pixels.chunks_exact(self.pixel));
        let differs = |(one, other): &(&[u8], &[u8])| {
            let mut colours = one.iter().zip(*other);
            colours.any(|(one, other)| COLOUR_DIFFERENCE_MAX < one.abs_diff(*other))
        };
        pairs.filter(differs).count() * 1000 / (self.pixels.len() / self.pixel)
    }
}

/// A line of pixels, from what it differs by from its neighbours (PNG specification, section 9).
fn unfiltered(filter: u8, line: &[u8], above: &[u8], pixel: usize) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(line.len());
    for (at, byte) in line.iter().enumerate() {
        let (left, corner) = match at.checked_sub(pixel) {
            Some(at) => (out[at], above[at]),
            None => (0, 0),
        };
        let expected = match filter {
            0 => 0,
            1 => left,
            2 => above[at],
            3 => left.midpoint(above[at]),
            4 => nearest(left, above[at], corner),
            _ => panic!("no filter of PNG: {filter}"),
        };
        out.push(byte.wrapping_add(expected));
    }
    out
}

/// Paeth's choice.
fn nearest(left: u8, above: u8, corner: u8) -> u8 {
    let guess = i16::from(left) + i16::from(above) - i16::from(corner);
    let distance = |from: &u8| (guess - i16::from(*from)).abs();
    // Of several the first counts.
    [left, above, corner]
        .into_iter()
        .min_by_key(distance)
        .unwrap()
}
