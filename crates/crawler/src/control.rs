//! Asking a running crawl: a socket in the archive's `state` folder, open to whoever may write there.
//!
//! One question a connection, one line each way: `explain URL` is answered by a [`Live`] as JSON, `wish WISH`, where WISH is a
//! [`UserCommand`] as JSON, by a [`CommandResponse`]. The frontier's thread answers between two rounds, so what it tells is of one moment.
//!
//! All clients are served side by side by one thread, each within a time limit. Where there are too many, the one that has kept silent longest
//! goes, so nobody waits for a client that says nothing or reads nothing.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::TrySendError;
use junkai_fetch::{Resources, Share};
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::{AbortHandle, LocalSet, spawn_local};
use tokio::time::{sleep, timeout};

use crate::Live;
use crate::command::{CommandResponse, UserCommand};
use crate::node::Mailboxes;
use crate::report::Report;

const NAME: &str = "control.sock";
/// The longest question: as many URLs as a command may have, as JSON writes them.
const QUESTION_BYTES_MAX: usize = 2 << 20;
/// A question that is longer takes one of few places, so that all of them together are bounded.
const QUESTION_BYTES_SMALL: usize = 16 << 10;
/// Long questions that are read at a time.
const LONG_QUESTIONS_MAX: usize = 4;
/// Clients at a time.
const CLIENTS_MAX: usize = 256;
/// Between two tries to reach the frontier's thread, or to accept a client.
const TRY_EVERY: Duration = Duration::from_millis(20);
/// How long either side waits for the other to speak.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a command may take: thousands of URLs go to disk.
const COMMAND_PATIENCE: Duration = Duration::from_secs(30);

/// Listens as long as the program runs. A crawl without a control socket is a crawl all the same.
pub(crate) fn listen(
    state: &Path,
    mailboxes: &Mailboxes,
    resources: &Arc<Resources>,
) -> io::Result<()> {
    let folder = File::open(state)?;
    // What a killed crawl left behind; the lock says that no other is running.
    match fs::remove_file(state.join(NAME)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(short_path(&folder))?;
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (mailboxes, resources) = (mailboxes.clone(), Arc::clone(resources));
    std::thread::Builder::new()
        .name("control".into())
        .spawn(move || {
            let door = Door {
                mailboxes,
                commands: tokio::sync::Mutex::new(()),
                long_questions: Semaphore::new(LONG_QUESTIONS_MAX),
            };
            let served = serve(listener, Rc::new(door), &resources);
            if let Err(error) = LocalSet::new().block_on(&runtime, served) {
                tracing::warn!(%error, "nobody can ask this crawl what it is doing any more");
            }
        })?;
    Ok(())
}

/// What serving a client takes.
struct Door {
    mailboxes: Mailboxes,
    commands: tokio::sync::Mutex<()>,
    long_questions: Semaphore,
}

/// A client that is being served.
struct Served {
    task: AbortHandle,
    has_asked: Rc<Cell<bool>>,
}

async fn serve(listener: UnixListener, door: Rc<Door>, resources: &Resources) -> io::Result<()> {
    let listener = tokio::net::UnixListener::from_std(listener)?;
    let mut clients: VecDeque<Served> = VecDeque::new();
    loop {
        let descriptor = place_for_one_more(&mut clients, resources).await;
        let Ok((stream, _)) = listener.accept().await else {
            // No file descriptor is free, say: asking again at once would not help.
            sleep(TRY_EVERY).await;
            continue;
        };
        let has_asked = Rc::new(Cell::new(false));
        let (door, told) = (Rc::clone(&door), Rc::clone(&has_asked));
        let task = spawn_local(async move {
            if let Err(error) = door.answer(stream, &told).await {
                tracing::debug!(%error, "a question on the control socket went unanswered");
            }
            drop(descriptor);
        });
        clients.push_back(Served {
            task: task.abort_handle(),
            has_asked,
        });
    }
}

/// The descriptor for one more client. If there is none, or there are too many clients, the one that has kept silent longest goes.
async fn place_for_one_more(clients: &mut VecDeque<Served>, resources: &Resources) -> Share {
    loop {
        clients.retain(|client| !client.task.is_finished());
        if clients.len() < CLIENTS_MAX
            && let Some(descriptor) = resources.descriptor()
        {
            return descriptor;
        }
        if let Some(silent) = clients.iter().position(|client| !client.has_asked.get())
            && let Some(silent) = clients.remove(silent)
        {
            silent.task.abort();
        }
        sleep(TRY_EVERY).await;
    }
}

/// A path to the socket that is short enough for a socket address, however deep the folder lies.
fn short_path(folder: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/{NAME}", folder.as_raw_fd()))
}

impl Door {
    async fn answer(
        &self,
        mut stream: tokio::net::UnixStream,
        has_asked: &Cell<bool>,
    ) -> io::Result<()> {
        let question = timeout(PATIENCE, self.question(&mut stream)).await??;
        has_asked.set(true);
        let question = question.trim_end();
        let answer = if let Some(url) = question.strip_prefix("explain ") {
            let (reply, answered) = oneshot::channel();
            let url = url.to_owned();
            let owner = self.mailboxes.owner(&url);
            let report = Report::Asked { url, reply };
            let live = self.ask_frontier(owner, report, answered, PATIENCE);
            live.await.map(|live| serde_json::to_vec(&live))
        } else if let Some(command) = question.strip_prefix("wish ") {
            match serde_json::from_str(command) {
                Ok(command) => {
                    let response = self.command(&command).await;
                    response.map(|response| serde_json::to_vec(&response))
                }
                Err(error) => Some(refusal(&format!("this is no command: {error}"))),
            }
        } else {
            Some(refusal("ask: explain URL, or: wish WISH"))
        };
        // The frontier's thread is busy, or gone: silence says so.
        let Some(answer) = answer else { return Ok(()) };
        let mut line = answer?;
        line.push(b'\n');
        timeout(PATIENCE, stream.write_all(&line)).await?
    }

    /// The line that a client says, or what it says before it goes or the line is too long.
    async fn question(&self, stream: &mut tokio::net::UnixStream) -> io::Result<String> {
        let mut line = Vec::new();
        let mut place = None;
        while !line.ends_with(b"\n") && line.len() < QUESTION_BYTES_MAX {
            if QUESTION_BYTES_SMALL <= line.len() && place.is_none() {
                place = self.long_questions.acquire().await.ok();
            }
            if stream.read_buf(&mut line).await? == 0 {
                break;
            }
        }
        String::from_utf8(line).map_err(io::Error::other)
    }

    /// Has every partition carry out its part of a command, and answers for all of them; none if one is too busy.
    async fn command(&self, command: &UserCommand) -> Option<CommandResponse> {
        // One after the other, so that all partitions have them in the same order.
        let _turn = self.commands.lock().await;
        let mailboxes = &self.mailboxes;
        let parts = command.parts(mailboxes.count(), mailboxes.canonical());
        let mut all = CommandResponse::default();
        for (partition, part) in (0..).zip(parts) {
            let Some(part) = part else { continue };
            let (reply, answered) = oneshot::channel();
            let report = Report::Command {
                command: part,
                reply,
            };
            let response = self.ask_frontier(partition, report, answered, COMMAND_PATIENCE);
            let response = response.await?;
            // Where all do the same, one answer is enough.
            if command.is_shared_out() || partition == 0 {
                all.add(response);
            }
        }
        Some(all)
    }

    /// What a partition's thread answers to a report, within its time.
    async fn ask_frontier<T>(
        &self,
        partition: u16,
        report: Report,
        answered: oneshot::Receiver<T>,
        patience: Duration,
    ) -> Option<T> {
        let mut report = report;
        let asked = async {
            while let Err(error) = self.mailboxes.of(partition).try_send(report) {
                match error {
                    TrySendError::Full(again) => report = again,
                    TrySendError::Disconnected(_) => return None,
                }
                sleep(TRY_EVERY).await;
            }
            answered.await.ok()
        };
        timeout(patience, asked).await.ok().flatten()
    }
}

fn refusal(words: &str) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&serde_json::json!({ "error": words }))
}

/// What a running crawl answers to a command.
pub(crate) enum Answer {
    /// This was done.
    Response(CommandResponse),
    /// It was not understood.
    Refused(String),
    /// Nothing: no crawl is running, or it is too busy.
    None,
}

/// Sends a command to the crawl that runs in this archive, if one does.
pub(crate) fn tell(state: &Path, command: &UserCommand) -> Answer {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Line {
        Error { error: String },
        Response(CommandResponse),
    }
    let Ok(command) = serde_json::to_string(command) else {
        return Answer::None;
    };
    let line = question(
        state,
        &format!("wish {command}"),
        COMMAND_PATIENCE + PATIENCE,
    );
    match line.and_then(|line| serde_json::from_str(&line).ok()) {
        Some(Line::Response(response)) => Answer::Response(response),
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
