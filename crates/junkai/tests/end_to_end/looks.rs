//! Looks: an archived page is shown by a browser as the web showed it, and has every file that `wget -r -p` gets.
//!
//! The site is a Debian documentation package, and beside it a page that names its parts in every way that pages have. It is served by a server of
//! the test's own, which is gone when the archive is shown: what was not captured cannot be seen.

mod picture;
mod site;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::{free_port, index_lines, junkai, run, start_pywb};
use picture::Picture;
use site::Site;

/// Of all pixels, so many may differ between two pictures of one page, in thousandths.
const SAME_PER_MILLE: usize = 1;
/// A page without its requisites differs at least in so many.
const OTHER_PER_MILLE: usize = 30;

/// The pages that are looked at: one of the package, and that of all parts.
const PAGES: [&str; 2] = ["/manual/en/bind.html", "/parts/"];

#[test]
fn an_archived_site_looks_like_the_site_and_has_what_wget_gets() {
    let folder = tempfile::tempdir().unwrap();
    let site = Site::start(&folder.path().join("site"));
    let originals = PAGES.map(|page| picture(&folder, &site.url(page), None));

    let archive = folder.path().join("archive");
    let mut crawl = crawl_into(&archive);
    crawl.args(["--scope", "host"]).arg(site.url("/"));
    run(crawl).expect(0);
    let pages_only = folder.path().join("pages-only");
    let mut crawl = crawl_into(&pages_only);
    crawl.args(["--no-requisites", "--scope", "page"]);
    crawl.args(PAGES.map(|page| site.url(page)));
    run(crawl).expect(0);

    let captured = captured(&archive);
    let parts = site.parts();
    assert!(15 < parts.len(), "{parts:?}");
    let missed: Vec<_> = parts.difference(&captured).collect();
    assert!(missed.is_empty(), "parts that were missed: {missed:#?}");

    let wanted = downloaded_by_wget(&folder, &site);
    assert!(800 < wanted.len(), "wget got {}", wanted.len());
    let missed: Vec<_> = wanted.difference(&captured).collect();
    assert!(missed.is_empty(), "wget has besides: {missed:#?}");

    let urls = PAGES.map(|page| site.url(page));
    drop(site);
    for (archive, is_same) in [(&archive, true), (&pages_only, false)] {
        let port = free_port();
        let _wayback = start_pywb(archive, &archive.with_extension("pywb"), port);
        for (url, original) in urls.iter().zip(&originals) {
            let differing = picture(&folder, url, Some(port)).differing_per_mille(original);
            println!("{url}: {differing} ‰ differ");
            if is_same {
                assert!(differing <= SAME_PER_MILLE, "{url}: {differing} ‰ differ");
            } else {
                assert!(OTHER_PER_MILLE <= differing, "{url}: {differing} ‰ differ");
            }
        }
    }
}

/// Requisites are not followed without end: a style sheet to its imports, a few times; a page of another host in a frame not at all.
#[test]
fn endless_style_sheets_and_frames_from_elsewhere_lead_no_further() {
    let folder = tempfile::tempdir().unwrap();
    let site = Site::start(&folder.path().join("site"));
    let mut crawl = crawl_into(&folder.path().join("archive"));
    crawl.args(["--scope", "host"]).arg(site.url("/trap.html"));
    run(crawl).expect(0);
    let sent = site.sent();
    let is_sheet = |url: &&String| url.starts_with(&site.url("/endless/"));
    let sheets = sent.iter().filter(is_sheet).count();
    assert_eq!(sheets, 9, "{sent:?}");
    let elsewhere: Vec<_> = sent
        .iter()
        .filter(|url| url.contains("127.0.0.2"))
        .collect();
    assert_eq!(elsewhere.len(), 1, "{sent:?}");
    assert!(elsewhere[0].ends_with("/framed.html"), "{sent:?}");
}

fn crawl_into(archive: &Path) -> Command {
    let mut crawl = junkai();
    crawl.arg("crawl").arg("--archive").arg(archive);
    crawl.args(["--once", "--interval", "0s", "--quiet"]);
    // Whatever a page says, the test does not leave this machine.
    crawl.args(["--allow", "127.0.0.0/8"]);
    crawl.args(["--exclude", r"^https?://[^/]*[a-z]"]);
    crawl
}

/// The URLs of all captures that brought a page.
fn captured(archive: &Path) -> BTreeSet<String> {
    let lines = index_lines(archive);
    let fields = lines.iter().map(|line| {
        let start = line.find('{').unwrap();
        serde_json::from_str::<serde_json::Value>(&line[start..]).unwrap()
    });
    fields
        .filter(|fields| fields["status"] == "200")
        .map(|fields| fields["url"].as_str().unwrap().to_owned())
        .collect()
}

/// The URLs that `wget -r -p` asks for and gets.
fn downloaded_by_wget(folder: &TempDir, site: &Site) -> BTreeSet<String> {
    site.forget();
    let mut wget = tool("JUNKAI_WGET");
    wget.args(["--recursive", "--page-requisites", "--level=inf"]);
    wget.args(["--no-proxy", "--no-config", "--quiet", "--directory-prefix"]);
    wget.arg(folder.path().join("wget")).arg(site.url("/"));
    let ended = run(wget);
    // 8: some of the package's links lead nowhere.
    assert!(matches!(ended.code, Some(0 | 8)), "{}", ended.all());
    let mut sent = site.sent();
    sent.remove(&site.url("/robots.txt"));
    sent
}

/// A page as a browser shows it, from the web, or by a proxy from an archive.
fn picture(folder: &TempDir, url: &str, proxy: Option<u16>) -> Picture {
    let file = folder.path().join("picture.png");
    let mut browser = tool("JUNKAI_CHROMIUM");
    browser.args(["--no-sandbox", "--disable-gpu", "--hide-scrollbars"]);
    browser.args([
        "--disable-background-networking",
        "--force-color-profile=srgb",
    ]);
    browser.args(["--window-size=1000,1200", "--virtual-time-budget=5000"]);
    browser.arg(format!(
        "--user-data-dir={}",
        folder.path().join("profile").display()
    ));
    browser.arg(format!("--screenshot={}", file.display()));
    if let Some(port) = proxy {
        browser.arg(format!("--proxy-server=http://127.0.0.1:{port}"));
        // Loopback too, which is else asked directly.
        browser.arg("--proxy-bypass-list=<-loopback>");
        // Else the browser would remember what the web had sent.
        browser.arg("--disk-cache-size=1");
    } else {
        browser.arg("--no-proxy-server");
        browser.arg("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE 127.0.0.2");
    }
    browser.arg(url);
    let shown = run(browser).expect(0);
    let bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{error}: {}", shown.all()));
    std::fs::remove_file(&file).unwrap();
    std::fs::remove_dir_all(folder.path().join("profile")).unwrap_or_default();
    Picture::read(&bytes)
}

fn tool(variable: &str) -> Command {
    let path = std::env::var_os(variable).unwrap_or_else(|| {
        panic!("{variable} must name a program: run `cargo xtask test`, which sets it up")
    });
    Command::new(PathBuf::from(path))
}
