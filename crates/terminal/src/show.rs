//! Prints what the lab brings: findings in whole lines, tables that fit a terminal.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result};
use junkai_simulation::outcome::{Outcome, Verdict};

use crate::bar::Bar;
use crate::print::{say, shown};

/// Columns of a terminal that can be counted on.
pub const WIDTH: usize = 80;

/// How an outcome is printed.
pub struct Shown {
    /// The folder that it was written to.
    pub written: Option<PathBuf>,
    /// The argument that writes to the same folder again, with a space before it; may be empty.
    pub out_again: String,
    /// As JSON, for programs.
    pub json: bool,
}

/// Prints an outcome: as JSON, or what was found and where it was written.
pub fn outcome(outcome: &Outcome, shown: &Shown) -> Result<()> {
    if shown.json {
        say!("{}", serde_json::to_string(outcome)?);
        return Ok(());
    }
    findings(outcome);
    claims(outcome);
    say!("");
    if let Some(folder) = &shown.written {
        say!(
            "Written to {}: {} tables, {} figures, findings.txt, outcome.json",
            folder.display(),
            outcome.tables.len(),
            outcome.figures.len()
        );
    }
    repeat_with(&outcome.command, &shown.out_again);
    Ok(())
}

/// Says how to repeat it; where it is written to is no part of what it finds, and stands apart.
pub fn repeat_with(command: &str, out_again: &str) {
    say!("Repeat with: {command}");
    if !out_again.is_empty() {
        say!("and, to write to the same folder:{out_again}");
    }
}

/// The argument that writes to this folder again, with a space before it.
#[must_use]
pub fn out_again(out: &Path) -> String {
    format!(" --out {}", quoted(out))
}

/// The same, if the folder is not the usual one.
#[must_use]
pub fn out_again_unless(out: &Path, usual: &str) -> String {
    if out == Path::new(usual) {
        String::new()
    } else {
        out_again(out)
    }
}

/// Makes the folder to write to: after the graphs are read, so that nothing is written in vain, and before the crawls, so that
/// no work is done that cannot be written.
pub fn prepare(out: &Path) -> Result<()> {
    std::fs::create_dir_all(out).with_context(|| {
        format!(
            "no results in {} (use --out DIR to write elsewhere)",
            out.display()
        )
    })
}

/// Prints the title and the findings.
pub fn findings(outcome: &Outcome) {
    say!("{}", outcome.title);
    for finding in &outcome.findings {
        say!("{}", wrapped("- ", finding));
    }
}

fn claims(outcome: &Outcome) {
    if outcome.claims.is_empty() {
        return;
    }
    say!("\nWhat is claimed, and what holds here:");
    for claim in &outcome.claims {
        let verdict = match claim.verdict {
            Verdict::Holds => "holds",
            Verdict::Partly => "partly",
            Verdict::Fails => "FAILS",
        };
        let text = format!(
            "{}: {} ({}). {}",
            claim.graph, claim.claim, claim.source, claim.measured
        );
        say!("{}", wrapped(&format!("  {verdict:<6} "), &text));
    }
    say!("{}", wrapped("  ", Verdict::RULE));
}

/// Writes an outcome below a folder.
pub fn write(outcome: &Outcome, out: &Path) -> Result<PathBuf> {
    outcome.write(out).with_context(|| {
        format!(
            "no results in {} (use --out DIR to write elsewhere)",
            out.display()
        )
    })
}

/// A bar that is told from several threads.
pub struct SharedBar(Mutex<Bar>);

impl SharedBar {
    /// A bar that is not drawn yet.
    #[must_use]
    pub fn new() -> SharedBar {
        SharedBar(Mutex::new(Bar::new()))
    }

    /// Draws how far something has come, if it is time to.
    pub fn at(&self, name: &'static str, done: u64, total: u64) {
        // Whoever holds it is drawing already.
        if let Ok(mut bar) = self.0.try_lock() {
            bar.at(name, done, total);
        }
    }
}

impl Default for SharedBar {
    fn default() -> SharedBar {
        SharedBar::new()
    }
}

/// A table of text: the first column to the left, the others to the right; as many columns side by side as fit, the rest
/// below.
pub struct Table {
    /// Each from top to bottom; the first cell is the header.
    pub columns: Vec<Vec<String>>,
}

impl Table {
    /// The lines of the table.
    pub fn lines(&self) -> Vec<String> {
        // Names of hosts and files are among them.
        let shown_column = |column: &Vec<String>| column.iter().map(|cell| shown(cell)).collect();
        let columns: Vec<Vec<String>> = self.columns.iter().map(shown_column).collect();
        let Some((names, values)) = columns.split_first() else {
            return Vec::new();
        };
        let name_width = width(names);
        let mut lines = Vec::new();
        let mut rest = values;
        while !rest.is_empty() {
            let mut used = name_width;
            let fitting = rest
                .iter()
                .take_while(|column| {
                    used += 2 + width(column);
                    used <= WIDTH
                })
                .count();
            let (block, later) = rest.split_at(fitting.max(1));
            rest = later;
            if !lines.is_empty() {
                lines.push(String::new());
            }
            for (row, name) in names.iter().enumerate() {
                let mut line = padded(name, name_width);
                for column in block {
                    let cell = column.get(row).map_or("", String::as_str);
                    let gap = 2 + width(column) - cell.chars().count();
                    line += &" ".repeat(gap);
                    line += cell;
                }
                lines.push(line.trim_end().to_owned());
            }
        }
        lines
    }
}

fn width(column: &[String]) -> usize {
    column
        .iter()
        .map(|cell| cell.chars().count())
        .max()
        .unwrap_or(0)
}

fn padded(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.chars().count());
    format!("{text}{}", " ".repeat(missing))
}

/// Text in lines that fit a terminal: the first begins with `first`, the others stand below it.
#[must_use]
pub fn wrapped(first: &str, text: &str) -> String {
    let indent = " ".repeat(first.chars().count());
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut is_empty = true;
    // A number and its sign stay together.
    let text = text.replace(" %", "\u{a0}%");
    for word in text.split(' ') {
        let length = line.chars().count() + usize::from(!is_empty) + word.chars().count();
        if !is_empty && WIDTH < length {
            lines.push(std::mem::replace(&mut line, indent.clone()));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line += word;
        is_empty = false;
    }
    lines.push(line);
    lines.join("\n").replace('\u{a0}', " ")
}

/// A path as a shell takes it.
#[must_use]
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "/._-+:@,=%".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_below_its_first_word() {
        let text = "word ".repeat(40);
        let wrapped = wrapped("- ", text.trim());
        let lines: Vec<&str> = wrapped.lines().collect();
        assert!(lines.iter().all(|line| line.len() <= WIDTH));
        assert!(lines[0].starts_with("- word"));
        assert!(lines[1..].iter().all(|line| line.starts_with("  word")));
        assert_eq!(wrapped.matches("word").count(), 40);
        // What is longer than a line is never cut.
        let long = "x".repeat(200);
        assert!(super::wrapped("- ", &long).contains(&long));
    }

    #[test]
    fn columns_that_do_not_fit_go_below() {
        let column = |name: &str| vec![name.to_owned(), "1".to_owned()];
        let mut columns = vec![column("name of the row")];
        columns.extend((0..9).map(|number| column(&format!("a-long-name-{number}"))));
        let lines = Table { columns }.lines();
        assert!(
            lines.iter().all(|line| line.chars().count() <= WIDTH),
            "{lines:#?}"
        );
        let all = lines.join("\n");
        assert!((0..9).all(|number| all.contains(&format!("a-long-name-{number}"))));
        assert!(
            lines[0].starts_with("name of the row  a-long-name-0"),
            "{}",
            lines[0]
        );
    }

    #[test]
    fn a_path_is_quoted_where_a_shell_would_not_take_it_as_it_is() {
        for (path, text) in [
            ("graphs/uk-2007-05@100000", "graphs/uk-2007-05@100000"),
            ("my graphs", "'my graphs'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(Path::new(path)), text);
        }
    }
}
