//! What was repaired when an archive was opened, in the words that people read.
//!
//! `opening` asks here. A folder is named as it stands in the archive, so that a reader finds the files of the partition that was damaged.

use junkai_store::{backlog, time_queue};

/// What was repaired in the visits that wait in `folder`, or in its links to other partitions, if anything was.
pub(crate) fn of_visits(folder: &str, recovery: &backlog::Recovery) -> Option<String> {
    let mut parts = Vec::new();
    if 0 < recovery.cut_bytes {
        parts.push(format!("{} torn bytes cut off", recovery.cut_bytes));
    }
    if 0 < recovery.kept {
        parts.push(format!(
            "{} visits kept that the last checkpoint did not name",
            recovery.kept
        ));
    }
    if 0 < recovery.lost {
        parts.push(format!(
            "{} visits LOST: files of {folder} were damaged from outside",
            recovery.lost
        ));
    }
    if 0 < recovery.acks_lost_bytes {
        parts.push(format!(
            "{} bytes of acknowledgements cannot be read: files of {folder} were damaged from outside, and some visits are made again",
            recovery.acks_lost_bytes
        ));
    }
    (!parts.is_empty()).then(|| format!("waiting visits: {}", parts.join(", ")))
}

/// What was damaged in the time queue in `folder`, which had states of so many `pages` at the last checkpoint, if anything was. A torn end is nothing
/// to tell of: it was not acknowledged.
pub(crate) fn of_known_pages(
    folder: &str,
    recovery: &time_queue::Recovery,
    pages: u64,
) -> Option<String> {
    if recovery.journal_damaged {
        let time_queue::Recovery {
            waiting,
            cut_bytes,
            salvaged,
            ..
        } = recovery;
        let lost = match pages.saturating_sub(*waiting) {
            0 => "no page is lost".to_owned(),
            lost => format!("{lost} pages are LOST"),
        };
        return Some(format!(
            "known pages: the journal of {folder} was damaged from outside, and {cut_bytes} bytes of it cannot be read; of {pages} pages at the last \
             checkpoint {waiting} are there, some in states of an earlier time ({salvaged} read from buckets alone): {lost}"
        ));
    }
    let files = recovery.damaged_files;
    (0 < files).then(|| format!("known pages: {files} files of {folder} were damaged from outside"))
}

/// That of so many URLs which wait in `folder` it cannot be read whether they are known, if there are such.
pub(crate) fn of_found_urls(folder: &str, damaged: u64) -> Option<String> {
    (0 < damaged).then(|| {
        format!(
            "known URLs: of {damaged} URLs that were found lately it cannot be read whether they are known, because files of {folder} were damaged from \
             outside; those that were visited are visited again when a link to them is found"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_told_of_what_is_whole() {
        assert_eq!(
            of_visits("state/backlog", &backlog::Recovery::default()),
            None
        );
        let recovery = time_queue::Recovery::default();
        assert_eq!(of_known_pages("state/time_queue", &recovery, 5), None);
        assert_eq!(of_found_urls("state/backlog", 0), None);
    }

    #[test]
    fn the_folder_of_the_damaged_partition_is_named() {
        let recovery = backlog::Recovery {
            lost: 3,
            ..backlog::Recovery::default()
        };
        assert_eq!(
            of_visits("state/partitions/2/backlog", &recovery).as_deref(),
            Some(
                "waiting visits: 3 visits LOST: files of state/partitions/2/backlog were damaged from outside"
            )
        );
    }

    #[test]
    fn damage_is_told_with_what_it_cost() {
        let folder = "state/partitions/2/time_queue";
        let damaged = time_queue::Recovery {
            journal_damaged: true,
            waiting: 7,
            cut_bytes: 1234,
            ..time_queue::Recovery::default()
        };
        let told = of_known_pages(folder, &damaged, 10).unwrap();
        assert!(
            told.contains("the journal of state/partitions/2/time_queue was damaged"),
            "{told}"
        );
        assert!(told.contains("1234 bytes"), "{told}");
        assert!(told.contains("3 pages are LOST"), "{told}");
        let told = of_known_pages(folder, &damaged, 7).unwrap();
        assert!(told.contains("no page is lost"), "{told}");
    }
}
