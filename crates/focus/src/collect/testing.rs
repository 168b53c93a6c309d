//! Chance for tests.

/// Numbers in `0..1` from a seed.
pub(crate) fn chance(seed: u64) -> impl FnMut() -> f64 {
    let mut chance = junkai_chance::Chance::new(seed);
    move || chance.unit()
}
