//! What goes between the frontier's threads and the workers, in bounded channels: errands, and reports of what was done; and what people ask.

use junkai_engine::Input;
use junkai_engine::command::{CommandResponse, UserCommand};
use junkai_engine::live::Live;
use junkai_engine::visit::Start;
use tokio::sync::oneshot;

/// What a worker has to do, and for which partition.
#[derive(Debug)]
pub(crate) struct Errand {
    pub(crate) partition: u16,
    pub(crate) what: What,
}

/// What a worker has to do.
#[derive(Debug)]
pub(crate) enum What {
    /// Visit a page. The lease is held until the report comes.
    Visit(Box<Start>),
    /// Find the address of a host.
    Resolve(Box<str>),
}

/// What a worker tells the frontier's thread.
#[derive(Debug)]
pub(crate) enum Report {
    /// Something that the engine has to know.
    Happened(Input),
    /// Somebody asks what becomes of a URL.
    Asked {
        url: String,
        reply: oneshot::Sender<Live>,
    },
    /// A user's command to the crawl.
    Command {
        command: UserCommand,
        reply: oneshot::Sender<CommandResponse>,
    },
    /// The worker cannot go on.
    Broken(String),
}
