//! `junkai links`: the links of an HTML file.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use junkai_page::{LinkOptions, Source, analyze};

use crate::exit::Ending;
use crate::print::{Screened, shown, tell};

/// What `junkai links` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Where the page would be: its relative links are resolved against this.
    #[arg(long, value_name = "URL")]
    base: url::Url,
    /// The Content-Type header, as it would be sent.
    #[arg(long, value_name = "TYPE")]
    content_type: Option<String>,
    /// Show no page requisites (images, style sheets, scripts): links to other pages alone.
    #[arg(long)]
    no_requisites: bool,
    /// Show page requisites too: so it is without a flag.
    #[arg(long, hide = true, conflicts_with = "no_requisites")]
    requisites: bool,
    /// The HTML file; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Prints a JSON line for each link, which says whether it is a page requisite, and one for the page itself to standard error.
pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let body = read(&arguments.file)?;
    let source = Source {
        body: &body,
        content_type: arguments.content_type.as_deref(),
        url: &arguments.base,
        robots_agent: "junkai",
        x_robots_tag: &[],
        link_headers: &[],
        detect_language: true,
    };
    let options = LinkOptions {
        // As a crawl takes them.
        requisites: !arguments.no_requisites || arguments.requisites,
        ..LinkOptions::default()
    };
    let analysis = analyze(&source, &options);
    let mut out = Screened::new(std::io::stdout().lock());
    for link in &analysis.links {
        let mut line = serde_json::to_value(link)?;
        line["requisite"] = link.kind.is_requisite().into();
        writeln!(out, "{line}").context("cannot print")?;
    }
    let language = analysis
        .language
        .as_ref()
        .map_or("unknown", |language| &language.code);
    tell!(
        "{} links; charset {} ({:?}); language {language}; title \"{}\"",
        analysis.links.len(),
        analysis.charset,
        analysis.charset_source,
        shown(&analysis.title.unwrap_or_default()),
    );
    Ok(Ending::Well)
}

fn read(file: &Path) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    if file == Path::new("-") {
        std::io::stdin()
            .lock()
            .read_to_end(&mut body)
            .context("cannot read standard input")?;
    } else {
        body = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    }
    Ok(body)
}
