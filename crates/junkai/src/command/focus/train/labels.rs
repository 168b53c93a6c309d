//! The labels of a training: which sites or files hold what is wanted.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Most mistakes that are shown at once.
const MISTAKES_MAX: usize = 10;

/// What is known, by site or file.
#[derive(Debug)]
pub(super) struct Labels {
    rows: BTreeMap<String, Label>,
}

/// What one row says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) wanted: bool,
    /// Rows of one group are never on both sides of a check.
    pub(super) group: String,
}

impl Labels {
    /// Reads a file of labels; every mistake in it is told at once, with its line.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the labels {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("cannot use the labels {}", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let header = reader.headers().context("line 1 is no line of CSV")?;
        if header.get(0) != Some("site_or_file") || header.get(1) != Some("label") {
            bail!(
                "line 1 must name the columns: `site_or_file,label` or `site_or_file,label,group`"
            );
        }
        let mut rows: BTreeMap<String, Label> = BTreeMap::new();
        let mut mistakes = Vec::new();
        for record in reader.records() {
            let record = record.context("the file is not CSV in UTF-8")?;
            let line = record.position().map_or(0, csv::Position::line);
            match row(&record) {
                Ok((name, label)) => match rows.get(&name) {
                    Some(known) if *known != label => {
                        mistakes.push(format!("line {line}: {name} was labelled otherwise before"));
                    }
                    Some(_) => {}
                    None => {
                        rows.insert(name, label);
                    }
                },
                Err(mistake) => mistakes.push(format!("line {line}: {mistake}")),
            }
        }
        if !mistakes.is_empty() {
            let more = mistakes.len().saturating_sub(MISTAKES_MAX);
            mistakes.truncate(MISTAKES_MAX);
            if 0 < more {
                mistakes.push(format!("and {more} more"));
            }
            bail!("{}", mistakes.join("\n  "));
        }
        if rows.is_empty() {
            bail!("there are no labels in it, only a header");
        }
        Ok(Self { rows })
    }

    /// What is known of a site or file.
    pub(super) fn of(&self, name: &str) -> Option<&Label> {
        self.rows.get(name)
    }

    /// All of them, by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Label)> {
        self.rows.iter().map(|(name, label)| (name.as_str(), label))
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }
}

fn row(record: &csv::StringRecord) -> Result<(String, Label), String> {
    let name = record.get(0).unwrap_or_default().trim_end_matches('/');
    if name.is_empty() {
        return Err("the first column is empty: name a site, a folder or a file".to_owned());
    }
    let label = record.get(1).unwrap_or_default();
    let wanted = match label.to_lowercase().as_str() {
        "1" | "yes" | "true" | "wanted" => true,
        "0" | "no" | "false" | "other" => false,
        "" => return Err(format!("{name} has no label: write 1 or 0 after a comma")),
        _ => {
            return Err(format!(
                "{label:?} is no label: write 1 or 0 (yes or no, true or false)"
            ));
        }
    };
    let group = record
        .get(2)
        .filter(|group| !group.is_empty())
        .unwrap_or(name);
    Ok((
        name.to_owned(),
        Label {
            wanted,
            group: group.to_owned(),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(text: &str) -> String {
        Labels::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn labels_are_read() {
        let labels = Labels::parse(
            "\u{FEFF}site_or_file,label,group\na.example,1\n b/ ,No,g\n\na.example,yes\n",
        )
        .unwrap();
        assert_eq!(labels.len(), 2);
        assert!(labels.of("a.example").unwrap().wanted);
        let other = labels.of("b").unwrap();
        assert_eq!((other.wanted, other.group.as_str()), (false, "g"));
        assert_eq!(labels.of("c"), None);
    }

    #[test]
    fn mistakes_are_told_with_their_lines() {
        let text = "site_or_file,label\na,1\nb,maybe\n,1\nc\na,0\n";
        let message = mistake(text);
        for part in [
            "line 3: \"maybe\"",
            "line 4: the first",
            "line 5: c has no label",
            "line 6: a was",
        ] {
            assert!(message.contains(part), "{message}");
        }
        assert!(mistake("a,1\n").contains("line 1 must name"));
        assert!(mistake("").contains("line 1 must name"));
        assert!(mistake("site_or_file,label\n").contains("no labels"));
        let many = format!("site_or_file,label\n{}", "a,?\n".repeat(50));
        assert!(mistake(&many).contains("and 40 more"));
    }
}
