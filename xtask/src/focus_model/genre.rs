//! Kinds of sites, and the words and phrases that their pages are made of: read from `english.txt` and `japanese.txt`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

/// Everything that sites of one language are made of.
pub(super) struct Language {
    /// What stands for a word in braces.
    pools: BTreeMap<&'static str, Vec<&'static str>>,
    pub(super) genres: Vec<Genre>,
    /// As `lang` attributes have it.
    pub(super) code: &'static str,
}

/// A kind of site.
#[derive(Default)]
pub(super) struct Genre {
    pub(super) name: &'static str,
    /// Whether such sites hold statistical data.
    pub(super) wanted: bool,
    pub(super) titles: Vec<&'static str>,
    pub(super) sentences: Vec<&'static str>,
    pub(super) menu: Vec<&'static str>,
    /// Texts of links to files, and the files' names.
    pub(super) files: Vec<(&'static str, &'static str)>,
}

/// Both languages.
pub(super) fn languages() -> Result<[Language; 2]> {
    Ok([
        parse("en", include_str!("english.txt"))?,
        parse("ja", include_str!("japanese.txt"))?,
    ])
}

impl Language {
    /// What may stand for the word in braces.
    pub(super) fn pool(&self, name: &str) -> Option<&[&'static str]> {
        self.pools.get(name).map(Vec::as_slice)
    }
}

fn parse(code: &'static str, text: &'static str) -> Result<Language> {
    let mut pools: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut genres: Vec<Genre> = Vec::new();
    let mut pool = None;
    for (number, line) in (1..).zip(text.lines()) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let place = || format!("line {number} of the phrases in {code}: {line}");
        if let Some(name) = line.strip_prefix("pool ") {
            pool = Some(name);
        } else if let Some(rest) = line.strip_prefix("genre ") {
            pool = None;
            let (wanted, name) = rest.split_once(' ').with_context(place)?;
            genres.push(Genre {
                name,
                wanted: wanted == "1",
                ..Genre::default()
            });
        } else if let Some(name) = pool {
            pools.entry(name).or_default().extend(line.split(" | "));
        } else {
            let genre = genres.last_mut().with_context(place)?;
            let (kind, rest) = line.split_once(' ').with_context(place)?;
            match kind {
                "t" => genre.titles.push(rest),
                "s" => genre.sentences.push(rest),
                "m" => genre.menu.extend(rest.split(" | ")),
                "f" => genre
                    .files
                    .push(rest.split_once(" | ").with_context(place)?),
                _ => bail!("{}", place()),
            }
        }
    }
    Ok(Language {
        pools,
        genres,
        code,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phrases_can_be_read() {
        for language in languages().unwrap() {
            assert!(language.genres.iter().any(|genre| genre.wanted));
            assert!(language.genres.iter().any(|genre| !genre.wanted));
            for genre in &language.genres {
                assert!(3 <= genre.sentences.len(), "{}", genre.name);
                assert!(
                    !genre.titles.is_empty() && !genre.menu.is_empty(),
                    "{}",
                    genre.name
                );
            }
        }
    }
}
