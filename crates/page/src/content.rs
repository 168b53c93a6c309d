//! What a page says, whatever surrounds it: numbers that stay the same while only clocks, counters and menus change.
//!
//! [`of`], or [`of_page`] where the charset is known, is called for a body whose payload digest is new: equal bytes need no second look. It reads the text out of the body
//! (`form`, `markup`), drops what is not content (`element`: markup, scripts, what is hidden, navigation by element, role, class and by
//! the density of its links; `noise`: dates, counters, tokens of sessions), and then what the site's pages have in common
//! ([`Boilerplate`]). White space, punctuation and the Unicode form of the rest do not count. A body without text has no content, and its
//! payload digest has to decide.
//!
//! Invariants: the same bytes are the same content, whatever has been learned of the site in between ([`Content::is_same`]). And page states
//! keep contents, so a reader that named texts otherwise would find every known page changed: `oracle`, the first reader, holds this one to
//! its numbers.
//! Bounds: one pass, time linear in the body whatever is in it, and a million words.
//!
//! Not here: what counts as a change, which the user decides.

mod boilerplate;
mod buffer;
pub(crate) mod element;
mod form;
mod hash;
mod label;
pub(crate) mod markup;
mod noise;
mod normal;
#[cfg(test)]
mod oracle;
mod plain;
mod sketch;
mod text;
mod token;

pub use boilerplate::{Boilerplate, BoilerplateBounds, PAGES_MIN};
pub use sketch::{SHINGLE_WORDS, Sketch};

use serde::{Deserialize, Serialize};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use crate::charset::{self, Charset};
use boilerplate::PageOfHost;
use form::Form;
use sketch::{Sketcher, mix};
use text::Text;

/// What is own must be at least this share of the content; else it is a copy of other pages, and all of it is taken as own.
const OWN_SHARE_MIN: usize = 8;

/// Contents that are at least so similar differ by a little, and do not count as changed unless the user wants it.
///
/// One edited word of 500 leaves 0.988 of the shingles in common, a new sentence of 15 words about 0.96, a new paragraph of 50
/// about 0.9. The sketch errs by about 0.01 at the first and 0.03 at the last, so that the one is hardly ever taken for the
/// other: `examples/sketch_calibration.rs` measures it, also for a simhash, which errs two to three times as much.
pub const A_LITTLE: f32 = 0.96;

/// Bits of a name of a text. Of eight million other texts, one is taken for the same: a change that does not count, of a payload that is
/// captured all the same.
pub const NAME_BITS: u32 = 24;

/// What a page says, in numbers that can be kept and compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Names the text, in [`NAME_BITS`]. It depends on the page's bytes alone, and is the same wherever and whenever they are read.
    pub fingerprint: u32,
    /// Names the page's own text: less the blocks that other pages of the site were known to have as well when it was read.
    pub own: u32,
    /// A sketch of the page's own text.
    pub sketch: Sketch,
}

/// The content of a body, if it has text. `url` is the page's, and what is learned of its host is kept in `boilerplate`.
#[must_use]
pub fn of(
    boilerplate: &mut Boilerplate,
    body: &[u8],
    content_type: Option<&str>,
    url: &Url,
) -> Option<Content> {
    let form = Form::of(body, content_type)?;
    boilerplate.with_composer(|boilerplate, composer| {
        let text = form.read(body, content_type, url, composer);
        of_text(boilerplate, form, text, url)
    })
}

/// Whether a body may have a content: [`of`] finds one in it if it has text.
#[must_use]
pub fn is_readable(body: &[u8], content_type: Option<&str>) -> bool {
    Form::of(body, content_type).is_some()
}

/// The content of an HTML page whose charset is known: [`of`] would find the same.
#[must_use]
pub fn of_page(
    boilerplate: &mut Boilerplate,
    body: &[u8],
    charset: Charset,
    url: &Url,
) -> Option<Content> {
    boilerplate.with_composer(|boilerplate, composer| {
        let text = Form::Html.read_decoded(&charset::decode(body, charset), composer);
        of_text(boilerplate, Form::Html, text, url)
    })
}

fn of_text(boilerplate: &mut Boilerplate, form: Form, text: &Text, url: &Url) -> Option<Content> {
    let all = text.content();
    let words_in_all = words_in(&all);
    if words_in_all == 0 {
        return None;
    }
    let (name_of_all, hashes) = name_of(&all);
    let mut own = all.clone();
    if form == Form::Html {
        let at = PageOfHost {
            host: xxh3_64(url.host_str().unwrap_or_default().as_bytes()),
            page: xxh3_64(url.as_str().as_bytes()),
        };
        boilerplate.keep_own(at, &mut own, &hashes);
        if words_in(&own) * OWN_SHARE_MIN < words_in_all {
            own.clone_from(&all);
        }
    }
    let mut sketcher = Sketcher::new();
    for words in &own {
        sketcher.push(words);
    }
    let is_all_own = own.len() == all.len();
    Some(Content {
        fingerprint: name_of_all,
        own: if is_all_own {
            name_of_all
        } else {
            name_of(&own).0
        },
        sketch: sketcher.finish(),
    })
}

fn words_in(blocks: &[&[u64]]) -> usize {
    blocks.iter().map(|words| words.len()).sum()
}

/// The name of a text, whose words are given by their hashes, and the hash of each of its blocks.
fn name_of(blocks: &[&[u64]]) -> (u32, Vec<u64>) {
    let mut hash_of_all = 0;
    let hashes = blocks.iter().map(|words| {
        // Each hash waits for the last one: two take no longer than one.
        let mut hash = 0;
        for word in *words {
            hash_of_all = mix(hash_of_all, *word);
            hash = mix(hash, *word);
        }
        hash
    });
    let hashes = hashes.collect();
    ((hash_of_all >> (u64::BITS - NAME_BITS)) as u32, hashes)
}

impl Content {
    /// Whether two contents are the same: the same text, or texts that differ in nothing but what the site's pages share.
    ///
    /// What is known of a site grows, and so the same bytes may have another [`own`](Self::own) tomorrow. They have the same
    /// fingerprint, which is why either is enough.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint || self.own == other.own
    }

    /// The share of shingles that two contents have in common, estimated from their sketches: 1 for the same content.
    #[must_use]
    pub fn similarity(&self, other: &Self) -> f32 {
        if self.is_same(other) {
            1.0
        } else {
            self.sketch.similarity(other.sketch)
        }
    }
}

#[cfg(test)]
mod tests;
