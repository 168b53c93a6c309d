//! `junkai robots`: what a robots.txt says to an agent.

use std::path::PathBuf;

use anyhow::{Context, Result};
use junkai_fetch::robots::{Because, Robots};
use junkai_weburl::{CanonicalConfig, Canonicalizer, without_login};

use crate::exit::{BadCommandLine, Ending, bad_command_line};
use crate::print::{say, shown};

/// What `junkai robots` takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The agent's product token, as in `User-agent:` lines.
    #[arg(long, value_name = "NAME", default_value = "junkai")]
    agent: String,
    /// The robots.txt file.
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
    /// Print JSON lines.
    #[arg(long)]
    json: bool,
    /// URLs, as in `https://example.org/page`, or paths that start with a slash.
    #[arg(required = true, value_name = "URL")]
    urls: Vec<String>,
}

/// Prints `allow` or `disallow` for each URL, with the line that decides.
pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let text = std::fs::read(&arguments.file)
        .with_context(|| format!("cannot read {}", arguments.file.display()))?;
    let agent = arguments.agent.split('/').next().unwrap_or_default();
    let is_token = |token: &str| {
        !token.is_empty()
            && token
                .bytes()
                .all(|byte| byte.is_ascii_alphabetic() || b"-_".contains(&byte))
    };
    if !is_token(agent) {
        return Err(bad_command_line(format!(
            "{:?} is no product token: letters, '-' and '_' only (RFC 9309, section 2.2.1)",
            arguments.agent
        )));
    }
    let robots = Robots::parse(&text, agent);
    let canonical = Canonicalizer::new(&CanonicalConfig::default());
    let mut ending = Ending::Well;
    for url in &arguments.urls {
        let path = path_of(url, &canonical)?;
        let decision = robots.decide(&path);
        if !decision.allow() {
            ending = Ending::Problems;
        }
        let verdict = if decision.allow() {
            "allow"
        } else {
            "disallow"
        };
        if arguments.json {
            let line = match decision.because {
                Because::Line(line) => {
                    Some(serde_json::json!({ "number": line.number, "text": line.to_string() }))
                }
                Because::NoRule | Because::TooManyWildcards => None,
            };
            say!(
                "{}",
                serde_json::json!({ "url": url, "verdict": verdict, "line": line })
            );
        } else {
            let (url, because) = (shown(url), shown(&decision.because.to_string()));
            say!("{verdict}\t{url}\t{because}");
        }
    }
    Ok(ending)
}

/// The path of a URL, or the path that was given. A word alone is taken for neither: as a host it would always be allowed.
fn path_of(url: &str, canonical: &Canonicalizer) -> Result<String> {
    if url.starts_with('/') {
        return Ok(url.to_owned());
    }
    let shown = without_login(url);
    if !url.contains("://") {
        return Err(bad_command_line(format!(
            "{shown:?} is not a URL: write https://example.org/{shown}, or the path alone, /{shown}"
        )));
    }
    let parsed = canonical
        .parse_seed(url)
        .with_context(|| BadCommandLine(format!("{shown:?} is not a URL")))?;
    Ok(parsed.path_and_query().to_owned())
}
