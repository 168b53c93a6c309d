//! `junkai get`: the bytes of a capture, out of an archive or out of single files.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use junkai_archive::{BodyForm, Captures, Entry, Index};
use junkai_crawler::{ArchiveFolder, CrawlError, Settings};
use junkai_weburl::{Canonicalizer, surt};

use crate::config;
use crate::exit::Ending;
use crate::moment::{FORMS, Moment, of_digits};
use crate::print::{Screened, shown, shown_within, tell};

/// Other captures that are named where there is none.
const NEIGHBOURS_SHOWN_MAX: usize = 5;
/// Captures that are looked at to find them.
const NEIGHBOURS_SEEN_MAX: usize = 10_000;
/// Characters of a URL in a hint.
const URL_SHOWN_MAX: usize = 200;

/// What `junkai get` takes.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  junkai get --archive example https://example.org/                    the page as it was captured last
  junkai get --archive example https://example.org/ --at 20260115      the capture nearest to a day
  junkai get --archive example https://example.org/ --at 2days         and to two days ago
  junkai get --archive example https://example.org/logo.png -o logo.png
  junkai get --archive example https://example.org/ --headers          with the status line and the headers
  junkai get --warc old.arc.gz --warc new.warc.gz http://example.org/  out of files that others wrote

The body is what a browser would get: without chunks and without compression; --raw leaves both as they were sent. Of a page that had not changed
when it was visited, the headers are those of that visit, and the body that of the capture which it repeats.")]
pub(crate) struct Arguments {
    /// The archive's folder.
    #[arg(long, short, value_name = "DIR", required_unless_present = "warc")]
    archive: Option<PathBuf>,
    /// A WARC or ARC file to look into, instead of an archive; may be given more than once.
    #[arg(long, value_name = "FILE", conflicts_with = "archive")]
    warc: Vec<PathBuf>,
    /// The capture that is nearest to this time, and not the latest.
    #[arg(long, value_name = "TIME", value_parser = Moment::parse, long_help = format!("The capture that is nearest to this time, and not the latest: {FORMS}"))]
    at: Option<Moment>,
    /// Write the status line and the headers before the body.
    #[arg(long)]
    headers: bool,
    /// Leave the body as it was sent, in chunks and compressed.
    #[arg(long)]
    raw: bool,
    /// Write to this file, and not to standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The URL.
    #[arg(value_name = "URL")]
    url: String,
}

/// Writes it.
pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let settings = settings_of(arguments)?;
    let canonical = Canonicalizer::new(&settings.canonical);
    let url = canonical
        .parse_seed(&arguments.url)
        // Others archive what cannot be crawled: `dns:example.org`.
        .map_or_else(|_| arguments.url.clone(), |page| page.as_str().to_owned());
    let captures = match &arguments.archive {
        Some(archive) => Captures::of_archive(archive)?,
        None => Captures::of_files(arguments.warc.clone()),
    };
    let of_url = captures.of(&url)?;
    let now = junkai_crawler::now(&settings);
    let wanted = arguments.at.map(|moment| moment.asked_at(now));
    let Some(capture) = nearest(&of_url, wanted) else {
        bail!(nothing(arguments, &url));
    };
    let Some(original) = captures.original(capture)? else {
        bail!(
            "the capture of {} repeats another one, which is not here; --at TIME chooses another: {}",
            capture.timestamp,
            times(&of_url)
        );
    };
    let mut out = output(arguments)?;
    if arguments.headers {
        let mut head = captures.http_head(capture)?;
        if head.is_empty() {
            head = captures.http_head(&original)?;
        }
        out.write_all(&head).context("cannot write the headers")?;
    }
    let form = if arguments.raw {
        BodyForm::AsSent
    } else {
        BodyForm::Decoded
    };
    match captures.copy_body(&original, form, out)? {
        None => Ok(Ending::Well),
        Some(damage) => {
            tell!(
                "junkai: the body is not whole: {} (--raw gives it as it was sent)",
                shown(&damage)
            );
            Ok(Ending::Problems)
        }
    }
}

/// The settings of the archive; the usual ones for files.
fn settings_of(arguments: &Arguments) -> Result<Settings> {
    let Some(archive) = &arguments.archive else {
        return Ok(Settings::default());
    };
    if !ArchiveFolder::real(archive).indexes().path().is_dir() {
        let error = CrawlError::NoArchive {
            archive: archive.clone(),
        };
        return Err(error).context("there is nothing to get; --warc FILE looks into a file");
    }
    Ok(config::in_force(archive)?.unwrap_or_default())
}

/// The capture that is nearest to a time, or the latest; of two that are as near, the later.
fn nearest(captures: &[Entry], wanted: Option<Timestamp>) -> Option<&Entry> {
    let Some(wanted) = wanted else {
        return captures.last();
    };
    let distance = |entry: &&Entry| {
        let time = of_digits(&entry.timestamp).unwrap_or(Timestamp::MIN);
        time.as_second().abs_diff(wanted.as_second())
    };
    captures.iter().rev().min_by_key(distance)
}

/// Where the bytes go: on a terminal without what that would obey.
fn output(arguments: &Arguments) -> Result<Box<dyn Write>> {
    if let Some(path) = &arguments.output {
        let file =
            File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        return Ok(Box::new(BufWriter::new(file)));
    }
    let stdout = io::stdout();
    Ok(if stdout.is_terminal() {
        Box::new(Screened::new(stdout.lock()))
    } else {
        Box::new(stdout.lock())
    })
}

/// That nothing was captured, and what was.
fn nothing(arguments: &Arguments, url: &str) -> String {
    let url = shown_within(url, URL_SHOWN_MAX);
    let Some(archive) = &arguments.archive else {
        return format!(
            "no capture of {url} in these files; `junkai warc index FILE` lists what they hold"
        );
    };
    let place = archive.display();
    let mut text = format!("no capture of {url} in {place}");
    let near = neighbours(archive, &arguments.url);
    if !near.is_empty() {
        text.push_str("; near it are:");
        for near in near {
            text.push_str("\n  ");
            text.push_str(&shown_within(&near, URL_SHOWN_MAX));
        }
    }
    text + &format!("\n`junkai explain --archive {place} {url}` says what happened to it")
}

/// URLs with captures that begin as this one does, as far as possible.
fn neighbours(archive: &std::path::Path, url: &str) -> Vec<String> {
    let Ok(index) = Index::open(archive) else {
        return Vec::new();
    };
    let mut key = surt(url);
    loop {
        // Up a folder, and at last to the host.
        let cut = key.trim_end_matches('/').rfind('/');
        key.truncate(cut.map_or(0, |at| at + 1));
        if key.is_empty() {
            return Vec::new();
        }
        let matches = index.prefix(&key).into_iter().flatten().flatten();
        let mut urls: Vec<String> = Vec::new();
        for entry in matches.take(NEIGHBOURS_SEEN_MAX) {
            if urls.last() != Some(&entry.url) {
                urls.push(entry.url);
            }
            if urls.len() == NEIGHBOURS_SHOWN_MAX {
                break;
            }
        }
        if !urls.is_empty() {
            return urls;
        }
    }
}

/// When a page was captured, the latest first.
fn times(captures: &[Entry]) -> String {
    let times = captures.iter().rev().take(NEIGHBOURS_SHOWN_MAX);
    let times: Vec<&str> = times.map(|entry| entry.timestamp.as_str()).collect();
    times.join(", ")
}
