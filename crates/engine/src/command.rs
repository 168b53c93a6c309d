//! A command: what a person asks of a crawl, running or not, and what becomes of it.
//!
//! A command is one line of JSON, in the [command box](crate::command_box) of a stopped archive and on the control socket of a running crawl alike. Whoever
//! carries it out (`tell` in the crawler, `engine::commands`) answers with a [`CommandResponse`]: counts, and words for what was refused.
//!
//! Invariants: a command is bounded; to carry it out twice does no more than to carry it out once.

use std::net::IpAddr;
use std::num::NonZeroU16;

use junkai_weburl::{Canonicalizer, PageUrl, UrlError};
use serde::{Deserialize, Serialize};

use crate::partition::Partition;

/// URLs in one command at most; more are several commands.
pub const URLS_MAX: usize = 1000;
/// Bytes of the URLs in one command at most, unless a single one is longer.
const URL_BYTES_MAX: usize = 1 << 18;
/// Refusals that are told in words; the rest is counted.
const REFUSALS_MAX: usize = 20;

/// What a user asks of a crawl. The name of its tag and of its file, `wish`, is part of the archive's format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "wish", rename_all = "kebab-case")]
pub enum UserCommand {
    /// Crawl from these URLs too.
    Add {
        /// The seeds.
        seeds: Vec<String>,
    },
    /// Visit these known pages again, out of turn. When they would have been visited anyway does not change.
    Revisit {
        /// The pages.
        pages: Vec<String>,
    },
    /// Start no more visits there. Those that wait are deferred, not lost.
    Pause {
        /// Where.
        whom: Whom,
    },
    /// Start visits there again.
    Resume {
        /// Where.
        whom: Whom,
    },
    /// Change which URLs belong to the crawl, beyond what its configuration says.
    Scope(ScopeCommand),
}

/// What is paused, or goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Whom {
    /// The whole crawl.
    All,
    /// One host.
    Host(String),
    /// One server, with all hosts that live there.
    Server(IpAddr),
}

/// How the scope is to change: regular expressions, as in the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScopeCommand {
    /// Patterns that are in scope from now on.
    pub include: Vec<String>,
    /// Patterns that are out of scope from now on.
    pub exclude: Vec<String>,
    /// Patterns of earlier commands that hold no longer.
    pub drop: Vec<String>,
}

impl ScopeCommand {
    /// Whether it would change nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty() && self.drop.is_empty()
    }
}

/// What became of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CommandResponse {
    /// Pages, hosts, servers or patterns for which it was done.
    pub done: u64,
    /// Those for which nothing was left to do.
    pub already: u64,
    /// Those for which it was not done.
    pub refused: u64,
    /// Why not, the first few.
    pub reasons: Vec<String>,
}

impl CommandResponse {
    /// Counts one for which it was done, if it `is_news`, or was the case already.
    pub fn count(&mut self, is_news: bool) {
        if is_news {
            self.done += 1;
        } else {
            self.already += 1;
        }
    }

    /// Counts one for which it was not done.
    pub fn refuse(&mut self, reason: String) {
        self.refused += 1;
        if self.reasons.len() < REFUSALS_MAX {
            self.reasons.push(reason);
        }
    }

    /// Adds what became of a further command.
    pub fn add(&mut self, other: CommandResponse) {
        self.done += other.done;
        self.already += other.already;
        self.refused += other.refused;
        let room = REFUSALS_MAX.saturating_sub(self.reasons.len());
        self.reasons.extend(other.reasons.into_iter().take(room));
    }
}

impl Whom {
    /// Reads an address, a host name or a URL, of which the host counts.
    ///
    /// # Errors
    /// If it is none of these.
    pub fn parse(text: &str, canonical: &Canonicalizer) -> Result<Whom, UrlError> {
        match text.parse() {
            Ok(address) => Ok(Whom::Server(address)),
            Err(_) => Ok(Whom::Host(canonical.parse_seed(text)?.host().to_owned())),
        }
    }
}

impl UserCommand {
    /// What each of so many partitions has to carry out of it, if anything: seeds and pages where they belong, the rest everywhere. What is no URL is the first one's to refuse.
    #[must_use]
    pub fn parts(&self, count: NonZeroU16, canonical: &Canonicalizer) -> Vec<Option<UserCommand>> {
        let share = |urls: &[String], command: fn(Vec<String>) -> UserCommand| {
            let mut parts: Vec<Vec<String>> = vec![Vec::new(); usize::from(count.get())];
            for text in urls {
                let url = canonical.parse_seed(text);
                let owner = url.map_or(0, |url| Partition::owner(count, &url));
                parts[usize::from(owner)].push(text.clone());
            }
            let parts = parts.into_iter();
            parts
                .map(|urls| (!urls.is_empty()).then(|| command(urls)))
                .collect()
        };
        match self {
            _ if count == NonZeroU16::MIN => vec![Some(self.clone())],
            UserCommand::Add { seeds } => share(seeds, |seeds| UserCommand::Add { seeds }),
            UserCommand::Revisit { pages } => share(pages, |pages| UserCommand::Revisit { pages }),
            other => vec![Some(other.clone()); usize::from(count.get())],
        }
    }

    /// Whether each partition carries out a part of its own, and not all the same.
    #[must_use]
    pub fn is_shared_out(&self) -> bool {
        matches!(self, UserCommand::Add { .. } | UserCommand::Revisit { .. })
    }

    /// Shares URLs out over as many commands as it takes.
    pub fn several(
        urls: Vec<PageUrl>,
        command: impl Fn(Vec<String>) -> UserCommand,
    ) -> Vec<UserCommand> {
        let (mut commands, mut part, mut bytes) = (Vec::new(), Vec::new(), 0);
        for url in urls {
            let length = url.as_str().len();
            if !part.is_empty() && (part.len() == URLS_MAX || URL_BYTES_MAX < bytes + length) {
                commands.push(command(std::mem::take(&mut part)));
                bytes = 0;
            }
            bytes += length;
            part.push(url.as_str().to_owned());
        }
        if !part.is_empty() {
            commands.push(command(part));
        }
        commands
    }
}

#[cfg(test)]
mod tests {
    use junkai_weburl::CanonicalConfig;

    use super::*;

    fn canonical() -> Canonicalizer {
        Canonicalizer::new(&CanonicalConfig::default())
    }

    #[test]
    fn a_command_is_one_line_that_people_can_read() {
        let host = Whom::Host("a.example".to_owned());
        let cases = [
            (
                UserCommand::Add {
                    seeds: vec!["https://a.example/".to_owned()],
                },
                r#"{"wish":"add","seeds":["https://a.example/"]}"#,
            ),
            (
                UserCommand::Pause { whom: host },
                r#"{"wish":"pause","whom":{"host":"a.example"}}"#,
            ),
            (
                UserCommand::Resume { whom: Whom::All },
                r#"{"wish":"resume","whom":"all"}"#,
            ),
            (
                UserCommand::Scope(ScopeCommand {
                    exclude: vec!["x".to_owned()],
                    ..ScopeCommand::default()
                }),
                r#"{"wish":"scope","include":[],"exclude":["x"],"drop":[]}"#,
            ),
        ];
        for (command, line) in cases {
            assert_eq!(serde_json::to_string(&command).unwrap(), line);
            assert_eq!(serde_json::from_str::<UserCommand>(line).unwrap(), command);
        }
    }

    #[test]
    fn a_server_is_named_by_address_and_a_host_by_name_or_url() {
        let host = Whom::Host("www.example.org".to_owned());
        let server = Whom::Server("192.0.2.7".parse().unwrap());
        for (text, expected) in [
            ("WWW.Example.org", &host),
            ("https://www.example.org/a?b", &host),
            ("192.0.2.7", &server),
        ] {
            assert_eq!(Whom::parse(text, &canonical()).unwrap(), *expected);
        }
        assert!(Whom::parse("", &canonical()).is_err());
    }

    #[test]
    fn many_urls_are_several_commands_and_none_is_lost() {
        let page = |number: usize| {
            let url = format!("https://a.example/{number}/{}", "x".repeat(number % 7000));
            canonical().parse(&url).unwrap()
        };
        let urls: Vec<PageUrl> = (0..3500).map(page).collect();
        let commands = UserCommand::several(urls.clone(), |seeds| UserCommand::Add { seeds });
        let mut all = Vec::new();
        for command in &commands {
            let UserCommand::Add { seeds } = command else {
                panic!("{command:?}")
            };
            let bytes: usize = seeds.iter().map(String::len).sum();
            assert!(seeds.len() <= URLS_MAX && bytes <= URL_BYTES_MAX);
            all.extend(seeds.iter().cloned());
        }
        let wanted: Vec<_> = urls.iter().map(|url| url.as_str().to_owned()).collect();
        assert_eq!(all, wanted);
    }
}
