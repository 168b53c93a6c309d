//! Files that are out of use, and stay until no manifest can name them.

use std::collections::BTreeSet;
use std::path::Path;

use junkai_files::disk::{Disk, DiskError};

use super::Series;

/// Files that are out of use, by series and number.
#[derive(Debug, Default)]
pub(crate) struct Retired {
    /// What the manifest of the next sync does not name any more.
    unnamed: BTreeSet<(Series, u64)>,
    /// What no manifest can name any more.
    removable: BTreeSet<(Series, u64)>,
}

impl Retired {
    /// Takes a file out of use.
    pub(crate) fn insert(&mut self, series: Series, number: u64) {
        if !self.removable.contains(&(series, number)) {
            self.unnamed.insert((series, number));
        }
    }

    pub(crate) fn contains(&self, series: Series, number: u64) -> bool {
        let file = (series, number);
        self.unnamed.contains(&file) || self.removable.contains(&file)
    }

    /// Removes what was out of use at the call before, and shows it to `removed`: the manifest that is durable now is of a sync after that call.
    ///
    /// # Errors
    /// What was not removed stays removable; the call may be repeated.
    pub(crate) fn checkpointed(
        &mut self,
        disk: &Disk,
        dir: &Path,
        mut removed: impl FnMut(Series, u64),
    ) -> Result<(), DiskError> {
        while let Some((series, number)) = self.removable.first().copied() {
            disk.remove(&series.path(dir, number))?;
            removed(series, number);
            self.removable.remove(&(series, number));
        }
        self.removable = std::mem::take(&mut self.unnamed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_stays_until_the_second_manifest_after_its_retirement() {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::default();
        let series = Series {
            prefix: "f-",
            suffix: "",
        };
        let path = series.path(dir.path(), 3);
        disk.create(&path).unwrap();
        let mut retired = Retired::default();
        let mut removed = Vec::new();
        let mut checkpointed = |retired: &mut Retired| {
            let note = |_, number| removed.push(number);
            retired.checkpointed(&disk, dir.path(), note).unwrap();
            (path.exists(), removed.len())
        };
        retired.insert(series, 3);
        assert!(retired.contains(series, 3));
        assert_eq!(checkpointed(&mut retired), (true, 0));
        // It is as removable as before if it is found out of use again.
        retired.insert(series, 3);
        assert!(retired.contains(series, 3));
        assert_eq!(checkpointed(&mut retired), (false, 1));
        assert!(!retired.contains(series, 3));
        assert_eq!(checkpointed(&mut retired), (false, 1));
    }
}
