//! Session identifiers, which make many URLs of one page; a key leaves them out.
//!
//! The forms are those of the `surt` library: ASP.NET in the path; Java, PHP, ASP, `ColdFusion` and a plain `sid` in the query. In
//! all of them letters count in either case. Every function takes time linear in the length of its text.

/// How many letters and digits follow `jsessionid=`, `phpsessid=` and `sid=`.
const TOKEN_LENGTH: usize = 32;
/// How many letters and digits an ASP or ASP.NET identifier has.
const ASP_TOKEN_LENGTH: usize = 24;
/// How many letters follow `ASPSESSIONID` before the `=`.
const ASP_NAME_LENGTH: usize = 8;

/// Removes the last directory that is an ASP.NET session, `(S(…))` first, then the older `(…)`, if it holds an `.aspx` page.
pub(super) fn strip_from_path(path: String) -> String {
    let path = strip_directory(path, is_asp_net_session);
    strip_directory(path, is_enclosed_token)
}

/// Removes the last identifier of each form.
pub(super) fn strip_from_query(query: String) -> String {
    let mut query = query;
    for name in ["jsessionid=", "phpsessid=", "sid="] {
        query = strip_parameter(query, |parameter| {
            let start = parameter.len().checked_sub(name.len() + TOKEN_LENGTH)?;
            let (found, token) = parameter.as_bytes()[start..].split_at(name.len());
            let is_session = found.eq_ignore_ascii_case(name.as_bytes())
                && token.iter().all(u8::is_ascii_alphanumeric);
            is_session.then_some(start)
        });
    }
    query = strip_parameter(query, asp_session_start);
    strip_cold_fusion(query)
}

/// Removes the last directory of the path that `is_session` holds for and that has `.aspx` behind it, before any `?`.
fn strip_directory(path: String, is_session: impl Fn(&[u8]) -> bool) -> String {
    // Whether what follows holds `.aspx` before any `?`: anywhere, and not just at its very beginning.
    let mut follows = false;
    let mut end = path.len();
    while let Some(slash) = path[..end].rfind('/') {
        let directory = &path.as_bytes()[slash + 1..end];
        let is_directory = end < path.len();
        if is_directory && follows && is_session(directory) {
            let (before, after) = (&path[..=slash], &path[end + 1..]);
            let is_name_empty = after.starts_with(".aspx") && !has_page(&after[1..]);
            if !is_name_empty {
                return format!("{before}{after}");
            }
        }
        let before_question = path[slash + 1..end].split('?').next().unwrap_or_default();
        let has_question = before_question.len() < end - slash - 1;
        follows = before_question.contains(".aspx") || (follows && !has_question);
        end = slash;
    }
    path
}

/// Whether `.aspx` comes before any `?`.
fn has_page(path: &str) -> bool {
    let before_question = path.split('?').next().unwrap_or_default();
    before_question.contains(".aspx")
}

/// `(S(…)F(…))`: groups of a letter and an enclosed token.
fn is_asp_net_session(directory: &[u8]) -> bool {
    let Some(groups) = enclosed(directory) else {
        return false;
    };
    let group_length = ASP_TOKEN_LENGTH + "S()".len();
    let is_group = |group: &[u8]| group[0].is_ascii_alphabetic() && is_enclosed_token(&group[1..]);
    !groups.is_empty()
        && groups.len().is_multiple_of(group_length)
        && groups.chunks(group_length).all(is_group)
}

/// `(…)` around a token.
fn is_enclosed_token(text: &[u8]) -> bool {
    enclosed(text).is_some_and(|token| {
        token.len() == ASP_TOKEN_LENGTH && token.iter().all(u8::is_ascii_alphanumeric)
    })
}

fn enclosed(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b"(")?.strip_suffix(b")")
}

/// Removes, from the last parameter that has one, the identifier that begins where `session_start` says and ends with the
/// parameter; the `&` behind it goes too.
fn strip_parameter(query: String, session_start: impl Fn(&str) -> Option<usize>) -> String {
    let mut end = query.len();
    loop {
        let start = query[..end].rfind('&').map_or(0, |ampersand| ampersand + 1);
        if let Some(session) = session_start(&query[start..end]) {
            return without(&query, start + session, end);
        }
        if start == 0 {
            return query;
        }
        end = start - 1;
    }
}

/// Where `ASPSESSIONIDxxxxxxxx=…` begins, if the parameter ends in it.
fn asp_session_start(parameter: &str) -> Option<usize> {
    const NAME: &str = "aspsessionid";
    let length = NAME.len() + ASP_NAME_LENGTH + "=".len() + ASP_TOKEN_LENGTH;
    let start = parameter.len().checked_sub(length)?;
    let (name, rest) = parameter.as_bytes()[start..].split_at(NAME.len());
    let (suffix, value) = rest.split_at(ASP_NAME_LENGTH);
    let token = value.strip_prefix(b"=")?;
    let is_session = name.eq_ignore_ascii_case(NAME.as_bytes())
        && suffix.iter().all(u8::is_ascii_alphabetic)
        && token.iter().all(u8::is_ascii_alphabetic);
    is_session.then_some(start)
}

/// Removes the last `cfid=…&cftoken=…`.
fn strip_cold_fusion(query: String) -> String {
    const IDENTIFIER: &str = "cfid=";
    const TOKEN: &str = "cftoken=";
    let lower = query.to_ascii_lowercase();
    let mut end = lower.len();
    while let Some(ampersand) = lower[..end].rfind('&') {
        let token = &lower[ampersand + 1..end];
        let is_token = TOKEN.len() < token.len() && token.starts_with(TOKEN);
        let start = lower[..ampersand].rfind('&').map_or(0, |before| before + 1);
        // The identifier has at least one character, so it does not begin at the very end.
        let searched = &lower[start..ampersand.max(start + 1) - 1];
        if is_token && let Some(identifier) = searched.rfind(IDENTIFIER) {
            return without(&query, start + identifier, end);
        }
        end = ampersand;
    }
    query
}

/// The query without `start..end`, nor the `&` that follows.
fn without(query: &str, start: usize, end: usize) -> String {
    let after = query[end..].strip_prefix('&').unwrap_or_default();
    format!("{}{after}", &query[..start])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789ABCDEF";
    const ASP: &str = "0123456789abcdefghijklmn";

    #[test]
    fn query_sessions_go() {
        for (query, expected) in [
            (format!("jsessionid={TOKEN}"), ""),
            (format!("a=1&JSessionId={TOKEN}&b=2"), "a=1&b=2"),
            (format!("a=1&sid={TOKEN}"), "a=1&"),
            (format!("mysid={TOKEN}&a"), "mya"),
            (format!("sid={TOKEN}&sid={TOKEN}"), &format!("sid={TOKEN}&")),
            (format!("sid={TOKEN}0"), &format!("sid={TOKEN}0")),
            (
                "a&ASPSESSIONIDabcdefgh=abcdefghijklmnopqrstuvwx&b".to_owned(),
                "a&b",
            ),
            ("cfid=1&cftoken=2&a=3".to_owned(), "a=3"),
            ("xcfid=1&CFTOKEN=2".to_owned(), "x"),
            ("cfid=&cftoken=2".to_owned(), "cfid=&cftoken=2"),
            ("cfid=1&cftoken=".to_owned(), "cfid=1&cftoken="),
            ("cfid=1&a&cftoken=2".to_owned(), "cfid=1&a&cftoken=2"),
            ("&cftoken=2".to_owned(), "&cftoken=2"),
        ] {
            assert_eq!(strip_from_query(query.clone()), expected, "{query}");
        }
    }

    #[test]
    fn path_sessions_go_before_an_aspx_page() {
        for (path, expected) in [
            (format!("/a/(s({ASP}))/b.aspx"), "/a/b.aspx"),
            (format!("/(a({ASP})f({ASP}))/b/c.aspx"), "/b/c.aspx"),
            (format!("/({ASP})/b.aspxx"), "/b.aspxx"),
            (format!("/({ASP})/b.asp"), &format!("/({ASP})/b.asp")),
            (format!("/({ASP})/.aspx"), &format!("/({ASP})/.aspx")),
            (format!("/({ASP})/.aspx.aspx"), "/.aspx.aspx"),
            (format!("/({ASP})/?.aspx"), &format!("/({ASP})/?.aspx")),
            (
                format!("/({ASP})/({ASP})/b.aspx"),
                &format!("/({ASP})/b.aspx"),
            ),
            (format!("({ASP})/b.aspx"), &format!("({ASP})/b.aspx")),
        ] {
            assert_eq!(strip_from_path(path.clone()), expected, "{path}");
        }
    }
}
