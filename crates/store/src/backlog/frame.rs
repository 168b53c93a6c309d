//! The envelope of acknowledgements, and of entries in files of earlier versions: checksum (4 bytes), length (2), payload.
//!
//! The checksum covers the file's number, the length and the payload; so zeros, a torn end or bytes of another file are never
//! taken for a frame.

use super::BacklogError;

pub(super) const HEADER_BYTES: usize = 6;
pub(super) const PAYLOAD_BYTES_MAX: usize = u16::MAX as usize;
pub(super) const FRAME_BYTES_MAX: usize = HEADER_BYTES + PAYLOAD_BYTES_MAX;

/// Appends a frame for file number `file` whose payload `write` appends; tells its length. A payload that is too long leaves `out` as it was.
pub(super) fn encode(
    file: u64,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>),
) -> Result<usize, BacklogError> {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_BYTES]);
    write(out);
    let bytes = out.len() - start - HEADER_BYTES;
    let Ok(length) = u16::try_from(bytes) else {
        out.truncate(start);
        return Err(BacklogError::EntryTooLong { bytes });
    };
    out[start + 4..start + 6].copy_from_slice(&length.to_le_bytes());
    let sum = checksum(file, &out[start + 4..]);
    out[start..start + 4].copy_from_slice(&sum.to_le_bytes());
    Ok(out.len() - start)
}

/// The payload of the frame that `bytes` begin with; nothing if they do not begin with a whole and right one.
pub(super) fn decode(file: u64, bytes: &[u8]) -> Option<&[u8]> {
    let frame = bytes.get(..told_length(bytes)?)?;
    let stored = u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]);
    let is_right = checksum(file, &frame[4..]) == stored;
    is_right.then_some(&frame[HEADER_BYTES..])
}

/// How long the frame that `bytes` begin with says that it is; nothing if it says nothing.
pub(super) fn told_length(bytes: &[u8]) -> Option<usize> {
    let header = bytes.first_chunk::<HEADER_BYTES>()?;
    let length = usize::from(u16::from_le_bytes([header[4], header[5]]));
    (0 < length).then_some(HEADER_BYTES + length)
}

fn checksum(file: u64, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&file.to_le_bytes());
    hasher.update(bytes);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_frame_of_the_same_file_is_read() {
        let mut out = b"before".to_vec();
        let length = encode(5, &mut out, |out| out.extend_from_slice(b"payload")).unwrap();
        let frame = &out[6..];
        assert_eq!(frame.len(), length);
        assert_eq!(decode(5, frame), Some(&b"payload"[..]));
        assert_eq!(decode(6, frame), None);
        for at in 0..frame.len() {
            assert_eq!(decode(5, &frame[..at]), None);
            let mut flipped = frame.to_vec();
            flipped[at] ^= 1;
            assert_eq!(decode(5, &flipped), None);
        }
        assert_eq!(decode(5, &[0; 100]), None);
    }

    #[test]
    fn what_is_too_long_leaves_no_trace() {
        let mut out = vec![1, 2, 3];
        let long = encode(5, &mut out, |out| out.resize(70_000, 0));
        assert!(matches!(long, Err(BacklogError::EntryTooLong { .. })));
        assert_eq!(out, [1, 2, 3]);
    }
}
