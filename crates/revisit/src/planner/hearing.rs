//! What lists have said of a page that waits for its visit.
//!
//! Sitemaps and feeds tell of pages that have changed. How much such a signal is worth is the policy's question (`policy::index`), by how far the
//! site's lists have proved true (`trust`). A list only brings news, so nothing is made of its silence.

use crate::policy::{SignalQuality, Signals};
use crate::sighting::Hints;
use crate::sites::{SiteKey, Sites};
use crate::state::PageState;
use crate::trust::{Source, Trust};

/// Takes in what lists say: a signal for each that tells of a change since the page was last seen.
pub(super) fn hear(state: &mut PageState, hints: &Hints) {
    let told = [hints.sitemap, hints.feed].into_iter().flatten();
    let news = told.filter(|changed| state.seen < *changed).count();
    let news = u8::try_from(news).unwrap_or(u8::MAX);
    state.signals = state.signals.max(news);
}

/// What was signalled of a page since it was last seen, and how good the better list of its site has proved.
pub(super) fn heard(state: &PageState, sites: &Sites, site: SiteKey) -> Signals {
    if state.signals == 0 {
        return Signals::NONE;
    }
    let lists = [Source::Sitemap, Source::Feed].map(|list| sites.trust(site, list));
    let better = |one: &Trust, other: &Trust| one.credit.total_cmp(&other.credit);
    Signals {
        count: state.signals.into(),
        quality: lists
            .into_iter()
            .max_by(better)
            .map(|trust| SignalQuality::new(trust.proven_recall, trust.false_alarms)),
    }
}
