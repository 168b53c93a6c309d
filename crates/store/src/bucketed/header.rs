//! The beginning of a file, for whoever has only the file: which kind it is, some numbers, and a checksum.

const MAGIC_BYTES: usize = 8;
const CHECKSUM_BYTES: usize = 4;

/// Bytes of a header with so many numbers.
pub(crate) const fn bytes(numbers: usize) -> usize {
    MAGIC_BYTES + numbers * size_of::<u64>() + CHECKSUM_BYTES
}

/// A header.
pub(crate) fn encode<const NUMBERS: usize>(
    magic: [u8; MAGIC_BYTES],
    numbers: [u64; NUMBERS],
) -> Vec<u8> {
    let mut header = Vec::with_capacity(bytes(NUMBERS));
    header.extend_from_slice(&magic);
    for number in numbers {
        header.extend_from_slice(&number.to_le_bytes());
    }
    let checksum = crc32fast::hash(&header);
    header.extend_from_slice(&checksum.to_le_bytes());
    header
}

/// The numbers of the header that a file begins with; nothing if that is not whole, right and of this kind.
pub(crate) fn decode<const NUMBERS: usize>(
    magic: [u8; MAGIC_BYTES],
    file: &[u8],
) -> Option<[u64; NUMBERS]> {
    let header = file.get(..bytes(NUMBERS))?;
    let (told, checksum) = header.split_last_chunk::<CHECKSUM_BYTES>()?;
    let words = told.strip_prefix(&magic)?.chunks_exact(size_of::<u64>());
    let mut numbers = [0; NUMBERS];
    for (number, word) in numbers.iter_mut().zip(words) {
        *number = u64::from_le_bytes(word.try_into().ok()?);
    }
    (crc32fast::hash(told).to_le_bytes() == *checksum).then_some(numbers)
}
