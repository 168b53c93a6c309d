//! What the tests of the orders have in common.

use junkai_focus::data_file::looks_like_data;
use junkai_frontier::Time;
use junkai_frontier::admission::Candidate;
use junkai_store::backlog::{Backlog, BacklogConfig, Lengths, Tails};
use junkai_weburl::{CanonicalConfig, Canonicalizer};

use super::LinkEstimate;
use crate::visit::{Discovered, Purpose, Visit};
use crate::waiting_room::Receipt;

/// A page that wants to wait.
pub(super) fn candidate(url: &str, priority: f32) -> Candidate<Visit> {
    let found = found(url);
    let entry = found.entry("", "L", Time::EPOCH).with_own_texts();
    let folder = tempfile::tempdir().unwrap();
    let tails = Lengths::default();
    let config = BacklogConfig::default();
    let (mut backlog, _) = Backlog::open(folder.path(), &config, Tails::Keep(&tails)).unwrap();
    let receipt = Receipt::Waiting {
        ticket: backlog.append_held(&entry).unwrap(),
        is_handed_out: false,
    };
    let mut visit = Visit::from_entry(entry, found.url, found.purpose, receipt);
    visit.priority = priority;
    visit.link_estimate = found.link_estimate;
    Candidate {
        fingerprint: visit.url.fingerprint().0,
        host: visit.host(),
        priority,
        visit,
    }
}

/// A link that was found.
pub(super) fn found(url: &str) -> Discovered {
    Discovered {
        url: Canonicalizer::new(&CanonicalConfig::default())
            .parse(url)
            .unwrap(),
        hop: Some('L'),
        depth: 1,
        purpose: Purpose::Page,
        link_estimate: Some(Box::new(LinkEstimate {
            format: looks_like_data(url, None),
            ..LinkEstimate::default()
        })),
    }
}
