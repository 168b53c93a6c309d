//! The settings of the order by priority.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// Counters of visits, at most: 64 MiB of them.
const VISITS_TABLE_MAX: usize = 1 << 24;

/// How pages are ordered by priority, and hosts by their best page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorthConfig {
    /// Pages that wait, at most. Default 1000000.
    pub candidates_max: usize,
    /// What a link carries. Default `share`.
    pub gain: Gain,
    /// The priority that a visited page has to share without being linked at all. Default 0.15, as `PageRank` has it.
    pub teleport: f32,
    /// The part of its priority that a page passes on. Default 0.85, as `PageRank` has it.
    pub damping: f32,
    /// How many times more a link to another host carries. Default 3: such links are recommendations more often than
    /// navigation.
    pub cross_host: f32,
    /// How fast a host gives way to others: its level falls by this many doublings whenever its visits double. Default 0.5;
    /// 0 means that only priority counts.
    pub spread: f32,
    /// Counters of visits, rounded up to a power of two, at most 2²⁴. Default 65536, 256 KiB. Hosts that share a counter give way to
    /// others sooner: that costs order, never memory.
    pub visits_table: usize,
    /// Visits of one host that may be handed out and not over. Default 1: a host gets its next page when the visit to the one
    /// before is over, and what has come to be known by then counts.
    pub in_hand_max: NonZeroU32,
}

/// What a link adds to the priority of the page that it leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gain {
    /// A share of the priority of the page that it is on.
    #[default]
    Share,
    /// One: the priority is the in-degree, of which levels tell apart 1, 2, 3, 4–5, 6–7, 8–11, and so on.
    Count,
}

impl WorthConfig {
    /// Counters of visits: a power of two within the bounds.
    pub(super) fn counters(&self) -> usize {
        self.visits_table
            .clamp(1, VISITS_TABLE_MAX)
            .next_power_of_two()
    }
}

impl Default for WorthConfig {
    fn default() -> WorthConfig {
        WorthConfig {
            candidates_max: 1_000_000,
            gain: Gain::Share,
            teleport: 0.15,
            damping: 0.85,
            cross_host: 3.0,
            spread: 0.5,
            visits_table: 65_536,
            in_hand_max: NonZeroU32::MIN,
        }
    }
}
