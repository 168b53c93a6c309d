//! Focus, live: finds out by few fetches which sites hold what is wanted, and collects it, through the same ring as every crawl.
//!
//! What is learned is kept in the archive's folder `focus`, beside its captures. [`Evidence`] is what each fetch of a page said of its site.
//!
//! Not here: how a page is judged, and which site or link is next (`junkai-focus`); when a server may be visited (`junkai-frontier`).

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "what focus has learned is on the real disk, and not simulated"
)]

mod aim;
mod books;
mod collecting;
mod config;
mod evidence;
mod experience;
mod explored;
mod exploring;
mod files;
mod inferred;
mod judge;
mod kept;
mod listing;
mod order;
mod pdf;
mod reading;
mod site_columns;
#[cfg(test)]
mod testing;
mod unreached;
mod unwanted;
mod verdicts;
mod wanted;

pub use aim::Aim;
pub use config::FocusConfig;
pub use evidence::{Clue, Evidence, evidence};
pub use files::FoundFile;
pub use listing::{Listed, write_catalogue};
pub use unreached::Unreached;
pub use verdicts::{SiteVerdict, verdicts, write_verdicts};

pub use books::FocusBooks;
pub use collecting::Collecting;
pub use exploring::{Exploring, Page};
pub use inferred::Inferred;
pub use judge::{FetchedFile, FileSaid, Judge, LinkEstimate, Said};
pub use kept::whole_bytes;
pub use order::{Focus, FocusOrder};
pub use unwanted::Unwanted;
pub use wanted::Came;

/// The folder of an archive in which everything is that focus learned.
pub const FOLDER: &str = "focus";
