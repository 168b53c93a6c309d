//! Printing results, to readers who may have seen enough.
//!
//! `println!` panics when its reader goes away, as `head` does; [`say!`] does not, so a crawl goes on.

use std::fmt;
use std::io::{ErrorKind, Write};

/// Prints a line to standard output; takes what `println!` takes.
macro_rules! say {
    ($($text:tt)*) => {
        $crate::print::text(format_args!("{}\n", format_args!($($text)*)))
    };
}
pub(crate) use say;

/// Prints text to standard output.
pub(crate) fn text(text: fmt::Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    match out.write_fmt(text) {
        Ok(()) => {}
        // The reader has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => eprintln!("junkai: cannot print: {error}"),
    }
}
