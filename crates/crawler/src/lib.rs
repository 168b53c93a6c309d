//! Joins the rooms under the wall clock: from seeds to an archive, polite, resumable and explained.
//!
//! [`Crawl`] is the front door; [`Settings`] says what to crawl and [`Progress`] how it goes. Inside, `engine` decides
//! what is done next and `rounds` drives it (the picture of `ARCHITECTURE.md` as code), `waiting_room` says which visit is next, `worker` is what fetches and keeps pages, `opening`
//! and `checkpoint` are how a crawl survives its end. [`explain()`], [`stats()`] and [`changes()`] read an archive, running or not.
//!
//! **Invariant:** this room never draws on a screen. Of the counters that a screen reads, the crawl decides by few: `progress` names them.

mod captured;
mod changes;
mod control;
#[cfg(test)]
mod crashes;
mod crawl;
mod crew;
mod descriptors;
mod explain;
mod hook;
mod lock;
mod neighbours;
mod node;
mod page_states;
mod platform;
mod report;
mod rounds;
mod seen_again;
mod stats;
mod tell;
mod unread;
mod worker;

pub use captured::{CapturedPages, Which, captured};
pub use changes::{ChangeCounts, PageChange, Span, WhatChanged, changes, now};
pub use clock::ClockConfig;
pub use command::{CommandResponse, ScopeCommand, UserCommand, Whom};
pub use crawl::{Crawl, Ended, Summary};
pub use error::CrawlError;
pub use explain::{Explanation, Waiting, explain};
pub use first_pages::FailedSeed;
pub use hook::{HookError, HookReport};
pub use junkai_engine::focus;
pub use junkai_engine::hook_config::HookConfig;
pub use junkai_engine::live::Live;
pub use junkai_engine::platform::ArchiveFolder;
use junkai_engine::{
    annotation, clock, command, command_box, error, first_pages, log, losses, manifest, opening,
    paused, planner_file, progress, rules, scope, scope_changes, servers, settings, small_file,
    span, visit,
};
pub use log::{Event as LogEvent, LogConfig, WarcPlace};
pub use losses::Losses;
pub use page_states::{
    IntervalCount, KnownPage, OverloadedServer, PageStates, ServerBehind, StateStats,
};
pub use paused::{Paused, paused};
pub use progress::{Counter, Progress, Snapshot, Stop};
pub use scope::{Preset, ScopeConfig};
pub use scope_changes::{ScopeChanges, scope_changes};
pub use settings::{Bounds, CrawlConfig, Settings};
pub use stats::{Stats, stats};
pub use tell::{Told, When, tell};
pub use visit::status;
