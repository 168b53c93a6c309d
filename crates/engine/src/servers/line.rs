//! A line of the file of states: written with a checksum, and read so that no flipped bit is taken for what a server asked for.
//!
//! A line is JSON, a tab, and the CRC-32 of the JSON in eight lower-case hexadecimal digits. Lines of before have no checksum.
//!
//! A line with one flipped bit is read as it was written: each bit is flipped back in turn until the checksum is right. Of a line with more damage
//! only whose it was is of use ([`Whose`]); that such a line becomes another whole one by one bit has a chance of one in some million.
//!
//! Not here: what follows from a damaged line (`servers`).

use junkai_frontier::{HostState, ServerKey, ServerState};
use serde::{Deserialize, Serialize};

use crate::clock::Moment;

/// Longer lines are not searched for a flipped bit: the search takes the square of their length.
const SEARCHED_BYTES_MAX: usize = 2048;
/// Hexadecimal digits of a checksum.
const CHECKSUM_DIGITS: usize = 8;

/// What a line says.
#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub(super) enum Line {
    /// A host asks for a pace of its own, or no longer.
    Host(HostState),
    /// How a server stands.
    Server(ServerState),
    /// When the lines around it were written.
    Written {
        #[serde(flatten)]
        moment: Moment,
        /// Whether the crawl ended there in an orderly way: nothing was visited after it.
        is_last: bool,
    },
}

/// Whose line it was, as far as a damaged one tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    Server(ServerKey),
    Host(Box<str>),
}

impl Line {
    /// Appends the line, with its checksum and its end.
    pub(super) fn write(&self, lines: &mut Vec<u8>) {
        // Numbers and names always serialise.
        if let Ok(json) = serde_json::to_string(self) {
            let checksum = checksum(json.as_bytes());
            lines.extend_from_slice(format!("{json}\t{checksum}\n").as_bytes());
        }
    }

    /// Reads a line without its end; none if it is not as it was written.
    pub(super) fn read(line: &[u8]) -> Option<Line> {
        if line.contains(&b'\t') {
            Line::read_checked(line)
        } else {
            serde_json::from_slice(line).ok()
        }
    }

    fn read_checked(line: &[u8]) -> Option<Line> {
        let tab = line.iter().position(|&byte| byte == b'\t')?;
        let (json, written) = (&line[..tab], &line[tab + 1..]);
        (written == checksum(json).as_bytes())
            .then(|| serde_json::from_slice(json).ok())
            .flatten()
    }

    /// Reads a damaged line as it was before one of its bits was flipped; none if there is more damage, or two bits would do. If the bit was in the end
    /// of a line, that line and the one behind it are found.
    pub(super) fn mend(line: &[u8]) -> Option<Vec<Line>> {
        if SEARCHED_BYTES_MAX < line.len() {
            return None;
        }
        let mut found = None;
        let mut flipped = line.to_vec();
        for at in 0..line.len() {
            for bit in 0..u8::BITS {
                flipped[at] = line[at] ^ (1 << bit);
                if let Some(lines) = Line::read_all_checked(&flipped)
                    && found.replace(lines).is_some()
                {
                    return None;
                }
            }
            flipped[at] = line[at];
        }
        found
    }

    /// Reads lines with their checksums; none if there is none, or one of them is damaged.
    fn read_all_checked(lines: &[u8]) -> Option<Vec<Line>> {
        let lines = lines.split(|&byte| byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        let lines: Vec<Line> = lines.map(Line::read_checked).collect::<Option<_>>()?;
        (!lines.is_empty()).then_some(lines)
    }

    /// Whether a last line without an end that cannot be read was torn by a kill: then it is shorter than a whole one. Longer, its end was damaged.
    pub(super) fn is_torn(line: &[u8]) -> bool {
        let tab = line.iter().position(|&byte| byte == b'\t');
        tab.is_none_or(|tab| line.len() - (tab + 1) <= CHECKSUM_DIGITS)
    }
}

impl Whose {
    /// Reads the beginning of a line, where the name stands, however the rest of it looks.
    pub(super) fn of(line: &[u8]) -> Option<Whose> {
        let text = std::str::from_utf8(line.split(|&byte| byte == b',').next()?).ok()?;
        if let Some(key) = text.strip_prefix(r#"{"key":"#) {
            return key
                .parse()
                .ok()
                .map(|number| Whose::Server(ServerKey::new(number)));
        }
        let host = text.strip_prefix(r#"{"host":""#)?.strip_suffix('"')?;
        let is_name = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic());
        is_name.then(|| Whose::Host(host.into()))
    }
}

fn checksum(json: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(json))
}

#[cfg(test)]
mod tests {
    use junkai_frontier::Time;

    use super::*;

    fn lines() -> Vec<Line> {
        let server = ServerState {
            key: ServerKey::new(31),
            hold_until: Time::from_micros(1_700_000_000_123_456),
            strikes: 3,
        };
        let host = HostState {
            host: "a-host.example.org".into(),
            asks: Vec::new(),
            free_at: Time::from_micros(1_700_000_000_123_456),
        };
        let clock = crate::clock::Clock::start(
            &crate::testing::platform().machine,
            &crate::clock::ClockConfig::default(),
            Time::EPOCH,
        );
        let written = Line::Written {
            moment: clock.moment(),
            is_last: true,
        };
        vec![Line::Server(server), Line::Host(host), written]
    }

    fn written(line: &Line) -> Vec<u8> {
        let mut bytes = Vec::new();
        line.write(&mut bytes);
        bytes.pop();
        bytes
    }

    #[test]
    fn any_flipped_bit_of_a_line_is_noticed_and_found() {
        for line in lines() {
            let whole = written(&line);
            assert!(Line::read(&whole).is_some());
            for at in 0..whole.len() {
                for bit in 0..u8::BITS {
                    let mut damaged = whole.clone();
                    damaged[at] ^= 1 << bit;
                    let shown = String::from_utf8_lossy(&damaged).into_owned();
                    assert!(Line::read(&damaged).is_none(), "{shown}");
                    // A bit that makes the end of a line makes two of one: each is noticed.
                    if damaged.contains(&b'\n') {
                        continue;
                    }
                    let mended = Line::mend(&damaged).unwrap_or_else(|| panic!("{shown}"));
                    let mended: Vec<Vec<u8>> = mended.iter().map(written).collect();
                    assert_eq!(mended, std::slice::from_ref(&whole), "{shown}");
                }
            }
        }
    }

    #[test]
    fn a_flipped_bit_in_the_end_of_a_line_is_found_too() {
        let all = lines();
        let (first, second) = (written(&all[0]), written(&all[1]));
        for bit in 0..u8::BITS {
            let joined = [&first[..], &[b'\n' ^ (1 << bit)], &second[..]].concat();
            assert!(Line::read(&joined).is_none());
            let mended: Vec<Vec<u8>> = Line::mend(&joined).unwrap().iter().map(written).collect();
            assert_eq!(mended, [first.clone(), second.clone()]);
            let last = [&first[..], &[b'\n' ^ (1 << bit)]].concat();
            assert!(Line::read(&last).is_none() && !Line::is_torn(&last));
            assert_eq!(Line::mend(&last).map(|lines| lines.len()), Some(1));
        }
    }

    #[test]
    fn more_damage_than_a_bit_is_not_taken_for_another_line() {
        let whole = written(&lines()[0]);
        for (first, second) in [(8, 9), (20, 40), (3, whole.len() - 1)] {
            let mut damaged = whole.clone();
            damaged[first] ^= 1;
            damaged[second] ^= 4;
            assert!(Line::read(&damaged).is_none() && Line::mend(&damaged).is_none());
        }
    }

    #[test]
    fn a_damaged_line_tells_whose_it_was_by_its_beginning() {
        let check = |line: &str, expected: Option<Whose>| {
            assert_eq!(Whose::of(line.as_bytes()), expected, "{line}");
        };
        let server = Whose::Server(ServerKey::new(31));
        check("{\"key\":31,\"hold_until\":\0\0\0", Some(server));
        let host = Whose::Host("a.example".into());
        check(r#"{"host":"a.example","asks":[}}"#, Some(host));
        check(r#"{"key":3?,"hold_until":0"#, None);
        check(r#"{"host":"","asks":[]"#, None);
        check("{\"host\":\"a \u{7}\",\"asks\":[]", None);
        check("\0\0\0\0", None);
        for line in &lines()[..2] {
            assert!(Whose::of(&written(line)).is_some(), "the name stands first");
        }
    }

    #[test]
    fn a_line_that_a_kill_tore_is_told_from_a_damaged_one() {
        let whole = written(&lines()[0]);
        for length in 1..whole.len() {
            let torn = &whole[..length];
            assert!(Line::read(torn).is_some() || Line::is_torn(torn));
        }
    }
}
