use std::fs;

use jiff::Timestamp;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use proptest::prelude::*;
use serde_json::Value;
use url::Url;

use super::*;
use crate::data_file::{Bounds, Format, Hints, Period, inspect};

const PAGE: &str = r#"<!doctype html><html lang="ja"><head><title>統計表一覧 | 例市</title>
    <meta property="og:site_name" content="例市統計ポータル"><link rel="license" href="/terms">
    <script type="application/ld+json">{"@context":"https://schema.org","@type":"Dataset","name":"人口","publisher":{"@type":"Organization","name":"例市総務局"}}</script></head>
    <body><h1>人口統計</h1><h2>年齢別人口</h2><ul><li>年齢（5歳階級）別人口の推移 <a href="/data/population.csv">CSV</a></li></ul>
    <h2>世帯</h2><p><a href="households.xlsx">世帯数の推移（平成27年〜令和2年）</a></p></body></html>"#;
const CSV: &str =
    "年齢別人口（単位：人）,,\n年齢,2015年,2020年\n総数,1000,1100\n0～4歳,50,45\n5～9歳,52,50\n";

fn found(second: i64, csv: &str) -> Entry {
    let url = "https://www.example.jp/data/population.csv";
    let page_url = Url::parse("https://www.example.jp/stat/").unwrap();
    let page = PageFacts::read(PAGE.as_bytes(), Some("text/html"), &page_url);
    let hints = Hints {
        url,
        ..Hints::default()
    };
    let inspection = inspect(csv.as_bytes(), &hints, &Bounds::default());
    let finding = Finding {
        url,
        site: "example.jp",
        inspection: &inspection,
        page: Some(&page),
        bytes: csv.len() as u64,
        captured: Timestamp::from_second(second).unwrap(),
        digest: &format!("sha1:{csv:.9}{}", csv.len()),
        probability: 0.9,
    };
    finding.entry().unwrap()
}

fn entry(url: &str, title: &str) -> Entry {
    Entry {
        url: url.to_owned(),
        site: "example.org".to_owned(),
        title: title.to_owned(),
        digest: "sha1:A".to_owned(),
        ..Entry::default()
    }
}

fn urls(folder: &Path) -> Vec<String> {
    let mut lines = Lines::open(folder).unwrap();
    let mut urls = Vec::new();
    while let Some(entry) = lines.next_entry().unwrap() {
        urls.push(entry.url);
    }
    urls
}

#[test]
fn an_entry_joins_what_is_in_the_file_and_what_leads_to_it() {
    let entry = found(1, CSV);
    assert_eq!(entry.title, "年齢別人口（単位：人）");
    assert_eq!(entry.link_text, "CSV");
    assert!(
        entry
            .context
            .starts_with("人口統計 › 年齢別人口 › 年齢（5歳階級）別人口の推移"),
        "{}",
        entry.context
    );
    assert_eq!(entry.publisher.as_deref(), Some("例市総務局"));
    assert_eq!(
        entry.licence.as_deref(),
        Some("https://www.example.jp/terms")
    );
    assert_eq!(entry.page.as_deref(), Some("https://www.example.jp/stat/"));
    assert_eq!(entry.columns, ["年齢", "2015年", "2020年"]);
    assert_eq!(entry.rows, Some(3));
    assert_eq!(entry.units, ["人"]);
    assert_eq!(entry.language.as_deref(), Some("ja"));
    let period = entry.time_range.unwrap();
    assert_eq!((period.first.year(), period.last.year()), (2015, 2020));
}

#[test]
fn a_link_that_says_something_is_the_title() {
    let page_url = Url::parse("https://www.example.jp/stat/").unwrap();
    let page = PageFacts::read(PAGE.as_bytes(), Some("text/html"), &page_url);
    assert!(page.declares_data);
    let hints = Hints {
        url: "https://www.example.jp/stat/households.xlsx",
        ..Hints::default()
    };
    let inspection = inspect(b"a,b\n1,2\n", &hints, &Bounds::default());
    let finding = Finding {
        url: hints.url,
        site: "example.jp",
        inspection: &inspection,
        page: Some(&page),
        bytes: 8,
        captured: Timestamp::UNIX_EPOCH,
        digest: "sha1:A",
        probability: 0.5,
    };
    assert_eq!(
        finding.entry().unwrap().title,
        "世帯数の推移（平成27年〜令和2年）"
    );
    let alone = Finding {
        page: None,
        ..finding
    };
    assert_eq!(alone.entry().unwrap().title, "households");
}

/// What the catalogue says of a file behind a link of a page in Japanese.
fn linked(url: &str, bytes: &[u8]) -> Option<Entry> {
    let page_url = Url::parse("https://www.example.org/stat/").unwrap();
    let page = PageFacts::read(PAGE.as_bytes(), Some("text/html"), &page_url);
    let hints = Hints {
        url,
        ..Hints::default()
    };
    let inspection = inspect(bytes, &hints, &Bounds::default());
    let finding = Finding {
        url,
        site: "example.org",
        inspection: &inspection,
        page: Some(&page),
        bytes: bytes.len() as u64,
        captured: Timestamp::UNIX_EPOCH,
        digest: "sha1:A",
        probability: 0.9,
    };
    finding.entry()
}

#[test]
fn ideographs_without_kana_are_of_the_language_of_the_page() {
    let csv = "都道府県,人口総数,世帯数\n北海道,5224614,2476846\n青森県,1237984,511526\n岩手県,1210534,492436\n";
    let entry = linked("https://www.example.org/a.csv", csv.as_bytes()).unwrap();
    assert_eq!(entry.language.as_deref(), Some("ja"));
}

#[test]
fn a_table_behind_a_link_is_not_called_after_the_page_that_links_to_it() {
    let table = "<html><body><table><tr><th>Year</th><th>Births</th></tr><tr><td>2019</td><td>10</td></tr>\
        <tr><td>2020</td><td>12</td></tr><tr><td>2021</td><td>13</td></tr></table></body></html>";
    let entry = linked(
        "https://www.example.org/stat/households.xlsx",
        table.as_bytes(),
    )
    .unwrap();
    assert_eq!(entry.title, "世帯数の推移（平成27年〜令和2年）");
}

#[test]
fn a_file_that_nobody_can_read_is_not_listed() {
    let answer = b"<!doctype html><html><body><p>Not found</p></body></html>";
    for broken in [&b"PK\x03\x04 cut off"[..], b"", answer] {
        let entry = linked("https://www.example.org/stat/households.xlsx", broken);
        assert_eq!(entry, None, "{broken:?}");
    }
    let pdf = linked("https://www.example.org/a.pdf", b"%PDF-1.4\n").unwrap();
    assert!(pdf.unread.unwrap().contains("PDF"));
}

#[test]
fn plurals_find_singulars_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let entries = [
        entry("https://a.example/1.csv", "Births and deaths by country"),
        entry("https://a.example/2.csv", "Status of buses"),
    ];
    write(folder.path(), &entries).unwrap();
    for index in [
        Index::open(folder.path()).unwrap().unwrap(),
        Index::in_memory(folder.path()).unwrap(),
    ] {
        for (query, found) in [
            ("birth", 1),
            ("death statistic", 1),
            ("countries", 1),
            ("bus", 0),
            ("buse", 1),
            ("statu", 0),
        ] {
            assert_eq!(index.search(query, 9).unwrap().len(), found, "{query}");
        }
    }
}

#[test]
fn licences_are_found_where_pages_name_them() {
    let url = Url::parse("https://a.example/").unwrap();
    for (html, licence) in [
        (
            "<a rel='license' href='https://a.example/l'>x</a>",
            Some("https://a.example/l"),
        ),
        (
            "<a href='https://creativecommons.org/licenses/by/4.0/'>CC</a>",
            Some("https://creativecommons.org/licenses/by/4.0/"),
        ),
        (
            "<p>This is under the Open Government Licence v3.0",
            Some("Open Government Licence"),
        ),
        (
            "<p>政府標準利用規約（第2.0版）に準拠",
            Some("政府標準利用規約"),
        ),
        (
            "<script type='application/ld+json'>[{\"@type\":[\"Dataset\"],\"license\":{\"@id\":\"https://l.example/\"}}]</script><p>CC0",
            Some("https://l.example/"),
        ),
        ("<script type='application/ld+json'>{broken</script>", None),
        ("<p>nothing", None),
    ] {
        let facts = PageFacts::read(html.as_bytes(), Some("text/html"), &url);
        assert_eq!(facts.licence.as_deref(), licence, "{html}");
    }
}

#[test]
fn a_catalogue_is_merged_by_url_and_keeps_versions() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = write(
        folder,
        &[
            found(1, CSV),
            entry("https://b.example/", "b"),
            entry("https://a.example/", "a"),
        ],
    )
    .unwrap();
    assert_eq!(
        first,
        Written {
            entries: 3,
            added: 3,
            updated: 0,
            damaged: 0
        }
    );
    assert_eq!(
        urls(folder),
        [
            "https://a.example/",
            "https://b.example/",
            "https://www.example.jp/data/population.csv"
        ]
    );
    let longer = format!("{CSV}10～14歳,55,53\n");
    let second = write(
        folder,
        &[
            found(2, &longer),
            entry("https://aa.example/", "aa"),
            found(3, &longer),
        ],
    )
    .unwrap();
    assert_eq!(
        second,
        Written {
            entries: 4,
            added: 1,
            updated: 1,
            damaged: 0
        }
    );
    let mut lines = Lines::open(folder).unwrap();
    let mut last = None;
    while let Some(entry) = lines.next_entry().unwrap() {
        last = Some(entry);
    }
    let last = last.unwrap();
    assert_eq!(last.rows, Some(4));
    assert_eq!(last.versions.len(), 2);
    assert_eq!(last.captured.as_second(), 3);
    // Nothing is left beside the files.
    let left: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 4, "{left:?}");
}

#[test]
fn damaged_lines_are_passed_over_and_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join(LINES_FILE),
        "no entry\n{\"url\":\"https://a.example/\"}\n\n{\"url\":",
    )
    .unwrap();
    let written = write(folder.path(), &[entry("https://b.example/", "b")]).unwrap();
    assert_eq!(
        written,
        Written {
            entries: 2,
            added: 1,
            updated: 0,
            damaged: 2
        }
    );
}

#[test]
fn columns_can_be_read_by_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut with_all = found(1, CSV);
    with_all.time_range = Period::year(1960);
    write(folder.path(), &[with_all, entry("https://a.example/", "a")]).unwrap();
    let file = fs::File::open(folder.path().join(COLUMNS_FILE)).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let rows: Vec<String> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| row.unwrap().to_string())
        .collect();
    assert_eq!(rows.len(), 2);
    for (row, part) in [
        (0, "url: \"https://a.example/\""),
        (0, "columns: []"),
        (0, "rows: null"),
        (0, "first_day: null"),
        (1, "rows: 3"),
        (1, "columns: [\"年齢\", \"2015年\", \"2020年\"]"),
        (1, "first_day: 1960-01-01"),
        (1, "last_day: 1960-12-31"),
        (1, &format!("bytes: {}}}]", CSV.len())),
        (1, "probability: 0.9"),
    ] {
        assert!(rows[row].contains(part), "{part} in {}", rows[row]);
    }
}

#[test]
fn dcat_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[
            found(1, CSV),
            entry("https://a.example/", "a \"quoted\" title"),
        ],
    )
    .unwrap();
    let text = fs::read_to_string(folder.path().join(DCAT_FILE)).unwrap();
    let catalogue: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(catalogue["@type"], "dcat:Catalog");
    let datasets = catalogue["dcat:dataset"].as_array().unwrap();
    assert_eq!(datasets.len(), 2);
    assert_eq!(datasets[0]["dct:title"], "a \"quoted\" title");
    let dataset = &datasets[1];
    assert_eq!(dataset["@type"], "dcat:Dataset");
    assert_eq!(dataset["dct:title"]["@language"], "ja");
    assert_eq!(
        dataset["dct:temporal"]["dcat:endDate"]["@value"],
        "2020-12-31"
    );
    let distribution = &dataset["dcat:distribution"];
    assert_eq!(distribution["@type"], "dcat:Distribution");
    assert_eq!(
        distribution["dcat:downloadURL"]["@id"],
        "https://www.example.jp/data/population.csv"
    );
    assert_eq!(
        distribution["dcat:mediaType"]["@id"],
        "https://www.iana.org/assignments/media-types/text/csv"
    );
    let empty = tempfile::tempdir().unwrap();
    write(empty.path(), &[]).unwrap();
    let text = fs::read_to_string(empty.path().join(DCAT_FILE)).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&text).unwrap()["dcat:dataset"],
        Value::Array(vec![])
    );
}

fn library(folder: &Path) -> Index {
    let mut prefectures = entry(
        "https://stat.example/c01.csv",
        "Population by prefecture, 1920-2020",
    );
    prefectures.columns = ["Prefecture", "Year", "Population (persons)"]
        .map(String::from)
        .to_vec();
    let mut weather = entry("https://weather.example/w.csv", "Daily weather");
    weather.columns = ["date", "rain", "sun"].map(String::from).to_vec();
    weather.context = "The population of stations is listed elsewhere".to_owned();
    let mut japanese = entry("https://stat.example.jp/k.xlsx", "都道府県別人口の推移");
    japanese.format = Format::Xlsx;
    japanese.context = "国勢調査による、ﾃﾞｰﾀは毎年更新".to_owned();
    let cooking = entry("https://food.example/r.html", "料理の作り方");
    write(folder, &[prefectures, weather, japanese, cooking]).unwrap();
    Index::open(folder).unwrap().unwrap()
}

fn titles(index: &Index, query: &str) -> Vec<String> {
    let hits = index.search(query, 10).unwrap();
    hits.into_iter().map(|hit| hit.entry.title).collect()
}

#[test]
fn words_find_files_the_best_first() {
    let folder = tempfile::tempdir().unwrap();
    let index = library(folder.path());
    assert_eq!(
        titles(&index, "population by prefecture"),
        ["Population by prefecture, 1920-2020", "Daily weather"]
    );
    assert_eq!(titles(&index, "RAIN"), ["Daily weather"]);
    assert_eq!(titles(&index, "ｗｅａｔｈｅｒ"), ["Daily weather"]);
    assert!(titles(&index, "nothing of the kind").is_empty());
}

#[test]
fn japanese_is_found_however_it_is_split() {
    let folder = tempfile::tempdir().unwrap();
    let index = library(folder.path());
    for query in [
        "人口",
        "都道府県",
        "府県",
        "県別人口",
        "国勢調査",
        "データ",
        "人口 推移",
    ] {
        assert_eq!(
            titles(&index, query).first().map(String::as_str),
            Some("都道府県別人口の推移"),
            "{query}"
        );
    }
    let hit = &index.search("国勢調査", 1).unwrap()[0];
    assert!(hit.snippet.starts_with("国勢調査による"), "{}", hit.snippet);
}

#[test]
fn no_query_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let index = library(folder.path());
    for query in [
        "",
        "   ",
        "\"",
        "(",
        "AND OR NOT",
        "title:",
        "a:b:c",
        "[1 TO",
        "*",
        "^2",
        "\\",
        "+-",
        "\0",
    ] {
        index.search(query, 10).unwrap();
    }
    assert!(
        index
            .search(&"population ".repeat(100_000), 3)
            .unwrap()
            .len()
            <= 3
    );
    assert!(index.search("population", 0).unwrap().is_empty());
}

#[test]
fn an_index_is_made_anew_where_it_is_missing_or_damaged() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Index::open(folder.path()).unwrap().is_none());
    library(folder.path());
    fs::write(
        folder.path().join(INDEX_FOLDER).join("meta.json"),
        "damaged",
    )
    .unwrap();
    assert!(Index::open(folder.path()).is_err());
    write(folder.path(), &[entry("https://new.example/", "new")]).unwrap();
    let index = Index::open(folder.path()).unwrap().unwrap();
    assert_eq!(index.count().unwrap(), 5);
    assert_eq!(titles(&index, "rain"), ["Daily weather"]);
}

proptest! {
    #[test]
    fn any_page_says_something_or_nothing(html in "(<|</|>|h1|h2|a href=|meta name=|'|x.csv|script type=application/ld\\+json>|\\{|\\}|\"@type\"|:|人口| ){0,60}") {
        let url = Url::parse("https://a.example/").unwrap();
        let facts = PageFacts::read(html.as_bytes(), Some("text/html; charset=utf-8"), &url);
        prop_assert!(facts.links.len() <= html.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_catalogue_is_what_a_map_would_be(batches in prop::collection::vec(prop::collection::vec((0_u8..6, 0_u8..3), 0..6), 1..4)) {
        let folder = tempfile::tempdir().unwrap();
        let mut map = std::collections::BTreeMap::<String, Entry>::new();
        for batch in batches {
            let mut entries = Vec::new();
            for (page, version) in batch {
                let mut entry = entry(&format!("https://{page}.example/"), "t");
                entry.digest = format!("sha1:{version}");
                map.entry(entry.url.clone()).or_default().update(entry.clone());
                entries.push(entry);
            }
            write(folder.path(), &entries).unwrap();
        }
        let mut lines = Lines::open(folder.path()).unwrap();
        for expected in map.values() {
            let found = lines.next_entry().unwrap();
            prop_assert_eq!(found.as_ref(), Some(expected));
        }
        prop_assert!(lines.next_entry().unwrap().is_none());
    }
}
