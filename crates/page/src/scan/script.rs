//! Where a script ends, which is not always at its first end tag: scripts were once wrapped in comments, and may write scripts.

use memchr::{memchr, memchr2};

use crate::attribute::is_space;

/// What `</script` means where the reader is (HTML standard, sections 13.2.5.15 to 13.2.5.31).
enum Depth {
    Script,
    /// In what looks like a comment.
    Comment,
    /// In what looks like a script in a comment: its end tag ends nothing else.
    ScriptInComment,
}

/// How many bytes of a page belong to the script whose start tag it follows: up to its end tag.
pub(super) fn length(html: &[u8]) -> Option<usize> {
    let mut depth = Depth::Script;
    let mut at = 0;
    loop {
        let rest = &html[at..];
        at += match depth {
            Depth::Script => memchr(b'<', rest)?,
            Depth::Comment | Depth::ScriptInComment => memchr2(b'<', b'-', rest)?,
        };
        let rest = &html[at..];
        let is_end_tag = || is_tag(rest, b"</script");
        match depth {
            Depth::Script | Depth::Comment if is_end_tag() => return Some(at),
            Depth::Script if rest.starts_with(b"<!--") => {
                depth = Depth::Comment;
                // The dashes may also be those of its end.
                at += 2;
            }
            Depth::Comment | Depth::ScriptInComment if rest.starts_with(b"--") => {
                at += rest.iter().take_while(|byte| **byte == b'-').count();
                if html.get(at) == Some(&b'>') {
                    depth = Depth::Script;
                }
            }
            Depth::Comment if is_tag(rest, b"<script") => {
                depth = Depth::ScriptInComment;
                at += 1;
            }
            Depth::ScriptInComment if is_end_tag() => {
                depth = Depth::Comment;
                at += 1;
            }
            Depth::Script | Depth::Comment | Depth::ScriptInComment => at += 1,
        }
    }
}

fn is_tag(html: &[u8], start: &[u8]) -> bool {
    html.get(..start.len())
        .is_some_and(|found| found.eq_ignore_ascii_case(start))
        && html
            .get(start.len())
            .is_some_and(|byte| is_space(*byte) || matches!(byte, b'/' | b'>'))
}
