//! The sketch, word by word.

#![expect(
    clippy::cast_possible_truncation,
    reason = "hashes and sketches are cut into their parts"
)]

use super::super::sketch::{SHINGLE_WORDS, Sketch};

const BINS: usize = 256;
const ODD_BITS: u32 = 64;
const COARSE_BINS: usize = 56;

/// Takes in a text word by word and makes its sketch.
pub(super) struct Sketcher {
    /// The least value of each bin; [`EMPTY`] where there is none.
    bins: [u32; BINS],
    /// The hashes of the last words, the newest last.
    window: [u64; SHINGLE_WORDS],
    words: usize,
}

/// Groups that an empty one asks for a value, at most. A group that finds none has no say, which is rare: one taken group is found
/// with fewer than a hundred on average.
const LENDERS_MAX: u64 = 1024;

/// A bin without a value.
const EMPTY: u32 = u32::MAX;

impl Sketcher {
    pub(super) fn new() -> Self {
        Self {
            bins: [EMPTY; BINS],
            window: [0; SHINGLE_WORDS],
            words: 0,
        }
    }

    /// Takes in the hash of the text's next word.
    pub(super) fn push(&mut self, word: u64) {
        self.window.rotate_left(1);
        self.window[SHINGLE_WORDS - 1] = word;
        self.words += 1;
        if SHINGLE_WORDS <= self.words {
            self.add_shingle();
        }
    }

    /// The sketch of what was taken in. A text of fewer words than a shingle is one shingle.
    pub(super) fn finish(mut self) -> Sketch {
        if (1..SHINGLE_WORDS).contains(&self.words) {
            self.add_shingle();
        }
        let mut odd = 0_u64;
        let mut taken = 0_u8;
        for (bin, value) in self.taken_bins() {
            odd ^= 1 << (mix(bin as u64, u64::from(value)) >> (u64::BITS - ODD_BITS.ilog2()));
            taken = taken.saturating_add(1);
        }
        Sketch::from_bits(
            u128::from(odd) | u128::from(taken) << 64 | u128::from(self.coarse()) << 72,
        )
    }

    fn add_shingle(&mut self) {
        let hash = self.window.iter().fold(0, |hash, word| mix(hash, *word));
        let least = &mut self.bins[(hash >> (u64::BITS - BINS.ilog2())) as usize];
        *least = (*least).min(hash as u32);
    }

    fn taken_bins(&self) -> impl Iterator<Item = (usize, u32)> {
        let bins = self.bins.iter().copied().enumerate();
        bins.filter(|(_, value)| *value != EMPTY)
    }

    /// One bit of the least value of each group of bins.
    fn coarse(&self) -> u64 {
        let mut least = [EMPTY; COARSE_BINS];
        for (bin, value) in self.taken_bins() {
            let group = &mut least[bin * COARSE_BINS / BINS];
            *group = (*group).min(value);
        }
        let mut bits = 0;
        for group in 0..COARSE_BINS {
            // An empty group asks others in an order of its own, and what it borrows is made its own.
            let others = (1..=LENDERS_MAX).map(|attempt| mix(group as u64, attempt) as usize);
            let lender = std::iter::once(group)
                .chain(others.map(|other| other % COARSE_BINS))
                .find(|lender| least[*lender] != EMPTY);
            if let Some(lender) = lender {
                let of_whom = (group * COARSE_BINS + lender) as u64;
                bits |= (mix(of_whom, u64::from(least[lender])) >> 63) << group;
            }
        }
        bits
    }
}

/// Mixes two numbers so that every bit of the result depends on every bit of both (the mixing step of wyhash).
pub(super) fn mix(one: u64, other: u64) -> u64 {
    const SECRETS: [u64; 2] = [0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db];
    let product = u128::from(one ^ SECRETS[0]) * u128::from(other ^ SECRETS[1]);
    product as u64 ^ (product >> 64) as u64
}
