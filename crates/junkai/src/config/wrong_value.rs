//! A value of `junkai.toml` that its setting does not take: names the setting, the value and what is right.
//!
//! The parser knows what it expected in words of the programming language; [`must_be`] has them in words of the file.

use std::ops::Range;

use junkai_crawler::Settings;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Characters of a value that are shown.
const VALUE_SHOWN_MAX: usize = 60;

/// How the parser begins to tell of keys, and not of values.
const KEY_MESSAGES: [&str; 3] = ["unknown field", "missing field", "duplicate field"];

/// Tables in which a value may be a secret in the wrong place: it is not shown.
const SECRET: [&str; 2] = ["fetch.logins", "fetch.headers"];

/// What is wrong, if the error is about a value: `crawl.concurrency = 0: must be 1 to 65536`.
pub(super) fn in_words(text: &str, error: &toml::de::Error) -> Option<String> {
    let document = DeTable::parse(text).ok()?;
    let place = error.span()?.start;
    let found = Found::in_table(document.get_ref(), place)?;
    let (name, message) = (&found.name, error.message().lines().next()?);
    let is_of_key = KEY_MESSAGES.iter().any(|about| message.starts_with(about));
    if is_of_key {
        return None;
    }
    let Some(must_be) = must_be(name, message) else {
        // The setting's own words, which tell the value.
        return Some(format!("{name}: {message}"));
    };
    if SECRET.iter().any(|table| name.starts_with(table)) {
        return Some(format!("{name}: {must_be}"));
    }
    let value = text.get(found.value)?.lines().next()?;
    let shown: String = value.chars().take(VALUE_SHOWN_MAX).collect();
    let cut = if shown.len() < value.len() { "…" } else { "" };
    Some(format!("{name} = {shown}{cut}: {must_be}"))
}

/// A setting of the file.
struct Found {
    /// Its table and key.
    name: String,
    /// Where its value is.
    value: Range<usize>,
}

impl Found {
    /// The setting whose value is at this place.
    fn in_table(table: &DeTable<'_>, place: usize) -> Option<Found> {
        table.iter().find_map(|(key, value)| {
            let mut found = Found::in_value(value, place)?;
            let key = key.get_ref();
            found.name = match &*found.name {
                "" => key.to_string(),
                below => format!("{key}.{below}"),
            };
            Some(found)
        })
    }

    fn in_value(value: &Spanned<DeValue<'_>>, place: usize) -> Option<Found> {
        let below = match value.get_ref() {
            DeValue::Table(table) => Found::in_table(table, place),
            DeValue::Array(items) => items.iter().find_map(|item| Found::in_value(item, place)),
            _ => None,
        };
        let itself = || Found {
            name: String::new(),
            value: value.span(),
        };
        below.or_else(|| value.span().contains(&place).then(itself))
    }
}

/// What the setting takes, by what the parser says that it expected; none if it does not say so.
fn must_be(name: &str, message: &str) -> Option<String> {
    if let Some(names) = message.strip_prefix("unknown variant ") {
        let names = names.split('`').skip(3).step_by(2);
        let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
        return match &*names {
            [] => None,
            [only] => Some(format!("must be {only}")),
            [others @ .., last] => Some(format!("must be {} or {last}", others.join(", "))),
        };
    }
    let is_wrong = message.starts_with("invalid type: ") || message.starts_with("invalid value: ");
    let (_, expected) = message.rsplit_once(", expected ").filter(|_| is_wrong)?;
    if let Some(bounds) = Settings::bounds(name) {
        return Some(bounds.to_string());
    }
    Some(match expected {
        "u8" => "must be a whole number, 0 to 255".to_owned(),
        "u16" => "must be a whole number, 0 to 65535".to_owned(),
        "u32" => "must be a whole number, 0 to 4294967295".to_owned(),
        "u64" | "usize" => "must be a whole number, 0 or more".to_owned(),
        "f32" | "f64" => "must be a number".to_owned(),
        "a boolean" => "must be true or false".to_owned(),
        "a string" | "a borrowed string" => "must be text in quotation marks".to_owned(),
        "a duration" => {
            "must be a time in quotation marks, such as \"90s\", \"2h\" or \"7days\"".to_owned()
        }
        "a sequence" => "must be a list, as in [\"a\", \"b\"]".to_owned(),
        "a map" => format!("must be a table, which begins with [{name}]"),
        other if other.starts_with("a nonzero ") => "must be a whole number, 1 or more".to_owned(),
        other if other.starts_with("struct ") => {
            format!("must be a table, which begins with [{name}]")
        }
        other => format!("must be {other}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        let error = toml::from_str::<Settings>(text).unwrap_err();
        in_words(text, &error).unwrap_or_else(|| format!("no words for: {error}"))
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a flat table")]
    fn a_wrong_value_is_told_with_its_setting_and_what_is_right() {
        for (text, expected) in [
            (
                "[crawl]\nconcurrency = 0",
                "crawl.concurrency = 0: must be 1 to 65536",
            ),
            (
                "[crawl]\nworkers = \"all\"",
                "crawl.workers = \"all\": must be 1 to 1024",
            ),
            (
                "[crawl]\nworkers = -1",
                "crawl.workers = -1: must be 1 to 1024",
            ),
            (
                "[ring]\nslots = 1.5",
                "ring.slots = 1.5: must be 1 to 16777216",
            ),
            (
                "[hook]\nbatch_max = 0",
                "hook.batch_max = 0: must be a whole number, 1 or more",
            ),
            (
                "[crawl]\nretries_max = 300",
                "crawl.retries_max = 300: must be a whole number, 0 to 255",
            ),
            (
                "[crawl]\npages_max = \"5\"",
                "crawl.pages_max = \"5\": must be a whole number, 0 or more",
            ),
            (
                "[crawl]\nonce = \"yes\"",
                "crawl.once = \"yes\": must be true or false",
            ),
            ("[crawl]\nonce = 1", "crawl.once = 1: must be true or false"),
            (
                "[crawl]\nretry_delay = 60",
                "crawl.retry_delay = 60: must be a time in quotation marks, such as \"90s\", \"2h\" or \"7days\"",
            ),
            (
                "[crawl]\nseeds = \"a.example\"",
                "crawl.seeds = \"a.example\": must be a list, as in [\"a\", \"b\"]",
            ),
            (
                "[scope]\ninclude = [\"a\", 5]",
                "scope.include = 5: must be text in quotation marks",
            ),
            (
                "[revisit]\nobjective = true",
                "revisit.objective = true: must be a number",
            ),
            (
                "[identity]\ncontact = 5",
                "identity.contact = 5: must be text in quotation marks",
            ),
            (
                "[crawl]\noverflow = \"drop\"",
                "crawl.overflow = \"drop\": must be \"defer\" or \"discard\"",
            ),
            (
                "[revisit.servers]\nrelief = 5\n",
                "revisit.servers.relief = 5: must be ",
            ),
            (
                "[backlog]\nbytes_max = \"much\"",
                "backlog.bytes_max: \"much\" is no number of bytes; ",
            ),
            (
                "[[fetch.logins]]\nhost = \"a.example\"\npassword_env = 1234",
                "fetch.logins.password_env: must be text in quotation marks",
            ),
            (
                "crawl = 5",
                "crawl = 5: must be a table, which begins with [crawl]",
            ),
        ] {
            let told = told(text);
            assert!(told.starts_with(expected), "{text}: {told}");
        }
    }

    #[test]
    fn a_long_value_is_cut() {
        let told = told(&format!("[crawl]\nonce = \"{}\"", "日".repeat(500)));
        assert!(told.chars().count() < 120, "{told}");
    }
}
