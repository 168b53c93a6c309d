//! Printing results, to readers who may have seen enough, on screens that obey.
//!
//! `println!` and `eprintln!` panic when their reader goes away, as `head` does; [`say!`] and [`tell!`] do not, so a crawl goes on.
//!
//! Much of what is printed was written by strangers: headers, URLs, titles, lines of robots.txt, names in other people's archives. To a terminal some
//! characters are commands. So all text passes [`Screened`], which lets none of them through, and a value from outside is [`shown`]: on one line, and
//! not endless. Both write such a character as JSON does (`\u001b`), so JSON stays what it was.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::block;

/// Characters of a text from outside that are shown, where a table has no less room for it.
const SHOWN_MAX: usize = 1000;
/// Characters of a word that are shown; a URL may be one, of thousands of characters, and what is said of it stands behind.
const WORD_SHOWN_MAX: usize = 300;
/// The least part of a long word that is worth showing.
const WORD_SHOWN_MIN: usize = 20;
/// Characters of a line of the log.
const LOG_LINE_MAX: usize = 4000;
/// Bytes of the longest character.
const CHARACTER_BYTES_MAX: usize = 4;

/// Prints a line to standard output; takes what `println!` takes.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => {
        $crate::print::text(format_args!("{}\n", format_args!($($text)*)))
    };
}
pub use crate::say;

/// Prints a line to standard error; takes what `eprintln!` takes.
#[macro_export]
macro_rules! tell {
    ($($text:tt)*) => {
        $crate::print::aside(format_args!("{}\n", format_args!($($text)*)))
    };
}
pub use crate::tell;

/// Prints text to standard output.
pub fn text(text: fmt::Arguments<'_>) {
    let mut out = Screened::new(io::stdout().lock());
    match out.write_fmt(text) {
        Ok(()) => {}
        // The reader has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => {
            if !CANNOT_PRINT.swap(true, Ordering::Relaxed) {
                tell!("junkai: cannot print: {error}");
            }
        }
    }
}

/// Whether something could not be printed, for another reason than that nobody reads on.
static CANNOT_PRINT: AtomicBool = AtomicBool::new(false);

/// Whether all that was to be printed was: else the command has failed.
pub fn is_all_printed() -> bool {
    !CANNOT_PRINT.load(Ordering::Relaxed)
}

/// Prints text to standard error.
pub fn aside(text: fmt::Arguments<'_>) {
    let mut lines = Screened::new(Vec::new());
    // Writing to memory cannot fail; and there is nobody left to tell that nobody reads.
    let _unread = lines
        .write_fmt(text)
        .and_then(|()| block::above(&String::from_utf8_lossy(&lines.out)));
}

/// Text from outside as it is shown: in one line, without a command to the terminal, without the middle of words that are too long, and cut where all of it is.
#[must_use]
pub fn shown(text: &str) -> String {
    shown_within(text, SHOWN_MAX)
}

/// The same, cut after so many characters.
#[must_use]
pub fn shown_within(text: &str, characters_max: usize) -> String {
    let text = &*with_short_words(text, WORD_SHOWN_MAX);
    let (kept, cut) = match text.char_indices().nth(characters_max) {
        Some((end, _)) => (&text[..end], "…"),
        None => (text, ""),
    };
    let mut shown = String::with_capacity(kept.len() + cut.len());
    for character in kept.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            command if is_command(command) => shown.push_str(&escaped(command)),
            other => shown.push(other),
        }
    }
    shown + cut
}

/// The text with `…` in the place of the middle of every word of more characters than `word_max`: where a URL begins and ends is kept.
#[must_use]
pub fn with_short_words(text: &str, word_max: usize) -> Cow<'_, str> {
    let word_max = word_max.max(WORD_SHOWN_MIN);
    // Bytes are at least as many as characters, and quickly counted.
    let is_long = |word: &str| word_max < word.len() && word_max < word.chars().count();
    if !text.split(' ').any(is_long) {
        return Cow::Borrowed(text);
    }
    let mut shortened = String::with_capacity(text.len().min(SHOWN_MAX));
    for (number, word) in text.split(' ').enumerate() {
        if 0 < number {
            shortened.push(' ');
        }
        if is_long(word) {
            let end = word_max / 4;
            let start = word_max - end - 1;
            let count = word.chars().count();
            shortened.extend(word.chars().take(start));
            shortened.push('…');
            shortened.extend(word.chars().skip(count - end));
        } else {
            shortened.push_str(word);
        }
    }
    Cow::Owned(shortened)
}

/// Text of several lines, each as it is [`shown`].
pub fn shown_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(shown).collect();
    lines.join("\n")
}

/// Standard error for the log: each write is an event, and stays one line whatever its fields hold. So it has no colours, which are commands too.
pub struct LogLines;

impl Write for LogLines {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        block::above(&log_line(event))?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

fn log_line(event: &[u8]) -> String {
    let text = String::from_utf8_lossy(event);
    shown_within(text.trim_end_matches('\n'), LOG_LINE_MAX) + "\n"
}

/// Whether a terminal may obey a character instead of showing it: controls (C0, C1 and DEL), what reorders the text around it, and what ends a line
/// unlike a line feed.
fn is_command(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        other => other.is_control(),
    }
}

/// A command as JSON writes it; all of them fit into four digits.
fn escaped(command: char) -> String {
    format!("\\u{:04x}", u32::from(command))
}

/// Lets text through, and commands to a terminal as what they are called; line feeds and tabs stay. What is no UTF-8 is shown as U+FFFD.
pub struct Screened<W: Write> {
    out: W,
    /// The beginning of a character whose end has not come yet.
    begun: Vec<u8>,
}

impl<W: Write> Screened<W> {
    /// Lets text through to `out`.
    pub fn new(out: W) -> Screened<W> {
        Screened {
            out,
            begun: Vec::new(),
        }
    }

    /// Writes valid text.
    fn write_text(&mut self, text: &str) -> io::Result<()> {
        let mut rest = text;
        while let Some((at, command)) = rest.char_indices().find(|(_, it)| is_command(*it)) {
            self.out.write_all(&rest.as_bytes()[..at])?;
            self.out.write_all(escaped(command).as_bytes())?;
            rest = &rest[at + command.len_utf8()..];
        }
        self.out.write_all(rest.as_bytes())
    }
}

impl<W: Write> Write for Screened<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        let mut rest = &*all;
        while !rest.is_empty() {
            let (valid, broken) = match std::str::from_utf8(rest) {
                Ok(text) => (text, None),
                Err(error) => {
                    let (valid, _) = rest.split_at(error.valid_up_to());
                    let valid = std::str::from_utf8(valid).unwrap_or_default();
                    (valid, Some(error.error_len()))
                }
            };
            self.write_text(valid)?;
            rest = &rest[valid.len()..];
            match broken {
                None => break,
                Some(Some(length)) => {
                    self.out.write_all("\u{fffd}".as_bytes())?;
                    rest = &rest[length..];
                }
                // Its end may be in the next write.
                Some(None) => {
                    debug_assert!(rest.len() < CHARACTER_BYTES_MAX);
                    self.begun = rest.to_vec();
                    break;
                }
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A time in the unit that fits.
#[must_use]
pub fn short(seconds: f64) -> String {
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

    fn screened(parts: &[&[u8]]) -> String {
        let mut out = Screened::new(Vec::new());
        for part in parts {
            out.write_all(part).unwrap();
        }
        String::from_utf8(out.out).unwrap()
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown_and_all_else_stays() {
        let plain = "a\tb\nd — Straße, 日本, \\, 👍🏽";
        assert_eq!(screened(&[plain.as_bytes()]), plain);
        for (command, expected) in [
            ("\x1b[31m", "\\u001b[31m"),
            ("\u{9b}31m", "\\u009b31m"),
            ("\x07\x08\x7f\r\0", "\\u0007\\u0008\\u007f\\u000d\\u0000"),
            ("a\u{202e}b\u{2066}", "a\\u202eb\\u2066"),
            ("\u{2028}\u{85}", "\\u2028\\u0085"),
        ] {
            assert_eq!(screened(&[command.as_bytes()]), expected);
            assert_eq!(shown(command), expected);
        }
        // C1 in one byte is no UTF-8.
        assert_eq!(screened(&[b"\x9b31m"]), "\u{fffd}31m");
        assert_eq!(
            screened(&[b"\xc2", b"\x9bm\xe6\x97", b"\xa5"]),
            "\\u009bm日"
        );
    }

    #[test]
    fn what_is_shown_is_on_one_line_and_is_cut() {
        assert_eq!(shown("a\n\tb"), "a\\n\\tb");
        assert_eq!(shown_within("日本語", 3), "日本語");
        assert_eq!(shown_within("日本語", 2), "日本…");
        assert_eq!(shown(&"x ".repeat(9999)).chars().count(), SHOWN_MAX + 1);
        assert_eq!(shown_lines("a\x07\nb"), "a\\u0007\nb");
    }

    #[test]
    fn of_a_long_url_the_ends_are_shown_and_what_is_said_of_it() {
        let url = format!("https://example.org/{}/page.html", "日".repeat(20_000));
        let line = shown(&format!("{url}: connection refused"));
        assert!(line.chars().count() < 400, "{line}");
        assert!(line.starts_with("https://example.org/日"), "{line}");
        assert!(line.ends_with("日/page.html: connection refused"), "{line}");
        let event = log_line(format!("INFO {url}: 200, 5 bytes\n").as_bytes());
        assert!(event.chars().count() < 400, "{event}");
        assert!(event.ends_with("page.html: 200, 5 bytes\n"), "{event}");
        let short = "https://example.org/ is short";
        assert_eq!(with_short_words(short, 1), short);
        assert_eq!(with_short_words(&"x".repeat(21), 1).chars().count(), 20);
    }

    #[test]
    fn an_event_stays_one_line_of_the_log() {
        let event = b"WARN a command reason=\x1b[2J\nWARN all is lost\xff\n";
        let line = "WARN a command reason=\\u001b[2J\\nWARN all is lost\u{fffd}\n";
        assert_eq!(log_line(event), line);
    }

    #[test]
    fn where_writes_are_cut_does_not_matter() {
        let bytes = b"a\x1b[m\xc2\x9b\xe6\x97\xa5\xff\xe6\x97\xf0\x9f\x91\x8d\xe2\x80\xae\x9b\n";
        let whole = screened(&[bytes]);
        assert!(!whole.contains(is_command), "{whole:?}");
        for cut in 0..bytes.len() {
            let (first, second) = bytes.split_at(cut);
            assert_eq!(screened(&[first, second]), whole, "at {cut}");
        }
    }

    #[test]
    fn json_says_the_same_before_and_after() {
        let all: String = ('\0'..=char::MAX).collect();
        let json = serde_json::to_string(&all).unwrap();
        let passed = screened(&[json.as_bytes()]);
        assert!(!passed.contains(is_command));
        let read: String = serde_json::from_str(&passed).unwrap();
        assert_eq!(read, all);
    }

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
