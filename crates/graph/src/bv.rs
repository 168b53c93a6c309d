//! The BV format, in which web graphs are published: `NAME.graph`, `NAME.properties` and `NAME.offsets`.
//!
//! Boldi and Vigna, "The `WebGraph` Framework I: Compression Techniques", WWW 2004, section 4. Read [`bits`] first: the codes for numbers.
//! [`read`] and [`mod@write`] have the lists of links, [`properties`] what is said of the whole graph.
//!
//! The files in `tests/fixtures` were written by the reference library, the crate `webgraph` (version 0.7.0), from the lists in `read`'s tests: they are read as those
//! lists, and the default ones are written byte by byte. The library itself is not used, because it trusts the files that it reads, and brings some 150 crates.

mod bits;
mod properties;
pub(crate) mod read;
pub(crate) mod write;

use std::path::{Path, PathBuf};

/// A base name with an ending; a dot in the base name is part of it.
pub(crate) fn with_ending(base: &Path, ending: &str) -> PathBuf {
    let mut path = base.as_os_str().to_owned();
    path.push(".");
    path.push(ending);
    path.into()
}

/// The base name of a graph that the reference library wrote.
#[cfg(test)]
fn fixture(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.join("tests/fixtures").join(name)
}
