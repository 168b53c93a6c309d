//! What a crawl keeps on disk between visits: which URLs it has seen, which visits wait, and the state of each known page.
//!
//! [`seen`] is a set of fingerprints, [`backlog`] a log of waiting visits by the time they are due, [`time_queue`] page states by the time of their next
//! visit; the two queues share `bucketed`. All three read and write sequentially, survive a kill at any write, and use memory by their settings, not by how much they hold.
//!
//! **Invariant:** this room knows neither HTTP nor what a record means, and reads no clock: time is an argument. All files are on a `Disk` of the room `files`.

pub mod backlog;
mod bitmap;
mod bucketed;
mod coding;
mod packing;
pub mod seen;
pub mod time_queue;
