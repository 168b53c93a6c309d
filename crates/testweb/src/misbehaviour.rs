//! How hosts misbehave on request, and the text that requests it: `host3.test=slow-first-byte:5s,calendar-trap`.
//!
//! [`Rule`] says which hosts do what; [`Misbehaviour`] is the closed list of what can be done. What each does on the
//! wire is in [`crate::delivery`]; what changes the answer itself is in [`crate::host`]; names that misbehave are in
//! [`crate::world`].
//!
//! `/robots.txt` is answered as it should be unless a `robots-…` misbehaviour says otherwise: a client that cannot read
//! it would stay away and meet nothing else.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One way to misbehave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misbehaviour {
    /// `slow-first-byte:5s`: waits that long before it answers.
    SlowFirstByte(Duration),
    /// `slow-body:100`: sends that many bytes of the body a second.
    SlowBody(u32),
    /// `reset:1000`: resets the connection after that many bytes of the body; `reset` or `reset:0` before the answer.
    Reset(u32),
    /// `truncated`: sends half of the body that `Content-Length` announces and closes.
    Truncated,
    /// `wrong-length:-100`, `wrong-length:+100`: `Content-Length` is that much smaller or larger than the body. What is
    /// sent is the whole body, and the connection is then closed.
    WrongLength(i32),
    /// `endless-body`: the body never ends.
    EndlessBody,
    /// `endless-headers`: the headers never end.
    EndlessHeaders,
    /// `gzip-bomb:10000`: a compressed body that decompresses to that many megabytes.
    GzipBomb(u32),
    /// `redirect-loop:3`: every page redirects into a circle of that many.
    RedirectLoop(u32),
    /// `redirect-private`: every page redirects to a private, loopback or link-local address.
    RedirectPrivate,
    /// `429:2s`, `503:2s:date`, `429:1s:every=10`: refuses with `Retry-After`.
    Refuse(Refusal),
    /// `retry-after:2s`: answers as it should, and asks to be left alone that long all the same, in whole seconds.
    RetryAfter(Duration),
    /// `robots-status:503`: robots.txt is answered with that status.
    RobotsStatus(u16),
    /// `robots-html`: robots.txt is answered with a page.
    RobotsHtml,
    /// `robots-huge:2000000`: robots.txt has that many bytes, and its only rule for all comes first.
    RobotsHuge(u32),
    /// `robots-bomb:64000`: robots.txt has that many equal rules, and compresses to next to nothing.
    RobotsBomb(u32),
    /// `robots-redirect:host4.test`: robots.txt is at another host, whose own may be elsewhere again.
    RobotsRedirect(String),
    /// `calendar-trap`: pages link to a calendar that never ends.
    CalendarTrap,
    /// `session-trap`: every answer's links carry a session number of their own.
    SessionTrap,
    /// `moving-address:1s`: the name's address changes that often, among eight; the DNS answer may be kept as long.
    MovingAddress(Duration),
    /// `garbage`: answers with bytes that are no HTTP.
    Garbage,
    /// `dns-slow:2s`: the name is resolved only after that long.
    DnsSlow(Duration),
    /// `dns-servfail`: the name cannot be resolved: the DNS server fails.
    DnsServfail,
}

/// A refusal with `Retry-After`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// 429 or 503.
    pub status: RefusalStatus,
    /// How long the client is told to stay away.
    pub retry_after: Duration,
    /// How it is told.
    pub form: RetryAfterForm,
    /// Every how many requests a time of refusal begins. 1 refuses always.
    pub every: u32,
}

/// With which status a refusal is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalStatus {
    /// 429.
    TooManyRequests,
    /// 503.
    ServiceUnavailable,
}

impl RefusalStatus {
    pub(crate) const fn code(self) -> u16 {
        match self {
            Self::TooManyRequests => 429,
            Self::ServiceUnavailable => 503,
        }
    }
}

/// The two forms of `Retry-After` (RFC 9110, section 10.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfterForm {
    /// A number of seconds.
    Seconds,
    /// A date.
    Date,
}

/// Which hosts misbehave, and how: `host*.test=slow-body:100,garbage`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rule {
    /// A host name in which `*` stands for any characters.
    pub hosts: String,
    /// What the hosts do.
    pub misbehaviours: Vec<Misbehaviour>,
}

impl Rule {
    /// True when the rule is about this host.
    #[must_use]
    pub fn covers(&self, host: &str) -> bool {
        glob_matches(&self.hosts, host)
    }
}

/// Why a text is not a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// There is no `=`, or nothing before it.
    #[error("{0:?} is not of the form host=misbehaviour")]
    NoHost(String),
    /// No misbehaviour has this name.
    #[error("there is no misbehaviour {0:?}; there are: {NAMES}")]
    Unknown(String),
    /// The part after the colon is missing or cannot be read.
    #[error("{text:?} needs {wanted}")]
    Parameter {
        /// What was written.
        text: String,
        /// What belongs after the colon.
        wanted: &'static str,
    },
}

/// All names, for messages and help.
pub const NAMES: &str = "slow-first-byte:DURATION, slow-body:BYTES_PER_SECOND, reset[:BYTES], truncated, \
    wrong-length:±BYTES, endless-body, endless-headers, gzip-bomb[:MEGABYTES], redirect-loop[:LENGTH], redirect-private, \
    429:DURATION[:date][:every=N], 503:DURATION[:date][:every=N], retry-after:DURATION, robots-status:STATUS, robots-html, \
    robots-huge[:BYTES], robots-bomb[:RULES], robots-redirect:HOST, calendar-trap, session-trap, moving-address[:DURATION], garbage, dns-slow:DURATION, dns-servfail";

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let (hosts, list) = text
            .split_once('=')
            .filter(|(hosts, list)| !hosts.trim().is_empty() && !list.trim().is_empty())
            .ok_or_else(|| RuleError::NoHost(text.to_owned()))?;
        Ok(Self {
            hosts: hosts.trim().to_ascii_lowercase(),
            misbehaviours: list
                .split(',')
                .map(|one| one.trim().parse())
                .collect::<Result<_, _>>()?,
        })
    }
}

impl FromStr for Misbehaviour {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let (name, parameter) = text
            .split_once(':')
            .map_or((text, None), |(name, parameter)| (name, Some(parameter)));
        let argument = Argument { text, parameter };
        Ok(match name {
            "slow-first-byte" => Self::SlowFirstByte(argument.duration(None)?),
            "slow-body" => Self::SlowBody(argument.number(None, 1)?),
            "reset" => Self::Reset(argument.number(Some(0), 0)?),
            "truncated" => Self::Truncated,
            "wrong-length" => Self::WrongLength(argument.signed()?),
            "endless-body" => Self::EndlessBody,
            "endless-headers" => Self::EndlessHeaders,
            "gzip-bomb" => Self::GzipBomb(argument.number(Some(10_000), 1)?),
            "redirect-loop" => Self::RedirectLoop(argument.number(Some(3), 1)?),
            "redirect-private" => Self::RedirectPrivate,
            "429" => Self::Refuse(argument.refusal(RefusalStatus::TooManyRequests)?),
            "503" => Self::Refuse(argument.refusal(RefusalStatus::ServiceUnavailable)?),
            "retry-after" => Self::RetryAfter(argument.duration(None)?),
            "robots-status" => Self::RobotsStatus(argument.status()?),
            "robots-html" => Self::RobotsHtml,
            "robots-huge" => Self::RobotsHuge(argument.number(Some(2_000_000), 1)?),
            "robots-bomb" => Self::RobotsBomb(argument.number(Some(64_000), 1)?),
            "robots-redirect" => Self::RobotsRedirect(argument.host()?),
            "calendar-trap" => Self::CalendarTrap,
            "session-trap" => Self::SessionTrap,
            "moving-address" => {
                Self::MovingAddress(argument.duration(Some(Duration::from_secs(1)))?)
            }
            "garbage" => Self::Garbage,
            "dns-slow" => Self::DnsSlow(argument.duration(None)?),
            "dns-servfail" => Self::DnsServfail,
            _ => return Err(RuleError::Unknown(text.to_owned())),
        })
    }
}

/// What stands after a misbehaviour's colon.
struct Argument<'a> {
    text: &'a str,
    parameter: Option<&'a str>,
}

impl Argument<'_> {
    fn wanted(&self, wanted: &'static str) -> RuleError {
        RuleError::Parameter {
            text: self.text.to_owned(),
            wanted,
        }
    }

    fn duration(&self, default: Option<Duration>) -> Result<Duration, RuleError> {
        match (self.parameter, default) {
            (None, Some(default)) => Ok(default),
            (parameter, _) => parameter
                .and_then(|text| humantime::parse_duration(text).ok())
                .filter(|duration| !duration.is_zero())
                .ok_or_else(|| self.wanted("a duration, such as 5s or 200ms")),
        }
    }

    fn number(&self, default: Option<u32>, least: u32) -> Result<u32, RuleError> {
        match (self.parameter, default) {
            (None, Some(default)) => Ok(default),
            (parameter, _) => parameter
                .and_then(|text| text.parse().ok())
                .filter(|&number| least <= number)
                .ok_or_else(|| self.wanted("a whole number")),
        }
    }

    fn signed(&self) -> Result<i32, RuleError> {
        self.parameter
            .and_then(|text| text.parse().ok())
            .filter(|&number| number != 0)
            .ok_or_else(|| self.wanted("a signed whole number"))
    }

    fn status(&self) -> Result<u16, RuleError> {
        self.parameter
            .and_then(|text| text.parse().ok())
            .filter(|status| (200..=599).contains(status))
            .ok_or_else(|| self.wanted("a status from 200 to 599"))
    }

    fn host(&self) -> Result<String, RuleError> {
        let is_of_name =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        self.parameter
            .filter(|name| !name.is_empty() && name.bytes().all(is_of_name))
            .map(str::to_ascii_lowercase)
            .ok_or_else(|| self.wanted("the name of a host"))
    }

    fn refusal(&self, status: RefusalStatus) -> Result<Refusal, RuleError> {
        let mistake = || self.wanted("a duration, then perhaps date, then perhaps every=N");
        let mut parts = self.parameter.unwrap_or_default().split(':');
        let retry_after = parts
            .next()
            .and_then(|text| humantime::parse_duration(text).ok())
            .ok_or_else(mistake)?;
        let mut refusal = Refusal {
            status,
            retry_after,
            form: RetryAfterForm::Seconds,
            every: 1,
        };
        for part in parts {
            match part.strip_prefix("every=") {
                Some(every) => {
                    refusal.every = every
                        .parse()
                        .ok()
                        .filter(|&every| every > 0)
                        .ok_or_else(mistake)?;
                }
                None if part == "date" => refusal.form = RetryAfterForm::Date,
                None => return Err(mistake()),
            }
        }
        Ok(refusal)
    }
}

impl fmt::Display for Misbehaviour {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SlowFirstByte(wait) => write!(out, "slow-first-byte:{}", compact(wait)),
            Self::SlowBody(rate) => write!(out, "slow-body:{rate}"),
            Self::Reset(after) => write!(out, "reset:{after}"),
            Self::Truncated => write!(out, "truncated"),
            Self::WrongLength(by) => write!(out, "wrong-length:{by:+}"),
            Self::EndlessBody => write!(out, "endless-body"),
            Self::EndlessHeaders => write!(out, "endless-headers"),
            Self::GzipBomb(megabytes) => write!(out, "gzip-bomb:{megabytes}"),
            Self::RedirectLoop(length) => write!(out, "redirect-loop:{length}"),
            Self::RedirectPrivate => write!(out, "redirect-private"),
            Self::Refuse(refusal) => write!(out, "{refusal}"),
            Self::RetryAfter(wait) => write!(out, "retry-after:{}", compact(wait)),
            Self::RobotsStatus(status) => write!(out, "robots-status:{status}"),
            Self::RobotsHtml => write!(out, "robots-html"),
            Self::RobotsHuge(bytes) => write!(out, "robots-huge:{bytes}"),
            Self::RobotsBomb(rules) => write!(out, "robots-bomb:{rules}"),
            Self::RobotsRedirect(host) => write!(out, "robots-redirect:{host}"),
            Self::CalendarTrap => write!(out, "calendar-trap"),
            Self::SessionTrap => write!(out, "session-trap"),
            Self::MovingAddress(period) => write!(out, "moving-address:{}", compact(period)),
            Self::Garbage => write!(out, "garbage"),
            Self::DnsSlow(wait) => write!(out, "dns-slow:{}", compact(wait)),
            Self::DnsServfail => write!(out, "dns-servfail"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.status.code(), compact(&self.retry_after))?;
        match self.form {
            RetryAfterForm::Seconds => {}
            RetryAfterForm::Date => write!(out, ":date")?,
        }
        match self.every {
            1 => Ok(()),
            every => write!(out, ":every={every}"),
        }
    }
}

/// A duration without the spaces that `humantime` puts between its parts.
fn compact(duration: &Duration) -> String {
    humantime::format_duration(*duration)
        .to_string()
        .replace(' ', "")
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list: Vec<String> = self.misbehaviours.iter().map(ToString::to_string).collect();
        write!(out, "{}={}", self.hosts, list.join(","))
    }
}

impl TryFrom<String> for Rule {
    type Error = RuleError;

    fn try_from(text: String) -> Result<Self, RuleError> {
        text.parse()
    }
}

impl From<Rule> for String {
    fn from(rule: Rule) -> Self {
        rule.to_string()
    }
}

/// Matches text against a pattern in which `*` stands for any characters. Goes back only to the last star, which is
/// enough because every star may take as much as it likes.
fn glob_matches(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(rest) = text.strip_prefix(pieces.next().unwrap_or_default()) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return rest.is_empty();
    };
    let Some(mut rest) = rest.strip_suffix(last) else {
        return false;
    };
    for piece in pieces {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_misbehaviour_reads_back_what_it_writes() {
        let all = "slow-first-byte:5s,slow-body:100,reset:0,reset:10,truncated,wrong-length:-100,wrong-length:+7,\
            endless-body,endless-headers,gzip-bomb:10,redirect-loop:3,redirect-private,429:2s,503:1m30s:date,\
            429:1s:date:every=10,retry-after:3s,robots-status:503,robots-html,robots-huge:2000000,robots-bomb:64000,robots-redirect:host4.test,\
            calendar-trap,session-trap,moving-address:1s,garbage,dns-slow:2s,dns-servfail";
        let rule: Rule = format!("host1*.test={all}").parse().unwrap();
        assert_eq!(rule.misbehaviours.len(), 27);
        assert_eq!(rule.to_string(), format!("host1*.test={all}"));
    }

    #[test]
    fn defaults_are_filled_in() {
        for (short, long) in [
            ("reset", "reset:0"),
            ("gzip-bomb", "gzip-bomb:10000"),
            ("redirect-loop", "redirect-loop:3"),
            ("robots-huge", "robots-huge:2000000"),
            ("robots-bomb", "robots-bomb:64000"),
            ("moving-address", "moving-address:1s"),
        ] {
            assert_eq!(short.parse::<Misbehaviour>().unwrap().to_string(), long);
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, start) in [
            ("garbage", "\"garbage\" is not of the form"),
            ("=garbage", "\"=garbage\" is not of the form"),
            ("h=nonsense", "there is no misbehaviour \"nonsense\""),
            ("h=slow-first-byte", "\"slow-first-byte\" needs a duration"),
            ("h=slow-body:0", "\"slow-body:0\" needs a whole number"),
            ("h=wrong-length:0", "\"wrong-length:0\" needs a signed"),
            ("h=robots-status:99", "\"robots-status:99\" needs a status"),
            ("h=robots-redirect", "\"robots-redirect\" needs the name"),
            (
                "h=robots-redirect:a/b",
                "\"robots-redirect:a/b\" needs the name",
            ),
            ("h=429:1s:never", "\"429:1s:never\" needs a duration, then"),
            (
                "h=503:1s:every=0",
                "\"503:1s:every=0\" needs a duration, then",
            ),
        ] {
            let error = text.parse::<Rule>().unwrap_err().to_string();
            assert!(error.starts_with(start), "{text}: {error}");
        }
    }

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("host1.test", "host1.test", true),
            ("host1.test", "host11.test", false),
            ("host1*.test", "host1.test", true),
            ("host1*.test", "host123.test", true),
            ("*", "", true),
            ("*.test", "a.test.org", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(glob_matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
