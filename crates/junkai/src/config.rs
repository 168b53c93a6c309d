//! Reads `junkai.toml`: reports every mistake at once, with its line and the nearest right name.
//!
//! A struct with `deny_unknown_fields` stops at its first mistake. So each key is also read alone, in a copy of the
//! text where every other key is blanked out; the lines stay the same, and each mistake shows up by itself.

mod wrong_value;

use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result};
use junkai_crawler::Settings;
use toml::Spanned;
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

/// The settings of an archive's last crawl, or those for its first; none in an archive of other people's.
///
/// # Errors
/// As [`load`].
pub(crate) fn in_force(archive: &Path) -> Result<Option<Settings>> {
    ["state/settings.toml", "junkai.toml"]
        .map(|name| archive.join(name))
        .into_iter()
        .find(|path| path.is_file())
        .map(|path| load(&path))
        .transpose()
}

/// What belongs to a run, and not to an archive.
const OF_A_RUN: [&str; 5] = [
    "crawl.seeds",
    "crawl.pages_max",
    "crawl.bytes_max",
    "crawl.run_time_max",
    "crawl.once",
];

/// In which settings a run differs from its archive, each in a line; what belongs to a run alone is left out.
///
/// # Errors
/// If settings cannot be written as TOML.
pub(crate) fn differences(run: &Settings, archive: &Settings) -> Result<Vec<String>> {
    let (run, archive) = (toml::Table::try_from(run)?, toml::Table::try_from(archive)?);
    let mut differences = Vec::new();
    let keys = |tables: &toml::Table| -> Vec<(String, toml::Value)> {
        let inner = tables.iter().filter_map(|(table, value)| {
            let keys = value.as_table()?.iter();
            Some(keys.map(move |(key, value)| (format!("{table}.{key}"), value.clone())))
        });
        inner.flatten().collect()
    };
    let (run, archive) = (keys(&run), keys(&archive));
    let find = |keys: &[(String, toml::Value)], name: &str| {
        let found = keys.iter().find(|(key, _)| key == name);
        found.map_or_else(|| "not set".to_owned(), |(_, value)| value.to_string())
    };
    let mut names: Vec<&String> = run.iter().chain(&archive).map(|(key, _)| key).collect();
    names.sort();
    names.dedup();
    names.retain(|name| !OF_A_RUN.contains(&name.as_str()));
    for name in names {
        let (now, kept) = (find(&run, name), find(&archive, name));
        if now != kept {
            differences.push(format!("{name} = {now} (junkai.toml: {kept})"));
        }
    }
    Ok(differences)
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
    let first = match toml::from_str::<Settings>(text) {
        Ok(settings) => {
            let mistakes = settings.mistakes();
            return if mistakes.is_empty() {
                Ok(settings)
            } else {
                Err(mistakes)
            };
        }
        Err(first) => first,
    };
    let Ok(document) = DeTable::parse(text) else {
        // Not TOML at all: the parser's own message is the best there is.
        return Err(vec![describe(text, &first).text]);
    };
    let mut mistakes = Vec::new();
    let mut rest = text.to_owned();
    for key in keys(document.get_ref()) {
        if let Err(error) = toml::from_str::<Settings>(&only(text, &key)) {
            let mistake = describe(text, &error);
            if !mistakes.contains(&mistake) {
                mistakes.push(mistake);
            }
            rest.replace_range(key.span.clone(), &blank(&text[key.span]));
        }
    }
    if mistakes.is_empty() {
        mistakes.push(describe(text, &first));
    }
    mistakes.sort();
    let mut texts: Vec<String> = mistakes.into_iter().map(|mistake| mistake.text).collect();
    // What is right by itself may still be wrong in what it says.
    if let Ok(settings) = toml::from_str::<Settings>(&rest) {
        texts.extend(settings.mistakes());
    }
    Err(texts)
}

/// One mistake, in the order of lines.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Mistake {
    line: usize,
    text: String,
}

/// A key of the file, with its value.
struct Key<'a> {
    table: &'a str,
    span: Range<usize>,
}

/// Every key, and every table that holds none.
fn keys<'a>(document: &'a DeTable<'_>) -> Vec<Key<'a>> {
    let mut keys = Vec::new();
    for (name, value) in document {
        let table = name.get_ref().as_ref();
        match value.get_ref() {
            DeValue::Table(inner) if !inner.is_empty() => {
                keys.extend(inner.iter().map(|(key, value)| Key {
                    table,
                    span: key.span().start..end_of(value),
                }));
            }
            DeValue::Table(_) => keys.push(Key {
                table,
                span: name.span(),
            }),
            _ => keys.push(Key {
                table,
                span: name.span().start..value.span().end,
            }),
        }
    }
    keys
}

/// Where a value ends: tables of an array (`[[fetch.logins]]`) are spread over lines of their own.
fn end_of(value: &Spanned<DeValue<'_>>) -> usize {
    let inner = match value.get_ref() {
        DeValue::Array(items) => items.iter().map(end_of).max(),
        DeValue::Table(table) => table.iter().map(|(_, value)| end_of(value)).max(),
        _ => None,
    };
    value.span().end.max(inner.unwrap_or_default())
}

/// The text with everything blanked out but one key and the header of its table.
fn only(text: &str, key: &Key<'_>) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_header =
            line.trim_start().starts_with('[') && line.contains(key.table) && at <= key.span.start;
        if is_header {
            kept.push_str(line);
        } else {
            let clamp = |place: usize| place.clamp(at, at + line.len()) - at;
            let (start, end) = (clamp(key.span.start), clamp(key.span.end));
            kept.push_str(&blank(&line[..start]));
            kept.push_str(&line[start..end]);
            kept.push_str(&blank(&line[end..]));
        }
        at += line.len();
    }
    kept
}

/// As many blanks as the text has bytes; its lines stay.
fn blank(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
        .collect()
}

/// One mistake in words: the line, what is wrong, and the nearest right name.
fn describe(text: &str, error: &toml::de::Error) -> Mistake {
    let line = error.span().map_or(1, |span| {
        text[..span.start.min(text.len())].matches('\n').count() + 1
    });
    let message = error.message().lines().next().unwrap_or_default();
    let what = match unknown_field(message) {
        Some((unknown, known)) => {
            let distance = |name: &String| strsim::damerau_levenshtein(&unknown, name);
            match known.iter().min_by_key(|name| distance(name)) {
                Some(nearest)
                    if distance(nearest) <= unknown.len() / 2 || nearest.starts_with(&unknown) =>
                {
                    format!("unknown key `{unknown}`; did you mean `{nearest}`?")
                }
                _ => format!("unknown key `{unknown}`; there are: {}", known.join(", ")),
            }
        }
        None => wrong_value::in_words(text, error).unwrap_or_else(|| message.to_owned()),
    };
    Mistake {
        line,
        text: format!("line {line}: {what}"),
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
        assert!(
            all.contains("line 3: crawl.retries_max = \"many\": must be a whole number, 0 to 255"),
            "{all}"
        );
        assert!(
            all.contains("line 5: unknown key `polite`; did you mean `politeness`?"),
            "{all}"
        );
        assert!(
            all.contains("line 7: scope.preset = \"galaxy\": must be \"page\", \"prefix\", "),
            "{all}"
        );
    }

    #[test]
    fn a_mistake_in_a_table_of_many_is_told_beside_others_and_without_its_value() {
        let text = "[fetch]\nhttp2 = true\n[[fetch.logins]]\nhost = \"a.example\"\n[[fetch.logins]]\nhost = \"b.example\"\npassword = \"hunter2\"\n[crawl]\nfoo = 1\n";
        let mistakes = parse(text).unwrap_err();
        assert_eq!(mistakes.len(), 2, "{mistakes:#?}");
        assert_eq!(
            mistakes[0],
            "line 7: unknown key `password`; did you mean `password_env`?"
        );
        assert!(
            mistakes[1].starts_with("line 9: unknown key `foo`"),
            "{mistakes:#?}"
        );
    }

    #[test]
    fn what_is_well_formed_and_wrong_is_in_the_same_report() {
        let text = "[archive]\ngzip_level = 99\n[scope]\ninclude = [\"(\"]\n[crawl]\nfoo = 1\n";
        let mistakes = parse(text).unwrap_err();
        assert_eq!(mistakes.len(), 3, "{mistakes:#?}");
        assert!(
            mistakes[0].starts_with("line 6: unknown key `foo`; there are: seeds,"),
            "{mistakes:#?}"
        );
    }

    #[test]
    fn what_a_run_does_otherwise_than_its_archive_is_told() {
        let archive = Settings::default();
        assert!(differences(&archive, &archive).unwrap().is_empty());
        let mut run = archive.clone();
        run.crawl.pages_max = Some(3);
        run.crawl.seeds = vec!["a.example".to_owned()];
        assert!(differences(&run, &archive).unwrap().is_empty());
        run.scope.depth_max = Some(2);
        run.links.requisites = !archive.links.requisites;
        let told = differences(&run, &archive).unwrap();
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(told[1], "scope.depth_max = 2 (junkai.toml: not set)");
        assert!(told[0].starts_with("links.requisites = "), "{told:?}");
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
