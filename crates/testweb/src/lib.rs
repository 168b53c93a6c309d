//! A web of its own on loopback: DNS, many servers, pages that link and change, and misbehave on request.
//!
//! [`TestWeb::start`] serves what a [`TestWebConfig`] describes until it is stopped. Everything is drawn from a seed and
//! a hash of the URL, so a web of any size costs no storage and is the same each time. The access log tells when each
//! exchange started and ended, and [`judge()`] finds in it whether a client was polite.
//!
//! ```no_run
//! use junkai_testweb::{TestWeb, TestWebConfig, judge};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let web = TestWeb::start(TestWebConfig {
//!     hosts: 200,
//!     addresses: 40,
//!     misbehaviours: vec!["host7.test=slow-body:100".parse()?],
//!     log: Some("access.jsonl".into()),
//!     ..TestWebConfig::default()
//! })?;
//! println!("resolve by {} and begin at {:?}", web.dns(), web.seeds());
//! // … a client visits …
//! web.stop();
//! println!("{}", judge("access.jsonl".as_ref(), std::time::Duration::from_secs(1))?);
//! # Ok(())
//! # }
//! ```
//!
//! Invariant: of the other rooms this one knows `graph` alone, which has the graphs and histories that it serves. Any client may visit it.

mod access_log;
mod answer;
mod chance;
mod change;
mod clock;
mod config;
mod delivery;
mod dns;
mod focus;
mod folder;
mod graph;
mod history;
mod host;
mod http1;
mod http2;
mod judge;
mod misbehaviour;
mod open_exchange;
mod port_holder;
mod prose;
mod server;
mod synthetic;
mod tls;
mod web;
mod world;

pub use access_log::{Counters, Ending, Exchange};
pub use clock::UnixNanos;
pub use config::{FolderConfig, GraphConfig, TestWebConfig};
pub use focus::{FocusContents, focus_contents};
pub use graph::GraphError;
pub use history::{GoneStatus, HistoryConfig, SitemapHabit, UnknownWord, Validators};
pub use judge::{JudgeError, Moment, Standard, VIOLATIONS_LISTED_MAX, Verdict, Violation, judge};
pub use junkai_graph::history::UnixSeconds;
pub use misbehaviour::{
    Misbehaviour, NAMES as MISBEHAVIOUR_NAMES, Refusal, RefusalStatus, RetryAfterForm, Rule,
    RuleError,
};
pub use tls::TlsError;
pub use web::{StartError, TestWeb};
