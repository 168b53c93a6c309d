//! The encoding that a page declares of itself, read before anything is decoded.
//!
//! HTML standard, section 13.2.3.2, "prescan a byte stream to determine its encoding", then "get an XML encoding".
//! Departure: the standard looks at 1,024 bytes, and later declarations make browsers start over; with the whole page at hand
//! we look further at once, and UTF-16 is told by its zeros with or without an XML declaration. What stands in `<script>`, `<style>` and `<title>` is text, and declares nothing.

use encoding_rs::Encoding;
use memchr::{memchr, memmem};

use super::{as_declared_inside, label_in, of_content_type, utf_16_by_zeros};
use crate::attribute::{Attributes, is_space};
use crate::text::find_end_tag;

/// How far into the page a declaration counts.
const PRESCAN_BYTES: usize = 16 * 1024;

/// The encoding that `body` declares.
pub(super) fn declared(body: &[u8]) -> Option<&'static Encoding> {
    let head = &body[..body.len().min(PRESCAN_BYTES)];
    utf_16_by_zeros(head)
        .or_else(|| in_markup(head))
        .or_else(|| in_xml_declaration(head))
}

fn in_markup(head: &[u8]) -> Option<&'static Encoding> {
    let mut rest = head;
    while let Some(at) = memchr(b'<', rest) {
        rest = &rest[at..];
        rest = match rest {
            // The two hyphens that open a comment may also close it.
            [b'<', b'!', b'-', b'-', ..] => &rest[memmem::find(&rest[2..], b"-->")? + 5..],
            [b'<', b'/', name, ..] if name.is_ascii_alphabetic() => after_tag(&rest[2..])?,
            [b'<', name, ..] if name.is_ascii_alphabetic() => {
                if let Some(attributes) = meta_attributes(rest)
                    && let Some(encoding) = in_meta(attributes)
                {
                    return Some(encoding);
                }
                let after = after_tag(&rest[1..])?;
                match text_only(&rest[1..]) {
                    Some(name) => &after[find_end_tag(after, name)?..],
                    None => after,
                }
            }
            [b'<', b'!' | b'/' | b'?', ..] => &rest[memchr(b'>', rest)? + 1..],
            _ => &rest[1..],
        };
    }
    None
}

/// The name of an element in which tags are text, if `tag` begins with it.
fn text_only(tag: &[u8]) -> Option<&'static [u8]> {
    const NAMES: [&[u8]; 3] = [b"script", b"style", b"title"];
    NAMES.into_iter().find(|name| {
        let (start, after) = tag.split_at(name.len().min(tag.len()));
        let ends = |byte: &u8| is_space(*byte) || matches!(byte, b'>' | b'/');
        start.eq_ignore_ascii_case(name) && after.first().is_some_and(ends)
    })
}

/// What follows the tag whose name `tag` begins with, or nothing if it never ends.
fn after_tag(tag: &[u8]) -> Option<&[u8]> {
    let name_end = tag
        .iter()
        .position(|byte| is_space(*byte) || *byte == b'>')?;
    let mut attributes = Attributes::new(&tag[name_end..]);
    while attributes.next().is_some() {}
    attributes.rest().get(1..)
}

fn meta_attributes(tag: &[u8]) -> Option<Attributes<'_>> {
    let (name, after) = tag.split_at_checked(5)?;
    let is_meta = name.eq_ignore_ascii_case(b"<meta")
        && after
            .first()
            .is_some_and(|byte| is_space(*byte) || *byte == b'/');
    is_meta.then(|| Attributes::new(after))
}

/// The encoding that a `<meta>` declares: with `charset`, or with `content` and `http-equiv="content-type"`.
fn in_meta(attributes: Attributes<'_>) -> Option<&'static Encoding> {
    let mut end = attributes.clone();
    while end.next().is_some() {}
    // A tag that never ends declares nothing.
    end.rest().first()?;
    let [charset, content, http_equiv] = attributes.pick(["charset", "content", "http-equiv"]);
    let is_pragma = http_equiv.is_some_and(|value| value.eq_ignore_ascii_case(b"content-type"));
    let encoding = match (charset, content) {
        (Some(label), _) => Encoding::for_label(label)?,
        (None, Some(content)) if is_pragma => of_content_type(content)?,
        (None, _) => return None,
    };
    Some(as_declared_inside(encoding))
}

fn in_xml_declaration(head: &[u8]) -> Option<&'static Encoding> {
    const NAME: &[u8] = b"encoding";
    let declaration = head.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..memchr(b'>', declaration)?];
    let after_name = memmem::find(declaration, NAME)? + NAME.len();
    let value = declaration[after_name..].trim_ascii_start();
    let value = value.strip_prefix(b"=")?.trim_ascii_start();
    value
        .first()
        .filter(|quote| matches!(quote, b'"' | b'\''))?;
    Encoding::for_label(label_in(value)?).map(as_declared_inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn declarations_follow_the_standard() {
        for (page, name) in [
            ("<meta charset=utf-8>", Some("UTF-8")),
            ("<META CharSet='Shift_JIS'>", Some("Shift_JIS")),
            ("<meta/charset=\"euc-jp\"/>", Some("EUC-JP")),
            (
                "<html><head x='<meta charset=big5>'><meta charset=gbk>",
                Some("GBK"),
            ),
            (
                "<!-- <meta charset=big5> --><meta charset=gbk>",
                Some("GBK"),
            ),
            ("<!--><meta charset=gbk>", Some("GBK")),
            ("<!DOCTYPE html><?php ?><meta charset=gbk>", Some("GBK")),
            ("</p x='>'><meta charset=gbk>", Some("GBK")),
            (
                "<script>'<meta charset=big5>'</script><meta charset=gbk>",
                Some("GBK"),
            ),
            (
                "<TITLE a>about <meta charset=big5></title ><meta charset=gbk>",
                Some("GBK"),
            ),
            ("<style><meta charset=big5>", None),
            ("<titles><meta charset=gbk>", Some("GBK")),
            (
                "<meta http-equiv='Content-Type' content='text/html; charset=iso-8859-1'>",
                Some("windows-1252"),
            ),
            (
                "<meta content='text/html; charset=\"iso-2022-jp\"' http-equiv=content-type>",
                Some("ISO-2022-JP"),
            ),
            ("<meta content='text/html; charset=big5'>", None),
            ("<meta http-equiv=refresh content='0; charset=big5'>", None),
            ("<meta charset=utf-16>", Some("UTF-8")),
            ("<meta charset=UTF-16BE>", Some("UTF-8")),
            ("<meta charset=x-user-defined>", Some("windows-1252")),
            ("<meta charset=klingon><meta charset=gbk>", Some("GBK")),
            ("<metadata charset=gbk>", None),
            ("<meta charset=gbk", None),
            ("<meta charset='gbk>", None),
            ("< meta charset=gbk>", None),
            ("meta charset=gbk", None),
            (
                "<?xml version='1.0' encoding='EUC-JP'?><html>",
                Some("EUC-JP"),
            ),
            (
                "<?xml version='1.0' encoding=\"UTF-16\"?><html>",
                Some("UTF-8"),
            ),
            ("<?xml encoding='EUC-JP'?><meta charset=gbk>", Some("GBK")),
            ("<?xml version='1.0'?><html>", None),
            ("<\0?\0x\0m\0l\0", Some("UTF-16LE")),
            ("\0<\0?\0x\0m\0l", Some("UTF-16BE")),
            ("<\0u\0", Some("UTF-16LE")),
            ("\0\n\0<", Some("UTF-16BE")),
            ("<\0?x\0\0", None),
            ("<\0", None),
        ] {
            let found = declared(page.as_bytes());
            assert_eq!(found.map(Encoding::name), name, "{page:?}");
        }
    }

    #[test]
    fn a_declaration_counts_late_but_not_too_late() {
        let page = |filler: usize| format!("<!--{}--><meta charset=gbk>", "x".repeat(filler));
        assert!(declared(page(5_000).as_bytes()).is_some());
        assert!(declared(page(PRESCAN_BYTES).as_bytes()).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>, markup in "[<>!/?a-z='\" -]*") {
            declared(&bytes);
            declared(markup.as_bytes());
        }
    }
}
