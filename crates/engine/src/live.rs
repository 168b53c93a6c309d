//! What a running crawl says of a URL: where its visit is, and how things stand with its server.

use jiff::Timestamp;
use junkai_frontier::{Ask, HostState, PolitenessConfig, Standing, Time};
use serde::{Deserialize, Serialize};

use crate::clock::timestamp;
use crate::span::span;

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

/// What keeps a visit from its server besides the lease.
pub struct Rests {
    /// What its host asks for.
    pub host: Option<HostState>,
    /// Whether we wait because another crawl of this machine visits the server.
    pub is_shared: bool,
}

impl Live {
    /// Says where a visit is.
    pub fn new(
        place: &str,
        turn: Option<Timestamp>,
        server: Option<Standing>,
        rests: Rests,
    ) -> Live {
        let mut rest = rests.host.map_or_else(String::new, |host| {
            let free_at = timestamp(host.free_at);
            format!("; its host may be visited from {free_at:.1}")
        });
        if rests.is_shared {
            rest += "; waiting for another crawl of this machine, which visits this server, too";
        }
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
    let interval = span(standing.interval);
    let stride = standing.stride;
    format!(
        "{lease}{hold}; interval {interval}, {stride} steps; next free slot: step {step}, at {turn:.1}"
    )
}

/// How long a host is to rest between two visits, as far as that is obeyed.
#[must_use]
pub fn delay_in_words(asks: &[Ask], politeness: &PolitenessConfig) -> Option<String> {
    let delay = asks.iter().map(|ask| ask.delay).max()?;
    let words = span(delay);
    let most = if politeness.crawl_delay_max <= delay {
        ", the most that is obeyed (politeness.crawl_delay_max)"
    } else {
        ""
    };
    Some(format!("{words} between two visits{most}"))
}
