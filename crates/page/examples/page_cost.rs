//! What reading pages costs, to be counted by valgrind: time on a shared machine says little, instructions say the same each time.
//!
//! `page_cost MODE FOLDER` reads a folder of pages (`pages.tsv`: file, URL, content type) and then does to each what MODE says:
//! `links` finds its links, `content` reads its content, `both` does what a worker does at a first visit. It prints how many pages and bytes
//! there were. What is counted lies in `measured`:
//!
//! ```text
//! valgrind --tool=callgrind --toggle-collect='*measured*' page_cost both FOLDER
//! ```

use std::path::Path;

use anyhow::Context as _;
use junkai_page::content::{self, Boilerplate, BoilerplateBounds};
use junkai_page::{LinkOptions, Source, analyze};
use url::Url;

struct Page {
    url: Url,
    content_type: String,
    body: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Mode {
    Links,
    Content,
    Both,
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, mode, folder] = &arguments[..] else {
        anyhow::bail!("usage: page_cost links|content|both FOLDER");
    };
    let mode = match mode.as_str() {
        "links" => Mode::Links,
        "content" => Mode::Content,
        "both" => Mode::Both,
        other => anyhow::bail!("unknown mode {other}"),
    };
    let pages = pages_in(Path::new(folder))?;
    let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
    let options = LinkOptions::default();
    for page in &pages {
        measured(mode, page, &options, &mut boilerplate);
    }
    let bytes: usize = pages.iter().map(|page| page.body.len()).sum();
    print(pages.len(), bytes);
    Ok(())
}

fn pages_in(folder: &Path) -> anyhow::Result<Vec<Page>> {
    let list = std::fs::read_to_string(folder.join("pages.tsv"))
        .with_context(|| format!("cannot read the list of pages in {}", folder.display()))?;
    let page = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [file, url, content_type] = fields[..] else {
            anyhow::bail!("not three fields: {line}");
        };
        Ok(Page {
            url: Url::parse(url)?,
            content_type: content_type.to_owned(),
            body: std::fs::read(folder.join(file))?,
        })
    };
    list.lines().map(page).collect()
}

#[inline(never)]
fn measured(mode: Mode, page: &Page, options: &LinkOptions, boilerplate: &mut Boilerplate) {
    let source = Source {
        body: &page.body,
        content_type: Some(&page.content_type),
        url: &page.url,
        robots_agent: "junkai",
        x_robots_tag: &[],
        link_headers: &[],
        detect_language: false,
    };
    let black_box = std::hint::black_box::<Option<content::Content>>;
    match mode {
        Mode::Links => {
            std::hint::black_box(analyze(&source, options));
        }
        Mode::Content => {
            let content_type = source.content_type;
            black_box(content::of(
                boilerplate,
                &page.body,
                content_type,
                &page.url,
            ));
        }
        Mode::Both => {
            let charset = std::hint::black_box(analyze(&source, options)).charset();
            black_box(content::of_page(
                boilerplate,
                &page.body,
                charset,
                &page.url,
            ));
        }
    }
}

#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn print(pages: usize, bytes: usize) {
    println!("{pages} pages, {bytes} bytes");
}
