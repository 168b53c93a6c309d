//! How large a run is, and what may go wrong in it.

use std::time::Duration;

use crate::Bug;

/// What one run is made of.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "faults that can be switched off one by one"
)]
pub struct Plan {
    /// Hosts of the web.
    pub hosts: u32,
    /// Pages of a host at most.
    pub pages: u32,
    /// How long things go wrong; then nothing does, and all that waits must be visited.
    pub time: Duration,
    /// How often the process is ended, at a write: by a kill or by a power failure.
    pub ends: u32,
    /// Whether the power may fail.
    pub power_fails: bool,
    /// Whether the disk is full now and then.
    pub disk_fills: bool,
    /// Whether bits of files rot.
    pub bits_rot: bool,
    /// Whether the wall clock is set.
    pub clock_is_set: bool,
    /// Whether servers and name servers fail, and our own network.
    pub network_fails: bool,
    /// Whether people give commands.
    pub commands: bool,
    /// Whether the next start has other settings.
    pub settings_change: bool,
    /// Partitions of the crawl; if it does not say, one to three, by chance.
    pub partitions: Option<u32>,
    /// A planted bug.
    pub bug: Option<Bug>,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            hosts: 8,
            pages: 40,
            time: Duration::from_hours(24 * 3),
            ends: 8,
            power_fails: true,
            disk_fills: true,
            bits_rot: true,
            clock_is_set: true,
            network_fails: true,
            commands: true,
            settings_change: true,
            partitions: None,
            bug: None,
        }
    }
}

impl Plan {
    /// Plans of shorter runs with fewer faults, each a step from this one: the first that still fails is simpler.
    #[must_use]
    pub fn simpler(&self) -> Vec<Plan> {
        let mut plans = Vec::new();
        let mut add = |change: &dyn Fn(&mut Plan)| {
            let mut plan = self.clone();
            change(&mut plan);
            plans.push(plan);
        };
        if 1 < self.hosts {
            add(&|plan| plan.hosts /= 2);
        }
        if 4 < self.pages {
            add(&|plan| plan.pages /= 2);
        }
        if 0 < self.ends {
            add(&|plan| plan.ends /= 2);
            add(&|plan| plan.ends -= 1);
        }
        if Duration::from_mins(10) < self.time {
            add(&|plan| plan.time /= 2);
        }
        if self.partitions != Some(1) {
            add(&|plan| plan.partitions = Some(1));
        }
        let flags: [fn(&mut Plan) -> &mut bool; 7] = [
            |plan| &mut plan.power_fails,
            |plan| &mut plan.disk_fills,
            |plan| &mut plan.bits_rot,
            |plan| &mut plan.clock_is_set,
            |plan| &mut plan.network_fails,
            |plan| &mut plan.commands,
            |plan| &mut plan.settings_change,
        ];
        for flag in flags {
            let mut plan = self.clone();
            if std::mem::replace(flag(&mut plan), false) {
                plans.push(plan);
            }
        }
        plans
    }
}
