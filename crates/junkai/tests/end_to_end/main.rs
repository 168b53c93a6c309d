//! The promises of the program, proved on the program: each module starts a web on loopback, runs `junkai` against it,
//! and judges by what servers saw and what other tools read.
//!
//! Needs `JUNKAI_PYTHON`, `JUNKAI_DOCS` and `JUNKAI_PDFTOTEXT`, which `cargo xtask test` sets up. What is left to chance is
//! drawn from `JUNKAI_TEST_SEED`, which failures print.

#[cfg(test)]
mod changes;
#[cfg(test)]
mod changing;
#[cfg(test)]
mod collecting;
#[cfg(test)]
mod command_line;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod complete;
#[cfg(test)]
mod continuous;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod disk_full;
#[cfg(test)]
mod export;
#[cfg(test)]
mod first_hour;
#[cfg(test)]
mod focus;
#[cfg(test)]
mod focus_again;
#[cfg(test)]
mod get;
#[cfg(test)]
mod habits;
#[cfg(test)]
mod hooks;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod hostile_files;
#[cfg(test)]
mod hostile_robots;
#[cfg(test)]
mod hostile_text;
#[cfg(test)]
mod lab;
#[cfg(test)]
mod link_flood;
#[cfg(test)]
mod links_in_archive;
#[cfg(test)]
mod looks;
#[cfg(test)]
mod many_seeds;
#[cfg(test)]
mod neighbours;
#[cfg(test)]
mod nothing_lost;
#[cfg(test)]
mod options;
#[cfg(test)]
mod order;
#[cfg(test)]
mod outage;
#[cfg(test)]
mod partitions;
#[cfg(test)]
mod politeness;
#[cfg(test)]
mod predicted;
#[cfg(test)]
#[path = "../../../fetch/tests/it/proxy_server.rs"]
mod proxy_server;
#[cfg(test)]
mod reach;
#[cfg(test)]
mod robots_redirect;
#[cfg(test)]
mod second_look;
#[cfg(test)]
mod shortages;
#[cfg(test)]
mod standard;
#[cfg(test)]
mod state;
#[cfg(test)]
mod support;
#[cfg(test)]
mod training;
#[cfg(test)]
mod what_if;
