//! Chance for tests.

/// Numbers in `0..1` from a seed.
pub(crate) fn chance(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = xxhash_rust::xxh3::xxh3_64(&state.to_le_bytes());
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    }
}
