//! `junkai scope`: shows which URLs belong to a crawl, and changes it while it runs.

use anyhow::Result;
use junkai_crawler::{ScopeCommand, Settings, UserCommand, scope_changes};

use crate::exit::Ending;
use crate::print::{say, shown};
use crate::telling::{Target, counted};

/// What `junkai scope` takes.
#[derive(clap::Args)]
#[command(after_help = "\
If a crawl is running in the archive it is told at once; if not, the next one begins with it.

Examples:
  junkai scope --archive example                          what belongs to the crawl
  junkai scope --archive example --include '/docs/'       this too, from now on
  junkai scope --archive example --exclude '[?&]sort='    this never
  junkai scope --archive example --drop '[?&]sort='       take a change back

Changes hold from now on and over restarts, on top of junkai.toml. Pages that fall out of scope are not visited any more: each is \
  dismissed with a line in the log when its turn comes. Links that were found while they were out of scope are found again when \
  their page is visited again. How far the scope reaches around seeds (the preset) is fixed while a crawl runs.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: Target,
    /// URLs that match this regular expression are in scope too; may be repeated.
    #[arg(long, value_name = "REGEX")]
    include: Vec<String>,
    /// URLs that match this regular expression are out of scope; may be repeated.
    #[arg(long, value_name = "REGEX")]
    exclude: Vec<String>,
    /// Take back a pattern that was added by this command; may be repeated.
    #[arg(long, value_name = "REGEX")]
    drop: Vec<String>,
}

/// Shows the scope, or tells the crawl.
pub(crate) fn run(arguments: Arguments) -> Result<Ending> {
    let target = &arguments.target;
    let settings = target.settings()?;
    let command = ScopeCommand {
        include: arguments.include,
        exclude: arguments.exclude,
        drop: arguments.drop,
    };
    if command.is_empty() {
        return show(target, &settings);
    }
    let told = target.tell(&settings, &[UserCommand::Scope(command)])?;
    let response = &told.response;
    let mut words = match (response.done, response.already) {
        (0, 0) => "nothing changed".to_owned(),
        (0, _) => "it was so already".to_owned(),
        (done, _) => format!("changed {}", counted(done, "pattern")),
    };
    if 0 < response.done {
        words = format!("{words}\n{}", target.when(&told));
    }
    target.print(&told, &words)
}

fn show(target: &Target, settings: &Settings) -> Result<Ending> {
    let changes = scope_changes(&target.archive)?;
    let scope = &settings.scope;
    if target.json {
        let line = serde_json::json!({ "configured": scope, "added": changes });
        say!("{line}");
        return Ok(Ending::Well);
    }
    say!("  preset   {} around each seed", scope.preset.name());
    if let Some(depth_max) = scope.depth_max {
        say!("  depth    {}", counted(u64::from(depth_max), "link"));
    }
    let rows = [
        ("include", &scope.include, &changes.include),
        ("exclude", &scope.exclude, &changes.exclude),
    ];
    for (name, configured, added) in rows {
        for pattern in configured {
            say!("  {name}  {}", shown(pattern));
        }
        for pattern in added {
            let pattern = shown(pattern);
            say!("  {name}  {pattern}   (added by `junkai scope`)");
        }
    }
    Ok(Ending::Well)
}
