//! Printing, to readers who may have seen enough.
//!
//! `println!` and `eprintln!` panic when their reader goes away, as `head` does; [`say!`] and [`tell!`] do not, so a crawl goes on.

use std::fmt;
use std::io::{ErrorKind, Write};

/// Prints a line to standard output; takes what `println!` takes.
macro_rules! say {
    ($($text:tt)*) => {
        $crate::print::text(format_args!("{}\n", format_args!($($text)*)))
    };
}
pub(crate) use say;

/// Prints a line to standard error; takes what `eprintln!` takes.
macro_rules! tell {
    ($($text:tt)*) => {
        $crate::print::aside(format_args!("{}\n", format_args!($($text)*)))
    };
}
pub(crate) use tell;

/// Prints text to standard output.
pub(crate) fn text(text: fmt::Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    match out.write_fmt(text) {
        Ok(()) => {}
        // The reader has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => tell!("junkai: cannot print: {error}"),
    }
}

/// Prints text to standard error.
pub(crate) fn aside(text: fmt::Arguments<'_>) {
    let mut out = std::io::stderr().lock();
    // There is nobody left to tell that nobody reads.
    let _unread = out.write_fmt(text).and_then(|()| out.flush());
}

/// A time in the unit that fits.
pub(crate) fn short(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(86_400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s")];
    let (unit, name) = UNITS
        .into_iter()
        .find(|(unit, _)| *unit <= seconds)
        .unwrap_or((1.0, "s"));
    let number = seconds / unit;
    if number < 10.0 && 0.05 < number.fract() {
        format!("{number:.1} {name}")
    } else {
        format!("{number:.0} {name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        for (seconds, text) in [
            (0.0, "0 s"),
            (59.0, "59 s"),
            (60.0, "1 min"),
            (5400.0, "1.5 h"),
            (86_400.0, "1 d"),
            (34_560_000.0, "400 d"),
        ] {
            assert_eq!(short(seconds), text);
        }
    }
}
