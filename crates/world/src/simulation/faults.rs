//! What goes wrong in a run: faults that are drawn from its number, planted bugs, commands of people, other settings.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
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
            let fault = match self.chance.below(8) {
                0..3 if plan.power_fails => Fault::PowerFailure,
                3 => Fault::Stop,
                _ => Fault::Kill,
            };
            self.at_random(seconds, Event::Fault(fault));
        }
        for _ in 0..plan.ends.div_ceil(2) {
            if plan.disk_fills {
                self.at_random(seconds, Event::Fault(Fault::FullDisk));
            }
            if plan.clock_is_set {
                let by = i64::from(self.chance.between(0, 200_000)) - 100_000;
                self.at_random(seconds, Event::Fault(Fault::SetWall(by)));
                let sleep = Duration::from_secs(u64::from(self.chance.below(20_000)));
                self.at_random(seconds, Event::Fault(Fault::Sleep(sleep)));
            }
            if plan.network_fails {
                let lasts = Duration::from_secs(u64::from(self.chance.below(7000)));
                self.at_random(seconds, Event::Fault(Fault::Outage(lasts)));
            }
        }
        if plan.commands {
            for _ in 0..plan.ends + 4 {
                let command = self.draw_command();
                self.at_random(seconds, Event::Command(command));
            }
        }
    }

    pub(super) fn draw_command(&mut self) -> UserCommand {
        let url = self.web.any_url(&mut self.chance);
        let host = Web::host(self.chance.below(self.plan.hosts));
        match self.chance.below(8) {
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
                exclude: vec![format!("/p{}$", self.chance.below(self.plan.pages))],
                ..ScopeCommand::default()
            }),
        }
    }

    pub(super) fn at_random(&mut self, seconds: u32, event: Event) {
        // Most of a crawl happens at its beginning: half of all falls into the first hour.
        let within = if self.chance.is(0.5) {
            seconds.min(3600)
        } else {
            seconds
        };
        let at = Duration::from_millis(self.chance.below_large(u64::from(within) * 1000));
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
                        if path.starts_with("/state/seen") {
                            let _on_a_simulated_disk = disk.remove(path);
                        }
                    }
                }
                _ => {}
            }
        }
        if self.plan.bits_rot && !self.is_calm && 0 < self.counts.ends && self.chance.is(0.1) {
            self.rot(&files);
        }
    }

    pub(super) fn rot(&mut self, files: &[(PathBuf, usize)]) {
        let kept = [
            "/state/backlog/",
            "/state/time_queue/",
            "/state/seen/",
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
        let (path, length) = *self.chance.pick(&able);
        let (byte, bit) = (self.chance.index(*length), self.chance.below(8));
        if self.disk.flip_bit(path, byte, bit) {
            self.rotten = Some((path.clone(), byte, bit));
            self.was_rotten = true;
            self.counts.faults += 1;
        }
    }

    pub(super) fn fault(&mut self, fault: Fault) -> Result<(), Interruption> {
        self.counts.faults += 1;
        match fault {
            Fault::Kill => self.disk.kill_after(self.chance.below_large(300)),
            Fault::PowerFailure => {
                self.power_fails_next = true;
                self.disk.kill_after(self.chance.below_large(300));
            }
            Fault::Stop => {
                let now = self.now();
                let Some(process) = self.process.take() else {
                    return Ok(());
                };
                let closed = process.engine.close(now);
                self.hear_of_damage(&process.progress);
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
            let after = Duration::from_secs(u64::from(self.chance.between(10, 9000)));
            self.at(self.machine.passed() + after, Event::Command(back));
        }
        let answered = self.process()?.engine.command(now, command.clone());
        let answered = self.survived(answered)?;
        if 0 < answered.done {
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
    let seconds = u64::from(chance.between(1, 60));
    settings.crawl.checkpoint_every = Duration::from_secs(seconds);
    let orders = [
        AdmissionOrder::Fifo,
        AdmissionOrder::InDegree,
        AdmissionOrder::Worth,
    ];
    settings.crawl.order = *chance.pick(&orders);
}
