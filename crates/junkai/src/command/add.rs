//! `junkai add`: further seeds for a crawl.

use std::path::PathBuf;

use anyhow::Result;
use junkai_crawler::UserCommand;

use crate::command::crawl::read_seeds;
use crate::exit::Ending;
use crate::print::tell;
use crate::telling::{Target, counted};

/// What `junkai add` takes.
#[derive(clap::Args)]
#[command(after_help = "\
If a crawl is running in the archive it is told at once; if not, the next one begins with it.

Examples:
  junkai add --archive example https://example.org/new/    one more place to start from
  junkai add --archive example --seeds-file list.txt       many of them

The scope reaches around a new seed as it does around the first ones. A seed that failed before is tried again; one that was \
  visited stays as it is (`junkai revisit` asks for it out of turn).")]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Where to start besides: URLs, or host names.
    #[arg(value_name = "URL", required_unless_present = "seeds_file")]
    seeds: Vec<String>,
    /// Read more seeds from a file, one a line, `#` for comments; `-` is standard input.
    #[arg(long, short = 'i', value_name = "FILE")]
    seeds_file: Option<PathBuf>,
}

/// Tells the crawl.
pub(crate) fn run(mut arguments: Arguments) -> Result<Ending> {
    if let Some(file) = &arguments.seeds_file {
        arguments.seeds.extend(read_seeds(file)?.0);
    }
    let target = &arguments.target;
    if arguments.seeds.is_empty() {
        tell!("nothing to add: the file names no URL");
        return Ok(Ending::Problems);
    }
    let command = UserCommand::Add {
        seeds: arguments.seeds,
    };
    let told = target.tell(&target.settings()?, &[command])?;
    let response = &told.response;
    let known = match response.already {
        0 => String::new(),
        1 => "; 1 was known already".to_owned(),
        more => format!("; {more} were known already"),
    };
    let mut words = format!("added {}{known}", counted(response.done, "seed"));
    if 0 < response.done {
        words = format!("{words}\n{}", target.when(&told));
    }
    target.print(&told, &words)
}
