//! Pages that an order asks for and that no visit of this run has found.
//!
//! Three kinds: the home page of a site that was found by a link into its depth, and the data file that is named as those of like pages are: no link was seen to
//! lead to these; and what a page links to that was not fetched because the archive has it: an earlier run may have had narrower bounds. An
//! order names them, and [`engine`](crate::engine) takes them in as it takes in what a page links to: within the scope, once, on disk before they are visited, under
//! the rules of robots.txt and the pace of their server. Their last hop says how they came about, and `via` after which page.

use junkai_weburl::PageUrl;

use super::LinkEstimate;
use super::wanted::Linked;
use crate::visit::{Discovered, INFERRED_HOP, Purpose};

/// What such a page promises: it is asked for before what waits.
const PROMISE: f32 = 1.0;

/// A page that an order asks for.
#[derive(Debug)]
pub struct Inferred {
    /// The URL.
    pub found: Discovered,
    /// The page from which it was inferred.
    pub via: Box<str>,
    /// How that page was reached; empty if it was not.
    pub hops: Box<str>,
}

impl Inferred {
    /// What a page links to that the archive has.
    pub(super) fn linked(linked: &Linked) -> Inferred {
        Inferred {
            found: linked.found.clone(),
            via: (&*linked.via).into(),
            hops: "".into(),
        }
    }

    pub(super) fn new(url: PageUrl, depth: u16, via: &str, hops: &str) -> Inferred {
        let estimate = LinkEstimate {
            promise: PROMISE,
            format: junkai_focus::data_file::looks_like_data(url.as_str(), None),
            ..LinkEstimate::default()
        };
        Inferred {
            found: Discovered {
                url,
                hop: Some(INFERRED_HOP),
                depth,
                purpose: Purpose::Page,
                link_estimate: Some(Box::new(estimate)),
            },
            via: via.into(),
            hops: hops.into(),
        }
    }
}
