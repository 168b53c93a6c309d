//! Which sites are worth it: learns from examples what is wanted, decides with few fetches which sites hold it, and collects it.
//!
//! In the order of use: [`learn`] makes a model from labelled pages and files; [`explore`] says of which site to fetch a page next, and
//! what each site is taken for; [`collect`] says which link of a site to follow next; [`data_file`] looks into the files that were found;
//! [`catalogue`] lists them and finds them again.
//!
//! This room never fetches, waits or asks the time: a crawl and the lab drive it alike.

pub mod catalogue;
pub mod collect;
pub mod data_file;
pub mod explore;
pub mod learn;
pub mod words;
