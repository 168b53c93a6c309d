//! Priorities folded into few classes, so that spilled visits lie in few files.

/// Classes of priorities: each has one file that is appended to and one that is read.
const CLASSES: u8 = 16;
/// Priorities that make a class; the best class takes all above it.
const PRIORITIES_PER_CLASS: u8 = 2;

/// Some neighbouring priorities: visits of one class that are spilled come back first in, first out. The greater is the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class(u8);

impl Class {
    /// The class of a priority.
    #[must_use]
    pub fn of(priority: u8) -> Class {
        Class((priority / PRIORITIES_PER_CLASS).min(CLASSES - 1))
    }

    /// The class with this number, if there is one.
    pub(super) fn from_number(number: u64) -> Option<Class> {
        let number = u8::try_from(number).ok()?;
        (number < CLASSES).then_some(Class(number))
    }

    /// Its number, from 0 for the least.
    pub(super) fn number(self) -> u8 {
        self.0
    }

    /// All classes, the best first.
    pub fn best_first() -> impl Iterator<Item = Class> {
        (0..CLASSES).rev().map(Class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_better_grade_is_never_in_a_lesser_class() {
        let classes: Vec<Class> = (0..=u8::MAX).map(Class::of).collect();
        assert!(classes.is_sorted());
        let mut distinct = classes;
        distinct.dedup();
        distinct.reverse();
        assert_eq!(distinct, Class::best_first().collect::<Vec<_>>());
    }

    #[test]
    fn a_class_has_its_number_and_no_other_number_has_one() {
        for class in Class::best_first() {
            assert_eq!(Class::from_number(class.number().into()), Some(class));
        }
        assert_eq!(Class::from_number(CLASSES.into()), None);
        assert_eq!(Class::from_number(u64::MAX), None);
    }
}
