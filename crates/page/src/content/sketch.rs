//! Sixteen bytes that tell how much two texts have in common, without the texts.
//!
//! A text is taken as the set of its *shingles*: every run of a few words ([`SHINGLE_WORDS`]). The true likeness of two texts is
//! the share of shingles that they have in common (Jaccard: common ones over all). [`Sketch::similarity`] estimates it from two
//! sketches, finely where they are nearly equal, which is where "a little" has to be told from "changed", and coarsely elsewhere.
//!
//! - Li, Owen and Zhang, "One Permutation Hashing", NIPS 2012: a shingle's hash picks one of *k* bins, and each bin keeps its
//!   least value. Texts of fewer shingles than bins lose hardly any; longer ones are sampled, each shingle with the same chance.
//! - Mitzenmacher, Pagh and Pham, "Efficient Estimation for High Similarities using Odd Sketches", WWW 2014, section 3: every value
//!   that a bin kept flips one of *n* bits. In the exclusive or of two sketches, what is common has cancelled out, and the number of
//!   set bits tells how many values are not: `-n/2 · ln(1 − 2z/n)` (equation 3).
//! - Li and König, "b-Bit Minwise Hashing", WWW 2010, with *b* = 1: one bit of the least value in each of [`COARSE_BINS`] groups of
//!   bins. It is asked only when the odd sketch is full, which says no more than "rather different". Empty groups borrow from others
//!   (Shrivastava, "Optimal Densification for Fast and Accurate Minwise Hashing", ICML 2017).
//!
//! # Notation
//! *k*: [`BINS`]; *n*: [`ODD_BITS`]; *z*: `set_bits`; *J*: the result.
//!
//! # Departures
//! The papers sketch sets of one size. Here a sketch also holds how many bins are taken, from which the sizes of the sets, and
//! the number of bins that their union takes, follow as in linear counting. So short texts are judged as exactly as long ones.

#![expect(
    clippy::cast_possible_truncation,
    reason = "hashes and sketches are cut into their parts"
)]

use serde::{Deserialize, Serialize};

/// Words in a shingle. An edited word changes as many shingles.
pub const SHINGLE_WORDS: usize = 3;

/// Bins of the sample. With more, the odd sketch would be full sooner; with fewer, a single edited word could count for much.
const BINS: usize = 256;
/// Bits of the odd sketch.
const ODD_BITS: u32 = 64;
/// So many set bits say little about how many values flipped them.
const FULL: u32 = 26;
/// Groups of bins that give one bit each.
const COARSE_BINS: usize = 56;

/// What is left of a text's shingles; see the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sketch(u128);

impl Sketch {
    /// The sketch as a number, to be kept.
    #[must_use]
    pub const fn to_bits(self) -> u128 {
        self.0
    }

    /// The sketch that [`to_bits`](Self::to_bits) gave; any other number is a sketch of nothing in particular.
    #[must_use]
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// Estimates the share of shingles that two texts have in common: 1 if they are the same, 0 if they have none.
    #[must_use]
    pub fn similarity(self, other: Self) -> f32 {
        if self == other {
            return 1.0;
        }
        if self.bins_taken() == 0 || other.bins_taken() == 0 {
            return 0.0;
        }
        let set_bits = (self.odd() ^ other.odd()).count_ones();
        let fine = self.share(other, set_bits.min(FULL));
        let share = if set_bits < FULL {
            fine
        } else {
            fine.min(self.coarse_share(other))
        };
        share as f32
    }

    /// The share of common shingles if so many bits of the odd sketches differ.
    fn share(self, other: Self, set_bits: u32) -> f64 {
        let odd_bits = f64::from(ODD_BITS);
        let differing = -odd_bits / 2.0 * (1.0 - 2.0 * f64::from(set_bits) / odd_bits).ln();
        let taken = f64::from(self.bins_taken()) + f64::from(other.bins_taken());
        let common = ((taken - differing) / 2.0).max(0.0);
        let shingles = self.shingles() + other.shingles();
        // The larger the share, the smaller the union, and the fewer bins it takes: one share fits.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..24 {
            let share = f64::midpoint(low, high);
            if share * bins_taken_by(shingles / (1.0 + share)) < common {
                low = share;
            } else {
                high = share;
            }
        }
        high
    }

    /// The share of common shingles by the bits of the least values: those of different ones agree half of the time.
    fn coarse_share(self, other: Self) -> f64 {
        let differing = (self.coarse() ^ other.coarse()).count_ones();
        (1.0 - 2.0 * f64::from(differing) / COARSE_BINS as f64).max(0.0)
    }

    /// How many different shingles the text has, by linear counting.
    fn shingles(self) -> f64 {
        let bins = BINS as f64;
        -bins * (1.0 - f64::from(self.bins_taken()) / bins).ln()
    }

    fn odd(self) -> u64 {
        self.0 as u64
    }

    /// At most 255: so many that one more makes no difference.
    fn bins_taken(self) -> u8 {
        (self.0 >> 64) as u8
    }

    fn coarse(self) -> u64 {
        (self.0 >> 72) as u64
    }
}

/// How many bins a set of so many shingles takes.
fn bins_taken_by(shingles: f64) -> f64 {
    let bins = BINS as f64;
    bins * (1.0 - (-shingles / bins).exp())
}

/// Takes in a text word by word and makes its sketch.
pub(super) struct Sketcher {
    /// The least value of each bin; [`EMPTY`] where there is none.
    bins: [u32; BINS],
    /// The last shingles, mixed of so many words as the index says; before the first word stand words whose hash is 0.
    last: [u64; SHINGLE_WORDS + 1],
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
            last: [0, mix(0, 0), mix(mix(0, 0), 0), 0],
            words: 0,
        }
    }

    /// Takes in the hashes of the text's next words.
    pub(super) fn push(&mut self, words: &[u64]) {
        let [none, mut one, mut two, mut three] = self.last;
        // The first words of a text make no shingle.
        let (first, rest) = words.split_at(
            words
                .len()
                .min(SHINGLE_WORDS.saturating_sub(self.words + 1)),
        );
        for word in first {
            (one, two, three) = (mix(none, *word), mix(one, *word), mix(two, *word));
        }
        for word in rest {
            (one, two, three) = (mix(none, *word), mix(one, *word), mix(two, *word));
            self.add_shingle(three);
        }
        self.words += words.len();
        self.last = [none, one, two, three];
    }

    /// The sketch of what was taken in. A text of fewer words than a shingle is one shingle.
    pub(super) fn finish(mut self) -> Sketch {
        if (1..SHINGLE_WORDS).contains(&self.words) {
            self.add_shingle(self.last[SHINGLE_WORDS]);
        }
        let mut odd = 0_u64;
        let mut taken = 0_u8;
        for (bin, value) in self.taken_bins() {
            odd ^= 1 << (mix(bin as u64, u64::from(value)) >> (u64::BITS - ODD_BITS.ilog2()));
            taken = taken.saturating_add(1);
        }
        Sketch(u128::from(odd) | u128::from(taken) << 64 | u128::from(self.coarse()) << 72)
    }

    fn add_shingle(&mut self, hash: u64) {
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
pub(super) const fn mix(one: u64, other: u64) -> u64 {
    const SECRETS: [u64; 2] = [0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db];
    let product = (one ^ SECRETS[0]) as u128 * (other ^ SECRETS[1]) as u128;
    product as u64 ^ (product >> 64) as u64
}
