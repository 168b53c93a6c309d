//! The unit of reading: sorted keys in [`BLOCK_BYTES`] bytes, found by bisection without unpacking.
//!
//! Layout, little-endian: checksum (4), number of keys (2), width (1), zero (1), smallest key (8), then for each key its distance
//! from the smallest in `width` bytes, then zeros. Neighbours in a big run share their upper bytes, so 10⁸ keys take 6 bytes
//! each instead of 8. The checksum covers the block and its place, so that a block from elsewhere is noticed too.

/// Bytes of a block. Small, because a question copies and checks one whole block; four share a page of the system's cache.
pub(super) const BLOCK_BYTES: usize = 1024;
const HEADER_BYTES: usize = 16;
/// What a [`Buffer`] holds beyond the block, so that a key of any width is read as eight bytes.
const MARGIN_BYTES: usize = 8;

/// Where a block is read to.
pub(super) type Buffer = [u8; BLOCK_BYTES + MARGIN_BYTES];

/// Where a block stands: the run's number and the offset in its file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) run: u64,
    pub(super) offset: u64,
}

/// Appends one block with as many as possible of the first of `keys` to `out`; tells how many.
///
/// # Panics
/// If there are no keys.
pub(super) fn encode(keys: &[u64], place: Place, out: &mut Vec<u8>) -> usize {
    let base = keys[0];
    let (width, count) = (1..=8)
        .map(|width| {
            let room = ((BLOCK_BYTES - HEADER_BYTES) / width).min(keys.len());
            let fitting = keys[..room].partition_point(|key| fits(key - base, width));
            (width, fitting)
        })
        .max_by_key(|&(width, count)| (count, std::cmp::Reverse(width)))
        .unwrap_or((8, 1));
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&truncate16(count).to_le_bytes());
    out.push(truncate8(width));
    out.push(0);
    out.extend_from_slice(&base.to_le_bytes());
    for key in &keys[..count] {
        out.extend_from_slice(&(key - base).to_le_bytes()[..width]);
    }
    out.resize(start + BLOCK_BYTES, 0);
    let sum = checksum(&out[start..], place);
    out[start..start + 4].copy_from_slice(&sum.to_le_bytes());
    count
}

fn fits(distance: u64, width: usize) -> bool {
    width == 8 || distance >> (8 * width) == 0
}

fn truncate16(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

fn truncate8(width: usize) -> u8 {
    u8::try_from(width).unwrap_or(u8::MAX)
}

fn checksum(block: &[u8], place: Place) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&place.run.to_le_bytes());
    hasher.update(&place.offset.to_le_bytes());
    hasher.update(&block[4..BLOCK_BYTES]);
    hasher.finalize()
}

/// A checked block.
pub(super) struct Block<'a> {
    bytes: &'a Buffer,
    count: usize,
    width: usize,
    base: u64,
}

impl<'a> Block<'a> {
    /// Checks what was read; nothing if it is not the block that was written there.
    pub(super) fn new(bytes: &'a Buffer, place: Place) -> Option<Block<'a>> {
        let stored = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        if stored != checksum(bytes, place) {
            return None;
        }
        let block = Block {
            bytes,
            count: usize::from(u16::from_le_bytes([bytes[4], bytes[5]])),
            width: usize::from(bytes[6]),
            base: load(bytes, 8),
        };
        let is_sound = (1..=8).contains(&block.width)
            && 0 < block.count
            && block.count <= (BLOCK_BYTES - HEADER_BYTES) / block.width;
        is_sound.then_some(block)
    }

    pub(super) fn base(&self) -> u64 {
        self.base
    }

    pub(super) fn contains(&self, key: u64) -> bool {
        let Some(distance) = key.checked_sub(self.base) else {
            return false;
        };
        let mut low = 0;
        let mut length = self.count;
        while 1 < length {
            let half = length / 2;
            if self.distance(low + half) <= distance {
                low += half;
            }
            length -= half;
        }
        self.distance(low) == distance
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = u64> {
        (0..self.count).map(|index| self.base.wrapping_add(self.distance(index)))
    }

    fn distance(&self, index: usize) -> u64 {
        let word = load(self.bytes, HEADER_BYTES + index * self.width);
        word & (u64::MAX >> (64 - 8 * self.width))
    }
}

fn load(bytes: &Buffer, offset: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[offset..offset + 8]);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLACE: Place = Place { run: 3, offset: 0 };

    fn buffer(block: &[u8]) -> Buffer {
        let mut buffer = [0; BLOCK_BYTES + MARGIN_BYTES];
        buffer[..BLOCK_BYTES].copy_from_slice(block);
        buffer
    }

    proptest! {
        #[test]
        fn keys_come_back_and_others_do_not(
            mut keys in prop::collection::vec(any::<u64>(), 1..400), shift in 0_u32..60, others in prop::collection::vec(any::<u64>(), 20),
        ) {
            for key in &mut keys {
                *key >>= shift;
            }
            keys.sort_unstable();
            keys.dedup();
            let mut out = Vec::new();
            let count = encode(&keys, PLACE, &mut out);
            prop_assert_eq!(out.len(), BLOCK_BYTES);
            prop_assert!(count == keys.len() || 126 <= count);
            let buffer = buffer(&out);
            let block = Block::new(&buffer, PLACE).unwrap();
            prop_assert_eq!(block.keys().collect::<Vec<_>>(), &keys[..count]);
            for other in others.iter().map(|other| other >> shift).chain(keys.iter().copied()) {
                prop_assert_eq!(block.contains(other), keys[..count].contains(&other));
            }
        }

        #[test]
        fn any_flipped_bit_is_noticed(bit in 0..BLOCK_BYTES * 8) {
            let keys: Vec<u64> = (0..100).map(|key| key * 12345).collect();
            let mut out = Vec::new();
            encode(&keys, PLACE, &mut out);
            out[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(Block::new(&buffer(&out), PLACE).is_none());
        }
    }

    #[test]
    fn a_block_of_another_place_is_refused() {
        let mut out = Vec::new();
        encode(&[1, 2, 3], PLACE, &mut out);
        let buffer = buffer(&out);
        assert!(Block::new(&buffer, PLACE).is_some());
        assert!(Block::new(&buffer, Place { run: 4, offset: 0 }).is_none());
        assert!(
            Block::new(
                &buffer,
                Place {
                    run: 3,
                    offset: 1024
                }
            )
            .is_none()
        );
    }
}
