//! What comes to the frontier's thread, in a bounded channel: what workers did, and what people ask.

use junkai_engine::Input;
use junkai_engine::command::{CommandResponse, UserCommand};
use junkai_engine::live::Live;
use tokio::sync::oneshot;

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
