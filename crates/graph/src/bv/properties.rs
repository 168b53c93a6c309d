//! The `.properties` of a graph in the BV format: how many pages and links it has, and how they are written.
//!
//! A file of Java properties: `key=value` lines, comments after `#` or `!`. Keys that only describe (ratios, averages) are passed over.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use super::bits::Code;

/// What the properties say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Properties {
    pub(super) pages: u64,
    pub(super) links: u64,
    pub(super) format: Format,
}

/// How lists of links are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) outdegrees: Code,
    pub(super) references: Code,
    pub(super) blocks: Code,
    pub(super) intervals: Code,
    pub(super) residuals: Code,
    /// How far back a page may refer.
    pub(super) window: u64,
    /// Runs of at least so many consecutive targets are written as intervals; 0 if none are.
    pub(super) interval_min: u64,
    /// How many references in a row have to be followed at most to read a page.
    pub(super) references_max: u64,
}

impl Default for Format {
    /// What the reference library writes unless told otherwise, and what a file that does not say is written in.
    fn default() -> Self {
        Self {
            outdegrees: Code::Gamma,
            references: Code::Unary,
            blocks: Code::Gamma,
            intervals: Code::Gamma,
            residuals: Code::Zeta(ZETA_DEFAULT),
            window: 7,
            interval_min: 4,
            references_max: 3,
        }
    }
}

/// The shrinking factor of ζ codes where the properties name none.
const ZETA_DEFAULT: u32 = 3;

impl Properties {
    /// Reads the text of a properties file, or says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let pairs = Pairs::of(text);
        if let Some(order) = pairs.text("endianness")
            && order != "big"
        {
            return Err(format!(
                "its endianness is {order}; only big-endian graphs can be read"
            ));
        }
        let required =
            |key| move |number: Option<u64>| number.ok_or_else(|| format!("it has no {key}"));
        Ok(Self {
            pages: pairs.number("nodes").and_then(required("nodes"))?,
            links: pairs.number("arcs").and_then(required("arcs"))?,
            format: Format::of(&pairs)?,
        })
    }

    /// The text of a properties file of a graph that takes so many bits.
    pub(super) fn to_text(&self, bits: u64) -> String {
        let Format {
            window,
            interval_min,
            references_max,
            ..
        } = self.format;
        debug_assert_eq!(
            self.format,
            Format::default(),
            "other codes have to be named"
        );
        let mut text = format!(
            "#BVGraph properties\n\
             graphclass=it.unimi.dsi.webgraph.BVGraph\n\
             version=0\n\
             endianness=big\n\
             nodes={}\n\
             arcs={}\n\
             windowsize={window}\n\
             minintervallength={interval_min}\n\
             maxrefcount={references_max}\n\
             compressionflags=\n\
             zetak={ZETA_DEFAULT}\n\
             length={bits}\n",
            self.pages, self.links
        );
        // A ratio to nothing would be no number, which other readers refuse.
        let ratios = [("bitspernode", self.pages), ("bitsperlink", self.links)];
        let lines = ratios
            .into_iter()
            .filter(|(_, count)| *count != 0)
            .map(|(key, count)| format!("{key}={:.3}\n", bits as f64 / count as f64));
        text.extend(lines);
        text
    }
}

impl Format {
    fn of(pairs: &Pairs) -> Result<Self, String> {
        let mut format = Self::default();
        let zeta = pairs
            .number("zetak")?
            .map_or(Ok(ZETA_DEFAULT), zeta_factor)?;
        let flags = pairs.text("compressionflags").unwrap_or_default();
        for flag in flags.split('|').filter(|flag| !flag.trim().is_empty()) {
            format.set_code(flag.trim(), zeta)?;
        }
        format.window = pairs.number("windowsize")?.unwrap_or(format.window);
        format.interval_min = pairs
            .number("minintervallength")?
            .unwrap_or(format.interval_min);
        format.references_max = pairs
            .number("maxrefcount")?
            .unwrap_or(format.references_max);
        Ok(format)
    }

    /// Takes in one of the `compressionflags`, such as `RESIDUALS_ZETA`.
    fn set_code(&mut self, flag: &str, zeta: u32) -> Result<(), String> {
        let unknown = || format!("compression flag {flag} cannot be read");
        let (what, code) = flag.split_once('_').ok_or_else(unknown)?;
        let code = match code.to_ascii_uppercase().as_str() {
            "UNARY" => Code::Unary,
            "GAMMA" => Code::Gamma,
            "DELTA" => Code::Delta,
            "ZETA" => Code::Zeta(zeta),
            other => {
                let factor = other.strip_prefix("ZETA").and_then(|n| n.parse().ok());
                Code::Zeta(zeta_factor(factor.ok_or_else(unknown)?)?)
            }
        };
        match what {
            "OUTDEGREES" => self.outdegrees = code,
            "REFERENCES" => self.references = code,
            "BLOCKS" => self.blocks = code,
            "INTERVALS" => self.intervals = code,
            "RESIDUALS" => self.residuals = code,
            // They are in a file of their own, which is not needed.
            "OFFSETS" => {}
            _ => return Err(unknown()),
        }
        Ok(())
    }
}

/// The shrinking factor of a ζ code: those that the format knows.
fn zeta_factor(factor: u64) -> Result<u32, String> {
    match u32::try_from(factor) {
        Ok(factor @ 1..=7) => Ok(factor),
        _ => Err(format!(
            "zetak is {factor}; ζ codes from 1 to 7 can be read"
        )),
    }
}

/// The lines of a properties file.
struct Pairs<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Pairs<'a> {
    fn of(text: &'a str) -> Self {
        let lines = text.lines().map(str::trim);
        let pairs = lines
            .filter(|line| !line.starts_with(['#', '!']))
            .filter_map(|line| line.split_once(['=', ':']))
            .map(|(key, value)| (key.trim_end(), value.trim_start()));
        Self(pairs.collect())
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).copied()
    }

    fn number<T: FromStr<Err: Display>>(&self, key: &str) -> Result<Option<T>, String> {
        let number = self.text(key).map(|value| {
            value
                .parse()
                .map_err(|error| format!("{key}={value}: {error}"))
        });
        number.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_says_little_is_in_the_usual_format() {
        let properties = Properties::parse("# made by hand\n! really\n nodes = 3 \narcs: 4\n");
        let format = Format::default();
        let expected = Properties {
            pages: 3,
            links: 4,
            format,
        };
        assert_eq!(properties, Ok(expected));
    }

    #[test]
    fn what_is_written_is_read() {
        let written = Properties {
            pages: 12,
            links: 0,
            format: Format::default(),
        };
        assert_eq!(Properties::parse(&written.to_text(24)), Ok(written));
    }

    #[test]
    fn codes_and_bounds_are_taken_from_the_file() {
        let text = "nodes=1\narcs=0\nzetak=5\nwindowsize=9\nminintervallength=0\nmaxrefcount=2\n\
             compressionflags=OUTDEGREES_DELTA | REFERENCES_GAMMA|BLOCKS_ZETA|RESIDUALS_ZETA2|OFFSETS_DELTA";
        let expected = Format {
            outdegrees: Code::Delta,
            references: Code::Gamma,
            blocks: Code::Zeta(5),
            intervals: Code::Gamma,
            residuals: Code::Zeta(2),
            window: 9,
            interval_min: 0,
            references_max: 2,
        };
        assert_eq!(Properties::parse(text).unwrap().format, expected);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (line, named) in [
            ("", "nodes"),
            ("nodes=1", "arcs"),
            ("nodes=many\narcs=1", "nodes=many"),
            ("nodes=1\narcs=1\nendianness=little", "little"),
            ("nodes=1\narcs=1\nzetak=8", "zetak"),
            (
                "nodes=1\narcs=1\ncompressionflags=BLOCKS_OMEGA",
                "BLOCKS_OMEGA",
            ),
            ("nodes=1\narcs=1\ncompressionflags=BLOCKS_ZETA9", "9"),
            ("nodes=1\narcs=1\ncompressionflags=BLOCKS", "BLOCKS"),
            ("nodes=1\narcs=1\ncompressionflags=BLOBS_GAMMA", "BLOBS"),
        ] {
            let reason = Properties::parse(line).unwrap_err();
            assert!(reason.contains(named), "{line:?}: {reason}");
        }
    }
}
