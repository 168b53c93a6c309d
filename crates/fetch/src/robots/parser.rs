//! Reads the lines of a robots.txt (RFC 9309, section 2.2).

use std::time::Duration;

use super::pattern::Pattern;
use super::table::Drafts;
use super::{CRAWL_DELAY_MAX, ROBOTS_LENGTH_MAX, Robots};

/// Most sitemaps that are taken from a file.
const SITEMAPS_MAX: usize = 1000;
/// Longest sitemap URL.
const SITEMAP_LENGTH_MAX: usize = 8192;

/// What is read for one addressee: the crawler itself, or all crawlers.
#[derive(Default)]
struct Section {
    is_named: bool,
    rules: Drafts,
    crawl_delay: Option<Duration>,
}

/// Whom the current group is for.
#[derive(Clone, Copy, Default)]
struct Group {
    is_ours: bool,
    is_for_all: bool,
    /// Whether a rule has come, so that the next `User-agent` begins another group.
    has_rules: bool,
}

#[derive(Default)]
struct Parser {
    ours: Section,
    all: Section,
    group: Group,
    sitemaps: Vec<String>,
}

pub(super) fn parse(bytes: &[u8], token: &str) -> Robots {
    let mut parser = Parser::default();
    for (number, line) in (1..).zip(lines(bytes)) {
        parser.take(number, line, token);
    }
    // Our own groups together, or else those for all (RFC 9309, section 2.2.1).
    let section = if parser.ours.is_named {
        parser.ours
    } else {
        parser.all
    };
    Robots {
        rules: section.rules.compile(),
        crawl_delay: section.crawl_delay,
        sitemaps: parser.sitemaps,
    }
}

impl Parser {
    fn take(&mut self, number: u32, line: &[u8], token: &str) {
        let Some((key, value)) = split_line(line) else {
            return;
        };
        match Key::named(key) {
            Some(Key::UserAgent) => self.name_agent(value, token),
            Some(Key::Allow) => self.add_rule(true, value, number),
            Some(Key::Disallow) => self.add_rule(false, value, number),
            Some(Key::CrawlDelay) => self.set_delay(value),
            Some(Key::Sitemap) => self.add_sitemap(value),
            None => {}
        }
    }

    /// A `User-agent` line joins the group until that has a rule; other records do not end the list.
    fn name_agent(&mut self, value: &[u8], token: &str) {
        if self.group.has_rules {
            self.group = Group::default();
        }
        match value {
            [b'*'] | [b'*', b' ' | b'\t', ..] => self.group.is_for_all = true,
            _ => {
                let is_token =
                    |byte: &&u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
                let length = value.iter().take_while(is_token).count();
                if value[..length].eq_ignore_ascii_case(token.as_bytes()) {
                    self.group.is_ours = true;
                    self.ours.is_named = true;
                }
            }
        }
    }

    fn add_rule(&mut self, allow: bool, value: &[u8], number: u32) {
        self.group.has_rules = true;
        let group = self.group;
        // Once there is a group of our own, those for all do not count.
        let is_for_all = group.is_for_all && !self.ours.is_named;
        if !(group.is_ours || is_for_all) {
            return;
        }
        let Some(pattern) = Pattern::parse(value) else {
            return;
        };
        if is_for_all {
            self.all.rules.add(pattern.clone(), allow, number);
        }
        if group.is_ours {
            self.ours.rules.add(pattern, allow, number);
        }
    }

    /// The pause is for the agents named so far in the group; of several the longest counts.
    fn set_delay(&mut self, value: &[u8]) {
        let Some(delay) = parse_delay(value) else {
            return;
        };
        if self.group.is_ours {
            self.ours.crawl_delay = self.ours.crawl_delay.max(Some(delay));
        }
        if self.group.is_for_all {
            self.all.crawl_delay = self.all.crawl_delay.max(Some(delay));
        }
    }

    /// Sitemaps belong to no group.
    fn add_sitemap(&mut self, value: &[u8]) {
        let is_bounded = value.len() <= SITEMAP_LENGTH_MAX && self.sitemaps.len() < SITEMAPS_MAX;
        if !value.is_empty() && is_bounded {
            self.sitemaps
                .push(String::from_utf8_lossy(value).into_owned());
        }
    }
}

#[derive(Clone, Copy)]
enum Key {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

impl Key {
    /// The key of a name; some are often misspelt, and what their writers meant is clear.
    fn named(name: &[u8]) -> Option<Self> {
        const KEYS: [(&str, Key); 13] = [
            ("disallow", Key::Disallow),
            ("allow", Key::Allow),
            ("user-agent", Key::UserAgent),
            ("crawl-delay", Key::CrawlDelay),
            ("sitemap", Key::Sitemap),
            ("site-map", Key::Sitemap),
            ("useragent", Key::UserAgent),
            ("user agent", Key::UserAgent),
            ("dissallow", Key::Disallow),
            ("dissalow", Key::Disallow),
            ("disalow", Key::Disallow),
            ("diasllow", Key::Disallow),
            ("disallaw", Key::Disallow),
        ];
        let found = KEYS
            .iter()
            .find(|key| name.eq_ignore_ascii_case(key.0.as_bytes()));
        found.map(|key| key.1)
    }
}

/// The lines of a file, whatever ends them; a line that the length limit cuts is left out.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match bytes.get(..ROBOTS_LENGTH_MAX) {
        Some(start) if ROBOTS_LENGTH_MAX < bytes.len() => {
            let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
            let last = start.iter().rposition(is_end).unwrap_or(0);
            &start[..last]
        }
        Some(_) | None => bytes,
    };
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = memchr::memchr2(b'\r', b'\n', text) else {
            rest = None;
            return Some(text);
        };
        let is_pair = text[end..].starts_with(b"\r\n");
        rest = Some(&text[end + 1 + usize::from(is_pair)..]);
        Some(&text[..end])
    })
}

/// Key and value of a line, without comment and blanks. Of two words without a colon the first is the key, as Google's parser has it: what their writer
/// meant is clear.
fn split_line(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let content = line.split(|byte| *byte == b'#').next()?.trim_ascii();
    if let Some(colon) = memchr::memchr(b':', content) {
        let (key, value) = (&content[..colon], &content[colon + 1..]);
        return Some((key.trim_ascii(), value.trim_ascii()));
    }
    let (key, value) = content.split_at(content.iter().position(is_blank)?);
    let value = value.trim_ascii();
    (!value.iter().any(is_blank)).then_some((key, value))
}

/// Seconds, perhaps with a fraction.
fn parse_delay(value: &[u8]) -> Option<Duration> {
    let text = str::from_utf8(value).ok()?;
    let seconds: f64 = text.parse().ok()?;
    if seconds.is_nan() || seconds < 0.0 {
        return None;
    }
    let delay = Duration::try_from_secs_f64(seconds).unwrap_or(CRAWL_DELAY_MAX);
    Some(delay.min(CRAWL_DELAY_MAX))
}
