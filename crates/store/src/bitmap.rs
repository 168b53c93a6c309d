//! Which entries of a file are done with, a bit for each.

/// A set of small numbers; empty, it takes no memory.
#[derive(Debug, Default)]
pub(crate) struct Bitmap {
    words: Vec<u64>,
    count: u32,
}

impl Bitmap {
    pub(crate) fn set(&mut self, index: u32) -> bool {
        let (word, bit) = (index as usize / 64, 1 << (index % 64));
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.count += u32::from(is_new);
        is_new
    }

    pub(crate) fn contains(&self, index: u32) -> bool {
        let word = self.words.get(index as usize / 64);
        word.is_some_and(|word| word & (1 << (index % 64)) != 0)
    }

    pub(crate) fn ranges(&self, length: u32) -> impl Iterator<Item = (u32, u32)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let first = (at..length).find(|index| self.contains(*index))?;
            let end = (first..length).find(|index| !self.contains(*index));
            at = end.unwrap_or(length);
            Some((first, at - first))
        })
    }

    /// Takes out all numbers from `length` on.
    pub(crate) fn cut(&mut self, length: u32) {
        let whole = length as usize / 64;
        if self.words.len() <= whole {
            return;
        }
        self.words.truncate(whole + 1);
        self.words[whole] &= (1 << (length % 64)) - 1;
        self.count = self.words.iter().map(|word| word.count_ones()).sum();
    }

    /// How many numbers are in it.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Memory that is held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_that_were_set() {
        let mut bitmap = Bitmap::default();
        for index in [0, 1, 5, 63, 64, 65, 199] {
            assert!(bitmap.set(index));
            assert!(!bitmap.set(index));
        }
        let ranges: Vec<_> = bitmap.ranges(200).collect();
        assert_eq!(ranges, [(0, 2), (5, 1), (63, 3), (199, 1)]);
        assert_eq!(bitmap.count, 7);
    }

    #[test]
    fn what_is_cut_is_not_in_it_any_more() {
        for length in [0, 1, 5, 6, 63, 64, 65, 66, 199, 200, 999] {
            let numbers = [0, 1, 5, 63, 64, 65, 199];
            let mut bitmap = Bitmap::default();
            for index in numbers {
                bitmap.set(index);
            }
            bitmap.cut(length);
            let left = numbers.iter().filter(|index| **index < length).count();
            assert_eq!(bitmap.count as usize, left, "{length}");
            for index in numbers {
                assert_eq!(bitmap.contains(index), index < length, "{length}");
            }
        }
    }
}
