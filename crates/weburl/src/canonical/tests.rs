//! The canonical form by example, and the laws that hold for every text.

use proptest::prelude::*;

use super::*;

fn canonicalizer() -> Canonicalizer {
    Canonicalizer::default()
}

fn check(text: &str, expected: &str) {
    let page = canonicalizer()
        .parse(text)
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(page.as_str(), expected, "{text}");
}

fn check_joined(base: &str, reference: &str, expected: &str) {
    let base = canonicalizer().parse(base).unwrap();
    let page = canonicalizer().join(&base, reference);
    assert_eq!(
        page.map(String::from).as_deref(),
        Ok(expected),
        "{reference}"
    );
    let page = canonicalizer().join_url(base.as_url(), reference);
    assert_eq!(
        page.map(String::from).as_deref(),
        Ok(expected),
        "{reference}"
    );
}

#[test]
fn rule_1_the_url_standard() {
    for (text, expected) in [
        ("HTTP://Example.ORG", "http://example.org/"),
        (
            " \u{1}https://example.org/a\u{0} \n",
            "https://example.org/a",
        ),
        ("ht\ntp://exa\tmple.org/a\r\nb", "http://example.org/ab"),
        ("http:\\\\example.org\\a", "http://example.org/a"),
        ("http:example.org/a", "http://example.org/a"),
        ("http:////example.org/a", "http://example.org/a"),
        (
            "http://example.org/a/./b/../c/%2e%2E/d/.",
            "http://example.org/a/d/",
        ),
        ("http://example.org/../../a", "http://example.org/a"),
        (
            "http://日本語.jp/あ?い",
            "http://xn--wgv71a119e.jp/%E3%81%82?%E3%81%84",
        ),
        ("http://BÜCHER.example/", "http://xn--bcher-kva.example/"),
        ("http://%65xample.org/", "http://example.org/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://017700000001/", "http://127.0.0.1/"),
        ("http://2130706433:80/", "http://127.0.0.1/"),
        ("http://127.0.0.1./", "http://127.0.0.1/"),
        ("http://[2001:DB8:0:0::0001]/", "http://[2001:db8::1]/"),
        ("http://[::ffff:192.0.2.1]/", "http://[::ffff:c000:201]/"),
        ("http://example.org:80/", "http://example.org/"),
        ("https://example.org:443/", "https://example.org/"),
        ("http://example.org:443/", "http://example.org:443/"),
        ("http://example.org:0080/", "http://example.org/"),
        ("http://example.org:/", "http://example.org/"),
        ("http://example.org?a", "http://example.org/?a"),
        (
            "http://example.org/a b?c d'e",
            "http://example.org/a%20b?c%20d%27e",
        ),
        (
            "http://example.org/\"<>`{}",
            "http://example.org/%22%3C%3E%60%7B%7D",
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn rule_2_credentials_and_fragment_go() {
    check("http://user:secret@example.org/a#b", "http://example.org/a");
    check("http://@example.org/#", "http://example.org/");
    check("http://example.org#a/../b", "http://example.org/");
    check("http://example.org/a #b", "http://example.org/a%20");
}

#[test]
fn rule_3_the_host_is_one_that_dns_can_hold() {
    check("http://example.org./a", "http://example.org/a");
    check("http://WWW.example.org/", "http://www.example.org/");
    check("http://a_b.-c-.example/", "http://a_b.-c-.example/");
    for text in [
        "http://example..org/",
        "http://.example.org/",
        "http://example.org../",
        "http://0x7f.1../",
        "http://./",
        "http://a!b/",
        "http://a%2Cb/",
    ] {
        let result = canonicalizer().parse(text);
        assert!(
            matches!(result, Err(UrlError::Host(_))),
            "{text}: {result:?}"
        );
    }
    for text in [
        "http://",
        "http:///",
        "http://a b/",
        "http://[::1/",
        "http://256.1.1.1/",
        "http://a:b/",
    ] {
        let result = canonicalizer().parse(text);
        assert!(
            matches!(result, Err(UrlError::Syntax(_))),
            "{text}: {result:?}"
        );
    }
    let long_label = format!("http://{}.org/", "a".repeat(64));
    assert!(canonicalizer().parse(&long_label).is_err());
    let long_name = format!("http://{}org/", "abc.".repeat(63));
    assert!(canonicalizer().parse(&long_name).is_err());
}

#[test]
fn rule_4_escapes_have_one_spelling() {
    check(
        "http://example.org/%7euser/%41?%61=%2f",
        "http://example.org/~user/A?a=%2F",
    );
    check(
        "http://example.org/%e3%81%82",
        "http://example.org/%E3%81%82",
    );
    check(
        "http://example.org/100%/%zz?%",
        "http://example.org/100%/%zz?%",
    );
    check("http://example.org/%2%65/", "http://example.org/%2%65/");
}

#[test]
fn rule_5_the_settings_for_the_query() {
    let config = CanonicalConfig {
        sort_query: true,
        strip_tracking: true,
        ..CanonicalConfig::default()
    };
    let canonicalizer = Canonicalizer::new(&config);
    for (text, expected) in [
        (
            "http://example.org/?b=1&utm_source=x&a=2",
            "http://example.org/?a=2&b=1",
        ),
        (
            "http://example.org/?b=1&%75tm_source=x&a=2",
            "http://example.org/?a=2&b=1",
        ),
        ("http://example.org/?fbclid=x", "http://example.org/"),
        (
            "http://example.org/a?a=2&b=1",
            "http://example.org/a?a=2&b=1",
        ),
    ] {
        assert_eq!(
            canonicalizer.parse(text).unwrap().as_str(),
            expected,
            "{text}"
        );
    }
    check(
        "http://example.org/?b=1&utm_source=x&a=2",
        "http://example.org/?b=1&utm_source=x&a=2",
    );
}

#[test]
fn rule_6_an_empty_query_goes() {
    check("http://example.org/a?", "http://example.org/a");
    check("http://example.org/a?#b", "http://example.org/a");
    check("http://example.org?", "http://example.org/");
    check("http://example.org/a??", "http://example.org/a??");
    check("http://example.org/a?&", "http://example.org/a?&");
}

#[test]
fn rule_7_length_is_bounded_after_the_other_rules() {
    let canonicalizer = Canonicalizer::new(&CanonicalConfig {
        max_length: 32,
        ..CanonicalConfig::default()
    });
    let longest = format!("http://example.org/{}", "a".repeat(13));
    assert_eq!(canonicalizer.parse(&longest).unwrap().as_str(), longest);
    let too_long = Err(UrlError::TooLong {
        length: 33,
        limit: 32,
    });
    assert_eq!(canonicalizer.parse(&format!("{longest}b")), too_long);
    assert_eq!(
        canonicalizer.parse(&format!("{longest}é")),
        Err(UrlError::TooLong {
            length: 38,
            limit: 32
        })
    );
    let escaped = format!(
        "http://example.org/{}#{}",
        "%61".repeat(13),
        "b".repeat(1000)
    );
    assert_eq!(canonicalizer.parse(&escaped).unwrap().as_str(), longest);
    for endless in [
        "http://example.org/".to_owned() + &"a".repeat(1 << 20),
        "é".repeat(1 << 20),
    ] {
        let base = canonicalizer.parse(&longest).unwrap();
        let result = canonicalizer.join(&base, &endless);
        assert!(
            matches!(result, Err(UrlError::TooLong { .. })),
            "{result:?}"
        );
    }
}

#[test]
fn the_largest_limit_is_no_limit() {
    let canonicalizer = Canonicalizer::new(&CanonicalConfig {
        max_length: usize::MAX,
        ..CanonicalConfig::default()
    });
    assert!(canonicalizer.parse("http://example.org/").is_ok());
    assert!(canonicalizer.parse("http://example.org/é").is_ok());
}

#[test]
fn other_schemes_are_refused_by_name() {
    let base = canonicalizer().parse("http://example.org/").unwrap();
    for (text, scheme) in [
        ("mailto:a@example.org", "mailto"),
        ("JavaScript:void(0)", "JavaScript"),
        ("java\nscript:void(0)", "javascript"),
        ("data:text/html,a#b", "data"),
        ("ftp://example.org/", "ftp"),
        ("httpx://example.org/", "httpx"),
        ("file:///etc/passwd", "file"),
    ] {
        let expected = Err(UrlError::Scheme(scheme.to_owned()));
        assert_eq!(canonicalizer().parse(text), expected);
        assert_eq!(canonicalizer().join(&base, text), expected);
        assert_eq!(canonicalizer().join_url(base.as_url(), text), expected);
    }
}

#[test]
fn a_relative_reference_needs_a_base() {
    for text in [
        "",
        "a",
        "/a",
        "//example.org/",
        "?a",
        "#a",
        "example.org:80",
    ] {
        let result = canonicalizer().parse(text);
        assert!(
            matches!(result, Err(UrlError::Relative | UrlError::Scheme(_))),
            "{text}: {result:?}"
        );
    }
    let opaque = Url::parse("mailto:a@example.org").unwrap();
    assert_eq!(
        canonicalizer().join_url(&opaque, "a"),
        Err(UrlError::Relative)
    );
}

/// The examples of RFC 3986, section 5.4, as far as they name http URLs, without fragments.
#[test]
fn references_resolve_as_the_rfc_has_it() {
    for (reference, expected) in [
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g/"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q"),
        ("g#s", "http://a/b/c/g"),
        ("g?y#s", "http://a/b/c/g?y"),
        (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."),
        ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"),
        ("../../../?y", "http://a/?y"),
        (".././../g#s", "http://a/g"),
        ("./..//g", "http://a/b//g"),
        ("./g:h", "http://a/b/c/g:h"),
        ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
        ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("http:g", "http://a/b/c/g"),
        // Beyond the RFC's table.
        ("?", "http://a/b/c/d;p"),
        ("//g:8080", "http://g:8080/"),
        ("//g:80/h", "http://g/h"),
        ("1:2", "http://a/b/c/1:2"),
        ("/\\g/h", "http://g/h"),
        ("https://g", "https://g/"),
    ] {
        check_joined("http://a/b/c/d;p?q", reference, expected);
    }
    check_joined("https://a", "g", "https://a/g");
    check_joined("https://a:8443/b", "//g", "https://g/");
    check_joined("https://a:8443/b", "///g//h", "https://g//h");
    check_joined("https://a:8443/b", "/g?h", "https://a:8443/g?h");
}

#[test]
fn nothing_climbs_out_of_what_looks_like_a_drive() {
    check_joined("https://a/b/c:/d", "../", "https://a/b/c:/");
    check_joined("https://a/b/c:/d/e", "../../f", "https://a/b/c:/f");
    check_joined("https://a/b/cc:/d", "../", "https://a/b/");
    check_joined("https://a/b/", "x/../c:/../d", "https://a/b/c:/d");
}

/// Knows one character, which `Shift_JIS` has at 82 A0.
fn in_shift_jis(text: &str) -> Cow<'_, [u8]> {
    let encode = |character: char| match character {
        'あ' => vec![0x82, 0xa0],
        other => other.to_string().into_bytes(),
    };
    text.chars().flat_map(encode).collect()
}

#[test]
fn a_query_is_in_the_charset_of_its_page() {
    let base = Url::parse("http://example.jp/").unwrap();
    let page = canonicalizer()
        .join_encoded(&base, "/あ?q=あ", Some(&in_shift_jis))
        .unwrap();
    assert_eq!(page.as_str(), "http://example.jp/%E3%81%82?q=%82%A0");
}

/// Text that is often nearly a URL: pieces that parsers have stumbled over, and anything between them.
fn url_like() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => proptest::sample::select(vec![
            "http://", "https://", "//", "/", "?", "#", "&", "=", ":", "@", "%", ".", "..", "/../", "/./", "%2e", "%2E%2e", "%41",
            "%2f", "%C3%A9", "%c3", "\\", "\t", "\n", " ", "example.org", "a.b.", "www.", "xn--", "xn--bcher-kva", "127.0.0.1",
            "0x7f.1", "[::1]", ":80", ":443", ":8080", ":0", ":65536", "日本語", "ß", "é", "_", "'", "|", "^", "[", "utm_source=1",
            "b=2&a=1", "1", "2e", "mailto:", "ftp:", "user:pass@", "\u{0}", "\u{7f}", "\u{ad}", "～", "。",
        ]).prop_map(str::to_owned),
        1 => "[a-zA-Z0-9]{1,4}",
        1 => any::<char>().prop_map(String::from),
    ];
    (
        prop_oneof![
            Just(""),
            Just("../"),
            Just("./../"),
            Just("http://"),
            Just("https://a.example")
        ],
        proptest::collection::vec(piece, 0..10),
    )
        .prop_map(|(start, pieces)| start.to_owned() + &pieces.concat())
}

/// What the full parser makes of a text, without the help of the scan.
fn by_parser_alone(
    canonicalizer: &Canonicalizer,
    base: Option<&Url>,
    text: &str,
) -> Result<PageUrl, UrlError> {
    canonicalizer.parse_fully(Url::options().base_url(base), trim(text))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn canonical_text_comes_out_as_it_went_in(text in url_like(), sort_query: bool, strip_tracking: bool) {
        let config = CanonicalConfig { sort_query, strip_tracking, ..CanonicalConfig::default() };
        let canonicalizer = Canonicalizer::new(&config);
        if let Ok(page) = canonicalizer.parse(&text) {
            prop_assert_eq!(page.as_url().as_str(), page.as_str());
            let again = canonicalizer.parse(page.as_str()).unwrap();
            prop_assert_eq!(again.layout(), page.layout());
            prop_assert_eq!(again.fingerprint(), page.fingerprint());
            prop_assert_eq!(&again, &page);
            prop_assert_eq!(by_parser_alone(&canonicalizer, None, page.as_str()), Ok(page));
        }
    }

    #[test]
    fn the_scan_and_the_parser_agree(text in url_like(), base in url_like()) {
        let canonicalizer = canonicalizer();
        let same = |quick: &Result<PageUrl, UrlError>, full: &Result<PageUrl, UrlError>| match (quick, full) {
            (Ok(quick), Ok(full)) => quick == full && quick.layout() == full.layout(),
            (Err(_), Err(_)) => true,
            (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
        };
        let quick = canonicalizer.parse(&text);
        let full = by_parser_alone(&canonicalizer, None, &text);
        prop_assert!(same(&quick, &full), "{:?} {:?}", quick, full);
        if let Ok(base) = canonicalizer.parse(&base) {
            let quick = canonicalizer.join(&base, &text);
            let full = by_parser_alone(&canonicalizer, Some(base.as_url()), &text);
            prop_assert!(same(&quick, &full), "{:?} {:?}", quick, full);
        }
    }

    #[test]
    fn parts_put_together_are_the_whole(text in url_like()) {
        if let Ok(page) = canonicalizer().parse(&text) {
            let url = page.as_url();
            prop_assert_eq!(Some(page.host()), url.host_str());
            prop_assert_eq!(Some(page.port()), url.port_or_known_default());
            prop_assert_eq!(page.path(), url.path());
            prop_assert_eq!(page.query(), url.query());
            prop_assert_eq!(page.origin(), url.origin().ascii_serialization());
            prop_assert_eq!(page.origin().to_owned() + page.path_and_query(), page.as_str());
            prop_assert_eq!(format!("{}://{}", page.scheme(), page.authority()), page.origin());
        }
    }
}
