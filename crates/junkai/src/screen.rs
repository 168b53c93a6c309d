//! Shows a running crawl: a live block on a terminal, a line now and then elsewhere, JSON lines for programs.
//!
//! A thread of its own reads the crawl's counters; the crawl never waits for the screen. [`layout`] says what the block looks like, [`terminal`]
//! draws it, [`summary`] is what stays at the end.

mod layout;
mod summary;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use junkai_crawler::{Progress, Snapshot};
use junkai_simulation::outcome::grouped;

use self::layout::{View, missing, next_revisit, paused, shared};
use crate::print::{say, shown, tell};

pub(crate) use self::summary::summarise;
pub(crate) use junkai_terminal::block as terminal;

/// Rates are means over about this time.
const RATE_OVER: Duration = Duration::from_secs(10);
/// Seconds of which the block shows how many pages each brought.
const SECONDS_SHOWN: usize = 60;

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
                terminal::clear();
            });
        Screen {
            done,
            thread: thread.ok(),
        }
    }
}

/// Stops drawing and leaves a clean terminal, whatever became of the crawl.
impl Drop for Screen {
    fn drop(&mut self) {
        // The thread may be gone already; then there is nothing to stop.
        let _gone = self.done.send(());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            terminal::clear();
            tell!("junkai: the status display failed; the crawl is not affected");
        }
    }
}

struct Painter {
    style: Style,
    archive: PathBuf,
    begun: Instant,
    has_colours: bool,
    /// Snapshots of the last seconds, for rates.
    recent: Vec<(Instant, Snapshot)>,
    seconds: Seconds,
}

/// Pages of each of the last seconds.
struct Seconds {
    /// When the current one began, and with how many pages.
    begun: (Instant, u64),
    pages: Vec<f64>,
}

impl Seconds {
    fn take(&mut self, now: Instant, pages: u64) {
        let second = Duration::from_secs(1);
        if second <= now.duration_since(self.begun.0) {
            self.pages.push(pages.saturating_sub(self.begun.1) as f64);
            self.begun = (now, pages);
            let surplus = self.pages.len().saturating_sub(SECONDS_SHOWN);
            self.pages.drain(..surplus);
        }
    }
}

impl Painter {
    fn new(style: Style, archive: PathBuf, start: Snapshot) -> Painter {
        let begun = Instant::now();
        Painter {
            style,
            archive,
            begun,
            has_colours: terminal::has_colours(),
            seconds: Seconds {
                begun: (begun, start.pages),
                pages: Vec::new(),
            },
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
        ) + &shared(now).map_or_else(String::new, |shared| format!("  waiting {shared}"))
            + &missing(now).map_or_else(String::new, |missing| format!("  {missing}"))
            + &now.trouble.as_ref().map_or_else(String::new, |trouble| {
                format!("\n          last trouble: {}", shown(trouble))
            })
    }

    fn block(&mut self, now: &Snapshot, rate: &Rate) {
        self.seconds.take(Instant::now(), now.pages);
        let view = View {
            now,
            elapsed: self.begun.elapsed(),
            archive: &self.archive.to_string_lossy(),
            pages_per_second: rate.pages,
            bytes_per_second: rate.bytes,
            recent: &self.seconds.pages,
        };
        let size = terminal::size();
        terminal::draw(&layout::lines(&view, size), size, self.has_colours);
    }
}

struct Rate {
    pages: f64,
    bytes: u64,
}

fn print_json(kind: &str, elapsed: Duration, now: &Snapshot) {
    say!(
        "{}",
        serde_json::json!({ "type": kind, "seconds": elapsed.as_secs_f64(), "progress": now })
    );
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
