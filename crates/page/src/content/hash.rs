//! The hash by which words are known: XXH3 with 64 bits, of the word's bytes.
//!
//! Most words are short, and their bytes are at hand in a register when they are cut: for those, the few steps of the algorithm
//! are written out here. The library does the rest, and a test holds the two to the same answers.
//!
//! Collet, "xxHash fast digest algorithm", version 0.2.0, sections "XXH3 algorithm overview", inputs of 1 to 3 and of 4 to 8 bytes.

use xxhash_rust::xxh3::xxh3_64;

/// Bytes that are looked at together.
pub(super) const EIGHT: usize = size_of::<u64>();

/// The first eight bytes, the first one lowest; zeros follow the last.
#[inline]
pub(super) fn first_eight(rest: &[u8]) -> u64 {
    if let Some(eight) = rest.first_chunk() {
        return u64::from_le_bytes(*eight);
    }
    let mut eight = [0; EIGHT];
    eight[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(eight)
}

/// The hash of a word of at least one byte, which `first_eight` begins with.
pub(super) fn of_word(first_eight: u64, word: &[u8]) -> u64 {
    match word.len() {
        length @ 1..=EIGHT => of_short(first_eight, 8 * length as u64),
        _ => xxh3_64(word),
    }
}

/// The hash of the first of eight bytes, given by the number of their bits: at least one byte.
///
/// Both of its forms are worked out: which one it is changes from word to word, and to guess wrong costs more than both.
#[inline]
pub(super) const fn of_short(first_eight: u64, bits: u64) -> u64 {
    const FLIP: u64 = 0x1cad_21f7_2c81_017c ^ 0xdb97_9083_e96d_d4de;
    let first = first_eight << 32;
    let last = first_eight >> (bits.saturating_sub(32) & 63) & 0xFFFF_FFFF;
    let of_four_or_more = strong_avalanche(first.wrapping_add(last) ^ FLIP, bits / 8);
    let of_three = of_three(first_eight, bits);
    if bits < 32 { of_three } else { of_four_or_more }
}

/// The hash of the first one to three of eight bytes, given by the number of their bits.
#[inline]
pub(super) const fn of_three(first_eight: u64, bits: u64) -> u64 {
    const FLIP: u64 = 0x396c_feb8 ^ 0xbe4b_a423;
    // The first, the middle and the last byte, some of which are the same.
    let first = first_eight & 0xFF;
    let middle = first_eight >> ((bits / 2) & 0x38) & 0xFF;
    let last = first_eight >> ((bits - 8) & 63) & 0xFF;
    avalanche((first << 16 | middle << 24 | last | bits << 5) ^ FLIP)
}

/// XXH64's.
#[inline]
const fn avalanche(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    hash ^= hash >> 29;
    hash = hash.wrapping_mul(0x1656_67b1_9e37_79f9);
    hash ^ hash >> 32
}

/// "rrmxmx", by Pelle Evensen.
#[inline]
const fn strong_avalanche(mut hash: u64, length: u64) -> u64 {
    const MULTIPLIER: u64 = 0x9fb2_1c65_1e98_df25;
    hash ^= hash.rotate_left(49) ^ hash.rotate_left(24);
    hash = hash.wrapping_mul(MULTIPLIER);
    hash ^= (hash >> 35).wrapping_add(length);
    hash = hash.wrapping_mul(MULTIPLIER);
    hash ^ hash >> 28
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_have_the_hash_of_the_library(bytes in prop::collection::vec(any::<u8>(), 1..40)) {
            for length in 1..=bytes.len() {
                let word = &bytes[..length];
                prop_assert_eq!(of_word(first_eight(&bytes), word), xxh3_64(word));
                prop_assert_eq!(of_word(first_eight(word), word), xxh3_64(word));
            }
        }
    }
}
