//! What an element means for the text in it: that it begins a block, that it is not content, or nothing.
//!
//! By name, by role and by the words of its class and identifier. The words are those that sites name their menus by; one counts
//! only in the company of words that say where a thing is or what holds it (`site-footer`, `left-nav-wrapper`), because sites also
//! name things after what stands beside them (`content-sidebar-wrap`, `has-sidebar`).

use crate::attribute::Attribute;

/// The longest name of an element that matters.
const NAME_LENGTH_MAX: usize = 10;

/// The name of an element, in lower case; empty if it is longer than any that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    bytes: [u8; NAME_LENGTH_MAX],
    length: usize,
}

/// What an element is, as far as its text is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// Its inside is no text, and ends at the first end tag of its name.
    Raw,
    /// Its inside is text without markup.
    Title,
    /// Never shown as text of the page.
    Hidden,
    /// Navigation, or what else stands beside the content.
    Boilerplate,
    /// Stands beside the content, unless it is part of a section.
    Banner,
    /// A part of the page that is content of its own.
    Section,
    /// Begins a block, and may be anything, by its class.
    Division,
    /// Begins a block whose end tag may be left out.
    Item,
    /// Begins a block that says what follows.
    Heading,
    /// Begins a block.
    Block,
    /// Sets words apart.
    Break,
    /// Is a link if it has somewhere to lead.
    Anchor,
    /// Has no inside.
    Void,
    /// Anything else stands in a line of text.
    Inline,
}

/// What the attributes of a tag say.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that a tag says or not, and any combination occurs"
)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) hidden: bool,
    /// By its role.
    pub(super) boilerplate: bool,
    /// By the words of its class or identifier.
    pub(super) boilerplate_by_word: bool,
    pub(super) leads_somewhere: bool,
}

impl Name {
    /// Takes the name in whatever case the page has it.
    pub(crate) fn new(source: &[u8]) -> Self {
        let mut bytes = [0; NAME_LENGTH_MAX];
        let length = match bytes.get_mut(..source.len()) {
            Some(name) => {
                name.copy_from_slice(source);
                name.make_ascii_lowercase();
                source.len()
            }
            None => 0,
        };
        Self { bytes, length }
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Whether an element of this name can hold another one of it; if not, the next one ends it.
    pub(super) fn nests(&self) -> bool {
        !matches!(
            self.as_bytes(),
            b"p" | b"li" | b"dt" | b"dd" | b"td" | b"th" | b"tr" | b"option"
        )
    }

    pub(crate) fn element(&self) -> Element {
        match self.as_bytes() {
            b"a" => Element::Anchor,
            b"br" | b"wbr" => Element::Break,
            b"div" | b"ul" | b"ol" | b"dl" | b"table" | b"form" | b"fieldset" | b"center" => {
                Element::Division
            }
            b"p" | b"li" | b"dt" | b"dd" | b"td" | b"th" | b"tr" => Element::Item,
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => Element::Heading,
            b"address" | b"blockquote" | b"body" | b"caption" | b"details" | b"dir"
            | b"figcaption" | b"figure" | b"head" | b"hgroup" | b"hr" | b"html" | b"legend"
            | b"listing" | b"optgroup" | b"pre" | b"search" | b"summary" | b"tbody" | b"tfoot"
            | b"thead" => Element::Block,
            b"article" | b"main" | b"section" => Element::Section,
            b"nav" | b"aside" | b"menu" | b"dialog" => Element::Boilerplate,
            b"header" | b"footer" => Element::Banner,
            b"script" | b"style" | b"noscript" | b"textarea" | b"iframe" | b"noembed"
            | b"noframes" | b"xmp" => Element::Raw,
            b"title" => Element::Title,
            b"template" | b"svg" | b"select" | b"datalist" | b"button" | b"object" | b"video"
            | b"audio" | b"canvas" | b"applet" => Element::Hidden,
            b"img" | b"input" | b"meta" | b"link" | b"area" | b"base" | b"col" | b"embed"
            | b"source" | b"track" | b"param" | b"frame" | b"basefont" | b"bgsound" | b"keygen" => {
                Element::Void
            }
            _ => Element::Inline,
        }
    }
}

impl Marks {
    /// Takes in one attribute.
    pub(super) fn take(&mut self, attribute: Attribute<'_>) {
        let Attribute { name, value } = attribute;
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        match name.len() {
            2 if is("id") => self.boilerplate_by_word |= names_boilerplate(value),
            4 if is("href") => self.leads_somewhere = true,
            4 if is("role") => self.boilerplate |= is_boilerplate_role(value),
            5 if is("class") => self.boilerplate_by_word |= names_boilerplate(value),
            5 if is("style") => self.hidden |= hides(value),
            6 if is("hidden") => {
                // A page can be searched for it: browsers show it then.
                self.hidden |= !value.eq_ignore_ascii_case(b"until-found");
            }
            11 if is("aria-hidden") => self.hidden |= value.eq_ignore_ascii_case(b"true"),
            _ => {}
        }
    }
}

fn is_boilerplate_role(value: &[u8]) -> bool {
    const ROLES: [&str; 12] = [
        "navigation",
        "banner",
        "contentinfo",
        "complementary",
        "menu",
        "menubar",
        "search",
        "toolbar",
        "tablist",
        "dialog",
        "alertdialog",
        "directory",
    ];
    let role = value.trim_ascii();
    ROLES
        .iter()
        .any(|known| role.eq_ignore_ascii_case(known.as_bytes()))
}

/// Whether a style attribute takes the element out of sight.
fn hides(style: &[u8]) -> bool {
    style.split(|byte| *byte == b';').any(|declaration| {
        let mut parts = declaration.splitn(2, |byte| *byte == b':');
        let [property, value] =
            [parts.next(), parts.next()].map(|part| part.unwrap_or_default().trim_ascii());
        let starts_with = |start: &str| {
            value
                .get(..start.len())
                .is_some_and(|found| found.eq_ignore_ascii_case(start.as_bytes()))
        };
        property.eq_ignore_ascii_case(b"display") && starts_with("none")
            || property.eq_ignore_ascii_case(b"visibility") && starts_with("hidden")
    })
}

/// What menus and their like are called.
const BOILERPLATE_WORDS: [&str; 46] = [
    "ad",
    "ads",
    "advert",
    "advertisement",
    "banner",
    "breadcrumb",
    "breadcrumbs",
    "consent",
    "cookie",
    "cookies",
    "copyright",
    "dropdown",
    "footer",
    "globalnav",
    "gnav",
    "header",
    "localnav",
    "login",
    "masthead",
    "menu",
    "menubar",
    "nav",
    "navbar",
    "navi",
    "navigation",
    "pager",
    "pagination",
    "pankuzu",
    "popup",
    "promo",
    "related",
    "search",
    "searchbox",
    "searchform",
    "share",
    "sharing",
    "sidebar",
    "sidenav",
    "skip",
    "social",
    "sponsor",
    "submenu",
    "toolbar",
    "topbar",
    "topicpath",
    "widget",
];

/// Words that may stand beside them without changing what they mean.
const PLACE_WORDS: [&str; 28] = [
    "area",
    "bar",
    "block",
    "bottom",
    "box",
    "container",
    "content",
    "global",
    "group",
    "inner",
    "item",
    "items",
    "left",
    "link",
    "links",
    "list",
    "local",
    "main",
    "outer",
    "primary",
    "right",
    "row",
    "secondary",
    "section",
    "site",
    "top",
    "wrap",
    "wrapper",
];

/// Whether one of the names in a class or identifier is that of boilerplate.
fn names_boilerplate(value: &[u8]) -> bool {
    value
        .split(u8::is_ascii_whitespace)
        .any(is_boilerplate_name)
}

/// `content-sidebar-wrap` holds both, so a name that begins with the content is not that of boilerplate.
fn is_boilerplate_name(name: &[u8]) -> bool {
    let mut words = name
        .split(|byte| !byte.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty() && !word.iter().all(u8::is_ascii_digit))
        .peekable();
    if words
        .peek()
        .is_none_or(|first| first.eq_ignore_ascii_case(b"content"))
    {
        return false;
    }
    let mut found = false;
    for word in words {
        if is_one_of(word, &BOILERPLATE_WORDS) {
            found = true;
        } else if !is_one_of(word, &PLACE_WORDS) {
            return false;
        }
    }
    found
}

/// Looks a word up in a sorted list, whatever its case.
fn is_one_of(word: &[u8], sorted: &[&str]) -> bool {
    let lower = |byte: &u8| byte.to_ascii_lowercase();
    sorted
        .binary_search_by(|known| known.bytes().cmp(word.iter().map(lower)))
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::Attributes;

    fn marks(attributes: &str) -> Marks {
        let mut marks = Marks::default();
        for attribute in Attributes::new(attributes.as_bytes()) {
            marks.take(attribute);
        }
        marks
    }

    #[test]
    fn the_lists_are_sorted() {
        assert!(BOILERPLATE_WORDS.is_sorted());
        assert!(PLACE_WORDS.is_sorted());
    }

    #[test]
    fn menus_are_known_by_their_names() {
        for (name, expected) in [
            ("nav", true),
            ("Site-Footer", true),
            ("left_nav wide", true),
            ("main-menu-2", true),
            ("navbar-wrapper", true),
            ("sidebar-content", true),
            ("x breadcrumb", true),
            ("content", false),
            ("content-sidebar-wrap", false),
            ("has-sidebar", false),
            ("article-header", false),
            ("navigator", false),
            ("main", false),
            ("12", false),
            ("", false),
        ] {
            let expected = Marks {
                boilerplate_by_word: expected,
                ..Marks::default()
            };
            assert_eq!(marks(&format!(" class='{name}'")), expected, "{name}");
            assert_eq!(marks(&format!(" ID='{name}'")), expected, "{name}");
        }
    }

    #[test]
    fn what_is_out_of_sight_is_known() {
        for (attributes, hidden) in [
            (" hidden", true),
            (" hidden=until-found", false),
            (" aria-hidden=true", true),
            (" aria-hidden='false'", false),
            (" style='color: red; Display : NONE !important'", true),
            (" style='visibility:hidden'", true),
            (" style='display:block'", false),
            (" style='x-display:none'", false),
            (" style", false),
        ] {
            assert_eq!(marks(attributes).hidden, hidden, "{attributes}");
        }
    }

    #[test]
    fn names_are_known_in_any_case() {
        assert_eq!(Name::new(b"NaV").element(), Element::Boilerplate);
        assert_eq!(Name::new(b"x-navigation").element(), Element::Inline);
        assert_eq!(Name::new(b"").element(), Element::Inline);
    }
}
