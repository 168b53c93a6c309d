//! How the versions of real pages differ: in their bytes, in their content, or in a little of it.
//!
//! `cargo run --release -p junkai-page --example content_versions -- FOLDER` reads a folder that holds the versions of a web site
//! (`manifest.tsv`: time, operation, path, object, bytes; `objects/xx/…`), shows them to the content reader in the order of time, and
//! prints what became of each change of a payload, how alike those are that differ, and how fast contents and links are read.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use junkai_page::content::{self, Boilerplate, BoilerplateBounds, Content};
use junkai_page::{LinkOptions, Source, analyze};
use url::Url;

/// How alike two versions are, in classes.
const CLASSES: [f32; 6] = [0.99, 0.98, content::A_LITTLE, 0.9, 0.7, 0.0];

#[derive(Default)]
struct Outcome {
    payload_changes: u64,
    same: u64,
    same_but_for_the_site: u64,
    a_little: u64,
    changed: u64,
    without_text: u64,
    classes: [u64; CLASSES.len()],
    bytes: u64,
    content_time: Duration,
    analysis_time: Duration,
}

fn main() -> anyhow::Result<()> {
    let folder = std::env::args()
        .nth(1)
        .context("usage: content_versions FOLDER")?;
    let folder = Path::new(&folder);
    let manifest = std::fs::read_to_string(folder.join("manifest.tsv"))
        .with_context(|| format!("cannot read the manifest in {}", folder.display()))?;
    let mut outcome = Outcome::default();
    let mut boilerplate = Boilerplate::new(BoilerplateBounds::default());
    let mut last: HashMap<&str, Option<Content>> = HashMap::new();
    for line in manifest.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, operation, path, object, _] = fields[..] else {
            continue;
        };
        let is_html = Path::new(path)
            .extension()
            .is_some_and(|extension| extension == "html");
        if operation == "D" || !is_html {
            continue;
        }
        let (directory, file) = object.split_at(2);
        let body = std::fs::read(folder.join("objects").join(directory).join(file))?;
        let url = Url::parse("http://www.example.org/")?.join(path)?;
        let content = outcome.read(&mut boilerplate, &body, &url);
        if let Some(before) = last.insert(path, content) {
            outcome.compare(before, content);
        }
    }
    outcome.print(&boilerplate);
    Ok(())
}

/// What this thread has computed so far: other programs on the machine do not count.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

impl Outcome {
    fn read(&mut self, boilerplate: &mut Boilerplate, body: &[u8], url: &Url) -> Option<Content> {
        let start = cpu_time();
        let content = content::of(boilerplate, body, Some("text/html"), url);
        self.content_time += cpu_time().saturating_sub(start);
        let source = Source {
            body,
            content_type: Some("text/html"),
            url,
            robots_agent: "junkai",
            x_robots_tag: &[],
            link_headers: &[],
            detect_language: false,
        };
        let start = cpu_time();
        std::hint::black_box(analyze(&source, &LinkOptions::default()));
        self.analysis_time += cpu_time().saturating_sub(start);
        self.bytes += body.len() as u64;
        content
    }

    fn compare(&mut self, before: Option<Content>, after: Option<Content>) {
        self.payload_changes += 1;
        let (Some(before), Some(after)) = (before, after) else {
            self.without_text += 1;
            return;
        };
        if before.fingerprint == after.fingerprint {
            self.same += 1;
        } else if before.is_same(&after) {
            self.same_but_for_the_site += 1;
        } else {
            let similarity = before.similarity(&after);
            let class = CLASSES.iter().position(|least| *least <= similarity);
            self.classes[class.unwrap_or(CLASSES.len() - 1)] += 1;
            if content::A_LITTLE <= similarity {
                self.a_little += 1;
            } else {
                self.changed += 1;
            }
        }
    }

    #[expect(clippy::print_stdout, reason = "this is what it is for")]
    fn print(&self, boilerplate: &Boilerplate) {
        let share = |count: u64| 100.0 * count as f64 / self.payload_changes.max(1) as f64;
        println!("{} changes of a payload:", self.payload_changes);
        for (count, what) in [
            (self.same, "same content"),
            (
                self.same_but_for_the_site,
                "same but for what the site's pages share",
            ),
            (self.a_little, "differ by a little"),
            (self.changed, "changed"),
            (self.without_text, "have no text"),
        ] {
            println!("{count:8} {:5.1} % {what}", share(count));
        }
        println!("of those that differ, by similarity:");
        for (count, least) in self.classes.iter().zip(CLASSES) {
            println!("{count:8} at least {least:.2}");
        }
        let megabytes = self.bytes as f64 / 1e6;
        println!(
            "{megabytes:.1} MB: contents {:.0} MB/s, links {:.0} MB/s of processor time; {} bytes known of the site",
            megabytes / self.content_time.as_secs_f64(),
            megabytes / self.analysis_time.as_secs_f64(),
            boilerplate.memory_bytes(),
        );
    }
}
