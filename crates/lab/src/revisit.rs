//! Revisits of a web that changes, under a virtual clock, with the planner that crawls.
//!
//! A [`ChangingWeb`] is a history made ready. [`daily::replay`] visits the most urgent pages of each day, so that policies are compared at
//! exactly equal visits; [`live::predict`] lets the very [`Planner`](junkai_revisit::Planner) of the crawler decide when to come back, and so
//! predicts what a crawl of that web would see. Both give a [`Tally`].
//!
//! What holds in both: a page is found, and visited for the first time, when it comes to be; first visits are not counted as visits, for
//! they are discovery's. A visit takes no time. A deleted page is only known to be gone when a visit finds it so.

pub mod contestant;
pub mod daily;
pub mod live;
pub mod logged;
pub mod signals;
mod tally;
mod web;

pub use contestant::Contestant;
pub use live::{Prediction, Setting, predict};
pub use tally::Tally;
pub use web::ChangingWeb;

#[cfg(test)]
mod tests;
