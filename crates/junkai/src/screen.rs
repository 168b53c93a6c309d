//! Shows a running crawl: a live block on a terminal, a line now and then elsewhere, JSON lines for programs.
//!
//! A thread of its own reads the crawl's counters; the crawl never waits for the screen.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use junkai_crawler::{Ended, Progress, Snapshot, Summary};
use junkai_lab::outcome::grouped;

use crate::print::{say, short, shown, shown_within, tell};
use crate::telling::counted;

/// Characters of a failure's description that the live block shows.
const TROUBLE_SHOWN_MAX: usize = 68;
/// Rates are means over about this time.
const RATE_OVER: Duration = Duration::from_secs(10);

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// A block that is drawn over and over.
    Live,
    /// A line every ten seconds.
    Lines,
    /// A JSON line every second.
    Json,
    /// Nothing until the summary.
    Quiet,
}

impl Style {
    fn pace(self) -> Duration {
        match self {
            Style::Live => Duration::from_millis(250),
            Style::Lines => Duration::from_secs(10),
            Style::Json | Style::Quiet => Duration::from_secs(1),
        }
    }
}

/// The thread that draws.
pub(crate) struct Screen {
    done: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Screen {
    /// Starts drawing.
    pub(crate) fn start(style: Style, archive: &Path, progress: Arc<Progress>) -> Screen {
        let (done, wait) = mpsc::channel();
        let mut painter = Painter::new(style, archive.to_owned(), progress.snapshot());
        let thread = std::thread::Builder::new()
            .name("screen".into())
            .spawn(move || {
                while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(style.pace()) {
                    painter.draw(&progress.snapshot());
                }
                painter.clear();
            });
        Screen {
            done,
            thread: thread.ok(),
        }
    }

    /// Stops drawing and leaves a clean terminal.
    pub(crate) fn finish(mut self) {
        // The thread may be gone already; then there is nothing to stop.
        let _gone = self.done.send(());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tell!("junkai: the status display failed; the crawl is not affected");
        }
    }
}

struct Painter {
    style: Style,
    archive: PathBuf,
    begun: Instant,
    drawn_lines: usize,
    /// Snapshots of the last seconds, for rates.
    recent: Vec<(Instant, Snapshot)>,
}

impl Painter {
    fn new(style: Style, archive: PathBuf, start: Snapshot) -> Painter {
        let begun = Instant::now();
        Painter {
            style,
            archive,
            begun,
            drawn_lines: 0,
            recent: vec![(begun, start)],
        }
    }

    fn draw(&mut self, now: &Snapshot) {
        let rate = self.rate(now);
        match self.style {
            Style::Live => self.block(now, &rate),
            Style::Lines => tell!("{}", self.line(now, &rate)),
            Style::Json => print_json("progress", self.begun.elapsed(), now),
            Style::Quiet => {}
        }
    }

    /// Pages and bytes per second over the last ten seconds or so.
    fn rate(&mut self, now: &Snapshot) -> Rate {
        let time = Instant::now();
        // The oldest one stays until there is another from ten seconds ago.
        while 1 < self.recent.len() && RATE_OVER <= time.duration_since(self.recent[1].0) {
            self.recent.remove(0);
        }
        let since = match self.recent.first() {
            Some((then, past)) => {
                let seconds = time.duration_since(*then).as_secs_f64().max(0.001);
                let per_second = |now: u64, then: u64| now.saturating_sub(then) as f64 / seconds;
                Rate {
                    pages: per_second(now.pages, past.pages),
                    bytes: whole(per_second(now.bytes_received, past.bytes_received)),
                }
            }
            None => Rate {
                pages: 0.0,
                bytes: 0,
            },
        };
        self.recent.push((time, now.clone()));
        since
    }

    fn line(&self, now: &Snapshot, rate: &Rate) -> String {
        format!(
            "{}  {} pages  {:.1}/s  {}/s  known {}  waiting {}  revisits {} ({} changed, next {})  servers {}  errors {}  archive {}  free {}{}",
            clock(self.begun.elapsed()),
            grouped(now.pages),
            rate.pages,
            bytes(rate.bytes),
            grouped(now.known),
            grouped(now.waiting),
            grouped(now.revisits),
            grouped(now.changed),
            next_revisit(now),
            grouped(now.servers),
            grouped(now.errors),
            bytes(now.bytes_stored),
            bytes(now.disk_free),
            paused(now).map_or_else(String::new, |paused| format!("  PAUSED: {paused}")),
        ) + &missing(now).map_or_else(String::new, |missing| format!("  {missing}"))
            + &now.trouble.as_ref().map_or_else(String::new, |trouble| {
                format!("\n          last trouble: {}", shown(trouble))
            })
    }

    fn block(&mut self, now: &Snapshot, rate: &Rate) {
        let mut rows = Vec::from(self.rows(now, rate));
        if 0 < now.focus_sites {
            rows.push(row(
                "focus",
                &grouped(now.focus_fetches),
                "fetched",
                "sites",
                &grouped(now.focus_sites),
                &format!("{} files", grouped(now.focus_files)),
            ));
        }
        if let Some(paused) = paused(now) {
            rows.push(format!("  paused  {paused}"));
        }
        if let Some(missing) = missing(now) {
            rows.push(format!("  missing {missing}"));
        }
        if let Some(trouble) = &now.trouble {
            rows.push(format!(
                "  trouble {}",
                shown_within(trouble, TROUBLE_SHOWN_MAX)
            ));
        }
        self.clear();
        let text = rows.join("\n") + "\n";
        self.drawn_lines = rows.len();
        write_out(&text);
    }

    fn rows(&self, now: &Snapshot, rate: &Rate) -> [String; 7] {
        [
            format!(
                "junkai  {}  {}",
                clock(self.begun.elapsed()),
                shown(&self.archive.to_string_lossy())
            ),
            row(
                "pages",
                &grouped(now.pages),
                &format!("{:.1}/s", rate.pages),
                "received",
                &bytes(now.bytes_received),
                &format!("{}/s", bytes(rate.bytes)),
            ),
            row(
                "known",
                &grouped(now.known),
                "",
                "waiting",
                &grouped(now.waiting),
                &format!("{} in flight", now.in_flight),
            ),
            row(
                "revisits",
                &grouped(now.revisits),
                &format!("{} changed", grouped(now.changed)),
                "next",
                &next_revisit(now),
                &next_note(now),
            ),
            row(
                "servers",
                &grouped(now.servers),
                "",
                "hosts",
                &grouped(now.hosts),
                &format!("{} put off", grouped(now.put_off)),
            ),
            row(
                "errors",
                &grouped(now.errors),
                &format!("{} retried", now.retried),
                "robots",
                &grouped(now.robots_denied),
                &format!("kept out, {} asked for rest", now.overloaded),
            ),
            row(
                "archive",
                &bytes(now.bytes_stored),
                "written",
                "disk",
                &bytes(now.disk_free),
                if now.disk_full {
                    "FULL: paused"
                } else {
                    "free"
                },
            ),
        ]
    }

    fn clear(&mut self) {
        if 0 < self.drawn_lines {
            // Up to the start of the block, and clear to the end of the screen.
            write_out(&format!("\x1b[{}F\x1b[J", self.drawn_lines));
            self.drawn_lines = 0;
        }
    }
}

/// When the next known page is due.
fn next_revisit(now: &Snapshot) -> String {
    match now.next_due.checked_sub(now.now) {
        _ if now.next_due == 0 => "-".to_owned(),
        None | Some(0) => "now".to_owned(),
        Some(micros) => format!("in {}", short(micros as f64 / 1e6)),
    }
}

/// Of how many pages, and whether there is nothing to do until then.
fn next_note(now: &Snapshot) -> String {
    let is_idle = now.waiting == 0 && now.in_flight == 0 && now.now < now.next_due;
    let sleeping = if is_idle { ", sleeping" } else { "" };
    format!("of {}{sleeping}", counted(now.pages_known, "page"))
}

/// What does not go on, and why, if anything.
fn paused(now: &Snapshot) -> Option<String> {
    if now.disk_full {
        return Some("the disk is full".to_owned());
    }
    if now.all_paused {
        return Some("everything, until `junkai resume --all`".to_owned());
    }
    (0 < now.paused).then(|| counted(now.paused, "host or server"))
}

struct Rate {
    pages: f64,
    bytes: u64,
}

/// Prints what the crawl came to, where things are, and what to do next.
pub(crate) fn summarise(style: Style, archive: &Path, go_on: &str, summary: &Summary) {
    if style == Style::Json {
        let line = serde_json::json!({ "type": "summary", "archive": archive, "summary": summary });
        say!("{line}");
        return;
    }
    let now = &summary.progress;
    let seconds = summary.seconds.max(0.001);
    let folder = archive.display();
    say!("{}", headline(summary));
    say!(
        "  {} pages in {}, {:.1} a second, {} received",
        grouped(now.pages),
        clock(Duration::from_secs_f64(seconds)),
        now.pages as f64 / seconds,
        bytes(now.bytes_received)
    );
    if 0 < now.revisits + now.pages_known {
        say!(
            "  {} were revisits, of which {} found a change; {} will be visited again, {} were given up",
            grouped(now.revisits),
            grouped(now.changed),
            counted(now.pages_known, "page"),
            grouped(now.given_up)
        );
    }
    say!(
        "  {} known, {} waiting, {} servers, {} errors, {} kept out by robots.txt",
        grouped(now.known),
        grouped(now.waiting),
        grouped(now.servers),
        grouped(now.errors),
        grouped(now.robots_denied)
    );
    tell_what_is_missing(archive, now);
    if let Some(trouble) = &now.trouble {
        say!("  last trouble: {}", shown(trouble));
    }
    say!(
        "  captures  {folder}/archive/   {} in this run",
        bytes(now.bytes_stored)
    );
    say!("  index     {folder}/indexes/");
    say!("  log       {folder}/logs/crawl.log");
    say!("Next:");
    let why = match summary.ended {
        Ended::Complete => "keep it up to date",
        _ => "go on from here",
    };
    say!("  {go_on} --archive {folder}             {why}");
    say!("  junkai stats --archive {folder}             what the archive holds");
    say!("  junkai state stats --archive {folder}       which pages are visited again, and when");
    say!("  junkai explain --archive {folder} URL       what happened to a URL, and why");
    say!("  junkai warc check {folder}/archive/*        prove every record");
}

/// How the run ended, in a sentence.
fn headline(summary: &Summary) -> &'static str {
    let now = &summary.progress;
    match summary.ended {
        Ended::Complete if 0 < now.visits_lost => {
            "The crawl has ended, but waiting visits were LOST."
        }
        Ended::Complete if now.pages == 0 && 0 < now.errors => "Nothing could be visited.",
        Ended::Complete if 0 < now.urls_refused => {
            "The crawl is complete, but for URLs that were refused because too many waited."
        }
        Ended::Complete if 0 < now.discarded => {
            "The crawl is complete, but for what found no room in the ring."
        }
        Ended::Complete => "The crawl is complete: everything in scope has been visited once.",
        Ended::PagesReached => "Stopped: the number of pages asked for is reached.",
        Ended::TimeReached => "Stopped: the time asked for is over.",
        Ended::Stopped => "Stopped on request.",
    }
}

/// What was found and is not followed, or is lost, in a line; nothing if all is well.
fn missing(now: &Snapshot) -> Option<String> {
    let parts = [
        (now.links_left_out, "links left out"),
        (now.urls_refused, "URLs refused"),
        (now.visits_lost, "waiting visits LOST"),
        (now.states_lost, "page states LOST"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| 0 < *count)
        .map(|(count, what)| format!("{} {what}", grouped(count)))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Says what was found and is not in the archive, and what helps.
fn tell_what_is_missing(archive: &Path, now: &Snapshot) {
    let folder = archive.display();
    if 0 < now.discarded {
        say!(
            "  {} URLs found no room in the ring and were discarded",
            grouped(now.discarded)
        );
    }
    if 0 < now.links_left_out {
        say!(
            "  {} were left out: their pages have too many, or they are too long (links.max_links, links.max_url_length, backlog.page_bytes_max); \
             the log says which pages (linksLeftOut)",
            counted(now.links_left_out, "link")
        );
    }
    if 0 < now.urls_refused {
        say!(
            "  {} were refused: as many bytes waited as may (backlog.host_bytes_max, backlog.bytes_max); the log says whose links they were (urlsRefused), \
             and they are taken in when they are found again",
            counted(now.urls_refused, "new URL")
        );
    }
    if 0 < now.visits_lost {
        say!(
            "  {} LOST: files of {folder}/state/backlog were damaged from outside; check the disk. To find them again: move {folder}/state/seen aside (the \
             next start makes it anew, without them), have the pages visited that link to them (junkai revisit --archive {folder} --host HOST), and crawl on",
            counted(now.visits_lost, "waiting visit")
        );
    }
    if 0 < now.states_lost {
        say!(
            "  {} LOST: files of {folder}/state/time_queue were damaged from outside; check the disk. These pages stay in the archive and are not visited \
             again by themselves; junkai revisit --archive {folder} --host HOST visits them once more",
            counted(now.states_lost, "state of a known page")
        );
    }
}

fn print_json(kind: &str, elapsed: Duration, now: &Snapshot) {
    say!(
        "{}",
        serde_json::json!({ "type": kind, "seconds": elapsed.as_secs_f64(), "progress": now })
    );
}

fn row(name: &str, value: &str, note: &str, name2: &str, value2: &str, note2: &str) -> String {
    format!("  {name:<8}{value:>12}  {note:<14}{name2:<9}{value2:>12}  {note2}")
}

fn write_out(text: &str) {
    let mut out = std::io::stderr().lock();
    if out
        .write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .is_err()
    {
        // A terminal that went away is no reason to stop crawling.
    }
}

/// A rate without its fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is finite and not negative"
)]
fn whole(rate: f64) -> u64 {
    rate as u64
}

/// A number of bytes for people.
pub(crate) fn bytes(number: u64) -> String {
    bytesize::ByteSize(number).display().si().to_string()
}

fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}
