//! Users' commands to a crawl: carried out between two reports, and obeyed when a visit comes up.
//!
//! The response to a command goes out when what was done is written down. What waited in the command box while no crawl was
//! running is carried out first of all, and the box is emptied after a checkpoint.

use junkai_frontier::Time;
use junkai_weburl::{PageUrl, without_login};

use super::Engine;
use crate::command::{CommandResponse, ScopeCommand, URLS_MAX, UserCommand};
use crate::focus::Unwanted;
use crate::scope::{Found, Rule};
use crate::scope_changes::ScopeChanges;
use crate::visit::{OutOfTurn, Outcome, Purpose, Visit, asked_entry, in_turn, is_asked, status};
use crate::{CrawlError, command_box};

/// Pages that are asked for and not visited yet, at most. They are known by heart, so that each is visited once however often it is asked for.
const ASKED_MAX: usize = 100_000;

/// What became of a page that is asked for out of turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// It will be visited.
    Now,
    /// It was going to be.
    Before,
    /// It has to be asked for again later.
    TooMany,
}

impl Engine {
    /// Carries out what was commanded while no crawl was running.
    pub(super) fn empty_command_box(
        &mut self,
        commands: Vec<UserCommand>,
    ) -> Result<(), CrawlError> {
        if commands.is_empty() {
            return Ok(());
        }
        // A kill may have come after some were carried out.
        let asked = &mut self.asked;
        self.room.backlog().scan(|entry| {
            if is_asked(entry) {
                asked.insert(junkai_weburl::Fingerprint::of(&entry.url));
            }
        })?;
        // All seeds together: whether one waits already takes a look through the backlog.
        let (mut response, mut seeds) = (CommandResponse::default(), Vec::new());
        for command in commands {
            match command {
                UserCommand::Add { seeds: more } => {
                    seeds.extend(self.accepted(&more, &mut response));
                }
                other => response.add(self.carry_out_command(other)?),
            }
        }
        self.admit_seeds(seeds)?;
        for reason in response.reasons {
            tracing::warn!(reason, "a command could not be carried out");
        }
        self.write_down()?;
        self.checkpoint_at_once()?;
        command_box::empty(&self.archive.state())?;
        Ok(())
    }

    /// Carries out a command of a user who waits for the response.
    pub fn command(
        &mut self,
        now: Time,
        command: UserCommand,
    ) -> Result<CommandResponse, CrawlError> {
        self.now = now;
        tracing::info!(?command, "a command");
        let response = self.carry_out_command(command)?;
        // What is answered survives a kill.
        self.write_down()?;
        Ok(response)
    }

    fn carry_out_command(&mut self, command: UserCommand) -> Result<CommandResponse, CrawlError> {
        match command {
            UserCommand::Add { seeds } => self.add(&seeds),
            UserCommand::Revisit { pages } => self.revisit(&pages),
            UserCommand::Pause { whom } => {
                let is_news = self.paused.pause(&whom, self.now);
                self.paused_changed(is_news)
            }
            UserCommand::Resume { whom } => {
                let is_news = self.paused.resume(&whom);
                self.paused_changed(is_news)
            }
            UserCommand::Scope(change) => self.change_scope(&change),
        }
    }

    /// Crawls from further seeds.
    fn add(&mut self, seeds: &[String]) -> Result<CommandResponse, CrawlError> {
        let mut response = CommandResponse::default();
        let accepted = self.accepted(seeds, &mut response);
        let count = accepted.len() as u64;
        response.done = self.admit_seeds(accepted)?;
        response.already = count.saturating_sub(response.done);
        Ok(response)
    }

    /// The seeds of one command that can be crawled; the others are refused.
    fn accepted(&self, seeds: &[String], response: &mut CommandResponse) -> Vec<PageUrl> {
        let mut accepted = Vec::new();
        for text in seeds.iter().take(URLS_MAX) {
            match self.canonical.parse_seed(text) {
                Ok(seed) => match self.rule_for(&seed, Found::Seed) {
                    rule if rule.accepts() => accepted.push(seed),
                    rule => response.refuse(format!("{seed}: {rule}")),
                },
                Err(error) => response.refuse(format!("{:?}: {error}", without_login(text))),
            }
        }
        accepted
    }

    /// Lets known pages be visited once more, besides the visits that are planned for them.
    fn revisit(&mut self, pages: &[String]) -> Result<CommandResponse, CrawlError> {
        let mut response = CommandResponse::default();
        let mut accepted = Vec::new();
        for text in pages.iter().take(URLS_MAX) {
            let page = match self.canonical.parse_seed(text) {
                Ok(page) => page,
                Err(error) => {
                    response.refuse(format!("{:?}: {error}", without_login(text)));
                    continue;
                }
            };
            let fingerprint = page.fingerprint();
            if !self.seen.contains(fingerprint.0)? {
                response.refuse(format!("{page} is not known; `junkai add` takes new pages"));
                continue;
            }
            let purpose = match self.rule_for(&page, Found::Link(0)) {
                rule if rule.accepts() => Purpose::Page,
                // It was captured: a page in scope needs it.
                Rule::Outside => Purpose::Requisite,
                rule => {
                    response.refuse(format!("{page}: {rule}"));
                    continue;
                }
            };
            accepted.push((page, purpose));
        }
        // A page that was given up has no state that the visit could be joined with: it is visited as a new one.
        let mut stateless = accepted
            .iter()
            .map(|(page, _)| page.fingerprint())
            .collect();
        self.known.take_known_out_of(&mut stateless)?;
        for (page, purpose) in accepted {
            let has_state = !stateless.contains(&page.fingerprint());
            match self.ask_for_page(&page, OutOfTurn::Asked, &purpose, has_state)? {
                Asked::Now => response.count(true),
                Asked::Before => response.count(false),
                Asked::TooMany => response.refuse(format!(
                    "{page}: {ASKED_MAX} pages are asked for and not visited yet; ask again later"
                )),
            }
        }
        Ok(response)
    }

    /// Has a known page visited out of turn, once however often it is asked for.
    pub(super) fn ask_for(
        &mut self,
        page: &PageUrl,
        why: OutOfTurn,
        purpose: &Purpose,
    ) -> Result<Asked, CrawlError> {
        self.ask_for_page(page, why, purpose, true)
    }

    fn ask_for_page(
        &mut self,
        page: &PageUrl,
        why: OutOfTurn,
        purpose: &Purpose,
        has_state: bool,
    ) -> Result<Asked, CrawlError> {
        let fingerprint = page.fingerprint();
        if self.asked.contains(&fingerprint) {
            return Ok(Asked::Before);
        }
        if ASKED_MAX <= self.asked.len() {
            return Ok(Asked::TooMany);
        }
        let now = self.now;
        let entry = asked_entry(page, why, purpose, self.depth_asked(), now);
        let entry = if has_state { entry } else { in_turn(entry) };
        self.room.append_known(entry, now)?;
        self.asked.insert(fingerprint);
        Ok(Asked::Now)
    }

    /// How deep a page counts that is asked for. How it was found is not at hand; where depth is bounded, it leads no further.
    pub(super) fn depth_asked(&self) -> u16 {
        self.settings.scope.depth_max.unwrap_or(0)
    }

    fn paused_changed(&mut self, is_news: bool) -> Result<CommandResponse, CrawlError> {
        let mut response = CommandResponse::default();
        response.count(is_news);
        if is_news {
            while let Err(error) = self.paused.store(&self.archive.state()) {
                self.wait_for_room(error)?;
            }
            self.show_paused();
        }
        Ok(response)
    }

    pub(super) fn show_paused(&self) {
        let count = self.paused.hosts.len() + self.paused.servers.len();
        self.progress.paused.set(count as u64);
        self.progress.set_all_paused(self.paused.all.is_some());
    }

    fn change_scope(&mut self, command: &ScopeCommand) -> Result<CommandResponse, CrawlError> {
        let state = self.archive.state();
        let mut changes = ScopeChanges::load(&state)?;
        let mut response = changes.apply(command, &self.settings.scope);
        if response.done == 0 {
            return Ok(response);
        }
        if let Ok(mut scope) = self.scope.write()
            && let Err(mistakes) = scope.change(&changes.over(&self.settings.scope))
        {
            response.done = 0;
            response.refuse(mistakes.join("; "));
            return Ok(response);
        }
        while let Err(error) = changes.store(&state) {
            self.wait_for_room(error)?;
        }
        Ok(response)
    }

    pub(super) fn rule_for(&self, url: &PageUrl, found: Found) -> Rule {
        let scope = self.scope.read();
        scope.map_or(Rule::Outside, |scope| scope.decide(url, found))
    }

    /// What people have against a visit that comes up, or is about to start.
    pub(super) fn objection(&self, visit: &Visit, now: Time) -> Option<Objection> {
        let found = match visit.purpose {
            Purpose::Robots { .. } => None,
            Purpose::Requisite => Some(Found::Requisite),
            Purpose::Sitemap => Some(Found::Sitemap),
            Purpose::Page if visit.is_seed() => Some(Found::Seed),
            Purpose::Page => Some(Found::Link(visit.depth)),
        };
        let rule = found.map(|found| self.rule_for(&visit.url, found));
        if let Some(rule) = rule.filter(|rule| !rule.accepts()) {
            return Some(Objection::OutOfScope(rule));
        }
        if !visit.purpose.is_robots() && self.unwanted.has(&visit.url) {
            return Some(Objection::PausedUntil(now + Unwanted::DEFERRAL));
        }
        if self.paused.is_empty() {
            return None;
        }
        let host = visit.url.host();
        // A server whose address is not known yet is asked about when it is.
        let address = self.hosts.address_of(host, now);
        self.paused
            .until(host, address, now)
            .map(Objection::PausedUntil)
    }

    /// Defers or forgets a visit as users commanded.
    pub(super) fn obey(&mut self, visit: Visit, objection: Objection) -> Result<(), CrawlError> {
        match objection {
            Objection::PausedUntil(until) => self.defer(visit, until),
            Objection::OutOfScope(rule) => {
                let outcome = Outcome {
                    status: status::OUT_OF_SCOPE,
                    result: rule.to_string(),
                    is_out_of_scope: true,
                    ..Outcome::default()
                };
                self.asked.remove(&visit.url.fingerprint());
                self.progress.out_of_scope.add(1);
                self.forget(visit, outcome)
            }
        }
    }
}

/// Why a visit is not made now.
pub(super) enum Objection {
    /// Its host or its server is paused, or its site does not hold what is wanted; it is asked about again then.
    PausedUntil(Time),
    /// The scope no longer takes its page.
    OutOfScope(Rule),
}
