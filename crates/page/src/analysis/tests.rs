//! What pages yield, from plain to hostile.

use encoding_rs::{BIG5, EUC_JP, Encoding, GBK, ISO_2022_JP, SHIFT_JIS, UTF_8, UTF_16LE};
use proptest::prelude::*;

use super::*;
use crate::link::LinkKind;

const PAGE: &str = "http://example.org/dir/page.html?q";

fn analyze_with(body: &[u8], options: &LinkOptions) -> Analysis {
    analyze_as(body, None, options)
}

fn analyze_as(body: &[u8], content_type: Option<&str>, options: &LinkOptions) -> Analysis {
    let source = Source {
        body,
        content_type,
        url: &Url::parse(PAGE).unwrap(),
        robots_agent: "junkai",
        x_robots_tag: &[],
        link_headers: &[],
        detect_language: false,
    };
    analyze(&source, options)
}

fn page(html: &str) -> Analysis {
    analyze_with(html.as_bytes(), &pages_only())
}

fn pages_only() -> LinkOptions {
    LinkOptions {
        requisites: false,
        ..LinkOptions::default()
    }
}

fn with_requisites(html: &str) -> Analysis {
    analyze_with(html.as_bytes(), &LinkOptions::default())
}

fn urls(analysis: &Analysis) -> Vec<&str> {
    analysis.links.iter().map(|link| &*link.url).collect()
}

fn kinds(analysis: &Analysis) -> Vec<(&str, LinkKind)> {
    let short = |url| str::strip_prefix(url, "http://example.org/dir/").unwrap_or(url);
    analysis
        .links
        .iter()
        .map(|link| (short(&*link.url), link.kind))
        .collect()
}

#[test]
fn every_linking_element_links() {
    let analysis = page(
        r#"<html><head><link rel="canonical" href="canonical"><link rel=alternate hreflang=de href=german>
        <link rel=alternate type="application/rss+xml" href=rss><link rel=next href=next><link rel=prev href=prev>
        <link rel=license href=license><link rel=sitemap href=sitemap.xml><link rel=stylesheet href=style.css>
        <link rel=preconnect href="https://other.example"><link href=nothing>
        <meta http-equiv=Refresh content="5; url=refreshed"></head>
        <frameset><frame src=frame></frameset><body><a href="anchor">x</a><map><area href=area></map>
        <iframe src=iframe></iframe><svg><a xlink:href=svg></a></svg><img src=image>"#,
    );
    assert_eq!(
        kinds(&analysis),
        [
            ("canonical", LinkKind::Canonical),
            ("german", LinkKind::Alternate),
            ("rss", LinkKind::Feed),
            ("next", LinkKind::Next),
            ("prev", LinkKind::Previous),
            ("license", LinkKind::Related),
            ("sitemap.xml", LinkKind::Sitemap),
            ("refreshed", LinkKind::MetaRefresh),
            ("frame", LinkKind::Frame),
            ("anchor", LinkKind::Anchor),
            ("area", LinkKind::Area),
            ("iframe", LinkKind::Iframe),
            ("svg", LinkKind::Anchor),
        ]
    );
}

#[test]
fn requisites_are_links_unless_only_pages_are_wanted() {
    let html = r#"<link rel=stylesheet href=css><link rel="shortcut icon" href=icon><link rel=preload href=font>
        <script src=js></script><body background=back><img src=img srcset="img 1x, img2 2x"><picture><source srcset=img3>
        </picture><video src=video poster=poster><source src=source><track src=track></video><audio src=audio></audio>
        <embed src=embed><object data=object></object><input type=IMAGE src=button><input type=text src=no>"#;
    assert_eq!(
        kinds(&with_requisites(html)),
        [
            ("css", LinkKind::Stylesheet),
            ("icon", LinkKind::Icon),
            ("font", LinkKind::Resource),
            ("js", LinkKind::Script),
            ("back", LinkKind::Image),
            ("img", LinkKind::Image),
            ("img2", LinkKind::Image),
            ("img3", LinkKind::Image),
            ("video", LinkKind::Media),
            ("poster", LinkKind::Image),
            ("source", LinkKind::Media),
            ("track", LinkKind::Media),
            ("audio", LinkKind::Media),
            ("embed", LinkKind::Object),
            ("object", LinkKind::Object),
            ("button", LinkKind::Image),
        ]
    );
    assert_eq!(page(html).links, []);
}

/// What one tag needs to be shown, and nothing where only pages are wanted.
#[track_caller]
fn check_requisites(html: &str, expected: &[(&str, LinkKind)]) {
    assert_eq!(kinds(&with_requisites(html)), expected, "{html}");
    let pages = expected.iter().filter(|(_, kind)| !kind.is_requisite());
    let pages: Vec<_> = pages.copied().collect();
    assert_eq!(kinds(&page(html)), pages, "{html}");
}

#[test]
fn style_sheets_in_pages_are_read() {
    use LinkKind::{Resource, Stylesheet};
    check_requisites(
        "<style>@import 'a.css'; b { background: url(b.png) }</style>",
        &[("a.css", Stylesheet), ("b.png", Resource)],
    );
    check_requisites(
        "<p style=\"background: url(&quot;a.png?b&amp;c&quot;)\"><p style='color: red'>",
        &[("a.png?b&c", Resource)],
    );
    check_requisites(
        "<svg><style><![CDATA[a{fill:url(#b)} c{d:url(e.svg#f)}]]></style></svg>",
        &[("e.svg", Resource)],
    );
    check_requisites("<style>a{b:url(data:image/png;base64,AA==)}</style>", &[]);
    let (shift_jis, _, _) = SHIFT_JIS.encode("<style>a{b:'表示'; c:url(表.png)}</style>");
    let content_type = Some("text/html; charset=shift_jis");
    let analysis = analyze_as(&shift_jis, content_type, &LinkOptions::default());
    assert_eq!(urls(&analysis), ["http://example.org/dir/%E8%A1%A8.png"]);
}

#[test]
fn what_scripts_load_later_is_found() {
    use LinkKind::{Iframe, Image, Media, Script};
    check_requisites(
        "<img src='data:,' data-src=a.png data-srcset='b.png 1x, {{c}} 2x'>",
        &[("a.png", Image), ("b.png", Image)],
    );
    check_requisites(
        "<div data-original='x/a.jpg' data-src='some text.'>",
        &[("x/a.jpg", Image)],
    );
    let frame = with_requisites("<IFRAME DATA-SRC=a.html>");
    assert_eq!(kinds(&frame), [("a.html", Iframe)]);
    check_requisites("<script data-src=a.js></script>", &[("a.js", Script)]);
    check_requisites(
        "<video data-src=a.mp4 poster=b.png>",
        &[("b.png", Image), ("a.mp4", Media)],
    );
}

#[test]
fn srcset_and_background_count_wherever_they_stand() {
    use LinkKind::{Image, Resource};
    check_requisites(
        "<picture srcset='a.png, b.png 2x'>",
        &[("a.png", Image), ("b.png", Image)],
    );
    check_requisites("<amp-img srcset=a.png>", &[("a.png", Image)]);
    check_requisites(
        "<link rel=preload as=image href=a.png imagesrcset='b.png 2x'>",
        &[("a.png", Resource), ("b.png", Image)],
    );
    check_requisites(
        "<table background=a.gif><td background=b.gif>",
        &[("a.gif", Image), ("b.gif", Image)],
    );
}

#[test]
fn drawings_need_images_and_other_drawings() {
    use LinkKind::{Image, Script};
    check_requisites(
        "<svg><image xlink:href=a.png /><image href=b.png /><use href='c.svg#d'/><use xlink:href='#e'/>
        <filter><feImage href=f.png /></filter><script href=g.js></script></svg>",
        &[("a.png", Image), ("b.png", Image), ("c.svg", Image), ("f.png", Image), ("g.js", Script)],
    );
    check_requisites("<image src=a.png>", &[("a.png", Image)]);
    // Whatever the base.
    check_requisites("<base href=/><svg><use href='#a'/></svg>", &[]);
}

#[test]
fn a_document_in_an_attribute_is_read_and_those_in_it_are_not() {
    use LinkKind::{Anchor, Iframe, Image, Resource};
    check_requisites(
        "<iframe src=a srcdoc=\"<base href='/no/'><title>b</title><a href='c?d&amp;amp;e'><img src='f'>
        <style>g{h:url(i)}</style><iframe src='j' srcdoc='<a href=no>'>\"></iframe>",
        &[("a", Iframe), ("c?d&e", Anchor), ("f", Image), ("i", Resource), ("j", Iframe)],
    );
}

#[test]
fn the_head_of_an_answer_links_too() {
    let url = Url::parse(PAGE).unwrap();
    let source = Source {
        body: b"<base href=/other/><img src=a>",
        content_type: None,
        url: &url,
        robots_agent: "junkai",
        x_robots_tag: &["nofollow"],
        link_headers: &[
            "<b>; rel=preload; as=style, <c>; rel=next",
            "<d>; rel=\"canonical\", <e>; rel=preconnect, <>; rel=icon, <f>; rel=\"prev nofollow\"",
        ],
        detect_language: false,
    };
    let analysis = analyze(&source, &LinkOptions::default());
    let of_head = [
        ("b", LinkKind::Resource),
        ("c", LinkKind::Next),
        ("d", LinkKind::Canonical),
        ("f", LinkKind::Previous),
    ];
    let image = ("http://example.org/other/a", LinkKind::Image);
    assert_eq!(kinds(&analysis), [&of_head[..], &[image]].concat());
    assert!(analysis.links[3].nofollow);
    let of_file = analyze_headers(&source, &LinkOptions::default());
    assert_eq!(kinds(&of_file), of_head);
    assert!(of_file.robots.nofollow);
    let pages = analyze_headers(&source, &pages_only());
    assert_eq!(kinds(&pages), of_head[1..]);
}

fn style_sheet(body: &[u8], options: &LinkOptions) -> Analysis {
    let source = Source {
        body,
        content_type: Some("text/css"),
        url: &Url::parse(PAGE).unwrap(),
        robots_agent: "junkai",
        x_robots_tag: &[],
        link_headers: &["<font.woff2>; rel=preload"],
        detect_language: false,
    };
    analyze_style_sheet(&source, options)
}

#[test]
fn a_style_sheet_leads_to_what_it_needs() {
    let css =
        "@charset \"euc-jp\"; @import url(a.css); b{c:url(表.png?表) url(#d) url(../e) url(a.css)}";
    let (bytes, _, _) = EUC_JP.encode(css);
    let analysis = style_sheet(&bytes, &LinkOptions::default());
    assert_eq!(
        kinds(&analysis),
        [
            ("font.woff2", LinkKind::Resource),
            ("a.css", LinkKind::Stylesheet),
            ("%E8%A1%A8.png?%E8%A1%A8", LinkKind::Resource),
            ("http://example.org/e", LinkKind::Resource),
        ]
    );
    assert_eq!(analysis.charset, "EUC-JP");
    assert_eq!(kinds(&style_sheet(&bytes, &pages_only())), []);
}

#[test]
fn the_references_of_a_style_sheet_are_bounded() {
    let options = LinkOptions {
        max_links: 2,
        ..LinkOptions::default()
    };
    let analysis = style_sheet("a{b:url(x) url(y) url(z)}".as_bytes(), &options);
    assert_eq!(analysis.links.len(), 2);
    assert!(analysis.truncated_links);
    assert_eq!(analysis.links_left_out, 2);
    let repeated = style_sheet("a{b:url(x)}".repeat(100).as_bytes(), &options);
    assert_eq!(repeated.links.len(), 2);
    assert!(repeated.truncated_links);
}

#[test]
fn values_are_unescaped_and_cleaned() {
    for (html, expected) in [
        (
            "<a href='?a=1&amp;b=2'>",
            "http://example.org/dir/page.html?a=1&b=2",
        ),
        (
            "<a href='?a=1&copy=2'>",
            "http://example.org/dir/page.html?a=1&copy=2",
        ),
        ("<A\nHREF = ' x\n y\t '>", "http://example.org/dir/x%20y"),
        ("<a href=\"&#104;ttp://b/\">", "http://b/"),
        ("<a href=/x/../y>", "http://example.org/y"),
        ("<a href=//other.example/x>", "http://other.example/x"),
        ("<a href='x#fragment'>", "http://example.org/dir/x"),
        ("<a href=HTTPS://EXAMPLE.ORG>", "https://example.org/"),
        ("<a title='>' href=x>", "http://example.org/dir/x"),
        ("<a href=x href=y>", "http://example.org/dir/x"),
        ("<a/href=x/>", "http://example.org/dir/x/"),
        ("<a href='a\0b'>", "http://example.org/dir/a%EF%BF%BDb"),
    ] {
        assert_eq!(urls(&page(html)), [expected], "{html}");
    }
}

#[test]
fn what_is_no_link_is_none() {
    for html in [
        "<a href='javascript:x()'><a href=' JavaScript:x()'><a href=mailto:a@b><a href=data:,x><a href=ftp://a/>",
        "<a href=''><a href='#top'><a href><a name=x>",
        "<!-- <a href=x> --><!-- > <a href=y> -->",
        "<script>'<a href=x>'</script><style><a href=x></style><textarea><a href=x></textarea><title><a href=x></title>",
        "<a href='never closed",
        "<a href=never-closed",
        "< a href=x>",
        "<ahref=x><abbr href=x>",
        "<a href='http://['><a href='http://a b/'>",
        "<plaintext><a href=x>",
    ] {
        assert_eq!(urls(&page(html)), [""; 0], "{html}");
    }
}

#[test]
fn links_that_a_browser_would_not_show_count() {
    let html = "<noscript><a href=1></noscript><noframes><a href=2></NOFRAMES ><template><a href=3></template>
        <select><option><a href=4></select><noscript><noscript><a href=5></noscript><a href=6><noscript><a href=7>";
    let analysis = page(html);
    let found: Vec<_> = kinds(&analysis).into_iter().map(|(url, _)| url).collect();
    assert_eq!(found, ["1", "2", "3", "4", "6", "7"]);
}

#[test]
fn the_first_base_applies_to_all_links() {
    let html = "<a href=a><base target=x><base href='/b/'><base href='/c/'><a href=d><a href='#e'>";
    let analysis = page(html);
    assert_eq!(analysis.base.as_deref(), Some("http://example.org/b/"));
    assert_eq!(
        urls(&analysis),
        [
            "http://example.org/b/a",
            "http://example.org/b/d",
            "http://example.org/b/"
        ]
    );
}

#[test]
fn a_bad_base_is_no_base() {
    for base in ["javascript:x", "data:text/html,x", "http://["] {
        let analysis = page(&format!("<base href='{base}'><base href='/c/'><a href=d>"));
        assert_eq!(analysis.base, None, "{base}");
        assert_eq!(urls(&analysis), ["http://example.org/dir/d"], "{base}");
    }
}

#[test]
fn a_url_is_linked_once_as_page_and_once_as_requisite() {
    let html = "<a href=x><img src=x><a href='./x#y'><area href=/dir/x><img src=x>";
    assert_eq!(
        kinds(&with_requisites(html)),
        [("x", LinkKind::Anchor), ("x", LinkKind::Image)]
    );
}

#[test]
fn nofollow_is_of_the_link_and_one_follow_outweighs_it() {
    let nofollows = |html| {
        let nofollow = |link: &Link| link.nofollow;
        page(html).links.iter().map(nofollow).collect::<Vec<_>>()
    };
    assert_eq!(
        nofollows("<a rel='noopener nofollow' href=x><a rel=me href=y>"),
        [true, false]
    );
    assert_eq!(
        nofollows("<a rel=ugc href=x><a href=x><a rel=sponsored href=x>"),
        [false]
    );
}

#[test]
fn robots_are_asked_in_head_and_header() {
    let body = "<meta name=ROBOTS content='noindex'><meta name=otherbot content=nofollow>";
    let mut source = Source {
        body: body.as_bytes(),
        content_type: None,
        url: &Url::parse(PAGE).unwrap(),
        robots_agent: "junkai",
        x_robots_tag: &["otherbot: nofollow", "junkai: noarchive"],
        link_headers: &[],
        detect_language: false,
    };
    let expected = RobotsMeta {
        noindex: true,
        nofollow: false,
        noarchive: true,
    };
    assert_eq!(analyze(&source, &LinkOptions::default()).robots, expected);
    source.x_robots_tag = &[];
    source.robots_agent = "otherbot";
    let expected = RobotsMeta {
        noindex: true,
        nofollow: true,
        noarchive: false,
    };
    assert_eq!(analyze(&source, &LinkOptions::default()).robots, expected);
}

#[test]
fn title_and_language_are_what_the_page_says() {
    let analysis =
        page("<html lang=de-AT><title>\n A &amp; B </title><body><svg><title>C</title></svg>");
    assert_eq!(analysis.title.as_deref(), Some("A & B"));
    assert_eq!(
        analysis.language.map(|language| language.code).as_deref(),
        Some("de")
    );
    let analysis = page("<meta http-equiv=content-language content=fr>");
    assert_eq!(
        analysis.language.map(|language| language.code).as_deref(),
        Some("fr")
    );
}

#[test]
fn undeclared_language_is_detected_on_request() {
    let html =
        "<p>Der Crawler folgt den Verweisen von Seite zu Seite und bewahrt jede Fassung auf.</p>"
            .repeat(3);
    let mut source = Source {
        body: html.as_bytes(),
        content_type: None,
        url: &Url::parse(PAGE).unwrap(),
        robots_agent: "junkai",
        x_robots_tag: &[],
        link_headers: &[],
        detect_language: true,
    };
    let detected = analyze(&source, &LinkOptions::default()).language.unwrap();
    assert_eq!(detected.code, "de");
    assert_eq!(detected.source, crate::language::LanguageSource::Detected);
    source.detect_language = false;
    assert_eq!(analyze(&source, &LinkOptions::default()).language, None);
}

#[test]
fn pages_in_any_encoding_yield_the_same() {
    let text = |label: &str| {
        format!(
            "<html><head><meta charset={label}><title>日本表示</title></head>\
             <body><a href='/日本/表.html'>表</a><a href='?q=日本'>本</a></body>"
        )
    };
    for (encoding, query) in [
        (UTF_8, "%E6%97%A5%E6%9C%AC"),
        (SHIFT_JIS, "%93%FA%96{"),
        (EUC_JP, "%C6%FC%CB%DC"),
        (ISO_2022_JP, "%1B$BF|K\\%1B(B"),
        (GBK, "%C8%D5%B1%BE"),
        (BIG5, "%A4%E9%A5%BB"),
    ] {
        let text = text(encoding.name());
        let (body, _, lossy) = encoding.encode(&text);
        assert!(!lossy);
        let analysis = analyze_with(&body, &LinkOptions::default());
        assert_eq!(analysis.charset, encoding.name());
        assert_eq!(analysis.charset_source, CharsetSource::Meta);
        assert_eq!(analysis.title.as_deref(), Some("日本表示"));
        let expected = [
            "http://example.org/%E6%97%A5%E6%9C%AC/%E8%A1%A8.html".to_owned(),
            format!("http://example.org/dir/page.html?q={query}"),
        ];
        assert_eq!(urls(&analysis), expected, "{}", encoding.name());
    }
}

#[test]
fn utf_16_is_decoded_first() {
    let mut body = vec![0xFF, 0xFE];
    body.extend(
        "<title>日本</title><a href='日?本'>"
            .encode_utf16()
            .flat_map(u16::to_le_bytes),
    );
    let analysis = analyze_with(&body, &LinkOptions::default());
    assert_eq!(analysis.charset, UTF_16LE.name());
    assert_eq!(analysis.title.as_deref(), Some("日本"));
    assert_eq!(
        urls(&analysis),
        ["http://example.org/dir/%E6%97%A5?%E6%9C%AC"]
    );
}

#[test]
fn the_header_outweighs_the_page() {
    let (body, _, _) = SHIFT_JIS.encode("<meta charset=utf-8><title>表</title>");
    let analysis = analyze_as(
        &body,
        Some("text/html; charset=sjis"),
        &LinkOptions::default(),
    );
    assert_eq!(
        (analysis.charset, analysis.title.as_deref()),
        ("Shift_JIS", Some("表"))
    );
}

#[test]
fn links_and_their_lengths_are_limited() {
    let options = LinkOptions {
        max_links: 3,
        max_url_length: 30,
        requisites: false,
    };
    let html = "<a href=1><a href=1><a href=1><a href=2><a href=aaaaaaaaaaaaaaaaaaaa><a href=3>";
    let analysis = analyze_with(html.as_bytes(), &options);
    assert_eq!((analysis.links.len(), analysis.truncated_links), (3, false));
    assert_eq!(analysis.links_left_out, 1, "the long one");
    let analysis = analyze_with(format!("{html}<a href=4>").as_bytes(), &options);
    assert_eq!((analysis.links.len(), analysis.truncated_links), (3, true));
    assert_eq!(analysis.links_left_out, 2);
    // References are limited even if they all name one page.
    let analysis = analyze_with("<a href=1>".repeat(100).as_bytes(), &options);
    assert_eq!((analysis.links.len(), analysis.truncated_links), (1, true));
}

/// One unit over and over, between an opening and a closing, before a link.
type Hostile = (&'static str, &'static str, usize, &'static str);

#[rustfmt::skip]
const LINK_IS_FOUND: [Hostile; 19] = [
    ("", "<div>", 100_000, ""),
    ("", "<div></p>", 50_000, ""),
    ("", "<a href=found>", 20_000, ""),
    ("<a ", "x=1 ", 200_000, "href=found>"),
    ("<a ", "href=found ", 200_000, ">"),
    ("<a href='", "x", 10 << 20, "'>"),
    ("<", "x", 10 << 20, ">"),
    ("<img srcset='", "a,", 1 << 20, "'>"),
    ("<a href='", "&amp;", 1 << 20, "'>"),
    ("<link href=x rel='", "a ", 1 << 20, "'>"),
    ("<meta name=robots content='", "a,", 1 << 20, "'>"),
    ("", "<!-->", 100_000, ""),
    ("", "<", 1 << 20, ""),
    ("", "\0", 1 << 20, ""),
    ("", "<table><tr><td>", 30_000, ""),
    ("", "<svg><foreignObject>", 30_000, ""),
    ("", "<b><p><i></b>", 30_000, ""),
    ("", "<title></title>", 100_000, ""),
    ("", "<noscript><a></noscript>", 3_000, ""),
];

#[rustfmt::skip]
const LINK_IS_SWALLOWED: [Hostile; 5] = [
    ("", "<script>", 100_000, ""),
    ("", "<noscript>", 100_000, ""),
    ("<select>", "<xmp><script>", 10_000, ""),
    ("<!--", "-", 1 << 20, " "),
    ("<p title='", "x", 10 << 20, ""),
];

#[test]
fn hostile_pages_are_read_to_their_end() {
    for (table, links) in [(&LINK_IS_FOUND[..], 1), (&LINK_IS_SWALLOWED[..], 0)] {
        for (open, unit, times, close) in table {
            let html = format!("{open}{}{close}<a href=found>", unit.repeat(*times));
            let analysis = with_requisites(&html);
            let is_found = |link: &&Link| link.url.ends_with("/found");
            assert_eq!(
                analysis.links.iter().filter(is_found).count(),
                links,
                "{open}{unit}"
            );
        }
    }
}

#[test]
fn nesting_costs_nothing() {
    let html = format!("<a href=1></a>{}<a href=2>", "<div>".repeat(2_000_000));
    let analysis = page(&html);
    assert_eq!((analysis.links.len(), analysis.truncated_links), (2, false));
}

#[test]
fn an_analysis_is_plain_json() {
    let analysis = page("<a rel=nofollow href=x>");
    let json = serde_json::to_value(&analysis).unwrap();
    assert_eq!(
        json["links"][0],
        serde_json::json!({"url": "http://example.org/dir/x", "kind": "anchor", "nofollow": true})
    );
    assert_eq!(json["charset_source"], "default");
}

/// The links of a page by the slow way: the standard's own words on a grammar without surprises.
fn plain_page() -> impl Strategy<Value = (String, Vec<String>)> {
    let element = prop_oneof![
        "[a-z]{1,8}".prop_map(|path| (format!("<a href=\"/{path}\">"), Some(path))),
        "[a-z]{1,8}".prop_map(|path| (format!("<area alt='>' href=/{path} >"), Some(path))),
        "[a-z]{1,8}".prop_map(|path| (format!("<!-- <a href=/{path}> -->"), None)),
        "[a-z]{1,8}".prop_map(|path| (format!("<script>\"<a href=/{path}>\"</script>"), None)),
        "[a-z &]{0,20}".prop_map(|text| (format!("<p class=\"<a href=/no>\">{text}</p>"), None)),
    ];
    proptest::collection::vec(element, 0..30).prop_map(|elements| {
        let mut html = String::new();
        let mut links: Vec<String> = Vec::new();
        for (source, path) in elements {
            html.push_str(&source);
            if let Some(path) = path {
                let url = format!("http://example.org/{path}");
                if !links.contains(&url) {
                    links.push(url);
                }
            }
        }
        (html, links)
    })
}

proptest! {
    #[test]
    fn plain_pages_yield_their_links_in_order((html, links) in plain_page()) {
        let analysis = page(&html);
        prop_assert_eq!(urls(&analysis), links);
    }

    #[test]
    fn whatever_comes_out_is_within_its_bounds(
        bytes: Vec<u8>,
        tags in "(<a href=|<base href=|<img srcset='|'|>|[a-z:/?#&; ]{1,3}|<!--|-->|<script>|</script>){0,60}",
        encoding in prop_oneof![Just(UTF_8), Just(SHIFT_JIS), Just(ISO_2022_JP), Just(UTF_16LE)],
    ) {
        let options = LinkOptions { max_links: 5, max_url_length: 40, requisites: true };
        let content_type = format!("text/html; charset={}", Encoding::name(encoding));
        for body in [&bytes[..], tags.as_bytes()] {
            let analysis = analyze_as(body, Some(&content_type), &options);
            prop_assert!(analysis.links.len() <= options.max_links);
            for link in &analysis.links {
                prop_assert!(link.url.len() <= options.max_url_length);
                prop_assert!(link.url.starts_with("http"));
                prop_assert!(!link.url.contains('#'));
                prop_assert_eq!(Url::parse(&link.url).unwrap().as_str().len(), link.url.len());
            }
        }
    }
}
