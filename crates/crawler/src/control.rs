//! Asking a running crawl: a socket in the archive's `state` folder, open to whoever may write there.
//!
//! One question a connection, one line each way: `explain URL` is answered by a [`Live`] as JSON, `wish WISH` by a [`Granted`]. The frontier's thread
//! answers between two rounds, so what it tells is of one moment.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Sender, bounded};
use jiff::Timestamp;
use junkai_frontier::{HostState, Standing, Time};
use serde::{Deserialize, Serialize};

use crate::clock::timestamp;
use crate::visit::Report;
use crate::wish::{Granted, Wish};

const NAME: &str = "control.sock";
/// The longest question: as many URLs as a wish may have, as JSON writes them.
const QUESTION_BYTES_MAX: u64 = 2 << 20;
/// Questions that are answered at a time.
const ANSWERING_MAX: usize = 64;
/// How long either side waits for the other to speak.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a wish may take: thousands of URLs go to disk.
const WISH_PATIENCE: Duration = Duration::from_secs(30);

/// What a running crawl says of a URL.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Live {
    /// Where its visit is, in words.
    pub place: String,
    /// When its turn in the ring is.
    pub turn: Option<Timestamp>,
    /// How things stand with its server, in words: lease, interval, hold.
    pub lease: Option<String>,
    /// The same as numbers: step, stride, service time and so on.
    pub server: Option<serde_json::Value>,
}

impl Live {
    pub(crate) fn new(
        place: &str,
        turn: Option<Timestamp>,
        server: Option<Standing>,
        host: Option<HostState>,
    ) -> Live {
        let rest = host.map_or_else(String::new, |host| {
            let free_at = timestamp(host.free_at);
            format!("; its host may be visited from {free_at:.1}")
        });
        let lease = server.as_ref().map(|standing| in_words(standing) + &rest);
        let server = server.and_then(|standing| serde_json::to_value(standing).ok());
        Live {
            lease,
            place: place.to_owned(),
            turn,
            server,
        }
    }
}

fn in_words(standing: &Standing) -> String {
    let lease = match standing.free_at {
        Some(free_at) => format!("free from {:.1}", timestamp(free_at)),
        None => "held by a visit in flight".to_owned(),
    };
    let hold = match standing.hold_until {
        Time::EPOCH => String::new(),
        until => format!(", on hold until {:.0}", timestamp(until)),
    };
    let (turn, step) = (timestamp(standing.next_turn), standing.next_step);
    let interval = humantime_serde::re::humantime::format_duration(standing.interval);
    let stride = standing.stride;
    format!(
        "{lease}{hold}; interval {interval}, {stride} steps; next free slot: step {step}, at {turn:.1}"
    )
}

/// Listens until the reports end. A crawl without a control socket is a crawl all the same.
pub(crate) fn listen(state: &Path, reports: Sender<Report>) -> std::io::Result<()> {
    let folder = File::open(state)?;
    // What a killed crawl left behind; the lock says that no other is running.
    match fs::remove_file(state.join(NAME)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(short_path(&folder))?;
    let answering = Arc::new(());
    std::thread::Builder::new()
        .name("control".into())
        .spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else {
                    // No file descriptor is free, say: asking again at once would not help.
                    std::thread::sleep(Duration::from_millis(100));
                    continue;
                };
                while ANSWERING_MAX <= Arc::strong_count(&answering) {
                    std::thread::sleep(Duration::from_millis(10));
                }
                let (turn, reports) = (Arc::clone(&answering), reports.clone());
                // Each has a thread of its own, so that one who says nothing keeps nobody waiting.
                let begun = std::thread::Builder::new()
                    .name("control".into())
                    .spawn(move || {
                        if let Err(error) = answer(&stream, &reports) {
                            tracing::debug!(%error, "a question on the control socket went unanswered");
                        }
                        drop(turn);
                    });
                if let Err(error) = begun {
                    tracing::warn!(%error, "a question on the control socket was not heard");
                }
            }
        })?;
    Ok(())
}

/// A path to the socket that is short enough for a socket address, however deep the folder lies.
fn short_path(folder: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/{NAME}", folder.as_raw_fd()))
}

fn answer(mut stream: &UnixStream, reports: &Sender<Report>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut question = String::new();
    BufReader::new(stream)
        .take(QUESTION_BYTES_MAX)
        .read_line(&mut question)?;
    let question = question.trim_end();
    let answer = if let Some(url) = question.strip_prefix("explain ") {
        let (reply, answered) = bounded(1);
        let url = url.to_owned();
        ask_frontier(reports, Report::Asked { url, reply })
            .and_then(|()| answered.recv_timeout(PATIENCE).ok())
            .map(|live| serde_json::to_vec(&live))
    } else if let Some(wish) = question.strip_prefix("wish ") {
        match serde_json::from_str(wish) {
            Ok(wish) => {
                let (reply, answered) = bounded(1);
                ask_frontier(reports, Report::Wished { wish, reply })
                    .and_then(|()| answered.recv_timeout(WISH_PATIENCE).ok())
                    .map(|granted| serde_json::to_vec(&granted))
            }
            Err(error) => Some(refusal(&format!("this is no wish: {error}"))),
        }
    } else {
        Some(refusal("ask: explain URL, or: wish WISH"))
    };
    // The frontier's thread is busy, or gone: silence says so.
    let Some(answer) = answer else { return Ok(()) };
    let mut line = answer?;
    line.push(b'\n');
    stream.write_all(&line)
}

fn ask_frontier(reports: &Sender<Report>, report: Report) -> Option<()> {
    reports.send(report).ok()
}

fn refusal(words: &str) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&serde_json::json!({ "error": words }))
}

/// What a running crawl says to a wish.
pub(crate) enum Answer {
    /// This was done.
    Granted(Granted),
    /// It was not understood.
    Refused(String),
    /// Nothing: no crawl is running, or it is too busy.
    None,
}

/// Tells a wish to the crawl that runs in this archive, if one does.
pub(crate) fn tell(state: &Path, wish: &Wish) -> Answer {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Line {
        Error { error: String },
        Granted(Granted),
    }
    let Ok(wish) = serde_json::to_string(wish) else {
        return Answer::None;
    };
    let line = question(state, &format!("wish {wish}"), WISH_PATIENCE + PATIENCE);
    match line.and_then(|line| serde_json::from_str(&line).ok()) {
        Some(Line::Granted(granted)) => Answer::Granted(granted),
        Some(Line::Error { error }) => Answer::Refused(error),
        None => Answer::None,
    }
}

/// Asks the crawl that runs in this archive, if one does.
pub(crate) fn ask(state: &Path, url: &str) -> Option<Live> {
    let line = question(state, &format!("explain {url}"), PATIENCE)?;
    serde_json::from_str(&line).ok()
}

/// Asks one question, and waits for the answer at most so long.
fn question(state: &Path, words: &str, patience: Duration) -> Option<String> {
    let folder = File::open(state).ok()?;
    let stream = UnixStream::connect(short_path(&folder)).ok()?;
    stream.set_read_timeout(Some(patience)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    (&stream).write_all(format!("{words}\n").as_bytes()).ok()?;
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line).ok()?;
    Some(line)
}
