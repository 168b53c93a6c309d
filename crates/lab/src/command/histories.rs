//! Where the change histories of an experiment come from: files, or the generator.

use std::path::PathBuf;

use anyhow::Result;
use junkai_simulation::graph::history::{GeneratorConfig, History, generate, load};
use junkai_terminal::show::quoted;

/// Pages of the generated history that stands in where none is given.
const PAGES_DEFAULT: u32 = 2000;

/// Reads each history; one is made from `seed` where none is given.
pub(super) fn read(paths: &[PathBuf], seed: u64) -> Result<Vec<History>> {
    if paths.is_empty() {
        let config = GeneratorConfig {
            pages: PAGES_DEFAULT,
            ..GeneratorConfig::default()
        };
        return Ok(vec![generate(&config, seed)?.history]);
    }
    let histories = paths.iter().map(|path| load(path).map_err(Into::into));
    histories.collect()
}

/// The arguments that name the same histories again, each with a space before it.
pub(super) fn again(paths: &[PathBuf]) -> String {
    again_as("", paths)
}

/// The same with a flag and a space before each.
pub(super) fn again_as(flag: &str, paths: &[PathBuf]) -> String {
    let mut text = String::new();
    for path in paths {
        text.push(' ');
        text.push_str(flag);
        text.push_str(&quoted(path));
    }
    text
}
