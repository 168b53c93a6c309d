//! What sitemaps and feeds say of other pages: that one has changed since the list was last read, or how often one does.
//!
//! The list itself is a known page, so its own last visit says what is news in it. A page's state is not looked up for that: the time queue cannot.

use junkai_frontier::Time;
use junkai_page::{Modified, feed, sitemap};
use junkai_revisit::{Hints, PageState, Source};

use super::Worker;
use super::found::time;
use crate::visit::{Signal, Visit};

/// Signals of a kind that are taken from one list: more would be no news, but a rebuild of the whole site.
const SIGNALS_MAX: usize = 1000;

/// What a sitemap says that was not in it at the last visit; then, of the pages without news, how often they change.
pub(super) fn of_sitemap<'a>(
    worker: &Worker,
    visit: &Visit,
    entries: impl Iterator<Item = &'a sitemap::Entry> + Clone,
) -> Vec<Signal> {
    let told = |entry: &'a sitemap::Entry| {
        let hints = Hints {
            sitemap: since(visit.state.as_deref(), entry.modified()),
            changes_every: entry
                .changefreq
                .and_then(sitemap::ChangeFrequency::interval),
            ..Hints::default()
        };
        (entry.loc.as_str(), Source::Sitemap, hints)
    };
    let told = entries.map(told);
    let news = told.clone().filter(|(_, _, hints)| hints.tells_of_change());
    let habits =
        told.filter(|(_, _, hints)| !hints.tells_of_change() && hints.changes_every.is_some());
    let mut signals = signals(worker, visit, news);
    signals.extend(self::signals(worker, visit, habits));
    signals
}

/// What a feed says that was not in it at the last visit.
pub(super) fn of_feed(worker: &Worker, visit: &Visit, entries: &[feed::Entry]) -> Vec<Signal> {
    let news = entries.iter().filter_map(|entry| {
        let hints = Hints {
            feed: Some(since(visit.state.as_deref(), entry.modified())?),
            ..Hints::default()
        };
        Some((entry.url.as_str(), Source::Feed, hints))
    });
    signals(worker, visit, news)
}

/// A list speaks for its own site alone: else one site could have another's pages visited, and spoil its record.
fn signals<'a>(
    worker: &Worker,
    list: &Visit,
    news: impl Iterator<Item = (&'a str, Source, Hints)>,
) -> Vec<Signal> {
    let signals = news.filter_map(|(url, source, hints)| {
        let url = worker.canonical.parse(url).ok()?;
        (url.site() == list.url.site()).then_some(())?;
        Some(Signal { url, source, hints })
    });
    signals.take(SIGNALS_MAX).collect()
}

/// The time of a change, if it is after the last visit; nothing says that a page of a list which was never read has changed.
fn since(list: Option<&PageState>, modified: Option<Modified>) -> Option<Time> {
    let at = time(modified?.at);
    (list?.last_visit < at).then_some(at)
}
