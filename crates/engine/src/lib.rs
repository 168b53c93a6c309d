//! The crawl as one state machine: discovery, scope, robots.txt, admission, scheduling, retries, outages, planning and users' commands.
//!
//! [`Engine`] is told what has happened and at what time ([`Engine::handle`]), and gives orders: visit a page, look up a host ([`Engine::poll_order`]).
//! Whoever drives it carries them out: `junkai-crawler` with threads and sockets under the wall clock, `junkai-lab simulate` over a simulated network, disk and clock.
//!
//! **Invariant:** no thread, socket or clock is reached from here; files only through the [`Platform`]'s disk.

pub mod annotation;
pub mod checkpoint;
pub mod clock;
pub mod command;
pub mod command_box;
pub mod engine;
pub mod error;
pub mod first_pages;
pub mod focus;
pub mod hook_config;
pub mod hosts;
pub mod known;
pub mod line_file;
pub mod live;
pub mod log;
pub mod losses;
pub mod manifest;
pub mod opening;
pub mod outage;
pub mod outcomes;
pub mod patience;
pub mod paused;
pub mod planner_file;
pub mod platform;
pub mod progress;
pub mod rules;
pub mod scope;
pub mod scope_changes;
pub mod servers;
pub mod settings;
pub mod shortage;
pub mod sitemaps;
pub mod small_file;
pub mod soon;
pub mod span;
#[cfg(test)]
pub mod testing;
pub mod told;
pub mod turn;
pub mod visit;
pub mod waiting_room;

pub use engine::{Busy, Engine, Input};
pub use error::CrawlError;
pub use log::LogConfig;
pub use platform::Platform;
pub use settings::Settings;
