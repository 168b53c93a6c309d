//! JSON Feed: <https://www.jsonfeed.org/version/1.1/>.

use serde::Deserialize;
use serde_json::Deserializer;
use serde_json::value::RawValue;

use super::{Draft, URL_LENGTH_MAX};

/// The items, as far as they can be read.
pub(super) fn read(text: &str, entries_max: usize) -> Vec<Draft> {
    // Item by item: of a feed that breaks off, those before count.
    let Some(mut rest) = items_of(text) else {
        return Vec::new();
    };
    let mut drafts = Vec::new();
    while drafts.len() < entries_max {
        rest = rest.trim_start_matches(|it: char| it == ',' || it.is_ascii_whitespace());
        let mut items = Deserializer::from_str(rest).into_iter::<&RawValue>();
        let Some(Ok(item)) = items.next() else {
            break;
        };
        rest = &rest[items.byte_offset()..];
        // What is no object is passed over.
        let item: Option<Item> = serde_json::from_str(item.get()).ok();
        drafts.push(item.unwrap_or_default().draft());
    }
    drafts
}

/// What follows the bracket of the list of items.
fn items_of(text: &str) -> Option<&str> {
    const NAME: &str = "\"items\"";
    text.match_indices(NAME).find_map(|(at, _)| {
        let value = text[at + NAME.len()..].trim_start().strip_prefix(':')?;
        value.trim_start().strip_prefix('[')
    })
}

/// An item: of what it does not name nothing is kept.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    url: Text,
    external_url: Text,
    title: Text,
    date_modified: Text,
    date_published: Text,
}

impl Item {
    fn draft(self) -> Draft {
        Draft {
            page: self.url.0,
            other: self.external_url.0,
            title: self.title.0,
            updated: self.date_modified.0,
            published: self.date_published.0,
            ..Draft::default()
        }
    }
}

/// A text that is not too long; whatever else stands there counts as absent.
#[derive(Default)]
struct Text(Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        let is_taken = raw.starts_with('"') && raw.len() <= URL_LENGTH_MAX;
        Ok(Text(
            is_taken.then(|| serde_json::from_str(raw).ok()).flatten(),
        ))
    }
}
