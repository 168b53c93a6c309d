//! What the pages of a history say: text that differs from version to version, and noise that differs from answer to answer.
//!
//! A page has paragraphs. A new version rewrites one of them, in turn, and any other with a probability of a third; the rest
//! stays. So a change is seen in the content, and is not all of it.

use std::sync::atomic::Ordering;

use junkai_graph::history::Edition;

use super::{HistoryWeb, Now, Page, encoded};
use crate::answer::Answer;
use crate::chance::{Chance, mix};
use crate::synthetic::write_to;

/// Bytes of a paragraph, more or less.
const PARAGRAPH_BYTES: usize = 400;

/// A page has at least so many paragraphs.
const PARAGRAPHS_MIN: usize = 3;

/// One paragraph in so many is rewritten by a new version, beside the one whose turn it is.
const REWRITTEN_ONE_IN: u64 = 3;

/// Links of the navigation that rotates.
const ROTATING_LINKS: u64 = 5;

/// What differs in every answer.
struct Noise {
    /// How many answers there were before.
    answers: u64,
    chance: Chance,
}

impl HistoryWeb {
    /// The bytes of a page, as stored or written for it.
    pub(super) fn content(&self, page: Page, edition: Edition, now: Now<'_>) -> Answer {
        let (status, body) = match &self.stored {
            Some(stored) => match stored.bytes(page, edition) {
                Ok(body) => (200, body),
                Err(error) => {
                    tracing::warn!(%error, path = self.history.path(page), "version not served");
                    (500, Vec::new())
                }
            },
            None if self.is_html(page) => (200, self.html(page, edition, now)),
            None => (200, self.text(page, edition)),
        };
        Answer {
            status,
            body,
            ..Answer::default()
        }
    }

    pub(super) fn content_type(&self, page: Page) -> String {
        if self.stored.is_some() {
            return crate::folder::content_type(self.history.path(page).as_ref()).to_owned();
        }
        let kind = if self.is_html(page) { "html" } else { "plain" };
        format!("text/{kind}; charset=utf-8")
    }

    /// Whether a page that the web writes is HTML: by its name, or because that has no ending.
    fn is_html(&self, page: Page) -> bool {
        let path = self.history.path(page);
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        name.rsplit_once('.')
            .is_none_or(|(_, ending)| matches!(ending, "html" | "htm" | "xhtml" | "shtml" | "php"))
    }

    fn html(&self, page: Page, edition: Edition, now: Now<'_>) -> Vec<u8> {
        let mut noise = self.config.has_noise.then(|| {
            let answers = self.answers.fetch_add(1, Ordering::Relaxed);
            Noise {
                answers,
                chance: Chance::about(self.seed, answers),
            }
        });
        let title = super::around::escaped(self.history.path(page));
        let mut head = format!("<!DOCTYPE html>\n<html lang=\"en\"><head><title>{title}</title>\n");
        if let Some(noise) = &mut noise {
            let token = noise.chance.number();
            write_to(
                &mut head,
                format_args!("<meta name=\"csrf-token\" content=\"{token:016x}\">\n"),
            );
        }
        head.push_str("</head><body>\n<nav><a href=\"/\">Home</a>");
        if let Some(noise) = &mut noise {
            self.write_rotating(&mut head, page, noise, now);
        }
        head.push_str("</nav>\n");
        write_to(&mut head, format_args!("<h1>{title}</h1>\n<article>\n"));
        let mut html = head.into_bytes();
        for paragraph in 0..self.paragraph_count() {
            html.extend_from_slice(b"<p>");
            self.write_paragraph(&mut html, page, edition, paragraph);
            html.extend_from_slice(b"</p>\n");
        }
        html.extend_from_slice(b"</article>\n");
        if let Some(noise) = &mut noise {
            html.extend_from_slice(noise.footer(now).as_bytes());
        }
        html.extend_from_slice(b"</body></html>\n");
        html
    }

    fn text(&self, page: Page, edition: Edition) -> Vec<u8> {
        let mut text = Vec::new();
        for paragraph in 0..self.paragraph_count() {
            self.write_paragraph(&mut text, page, edition, paragraph);
            text.push(b'\n');
        }
        text
    }

    fn paragraph_count(&self) -> usize {
        (self.page_bytes / PARAGRAPH_BYTES).max(PARAGRAPHS_MIN)
    }

    fn write_paragraph(&self, out: &mut Vec<u8>, page: Page, edition: Edition, paragraph: usize) {
        let key = mix(self.key(page), paragraph as u64);
        let written = self.last_written(key, edition.version, paragraph);
        let mut chance = Chance::about(key, written.into());
        let end = out.len() + PARAGRAPH_BYTES;
        // The number alone makes versions differ, should all sentences be the same by chance.
        out.extend_from_slice(format!("Section {paragraph}, edition {written}. ").as_bytes());
        while out.len() < end {
            out.extend_from_slice(self.prose.sentence(&mut chance));
        }
    }

    /// The last version up to `version` that rewrote a paragraph.
    fn last_written(&self, key: u64, version: u32, paragraph: usize) -> u32 {
        let count = self.paragraph_count();
        let is_rewritten = |version: &u32| {
            *version as usize % count == paragraph
                || mix(key, u64::from(*version)).is_multiple_of(REWRITTEN_ONE_IN)
        };
        // The turn comes round, so the search ends after as many versions as there are paragraphs.
        (1..=version).rev().find(is_rewritten).unwrap_or(0)
    }

    /// Links to some pages of the host that are there, others every time.
    fn write_rotating(&self, out: &mut String, page: Page, noise: &mut Noise, now: Now<'_>) {
        let host = self.host_of(page);
        let pages = u64::from(self.history.page_count()).div_ceil(self.hosts.len() as u64);
        for _ in 0..ROTATING_LINKS {
            let place = usize::try_from(noise.chance.below_large(pages)).unwrap_or_default();
            let page = self.pages_of(host).nth(place);
            if let Some(page) = page.filter(|&page| self.edition(page, now.moment).is_some()) {
                let path = encoded(self.history.path(page));
                write_to(out, format_args!(" <a href=\"/{path}\">{page}</a>"));
            }
        }
    }
}

impl Noise {
    fn footer(&mut self, now: Now<'_>) -> String {
        let shown = jiff::Timestamp::try_from(now.clock.shown().system_time());
        let shown = shown.unwrap_or_default();
        let (visitors, session) = (100_000 + self.answers, self.chance.number());
        let took = self.chance.below_large(900);
        format!(
            "<footer><p>Page generated on {shown:.0} in {took} ms. {visitors} views. 3 minutes ago.</p>\
             <form><input type=\"hidden\" name=\"session\" value=\"{session:016x}\"></form>\
             <script>var token = \"{session:x}\";</script><!-- {took} --></footer>\n"
        )
    }
}
