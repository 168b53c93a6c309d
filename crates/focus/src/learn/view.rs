//! What a page shows to somebody who judges its site.

use junkai_page::reading::{self, Reading};
use url::Url;

/// What a page shows: borrowed from wherever it was read.
#[derive(Clone, Debug, Default)]
pub struct PageView<'a> {
    /// Where the page is.
    pub url: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Its words, those of menus included.
    pub text: &'a str,
    /// Its links, in their order.
    pub links: Vec<LinkView<'a>>,
    /// Whether it declares a schema.org `Dataset`.
    pub declares_dataset: bool,
}

/// A link of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkView<'a> {
    /// Where it leads: a URL, or a reference as the page writes it.
    pub url: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// A page as it was read out of its bytes; [`Seen::view`] shows it.
#[derive(Clone, Debug)]
pub struct Seen {
    url: String,
    reading: Reading,
}

impl Seen {
    /// Reads a page. Any bytes will do: a broken page is a page with less in it.
    #[must_use]
    pub fn read(body: &[u8], content_type: Option<&str>, url: &str) -> Self {
        let parsed = Url::parse(url).ok();
        let top_level_domain = parsed
            .as_ref()
            .and_then(Url::domain)
            .and_then(|domain| domain.rsplit('.').next());
        let bounds = reading::Bounds::default();
        Self {
            url: url.to_owned(),
            reading: reading::read(body, content_type, top_level_domain, bounds),
        }
    }

    /// What the page shows.
    #[must_use]
    pub fn view(&self) -> PageView<'_> {
        let links = self.reading.links();
        PageView {
            url: &self.url,
            title: &self.reading.title,
            text: &self.reading.text,
            links: links.map(|(url, text)| LinkView { url, text }).collect(),
            declares_dataset: self.reading.declares_dataset,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_shows_what_a_reader_sees() {
        let html = "<title>Births</title><a href='b.csv'>Births (CSV)</a><p>by month";
        let seen = Seen::read(html.as_bytes(), None, "https://stat.example/births");
        let view = seen.view();
        assert_eq!(view.url, "https://stat.example/births");
        assert_eq!(view.title, "Births");
        assert_eq!(view.text, "Births (CSV) by month");
        let link = LinkView {
            url: "b.csv",
            text: "Births (CSV)",
        };
        assert_eq!(view.links, [link]);
        assert!(!view.declares_dataset);
    }

    #[test]
    fn bytes_that_are_no_page_show_little() {
        for body in [&b""[..], &[0; 100], &[0xFF; 100]] {
            assert!(Seen::read(body, None, "no URL").view().links.is_empty());
        }
    }
}
