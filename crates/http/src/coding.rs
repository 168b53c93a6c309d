//! Content codings: gzip, deflate, brotli and zstd, undone on whole buffers within a bound ([`decode`]) or as a stream.
//!
//! What a decoder gave before it met a fault is kept, as browsers do: half a page has links too.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::head::list_items;

/// Most codings that are undone one after another; no honest server uses two.
pub(crate) const CODINGS_MAX: usize = 3;
/// Bytes of an unknown coding's name that a report shows.
const NAME_SHOWN_MAX: usize = 40;
/// Input buffer of the brotli decoder.
const BROTLI_BUFFER: usize = 4096;
/// log₂ of the largest zstd window: 8 MiB, the most that RFC 9659 lets a server use.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A body with its content codings undone, as far as that was possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// What came out; the input itself where there was nothing to undo.
    pub bytes: Cow<'a, [u8]>,
    /// Why `bytes` is not all that the server meant.
    pub problem: Option<DecodeProblem>,
}

impl Decoded<'_> {
    /// Whether the bytes are all that the server meant: neither damaged, nor cut short, nor more than was asked for.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.problem.is_none()
    }
}

/// Why a body could not be decoded to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeProblem {
    /// The output was cut at the limit.
    #[error("the decoded body is longer than {limit} bytes")]
    Bomb {
        /// Bytes allowed.
        limit: usize,
    },
    /// The data are not what their coding asks for, from some point on.
    #[error("the body is not sound {coding}")]
    Corrupt {
        /// The coding.
        coding: &'static str,
    },
    /// The body ends in the middle.
    #[error("the {coding} body is incomplete")]
    Incomplete {
        /// The coding.
        coding: &'static str,
    },
    /// A coding that is not known here; the body is left as it is.
    #[error("unknown content coding {0:?}")]
    Unknown(String),
    /// More codings than any honest server would use; the body is left as it is.
    #[error("too many content codings")]
    TooManyCodings,
}

/// A content coding.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Coding {
    /// The coding of a registered name (RFC 9110, section 8.4.1).
    pub(crate) fn named(name: &[u8]) -> Option<Self> {
        let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        if is("gzip") || is("x-gzip") {
            Some(Self::Gzip)
        } else if is("deflate") {
            Some(Self::Deflate)
        } else if is("br") {
            Some(Self::Brotli)
        } else if is("zstd") {
            Some(Self::Zstd)
        } else {
            None
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "brotli",
            Self::Zstd => "zstd",
        }
    }

    /// Undoes the coding; what came out before a fault is in `output`.
    fn decode(self, input: &[u8], limit: usize, output: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Gzip => fill(MultiGzDecoder::new(input), limit, output),
            Self::Deflate if has_zlib_header(input) => {
                let result = fill(ZlibDecoder::new(input), limit, output);
                // The first bytes of bare deflate may look like a header.
                if result.is_err() && output.is_empty() {
                    return fill(DeflateDecoder::new(input), limit, output);
                }
                result
            }
            Self::Deflate => fill(DeflateDecoder::new(input), limit, output),
            Self::Brotli => fill(brotli(input), limit, output),
            Self::Zstd => fill(zstd(input)?, limit, output),
        }
    }

    /// Undoes the coding of a stream that begins with `start`. A stream that plainly is not coded so is given back as the error.
    pub(crate) fn reader<'a>(
        self,
        start: &[u8],
        source: impl BufRead + 'a,
    ) -> Result<Box<dyn Read + 'a>, Box<dyn Read + 'a>> {
        match self {
            Self::Gzip if start.starts_with(&GZIP_MAGIC) => {
                Ok(Box::new(MultiGzDecoder::new(source)))
            }
            Self::Deflate if has_zlib_header(start) => Ok(Box::new(ZlibDecoder::new(source))),
            Self::Deflate => Ok(Box::new(DeflateDecoder::new(source))),
            Self::Brotli => Ok(Box::new(brotli(source))),
            Self::Zstd if start.starts_with(&ZSTD_MAGIC) => match zstd(source) {
                Ok(decoder) => Ok(Box::new(decoder)),
                // Only memory can be missing.
                Err(_) => Ok(Box::new(io::empty())),
            },
            Self::Gzip | Self::Zstd => Err(Box::new(source)),
        }
    }
}

fn brotli<R: Read>(source: R) -> brotli_decompressor::Decompressor<R> {
    brotli_decompressor::Decompressor::new(source, BROTLI_BUFFER)
}

fn zstd<'a, R: BufRead>(source: R) -> io::Result<zstd::Decoder<'a, R>> {
    let mut decoder = zstd::Decoder::with_buffer(source)?;
    decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
    Ok(decoder)
}

/// Undoes the codings of the `Content-Encoding` values, the last one first.
pub fn decode<'a, 'v>(
    body: &'a [u8],
    content_encoding: impl Iterator<Item = &'v [u8]>,
    limit: usize,
) -> Decoded<'a> {
    let names = names(content_encoding);
    let mut bytes = Cow::Borrowed(body);
    let mut problem = (CODINGS_MAX < names.len()).then_some(DecodeProblem::TooManyCodings);
    for name in names.into_iter().rev() {
        if problem.is_some() {
            break;
        }
        if let Some(coding) = Coding::named(name) {
            Decoded { bytes, problem } = undo(coding, bytes, limit);
        } else {
            let name = &name[..name.len().min(NAME_SHOWN_MAX)];
            let name = String::from_utf8_lossy(name).into_owned();
            problem = Some(DecodeProblem::Unknown(name));
        }
    }
    if limit < bytes.len() {
        cut(&mut bytes, limit);
        problem.get_or_insert(DecodeProblem::Bomb { limit });
    }
    Decoded { bytes, problem }
}

/// The codings that `Content-Encoding` values name, in the order in which they were applied; at most one more than are undone.
pub(crate) fn names<'v>(content_encoding: impl Iterator<Item = &'v [u8]>) -> Vec<&'v [u8]> {
    content_encoding
        .flat_map(list_items)
        .filter(|name| !name.eq_ignore_ascii_case(b"identity"))
        .take(CODINGS_MAX + 1)
        .collect()
}

/// Undoes one coding.
fn undo(coding: Coding, input: Cow<'_, [u8]>, limit: usize) -> Decoded<'_> {
    if input.is_empty() {
        return Decoded {
            bytes: input,
            problem: None,
        };
    }
    let mut output = Vec::with_capacity(input.len().saturating_mul(4).min(limit));
    let result = coding.decode(&input, limit, &mut output);
    let coding = coding.name();
    let problem = if limit < output.len() {
        output.truncate(limit);
        Some(DecodeProblem::Bomb { limit })
    } else {
        result.err().map(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => DecodeProblem::Incomplete { coding },
            _ => DecodeProblem::Corrupt { coding },
        })
    };
    // Servers label plain bodies as compressed; what gives nothing at all was not.
    if problem.is_some() && output.is_empty() {
        return Decoded {
            bytes: input,
            problem,
        };
    }
    Decoded {
        bytes: Cow::Owned(output),
        problem,
    }
}

/// Reads to the end, or to one byte more than the limit.
fn fill(reader: impl Read, limit: usize, output: &mut Vec<u8>) -> io::Result<()> {
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    reader
        .take(limit.saturating_add(1))
        .read_to_end(output)
        .map(drop)
}

fn cut(bytes: &mut Cow<'_, [u8]>, limit: usize) {
    match bytes {
        Cow::Borrowed(bytes) => *bytes = &bytes[..limit],
        Cow::Owned(bytes) => bytes.truncate(limit),
    }
}

/// Whether "deflate" is meant as RFC 9110 says (zlib) and not as some servers have it (raw).
fn has_zlib_header(input: &[u8]) -> bool {
    matches!(input, [first, second, ..]
        if first & 0x0f == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const TEXT: &[u8] = b"a page, a page, a page, and another page";
    const LIMIT: usize = 1 << 20;

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn check(body: &[u8], encoding: &str, limit: usize) -> (Vec<u8>, Option<DecodeProblem>) {
        let decoded = decode(body, std::iter::once(encoding.as_bytes()), limit);
        (decoded.bytes.into_owned(), decoded.problem)
    }

    #[test]
    fn every_advertised_coding_is_undone() {
        let zlib_body = zlib(TEXT);
        let raw_deflate = &zlib_body[2..zlib_body.len() - 4];
        // A brotli stream of one uncompressed meta-block (RFC 7932, section 9.2).
        let brotli = [&[0x8b, 0x13, 0x80][..], TEXT, &[0x03]].concat();
        let zstd = zstd::encode_all(TEXT, 3).unwrap();
        for (body, encoding) in [
            (&gzip(TEXT)[..], "gzip"),
            (&gzip(TEXT), "X-GZip"),
            (&[gzip(&TEXT[..9]), gzip(&TEXT[9..])].concat(), "gzip"),
            (&zlib_body, "deflate"),
            (raw_deflate, "deflate"),
            (&brotli, "br"),
            (&zstd, "zstd"),
            (&zstd::encode_all(&gzip(TEXT)[..], 3).unwrap(), "gzip, zstd"),
            (TEXT, "identity"),
            (TEXT, ""),
        ] {
            assert_eq!(
                check(body, encoding, LIMIT),
                (TEXT.to_vec(), None),
                "{encoding}"
            );
        }
    }

    #[test]
    fn a_bomb_is_cut_at_the_limit() {
        let bomb = gzip(&vec![0; 5_000_000]);
        let (bytes, problem) = check(&bomb, "gzip", 100_000);
        assert_eq!(bytes.len(), 100_000);
        assert_eq!(problem, Some(DecodeProblem::Bomb { limit: 100_000 }));
        let twice = gzip(&bomb);
        let (bytes, problem) = check(&twice, "gzip, gzip", 100_000);
        assert_eq!(
            (bytes.len(), problem),
            (100_000, Some(DecodeProblem::Bomb { limit: 100_000 }))
        );
        assert_eq!(check(TEXT, "", 6).0, b"a page");
    }

    #[test]
    fn exactly_the_limit_is_no_bomb() {
        assert_eq!(
            check(&gzip(TEXT), "gzip", TEXT.len()),
            (TEXT.to_vec(), None)
        );
    }

    #[test]
    fn the_sound_part_of_a_broken_body_is_kept() {
        let data: Vec<u8> = (0..60_000_u32).flat_map(u32::to_le_bytes).collect();
        let whole = gzip(&data);
        let (bytes, problem) = check(&whole[..whole.len() / 2], "gzip", LIMIT);
        assert!(
            1000 < bytes.len() && data.starts_with(&bytes),
            "{}",
            bytes.len()
        );
        assert_eq!(problem, Some(DecodeProblem::Incomplete { coding: "gzip" }));
        let mut bad_check_sum = whole.clone();
        let end = bad_check_sum.len();
        bad_check_sum[end - 6] ^= 1;
        let (bytes, problem) = check(&bad_check_sum, "gzip", LIMIT);
        assert_eq!(bytes, data);
        assert_eq!(problem, Some(DecodeProblem::Corrupt { coding: "gzip" }));
    }

    #[test]
    fn a_plain_body_that_is_called_compressed_is_left_as_it_is() {
        for (encoding, coding) in [("gzip", "gzip"), ("br", "brotli"), ("zstd", "zstd")] {
            let (bytes, problem) = check(b"<html>plain</html>", encoding, LIMIT);
            assert_eq!(bytes, b"<html>plain</html>");
            let Some(
                DecodeProblem::Corrupt { coding: found }
                | DecodeProblem::Incomplete { coding: found },
            ) = problem
            else {
                panic!("{encoding}: {problem:?}");
            };
            assert_eq!(found, coding);
        }
        assert_eq!(
            check(b"x", "sdch", LIMIT).1,
            Some(DecodeProblem::Unknown("sdch".into()))
        );
        let (bytes, problem) = check(b"x", "gzip,gzip,gzip,gzip", LIMIT);
        assert_eq!(
            (&bytes[..], problem),
            (&b"x"[..], Some(DecodeProblem::TooManyCodings))
        );
        assert_eq!(check(b"", "gzip", LIMIT), (vec![], None));
    }
}
