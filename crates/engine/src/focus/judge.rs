//! Judging, on the worker that fetched the page: what it says of its site, and what its links promise.

use std::path::Path;

use junkai_focus::collect::names_in;
use junkai_focus::data_file::{self, Bounds, Format, Hints, Inspection, Reading, looks_like_data};
use junkai_focus::learn::{Model, PageView, Seen};
use junkai_page::LinkContext;
use junkai_weburl::PageUrl;

use super::pdf::PdfReader;
use super::{Aim, Clue, FocusConfig, explored};
use crate::CrawlError;
use crate::visit::Visit;

/// Features of a page that are kept for who asks why.
const CLUES_MAX: usize = 6;
/// What the best link promises that leads to a data file: exploring reads pages first, because one file may be all that a site has.
const FILE_PROMISE: f32 = 1.0 / 1024.0;
/// Added to what a link promises by its words, so that depth counts more than words alone.
const PROMISE_FLOOR: f32 = 0.25;

/// Knows what is wanted.
#[derive(Debug)]
pub struct Judge {
    model: Model,
    /// Whether what surrounds a link to a page is kept: who collects needs it, who explores has its promise.
    keeps_contexts: bool,
    /// Whether names are read from data files, by which others are guessed.
    reads_names: bool,
    /// What reads PDF, where that is installed.
    pdf: Option<PdfReader>,
}

/// A file as it came.
#[derive(Clone, Copy, Debug)]
pub struct FetchedFile<'a> {
    /// What it holds.
    pub bytes: &'a [u8],
    /// As the server declared it.
    pub content_type: Option<&'a str>,
    /// The length of the whole file, where it came in part.
    pub whole_bytes: Option<u64>,
    /// Its text, if it is a PDF.
    pub pdf_text: Option<&'a str>,
}

/// What a page said of its site.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// How probable it makes it that the site holds what is wanted; none if there was nothing to judge by.
    pub probability: Option<f64>,
    /// What spoke most.
    pub clues: Vec<Clue>,
    /// What it is, if it is a data file.
    pub file: Option<FileSaid>,
}

/// What a data file said of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct FileSaid {
    /// What kind of file it is.
    pub format: Format,
    /// How probable it is that it is of the wanted kind.
    pub probability: f64,
    /// Why it could not be read, if so.
    pub refused: Option<String>,
    /// The names in its first column, for who collects.
    pub names: Vec<String>,
}

/// What is estimated of a link before it is followed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkEstimate {
    /// What it promises, more for pages near the first of their site.
    pub promise: f32,
    /// What surrounds it on the page.
    pub context: LinkContext,
    /// The kind of data file to which it leads, by its name.
    pub format: Option<Format>,
}

impl Judge {
    /// The judge by the model of the archive, or before it was explored by that of the settings.
    pub fn new(archive: &Path, config: &FocusConfig) -> Result<Judge, CrawlError> {
        let model = explored::load(archive, config)?;
        let is_collecting = matches!(config.aim, Aim::Collect { .. });
        Ok(Judge {
            model,
            keeps_contexts: is_collecting,
            reads_names: is_collecting && config.guess,
            pdf: PdfReader::find(),
        })
    }

    /// What a page says of its site.
    pub fn page(&self, body: &[u8], content_type: Option<&str>, url: &PageUrl) -> Said {
        let seen = Seen::read(body, content_type, url.as_str());
        let view = seen.view();
        let clues = self.model.page().explain(&view).into_iter();
        let clues = clues.map(|(feature, weight)| Clue { feature, weight });
        Said {
            probability: Some(self.model.page().probability(&view)),
            clues: clues.take(CLUES_MAX).collect(),
            file: None,
        }
    }

    /// Whether the text of what came with this type is wanted ([`Judge::pdf_text`]).
    pub fn wants_pdf_text(&self, url: &PageUrl, content_type: Option<&str>) -> bool {
        self.pdf.is_some() && looks_like_data(url.as_str(), content_type) == Some(Format::Pdf)
    }

    /// The text of a PDF file, where the program that reads them is installed. Blocks as long as that takes.
    #[must_use]
    pub fn pdf_text(&self, pdf: &[u8]) -> Option<String> {
        self.pdf.as_ref()?.text(pdf)
    }

    /// What a file says, if it looks like data: as evidence of its site, it is what its own kind makes probable.
    pub fn file(&self, file: &FetchedFile<'_>, visit: &Visit) -> Said {
        let FetchedFile {
            bytes,
            content_type,
            whole_bytes,
            pdf_text,
        } = *file;
        let url = visit.url.as_str();
        let Some(format) = data_file::format_of(bytes, url, content_type) else {
            return Said::default();
        };
        let link_text = visit
            .link_estimate
            .as_deref()
            .map(|estimate| estimate.context.text.as_str());
        let pdf_text = |_: &[u8]| pdf_text.map(str::to_owned);
        let hints = Hints {
            url,
            content_type,
            link_text,
            whole_bytes,
            pdf_text: Some(&pdf_text),
        };
        let inspection = data_file::inspect(bytes, &hints, &Bounds::default());
        let probability = self.file_probability(&inspection);
        let refused = match &inspection.reading {
            Reading::Whole | Reading::Prefix => None,
            Reading::Refused(refusal) => Some(refusal.to_string()),
        };
        Said {
            probability: refused.is_none().then_some(probability),
            clues: Vec::new(),
            file: Some(FileSaid {
                format,
                probability,
                refused,
                names: if self.reads_names {
                    names_of(format, bytes)
                } else {
                    Vec::new()
                },
            }),
        }
    }

    /// How probable it is that a file is of the wanted kind. To a model that was trained on pages alone, every file is that can be read.
    #[must_use]
    pub fn file_probability(&self, inspection: &Inspection) -> f64 {
        match self.model.files() {
            Some(files) => files.probability(&inspection.features),
            None => f64::from(u8::from(inspection.features.is_read())),
        }
    }

    /// Estimates what a link promises: as much as a page would with its URL and its words, half as much for each link that it is further from its site's first page.
    pub fn estimate(&self, url: &PageUrl, context: LinkContext, depth: u16) -> LinkEstimate {
        let format = looks_like_data(url.as_str(), None);
        let words = if context.text.is_empty() {
            &context.beside
        } else {
            &context.text
        };
        let view = PageView {
            url: url.as_str(),
            title: words,
            ..PageView::default()
        };
        #[expect(clippy::cast_possible_truncation, reason = "it ranks links, no more")]
        let promise = self.model.page().probability(&view) as f32;
        let promise = match format {
            Some(_) => FILE_PROMISE * promise,
            None => PROMISE_FLOOR + promise,
        };
        let is_kept = self.keeps_contexts || format.is_some();
        LinkEstimate {
            promise: promise * 0.5_f32.powi(depth.into()),
            context: if is_kept {
                context
            } else {
                LinkContext::default()
            },
            format,
        }
    }
}

/// The names in the first column of a file, if it is of a format of which these are read.
pub(super) fn names_of(format: Format, bytes: &[u8]) -> Vec<String> {
    match format {
        Format::Csv | Format::Tsv => names_in(bytes),
        Format::Xls | Format::Xlsx | Format::Ods | Format::HtmlTable | Format::Pdf => Vec::new(),
    }
}
