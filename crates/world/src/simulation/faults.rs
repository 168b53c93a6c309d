//! What goes wrong in a run: faults that are drawn from its number, planted bugs, commands of people, other settings.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use junkai_chance::Chance;
use junkai_engine::CrawlError;
use junkai_engine::command::{ScopeCommand, UserCommand, Whom};
use junkai_engine::settings::Settings;
use junkai_files::{Disk, Sabotage};
use junkai_frontier::admission::Order as AdmissionOrder;

use super::{Event, Fault, Interruption, Simulation};
use crate::Bug;
use crate::check::broken;
use crate::draws::Matter;
use crate::web::Web;

impl Simulation {
    /// Prepares disk and machine for the planted bug.
    pub(super) fn plant(&self) {
        let mut sabotage = Sabotage::default();
        match self.plan.bug {
            Some(Bug::SyncAllLost) => sabotage.syncs_are_lost = true,
            Some(Bug::SyncAllLate) => sabotage.syncs_are_late = true,
            Some(Bug::LogsBuffered) => sabotage.buffered = vec!["/logs/"],
            Some(Bug::StatesBuffered) => sabotage.buffered = vec!["/time_queue/"],
            Some(Bug::EntriesBuffered) => sabotage.buffered = vec![".segment"],
            Some(Bug::OutboxBuffered) => sabotage.buffered = vec!["/outbox/"],
            Some(Bug::ServersBuffered) => sabotage.buffered = vec!["servers.jsonl"],
            Some(Bug::CapturesBuffered) => sabotage.buffered = vec!["/archive/"],
            Some(Bug::PausedLost) => sabotage.not_replaced = Some("paused.json"),
            Some(Bug::ScopeLost) => sabotage.not_replaced = Some("scope.json"),
            Some(Bug::FullDiskDropsWrites) => sabotage.full_disk_drops = true,
            Some(Bug::ClockFollowsWall) => self.machine.follow_wall(),
            Some(Bug::BootNeverChanges) => self.machine.name_boots(false),
            Some(Bug::BootAlwaysChanges) => self.machine.name_boots(true),
            _ => {}
        }
        self.disk.sabotage(sabotage);
    }

    pub(super) fn plan_faults(&mut self) {
        let seconds = u32::try_from(self.plan.time.as_secs()).unwrap_or(u32::MAX);
        let plan = self.plan.clone();
        for _ in 0..plan.ends {
            let fault = match self.draws.of(Matter::Ends).below(8) {
                0..3 if plan.power_fails => Fault::PowerFailure,
                3 => Fault::Stop,
                _ => Fault::Kill,
            };
            self.at_random(Matter::Ends, seconds, Event::Fault(fault));
        }
        for _ in 0..plan.ends.div_ceil(2) {
            if plan.disk_fills {
                self.at_random(Matter::FullDisks, seconds, Event::Fault(Fault::FullDisk));
            }
            if plan.clock_is_set {
                let by = self.draws.of(Matter::Clocks).between(0, 200_000);
                let by = i64::from(by) - 100_000;
                self.at_random(Matter::Clocks, seconds, Event::Fault(Fault::SetWall(by)));
                let sleep = self.draws.of(Matter::Clocks).below(20_000);
                let sleep = Duration::from_secs(u64::from(sleep));
                self.at_random(Matter::Clocks, seconds, Event::Fault(Fault::Sleep(sleep)));
            }
            if plan.network_fails {
                let lasts = self.draws.of(Matter::Outages).below(7000);
                let lasts = Duration::from_secs(u64::from(lasts));
                self.at_random(Matter::Outages, seconds, Event::Fault(Fault::Outage(lasts)));
            }
        }
        if plan.commands {
            for _ in 0..plan.ends + 4 {
                let command = self.draw_command();
                self.at_random(Matter::Commands, seconds, Event::Command(command));
            }
        }
    }

    pub(super) fn draw_command(&mut self) -> UserCommand {
        let chance = self.draws.of(Matter::Commands);
        let url = self.web.any_url(chance);
        let host = Web::host(chance.below(self.plan.hosts));
        match chance.below(8) {
            0 | 1 => UserCommand::Add { seeds: vec![url] },
            2 | 3 => UserCommand::Revisit { pages: vec![url] },
            4 => UserCommand::Pause {
                whom: Whom::Host(host),
            },
            5 => UserCommand::Resume {
                whom: Whom::Host(host),
            },
            6 => UserCommand::Pause { whom: Whom::All },
            _ => UserCommand::Scope(ScopeCommand {
                exclude: vec![format!("/p{}$", chance.below(self.plan.pages))],
                ..ScopeCommand::default()
            }),
        }
    }

    pub(super) fn at_random(&mut self, matter: Matter, seconds: u32, event: Event) {
        let chance = self.draws.of(matter);
        // Most of a crawl happens at its beginning: half of all falls into the first hour.
        let within = if chance.is(0.5) {
            seconds.min(3600)
        } else {
            seconds
        };
        let at = Duration::from_millis(chance.below_large(u64::from(within) * 1000));
        self.at(at, event);
    }

    /// What rot, and planted bugs, do to the files between two processes.
    pub(super) fn spoil_state(&mut self) {
        let cut = |disk: &Disk, part: &str, bytes: u64, files: &[(PathBuf, usize)]| {
            let found = files
                .iter()
                .rfind(|(path, _)| path.to_string_lossy().contains(part));
            if let Some((path, length)) = found
                && let Ok(file) = disk.open_for_writing(path)
            {
                let _on_a_simulated_disk = file.set_len((*length as u64).saturating_sub(bytes));
            }
        };
        let files = self.disk.files();
        let disk = self.platform.disk.clone();
        if 0 < self.counts.ends {
            match self.plan.bug {
                Some(Bug::LogTailCut) => cut(&disk, "events.jsonl", 600, &files),
                Some(Bug::JournalTailCut) => cut(&disk, "journal", 300, &files),
                Some(Bug::BacklogTailCut) => cut(&disk, ".segment", 200, &files),
                Some(Bug::SegmentDropped) => cut(&disk, ".segment", u64::MAX, &files),
                Some(Bug::ServersForgotten) => cut(&disk, "servers.jsonl", u64::MAX, &files),
                Some(Bug::SeenForgotten) => {
                    for (path, _) in &files {
                        if path.to_string_lossy().contains("/seen/") {
                            let _on_a_simulated_disk = disk.remove(path);
                        }
                    }
                }
                _ => {}
            }
        }
        let may_rot = self.plan.bits_rot && !self.is_calm && 0 < self.counts.ends;
        if may_rot && self.draws.of(Matter::Rot).is(0.1) {
            self.rot(&files);
        }
    }

    pub(super) fn rot(&mut self, files: &[(PathBuf, usize)]) {
        let kept = [
            "/backlog/",
            "/outbox/",
            "/time_queue/",
            "/seen/",
            "MANIFEST",
            "planner",
        ];
        let able = |(path, length): &&(PathBuf, usize)| {
            let path = path.to_string_lossy();
            0 < *length && kept.iter().any(|part| path.contains(part)) && !path.ends_with(".tmp")
        };
        let able: Vec<_> = files.iter().filter(able).collect();
        if able.is_empty() {
            return;
        }
        let chance = self.draws.of(Matter::Rot);
        let (path, length) = *chance.pick(&able);
        let (byte, bit) = (chance.index(*length), chance.below(8));
        if self.disk.flip_bit(path, byte, bit) {
            self.rotten = Some((path.clone(), byte, bit));
            self.was_rotten = true;
            self.counts.faults += 1;
        }
    }

    pub(super) fn fault(&mut self, fault: Fault) -> Result<(), Interruption> {
        self.counts.faults += 1;
        match fault {
            Fault::Kill => {
                let changes = self.draws.of(Matter::Ends).below_large(300);
                self.disk.kill_after(changes);
            }
            Fault::PowerFailure => {
                self.power_fails_next = true;
                let changes = self.draws.of(Matter::Ends).below_large(300);
                self.disk.kill_after(changes);
            }
            Fault::Stop => {
                let now = self.now();
                let Some(process) = self.process.take() else {
                    return Ok(());
                };
                let progress = Arc::clone(&process.progress);
                let closed = process.close(now);
                self.hear_of_damage(&progress);
                self.survived(closed)?;
                return Err(Interruption::Ended);
            }
            Fault::FullDisk => self.disk.fill(),
            Fault::SetWall(seconds) => self.machine.set_wall(seconds),
            Fault::Outage(lasts) => self.offline_until = self.machine.passed() + lasts,
            Fault::Sleep(lasts) => {
                self.slept += lasts;
                self.machine.pass_to(self.machine.passed() + lasts);
            }
        }
        Ok(())
    }

    pub(super) fn command(&mut self, command: &UserCommand) -> Result<(), Interruption> {
        self.counts.commands += 1;
        let now = self.now();
        let is_pause = matches!(command, UserCommand::Pause { .. });
        if let UserCommand::Pause { whom } = command {
            // Somebody who pauses goes on some time.
            let back = UserCommand::Resume { whom: whom.clone() };
            let after = self.draws.of(Matter::Commands).between(10, 9000);
            let after = Duration::from_secs(u64::from(after));
            self.at(self.machine.passed() + after, Event::Command(back));
        }
        let parts = command.parts(self.settings.partitions(), &self.canonical);
        let mut done = 0;
        for (partition, part) in parts.into_iter().enumerate() {
            let Some(part) = part else { continue };
            let answered = self.engine(partition)?.command(now, part);
            done += self.survived(answered)?.done;
        }
        if 0 < done {
            self.check_kept(command, is_pause)?;
        }
        Ok(())
    }

    /// What was answered is on disk, for the next process.
    pub(super) fn check_kept(
        &mut self,
        command: &UserCommand,
        is_pause: bool,
    ) -> Result<(), Interruption> {
        let name = match command {
            UserCommand::Pause { .. } if is_pause => "/state/paused.json",
            UserCommand::Scope(_) => "/state/scope.json",
            _ => return Ok(()),
        };
        let read = self.platform.disk.read(Path::new(name));
        let kept = self.survived(read.map_err(CrawlError::from))?;
        let text = String::from_utf8_lossy(&kept.unwrap_or_default()).into_owned();
        let wanted = match command {
            UserCommand::Pause {
                whom: Whom::Host(host),
            } => host.clone(),
            UserCommand::Pause { .. } => "all\": ".to_owned(),
            UserCommand::Scope(scope) => scope.exclude.concat(),
            _ => String::new(),
        };
        if text.contains(&wanted)
            && !text.contains("all\": null,\n  \"hosts\": {},\n  \"servers\": {}")
        {
            return Ok(());
        }
        Err(broken(
            "an answered command is kept",
            format!("{command:?}: {text}"),
        )
        .into())
    }
}

/// Settings that may differ from start to start.
pub(super) fn vary(settings: &mut Settings, chance: &mut Chance) {
    let intervals = [500, 1000, 5000].map(Duration::from_millis);
    settings.politeness.interval = *chance.pick(&intervals);
    let concurrency = chance.between(1, 20) as usize;
    settings.crawl.concurrency = NonZeroUsize::new(concurrency).unwrap_or(NonZeroUsize::MIN);
    let every = [1, 10, 60, 600].map(Duration::from_secs);
    settings.crawl.checkpoint_every = *chance.pick(&every);
    let orders = [
        AdmissionOrder::Fifo,
        AdmissionOrder::InDegree,
        AdmissionOrder::Worth,
    ];
    settings.crawl.order = *chance.pick(&orders);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;

    /// When something is planned to go wrong, or to be asked for.
    fn planned(plan: &Plan) -> Vec<Duration> {
        let simulation = Simulation::new(4711, plan);
        simulation.agenda.keys().map(|(at, _)| *at).collect()
    }

    #[test]
    fn what_is_left_of_a_simpler_plan_stays_where_it_was() {
        let plan = Plan::default();
        let all = planned(&plan);
        let has_same_web = |other: &&Plan| {
            (other.hosts, other.pages, other.time) == (plan.hosts, plan.pages, plan.time)
        };
        let simpler = plan.simpler();
        for simpler in simpler.iter().filter(has_same_web) {
            let left = planned(simpler);
            assert!(!left.is_empty());
            assert!(left.iter().all(|at| all.contains(at)), "{simpler:?}");
        }
    }
}
