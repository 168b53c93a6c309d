//! The URLs of all pages, in one buffer.

/// A URL, or any other line of text, for each page: 8 bytes a page and the text itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Urls {
    text: String,
    /// URL *n* ends where `ends[n]` says, and begins where the one before it ends.
    ends: Vec<u64>,
}

impl Urls {
    /// No URLs.
    #[must_use]
    pub fn new() -> Self {
        Self {
            text: String::new(),
            ends: Vec::new(),
        }
    }

    /// Adds the URL of the next page.
    pub fn push(&mut self, url: &str) {
        self.text.push_str(url);
        self.ends.push(self.text.len() as u64);
    }

    /// How many URLs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The URL of a page, as the list gave it.
    ///
    /// # Panics
    /// If there is no such page.
    #[must_use]
    pub fn get(&self, page: crate::Page) -> &str {
        let page = page as usize;
        let place = |end: u64| usize::try_from(end).unwrap_or(usize::MAX);
        let start = page.checked_sub(1).map_or(0, |last| place(self.ends[last]));
        &self.text[start..place(self.ends[page])]
    }

    /// All URLs in the order of pages.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let pages = u32::try_from(self.len()).unwrap_or(u32::MAX);
        (0..pages).map(|page| self.get(page))
    }
}

impl Default for Urls {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> FromIterator<&'a str> for Urls {
    fn from_iter<I: IntoIterator<Item = &'a str>>(list: I) -> Self {
        let mut urls = Self::new();
        list.into_iter().for_each(|url| urls.push(url));
        urls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_come_back_as_they_went_in() {
        let list = ["http://a.example/", "", "http://b.example/ü", ""];
        let urls: Urls = list.into_iter().collect();
        assert_eq!(urls.len(), 4);
        assert_eq!(urls.get(2), "http://b.example/ü");
        assert_eq!(urls.iter().collect::<Vec<_>>(), list);
    }
}
