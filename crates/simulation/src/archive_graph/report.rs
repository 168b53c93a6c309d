//! What was read of an archive, and what was passed over.

use serde::Serialize;

/// Problems that are told one by one; all are counted.
const PROBLEMS_MAX: usize = 20;

/// What was read of an archive, and what was passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// WARC files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whole records, of any type.
    pub records: u64,
    /// Captures of pages.
    pub captures: u64,
    /// Those of them that are revisit records: they refer to the payload of another.
    pub revisits: u64,
    /// Captures that are not of pages: robots.txt files, and where they redirect to.
    pub robots_files: u64,
    /// What was passed over, and why.
    pub passed_over: PassedOver,
    /// The first problems of files, by file and place.
    pub problems: Vec<Problem>,
}

/// How much was passed over, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PassedOver {
    /// Files that cannot be opened, or are no WARC files.
    pub unreadable_files: u64,
    /// Records that are damaged or torn. What lies between one and the next sound record counts as one.
    pub damaged_records: u64,
    /// Captures whose URL is none that could be crawled.
    pub bad_urls: u64,
    /// Captures that are longer than the limit; their pages are known, their links are not.
    pub long_records: u64,
    /// Responses that do not begin with a status line; the same.
    pub no_answers: u64,
    /// Latest captures that refer to a payload that is not in the archive; the same.
    pub lost_payloads: u64,
    /// Captures on which a parser failed; the same.
    pub parser_failures: u64,
}

/// Something wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// The name of the file.
    pub file: String,
    /// Where in it.
    pub offset: u64,
    /// What is wrong.
    pub message: String,
}

impl Report {
    /// Adds what was found in another file.
    pub(super) fn add(&mut self, other: Report) {
        let Report {
            files,
            bytes,
            records,
            captures,
            revisits,
            robots_files,
            passed_over,
            problems,
        } = other;
        self.files += files;
        self.bytes += bytes;
        self.records += records;
        self.captures += captures;
        self.revisits += revisits;
        self.robots_files += robots_files;
        self.passed_over.add(passed_over);
        let room = PROBLEMS_MAX.saturating_sub(self.problems.len());
        self.problems.extend(problems.into_iter().take(room));
    }

    /// Notes a problem, if there is room.
    pub(super) fn note(&mut self, problem: Problem) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem);
        }
    }
}

impl PassedOver {
    fn add(&mut self, other: PassedOver) {
        let PassedOver {
            unreadable_files,
            damaged_records,
            bad_urls,
            long_records,
            no_answers,
            lost_payloads,
            parser_failures,
        } = other;
        self.unreadable_files += unreadable_files;
        self.damaged_records += damaged_records;
        self.bad_urls += bad_urls;
        self.long_records += long_records;
        self.no_answers += no_answers;
        self.lost_payloads += lost_payloads;
        self.parser_failures += parser_failures;
    }

    /// How much was passed over, each reason in words; reasons that did not occur are left out.
    pub fn reasons(&self) -> impl Iterator<Item = (u64, &'static str)> {
        [
            (self.unreadable_files, "files that cannot be read"),
            (self.damaged_records, "records that are damaged or torn"),
            (self.bad_urls, "captures of URLs that cannot be crawled"),
            (self.long_records, "captures too long to be read"),
            (self.no_answers, "captures without a status line"),
            (
                self.lost_payloads,
                "captures whose payload is in another archive",
            ),
            (self.parser_failures, "captures on which a parser failed"),
        ]
        .into_iter()
        .filter(|(count, _)| 0 < *count)
    }
}
