//! What surrounds links, from plain pages to hostile ones.

use encoding_rs::SHIFT_JIS;
use proptest::prelude::*;
use url::Url;

use super::*;
use crate::{LinkOptions, Source, analyze, analyze_with_contexts};

fn links_of(body: &[u8], content_type: &str) -> Vec<crate::Link> {
    let source = Source {
        body,
        content_type: Some(content_type),
        url: &Url::parse("http://example.org/").unwrap(),
        robots_agent: "junkai",
        x_robots_tag: &[],
        link_headers: &[],
        detect_language: false,
    };
    let options = LinkOptions {
        requisites: false,
        ..LinkOptions::default()
    };
    let analysis = analyze_with_contexts(&source, &options);
    let mut without = analysis.clone();
    for link in &mut without.links {
        assert!(link.context.take().is_some());
    }
    assert_eq!(analyze(&source, &options), without);
    analysis.links
}

fn contexts(html: &str) -> Vec<LinkContext> {
    let links = links_of(html.as_bytes(), "text/html; charset=utf-8");
    let contexts = links.into_iter().map(|link| *link.context.unwrap());
    contexts.collect()
}

#[track_caller]
fn check_texts(html: &str, expected: &[&str]) {
    let texts: Vec<String> = contexts(html).into_iter().map(|c| c.text).collect();
    assert_eq!(texts, expected, "{html}");
}

#[track_caller]
fn check_paths(html: &str, expected: &[&str]) {
    let paths: Vec<String> = contexts(html).into_iter().map(|c| c.tag_path).collect();
    assert_eq!(paths, expected, "{html}");
}

#[test]
fn a_link_has_the_text_that_a_reader_sees() {
    check_texts(
        "<a href=1> Data \n of&nbsp;<b>2024</b> </a> no",
        &["Data of 2024"],
    );
    check_texts("<a href=1>one<a href=2>two", &["one", "two"]);
    check_texts("<a href=1><script>x</script>a<!-- b -->c</a>", &["ac"]);
    check_texts("<a href=1>1 < 2 &amp; 3</a>", &["1 < 2 & 3"]);
    check_texts("<p>a</p>", &[]);
}

#[test]
fn a_link_without_text_is_named_by_what_stands_for_it() {
    check_texts(
        "<a href=1><img src=x alt='Download  CSV'></a>",
        &["Download CSV"],
    );
    check_texts("<a href=1><img src=x alt=x>word</a>", &["word"]);
    check_texts("<a href=1 title=t aria-label=l></a>", &["l"]);
    check_texts(
        "<map><area href=1 alt=North><area href=2></map>",
        &["North", ""],
    );
    // The second link to a page may be the one that says what it is.
    check_texts("<a href=1></a><a href=1>name</a>", &["name"]);
}

#[test]
fn a_tag_path_goes_from_the_root_to_the_link() {
    check_paths(
        "<html><body class='b  c' id=top><DIV><ul class=files><li><a class=x href=1>1</a><li><a href=2>2</a></ul></DIV><a href=3>",
        &[
            "html body#top.b.c div ul.files li a.x",
            "html body#top.b.c div ul.files li a",
            "html body#top.b.c a",
        ],
    );
}

#[test]
fn end_tags_may_be_left_out() {
    check_paths("<p>a<p>b<a href=1>x</a><div><a href=2>y", &["p a", "div a"]);
    check_paths(
        "<dl><dt>a<dd><a href=1>x</a><dt><a href=2>y</dl>",
        &["dl dd a", "dl dt a"],
    );
    check_paths(
        "<table><tr><td>1<td><a href=1>x</a><tr><td><a href=2>y</a></table><a href=3>",
        &["table tr td a", "table tr td a", "a"],
    );
    // One that ends nothing that is open, and one for what is around the table.
    check_paths(
        "<div><table><tr><td></span></div><a href=1>x",
        &["div table tr td a"],
    );
    check_paths(
        "<ul><li><ul><li><a href=1>x</a></ul><li><a href=2>y",
        &["ul li ul li a", "ul li a"],
    );
}

#[test]
fn a_row_stands_beside_its_links_and_the_next_row_does_not() {
    let rows =
        "<tr><td><a href=1>Age</a></td><td>48</td><td>107</td></tr><tr><td><a href=2>City</a><td>1";
    let beside: Vec<String> = contexts(&format!("<table>{rows}</table>"))
        .into_iter()
        .map(|c| c.beside)
        .collect();
    assert_eq!(beside, ["Age 48 107", "City 1"]);
    let list = contexts(
        "<p>intro</p><ul><li>Population (<a href=1>CSV</a>, 3 MB)<li><a href=2>b</a></ul>",
    );
    assert_eq!(list[0].beside, "Population (CSV, 3 MB)");
    assert_eq!(list[1].beside, "b");
}

#[test]
fn links_in_fallback_content_have_contexts() {
    check_texts(
        "<p><noscript><a href=1>no script</a></noscript><a href=2>b</a>",
        &["no script", "b"],
    );
}

#[test]
fn other_encodings_are_read() {
    let (body, _, _) = SHIFT_JIS.encode("<p class=表><a href=1>人口統計 表</a>");
    let links = links_of(&body, "text/html; charset=shift_jis");
    let context = links[0].context.as_deref().unwrap();
    assert_eq!(
        (&*context.text, &*context.tag_path),
        ("人口統計 表", "p.表 a")
    );
    let utf_16: Vec<u8> = "<p><a href=1>統計</a>"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let links = links_of(&utf_16, "text/html; charset=utf-16le");
    assert_eq!(links[0].context.as_deref().unwrap().text, "統計");
}

#[test]
fn hostile_nesting_and_length_are_bounded() {
    for unit in [
        "<div>",
        "<p>",
        "<a href=1>",
        "<b class=",
        "<table>",
        "<!--",
        "<li><a href=2>",
        "<",
        "</",
        "<i id='",
    ] {
        let html = format!("{}<a href=9>{}", unit.repeat(100_000), "w ".repeat(100_000));
        for context in contexts(&html) {
            assert_bounded(&context);
        }
    }
    let deep = contexts(&format!("{}<a href=1>x", "<div class=c>".repeat(40)));
    assert_eq!(deep[0].tag_path.split(' ').count(), PATH_ELEMENTS_MAX);
}

fn assert_bounded(context: &LinkContext) {
    assert!(context.text.len() <= TEXT_BYTES_MAX);
    assert!(context.beside.len() <= BESIDE_BYTES_MAX);
    assert!(context.tag_path.len() <= PATH_ELEMENTS_MAX * (ELEMENT_BYTES_MAX + 1));
}

proptest! {
    #[test]
    fn contexts_change_nothing_else_of_a_page(
        tags in "(<a href=[1-5]>|</a>|<li>|</ul>|<table>|<tr>|<td>|</td>|<p class='a|'|>|[a-z ]{1,3}|<!--|-->|<script>|</script>|<noscript>|</noscript>){0,60}",
        bytes: Vec<u8>,
    ) {
        // `links_of` compares with the page read without contexts.
        for body in [tags.as_bytes(), &bytes] {
            for link in links_of(body, "text/html") {
                assert_bounded(&link.context.unwrap());
            }
        }
    }
}
