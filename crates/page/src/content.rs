//! What a page says, whatever surrounds it: numbers that stay the same while only clocks, counters and menus change.

mod sketch;

pub use sketch::{SHINGLE_WORDS, Sketch};

use serde::{Deserialize, Serialize};

/// Contents that are at least so similar differ by a little, and do not count as changed unless the user wants it.
pub const A_LITTLE: f32 = 0.96;

/// What a page says, in numbers that can be kept and compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Names the text. It depends on the page's bytes alone, and is the same wherever and whenever they are read.
    pub fingerprint: u64,
    /// Names the page's own text: less the blocks that other pages of the site were known to have as well when it was read.
    pub own: u32,
    /// A sketch of the page's own text.
    pub sketch: Sketch,
    /// Words of the page's own text; a character counts as a word where words are not set apart.
    pub words: u32,
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
