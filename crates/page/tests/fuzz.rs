//! Bytes from nowhere: whatever a server sends, reading it ends, and what comes out is well formed.

use std::time::Duration;

use junkai_page::content::{self, Boilerplate, BoilerplateBounds};
use junkai_page::{LinkOptions, Source, analyze, analyze_style_sheet, feed, kind_of, sitemap};
use url::Url;

/// Enough to notice a slip; a fuzzer that is given hours runs the same functions.
const TEST_TIME: Duration = Duration::from_secs(1);
const ITERATIONS: usize = 20_000;

fn assert_well_formed(url: &str) {
    let parsed = Url::parse(url);
    let is_as_parsed = |parsed: &Url| parsed.as_str() == url && parsed.fragment().is_none();
    assert!(parsed.is_ok_and(|parsed| is_as_parsed(&parsed)), "{url}");
    assert!(
        url.starts_with("http://") || url.starts_with("https://"),
        "{url}"
    );
}

#[test]
fn fuzz_html_links() {
    let base = Url::parse("http://example.org/a/b?c").unwrap();
    let options = LinkOptions {
        requisites: true,
        max_links: 50,
        max_url_length: 2000,
    };
    bolero::check!()
        .with_test_time(TEST_TIME)
        .with_iterations(ITERATIONS)
        .for_each(|body: &[u8]| {
            let content_type = body.first().map(|byte| match byte % 4 {
                0 => "text/html; charset=shift_jis",
                1 => "text/html; charset=utf-16le",
                2 => "text/html; charset=iso-2022-jp",
                _ => "text/html",
            });
            let source = Source {
                body,
                content_type,
                url: &base,
                robots_agent: "junkai",
                x_robots_tag: &[],
                link_headers: &[],
                detect_language: true,
            };
            for analysis in [
                analyze(&source, &options),
                analyze_style_sheet(&source, &options),
            ] {
                assert!(analysis.links.len() <= options.max_links);
                for link in &analysis.links {
                    assert_well_formed(&link.url);
                }
            }
            let _ = kind_of(body, content_type);
        });
}

#[test]
fn fuzz_sitemaps_and_feeds() {
    let base = Url::parse("http://example.org/a/b?c").unwrap();
    bolero::check!()
        .with_test_time(TEST_TIME)
        .with_iterations(ITERATIONS)
        .for_each(|body: &[u8]| {
            let text = [&b"<urlset><url><loc>"[..], body].concat();
            for body in [body, &text] {
                let sitemap = sitemap::parse(body, &base);
                for entry in sitemap.urls.iter().chain(&sitemap.index) {
                    assert_well_formed(&entry.loc);
                }
                for entry in feed::parse(body, None, &base) {
                    assert_well_formed(&entry.url);
                }
            }
        });
}

#[test]
fn fuzz_content() {
    let base = Url::parse("http://example.org/a/b?c").unwrap();
    let mut boilerplate = Boilerplate::new(BoilerplateBounds {
        hosts: 2,
        blocks_per_host: 16,
    });
    bolero::check!()
        .with_test_time(TEST_TIME)
        .with_iterations(ITERATIONS)
        .for_each(|body: &[u8]| {
            for content_type in [
                "text/html",
                "text/html; charset=shift_jis",
                "application/xml",
                "text/plain",
            ] {
                let mut read = || content::of(&mut boilerplate, body, Some(content_type), &base);
                if let (Some(one), Some(other)) = (read(), read()) {
                    assert!(one.is_same(&other));
                    assert!(one.similarity(&other) >= 1.0);
                }
            }
        });
}
