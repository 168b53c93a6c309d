//! What robots.txt costs: to read it, and to be asked about each link.

use std::hint::black_box;

use anyhow::{Result, ensure};
use junkai_fetch::Robots;
use junkai_weburl::{CanonicalConfig, Canonicalizer};

use crate::corpus::{self, AGENT, ROBOTS_TXT};
use crate::count::counted;

pub(super) fn read() -> Result<()> {
    let read = || black_box(Robots::parse(black_box(ROBOTS_TXT), AGENT));
    ensure!(
        !read().sitemaps().is_empty(),
        "robots.txt is not understood"
    );
    counted(1, || drop(read()));
    Ok(())
}

pub(super) fn question() -> Result<()> {
    let canonicalizer = Canonicalizer::new(&CanonicalConfig::default());
    let links = corpus::links()?;
    let urls: Vec<_> = links
        .iter()
        .filter_map(|link| canonicalizer.parse(link).ok())
        .collect();
    let rules = Robots::parse(ROBOTS_TXT, AGENT);
    let ask_all = || {
        for url in &urls {
            black_box(rules.decide(url.path_and_query()).allow());
        }
    };
    ask_all();
    counted(urls.len(), ask_all);
    Ok(())
}
