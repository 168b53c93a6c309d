//! The words by which log lines tell what was unusual about a visit. `docs/operations.md` explains each; those that end with a colon are followed by a value.

/// The visit was made, and is to be tried again.
pub const RETRY: &str = "retry";
/// It was not counted against the page: our network, or the machine, was at fault.
pub const HELD: &str = "held";
/// The answer was cut because it was too long, took too long, or broke off.
pub const CUT: [&str; 3] = ["lenTrunc", "timeTrunc", "midFetchTrunc"];
/// The payload is the same as that of an earlier capture, by its digest.
pub const DUPLICATE_DIGEST: &str = "duplicate:digest";
/// The same, as the server says.
pub const DUPLICATE_NOT_MODIFIED: &str = "duplicate:server-not-modified";
/// The page says that it is not to be kept.
pub const NO_ARCHIVE: &str = "noarchive";
/// What is wrong with the server's certificate, where any is taken.
pub const TLS: &str = "tls:";
/// The server broke a rule of HTTP.
pub const IRREGULAR: &str = "irregular";
/// The page was kept, and could not be read: our fault.
pub const PARSER_FAILED: &str = "parserFailed";
/// A redirect leads to no URL.
pub const BAD_LOCATION: &str = "badLocation";
/// A redirect leads to the page itself.
pub const REDIRECT_TO_ITSELF: &str = "redirectToItself";
/// A redirect is the last of too many in a row.
pub const TOO_MANY_REDIRECTS: &str = "tooManyRedirects";
/// The body cannot be decoded.
pub const CONTENT_CODING: &str = "contentCoding";
/// Style sheets lead to each other, and this is the last of too many in a row.
pub const TOO_MANY_STYLE_SHEETS: &str = "tooManyStyleSheets";
/// Sitemaps lead to each other, and this is the last of too many in a row.
pub const TOO_MANY_SITEMAPS: &str = "tooManySitemaps";
/// Not all links of the page were read.
pub const LINKS_TRUNC: &str = "linksTrunc";
/// So many links were left out.
pub const LINKS_LEFT_OUT: &str = "linksLeftOut:";
/// So many new URLs were refused.
pub const URLS_REFUSED: &str = "urlsRefused:";
/// A known page was visited out of turn, because somebody asked for it.
pub const ASKED: &str = "asked";
/// The same, because a sitemap or feed said that it had changed.
pub const SIGNALLED: &str = "signalled";
/// The page is there, which the visits before had missed.
pub const BACK: &str = "back";
/// No visit: says what an earlier one, out of turn, meant for its page. It stands in `events.jsonl` alone.
pub const JOINED: &str = "joined";
/// The page is not visited again.
pub const GIVEN_UP: &str = "givenUp";

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else {
                found.push(path);
            }
        }
    }

    /// The texts of this file's constants.
    fn words() -> Vec<&'static str> {
        let (constants, _) = include_str!("annotation.rs")
            .split_once("#[cfg(test)]")
            .unwrap();
        let lines = constants.lines().filter(|line| line.starts_with("pub"));
        lines
            .flat_map(|line| line.split('"').skip(1).step_by(2))
            .collect()
    }

    #[test]
    fn every_annotation_is_explained_in_the_documentation() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");
        let page = fs::read_to_string(page).unwrap();
        let row = page
            .lines()
            .find(|line| line.starts_with("| `annotations`"));
        let row = row.unwrap();
        assert!(20 < words().len());
        for word in words() {
            assert!(row.contains(&format!("`{word}")), "{word} is not explained");
        }
    }

    #[test]
    fn no_annotation_is_written_that_is_not_here() {
        let mut files = Vec::new();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        sources(&folder, &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            let code: String = code.split_whitespace().collect();
            for begun in [".push(\"", ".push(format!(\"", ":vec![\""] {
                let begun = format!("annotations{begun}");
                for (at, _) in code.match_indices(&begun) {
                    let value = &code[at + begun.len()..];
                    // Of the others, those that begin with a constant; and tries, which have a number in front.
                    let is_right = value.starts_with("{}");
                    let told: String = value.chars().take(40).collect();
                    assert!(is_right, "{}: {told}", file.display());
                }
            }
        }
    }
}
