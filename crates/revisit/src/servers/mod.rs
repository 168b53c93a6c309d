//! What a server is asked for by its known pages.

use std::time::Duration;

use junkai_frontier::ServerKey;
use serde::{Deserialize, Serialize};

/// How known pages press on their servers. Table `[revisit.servers]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServersConfig {}

/// The load of every server: visits per second that its known pages ask for.
#[derive(Clone, Debug)]
pub struct Servers {
    loads: Vec<f64>,
}

impl Servers {
    /// No load on any of so many servers.
    #[must_use]
    pub fn new(_config: &ServersConfig, keys: u32) -> Servers {
        Servers {
            loads: vec![0.0; keys as usize],
        }
    }

    /// Visits per second that the server's known pages ask for.
    #[must_use]
    pub fn load(&self, server: ServerKey) -> f64 {
        self.loads.get(server.index()).copied().unwrap_or(0.0)
    }

    /// A page is known, and asks for a visit every `interval`.
    pub(crate) fn add(&mut self, server: ServerKey, interval: Duration) {
        if let Some(load) = self.loads.get_mut(server.index()) {
            *load += 1.0 / interval.as_secs_f64();
        }
    }

    /// A page no longer asks for a visit every `interval`.
    pub(crate) fn remove(&mut self, server: ServerKey, interval: Duration) {
        if let Some(load) = self.loads.get_mut(server.index()) {
            *load -= 1.0 / interval.as_secs_f64();
        }
    }
}
