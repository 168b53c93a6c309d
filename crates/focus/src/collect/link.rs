//! Links as a driver shows them, and what came of following one.

/// Names a link of one collector; numbers count from 0 in the order in which the links became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkNumber(pub u32);

/// A link as it stands in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSeen<'a> {
    /// In canonical form.
    pub url: &'a str,
    /// Its text.
    pub text: &'a str,
    /// The elements from the root to the link, as `page::LinkContext` has them.
    pub tag_path: &'a str,
    /// The text of the block that holds it.
    pub beside: &'a str,
    /// What it leads to, by its name.
    pub looks: Looks,
}

/// What a link leads to, as far as its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// A file in one of the formats that are collected.
    DataFile,
    /// A page, or something that is not collected but may be read for links.
    Page,
    /// Either.
    Unknown,
}

/// What came of following a link.
#[derive(Clone, Copy, Debug)]
pub enum Fetched<'a> {
    /// A page with these links, those to be followed only, in its order.
    Page(&'a [LinkSeen<'a>]),
    /// A data file, be it of the wanted kind or not: it is where it was looked for.
    DataFile,
    /// Nothing of use: an error, or something else.
    Nothing,
}
