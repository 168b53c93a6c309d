//! How files are written that must not be lost: opened without following symbolic links, and replaced whole and durably.
//!
//! [`create`], [`append`] and [`change`] open files; [`replace`] and [`Replacement`] put a new file in the place of an old one, so that a reader or a
//! crash finds the old or the new content and nothing in between; [`sync_folder`] makes names durable.
//!
//! [`Disk`] is where the files are of whoever keeps state: the real disk, or a [`SimulatedDisk`] in memory, which can be killed, lose power, be full and rot.
//!
//! Not here: what the files hold.

pub mod disk;
mod own_file;
mod replacement;
mod simulated;

pub use disk::{Disk, DiskError, DiskFile, DiskWriter, Folder};
pub use own_file::{append, change, create};
pub use replacement::{Replacement, replace, replace_with, sync_folder};
pub use simulated::{Sabotage, SimulatedDisk};
