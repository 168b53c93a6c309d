//! `junkai url`: a URL as the crawler sees it.

use std::io::{BufRead, Write};

use anyhow::{Context, Result};
use junkai_weburl::{CanonicalConfig, Canonicalizer, describe};

use crate::exit::Ending;
use crate::print::Screened;

/// What `junkai url` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// URLs; none, or `-`: one a line from standard input.
    #[arg(value_name = "URL")]
    urls: Vec<String>,
    /// Sort the query's parameters.
    #[arg(long)]
    sort_query: bool,
    /// Drop parameters that only track visitors.
    #[arg(long)]
    strip_tracking: bool,
}

/// Prints a JSON line for each URL; those that are none get an `error`.
pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let config = CanonicalConfig {
        sort_query: arguments.sort_query,
        strip_tracking: arguments.strip_tracking,
        ..CanonicalConfig::default()
    };
    let canonical = Canonicalizer::new(&config);
    let mut out = Screened::new(std::io::stdout().lock());
    let mut ending = Ending::Well;
    let mut print = |text: &str| -> Result<()> {
        let line = match canonical.parse_seed(text) {
            Ok(url) => {
                let mut line = serde_json::to_value(describe(&url))?;
                line["input"] = text.into();
                line
            }
            Err(error) => {
                ending = Ending::Problems;
                serde_json::json!({ "input": text, "error": error.to_string() })
            }
        };
        writeln!(out, "{line}").context("cannot print")
    };
    if arguments.urls.is_empty() || arguments.urls == ["-"] {
        for line in std::io::stdin().lock().lines() {
            let line = line.context("cannot read URLs from standard input")?;
            let text = line.trim();
            if !text.is_empty() && !text.starts_with('#') {
                print(text)?;
            }
        }
    } else {
        for url in &arguments.urls {
            print(url)?;
        }
    }
    Ok(ending)
}
