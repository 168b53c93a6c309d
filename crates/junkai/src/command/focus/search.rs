//! `junkai focus search`: finds data files in an archive's catalogue.

use std::path::{Path, PathBuf};

use anyhow::Result;
use junkai_focus::catalogue::{Entry, Hit, Index};
use junkai_simulation::outcome::grouped;
use serde::Serialize;

use crate::exit::Ending;
use crate::print::{say, shown, tell};

/// Where an archive keeps what focus found.
const FOLDER: &str = "focus";
/// Columns that are shown of one file.
const COLUMNS_SHOWN: usize = 8;

/// What `junkai focus search` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The archive's folder.
    #[arg(long, short, value_name = "DIR", default_value = super::run::ARCHIVE)]
    archive: PathBuf,
    /// Print a JSON line for each file.
    #[arg(long)]
    json: bool,
    /// How many files to show at most.
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    /// Words that the files are about, in any language.
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,
}

/// A file that was found, as JSON has it.
#[derive(Serialize)]
struct Line<'a> {
    score: f32,
    snippet: &'a str,
    #[serde(flatten)]
    entry: &'a Entry,
}

/// Prints the files that fit best.
pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let folder = arguments.archive.join(FOLDER);
    let archive = arguments.archive.display();
    if !folder.join(junkai_focus::catalogue::LINES_FILE).exists() {
        tell!(
            "junkai: there is no catalogue in {archive} yet; `junkai focus collect --archive {archive}` makes one"
        );
        return Ok(Ending::Problems);
    }
    let index = index_of(&folder)?;
    let query = arguments.words.join(" ");
    let hits = index.search(&query, arguments.limit as usize)?;
    for hit in &hits {
        if arguments.json {
            let line = Line {
                score: hit.score,
                snippet: &hit.snippet,
                entry: &hit.entry,
            };
            say!("{}", serde_json::to_string(&line)?);
        } else {
            print(hit);
        }
    }
    if hits.is_empty() && !arguments.json {
        let count = index.count()?;
        say!(
            "nothing fits; the catalogue has {} data files",
            grouped(count)
        );
    }
    Ok(Ending::Well)
}

/// The index of a catalogue. One that cannot be used, be it damaged or somebody else's, is left as it is: the lines are what counts.
fn index_of(folder: &Path) -> Result<Index> {
    let problem = match Index::open(folder) {
        Ok(Some(index)) => match index.count() {
            Ok(_) => return Ok(index),
            Err(error) => error.to_string(),
        },
        Ok(None) => "there is none of this version".to_owned(),
        Err(error) => error.to_string(),
    };
    let problem = shown(&problem);
    tell!("junkai: the index is not used ({problem}); `junkai focus collect` makes it anew");
    Ok(Index::in_memory(folder)?)
}

fn print(hit: &Hit) {
    let entry = &hit.entry;
    say!("{}", shown(&entry.title));
    say!("  {}", shown(&entry.url));
    let mut facts = vec![entry.format.name().to_owned()];
    facts.extend(entry.rows.map(|rows| format!("{} rows", grouped(rows))));
    facts.extend(
        entry
            .time_range
            .map(|period| format!("{} to {}", period.first.year(), period.last.year())),
    );
    facts.extend(entry.units.first().map(|unit| shown(unit)));
    facts.extend(entry.publisher.as_deref().map(shown));
    facts.extend(entry.is_cut.then(|| "its beginning only".to_owned()));
    facts.extend(entry.has_macros.then(|| "has macros".to_owned()));
    facts.extend(
        entry
            .unread
            .as_deref()
            .map(|why| format!("not read: {}", shown(why))),
    );
    if 1 < entry.versions.len() {
        facts.push(format!("{} versions", entry.versions.len()));
    }
    say!("  {}", facts.join(" · "));
    if !entry.columns.is_empty() {
        let columns = entry.columns.iter().take(COLUMNS_SHOWN);
        let columns: Vec<String> = columns.map(|name| shown(name)).collect();
        let more = if COLUMNS_SHOWN < entry.columns.len() {
            ", …"
        } else {
            ""
        };
        say!("  columns: {}{more}", columns.join(", "));
    }
    let snippet = shown(&hit.snippet);
    if snippet != shown(&entry.title) {
        say!("  {snippet}");
    }
    say!("");
}
