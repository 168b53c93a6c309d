//! Which character encoding a page is in, found as browsers find it, and its text.
//!
//! HTML standard, section 13.2.3.2: a byte order mark decides; else the charset of the Content-Type header; else what the page
//! declares in its first bytes (`prescan`); else a detector looks at the bytes, with the top-level domain as a hint.
//! Departure: an undeclared page may be detected as UTF-8 or ISO-2022-JP, which browsers refuse because scripts could abuse it;
//! we run none.

mod prescan;

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use serde::Serialize;

/// How much of an undeclared page the detector sees.
const DETECTION_BYTES: usize = 64 * 1024;

/// No label of an encoding is longer.
const LABEL_BYTES_MAX: usize = 64;

/// An encoding and what told us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset {
    /// The encoding, of the closed set that the web knows.
    pub encoding: &'static Encoding,
    /// What decided for it.
    pub source: CharsetSource,
}

/// What decided for an encoding, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CharsetSource {
    /// A byte order mark.
    Bom,
    /// The charset parameter of the Content-Type header.
    Header,
    /// A `<meta>` element, or an XML declaration.
    Meta,
    /// The bytes look like it.
    Detected,
    /// Nothing: the bytes are ASCII, and UTF-8 is as good as any.
    Default,
}

/// Finds the encoding of `body`; `top_level_domain` (`"jp"`) is a hint for pages that declare none.
#[must_use]
pub fn detect(body: &[u8], content_type: Option<&str>, top_level_domain: Option<&str>) -> Charset {
    let found = |encoding, source| Charset { encoding, source };
    if let Some((encoding, _)) = Encoding::for_bom(body) {
        return found(encoding, CharsetSource::Bom);
    }
    if let Some(encoding) = content_type.and_then(|value| of_content_type(value.as_bytes())) {
        return found(encoding, CharsetSource::Header);
    }
    if let Some(encoding) = prescan::declared(body) {
        return found(encoding, CharsetSource::Meta);
    }
    detect_undeclared(body, top_level_domain)
}

/// Finds the encoding of a style sheet (CSS Syntax Level 3, section 3.2); it does not depend on the page that needs it, as several may.
pub(crate) fn of_style_sheet(body: &[u8], content_type: Option<&str>) -> Charset {
    let found = |encoding, source| Charset { encoding, source };
    if let Some((encoding, _)) = Encoding::for_bom(body) {
        return found(encoding, CharsetSource::Bom);
    }
    if let Some(encoding) = content_type.and_then(|value| of_content_type(value.as_bytes())) {
        return found(encoding, CharsetSource::Header);
    }
    match declared_in_style_sheet(body) {
        Some(encoding) => found(as_declared_inside(encoding), CharsetSource::Meta),
        None => found(UTF_8, CharsetSource::Default),
    }
}

/// What `@charset "…";` at the very start of a style sheet says.
fn declared_in_style_sheet(body: &[u8]) -> Option<&'static Encoding> {
    let label = body.strip_prefix(b"@charset \"")?;
    let end = label
        .iter()
        .take(LABEL_BYTES_MAX)
        .position(|byte| *byte == b'"')?;
    label[end..]
        .starts_with(b"\";")
        .then(|| Encoding::for_label(&label[..end]))?
}

/// Which UTF-16 a text without a byte order mark is in, told by the zeros of its first two characters (XML 1.0, appendix F.1); those are ASCII in all markup and JSON.
pub(crate) fn utf_16_by_zeros(body: &[u8]) -> Option<&'static Encoding> {
    let is_text = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    match *body {
        [first, 0, second, 0, ..] if is_text(first) && is_text(second) => Some(UTF_16LE),
        [0, first, 0, second, ..] if is_text(first) && is_text(second) => Some(UTF_16BE),
        _ => None,
    }
}

/// UTF-16 that its byte order mark or its zeros tell, as UTF-8; everything else as it is.
pub(crate) fn utf_8_of_utf_16(body: &[u8]) -> Cow<'_, [u8]> {
    let encoding = match body {
        [0xFE, 0xFF, ..] => UTF_16BE,
        [0xFF, 0xFE, ..] => UTF_16LE,
        [0, ..] | [_, 0, ..] => match utf_16_by_zeros(body) {
            Some(encoding) => encoding,
            None => return Cow::Borrowed(body),
        },
        _ => return Cow::Borrowed(body),
    };
    let text = encoding.decode_with_bom_removal(body).0;
    Cow::Owned(text.into_owned().into_bytes())
}

/// Decodes `body`; malformed sequences become U+FFFD, a byte order mark is dropped.
#[must_use]
pub fn decode(body: &[u8], charset: Charset) -> Cow<'_, str> {
    match charset.source {
        CharsetSource::Bom => charset.encoding.decode_with_bom_removal(body).0,
        CharsetSource::Header
        | CharsetSource::Meta
        | CharsetSource::Detected
        | CharsetSource::Default => charset.encoding.decode_without_bom_handling(body).0,
    }
}

fn detect_undeclared(body: &[u8], top_level_domain: Option<&str>) -> Charset {
    let sample = &body[..body.len().min(DETECTION_BYTES)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    let beyond_ascii = detector.feed(sample, sample.len() == body.len());
    // An escape sequence makes ISO-2022-JP, which has no byte beyond ASCII.
    if !beyond_ascii && memchr::memchr(b'\x1B', sample).is_none() {
        return Charset {
            encoding: UTF_8,
            source: CharsetSource::Default,
        };
    }
    let hint = top_level_domain.map(str::as_bytes).filter(is_detector_hint);
    Charset {
        encoding: detector.guess(hint, Utf8Detection::Allow),
        source: CharsetSource::Detected,
    }
}

/// The detector panics on a hint with a dot, upper case or non-ASCII.
fn is_detector_hint(domain: &&[u8]) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    !domain.is_empty() && domain.iter().all(allowed)
}

/// Reads the charset out of a Content-Type, by the steps for "extracting a character encoding from a `meta` element".
///
/// They are more lenient than those for MIME types, and what one of the two finds, both find.
fn of_content_type(value: &[u8]) -> Option<&'static Encoding> {
    const NAME: &[u8] = b"charset";
    let mut rest = value;
    loop {
        let at = rest
            .windows(NAME.len())
            .position(|window| window.eq_ignore_ascii_case(NAME))?;
        rest = rest[at + NAME.len()..].trim_ascii_start();
        if let Some(label) = rest.strip_prefix(b"=") {
            return Encoding::for_label(label_in(label.trim_ascii_start())?);
        }
    }
}

fn label_in(value: &[u8]) -> Option<&[u8]> {
    if let [quote @ (b'"' | b'\''), quoted @ ..] = value {
        let end = memchr::memchr(*quote, quoted)?;
        return Some(&quoted[..end]);
    }
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b';' | b',');
    let end = value.iter().position(is_end).unwrap_or(value.len());
    Some(&value[..end])
}

/// What a declaration inside the page means: read as ASCII it cannot be in UTF-16, and `x-user-defined` is a mistake.
fn as_declared_inside(encoding: &'static Encoding) -> &'static Encoding {
    if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else if encoding == UTF_16LE || encoding == UTF_16BE {
        UTF_8
    } else {
        encoding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{BIG5, EUC_JP, GBK, ISO_2022_JP, SHIFT_JIS, WINDOWS_1251};

    const JAPANESE: &str = "巡回とは、決まった道を順に見て回ることである。この収集器は、見つけた頁をすべて保存し、\
        頁の変わる速さに合わせて何度でも訪れる。同じサーバーに続けて負荷をかけることは決してない。";
    const CHINESE_SIMPLIFIED: &str = "网络爬虫沿着链接访问网页，并保存每一个版本。它从不在规定的时间间隔之前再次访问同一台服务器，也不会停止。";
    const CHINESE_TRADITIONAL: &str = "網路爬蟲沿著連結造訪網頁，並保存每一個版本。它從不在規定的時間間隔之前再次造訪同一部伺服器，也不會停止。";
    const FRENCH: &str =
        "Le robot s’arrête à l’entrée : « déjà visité ? » Où êtes-vous passés, élèves zélés ?";
    const RUSSIAN: &str =
        "Поисковый робот обходит страницы по ссылкам и сохраняет каждую их версию.";

    #[test]
    fn a_style_sheet_declares_its_charset_first() {
        for (body, content_type, encoding, source) in [
            (
                "@charset \"shift_jis\"; a",
                None,
                SHIFT_JIS,
                CharsetSource::Meta,
            ),
            ("@charset \"utf-16le\";", None, UTF_8, CharsetSource::Meta),
            (
                "@charset \"gbk\";",
                Some("text/css; charset=big5"),
                BIG5,
                CharsetSource::Header,
            ),
            ("@charset 'gbk';", None, UTF_8, CharsetSource::Default),
            (" @charset \"gbk\";", None, UTF_8, CharsetSource::Default),
            ("@charset \"gbk", None, UTF_8, CharsetSource::Default),
            ("\u{feff}@charset \"gbk\";", None, UTF_8, CharsetSource::Bom),
        ] {
            let charset = of_style_sheet(body.as_bytes(), content_type);
            assert_eq!(charset, Charset { encoding, source }, "{body}");
        }
    }

    #[test]
    fn undeclared_text_is_detected() {
        for (text, encoding, domain) in [
            (JAPANESE, SHIFT_JIS, None),
            (JAPANESE, EUC_JP, None),
            (JAPANESE, ISO_2022_JP, None),
            (JAPANESE, UTF_8, Some("jp")),
            (CHINESE_SIMPLIFIED, GBK, Some("cn")),
            (CHINESE_TRADITIONAL, BIG5, Some("tw")),
            (FRENCH, WINDOWS_1252, Some("fr")),
            (RUSSIAN, WINDOWS_1251, Some("ru")),
            (FRENCH, UTF_8, None),
        ] {
            let page = format!("<html><head><title>{text}</title><body><p>{text}</p>");
            let (body, _, lossy) = encoding.encode(&page);
            assert!(!lossy, "the sample fits {}", encoding.name());
            let charset = detect(&body, None, domain);
            assert_eq!(charset.encoding.name(), encoding.name(), "{text}");
            assert_eq!(charset.source, CharsetSource::Detected);
            assert_eq!(decode(&body, charset), page);
        }
    }

    #[test]
    fn the_strongest_source_decides() {
        let check = |body: &[u8], header, name, source| {
            let charset = detect(body, header, None);
            assert_eq!((charset.encoding.name(), charset.source), (name, source));
        };
        let meta = b"<meta charset=euc-jp>";
        let marked = b"\xEF\xBB\xBF<meta charset=euc-jp>";
        let header = Some("text/html; charset=Shift_JIS");
        check(marked, header, "UTF-8", CharsetSource::Bom);
        check(b"\xFF\xFEa\0", header, "UTF-16LE", CharsetSource::Bom);
        check(b"\xFE\xFF\0a", header, "UTF-16BE", CharsetSource::Bom);
        check(meta, header, "Shift_JIS", CharsetSource::Header);
        check(meta, Some("text/html"), "EUC-JP", CharsetSource::Meta);
        check(
            meta,
            Some("text/html; charset=?"),
            "EUC-JP",
            CharsetSource::Meta,
        );
        check(b"<p>ascii", None, "UTF-8", CharsetSource::Default);
        check(b"", None, "UTF-8", CharsetSource::Default);
    }

    #[test]
    fn content_types_are_read_leniently() {
        for (value, name) in [
            ("text/html; charset=utf-8", Some("UTF-8")),
            ("text/html;charset=\"Shift_JIS\"", Some("Shift_JIS")),
            ("text/html; CHARSET = 'latin1' ; x=y", Some("windows-1252")),
            ("text/html; charset=utf-8, text/html", Some("UTF-8")),
            ("text/html; charset; charset=gb2312", Some("GBK")),
            ("charset=utf-16", Some("UTF-16LE")),
            ("text/html; charset=\"utf-8", None),
            ("text/html; charset=", None),
            ("text/html; charset=klingon", None),
            ("text/html", None),
        ] {
            let found = of_content_type(value.as_bytes());
            assert_eq!(found.map(Encoding::name), name, "{value}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_text() {
        let body = b"\xEF\xBB\xBFtext";
        assert_eq!(decode(body, detect(body, None, None)), "text");
    }

    #[test]
    fn no_hint_can_upset_the_detector() {
        let (body, _, _) = SHIFT_JIS.encode(JAPANESE);
        for domain in ["", "JP", "co.jp", "日本", "xn--p1ai", "127", "j p"] {
            assert_eq!(
                detect(&body, None, Some(domain)).encoding,
                SHIFT_JIS,
                "{domain}"
            );
        }
    }
}
