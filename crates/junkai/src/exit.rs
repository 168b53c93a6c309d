//! Exit codes: how a program learns what became of a run.

use std::process::ExitCode;

pub(crate) use junkai_terminal::exit::{
    BAD_COMMAND_LINE, BadCommandLine, Ending, bad_command_line,
};

/// The exit codes, as `--help` shows them.
pub(crate) const HELP: &str = "\
Exit codes:
  0  all went well: the crawl is complete, or reached the limit that was asked for
  1  something failed; the message says what to do
  2  the command line is wrong
  3  the configuration is wrong, or a contact is missing
  4  problems were found: a damaged WARC file, impolite visits, a URL that may not be visited, a crawl that got no page, found
     no sitemap where it goes by them alone, or lost some of what it knew to damaged files, a command for nothing
  5  the archive is in use by another crawl
 11  stopped by the user; the next run goes on from there";

/// The configuration is wrong; the message lists every mistake.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BadConfiguration(pub String);

/// Turns the result of a command into what the shell sees, and prints an error with its causes.
pub(crate) fn code(result: anyhow::Result<Ending>) -> ExitCode {
    junkai_terminal::exit::code(result, code_of)
}

fn code_of(error: &anyhow::Error) -> Option<u8> {
    if error.is::<BadConfiguration>() {
        return Some(3);
    }
    match error.downcast_ref::<junkai_crawler::CrawlError>()? {
        junkai_crawler::CrawlError::NoContact { .. }
        | junkai_crawler::CrawlError::Settings { .. } => Some(3),
        junkai_crawler::CrawlError::NothingToCrawl => Some(BAD_COMMAND_LINE),
        junkai_crawler::CrawlError::InUse { .. } => Some(5),
        _ => None,
    }
}
