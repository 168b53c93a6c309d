//! SURT keys equal those that pywb and cdxj-indexer compute.
//!
//! The table was written by the real tools; `fixtures/write_surt_tsv.py` says how.

use junkai_weburl::surt;

const TABLE: &str = include_str!("fixtures/surt.tsv");
const PAIRS_MIN: usize = 900;

#[test]
fn keys_are_those_of_the_real_tools() {
    let mut pairs = 0;
    let mut wrong = Vec::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let (url, key) = line.split_once('\t').expect("two columns");
        let url: String = serde_json::from_str(url).expect("a JSON string");
        let key: String = serde_json::from_str(key).expect("a JSON string");
        pairs += 1;
        if surt(&url) != key {
            wrong.push(format!("{url:?}\n  is {:?}\n  not {key:?}", surt(&url)));
        }
    }
    assert!(PAIRS_MIN <= pairs, "only {pairs} pairs");
    assert!(
        wrong.is_empty(),
        "{} of {pairs} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
