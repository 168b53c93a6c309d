//! What the command lines of `junkai` and `junkai-lab` have in common: printing, progress, the log, exit codes.
//!
//! [`mod@print`] lets no text from outside command the terminal, [`block`] is the part of the terminal that is drawn over and over, [`bar`] a progress bar,
//! [`show`] prints outcomes and tables, [`log`] starts the log, and [`exit`] says how a command ended.
//!
//! **Invariant:** this room knows no command, and nothing of crawling.

#![warn(clippy::print_stderr)] // It panics where nobody reads; `print::tell!` does not.

pub mod bar;
pub mod block;
pub mod exit;
pub mod log;
pub mod print;
pub mod show;
