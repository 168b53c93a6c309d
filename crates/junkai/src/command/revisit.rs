//! `junkai revisit`: known pages once more, out of turn.

use anyhow::{Context, Result};
use junkai_crawler::{Settings, UserCommand, Which, captured};
use junkai_weburl::{Canonicalizer, without_login};

use crate::exit::{BadCommandLine, Ending};
use crate::print::tell;
use crate::telling::{Target, counted};

/// What `junkai revisit` takes.
#[derive(clap::Args)]
#[command(after_help = "\
If a crawl is running in the archive it is told at once; if not, the next one begins with it.

Examples:
  junkai revisit --archive example https://example.org/news           this page, as soon as its server's turn comes
  junkai revisit --archive example --prefix https://example.org/docs/ every captured page below
  junkai revisit --archive example --host example.org --limit 500     of a host, so many at most

Politeness is kept: asking makes no server be visited sooner than its interval allows. What a page's next visit would have been \
  stays as it is; what is found now counts for it.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Pages that were captured before.
    #[arg(value_name = "URL", required_unless_present_any = ["prefix", "host"])]
    pages: Vec<String>,
    /// Every captured page whose URL begins with this; may be repeated.
    #[arg(long, value_name = "URL")]
    prefix: Vec<String>,
    /// Every captured page of this host; may be repeated.
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,
    /// Ask for this many pages of each prefix or host at most.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    limit: usize,
}

/// Finds the pages, and tells the crawl.
pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let target = &arguments.target;
    let settings = target.settings()?;
    let mut pages = arguments.pages.clone();
    for which in which(arguments, &settings)? {
        let found = captured(&target.archive, &settings, &which, arguments.limit)?;
        if found.has_more {
            tell!(
                "there are more than {} pages; the first ones are asked for (--limit takes more)",
                arguments.limit
            );
        }
        pages.extend(found.pages.iter().map(|page| page.as_str().to_owned()));
    }
    if pages.is_empty() {
        tell!(
            "nothing to revisit: no captured page matches; `junkai stats --archive {}` says what there is",
            target.archive.display()
        );
        return Ok(Ending::Problems);
    }
    let told = target.tell(&settings, &[UserCommand::Revisit { pages }])?;
    let response = &told.response;
    let already = match response.already {
        0 => String::new(),
        more => format!("; {more} asked for already"),
    };
    let pages = counted(response.done, "page");
    let mut words = format!("asked for {pages} out of turn{already}");
    if 0 < response.done {
        words = format!("{words}\n{}", target.when(&told));
    }
    target.print(&told, &words)
}

fn which(arguments: &Arguments, settings: &Settings) -> Result<Vec<Which>> {
    let canonical = Canonicalizer::new(&settings.canonical);
    let parse = |text: &String| {
        canonical.parse_seed(text).with_context(|| {
            let text = without_login(text);
            BadCommandLine(format!("{text:?} is not a URL that can be crawled"))
        })
    };
    let mut which = Vec::new();
    for prefix in &arguments.prefix {
        which.push(Which::Prefix(parse(prefix)?));
    }
    for host in &arguments.host {
        which.push(Which::Host(parse(host)?.host().to_owned()));
    }
    Ok(which)
}
