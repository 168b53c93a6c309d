//! Makes an entry of what was found: the file, what is in it, and what led to it.

use jiff::Timestamp;

use super::Entry;
use super::page_facts::{LinkFacts, PageFacts};
use crate::data_file::{Format, Inspection, Reading, Refusal, words_of_address};

/// Texts of links that say nothing of the file.
const EMPTY_WORDS: [&str; 22] = [
    "csv",
    "tsv",
    "xls",
    "xlsx",
    "excel",
    "ods",
    "pdf",
    "html",
    "download",
    "download file",
    "file",
    "data",
    "here",
    "click here",
    "link",
    "view",
    "open",
    "ダウンロード",
    "こちら",
    "エクセル",
    "データ",
    "ファイル",
];
/// Columns that are kept.
const COLUMNS_MAX: usize = 200;
/// Bytes of a title.
const TITLE_BYTES: usize = 300;

/// A data file that was found.
#[derive(Clone, Copy, Debug)]
pub struct Finding<'a> {
    /// Where it is.
    pub url: &'a str,
    /// The site that it was found on.
    pub site: &'a str,
    /// What is in it.
    pub inspection: &'a Inspection,
    /// The page that links to it, if that was read.
    pub page: Option<&'a PageFacts>,
    /// Its length.
    pub bytes: u64,
    /// When it was captured.
    pub captured: Timestamp,
    /// Its digest, as the archive names it (`sha1:…`).
    pub digest: &'a str,
    /// The probability that it is what was wanted.
    pub probability: f64,
}

impl Finding<'_> {
    /// What the catalogue says of it; none if it is no data file, or a broken one.
    #[must_use]
    pub fn entry(&self) -> Option<Entry> {
        let unread = match &self.inspection.reading {
            Reading::Whole | Reading::Prefix => None,
            Reading::Refused(refusal) if is_broken(refusal) => return None,
            Reading::Refused(refusal) => Some(refusal.to_string()),
        };
        let link = self.page.and_then(|page| page.link(self.url));
        let format = self.inspection.format?;
        let mut columns = self.inspection.columns();
        columns.truncate(COLUMNS_MAX);
        Some(Entry {
            url: self.url.to_owned(),
            site: self.site.to_owned(),
            format,
            title: self.title(link, format),
            context: link.map(context_of).unwrap_or_default(),
            link_text: link.map(|link| link.text.clone()).unwrap_or_default(),
            publisher: self.page.and_then(|page| page.publisher.clone()),
            page: self.page.map(|page| page.url.clone()),
            columns,
            rows: self.inspection.rows(),
            time_range: self.inspection.time_range,
            units: self.inspection.units.clone(),
            language: self.language(),
            licence: self.page.and_then(|page| page.licence.clone()),
            bytes: self.bytes,
            is_cut: self.inspection.reading == Reading::Prefix,
            has_macros: self.inspection.has_macros,
            unread,
            captured: self.captured,
            digest: self.digest.to_owned(),
            versions: Vec::new(),
            probability: self.probability,
        })
    }

    /// The language of its words, else of the page that links to it. Ideographs alone do not tell Japanese from Chinese: the page does.
    fn language(&self) -> Option<String> {
        let own = self.inspection.language.as_deref();
        let around = self.page.and_then(|page| page.language.as_deref());
        let language = match (own, around) {
            (Some("zh"), Some("ja")) => around,
            _ => own.or(around),
        };
        language.map(str::to_owned)
    }

    /// The best of what it is called: by itself, by the link, by the page, by its name.
    fn title(&self, link: Option<&LinkFacts>, format: Format) -> String {
        let own = self.inspection.title.as_deref();
        let text = link
            .map(|link| &*link.text)
            .filter(|text| says_something(text));
        let heading = link
            .and_then(|link| link.headings.last())
            .map(String::as_str);
        let page = self.page.map(|page| {
            if page.heading.is_empty() {
                &*page.title
            } else {
                &*page.heading
            }
        });
        let is_table_of_page =
            format == Format::HtmlTable && self.page.is_some_and(|page| page.url == self.url);
        let sheet = self
            .inspection
            .tables
            .iter()
            .find_map(|table| table.name.as_deref());
        let candidates = if is_table_of_page {
            [sheet, page, own, text, heading]
        } else {
            [text, own, heading, page, sheet]
        };
        let mut candidates = candidates.into_iter().flatten().filter(|it| !it.is_empty());
        let title = candidates
            .next()
            .map_or_else(|| name_of_file(self.url), str::to_owned);
        // A link of few words under a heading is a part of what the heading names.
        match heading {
            Some(heading) if title.chars().count() < 12 && !title.contains(heading) => {
                cut(&format!("{heading}: {title}"))
            }
            _ => cut(&title),
        }
    }
}

/// Whether nobody can read such a file. Others can read what is too large for us, or needs a password or a program.
fn is_broken(refusal: &Refusal) -> bool {
    match refusal {
        Refusal::NoDataFile | Refusal::Empty | Refusal::NoTable | Refusal::Damaged { .. } => true,
        Refusal::PasswordProtected
        | Refusal::UnpacksTooLarge { .. }
        | Refusal::TooManyParts { .. }
        | Refusal::PdfUnread => false,
    }
}

fn cut(title: &str) -> String {
    title[..title.floor_char_boundary(TITLE_BYTES)].to_owned()
}

/// The text beside the link, and the headings above it.
fn context_of(link: &LinkFacts) -> String {
    let mut context = link.headings.join(" › ");
    if !context.is_empty() && !link.context.is_empty() {
        context.push_str(" › ");
    }
    context.push_str(&link.context);
    context
}

/// Whether a text of a link says more than that there is a file, and how large.
fn says_something(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words = lower.trim_matches(|it: char| !it.is_alphanumeric());
    // `CSV (12 KB)`: what is left without formats and sizes.
    let left: Vec<&str> = words
        .split(|it: char| !it.is_alphanumeric())
        .filter(|word| {
            let is_size = word
                .trim_end_matches(['k', 'm', 'g', 'b', 'i'])
                .chars()
                .all(|it| it.is_ascii_digit());
            !word.is_empty() && !is_size && !EMPTY_WORDS.contains(word)
        })
        .collect();
    !EMPTY_WORDS.contains(&words) && !left.is_empty()
}

fn name_of_file(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let file = path
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let words = words_of_address(stem);
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}
