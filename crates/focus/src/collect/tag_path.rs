//! Tag paths as vectors, and how alike two of them are.
//!
//! Gauquier, Manolescu and Senellart, SB-CLASSIFIER, 2026: a path becomes the counts of its pairs of neighbouring elements, hashed to
//! 4,096 dimensions; paths are compared by the cosine.
//! Departures: pairs are hashed as text and not numbered as they come, so that vectors of different sites can be compared; runs of digits
//! in names count as one, because identifiers are numbered through (`row-17`).
//!
//! # Notation
//! *m* = 12, *w* = 15, *a* = 766,245,317: a number *x* goes to ((*a x*) mod 2ʷ) / 2ʷ⁻ᵐ.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

const DIMENSION_BITS: u32 = 12;
const WORD_BITS: u32 = 15;
const MULTIPLIER: u64 = 766_245_317;
/// Dimensions that a mean of vectors keeps; the smallest others are dropped.
const DIMENSIONS_KEPT: usize = 256;

/// A sparse vector: dimensions ascend, and no weight is 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PathVector {
    weights: Vec<(u16, f32)>,
}

impl PathVector {
    /// The vector of a tag path.
    pub(super) fn of(tag_path: &str) -> Self {
        let elements: Vec<String> = tag_path.split(' ').map(without_digits).collect();
        let mut dimensions = Vec::with_capacity(elements.len() + 1);
        let mut before = "";
        for element in elements.iter().map(String::as_str).chain([""]) {
            dimensions.push(dimension(before, element));
            before = element;
        }
        dimensions.sort_unstable();
        let mut weights: Vec<(u16, f32)> = Vec::with_capacity(dimensions.len());
        for dimension in dimensions {
            match weights.last_mut() {
                Some((last, count)) if *last == dimension => *count += 1.0,
                Some(_) | None => weights.push((dimension, 1.0)),
            }
        }
        Self { weights }
    }

    /// The cosine of the angle between two vectors; 0 if one is empty.
    pub(super) fn cosine(&self, other: &Self) -> f64 {
        let (mut product, mut here, mut there) = (0.0, 0, 0);
        while let (Some(one), Some(two)) = (self.weights.get(here), other.weights.get(there)) {
            if one.0 == two.0 {
                product += f64::from(one.1) * f64::from(two.1);
            }
            here += usize::from(one.0 <= two.0);
            there += usize::from(two.0 <= one.0);
        }
        let lengths = self.length() * other.length();
        if lengths == 0.0 {
            0.0
        } else {
            product / lengths
        }
    }

    fn length(&self) -> f64 {
        let squares = self
            .weights
            .iter()
            .map(|(_, weight)| f64::from(*weight).powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// Moves towards another vector by a part of the way.
    pub(super) fn approach(&mut self, other: &Self, part: f32) {
        let mut sum = Vec::with_capacity(self.weights.len() + other.weights.len());
        let (mut here, mut there) = (0, 0);
        loop {
            let (one, two) = (self.weights.get(here), other.weights.get(there));
            let dimension = match (one, two) {
                (Some(one), Some(two)) => one.0.min(two.0),
                (Some(only), None) | (None, Some(only)) => only.0,
                (None, None) => break,
            };
            let mut weight = 0.0;
            if let Some((_, own)) = one.filter(|one| one.0 == dimension) {
                weight += own * (1.0 - part);
                here += 1;
            }
            if let Some((_, new)) = two.filter(|two| two.0 == dimension) {
                weight += new * part;
                there += 1;
            }
            if weight != 0.0 {
                sum.push((dimension, weight));
            }
        }
        if DIMENSIONS_KEPT < sum.len() {
            sum.sort_by(|one, two| two.1.total_cmp(&one.1));
            sum.truncate(DIMENSIONS_KEPT);
            sum.sort_unstable_by_key(|(dimension, _)| *dimension);
        }
        self.weights = sum;
    }
}

fn dimension(before: &str, element: &str) -> u16 {
    let pair = xxh3_64(format!("{before} {element}").as_bytes());
    let word = MULTIPLIER.wrapping_mul(pair) & ((1 << WORD_BITS) - 1);
    u16::try_from(word >> (WORD_BITS - DIMENSION_BITS)).unwrap_or(0)
}

/// The element with each run of digits as one `0`.
fn without_digits(element: &str) -> String {
    let mut text = String::with_capacity(element.len());
    for character in element.chars() {
        if !character.is_ascii_digit() {
            text.push(character);
        } else if !text.ends_with('0') {
            text.push('0');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn like_paths_are_near_and_unlike_ones_are_not() {
        let list = PathVector::of("html body div#main ul.files li a");
        let numbered = |number: u32| PathVector::of(&format!("html body div#row-{number} a"));
        assert!((list.cosine(&list) - 1.0).abs() < 1e-6);
        assert!((numbered(1).cosine(&numbered(217)) - 1.0).abs() < 1e-6);
        let deeper = PathVector::of("html body div#main ul.files li span a");
        assert!(0.75 <= list.cosine(&deeper));
        let menu = PathVector::of("html body nav ul.menu li.item a");
        assert!(list.cosine(&menu) < 0.75);
        assert!(PathVector::default().cosine(&list).abs() < f32::EPSILON.into());
    }

    proptest! {
        #[test]
        fn a_cosine_is_symmetric_and_at_most_one(one in "[a-d]( [a-d]){0,8}", two in "[a-d]( [a-d]){0,8}") {
            let (one, two) = (PathVector::of(&one), PathVector::of(&two));
            prop_assert!((one.cosine(&two) - two.cosine(&one)).abs() < 1e-9);
            prop_assert!((0.0..=1.0 + 1e-9).contains(&one.cosine(&two)));
        }

        #[test]
        fn going_all_the_way_arrives(one in "[a-d]( [a-d]){0,8}", two in "[a-d]( [a-d]){0,8}") {
            let (mut one, two) = (PathVector::of(&one), PathVector::of(&two));
            one.approach(&two, 0.5);
            prop_assert!(one.weights.is_sorted_by_key(|(dimension, _)| *dimension));
            one.approach(&two, 1.0);
            prop_assert_eq!(one, two);
        }
    }
}
