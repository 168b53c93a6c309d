//! A capture as it was found in a file: of which page, when, where it is, and where it leads.

use std::net::IpAddr;

use jiff::Timestamp;
use junkai_archive::RecordHead;
use junkai_http::Message;
use xxhash_rust::xxh3::xxh3_64;

/// A capture of a page.
#[derive(Debug)]
pub(super) struct Capture {
    /// The page, by its number in [`Pages`](super::pages::Pages).
    pub(super) page: u32,
    pub(super) moment: Moment,
    /// The name of the record and of its payload; revisit records refer to them.
    pub(super) record: Option<Name>,
    pub(super) payload: Option<Name>,
    /// Where the page was captured from.
    pub(super) address: Option<IpAddr>,
    pub(super) leads: Leads,
}

/// When a capture was made, and where it is: the order of captures. Those without a valid date come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment {
    pub(super) date: Option<Timestamp>,
    /// The file, by its place in the sorted list of files.
    pub(super) file: usize,
    pub(super) offset: u64,
}

/// The hash of an identifier or digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Name(u64);

/// Where a capture leads.
#[derive(Debug)]
pub(super) enum Leads {
    /// To these pages.
    To(Box<[u32]>),
    /// To where a payload leads that another record has.
    Like(Box<Reference>),
}

/// Whose payload a revisit record means.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) record: Option<Name>,
    pub(super) page_and_date: Option<(u32, Timestamp)>,
    pub(super) payload: Option<Name>,
    /// What the head of the record's own answer says; none where the original's head counts (304, or no head).
    pub(super) says: Option<Says>,
}

/// What the head of an answer says of the payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Says {
    pub(super) content_type: Option<String>,
    pub(super) robots_tags: Vec<String>,
    pub(super) links: Vec<String>,
}

impl Name {
    /// The name in a field.
    pub(super) fn of(head: &RecordHead, field: &str) -> Option<Self> {
        let text = head.field(field)?.trim();
        (!text.is_empty()).then(|| Self(xxh3_64(text.as_bytes())))
    }
}

/// The time in a field.
pub(super) fn date(head: &RecordHead, field: &str) -> Option<Timestamp> {
    head.field(field)?.trim().parse().ok()
}

impl Says {
    pub(super) fn of(message: &Message<'_>, head: &[u8]) -> Self {
        debug_assert_eq!(head.len(), message.head_length(), "the bytes of the head");
        let text = |value: &[u8]| std::str::from_utf8(value).ok().map(str::to_owned);
        Self {
            content_type: values(head, "content-type").next().and_then(text),
            robots_tags: values(head, "x-robots-tag").filter_map(text).collect(),
            links: values(head, "link").filter_map(text).collect(),
        }
    }
}

/// The values of the fields of that name, as they were sent: the crawler judges by the bytes.
pub(super) fn values<'a>(head: &'a [u8], name: &str) -> impl Iterator<Item = &'a [u8]> {
    head.split(|&byte| byte == b'\n').filter_map(move |line| {
        let colon = line.iter().position(|&byte| byte == b':')?;
        let is_it = line[..colon].eq_ignore_ascii_case(name.as_bytes());
        is_it.then(|| line[colon + 1..].trim_ascii())
    })
}
