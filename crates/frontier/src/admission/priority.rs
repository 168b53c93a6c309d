//! The priority of a page, and the same in one byte: two steps to each doubling.
//!
//! Orders need no more than this to tell pages apart, and lists need no less: a level for each step. Everything is computed from the bits of
//! the number, not by a library's logarithm, so that it is the same on every machine.

/// Levels of priority: 32 doublings, from 2⁻¹² up.
pub(super) const LEVELS: u8 = 64;
/// The level of a priority of 1. Below level 0, all are equal: a page of 2⁻¹² has a four-thousandth of a seed's priority.
const LEVEL_OF_ONE: i32 = 24;
/// The highest priority: beyond the last level all are equal, and sums stay finite.
pub(super) const PRIORITY_MAX: f32 = (1 << 20) as f32;

/// Bits of the fraction of an `f32`.
const FRACTION_BITS: u32 = f32::MANTISSA_DIGITS - 1;
/// What is added to the exponent of an `f32` in its bits.
const EXPONENT_BIAS: i32 = f32::MAX_EXP - 1;
/// The fraction of the first `f32` that is not less than √2.
const FRACTION_OF_ROOT_2: u32 = 0x35_04f4;

/// The level of a priority, in `0..LEVELS`: ⌊2 · log₂ priority⌋ above that of the lowest.
pub(super) fn level_of(priority: f32) -> u8 {
    let priority = bounded(priority);
    let exponent = (priority.to_bits() >> FRACTION_BITS).cast_signed() - EXPONENT_BIAS;
    let fraction = priority.to_bits() & ((1 << FRACTION_BITS) - 1);
    let level = 2 * exponent + i32::from(FRACTION_OF_ROOT_2 <= fraction) + LEVEL_OF_ONE;
    let level = u8::try_from(level.max(0)).unwrap_or(u8::MAX);
    level.min(LEVELS - 1)
}

/// A priority that can be reckoned with: from nothing to the highest; what is no number is nothing.
pub(super) fn bounded(priority: f32) -> f32 {
    if priority.is_nan() {
        0.0
    } else {
        priority.clamp(0.0, PRIORITY_MAX)
    }
}

/// A priority in one byte, for storage: 0 where nothing is known (or the priority is none), else from 1 to 64.
///
/// Never lower for a higher priority.
#[must_use]
pub fn priority_byte(priority: f32) -> u8 {
    if 0.0 < priority {
        1 + level_of(priority)
    } else {
        0
    }
}

/// The least priority of a byte, as [`priority_byte`] gives it; nothing for 0. Bytes beyond the highest are the
/// highest.
#[must_use]
pub fn priority_of_byte(byte: u8) -> f32 {
    let Some(level) = byte.checked_sub(1) else {
        return 0.0;
    };
    let half_doublings = i32::from(level.min(LEVELS - 1)) - LEVEL_OF_ONE;
    let exponent = (half_doublings.div_euclid(2) + EXPONENT_BIAS).cast_unsigned();
    let is_half = half_doublings.rem_euclid(2) == 1;
    let fraction = if is_half { FRACTION_OF_ROOT_2 } else { 0 };
    f32::from_bits(exponent << FRACTION_BITS | fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_worths_have_these_levels() {
        let table = [
            (0.0, 0),
            (-1.0, 0),
            (f32::NAN, 0),
            (f32::MIN_POSITIVE, 0),
            (f32::MIN_POSITIVE / 2.0, 0),
            (1.0 / 4096.0, 0),
            (1.0 / 2048.0, 2),
            (0.99, 23),
            (1.0, 24),
            (std::f32::consts::SQRT_2, 24),
            (std::f32::consts::SQRT_2.next_up(), 25),
            (1.99, 25),
            (2.0, 26),
            (3.0, 27),
            (4.0, 28),
            (741_455.0, 62),
            (741_456.0, 63),
            (f32::MAX, 63),
            (f32::INFINITY, 63),
        ];
        for (priority, level) in table {
            assert_eq!(level_of(priority), level, "priority {priority}");
        }
    }

    #[test]
    fn every_grade_is_that_of_its_own_worth_and_not_of_anything_less() {
        assert_eq!(priority_byte(priority_of_byte(0)), 0);
        for priority in 1..=LEVELS {
            assert_eq!(priority_byte(priority_of_byte(priority)), priority);
            let just_less = priority_of_byte(priority).next_down();
            assert_eq!(
                priority_byte(just_less),
                (priority - 1).max(1),
                "below {priority}"
            );
        }
        assert!((priority_of_byte(u8::MAX) - priority_of_byte(LEVELS)).abs() < 1.0);
    }

    proptest! {
        #[test]
        fn a_higher_worth_never_has_a_lower_grade(one in any::<f32>(), other in any::<f32>()) {
            if one < other {
                prop_assert!(priority_byte(one) <= priority_byte(other));
            }
        }

        #[test]
        fn the_level_is_twice_the_logarithm(priority in 0.001_f32..1e6) {
            let half_doublings = 2.0 * f64::from(priority).log2();
            // The library's logarithm may err in its last bits, next to a whole number.
            prop_assume!((half_doublings - half_doublings.round()).abs() > 1e-9);
            let expected = (half_doublings.floor() + 24.0).clamp(0.0, 63.0);
            prop_assert!((f64::from(level_of(priority)) - expected).abs() < 0.5);
        }
    }
}
