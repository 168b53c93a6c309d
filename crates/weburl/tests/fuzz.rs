//! Fuzz target: any bytes, read as text, are canonicalised or refused, and canonical text stays as it is.
//!
//! Under `cargo test` it runs on random bytes for a moment; under `cargo bolero` it is guided by coverage.

use std::time::Duration;

use junkai_weburl::{CanonicalConfig, Canonicalizer, describe, site_of, surt};

const TIME_MAX: Duration = Duration::from_secs(1);

#[test]
fn fuzz_canonical() {
    let plain = Canonicalizer::default();
    let strict = Canonicalizer::new(&CanonicalConfig {
        sort_query: true,
        strip_tracking: true,
        ..CanonicalConfig::default()
    });
    let base = plain.parse("https://example.org/a/b?c=d").expect("a URL");
    bolero::check!()
        .with_test_time(TIME_MAX)
        .with_type::<Vec<u8>>()
        .for_each(|bytes| {
            let text = String::from_utf8_lossy(bytes);
            assert!(!surt(&text).is_empty());
            assert!(text.contains(site_of(&text)));
            for canonicalizer in [&plain, &strict] {
                let found = [
                    canonicalizer.parse(&text),
                    canonicalizer.parse_seed(&text),
                    canonicalizer.parse(&format!("http://{text}")),
                    canonicalizer.join(&base, &text),
                    canonicalizer.join_url(base.as_url(), &text),
                ];
                for page in found.into_iter().flatten() {
                    assert_eq!(page.as_url().as_str(), page.as_str());
                    assert_eq!(canonicalizer.parse(page.as_str()).as_ref(), Ok(&page));
                    assert_eq!(describe(&page).host, page.host());
                }
            }
        });
}
