//! Units of values: named in brackets in a header, after `単位` or `unit`, or in a column of their own.
//!
//! In brackets only what is known as a unit counts, because people put much else there. Where a text says that it names a unit, it is
//! believed.

use super::cell::cut;

/// Units kept of one file.
const UNITS_MAX: usize = 12;
/// A longer text names no unit.
const UNIT_BYTES: usize = 60;

/// What is known as a unit, in lower case; longer ones contain them as words (`千人`, `million euros`).
#[rustfmt::skip]
const KNOWN: [&str; 97] = [
    "%", "％", "‰", "percent", "per cent", "percentage", "パーセント", "ポイント", "index", "指数", "ratio", "比率", "率", "割合",
    "人", "千人", "万人", "persons", "people", "inhabitants", "number", "count", "件", "戸", "世帯", "households", "社", "事業所",
    "箇所", "か所", "校", "台", "両", "隻", "棟", "床", "頭", "羽", "本", "冊", "枚", "個", "回", "日", "時間", "分", "秒", "歳", "年",
    "円", "千円", "万円", "百万円", "億円", "兆円", "ドル", "usd", "us$", "$", "eur", "euro", "euros", "€", "gbp", "£", "pounds", "jpy", "yen", "¥",
    "kg", "g", "t", "トン", "千トン", "tonnes", "tons", "kt", "mt", "km", "m", "cm", "mm", "m2", "㎡", "m²", "km2", "km²", "㎢", "ha", "ヘクタール",
    "kl", "l", "kwh", "mwh", "co2", "℃", "°c",
];
/// Words that make a unit of a known one.
const SCALES: [&str; 8] = [
    "thousand",
    "thousands",
    "million",
    "millions",
    "billion",
    "billions",
    "per",
    "of",
];

/// The units that were found so far, in the order of finding.
#[derive(Debug, Default)]
pub(crate) struct Units {
    found: Vec<String>,
}

impl Units {
    /// Looks for units in a header, a title or a note.
    pub(crate) fn look(&mut self, text: &str) {
        for part in brackets(text) {
            if is_known(part) {
                self.add(part);
            }
        }
        if let Some(named) = named(text) {
            self.add(named);
        }
    }

    /// Takes a text for a unit.
    pub(crate) fn add(&mut self, text: &str) {
        let unit = text.trim_matches(|it: char| it.is_whitespace() || matches!(it, ':' | '：'));
        let unit = bare(unit);
        let is_new = !self.found.iter().any(|known| known == unit);
        if !unit.is_empty() && unit.len() <= UNIT_BYTES && is_new && self.found.len() < UNITS_MAX {
            self.found.push(unit.to_owned());
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    pub(crate) fn into_vec(self) -> Vec<String> {
        self.found
    }
}

/// A text without the brackets around all of it.
fn bare(text: &str) -> &str {
    const PAIRS: [(char, char); 4] = [('(', ')'), ('（', '）'), ('[', ']'), ('【', '】')];
    PAIRS
        .iter()
        .find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close))
        .map_or(text, str::trim)
}

/// Whether a header is that of a column of units.
pub(crate) fn is_unit_header(header: &str) -> bool {
    const HEADERS: [&str; 7] = [
        "unit",
        "units",
        "unit of measure",
        "unit measure",
        "unit_measure",
        "単位",
        "uom",
    ];
    HEADERS.contains(&&*header.trim().to_lowercase())
}

/// Whether the text is a unit, or scales of one.
pub(crate) fn is_known(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    if lower.is_empty() || UNIT_BYTES < lower.len() {
        return false;
    }
    let is_word = |word: &str| KNOWN.contains(&word) || SCALES.contains(&word);
    let mut has_known = KNOWN.contains(&&*lower);
    let words = lower.split(|it: char| it.is_whitespace() || "/／・".contains(it));
    let mut are_words = true;
    for word in words.filter(|word| !word.is_empty()) {
        has_known |= KNOWN.contains(&word);
        are_words &= is_word(word);
    }
    has_known && (are_words || KNOWN.contains(&&*lower))
}

/// What stands in brackets of any kind, without brackets inside.
fn brackets(text: &str) -> impl Iterator<Item = &str> {
    text.split(['(', '（', '[', '［', '【', '〔'])
        .skip(1)
        .take(UNITS_MAX)
        .filter_map(|part| part.split([')', '）', ']', '］', '】', '〕']).next())
}

/// What a text names as its unit: `単位：千円`, `Unit: persons`.
fn named(text: &str) -> Option<&str> {
    const NAMES: [&str; 5] = ["単位", "Units", "Unit", "units", "unit"];
    let (at, name) = NAMES
        .iter()
        .find_map(|name| text.find(name).map(|at| (at, name)))?;
    let rest = text[at + name.len()..].trim_start();
    let rest = rest
        .strip_prefix([':', '：', '=', '＝'])
        .or_else(|| (*name == "単位").then_some(rest))?;
    let end = rest
        .find([')', '）', ']', '］', '】', '〕', '、', ';', '\n', '。'])
        .unwrap_or(rest.len());
    let unit = cut(rest[..end].trim(), UNIT_BYTES);
    (!unit.is_empty() && end <= UNIT_BYTES).then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_are_found_where_people_put_them() {
        for (text, expected) in [
            ("人口（千人）", vec!["千人"]),
            ("Value (%)", vec!["%"]),
            ("GDP [million euros]", vec!["million euros"]),
            ("（単位：百万円、％）", vec!["百万円"]),
            ("単位 人", vec!["人"]),
            ("Unit: kg per capita", vec!["kg per capita"]),
            ("Emissions (kg CO2)", vec!["kg CO2"]),
            ("Tokyo (capital)", vec![]),
            ("United Kingdom", vec![]),
            ("", vec![]),
        ] {
            let mut units = Units::default();
            units.look(text);
            assert_eq!(units.into_vec(), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_names_few_units(text: String) {
            let mut units = Units::default();
            units.look(&text);
            prop_assert!(units.len() <= UNITS_MAX);
        }
    }
}
