//! What of a page is looked at: features, each a short string in a [`Group`].
//!
//! [`Looker::each`] names every occurrence of every feature; who asks counts them (`corpus`) or looks them up (`page_model`), so a
//! model sees a page exactly as training saw it. Numbers are told by their kind and not by their digits: that there are years on a
//! page says something, that one of them is 2019 does not.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::group::{Group, Groups};
use super::view::{LinkView, PageView};
use crate::words::Words;

/// Most links whose texts and targets are looked at.
const LINKS_MAX: usize = 256;
/// Most parts of a URL that are looked at.
const URL_PARTS_MAX: usize = 32;
/// A longer part of a URL is an identifier, not a word.
const URL_PART_BYTES_MAX: usize = 24;
/// No file name extension is longer.
const EXTENSION_BYTES_MAX: usize = 5;
/// Counts of links are told as "at least" each of these.
const COUNT_STEPS: [usize; 4] = [1, 4, 16, 64];
/// Shares of numbers are told as "at least" each of these, in percent.
const SHARE_STEPS: [usize; 4] = [5, 15, 30, 50];

/// How text is split into words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// By Unicode's rules and ICU's dictionaries ([`Words::new`]).
    Unicode,
    /// By scripts: pairs of ideographs, runs of letters ([`Words::by_script`]).
    #[default]
    Script,
    /// Nouns by a dictionary that has to be there ([`Words::with_dictionary`]).
    Nouns,
}

/// What of a page is looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// Which groups of features.
    pub groups: Groups,
    /// How text is split into words.
    pub split: Split,
    /// How many bytes of the text are looked at, from its start. Default 8 KiB: the whole text of most pages.
    pub text_bytes: usize,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            groups: Groups::default(),
            split: Split::default(),
            text_bytes: 8 << 10,
        }
    }
}

/// Looks at pages.
#[derive(Debug)]
pub(super) struct Looker {
    look: Look,
    words: Words,
}

impl Looker {
    /// `words` must split as `look` says.
    pub(super) fn new(look: Look, words: Words) -> Self {
        Self { look, words }
    }

    pub(super) fn look(&self) -> &Look {
        &self.look
    }

    /// Hands every occurrence of every feature to `visit`.
    pub(super) fn each(&self, page: &PageView<'_>, mut visit: impl FnMut(Group, &str)) {
        for group in self.look.groups.iter() {
            match group {
                Group::Title => self.words(page.title, |word| visit(group, word)),
                Group::Text => self.words(self.text_of(page), |word| visit(group, word)),
                Group::Url => url_parts(page.url, |part| visit(group, part)),
                Group::LinkText => {
                    for link in first_links(page) {
                        self.words(link.text, |word| visit(group, word));
                    }
                }
                Group::LinkType => link_types(first_links(page), |name| visit(group, name)),
                Group::Shape => self.shape(page, |name| visit(group, name)),
            }
        }
    }

    fn text_of<'a>(&self, page: &PageView<'a>) -> &'a str {
        &page.text[..page.text.floor_char_boundary(self.look.text_bytes)]
    }

    fn words(&self, text: &str, mut visit: impl FnMut(&str)) {
        self.words
            .each(text, |word| visit(number_kind(word).unwrap_or(word)));
    }

    fn shape(&self, page: &PageView<'_>, mut visit: impl FnMut(&str)) {
        if page.declares_dataset {
            visit("dataset");
        }
        let share = NumberShare::of(self.text_of(page));
        let mut name = String::new();
        for (kind, percent) in [("numbers", share.numbers), ("years", share.years)] {
            for step in SHARE_STEPS.into_iter().filter(|step| *step <= percent) {
                name.clear();
                let _: std::fmt::Result = write!(name, "{kind}>={step}%");
                visit(&name);
            }
        }
    }
}

fn first_links<'a>(page: &'a PageView<'a>) -> &'a [LinkView<'a>] {
    &page.links[..page.links.len().min(LINKS_MAX)]
}

/// What stands for a word that is a number.
fn number_kind(word: &str) -> Option<&'static str> {
    let bytes = word.as_bytes();
    if !bytes.first()?.is_ascii_digit() {
        return None;
    }
    let is_numeric = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'\'');
    match bytes {
        [b'1', b'9', _, _] | [b'2', b'0', _, _] if bytes.iter().all(u8::is_ascii_digit) => {
            Some("(year)")
        }
        _ if bytes.iter().all(is_numeric) => Some("(number)"),
        _ => None,
    }
}

/// How many of a hundred words are numbers, and years.
struct NumberShare {
    numbers: usize,
    years: usize,
}

impl NumberShare {
    /// Counts what stands between spaces: rough, and the same for every split.
    fn of(text: &str) -> Self {
        let (mut words, mut numbers, mut years) = (0_usize, 0, 0);
        for word in text.split_ascii_whitespace() {
            words += 1;
            let word = word.trim_matches(|character: char| !character.is_ascii_digit());
            match number_kind(word) {
                Some("(year)") => years += 1,
                Some(_) => numbers += 1,
                None => {}
            }
        }
        let percent = |count: usize| (count * 100).checked_div(words).unwrap_or_default();
        Self {
            numbers: percent(numbers),
            years: percent(years),
        }
    }
}

/// The words that a URL is made of, less its scheme.
fn url_parts(url: &str, mut visit: impl FnMut(&str)) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let parts = rest
        .split(|character: char| !character.is_alphanumeric())
        .filter(|part| !part.is_empty() && part.len() <= URL_PART_BYTES_MAX);
    for part in parts.take(URL_PARTS_MAX) {
        match number_kind(part) {
            Some(kind) => visit(kind),
            None => visit(&part.to_lowercase()),
        }
    }
}

/// How many links lead to files of which kind, told by their names.
fn link_types(links: &[LinkView<'_>], mut visit: impl FnMut(&str)) {
    // A page has few kinds, so a list will do.
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for link in links {
        let Some(extension) = extension_of(link.url) else {
            continue;
        };
        match kinds
            .iter_mut()
            .find(|(known, _)| known.eq_ignore_ascii_case(extension))
        {
            Some((_, count)) => *count += 1,
            None => kinds.push((extension.to_ascii_lowercase(), 1)),
        }
    }
    let mut name = String::new();
    for (kind, count) in kinds {
        for step in COUNT_STEPS.into_iter().filter(|step| *step <= count) {
            name.clear();
            let _: std::fmt::Result = write!(name, "{kind}>={step}");
            visit(&name);
        }
    }
}

/// The extension of the file that a URL or reference names.
fn extension_of(url: &str) -> Option<&str> {
    let path = url.split(['?', '#']).next()?;
    let path = path.split_once("://").map_or(path, |(_, rest)| {
        rest.split_once('/').map_or("", |(_, path)| path)
    });
    let name = path.rsplit('/').next()?;
    let (_, extension) = name.rsplit_once('.')?;
    let is_extension = !extension.is_empty()
        && extension.len() <= EXTENSION_BYTES_MAX
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && extension.bytes().any(|byte| byte.is_ascii_alphabetic());
    is_extension.then_some(extension)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn features(look: Look, page: &PageView<'_>) -> Vec<String> {
        let mut found = Vec::new();
        Looker::new(look, Words::new()).each(page, |group, name| {
            found.push(format!("{} {name}", group.name()));
        });
        found
    }

    fn look_at(group: Group) -> Look {
        Look {
            groups: Groups::of(&[group]),
            ..Look::default()
        }
    }

    fn page() -> PageView<'static> {
        let link = |url, text| LinkView { url, text };
        PageView {
            url: "https://www.stat.example/Data/2019/t-12.html",
            title: "Population 2019",
            text: "Births 1,234 in 2019",
            links: vec![
                link("a.csv", "Table"),
                link("/x/B.CSV?y=z.pdf", ""),
                link("https://a.example", "up"),
            ],
            declares_dataset: true,
        }
    }

    #[test]
    fn each_group_says_its_part() {
        for (group, expected) in [
            (Group::Title, &["title population", "title (year)"][..]),
            (
                Group::Text,
                &["text births", "text (number)", "text in", "text (year)"],
            ),
            (
                Group::Url,
                &[
                    "url www",
                    "url stat",
                    "url example",
                    "url data",
                    "url (year)",
                    "url t",
                    "url (number)",
                    "url html",
                ],
            ),
            (Group::LinkText, &["link-text table", "link-text up"]),
            (Group::LinkType, &["link-type csv>=1"]),
            (
                Group::Shape,
                &[
                    "shape dataset",
                    "shape numbers>=5%",
                    "shape numbers>=15%",
                    "shape years>=5%",
                    "shape years>=15%",
                ],
            ),
        ] {
            assert_eq!(features(look_at(group), &page()), expected, "{group:?}");
        }
    }

    #[test]
    fn many_links_of_a_kind_are_told_from_few() {
        let link = LinkView {
            url: "x.xlsx",
            text: "",
        };
        let page = PageView {
            links: vec![link; 20],
            ..PageView::default()
        };
        let expected = [
            "link-type xlsx>=1",
            "link-type xlsx>=4",
            "link-type xlsx>=16",
        ];
        assert_eq!(features(look_at(Group::LinkType), &page), expected);
    }

    #[test]
    fn an_extension_is_that_of_the_file() {
        for (url, expected) in [
            ("https://a.example", None),
            ("https://a.example/", None),
            ("https://a.example/b.XLSX#x", Some("XLSX")),
            ("../data/b.csv?x=1.pdf", Some("csv")),
            ("b.12", None),
            ("b.", None),
            ("b.toolong", None),
            ("", None),
        ] {
            assert_eq!(extension_of(url), expected, "{url}");
        }
    }

    #[test]
    fn an_empty_page_has_no_features() {
        assert_eq!(features(Look::default(), &PageView::default()), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_page_can_be_looked_at(url: String, title: String, text: String, text_bytes in 0..50_usize) {
            let page = PageView {
                url: &url,
                title: &title,
                text: &text,
                links: vec![LinkView { url: &text, text: &url }],
                declares_dataset: false,
            };
            let look = Look { text_bytes, ..Look::default() };
            for name in features(look, &page) {
                prop_assert!(name.len() < 400, "{name}");
            }
        }
    }
}
