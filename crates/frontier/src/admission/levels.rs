//! Which of many levels have somebody in them: the highest and the lowest are found in three look-ups.
//!
//! A bit for each level, a bit for each word of these that is not zero, and once more: no pointer walks up or down, so no call
//! pays for another.

/// Bits of a word.
const WORD: usize = u64::BITS as usize;
/// Levels that a [`LevelSet`] can tell apart: 64³.
pub(super) const LEVELS: usize = WORD * WORD * WORD;

/// A set of levels in `0..LEVELS`.
#[derive(Clone, Debug)]
pub(super) struct LevelSet {
    /// A bit for each word of `middle`.
    top: u64,
    /// A bit for each word of `bottom`.
    middle: Box<[u64]>,
    /// A bit for each level.
    bottom: Box<[u64]>,
}

impl LevelSet {
    pub(super) fn new() -> LevelSet {
        LevelSet {
            top: 0,
            middle: vec![0; WORD].into(),
            bottom: vec![0; WORD * WORD].into(),
        }
    }

    pub(super) fn insert(&mut self, level: usize) {
        self.bottom[level / WORD] |= 1 << (level % WORD);
        let level = level / WORD;
        self.middle[level / WORD] |= 1 << (level % WORD);
        self.top |= 1 << (level / WORD);
    }

    pub(super) fn remove(&mut self, level: usize) {
        self.bottom[level / WORD] &= !(1 << (level % WORD));
        let level = level / WORD;
        if self.bottom[level] == 0 {
            self.middle[level / WORD] &= !(1 << (level % WORD));
            let level = level / WORD;
            if self.middle[level] == 0 {
                self.top &= !(1 << level);
            }
        }
    }

    pub(super) fn highest(&self) -> Option<usize> {
        let level = highest(self.top)?;
        let level = level * WORD + highest(self.middle[level])?;
        Some(level * WORD + highest(self.bottom[level])?)
    }

    pub(super) fn lowest(&self) -> Option<usize> {
        let level = lowest(self.top)?;
        let level = level * WORD + lowest(self.middle[level])?;
        Some(level * WORD + lowest(self.bottom[level])?)
    }

    /// Memory taken, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.middle) + size_of_val(&*self.bottom)
    }
}

/// The highest bit that is set.
pub(super) fn highest(word: u64) -> Option<usize> {
    word.checked_ilog2().map(|bit| bit as usize)
}

/// The lowest bit that is set.
pub(super) fn lowest(word: u64) -> Option<usize> {
    (word != 0).then(|| word.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_ends_are_those_of_an_ordered_set(
            operations in prop::collection::vec(
                (any::<bool>(), prop_oneof![0..70_usize, 4000..4200_usize, LEVELS - 70..LEVELS]),
                0..200,
            ),
        ) {
            let mut levels = LevelSet::new();
            let mut model = BTreeSet::new();
            for (is_insert, level) in operations {
                if is_insert {
                    levels.insert(level);
                    model.insert(level);
                } else {
                    levels.remove(level);
                    model.remove(&level);
                }
                prop_assert_eq!(levels.lowest(), model.first().copied());
                prop_assert_eq!(levels.highest(), model.last().copied());
            }
        }
    }
}
