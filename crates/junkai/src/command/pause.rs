//! `junkai pause` and `junkai resume`: where no visit is to start, until further notice.

use anyhow::{Context, Result};
use junkai_crawler::{Paused, Settings, Told, UserCommand, When, Whom, paused};
use junkai_weburl::{Canonicalizer, without_login};

use crate::exit::{BadCommandLine, Ending};
use crate::print::{say, shown, tell};
use crate::telling::Target;

/// Names that are listed as still paused.
const NAMES_MAX: usize = 20;

/// What `junkai pause` and `junkai resume` take.
#[derive(clap::Args)]
#[command(after_help = "\
If a crawl is running in the archive it is told at once; if not, the next one begins with it.

Examples:
  junkai pause --archive example example.org      no more visits to this host
  junkai pause --archive example 192.0.2.7        nor to this server, whichever hosts live there
  junkai pause --archive example --all            nor to anybody; the crawl stays up
  junkai pause --archive example                  what is paused
  junkai resume --archive example example.org     go on

Visits that wait are deferred, not lost; those in flight end as usual. What is paused stays so over restarts. After `resume` a \
  host is visited again within as long as it was paused, ten minutes at most. `resume --all` undoes `pause --all`: hosts and \
  servers that were paused by name go on by name.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Host names, or addresses of servers.
    #[arg(value_name = "HOST", conflicts_with = "all")]
    whom: Vec<String>,
    /// The whole crawl.
    #[arg(long)]
    all: bool,
}

/// Pauses.
pub(crate) fn pause(arguments: &Arguments) -> Result<Ending> {
    let target = &arguments.target;
    let settings = target.settings()?;
    let whom = whom(arguments, &settings)?;
    if whom.is_empty() {
        return show(target);
    }
    let names = names(&whom);
    let commands: Vec<UserCommand> = whom
        .into_iter()
        .map(|whom| UserCommand::Pause { whom })
        .collect();
    let told = target.tell(&settings, &commands)?;
    let words = match (told.response.done, told.when) {
        (0, _) => format!("{names}: paused already"),
        (_, When::Now) => format!(
            "paused {names}: no visit starts there; `junkai resume` undoes it\n{}",
            target.when(&told)
        ),
        (_, When::NextStart) => {
            format!("paused {names}: no crawl is running, and none will start a visit there")
        }
    };
    target.print(&told, &words)
}

/// Resumes.
pub(crate) fn resume(arguments: &Arguments) -> Result<Ending> {
    let target = &arguments.target;
    let settings = target.settings()?;
    let whom = whom(arguments, &settings)?;
    if whom.is_empty() {
        show(target)?;
        tell!("say who is to go on: a host, the address of a server, or --all");
        return Ok(Ending::Well);
    }
    let names = names(&whom);
    let commands: Vec<UserCommand> = whom
        .into_iter()
        .map(|whom| UserCommand::Resume { whom })
        .collect();
    let told = target.tell(&settings, &commands)?;
    let left = paused(&target.archive)?;
    target.print(&told, &resumed(target, &told, &names, &left))
}

fn resumed(target: &Target, told: &Told, names: &str, left: &Paused) -> String {
    let mut lines = vec![match told.response.done {
        0 => format!("{names}: not paused"),
        _ => format!("resumed {names}\n{}", target.when(told)),
    }];
    if left.all.is_some() {
        lines.push(
            "the whole crawl is still paused; `junkai resume --all` lets it go on".to_owned(),
        );
    }
    let by_name = left.hosts.keys().cloned();
    let by_name = by_name.chain(left.servers.keys().map(ToString::to_string));
    let by_name = by_name.take(NAMES_MAX).collect::<Vec<_>>().join(", ");
    if !by_name.is_empty() {
        lines.push(format!("still paused by name: {by_name}"));
    }
    lines.join("\n")
}

fn whom(arguments: &Arguments, settings: &Settings) -> Result<Vec<Whom>> {
    if arguments.all {
        return Ok(vec![Whom::All]);
    }
    let canonical = Canonicalizer::new(&settings.canonical);
    let parse = |text: &String| {
        Whom::parse(text, &canonical).with_context(|| {
            let text = without_login(text);
            BadCommandLine(format!(
                "{text:?} is neither a host nor the address of a server"
            ))
        })
    };
    arguments.whom.iter().map(parse).collect()
}

fn names(whom: &[Whom]) -> String {
    let name = |whom: &Whom| match whom {
        Whom::All => "the whole crawl".to_owned(),
        Whom::Host(host) => format!("host {host}"),
        Whom::Server(server) => format!("server {server}"),
    };
    whom.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Prints what is paused.
fn show(target: &Target) -> Result<Ending> {
    let paused = paused(&target.archive)?;
    if target.json {
        say!("{}", serde_json::to_string(&paused)?);
        return Ok(Ending::Well);
    }
    if paused.is_empty() {
        say!("nothing is paused");
    }
    for line in lines(&paused) {
        say!("{}", shown(&line));
    }
    Ok(Ending::Well)
}

/// What is paused, a line each.
pub(crate) fn lines(paused: &Paused) -> Vec<String> {
    let all = paused.all.iter().map(|_| "the whole crawl".to_owned());
    let hosts = paused.hosts.keys().map(|host| format!("host {host}"));
    let servers = paused.servers.keys().map(|ip| format!("server {ip}"));
    all.chain(hosts).chain(servers).collect()
}
