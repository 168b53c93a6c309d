//! Real files under a host name.
//!
//! As a plain file server does it: `index.html` for a folder, a redirect where the slash after a folder is missing, the
//! type by the name's ending, `Last-Modified` from the file. Symbolic links are followed: the folder is its owner's.

use std::fmt::Write;
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::answer::{Answer, Request};

/// A folder served as a site.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    /// Scheme, name and port, as links begin.
    pub(crate) origin: String,
}

/// Larger files are answered with 500: answers are made in memory.
const FILE_BYTES_MAX: u64 = 1 << 30;

impl Folder {
    pub(crate) fn new(root: PathBuf, origin: String) -> Self {
        Self { root, origin }
    }

    pub(crate) fn answer(&self, request: &Request) -> Answer {
        let Some(mut path) = self.file_path(request.path()) else {
            return Answer::plain(404);
        };
        let mut found = std::fs::metadata(&path);
        let names_folder = request.path().ends_with('/');
        if found.as_ref().is_ok_and(Metadata::is_dir) {
            if !names_folder {
                return Answer::redirect(301, with_slash(request));
            }
            path.push("index.html");
            found = std::fs::metadata(&path);
        } else if names_folder {
            return Answer::plain(404);
        }
        match found {
            Ok(metadata) if metadata.is_file() => file_answer(&path, &metadata, request),
            Ok(_) | Err(_) => Answer::plain(404),
        }
    }

    /// The file that a URL path names, which is always inside the folder.
    fn file_path(&self, url_path: &str) -> Option<PathBuf> {
        let decoded = percent_decoded(url_path)?;
        let relative = Path::new(decoded.strip_prefix('/')?);
        let is_inside = relative
            .components()
            .all(|component| matches!(component, Component::Normal(_)));
        (is_inside && !decoded.contains('\0')).then(|| self.root.join(relative))
    }
}

fn file_answer(path: &Path, metadata: &Metadata, request: &Request) -> Answer {
    let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
    let age = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    let etag = format!("\"{:x}-{:x}\"", age.as_nanos(), metadata.len());
    let headers = match request.validate(etag, modified) {
        Ok(headers) => headers,
        Err(not_modified) => return not_modified,
    };
    if FILE_BYTES_MAX < metadata.len() {
        return Answer::plain(500);
    }
    match std::fs::read(path) {
        Ok(body) => Answer {
            status: 200,
            headers,
            body,
            is_chunked: false,
        }
        .header("content-type", content_type(path)),
        Err(error) => {
            tracing::warn!(%error, path = %path.display(), "file not served");
            Answer::plain(500)
        }
    }
}

/// The request's target with a slash after its path.
fn with_slash(request: &Request) -> String {
    let path = request.path();
    // `//host/…` would lead to another host.
    let path = path.trim_start_matches('/');
    let query = request.target.split_once('?').map(|(_, query)| query);
    let mut target = format!("/{path}/");
    if let Some(query) = query {
        let written = write!(target, "?{query}");
        debug_assert!(written.is_ok(), "a string takes all that is written to it");
    }
    target
}

pub(crate) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        if byte == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(byte);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

/// The type of a file by its name. Text has no charset here: files say it themselves, or nobody does.
pub(crate) fn content_type(path: &Path) -> &'static str {
    let ending = path.extension().and_then(|ending| ending.to_str());
    match ending.unwrap_or_default().to_ascii_lowercase().as_str() {
        "html" | "htm" => "text/html",
        "xhtml" | "xht" => "application/xhtml+xml",
        "txt" | "text" | "md" | "log" => "text/plain",
        "css" => "text/css",
        "js" | "mjs" => "text/javascript",
        "json" | "map" => "application/json",
        "xml" | "xsl" => "application/xml",
        "atom" => "application/atom+xml",
        "rss" => "application/rss+xml",
        "csv" => "text/csv",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "otf" => "font/otf",
        "pdf" => "application/pdf",
        "ps" => "application/postscript",
        "zip" => "application/zip",
        "gz" | "tgz" => "application/gzip",
        "xz" => "application/x-xz",
        "mp3" => "audio/mpeg",
        "ogg" => "audio/ogg",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("a b")).unwrap();
        std::fs::write(root.path().join("index.html"), "home").unwrap();
        std::fs::write(root.path().join("a b/index.html"), "inner").unwrap();
        std::fs::write(root.path().join("a b/x.txt"), "text").unwrap();
        let folder = Folder::new(root.path().to_owned(), String::new());
        (root, folder)
    }

    fn ask(target: &str) -> Request {
        Request {
            target: target.to_owned(),
            ..Request::default()
        }
    }

    #[test]
    fn files_folders_and_redirects() {
        let (_root, folder) = folder();
        for (target, status, body) in [
            ("/", 200, "home"),
            ("/index.html?x=1", 200, "home"),
            ("/a%20b/", 200, "inner"),
            ("/a%20b/x.txt", 200, "text"),
            ("/a%20b/x.txt/", 404, ""),
            ("/nothing", 404, ""),
            ("/a%20b/../index.html", 404, ""),
            ("/%2e%2e/etc/passwd", 404, ""),
            ("//etc/passwd", 404, ""),
            ("/%00", 404, ""),
            ("/%zz", 404, ""),
            ("", 404, ""),
        ] {
            let answer = folder.answer(&ask(target));
            assert_eq!(answer.status, status, "{target}");
            if status == 200 {
                assert_eq!(answer.body, body.as_bytes(), "{target}");
            }
        }
        let redirect = folder.answer(&ask("/a%20b?q"));
        assert_eq!(redirect.status, 301);
        assert!(redirect.headers.contains(&("location", "/a%20b/?q".into())));
    }

    #[test]
    fn an_unchanged_file_is_not_sent_again() {
        let (_root, folder) = folder();
        let first = folder.answer(&ask("/"));
        let tag = first.headers.iter().find(|(name, _)| *name == "etag");
        let mut again = ask("/");
        again.if_none_match = tag.map(|(_, value)| value.clone());
        assert_eq!(folder.answer(&again).status, 304);
    }
}
