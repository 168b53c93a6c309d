//! URLs that look like those of a crawl: hosts of very different sizes, and paths that begin alike.
//!
//! Not here: that a page exists. The number of the page is in its URL, so no two pages have the same.

use std::fmt::Write as _;

use junkai_chance::{drawn, unit_of};

/// Pages of a host on average.
const PAGES_PER_HOST: u64 = 100;
/// The host of rank *r* has pages in proportion to *r* to the minus 0.8; this is one fifth, what is left of the exponent.
const RANK_EXPONENT: f64 = 0.2;
/// Sections of a host.
const SECTIONS: u64 = 12;

/// Where URLs get their words from: as many as fit six bits.
const WORDS: [&str; 64] = [
    "about", "archive", "article", "author", "autumn", "bridge", "budget", "calendar", "castle",
    "catalog", "city", "climate", "coffee", "council", "country", "data", "design", "detail",
    "docs", "east", "energy", "event", "family", "field", "forest", "garden", "guide", "harbor",
    "health", "history", "home", "index", "island", "journal", "kitchen", "lake", "letter",
    "library", "life", "market", "meeting", "member", "mountain", "museum", "music", "news",
    "north", "office", "open", "paper", "photo", "product", "project", "report", "review", "river",
    "school", "science", "service", "spring", "station", "summer", "topic", "travel",
];
/// Ends of host names, the common ones several times.
const ENDINGS: [&str; 16] = [
    "com", "com", "com", "com", "com", "com", "co.jp", "co.jp", "jp", "jp", "org", "org", "net",
    "ac.jp", "de", "info",
];

/// Hosts by rank, the largest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hosts {
    count: u64,
    /// The fifth root of the count, less one.
    span: f64,
}

impl Hosts {
    /// As many hosts as so many pages have.
    pub(super) fn of_pages(pages: u64) -> Hosts {
        let count = pages.div_ceil(PAGES_PER_HOST).max(1);
        Hosts {
            count,
            span: (count as f64 + 1.0).powf(RANK_EXPONENT) - 1.0,
        }
    }

    /// The host that a page with these bits of chance belongs to: the inverse of the distribution, for ranks as a continuum.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank, from 0 to below the count"
    )]
    fn of_page(self, bits: u64) -> u64 {
        let rank = (1.0 + unit_of(bits) * self.span).powi(5) - 1.0;
        (rank as u64).min(self.count - 1)
    }

    /// Appends the URL of a page.
    pub(super) fn write_url(self, page: u64, bits: u64, url: &mut String) {
        let host = self.of_page(bits);
        let name = drawn(host);
        let scheme = if name.is_multiple_of(8) {
            "http"
        } else {
            "https"
        };
        let www = if name & 8 == 0 { "www." } else { "" };
        let ending = ENDINGS[(name >> 4) as usize % ENDINGS.len()];
        let bits = drawn(bits);
        // Sections near the first are the larger ones.
        let section = ((bits & 0xff) * (bits >> 8 & 0xff) * SECTIONS) >> 16;
        let words = drawn(name ^ section);
        // Writing to a string cannot fail.
        let _infallible = write!(
            url,
            "{scheme}://{www}{}-{}{host}.{ending}/{}/{}/{}-{}-{page}.html",
            word(name >> 8),
            word(name >> 14),
            word(words),
            word(words >> 6),
            word(bits >> 16),
            word(bits >> 22),
        );
    }
}

fn word(bits: u64) -> &'static str {
    WORDS[(bits & 63) as usize]
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use junkai_weburl::Canonicalizer;

    use super::*;

    fn urls(pages: u64) -> Vec<String> {
        let hosts = Hosts::of_pages(pages);
        (0..pages)
            .map(|page| {
                let mut url = String::new();
                hosts.write_url(page, drawn(page), &mut url);
                url
            })
            .collect()
    }

    #[test]
    fn urls_are_canonical_and_differ() {
        let urls = urls(3000);
        let canonicalizer = Canonicalizer::default();
        for url in &urls {
            assert_eq!(canonicalizer.parse(url).unwrap().as_str(), url);
        }
        assert_eq!(urls.iter().collect::<BTreeSet<_>>().len(), urls.len());
    }

    #[test]
    fn urls_are_as_long_as_real_ones_and_hosts_differ_in_size() {
        let urls = urls(30_000);
        let bytes: usize = urls.iter().map(String::len).sum();
        let mean = bytes as f64 / urls.len() as f64;
        assert!((55.0..75.0).contains(&mean), "{mean}");
        let mut sizes: BTreeMap<&str, u32> = BTreeMap::new();
        for url in &urls {
            *sizes.entry(url.split('/').nth(2).unwrap()).or_default() += 1;
        }
        let largest = sizes.values().max().unwrap();
        assert!(
            1000 < *largest && 200 < sizes.len(),
            "{largest} {}",
            sizes.len()
        );
    }
}
