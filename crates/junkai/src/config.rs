//! Reads `junkai.toml`: reports every mistake at once, with its line and the nearest right name.
//!
//! A struct with `deny_unknown_fields` stops at its first mistake. So each key is also read alone, in a copy of the
//! text where every other key is blanked out; the lines stay the same, and each mistake shows up by itself.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use junkai_crawler::Settings;
use toml::de::{DeTable, DeValue};

use crate::exit::BadConfiguration;

/// Reads the settings from a file.
///
/// # Errors
/// [`BadConfiguration`] with all mistakes, or that the file cannot be read.
pub(crate) fn load(path: &Path) -> Result<Settings> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text).map_err(|mistakes| report(&path.display().to_string(), &mistakes))
}

/// Puts all mistakes into one error.
pub(crate) fn report(place: &str, mistakes: &[String]) -> anyhow::Error {
    let mut text = format!(
        "{place} has {} mistake{}:",
        mistakes.len(),
        if mistakes.len() == 1 { "" } else { "s" }
    );
    for mistake in mistakes {
        // Writing to a string cannot fail.
        let _infallible = write!(text, "\n  {mistake}");
    }
    BadConfiguration(text).into()
}

fn parse(text: &str) -> Result<Settings, Vec<String>> {
    match toml::from_str::<Settings>(text) {
        Ok(settings) => {
            let mistakes = settings.mistakes();
            if mistakes.is_empty() {
                Ok(settings)
            } else {
                Err(mistakes)
            }
        }
        Err(first) => {
            let mut mistakes = mistakes_by_key(text);
            if mistakes.is_empty() {
                mistakes.push(describe(text, &first));
            }
            Err(mistakes)
        }
    }
}

/// Every mistake that a single key makes by itself.
fn mistakes_by_key(text: &str) -> Vec<String> {
    let Ok(document) = DeTable::parse(text) else {
        // Not TOML at all: the parser's own message is the best there is.
        return Vec::new();
    };
    let mut keys = Vec::new();
    for (name, value) in document.get_ref() {
        match value.get_ref() {
            DeValue::Table(table) => {
                keys.extend(
                    table
                        .iter()
                        .map(|(key, value)| (name.get_ref(), key.span().start..value.span().end)),
                );
                if table.is_empty() {
                    keys.push((name.get_ref(), name.span()));
                }
            }
            _ => keys.push((name.get_ref(), name.span().start..value.span().end)),
        }
    }
    let mut mistakes = Vec::new();
    for (table, span) in &keys {
        let alone = only(text, table, span.clone());
        if let Err(error) = toml::from_str::<Settings>(&alone) {
            let mistake = describe(text, &error);
            if !mistakes.contains(&mistake) {
                mistakes.push(mistake);
            }
        }
    }
    mistakes
}

/// The text with everything blanked out but one key and the header of its table.
fn only(text: &str, table: &str, key: std::ops::Range<usize>) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let header = line.trim_start().starts_with('[') && line.contains(table) && at <= key.start;
        for (offset, character) in line.char_indices() {
            let inside = header || key.contains(&(at + offset));
            let blank = if character == '\n' { '\n' } else { ' ' };
            if inside {
                kept.push(character);
            } else {
                kept.extend(std::iter::repeat_n(blank, character.len_utf8()));
            }
        }
        at += line.len();
    }
    kept
}

/// One mistake in words: the line, what is wrong, and the nearest right name.
fn describe(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map_or(1, |span| {
        text[..span.start.min(text.len())].matches('\n').count() + 1
    });
    let message = error.message().lines().next().unwrap_or_default();
    let Some((unknown, known)) = unknown_field(message) else {
        return format!("line {line}: {message}");
    };
    let distance = |name: &&str| strsim::damerau_levenshtein(&unknown, name);
    match known.iter().map(String::as_str).min_by_key(distance) {
        Some(nearest) => format!("line {line}: unknown key `{unknown}`; did you mean `{nearest}`?"),
        None => format!("line {line}: unknown key `{unknown}`"),
    }
}

/// The names in serde's "unknown field `x`, expected one of `a`, `b`".
fn unknown_field(message: &str) -> Option<(String, Vec<String>)> {
    let rest = message.strip_prefix("unknown field ")?;
    let mut names = rest.split('`').skip(1).step_by(2).map(str::to_owned);
    let unknown = names.next()?;
    Some((unknown, names.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_mistakes_come_in_one_report_with_their_lines() {
        let text = "[crawl]\nconcurency = 3\nretries_max = \"many\"\n\n[polite]\n[scope]\npreset = \"galaxy\"\ndepth_max = 3\n";
        let mistakes = parse(text).unwrap_err();
        assert_eq!(mistakes.len(), 4, "{mistakes:#?}");
        let all = mistakes.join("\n");
        assert!(
            all.contains("line 2: unknown key `concurency`; did you mean `concurrency`?"),
            "{all}"
        );
        assert!(all.contains("line 3: invalid type"), "{all}");
        assert!(
            all.contains("line 5: unknown key `polite`; did you mean `politeness`?"),
            "{all}"
        );
        assert!(all.contains("line 7: unknown variant `galaxy`"), "{all}");
    }

    #[test]
    fn text_that_is_not_toml_is_reported_with_its_line() {
        let mistakes = parse("[crawl]\nseeds = [\n").unwrap_err();
        assert_eq!(mistakes.len(), 1);
        assert!(mistakes[0].starts_with("line "), "{mistakes:?}");
    }

    #[test]
    fn an_empty_file_gives_the_defaults() {
        assert_eq!(parse("").unwrap(), Settings::default());
    }
}
