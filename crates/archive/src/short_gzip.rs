//! Gzip for records of a few hundred bytes, by Huffman codes that are always the same.
//!
//! For every member a general compressor clears a table of 128 KiB and works out Huffman codes: for the `request` and `metadata` records of
//! a capture that takes several times as long as all the rest. Here the codes are fixed. They were chosen for what such records consist of (named fields,
//! URLs, identifiers in hexadecimal, digests), together with the length of their own description, and one pass over a record writes it. It becomes about as
//! short as by libdeflate at its first level, in a fifth of the time.
//!
//! [`Compressor`](crate::compress::Compressor) calls this for short records at that level. RFC 1951 (deflate): one block with codes of its own; RFC 1952 (gzip).
//!
//! Invariant: what is appended is one whole gzip member that holds the record. Not here: other levels, and bytes beyond ASCII, which have no codes.

use libdeflater::crc32;

/// The longest record that is short: for each distance within it there is a code.
const SHORT_BYTES_MAX: usize = 2048;

/// Lengths of the codes of characters, in bits, and which characters have them.
const CHARACTER_LENGTHS: [(u8, &str); 5] = [
    (4, "ae"),
    (5, "-:ct"),
    (6, "\n\r ./0123456789ABCDERTbdfghijklmnopqrsu"),
    (9, "()*+,;<=>?@FGHIJKLMNOPQSUVWXYZvwxyz"),
    (12, "\t!\"#$%&'[\\]^_`{|}~"),
];
/// Length of the code that ends a block.
const END_LENGTH: u8 = 9;
/// Lengths of the codes of match lengths, from symbol 257 on.
const MATCH_LENGTHS: [u8; 29] = [
    10, 6, 6, 9, 6, 9, 9, 9, 9, 9, 9, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
    12, 12, 12,
];
/// Lengths of the codes of distances up to [`SHORT_BYTES_MAX`].
const DISTANCE_LENGTHS: [u8; 22] = [
    9, 9, 9, 9, 9, 9, 4, 4, 4, 4, 4, 4, 4, 6, 2, 4, 4, 4, 4, 6, 6, 8,
];
/// Lengths of the codes by which the lengths of all others are told, from symbol 0 on.
const DESCRIPTION_LENGTHS: [u8; 19] = [5, 0, 6, 0, 4, 4, 2, 0, 6, 3, 6, 0, 3, 0, 0, 0, 2, 6, 5];

/// Symbol that ends a block.
const END: usize = 256;
/// Symbols of characters, of the end and of match lengths.
const SYMBOLS: usize = 286;
/// The shortest and the longest match.
const MATCH_MIN: usize = 4;
const MATCH_MAX: usize = 258;
/// For each symbol of match lengths, the shortest that it stands for (RFC 1951, section 3.2.5).
const MATCH_STARTS: [usize; 29] = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
    163, 195, 227, 258,
];
/// In which order the lengths of the codes of descriptions stand (RFC 1951, section 3.2.7).
const DESCRIPTION_ORDER: [usize; 19] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];
/// Places where a match may begin that are remembered, a power of two.
const PLACES: usize = 1 << PLACES_BITS;
const PLACES_BITS: u32 = 10;
/// A member's magic number, deflate, no flags, no time, fastest, no system told (RFC 1952, section 2.3).
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];

/// Compresses short records.
pub(crate) struct ShortGzip {
    /// What every member begins with: its header, and the description of the codes.
    beginning: Vec<u8>,
    /// The bits of the description that do not fill a byte.
    beginning_rest: Code,
    /// Of characters, by their byte; the length is 0 where there is none.
    characters: [Code; 256],
    end: Code,
    /// Of match lengths, with the bits that follow the code.
    matches: [Code; MATCH_MAX + 1],
    distances: [Code; DISTANCE_LENGTHS.len()],
    /// Where in the record four bytes with this hash stood last, plus one.
    places: [u16; PLACES],
}

/// Some bits, the first one lowest.
#[derive(Clone, Copy, Debug, Default)]
struct Code {
    bits: u32,
    length: u32,
}

impl ShortGzip {
    pub(crate) fn new() -> Self {
        let mut lengths = [0; SYMBOLS];
        for (length, characters) in CHARACTER_LENGTHS {
            for character in characters.bytes() {
                lengths[usize::from(character)] = length;
            }
        }
        lengths[END] = END_LENGTH;
        lengths[END + 1..].copy_from_slice(&MATCH_LENGTHS);
        let mut codes = [Code::default(); SYMBOLS];
        assign(&lengths, &mut codes);
        let mut distances = [Code::default(); DISTANCE_LENGTHS.len()];
        assign(&DISTANCE_LENGTHS, &mut distances);
        let mut characters = [Code::default(); 256];
        characters.copy_from_slice(&codes[..END]);
        let mut beginning = GZIP_HEADER.to_vec();
        let beginning_rest = describe(&lengths, &mut beginning);
        Self {
            beginning,
            beginning_rest,
            characters,
            end: codes[END],
            matches: std::array::from_fn(|length| match_code(length, &codes[END + 1..])),
            distances,
            places: [0; PLACES],
        }
    }

    /// Appends the record as a member to `out`, if it is short and there are codes for all of its bytes; says whether it did.
    pub(crate) fn append(&mut self, record: &[u8], out: &mut Vec<u8>) -> bool {
        let start = out.len();
        if SHORT_BYTES_MAX < record.len() {
            return false;
        }
        out.reserve(self.beginning.len() + record.len() * 2);
        out.extend_from_slice(&self.beginning);
        let mut writer = BitWriter {
            out,
            bits: 0,
            length: 0,
        };
        writer.put(self.beginning_rest);
        if !self.put_block(record, &mut writer) {
            out.truncate(start);
            return false;
        }
        writer.finish();
        let length = u32::try_from(record.len()).unwrap_or_default();
        out.extend_from_slice(&crc32(record).to_le_bytes());
        out.extend_from_slice(&length.to_le_bytes());
        true
    }

    /// Writes the record as characters and matches, the first that is found each; false if a byte has no code.
    fn put_block(&mut self, record: &[u8], writer: &mut BitWriter<'_>) -> bool {
        self.places.fill(0);
        let mut at = 0;
        while let Some(four) = record[at..].first_chunk::<MATCH_MIN>() {
            let place = &mut self.places[hash(*four)];
            let before = usize::from(*place);
            // A record has fewer bytes than fit.
            *place = u16::try_from(at + 1).unwrap_or_default();
            if let Some(before) = before.checked_sub(1)
                && record[before..].starts_with(four)
            {
                let length = match_length(&record[before..], &record[at..]);
                writer.put(self.matches[length]);
                self.put_distance(at - before, writer);
                at += length;
            } else {
                let code = self.characters[usize::from(four[0])];
                if code.length == 0 {
                    return false;
                }
                writer.put(code);
                at += 1;
            }
        }
        for byte in &record[at..] {
            let code = self.characters[usize::from(*byte)];
            if code.length == 0 {
                return false;
            }
            writer.put(code);
        }
        writer.put(self.end);
        true
    }

    /// The code of a distance and the bits that follow it (RFC 1951, section 3.2.5): two symbols for each power of two.
    fn put_distance(&self, distance: usize, writer: &mut BitWriter<'_>) {
        let Ok(rest) = u32::try_from(distance - 1) else {
            unreachable!("a record is short")
        };
        if rest < 4 {
            writer.put(self.distances[rest as usize]);
            return;
        }
        let power = rest.ilog2();
        let extra = power - 1;
        let symbol = 2 * power + (rest >> extra & 1);
        let code = self.distances[symbol as usize];
        writer.put(Code {
            bits: code.bits | (rest & ((1 << extra) - 1)) << code.length,
            length: code.length + extra,
        });
    }
}

/// How many bytes are the same, up to the longest match.
fn match_length(before: &[u8], now: &[u8]) -> usize {
    let pairs = before.iter().zip(now).take(MATCH_MAX);
    pairs.take_while(|(before, now)| before == now).count()
}

fn hash(four: [u8; 4]) -> usize {
    // Fibonacci hashing: the golden ratio of 2³².
    const MULTIPLIER: u32 = 0x9e37_79b1;
    (u32::from_le_bytes(four).wrapping_mul(MULTIPLIER) >> (u32::BITS - PLACES_BITS)) as usize
}

/// The code of a match length, with the bits that follow it.
fn match_code(length: usize, codes: &[Code]) -> Code {
    let symbol = MATCH_STARTS.partition_point(|start| *start <= length);
    let Some(symbol) = symbol.checked_sub(1) else {
        return Code::default();
    };
    let start = MATCH_STARTS[symbol];
    let span = MATCH_STARTS.get(symbol + 1).map_or(1, |next| next - start);
    // The longest has a symbol of its own, which cuts the span before it short by one.
    let extra = span.next_power_of_two().ilog2();
    let (Code { bits, length: own }, Ok(rest)) = (codes[symbol], u32::try_from(length - start))
    else {
        unreachable!("a match is short")
    };
    Code {
        bits: bits | rest << own,
        length: own + extra,
    }
}

/// Gives symbols codes of these lengths (RFC 1951, section 3.2.2), with the first bit lowest.
fn assign(lengths: &[u8], codes: &mut [Code]) {
    let mut next = 0;
    for length in 1..=15 {
        for (code, _) in codes
            .iter_mut()
            .zip(lengths)
            .filter(|(_, own)| **own == length)
        {
            let length = u32::from(length);
            *code = Code {
                bits: u32::reverse_bits(next) >> (u32::BITS - length),
                length,
            };
            next += 1;
        }
        next <<= 1;
    }
}

/// Writes the head of a block with these codes, the last block of its member (RFC 1951, section 3.2.7); the bits that do not fill a byte come back.
fn describe(lengths: &[u8; SYMBOLS], out: &mut Vec<u8>) -> Code {
    const IS_LAST: u32 = 1;
    const OWN_CODES: u32 = 2;
    let mut codes = [Code::default(); DESCRIPTION_LENGTHS.len()];
    assign(&DESCRIPTION_LENGTHS, &mut codes);
    let mut writer = BitWriter {
        out,
        bits: 0,
        length: 0,
    };
    let distances = DISTANCE_LENGTHS.len();
    let number = |value: usize, length| Code {
        bits: u32::try_from(value).unwrap_or_default(),
        length,
    };
    writer.put(Code {
        bits: IS_LAST | OWN_CODES << 1,
        length: 3,
    });
    writer.put(number(SYMBOLS - 257, 5));
    writer.put(number(distances - 1, 5));
    writer.put(number(DESCRIPTION_ORDER.len() - 4, 4));
    for symbol in DESCRIPTION_ORDER {
        writer.put(number(usize::from(DESCRIPTION_LENGTHS[symbol]), 3));
    }
    let all: Vec<u8> = lengths.iter().chain(&DISTANCE_LENGTHS).copied().collect();
    for run in all.chunk_by(|one, other| one == other) {
        let (length, mut count) = (usize::from(run[0]), run.len());
        if length != 0 {
            writer.put(codes[length]);
            count -= 1;
        }
        while 0 < count {
            // How many are told by one symbol: of zeros more than of others.
            let (symbol, least, bits, most) = match (length, count) {
                (_, 1 | 2) => (length, 1, 0, 1),
                (0, 3..=10) => (17, 3, 3, 10),
                (0, _) => (18, 11, 7, 138),
                (_, _) => (16, 3, 2, 6),
            };
            let told = count.min(most);
            writer.put(codes[symbol]);
            writer.put(number(told - least, bits));
            count -= told;
        }
    }
    writer.rest()
}

/// Packs bits into bytes, the lowest first.
struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    /// What is not written yet: fewer than 32 bits between two calls.
    bits: u64,
    length: u32,
}

impl BitWriter<'_> {
    /// Appends up to 32 bits.
    #[inline]
    fn put(&mut self, code: Code) {
        self.bits |= u64::from(code.bits) << self.length;
        self.length += code.length;
        if 32 <= self.length {
            let [a, b, c, d, ..] = self.bits.to_le_bytes();
            self.out.extend_from_slice(&[a, b, c, d]);
            self.bits >>= 32;
            self.length -= 32;
        }
    }

    /// Writes the whole bytes; fewer than eight bits come back.
    fn rest(mut self) -> Code {
        let whole = self.length / 8;
        let bytes = self.bits.to_le_bytes();
        self.out.extend_from_slice(&bytes[..whole as usize]);
        self.bits >>= 8 * whole;
        Code {
            bits: u32::from(self.bits.to_le_bytes()[0]),
            length: self.length % 8,
        }
    }

    /// Writes everything, and fills the last byte.
    fn finish(self) {
        let bytes = self.bits.to_le_bytes();
        let count = self.length.div_ceil(8) as usize;
        self.out.extend_from_slice(&bytes[..count]);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::bufread::GzDecoder;
    use libdeflater::{CompressionLvl, Compressor, Decompressor};
    use proptest::prelude::*;

    use super::*;

    const REQUEST: &str = "WARC/1.1\r\nWARC-Type: request\r\nWARC-Record-ID: <urn:uuid:bb2dfa49-510c-48b4-b47a-ebc866136725>\r\n\
        WARC-Date: 2026-11-18T09:08:32.537000Z\r\nWARC-Target-URI: https://www.example.org/news/2026/an-article_17.html?page=2\r\n\
        WARC-Concurrent-To: <urn:uuid:a1ed6e73-9807-4cd2-8636-176d89ce904a>\r\nWARC-Warcinfo-ID: <urn:uuid:04f2217a-72a3-4504-a4ce-d561ca975a7f>\r\n\
        WARC-IP-Address: 192.0.2.1\r\nWARC-Block-Digest: sha1:WAB6D56PPQPTF4EP4VSFSR7W5NVACRLG\r\n\
        Content-Type: application/http; msgtype=request\r\nContent-Length: 228\r\n\r\n\
        GET /news/2026/an-article_17.html?page=2 HTTP/1.1\r\nHost: www.example.org\r\nUser-Agent: Mozilla/5.0 (compatible; junkai/0.1)\r\n\
        Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\nAccept-Encoding: gzip, br, zstd\r\n\r\n\r\n\r\n";

    fn compressed(record: &[u8]) -> Option<Vec<u8>> {
        let mut out = b"before".to_vec();
        let mut short = ShortGzip::new();
        // What an earlier record left behind does not matter.
        assert!(short.append(REQUEST.as_bytes(), &mut Vec::new()));
        if short.append(record, &mut out) {
            assert!(out.starts_with(b"before"));
            Some(out.split_off(6))
        } else {
            assert_eq!(out, b"before");
            None
        }
    }

    fn assert_reads_back(record: &[u8]) {
        let member = compressed(record).unwrap();
        let mut found = Vec::new();
        let mut rest = &member[..];
        GzDecoder::new(&mut rest).read_to_end(&mut found).unwrap();
        assert!(found == record, "flate2 reads something else");
        assert!(rest.is_empty(), "one member and nothing behind it");
        let mut found = vec![0; record.len()];
        let length = Decompressor::new().gzip_decompress(&member, &mut found);
        assert_eq!(length, Ok(record.len()));
        assert!(found == record, "libdeflate reads something else");
    }

    #[test]
    fn every_code_is_used_up() {
        let all = |lengths: &mut dyn Iterator<Item = u8>| -> u32 {
            lengths
                .filter(|length| 0 < *length)
                .map(|length| 1 << (15 - length))
                .sum()
        };
        let characters = CHARACTER_LENGTHS.iter();
        let mut symbols = characters
            .flat_map(|(length, characters)| characters.bytes().map(|_| *length))
            .chain([END_LENGTH])
            .chain(MATCH_LENGTHS);
        assert_eq!(all(&mut symbols), 1 << 15);
        assert_eq!(all(&mut DISTANCE_LENGTHS.into_iter()), 1 << 15);
        assert_eq!(all(&mut DESCRIPTION_LENGTHS.into_iter()), 1 << 15);
    }

    #[test]
    fn every_length_of_a_match_and_every_distance_reads_back() {
        assert_reads_back(b"");
        for length in 1..300 {
            assert_reads_back(&b"a".repeat(length));
            assert_reads_back(format!("{0}-{0}", &REQUEST[..length]).as_bytes());
        }
        for apart in 0..SHORT_BYTES_MAX - 16 {
            let between = "x".repeat(apart);
            assert_reads_back(format!("(first){between}(first)").as_bytes());
        }
    }

    #[test]
    fn a_record_is_about_as_short_as_by_the_general_compressor() {
        assert_reads_back(REQUEST.as_bytes());
        let mut general = Compressor::new(CompressionLvl::new(1).unwrap());
        let mut buffer = [0; SHORT_BYTES_MAX];
        let general = general
            .gzip_compress(REQUEST.as_bytes(), &mut buffer)
            .unwrap();
        let ours = compressed(REQUEST.as_bytes()).unwrap().len();
        assert!(ours * 100 <= general * 105, "{ours} instead of {general}");
    }

    #[test]
    fn what_is_long_or_beyond_ascii_is_left_to_the_general_compressor() {
        assert_eq!(compressed(&[b'a'; SHORT_BYTES_MAX + 1]), None);
        for bytes in [
            "caf\u{e9}",
            "\u{e9}t\u{e9} and more",
            "\0",
            "nothing\x7f but",
        ] {
            assert_eq!(compressed(bytes.as_bytes()), None, "{bytes:?}");
        }
        assert_reads_back(&[b'a'; SHORT_BYTES_MAX]);
    }

    proptest! {
        #[test]
        fn any_text_of_records_reads_back(text in "([ -~]|\r\n|\t|WARC-|http://www\\.){0,300}") {
            if text.len() <= SHORT_BYTES_MAX {
                assert_reads_back(text.as_bytes());
            }
        }
    }
}
