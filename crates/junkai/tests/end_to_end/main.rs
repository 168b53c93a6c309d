//! The promises of the program, proved on the program: each module starts a web on loopback, runs `junkai` against it,
//! and judges by what servers saw and what other tools read.
//!
//! Needs `JUNKAI_PYTHON` and `JUNKAI_DOCS`, which `cargo xtask test` sets up. What is left to chance is drawn from
//! `JUNKAI_TEST_SEED`, which failures print.

mod command_line;
mod complete;
mod disk_full;
mod hostile;
mod nothing_lost;
mod politeness;
mod standard;
mod support;
