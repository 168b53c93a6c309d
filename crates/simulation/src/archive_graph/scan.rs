//! One pass over all files: finds every capture, and where it leads.

use std::fs::File;
use std::io::{self, Read as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashSet;
use junkai_archive::{ReadError, Reader, Record, RecordHead, Walker, walk};
use junkai_weburl::{Canonicalizer, PageUrl};
use rayon::prelude::*;

use super::Options;
use super::capture::{Capture, Leads, Moment, Name, Reference, Says, date, values};
use super::files::{Files, WarcFile};
use super::follow::{Answer, follow};
use super::pages::Pages;
use super::report::{Problem, Report};

/// Bytes of a `metadata` record that are looked at.
const METADATA_BYTES_MAX: u64 = 64 << 10;
/// Bytes of a file after which progress is told.
const PROGRESS_BYTES: u64 = 1 << 20;

/// Reads the files of an archive.
pub(super) struct Scanner<'a> {
    options: &'a Options,
    files: &'a Files,
    canonical: Canonicalizer,
    pages: Mutex<Pages>,
}

/// Why nothing is known of where a capture leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    TooLong,
    NoAnswer,
    ParserFailed,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(options: &'a Options, files: &'a Files) -> Self {
        Self {
            options,
            files,
            canonical: Canonicalizer::new(&options.canonical),
            pages: Mutex::new(Pages::new(options.pages_max)),
        }
    }

    /// Reads all files, and sends the numbers of bytes that it has come further.
    pub(super) fn scan(&self, progress: Sender<u64>) -> (Vec<Capture>, Report) {
        let files = self.files.list();
        let found: Vec<(Vec<Capture>, Report)> = files
            .par_iter()
            .enumerate()
            .map_with(progress, |progress, (number, file)| {
                self.scan_file(number, file, progress)
            })
            .collect();
        let mut captures = Vec::with_capacity(found.iter().map(|(list, _)| list.len()).sum());
        let mut report = Report::default();
        for (of_file, report_of_file) in found {
            captures.extend(of_file);
            report.add(report_of_file);
        }
        (captures, report)
    }

    fn scan_file(
        &self,
        number: usize,
        file: &WarcFile,
        progress: &Sender<u64>,
    ) -> (Vec<Capture>, Report) {
        let mut walker = FileWalk {
            scan: FileScan::new(self, number),
            file,
            progress,
            told: 0,
            problems: Vec::new(),
        };
        walk(&file.current_path(), &mut walker);
        walker.tell(file.bytes);
        let FileWalk {
            scan, mut problems, ..
        } = walker;
        let (captures, mut report) = scan.finish();
        report.files = 1;
        report.bytes = file.bytes;
        let is_readable = 0 < report.records || problems.is_empty();
        if is_readable {
            report.passed_over.damaged_records += problems.len() as u64;
        } else {
            report.passed_over.unreadable_files += 1;
            problems.truncate(1);
        }
        for problem in problems {
            report.note(problem);
        }
        (captures, report)
    }

    pub(super) fn pages(&self) -> MutexGuard<'_, Pages> {
        // A thread that panicked inside left at worst a URL without a number.
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The most pages that there may be.
    pub(super) fn pages_max(&self) -> u32 {
        self.options.pages_max
    }

    /// The page of a canonical URL.
    pub(super) fn parse(&self, url: &str) -> Option<PageUrl> {
        self.canonical.parse(url).ok()
    }

    /// The numbers of the pages to which an answer leads, each once.
    fn links(&self, url: &PageUrl, answer: &Answer<'_>) -> Result<Box<[u32]>, Unread> {
        let read = AssertUnwindSafe(|| follow(url, answer, self.options, &self.canonical));
        let targets = catch_unwind(read).map_err(|_| Unread::ParserFailed)?;
        let mut pages = self.pages();
        let numbers = targets.iter().filter_map(|target| pages.number(target));
        let mut seen = HashSet::new();
        Ok(numbers.filter(|number| seen.insert(*number)).collect())
    }

    /// Where a stored response leads, as an answer from `url`; `says` counts in place of what its own head says.
    fn links_of_response(
        &self,
        url: &PageUrl,
        block: &[u8],
        says: Option<&Says>,
    ) -> Result<Box<[u32]>, Unread> {
        let message = junkai_http::message(block);
        let status = message.status().ok_or(Unread::NoAnswer)?;
        let head = &block[..message.head_length()];
        let own = Says::of(&message, head);
        let content = message.content(self.options.decoded_bytes_max);
        let answer = Answer {
            status,
            location: values(head, "location").next(),
            says: says.unwrap_or(&own),
            content: &content.bytes,
        };
        self.links(url, &answer)
    }

    /// Where a `resource` record leads: its block is the content itself.
    fn links_of_resource(
        &self,
        url: &PageUrl,
        block: &[u8],
        says: &Says,
    ) -> Result<Box<[u32]>, Unread> {
        let answer = Answer {
            status: 200,
            location: None,
            says,
            content: &block[..block.len().min(self.options.decoded_bytes_max)],
        };
        self.links(url, &answer)
    }

    /// Reads the record at a place again: where its payload leads as an answer from another URL.
    pub(super) fn read_again(
        &self,
        at: Moment,
        url: &PageUrl,
        says: Option<&Says>,
    ) -> Option<Box<[u32]>> {
        let path = self.files.list()[at.file].current_path();
        let mut reader = Reader::open_at(&path, at.offset).ok()?;
        let record = reader.next_record().ok()??;
        if self.options.record_bytes_max < record.head().content_length {
            return None;
        }
        let head = record.head().clone();
        let block = block_of(record).ok()?;
        if head.record_type() == "resource" {
            let own = says_of_resource(&head);
            self.links_of_resource(url, &block, says.unwrap_or(&own))
                .ok()
        } else {
            self.links_of_response(url, &block, says).ok()
        }
    }
}

/// A file that is being walked over.
struct FileWalk<'a, 'b> {
    scan: FileScan<'a>,
    file: &'b WarcFile,
    progress: &'b Sender<u64>,
    /// How far was told.
    told: u64,
    problems: Vec<Problem>,
}

impl FileWalk<'_, '_> {
    fn tell(&mut self, reached: u64) {
        // Nobody listens any more only when all is over.
        let _unheard = self.progress.send(reached.saturating_sub(self.told));
        self.told = reached.max(self.told);
    }
}

impl Walker for FileWalk<'_, '_> {
    fn record(&mut self, record: Record<'_, File>) -> Result<(), ReadError> {
        let offset = record.head().offset;
        if self.told + PROGRESS_BYTES <= offset {
            self.tell(offset);
        }
        self.scan.take(record)
    }

    fn damage(&mut self, error: ReadError) {
        let is_being_written = self.file.is_open() && matches!(error, ReadError::Torn { .. });
        if !is_being_written {
            self.problems.push(Problem::of(self.file, &error));
        }
    }
}

/// Reads the block of a record and checks that the record is whole.
fn block_of(mut record: Record<'_, File>) -> Result<Vec<u8>, ReadError> {
    let offset = record.head().offset;
    let mut block = Vec::new();
    record
        .read_to_end(&mut block)
        .map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => ReadError::Torn { offset },
            _ => ReadError::Damaged { offset, source },
        })?;
    record.finish()?;
    Ok(block)
}

impl Problem {
    fn of(file: &WarcFile, error: &ReadError) -> Self {
        let mut message = error.to_string();
        if let Some(cause) = std::error::Error::source(error) {
            message = format!("{message}: {cause}");
        }
        Self {
            file: file.name(),
            offset: error.offset(),
            message,
        }
    }
}

/// What a pass over one file has found so far.
struct FileScan<'a> {
    scanner: &'a Scanner<'a>,
    file: usize,
    captures: Vec<Capture>,
    /// Whether `/robots.txt` is in the URL, for each capture.
    is_robots_path: Vec<bool>,
    /// Records that were fetched for the sake of another, as their `metadata` tell: robots.txt files, wherever they were.
    prerequisites: HashSet<Name>,
    /// Whether the file tells how pages were found. Then that decides what is a robots.txt; otherwise the path does.
    tells_hops: bool,
    report: Report,
}

impl<'a> FileScan<'a> {
    fn new(scanner: &'a Scanner<'a>, file: usize) -> Self {
        Self {
            scanner,
            file,
            captures: Vec::new(),
            is_robots_path: Vec::new(),
            prerequisites: HashSet::new(),
            tells_hops: false,
            report: Report::default(),
        }
    }

    fn take(&mut self, record: Record<'_, File>) -> Result<(), ReadError> {
        match record.head().record_type() {
            "response" | "revisit" | "resource" => self.take_capture(record)?,
            "metadata" => self.take_metadata(record)?,
            _ => {
                record.finish()?;
            }
        }
        self.report.records += 1;
        Ok(())
    }

    fn take_capture(&mut self, record: Record<'_, File>) -> Result<(), ReadError> {
        let head = record.head().clone();
        let uri = head.target_uri().unwrap_or_default();
        let url = self.scanner.parse(&uri);
        let is_long = self.scanner.options.record_bytes_max < head.content_length;
        let block = if url.is_none() || is_long {
            record.finish()?;
            None
        } else {
            Some(block_of(record)?)
        };
        let Some(url) = url else {
            // Captures of names, screenshots and the like are nothing that could be crawled, and nothing wrong.
            let is_web =
                uri.is_empty() || uri.get(..4).is_some_and(|s| s.eq_ignore_ascii_case("http"));
            self.report.passed_over.bad_urls += u64::from(is_web);
            return Ok(());
        };
        let leads = match block {
            None => Err(Unread::TooLong),
            Some(block) => self.leads(&url, &head, &block),
        };
        let leads = leads.unwrap_or_else(|unread| {
            self.count(unread);
            Leads::To(Box::default())
        });
        let Some(page) = self.scanner.pages().number(&url) else {
            return Ok(());
        };
        self.is_robots_path.push(url.path() == "/robots.txt");
        self.captures.push(Capture {
            page,
            moment: Moment {
                date: date(&head, "WARC-Date"),
                file: self.file,
                offset: head.offset,
            },
            record: Name::of(&head, "WARC-Record-ID"),
            payload: Name::of(&head, "WARC-Payload-Digest"),
            address: head
                .field("WARC-IP-Address")
                .and_then(|text| text.trim().parse().ok()),
            leads,
        });
        Ok(())
    }

    fn leads(&self, url: &PageUrl, head: &RecordHead, block: &[u8]) -> Result<Leads, Unread> {
        match head.record_type() {
            "revisit" => Ok(self.leads_of_revisit(url, head, block)?),
            "resource" => {
                let says = says_of_resource(head);
                let links = self.scanner.links_of_resource(url, block, &says)?;
                Ok(Leads::To(links))
            }
            _ => {
                let links = self.scanner.links_of_response(url, block, None)?;
                Ok(Leads::To(links))
            }
        }
    }

    fn leads_of_revisit(
        &self,
        url: &PageUrl,
        head: &RecordHead,
        block: &[u8],
    ) -> Result<Leads, Unread> {
        let message = junkai_http::message(block);
        let says = match message.status() {
            None | Some(304) => None,
            Some(status)
                if junkai_page::Answer::of(status, None) == junkai_page::Answer::Content =>
            {
                Some(Says::of(&message, &block[..message.head_length()]))
            }
            // A redirect leads where its own head says; what is no page leads nowhere.
            Some(_) => {
                let links = self.scanner.links_of_response(url, block, None)?;
                return Ok(Leads::To(links));
            }
        };
        let original = head
            .field("WARC-Refers-To-Target-URI")
            .and_then(|uri| self.scanner.parse(uri))
            .and_then(|url| self.scanner.pages().number(&url));
        Ok(Leads::Like(Box::new(Reference {
            record: Name::of(head, "WARC-Refers-To"),
            page_and_date: original.zip(date(head, "WARC-Refers-To-Date")),
            payload: Name::of(head, "WARC-Payload-Digest"),
            says,
        })))
    }

    fn take_metadata(&mut self, mut record: Record<'_, File>) -> Result<(), ReadError> {
        let of = Name::of(record.head(), "WARC-Concurrent-To");
        let offset = record.head().offset;
        let mut block = Vec::new();
        (&mut record)
            .take(METADATA_BYTES_MAX)
            .read_to_end(&mut block)
            .map_err(|source| ReadError::Damaged { offset, source })?;
        record.finish()?;
        let hops = values(&block, "hopsFromSeed").next();
        let is_seed = values(&block, "seed").next().is_some();
        self.tells_hops |= hops.is_some() || is_seed;
        if hops.is_some_and(|hops| hops.ends_with(b"P")) {
            self.prerequisites.extend(of);
        }
        Ok(())
    }

    fn count(&mut self, unread: Unread) {
        let passed_over = &mut self.report.passed_over;
        match unread {
            Unread::TooLong => passed_over.long_records += 1,
            Unread::NoAnswer => passed_over.no_answers += 1,
            Unread::ParserFailed => passed_over.parser_failures += 1,
        }
    }

    /// The captures of pages.
    fn finish(mut self) -> (Vec<Capture>, Report) {
        let found = self.captures.len();
        let mut is_robots_path = self.is_robots_path.into_iter();
        self.captures.retain(|capture| {
            let by_path = is_robots_path.next().unwrap_or(false);
            let by_hops = capture
                .record
                .is_some_and(|record| self.prerequisites.contains(&record));
            !(if self.tells_hops { by_hops } else { by_path })
        });
        let is_revisit = |capture: &&Capture| matches!(capture.leads, Leads::Like(_));
        self.report.captures = self.captures.len() as u64;
        self.report.robots_files = (found - self.captures.len()) as u64;
        self.report.revisits = self.captures.iter().filter(is_revisit).count() as u64;
        (self.captures, self.report)
    }
}

fn says_of_resource(head: &RecordHead) -> Says {
    Says {
        content_type: head.field("Content-Type").map(str::to_owned),
        robots_tags: Vec::new(),
        links: Vec::new(),
    }
}
