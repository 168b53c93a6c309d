//! What counts and what does not, as tables; laws as properties.

use proptest::prelude::*;

use super::noise::WordId;
use super::*;

const PARAGRAPH: &str = "The crawler comes back to each page at the pace at which that page changes, and never visits a server \
    more often than it may. Every version that it finds is kept as it was sent.";

fn url(path: &str) -> Url {
    Url::parse("http://example.org/")
        .unwrap()
        .join(path)
        .unwrap()
}

/// The content of an HTML page, on its own.
fn of_html(html: &str) -> Content {
    let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
    of(
        &mut boilerplate,
        html.as_bytes(),
        Some("text/html; charset=utf-8"),
        &url("a"),
    )
    .unwrap()
}

fn of_typed(body: &str, content_type: &str) -> Option<Content> {
    let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
    of(
        &mut boilerplate,
        body.as_bytes(),
        Some(content_type),
        &url("a"),
    )
}

/// A page that says `PARAGRAPH`, and has something between its sentences and beside them.
fn page(inside: &str, beside: &str) -> String {
    format!(
        "<!DOCTYPE html><html><head><title>Making the rounds</title></head><body><h1>Rounds</h1><p>{PARAGRAPH} {inside}</p>{beside}</body></html>"
    )
}

#[track_caller]
fn assert_same(one: &str, other: &str) {
    let [one_content, other_content] = [one, other].map(of_html);
    assert!(one_content.is_same(&other_content), "{one}\n{other}");
    assert_eq!(one_content.fingerprint, other_content.fingerprint);
    assert!((one_content.similarity(&other_content) - 1.0).abs() < f32::EPSILON);
}

#[track_caller]
fn assert_changed(one: &str, other: &str) {
    let [one_content, other_content] = [one, other].map(of_html);
    assert!(!one_content.is_same(&other_content), "{one}\n{other}");
}

/// What may come and go in a text.
const NOISE: [&str; 73] = [
    "2026-11-15",
    "2026-11-15T12:34:56Z",
    "2026-11-15T12:34:56.789+09:00",
    "2026-11-15 12:34",
    "2026/11/15",
    "2026.11.15",
    "15.11.2026",
    "11/15/2026",
    "11/15/26",
    "12:34",
    "12:34:56 UTC",
    "12:34:56 +0900 (JST)",
    "3:05 pm",
    "3 p.m.",
    "Sun, 15 Nov 2026 12:34:56 +0000",
    "Sunday, 15-Nov-26 12:34:56 GMT",
    "Sun Nov 15 12:34:56 2026",
    "15 November 2026",
    "15th of November, 2026",
    "November 15, 2026",
    "November 15th",
    "Nov. 2026",
    "Sunday at 3:05 pm",
    "yesterday at 12:34",
    "3 minutes ago",
    "1 day, 3 hours ago",
    "2h ago",
    "an hour ago",
    "about 3 hours ago",
    "a few seconds ago",
    "just now",
    "2026年11月15日",
    "２０２６年１１月１５日",
    "2026年11月15日(日) 12時34分56秒",
    "2026年11月15日（日曜日）午後3時",
    "2026年11月",
    "令和8年11月15日",
    "令和元年5月1日",
    "11月15日 12:34",
    "12時34分",
    "3分前",
    "2時間前",
    "１週間前",
    "3分钟前",
    "1,234 views",
    "1.2K views",
    "12 comments",
    "1 comment",
    "No comments yet",
    "12 new replies",
    "Views: 1,234",
    "Comments (12)",
    "visitor no. 001234",
    "visitor number 12345",
    "5 users online",
    "generated in 0.123 seconds",
    "rendered in 12 ms",
    "1,234回視聴",
    "12件のコメント",
    "閲覧数: 1,234回",
    "閲覧数 12",
    "アクセスカウンター：001234",
    "コメント（12）",
    "いいね！ 12",
    "本日:12",
    "浏览量：1234",
    "© 2026",
    "Copyright (c) 1998–2026",
    "123e4567-e89b-12d3-a456-426614174000",
    "d41d8cd98f00b204e9800998ecf8427e",
    "aGVsbG8gV29ybGQxMjM0NTY3ODkw",
    "1763209969123",
    "\u{AD}\u{200B}\u{FEFF}",
];

#[test]
fn noise_does_not_count() {
    let plain = of_html(&page("", ""));
    let counts = |noise: &&&str| {
        let block = format!("<div>{noise}</div>");
        let marked = format!("<p><b>{noise}</b></p>");
        let pages = [page(noise, ""), page("", &block), page("", &marked)];
        pages.iter().any(|page| of_html(page) != plain)
    };
    let counted: Vec<_> = NOISE.iter().filter(counts).collect();
    assert_eq!(counted, [""; 0].iter().collect::<Vec<_>>());
}

#[test]
fn markup_does_not_count() {
    let plain = page("", "");
    for (inside, beside) in [
        ("<!-- 12 -->", ""),
        (
            "<script>var a = 'b';</script>",
            "<style>p { color: red }</style>",
        ),
        (
            "<noscript>Enable it</noscript>",
            "<template><p>Not yet</p></template>",
        ),
        (
            "",
            "<svg><title>Icon</title><text>Text</text></svg><select><option>One</select>",
        ),
        (
            "<span hidden>Never</span>",
            "<div style='display: none'>seen <div>at all</div> by anyone</div>",
        ),
        (
            "<img alt='An image'>",
            "<input type=hidden name=csrf value=12345><button>Send</button>",
        ),
        (
            "",
            "<nav><p>A sentence in the navigation, which is not short.</p></nav>",
        ),
        (
            "",
            "<header>The site says hello to every reader of it.</header><footer>And good bye</footer>",
        ),
        ("", "<aside>Beside the content there is more of it.</aside>"),
        (
            "",
            "<div role=navigation>Elsewhere there is more to read</div>",
        ),
        (
            "",
            "<div class='site-footer dark'>Elsewhere <div>there is</div> more to read</div>",
        ),
        ("", "<ul id=main-menu><li>First of all the things</ul>"),
        (
            "",
            "<ul><li><a href=a>Home</a><li><a href=b>About us</a> | <a href=c>Contact</a></ul>",
        ),
        ("", "<p><a href=a>ホーム</a> <a href=b>お問い合わせ</a></p>"),
        (
            "",
            "<div><a href=a><p>Privacy</p><p>Terms of use</p></a></div>",
        ),
    ] {
        assert_same(&plain, &page(inside, beside));
    }
    assert_same(
        &plain,
        &plain
            .replace("<p>", "<div class='lead' id=\"x\">\n\n")
            .replace("</p>", "</div>"),
    );
    assert_same(
        &plain,
        &plain.replace("every version", "every <b>ver</b>sion"),
    );
    assert_same(&plain, &plain.replace(' ', " \n\t&nbsp;"));
}

#[test]
fn the_unicode_form_does_not_count() {
    assert_same("<p>Café ｶﾞｲﾄﾞ １２ ﬁn", "<p>Cafe\u{301} ガイド 12 fin");
    assert_same("<p>caf&eacute; &#x3042;", "<p>café あ");
}

#[test]
fn edits_count() {
    for (one, other) in [
        ("more often", "less often"),
        ("server", "servers"),
        ("never visits", "visits"),
        ("Making the rounds</title>", "Made the rounds</title>"),
        ("<h1>Rounds", "<h1>Ways"),
        ("kept", "sold for $5"),
        ("</p>", " It costs 5.</p>"),
        ("</p>", "</p><p>And more.</p>"),
        ("</p>", "</p><p>日本語の文。</p>"),
        (
            "</p>",
            "</p><article><header><h1>A new article</h1></header></article>",
        ),
        ("</p>", "</p><h2><a href=x>A heading</a></h2>"),
        (
            "</p>",
            "</p><ul><li><a href=x>A headline that says what happened</a></ul>",
        ),
        ("</p>", " See <a href=x>there</a> for more of it.</p>"),
    ] {
        let plain = page("", "");
        assert_changed(&plain, &plain.replacen(one, other, 1));
    }
    for (one, other) in [
        ("It costs $5.", "It costs €5."),
        ("It costs 5.", "It costs 6."),
        ("at 5 °C", "at -5 °C"),
        ("3 of 4 may do so", "3 of 5 may do so"),
        ("価格は千円です。", "価格は二千円です。"),
        ("in 1998 or so", "in 1999 or so"),
        ("2011年のこと", "2012年のこと"),
        ("version 1.2.3", "version 1.2.4"),
        (
            "antidisestablishmentarianism",
            "antidisestablishmentarianist",
        ),
    ] {
        assert_changed(&page(one, ""), &page(other, ""));
    }
}

#[test]
fn a_page_that_was_not_understood_is_taken_whole() {
    assert_changed(
        "<nav><p>All of the page is here, and nowhere else.",
        "<nav><p>All of the page is there, and nowhere else.",
    );
    assert_changed(
        "<ul><li><a href=a>One<li><a href=b>Two",
        "<ul><li><a href=a>One<li><a href=b>Three",
    );
    assert_changed(
        "<body><div hidden>Shown by a script",
        "<body><div hidden>Shown by the script",
    );
    assert_changed("no markup at all", "no markup after all");
    assert_eq!(
        of_html("<title>Only a title</title>"),
        of_html("<p>Only a title")
    );
}

#[test]
fn a_page_without_text_has_no_content() {
    let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
    let url = Url::parse("http://a.example/").unwrap();
    for body in ["", "<img src=a.png><script>draw()</script>"] {
        let content = of(&mut boilerplate, body.as_bytes(), Some("text/html"), &url);
        assert_eq!(content, None, "{body}");
    }
}

#[test]
fn other_kinds_of_text_have_content() {
    for content_type in [
        "text/plain",
        "application/json",
        "application/ld+json",
        "application/xml",
        "application/rss+xml",
    ] {
        let [one, noisy, other] = ["One text, 12:34", "One  text,\n\n12:35", "Other text"]
            .map(|body| of_typed(body, content_type).unwrap());
        assert!(one.is_same(&noisy), "{content_type}");
        assert!(!one.is_same(&other), "{content_type}");
    }
    for content_type in [
        "image/png",
        "text/css",
        "application/javascript",
        "text/csv",
        "image/svg+xml",
        "",
    ] {
        assert_eq!(of_typed("One text", content_type), None, "{content_type}");
    }
    assert_eq!(of_typed("PK\0\0", "text/plain"), None);
}

#[test]
fn feeds_and_sitemaps_have_content() {
    let feed = |date: &str, text: &str| {
        let feed = format!(
            "<?xml version='1.0'?><rss><channel><lastBuildDate>{date}</lastBuildDate><item><title>T</title>\
            <description><![CDATA[<p class=x>{text}</p>]]></description><content>&lt;b id='{date}'&gt;{text}&lt;/b&gt;</content></item></channel></rss>"
        );
        of_typed(&feed, "application/rss+xml").unwrap()
    };
    let first = feed("Sun, 15 Nov 2026 12:34:56 GMT", "News");
    assert_eq!(first, feed("Mon, 16 Nov 2026 01:02:03 GMT", "News"));
    assert_ne!(first, feed("Sun, 15 Nov 2026 12:34:56 GMT", "Olds"));

    let sitemap = |date: &str| {
        let sitemap = format!(
            "<urlset><url><loc>http://example.org/a</loc><lastmod>{date}</lastmod></url></urlset>"
        );
        of_typed(&sitemap, "application/xml").unwrap()
    };
    assert_eq!(sitemap("2026-11-15"), sitemap("2026-11-15"));
    assert_ne!(sitemap("2026-11-15"), sitemap("2026-11-16"));
}

#[test]
fn every_charset_has_the_same_content() {
    let html = "<p>巡回とは、決まった道を順に見て回ることである。";
    let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
    for encoding in [
        encoding_rs::SHIFT_JIS,
        encoding_rs::EUC_JP,
        encoding_rs::ISO_2022_JP,
    ] {
        let (body, _, _) = encoding.encode(html);
        let content_type = format!("text/html; charset={}", encoding.name());
        let content = of(&mut boilerplate, &body, Some(&content_type), &url("a"));
        assert_eq!(content, Some(of_html(html)), "{}", encoding.name());
    }
}

/// A page with a footer that no markup tells from content.
fn footed(number: usize, footer: &str) -> String {
    format!(
        "<p>Page {number}. {PARAGRAPH}</p><p>Also on page {number}: {PARAGRAPH}</p><div>{footer}</div>"
    )
}

#[test]
fn a_change_of_the_whole_site_is_no_change_of_its_pages() {
    let footer = "This site is made by some people who do not mark up their footer";
    let next = "This site was made by other people who do not mark up any footer";
    let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
    let mut visit = |number: usize, footer: &str| {
        let page = footed(number, footer);
        let url = url(&number.to_string());
        of(&mut boilerplate, page.as_bytes(), Some("text/html"), &url).unwrap()
    };
    // The site is learned with the first pages.
    let _ = (0..20).map(|number| visit(number, footer)).count();
    let before: Vec<_> = (0..20).map(|number| visit(number, footer)).collect();
    let after: Vec<_> = (0..20).map(|number| visit(number, next)).collect();
    let changed = before
        .iter()
        .zip(&after)
        .filter(|(one, other)| !one.is_same(other));
    assert_eq!(
        changed.count(),
        PAGES_MIN - 1,
        "the first pages that have it cannot tell"
    );
    // An edit of a page is one all the same.
    let page = footed(3, next).replace("Page 3", "Page three");
    let edited = of(
        &mut boilerplate,
        page.as_bytes(),
        Some("text/html"),
        &url("3"),
    )
    .unwrap();
    assert!(!edited.is_same(&after[3]));
}

#[test]
fn a_page_at_many_addresses_is_still_a_page() {
    let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
    let mut visit = |number: usize, html: &str| {
        let url = url(&format!("a?session={number}"));
        of(&mut boilerplate, html.as_bytes(), Some("text/html"), &url).unwrap()
    };
    let page = page("", "");
    let _ = (0..10).map(|number| visit(number, &page)).count();
    let edited = visit(1, &page.replace("never visits", "visits"));
    assert!(!edited.is_same(&visit(1, &page)));
}

/// Pages that would take hours if any part of them were looked at again and again.
#[test]
fn hostile_pages_come_to_an_end() {
    const LENGTH: usize = 1 << 18;
    for piece in [
        "<div>",
        "<div class=nav>",
        "<nav>",
        "<a href=x>",
        "<a href=x>a",
        "<p",
        "<!--",
        "<!-- -->",
        "</",
        "<script>",
        "</script",
        "<title>",
        "<svg>",
        "a-",
        "1-",
        "a/",
        "&",
        "&#",
        "&amp",
        "1:",
        "1,",
        "12:34:",
        "Sun, ",
        "Nov 1, ",
        "3 days, ",
        "(",
        "年",
        "令和",
        "コメント",
        "a b ",
        "\"",
        "<a title=\"",
        "<x a='b' ",
        "<p class='nav nav-",
        "e\u{301}",
    ] {
        let html = piece.repeat(LENGTH / piece.len());
        for content_type in [
            "text/html; charset=utf-8",
            "application/xml; charset=utf-8",
            "text/plain; charset=utf-8",
        ] {
            let again = of_typed(&html, content_type);
            assert_eq!(of_typed(&html, content_type), again, "{piece}");
        }
    }
}

proptest! {
    /// Noise between any words of any text is no change.
    #[test]
    fn noise_never_counts(
        words in prop::collection::vec("[a-z]{2,9}|[ぁ-ん]{1,4}", 1..60),
        noise in prop::collection::vec((0_usize..60, 0..NOISE.len()), 0..6),
    ) {
        let is_innocent = |word: &&String| {
            // Words of noise would make something else of the noise beside them.
            let of_noise = ["am", "pm", "st", "nd", "rd", "th", "et", "pt"];
            let is_of_noise = of_noise.contains(&word.as_str()) || WordId::of_word(word) != WordId::OTHER;
            !is_of_noise && !NOISE.iter().any(|noise| noise.to_lowercase().contains(word.as_str()))
        };
        let words: Vec<&String> = words.iter().filter(is_innocent).collect();
        // A page that says nothing has no content.
        prop_assume!(!words.is_empty());
        let quiet = words.iter().map(|word| format!("{word}. ")).collect::<Vec<_>>().concat();
        let mut noisy: Vec<String> = words.iter().map(|word| format!("{word}. ")).collect();
        for (at, which) in noise {
            let at = at.min(noisy.len());
            noisy.insert(at, format!("<i>{}</i>. ", NOISE[which]));
        }
        prop_assert_eq!(of_html(&format!("<p>{quiet}")), of_html(&format!("<p>{}", noisy.concat())));
    }

    /// The same bytes are the same content at any two moments, whatever was learned of the site in between.
    #[test]
    fn what_was_learned_changes_no_page(
        pages in prop::collection::vec(prop::collection::vec(0_usize..12, 1..8), 2..30),
        bounds in (0_usize..3, 0_usize..40),
    ) {
        let bounds = BoilerplateBounds { hosts: bounds.0, blocks_per_host: bounds.1 };
        let mut boilerplate = Boilerplate::new(bounds);
        let html = |blocks: &[usize]| -> String {
            let paragraph = |block: &usize| format!("<p>Block {block}: {PARAGRAPH} {block}</p>");
            blocks.iter().map(paragraph).collect::<Vec<_>>().concat()
        };
        let mut first = Vec::new();
        for round in 0..3 {
            for (number, blocks) in pages.iter().enumerate() {
                let url = Url::parse(&format!("http://h{}.example/{number}", number % 3)).unwrap();
                let content = of(&mut boilerplate, html(blocks).as_bytes(), Some("text/html"), &url).unwrap();
                if round == 0 {
                    first.push(content);
                }
                prop_assert!(content.is_same(&first[number]));
                prop_assert!(content.similarity(&first[number]) >= 1.0);
            }
        }
    }

    #[test]
    fn similarity_is_symmetric_and_a_share(one: u128, other: u128) {
        let [one, other] = [one, other].map(Sketch::from_bits);
        let similarity = one.similarity(other);
        prop_assert!((0.0..=1.0).contains(&similarity));
        prop_assert_eq!(similarity.to_bits(), other.similarity(one).to_bits());
        prop_assert!(one.similarity(one) >= 1.0);
    }

    #[test]
    fn any_markup_is_survived(bytes: Vec<u8>, markup in "(<a href=x>|</a>|<div class=nav>|</div>|<script>|</script|<!--|-->|<title>|<|a|&|12:|年|-| )*") {
        let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
        for content_type in ["text/html", "text/plain", "application/xml"] {
            let _ = of(&mut boilerplate, &bytes, Some(content_type), &url("a"));
            let _ = of(&mut boilerplate, markup.as_bytes(), Some(content_type), &url("a"));
        }
    }
}

/// A page as bytes, as the reader of today and the first one read them, one after the other, with what each has learned.
struct Readers {
    boilerplate: Boilerplate,
    boilerplate_of_oracle: Boilerplate,
}

impl Readers {
    fn new() -> Self {
        let bounds = BoilerplateBounds::default();
        Self {
            boilerplate: Boilerplate::new(bounds),
            boilerplate_of_oracle: Boilerplate::new(bounds),
        }
    }

    /// As a worker asks: with the charset that the links were read by, if it is a page.
    fn now(&mut self, body: &[u8], content_type: &str, url: &Url) -> Option<Content> {
        if crate::kind_of(body, Some(content_type)) != crate::ContentKind::Html {
            return of(&mut self.boilerplate, body, Some(content_type), url);
        }
        let source = crate::Source {
            body,
            content_type: Some(content_type),
            url,
            robots_agent: "junkai",
            x_robots_tag: &[],
            link_headers: &[],
            detect_language: false,
        };
        let charset = crate::analyze(&source, &crate::LinkOptions::default()).charset();
        of_page(&mut self.boilerplate, body, charset, url)
    }

    fn both(&mut self, body: &[u8], content_type: &str, url: &Url) -> [Option<Content>; 2] {
        [
            self.now(body, content_type, url),
            oracle::of(
                &mut self.boilerplate_of_oracle,
                body,
                Some(content_type),
                url,
            ),
        ]
    }
}

/// Markup that matters, and markup that does not, set apart by bars.
const MARKUP: &str = "<p>|</p>|<P>|<div>|</div>|<div class=nav>|<div id='site-footer'>|<nav>|</nav>|<header>|</header>|<footer>|</footer>|\
    <article>|</article>|<section role=navigation>|</section>|<a href=x>|<a>|</a>|<a href='/y' class=\"a b\">|<h1>|</h1>|\
    <li>|<ul>|</ul>|<td>|<tr>|<table>|</table>|<br>|<br/>|<hr>|<b>|</b>|<i hidden>|</i>|<span style='display:none'>|\
    </span>|<div aria-hidden=true>|<title>|</title>|<script>|</script>|<style>|</style>|<noscript>|</noscript>|<svg>|\
    </svg>|<select>|</select>|<option>|<textarea>|</textarea>|<iframe>|</iframe>|<template>|</template>|<blockquote>|\
    </blockquote>|<figcaption>|<x-very-long-name hidden>|</x-other-long-name>|<!-- a > b -->|<!-->|<!DOCTYPE html>|\
    <?xml?>|</>|</ p>|<|>|<3|<p|<a title=\"|<a href=\"x>y\">|<![CDATA[|]]>|<video>|</video>";

/// Texts of many scripts, noise, what is nearly noise, and what is written in references, set apart by bars.
const WORDS: &str = "a|an|The|crawler|no|No|page|pages|one|few|ago|May|may|Nov|November|Sunday|Sun|today|yesterday|at|of|st|th|am|p.m.|pm|\
    UTC|Z|t|T|minutes|hours|and|just|now|views|Views|comments|comment|new|users|online|generated|in|seconds|copyright|©|\
    (c)|c|present|yet|number|count|k|M|registered|subscribers|subscriber|subscribersx|milliseconds|took|PV数|PV|pv|Größe|\
    naïve|über|élève|наука|Ελλάδα|日本語|コメント|コメント数|いいね|いいね数|閲覧数|令和|平成|元|年|月|日|時|分|秒|前|午前|午後|回|人|件|(日)|日曜日|本日|今日|合計|累計|回視聴|\
    件のコメント|浏览量|阅读|评论|万|条评论|分钟前|ไทย|한국어|e\u{301}|か\u{3099}|ｶﾞ|２０２６|ﬁ|½|²|Ⅳ|…|–|—|’|「|」|、|。|・|ー|〜|\u{A0}|\u{3000}|\u{200B}|\
    \u{AD}|€|−|×|😀|𠮷|0|1|2|12|15|31|34|56|99|2026|1998|1,234|1.2|12:34|12:34:56|2026-11-15|2026-11-15T12:34:56Z|\
    15.11.2026|11/15/26|1234567890|12345678901234567890|+0900|-5|+|-|$|%|=|.|,|:|;|(|)|[|]|#|/|_|!|?|\"|'|*|~|&|&amp;|\
    &lt;|&nbsp;|&#12354;|&copy;|&eacute;|0123456789abcdef|DEADBEEF01234567|aB3dE6gH9jK2mN5p|\
    123e4567-e89b-12d3-a456-426614174000|well-known|and/or|snake_case|a1b2|x86|internationalization|\
    ABCDEFGHIJKLMNOPQRSTUVWXYZ|\u{0}|\u{1}|\u{B}";

/// Pieces of pages.
fn any_piece() -> impl Strategy<Value = String> {
    let one_of = |pieces: &'static str| prop::sample::select(pieces.split('|').collect::<Vec<_>>());
    let space = prop::sample::select(vec![" ", " ", " ", "", "\n", "\t", "  "]);
    prop_oneof![
        2 => one_of(MARKUP).prop_map(str::to_owned),
        7 => (one_of(WORDS), space).prop_map(|(word, space)| format!("{word}{space}")),
        1 => "[a-zA-Z]{1,20} ?",
        1 => "\\PC{0,6}",
    ]
}

fn has_no_digit(piece: &str) -> bool {
    !piece.contains(|character: char| character.is_numeric() || character == '&')
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    /// Contents are kept: they must be the same numbers for ever.
    #[test]
    fn contents_are_those_of_the_first_reader(
        pages in prop::collection::vec(prop::collection::vec(any_piece(), 0..60), 1..7),
        content_type in prop::sample::select(vec![
            "text/html; charset=utf-8", "text/html; charset=utf-8", "text/html; charset=utf-8", "text/plain; charset=utf-8",
            "application/xml; charset=utf-8",
        ]),
    ) {
        let mut readers = Readers::new();
        for (number, pieces) in pages.iter().enumerate() {
            let body = pieces.concat();
            let [now, first] = readers.both(body.as_bytes(), content_type, &url(&number.to_string()));
            prop_assert_eq!(now, first, "{}", body);
        }
    }

    /// The same where there are no digits: such blocks are read in another way.
    #[test]
    fn contents_without_digits_are_those_of_the_first_reader(
        pieces in prop::collection::vec(any_piece().prop_filter("without digits", |piece| has_no_digit(piece)), 0..60),
    ) {
        let body = pieces.concat();
        let [now, first] = Readers::new().both(body.as_bytes(), "text/html; charset=utf-8", &url("a"));
        prop_assert_eq!(now, first, "{}", body);
    }

    /// The same, where a page has been told to be in a charset that it is not in, or nothing of it.
    #[test]
    fn contents_of_any_bytes_are_those_of_the_first_reader(
        bytes: Vec<u8>,
        charset in prop::sample::select(vec!["", "; charset=shift_jis", "; charset=windows-1252", "; charset=utf-16"]),
    ) {
        let content_type = format!("text/html{charset}");
        let [now, first] = Readers::new().both(&bytes, &content_type, &url("a"));
        prop_assert_eq!(now, first);
    }
}

/// What the first reader said of a page, in numbers.
#[test]
fn a_content_is_the_same_for_ever() {
    let html = page(
        "Größe: 3 km. 日本語の頁。 2026-11-15",
        "<div>And more of it</div>",
    );
    let content_type = "text/html; charset=utf-8";
    for content in Readers::new().both(html.as_bytes(), content_type, &url("a")) {
        let content = content.unwrap();
        assert_eq!(content.fingerprint, 7_468_862);
        assert_eq!(content.own, content.fingerprint);
        assert_eq!(
            content.sketch.to_bits(),
            0x48d9_19f8_8afd_8c2c_210a_0461_2320_784b
        );
    }
}
