//! Exit codes: how a program learns what became of a run.

use std::io;
use std::process::ExitCode;

use crate::print::{is_all_printed, shown_lines, tell};

/// The exit codes, as `--help` shows them.
pub(crate) const HELP: &str = "\
Exit codes:
  0  all went well: the crawl is complete, or reached the limit that was asked for
  1  something failed; the message says what to do
  2  the command line is wrong
  3  the configuration is wrong, or a contact is missing
  4  problems were found: a damaged WARC file, impolite visits, a URL that may not be visited, a crawl that got no page, found
     no sitemap where it goes by them alone, or lost some of what it knew to damaged files, a wish for nothing
  5  the archive is in use by another crawl
 11  stopped by the user; the next run goes on from there";

/// The exit code of a command line that is wrong; clap's own.
pub(crate) const BAD_COMMAND_LINE: u8 = 2;

/// How a run ended, short of failing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All went well.
    Well,
    /// A check found problems.
    Problems,
    /// The user stopped it.
    Stopped,
}

/// The command line is wrong, as only we can tell and not clap; the message says what is right.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BadCommandLine(pub String);

/// The configuration is wrong; the message lists every mistake.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BadConfiguration(pub String);

/// A mistake on the command line.
pub(crate) fn bad_command_line(what: impl Into<String>) -> anyhow::Error {
    BadCommandLine(what.into()).into()
}

/// Turns the result of a command into what the shell sees, and prints an error with its causes.
pub(crate) fn code(result: anyhow::Result<Ending>) -> ExitCode {
    let error = match result {
        Ok(_) if !is_all_printed() => return ExitCode::FAILURE,
        Ok(Ending::Well) => return ExitCode::SUCCESS,
        Ok(Ending::Problems) => return ExitCode::from(4),
        Ok(Ending::Stopped) => return ExitCode::from(11),
        Err(error) => error,
    };
    if is_broken_pipe(&error) {
        // The reader of our output has seen enough.
        return ExitCode::SUCCESS;
    }
    tell!("junkai: {}", shown_lines(&error.to_string()));
    for cause in error.chain().skip(1) {
        tell!("  because: {}", shown_lines(&cause.to_string()));
    }
    if error.is::<BadCommandLine>() {
        return ExitCode::from(BAD_COMMAND_LINE);
    }
    if error.is::<BadConfiguration>() {
        return ExitCode::from(3);
    }
    match error.downcast_ref::<junkai_crawler::CrawlError>() {
        Some(
            junkai_crawler::CrawlError::NoContact { .. }
            | junkai_crawler::CrawlError::Settings { .. },
        ) => ExitCode::from(3),
        Some(junkai_crawler::CrawlError::NothingToCrawl) => ExitCode::from(BAD_COMMAND_LINE),
        Some(junkai_crawler::CrawlError::InUse { .. }) => ExitCode::from(5),
        _ => ExitCode::FAILURE,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error
        .chain()
        .any(|cause| cause.downcast_ref::<io::Error>().is_some_and(broken))
}
