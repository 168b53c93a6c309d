//! What the head of an answer says that its body is to be read by.

use junkai_fetch::Exchange;
use junkai_page::Source;

use super::Worker;
use crate::visit::Visit;

/// The fields of a head that say something of the body, as far as they are text.
#[derive(Debug)]
pub(super) struct Heads<'a> {
    pub(super) content_type: Option<&'a str>,
    robots_tags: Vec<&'a str>,
    links: Vec<&'a str>,
}

impl<'a> Heads<'a> {
    pub(super) fn of(exchange: &'a Exchange) -> Heads<'a> {
        let text = |value| std::str::from_utf8(value).ok();
        let all = |name| {
            let values = exchange.head.iter().flat_map(|head| head.values(name));
            values.filter_map(text).collect()
        };
        Heads {
            content_type: exchange.header("content-type").and_then(text),
            robots_tags: all("x-robots-tag"),
            links: all("link"),
        }
    }

    /// The body as `page` reads it.
    pub(super) fn source<'b>(
        &'b self,
        worker: &'b Worker,
        visit: &'b Visit,
        body: &'b [u8],
    ) -> Source<'b> {
        Source {
            body,
            content_type: self.content_type,
            url: visit.url.as_url(),
            robots_agent: &worker.shared.settings.identity.product,
            x_robots_tag: &self.robots_tags,
            link_headers: &self.links,
            detect_language: false,
        }
    }
}
