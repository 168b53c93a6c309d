//! How a command ended, as the shell sees it.
//!
//! What each program's own errors mean is told by the program: see [`code`].

use std::io;
use std::process::ExitCode;

use crate::print::{is_all_printed, shown_lines, tell};

/// The exit code of a command line that is wrong; clap's own.
pub const BAD_COMMAND_LINE: u8 = 2;

/// How a run ended, short of failing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
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
pub struct BadCommandLine(pub String);

/// A mistake on the command line.
pub fn bad_command_line(what: impl Into<String>) -> anyhow::Error {
    BadCommandLine(what.into()).into()
}

/// Turns the result of a command into what the shell sees, and prints an error with its causes; `code_of` knows the errors of the program.
pub fn code(
    result: anyhow::Result<Ending>,
    code_of: impl FnOnce(&anyhow::Error) -> Option<u8>,
) -> ExitCode {
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
    code_of(&error).map_or(ExitCode::FAILURE, ExitCode::from)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error
        .chain()
        .any(|cause| cause.downcast_ref::<io::Error>().is_some_and(broken))
}
