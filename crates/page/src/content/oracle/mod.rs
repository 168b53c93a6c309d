//! The reader of contents as it was when the first archives were written: slow, plain, and the measure of the one in use.
//!
//! Page states keep contents. Should the reader ever name a text otherwise than this does, every known page would count as changed. So the
//! two are compared, on generated pages and on real ones (see the tests). Nothing here is to be made better.

mod element;
mod form;
mod markup;
mod noise;
mod sketch;
mod text;
mod token;

use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::boilerplate::PageOfHost;
use super::{Boilerplate, Content, NAME_BITS};
use form::Form;
use sketch::{Sketcher, mix};

const OWN_SHARE_MIN: usize = 8;

pub(super) fn of(
    boilerplate: &mut Boilerplate,
    body: &[u8],
    content_type: Option<&str>,
    url: &Url,
) -> Option<Content> {
    let form = Form::of(body, content_type)?;
    let text = form.read(body, content_type, url);
    let all = text.content();
    if words_in(&all) == 0 {
        return None;
    }
    let mut own = all.clone();
    if form == Form::Html {
        let at = PageOfHost {
            host: xxh3_64(url.host_str().unwrap_or_default().as_bytes()),
            page: xxh3_64(url.as_str().as_bytes()),
        };
        boilerplate.keep_own(at, &mut own, &hashes_of(&all));
        if words_in(&own) * OWN_SHARE_MIN < words_in(&all) {
            own.clone_from(&all);
        }
    }
    let mut sketcher = Sketcher::new();
    for word in own.iter().copied().flatten() {
        sketcher.push(*word);
    }
    Some(Content {
        fingerprint: name_of(&all),
        own: name_of(&own),
        sketch: sketcher.finish(),
    })
}

fn words_in(blocks: &[&[u64]]) -> usize {
    blocks.iter().map(|words| words.len()).sum()
}

fn hashes_of(blocks: &[&[u64]]) -> Vec<u64> {
    let hash = |words: &&[u64]| words.iter().fold(0, |hash, word| mix(hash, *word));
    blocks.iter().map(hash).collect()
}

fn name_of(blocks: &[&[u64]]) -> u32 {
    let words = blocks.iter().copied().flatten();
    (words.fold(0, |hash, word| mix(hash, *word)) >> (u64::BITS - NAME_BITS)) as u32
}
