//! Asking a running crawl: a socket in the archive's `state` folder, open to whoever may write there.
//!
//! One question a connection, one line each way: `explain URL` is answered by a [`Live`] as JSON. The frontier's thread
//! answers between two rounds, so what it tells is of one moment.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crossbeam_channel::{Sender, bounded};
use jiff::Timestamp;
use junkai_frontier::{Standing, Time};
use serde::{Deserialize, Serialize};

use crate::clock::timestamp;
use crate::visit::Report;

const NAME: &str = "control.sock";
/// The longest question.
const QUESTION_BYTES_MAX: u64 = 16 * 1024;
/// How long either side waits for the other.
const PATIENCE: Duration = Duration::from_secs(5);

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
    pub(crate) fn new(place: &str, turn: Option<Timestamp>, server: Option<Standing>) -> Live {
        let lease = server.as_ref().map(in_words);
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
    std::thread::Builder::new()
        .name("control".into())
        .spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else {
                    // No file descriptor is free, say: asking again at once would not help.
                    std::thread::sleep(Duration::from_millis(100));
                    continue;
                };
                if let Err(error) = answer(&stream, &reports) {
                    tracing::debug!(%error, "a question on the control socket went unanswered");
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
    let Some(url) = question.trim_end().strip_prefix("explain ") else {
        return stream.write_all(b"{\"error\":\"ask: explain URL\"}\n");
    };
    let (reply, answered) = bounded(1);
    if reports
        .send(Report::Asked {
            url: url.to_owned(),
            reply,
        })
        .is_err()
    {
        return Ok(());
    }
    if let Ok(live) = answered.recv_timeout(PATIENCE) {
        let mut line = serde_json::to_vec(&live)?;
        line.push(b'\n');
        stream.write_all(&line)?;
    }
    Ok(())
}

/// Asks the crawl that runs in this archive, if one does.
pub(crate) fn ask(state: &Path, url: &str) -> Option<Live> {
    let folder = File::open(state).ok()?;
    let stream = UnixStream::connect(short_path(&folder)).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    (&stream)
        .write_all(format!("explain {url}\n").as_bytes())
        .ok()?;
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}
