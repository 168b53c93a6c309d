//! How files are written that must not be lost: opened without following symbolic links, and replaced whole and durably.
//!
//! [`create`], [`append`] and [`change`] open files; [`replace`] and [`Replacement`] put a new file in the place of an old one, so that a reader or a
//! crash finds the old or the new content and nothing in between; [`sync_folder`] makes names durable.
//!
//! Not here: what the files hold; the fault injection of `store`, whose `Disk` opens its files with the functions of this room.

mod own_file;
mod replacement;

pub use own_file::{append, change, create};
pub use replacement::{Replacement, replace, replace_with, sync_folder};
