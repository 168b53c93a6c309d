use super::*;
use proptest::prelude::*;

fn split(words: &Words, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    words.each(text, |word| found.push(word.to_owned()));
    found
}

#[track_caller]
fn check(words: &Words, text: &str, expected: &[&str]) {
    assert_eq!(split(words, text), expected, "{text}");
}

#[test]
fn words_are_found_in_any_language() {
    let words = Words::new();
    check(
        &words,
        "The Population, by age (2020)",
        &["the", "population", "by", "age", "2020"],
    );
    check(
        &words,
        "don't 3.14 1,000 a_b",
        &["don't", "3.14", "1,000", "a_b"],
    );
    check(
        &words,
        "統計データのダウンロード",
        &["統計", "データ", "の", "ダウンロード"],
    );
    check(&words, "Bevölkerung été", &["bevölkerung", "été"]);
    check(&words, "", &[]);
    check(&words, " \u{0} \n -- ", &[]);
    assert!(1 < split(&words, "สถิติประชากร").len());
}

#[test]
fn forms_of_one_character_are_one() {
    let words = Words::new();
    check(&words, "ＣＳＶ", &["csv"]);
    check(&words, "ﾃﾞｰﾀ", &["データ"]);
    check(&words, "ÉTÉ", &["été"]);
}

#[test]
fn pairs_stand_in_for_words_where_nothing_sets_them_apart() {
    let words = Words::by_script();
    check(
        &words,
        "人口統計のデータ",
        &["人口", "口統", "統計", "の", "データ"],
    );
    check(
        &words,
        "県 GDP統計2020年",
        &["県", "gdp", "統計", "2020", "年"],
    );
    check(
        &words,
        "Bevölkerung, cafe\u{301}!",
        &["bevölkerung", "café"],
    );
}

#[test]
fn places_are_those_of_the_text() {
    for words in [Words::new(), Words::by_script()] {
        let text = "The ＣＳＶ of 人口";
        let mut found = Vec::new();
        words.each_at(text, |range, _| found.push(&text[range]));
        assert_eq!(found, ["The", "ＣＳＶ", "of", "人口"]);
    }
}

#[test]
fn what_is_too_long_is_no_word() {
    for words in [Words::new(), Words::by_script()] {
        for long in ["x".repeat(1 << 20), "é".repeat(1 << 20)] {
            let text = format!("a {long} b");
            assert_eq!(split(&words, &text)[0], "a");
            assert!(
                split(&words, &text)
                    .iter()
                    .all(|word| word.len() <= 3 * WORD_BYTES_MAX)
            );
        }
    }
}

/// A dictionary of three words, in MeCab's format.
fn small_dictionary(folder: &Path) {
    let files = [
        (
            "words.csv",
            "人口,0,0,100,名詞,一般\nを,0,0,100,助詞,格助詞\n見る,0,0,100,動詞,自立\n",
        ),
        ("matrix.def", "1 1\n0 0 0\n"),
        ("char.def", "DEFAULT 0 1 0\n"),
        ("unk.def", "DEFAULT,0,0,5000,名詞,サ変接続\n"),
    ];
    for (name, text) in files {
        let (bytes, _, _) = encoding_rs::EUC_JP.encode(text);
        fs_err(std::fs::write(folder.join(name), bytes));
    }
}

fn fs_err(result: std::io::Result<()>) {
    result.expect("a file in a temporary folder");
}

#[test]
fn a_dictionary_leaves_the_nouns() {
    let folder = tempfile::tempdir().unwrap();
    small_dictionary(folder.path());
    let words = Words::with_dictionary(folder.path()).unwrap();
    check(&words, "人口を見る GDP", &["人口", "gdp"]);
}

#[test]
fn a_folder_without_a_dictionary_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |folder: &Path| Words::with_dictionary(folder).unwrap_err().to_string();
    assert!(refused(folder.path()).contains("mecab-ipadic"));
    assert!(refused(&folder.path().join("absent")).contains("cannot read"));
    small_dictionary(folder.path());
    fs_err(std::fs::write(
        folder.path().join("matrix.def"),
        "no matrix",
    ));
    assert!(refused(folder.path()).contains("MeCab"));
}

#[test]
fn what_counts_as_folded_is() {
    let folded: String = ('\0'..=char::MAX)
        .filter(|character| is_folded(*character))
        .collect();
    let normal = ComposingNormalizerBorrowed::new_nfkc().normalize(&folded);
    assert_eq!(normal.to_lowercase(), folded);
}

/// The words that ICU finds in the whole text.
fn by_icu(text: &str) -> Vec<&str> {
    let segmenter = WordSegmenter::new_auto(WordBreakInvariantOptions::default());
    let mut found = Vec::new();
    unicode(segmenter, text, &mut |range| found.push(&text[range]));
    found
}

proptest! {
    #[test]
    fn ascii_is_split_as_icu_does(text in "([a-cA-C]|[0-2]|[_.',;:\"&/\\- -]|[ -~]){0,40}") {
        let mut found = Vec::new();
        Words::new().each_at(&text, |range, _| found.push(&text[range]));
        prop_assert_eq!(found, by_icu(&text));
    }

    #[test]
    fn a_text_is_split_as_icu_does(text in "([a-c]|[0-2]|[ .,']|統計|人口|の|データ|é|д|、)*") {
        let mut found = Vec::new();
        Words::new().each_at(&text, |range, _| found.push(&text[range]));
        prop_assert_eq!(found, by_icu(&text));
    }

    #[test]
    fn any_text_is_survived(text: String) {
        for words in [Words::new(), Words::by_script()] {
            let mut end = 0;
            words.each_at(&text, |range, word| {
                assert!(!word.is_empty());
                assert!(end < range.end);
                end = range.end;
            });
        }
    }
}
