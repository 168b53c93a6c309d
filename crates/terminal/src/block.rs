//! The terminal on standard error: its size and colours, and the block of lines at its end that is drawn over and over.
//!
//! There is one terminal, so there is one block. What is written meanwhile, by [`above`], goes above it.

use std::env;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use unicode_width::UnicodeWidthStr as _;

/// The terminal's size in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// From left to right.
    pub columns: usize,
    /// From top to bottom.
    pub rows: usize,
}

/// How a piece of text is to look, where the terminal has colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As all text.
    Plain,
    /// Names and what is beside the point.
    Dim,
    /// What the eye is to find first.
    Strong,
    /// As it should be.
    Good,
    /// Worth a look.
    Warning,
    /// Not as it should be.
    Bad,
}

/// Text with its tone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Without commands to the terminal.
    pub text: String,
    /// How it looks.
    pub tone: Tone,
}

/// A line that fits.
pub type Line = Vec<Piece>;

/// Columns that a line takes.
#[must_use]
pub fn columns_of(line: &Line) -> usize {
    line.iter().map(|piece| piece.text.width()).sum()
}

/// Taken where the terminal does not tell.
const SIZE_USUAL: Size = Size {
    columns: 80,
    rows: 24,
};

/// Lines do not go on in the next one while the block is written, however the terminal counts the columns of a character.
const WRAP_OFF: &str = "\x1b[?7l";
const WRAP_ON: &str = "\x1b[?7h";
/// Lines are written over the earlier ones, and what is left of those is cleared: to clear the screen first would flicker, and some terminals keep each cleared
/// screen in their history.
const END_OF_LINE: &str = "\x1b[K\n";
const CLEAR_BELOW: &str = "\x1b[J";

static BLOCK: Mutex<Block> = Mutex::new(Block {
    columns: Vec::new(),
    text: String::new(),
    is_away: false,
});

/// What stands at the end of the terminal.
struct Block {
    /// Of each of its lines.
    columns: Vec<usize>,
    text: String,
    /// Whether the terminal is another program's, while this one is stopped.
    is_away: bool,
}

/// Whether standard error is a terminal on which lines can be drawn over.
#[must_use]
pub fn is_live() -> bool {
    let term = env::var_os("TERM");
    io::stderr().is_terminal() && term.is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// Whether colours are welcome: on a terminal that has them, unless `NO_COLOR` is set.
#[must_use]
pub fn has_colours() -> bool {
    is_live() && env::var_os("NO_COLOR").is_none_or(|no_color| no_color.is_empty())
}

/// The size as it is now.
#[must_use]
pub fn size() -> Size {
    let told = rustix::termios::tcgetwinsize(io::stderr()).ok();
    let or = |told: Option<u16>, usual| match told {
        None | Some(0) => usual,
        Some(told) => usize::from(told),
    };
    Size {
        columns: or(told.map(|told| told.ws_col), SIZE_USUAL.columns),
        rows: or(told.map(|told| told.ws_row), SIZE_USUAL.rows),
    }
}

/// Puts these lines in the place of the block.
pub fn draw(lines: &[Line], size: Size, has_colours: bool) {
    let mut block = block();
    if let Some(out) = block.drawn(lines, size, has_colours) {
        write(&out);
    }
}

/// Takes the block away.
pub fn clear() {
    if let Some(out) = block().cleared(size()) {
        write(&out);
    }
}

/// Leaves the terminal to others: the block goes, and nothing is drawn until [`come_back`].
pub fn leave() {
    let mut block = block();
    block.is_away = true;
    if let Some(out) = block.cleared(size()) {
        write(&out);
    }
}

/// The terminal is ours again.
pub fn come_back() {
    block().is_away = false;
}

/// Writes text, which ends with a line feed, above the block.
pub fn above(text: &str) -> io::Result<()> {
    let block = block();
    let mut out = String::new();
    if block.columns.is_empty() {
        out += text;
    } else {
        out += &block.way_up(size());
        out += &text.replace('\n', END_OF_LINE);
        out += &block.text;
    }
    let mut error = io::stderr().lock();
    error.write_all(out.as_bytes()).and_then(|()| error.flush())
}

fn block() -> MutexGuard<'static, Block> {
    BLOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Block {
    /// What puts these lines in the place of the block; nothing while the terminal is another program's.
    fn drawn(&mut self, lines: &[Line], size: Size, has_colours: bool) -> Option<String> {
        if self.is_away {
            return None;
        }
        let way_up = self.way_up(size);
        self.columns = lines.iter().map(columns_of).collect();
        self.text = painted(lines, has_colours);
        Some(way_up + &self.text)
    }

    /// What takes the block away, if there is one.
    fn cleared(&mut self, size: Size) -> Option<String> {
        if self.columns.is_empty() {
            return None;
        }
        let way_up = self.way_up(size);
        self.columns.clear();
        self.text.clear();
        Some(way_up + CLEAR_BELOW)
    }

    /// What leads up to the block's first line on a terminal of this size. One that became narrower shows a line in several.
    fn way_up(&self, size: Size) -> String {
        let rows_of = |columns: &usize| columns.div_ceil(size.columns).max(1);
        let rows: usize = self.columns.iter().map(rows_of).sum();
        match rows.min(size.rows.saturating_sub(1)) {
            0 => String::new(),
            rows => format!("\x1b[{rows}F"),
        }
    }
}

fn painted(lines: &[Line], has_colours: bool) -> String {
    let mut text = WRAP_OFF.to_owned();
    for line in lines {
        for piece in line {
            match code(piece.tone).filter(|_| has_colours) {
                // Writing to a string cannot fail.
                Some(code) => {
                    let _infallible = write!(text, "\x1b[{code}m{}\x1b[0m", piece.text);
                }
                None => text += &piece.text,
            }
        }
        text += END_OF_LINE;
    }
    text + CLEAR_BELOW + WRAP_ON
}

/// The tone in the language of terminals.
fn code(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Dim => Some("2"),
        Tone::Strong => Some("1"),
        Tone::Good => Some("32"),
        Tone::Warning => Some("33"),
        Tone::Bad => Some("1;31"),
    }
}

fn write(text: &str) {
    let mut out = io::stderr().lock();
    // A terminal that went away is no reason to stop crawling.
    let _gone = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrower_terminal_shows_a_line_in_several_and_all_are_taken_off() {
        let block = Block {
            columns: vec![80, 10, 0],
            text: String::new(),
            is_away: false,
        };
        let way_up = |columns, rows| block.way_up(Size { columns, rows });
        assert_eq!(way_up(80, 24), "\x1b[3F");
        assert_eq!(way_up(40, 24), "\x1b[4F");
        assert_eq!(way_up(9, 24), "\x1b[12F");
        assert_eq!(way_up(9, 5), "\x1b[4F");
    }

    #[test]
    fn nothing_is_drawn_while_the_terminal_is_another_programs() {
        let size = SIZE_USUAL;
        let mut block = Block {
            columns: Vec::new(),
            text: String::new(),
            is_away: false,
        };
        let lines = [Vec::new(), Vec::new()];
        assert!(block.drawn(&lines, size, false).is_some());
        block.is_away = true;
        let cleared = block.cleared(size).unwrap();
        assert_eq!(cleared, format!("\x1b[2F{CLEAR_BELOW}"));
        assert_eq!(block.drawn(&lines, size, false), None);
        block.is_away = false;
        let drawn = block.drawn(&lines, size, false).unwrap();
        assert!(drawn.starts_with(WRAP_OFF), "from where the cursor is");
    }

    #[test]
    fn lines_are_written_over_and_the_screen_is_cleared_behind_them_only() {
        let line = |text: &str| {
            vec![Piece {
                text: text.to_owned(),
                tone: Tone::Plain,
            }]
        };
        let text = painted(&[line("one"), line("two")], false);
        assert_eq!(text, "\x1b[?7lone\x1b[K\ntwo\x1b[K\n\x1b[J\x1b[?7h");
    }
}
