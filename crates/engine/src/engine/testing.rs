//! What the tests of the stages have in common: the parts of an engine, on a disk in memory.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use junkai_files::{Disk, SimulatedDisk};
use junkai_frontier::{EndReport, Time, server_key};
use junkai_store::seen::Seen;
use junkai_weburl::{Canonicalizer, PageUrl};

use super::dispatch::Dispatch;
use super::objections::Objections;
use super::settling::Settling;
use super::shared::Shared;
use crate::Settings;
use crate::first_pages::FirstPages;
use crate::known::KnownPages;
use crate::opening::Opening;
use crate::platform::{ArchiveFolder, Platform};
use crate::progress::Progress;
use crate::servers::Servers;
use crate::testing::{TestCaptures, TestMachine};
use crate::told::Told;
use crate::visit::{Discovered, EndedVisit, Fate, Located, Outcome, Purpose, Visit};
use crate::waiting_room::{Receipt, WaitingRoom};

/// A private address: it needs no contact.
pub(super) const ADDRESS: [u8; 4] = [10, 0, 0, 1];

/// Each stage, and what stages are given.
pub(super) struct Parts {
    pub(super) shared: Shared,
    pub(super) dispatch: Dispatch,
    pub(super) settling: Settling,
    pub(super) seen: Seen,
    pub(super) room: WaitingRoom,
    pub(super) known: KnownPages,
    pub(super) servers: Servers,
}

impl Parts {
    /// Of a new crawl of `http://a.example/`, with these changes to the settings.
    pub(super) fn with(change: impl FnOnce(&mut Settings)) -> Parts {
        let platform = Platform {
            disk: Disk::simulated(SimulatedDisk::default()),
            machine: Arc::new(TestMachine::default()),
            captures: Arc::new(TestCaptures::default()),
        };
        let mut settings = Settings::default();
        settings.crawl.seeds.push("http://a.example/".to_owned());
        change(&mut settings);
        let progress = Arc::new(Progress::default());
        let folder = Path::new("/archive");
        ArchiveFolder::new(platform.disk.clone(), folder)
            .make()
            .unwrap();
        let opening = Opening::of(&platform, folder, &settings, &progress).unwrap();
        let now = opening.clock.now();
        let first_pages = FirstPages::of(&opening);
        let settings = opening.settings;
        let objections = Objections {
            unwanted: opening.unwanted,
            paused: opening.paused,
        };
        let parts = Parts {
            dispatch: Dispatch::new(&settings, objections, now),
            settling: Settling::new(opening.logs, opening.sitemaps),
            seen: opening.seen,
            room: WaitingRoom::new(
                opening.backlog,
                None,
                &settings,
                Arc::clone(&progress),
                Arc::clone(&platform.machine),
            ),
            known: opening.known,
            servers: opening.servers,
            shared: Shared {
                now,
                settings,
                progress,
                scope: opening.scope,
                rules: opening.rules,
                machine: platform.machine,
                first_pages,
                told: Told::default(),
            },
        };
        parts.shared.widen_scope(&page("http://a.example/"));
        parts
    }

    /// A visit to a page that a link led to.
    pub(super) fn visit(&mut self, url: &str) -> Visit {
        let found = found(url);
        let entry = found.entry("http://a.example/", "", self.shared.now);
        let entry = entry.with_own_texts();
        let receipt = Receipt::Waiting {
            ticket: self.room.backlog().append_held(&entry).unwrap(),
            is_handed_out: false,
        };
        Visit::from_entry(entry, found.url, found.purpose, receipt)
    }

    /// A visit that came to this.
    pub(super) fn ended(&self, visit: Visit, status: i32, fate: Fate) -> EndedVisit {
        let address = IpAddr::from(ADDRESS);
        EndedVisit {
            visit,
            key: server_key(address, self.shared.settings.ring.keys),
            address,
            started: self.shared.now,
            ended: self.shared.now,
            end: EndReport::Answered {
                duration: Duration::ZERO,
            },
            fate,
            asked: None,
            retry_after: None,
            found: None,
            said: None,
            list: None,
            signals: Vec::new(),
            links: Vec::new(),
            link_room: None,
            leads_to_new: false,
            rules_elsewhere: None,
            outcome: Outcome {
                status,
                ..Outcome::default()
            },
            worker: 0,
        }
    }

    /// Lets time pass.
    pub(super) fn pass(&mut self, time: Duration) -> Time {
        self.shared.now = self.shared.now + time;
        self.shared.now
    }
}

/// A page.
pub(super) fn page(url: &str) -> PageUrl {
    let canonical = Canonicalizer::new(&Settings::default().canonical);
    canonical.parse(url).unwrap()
}

/// A link to a page.
pub(super) fn found(url: &str) -> Discovered {
    Discovered {
        url: page(url),
        hop: Some('L'),
        depth: 1,
        purpose: Purpose::Page,
        link_estimate: None,
    }
}

/// An address that holds for an hour.
pub(super) fn located(address: [u8; 4]) -> Located {
    Located {
        address: address.into(),
        holds: Duration::from_hours(1),
    }
}
