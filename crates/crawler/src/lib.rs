//! Joins the rooms under the wall clock: from seeds to an archive, polite, resumable and explained.
//!
//! [`Crawl`] is the front door; [`Settings`] says what to crawl and [`Progress`] how it goes. Inside, `engine` decides
//! what is done next and `rounds` drives it (the picture of `ARCHITECTURE.md` as code), `waiting_room` says which visit is next, `worker` is what fetches and keeps pages, `opening`
//! and `checkpoint` are how a crawl survives its end. [`explain()`], [`stats()`] and [`changes()`] read an archive, running or not.
//!
//! **Invariant:** this room never draws on a screen. Of the counters that a screen reads, the crawl decides by few: `progress` names them.

mod annotation;
mod captured;
mod changes;
mod checkpoint;
mod clock;
mod control;
#[cfg(test)]
mod crashes;
mod crawl;
mod crew;
mod descriptors;
mod engine;
mod error;
mod explain;
mod first_pages;
pub mod focus;
mod hook;
mod hosts;
mod known;
mod line_file;
mod lock;
mod log;
mod losses;
mod manifest;
mod neighbours;
mod opening;
mod outage;
mod outcomes;
mod page_states;
mod patience;
mod paused;
mod planner_file;
mod progress;
mod rounds;
mod rules;
mod scope;
mod scope_changes;
mod seen_again;
mod servers;
mod settings;
mod shortage;
mod sitemaps;
mod small_file;
mod soon;
mod span;
mod stats;
mod tell;
mod told;
mod unread;
mod visit;
mod waiting_room;
mod wish;
mod wish_box;
mod worker;

pub use captured::{CapturedPages, Which, captured};
pub use changes::{ChangeCounts, PageChange, Span, WhatChanged, changes, now};
pub use clock::ClockConfig;
pub use control::Live;
pub use crawl::{Crawl, Ended, Summary};
pub use error::CrawlError;
pub use explain::{Explanation, Waiting, explain};
pub use first_pages::FailedSeed;
pub use hook::{HookConfig, HookError, HookReport};
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
pub use wish::{Granted, ScopeWish, Whom, Wish};
