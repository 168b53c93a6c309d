//! What every stage is told, and what the stages tell people together.

use std::sync::{Arc, RwLock};

use junkai_frontier::Time;
use junkai_weburl::PageUrl;

use crate::CrawlError;
use crate::first_pages::FirstPages;
use crate::patience;
use crate::platform::Machine;
use crate::progress::Progress;
use crate::rules::Rules;
use crate::scope::{Found, Rule, ScopeRules};
use crate::settings::Settings;
use crate::told::Told;

/// The time, the rules of the crawl, and what was told.
pub(super) struct Shared {
    /// When the engine was last told of something.
    pub(super) now: Time,
    pub(super) settings: Arc<Settings>,
    pub(super) progress: Arc<Progress>,
    /// Which URLs belong to the crawl; workers read it, too.
    pub(super) scope: Arc<RwLock<ScopeRules>>,
    /// What robots.txt files say; workers read and write it, too.
    pub(super) rules: Arc<Rules>,
    pub(super) machine: Arc<dyn Machine>,
    /// Whether the crawl gets anywhere.
    pub(super) first_pages: FirstPages,
    /// What was told of hosts.
    pub(super) told: Told,
}

impl Shared {
    /// What the scope says of a URL.
    pub(super) fn rule_for(&self, url: &PageUrl, found: Found) -> Rule {
        let scope = self.scope.read();
        scope.map_or(Rule::Outside, |scope| scope.decide(url, found))
    }

    /// Lets the scope reach around a page. Answers whether that is news.
    pub(super) fn widen_scope(&self, seed: &PageUrl) -> bool {
        let scope = self.scope.write();
        scope.is_ok_and(|mut scope| scope.add_root(seed))
    }

    /// How deep a page counts that is asked for. How it was found is not at hand; where depth is bounded, it leads no further.
    pub(super) fn depth_asked(&self) -> u16 {
        self.settings.scope.depth_max.unwrap_or(0)
    }

    /// Waits where the disk is full; any other error is handed back.
    pub(super) fn wait_for_room(&self, error: CrawlError) -> Result<(), CrawlError> {
        patience::wait_for_room(&*self.machine, &self.progress, error)
    }
}
