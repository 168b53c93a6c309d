//! Words that tell what a table is of: statistics, or a register, a log, a setting.
//!
//! Short lists of general words in Japanese and English; they are found as words in English, and anywhere in Japanese, which does
//! not set words apart.

#[rustfmt::skip]
const STATISTICS: [&str; 70] = [
    "statistic", "statistics", "statistical", "population", "census", "survey", "total", "average", "mean", "median", "rate", "ratio", "share",
    "percent", "percentage", "proportion", "index", "per capita", "number of", "amount", "value", "quantity", "volume", "growth", "income",
    "expenditure", "gdp", "employment", "unemployment", "births", "deaths", "mortality", "production", "consumption", "exports", "imports", "price",
    "prices", "households", "emissions", "by age", "by sex", "by region", "seasonally adjusted", "estimate", "estimates", "forecast", "year", "quarter",
    "month", "統計", "調査", "人口", "世帯", "推移", "推計", "平均", "合計", "総数", "割合", "構成比", "前年比", "増減", "指数", "件数", "人数", "別", "年度", "集計", "率",
];
#[rustfmt::skip]
const REGISTER: [&str; 60] = [
    "id", "uuid", "name", "first name", "last name", "address", "street", "phone", "telephone", "tel", "fax", "email", "e-mail", "mail", "url", "website", "link",
    "file", "filename", "path", "hash", "version", "description", "comment", "type", "status", "level", "message", "timestamp", "user", "username",
    "password", "key", "setting", "default", "option", "translation", "code", "postcode", "zip", "latitude", "longitude", "stop", "route", "departure", "arrival",
    "住所", "所在地", "電話", "電話番号", "氏名", "名称", "郵便番号", "備考", "説明", "時刻", "発", "着", "申請", "様式",
];

/// How many words of statistics a text has.
pub(crate) fn statistics(text: &str) -> usize {
    count(text, &STATISTICS)
}

/// How many words of registers, logs and settings a text has.
pub(crate) fn register(text: &str) -> usize {
    count(text, &REGISTER)
}

/// Whether a text names a total.
pub(crate) fn is_total(text: &str) -> bool {
    const TOTALS: [&str; 12] = [
        "total",
        "totals",
        "grand total",
        "all",
        "sum",
        "overall",
        "合計",
        "総数",
        "計",
        "総計",
        "全国",
        "小計",
    ];
    let text = text.trim();
    TOTALS
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word) || (!word.is_ascii() && text == *word))
}

/// Whether a header is that of a coordinate.
pub(crate) fn is_coordinate(header: &str) -> bool {
    const NAMES: [&str; 14] = [
        "latitude",
        "longitude",
        "lat",
        "lon",
        "lng",
        "long",
        "x",
        "y",
        "geo_lat",
        "geo_lon",
        "easting",
        "northing",
        "緯度",
        "経度",
    ];
    let lower = header.trim().to_lowercase();
    NAMES.contains(&&*lower) || ["緯度", "経度"].iter().any(|name| lower.starts_with(name))
}

/// Whether a text names a source.
pub(crate) fn is_source(text: &str) -> bool {
    const SOURCES: [&str; 8] = [
        "source:",
        "sources:",
        "資料：",
        "資料:",
        "出典：",
        "出典:",
        "（資料）",
        "（出典）",
    ];
    let start: String = text.trim_start().chars().take(10).collect::<String>();
    let start = start.to_lowercase();
    SOURCES.iter().any(|word| start.starts_with(word))
}

fn count(text: &str, words: &[&str]) -> usize {
    let lower = super::cell::cut(text, 1000).to_lowercase();
    words
        .iter()
        .filter(|word| {
            if word.is_ascii() {
                has_word(&lower, word)
            } else {
                lower.contains(*word)
            }
        })
        .count()
}

/// Whether a text has a word, with no letter or digit on either side.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    text.match_indices(word).any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        !is_part(before) && !is_part(bytes.get(at + word.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_as_words() {
        assert_eq!(statistics("Population by age, total"), 3);
        assert_eq!(statistics("birthrate"), 0);
        assert_eq!(statistics("都道府県別人口の推移"), 3);
        assert_eq!(register("name, e-mail and phone"), 4);
        assert_eq!(statistics(""), 0);
        assert!(is_total(" Total ") && is_total("総数") && !is_total("totally"));
        assert!(
            is_source("出典：国勢調査") && is_source("Source: ONS") && !is_source("resource: x")
        );
    }
}
