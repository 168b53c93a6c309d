//! The crawl as one state machine: discovery, scope, robots.txt, admission, scheduling, retries, outages, planning and users' commands.
//!
//! [`Engine`] is told what has happened and at what time ([`Engine::handle`]), and gives orders: visit a page, look up a host ([`Engine::poll_order`]).
//! Whoever drives it carries them out: `junkai-crawler` with threads and sockets under the wall clock, `junkai-lab simulate` over a simulated network, disk and clock.
//!
//! # Driving it
//!
//! A driver opens an archive on a [`Platform`], tells the engine what happens, and carries out its orders. This one has a disk in memory and a machine whose clock stands
//! still; the first thing that the engine wants is an address of the seed's host:
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! use junkai_engine::opening::Opening;
//! use junkai_engine::platform::ArchiveFolder;
//! use junkai_engine::progress::Progress;
//! use junkai_engine::visit::Order;
//! use junkai_engine::{Engine, Platform, Settings};
//! use junkai_files::{Disk, SimulatedDisk};
//! # use std::time::Duration;
//! # use junkai_engine::CrawlError;
//! # use junkai_engine::platform::{Captures, EarlierPage, Machine, Task, Work};
//! # #[derive(Debug)] struct Still;
//! # impl Machine for Still {
//! #     fn wall(&self) -> Duration { Duration::from_secs(1_700_000_000) }
//! #     fn counted(&self) -> Duration { Duration::from_secs(60) }
//! #     fn boot(&self) -> String { "first".to_owned() }
//! #     fn wait(&self, _time: Duration) {}
//! #     fn free_bytes(&self, _folder: &Path) -> Option<u64> { None }
//! #     fn begin(&self, _name: &str, work: Work) -> Result<Box<dyn Task>, CrawlError> { work(); Ok(Box::new(Done)) }
//! # }
//! # #[derive(Debug)] struct Done;
//! # impl Task for Done {
//! #     fn is_finished(&self) -> bool { true }
//! #     fn wait(self: Box<Self>) -> bool { true }
//! # }
//! # #[derive(Debug)] struct NoCaptures;
//! # impl Captures for NoCaptures {
//! #     fn recover(&self, _: bool) -> Result<Option<String>, CrawlError> { Ok(None) }
//! #     fn have_pages(&self, _: &Settings) -> Result<Option<bool>, CrawlError> { Ok(None) }
//! #     fn last_statuses(&self, pages: &[&junkai_weburl::PageUrl]) -> Result<Vec<Option<u16>>, CrawlError> { Ok(vec![None; pages.len()]) }
//! #     fn page(&self, _: &junkai_weburl::PageUrl, _: &junkai_revisit::Version, _: usize) -> Option<EarlierPage> { None }
//! #     fn make_seen(&self, _: &junkai_files::Folder, _: junkai_engine::partition::Partition, _: &Settings, _: &junkai_store::time_queue::TimeQueue) -> Result<Option<String>, CrawlError> { Ok(None) }
//! #     fn tidy(&self) {}
//! # }
//!
//! let platform = Platform {
//!     disk: Disk::simulated(SimulatedDisk::default()),
//!     machine: Arc::new(Still),
//!     captures: Arc::new(NoCaptures),
//! };
//! let mut settings = Settings::default();
//! settings.crawl.seeds.push("https://example.org/".to_owned());
//! let progress = Arc::new(Progress::default());
//!
//! let folder = Path::new("/archive");
//! ArchiveFolder::new(platform.disk.clone(), folder).make()?;
//! let opening = Opening::of(&platform, folder, &settings, &progress)?;
//! let now = opening.clock.now();
//! let mut engine = Engine::new(opening, 64, progress, now)?;
//! engine.refill(now)?;
//! let order = engine.poll_order(now)?;
//! assert!(matches!(order, Some(Order::Resolve(host)) if &*host == "example.org"));
//! # Ok::<(), CrawlError>(())
//! ```
//!
//! **Invariant:** no thread, socket or clock is reached from here; files only through the [`Platform`]'s disk.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests look at files on the real disk"
    )
)]

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
pub mod outbox;
pub mod outcomes;
pub mod partition;
pub mod patience;
pub mod paused;
pub mod planner_file;
pub mod platform;
pub mod progress;
mod repairs;
pub mod rules;
pub mod scope;
pub mod scope_changes;
pub mod servers;
pub mod settings;
pub mod shared_servers;
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
