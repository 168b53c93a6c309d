//! Where an answer leads: the links that the crawler follows from it, by the rules of [`junkai_page::Leads`], but for scope.
//!
//! A list of URLs in plain text is a file here: that somebody called it a list is told after it, if at all.

use junkai_page::{FollowOptions, LeadOptions, Leads, RedirectTarget, Source};
use junkai_weburl::{Canonicalizer, PageUrl};

use super::Options;
use super::capture::Says;

/// An answer, its content without codings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer<'a> {
    pub(super) status: u16,
    pub(super) location: Option<&'a [u8]>,
    pub(super) says: &'a Says,
    pub(super) content: &'a [u8],
}

/// The pages to which the answer from `url` leads, in document order; some may come more than once.
pub(super) fn follow(
    url: &PageUrl,
    answer: &Answer<'_>,
    options: &Options,
    canonical: &Canonicalizer,
) -> Vec<PageUrl> {
    match junkai_page::Answer::of(answer.status, answer.location) {
        junkai_page::Answer::Redirect(location) => {
            match RedirectTarget::of(canonical, url, location) {
                RedirectTarget::Page(target) => vec![target],
                RedirectTarget::Itself | RedirectTarget::Bad => Vec::new(),
            }
        }
        junkai_page::Answer::Content => followed(url, answer, options, canonical),
        junkai_page::Answer::Nothing => Vec::new(),
    }
}

/// The pages to which content leads.
fn followed(
    url: &PageUrl,
    answer: &Answer<'_>,
    options: &Options,
    canonical: &Canonicalizer,
) -> Vec<PageUrl> {
    let parse = |text: &str| canonical.parse(text).ok();
    match leads(url, answer, options) {
        Leads::Sitemap(sitemap) => {
            let entries = sitemap.index.iter().chain(&sitemap.urls);
            entries.filter_map(|entry| parse(&entry.loc)).collect()
        }
        Leads::Feed(entries) => {
            let urls = entries.iter().map(|entry| &entry.url);
            urls.filter_map(|url| parse(url)).collect()
        }
        Leads::Page(analysis) | Leads::StyleSheet(analysis) | Leads::File(analysis) => {
            let follow = FollowOptions {
                respects_nofollow: options.respect_nofollow,
                lists: options.sitemaps,
            };
            let links = analysis.followed(follow);
            links.filter_map(|(link, _)| parse(&link.url)).collect()
        }
    }
}

fn leads(url: &PageUrl, answer: &Answer<'_>, options: &Options) -> Leads {
    let tags: Vec<&str> = answer.says.robots_tags.iter().map(String::as_str).collect();
    let links: Vec<&str> = answer.says.links.iter().map(String::as_str).collect();
    let source = Source {
        body: answer.content,
        content_type: answer.says.content_type.as_deref(),
        url: url.as_url(),
        robots_agent: &options.robots_agent,
        x_robots_tag: &tags,
        link_headers: &links,
        detect_language: false,
    };
    let options = LeadOptions {
        links: &options.links,
        contexts: false,
        lists: options.sitemaps,
        is_named_as_list: false,
    };
    Leads::of(&source, &options)
}
